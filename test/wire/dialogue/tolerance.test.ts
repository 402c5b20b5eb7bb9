import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../../server/core/protocol.ts';
import {
  awkwardForms,
  bytes,
  C_TO_M,
  C_TO_R,
  type Direction,
  exchange,
  M_TO_C,
  M_TO_R,
  R_TO_C,
  R_TO_M,
  relay,
  replied,
  sse,
  text,
} from './support.ts';

/** An answer that its vendor meant well reaches the client, whatever of it is missing or unknown. */

const BY_UPSTREAM: [Protocol, Direction[]][] = [
  ['chat-completions', [M_TO_C, R_TO_C]],
  ['messages', [C_TO_M, R_TO_M]],
  ['responses', [M_TO_R, C_TO_R]],
];
const native = (protocol: Protocol): Direction => ({ client: protocol, upstream: protocol });

const choice = (message: unknown, more: object = {}) => ({ choices: [{ index: 0, message, ...more }] });
const functionCall = (described: unknown) => ({ id: 'a', type: 'function', function: described });

/** The answer's text, as its client sees it. */
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of three protocols
function textOf(client: Protocol, body: any): string {
  if (client === 'messages') return body.content.map((block: { text?: string }) => block.text ?? '').join('');
  if (client === 'chat-completions') return body.choices[0].message.content ?? '';
  return body.output
    .flatMap((item: { content?: { text?: string }[] }) => item.content ?? [])
    .map((part: { text?: string }) => part.text ?? '')
    .join('');
}

/** The arguments of the answer's calls, as its client parses them. */
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of three protocols
function inputsOf(client: Protocol, body: any): unknown[] {
  if (client === 'messages') {
    return body.content.flatMap((block: { type: string; input: unknown }) =>
      block.type === 'tool_use' ? [block.input] : [],
    );
  }
  const texts: string[] =
    client === 'chat-completions'
      ? (body.choices[0].message.tool_calls ?? []).map(
          (call: { function: { arguments: string } }) => call.function.arguments,
        )
      : body.output.flatMap((item: { type: string; arguments: string }) =>
          item.type === 'function_call' ? [item.arguments] : [],
        );
  return texts.map((json) => JSON.parse(json));
}

describe('a whole answer with odd parts shows what it has', () => {
  const shown: Record<Protocol, [string, unknown][]> = {
    'chat-completions': [
      ['an empty call of the old form', choice({ content: 'So', function_call: { name: '', arguments: '' } })],
      ['an old call of nulls', choice({ content: 'So', function_call: { name: null, arguments: null } })],
      ['an empty call', choice({ content: 'So', tool_calls: [functionCall({ name: '', arguments: '{}' })] })],
      ['a call without a function', choice({ content: 'So', tool_calls: [{ id: 'a', type: 'function' }] })],
      ['a call that is null', choice({ content: 'So', tool_calls: [null] })],
      ['a call without a name', choice({ content: 'So', tool_calls: [functionCall({ arguments: '{"x":1}' })] })],
      ['calls that are null', choice({ content: 'So', tool_calls: null, function_call: null })],
      ['an index that starts at one', { choices: [{ index: 1, message: { content: 'So' } }] }],
      ['an index of text', { choices: [{ index: '0', message: { content: 'So' } }] }],
      ['text in place of a message', { choices: [{ index: 0, text: 'So', finish_reason: 'stop' }] }],
      ['unknown parts', choice({ content: [{ type: 'hologram', x: 1 }, { type: 'text', text: 'So' }, 7, null] })],
      ['an unknown finish reason', choice({ content: 'So' }, { finish_reason: 'because' })],
    ],
    messages: [
      ['text in place of blocks', { content: 'So', stop_reason: 'end_turn' }],
      ['unknown blocks', { content: [{ type: 'hologram' }, null, 7, { type: 'text', text: 'So' }] }],
      [
        'an empty call',
        {
          content: [
            { type: 'text', text: 'So' },
            { type: 'tool_use', id: 'a', name: '', input: {} },
          ],
        },
      ],
      [
        'a call of nulls',
        {
          content: [
            { type: 'text', text: 'So' },
            { type: 'tool_use', id: null, name: null },
          ],
        },
      ],
      ['an unknown stop reason', { content: [{ type: 'text', text: 'So' }], stop_reason: 'because' }],
    ],
    responses: [
      ['unknown items', { output: [{ type: 'hologram' }, null, message('So')] }],
      ['unknown parts', { output: [{ type: 'message', content: [{ type: 'hologram' }, null, part('So')] }] }],
      ['an empty call', { output: [message('So'), { type: 'function_call', name: '', arguments: '' }] }],
      ['an unknown status', { status: 'because', output: [message('So')] }],
    ],
  };
  for (const [upstream, directions] of BY_UPSTREAM) {
    for (const direction of directions) {
      test.each(shown[upstream])(`${upstream} upstream, ${direction.client} client: %s`, (_what, answer) => {
        const body = replied(direction, answer);
        expect(textOf(direction.client, body)).toBe('So');
        expect(inputsOf(direction.client, body)).toEqual([]);
        expect(JSON.stringify(body)).not.toMatch(/"(?:tool_use|tool_calls)"/);
      });
    }
  }
});

function part(words: string) {
  return { type: 'output_text', text: words };
}

function message(words: string) {
  return { type: 'message', content: [part(words)] };
}

describe('an answer that says nothing but why it ended is a refusal or an empty answer', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 0, input_tokens: 3, output_tokens: 0 };
  const filtered: Record<Protocol, [string, unknown][]> = {
    'chat-completions': [
      ['without a message', { choices: [{ index: 0, finish_reason: 'content_filter' }], usage }],
      ['with a message of null', { choices: [{ finish_reason: 'content_filter', message: null }], usage }],
    ],
    messages: [
      ['without content', { type: 'message', stop_reason: 'refusal', usage }],
      ['with content of null', { type: 'message', content: null, stop_reason: 'refusal', usage }],
    ],
    responses: [
      ['without output', { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, usage }],
      [
        'with output of null',
        { status: 'incomplete', output: null, incomplete_details: { reason: 'content_filter' }, usage },
      ],
    ],
  };
  for (const [upstream, directions] of BY_UPSTREAM) {
    for (const direction of directions) {
      test.each(filtered[upstream])(`${upstream} upstream, ${direction.client} client: %s`, (_what, answer) => {
        const reply = exchange(direction).reply(answer);
        expect(text(reply.body)).toMatch(/"refusal"|"content_filter"/);
        expect(reply.account.usage).toMatchObject({ input: 3, output: 0 });
      });
    }
    test.each(filtered[upstream])(`${upstream}, natively: %s`, (_what, answer) => {
      const reply = exchange(native(upstream)).reply(answer);
      expect(text(reply.body)).toBe(JSON.stringify(answer));
      expect(reply.account.usage).toMatchObject({ input: 3, output: 0 });
    });
  }
});

describe('a call without arguments has empty ones for every client', () => {
  const tools: Record<Protocol, unknown> = {
    messages: [{ name: 'f', input_schema: { type: 'object' } }],
    'chat-completions': [{ type: 'function', function: { name: 'f' } }],
    responses: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
  };
  const bare: Record<Protocol, unknown[]> = {
    'chat-completions': [
      { name: 'f' },
      { name: 'f', arguments: null },
      { name: 'f', arguments: '' },
      { name: 'f', arguments: ' ' },
    ].map((described) => choice({ content: null, tool_calls: [functionCall(described)] })),
    messages: [{}, { input: null }, { input: {} }].map((input) => ({
      content: [{ type: 'tool_use', id: 'a', name: 'f', ...input }],
    })),
    responses: [{}, { arguments: null }, { arguments: '' }, { arguments: {} }].map((args) => ({
      output: [{ type: 'function_call', call_id: 'a', name: 'f', ...args }],
    })),
  };
  for (const [upstream, directions] of BY_UPSTREAM) {
    for (const direction of directions) {
      test(`${upstream} upstream, ${direction.client} client, whole`, () => {
        for (const answer of bare[upstream]) {
          expect(inputsOf(direction.client, replied(direction, answer, { tools: tools[direction.client] }))).toEqual([
            {},
          ]);
        }
      });
    }
  }

  const chunks = [
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    '[DONE]',
  ];
  test('chat-completions upstream, streamed', () => {
    const forMessages = relay(exchange(M_TO_C, { stream: true }).stream(), [bytes(sse('chat-completions', chunks))]);
    expect(forMessages).toContain('"partial_json":"{}"');
    const forResponses = relay(exchange(R_TO_C, { stream: true }).stream(), [bytes(sse('chat-completions', chunks))]);
    expect(forResponses).toContain('"response.function_call_arguments.done"');
    expect(forResponses).toContain('"status":"completed","call_id":"a","name":"f","arguments":"{}"');
  });
});

describe('a stream with odd parts', () => {
  const empty = { name: '', arguments: '' };
  const stream = sse('chat-completions', [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'So', function_call: empty } }] },
    {
      choices: [
        { index: 0, delta: { content: ' be it', function_call: empty, tool_calls: [{ index: 0, function: empty }] } },
      ],
    },
    { choices: [{ index: 0, finish_reason: 'stop' }] },
    '[DONE]',
  ]);
  test.each([M_TO_C, R_TO_C])('an empty call beside the text is none: $client client', (direction) => {
    const whole = relay(exchange(direction, { stream: true }).stream(), [bytes(stream)]);
    expect(whole).not.toContain('"type":"tool_use"');
    expect(whole).not.toContain('function_call');
    expect(whole).toContain('So');
    for (const [, pieces] of awkwardForms(stream).slice(0, 10)) {
      expect(relay(exchange(direction, { stream: true }).stream(), pieces)).toBe(whole);
    }
  });

  test('a call without a name goes where there is text to show', () => {
    const nameless = { tool_calls: [{ index: 0, id: 'a', function: { arguments: '{"x":1}' } }] };
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'So' } }] },
      { choices: [{ index: 0, delta: nameless, finish_reason: 'tool_calls' }] },
      '[DONE]',
    ];
    const out = relay(exchange(M_TO_C, { stream: true }).stream(), [bytes(sse('chat-completions', chunks))]);
    expect(out).toContain('"stop_reason":"end_turn"');
    expect(out).not.toContain('"type":"tool_use"');
  });

  const namelessCall = {
    messages: [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'a', name: '', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"x":1}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
      { type: 'message_stop' },
    ],
    responses: [
      { type: 'response.created', response: {} },
      { type: 'response.output_item.added', output_index: 1, item: { type: 'function_call', call_id: 'a' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"x":1}' },
      { type: 'response.output_item.done', output_index: 1, item: { type: 'function_call', call_id: 'a' } },
      { type: 'response.completed', response: { status: 'completed' } },
    ],
  };
  const text = {
    messages: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So' } },
    responses: { type: 'response.output_text.delta', output_index: 0, delta: 'So' },
  };
  test.each([C_TO_M, R_TO_M, M_TO_R, C_TO_R] as { client: Protocol; upstream: 'messages' | 'responses' }[])(
    'a call without a name of a $upstream upstream goes where there is text to show $client clients, and fails the answer otherwise',
    (direction) => {
      const { upstream } = direction;
      const [begin, ...rest] = namelessCall[upstream];
      const run = (...events: Record<string, unknown>[]) =>
        relay(exchange(direction, { stream: true }).stream(), [bytes(sse(upstream, events))]);
      const shown = run(begin ?? {}, text[upstream], ...rest);
      expect(shown).toContain('So');
      expect(shown).not.toMatch(/\\"x\\"|"error":\{|"finish_reason":"tool_calls"|"stop_reason":"tool_use"/);
      expect(run(begin ?? {}, ...rest)).toMatch(/without naming it/);
    },
  );
});
