/** The OpenAPI document describes the real traffic of published clients. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { readEvents } from '../../sdk/src/internal/sse.ts';
import { openApiDocument } from '../../server/gateway/openapi/document.ts';
import * as schemas from '../../server/gateway/openapi/schemas.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { asked, clientOf } from './support.ts';

// The OpenAPI document is held against what published clients really send and really get: it validates nothing at run
// time, so this is what keeps it true, and with it the SDK's types.

let app: TestApp;
let customer: Customer;

beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

interface Contract {
  request: z.ZodType | null;
  answer: z.ZodType;
  event: z.ZodType | null;
  error: z.ZodType;
}

const contracts: Record<string, Contract> = {
  '/api/v1/messages': {
    request: schemas.messagesRequest,
    answer: schemas.messagesResponse,
    event: schemas.messagesEvent,
    error: schemas.messagesError,
  },
  '/api/v1/messages/count_tokens': {
    request: schemas.countTokensRequest,
    answer: schemas.countTokensResponse,
    event: null,
    error: schemas.messagesError,
  },
  '/api/v1/chat/completions': {
    request: schemas.chatRequest,
    answer: schemas.chatResponse,
    event: schemas.chatChunk,
    error: schemas.openAiError,
  },
  '/api/v1/responses': {
    request: schemas.responsesRequest,
    answer: schemas.responsesResponse,
    event: schemas.responsesEvent,
    error: schemas.openAiError,
  },
  '/api/v1/models': { request: null, answer: schemas.modelList, event: null, error: schemas.openAiError },
  '/api/v1/key': { request: null, answer: schemas.keyInfo, event: null, error: schemas.openAiError },
  '/api/v1/credits': { request: null, answer: schemas.credits, event: null, error: schemas.openAiError },
};

function contractOf({ pathname, searchParams }: URL): Contract {
  const single = pathname.startsWith('/api/v1/models/');
  if (single) return { request: null, answer: schemas.model, event: null, error: schemas.openAiError };
  if (pathname === '/api/v1/usage') {
    const answer = searchParams.has('request_id')
      ? schemas.ledgerEntry
      : searchParams.has('session')
        ? schemas.usageSummary
        : schemas.usageReport;
    return { request: null, answer, event: null, error: schemas.openAiError };
  }
  return contracts[pathname] ?? expect.unreachable(pathname);
}

/** What was exchanged, checked as it goes: the faults it found, and how much it looked at. */
function createWitness() {
  const faults: string[] = [];
  const seen = { requests: 0, answers: 0, events: 0, errors: 0 };
  const checks: Promise<void>[] = [];
  const check = (what: string, schema: z.ZodType | null, value: unknown) => {
    const result = schema?.safeParse(value);
    if (result?.success !== true)
      faults.push(`${what}: ${result?.error.message ?? 'nothing is documented'} ${JSON.stringify(value)}`);
  };
  async function checkAnswer(contract: Contract, response: Response): Promise<void> {
    if (!response.ok) {
      seen.errors += 1;
      return check(`error ${response.status}`, contract.error, await response.json());
    }
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      seen.answers += 1;
      return check('answer', contract.answer, await response.json());
    }
    for await (const { data } of readEvents(response.body as unknown as AsyncIterable<Uint8Array>)) {
      if (data === '[DONE]') continue;
      seen.events += 1;
      check('event', contract.event, JSON.parse(data));
    }
  }
  const witness = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const contract = contractOf(new URL(input instanceof Request ? input.url : input));
    if (typeof init?.body === 'string') {
      seen.requests += 1;
      check('request', contract.request, JSON.parse(init.body));
    }
    const response = await fetch(input, init);
    checks.push(checkAnswer(contract, response.clone()));
    return response;
  };
  return {
    fetch: witness,
    async found() {
      await Promise.all(checks);
      return { faults, seen };
    },
  };
}

const weather = {
  name: 'get_weather',
  description: 'The weather',
  schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const script = '[[think Hm]] [[say Xin chào]] [[tool get_weather {"city":"Huế"}]]';
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('what published clients exchange is what the document says', () => {
  it('the OpenAI SDK', async () => {
    const witness = createWitness();
    const openai = new OpenAI({ ...clientOf(app, customer).openai(), fetch: witness.fetch, maxRetries: 0 });
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
      { role: 'developer', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: weather.name, arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '20 degrees' },
      { role: 'user', content: script },
    ];
    const tools = [
      {
        type: 'function' as const,
        function: { name: weather.name, description: weather.description, parameters: weather.schema },
      },
    ];
    const request = {
      model: 'sim-small',
      messages,
      tools,
      tool_choice: 'auto' as const,
      stop: ['STOP'],
      temperature: 0.5,
      user: 'u',
    };
    await openai.chat.completions.create(request);
    await openai.chat.completions.create({ ...request, n: 2, max_completion_tokens: 50, reasoning_effort: 'low' });
    for await (const chunk of await openai.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    }))
      expect(chunk.id).toBeTruthy();
    const ask: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: 'sim-small',
      instructions: 'Be short.',
      input: [{ role: 'user', content: script }],
      tools: [{ type: 'function', name: weather.name, parameters: weather.schema, strict: false }],
      reasoning: { effort: 'low', summary: 'auto' },
      store: false,
    };
    await openai.responses.create(ask);
    for await (const event of await openai.responses.create({ ...ask, stream: true })) expect(event.type).toBeTruthy();
    const failing = await openai.responses.create({ ...ask, input: '[[midfail 2]]', stream: true });
    for await (const event of failing) expect(event.type).toBeTruthy();
    await expect(openai.chat.completions.create({ ...request, model: 'nope' })).rejects.toThrow('not available');
    await openai.models.list();
    await openai.models.retrieve('sim-large');
    const { faults, seen } = await witness.found();
    expect(faults).toEqual([]);
    expect(seen).toMatchObject({ requests: 7, errors: 1 });
    expect(seen.events).toBeGreaterThan(20);
  });

  it.each([
    ['today', Anthropic as unknown as typeof AnthropicBefore],
    ['before 1.0', AnthropicBefore],
  ])('the Anthropic SDK of %s', async (_, Client) => {
    const witness = createWitness();
    const anthropic = new Client({ ...clientOf(app, customer).anthropic(), fetch: witness.fetch, maxRetries: 0 });
    const cached = { cache_control: { type: 'ephemeral' as const } };
    const request = {
      model: 'sim-small',
      max_tokens: 2_000,
      system: [{ type: 'text' as const, text: 'Be short.', ...cached }],
      messages: [
        {
          role: 'user' as const,
          content: [
            { type: 'text' as const, text: 'Look', ...cached },
            {
              type: 'image' as const,
              source: { type: 'base64' as const, media_type: 'image/png' as const, data: image },
            },
          ],
        },
        {
          role: 'assistant' as const,
          content: [{ type: 'tool_use' as const, id: 'toolu_1', name: weather.name, input: { city: 'Huế' } }],
        },
        {
          role: 'user' as const,
          content: [
            {
              type: 'tool_result' as const,
              tool_use_id: 'toolu_1',
              content: [{ type: 'text' as const, text: '20 degrees' }],
            },
            { type: 'text' as const, text: script },
          ],
        },
      ],
      tools: [{ name: weather.name, description: weather.description, input_schema: weather.schema }],
      thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
      metadata: { user_id: 'u' },
      stop_sequences: ['STOP'],
    };
    await anthropic.messages.create(request);
    await anthropic.messages.stream(request).finalMessage();
    await anthropic.messages.countTokens({
      model: 'sim-small',
      messages: request.messages,
      tools: request.tools,
      system: request.system,
    });
    await expect(anthropic.messages.create({ ...request, model: 'nope' })).rejects.toThrow('not available');
    const failing = { ...request, messages: [{ role: 'user' as const, content: '[[midfail 3]]' }] };
    await expect(anthropic.messages.stream(failing).finalMessage()).rejects.toThrow(/\w/);
    await anthropic.models.list();
    const { faults, seen } = await witness.found();
    expect(faults).toEqual([]);
    expect(seen).toMatchObject({ requests: 5, errors: 1 });
    expect(seen.events).toBeGreaterThan(10);
  });

  it('the AI SDK', async () => {
    const witness = createWitness();
    const { openaiCompatible, anthropic } = clientOf(app, customer).aiSdk();
    const inputSchema = jsonSchema<{ city: string }>(weather.schema);
    const tools = {
      get_weather: tool({ description: weather.description, inputSchema, execute: async () => '20 degrees' }),
    };
    for (const model of [
      createOpenAICompatible({ ...openaiCompatible, fetch: witness.fetch })('sim-small'),
      createAnthropic({ ...anthropic, fetch: witness.fetch })('sim-small'),
    ]) {
      await generateText({ model, tools, system: 'Be short.', prompt: script, maxOutputTokens: 100 });
      await streamText({ model, tools, prompt: script, maxOutputTokens: 100 }).text;
    }
    const { faults, seen } = await witness.found();
    expect(faults).toEqual([]);
    expect(seen.requests).toBe(4);
  });

  it('this SDK, for what is not of a model', async () => {
    const witness = createWitness();
    const steyg = clientOf(app, customer, { fetch: witness.fetch });
    const { steyg: call } = await steyg.messages.create({
      model: 'sim-small',
      max_tokens: 16,
      messages: [{ role: 'user', content: 'hi' }],
    });
    await app.quiet(customer.accountId);
    await steyg.usage.get();
    await steyg.usage.get({ groupBy: 'key' });
    await steyg.usage.get({ groupBy: 'session,project' });
    await steyg.usage.of({ session: 'unknown' });
    await steyg.usage.entry(call.requestId ?? '');
    await steyg.key.get();
    await steyg.credits.get();
    const poor = clientOf(app, await app.customer({ usd: '0' }), { fetch: witness.fetch });
    const request = { model: 'sim-small', messages: [{ role: 'user' as const, content: 'hi' }] };
    await expect(poor.messages.create({ ...request, max_tokens: 16 })).rejects.toThrow('top up');
    await expect(poor.chat.completions.create(request)).rejects.toThrow('top up');
    const { faults, seen } = await witness.found();
    expect(faults).toEqual([]);
    expect(seen).toMatchObject({ answers: 8, errors: 2 });
  });
});

describe('the statuses that the service answers with', () => {
  interface Operation {
    responses: Record<string, { headers?: Record<string, unknown> }>;
  }
  const document = openApiDocument('https://steyg.example/api') as { paths: Record<string, Record<string, Operation>> };
  const faults: string[] = [];
  const seen = new Map<string, Set<number>>();

  interface Asked {
    method?: string;
    body?: string;
    headers?: Record<string, string>;
    key?: string;
  }

  /** Sends a request and compares status and headers with what is documented. */
  async function send(path: string, { key = customer.secret, ...init }: Asked = {}): Promise<void> {
    const template = Object.keys(document.paths).find((each) =>
      new RegExp(`^${each.replace('{id}', '[^/]+')}$`).test(path.split('?')[0] ?? ''),
    );
    const method = init.method ?? 'GET';
    const operation = document.paths[template ?? '']?.[method.toLowerCase()];
    const headers = { 'anthropic-version': '2023-06-01', authorization: `Bearer ${key}`, ...init.headers };
    const response = await fetch(`${app.baseUrl}${path}`, { ...init, headers });
    await response.text();
    const { status } = response;
    const what = `${method} ${path} ${status}`;
    const documented = operation?.responses[String(status)];
    seen.set(template ?? path, (seen.get(template ?? path) ?? new Set()).add(status));
    if (documented === undefined) return void faults.push(`${what} is not documented`);
    for (const name of ['request-id', 'x-request-id', 'retry-after', 'x-should-retry', 'x-steyg-cost-usd']) {
      if (response.headers.has(name) && documented.headers?.[name] === undefined)
        faults.push(`${what}: ${name} is not documented`);
    }
  }

  const bodies: Record<string, (text: string) => object> = {
    '/v1/messages': (text) => ({ ...asked.messages(text) }),
    '/v1/messages/count_tokens': (text) => ({ model: 'sim-small', messages: asked.messages(text).messages }),
    '/v1/chat/completions': asked.chat,
    '/v1/responses': asked.responses,
  };
  const post = (path: string, body: unknown, more: Asked = {}) =>
    send(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...more,
      headers: { 'content-type': 'application/json', ...more.headers },
    });

  it('are documented, with their headers', async () => {
    const poor = (await app.customer({ usd: '0' })).secret;
    const limited = (await app.customer({ terms: { models: ['sim-large'] } })).secret;
    const suspended = await app.customer();
    await app.accounts.suspend({ accountId: suspended.accountId, actor: 'test' });
    for (const [path, body] of Object.entries(bodies)) {
      const counts = path.endsWith('count_tokens');
      await post(path, body('hi'));
      await post(path, '{');
      await post(path, { ...body('hi'), model: 'nope' });
      await post(path, body('hi'), { key: 'wrong' });
      await post(path, body('hi'), { key: poor });
      await post(path, body('hi'), { key: limited });
      await post(path, body('hi'), { key: suspended.secret });
      await post(path, body('hi'), { headers: { 'content-encoding': 'gzip' } });
      await post(path, body('hi'), { headers: { 'content-type': 'text/plain' } });
      if (counts) continue;
      for (const status of [400, 401, 404, 413, 422, 429, 500, 503, 504, 529])
        await post(path, body(`[[status ${status}]]`));
      await post(path, body('[[drop]]'));
    }
    for (const path of [
      '/v1/models',
      '/v1/models/sim-small',
      '/v1/models/nope',
      '/v1/usage',
      '/v1/usage?limit=x',
      '/v1/key',
      '/v1/credits',
    ]) {
      await send(path);
      await send(path, { key: 'wrong' });
      await send(path, { key: suspended.secret });
      await send(path, { key: poor });
    }
    await send('/v1/usage?request_id=01a1fd79-6730-7dbe-9441-15fff6f36e22');
    expect(faults).toEqual([]);
    expect([...(seen.get('/v1/messages') ?? [])].toSorted((a, b) => a - b)).toEqual([
      200, 400, 401, 402, 403, 413, 415, 422, 502, 504, 529,
    ]);
  });
});
