/** The webhooks of banks over HTTP: proofs, answers, and storage. */

import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerBankWebhooks, type WebhookOutcome } from '../../server/plans/bank/bank-webhooks.ts';
import { reconcile } from '../../server/plans/bank/reconciliation.ts';
import { createSepay } from '../../server/plans/bank/sepay.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  createAccount,
  createDomain,
  createPlans,
  order,
  purchases,
  sepayFields,
  sepayMessage,
  transfer,
} from './support.ts';

const secret = 'a secret between the bank and us';
let database: TestDatabase;
let domain: ReturnType<typeof createDomain>;
const outcomes: WebhookOutcome[] = [];
const servers: FastifyInstance[] = [];

async function listen(options: Parameters<typeof createSepay>[0]): Promise<string> {
  const app = Fastify();
  servers.push(app);
  await registerBankWebhooks(app, {
    providers: [createSepay(options)],
    transfers: domain.transfers,
    count: (_, outcome) => outcomes.push(outcome),
  });
  // Beside it, as in the server: JSON routes keep their own parser.
  app.post('/json', async (request) => request.body);
  return app.listen({ port: 0, host: '127.0.0.1' });
}

let address: string;
beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  domain = createDomain(database.pool);
  address = await listen({ secret });
});
afterAll(async () => {
  await Promise.all(servers.map((app) => app.close()));
  await database.drop();
});

const post = (message: { body: Buffer; headers: Record<string, string> }, to = address) =>
  fetch(`${to}/webhooks/sepay`, { method: 'POST', headers: message.headers, body: new Uint8Array(message.body) });
const stored = async () => {
  const { rows } = await database.pool.query<{ count: bigint }>('SELECT count(*) FROM bank_transfer');
  return rows[0]?.count;
};
const fresh = async () => {
  const accountId = await createAccount(database.pool);
  return { accountId, order: await order(database.pool, accountId) };
};

const hours = (n: number) => new Date(Date.now() + n * 3_600_000);

describe('POST /webhooks/sepay', () => {
  it('takes a signed transfer, pays the order, and answers what SePay expects', async () => {
    const { accountId, order } = await fresh();
    const response = await post(sepayMessage({ secret, fields: sepayFields(order) }));
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('answers 200 to a hundred repetitions and grants once', async () => {
    const { accountId, order } = await fresh();
    const message = sepayMessage({ secret, fields: sepayFields(order) });
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await post(message)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('recognises a repetition that was signed anew', async () => {
    const { accountId, order } = await fresh();
    const fields = sepayFields(order);
    await post(sepayMessage({ secret, fields, at: hours(-1) }));
    await post(sepayMessage({ secret, fields }));
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('reads the type from the bytes, not from the header', async () => {
    const { accountId, order } = await fresh();
    const message = sepayMessage({ secret, fields: sepayFields(order) });
    const response = await post({ ...message, headers: { ...message.headers, 'content-type': 'text/plain' } });
    expect(response.status).toBe(200);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('stores nothing of what is forged, stale or unsigned, and answers 401', async () => {
    const { order } = await fresh();
    const fields = sepayFields(order);
    const genuine = sepayMessage({ secret, fields });
    const without = (name: string) => ({
      ...genuine,
      headers: Object.fromEntries(Object.entries(genuine.headers).filter(([key]) => key !== name)),
    });
    const withHeader = (name: string, value: string) => ({
      ...genuine,
      headers: { ...genuine.headers, [name]: value },
    });
    const refused: [string, Parameters<typeof post>[0]][] = [
      ['another secret', sepayMessage({ secret: 'guess', fields })],
      ['an empty secret', sepayMessage({ secret: '', fields })],
      ['another body', { ...genuine, body: sepayMessage({ secret, fields: { ...fields, transferAmount: 1 } }).body }],
      ['another time', withHeader('x-sepay-timestamp', String(Math.floor(Date.now() / 1000) - 1))],
      ['no signature', without('x-sepay-signature')],
      ['no time', without('x-sepay-timestamp')],
      ['an empty signature', withHeader('x-sepay-signature', 'sha256=')],
      [
        'a signature without its scheme',
        withHeader('x-sepay-signature', genuine.headers['x-sepay-signature'].slice(7)),
      ],
      ['a time that is no number', withHeader('x-sepay-timestamp', 'NaN')],
      ['a day and an hour old', sepayMessage({ secret, fields, at: hours(-25) })],
      ['from the future', sepayMessage({ secret, fields, at: hours(1) })],
      ['an API key, where signatures are configured', { ...genuine, headers: { authorization: `Apikey ${secret}` } }],
    ];
    const before = await stored();
    for (const [name, message] of refused) {
      const response = await post(message);
      expect({ name, status: response.status }).toEqual({ name, status: 401 });
    }
    expect(await stored()).toBe(before);
    expect(outcomes).toContain('unsigned');
    expect(outcomes).toContain('forged');
    expect(outcomes).toContain('stale');
  });

  it('believes what is 23 hours old: providers may not sign again', async () => {
    const { accountId, order } = await fresh();
    const at = hours(-23);
    expect((await post(sepayMessage({ secret, fields: sepayFields(order), at }))).status).toBe(200);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('believes what is ten minutes ahead: a clock of ours that is wrong must not refuse all money', async () => {
    const { accountId, order } = await fresh();
    const at = hours(1 / 6);
    expect((await post(sepayMessage({ secret, fields: sepayFields(order), at }))).status).toBe(200);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it.each([[''], ['  '], [undefined]])('refuses everything with 503 while the secret is %j', async (unset) => {
    const { order } = await fresh();
    const closed = await listen({ secret: unset });
    const before = await stored();
    for (const guess of ['', '  ', 'undefined', secret])
      expect((await post(sepayMessage({ secret: guess, fields: sepayFields(order) }), closed)).status).toBe(503);
    expect(await stored()).toBe(before);
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['no amount', { id: 1, transferType: 'in', content: 'x' }],
    ['part of a dong', { id: 1, transferType: 'in', transferAmount: 0.5, content: 'x' }],
    ['more than there is', { id: 1, transferType: 'in', transferAmount: 1e18, content: 'x' }],
    ['no way', { id: 1, transferType: 'sideways', transferAmount: 1, content: 'x' }],
    ['no identity', { transferType: 'in', transferAmount: 1, content: 'x' }],
    ['a list', [1]],
  ])('answers 400 to a genuine message with %s', async (_, fields) => {
    const before = await stored();
    expect((await post(sepayMessage({ secret, fields }))).status).toBe(400);
    expect(await stored()).toBe(before);
  });

  it.each<[string, object, object]>([
    ['unknown code', { content: 'hello', code: null }, { review: { reason: 'no_memo' } }],
    ['money out', { transferType: 'out' }, { review: { reason: 'outgoing' } }],
    ['negative', { transferAmount: -250_000 }, { review: { reason: 'outgoing' }, amountVnd: 250_000n }],
    ['zero', { transferAmount: 0 }, { review: { reason: 'no_amount' } }],
    ['another account', { accountNumber: '1', subAccount: '2' }, { review: { reason: 'other_account' } }],
    ['NUL and a lone surrogate', { content: 'a\u0000b\ud800', code: null }, { memo: 'ab\ufffd' }],
  ])('answers 200 and leaves to a person: %s', async (_, changes, expected) => {
    const { accountId, order } = await fresh();
    const response = await post(sepayMessage({ secret, fields: sepayFields(order, changes) }));
    expect(response.status).toBe(200);
    expect(await purchases(database.pool, accountId)).toEqual([]);
    const [newest] = await domain.transfers.list({ queue: true, limit: 1 });
    expect(newest).toMatchObject(expected);
  });

  it('recognises a movement without an id by reference, direction and amount', async () => {
    const { accountId, order } = await fresh();
    const fields = sepayFields(order, { id: null });
    await post(sepayMessage({ secret, fields }));
    await post(sepayMessage({ secret, fields }));
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('reads the virtual account and a code that only SePay found', async () => {
    const { accountId, order } = await fresh();
    const fields = sepayFields(order, { accountNumber: '999', subAccount: '0011001234567', content: 'chuyen tien' });
    expect((await post(sepayMessage({ secret, fields }))).status).toBe(200);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('books at the bank’s time, which is Vietnam’s', async () => {
    const { order } = await fresh();
    const fields = sepayFields(order, { transactionDate: '2026-11-21 16:05:00', transferType: 'out' });
    await post(sepayMessage({ secret, fields }));
    const [newest] = await domain.transfers.list({ queue: true, limit: 1 });
    expect(newest?.bookedAt.toISOString()).toBe('2026-11-21T09:05:00.000Z');
  });

  it('refuses a body that no message of a bank can be', async () => {
    const fields = { id: 1, content: 'x'.repeat(70_000) };
    expect((await post(sepayMessage({ secret, fields }))).status).toBe(413);
  });

  it('with an API key configured believes the key, and not a signature made with it', async () => {
    const keyed = await listen({ secret, scheme: 'apikey' });
    const { accountId, order } = await fresh();
    const message = sepayMessage({ secret, fields: sepayFields(order) });
    expect((await post(message, keyed)).status).toBe(401);
    const headers = { 'content-type': 'application/json', authorization: `Apikey ${secret}` };
    expect((await post({ ...message, headers: { ...headers, authorization: 'Apikey guess' } }, keyed)).status).toBe(
      401,
    );
    expect((await post({ ...message, headers }, keyed)).status).toBe(200);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('answers 503 while the database is out of reach, so that the provider comes again', async () => {
    const app = Fastify();
    servers.push(app);
    await registerBankWebhooks(app, {
      providers: [createSepay({ secret })],
      transfers: {
        receive: async () => {
          throw new Error('connection refused');
        },
      },
    });
    const { order } = await fresh();
    const message = sepayMessage({ secret, fields: sepayFields(order) });
    const response = await app.inject({ method: 'POST', url: '/webhooks/sepay', ...message, payload: message.body });
    expect(response.statusCode).toBe(503);
    expect(response.body).not.toContain('refused');
  });

  it('leaves the parsers of other routes alone', async () => {
    const response = await fetch(`${address}/json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await response.json()).toEqual({ a: 1 });
  });
});

it('a reconciliation takes in what webhooks lost, and only that', async () => {
  const { accountId, order } = await fresh();
  const [known, lost] = [transfer({ memo: 'x' }), transfer({ memo: order.memo })];
  await domain.transfers.receive(known);
  const asked: Date[] = [];
  const poll = () =>
    reconcile({
      source: {
        listSince: async (since) => {
          asked.push(since);
          return [known, lost];
        },
      },
      transfers: domain.transfers,
      windowMs: 3_600_000,
      now: () => new Date('2026-11-21T10:00:00Z'),
    });
  expect(await poll()).toEqual({ duplicate: 1, paid: 1, partial: 0, refund: 0, review: 0 });
  expect(await poll()).toEqual({ duplicate: 2, paid: 0, partial: 0, refund: 0, review: 0 });
  expect(asked[0]?.toISOString()).toBe('2026-11-21T09:00:00.000Z');
  expect(await purchases(database.pool, accountId)).toHaveLength(1);
});

it('a reconciliation takes in what it can, though one movement can never be stored', async () => {
  const { accountId, order } = await fresh();
  const source = { listSince: async () => [transfer({ amountVnd: 2n ** 63n }), transfer({ memo: order.memo })] };
  await expect(reconcile({ source, transfers: domain.transfers, windowMs: 1 })).rejects.toMatchObject({
    code: '22003',
  });
  expect(await purchases(database.pool, accountId)).toHaveLength(1);
});
