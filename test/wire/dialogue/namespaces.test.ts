import { describe, expect, test } from 'vitest';
import { bytes, eventsOf, exchange, R_TO_C, R_TO_M, refusal, relay, replied, sse, translated } from './support.ts';

/** Tools that a Responses client groups under a namespace reach models of other protocols, and their calls come back. */

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const crm = {
  type: 'namespace',
  name: 'crm',
  description: 'Customers.',
  tools: [
    { type: 'function', name: 'find', description: 'Finds one.', parameters: schema, strict: false },
    { type: 'custom', name: 'note', description: 'Takes a note.' },
  ],
};
const plain = { type: 'function', name: 'find', parameters: schema };
const body = (more: Record<string, unknown> = {}) => ({ model: 'cat-1', input: 'Go', tools: [plain, crm], ...more });

interface Named {
  name?: string;
  description?: string;
  function?: { name: string; description?: string };
}
const nameOf = (tool: Named) => tool.function?.name ?? tool.name;
const upstreams = [R_TO_C, R_TO_M];

describe.each(upstreams)('$upstream upstream', (direction) => {
  test('has each tool under a name of its own, and reads what the group is for once', () => {
    const { tools } = translated(direction, body()) as { tools: Named[] };
    expect(tools.map(nameOf)).toEqual(['find', 'crm__find', 'crm__note']);
    expect(tools.map((tool) => tool.function?.description ?? tool.description)).toEqual([
      undefined,
      '[crm: Customers.]\n\nFinds one.',
      'Takes a note.',
    ]);
  });

  test('reads earlier calls under the same name', () => {
    const input = [
      { role: 'user', content: 'Go' },
      { type: 'function_call', call_id: 'a', namespace: 'crm', name: 'find', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'Nobody.' },
    ];
    expect(JSON.stringify(translated(direction, body({ input })))).toContain('"name":"crm__find"');
  });

  test.each([
    [{ type: 'namespace', name: 'crm' }, ['crm__find', 'crm__note']],
    [{ type: 'custom', name: 'note' }, ['crm__note']],
    [{ type: 'web_search' }, undefined],
  ])('allowed_tools names the group or the tool: %j', (allowed, names) => {
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [allowed] };
    const { tools } = translated(direction, body({ tool_choice })) as { tools?: Named[] };
    expect(tools?.map(nameOf)).toEqual(names);
  });

  test('can be made to call one of them', () => {
    const tool_choice = { type: 'function', namespace: 'crm', name: 'find' };
    expect(JSON.stringify(translated(direction, body({ tool_choice })).tool_choice)).toContain('crm__find');
  });

  test('has the tools that a search in the history has found', () => {
    const input = [
      { role: 'user', content: 'Go' },
      { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'customers' } },
      { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [crm] },
    ];
    const { tools } = translated(direction, { model: 'cat-1', input, tools: [{ type: 'tool_search' }, plain] }) as {
      tools: Named[];
    };
    expect(tools.map(nameOf)).toEqual(['find', 'crm__find', 'crm__note']);
  });

  test('a tool whose name would be that of another is refused', () => {
    const twin = { type: 'function', name: 'crm__find', parameters: schema };
    expect(refusal(direction, body({ tools: [crm, twin] })).param).toBe('tools[1]');
  });

  test('a group within a group is refused by its type', () => {
    const nested = { ...crm, tools: [crm] };
    expect(refusal(direction, body({ tools: [nested] })).param).toBe('tools[0].tools[0].type');
  });
});

describe('calls come back as the client knows them', () => {
  const call = (name: string, input: string) => ({
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name, arguments: input } }] },
        finish_reason: 'tool_calls',
      },
    ],
  });
  const wanted = [
    [
      'crm__find',
      '{"city":"Hue"}',
      { type: 'function_call', namespace: 'crm', name: 'find', arguments: '{"city":"Hue"}' },
    ],
    ['crm__note', '{"input":"x"}', { type: 'custom_tool_call', namespace: 'crm', name: 'note', input: 'x' }],
    ['find', '{}', { type: 'function_call', name: 'find', arguments: '{}' }],
  ] as const;

  test.each(wanted)('%s, whole', (name, input, expected) => {
    const { output } = replied(R_TO_C, call(name, input), { tools: [plain, crm] });
    expect(output).toMatchObject([expected]);
    expect('namespace' in output[0]).toBe('namespace' in expected);
  });

  test.each(wanted)('%s, streamed', (name, input, expected) => {
    const delta = { tool_calls: [{ index: 0, id: 'a', function: { name, arguments: input } }] };
    const sent = sse('chat-completions', [
      { choices: [{ index: 0, delta, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      '[DONE]',
    ]);
    const stream = exchange(R_TO_C, { stream: true, tools: [plain, crm] }).stream();
    const events = eventsOf(relay(stream, [bytes(sent)])) as [string, { item?: Record<string, unknown> }][];
    const items = events.filter(([type]) => type.startsWith('response.output_item.')).map(([, { item }]) => item);
    expect(items).toHaveLength(2);
    expect(items[1]).toMatchObject(expected);
    expect(items.map((item) => item?.['namespace'])).toEqual(
      Array(2).fill('namespace' in expected ? 'crm' : undefined),
    );
  });
});
