import { describe, expect, test } from 'vitest';
import { M_TO_C, MINIMAL, refusal, translate, translated } from './support.ts';

/** Requests of the Messages protocol as a chat completions upstream gets them. */

const to = M_TO_C;
const minimal = MINIMAL.messages;
const withMessages = (...messages: unknown[]) => ({ ...minimal, messages });
const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const tool = { name: 'look', input_schema: { type: 'object', properties: {} } };
const messagesOf = (body: unknown, features = {}) => translated(to, body, features).messages;

describe('the whole body, byte for byte', () => {
  const cases: [string, unknown, string][] = [
    ['a minimal request', minimal, '{"model":"up-1","messages":[{"role":"user","content":"Hi"}],"max_tokens":100}'],
    [
      'a stream always asks for its usage',
      { ...minimal, stream: true },
      '{"model":"up-1","messages":[{"role":"user","content":"Hi"}],"max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      'numbers keep their spelling wherever a model sees them',
      '{"model":"cat-1","max_tokens":100,"temperature":1.0,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{"big":12345678901234567890,"one":1.0,"exp":1e2,"neg":-0}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}],"tools":[{"name":"look","input_schema":{"type":"object","properties":{"x":{"type":"number","maximum":1.0}}}}]}',
      '{"model":"up-1","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\\"big\\":12345678901234567890,\\"one\\":1.0,\\"exp\\":1e2,\\"neg\\":-0}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}],"max_tokens":100,"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"x":{"type":"number","maximum":1.0}}}}}],"temperature":1.0}',
    ],
  ];
  test.each(cases)('%s', (_name, body, expected) => {
    expect(translate(to, body)).toBe(expected);
  });
});

describe('system', () => {
  test('36 system blocks become one system message, in order', () => {
    const system = [
      { type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Two.' },
    ];
    expect(messagesOf({ ...minimal, system })[0]).toEqual({ role: 'system', content: 'One.\n\nTwo.' });
    expect(messagesOf({ ...minimal, system: 'Only.' })[0]).toEqual({ role: 'system', content: 'Only.' });
  });

  test('37 the billing header that changes with every request is removed', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1234' },
      { type: 'text', text: 'Be brief.' },
    ];
    expect(messagesOf({ ...minimal, system })[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(messagesOf({ ...minimal, system: system.slice(0, 1) })).toEqual([{ role: 'user', content: 'Hi' }]);
    const text = 'x-anthropic-billing-header: a\nBe brief.';
    expect(messagesOf({ ...minimal, system: text })[0].content).toBe(text);
  });

  test('36 38 what is empty is no system message, wherever it stands', () => {
    expect(messagesOf({ ...minimal, system: '' })).toEqual([{ role: 'user', content: 'Hi' }]);
    const system = ['', 'One.', ''].map((text) => ({ type: 'text', text }));
    expect(messagesOf({ ...minimal, system })[0]).toEqual({ role: 'system', content: 'One.' });
    const later = withMessages({ role: 'user', content: 'Hi' }, { role: 'system', content: '' });
    for (const systemRole of ['keep', 'user', 'hoist'] as const) {
      expect(messagesOf(later, { systemRole })).toEqual([{ role: 'user', content: 'Hi' }]);
    }
  });

  const conversation = withMessages(
    { role: 'user', content: 'One' },
    { role: 'system', content: [{ type: 'text', text: 'Now briefly.' }] },
    { role: 'user', content: 'Two' },
  );
  test.each([
    [
      'keep',
      [
        { role: 'user', content: 'One' },
        { role: 'system', content: 'Now briefly.' },
        { role: 'user', content: 'Two' },
      ],
    ],
    [
      'user',
      [
        { role: 'user', content: 'One' },
        { role: 'user', content: '<system-reminder>\nNow briefly.\n</system-reminder>' },
        { role: 'user', content: 'Two' },
      ],
    ],
    [
      'hoist',
      [
        { role: 'system', content: 'Now briefly.' },
        { role: 'user', content: 'One' },
        { role: 'user', content: 'Two' },
      ],
    ],
  ] as const)('38 a system message in mid-conversation is kept (%s)', (systemRole, expected) => {
    expect(messagesOf(conversation, { systemRole })).toEqual(expected);
  });

  test('38 between calls and their results it waits for the last result', () => {
    const roles = messagesOf(
      withMessages(
        user({ type: 'text', text: 'Go' }),
        assistant(
          { type: 'tool_use', id: 'a', name: 'look', input: {} },
          { type: 'tool_use', id: 'b', name: 'look', input: {} },
        ),
        { role: 'system', content: 'Careful.' },
        user(
          { type: 'tool_result', tool_use_id: 'a', content: '1' },
          { type: 'tool_result', tool_use_id: 'b', content: '2' },
        ),
      ),
    ).map((message: { role: string }) => message.role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'system']);
  });
});

describe('content', () => {
  test('39 images by base64 and by address', () => {
    const [message] = messagesOf(
      withMessages(
        user(
          { type: 'text', text: 'Look:' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ),
      ),
    );
    expect(message).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    });
  });

  const pdf = {
    type: 'document',
    title: 'a.pdf',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  };
  test('40 a PDF becomes a file, or is refused where the model takes none', () => {
    expect(messagesOf(withMessages(user(pdf)))[0].content).toEqual([
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
    ]);
    expect(refusal(to, withMessages(user(pdf)), { files: false }).param).toBe('messages.0.content.0');
  });

  test('40 documents that are text stay text, with their title and context', () => {
    const document = {
      type: 'document',
      title: 'Notes',
      context: 'From today',
      source: { type: 'text', media_type: 'text/plain', data: 'abc' },
    };
    expect(messagesOf(withMessages(user({ type: 'text', text: 'Read' }, document)))[0].content).toEqual([
      { type: 'text', text: 'Read' },
      { type: 'text', text: 'Notes\n\nFrom today\n\nabc' },
    ]);
  });

  const refused: [string, unknown, string][] = [
    [
      'an uploaded image',
      { type: 'image', source: { type: 'file', file_id: 'f1' } },
      'messages.0.content.0.source.type',
    ],
    [
      'a document by address',
      { type: 'document', source: { type: 'url', url: 'https://e.com/a.pdf' } },
      'messages.0.content.0',
    ],
    [
      'an uploaded document',
      { type: 'document', source: { type: 'file', file_id: 'f1' } },
      'messages.0.content.0.source.type',
    ],
    ['citations', { ...pdf, citations: { enabled: true } }, 'messages.0.content.0.citations'],
    ['an uploaded container', { type: 'container_upload', file_id: 'f1' }, 'messages.0.content.0.type'],
    ['a block nobody knows', { type: 'hologram' }, 'messages.0.content.0.type'],
    ['a block without type', { text: 'x' }, 'messages.0.content.0.type'],
    ['text that is no string', { type: 'text', text: 5 }, 'messages.0.content.0.text'],
  ];
  test.each(refused)('%s is refused by name', (_name, block, param) => {
    expect(refusal(to, withMessages(user(block)))).toMatchObject({ param });
  });
});

describe('tools', () => {
  const calls = assistant(
    { type: 'text', text: 'Let me ' },
    { type: 'text', text: 'look.' },
    { type: 'tool_use', id: 'toolu_a', name: 'look', input: { at: 'x' } },
    { type: 'tool_use', id: 'toolu_b', name: 'look', input: {} },
  );

  test('41 two parallel calls and their results', () => {
    const messages = messagesOf(
      withMessages(
        { role: 'user', content: 'Go' },
        calls,
        user(
          { type: 'text', text: 'And now?' },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_b',
            content: [
              { type: 'text', text: 'B1' },
              { type: 'text', text: 'B2' },
            ],
          },
          { type: 'tool_result', tool_use_id: 'toolu_a', content: 'A' },
        ),
      ),
    );
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'toolu_a', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } },
          { id: 'toolu_b', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_a', content: 'A' },
      {
        role: 'tool',
        tool_call_id: 'toolu_b',
        content: [
          { type: 'text', text: 'B1' },
          { type: 'text', text: 'B2' },
        ],
      },
      { role: 'user', content: 'And now?' },
    ]);
  });

  test('41 calls of neighbouring assistant turns stay together before their results', () => {
    const messages = messagesOf(
      withMessages(
        { role: 'user', content: 'Go' },
        assistant({ type: 'tool_use', id: 'a', name: 'look', input: {} }),
        assistant({ type: 'tool_use', id: 'b', name: 'look', input: {} }),
        user({ type: 'tool_result', tool_use_id: 'a' }, { type: 'tool_result', tool_use_id: 'b' }),
      ),
    );
    expect(messages.map((message: { role: string }) => message.role)).toEqual(['user', 'assistant', 'tool', 'tool']);
    expect(messages[1].tool_calls).toHaveLength(2);
  });

  test('41 results that come after a remark, in the same turn of the user or the next, still follow their calls', () => {
    const calls = ['a', 'b', 'c'].map((id) => ({ type: 'tool_use', id, name: 'look', input: {} }));
    const result = (tool_use_id: string) => ({ type: 'tool_result', tool_use_id, content: tool_use_id });
    const messages = messagesOf(
      withMessages(
        { role: 'user', content: 'Go' },
        assistant(...calls),
        user({ type: 'text', text: 'Note' }, result('b')),
        user({ type: 'text', text: 'Another' }),
        user(result('c'), result('a'), { type: 'text', text: 'Last' }),
      ),
    );
    expect(messages.slice(2)).toEqual([
      ...['a', 'b', 'c'].map((id) => ({ role: 'tool', tool_call_id: id, content: id })),
      ...['Note', 'Another', 'Last'].map((content) => ({ role: 'user', content })),
    ]);
  });

  test('a result whose call is not there stays where it stands', () => {
    const stray = user({ type: 'tool_result', tool_use_id: 'gone', content: 'x' });
    const roles = messagesOf(withMessages({ role: 'user', content: 'Go' }, stray)).map(
      (message: { role: string }) => message.role,
    );
    expect(roles).toEqual(['user', 'tool']);
  });

  const resultOf = (result: Record<string, unknown>) =>
    messagesOf(withMessages({ role: 'user', content: 'Go' }, calls, user({ type: 'tool_result', ...result }))).slice(2);

  test('42 a failed call is visible', () => {
    expect(resultOf({ tool_use_id: 'toolu_a', is_error: true, content: 'no such file' })).toEqual([
      { role: 'tool', tool_call_id: 'toolu_a', content: '[tool error] no such file' },
    ]);
    expect(resultOf({ tool_use_id: 'toolu_a', is_error: true })[0].content).toBe('[tool error] ');
  });

  test('43 a result without content is empty', () => {
    expect(resultOf({ tool_use_id: 'toolu_a' })).toEqual([{ role: 'tool', tool_call_id: 'toolu_a', content: '' }]);
  });

  test('an image in a result opens the user message that follows', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
    const result = { type: 'tool_result', tool_use_id: 'toolu_a', content: [{ type: 'text', text: 'shot' }, image] };
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    const tool = { role: 'tool', tool_call_id: 'toolu_a', content: 'shot' };
    const go = { role: 'user', content: 'Go' };
    expect(messagesOf(withMessages(go, calls, user(result))).slice(2)).toEqual([
      tool,
      { role: 'user', content: [url] },
    ]);
    expect(messagesOf(withMessages(go, calls, user(result, { type: 'text', text: 'See?' }))).slice(2)).toEqual([
      tool,
      { role: 'user', content: [url, { type: 'text', text: 'See?' }] },
    ]);
  });

  test('search results and references in a result become text', () => {
    const content = [
      { type: 'search_result', source: 'https://e.com', title: 'T', content: [{ type: 'text', text: 'found' }] },
      { type: 'tool_reference', tool_name: 'later' },
    ];
    expect(resultOf({ tool_use_id: 'toolu_a', content })[0].content).toEqual([
      { type: 'text', text: 'T\nhttps://e.com\nfound' },
      { type: 'text', text: '[tool available: later]' },
    ]);
  });

  test('ids that had to be wrapped for the client reach the upstream as it knows them', () => {
    const id = `toolu_gw_${Buffer.from('functions.Bash:0').toString('base64url')}`;
    const messages = messagesOf(
      withMessages(
        { role: 'user', content: 'Go' },
        assistant({ type: 'tool_use', id, name: 'look', input: {} }),
        user({ type: 'tool_result', tool_use_id: id, content: 'ok' }),
      ),
    );
    expect(messages[1].tool_calls[0].id).toBe('functions.Bash:0');
    expect(messages[2].tool_call_id).toBe('functions.Bash:0');
  });

  test.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'look' },
      { type: 'function', function: { name: 'look' } },
    ],
  ])('44 tool choice %o', (tool_choice, expected) => {
    expect(translated(to, { ...minimal, tools: [tool], tool_choice }).tool_choice).toEqual(expected);
  });

  test.each([{ type: 'any' }, { type: 'tool', name: 'look' }])('44 %o without a tool is refused', (tool_choice) => {
    expect(refusal(to, { ...minimal, tool_choice }).param).toBe('tool_choice');
    expect(refusal(to, { ...minimal, tools: [], tool_choice }).param).toBe('tool_choice');
  });

  test('a tool that only programs at the vendor may call is refused', () => {
    const called = (...allowed_callers: string[]) => ({ ...minimal, tools: [{ ...tool, allowed_callers }] });
    expect(refusal(to, called('code_execution_20260120')).param).toBe('tools.0.allowed_callers');
    expect(translate(to, called('direct', 'code_execution_20260120'))).toBe(
      translate(to, { ...minimal, tools: [tool] }),
    );
  });

  test('45 disable_parallel_tool_use', () => {
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    expect(translated(to, { ...minimal, tools: [tool], tool_choice })).toMatchObject({ parallel_tool_calls: false });
    expect(translated(to, { ...minimal, tools: [tool] })).not.toHaveProperty('parallel_tool_calls');
    expect(translated(to, { ...minimal, tool_choice })).not.toHaveProperty('parallel_tool_calls');
  });

  test('tools lose only what chat completions lack', () => {
    const rich = {
      ...tool,
      type: 'custom',
      description: 'Looks.',
      strict: true,
      cache_control: { type: 'ephemeral' },
      defer_loading: true,
      eager_input_streaming: true,
      input_examples: [{ at: 'x' }],
    };
    expect(translated(to, { ...minimal, tools: [rich] }).tools).toEqual([
      {
        type: 'function',
        function: { name: 'look', description: 'Looks.', parameters: tool.input_schema, strict: true },
      },
    ]);
  });

  test('49 a tool that runs at the vendor is refused by name', () => {
    const ran = { type: 'mcp_toolset', mcp_server_name: 's' };
    const problem = refusal(to, { ...minimal, tools: [tool, ran] });
    expect(problem).toMatchObject({ param: 'tools.1.type' });
    expect(problem.message).toContain('mcp_toolset');
  });

  test('50 a name of 80 characters is cut to 64, the same way everywhere', () => {
    const name = 'n'.repeat(80);
    const body = {
      ...withMessages(
        { role: 'user', content: 'Go' },
        assistant({ type: 'tool_use', id: 'a', name, input: {} }),
        user({ type: 'tool_result', tool_use_id: 'a', content: 'ok' }),
      ),
      tools: [{ ...tool, name }],
      tool_choice: { type: 'tool', name },
    };
    const result = translated(to, body);
    const short = result.tools[0].function.name;
    expect(short).toMatch(/^n{55}_[0-9a-f]{8}$/);
    expect(result.tool_choice.function.name).toBe(short);
    expect(result.messages[1].tool_calls[0].function.name).toBe(short);
  });

  test('50 a name that is another one cut short cannot be told apart and is refused', () => {
    const name = 'n'.repeat(80);
    const short = translated(to, { ...minimal, tools: [{ ...tool, name }] }).tools[0].function.name;
    expect(
      refusal(to, {
        ...minimal,
        tools: [
          { ...tool, name },
          { ...tool, name: short },
        ],
      }).param,
    ).toBe('tools.1');
  });
});

const effortOf = (more: Record<string, unknown>, features = {}) =>
  translated(to, { ...minimal, ...more }, features).reasoning_effort;
const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });

describe('thinking and effort', () => {
  test.each([
    [1024, 'low'],
    [2048, 'medium'],
    [4096, 'high'],
    [5000, 'high'],
    [8191, 'high'],
    [8192, 'xhigh'],
    [16384, 'max'],
  ])('46 a budget of %i is the effort %s', (budget, effort) => {
    expect(effortOf(enabled(budget))).toBe(effort);
  });

  test('46 a stated effort wins over the budget', () => {
    expect(effortOf({ ...enabled(5000), output_config: { effort: 'low' } })).toBe('low');
    expect(effortOf({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } })).toBe('max');
  });

  test('46 without a statement the upstream decides, and disabled is none', () => {
    expect(effortOf({})).toBeUndefined();
    expect(effortOf({ thinking: { type: 'adaptive', display: 'omitted' } })).toBeUndefined();
    expect(effortOf({ thinking: { type: 'disabled' }, output_config: { effort: 'high' } })).toBe('none');
    expect(effortOf(enabled(5000), { effort: false })).toBeUndefined();
  });

  const history = withMessages(
    { role: 'user', content: 'Go' },
    assistant(
      { type: 'thinking', thinking: 'Hm.', signature: 'gw1.00' },
      { type: 'redacted_thinking', data: 'xxxx' },
      { type: 'text', text: 'Done.' },
    ),
    { role: 'user', content: 'More' },
  );
  test('53 an answer that was cut off while it thought leaves no empty message behind', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'abc' };
    const body = withMessages({ role: 'user', content: 'One' }, assistant(thought), { role: 'user', content: 'Two' });
    expect(messagesOf(body).map(({ role }: { role: string }) => role)).toEqual(['user', 'user']);
    expect(messagesOf(body, { reasoningHistory: true })[1]).toMatchObject({ reasoning_content: 'Hm.' });
  });

  test('53 thinking in the history is left out, or goes back to upstreams that want it', () => {
    expect(messagesOf(history)[1]).toEqual({ role: 'assistant', content: 'Done.' });
    expect(messagesOf(history, { reasoningHistory: true })[1]).toEqual({
      role: 'assistant',
      content: 'Done.',
      reasoning_content: 'Hm.',
    });
  });
});

const schema = (required: string[]) => ({
  type: 'object',
  properties: { a: { type: 'string' } },
  required,
  additionalProperties: false,
});

const format = (given: unknown) =>
  translated(to, { ...minimal, output_config: { format: { type: 'json_schema', schema: given } } }).response_format;

describe('the other fields', () => {
  test('47 output_config.format becomes response_format, strict only where the schema allows', () => {
    expect(format(schema(['a']))).toEqual({
      type: 'json_schema',
      json_schema: { name: 'structured_output', schema: schema(['a']), strict: true },
    });
    expect(format(schema([])).json_schema).toEqual({ name: 'structured_output', schema: schema([]), strict: false });
    expect(
      format({
        type: 'object',
        properties: { enum: { type: 'object', properties: { x: {} } } },
        required: ['enum'],
        additionalProperties: false,
      }).json_schema.strict,
    ).toBe(false);
  });

  test.each([
    ['a keyword that strict mode refuses', { anyOf: [{ allOf: [{ type: 'string' }] }] }],
    ['an open object among the definitions', { $defs: { a: { type: 'object', properties: {} } } }],
    ['an open object among the items', { items: { type: ['object', 'null'] } }],
  ])('47 %s is not made strict', (_name, more) => {
    expect(format({ ...schema(['a']), ...more }).json_schema.strict).toBe(false);
  });

  test('47 the older output_format means the same', () => {
    const output_format = { type: 'json_schema', schema: schema(['a']) };
    expect(translated(to, { ...minimal, output_format }).response_format.json_schema.schema).toEqual(schema(['a']));
  });

  test('48 stop sequences, at most four', () => {
    expect(translated(to, { ...minimal, stop_sequences: ['a', 'b', 'c', 'd'] }).stop).toEqual(['a', 'b', 'c', 'd']);
    expect(translated(to, { ...minimal, stop_sequences: [] })).not.toHaveProperty('stop');
    expect(refusal(to, { ...minimal, stop_sequences: ['a', 'b', 'c', 'd', 'e'] }).param).toBe('stop_sequences');
  });

  test('the cap travels under the name that the upstream knows, never under both', () => {
    const body = translated(to, minimal, { maxTokensField: 'max_completion_tokens' });
    expect(body).toMatchObject({ max_completion_tokens: 100 });
    expect(body).not.toHaveProperty('max_tokens');
    expect(refusal(to, { ...minimal, max_tokens: 0 }).param).toBe('max_tokens');
  });

  test('sampling, unless the model refuses it; top_k has no equal', () => {
    const sampled = { ...minimal, temperature: 0.5, top_p: 0.9, top_k: 40 };
    expect(translated(to, sampled)).toMatchObject({ temperature: 0.5, top_p: 0.9 });
    expect(translated(to, sampled)).not.toHaveProperty('top_k');
    expect(translated(to, sampled, { sampling: false })).not.toHaveProperty('temperature');
  });

  test("the client's user travels as a digest", () => {
    const user_id = '{"device_id":"d","session_id":"s"}';
    const { user } = translated(to, { ...minimal, metadata: { user_id } });
    expect(user).toMatch(/^[0-9a-f]{64}$/);
    expect(translated(to, { ...minimal, metadata: { user_id } }).user).toBe(user);
    expect(translated(to, { ...minimal, metadata: { user_id: 'other' } }).user).not.toBe(user);
  });

  test('what the documentation lists is dropped without a word', () => {
    const dropped = {
      cache_control: { type: 'ephemeral' },
      context_management: { edits: [] },
      service_tier: 'auto',
      speed: 'standard',
      container: null,
      mcp_servers: [],
    };
    expect(translate(to, { ...minimal, ...dropped })).toBe(translate(to, minimal));
  });

  test.each([
    ['container', 'c1'],
    ['mcp_servers', [{ type: 'url', url: 'https://e.com' }]],
    ['safeguards', {}],
    ['compaction', {}],
    ['fallbacks', ['other']],
    ['speed', 'fast'],
    ['service_tier', 'priority'],
    ['inference_geo', 'eu'],
    ['a_field_of_the_future', true],
  ])('%s is refused by name', (field, value) => {
    const problem = refusal(to, { ...minimal, [field]: value });
    expect(problem).toMatchObject({ param: field, code: 'unsupported_parameter' });
    expect(problem.message).toContain(field);
  });

  test('so is what is new within output_config', () => {
    const output_config = { effort: 'high', task_budget: { type: 'tokens', total: 9_000 } };
    expect(refusal(to, { ...minimal, output_config }).param).toBe('output_config.task_budget');
  });

  test('thread is refused in the words that make the client resend its history', () => {
    expect(refusal(to, { ...minimal, thread: { previous_message_id: 'msg_1' } }).details).toEqual({
      error_code: 'thread_unsupported_request',
      unsupported: ['thread'],
    });
  });

  test('a started answer cannot be continued, and saying so beats answering anew', () => {
    const body = withMessages({ role: 'user', content: 'Go' }, { role: 'assistant', content: '{' });
    expect(refusal(to, body).param).toBe('messages.1');
  });
});
