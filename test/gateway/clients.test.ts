import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic, {
  APIUserAbortError as AnthropicAbort,
  AuthenticationError as AnthropicAuthentication,
  BadRequestError as AnthropicBadRequest,
  APIError as AnthropicError,
  PermissionDeniedError as AnthropicPermission,
} from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { dynamicTool, generateText, jsonSchema, stepCountIs, streamText } from 'ai';
import OpenAI, {
  AuthenticationError as OpenAiAuthentication,
  BadRequestError as OpenAiBadRequest,
  APIError as OpenAiError,
  PermissionDeniedError as OpenAiPermission,
} from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, settled, until } from './support.ts';

/**
 * The published clients, as people install them, against every model: of their own protocol and translated. What they
 * make of answers, tools, streams and errors, and how often they try again.
 */

// Its remarks about a model that it does not know would bury the report.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog(), simulator: { chunking: { split: 'random' } } });
  customer = await app.customer();
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

const models = ['only-messages', 'only-chat', 'only-responses'];
const city = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const callTool = '[[think let me see]] [[say I look]] [[tool weather {"city":"Huế"}]]';

type Settings = { secret?: string; maxRetries?: number };
const anthropic = ({ secret = customer.secret, maxRetries = 0 }: Settings = {}) =>
  new Anthropic({ apiKey: secret, baseURL: app.baseUrl, maxRetries });
const anthropicBefore = ({ secret = customer.secret, maxRetries = 0 }: Settings = {}) =>
  new AnthropicBefore({ apiKey: secret, baseURL: app.baseUrl, maxRetries }) as unknown as Anthropic;
const openai = ({ secret = customer.secret, maxRetries = 0 }: Settings = {}) =>
  new OpenAI({ apiKey: secret, baseURL: `${app.baseUrl}/v1`, maxRetries });

/** How often the gateway was asked, as its own log says. */
const asked = () => app.logged.filter((line) => line.includes('"msg":"request"')).length;

describe.each([
  ['@anthropic-ai/sdk 1', anthropic],
  ['@anthropic-ai/sdk 0', anthropicBefore],
])('%s', (_name, client) => {
  const tools = [{ name: 'weather', description: 'Says the weather.', input_schema: city }];

  it.each(models)('%s: a turn with a tool, streamed and not, and the turn after it', async (model) => {
    const question = { role: 'user' as const, content: callTool };
    const ask = { model, max_tokens: 2_000, tools, messages: [question] };
    const whole = await client().messages.create(ask);
    const streamed = await client().messages.stream(ask).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message.stop_reason).toBe('tool_use');
      expect(message.model).toBe(model);
      expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
      expect(message.content.at(-1)).toMatchObject({ name: 'weather', input: { city: 'Huế' } });
      expect(message.usage.output_tokens).toBeGreaterThan(5);
    }
    const call = streamed.content.at(-1);
    const after = await client().messages.create({
      ...ask,
      messages: [
        question,
        { role: 'assistant', content: streamed.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: (call as { id: string }).id, content: 'rain' }],
        },
      ],
    });
    expect(after.content.at(-1)).toMatchObject({ type: 'text', text: 'tool done' });
    expect(after.stop_reason).toBe('end_turn');
  });

  it.each(models)('%s: a stream that the client ends', async (model) => {
    const own = await app.customer();
    const stream = client({ secret: own.secret }).messages.stream({
      model,
      max_tokens: 2_000,
      messages: [{ role: 'user', content: '[[len 500]] [[hang 100]]' }],
    });
    stream.once('text', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(/abort/i);
    await until(() => app.simulator.stats().openRequests === 0);
    expect(await settled(app, own)).toMatchObject([{ outcome: 'client_closed' }]);
  });

  it.each(models)('%s: a stream that the upstream breaks off is an error, and is not sent again', async (model) => {
    const own = await app.customer();
    const running = client({ secret: own.secret, maxRetries: 2 })
      .messages.stream({ model, max_tokens: 2_000, messages: [{ role: 'user', content: '[[len 50]] [[cut 20]]' }] })
      .finalMessage();
    await expect(running).rejects.toBeInstanceOf(Error);
    expect(app.simulator.requests()).toHaveLength(1);
    expect(await settled(app, own)).toMatchObject([{ outcome: 'upstream_cut' }]);
  });
});

describe('openai', () => {
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: city } }];

  it.each(models)('%s: chat completions with a tool, streamed and not, and the turn after it', async (model) => {
    const ask = { model, tools, messages: [{ role: 'user' as const, content: callTool }] };
    const whole = await openai().chat.completions.create(ask);
    const streamed = await openai()
      .chat.completions.stream({ ...ask, stream_options: { include_usage: true } })
      .finalChatCompletion();
    for (const completion of [whole, streamed]) {
      expect(completion.model).toBe(model);
      expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
      expect(completion.choices[0]?.message.content).toBe('I look');
      const call = completion.choices[0]?.message.tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
      expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual(['weather', { city: 'Huế' }]);
      expect(completion.usage?.completion_tokens).toBeGreaterThan(5);
    }
    const message = streamed.choices[0]?.message as OpenAI.ChatCompletionMessage;
    const after = await openai().chat.completions.create({
      ...ask,
      messages: [
        ...ask.messages,
        { role: 'assistant', content: message.content, tool_calls: message.tool_calls ?? [] },
        { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id ?? '', content: 'rain' },
      ],
    });
    expect(after.choices[0]?.message.content).toBe('tool done');
  });

  it.each(models)('%s: responses with a tool, streamed and not', async (model) => {
    const ask = {
      model,
      input: callTool,
      tools: [{ type: 'function' as const, name: 'weather', parameters: city, strict: false }],
    };
    const whole = await openai().responses.create(ask);
    const streamed = await openai().responses.stream(ask).finalResponse();
    for (const response of [whole, streamed]) {
      expect(response.status).toBe('completed');
      expect(response.output_text).toBe('I look');
      expect(response.output.find(({ type }) => type === 'function_call')).toMatchObject({ name: 'weather' });
      expect(response.usage?.output_tokens).toBeGreaterThan(5);
    }
  });

  it.each(models)('%s: a stream that the upstream breaks off is an error, and is not sent again', async (model) => {
    const own = await app.customer();
    const running = openai({ secret: own.secret, maxRetries: 2 })
      .chat.completions.stream({ model, messages: [{ role: 'user', content: '[[len 50]] [[cut 20]]' }] })
      .finalChatCompletion();
    await expect(running).rejects.toBeInstanceOf(OpenAiError);
    expect(app.simulator.requests()).toHaveLength(1);
    expect(await settled(app, own)).toMatchObject([{ outcome: 'upstream_cut' }]);
  });

  it.each(models)('%s: a stream that the client ends', async (model) => {
    const own = await app.customer();
    const stream = await openai({ secret: own.secret }).chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content: '[[len 500]] [[hang 100]]' }],
    });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await until(() => app.simulator.stats().openRequests === 0);
    expect(await settled(app, own)).toMatchObject([{ outcome: 'client_closed' }]);
  });
});

describe.each([
  ['@ai-sdk/anthropic', (id: string) => createAnthropic({ baseURL: `${app.baseUrl}/v1`, apiKey: customer.secret })(id)],
  [
    '@ai-sdk/openai-compatible',
    (id: string) =>
      createOpenAICompatible({
        name: 'steyg',
        baseURL: `${app.baseUrl}/v1`,
        apiKey: customer.secret,
        includeUsage: true,
      })(id),
  ],
])('ai with %s', (_name, provider) => {
  const tools = {
    weather: dynamicTool({
      inputSchema: jsonSchema(city),
      execute: async (input) => `rain in ${JSON.stringify(input)}`,
    }),
  };

  it.each(models)('%s: a conversation with a tool', async (id) => {
    const ask = { model: provider(id), prompt: callTool, tools, maxRetries: 0, stopWhen: stepCountIs(3) };
    const whole = await generateText(ask);
    expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(whole.text).toBe('tool done');
    expect(whole.steps[0]?.reasoningText).toBe('let me see');
    expect(whole.steps[0]?.toolResults[0]).toMatchObject({ output: 'rain in {"city":"Huế"}' });

    const streamed = streamText(ask);
    expect(await streamed.text).toBe('tool done');
    expect((await streamed.usage).outputTokens).toBeGreaterThan(0);
  });

  it.each(models)('%s: a stream that breaks off does not look complete', async (id) => {
    const streamed = streamText({
      model: provider(id),
      prompt: '[[len 50]] [[cut 20]]',
      maxRetries: 0,
      onError: () => undefined,
    });
    const kinds: string[] = [];
    for await (const part of streamed.fullStream) kinds.push(part.type);
    expect(kinds).toContain('error');
  });
});

describe('langchain', () => {
  const weather = { name: 'weather', description: 'Says the weather.', schema: city };
  const clients = {
    openai: (model: string) =>
      new ChatOpenAI({
        model,
        apiKey: customer.secret,
        maxRetries: 0,
        configuration: { baseURL: `${app.baseUrl}/v1` },
      }),
    anthropic: (model: string) =>
      new ChatAnthropic({
        model,
        apiKey: customer.secret,
        maxRetries: 0,
        anthropicApiUrl: app.baseUrl,
        maxTokens: 500,
      }),
  };

  it.each(models.flatMap((model) => [['openai', model] as const, ['anthropic', model] as const]))(
    '%s, %s: a question, a stream and a tool',
    async (name, model) => {
      const answer = await clients[name](model).invoke('[[say xin chào]]');
      expect(answer.text).toBe('xin chào');
      expect(answer).toMatchObject({ usage_metadata: { output_tokens: 2 } });

      let streamed = '';
      for await (const chunk of await clients[name](model).stream('[[say một hai ba]]')) streamed += chunk.text;
      expect(streamed).toBe('một hai ba');

      const question = new HumanMessage('[[tool weather {"city":"Huế"}]]');
      const call = await clients[name](model).bindTools([weather]).invoke([question]);
      expect(call.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Huế' } }]);
      const result = new ToolMessage({ content: 'rain', tool_call_id: call.tool_calls?.[0]?.id ?? '' });
      const after = await clients[name](model).bindTools([weather]).invoke([question, call, result]);
      expect(after.text).toBe('tool done');
    },
  );
});

describe('refusals in the words of the clients, and how often they try', () => {
  const ping = { role: 'user' as const, content: 'ping' };
  const ask = {
    anthropic: (settings: Settings, model = 'only-messages') =>
      anthropic({ maxRetries: 2, ...settings }).messages.create({ model, max_tokens: 16, messages: [ping] }),
    anthropicBefore: (settings: Settings, model = 'only-messages') =>
      anthropicBefore({ maxRetries: 2, ...settings }).messages.create({ model, max_tokens: 16, messages: [ping] }),
    openai: (settings: Settings, model = 'only-chat') =>
      openai({ maxRetries: 2, ...settings }).chat.completions.create({ model, messages: [ping] }),
  };
  const clients = ['anthropic', 'anthropicBefore', 'openai'] as const;
  const failure = async (
    running: Promise<unknown>,
  ): Promise<{ status?: number; message: string; requestID?: string }> =>
    running.then(
      () => ({ message: 'it went well' }),
      (error: unknown) => error as never,
    );

  it.each(clients)('%s: 401, 402, 403 and an unknown model are told once', async (name) => {
    const poor = await app.customer({ usd: '0' });
    const narrow = await app.customer({ terms: { models: ['another-model'] } });
    const before = asked();
    const failures = [
      await failure(ask[name]({ secret: 'sk-steyg-wrong' })),
      await failure(ask[name]({ secret: poor.secret })),
      await failure(ask[name]({ secret: narrow.secret })),
      await failure(ask[name]({}, 'No-Such-Model')),
    ];
    expect(failures.map(({ status }) => status)).toEqual([401, 402, 403, 400]);
    expect(failures[0]?.message).toContain('Invalid API key');
    expect(failures[1]?.message).toContain('/topup');
    expect(failures[3]?.message).toContain('Requested model No-Such-Model is not available in the service');
    for (const { requestID } of failures) expect(requestID).toMatch(/^[0-9a-f-]{36}$/);
    await until(() => asked() - before >= 4);
    expect(asked() - before).toBe(4);
    expect(app.simulator.requests()).toEqual([]);
  });

  it('they are the classes that people catch', async () => {
    const narrow = await app.customer({ terms: { models: ['another-model'] } });
    expect(await failure(ask.anthropic({ secret: 'x' }))).toBeInstanceOf(AnthropicAuthentication);
    expect(await failure(ask.anthropic({ secret: narrow.secret }))).toBeInstanceOf(AnthropicPermission);
    expect(await failure(ask.anthropic({}, 'nope'))).toBeInstanceOf(AnthropicBadRequest);
    expect(await failure(ask.openai({ secret: 'x' }))).toBeInstanceOf(OpenAiAuthentication);
    expect(await failure(ask.openai({ secret: narrow.secret }))).toBeInstanceOf(OpenAiPermission);
    expect(await failure(ask.openai({}, 'nope'))).toBeInstanceOf(OpenAiBadRequest);
  });

  it.each(clients)("%s: an upstream's failure is tried again, each time for nothing", async (name) => {
    const own = await app.customer();
    const settings = { secret: own.secret };
    const content = '[[status 500]]';
    const running =
      name === 'openai'
        ? openai({ ...settings, maxRetries: 1 }).chat.completions.create({
            model: 'only-chat',
            messages: [{ role: 'user', content }],
          })
        : (name === 'anthropic' ? anthropic : anthropicBefore)({ ...settings, maxRetries: 1 }).messages.create({
            model: 'only-messages',
            max_tokens: 16,
            messages: [{ role: 'user', content }],
          });
    const { status, message } = await failure(running);
    expect(status).toBe(502);
    expect(message).toContain('/status');
    expect(app.simulator.requests()).toHaveLength(2);
    expect(await settled(app, own)).toMatchObject([
      { cost: 0n, outcome: 'upstream_error' },
      { cost: 0n, outcome: 'upstream_error' },
    ]);
  });

  it("the vendor's own 400 keeps its wording", async () => {
    const content = '[[status 400 prompt is too long: 209000 tokens > 200000 maximum]]';
    const error = await failure(
      anthropic().messages.create({ model: 'only-messages', max_tokens: 16, messages: [{ role: 'user', content }] }),
    );
    expect(error).toBeInstanceOf(AnthropicError);
    expect(error.message).toContain('prompt is too long: 209000 tokens > 200000 maximum');
  });

  it('a client that gives up waiting has left', async () => {
    const own = await app.customer();
    const client = anthropic({ secret: own.secret });
    const leave = new AbortController();
    const running = client.messages.create(
      { model: 'only-messages', max_tokens: 16, messages: [{ role: 'user', content: '[[delay 3000]]' }] },
      { signal: leave.signal },
    );
    const ended = failure(running);
    await until(() => app.simulator.requests().length === 1);
    leave.abort();
    expect(await ended).toBeInstanceOf(AnthropicAbort);
    expect(await settled(app, own)).toMatchObject([{ outcome: 'client_closed' }]);
  });
});
