import { describe, expect, test } from 'vitest';
import { C_TO_M, C_TO_R, type Direction, M_TO_C, M_TO_R, R_TO_C, R_TO_M, refusal, translated } from './support.ts';

/**
 * A conversation goes on after a switch of model, whatever its earlier answers were made of, and an offered search at the
 * vendor does not keep a model of another vendor from answering.
 */

const user = (content: unknown) => ({ role: 'user', content });
const messages = (...blocks: unknown[]) => ({
  model: 'cat-1',
  max_tokens: 100,
  messages: [user('Go'), { role: 'assistant', content: [...blocks, { type: 'text', text: 'So' }] }, user('On')],
});
const responses = (...items: unknown[]) => ({ model: 'cat-1', input: [user('Go'), ...items, user('On')] });

describe('a messages history with tools that ran at the vendor', () => {
  const search = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'owls', top: 1.0 } };
  const found = (content: unknown, type = 'web_search_tool_result') => ({ type, tool_use_id: 'srv', content });
  const cases: [string, unknown[], string[]][] = [
    [
      'a search and what it found, less what is sealed',
      [
        search,
        found([
          { type: 'web_search_result', title: 'On owls', url: 'https://owls.test', encrypted_content: 'c2VhbGVk' },
        ]),
      ],
      ['[web_search: {"query":"owls","top":1}]', '[web_search result]\\nOn owls\\nhttps://owls.test'],
    ],
    [
      'a search that failed',
      [search, found({ type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' })],
      ['[web_search result]\\nmax_uses_exceeded'],
    ],
    [
      'a fetched page',
      [
        found(
          {
            type: 'web_fetch_result',
            url: 'https://owls.test',
            content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Owls hoot.' } },
          },
          'web_fetch_tool_result',
        ),
      ],
      ['https://owls.test\\nOwls hoot.'],
    ],
    [
      'a program that ran',
      [
        { type: 'server_tool_use', id: 'srv', name: 'bash_code_execution', input: { command: 'ls' } },
        found({ stdout: 'a.txt', stderr: 'warned', return_code: 2.0 }, 'bash_code_execution_tool_result'),
      ],
      ['[bash_code_execution: {"command":"ls"}]', 'a.txt\\nwarned\\nexit code 2'],
    ],
    [
      "another server's tool",
      [
        { type: 'mcp_tool_use', id: 'm', name: 'look', server_name: 's', input: {} },
        { type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [{ type: 'text', text: 'An owl.' }] },
      ],
      ['[look: {}]', '[mcp result]\\nAn owl.'],
    ],
    [
      'a search among the tools',
      [
        { type: 'server_tool_use', id: 'srv', name: 'tool_search_tool_regex', input: { pattern: 'owl' } },
        found(
          {
            type: 'tool_search_tool_search_result',
            tool_references: [{ type: 'tool_reference', tool_name: 'count_owls' }],
          },
          'tool_search_tool_result',
        ),
      ],
      ['[tool_search_tool_regex: {"pattern":"owl"}]', '[tool_search result]\\ncount_owls'],
    ],
    ["the vendor's summary", [{ type: 'compaction', content: 'They spoke of owls.' }], ['They spoke of owls.']],
    ['a summary that failed', [{ type: 'compaction', content: null }], ['So']],
    ['sealed thinking', [{ type: 'redacted_thinking', data: 'c2VhbGVk' }], ['So']],
  ];
  for (const direction of [M_TO_C, M_TO_R]) {
    test.each(cases)(`${direction.upstream} upstream: %s`, (_what, blocks, words) => {
      const text = JSON.stringify(translated(direction, messages(...blocks))).replaceAll('\\"', '"');
      for (const word of words) expect(text).toContain(word);
      expect(text).not.toContain('c2VhbGVk');
    });
  }

  test('a block that nobody knows is still refused by its type', () => {
    expect(refusal(M_TO_C, messages({ type: 'hologram' }))).toMatchObject({ param: 'messages.1.content.0.type' });
  });
});

describe('a responses history with tools that ran at the vendor', () => {
  const cases: [string, unknown[], string[]][] = [
    [
      'a search in files',
      [{ type: 'file_search_call', id: 'fs', queries: ['owls'], results: [{ filename: 'owls.md', text: 'Hoot.' }] }],
      ['[file_search: ["owls"]]', 'owls.md\\nHoot.'],
    ],
    [
      'a program',
      [{ type: 'code_interpreter_call', code: 'print(1)', outputs: [{ type: 'logs', logs: '1' }] }],
      ['[code_interpreter: print(1)]', '[code_interpreter result]\\n1'],
    ],
    [
      "another server's tool",
      [{ type: 'mcp_call', name: 'look', arguments: '{}', output: 'An owl.' }],
      ['[look: {}]', 'An owl.'],
    ],
    ['the list of such tools', [{ type: 'mcp_list_tools', server_label: 's', tools: [] }], ['Go']],
    [
      'a command of the client',
      [
        { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
        { type: 'local_shell_call_output', call_id: 'c', output: 'a.txt' },
      ],
      ['[local_shell: {"type":"exec","command":["ls"]}]', '[local_shell result]\\na.txt'],
    ],
  ];
  for (const direction of [R_TO_C, R_TO_M]) {
    test.each(cases)(`${direction.upstream} upstream: %s`, (_what, items, words) => {
      const text = JSON.stringify(translated(direction, responses(...items))).replaceAll('\\"', '"');
      for (const word of words) expect(text).toContain(word);
    });
  }

  test.each([R_TO_C, R_TO_M])('$upstream upstream: a tool that was declared and found is given once', (direction) => {
    const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' }, defer_loading: true });
    const found = { type: 'tool_search_output', call_id: null, tools: [tool('one'), tool('two')] };
    const added = { type: 'additional_tools', role: 'developer', tools: [tool('two'), tool('three')] };
    const body = { ...responses(found, added), tools: [tool('one'), { type: 'tool_search' }] };
    const names = JSON.stringify(translated(direction, body)).match(/"name":"(one|two|three)"/g);
    expect(names).toEqual(['"name":"one"', '"name":"two"', '"name":"three"']);
  });

  test('what is sealed and carries the conversation is refused', () => {
    const sealed = responses({ type: 'compaction', encrypted_content: 'c2VhbGVk' });
    expect(refusal(R_TO_C, sealed)).toMatchObject({ param: 'input[1].type' });
  });
});

test.each([C_TO_M, C_TO_R])('reasoning in parts of a chat history: $upstream upstream', (direction) => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
    { type: 'text', text: 'So' },
    { type: 'reference', reference_ids: [1] },
  ];
  const body = { model: 'cat-1', messages: [user('Go'), { role: 'assistant', content }, user('On')] };
  expect(JSON.stringify(translated(direction, body))).toContain('So');
});

describe('a search at the vendor', () => {
  const own = { name: 'f', input_schema: { type: 'object' } };
  const fn = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
  const bodies: [Direction, Record<string, unknown>][] = [
    [M_TO_C, { ...messages(), tools: [{ type: 'web_search_20250305', name: 'web_search' }, own] }],
    [M_TO_R, { ...messages(), tools: [{ type: 'web_search_20250305', name: 'web_search' }, own] }],
    [C_TO_M, { model: 'cat-1', messages: [user('Go')], tools: [{ type: 'web_search' }, fn] }],
    [C_TO_R, { model: 'cat-1', messages: [user('Go')], tools: [{ type: 'web_search' }, fn] }],
    [R_TO_C, { model: 'cat-1', input: 'Go', tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }] }],
    [R_TO_M, { model: 'cat-1', input: 'Go', tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }] }],
  ];
  test.each(bodies)('that is offered is left out: $client client, $upstream upstream', (direction, body) => {
    const { tools } = translated(direction, body);
    expect(tools).toHaveLength(1);
    expect(JSON.stringify(tools)).toContain('"name":"f"');
  });

  const types: [Direction, string[]][] = [
    [M_TO_C, ['web_fetch_20250910', 'code_execution_20250522', 'web_search_20250305']],
    [M_TO_C, ['tool_search_tool_regex_20251119', 'tool_search_tool_bm25']],
    [C_TO_M, ['web_search', 'openrouter:web_search', 'openrouter:web_fetch', 'code_interpreter', 'x_search']],
    [C_TO_M, ['openrouter:tool_search']],
    [R_TO_C, ['web_search_preview_2025_03_11', 'code_interpreter', 'x_search', 'tool_search', 'image_generation']],
    [C_TO_R, ['openrouter:image_generation', 'browser_search', 'url_context', 'live_search']],
  ];
  const offering = types.flatMap(([direction, list]) => list.map((type): [Direction, string] => [direction, type]));
  const offer = ({ client }: Direction, type: string): Record<string, unknown> => {
    const place = { messages: 0, 'chat-completions': 2, responses: 4 }[client];
    const base = bodies[place]?.[1] ?? {};
    const [, kept] = base['tools'] as unknown[];
    return { ...base, tools: [{ type, name: 'at_vendor' }, kept] };
  };
  test.each(offering)('$client: a fetch or a program that is offered is left out like it: %s', (direction, type) => {
    const { tools } = translated(direction, offer(direction, type));
    expect(tools).toHaveLength(1);
    expect(JSON.stringify(tools)).not.toContain('at_vendor');
  });
  test.each(offering)('$client: and is refused where it is forced: %s', (direction, type) => {
    const tool_choice = direction.client === 'messages' ? { type: 'tool', name: 'at_vendor' } : { type };
    expect(refusal(direction, { ...offer(direction, type), tool_choice }).param).toMatch(/^tool_choice/);
  });
  test.each([
    [M_TO_C, 'mcp_toolset'],
    [R_TO_C, 'file_search'],
    [R_TO_C, 'mcp'],
    [C_TO_M, 'file_search'],
  ])('$client: a tool that holds what the request is about is refused by its type: %s', (direction, type) => {
    expect(refusal(direction, offer(direction, type)).param).toBe(
      direction.client === 'messages' ? 'tools.0.type' : 'tools[0].type',
    );
  });

  const forced: [Direction, Record<string, unknown>][] = [
    [M_TO_C, { ...bodies[0]?.[1], tool_choice: { type: 'tool', name: 'web_search' } }],
    [R_TO_C, { ...bodies[4]?.[1], tool_choice: { type: 'web_search' } }],
    [
      M_TO_C,
      { ...messages(), tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } },
    ],
  ];
  test.each(forced)('that is forced is refused: $client client', (direction, body) => {
    expect(refusal(direction, body).param).toMatch(/^tool_choice/);
  });
});

test.each([
  ['blank text', [user(' ')]],
  ['an empty list', [user([])]],
  ['a system message alone', [{ role: 'system', content: 'Be kind.' }]],
])("a conversation that says nothing gets the gateway's own sentence towards messages: %s", (_what, conversation) => {
  const problem = refusal(C_TO_M, { model: 'cat-1', messages: conversation });
  expect(problem.message).toContain('says nothing');
});
