import { describe, expect, test } from 'vitest';
import type { WireStream } from '../../../server/wire/protocol.ts';
import { bytes, C_TO_M, DIRECTIONS, type Direction, eventsOf, exchange, M_TO_C, R_TO_C, sse, text } from './support.ts';

/** Per upstream: the beginning of an answer, what says why it ended, and the terminator. */
const UPSTREAM = {
  'chat-completions': {
    begin: [
      { model: 'up-1', choices: [{ index: 0, delta: { role: 'assistant', content: 'Half' }, finish_reason: null }] },
    ],
    finish: [{ model: 'up-1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
    failure: (type: string, message: string) => ({ error: { type, message, code: null, param: null } }),
  },
  messages: {
    begin: [
      { type: 'message_start', message: { model: 'up-1', content: [], usage: { input_tokens: 7, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
    ],
    finish: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    ],
    failure: (type: string, message: string) => ({ type: 'error', error: { type, message } }),
  },
  responses: {
    begin: [
      { type: 'response.created', response: { model: 'up-1' } },
      { type: 'response.output_text.delta', output_index: 0, delta: 'Half' },
    ],
    finish: [],
    failure: (type: string, message: string) => ({
      type: 'response.failed',
      response: { error: { code: type, message } },
    }),
  },
} as const;

function begun(direction: Direction): WireStream {
  const stream = exchange(direction, { stream: true }).stream();
  stream.write(bytes(sse(direction.upstream, UPSTREAM[direction.upstream].begin)));
  return stream;
}

const cut = {
  reason: 'upstream',
  status: 502,
  type: 'api_error',
  code: 'upstream_error',
  message: 'The model went away.',
} as const;

describe.each(DIRECTIONS)('$upstream upstream, $client client', (direction) => {
  const { client, upstream } = direction;

  const errorEvents = {
    messages: (message: string, type: string, code?: string) => [
      ['error', { type: 'error', error: { type, message, ...(code && { code }) }, request_id: 'req_01' }],
    ],
    'chat-completions': (message: string, _type: string, code?: string) => [
      { error: { message, type: 'server_error', param: null, code: code ?? null }, request_id: 'req_01' },
    ],
    // The codes of this protocol are a closed list.
    responses: (message: string) => [
      [
        'response.failed',
        {
          type: 'response.failed',
          sequence_number: expect.any(Number),
          request_id: 'req_01',
          response: expect.objectContaining({ status: 'failed', error: { code: 'server_error', message } }),
        },
      ],
    ],
  };

  test('a cut before the finish reason ends in an error event and no terminator', () => {
    const stream = begun(direction);
    expect(text(stream.end())).toBe('');
    expect(stream.state).toBe('open');
    expect(stream.account()).toMatchObject({ partial: true, outputBytes: 4, outputPieces: 1 });
    expect(eventsOf(text(stream.stop(cut)))).toEqual(errorEvents[client](cut.message, 'api_error', 'upstream_error'));
    expect(stream.account().partial).toBe(true);
    expect(stream.state).toBe('failed');
  });

  test('a cut inside an event leaves that event out', () => {
    const stream = begun(direction);
    stream.write(bytes('data: {"type":"response.outp'));
    expect(text(stream.end())).toBe('');
    expect([stream.state, stream.error]).toEqual(['open', null]);
  });

  test('the end of the budget is the ending of a token limit, with what will be charged', () => {
    const stream = begun(direction);
    const usage = { input: 5, cacheHit: 4, cacheWrite5m: 3, cacheWrite1h: 0, output: 2 };
    const out = text(stream.stop({ reason: 'budget', usage }));
    expect(out).toContain(
      {
        messages: '"stop_reason":"max_tokens"',
        'chat-completions': '"finish_reason":"length"',
        responses: '"incomplete_details":{"reason":"max_output_tokens"}',
      }[client],
    );
    expect(/"(?:output|completion)_tokens":2\b/.test(out)).toBe(client !== 'chat-completions');
    expect(out).toContain(
      { messages: 'message_stop', 'chat-completions': '[DONE]', responses: 'response.incomplete' }[client],
    );
    expect(stream.account().partial).toBe(true);
    expect(stream.state).toBe('terminated');
  });

  test('the end of the budget before anything was said is still a whole answer', () => {
    const stream = exchange(direction, { stream: true }).stream();
    const out = text(stream.stop({ reason: 'budget' }));
    expect(out).toContain(
      { messages: 'message_start', 'chat-completions': '"role":"assistant"', responses: 'response.created' }[client],
    );
    expect(stream.state).toBe('terminated');
  });

  test('an error before the answer begins is kept back, so that it can become a status', () => {
    const stream = exchange(direction, { stream: true }).stream();
    const event = UPSTREAM[upstream].failure('overloaded_error', 'Overloaded');
    expect(text(stream.write(bytes(sse(upstream, [event]))))).toBe('');
    expect(stream.state).toBe('waiting');
    expect(stream.error).toEqual({ status: 529, type: 'overloaded_error', message: 'Overloaded' });
    const after = text(stream.stop({ reason: 'upstream', ...(stream.error as NonNullable<typeof stream.error>) }));
    expect(after).toContain('Overloaded');
    expect(stream.state).toBe('failed');
  });

  test("an error in the middle is an error event in the client's words, and nothing follows", () => {
    const stream = begun(direction);
    const event = UPSTREAM[upstream].failure('overloaded_error', 'Overloaded, see req_0123456789ab');
    const out = text(stream.write(bytes(sse(upstream, [event, ...UPSTREAM[upstream].begin]))));
    expect(eventsOf(out)).toEqual(errorEvents[client]('Overloaded, see req_01', 'overloaded_error'));
    expect(stream.state).toBe('failed');
    expect(stream.error?.status).toBe(529);
    expect(text(stream.stop({ reason: 'budget' }))).toBe('');
  });

  test("an error about the operator's own account never reads as the customer's", () => {
    const stream = begun(direction);
    const event = UPSTREAM[upstream].failure('insufficient_quota', 'Your credit balance is too low');
    const out = text(stream.write(bytes(sse(upstream, [event]))));
    expect(out).not.toContain('balance');
    expect(out).not.toContain('insufficient_quota');
    expect(stream.error).toMatchObject({ status: 402 });
  });

  test.each(['{"broken":', '[]', '"text"', '7'])(
    'data that makes no sense (%s) fails the stream, before and after its begin',
    (data) => {
      const fresh = exchange(direction, { stream: true }).stream();
      fresh.write(bytes(`data: ${data}\n\n`));
      expect([fresh.state, fresh.error?.status]).toEqual(['waiting', 502]);
      const stream = begun(direction);
      expect(text(stream.write(bytes(`data: ${data}\n\n`)))).not.toBe('');
      expect(stream.state).toBe('failed');
    },
  );

  test('nesting beyond any parser fails the stream and nothing else', () => {
    const stream = begun(direction);
    stream.write(bytes(`data: {"tool_use":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n\n`));
    expect(['failed', 'open']).toContain(stream.state);
  });
});

// The responses protocol says in one event why an answer ended and that it ended: nothing can come between.
describe.each(DIRECTIONS.filter(({ upstream }) => upstream !== 'responses'))(
  '$upstream upstream, $client client',
  (direction) => {
    const { client, upstream } = direction;

    test('a cut after the finish reason gets the terminator it lacks', () => {
      const stream = begun(direction);
      stream.write(bytes(sse(upstream, UPSTREAM[upstream].finish)));
      stream.end();
      expect(stream.state).toBe('finished');
      const last = { messages: 'message_stop', 'chat-completions': '[DONE]', responses: 'response.completed' };
      expect(text(stream.stop(cut))).toContain(last[client]);
      expect(stream.account().partial).toBe(false);
      expect(stream.state).toBe('terminated');
    });
  },
);

const finishOf = (direction: Direction, events: readonly Record<string, unknown>[]) => {
  const stream = exchange(direction, { stream: true }).stream();
  const out = text(
    stream.write(
      bytes(
        sse(direction.upstream, [...events, ...(direction.upstream === 'messages' ? [{ type: 'message_stop' }] : [])]) +
          'data: [DONE]\n\n',
      ),
    ),
  );
  expect(stream.state).toBe('terminated');
  return out;
};
const chat = (delta: Record<string, unknown>, more: Record<string, unknown>) => [
  { choices: [{ index: 0, delta, ...more }] },
];

const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 9, completion_tokens } });

describe('finish reasons', () => {
  const call = { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{}' } }] };

  test.each([
    [{ content: 'x' }, { finish_reason: 'stop' }, 'end_turn', null],
    [{ content: 'x' }, { finish_reason: 'eos' }, 'end_turn', null],
    [{ content: 'x' }, { finish_reason: 'length' }, 'max_tokens', null],
    [call, { finish_reason: 'tool_calls' }, 'tool_use', null],
    [call, { finish_reason: 'function_call' }, 'tool_use', null],
    [call, { finish_reason: 'stop' }, 'tool_use', null],
    [call, { finish_reason: 'length' }, 'max_tokens', null],
    [{ content: 'x' }, { finish_reason: 'content_filter' }, 'refusal', null],
    [{ refusal: 'No.' }, { finish_reason: 'stop' }, 'refusal', null],
    [{ content: 'x' }, { finish_reason: 'stop', stop_reason: 'END' }, 'stop_sequence', 'END'],
    [{ content: 'x' }, { finish_reason: 'stop', stop_reason: 128_009 }, 'end_turn', null],
  ])('chat %j %j is %s', (delta, more, stop_reason, stop_sequence) => {
    const out = finishOf(M_TO_C, chat(delta, more));
    expect(out).toContain(`"stop_reason":"${stop_reason}","stop_sequence":${JSON.stringify(stop_sequence)}`);
  });

  test('a terminator without a finish reason is an end all the same', () => {
    expect(finishOf(M_TO_C, chat({ content: 'x' }, { finish_reason: null }))).toContain('"stop_reason":"end_turn"');
  });

  test('and after a call that end is a call', () => {
    expect(finishOf(M_TO_C, chat(call, { finish_reason: null }))).toContain('"stop_reason":"tool_use"');
  });

  test('a call without a name fails at the terminator too', () => {
    const stream = exchange(M_TO_C, { stream: true }).stream();
    const nameless = { tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] };
    stream.write(bytes(sse('chat-completions', [...chat(nameless, {}), '[DONE]'])));
    expect([stream.state, stream.error?.status]).toEqual(['failed', 502]);
  });

  test('content after the finish reason is against the rules, and not lost', () => {
    const out = finishOf(M_TO_C, [...chat({ content: 'a' }, { finish_reason: 'stop' }), ...chat({ content: 'b' }, {})]);
    const types = eventsOf(out).map((event) => (event as [string])[0]);
    expect(out).toContain('"text":"b"');
    expect(types.filter((type) => type === 'content_block_stop')).toHaveLength(2);
    expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  });

  test.each(['error', 'insufficient_system_resource'])('chat finish reason %s is a failure', (finish_reason) => {
    const stream = exchange(M_TO_C, { stream: true }).stream();
    stream.write(bytes(sse('chat-completions', chat({ content: 'x' }, { finish_reason }))));
    expect([stream.state, stream.error?.status]).toEqual(['failed', 502]);
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['compaction', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
  ])('messages %s is %s', (stop_reason, finish_reason) => {
    const out = finishOf(C_TO_M, [{ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } }]);
    expect(out).toContain(`"finish_reason":"${finish_reason}"`);
  });

  test('what the vendor says about a refusal reaches the client', () => {
    const stop_details = { type: 'refusal', category: 'bio', explanation: 'Not this.' };
    const event = {
      type: 'message_delta',
      delta: { stop_reason: 'refusal', stop_details },
      usage: { output_tokens: 1 },
    };
    expect(finishOf(C_TO_M, [event])).toContain('"delta":{"refusal":"Not this."}');
  });

  test('an upstream that answers with its terminator alone has not answered', () => {
    const stream = exchange(R_TO_C, { stream: true }).stream();
    stream.write(bytes('data: [DONE]\n\n'));
    expect([stream.state, stream.error?.status]).toEqual(['waiting', 502]);
  });

  test('usage in every chunk is kept once, as last reported', () => {
    const stream = exchange(M_TO_C, { stream: true }).stream();
    stream.write(
      bytes(
        sse(
          'chat-completions',
          [1, 2, 3].map((count) => ({ choices: [{ index: 0, delta: { content: 'x' } }], ...usage(count) })),
        ),
      ),
    );
    expect(stream.account()).toMatchObject({ usage: { input: 9, output: 3 }, partial: true, outputPieces: 3 });
  });

  test('no usage at all: zeros where a client cannot do without, nothing elsewhere', () => {
    expect(finishOf(M_TO_C, chat({ content: 'x' }, { finish_reason: 'stop' }))).toMatch(
      /"message_delta".*"output_tokens":0/s,
    );
    const asked = exchange(C_TO_M, { stream: true, stream_options: { include_usage: true } }).stream();
    asked.write(
      bytes(
        sse('messages', [
          { type: 'message_start', message: {} },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        ]),
      ),
    );
    expect(eventsOf(text(asked.write(bytes(sse('messages', [{ type: 'message_stop' }])))))).toEqual(['[DONE]']);
  });

  test('a client that did not ask for the usage chunk gets none', () => {
    const stream = exchange(C_TO_M, { stream: true }).stream();
    const out = text(
      stream.write(
        bytes(sse('messages', [...UPSTREAM.messages.begin, ...UPSTREAM.messages.finish, { type: 'message_stop' }])),
      ),
    );
    expect(out).not.toContain('usage');
    expect(stream.account().usage).toMatchObject({ input: 7, output: 3 });
  });
});
