import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { saysOverflow } from '../../server/wire/overflow.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { bytes, contextWith, factsOf, MINIMAL, text } from './dialogue/support.ts';
import { opened } from './fixtures.ts';
import { others, overflows, type Wording } from './overflow-wordings.ts';

/** An overflow of the model's window is told in the words of the client's protocol, whoever said it, and nothing else is. */

const everyProtocol: Protocol[] = ['messages', 'chat-completions', 'responses'];
const pairs = everyProtocol.flatMap((client) => everyProtocol.map((upstream) => [client, upstream] as const));

function exchangeOf(client: Protocol, upstream: Protocol, more: Record<string, unknown> = {}) {
  const raw = bytes(JSON.stringify({ ...MINIMAL[client], ...more }));
  return opened(
    wireFor(client, upstream).request(raw, factsOf(client, raw), { ...contextWith(), requestId: 'req_mine' }),
  );
}

interface Told {
  message: string;
  code?: string | null;
}

function bodyOf(upstream: Protocol, { says, code }: Wording): unknown {
  if (upstream === 'messages')
    return { type: 'error', error: { type: code ?? 'invalid_request_error', message: says } };
  return { error: { message: says, type: code ?? 'BadRequestError', param: null, code: null, n_ctx: 4096 } };
}

const isTold = (client: Protocol, { message, code }: Told): boolean =>
  client === 'messages'
    ? /^(?:prompt is too long|Input is too long\.)/.test(message)
    : code === 'context_length_exceeded';

describe('every wording', () => {
  test.each(overflows.map((wording) => [wording.from, wording] as const))('%s', (_from, wording) => {
    for (const [client, upstream] of pairs) {
      const error = exchangeOf(client, upstream).error(422, bytes(JSON.stringify(bodyOf(upstream, wording))));
      const told = JSON.parse(text(error?.body ?? bytes('{}'))) as { error: Told };
      expect([client, upstream, error?.status, isTold(client, told.error)]).toEqual([client, upstream, 400, true]);
      // The sentence stays, with its numbers.
      expect(told.error.message).toContain(wording.says);
    }
  });

  test.each(others.map((wording) => [wording.says, wording] as const))('is none: %s', (_says, wording) => {
    expect(saysOverflow(wording.says, [wording.code])).toBe(false);
    for (const [client, upstream] of pairs) {
      const error = exchangeOf(client, upstream).error(400, bytes(JSON.stringify(bodyOf(upstream, wording))));
      expect(isTold(client, (JSON.parse(text(error?.body ?? bytes('{}'))) as { error: Told }).error)).toBe(false);
    }
  });
});

describe('natively', () => {
  test("a vendor's own words of the protocol stay byte for byte", () => {
    const own: [Protocol, string][] = [
      [
        'messages',
        '{"type":"error", "error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}',
      ],
      [
        'chat-completions',
        '{"error": {"message":"This model\'s maximum context length is 8 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
      ],
    ];
    for (const [protocol, said] of own)
      expect(text(exchangeOf(protocol, protocol).error(400, bytes(said))?.body ?? bytes(''))).toBe(said);
  });

  test('the other members of the error stay, as an engine counts in them', () => {
    const said =
      '{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}';
    const error = exchangeOf('chat-completions', 'chat-completions').error(400, bytes(said));
    expect(JSON.parse(text(error?.body ?? bytes('')))).toEqual({
      error: { ...JSON.parse(said).error, code: 'context_length_exceeded' },
    });
  });

  test('an envelope without a place for the code becomes one that has it', () => {
    const said =
      '{"object":"error","message":"The input (61709 tokens) is longer than the model\'s context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}';
    const error = exchangeOf('chat-completions', 'chat-completions').error(400, bytes(said));
    expect(JSON.parse(text(error?.body ?? bytes('')))).toMatchObject({
      error: { code: 'context_length_exceeded', message: expect.stringContaining('61709') as unknown },
    });
  });

  test('an error in a list is taken out of it', () => {
    const said = '[{"error":{"code":400,"message":"Bad \\"x\\".","status":"INVALID_ARGUMENT"}}]';
    const error = exchangeOf('chat-completions', 'chat-completions').error(400, bytes(said));
    expect(JSON.parse(text(error?.body ?? bytes('')))).toEqual(JSON.parse(said)[0]);
  });
});

/** How the stream of a protocol begins, and the errors that may follow. */
const streams: Record<Protocol, { begin: string; errors(wording: Wording): string[] }> = {
  messages: {
    begin:
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":0}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    errors: (wording) => [`event: error\ndata: ${JSON.stringify(bodyOf('messages', wording))}\n\n`],
  },
  'chat-completions': {
    begin:
      'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n',
    errors: (wording) => [
      `data: ${JSON.stringify(bodyOf('chat-completions', wording))}\n\n`,
      `event: error\ndata: ${JSON.stringify({ message: wording.says, type: wording.code ?? 'x' })}\n\n`,
    ],
  },
  responses: {
    begin:
      'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}\n\nevent: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}\n\n',
    errors: ({ says, code = 'server_error' }) => [
      `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', sequence_number: 2, response: { id: 'resp_1', object: 'response', status: 'failed', model: 'm', output: [], error: { code, message: says } } })}\n\n`,
      `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: 2, code, message: says, param: null })}\n\n`,
    ],
  },
};

/** The error that the stream's client sees. */
function toldIn(stream: string): Told {
  const data = stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { error?: Told; response?: { error?: Told }; type?: string } & Told);
  const last = data.at(-1);
  return last?.response?.error ?? last?.error ?? { message: last?.message ?? '', code: last?.code ?? null };
}

describe('inside a stream that has begun', () => {
  const some = overflows.filter(({ from }) => /^(?:Anthropic|llama|xAI|SGLang|OpenAI, GPT-5)/.test(from));
  test.each(pairs)('client %s, upstream %s', (client, upstream) => {
    for (const wording of some)
      for (const error of streams[upstream].errors(wording)) {
        const stream = exchangeOf(client, upstream, { stream: true }).stream();
        const said = text(stream.write(bytes(streams[upstream].begin))) + text(stream.write(bytes(error)));
        expect([wording.from, error, isTold(client, toldIn(said))]).toEqual([wording.from, error, true]);
        expect(toldIn(said).message).toContain(wording.says);
        // A failed response of one that was announced: clients of responses look for the code there.
        expect(said.includes('event: response.failed')).toBe(client === 'responses');
      }
  });

  test('another error stays what it is', () => {
    const said = '[1] Bad tool.';
    for (const [client, upstream] of pairs) {
      const stream = exchangeOf(client, upstream, { stream: true }).stream();
      stream.write(bytes(streams[upstream].begin));
      const [error = ''] = streams[upstream].errors({ from: '', says: said, source: '' });
      const told = toldIn(text(stream.write(bytes(error))));
      expect([client, upstream, told.message, isTold(client, told)]).toEqual([client, upstream, said, false]);
    }
  });
});
