import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import OlderAnthropic from '@anthropic-ai/sdk-0';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import type { StreamEnd } from '../../server/wire/protocol.ts';
import { dataEvents, exchangeWith, namedEvents } from './fixtures.ts';

/** What published clients make of streams that went through the gateway's hands, whole or ended by it. */

const messagesStart = namedEvents(
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up-1',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 25, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 💥' } },
);
const messagesFinish = namedEvents(
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 12 } },
);
const messagesEnd = namedEvents({ type: 'message_stop' });

const chatChunk = (choices: unknown[], usage: unknown = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'up-1',
  choices,
  usage,
});
const chatStart = dataEvents(
  chatChunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  chatChunk([{ index: 0, delta: { content: 'Grüße 💥' }, finish_reason: null }]),
);
const chatFinish = dataEvents(
  chatChunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chatChunk([], { prompt_tokens: 25, completion_tokens: 12, total_tokens: 37 }),
);
const chatEnd = dataEvents('[DONE]');

const response = { id: 'resp_1', object: 'response', created_at: 5, model: 'up-1', status: 'in_progress', output: [] };
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
const part = { type: 'output_text', text: '', annotations: [] };
const responsesStart = namedEvents(
  { type: 'response.created', sequence_number: 0, response },
  { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
  {
    type: 'response.content_part.added',
    sequence_number: 2,
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part,
  },
  {
    type: 'response.output_text.delta',
    sequence_number: 3,
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: 'Grüße 💥',
  },
);
const doneItem = { ...item, status: 'completed', content: [{ ...part, text: 'Grüße 💥' }] };
const responsesFinish = namedEvents(
  { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item: doneItem },
  {
    type: 'response.completed',
    sequence_number: 5,
    response: {
      ...response,
      status: 'completed',
      output: [doneItem],
      usage: { input_tokens: 25, output_tokens: 12, total_tokens: 37 },
    },
  },
);

const cutShort: StreamEnd = { reason: 'upstream', status: 502, type: 'api_error', message: 'The model broke off.' };
const overBudget: StreamEnd = {
  reason: 'budget',
  usage: { input: 25, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 3 },
};

/** A `fetch` that answers with an upstream's stream as the gateway relays it, in chunks of a few bytes. */
function gateway(protocol: Protocol, upstream: string, end?: StreamEnd): typeof fetch {
  return async (_address, init) => {
    const body = JSON.parse(await new Response(init?.body ?? null).text()) as Record<string, unknown>;
    const stream = exchangeWith(protocol, { ...body, model: 'big-1' }, { upstreamModel: 'up-1' }).stream();
    const bytes = Buffer.from(upstream);
    const parts: Uint8Array[] = [stream.keepAlive];
    for (let at = 0; at < bytes.length; at += 7) {
      parts.push(stream.write(bytes.subarray(at, at + 7)));
      if (at % 49 === 0) parts.push(stream.keepAlive);
    }
    parts.push(stream.end());
    if (end !== undefined) parts.push(stream.stop(end));
    return new Response(Buffer.concat(parts), { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  };
}

const prompt = [{ role: 'user' as const, content: 'hi' }];

describe.each([
  ['@anthropic-ai/sdk 1', Anthropic],
  ['@anthropic-ai/sdk 0', OlderAnthropic as unknown as typeof Anthropic],
])('%s', (_name, Client) => {
  const finalMessage = (upstream: string, end?: StreamEnd) =>
    new Client({
      apiKey: 'k',
      baseURL: 'http://gateway.test',
      fetch: gateway('messages', upstream, end),
      maxRetries: 0,
    }).messages
      .stream({ model: 'big-1', max_tokens: 100, messages: prompt })
      .finalMessage();

  test('reads a whole stream', async () => {
    expect(await finalMessage(messagesStart + messagesFinish + messagesEnd)).toMatchObject({
      model: 'big-1',
      content: [{ type: 'text', text: 'Grüße 💥' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 25, output_tokens: 12 },
    });
  });

  test('reads a stream whose terminator the gateway had to add', async () => {
    expect(await finalMessage(messagesStart + messagesFinish, cutShort)).toMatchObject({ stop_reason: 'end_turn' });
  });

  test('reads a stream that the budget ended', async () => {
    expect(await finalMessage(messagesStart, overBudget)).toMatchObject({
      content: [{ type: 'text', text: 'Grüße 💥' }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 25, output_tokens: 3 },
    });
  });

  test('reads a stream that the budget ended before it began', async () => {
    expect(await finalMessage('', overBudget)).toMatchObject({
      model: 'big-1',
      content: [],
      stop_reason: 'max_tokens',
    });
  });

  test('throws on a stream that broke off', async () => {
    await expect(finalMessage(messagesStart, cutShort)).rejects.toThrow('The model broke off.');
  });
});

const chatClient = (upstream: string, end?: StreamEnd) =>
  new OpenAI({
    apiKey: 'k',
    baseURL: 'http://gateway.test/v1',
    fetch: gateway('chat-completions', upstream, end),
    maxRetries: 0,
  });

const finalCompletion = (upstream: string, end?: StreamEnd) =>
  chatClient(upstream, end).chat.completions.stream({ model: 'big-1', messages: prompt }).finalChatCompletion();

describe('openai, chat completions', () => {
  test('reads a whole stream, and sees no usage it did not ask for', async () => {
    const completion = await finalCompletion(chatStart + chatFinish + chatEnd);
    expect(completion).toMatchObject({
      model: 'big-1',
      choices: [{ message: { content: 'Grüße 💥' }, finish_reason: 'stop' }],
    });
    expect(completion.usage).toBeUndefined();
  });

  test('sees the usage it asked for, once', async () => {
    const stream = await chatClient(chatStart + chatFinish + chatEnd).chat.completions.create({
      model: 'big-1',
      messages: prompt,
      stream: true,
      stream_options: { include_usage: true },
    });
    const usages = [];
    for await (const { usage } of stream) usages.push(usage);
    expect(usages.filter((usage) => usage !== null)).toEqual([
      { prompt_tokens: 25, completion_tokens: 12, total_tokens: 37 },
    ]);
  });

  test('reads a stream that the budget ended', async () => {
    // The client's own helper throws on `length`, so the raw chunks are read.
    const stream = await chatClient(chatStart, overBudget).chat.completions.create({
      model: 'big-1',
      messages: prompt,
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = '';
    let reason: string | null = null;
    let completionTokens: number | undefined;
    for await (const { choices, usage } of stream) {
      content += choices[0]?.delta.content ?? '';
      reason = choices[0]?.finish_reason ?? reason;
      completionTokens = usage?.completion_tokens ?? completionTokens;
    }
    expect({ content, reason, completionTokens }).toEqual({
      content: 'Grüße 💥',
      reason: 'length',
      completionTokens: 3,
    });
  });

  test('reads a stream whose terminator the gateway had to add', async () => {
    expect(await finalCompletion(chatStart + chatFinish, cutShort)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
    });
  });

  test('throws on a stream that broke off', async () => {
    await expect(finalCompletion(chatStart, cutShort)).rejects.toThrow('The model broke off.');
  });
});

const finalResponse = (upstream: string, end?: StreamEnd) =>
  new OpenAI({
    apiKey: 'k',
    baseURL: 'http://gateway.test/v1',
    fetch: gateway('responses', upstream, end),
    maxRetries: 0,
  }).responses
    .stream({ model: 'big-1', input: 'hi' })
    .finalResponse();

describe('openai, responses', () => {
  test('reads a whole stream', async () => {
    expect(await finalResponse(responsesStart + responsesFinish)).toMatchObject({
      model: 'big-1',
      status: 'completed',
      output_text: 'Grüße 💥',
    });
  });

  test('reads a stream that the budget ended', async () => {
    expect(await finalResponse(responsesStart, overBudget)).toMatchObject({
      id: 'resp_1',
      model: 'big-1',
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'Grüße 💥',
      usage: { output_tokens: 3 },
    });
  });

  test('is told of a stream that broke off', async () => {
    const outcome = await finalResponse(responsesStart, cutShort).then(
      ({ status, error }) => ({ status, message: error?.message }),
      (error: unknown) => ({ status: 'failed', message: String(error) }),
    );
    expect(outcome.status).toBe('failed');
    expect(outcome.message).toContain('The model broke off.');
  });
});

describe.each([
  [
    'anthropic',
    messagesStart,
    messagesFinish + messagesEnd,
    (upstream: string, end?: StreamEnd) =>
      createAnthropic({ apiKey: 'k', baseURL: 'http://gateway.test/v1', fetch: gateway('messages', upstream, end) })(
        'big-1',
      ),
  ],
  [
    'openai-compatible',
    chatStart,
    chatFinish + chatEnd,
    (upstream: string, end?: StreamEnd) =>
      createOpenAICompatible({
        name: 'steyg',
        apiKey: 'k',
        baseURL: 'http://gateway.test/v1',
        includeUsage: true,
        fetch: gateway('chat-completions', upstream, end),
      })('big-1'),
  ],
] as const)('ai, %s', (_name, start, finish, model) => {
  async function outcome(upstream: string, end?: StreamEnd) {
    const errors: unknown[] = [];
    const result = streamText({
      model: model(upstream, end),
      prompt: 'hi',
      maxOutputTokens: 100,
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    let text = '';
    let reason: string | null = null;
    let outputTokens: number | undefined;
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') text += part.text;
      if (part.type === 'finish') {
        reason = part.finishReason;
        outputTokens = part.totalUsage.outputTokens;
      }
    }
    return { text, reason, outputTokens, errors: errors.length };
  }

  test('reads a whole stream', async () => {
    expect(await outcome(start + finish)).toEqual({ text: 'Grüße 💥', reason: 'stop', outputTokens: 12, errors: 0 });
  });

  test('reads a stream that the budget ended', async () => {
    expect(await outcome(start, overBudget)).toEqual({
      text: 'Grüße 💥',
      reason: 'length',
      outputTokens: 3,
      errors: 0,
    });
  });

  test('is told of a stream that broke off', async () => {
    expect(await outcome(start, cutShort)).toMatchObject({ text: 'Grüße 💥', errors: 1 });
  });
});
