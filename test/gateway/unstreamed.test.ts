import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeCatalog, protocols, send, settled, until } from './support.ts';

/** Answers that nothing can stop on the way: what the operator can lose by them, and what a client is told. */

/** An answer of 30,000 tokens. */
const answer = JSON.stringify({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'sim-medium',
  content: [{ type: 'text', text: 'x' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 30_000 },
});
/** Answers that the upstream has not given yet: it gives none of its own before the test says so. */
let waiting: (() => void)[] = [];
let waits = true;
/** From now on requests are answered at once; those that wait are, too. */
function release(): void {
  waits = false;
  for (const reply of waiting.splice(0)) reply();
}

let upstream: Server;
let app: TestApp;
beforeAll(async () => {
  upstream = createServer((request, reply) => {
    request.resume().on('end', () => {
      reply.setHeader('content-type', 'application/json');
      const give = (): void => void reply.end(answer);
      if (waits) waiting.push(give);
      else give();
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  // An answer of 30,000 tokens costs 3 USD.
  const catalog = nativeCatalog({ prices: '{ input: "1", cacheHit: "0.1", output: "100" }' });
  app = await startApp({
    catalog: () => catalog(url),
    env: { MAX_CONCURRENT_PER_KEY: '300', MAX_CONCURRENT_PER_ACCOUNT: '300', MAX_CONCURRENT_TRIAL: '300' },
  });
});
afterAll(async () => {
  await app.close();
  upstream.close();
});
beforeEach(() => {
  waiting = [];
  waits = true;
});

const ask = ({ secret }: Customer, more: Record<string, unknown> = {}) =>
  send(app, protocols.messages, {
    secret,
    text: 'ping',
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
    let answered = 0;
    const asked = Promise.all(
      Array.from({ length: count }, async () => {
        const response = await ask(customer);
        answered += 1;
        return response.status === 200 ? null : { status: response.status, error: await errorOf(response, 'messages') };
      }),
    );
    // All have been admitted or refused, and none has been charged.
    await until(() => answered + waiting.length === count);
    release();
    const answers = await asked;
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
    await until(() => waiting.length > 0);
    const fitting = await text();
    expect(fitting).toBeGreaterThan(1_000);
    const fits = ask(customer, { max_tokens: fitting, stream: false });
    await until(() => waiting.length > 1);
    release();
    expect((await fits).status).toBe(200);
    expect((await long).status).toBe(200);
    await settled(app, customer);
  });
});
