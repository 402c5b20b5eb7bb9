import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Customer } from '../support/app.ts';
import { attack, maxDelayMs, startTarget, type Target } from './support.ts';

/** An account that pays sends the largest bodies that are translated: others are served meanwhile, and none of them fails. */

const catalog = (simulatorUrl: string): string => `
upstreams:
  - { id: chat, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }
models:
  - { id: translated, displayName: Translated, family: simulated, contextWindow: 4000000, maxOutputTokens: 64000,
      capabilities: [tools], prices: { input: "0.01", cacheHit: "0.001", output: "0.01" },
      routes: [{ upstream: chat, model: sim-large }] }
`;

let target: Target;
let attacker: Customer;
let bystander: Customer;
beforeAll(async () => {
  target = await startTarget({ catalog });
  attacker = await target.customer({ usd: '1000' });
  bystander = await target.customer();
});
afterAll(() => target.close());

async function ask(secret: string, body: string): Promise<number> {
  const response = await fetch(`${target.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${secret}`,
    },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

/** As every published client library does: a request that is shed is sent again, twice at most. */
async function askAgain(secret: string, body: string): Promise<number> {
  for (let again = 0; again < 2; again += 1) {
    const status = await ask(secret, body);
    if (status !== 503) return status;
    await delay(1_000);
  }
  return ask(secret, body);
}

const request = (messages: unknown[], more: object = {}): string =>
  JSON.stringify({ model: 'translated', max_tokens: 4, messages, ...more });
const small = request([{ role: 'user', content: 'ping' }]);
const text = (type: string) => ({ type, text: 'some words of a document ' });

const bodies: Record<string, string> = {
  '6 MB of text': request([{ role: 'user', content: 'some words of a document '.repeat(250_000) }]),
  '15,000 blocks': request([{ role: 'user', content: Array.from({ length: 15_000 }, () => text('text')) }]),
  '6,000 tools': request([{ role: 'user', content: 'ping' }], {
    tools: Array.from({ length: 6_000 }, (_, at) => ({ name: `tool_${at}`, input_schema: { type: 'object' } })),
  }),
};

describe('bodies that are just small enough to be translated', () => {
  it.each(Object.keys(bodies))('6 at once of %s', async (name) => {
    const report = await attack(
      target,
      `translated: 6 bodies at once, ${name}`,
      async () => {
        const attacks = Promise.all(Array.from({ length: 6 }, () => ask(attacker.secret, bodies[name] ?? '')));
        const others: number[] = [];
        for (let turn = 0; turn < 10; turn += 1) others.push(await askAgain(bystander.secret, small));
        return { attacks: await attacks, others };
      },
      { figures: ({ others }) => ({ 'bystander failed': others.filter((status) => status !== 200).length }) },
    );
    expect(report.result.others).toEqual(Array.from({ length: 10 }, () => 200));
    expect(report.result.attacks.every((status) => status === 200 || status === 429 || status === 503)).toBe(true);
    expect(report.result.attacks).toContain(200);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});
