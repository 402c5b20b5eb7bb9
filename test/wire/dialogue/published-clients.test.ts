import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import { generateText, jsonSchema, streamText, type ToolSet, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../../server/core/protocol.ts';
import { wireFor } from '../../../server/wire/wires.ts';
import { opened } from '../fixtures.ts';
import { bytes, contextWith, factsOf, sse } from './support.ts';

/** One answer, as each upstream protocol says it: reasoning, text, two parallel calls. */
const UPSTREAM: Record<Protocol, { whole: unknown; events: (string | Record<string, unknown>)[] }> = {
  'chat-completions': {
    whole: {
      model: 'up-1',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Grüß Gott 🙂',
            reasoning_content: 'Hm…',
            tool_calls: [
              { id: 'f:0', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } },
              { id: 'f:1', type: 'function', function: { name: 'look', arguments: '{"at":"y"}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 110,
        prompt_tokens_details: { cached_tokens: 60 },
      },
    },
    events: [
      ...[
        { role: 'assistant', content: '' },
        { reasoning_content: 'Hm…' },
        { content: 'Grüß ' },
        { content: 'Gott 🙂' },
        { tool_calls: [{ index: 0, id: 'f:0', type: 'function', function: { name: 'look', arguments: '{"at":' } }] },
        { tool_calls: [{ index: 1, id: 'f:1', type: 'function', function: { name: 'look', arguments: '{"at":"y"' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"x"}' } }] },
        { tool_calls: [{ index: 1, function: { arguments: '}' } }] },
      ].map((delta) => ({ model: 'up-1', choices: [{ index: 0, delta, finish_reason: null }] })),
      { model: 'up-1', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      {
        model: 'up-1',
        choices: [],
        usage: { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 60 } },
      },
      '[DONE]',
    ],
  },
  messages: {
    whole: {
      type: 'message',
      model: 'up-1',
      content: [
        { type: 'thinking', thinking: 'Hm…', signature: 'c2ln' },
        { type: 'text', text: 'Grüß Gott 🙂' },
        { type: 'tool_use', id: 'f0', name: 'look', input: { at: 'x' } },
        { type: 'tool_use', id: 'f1', name: 'look', input: { at: 'y' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 10 },
    },
    events: [
      {
        type: 'message_start',
        message: {
          model: 'up-1',
          content: [],
          usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 1 },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm…' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüß Gott 🙂' } },
      { type: 'content_block_stop', index: 1 },
      ...['x', 'y'].flatMap((at, call) => [
        {
          type: 'content_block_start',
          index: 2 + call,
          content_block: { type: 'tool_use', id: `f${call}`, name: 'look', input: {} },
        },
        {
          type: 'content_block_delta',
          index: 2 + call,
          delta: { type: 'input_json_delta', partial_json: `{"at":"${at}"}` },
        },
        { type: 'content_block_stop', index: 2 + call },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ],
  },
  responses: {
    whole: {
      model: 'up-1',
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm…' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Grüß Gott 🙂' }] },
        { type: 'function_call', call_id: 'f0', name: 'look', arguments: '{"at":"x"}' },
        { type: 'function_call', call_id: 'f1', name: 'look', arguments: '{"at":"y"}' },
      ],
      usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 10 },
    },
    events: [
      { type: 'response.created', response: { model: 'up-1' } },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm…' },
      { type: 'response.output_text.delta', output_index: 1, delta: 'Grüß Gott 🙂' },
      ...['x', 'y'].flatMap((at, call) => [
        {
          type: 'response.output_item.added',
          output_index: 2 + call,
          item: { type: 'function_call', call_id: `f${call}`, name: 'look', arguments: '' },
        },
        { type: 'response.function_call_arguments.delta', output_index: 2 + call, delta: `{"at":"${at}"}` },
        {
          type: 'response.output_item.done',
          output_index: 2 + call,
          item: { type: 'function_call', call_id: `f${call}`, name: 'look', arguments: `{"at":"${at}"}` },
        },
      ]),
      {
        type: 'response.completed',
        response: {
          model: 'up-1',
          status: 'completed',
          usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 10 },
        },
      },
    ],
  },
};

/** Stands where the network is: the client's own request is translated up, the upstream's answer down, in small pieces. */
function gateway(client: Protocol, upstream: Protocol, { failAfter }: { failAfter?: number } = {}): typeof fetch {
  return async (_input, init) => {
    const raw = bytes(init?.body as string);
    const facts = factsOf(client, raw);
    const exchange = opened(wireFor(client, upstream).request(raw, facts, contextWith()));
    if (!facts.stream) {
      const { body } = exchange.reply(bytes(JSON.stringify(UPSTREAM[upstream].whole)));
      return new Response(Uint8Array.from(body), { headers: { 'content-type': 'application/json' } });
    }
    const stream = exchange.stream();
    const events = bytes(sse(upstream, UPSTREAM[upstream].events.slice(0, failAfter)));
    const out: Uint8Array[] = [];
    for (let at = 0; at < events.length; at += 7) out.push(stream.write(events.slice(at, at + 7)));
    out.push(stream.end());
    if (stream.state !== 'terminated') {
      out.push(
        stream.stop({ reason: 'upstream', status: 529, type: 'overloaded_error', message: 'The model went away.' }),
      );
    }
    return new Response(Uint8Array.from(Buffer.concat(out)), { headers: { 'content-type': 'text/event-stream' } });
  };
}

const clientSettings = { apiKey: 'sk-test', baseURL: 'http://gateway.test/v1', maxRetries: 0 };
const messageRequest = {
  model: 'cat-1',
  max_tokens: 3000,
  messages: [{ role: 'user' as const, content: 'Hi' }],
  tools: [{ name: 'look', input_schema: { type: 'object' as const, properties: { at: { type: 'string' } } } }],
};
const chatRequest = {
  model: 'cat-1',
  messages: [{ role: 'user' as const, content: 'Hi' }],
  tools: [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
};

const inputs = [{ at: 'x' }, { at: 'y' }];

describe.each(['chat-completions', 'responses'] as const)('%s upstream', (upstream) => {
  const fetch = gateway('messages', upstream);
  const sdks: [string, (given: typeof fetch) => Anthropic][] = [
    ['@anthropic-ai/sdk 1.x', (given) => new Anthropic({ ...clientSettings, fetch: given })],
    [
      '@anthropic-ai/sdk 0.x',
      (given) => new AnthropicBefore({ ...clientSettings, fetch: given }) as unknown as Anthropic,
    ],
  ];

  describe.each(sdks)('%s', (_name, sdkWith) => {
    test.each([true, false])('52 reads the answer (streamed: %s)', async (streamed) => {
      const { messages } = sdkWith(fetch);
      const message = streamed
        ? await messages.stream(messageRequest).finalMessage()
        : await messages.create(messageRequest);
      expect(message).toMatchObject({
        model: 'cat-1',
        stop_reason: 'tool_use',
        content: [
          { type: 'thinking', thinking: 'Hm…', signature: expect.stringMatching(/^gw1\./) },
          { type: 'text', text: 'Grüß Gott 🙂' },
          { type: 'tool_use', name: 'look', input: inputs[0] },
          { type: 'tool_use', name: 'look', input: inputs[1] },
        ],
        usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 10 },
      });
    });

    test('27 28 hears of a cut', async () => {
      const { messages } = sdkWith(gateway('messages', upstream, { failAfter: 3 }));
      await expect(messages.stream(messageRequest).finalMessage()).rejects.toThrow(/The model went away/);
    });
  });

  test('@ai-sdk/anthropic reads the answer, streamed and whole', async () => {
    const model = createAnthropic({ apiKey: 'sk-test', baseURL: 'http://gateway.test/v1', fetch })('cat-1');
    await expectAiAnswer(model);
  });
});

describe.each(['messages', 'responses'] as const)('%s upstream', (upstream) => {
  const fetch = gateway('chat-completions', upstream);
  const openai = (given: typeof fetch) => new OpenAI({ ...clientSettings, fetch: given });
  const expected = {
    model: 'cat-1',
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          content: 'Grüß Gott 🙂',
          tool_calls: [
            { id: 'f0', function: { name: 'look', arguments: '{"at":"x"}' } },
            { id: 'f1', function: { name: 'look', arguments: '{"at":"y"}' } },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 60 } },
  };

  test('openai reads the answer, streamed and whole', async () => {
    const { completions } = openai(fetch).chat;
    expect(await completions.create(chatRequest)).toMatchObject(expected);
    const stream = completions.stream({ ...chatRequest, stream_options: { include_usage: true } });
    expect(await stream.finalChatCompletion()).toMatchObject(expected);
  });

  test('27 28 openai hears of a cut', async () => {
    const { completions } = openai(gateway('chat-completions', upstream, { failAfter: 3 })).chat;
    await expect(completions.stream(chatRequest).finalChatCompletion()).rejects.toThrow(/The model went away/);
  });

  test('@ai-sdk/openai-compatible reads the answer, streamed and whole', async () => {
    const settings = {
      name: 'gateway',
      apiKey: 'sk-test',
      baseURL: 'http://gateway.test/v1',
      includeUsage: true,
      fetch,
    };
    await expectAiAnswer(createOpenAICompatible(settings)('cat-1'));
  });
});

describe.each(['messages', 'chat-completions'] as const)('%s upstream', (upstream) => {
  const request = {
    model: 'cat-1',
    input: 'Hi',
    tools: [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }],
  };

  test('openai reads the response, streamed and whole', async () => {
    const { responses } = new OpenAI({ ...clientSettings, fetch: gateway('responses', upstream) });
    const expected = {
      model: 'cat-1',
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ text: 'Hm…' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Grüß Gott 🙂' }] },
        { type: 'function_call', name: 'look', arguments: '{"at":"x"}' },
        { type: 'function_call', name: 'look', arguments: '{"at":"y"}' },
      ],
      output_text: 'Grüß Gott 🙂',
      usage: { input_tokens: 100, output_tokens: 10, input_tokens_details: { cached_tokens: 60 } },
    };
    expect(await responses.create(request)).toMatchObject(expected);
    expect(await responses.stream(request).finalResponse()).toMatchObject(expected);
  });

  test('27 28 openai hears of a cut', async () => {
    const { responses } = new OpenAI({ ...clientSettings, fetch: gateway('responses', upstream, { failAfter: 3 }) });
    const events: string[] = [];
    for await (const event of await responses.create({ ...request, stream: true })) events.push(event.type);
    expect(events.at(-1)).toBe('response.failed');
  });
});

async function expectAiAnswer(model: Parameters<typeof generateText>[0]['model']): Promise<void> {
  const inputSchema = jsonSchema<{ at: string }>({ type: 'object', properties: { at: { type: 'string' } } });
  // The library's types leave out an `undefined` that this project's compiler settings want spelled.
  const look = tool({ inputSchema }) as ToolSet[string];
  const ask = { model, prompt: 'Hi', maxRetries: 0, maxOutputTokens: 3000 };
  const whole = await generateText({ ...ask, tools: { look } });
  const stream = streamText({ ...ask, tools: { look }, onError: () => undefined });
  const streamed = {
    text: await stream.text,
    reasoningText: await stream.reasoningText,
    toolCalls: await stream.toolCalls,
    finishReason: await stream.finishReason,
    usage: await stream.usage,
  };
  for (const answer of [whole, streamed]) {
    expect(answer).toMatchObject({ text: 'Grüß Gott 🙂', reasoningText: 'Hm…', finishReason: 'tool-calls' });
    expect(answer.toolCalls.map(({ input }) => input)).toEqual(inputs);
    expect(answer.usage).toMatchObject({ inputTokens: 100, outputTokens: 10 });
  }
}
