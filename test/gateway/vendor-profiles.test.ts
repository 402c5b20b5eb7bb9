import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vendorProfiles } from '../../server/catalog/profiles/profiles.ts';
import type { Protocol } from '../../server/core/protocol.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, type ProtocolCase, protocols, send, settled } from './support.ts';

/**
 * Clients of every protocol at every vendor. The simulator refuses what the vendor refuses: a refusal of its own would be one
 * that the customer's request has not earned, so each request is either answered or refused by the gateway before it is sent.
 */

interface Endpoint {
  profile: string;
  upstream: Protocol;
  model: string;
}

const endpoints: Endpoint[] = Object.values(vendorProfiles).flatMap(({ id, protocols }) =>
  Object.keys(protocols)
    // The simulator plays Bedrock's responses nowhere: they are OpenAI's.
    .filter((upstream) => !(id === 'bedrock-compatible' && upstream === 'responses'))
    .map((upstream) => ({ profile: id, upstream: upstream as Protocol, model: `${id}-${upstream}` })),
);

/** What the vendor calls the model: some vendors' rules depend on it. */
const vendorModels: Record<string, string> = {
  'openai-gpt5-chat-completions': 'gpt-5',
  'openai-gpt5-responses': 'gpt-5.6',
  'openai-o-chat-completions': 'o3',
  'openai-o-responses': 'o3',
  'xai-chat-completions': 'grok-4-0709',
};

function catalog(simulatorUrl: string): string {
  const upstreams = endpoints.map(({ profile, upstream, model }) => {
    const address = `${simulatorUrl}/as/${profile}${upstream === 'messages' ? '' : '/v1'}`;
    return `  - { id: ${model}, protocol: ${upstream}, baseUrl: "${address}", profile: ${profile} }`;
  });
  const models = endpoints.map(({ model }) =>
    [
      `  - id: ${model}`,
      `    displayName: ${model}`,
      '    family: tests',
      '    contextWindow: 200000',
      '    maxOutputTokens: 32000',
      '    prices: { input: "1", cacheHit: "0.1", output: "5" }',
      '    routes:',
      `      - { upstream: ${model}, model: ${vendorModels[model] ?? `${model}-1`} }`,
    ].join('\n'),
  );
  return ['upstreams:', ...upstreams, 'models:', ...models].join('\n');
}

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false };
const answerSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};
const long = 'Answer briefly. '.repeat(500);
const callId = 'toolu_01A09q90qw90lq917835lq9';

type Members = Record<string, unknown>;
interface Case {
  name: string;
  text: string;
  /** Absent: the protocol has no such thing. */
  body: Partial<Record<Protocol, Members>>;
}

const user = (content: unknown) => ({ role: 'user', content });
const chatTool = (name: string) => ({ type: 'function', function: { name, description: name, parameters: schema } });
const messagesTool = (name: string) => ({ name, description: name, input_schema: schema });
const responsesTool = (name: string) => ({ type: 'function', name, description: name, parameters: schema });
const both = <T>(tool: (name: string) => T): T[] => [tool('lookup'), tool('search')];
const tools = {
  messages: { tools: both(messagesTool) },
  'chat-completions': { tools: both(chatTool) },
  responses: { tools: both(responsesTool) },
};
const everywhere = (members: Members): Record<Protocol, Members> => ({
  messages: members,
  'chat-completions': members,
  responses: members,
});
const withTools = (more: Record<Protocol, Members>): Record<Protocol, Members> => ({
  messages: { ...tools.messages, ...more.messages },
  'chat-completions': { ...tools['chat-completions'], ...more['chat-completions'] },
  responses: { ...tools.responses, ...more.responses },
});
const callText = '[[tool lookup {"q":"a"}]][[tool search {"q":"b"}]]';
const named = { type: 'function', function: { name: 'search' } };

const cases: Case[] = [
  { name: 'plain', text: 'ping', body: everywhere({}) },
  { name: 'streamed', text: 'ping', body: everywhere({ stream: true }) },
  {
    name: 'smallest cap',
    text: 'ping',
    body: { messages: { max_tokens: 1 }, 'chat-completions': { max_tokens: 1 }, responses: { max_output_tokens: 1 } },
  },
  { name: 'tools', text: callText, body: withTools(everywhere({})) },
  { name: 'tools, streamed', text: callText, body: withTools(everywhere({ stream: true })) },
  {
    name: 'forced tool',
    text: 'ping',
    body: withTools({
      messages: { tool_choice: { type: 'tool', name: 'search' } },
      'chat-completions': { tool_choice: named },
      responses: { tool_choice: { type: 'function', name: 'search' } },
    }),
  },
  {
    name: 'any tool',
    text: 'ping',
    body: withTools({
      messages: { tool_choice: { type: 'any' } },
      'chat-completions': { tool_choice: 'required' },
      responses: { tool_choice: 'required' },
    }),
  },
  {
    name: 'no tool',
    text: callText,
    body: withTools({
      messages: { tool_choice: { type: 'none' } },
      'chat-completions': { tool_choice: 'none' },
      responses: { tool_choice: 'none' },
    }),
  },
  {
    name: 'one tool at a time',
    text: callText,
    body: withTools({
      messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      'chat-completions': { parallel_tool_calls: false },
      responses: { parallel_tool_calls: false },
    }),
  },
  {
    name: 'calls and results in the history',
    text: 'ping',
    body: withTools({
      messages: {
        messages: [
          user('Look it up.'),
          { role: 'assistant', content: [{ type: 'tool_use', id: callId, name: 'lookup', input: { q: 'a' } }] },
          user([{ type: 'tool_result', tool_use_id: callId, content: 'found' }]),
        ],
      },
      'chat-completions': {
        messages: [
          user('Look it up.'),
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: callId, type: 'function', function: { name: 'lookup', arguments: '{"q":"a"}' } }],
          },
          { role: 'tool', tool_call_id: callId, content: 'found' },
        ],
      },
      responses: {
        input: [
          user('Look it up.'),
          { type: 'function_call', call_id: callId, name: 'lookup', arguments: '{"q":"a"}' },
          { type: 'function_call_output', call_id: callId, output: 'found' },
        ],
      },
    }),
  },
  {
    name: 'image',
    text: 'ping',
    body: {
      messages: {
        messages: [
          user([
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } },
            { type: 'text', text: 'ping' },
          ]),
        ],
      },
      'chat-completions': {
        messages: [
          user([
            { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
            { type: 'text', text: 'ping' },
          ]),
        ],
      },
      responses: {
        input: [
          user([
            { type: 'input_image', image_url: `data:image/png;base64,${picture}` },
            { type: 'input_text', text: 'ping' },
          ]),
        ],
      },
    },
  },
  {
    name: 'image by address',
    text: 'ping',
    body: {
      messages: {
        messages: [
          user([
            { type: 'image', source: { type: 'url', url: 'https://images.test/a.png' } },
            { type: 'text', text: 'ping' },
          ]),
        ],
      },
      'chat-completions': {
        messages: [
          user([
            { type: 'image_url', image_url: { url: 'https://images.test/a.png' } },
            { type: 'text', text: 'ping' },
          ]),
        ],
      },
      responses: {
        input: [
          user([
            { type: 'input_image', image_url: 'https://images.test/a.png' },
            { type: 'input_text', text: 'ping' },
          ]),
        ],
      },
    },
  },
  {
    name: 'reasoning',
    text: '[[think Hm.]][[say pong]]',
    body: {
      messages: { max_tokens: 8000, thinking: { type: 'enabled', budget_tokens: 4000 } },
      'chat-completions': { reasoning_effort: 'high' },
      responses: { reasoning: { effort: 'high' } },
    },
  },
  {
    name: 'reasoning, streamed',
    text: '[[think Hm.]][[say pong]]',
    body: {
      messages: { max_tokens: 8000, thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, stream: true },
      'chat-completions': { reasoning_effort: 'low', stream: true },
      responses: { reasoning: { effort: 'low' }, stream: true },
    },
  },
  {
    name: 'no reasoning',
    text: 'ping',
    body: {
      messages: { thinking: { type: 'disabled' } },
      'chat-completions': { reasoning_effort: 'none' },
      responses: { reasoning: { effort: 'none' } },
    },
  },
  {
    name: 'sampling',
    text: 'ping',
    body: {
      messages: { temperature: 0.5, top_p: 0.9, top_k: 40 },
      'chat-completions': { temperature: 0.5, top_p: 0.9 },
      responses: { temperature: 0.5, top_p: 0.9 },
    },
  },
  {
    name: 'stop sequences',
    text: 'ping',
    body: {
      messages: { stop_sequences: ['END'] },
      'chat-completions': { stop: ['END'] },
    },
  },
  {
    name: 'long instructions, and more of them later',
    text: 'ping',
    body: {
      messages: {
        system: [{ type: 'text', text: long }],
        messages: [
          user('hi'),
          { role: 'assistant', content: 'hello' },
          { role: 'system', content: 'Be kind.' },
          user('ping'),
        ],
      },
      'chat-completions': {
        messages: [
          { role: 'developer', content: long },
          user('hi'),
          { role: 'assistant', content: 'hello' },
          { role: 'system', content: 'Be kind.' },
          user('ping'),
        ],
      },
      responses: {
        instructions: long,
        input: [
          user('hi'),
          { role: 'assistant', content: 'hello' },
          { role: 'developer', content: 'Be kind.' },
          user('ping'),
        ],
      },
    },
  },
  {
    name: 'cache markers',
    text: 'ping',
    body: {
      messages: {
        system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }],
        messages: [user([{ type: 'text', text: 'ping', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
      },
      'chat-completions': {
        messages: [
          { role: 'system', content: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }] },
          user([{ type: 'text', text: 'ping', cache_control: { type: 'ephemeral' } }]),
        ],
        prompt_cache_key: 'conversation-1',
      },
      responses: { instructions: long, prompt_cache_key: 'conversation-1' },
    },
  },
  {
    name: 'schema of the answer',
    text: '[[say {"answer":"pong"}]]',
    body: {
      messages: { output_config: { format: { type: 'json_schema', schema: answerSchema } } },
      'chat-completions': {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: answerSchema } },
      },
      responses: { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: answerSchema } } },
    },
  },
  {
    name: 'end user',
    text: 'ping',
    body: {
      messages: { metadata: { user_id: 'device-1' } },
      'chat-completions': { user: 'device-1' },
      responses: { safety_identifier: 'device-1' },
    },
  },
];

/** Cases that a vendor has no form for, so that the gateway refuses them itself: by case, the upstreams. */
const refusedHere: Record<string, readonly string[]> = {
  'stop sequences': [
    'openai-gpt5-chat-completions',
    'openai-gpt5-responses',
    'openai-o-chat-completions',
    'openai-o-responses',
    'azure-chat-completions',
    'azure-responses',
    'xai-chat-completions',
  ],
  'schema of the answer': ['deepseek-chat-completions'],
  'image by address': ['ollama-chat-completions'],
};

/** Natively the client's bytes pass: it has to know the vendor, except for what the gateway writes itself. */
const nativeCases = new Set(['plain', 'streamed', 'tools', 'tools, streamed', 'smallest cap', 'image']);

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog, simulator: { record: 50 } });
  customer = await app.customer({ usd: '100' });
});
afterAll(() => app.close());

async function ask(client: ProtocolCase, { model }: Endpoint, { text, body }: Case): Promise<[number, string]> {
  const cap = client.protocol === 'chat-completions' ? { max_tokens: 1_000 } : {};
  const more = { model, ...cap, ...body[client.protocol] };
  const response = await send(app, client, { secret: customer.secret, text, more });
  return [response.status, await response.text()];
}

/** Natively, a responses client that asks for less than the vendor gives anybody is told so by the vendor. */
function isAsked({ name, body }: Case, client: Protocol, upstream: Protocol): boolean {
  if (body[client] === undefined) return false;
  return client !== upstream || (nativeCases.has(name) && !(name === 'smallest cap' && client === 'responses'));
}

describe.each(endpoints)('$profile over $upstream', (endpoint) => {
  test.each(everyProtocol)('$protocol', async (client) => {
    app.simulator.clearRequests();
    const asked = cases.filter((one) => isAsked(one, client.protocol, endpoint.upstream));
    const refused = asked.filter(({ name }) => refusedHere[name]?.includes(endpoint.model) === true);
    const wrong = await Promise.all(
      asked.map(async (one) => {
        const [status, text] = await ask(client, endpoint, one);
        const isFine = status === (refused.includes(one) ? 400 : 200) && /"error":\{/.test(text) === (status !== 200);
        return isFine ? [] : [`${one.name}: ${status} ${text.slice(0, 300)}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
    expect(app.simulator.requests()).toHaveLength(asked.length - refused.length);
  });
});

test.each(['llama.cpp', 'ollama', 'vllm'])(
  '%s: what its template refuses is the request’s fault, not an outage',
  async (profile) => {
    const own = await app.customer();
    const messages = [user('hi'), { role: 'system', content: 'Be kind.' }, user('ping')];
    const more = { model: `${profile}-chat-completions`, messages };
    for (let time = 0; time < 6; time += 1) {
      const response = await send(app, protocols.chat, { secret: own.secret, more });
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringMatching(/system message must be at the beginning/i),
      ]);
    }
    const fine = await send(app, protocols.chat, { secret: own.secret, more: { ...more, messages: [user('ping')] } });
    expect(fine.status).toBe(200);
  },
);

test('every answer was charged by what the vendor reported, and none of its counts was doubted', async () => {
  const rows = await settled(app, customer);
  const odd = rows.filter(({ usage_source: source }) => source !== 'reported');
  expect(
    odd.map(({ model, protocol, outcome, usage_source: source }) => ({ model, protocol, outcome, source })),
  ).toEqual([]);
  expect(rows.length).toBeGreaterThan(100);
});
