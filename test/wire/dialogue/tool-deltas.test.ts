import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bytes, eventsOf, exchange, M_TO_C, R_TO_C, relay, sse } from './support.ts';

/** Deltas of `tool_calls` as chat vendors send them, the finish reason included. */
function upstream(deltas: readonly Record<string, unknown>[]): string {
  const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  return sse('chat-completions', [
    ...chunks,
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    '[DONE]',
  ]);
}

const piece = (call: Record<string, unknown>) => ({ tool_calls: [call] });

interface BlockEvent {
  index: number;
  content_block: Record<string, string>;
  delta: Record<string, string>;
}

/** The blocks that a messages client ends up with, after checking that none overlap. */
function blocksOf(stream: string): Record<string, unknown>[] {
  const blocks: Record<string, string>[] = [];
  const misplaced: unknown[] = [];
  let open: number | null = null;
  for (const event of eventsOf(stream) as [string, BlockEvent][]) {
    const [name, { index, content_block, delta }] = event;
    if (!name.startsWith('content_block')) continue;
    const starts = name === 'content_block_start';
    if (starts ? open !== null || index !== blocks.length : index !== open) misplaced.push(event);
    open = name === 'content_block_stop' ? null : index;
    if (starts) blocks.push(emptyBlock(content_block));
    if (name === 'content_block_delta') addDelta(blocks.at(-1) ?? {}, delta);
  }
  expect({ misplaced, open }).toEqual({ misplaced: [], open: null });
  return blocks;
}

function emptyBlock({ type = '', id = '', name = '' }: Record<string, string>): Record<string, string> {
  return type === 'tool_use' ? { id, tool: name, input: '' } : { type, text: '' };
}

function addDelta(block: Record<string, string>, { text, thinking, partial_json }: Record<string, string>): void {
  if (partial_json === undefined) block.text += text ?? thinking ?? '';
  else block.input += partial_json;
}

const run = (deltas: readonly Record<string, unknown>[]) =>
  blocksOf(relay(exchange(M_TO_C, { stream: true }).stream(), [bytes(upstream(deltas))]));

describe('awkward tool deltas', () => {
  const cases: [string, Record<string, unknown>[], unknown[]][] = [
    [
      'the same id for several calls',
      [
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
        piece({ index: 1, id: 'a_2', function: { name: 'f', arguments: '{"x":2}' } }),
        piece({ index: 2, id: 'a', function: { name: 'g', arguments: '{"x":3}' } }),
      ],
      [
        { id: 'a', tool: 'f', input: '{"x":1}' },
        { id: 'a_2', tool: 'f', input: '{"x":2}' },
        { id: 'a_3', tool: 'g', input: '{"x":3}' },
      ],
    ],
    [
      'interleaved arguments of two calls',
      [
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
        piece({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y":"}' } }),
        piece({ index: 0, function: { arguments: '{}' } }),
        piece({ index: 1, function: { arguments: '"}' } }),
        piece({ index: 0, function: { arguments: '}' } }),
      ],
      [
        { id: 'a', tool: 'f', input: '{"x":{}}' },
        { id: 'b', tool: 'g', input: '{"y":"}"}' },
      ],
    ],
    [
      'arguments before the name',
      [
        piece({ index: 0, id: 'a', function: { arguments: '{"x"' } }),
        piece({ index: 0, function: { name: 'f', arguments: ':1' } }),
        piece({ index: 0, function: { arguments: '}' } }),
      ],
      [{ id: 'a', tool: 'f', input: '{"x":1}' }],
    ],
    [
      'several calls in one chunk',
      [
        {
          tool_calls: [
            { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
            { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } },
          ],
        },
      ],
      [
        { id: 'a', tool: 'f', input: '{}' },
        { id: 'b', tool: 'g', input: '{}' },
      ],
    ],
    [
      'every call at index 0',
      [
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
        piece({ index: 0, id: 'b', function: { name: 'f', arguments: '{"x":2}' } }),
      ],
      [
        { id: 'a', tool: 'f', input: '{"x":1}' },
        { id: 'b', tool: 'f', input: '{"x":2}' },
      ],
    ],
    [
      'no index at all: by id, then by the last one',
      [
        piece({ id: 'a', function: { name: 'f', arguments: '{' } }),
        piece({ function: { arguments: '}' } }),
        piece({ id: 'b', function: { name: 'g', arguments: '' } }),
        piece({ id: 'b', function: { arguments: '{}' } }),
      ],
      [
        { id: 'a', tool: 'f', input: '{}' },
        { id: 'b', tool: 'g', input: '{}' },
      ],
    ],
    [
      'the id and the name repeated in every piece',
      [
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '1}' } }),
      ],
      [{ id: 'a', tool: 'f', input: '{"x":1}' }],
    ],
    [
      'no id: one is made from the request id',
      [
        piece({ index: 0, function: { name: 'f', arguments: '{}' } }),
        piece({ index: 1, id: '', function: { name: 'g', arguments: '{}' } }),
      ],
      [
        { id: 'call_01_0', tool: 'f', input: '{}' },
        { id: 'call_01_1', tool: 'g', input: '{}' },
      ],
    ],
    [
      'arguments as an object',
      [piece({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })],
      [{ id: 'a', tool: 'f', input: '{"x":1}' }],
    ],
    [
      'text between the pieces of a call waits until the call is whole',
      [
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
        { content: 'By the ' },
        { content: 'way' },
        piece({ index: 0, function: { arguments: '1}' } }),
        { content: '.' },
      ],
      [
        { id: 'a', tool: 'f', input: '{"x":1}' },
        { type: 'text', text: 'By the way.' },
      ],
    ],
    [
      'a call without arguments before another one',
      [
        piece({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
        piece({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }),
      ],
      [
        { id: 'a', tool: 'f', input: '{}' },
        { id: 'b', tool: 'g', input: '{}' },
      ],
    ],
    [
      'empty text beside every piece opens no block',
      [
        {
          content: '',
          reasoning_content: '',
          ...piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
        },
        { content: null, ...piece({ index: 0, function: { arguments: '}' } }) },
      ],
      [{ id: 'a', tool: 'f', input: '{}' }],
    ],
    [
      'reasoning, text, reasoning, text',
      [{ reasoning_content: 'A' }, { content: 'b' }, { reasoning: 'C' }, { content: 'd', reasoning: '' }],
      [
        { type: 'thinking', text: 'A' },
        { type: 'text', text: 'b' },
        { type: 'thinking', text: 'C' },
        { type: 'text', text: 'd' },
      ],
    ],
    [
      'content as a list of parts',
      [
        {
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'A' }] },
            { type: 'text', text: 'b' },
          ],
        },
      ],
      [
        { type: 'thinking', text: 'A' },
        { type: 'text', text: 'b' },
      ],
    ],
    [
      'the deprecated function call',
      [{ function_call: { name: 'f', arguments: '{"x"' } }, { function_call: { arguments: ':1}' } }],
      [{ id: 'call_01_0', tool: 'f', input: '{"x":1}' }],
    ],
  ];
  test.each(cases)('%s', (_name, deltas, blocks) => {
    expect(run(deltas)).toEqual(blocks);
  });

  test('a call that is never named fails the answer instead of vanishing', () => {
    const stream = exchange(M_TO_C, { stream: true }).stream();
    stream.write(bytes(upstream([piece({ index: 0, id: 'a', function: { arguments: '{}' } })])));
    expect([stream.state, stream.error?.status]).toEqual(['failed', 502]);
  });

  test('arguments that go on after their call was left fail the answer instead of being lost', () => {
    const stream = exchange(M_TO_C, { stream: true }).stream();
    const deltas = [
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      piece({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }),
      piece({ index: 0, function: { arguments: '{"x":1}' } }),
    ];
    stream.write(bytes(upstream(deltas)));
    expect([stream.state, stream.error?.status]).toEqual(['failed', 502]);
  });

  test('an empty finish reason in every chunk says nothing, and the last one counts', () => {
    const call = piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } });
    const chunks = [{ content: 'So' }, call].map((delta) => ({ choices: [{ index: 0, delta, finish_reason: '' }] }));
    const stream = exchange(M_TO_C, { stream: true }).stream();
    stream.write(bytes(sse('chat-completions', chunks)));
    expect(stream.state).toBe('open');
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const out = relay(stream, [bytes(sse('chat-completions', [end, '[DONE]']))]);
    expect(out).toContain('"stop_reason":"tool_use"');
  });

  test('an end by calls of which there are none is a plain end', () => {
    const end = { choices: [{ index: 0, delta: { content: 'So' }, finish_reason: 'tool_calls' }] };
    const out = relay(exchange(M_TO_C, { stream: true }).stream(), [bytes(sse('chat-completions', [end, '[DONE]']))]);
    expect(out).toContain('"stop_reason":"end_turn"');
    const answer = { choices: [{ message: { content: 'So' }, finish_reason: 'function_call' }] };
    expect(new TextDecoder().decode(exchange(M_TO_C).reply(answer).body)).toContain('"stop_reason":"end_turn"');
  });

  test('reasoning is found under either name, also where the other one is empty', () => {
    for (const message of [
      { reasoning_content: '', reasoning: 'hm' },
      { reasoning_content: null, reasoning: 'hm' },
      { reasoning_content: 'hm', reasoning: 'hm' },
    ]) {
      const chunk = { choices: [{ index: 0, delta: message, finish_reason: 'stop' }] };
      const out = relay(exchange(M_TO_C, { stream: true }).stream(), [
        bytes(sse('chat-completions', [chunk, '[DONE]'])),
      ]);
      expect(blocksOf(out)).toMatchObject([{ type: 'thinking', text: 'hm' }]);
      const answer = { choices: [{ message: { ...message, content: 'So' }, finish_reason: 'stop' }] };
      const whole = JSON.parse(new TextDecoder().decode(exchange(M_TO_C).reply(answer).body)) as { content: unknown[] };
      expect(whole.content[0]).toMatchObject({ type: 'thinking', thinking: 'hm' });
    }
  });

  test('a second choice that nobody asked for is left out', () => {
    const chunks = [0, 1].map((index) => ({
      choices: [{ index, delta: { content: `choice ${index}` }, finish_reason: 'stop' }],
    }));
    const stream = exchange(M_TO_C, { stream: true }).stream();
    expect(blocksOf(relay(stream, [bytes(sse('chat-completions', [...chunks, '[DONE]']))]))).toEqual([
      { type: 'text', text: 'choice 0' },
    ]);
  });

  test('at the end of the budget, what waits behind an unfinished call is handed out too', () => {
    const stream = exchange(M_TO_C, { stream: true }).stream();
    const deltas = [
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
      piece({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } }),
    ];
    const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
    const out = new TextDecoder().decode(stream.write(bytes(sse('chat-completions', chunks))));
    const end = new TextDecoder().decode(stream.stop({ reason: 'budget' }));
    expect(blocksOf(out + end)).toEqual([
      { id: 'a', tool: 'f', input: '{"x":' },
      { id: 'b', tool: 'g', input: '{"y"' },
    ]);
  });
});

describe('50 names of tools', () => {
  test('a shortened name comes back as the client wrote it, streamed and whole', () => {
    const name = 'n'.repeat(80);
    const tools = [{ name, input_schema: { type: 'object' } }];
    const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
    const upstreamName = `${'n'.repeat(55)}_${digest}`;
    const exchanged = exchange(M_TO_C, { stream: true, tools });
    const call = { index: 0, id: 'a', function: { name: upstreamName, arguments: '{}' } };
    expect(blocksOf(relay(exchanged.stream(), [bytes(upstream([piece(call)]))]))).toEqual([
      { id: 'a', tool: name, input: '{}' },
    ]);
    const answer = { choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }] };
    expect(JSON.parse(new TextDecoder().decode(exchanged.reply(answer).body)).content[0].name).toBe(name);
  });
});

describe('free-text tools of responses clients', () => {
  const tools = [{ type: 'custom', name: 'patch' }];
  const source = '*** Begin "x"\\\n\tGrüße 🙂\u0001/\n';
  const encoded = JSON.stringify({ input: source });

  const inputsOf = (text: string, pieces: readonly string[]) => {
    const deltas = pieces.map((part, index) =>
      piece(
        index === 0
          ? { index: 0, id: 'c', function: { name: 'patch', arguments: part } }
          : { index: 0, function: { arguments: part } },
      ),
    );
    const stream = exchange(R_TO_C, { stream: true, tools }).stream();
    const events = eventsOf(relay(stream, [bytes(upstream(deltas))])) as [string, Record<string, never>][];
    const deltasOut = events
      .filter(([name]) => name === 'response.custom_tool_call_input.delta')
      .map(([, { delta }]) => delta);
    const done = events.filter(([name]) => name === 'response.output_item.done').map(([, { item }]) => item);
    expect({ text, whole: deltasOut.join('') }).toEqual({
      text,
      whole: (done[0] as { input: string } | undefined)?.input,
    });
    return done;
  };

  test('the text leaves its stand-in, in pieces, wherever they are cut', () => {
    for (let cut = 1; cut < encoded.length; cut += 1) {
      expect(inputsOf(`cut at ${cut}`, [encoded.slice(0, cut), encoded.slice(cut)])).toEqual([
        { id: 'fc_01_0', type: 'custom_tool_call', status: 'completed', call_id: 'c', name: 'patch', input: source },
      ]);
    }
    expect(inputsOf('character by character', encoded.split(''))).toMatchObject([{ input: source }]);
  });

  test.each([
    ['{"input": "x", "why": 1}', 'x'],
    ['{ "input" : "x" }', 'x'],
    ['{"why": 1, "input": "x"}', 'x'],
    ['{"input": "line\nline"}', 'line\nline'],
    ['no JSON', 'no JSON'],
    ['{"other": "x"}', '{"other": "x"}'],
    ['', ''],
  ])('arguments %j give %j', (argument, input) => {
    expect(inputsOf(argument, [argument])).toMatchObject([{ input }]);
  });

  test('a whole answer gives the same item', () => {
    const call = { id: 'c', type: 'function', function: { name: 'patch', arguments: encoded } };
    const answer = { choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }] };
    const { output } = JSON.parse(new TextDecoder().decode(exchange(R_TO_C, { tools }).reply(answer).body));
    expect(output).toEqual([
      { id: 'fc_01_0', type: 'custom_tool_call', status: 'completed', call_id: 'c', name: 'patch', input: source },
    ]);
  });
});
