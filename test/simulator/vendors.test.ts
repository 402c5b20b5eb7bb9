import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ProfileId, profileIds } from '../../server/core/profile.ts';
import { createSimulator, type Simulator } from '../../server/simulator/simulator.ts';

/** The vendors that the simulator plays: what each refuses, and how its answers look. */

let simulator: Simulator;
beforeAll(async () => {
  simulator = await createSimulator({ tokensPerSecond: Number.POSITIVE_INFINITY, firstTokenMs: 0 });
});
afterAll(() => simulator.close());

type Path = 'chat/completions' | 'messages' | 'responses';

function post(vendor: ProfileId, path: Path, body: object): Promise<Response> {
  return fetch(`${simulator.url}/as/${vendor}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
}

const user = (content: unknown) => ({ role: 'user', content });
const chat = (more: object = {}) => ({ model: 'gpt-5', messages: [user('ping')], ...more });
const messages = (more: object = {}) => ({ model: 'm', max_tokens: 100, messages: [user('ping')], ...more });
const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
const history = (id: string, more: object = {}, call: object = {}) => [
  user('Look it up.'),
  {
    role: 'assistant',
    content: null,
    ...more,
    tool_calls: [{ id, type: 'function', function: { name: 'lookup', arguments: '{}' }, ...call }],
  },
  { role: 'tool', tool_call_id: id, content: 'found' },
];
const named = { type: 'function', function: { name: 'lookup' } };
const late = [user('hi'), { role: 'system', content: 'Be kind.' }, user('ping')];
const pictured = (url: string) => [user([{ type: 'image_url', image_url: { url } }])];

describe('refuses what its vendor refuses', () => {
  test.each<[ProfileId, Path, object, number, string]>([
    ['openai-gpt5', 'chat/completions', chat({ max_tokens: 5 }), 400, "Use 'max_completion_tokens' instead."],
    ['openai-gpt5', 'chat/completions', chat({ temperature: 0.5 }), 400, "'temperature' does not support 0.5"],
    ['openai-gpt5', 'chat/completions', chat({ top_p: 0.5 }), 400, "'top_p' is not supported"],
    ['openai-gpt5', 'chat/completions', chat({ stop: ['x'] }), 400, "'stop' is not supported"],
    [
      'openai-gpt5',
      'chat/completions',
      chat({ thinking: {} }),
      400,
      'Unrecognized request argument supplied: thinking',
    ],
    [
      'openai-gpt5',
      'chat/completions',
      chat({ model: 'gpt-5.6', tools }),
      400,
      'use /v1/responses or set reasoning_effort',
    ],
    [
      'openai-gpt5',
      'chat/completions',
      chat({ model: 'gpt-5.4', tools, reasoning_effort: 'low' }),
      400,
      '/v1/responses',
    ],
    [
      'openai-gpt5',
      'chat/completions',
      chat({ max_completion_tokens: 2, messages: [user('[[think one two three four five]]')] }),
      400,
      'Could not finish the message because max_tokens',
    ],
    [
      'openai-gpt5',
      'responses',
      { model: 'gpt-5', input: 'ping', max_output_tokens: 5 },
      400,
      'Expected a value >= 16',
    ],
    ['openai-gpt5', 'responses', { model: 'gpt-5', input: 'ping', stop: ['x'] }, 400, "Unknown parameter: 'stop'"],
    ['openai-o', 'chat/completions', chat({ tools, parallel_tool_calls: false }), 400, "'parallel_tool_calls'"],
    ['azure', 'chat/completions', chat({ max_tokens: 5 }), 400, "'max_tokens' is not supported"],
    ['anthropic', 'messages', messages({ temperature: 0.5 }), 400, '`temperature` is deprecated'],
    ['anthropic', 'messages', messages({ frequency_penalty: 1 }), 400, 'Extra inputs are not permitted'],
    [
      'anthropic',
      'messages',
      messages({ messages: late }),
      400,
      "messages.1.role: Input should be 'user' or 'assistant'",
    ],
    [
      'anthropic',
      'messages',
      messages({ max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 1024 }, tool_choice: { type: 'any' } }),
      400,
      'Thinking may not be enabled when tool_choice forces tool use',
    ],
    [
      'deepseek',
      'chat/completions',
      chat({ tools, tool_choice: 'required' }),
      400,
      'does not support this tool_choice',
    ],
    ['deepseek', 'chat/completions', chat({ tools, messages: history('a') }), 400, '`reasoning_content`'],
    [
      'deepseek',
      'chat/completions',
      chat({ tools, messages: history('a', { reasoning_content: '' }) }),
      400,
      'passed back',
    ],
    [
      'deepseek',
      'chat/completions',
      chat({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } }),
      400,
      'response_format type is unavailable',
    ],
    ['deepseek', 'messages', messages({ tool_choice: { type: 'any' } }), 400, 'does not support this tool_choice'],
    ['gemini-compatible', 'chat/completions', chat({ seed: 1, store: false }), 400, 'Unknown name \\"seed\\"'],
    ['gemini-compatible', 'chat/completions', chat({ tools, messages: history('a') }), 400, 'thought_signature'],
    ['bedrock-compatible', 'messages', messages({ temperature: 0.5 }), 400, '`temperature` is deprecated'],
    ['groq', 'chat/completions', chat({ store: false }), 400, "property 'store' is unsupported"],
    [
      'groq',
      'chat/completions',
      chat({ messages: history('a', { reasoning_content: 'x' }) }),
      400,
      'reasoning_content',
    ],
    ['groq', 'chat/completions', chat({ n: 2 }), 400, "'n'"],
    ['mistral', 'chat/completions', chat({ max_completion_tokens: 5 }), 422, 'extra_forbidden'],
    [
      'mistral',
      'chat/completions',
      chat({ stream: true, stream_options: { include_usage: true } }),
      422,
      'include_usage',
    ],
    ['mistral', 'chat/completions', chat({ tools, messages: history('call_1') }), 400, 'with a length of 9'],
    ['xai', 'chat/completions', chat({ stop: ['x'] }), 400, 'Argument not supported on this model: stop'],
    ['xai', 'chat/completions', chat({ presence_penalty: 0 }), 400, 'presencePenalty'],
    ['xai', 'chat/completions', chat({ reasoning_effort: 'low' }), 400, 'reasoningEffort'],
    ['vllm', 'chat/completions', chat({ messages: late }), 400, 'System message must be at the beginning'],
    ['ollama', 'chat/completions', chat({ messages: pictured('https://a.test/b.png') }), 400, 'invalid image input'],
    ['ollama', 'chat/completions', chat({ messages: late }), 500, 'system message must be at the beginning'],
    ['llama.cpp', 'chat/completions', chat({ messages: late }), 500, 'System message must be at the beginning'],
  ])('%s %s %j', async (vendor, path, body, status, words) => {
    const response = await post(vendor, path, body);
    const text = await response.text();
    expect([response.status, text]).toEqual([status, expect.stringContaining(words)]);
  });

  test.each<[ProfileId, Path, object]>([
    ['openai-gpt5', 'chat/completions', chat({ model: 'gpt-5.6', tools, reasoning_effort: 'none' })],
    ['openai-gpt5', 'responses', { model: 'gpt-5.6', input: 'ping', reasoning: { effort: 'high' } }],
    ['deepseek', 'chat/completions', chat({ tools, tool_choice: named, thinking: { type: 'disabled' } })],
    ['deepseek', 'chat/completions', chat({ tools, messages: history('a', { reasoning_content: ' ' }) })],
    ['mistral', 'chat/completions', chat({ tools, messages: history('aB3dE6gH9') })],
    ['xai', 'chat/completions', chat({ model: 'grok-4.3', reasoning_effort: 'low' })],
    ['ollama', 'chat/completions', chat({ messages: pictured('data:image/png;base64,AAAA') })],
    [
      'gemini-compatible',
      'chat/completions',
      chat({ tools, messages: history('a', {}, { extra_content: { google: { thought_signature: 'any' } } }) }),
    ],
  ])('and takes what it takes: %s %s %j', async (vendor, path, body) => {
    const response = await post(vendor, path, body);
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  });
});

describe('ignores what its vendor ignores', () => {
  test.each<[ProfileId, object, string]>([
    ['deepseek', { max_completion_tokens: 1, messages: [user('[[len 9]]')] }, '"finish_reason":"stop"'],
    ['ollama', { max_completion_tokens: 1, messages: [user('[[len 9]]')] }, '"finish_reason":"stop"'],
    ['ollama', { tools, tool_choice: named }, '"finish_reason":"stop"'],
    ['llama.cpp', { tools, tool_choice: named }, '"finish_reason":"stop"'],
    ['llama.cpp', { tools, tool_choice: 'required' }, '"finish_reason":"tool_calls"'],
  ])('%s %j', async (vendor, more, expected) => {
    expect(await (await post(vendor, 'chat/completions', chat(more))).text()).toContain(expected);
  });
});

describe('answers in its vendor’s form', () => {
  const thinking = { messages: [user('[[think Hm.]][[say pong]]')] };
  const stream = { ...thinking, stream: true };

  test.each<[ProfileId, object, string]>([
    ['azure', stream, '"choices":[],"created":0,"id":""'],
    ['azure', stream, '"content_filter_offsets"'],
    ['openrouter', stream, ': OPENROUTER PROCESSING'],
    ['openrouter', stream, '"reasoning":"Hm'],
    ['openrouter', stream, '"cost":'],
    ['deepseek', thinking, '"prompt_cache_miss_tokens":'],
    ['groq', stream, '"x_groq":{"id":"req_51mu1at0r","usage"'],
    ['mistral', stream, '"type":"thinking"'],
    ['mistral', stream, '"usage":{"prompt_tokens"'],
    ['bedrock-compatible', thinking, '<reasoning>Hm.</reasoning>pong'],
    ['llama.cpp', thinking, '"timings":'],
    ['vllm', thinking, '"reasoning":"Hm.'],
    ['ollama', thinking, '"system_fingerprint":"fp_ollama"'],
  ])('%s %j: %s', async (vendor, more, expected) => {
    expect(await (await post(vendor, 'chat/completions', chat(more))).text()).toContain(expected);
  });

  test.each<[ProfileId, object]>([
    ['openrouter', { error: { code: 429, message: expect.any(String) }, user_id: expect.any(String) }],
    ['xai', { code: expect.any(String), error: expect.any(String) }],
    ['vllm', { object: 'error', message: expect.any(String), type: 'BadRequestError', param: null, code: 429 }],
    ['llama.cpp', { error: { code: 429, message: expect.any(String), type: 'invalid_request_error' } }],
    [
      'mistral',
      { object: 'error', message: expect.any(String), type: 'requests', param: null, code: expect.any(String) },
    ],
    ['groq', { error: { message: expect.any(String), type: 'requests' } }],
  ])('%s wraps its errors', async (vendor, expected) => {
    const response = await post(vendor, 'chat/completions', chat({ messages: [user('[[status 429]]')] }));
    expect(await response.json()).toEqual(expected);
  });

  test('gemini wraps its errors in a list', async () => {
    const response = await post('gemini-compatible', 'chat/completions', chat({ messages: [user('[[status 400]]')] }));
    expect(await response.json()).toEqual([
      { error: { code: 400, message: expect.any(String), status: 'INVALID_ARGUMENT' } },
    ]);
  });

  test('gemini sends each call whole, with the index 0 and a signature on the first', async () => {
    const calls = { tools, stream: true, messages: [user('[[tool lookup {"a":1}]][[tool lookup {"a":2}]]')] };
    const text = await (await post('gemini-compatible', 'chat/completions', chat(calls))).text();
    expect(text.match(/"index":0,"id"/g)).toHaveLength(2);
    expect(text).toContain('"arguments":"{\\"a\\":2}"');
    expect(text.match(/thought_signature/g)).toHaveLength(1);
  });
});

test.each(profileIds)('%s speaks no protocol that its vendor does not', async (vendor) => {
  const statuses = await Promise.all(
    (['chat/completions', 'messages', 'responses'] as const).map(async (path) => (await post(vendor, path, {})).status),
  );
  expect(statuses).toContain(400);
  expect(statuses).toContain(404);
});
