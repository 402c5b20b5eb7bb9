import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, Output, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog } from './support.ts';

/**
 * What the published clients can do beyond a plain turn, against every model: of their own protocol and translated. The
 * upstreams refuse what vendors refuse.
 */

// Its remarks about a model that it does not know would bury the report.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog({ features: 'effort: true, files: true' }),
    simulator: { strict: true, chunking: { split: 'random' } },
  });
  customer = await app.customer();
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

const models = ['only-messages', 'only-chat', 'only-responses'];

const openai = () => new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: customer.secret, baseURL: app.baseUrl, maxRetries: 0 });
const anthropicBefore = () =>
  new AnthropicBefore({ apiKey: customer.secret, baseURL: app.baseUrl, maxRetries: 0 }) as unknown as Anthropic;

const bill = z.object({ city: z.string(), total: z.number() });
const billed = { city: 'Huế', total: 12.5 };
const sayBill = `[[say ${JSON.stringify(billed)}]]`;

/** What the upstream was sent last. */
function sent(): Record<string, unknown> {
  const request = app.simulator.requests().at(-1);
  return JSON.parse(request?.body.toString() ?? '{}') as Record<string, unknown>;
}

/** The schema of the answer, wherever the upstream's protocol has it. */
function sentSchema(): unknown {
  const body = sent() as {
    output_config?: { format: { schema: unknown } };
    response_format?: { json_schema: { schema: unknown } };
    text?: { format: { schema: unknown } };
  };
  return (body.output_config?.format ?? body.response_format?.json_schema ?? body.text?.format)?.schema;
}
const asksForBill = { properties: { city: { type: 'string' }, total: { type: 'number' } } };

describe.each(models)('structured answers of %s', (model) => {
  it('openai, chat completions', async () => {
    const parsed = await openai().chat.completions.parse({
      model,
      messages: [{ role: 'user', content: sayBill }],
      response_format: zodResponseFormat(bill, 'bill'),
    });
    expect(parsed.choices[0]?.message.parsed).toEqual(billed);
    expect(sentSchema()).toMatchObject(asksForBill);
  });

  it('openai, responses', async () => {
    const parsed = await openai().responses.parse({
      model,
      input: sayBill,
      text: { format: zodTextFormat(bill, 'bill') },
    });
    expect(parsed.output_parsed).toEqual(billed);
    expect(sentSchema()).toMatchObject(asksForBill);
  });

  it('anthropic', async () => {
    const parsed = await anthropic().messages.parse({
      model,
      max_tokens: 500,
      messages: [{ role: 'user', content: sayBill }],
      output_config: { format: zodOutputFormat(bill) },
    });
    expect(parsed.parsed_output).toEqual(billed);
    expect(sentSchema()).toMatchObject(asksForBill);
  });

  it('ai', async () => {
    const { output } = await generateText({
      model: createOpenAICompatible({
        name: 'steyg',
        baseURL: `${app.baseUrl}/v1`,
        apiKey: customer.secret,
        supportsStructuredOutputs: true,
      })(model),
      prompt: sayBill,
      output: Output.object({ schema: bill }),
    });
    expect(output).toEqual(billed);
    expect(sentSchema()).toMatchObject(asksForBill);
  });

  it('langchain', async () => {
    const chat = new ChatOpenAI({
      model,
      apiKey: customer.secret,
      maxRetries: 0,
      configuration: { baseURL: `${app.baseUrl}/v1` },
    });
    expect(await chat.withStructuredOutput(bill, { method: 'jsonSchema', name: 'bill' }).invoke(sayBill)).toEqual(
      billed,
    );
    const messages = new ChatAnthropic({
      model,
      apiKey: customer.secret,
      maxRetries: 0,
      anthropicApiUrl: app.baseUrl,
      maxTokens: 500,
    });
    // By a call that the model is forced to make.
    const called = messages.withStructuredOutput(bill, { name: 'bill', method: 'functionCalling' });
    expect(await called.invoke(`[[tool bill ${JSON.stringify(billed)}]]`)).toEqual(billed);
  });
});

describe.each(models)('loops of parallel tools with %s', (model) => {
  // Outside of the messages protocol, vendors name calls as they like.
  const id = model === 'only-messages' ? '' : ' functions.look:1';
  const ask = `[[say looking]] [[tool look {"n":1}]] [[tool look {"n":2}${id}]] [[tool note {}]]`;

  it('openai runs them', async () => {
    const seen: string[] = [];
    const tool = (name: string) => ({
      type: 'function' as const,
      function: {
        name,
        description: name,
        parameters: { type: 'object', properties: {} },
        parse: JSON.parse,
        function: (args: object) => {
          seen.push(`${name} ${JSON.stringify(args)}`);
          return `${name} did it`;
        },
      },
    });
    const runner = openai().chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: 'user', content: ask }],
      tools: [tool('look'), tool('note')],
    });
    expect(await runner.finalContent()).toBe('tool done');
    expect(seen).toEqual(['look {"n":1}', 'look {"n":2}', 'note {}']);
  });

  it.each([
    ['1', anthropic],
    ['0', anthropicBefore],
  ])('anthropic %s runs them, in the beta namespace', async (_version, client) => {
    const seen: string[] = [];
    const tool = (name: string) => ({
      type: 'custom' as const,
      name,
      description: name,
      input_schema: { type: 'object' as const },
      parse: (input: unknown) => input,
      run: (input: unknown) => {
        seen.push(`${name} ${JSON.stringify(input)}`);
        return `${name} did it`;
      },
    });
    const runner = client().beta.messages.toolRunner({
      model,
      max_tokens: 2_000,
      messages: [{ role: 'user', content: ask }],
      tools: [tool('look'), tool('note')],
    });
    const last = await runner.runUntilDone();
    expect(last.content).toMatchObject([{ type: 'text', text: 'tool done' }]);
    expect(seen).toEqual(['look {"n":1}', 'look {"n":2}', 'note {}']);
  });

  it('the results may come back in any order, and failed', async () => {
    const question = { role: 'user' as const, content: ask };
    const tools = ['look', 'note'].map((name) => ({ name, input_schema: { type: 'object' as const } }));
    const first = await anthropic().messages.create({ model, max_tokens: 2_000, tools, messages: [question] });
    const results = first.content
      .filter((block) => block.type === 'tool_use')
      .map(({ id, name }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: `${name} did it`,
        is_error: true,
      }));
    expect(results).toHaveLength(3);
    const second = await anthropic().messages.create({
      model,
      max_tokens: 2_000,
      tools,
      messages: [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: results.toReversed() },
        { role: 'assistant', content: 'tool done' },
        { role: 'user', content: [{ type: 'text', text: 'ping' }] },
      ],
    });
    expect(second.content).toMatchObject([{ type: 'text', text: 'pong' }]);
  });
});

describe.each(models)('what is shown to %s', (model) => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const pdf = Buffer.from('%PDF-1.4\n%%EOF').toString('base64');

  it('openai: an image and a document', async () => {
    const completion = await openai().chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '[[say seen]]' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
          ],
        },
      ],
    });
    expect(completion.choices[0]?.message.content).toBe('seen');
    expect(JSON.stringify(sent())).toContain(png);
    expect(JSON.stringify(sent())).toContain(pdf);
  });

  it('anthropic: the same, and an image that a tool returned', async () => {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: png },
    };
    const message = await anthropic().messages.create({
      model,
      max_tokens: 500,
      tools: [{ name: 'shoot', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'shoot' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'shoot', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'here' }, image] },
            image,
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
            { type: 'text', text: '[[say seen]]' },
          ],
        },
      ],
    });
    expect(message.content).toMatchObject([{ type: 'text', text: 'seen' }]);
    expect(JSON.stringify(sent()).split(png)).toHaveLength(3);
    expect(JSON.stringify(sent())).toContain(pdf);
  });
});

describe.each(models)('thinking of %s', (model) => {
  it('ai shows it and sends it back', async () => {
    const provider = createAnthropic({ baseURL: `${app.baseUrl}/v1`, apiKey: customer.secret });
    const streamed = streamText({
      model: provider(model),
      maxRetries: 0,
      prompt: '[[think one two]] [[say three]]',
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
    });
    expect(await streamed.reasoningText).toBe('one two');
    const { messages } = await streamed.response;
    const again = await generateText({
      model: provider(model),
      maxRetries: 0,
      messages: [{ role: 'user', content: 'hm' }, ...messages, { role: 'user', content: 'ping' }],
    });
    expect(again.text).toBe('pong');
  });

  it('openai asks for an effort and gets a summary', async () => {
    const response = await openai()
      .responses.stream({
        model,
        input: '[[think one two]] [[say three]]',
        reasoning: { effort: 'low', summary: 'auto' },
      })
      .finalResponse();
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(response.output[0]).toMatchObject({ summary: [{ text: 'one two' }] });
    const after = await openai().responses.create({
      model,
      store: false,
      input: [{ role: 'user', content: 'hm' }, ...response.output, { role: 'user', content: 'ping' }] as never,
    });
    expect(after.output_text).toBe('pong');
  });
});

describe('a conversation that goes on with another model in the middle of every tool loop', () => {
  const orders = models.flatMap((first) =>
    models.filter((other) => other !== first).map((second) => [first, second, first, second] as const),
  );
  const ask = (model: string): string =>
    `[[think hm]] [[say looking]] [[tool look {"n":12345678901234567890}${model === 'only-messages' ? '' : ' functions.look:0'}]]`;
  const next = (order: readonly string[], index: number): string => order[(index + 1) % order.length] ?? '';

  it.each(orders)('anthropic, streamed: %s, %s and back', async (...order) => {
    const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
    const messages: Anthropic.MessageParam[] = [];
    const say = async (model: string) => {
      const body = { model, max_tokens: 4_000, tools, messages, thinking: { type: 'adaptive' as const } };
      const message = await anthropic().messages.stream(body).finalMessage();
      messages.push({ role: 'assistant', content: message.content });
      return message;
    };
    for (const [index, model] of order.entries()) {
      messages.push({ role: 'user', content: ask(model) });
      const call = (await say(model)).content.find((block) => block.type === 'tool_use');
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'seen' }] });
      expect((await say(next(order, index))).content.at(-1)).toMatchObject({ type: 'text', text: 'tool done' });
    }
  });

  it.each(orders)('openai, chat completions: %s, %s and back', async (...order) => {
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [];
    const say = async (model: string) => {
      const completion = await openai().chat.completions.create({ model, tools, messages, reasoning_effort: 'low' });
      const [choice] = completion.choices;
      if (choice === undefined) throw new Error('no choice');
      messages.push(choice.message);
      return choice.message;
    };
    for (const [index, model] of order.entries()) {
      messages.push({ role: 'user', content: ask(model) });
      const [call] = (await say(model)).tool_calls ?? [];
      expect(call).toMatchObject({ function: { arguments: '{"n":12345678901234567890}' } });
      messages.push({ role: 'tool', tool_call_id: call?.id ?? '', content: 'seen' });
      expect((await say(next(order, index))).content).toBe('tool done');
    }
  });

  it.each(orders)('openai, responses: %s, %s and back', async (...order) => {
    const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }];
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    const say = async (model: string) => {
      const response = await openai().responses.create({ model, tools, input, store: false });
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      return response;
    };
    for (const [index, model] of order.entries()) {
      input.push({ role: 'user', content: ask(model) });
      const call = (await say(model)).output.find((item) => item.type === 'function_call');
      expect(call?.arguments).toBe('{"n":12345678901234567890}');
      input.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'seen' });
      expect((await say(next(order, index))).output_text).toBe('tool done');
    }
  });
});
