import { AbortedError, StreamError, StreamInterruptedError } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../sdk/src/internal/sse.ts';
import { asked, events, scripted } from './support.ts';

const say = 'Xin chào 👋';
const sse = (...list: object[]) =>
  list.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const usage = { input_tokens: 5, output_tokens: 1 };

const messagesStream = `: hello\n\n${sse(
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
  },
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Xin ch' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ào 👋' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
)}`;

const chunk = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
const chatStream = [
  chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  ': keep-alive\n\n',
  chunk([{ index: 0, delta: { content: 'Xin ch' }, finish_reason: null }]),
  chunk([{ index: 0, delta: { content: 'ào 👋' }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } }),
  'data: [DONE]\n\n',
].join('');

const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] };
const responsesStream = sse(
  { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
  { type: 'response.output_text.delta', sequence_number: 1, output_index: 0, content_index: 0, delta: 'Xin ch' },
  { type: 'response.output_text.delta', sequence_number: 2, output_index: 0, content_index: 0, delta: 'ào 👋' },
  { type: 'response.completed', sequence_number: 3, response },
);

type Protocol = 'messages' | 'chat' | 'responses';
const whole: Record<Protocol, string> = { messages: messagesStream, chat: chatStream, responses: responsesStream };
const protocols = Object.keys(whole) as Protocol[];

function streamOf(protocol: Protocol, answer: Response) {
  const { steyg, seen } = scripted([answer]);
  const stream =
    protocol === 'messages'
      ? steyg.messages.stream(asked.messages('hi'))
      : protocol === 'chat'
        ? steyg.chat.completions.stream(asked.chat('hi'))
        : steyg.responses.stream(asked.responses('hi'));
  return { stream, seen };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const cutAt = (data: Uint8Array, at: number) => [data.slice(0, at), data.slice(at)];

describe.each(protocols)('a stream of %s', (protocol) => {
  it('means the same wherever it is cut, byte by byte', async () => {
    const data = bytes(whole[protocol]);
    for (let at = 0; at <= data.length; at += 1) {
      const { stream } = streamOf(protocol, events(cutAt(data, at)));
      expect(await stream.finalText()).toBe(say);
    }
    const { stream } = streamOf(protocol, events([...data].map((byte) => Uint8Array.of(byte))));
    expect(await stream.finalText()).toBe(say);
  });

  it.each([
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('may end its lines with %s', async (_, ending) => {
    const data = bytes(whole[protocol].replaceAll('\n', ending));
    for (let at = 0; at <= data.length; at += 7) {
      const { stream } = streamOf(protocol, events(cutAt(data, at)));
      expect(await stream.finalText()).toBe(say);
    }
  });

  it('can be iterated only once', async () => {
    const { stream } = streamOf(protocol, events([whole[protocol]]));
    await stream.finalMessage();
    expect(() => stream[Symbol.asyncIterator]()).toThrow('only once');
    expect(await stream.finalText()).toBe(say);
  });

  it('is an error when it ends before its last event, however cleanly', async () => {
    const parts = whole[protocol].split('\n\n').slice(0, -2);
    for (let kept = 0; kept <= parts.length; kept += 1) {
      const text = parts
        .slice(0, kept)
        .map((part) => `${part}\n\n`)
        .join('');
      for (const end of ['close', 'error'] as const) {
        const { stream } = streamOf(protocol, events([text], end));
        const failure = await stream.finalMessage().catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(StreamInterruptedError);
        expect(failure).toMatchObject({ requestId: 'req-1' });
      }
    }
  });

  it('says what went wrong in the middle of it, in the class of its status', async () => {
    const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
    const failing = {
      messages: sse({ type: 'error', error: overloaded }),
      chat: `data: ${JSON.stringify({ error: overloaded })}\n\n`,
      responses: sse({ type: 'error', code: 'overloaded_error', message: 'Overloaded', sequence_number: 1 }),
    }[protocol];
    const begun = `${whole[protocol].split('\n\n').slice(0, 3).join('\n\n')}\n\n`;
    const { stream, seen } = streamOf(protocol, events([begun, failing]));
    const failure = await stream.finalMessage().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).toMatchObject({
      status: 529,
      code: 'overloaded_error',
      message: 'Overloaded',
      requestId: 'req-1',
    });
    expect(seen).toHaveLength(1);
  });

  it('is left with the loop: the request ends', async () => {
    let cancelled = false;
    const { stream } = streamOf(
      protocol,
      events([whole[protocol].slice(0, 400), whole[protocol].slice(400)], 'close', () => (cancelled = true)),
    );
    for await (const event of stream) if (event) break;
    expect(cancelled).toBe(true);
    await expect(stream.finalMessage()).rejects.toThrow(AbortedError);
  });

  it('is ended by abort, before and during the reading', async () => {
    const first = streamOf(protocol, events([whole[protocol]]));
    first.stream.abort();
    await expect(first.stream.finalText()).rejects.toThrow(AbortedError);

    const start = bytes(whole[protocol].slice(0, 90));
    const endless = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(start) });
    const second = streamOf(protocol, new Response(endless));
    setTimeout(() => second.stream.abort(), 5);
    await expect(second.stream.finalText()).rejects.toThrow(AbortedError);

    const silent = streamOf(protocol, new Response(new ReadableStream<Uint8Array>()));
    await silent.stream.response();
    silent.stream.abort();
    await expect(silent.stream.finalText()).rejects.toThrow(AbortedError);
  });
});

describe('a response that failed', () => {
  it('is handed out and then thrown', async () => {
    const failed = { ...response, status: 'failed', error: { code: 'server_error', message: 'No luck' } };
    const { stream } = streamOf(
      'responses',
      events([sse({ type: 'response.failed', sequence_number: 0, response: failed })]),
    );
    const seen: unknown[] = [];
    const loop = async () => {
      for await (const event of stream) seen.push(event.type);
    };
    await expect(loop()).rejects.toMatchObject({
      name: 'StreamError',
      code: 'server_error',
      message: 'No luck',
      status: 500,
    });
    expect(seen).toEqual(['response.failed']);
  });
});

const block = (content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index: 0, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
  { type: 'content_block_stop', index: 0 },
];

const inputDelta = (partial_json: string) => ({ type: 'input_json_delta', partial_json });

describe('a message put together', () => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  const finalOf = (...between: object[]) =>
    streamOf(
      'messages',
      events([sse({ type: 'message_start', message }, ...between, { type: 'message_stop' })]),
    ).stream.finalMessage();

  it('keeps counters that a later event leaves out or empties', async () => {
    const later = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: null, output_tokens: 9 },
    };
    expect(await finalOf(later)).toMatchObject({ usage: { input_tokens: 5, output_tokens: 9 } });
  });

  it('keeps the signature of thinking', async () => {
    const final = await finalOf(
      ...block(
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 's=' },
      ),
    );
    expect(final.content).toEqual([{ type: 'thinking', thinking: 'Hm', signature: 's=' }]);
  });

  it('takes input that came whole at the start, in pieces, empty, or cut off', async () => {
    const tool = { type: 'tool_use', id: 't', name: 'n', input: {} };
    expect((await finalOf(...block({ ...tool, input: { a: 1 } }))).content).toMatchObject([{ input: { a: 1 } }]);
    expect((await finalOf(...block(tool, inputDelta('{"a"'), inputDelta(':2}')))).content).toMatchObject([
      { input: { a: 2 } },
    ]);
    expect((await finalOf(...block(tool, inputDelta('')))).content).toMatchObject([{ input: {} }]);
    expect((await finalOf(...block(tool, inputDelta('{"a": "cut')))).content).toMatchObject([{ input: '{"a": "cut' }]);
  });

  it('passes over events and blocks of kinds that came later', async () => {
    const final = await finalOf({ type: 'something_new', index: 3 }, ...block({ type: 'new_block', x: 1 }));
    expect(final.content).toEqual([{ type: 'new_block', x: 1 }]);
  });
});

async function* pieces(text: string) {
  yield bytes(text);
}

const read = async (text: string) => {
  const list = [];
  for await (const event of readEvents(pieces(text))) list.push(event);
  return list;
};

describe('the reader of event streams', () => {
  it('joins data lines, takes one space, and ignores what it does not know', async () => {
    expect(await read('event:a\ndata:  x\ndata\ndata: y\nid: 1\nretry: 2\n: z\n\ndata: last\n\n')).toEqual([
      { type: 'a', data: ' x\n\ny' },
      { type: null, data: 'last' },
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('reads the same wherever a stream of lines that end with %j is cut', async (ending) => {
    const text = 'event: a\ndata: 1\ndata: 2\n\n: comment\nevent: b\ndata: 3\n\n'.replaceAll('\n', ending);
    async function* cutText(at: number) {
      for (const piece of cutAt(bytes(text), at)) yield piece;
    }
    for (let at = 0; at <= text.length; at += 1) {
      const list = [];
      for await (const event of readEvents(cutText(at))) list.push(event);
      expect(list).toEqual([
        { type: 'a', data: '1\n2' },
        { type: 'b', data: '3' },
      ]);
    }
  });

  it('drops an event that never got its empty line', async () => {
    expect(await read('data: whole\n\ndata: half\n')).toEqual([{ type: null, data: 'whole' }]);
    expect(await read('\uFEFFdata: after a mark\r\r')).toEqual([{ type: null, data: 'after a mark' }]);
  });
});
