import type { Protocol } from '../../server/core/protocol.ts';

/** What the fast upstream sends, built once: per request nothing is left to do but to write bytes. */
export interface Canned {
  /** A whole response, headers included. */
  whole: Buffer;
  /** The headers of a stream. */
  streamHead: Buffer;
  /** What comes before the first piece of text, as HTTP chunks. */
  opening: Buffer;
  /** One HTTP chunk with one event of text. */
  piece: Buffer;
  /** What comes after the last piece, the end of the body included. */
  closing: Buffer;
}

const INPUT_TOKENS = 1_000;
const CACHED_TOKENS = 600;
const TEXT = 'word ';

function httpChunk(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function wholeResponse(value: unknown): Buffer {
  const body = JSON.stringify(value);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
);
const BODY_END = Buffer.from('0\r\n\r\n');

function named(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function cannedMessages(pieces: number): Canned {
  const input = {
    input_tokens: INPUT_TOKENS - CACHED_TOKENS,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: CACHED_TOKENS,
  };
  const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' };
  const end = { stop_reason: 'end_turn', stop_sequence: null };
  const usage = { ...input, output_tokens: pieces };
  const started = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...input, output_tokens: 1 },
  };
  const opening = [
    named('message_start', { message: started }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ];
  const closing = [
    named('content_block_stop', { index: 0 }),
    named('message_delta', { delta: end, usage }),
    named('message_stop', {}),
  ];
  return {
    whole: wholeResponse({ ...message, content: [{ type: 'text', text: TEXT.repeat(pieces) }], ...end, usage }),
    streamHead: STREAM_HEAD,
    opening: Buffer.concat(opening.map(httpChunk)),
    piece: httpChunk(named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: TEXT } })),
    closing: Buffer.concat([...closing.map(httpChunk), BODY_END]),
  };
}

function choice(delta: object, finish: string | null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finish };
}

function cannedChat(pieces: number): Canned {
  const usage = {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: pieces,
    total_tokens: INPUT_TOKENS + pieces,
    prompt_tokens_details: { cached_tokens: CACHED_TOKENS },
  };
  const head = { id: 'chatcmpl-bench', created: 1_767_225_600, model: 'bench' };
  const message = { role: 'assistant', content: TEXT.repeat(pieces), refusal: null };
  const chunk = (choices: unknown[], more: object): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const closing = [chunk([choice({}, 'stop')], { usage: null }), chunk([], { usage }), 'data: [DONE]\n\n'];
  return {
    whole: wholeResponse({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage,
    }),
    streamHead: STREAM_HEAD,
    opening: httpChunk(chunk([choice({ role: 'assistant', content: '' }, null)], { usage: null })),
    piece: httpChunk(chunk([choice({ content: TEXT }, null)], { usage: null })),
    closing: Buffer.concat([...closing.map(httpChunk), BODY_END]),
  };
}

/** The canned answers of both protocols, with so many pieces of text (one token each). */
export function cannedAnswers(pieces: number): Record<Exclude<Protocol, 'responses'>, Canned> {
  return { messages: cannedMessages(pieces), 'chat-completions': cannedChat(pieces) };
}
