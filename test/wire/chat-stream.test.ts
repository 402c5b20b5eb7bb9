import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireContext } from '../../server/wire/protocol.ts';
import { cut, dataEvents, exchangeWith, relayed } from './fixtures.ts';

/** Native streams of chat completions: bytes pass as they are, the usage is read. */

const chunk = (more: Record<string, unknown>) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'up-1',
  ...more,
});
const delta = (content: Record<string, unknown>, index = 0, finish_reason: string | null = null) =>
  chunk({ choices: [{ index, delta: content, finish_reason }] });
const usage = {
  prompt_tokens: 100,
  completion_tokens: 7,
  total_tokens: 107,
  prompt_tokens_details: { cached_tokens: 60 },
};
const usageChunk = chunk({ choices: [], usage });
const asUpstream = (...chunks: Record<string, unknown>[]) =>
  dataEvents(...chunks.map((one) => ({ ...one, usage: one['usage'] ?? null })));

const content = [
  delta({ role: 'assistant', content: '' }),
  delta({ reasoning_content: 'hm' }),
  delta({ content: 'Grüße 💥' }),
  delta({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
  delta({}, 0, 'tool_calls'),
];
const upstream = asUpstream(...content, usageChunk) + dataEvents('[DONE]');
const withoutUsage = dataEvents(...content, '[DONE]');

interface Asked extends Partial<WireContext> {
  includeUsage?: boolean;
  n?: number;
}

function open({ includeUsage = false, n = 1, ...context }: Asked = {}) {
  const usage = includeUsage ? { stream_options: { include_usage: true } } : {};
  return exchangeWith('chat-completions', { stream: true, n, ...usage }, context).stream();
}

function opened(asked: Asked, ...chunks: (Record<string, unknown> | string)[]) {
  const stream = open(asked);
  stream.write(Buffer.from(dataEvents(...chunks)));
  return stream;
}

const failure = {
  reason: 'upstream',
  status: 502,
  type: 'api_error',
  code: 'upstream_error',
  message: 'Gone.',
} as const;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('usage', () => {
  test('a client that asked for it gets every byte', () => {
    const stream = open({ includeUsage: true });
    const bytes = Buffer.from(upstream);
    expect(stream.write(bytes)).toBe(bytes);
    expect(stream.state).toBe('terminated');
  });

  test('a client that did not ask sees no trace of it', () => {
    const stream = open();
    expect(relayed(stream, [upstream])).toBe(withoutUsage);
    expect(stream.account().usage).toEqual({ input: 40, cacheHit: 60, cacheWrite5m: 0, cacheWrite1h: 0, output: 7 });
  });

  test.each([
    ['on the finish chunk', [...content.slice(0, -1), { ...delta({}, 0, 'stop'), usage }]],
    [
      'cumulative on every chunk',
      content.map((one, index) => ({ ...one, usage: { ...usage, completion_tokens: index + 2 } })),
    ],
    ['on the first choice', [chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] })]],
    ["in a corner of the vendor's", [{ ...delta({}, 0, 'stop'), x_groq: { id: 'x', usage } }]],
    ['in a chunk without choices', [...content, { id: 'x', usage }]],
  ])('is found %s, and the last one counts', (_what, chunks) => {
    const stream = opened({}, ...chunks, '[DONE]');
    expect(stream.account()).toMatchObject({ usage: { input: 40, cacheHit: 60, output: 7 }, partial: false });
  });

  test('is removed wherever it stands in a chunk, and nothing else is', () => {
    for (const [sent, shown] of [
      ['{"usage":null,"choices":[{"index":0}]}', '{"choices":[{"index":0}]}'],
      ['{"choices":[{"index":0}], "usage" : {"a":[1,2]} }', '{"choices":[{"index":0}] }'],
      ['{"a":1 ,"usage":null, "choices":[{"index":0}]}', '{"a":1 , "choices":[{"index":0}]}'],
      ['{"choices":[{"index":0,"usage":1}]}', '{"choices":[{"index":0,"usage":1}]}'],
      ['{"choices":[],"usage":null}', '{"choices":[]}'],
    ] as const) {
      expect(text(open().write(Buffer.from(`data: ${sent}\n\n`)))).toBe(`data: ${shown}\n\n`);
    }
  });

  test('a stream cut before it came has none, one with cumulative usage has what was known', () => {
    expect(opened({}, ...content.slice(0, 3)).account()).toMatchObject({ usage: null, partial: true, outputPieces: 2 });
    expect(opened({}, { ...delta({ content: 'a' }), usage }).account()).toMatchObject({
      usage: { output: 7 },
      partial: true,
    });
  });
});

describe('bytes', () => {
  test.each([
    ['CRLF and spaces', upstream.replaceAll('\n', '\r\n').replaceAll('":', '" : ')],
    ['comments, broken JSON, other JSON', `: PROCESSING\n\ndata: {"bro\n\ndata: 5\n\ndata: [1]\n\n${upstream}`],
    [
      'numbers that no parser keeps',
      `data: {"choices":[{"index":0,"x":12345678901234567890,"y":1.0,"z":-0}],"model":"m"}\n\n${upstream}`,
    ],
  ])('pass untouched: %s', (_what, sent) => {
    expect(relayed(open({ includeUsage: true }), [sent])).toBe(sent);
  });

  test('only the model changes where the upstream has another id for it', () => {
    expect(relayed(open({ includeUsage: true, upstreamModel: 'up-1' }), [upstream])).toBe(
      upstream.replaceAll('"up-1"', '"big-1"'),
    );
    expect(relayed(open({ upstreamModel: 'up-1' }), [upstream])).toBe(withoutUsage.replaceAll('"up-1"', '"big-1"'));
  });

  test('a ping event, which would break clients, is left out', () => {
    expect(relayed(open({ includeUsage: true }), [`event: ping\ndata: {"type":"ping"}\n\n${upstream}`])).toBe(upstream);
  });

  test('data of several lines is one chunk', () => {
    const stream = open({ upstreamModel: 'up-1' });
    const out = relayed(stream, ['data: {"model":"up-1",\ndata: "choices":[{"index":0,"delta":{"content":"x"}}]}\n\n']);
    expect(out).toBe('data: {"model":"big-1", "choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');
  });

  test('nothing follows the terminator', () => {
    expect(relayed(open({ includeUsage: true }), [upstream, upstream, ': late\n\n'])).toBe(upstream);
  });

  test('where chunks are cut changes neither output nor account', () => {
    const texts = [
      upstream,
      upstream.replaceAll('\n', '\r\n'),
      asUpstream(...content.slice(0, 3)) + dataEvents({ error: { message: 'x', type: 'server_error', code: null } }),
      `: a\n\n${asUpstream(...content)}data: {"bro`,
      `${asUpstream(...content)}data: [DONE]`,
    ].map((one) => Buffer.from(one));
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.record({ includeUsage: fc.boolean(), upstreamModel: fc.constantFrom('big-1', 'up-1') }),
        (bytes, places, asked) => {
          const [whole, pieces] = [open(asked), open(asked)];
          expect(relayed(pieces, cut(bytes, places))).toBe(relayed(whole, [bytes]));
          expect(pieces.account()).toEqual(whole.account());
          expect([pieces.state, pieces.error]).toEqual([whole.state, whole.error]);
          expect(text(pieces.stop(failure))).toBe(text(whole.stop(failure)));
        },
      ),
    );
  });
});

describe('account', () => {
  test('counts content, reasoning, names and arguments', () => {
    expect(opened({}, ...content).account()).toMatchObject({
      outputBytes: 'hm'.length + Buffer.byteLength('Grüße 💥') + 'read'.length + '{\\"a\\":1}'.length,
      outputPieces: 4,
      model: 'up-1',
    });
  });

  test('counts what other vendors call it', () => {
    const others = [
      delta({ reasoning: 'abc' }),
      delta({ refusal: 'no' }),
      delta({ function_call: { name: 'f', arguments: '{}' } }),
      delta({ content: [{ type: 'thinking', thinking: 'x' }] }),
    ];
    expect(opened({}, ...others).account().outputPieces).toBe(5);
  });
});

describe('states', () => {
  test('waiting, open, finished, terminated', () => {
    const stream = open();
    const states = [
      ': hi\n\n',
      dataEvents(content[0] ?? {}),
      dataEvents(delta({}, 0, 'stop')),
      dataEvents(usageChunk),
      dataEvents('[DONE]'),
    ].map((one) => {
      stream.write(Buffer.from(one));
      return stream.state;
    });
    expect(states).toEqual(['waiting', 'open', 'finished', 'finished', 'terminated']);
  });

  test('several answers are finished when each one is', () => {
    const stream = opened({ n: 2 }, delta({ content: 'a' }, 0), delta({}, 0, 'stop'));
    expect(stream.state).toBe('open');
    stream.write(Buffer.from(dataEvents(delta({}, 1, 'stop'))));
    expect(stream.state).toBe('finished');
  });
});

describe('errors in the stream', () => {
  test('before anything else they are held back', () => {
    const stream = opened({}, { error: { message: 'Overloaded', type: 'server_error', code: 503 } });
    expect(stream.state).toBe('waiting');
    expect(stream.error).toEqual({ status: 503, type: 'server_error', message: 'Overloaded' });
  });

  test('pass as they are, and end the stream', () => {
    const sent = dataEvents(delta({ content: 'a' }), {
      error: { message: 'bad', type: 'server_error', param: null, code: null },
    });
    const stream = open();
    expect(relayed(stream, [sent, 'data: [DONE]\n\n'])).toBe(sent);
    expect(stream.state).toBe('failed');
  });

  test.each([
    [{ error: { message: 'org-a1b2c3d4', code: 'rate_limit_exceeded', type: 'requests' } }, 429],
    [{ error: { message: 'org-a1b2c3d4', code: 402 } }, 402],
    [{ error: { message: 'org-a1b2c3d4', code: 'invalid_api_key' } }, 401],
  ])('%j is about the operator, so the client gets another one', (error, status) => {
    const stream = open();
    const out = relayed(stream, [dataEvents(delta({ content: 'a' }), error)]);
    expect(stream.error?.status).toBe(status);
    expect(out).not.toContain('a1b2c3d4');
    expect(out).toContain('"type":"server_error"');
  });

  test.each(['event: error\ndata: {"message":"x"}\n\n', 'event: error\ndata: oops\n\n', 'data: {"error":"oops"}\n\n'])(
    'are seen in other forms: %j',
    (sent) => {
      const stream = open();
      relayed(stream, [dataEvents(delta({ content: 'a' })), sent]);
      expect([stream.state, stream.error?.status]).toEqual(['failed', 500]);
    },
  );
});

describe('the end', () => {
  test('a cut stream gets an error chunk and no terminator', () => {
    expect(text(opened({}, delta({ content: 'a' })).stop(failure))).toBe(
      'data: {"error":{"message":"Gone.","type":"server_error","param":null,"code":"upstream_error"},' +
        '"request_id":"req-of-ours"}\n\n',
    );
  });

  test('a stream that only lacks its terminator gets it', () => {
    const stream = opened({}, ...content);
    expect(text(stream.stop(failure))).toBe('data: [DONE]\n\n');
    expect(stream.state).toBe('terminated');
  });

  test('a usage that came in a corner is told in its place, to a client that asked', () => {
    const stream = opened({ includeUsage: true }, { ...delta({}, 0, 'stop'), x_groq: { usage } });
    expect(text(stream.stop(failure))).toContain('"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7');
  });

  test('usage that the client has seen is not told again', () => {
    const stream = opened({ includeUsage: true }, ...content, usageChunk);
    expect(text(stream.stop(failure))).toBe('data: [DONE]\n\n');
  });

  test('an empty finish reason finishes nothing: the budget would no longer be watched', () => {
    const stream = opened({}, delta({ content: 'a' }, 0, ''), delta({ content: 'b' }, 0, ''));
    expect([stream.state, stream.account().partial]).toEqual(['open', true]);
    stream.write(Buffer.from(dataEvents(delta({}, 0, 'stop'))));
    expect([stream.state, stream.account().partial]).toEqual(['finished', false]);
  });

  test('reasoning counts under either name, once', () => {
    for (const reasoning of [{ reasoning: 'abcd' }, { reasoning_content: null, reasoning: 'abcd' }]) {
      expect(opened({}, delta(reasoning)).account().outputBytes).toBe(4);
    }
    expect(opened({}, delta({ reasoning_content: 'abcd', reasoning: 'abcd' })).account().outputBytes).toBe(4);
    expect(opened({}, delta({ reasoning_content: '', reasoning: 'abcd' })).account().outputBytes).toBe(4);
  });

  test('the budget ends it as the token limit would', () => {
    const stream = opened({}, delta({ content: 'a' }));
    expect(text(stream.stop({ reason: 'budget' }))).toBe(
      dataEvents(chunk({ choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'length' }] }), '[DONE]'),
    );
    expect(stream.account().partial).toBe(true);
  });

  test("with usage for a client that asked, and the catalog's name of the model", () => {
    const stream = opened({ includeUsage: true, upstreamModel: 'up-1' }, delta({ content: 'a' }));
    const pools = { input: 40, cacheHit: 60, cacheWrite5m: 0, cacheWrite1h: 0, output: 3 };
    expect(text(stream.stop({ reason: 'budget', usage: pools }))).toBe(
      dataEvents(
        {
          ...chunk({ choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'length' }], usage: null }),
          model: 'big-1',
        },
        {
          ...chunk({
            choices: [],
            usage: {
              prompt_tokens: 100,
              completion_tokens: 3,
              total_tokens: 103,
              prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
            },
          }),
          model: 'big-1',
        },
        '[DONE]',
      ),
    );
  });

  test('every answer that still runs is ended, begun or not', () => {
    const out = text(
      opened({ n: 3 }, delta({ content: 'a' }, 0), delta({}, 0, 'stop'), delta({ content: 'b' }, 1)).stop({
        reason: 'budget',
      }),
    );
    const ended = [...out.matchAll(/"index":(\d),"delta":(\{[^}]*\})/g)].map(([, index, delta]) => [index, delta]);
    expect(ended).toEqual([
      ['1', '{}'],
      ['2', '{"role":"assistant","content":""}'],
    ]);
  });

  test('before anything has come it is a stream all the same', () => {
    const out = text(open().stop({ reason: 'budget' }));
    expect(out).toContain('"id":"chatcmpl-req-of-ours"');
    expect(out).toContain('"created":1800000000,"model":"big-1"');
    expect(out).toContain('"role":"assistant"');
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('a sign of life is a comment', () => {
    expect(text(open().keepAlive)).toMatch(/^: .*\n\n$/);
  });
});
