import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireContext } from '../../server/wire/protocol.ts';
import { cut, exchangeWith, namedEvents, relayed } from './fixtures.ts';

/** Native streams of the Messages protocol: bytes pass as they are, the usage is read. */

const start = (
  usage: Record<string, unknown> = { input_tokens: 25, cache_read_input_tokens: 75, output_tokens: 1 },
) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'up-1', content: [], usage },
});
const block = (index: number, content_block: Record<string, unknown>) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, more: Record<string, unknown>) => ({ type: 'content_block_delta', index, delta: more });
const stopBlock = (index: number) => ({ type: 'content_block_stop', index });
const ending = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 12 },
};
const terminator = { type: 'message_stop' };

const thinkingTextAndTool = namedEvents(
  start(),
  { type: 'ping' },
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'hm\nhm' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  stopBlock(0),
  block(1, { type: 'text', text: '' }),
  delta(1, { type: 'text_delta', text: 'Grüße 💥' }),
  delta(1, { type: 'text_delta', text: '' }),
  stopBlock(1),
  block(2, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '{"a":' }),
  delta(2, { type: 'input_json_delta', partial_json: '1}' }),
  stopBlock(2),
  { type: 'brand_new_event', model: 'up-1' },
  ending,
  terminator,
);

const error = (type: string, message: string, more = {}) => ({ type: 'error', error: { type, message }, ...more });

function open(context: Partial<WireContext> = {}) {
  return exchangeWith('messages', { stream: true }, context).stream();
}

const opened = (...events: Record<string, unknown>[]) => {
  const stream = open();
  stream.write(Buffer.from(namedEvents(...events)));
  return stream;
};

describe('bytes', () => {
  test('pass untouched, and an untouched chunk is handed out as itself', () => {
    const stream = open();
    const chunk = Buffer.from(thinkingTextAndTool);
    expect(stream.write(chunk)).toBe(chunk);
    expect(stream.state).toBe('terminated');
  });

  test.each([
    ['CRLF and spaces', thinkingTextAndTool.replaceAll('\n', '\r\n').replaceAll('":', '" : ')],
    ['comments and unknown fields', `: hello\n\n${thinkingTextAndTool.replaceAll('\ndata', '\nid: 4\ndata')}`],
    ['a byte order mark', `\ufeff${thinkingTextAndTool}`],
    [
      'broken JSON in the middle',
      namedEvents(start()) + 'event: x\ndata: {"broken\n\ndata: 5\n\n' + namedEvents(ending, terminator),
    ],
    ['no event names', thinkingTextAndTool.replaceAll(/event: .*\n/g, '')],
  ])('pass untouched: %s', (_what, text) => {
    const stream = open();
    expect(relayed(stream, [text])).toBe(text);
    expect(stream.state).toBe('terminated');
  });

  test('only the model changes where the upstream has another id for it', () => {
    const text = thinkingTextAndTool.replaceAll('":', '" :').replaceAll('\ndata', '\nid: 4\ndata');
    const changed = relayed(open({ upstreamModel: 'up-1' }), [text]);
    // The unknown event's `model` is not the answer's model.
    expect(changed).toBe(text.replace('"model" :"up-1"', '"model" :"big-1"'));
  });

  test('whatever the vendor calls the model passes where the ids are the same', () => {
    expect(relayed(open(), [thinkingTextAndTool])).toContain('"model":"up-1"');
  });

  test('nothing follows the terminator', () => {
    expect(relayed(open(), [thinkingTextAndTool + 'data: [DONE]\n\n: late\n\n', namedEvents(start())])).toBe(
      thinkingTextAndTool,
    );
  });

  test('events go out whole', () => {
    const stream = open();
    const half = Math.floor(thinkingTextAndTool.length / 2);
    const first = Buffer.from(stream.write(Buffer.from(thinkingTextAndTool.slice(0, half)))).toString();
    expect(first.endsWith('\n\n')).toBe(true);
    expect(thinkingTextAndTool.startsWith(first)).toBe(true);
  });

  test('where chunks are cut changes neither output nor account', () => {
    const texts = [
      thinkingTextAndTool,
      thinkingTextAndTool.replaceAll('\n', '\r\n'),
      namedEvents(start(), block(0, { type: 'text', text: '' }), {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
      }),
      `${namedEvents(start())}event: x\ndata: {"bro\n\n${namedEvents(ending)}`,
    ].map((text) => Buffer.from(text));
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.boolean(),
        (bytes, places, renamed) => {
          const context = renamed ? { upstreamModel: 'up-1' } : {};
          const [whole, pieces] = [open(context), open(context)];
          expect(relayed(pieces, cut(bytes, places))).toBe(relayed(whole, [bytes]));
          expect(pieces.account()).toEqual(whole.account());
          expect([pieces.state, pieces.error]).toEqual([whole.state, whole.error]);
        },
      ),
    );
  });
});

describe('account', () => {
  test('counts the pools, the model and what was generated', () => {
    const stream = open();
    relayed(stream, [thinkingTextAndTool]);
    expect(stream.account()).toEqual({
      usage: { input: 25, cacheHit: 75, cacheWrite5m: 0, cacheWrite1h: 0, output: 12 },
      finish: 'end_turn',
      clamped: false,
      partial: false,
      // Escapes count as they stand: `hm\nhm` has seven bytes on the wire, and so has `{\"a\":`.
      outputBytes: 'hm\\nhm'.length + Buffer.byteLength('Grüße 💥') + '{\\"a\\":'.length + '1}'.length,
      outputPieces: 4,
      model: 'up-1',
    });
  });

  test('is partial while the answer runs, also after the gateway has ended it', () => {
    const stream = opened(start(), block(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'abc' }));
    expect(stream.account()).toMatchObject({
      usage: { input: 25, output: 1 },
      partial: true,
      outputBytes: 3,
      outputPieces: 1,
    });
    stream.stop({ reason: 'budget' });
    expect(stream.account().partial).toBe(true);
  });

  test.each([null, ''])('usage in the middle is still partial, with the stop reason %j', (stop_reason) => {
    const stream = opened(start(), {
      type: 'message_delta',
      delta: { stop_reason },
      usage: { output_tokens: 3 },
    });
    expect(stream.account()).toMatchObject({ usage: { output: 3 }, partial: true });
    expect(stream.state).toBe('open');
  });

  test('the delta overrides the start; odd numbers are told', () => {
    const stream = opened(
      start({ input_tokens: 0, output_tokens: 0 }),
      { ...ending, usage: { input_tokens: 9, output_tokens: -4 } },
      terminator,
    );
    expect(stream.account()).toMatchObject({ usage: { input: 9, output: 0 }, clamped: true, partial: false });
  });

  test('there is no usage where none was reported', () => {
    const { usage: _usage, ...rest } = ending;
    const stream = opened(
      { type: 'message_start', message: { model: 'up-1' } },
      block(0, { type: 'redacted_thinking', data: 'abcd' }),
      rest,
      terminator,
    );
    expect(stream.account()).toMatchObject({ usage: null, outputBytes: 4 });
  });

  test('what cannot be read counts as output', () => {
    const stream = open();
    stream.write(Buffer.from('data: {"x\n\n'));
    expect(stream.account().outputBytes).toBe(3);
  });
});

describe('before the answer has begun', () => {
  test('pings and comments wait for it, in order', () => {
    const stream = open();
    expect(stream.write(Buffer.from(`: one\n\n${namedEvents({ type: 'ping' })}`))).toHaveLength(0);
    expect(stream.state).toBe('waiting');
    expect(Buffer.from(stream.write(Buffer.from(namedEvents(start())))).toString()).toBe(
      `: one\n\n${namedEvents({ type: 'ping' }, start())}`,
    );
    expect(stream.state).toBe('open');
  });

  test('an error is held back, so that it can become a status', () => {
    const stream = open();
    const text = `: hi\n\n${namedEvents({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, start())}`;
    expect(relayed(stream, [text])).toBe('');
    expect(stream.state).toBe('waiting');
    expect(stream.error).toEqual({ status: 529, type: 'overloaded_error', message: 'Overloaded' });
    const late = Buffer.from(
      stream.stop({ reason: 'upstream', status: 529, type: 'overloaded_error', message: 'Later.' }),
    ).toString();
    expect(late).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Later."},"request_id":"req-of-ours"}\n\n',
    );
  });

  test('endless signs of life take no endless memory', () => {
    const stream = open();
    for (let index = 0; index < 20_000; index += 1) stream.write(Buffer.from(': still here\n\n'));
    expect(stream.write(Buffer.from(namedEvents(start()))).length).toBeLessThan(70_000);
  });
});

describe('errors in the stream', () => {
  test('pass as they are, and end it', () => {
    const text = namedEvents(start(), error('api_error', 'Internal server error'));
    const stream = open();
    expect(relayed(stream, [text, namedEvents(ending)])).toBe(text);
    expect(stream.state).toBe('failed');
    expect(stream.stop({ reason: 'budget' })).toHaveLength(0);
  });

  test("lose what identifies the operator's account", () => {
    const text = namedEvents(
      start(),
      error('api_error', 'org-a1b2c3d4 failed', { request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' }),
    );
    const out = relayed(open(), [text]);
    expect(out).toContain('"request_id":"req-of-ours"');
    expect(out).toContain('org-redacted failed');
  });

  test.each([
    ['rate_limit_error', 429, 'overloaded_error'],
    ['authentication_error', 401, 'api_error'],
    ['billing_error', 402, 'api_error'],
    ['permission_error', 403, 'api_error'],
  ])('%s is about the operator, so the client gets another one', (type, status, shown) => {
    const stream = open();
    const out = relayed(stream, [namedEvents(start(), error(type, 'secret limit of org'))]);
    expect(stream.error).toMatchObject({ status, type });
    expect(out).toContain(`"type":"${shown}"`);
    expect(out).not.toContain('secret');
  });

  test.each([
    'event: error\ndata: overloaded\n\n',
    'event: error\ndata: {"error":{"message":"x"}}\n\n',
    'data: {"error":{"message":"x"}}\n\n',
  ])('are seen without the envelope: %j', (text) => {
    const stream = open();
    stream.write(Buffer.from(namedEvents(start()) + text));
    expect(stream.error).toMatchObject({ status: 500, type: 'api_error' });
    expect(stream.state).toBe('failed');
  });
});

describe('the end', () => {
  const failure = { reason: 'upstream', status: 502, type: 'api_error', message: 'Gone.' } as const;

  test('a cut stream gets an error event', () => {
    const stream = opened(start());
    expect(Buffer.from(stream.end())).toHaveLength(0);
    expect(stream.state).toBe('open');
    expect(Buffer.from(stream.stop(failure)).toString()).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Gone."},"request_id":"req-of-ours"}\n\n',
    );
    expect(stream.state).toBe('failed');
    expect(stream.stop(failure)).toHaveLength(0);
  });

  test('half an event is dropped, a whole one that lacks its empty line is completed', () => {
    const stream = opened(start());
    stream.write(Buffer.from('event: content_block_delta\ndata: {"type":"conte'));
    expect(stream.end()).toHaveLength(0);
    const text = namedEvents(start(), ending, terminator);
    for (const missing of [1, 2]) {
      const other = open();
      expect(relayed(other, [text.slice(0, -missing)])).toBe(text);
      expect(other.state).toBe('terminated');
    }
  });

  test('a stream that only lacks its terminator gets it', () => {
    const stream = opened(start(), ending);
    expect(stream.state).toBe('finished');
    expect(Buffer.from(stream.stop(failure)).toString()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
    expect(stream.state).toBe('terminated');
  });

  test('the budget ends it as the token limit would: open blocks closed, usage told', () => {
    const stream = opened(
      start(),
      block(0, { type: 'text', text: '' }),
      stopBlock(0),
      block(1, { type: 'tool_use', id: 't', name: 'n', input: {} }),
    );
    const usage = { input: 25, cacheHit: 75, cacheWrite5m: 0, cacheWrite1h: 0, output: 7 };
    expect(Buffer.from(stream.stop({ reason: 'budget', usage })).toString()).toBe(
      namedEvents(
        stopBlock(1),
        {
          type: 'message_delta',
          delta: { stop_reason: 'max_tokens', stop_sequence: null },
          usage: {
            input_tokens: 25,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 75,
            cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
            output_tokens: 7,
          },
        },
        terminator,
      ),
    );
  });

  test('a stream that the budget ends before it has begun is a stream all the same', () => {
    const out = Buffer.from(open().stop({ reason: 'budget' })).toString();
    expect([...out.matchAll(/event: (.*)/g)].map(([, name]) => name)).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ]);
  });

  test('nothing is inserted into an event that is already half out', () => {
    const stream = opened(start());
    stream.write(Buffer.from(`event: x\ndata: ${'x'.repeat(1_100_000)}`));
    expect(stream.keepAlive).toHaveLength(0);
    expect(Buffer.from(stream.stop(failure)).toString()).toMatch(/^\n\nevent: error/);
  });

  test('a sign of life is a ping event', () => {
    expect(Buffer.from(open().keepAlive).toString()).toBe('event: ping\ndata: {"type": "ping"}\n\n');
  });
});
