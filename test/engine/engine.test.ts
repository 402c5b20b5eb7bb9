import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyProtocol, type ProtocolCase, parseEvents, send, settled } from '../gateway/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { createDirectory } from '../support/directory.ts';
import { installEngine } from './install.ts';
import { writeTinyModel } from './tiny-model.ts';

/** A real engine as the upstream: llama.cpp with a tiny random model, behind a server that was not written here. */

let engine: ChildProcess;
let engineUrl: string;
let app: TestApp;

beforeAll(async () => {
  const packages = await installEngine();
  const model = join(createDirectory('steyg-engine-'), 'tiny.gguf');
  await writeTinyModel(model);
  const script = fileURLToPath(new URL('serve.ts', import.meta.url));
  engine = spawn(process.execPath, [script, packages, model], { stdio: ['ignore', 'pipe', 'inherit'] });
  engineUrl = `http://127.0.0.1:${await portOf(engine)}/openai/v1`;
  app = await startApp({ catalog });
});
afterAll(async () => {
  await app?.close();
  engine?.kill('SIGKILL');
});

function portOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    stdout?.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      const port = /^port (\d+)$/m.exec(said)?.[1];
      if (port !== undefined) resolve(port);
    });
    stdout?.on('end', () => reject(new Error(`the engine did not start: ${said}`)));
  });
}

function catalog(): string {
  return [
    'upstreams:',
    `  - { id: engine, protocol: chat-completions, baseUrl: "${engineUrl}", profile: llama.cpp }`,
    'models:',
    '  - id: tiny',
    '    displayName: Tiny',
    '    family: tests',
    '    contextWindow: 2048',
    '    maxOutputTokens: 512',
    '    prices: { input: "1", cacheHit: "0.1", output: "5" }',
    '    routes: [{ upstream: engine, model: tiny }]',
  ].join('\n');
}

async function ask(customer: Customer, client: ProtocolCase, more: Record<string, unknown>): Promise<string> {
  const response = await send(app, client, {
    secret: customer.secret,
    text: 'ping',
    more: { model: 'tiny', [client.cap]: 16, temperature: 1, ...more },
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

/** The tokens that an answer tells its client, by either protocol's names. */
function toldTokens(usage: unknown): [number, number] {
  const counts = usage as Record<string, number>;
  return [
    counts['prompt_tokens'] ?? counts['input_tokens'] ?? Number.NaN,
    counts['completion_tokens'] ?? counts['output_tokens'] ?? Number.NaN,
  ];
}

describe.each(everyProtocol)('$protocol', (client) => {
  test('an answer is relayed and charged by the counts that the engine reports', async () => {
    const customer = await app.customer();
    const answer = JSON.parse(await ask(customer, client, {})) as Record<string, unknown>;
    // A random model may end before it has said a word.
    expect(client.text(answer) ?? '').toEqual(expect.any(String));
    expect(answer['model']).toBe('tiny');
    const [input, output] = toldTokens(answer['usage']);
    expect([input, output].every((count) => count > 0)).toBe(true);
    expect(await settled(app, customer)).toMatchObject([
      { outcome: 'completed', usage_source: 'reported', input: BigInt(input), output: BigInt(output) },
    ]);
  });

  test('a stream is relayed to its end and charged by the counts that the engine reports', async () => {
    const customer = await app.customer();
    const text = await ask(customer, client, { stream: true });
    expect(text).toContain(client.terminator.replace('response.completed', 'response.'));
    expect(parseEvents(text).length).toBeGreaterThan(3);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
  });
});

describe('published clients', () => {
  const messages = [{ role: 'user' as const, content: 'ping' }];

  test('OpenAI’s', async () => {
    const { secret } = await app.customer();
    const openai = new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: secret, maxRetries: 0 });
    const ping = { model: 'tiny', max_completion_tokens: 16, temperature: 1, messages };
    const whole = await openai.chat.completions.create(ping);
    expect(whole.choices).toMatchObject([{ message: { content: expect.any(String) }, finish_reason: 'stop' }]);
    const streamed = await openai.chat.completions.stream(ping).finalChatCompletion();
    expect(streamed.choices).toMatchObject([{ message: { content: expect.any(String) }, finish_reason: 'stop' }]);
  });

  test('Anthropic’s', async () => {
    const { secret } = await app.customer();
    // The newer version has no sampling, without which the model would repeat one letter for ever.
    const defaultHeaders = { 'anthropic-version': '2023-06-01' };
    const anthropic = new Anthropic({
      baseURL: app.baseUrl,
      authToken: secret,
      apiKey: null,
      maxRetries: 0,
      defaultHeaders,
    });
    const ping = { model: 'tiny', max_tokens: 16, temperature: 1, messages };
    expect(await anthropic.messages.create(ping)).toMatchObject({ type: 'message', stop_reason: 'end_turn' });
    const streamed = await anthropic.messages.stream(ping).finalMessage();
    expect(streamed).toMatchObject({ type: 'message', stop_reason: 'end_turn' });
  });
});
