import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { reader, settled, until } from '../gateway/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { ask, catalogFile, directions, errorIn, oneRouteEach, post, postPatiently, protocols } from './support.ts';

/** Budgets that run out or expire, price changes and lost access while requests run. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: (url) => {
      const { upstreams, models } = oneRouteEach(url);
      return catalogFile({
        upstreams,
        models: models.map((model) => ({ ...model, prices: { input: '10', cacheHit: '1', output: '50' } })),
      });
    },
  });
});
afterAll(() => app.close());
// After every test, whatever it did with the money.
afterEach(async () => {
  const broken = await checkInvariants(app.pool, { accounts: null });
  if (broken.length > 0) throw new Error(JSON.stringify(broken));
});

const messages = { client: protocols.messages, model: 'on-messages', stream: true };
const slow = '[[len 40]][[speed 60]]';

/** A stream that has begun, and can be read to its end. */
async function begun(customer: Customer, text = slow, direction = messages) {
  const response = await post(app, customer.secret, direction, text);
  expect(response.status).toBe(200);
  const stream = reader(response);
  await stream.until(/w1"/);
  return stream;
}

async function balance({
  accountId,
}: Customer): Promise<{ free: bigint; held: bigint; spent: bigint; expired: bigint }> {
  const { rows } = await app.pool.query(
    `SELECT sum(amount - spent - held - expired)::bigint AS free, sum(held)::bigint AS held,
            sum(spent)::bigint AS spent, sum(expired)::bigint AS expired FROM "grant" WHERE account_id = $1`,
    [accountId],
  );
  return rows[0];
}

describe('200 requests at once on 0.01 USD', () => {
  it('never charge more, wait with 429 while the rest is reserved, and end with 402', async () => {
    const customer = await app.customer({ usd: '0.01' });
    const granted = 10_000_000_000n;
    const enough = new AbortController();
    const lowest: bigint[] = [];
    const watch = (async () => {
      while (!enough.signal.aborted) lowest.push((await balance(customer)).free);
    })();
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_none, index) => {
        const direction = { ...messages, stream: index % 2 === 0 };
        const text = '[[len 20]][[speed 100]]';
        const response = await postPatiently(app, customer.secret, direction, text, { max_tokens: 40 });
        return { status: response.status, headers: response.headers, text: await response.text() };
      }),
    );
    const by = (status: number) => answers.filter((answer) => answer.status === status);
    expect(answers.filter(({ status }) => ![200, 429, 402].includes(status))).toEqual([]);
    expect(by(200).length).toBeGreaterThan(0);
    // How many come while the rest is reserved, and how many once it is spent, depends on how fast the machine is.
    expect(by(429).length).toBeGreaterThan(0);
    for (const { headers, text } of by(429)) {
      expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['1', null]);
      expect(errorIn(text)).toMatchObject({ type: 'rate_limit_error', held_usd: expect.stringMatching(/^0\.\d+$/) });
    }

    // One after the other until the rest is spent.
    let last = 200;
    for (let i = 0; i < 50 && last === 200; i += 1) {
      const response = await postPatiently(app, customer.secret, messages, '[[len 20]]', { max_tokens: 40 });
      await response.text();
      await app.quiet(customer.accountId);
      last = response.status;
    }
    expect(last).toBe(402);
    enough.abort();
    await watch;
    const rows = await settled(app, customer);
    const charged = rows.reduce((sum, row) => sum + (row['charged'] as bigint), 0n);
    expect(charged).toBeLessThanOrEqual(granted);
    expect(charged).toBeGreaterThan((granted * 8n) / 10n);
    expect(lowest.filter((free) => free < 0n)).toEqual([]);
    expect((await balance(customer)).spent).toBe(charged);
  });
});

/** How each protocol ends an answer that hit its limit of tokens. */
const endings = {
  messages: ['"stop_reason":"max_tokens"', 'event: message_stop'],
  'chat-completions': ['"finish_reason":"length"', 'data: [DONE]'],
  responses: ['"max_output_tokens"', 'event: response.incomplete'],
};

describe('a budget that runs out in mid-stream', () => {
  it.concurrent.each(directions.filter(({ stream }) => stream))('$name', async (direction) => {
    const { protocol } = direction.client;
    const got = await ask(app, direction, '[[len 4000]]', { usd: '0.012' });
    expect(got.status).toBe(200);
    expect(got.error).toBeNull();
    for (const part of endings[protocol]) expect(got.text).toContain(part);
    expect(got).toMatchObject({ rows: 1, held: 0n, row: { outcome: 'budget_stopped' } });
    // What was delivered and no more: 0.012 USD buy at most 240 tokens, and a good part of them was delivered.
    expect(got.row['charged']).toBeLessThanOrEqual(12_000_000_000n);
    expect(Number(got.row['output'])).toBeGreaterThan(100);
    expect(Number(got.row['output'])).toBeLessThan(800);
    await until(() => app.simulator.stats().openStreams === 0);
  });

  it('a stream that has more to spend than its hold is extended and comes to its end', async () => {
    const customer = await app.customer({ usd: '5' });
    const stream = await post(app, customer.secret, messages, '[[len 9000]]', { max_tokens: 10_000 });
    expect(await stream.text()).toContain('"stop_reason":"end_turn"');
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', output: 9_000n }]);
  });
});

describe('an answer far dearer than hold and balance', () => {
  it('takes what there is; the next request gets 402', async () => {
    const customer = await app.customer({ usd: '0.01' });
    const usage = JSON.stringify({ input_tokens: 10, output_tokens: 10_000 });
    const response = await post(app, customer.secret, { ...messages, stream: false }, `[[say x]][[usage ${usage}]]`, {
      max_tokens: 10_000,
    });
    expect(response.status).toBe(200);
    expect(await settled(app, customer)).toMatchObject([{ charged: 10_000_000_000n, free_after: 0n }]);
    expect((await post(app, customer.secret, messages, 'ping')).status).toBe(402);
  });
});

describe('a trial that ends in mid-stream', () => {
  it('pays for the stream to its end; what is left expires; the next request gets 402', async () => {
    const customer = await app.customer({ trial: true });
    const stream = await begun(customer);
    await app.pool.query('UPDATE "grant" SET expires_at = now() WHERE account_id = $1', [customer.accountId]);
    expect((await stream.rest()).text).toContain('event: message_stop');
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'completed', charged: row?.['cost'] });
    expect((await post(app, customer.secret, messages, 'ping')).status).toBe(402);
    const after = await balance(customer);
    expect(after).toMatchObject({ free: 0n, held: 0n, spent: row?.['charged'] });
    expect(after.expired).toBe(5_000_000_000_000n - (row?.['charged'] as bigint));
  });
});

describe('a change of the catalog while a request runs', () => {
  it('a price: the stream keeps the one it began with, the next request has the new one', async () => {
    const customer = await app.customer();
    const direction = { client: protocols.chat, model: 'on-responses', stream: true };
    const stream = await begun(customer, slow, direction);
    await app.pool.query(
      `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from) VALUES (gen_random_uuid(), $1, 20000000, 2000000, 90000000, now())`,
      [direction.model],
    );
    await stream.rest();
    await app.quiet(customer.accountId);
    await (await post(app, customer.secret, direction, '[[len 40]]')).text();
    const rows = await settled(app, customer);
    expect(rows.map((row) => row['price_output'])).toEqual([90_000_000n, 50_000_000n]);
    expect(rows.map((row) => row['cost'])).toEqual(
      rows.map(
        (row) =>
          (row['input'] as bigint) * (row['price_input'] as bigint) +
          (row['output'] as bigint) * (row['price_output'] as bigint),
      ),
    );
  });

  it('a model that is switched off: the stream ends as it should, the next request gets 400', async () => {
    const customer = await app.customer();
    const direction = { client: protocols.chat, model: 'on-chat-completions', stream: true };
    const stream = await begun(customer, slow, direction);
    await app.pool.query('UPDATE model SET enabled = false WHERE id = $1', [direction.model]);
    try {
      expect((await stream.rest()).text).toContain('data: [DONE]');
      expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed' }]);
      const refused = await post(app, customer.secret, direction, 'ping');
      expect(refused.status).toBe(400);
      expect(errorIn(await refused.text())?.message).toBe(
        `Requested model ${direction.model} is not available in the service`,
      );
    } finally {
      await app.pool.query('UPDATE model SET enabled = true WHERE id = $1', [direction.model]);
    }
  });
});

describe('a key or account that loses its access while a request runs', () => {
  it.each([
    ['a deleted key', 'UPDATE api_key SET deleted_at = now() WHERE id = $2 AND account_id = $1', 401],
    ['a suspended account', `UPDATE account SET status = 'suspended' WHERE id = $1 AND $2::uuid IS NOT NULL`, 403],
  ])('%s: the stream ends as it should and is charged', async (_name, sql, status) => {
    const customer = await app.customer();
    const stream = await begun(customer);
    await app.pool.query(sql, [customer.accountId, customer.keyId]);
    expect((await stream.rest()).text).toContain('event: message_stop');
    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
    expect(rows[0]?.['charged']).toBeGreaterThan(0n);
    expect((await post(app, customer.secret, messages, 'ping')).status).toBe(status);
  });
});

describe('budget that is added while it is exhausted', () => {
  it('the very next request with the same key succeeds', async () => {
    const customer = await app.customer({ usd: '0' });
    expect((await post(app, customer.secret, messages, 'ping')).status).toBe(402);
    const client = await app.pool.connect();
    try {
      await addGrant(client, {
        accountId: customer.accountId,
        kind: 'adjustment',
        amount: 1_000_000_000_000n,
        sourceRef: `adjustment:${customer.accountId}`,
        expiresAt: null,
      });
    } finally {
      client.release();
    }
    const next = await post(app, customer.secret, messages, 'ping');
    expect(next.status).toBe(200);
    await next.text();
    expect(await settled(app, customer)).toHaveLength(1);
  });
});
