import { describe, expect, test } from 'vitest';
import { C_TO_M, MINIMAL, refusal, translate, translated } from './support.ts';

/** Requests of chat completions as a Messages upstream gets them. */

const to = C_TO_M;
const minimal = MINIMAL['chat-completions'];
const withMessages = (...messages: unknown[]) => ({ ...minimal, messages });
const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const call = (id: string, text = '{}') => ({ id, type: 'function', function: { name: 'look', arguments: text } });
const hi = { role: 'user', content: 'Hi' };

describe('the whole body, byte for byte', () => {
  const cases: [string, unknown, string][] = [
    [
      'a minimal request gets the cap that the protocol insists on',
      minimal,
      '{"model":"up-1","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}',
    ],
    [
      'a stream',
      { ...minimal, stream: true, stream_options: { include_usage: true }, max_tokens: 5 },
      '{"model":"up-1","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"stream":true}',
    ],
    [
      'arguments become the object they spell, digit by digit',
      withMessages(
        hi,
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('a', '{"big":12345678901234567890, "one":1.0,"exp":1e2,"neg":-0}')],
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
      ),
      '{"model":"up-1","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{"big":12345678901234567890,"one":1.0,"exp":1e2,"neg":-0}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}]}',
    ],
  ];
  test.each(cases)('%s', (_name, body, expected) => {
    expect(translate(to, body)).toBe(expected);
  });
});

describe('system', () => {
  test('54 system and developer messages become the system prompt', () => {
    const body = withMessages(
      { role: 'system', content: 'One.' },
      { role: 'developer', content: [{ type: 'text', text: 'Two.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      hi,
    );
    expect(translated(to, body).system).toEqual([
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
  });

  const conversation = withMessages(
    { role: 'system', content: 'First.' },
    { role: 'user', content: 'One' },
    { role: 'developer', content: 'Later.' },
    { role: 'user', content: 'Two' },
    { role: 'system', content: 'Last.' },
    { role: 'user', content: 'Three' },
  );
  test('54 later ones are kept in place where the model allows', () => {
    expect(translated(to, conversation).messages.map((message: { role: string }) => message.role)).toEqual([
      'user',
      'system',
      'user',
      'system',
      'user',
    ]);
  });

  test('54 else they are hoisted together', () => {
    const { system, messages } = translated(to, conversation, { systemRole: 'hoist' });
    expect(system.map(({ text }: { text: string }) => text)).toEqual(['First.', 'Later.\nLast.']);
    expect(messages).toEqual([
      {
        role: 'user',
        content: ['One', 'Two', 'Three'].map((text) => ({ type: 'text', text })),
      },
    ]);
  });

  test('54 or marked as reminders within the user turn', () => {
    expect(translated(to, conversation, { systemRole: 'user' }).messages[0].content[1].text).toBe(
      '<system-reminder>\nLater.\n</system-reminder>',
    );
  });
});

const inputOf = (text: string) =>
  translated(to, withMessages(hi, { role: 'assistant', tool_calls: [call('a', text)] })).messages[1].content[0].input;

describe('messages', () => {
  test('55 tool messages and the user message that follows become one turn, results first', () => {
    const body = withMessages(
      hi,
      { role: 'assistant', content: 'Looking.', tool_calls: [call('a', '{"x":1}'), call('b', '')] },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'user', content: 'Quick!' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [
          { type: 'text', text: 'B1' },
          { type: 'text', text: 'B2' },
        ],
      },
    );
    expect(translated(to, body).messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } },
          { type: 'tool_use', id: 'b', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'A' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [
              { type: 'text', text: 'B1' },
              { type: 'text', text: 'B2' },
            ],
          },
          { type: 'text', text: 'Quick!' },
        ],
      },
    ]);
  });

  test.each([
    ['{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['', {}],
    ['  ', {}],
    ['{"a":', { _invalid_arguments: '{"a":' }],
    ['[1]', { _invalid_arguments: '[1]' }],
    ['null', { _invalid_arguments: 'null' }],
    ['"x"', { _invalid_arguments: '"x"' }],
    ['7.0', { _invalid_arguments: '7.0' }],
  ])('56 arguments %j', (text, input) => {
    expect(inputOf(text)).toEqual(input);
  });

  test('56 arguments nested beyond any parser are kept as text, not a crash', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(inputOf(deep)).toEqual({ _invalid_arguments: deep });
  });

  test('56 a member called __proto__ stays a member', () => {
    const body = withMessages(hi, {
      role: 'assistant',
      tool_calls: [call('a', '{"__proto__":{"x":1},"constructor":2}')],
    });
    expect(translate(to, body)).toContain('"input":{"__proto__":{"x":1},"constructor":2}');
  });

  test('empty content is left out, never replaced', () => {
    const body = withMessages(
      hi,
      { role: 'assistant', content: '', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'assistant', content: ' \n' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'More' },
        ],
      },
    );
    expect(translated(to, body).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
      { role: 'user', content: [{ type: 'text', text: 'More' }] },
    ]);
  });

  test('reasoning without a signature is left out, a refusal is text', () => {
    const body = withMessages(hi, { role: 'assistant', content: null, refusal: 'No.', reasoning_content: 'Hm.' }, hi);
    expect(translated(to, body).messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'No.' }] });
  });

  test('a trailing assistant message is forwarded', () => {
    const { messages } = translated(to, withMessages(hi, { role: 'assistant', content: 'It is' }));
    expect(messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'It is' }] });
  });

  test('the deprecated function calling of the history keeps calls and results together', () => {
    const body = withMessages(
      hi,
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: '1' },
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: '2' },
    );
    const { messages } = translated(to, body);
    expect(messages[2].content[0].tool_use_id).toBe(messages[1].content[0].id);
    expect(messages[4].content[0].tool_use_id).toBe(messages[3].content[0].id);
    expect(messages[3].content[0].id).not.toBe(messages[1].content[0].id);
  });

  test('ids that the protocol would refuse are wrapped, alike in call and result', () => {
    const body = withMessages(
      hi,
      { role: 'assistant', tool_calls: [call('functions.Bash:0')] },
      { role: 'tool', tool_call_id: 'functions.Bash:0', content: 'ok' },
    );
    const { messages } = translated(to, body);
    expect(messages[1].content[0].id).toBe('toolu_gw_ZnVuY3Rpb25zLkJhc2g6MA');
    expect(messages[2].content[0].tool_use_id).toBe('toolu_gw_ZnVuY3Rpb25zLkJhc2g6MA');
  });

  const parts: [string, unknown, unknown][] = [
    [
      'an inline image',
      { type: 'image_url', image_url: { url: 'data:image/PNG;base64,aGk=', detail: 'high' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    ],
    [
      'an image by address',
      { type: 'image_url', image_url: { url: 'https://e.com/a.png' } },
      { type: 'image', source: { type: 'url', url: 'https://e.com/a.png' } },
    ],
    [
      'a PDF',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }, title: 'a.pdf' },
    ],
    [
      'a text file',
      { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,w6k=' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' }, title: 'a.txt' },
    ],
    [
      'a text file without base64',
      { type: 'file', file: { file_data: 'data:text/plain,%C3%A9' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' } },
    ],
    [
      'a cache breakpoint',
      { type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
    ],
    [
      'a cache marker with a lifetime that has no equal',
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '12h' } },
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
    ],
  ];
  test.each(parts)('%s', (_name, part, expected) => {
    expect(translated(to, withMessages({ role: 'user', content: [part] })).messages[0].content).toEqual([expected]);
  });

  const refused: [string, unknown, string][] = [
    ['audio', { type: 'input_audio', input_audio: { data: '', format: 'wav' } }, 'messages[0].content[0].type'],
    ['an uploaded file', { type: 'file', file: { file_id: 'f1' } }, 'messages[0].content[0].file.file_id'],
    [
      'another kind of file',
      { type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } },
      'messages[0].content[0].file.file_data',
    ],
    [
      'a local image',
      { type: 'image_url', image_url: { url: 'file:///etc/passwd' } },
      'messages[0].content[0].image_url.url',
    ],
  ];
  test.each(refused)('%s is refused by name', (_name, part, param) => {
    expect(refusal(to, withMessages({ role: 'user', content: [part] })).param).toBe(param);
  });

  test('an unknown role is refused by name', () => {
    expect(refusal(to, withMessages({ role: 'narrator', content: 'x' })).param).toBe('messages[0].role');
  });
});

const choice = (tool_choice?: unknown) =>
  translated(to, { ...minimal, tools: [tool], tool_choice, parallel_tool_calls: false }).tool_choice;

describe('tools', () => {
  test('a tool without parameters is not lost, and one without a type gets the only one there is', () => {
    const tools = [
      { type: 'function', function: { name: 'none' } },
      {
        type: 'function',
        function: { name: 'bare', description: 'D', strict: true, parameters: { properties: { a: {} } } },
      },
    ];
    expect(translated(to, { ...minimal, tools }).tools).toEqual([
      { name: 'none', input_schema: { type: 'object', properties: {} } },
      { name: 'bare', description: 'D', input_schema: { type: 'object', properties: { a: {} } }, strict: true },
    ]);
  });

  const choices: [unknown, unknown][] = [
    ['none', { type: 'none' }],
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'look' } },
      { type: 'tool', name: 'look' },
    ],
  ];
  test.each(choices)('tool choice %o', (tool_choice, expected) => {
    expect(translated(to, { ...minimal, tools: [tool], tool_choice }).tool_choice).toEqual(expected);
  });

  test('allowed_tools narrows the list', () => {
    const other = { type: 'function', function: { name: 'other' } };
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'other' } }] };
    const body = translated(to, {
      ...minimal,
      tools: [tool, other],
      tool_choice: { type: 'allowed_tools', allowed_tools },
    });
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['other']);
    expect(body.tool_choice).toEqual({ type: 'any' });
  });

  test('a call that is demanded of no tool at all is refused, not forgotten', () => {
    expect(refusal(to, { ...minimal, tool_choice: 'required' }).param).toBe('tool_choice');
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'stranger' } }] };
    const narrowed = { ...minimal, tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools } };
    expect(refusal(to, narrowed).param).toBe('tool_choice');
    expect(translated(to, { ...minimal, tool_choice: 'auto' })).not.toHaveProperty('tool_choice');
  });

  test('parallel_tool_calls: false, except beside none', () => {
    expect(choice()).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(choice('required')).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(choice('none')).toEqual({ type: 'none' });
  });

  test('free-text tools are refused by name', () => {
    const custom = { type: 'custom', custom: { name: 'patch' } };
    expect(refusal(to, { ...minimal, tools: [custom] }).param).toBe('tools[0]');
    expect(refusal(to, { ...minimal, tools: [tool], tool_choice: custom }).param).toBe('tool_choice');
  });
});

describe('the other fields', () => {
  const refused: [string, unknown][] = [
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['logit_bias', { 5: 1 }],
    ['audio', { voice: 'x' }],
    ['modalities', ['text', 'audio']],
    ['prediction', { type: 'content', content: 'x' }],
    ['functions', [{ name: 'f' }]],
    ['function_call', { name: 'f' }],
    ['frequency_penalty', 0.5],
    ['presence_penalty', -1],
    ['service_tier', 'flex'],
    ['store', true],
    ['web_search_options', {}],
    ['enable_search', true],
  ];
  test.each(refused)('57 %s is refused by name', (field, value) => {
    expect(refusal(to, { ...minimal, [field]: value })).toMatchObject({ param: field, code: 'unsupported_parameter' });
  });

  test('57 their harmless values, and what the documentation lists, change nothing', () => {
    const harmless = {
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      audio: null,
      modalities: ['text'],
      frequency_penalty: 0,
      presence_penalty: 0.0,
      service_tier: 'auto',
      store: false,
      seed: 7,
      metadata: { a: 'b' },
      verbosity: 'low',
      prompt_cache_key: 'k',
      response_format: { type: 'text' },
      stop: null,
    };
    expect(translate(to, { ...minimal, ...harmless })).toBe(translate(to, minimal));
  });

  test.each([
    [{ type: 'object' }, 'A bill.'],
    [{ description: 'All amounts in cents.', type: 'object' }, 'A bill.\n\nAll amounts in cents.'],
  ])('what a response schema is for moves into the schema %o', (schema, description) => {
    const asking = { type: 'json_schema', json_schema: { name: 'bill', description: 'A bill.', strict: true, schema } };
    expect(translated(to, { ...minimal, response_format: asking }).output_config).toEqual({
      format: { type: 'json_schema', schema: { type: 'object', description } },
    });
  });

  test('58 a temperature above 1 becomes 1, where the model takes one', () => {
    expect(translated(to, { ...minimal, temperature: 1.6 }).temperature).toBe(1);
    expect(translated(to, { ...minimal, temperature: 0.3 }).temperature).toBe(0.3);
    expect(translated(to, { ...minimal, temperature: 1.6 }, { sampling: false })).not.toHaveProperty('temperature');
  });

  test('59 a high effort under a small cap is still a valid budget', () => {
    const { thinking, max_tokens } = translated(
      to,
      { ...minimal, reasoning_effort: 'high', max_completion_tokens: 3000 },
      { effort: false },
    );
    expect(thinking.type).toBe('enabled');
    expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1024);
    expect(thinking.budget_tokens).toBeLessThan(max_tokens);
  });

  test.each([
    ['minimal', 1024],
    ['low', 1024],
    ['medium', 2048],
    ['high', 4096],
    ['xhigh', 8192],
    ['max', 16_384],
  ])('59 effort %s is a budget of %i where there is room', (reasoning_effort, budget_tokens) => {
    const { thinking } = translated(to, { ...minimal, reasoning_effort, max_tokens: 40_000 }, { effort: false });
    expect(thinking).toEqual({ type: 'enabled', budget_tokens });
  });

  test('59 no budget fits under 1024 tokens, and none is sent', () => {
    const body = translated(to, { ...minimal, reasoning_effort: 'high', max_tokens: 1024 }, { effort: false });
    expect(body).not.toHaveProperty('thinking');
  });

  test('59 models that understand efforts are told the effort', () => {
    const body = (reasoning_effort: string) => translated(to, { ...minimal, reasoning_effort });
    expect(body('high')).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });
    expect(body('minimal')).toMatchObject({ output_config: { effort: 'low' } });
    expect(body('none').thinking).toEqual({ type: 'disabled' });
    expect(refusal(to, { ...minimal, reasoning_effort: 'heroic' }).param).toBe('reasoning_effort');
  });

  test('59 while an older model thinks, it takes neither a temperature nor a forced call', () => {
    const thinking = { ...minimal, reasoning_effort: 'low', temperature: 0.2, top_k: 5, top_p: 0.5, tools: [tool] };
    const body = translated(to, thinking, { effort: false });
    for (const field of ['temperature', 'top_k', 'top_p']) expect(body).not.toHaveProperty(field);
    expect(refusal(to, { ...thinking, tool_choice: 'required' }, { effort: false }).param).toBe('tool_choice');
  });

  test('59 in a tool loop whose thinking the client could not keep, an older model goes on without', () => {
    const loop = withMessages(
      hi,
      { role: 'assistant', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    );
    expect(translated(to, { ...loop, reasoning_effort: 'high' }, { effort: false })).not.toHaveProperty('thinking');
    const answered = withMessages(...loop.messages, { role: 'assistant', content: 'Done.' }, hi);
    expect(translated(to, { ...answered, reasoning_effort: 'high' }, { effort: false })).toHaveProperty('thinking');
  });

  test('response_format', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const json_schema = { name: 'answer', strict: true, schema };
    expect(translated(to, { ...minimal, response_format: { type: 'json_schema', json_schema } }).output_config).toEqual(
      {
        format: { type: 'json_schema', schema },
      },
    );
    const json = { ...minimal, response_format: { type: 'json_object' } };
    expect(refusal(to, json).param).toBe('response_format');
    expect(translated(to, json, { jsonObject: true }).system[0].text).toMatch(/JSON object/);
  });

  test('blank text is left out, which the vendor refuses wherever it stands', () => {
    const blank = [{ type: 'text', text: ' \n' }];
    const messages = [
      { role: 'system', content: '\t' },
      { role: 'user', content: '  ' },
      { role: 'assistant', content: blank },
      { role: 'user', content: [...blank, { type: 'text', text: ' said ' }] },
    ];
    const body = translated(to, { ...minimal, messages });
    expect(body).not.toHaveProperty('system');
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: ' said ' }] }]);
  });

  test('a conversation that ends with blank text is refused: the vendor would go on with the answer before it', () => {
    const messages = [hi, { role: 'assistant', content: 'Well' }, { role: 'user', content: ' ' }];
    expect(refusal(to, { ...minimal, messages }).param).toBe('messages[2]');
  });

  test('stop as text or list, without blank ones', () => {
    expect(translated(to, { ...minimal, stop: 'END' }).stop_sequences).toEqual(['END']);
    expect(translated(to, { ...minimal, stop: ['a', '\n', 'b', 'c', 'd', 'e'] }).stop_sequences).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
    expect(translated(to, { ...minimal, stop: [' '] })).not.toHaveProperty('stop_sequences');
  });

  test('max_completion_tokens wins over max_tokens', () => {
    expect(translated(to, { ...minimal, max_tokens: 5, max_completion_tokens: 7 }).max_tokens).toBe(7);
  });

  test("the client's user travels as a digest", () => {
    const { metadata } = translated(to, { ...minimal, user: 'u', safety_identifier: 's' });
    expect(metadata.user_id).toMatch(/^[0-9a-f]{64}$/);
    expect(metadata).toEqual(translated(to, { ...minimal, safety_identifier: 's' }).metadata);
  });
});
