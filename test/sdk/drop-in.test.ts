/** The settings for the vendors' own packages. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { asked, clientOf } from './support.ts';

let app: TestApp;
let steyg: ReturnType<typeof clientOf>;

beforeAll(async () => {
  app = await startApp();
  steyg = clientOf(app, await app.customer());
  // What lies around in a shell must not win over what is handed over.
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])
    vi.stubEnv(name, 'sk-of-somebody-else');
  for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']) vi.stubEnv(name, 'https://elsewhere.invalid/v1');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await app.close();
});

describe('the vendors’ own packages, pointed here', () => {
  it('openai: chat completions, responses, models', async () => {
    const openai = new OpenAI(steyg.openai());
    const completion = await openai.chat.completions.create({
      model: 'sim-small',
      messages: [{ role: 'user', content: '[[say a]]' }],
    });
    expect(completion.choices[0]?.message.content).toBe('a');
    expect((await openai.responses.create(asked.responses('[[say b]]'))).output_text).toBe('b');
    expect((await openai.models.list()).data.map(({ id }) => id)).toContain('sim-small');
  });

  it('@anthropic-ai/sdk, of today and before 1.0: messages', async () => {
    const today = await new Anthropic(steyg.anthropic()).messages.create(asked.messages('[[say a]]'));
    const before = await new AnthropicBefore(steyg.anthropic()).messages.create(asked.messages('[[say b]]'));
    expect([today.content, before.content]).toMatchObject([[{ text: 'a' }], [{ text: 'b' }]]);
  });

  it('the AI SDK: both providers, whole and streamed', async () => {
    const { openaiCompatible, anthropic } = steyg.aiSdk();
    for (const model of [
      createOpenAICompatible(openaiCompatible)('sim-small'),
      createAnthropic(anthropic)('sim-small'),
    ]) {
      expect((await generateText({ model, prompt: '[[say a]]' })).text).toBe('a');
      const stream = streamText({ model, prompt: '[[len 3]]' });
      expect(await stream.text).toBe('w0 w1 w2');
      expect((await stream.usage).outputTokens).toBeGreaterThan(0);
    }
  });
});
