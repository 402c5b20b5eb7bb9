/** The AI SDK as a client of the simulator. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { dynamicTool, generateText, jsonSchema, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { fastSimulator } from './clients.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await fastSimulator({ chunking: { split: 'random' } });
});
afterAll(() => simulator.close());

// Its remarks about a model that it does not know would bury the report.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** These clients check every event and answer against a schema, which the vendors' own SDKs do not. */
const MODELS = [
  {
    name: 'messages',
    model: () => createAnthropic({ baseURL: `${simulator.url}/v1`, apiKey: 'sk-test' })('sim-large'),
  },
  {
    name: 'chat completions',
    model: () =>
      createOpenAICompatible({ name: 'sim', baseURL: `${simulator.url}/v1`, apiKey: 'sk-test', includeUsage: true })(
        'sim-large',
      ),
  },
];

describe.each(MODELS)('the AI SDK over $name', ({ model }) => {
  const prompt = '[[think let me think]] [[say đây]] [[tool weather {"city":"Huế"}]]';
  const tools = { weather: dynamicTool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => null }) };
  const expected = {
    text: 'đây',
    reasoning: 'let me think',
    calls: [{ toolName: 'weather', input: { city: 'Huế' } }],
    finish: 'tool-calls',
  };

  it('reads a whole answer', async () => {
    const result = await generateText({ model: model(), prompt, tools, maxRetries: 0 });
    expect({
      text: result.text,
      reasoning: result.reasoningText,
      calls: result.toolCalls,
      finish: result.finishReason,
    }).toMatchObject(expected);
    expect(result.usage.outputTokens).toBeGreaterThan(5);
  });

  it('reads a stream', async () => {
    const result = streamText({ model: model(), prompt, tools, maxRetries: 0 });
    const [text, reasoning, calls, finish, usage] = await Promise.all([
      result.text,
      result.reasoningText,
      result.toolCalls,
      result.finishReason,
      result.usage,
    ]);
    expect({ text, reasoning, calls, finish }).toMatchObject(expected);
    expect(usage.inputTokens).toBeGreaterThan(5);
  });
});
