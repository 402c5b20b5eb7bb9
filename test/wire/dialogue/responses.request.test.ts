import { describe, expect, test } from 'vitest';
import { C_TO_R, M_TO_R, MINIMAL, R_TO_C, R_TO_M, refusal, translate, translated } from './support.ts';

/** Requests of the Responses protocol as other upstreams get them, and theirs as a Responses upstream does. */

const minimal = MINIMAL.responses;
const withInput = (...input: unknown[]) => ({ ...minimal, input });
const message = (role: string, ...content: unknown[]) => ({ type: 'message', role, content });
const hi = message('user', { type: 'input_text', text: 'Hi' });
const look = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false };

/** What a coding agent sends: instructions, a developer message, tools of the vendor's own, a tool loop. */
const agentTurn = {
  ...minimal,
  instructions: 'You code.',
  input: [
    message('developer', { type: 'input_text', text: 'Sandboxed.' }),
    message('user', { type: 'input_text', text: 'Fix it' }),
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'xyz' },
    message('assistant', { type: 'output_text', text: 'Looking.' }),
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at": 1.0}' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '*** Begin "x"\n' },
    { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'ok' }] },
    message('user', { type: 'input_text', text: 'Go on' }),
  ],
  tools: [
    look,
    {
      type: 'custom',
      name: 'patch',
      description: 'Patches.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: /x/' },
    },
    { type: 'web_search' },
    { type: 'namespace', name: 'mcp', description: 'd', tools: [] },
    { type: 'tool_search' },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'high', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'k',
  text: { verbosity: 'low' },
  client_metadata: { a: 'b' },
};

describe('what stands inside of its options', () => {
  test.each([
    ['reasoning.mode', { reasoning: { mode: 'pro' } }],
    ['reasoning.a_field_of_the_future', { reasoning: { a_field_of_the_future: 1 } }],
    ['text.a_field_of_the_future', { text: { a_field_of_the_future: 1 } }],
    ['tool_choice', { tools: [{ type: 'web_search' }], tool_choice: 'required' }],
  ])('%s is refused by name', (param, more) => {
    for (const to of [R_TO_C, R_TO_M]) expect(refusal(to, { ...minimal, ...more }).param).toBe(param);
  });

  test('what asks for nothing is dropped', () => {
    const reasoning = { effort: 'high', mode: 'standard', context: 'auto', generate_summary: null };
    expect(translate(R_TO_C, { ...minimal, reasoning })).toBe(
      translate(R_TO_C, { ...minimal, reasoning: { effort: 'high' } }),
    );
  });
});

const choice = (tool_choice: unknown) =>
  translated(R_TO_C, { ...minimal, tools: [look, { ...look, name: 'other' }], tool_choice });

describe('responses to chat completions', () => {
  test("a coding agent's turn, byte for byte", () => {
    expect(translate(R_TO_C, agentTurn)).toBe(
      JSON.stringify({
        model: 'up-1',
        messages: [
          { role: 'system', content: 'You code.\n\nSandboxed.' },
          { role: 'user', content: 'Fix it' },
          {
            role: 'assistant',
            content: 'Looking.',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at": 1.0}' } },
              {
                id: 'call_2',
                type: 'function',
                function: { name: 'patch', arguments: '{"input":"*** Begin \\"x\\"\\n"}' },
              },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
          { role: 'tool', tool_call_id: 'call_2', content: 'ok' },
          { role: 'user', content: 'Go on' },
        ],
        tools: [
          { type: 'function', function: { name: 'look', parameters: look.parameters, strict: false } },
          {
            type: 'function',
            function: {
              name: 'patch',
              description: 'Patches.\n\nThe value of "input" must match this lark grammar:\nstart: /x/',
              parameters: {
                type: 'object',
                properties: { input: { type: 'string' } },
                required: ['input'],
                additionalProperties: false,
              },
            },
          },
        ],
        tool_choice: 'auto',
        parallel_tool_calls: false,
        reasoning_effort: 'high',
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
  });

  test('upstreams that want their reasoning back get it', () => {
    const [, , assistant] = translated(R_TO_C, agentTurn, { reasoningHistory: true }).messages;
    expect(assistant.reasoning_content).toBe('Hm.');
  });

  test('text.format, input as text, messages without a type', () => {
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
    const format = { type: 'json_schema', name: 'answer', schema, strict: true };
    const body = { ...withInput({ role: 'user', content: 'Hi' }), text: { format }, max_output_tokens: 9 };
    expect(translated(R_TO_C, body)).toEqual({
      model: 'up-1',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    });
    expect(translated(R_TO_C, { ...minimal, text: { format: { type: 'json_object' } } }).response_format).toEqual({
      type: 'json_object',
    });
    expect(translate(R_TO_C, minimal)).toBe('{"model":"up-1","messages":[{"role":"user","content":"Hi"}]}');
  });

  test.each(['auto', 'disabled'])('what is to be done with a prompt that is too long is left out: %s', (truncation) => {
    for (const to of [R_TO_C, R_TO_M]) expect(translate(to, { ...minimal, truncation })).toBe(translate(to, minimal));
  });

  test('separate messages stay separate, but never come between calls and results', () => {
    const roles = (...input: unknown[]) =>
      translated(R_TO_C, withInput(hi, ...input)).messages.map((entry: { role: string }) => entry.role);
    const said = message('assistant', { type: 'output_text', text: 'A' });
    const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c', output: '' };
    expect(roles(said, said, hi)).toEqual(['user', 'assistant', 'assistant', 'user']);
    expect(roles(call, said, output)).toEqual(['user', 'assistant', 'tool']);
  });

  const refused: [string, unknown][] = [
    ['previous_response_id', 'resp_1'],
    ['conversation', 'conv_1'],
    ['prompt', { id: 'p' }],
    ['truncation', 'last'],
    ['top_logprobs', 2],
    ['include', ['message.output_text.logprobs']],
    ['service_tier', 'priority'],
    ['context_management', [{ type: 'compaction' }]],
  ];
  test.each(refused)('%s is refused by name', (field, value) => {
    expect(refusal(R_TO_C, { ...minimal, [field]: value })).toMatchObject({
      param: field,
      code: 'unsupported_parameter',
    });
  });

  const refusedItems: [string, unknown, string][] = [
    ['a reference to a stored item', { type: 'item_reference', id: 'x' }, 'input[0].type'],
    ['a picture that was made', { type: 'image_generation_call', result: 'x' }, 'input[0].type'],
    ['an uploaded image', message('user', { type: 'input_image', file_id: 'f' }), 'input[0].content[0].file_id'],
    ['an uploaded file', message('user', { type: 'input_file', file_id: 'f' }), 'input[0].content[0].file_id'],
    ['audio', message('user', { type: 'input_audio' }), 'input[0].content[0].type'],
    ['an unknown role', message('critic', { type: 'input_text', text: 'x' }), 'input[0].role'],
  ];
  test.each(refusedItems)('%s is refused by name', (_name, item, param) => {
    expect(refusal(R_TO_C, withInput(item)).param).toBe(param);
  });

  test('a tool that runs at the vendor is refused by name', () => {
    const problem = refusal(R_TO_C, { ...minimal, tools: [{ type: 'file_search', vector_store_ids: ['v'] }] });
    expect(problem.param).toBe('tools[0].type');
    expect(problem.message).toContain('file_search');
  });

  test('another mode of reasoning is refused by name', () => {
    expect(refusal(R_TO_C, { ...minimal, reasoning: { effort: 'high', mode: 'pro' } }).param).toBe('reasoning.mode');
  });

  test('tool choice', () => {
    expect(choice('required').tool_choice).toBe('required');
    expect(choice({ type: 'function', name: 'look' }).tool_choice).toEqual({
      type: 'function',
      function: { name: 'look' },
    });
    const allowed = choice({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'other' }] });
    expect(allowed.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['other']);
    expect(allowed.tool_choice).toBe('auto');
  });
});

describe('responses to messages', () => {
  test("a coding agent's turn, byte for byte", () => {
    expect(translate(R_TO_M, agentTurn)).toBe(
      '{"model":"up-1","max_tokens":32000,"system":[{"type":"text","text":"You code."},{"type":"text","text":"Sandboxed."}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Fix it"}]},' +
        '{"role":"assistant","content":[{"type":"text","text":"Looking."},' +
        '{"type":"tool_use","id":"call_1","name":"look","input":{"at":1.0}},' +
        '{"type":"tool_use","id":"call_2","name":"patch","input":{"input":"*** Begin \\"x\\"\\n"}}]},' +
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"seen"},' +
        '{"type":"tool_result","tool_use_id":"call_2","content":"ok"},{"type":"text","text":"Go on"}]}],' +
        '"tools":[{"name":"look","input_schema":{"type":"object","properties":{}},"strict":false},' +
        '{"name":"patch","description":"Patches.\\n\\nThe value of \\"input\\" must match this lark grammar:\\nstart: /x/",' +
        '"input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}}],' +
        '"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"thinking":{"type":"adaptive"},' +
        '"output_config":{"effort":"high"},"stream":true}',
    );
  });

  test('images and files in results and messages', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' };
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' };
    const linked = { type: 'input_file', file_url: 'https://e.com/a.pdf' };
    const body = withInput(
      message('user', image, file, linked),
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '' },
      { type: 'function_call_output', call_id: 'c', output: [image] },
    );
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    const { messages } = translated(R_TO_M, body);
    expect(messages[0].content).toEqual([
      { type: 'image', source },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://e.com/a.pdf' } },
    ]);
    expect(messages[2].content).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'image', source }] },
    ]);
  });
});

describe('messages to responses', () => {
  const body = {
    ...MINIMAL.messages,
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          { type: 'document', source: { type: 'url', url: 'https://e.com/a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'gw1.0' },
          { type: 'text', text: 'Well.' },
          { type: 'tool_use', id: 'toolu_a', name: 'look', input: { n: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', is_error: true, content: 'gone' }] },
      { role: 'system', content: 'Stop soon.' },
      { role: 'user', content: 'Go on' },
    ],
    tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 5000 },
    metadata: { user_id: 'u' },
    stream: true,
  };

  test('field by field', () => {
    const { safety_identifier, ...rest } = translated(M_TO_R, body);
    expect(safety_identifier).toMatch(/^[0-9a-f]{64}$/);
    expect(rest).toEqual({
      model: 'up-1',
      instructions: 'Be brief.',
      input: [
        message(
          'user',
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
          { type: 'input_file', file_url: 'https://e.com/a.pdf' },
        ),
        message('assistant', { type: 'output_text', text: 'Well.' }),
        { type: 'function_call', call_id: 'toolu_a', name: 'look', arguments: '{"n":1}' },
        { type: 'function_call_output', call_id: 'toolu_a', output: '[tool error] gone' },
        message('developer', { type: 'input_text', text: 'Stop soon.' }),
        message('user', { type: 'input_text', text: 'Go on' }),
      ],
      max_output_tokens: 100,
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'auto' },
      store: false,
      stream: true,
    });
  });

  test('stop sequences are refused by name', () => {
    expect(refusal(M_TO_R, { ...MINIMAL.messages, stop_sequences: ['x'] }).param).toBe('stop_sequences');
  });

  test('reasoning that the client does not want to see is not asked for', () => {
    const thinking = { type: 'adaptive', display: 'omitted' };
    expect(translated(M_TO_R, { ...MINIMAL.messages, thinking, output_config: { effort: 'low' } }).reasoning).toEqual({
      effort: 'low',
    });
    expect(translated(M_TO_R, { ...MINIMAL.messages, thinking: { type: 'disabled' } }).reasoning).toEqual({
      effort: 'none',
    });
  });
});

describe('chat completions to responses', () => {
  const patch = {
    type: 'custom',
    custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: /x/' } } },
  };

  test('field by field', () => {
    const body = {
      model: 'cat-1',
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'developer', content: 'Two.' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://e.com/a.png', detail: 'low' } }] },
        {
          role: 'assistant',
          content: 'Well.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1e2}' } },
            { id: 'c2', type: 'custom', custom: { name: 'patch', input: 'raw' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'A' },
        { role: 'tool', tool_call_id: 'c2', content: 'B' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' }, strict: true } }, patch],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
      reasoning_effort: 'low',
      verbosity: 'high',
      max_tokens: 50,
      response_format: { type: 'json_object' },
      prompt_cache_key: 'k',
    };
    const { prompt_cache_key, ...rest } = translated(C_TO_R, body);
    expect(prompt_cache_key).toMatch(/^[0-9a-f]{64}$/);
    expect(rest).toEqual({
      model: 'up-1',
      instructions: 'One.\n\nTwo.',
      input: [
        message('user', { type: 'input_image', image_url: 'https://e.com/a.png', detail: 'low' }),
        message('assistant', { type: 'output_text', text: 'Well.' }),
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a":1e2}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'raw' },
        { type: 'function_call_output', call_id: 'c1', output: 'A' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'B' },
      ],
      max_output_tokens: 50,
      tools: [
        { type: 'function', name: 'look', parameters: { type: 'object' }, strict: true },
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: /x/' } },
      ],
      tool_choice: { type: 'custom', name: 'patch' },
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_object' }, verbosity: 'high' },
      store: false,
    });
  });

  test('a message left empty is left out', () => {
    const messages = [
      { role: 'user', content: null },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Hi' },
    ];
    expect(translated(C_TO_R, { model: 'cat-1', messages }).input).toEqual([hi]);
  });

  test('stop sequences are refused by name', () => {
    expect(refusal(C_TO_R, { ...MINIMAL['chat-completions'], stop: 'x' }).param).toBe('stop');
  });
});
