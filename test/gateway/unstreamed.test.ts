import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeCatalog, protocols, send, settled, until } from './support.ts';

/** Answers that nothing can stop on the way: what the operator can lose by them, and what a client is told. */

let app: TestApp;
beforeAll(async () => {
  // An answer of 30,000 tokens costs 3 USD.
  app = await startApp({
    catalog: nativeCatalog({ prices: '{ input: "1", cacheHit: "0.1", output: "100" }' }),
    env: { MAX_CONCURRENT_PER_KEY: '300', MAX_CONCURRENT_PER_ACCOUNT: '300', MAX_CONCURRENT_TRIAL: '300' },
  });
});
afterAll(() => app.close());

const usage = JSON.stringify({ input_tokens: 10, output_tokens: 30_000 });
const ask = ({ secret }: Customer, more: Record<string, unknown> = {}) =>
  send(app, protocols.messages, {
    secret,
    text: `[[delay 2500]][[say x]][[usage ${usage}]]`,
    more: { model: 'only-messages', max_tokens: 30_000, ...more },
  });

async function lossOf(customer: Customer): Promise<bigint> {
  const rows = await settled(app, customer);
  return rows.reduce((sum, row) => sum + (row['cost'] as bigint) - (row['charged'] as bigint), 0n);
}

describe('many requests at once that are not streamed', () => {
  it.each([
    ['4', 60],
    ['2', 32],
    ['0.05', 8],
  ])('on %s USD, %i at once: the operator loses at most the overrun of one', async (usd, count) => {
    const customer = await app.customer({ usd });
    const answers = await Promise.all(
      Array.from({ length: count }, async () => {
        const response = await ask(customer);
        return response.status === 200 ? null : { status: response.status, error: await errorOf(response, 'messages') };
      }),
    );
    const refused = answers.filter((answer) => answer !== null);
    expect(refused.length).toBeLessThan(count);
    // Waiting helps: when the one that is not covered has ended, another one may run.
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    for (const { error } of refused) expect(error).toMatchObject({ affordable_max_tokens: expect.any(Number) });
    expect(await lossOf(customer)).toBeLessThan(3_000_000_000_000n + 10_000_000_000n);
  });

  it('and what is told to fit does fit', async () => {
    const customer = await app.customer({ usd: '1' });
    const long = ask(customer);
    const text = async () => {
      const response = await ask(customer);
      expect(response.status).toBe(429);
      return Number((await errorOf(response, 'messages'))['affordable_max_tokens']);
    };
    await until(() => app.simulator.stats().openRequests > 0);
    const fitting = await text();
    expect(fitting).toBeGreaterThan(1_000);
    expect((await ask(customer, { max_tokens: fitting, stream: false })).status).toBe(200);
    expect((await long).status).toBe(200);
    await settled(app, customer);
  });
});
