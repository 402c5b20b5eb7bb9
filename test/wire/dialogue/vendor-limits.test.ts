import { describe, expect, test } from 'vitest';
import { C_TO_M, C_TO_R, type Direction, M_TO_C, M_TO_R, MINIMAL, R_TO_C, refusal, translated } from './support.ts';

/** A translated request has the form that the upstream's vendor takes, or is refused before it is sent. */

const tool = (name: string) => ({ name, description: name, input_schema: { type: 'object' } });
const chatTool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const messages = (more: object = {}) => ({ ...MINIMAL.messages, ...more });
const chat = (more: object = {}) => ({ ...MINIMAL['chat-completions'], ...more });
const twoTools = { tools: [tool('one'), tool('two')] };

describe('tool choices', () => {
  const named = messages({ ...twoTools, tool_choice: { type: 'tool', name: 'two' } });

  test('a named tool is named where that binds', () => {
    expect(translated(M_TO_C, named).tool_choice).toEqual({ type: 'function', function: { name: 'two' } });
  });

  test.each(['required', 'auto'] as const)('is the only one offered where no more than %s binds', (toolChoice) => {
    const body = translated(M_TO_C, named, { toolChoice });
    expect([body.tools.map(({ function: { name } }: ReturnType<typeof chatTool>) => name), body.tool_choice]).toEqual([
      ['two'],
      'required',
    ]);
  });

  test('none at all means that none is offered where nothing binds', () => {
    const none = messages({ ...twoTools, tool_choice: { type: 'none' } });
    expect(translated(M_TO_C, none, { toolChoice: 'auto' })).not.toHaveProperty('tools');
    expect(translated(M_TO_C, none, { toolChoice: 'required' })).toMatchObject({ tool_choice: 'none' });
  });

  test('the demand for one call at a time is left out where the vendor refuses it', () => {
    const single = chat({ tools: [chatTool('one')], parallel_tool_calls: false });
    expect(translated(C_TO_R, single)).toMatchObject({ parallel_tool_calls: false });
    expect(translated(C_TO_R, single, { parallelCalls: false })).not.toHaveProperty('parallel_tool_calls');
  });
});

describe('a vendor that thinks by itself', () => {
  const features = { thinkingSwitch: true, reasoningHistory: true };

  test.each<[string, object]>([
    ['is told not to where a call is forced', { ...twoTools, tool_choice: { type: 'any' } }],
    ['is told not to where the client says so', { thinking: { type: 'disabled' } }],
  ])('%s', (_name, more) => {
    const body = translated(M_TO_C, messages(more), features);
    expect(body.thinking).toEqual({ type: 'disabled' });
    expect(body).not.toHaveProperty('reasoning_effort');
  });

  test('thinks as hard as it is asked to, and by itself where nothing is said', () => {
    const hard = translated(R_TO_C, { ...MINIMAL.responses, reasoning: { effort: 'high' } }, features);
    expect(hard).toMatchObject({ reasoning_effort: 'high' });
    expect(translated(M_TO_C, messages(), features)).not.toHaveProperty('thinking');
  });

  test('gets a blank for the reasoning behind a call that nobody has kept', () => {
    const history = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'one', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
    ];
    const [, call] = translated(M_TO_C, messages({ ...twoTools, messages: history }), features).messages;
    expect(call).toMatchObject({ role: 'assistant', reasoning_content: ' ' });
  });

  test('does not think over a history of calls whose thinking has no place there', () => {
    const history = [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'one', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ];
    const asked = chat({ tools: [chatTool('one')], messages: history });
    expect(translated(C_TO_M, asked, { thinkingSwitch: true }).thinking).toEqual({ type: 'disabled' });
    expect(translated(C_TO_M, asked, {})).not.toHaveProperty('thinking');
  });
});

describe('calls in the history', () => {
  const history = [
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'toolu_01A09q90', name: 'one', input: {} },
        { type: 'tool_use', id: 'aB3dE6gH9', name: 'two', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01A09q90', content: 'x' },
        { type: 'tool_result', tool_use_id: 'aB3dE6gH9', content: 'y' },
      ],
    },
  ];
  const asked = messages({ ...twoTools, messages: history });

  test('get ids of nine letters where the vendor wants them: its own stay, calls and results agree', () => {
    const [, assistant, first, second] = translated(M_TO_C, asked, { shortCallIds: true }).messages;
    const ids = assistant.tool_calls.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), 'aB3dE6gH9']);
    expect([first.tool_call_id, second.tool_call_id]).toEqual(ids);
    const again = translated(M_TO_C, asked, { shortCallIds: true }).messages[1].tool_calls[0].id;
    expect(again).toBe(ids[0]);
  });

  test('say that their signature is not at hand where the vendor wants one, on the first of each turn', () => {
    const [, assistant] = translated(M_TO_C, asked, { callSignatures: true }).messages;
    expect(assistant.tool_calls.map((call: object) => 'extra_content' in call)).toEqual([true, false]);
    expect(assistant.tool_calls[0].extra_content).toEqual({
      google: { thought_signature: 'skip_thought_signature_validator' },
    });
  });
});

describe('small things', () => {
  test('a cap below the vendor’s least becomes that', () => {
    expect(translated(M_TO_R, messages({ max_tokens: 1 }), { minOutputTokens: 16 }).max_output_tokens).toBe(16);
    expect(translated(M_TO_R, messages({ max_tokens: 50 }), { minOutputTokens: 16 }).max_output_tokens).toBe(50);
  });

  test('the end user and the option for usage are left out where the vendor refuses them', () => {
    const asked = messages({ stream: true, metadata: { user_id: 'u' } });
    expect(translated(M_TO_C, asked)).toMatchObject({
      user: expect.any(String),
      stream_options: { include_usage: true },
    });
    const plain = translated(M_TO_C, asked, { endUser: false, usageOption: false });
    expect([plain.user, plain.stream_options, plain.stream]).toEqual([undefined, undefined, true]);
  });

  test('an effort is stated only for models whose entry names efforts, where only some take one', () => {
    const asked = chat({ reasoning_effort: 'high' });
    expect(translated(C_TO_R, asked, { effort: true }).reasoning).toEqual({ effort: 'high' });
    expect(translated(C_TO_R, asked, { effort: 'named' })).not.toHaveProperty('reasoning');
  });
});

describe('what the vendor has no form for is refused by its name', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://images.test/a.png' } };
  test.each<[Direction, object, object, string]>([
    [M_TO_C, messages({ stop_sequences: ['END'] }), { stop: false }, 'stop_sequences'],
    [C_TO_R, chat({ stop: 'END' }), {}, 'stop'],
    [
      M_TO_C,
      messages({ messages: [{ role: 'user', content: [image] }] }),
      { imageUrls: false },
      'messages.0.content.0',
    ],
    [
      M_TO_C,
      messages({ output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }),
      { jsonSchema: false },
      'output_config.format',
    ],
  ])('%j', (direction, body, features, param) => {
    expect(refusal(direction, body, features).param).toBe(param);
  });
});
