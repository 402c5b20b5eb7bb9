/** Casso's webhook: its proof and its body. */

import { createHmac } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerBankWebhooks } from '../../server/plans/bank/bank-webhooks.ts';
import { createCasso } from '../../server/plans/bank/casso.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bank, createAccount, createDomain, createPlans, order, purchases } from './support.ts';

const secret = 'a secret between Casso and us';
let database: TestDatabase;
let domain: ReturnType<typeof createDomain>;
let signed: FastifyInstance;
let movements = 0;

async function open(options: Parameters<typeof createCasso>[0]): Promise<FastifyInstance> {
  const app = Fastify();
  await registerBankWebhooks(app, { providers: [createCasso(options)], transfers: domain.transfers });
  return app;
}

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  domain = createDomain(database.pool);
  signed = await open({ secret });
});
afterAll(async () => {
  await signed.close();
  await database.drop();
});

const fresh = async () => {
  const accountId = await createAccount(database.pool);
  return { accountId, order: await order(database.pool, accountId) };
};
const vietnam = (moment = new Date()) =>
  new Date(moment.getTime() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
const stored = async () => (await domain.transfers.list({ queue: false, limit: 1000 })).length;

/** A movement as Casso tells it. */
const told = (paid: { memo: string; priceVnd: bigint }, changes: object = {}) => {
  movements += 1;
  return {
    error: 0,
    data: {
      id: 700_000 + movements,
      reference: `CS${movements}`,
      description: `MBVCB.${movements}.${paid.memo}/CT tu "Nguyễn"`,
      amount: Number(paid.priceVnd),
      runningBalance: 25_000_000,
      transactionDateTime: vietnam(),
      accountNumber: bank.account,
      bankName: 'VPBank',
      bankAbbreviation: 'VPB',
      virtualAccountNumber: '',
      counterAccountName: null,
      ...changes,
    },
  };
};

// Written here once more, on purpose: a list of the keys in order is all that the signature needs.
const inOrder = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(
        Object.keys(value)
          .toSorted()
          .map((key) => [key, inOrder((value as Record<string, unknown>)[key])]),
      )
    : value;
const signature = (body: object, at = Date.now(), key = secret) =>
  `t=${at},v1=${createHmac('sha512', key)
    .update(`${at}.${JSON.stringify(inOrder(body))}`)
    .digest('hex')}`;

const post = (body: object | string, headers: Record<string, string>, app = signed) =>
  app.inject({
    method: 'POST',
    url: '/webhooks/casso',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
const tell = (body: object, at?: number) => post(body, { 'x-casso-signature': signature(body, at) });

describe('a signed message', () => {
  it('is the one that Casso publishes as its example', () => {
    const body = {
      error: 0,
      data: {
        id: 0,
        reference: 'MA_GIAO_DICH_THU_NGHIEM',
        description: 'giao dich thu nghiem',
        amount: 599000,
        runningBalance: 25000000,
        transactionDateTime: '2024-10-03 15:06:37',
        accountNumber: '88888888',
        bankName: 'VPBank',
        bankAbbreviation: 'VPB',
        virtualAccountNumber: '',
        virtualAccountName: '',
        counterAccountName: 'NGUYEN VAN A',
        counterAccountNumber: '8888888888',
        counterAccountBankId: '970415',
        counterAccountBankName: 'VietinBank',
      },
    };
    const casso = createCasso({ secret: 'mgExMrjj4i7a1p8Cs6LmFbpCd8lbw4sSX4LZXPag7TKazeIogtR90tvWYTkwQbvs' });
    const message = {
      headers: {
        'x-casso-signature':
          't=1727948258788,v1=ed0a4bd2e826d5cb69988cdb141e6c1a080e21f3b57eb72cd78192220042b9e7dde0868fc667faea8e224900fa7904e7c88dfa098032fb2d6b6996856e8b7ff3',
      },
      body: Buffer.from(JSON.stringify(body)),
    };
    expect(casso.authenticate({ ...message, now: new Date(1727948258788) })).toBe('genuine');
    expect(casso.authenticate({ ...message, now: new Date() })).toBe('stale');
    // It is a trial of the address: nothing moved.
    expect(casso.parse(message.body, new Date())).toEqual([]);
  });

  it('pays an order once, however often and however anew it is signed', async () => {
    const { accountId, order } = await fresh();
    const body = told(order);
    const answers = [await tell(body, Date.now() - 3_600_000), await tell(body), await tell(body)];
    expect(answers.map(({ statusCode, json }) => [statusCode, json()])).toEqual(
      Array.from({ length: 3 }, () => [200, { success: true }]),
    );
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
    expect((await domain.orders.find(accountId, order.id))?.status).toBe('paid');
  });

  it('stays the same in any order of its keys', async () => {
    const { accountId, order } = await fresh();
    const body = told(order);
    const turned = { data: Object.fromEntries(Object.entries(body.data).toReversed()), error: 0 };
    expect((await post(turned, { 'x-casso-signature': signature(body) })).statusCode).toBe(200);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('is refused with 401, and nothing of it stored, when it is forged or stale', async () => {
    const { order } = await fresh();
    const body = told(order);
    const before = await stored();
    const [time = '', digest = ''] = signature(body).split(',');
    const deep = `{"data":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`;
    const refused: [string, object | string, Record<string, string>][] = [
      ['no signature', body, {}],
      ['another secret', body, { 'x-casso-signature': signature(body, Date.now(), 'guess') }],
      ['an empty secret', body, { 'x-casso-signature': signature(body, Date.now(), ' ') }],
      ['another amount', told(order, { amount: 1 }), { 'x-casso-signature': signature(body) }],
      ['another time', body, { 'x-casso-signature': `t=${Date.now() + 1},${digest}` }],
      ['no time', body, { 'x-casso-signature': digest }],
      ['no digest', body, { 'x-casso-signature': `${time},v1=` }],
      ['a day and an hour old', body, { 'x-casso-signature': signature(body, Date.now() - 25 * 3_600_000) }],
      ['from the future', body, { 'x-casso-signature': signature(body, Date.now() + 3_600_000) }],
      ['the token of the first version', body, { 'secure-token': secret }],
      ['no JSON', 'SY', { 'x-casso-signature': signature(body) }],
      ['too deep a nest', deep, { 'x-casso-signature': signature(body) }],
    ];
    for (const [name, message, headers] of refused) {
      expect([name, (await post(message, headers)).statusCode]).toEqual([name, 401]);
    }
    expect(await stored()).toBe(before);
  });

  it('of money that left waits for a person', async () => {
    const { accountId, order } = await fresh();
    const body = told(order, { amount: -250_000 });
    expect((await tell(body)).statusCode).toBe(200);
    const [latest] = await domain.transfers.list({ queue: true, limit: 1 });
    expect(latest).toMatchObject({ direction: 'out', amountVnd: 250_000n, review: { reason: 'outgoing' } });
    expect(await purchases(database.pool, accountId)).toEqual([]);
  });

  it.each<[string, object]>([
    ['an error', { error: 1, data: null }],
    ['no id', { error: 0, data: { amount: 1, description: 'x' } }],
    ['part of a dong', told({ memo: 'x', priceVnd: 1n }, { amount: 0.5 })],
    ['more than there is', told({ memo: 'x', priceVnd: 1n }, { amount: 1e18 })],
  ])('with %s is answered with 400', async (_, body) => {
    const before = await stored();
    expect((await tell(body)).statusCode).toBe(400);
    expect(await stored()).toBe(before);
  });

  it('is refused with 503 while no secret is configured', async () => {
    const closed = await open({ secret: '' });
    const body = told({ memo: 'x', priceVnd: 1n });
    expect((await post(body, { 'x-casso-signature': signature(body, Date.now(), ' ') }, closed)).statusCode).toBe(503);
    await closed.close();
  });
});
