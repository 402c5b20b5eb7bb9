/** payOS' webhook: its proof and its bodies. */

import { createHmac } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerBankWebhooks } from '../../server/plans/bank/bank-webhooks.ts';
import { createPayos } from '../../server/plans/bank/payos.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bank, createAccount, createDomain, createPlans, order, purchases } from './support.ts';

const secret = 'the checksum key of a channel';
let database: TestDatabase;
let domain: ReturnType<typeof createDomain>;
let app: FastifyInstance;
let movements = 0;

async function open(options: Parameters<typeof createPayos>[0]): Promise<FastifyInstance> {
  const server = Fastify();
  await registerBankWebhooks(server, { providers: [createPayos(options)], transfers: domain.transfers });
  return server;
}

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  domain = createDomain(database.pool);
  app = await open({ secret });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const fresh = async () => {
  const accountId = await createAccount(database.pool);
  return { accountId, order: await order(database.pool, accountId) };
};
const stored = async () => (await domain.transfers.list({ queue: false, limit: 1000 })).length;

type Data = Record<string, string | number | null>;

const paymentOf = (paid: { memo: string; priceVnd: bigint }, changes: Data = {}): Data => {
  movements += 1;
  return {
    orderCode: 1000 + movements,
    amount: Number(paid.priceVnd),
    description: paid.memo,
    accountNumber: bank.account,
    reference: `TF${movements}`,
    transactionDateTime: new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
    currency: 'VND',
    paymentLinkId: '124c33293c43417ab7879e14c8d9eb18',
    code: '00',
    desc: 'Thành công',
    counterAccountName: null,
    virtualAccountNumber: '',
    ...changes,
  };
};

const sign = (data: Data, key = secret) =>
  createHmac('sha256', key)
    .update(
      Object.keys(data)
        .toSorted()
        .map((name) => `${name}=${data[name] ?? ''}`)
        .join('&'),
    )
    .digest('hex');
const envelope = <Signature>(data: unknown, signature: Signature) => ({
  code: '00',
  desc: 'success',
  success: true,
  data,
  signature,
});
const post = (body: object | string, to = app) =>
  to.inject({
    method: 'POST',
    url: '/webhooks/payos',
    headers: { 'content-type': 'application/json' },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
const tell = (data: Data) => post(envelope(data, sign(data)));

/** What payOS publishes as its example, with the key it was signed with. */
const published = {
  key: '1a54716c8f0efb2744fb28b6e38b25da7f67a925d98bc1c18bd8faaecadd7675',
  body: envelope(
    {
      orderCode: 123,
      amount: 3000,
      description: 'VQRIO123',
      accountNumber: '12345678',
      reference: 'TF230204212323',
      transactionDateTime: '2023-02-04 18:25:00',
      currency: 'VND',
      paymentLinkId: '124c33293c43417ab7879e14c8d9eb18',
      code: '00',
      desc: 'Thành công',
      counterAccountBankId: '',
      counterAccountBankName: '',
      counterAccountName: '',
      counterAccountNumber: '',
      virtualAccountName: '',
      virtualAccountNumber: '',
    },
    '412e915d2871504ed31be63c8f62a149a4410d34c4c42affc9006ef9917eaa03',
  ),
};

describe('POST /webhooks/payos', () => {
  it('answers 200 to the example that comes when the address is registered, and stores nothing of it', async () => {
    const registered = await open({ secret: published.key });
    const before = await stored();
    expect((await post(published.body, registered)).statusCode).toBe(200);
    expect(
      (await post({ ...published.body, signature: published.body.signature.replace('4', '5') }, registered)).statusCode,
    ).toBe(401);
    expect(await stored()).toBe(before);
    await registered.close();
  });

  it('pays an order once, however often it is told', async () => {
    const { accountId, order } = await fresh();
    const data = paymentOf(order);
    for (let i = 0; i < 3; i++) {
      const answer = await tell(data);
      expect([answer.statusCode, answer.json()]).toEqual([200, { success: true }]);
    }
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('keeps two transfers for one payment link apart', async () => {
    const { accountId, order } = await fresh();
    const first = paymentOf(order, { amount: 100_000 });
    await tell(first);
    expect((await domain.orders.find(accountId, order.id))?.status).toBe('partial');
    await tell(paymentOf(order, { orderCode: first.orderCode ?? null, amount: 150_000 }));
    expect((await domain.orders.find(accountId, order.id))?.status).toBe('paid');
  });

  it('refuses what is forged with 401, and stores nothing of it', async () => {
    const { order } = await fresh();
    const data = paymentOf(order, { amount: 1000 });
    const before = await stored();
    const refused: [string, object | string][] = [
      ['another key', envelope(data, sign(data, 'guess'))],
      ['an empty key', envelope(data, sign(data, ' '))],
      ['another amount', envelope({ ...data, amount: 250_000 }, sign(data))],
      ['one key more', envelope({ ...data, extra: '1' }, sign(data))],
      ['no signature', { code: '00', data }],
      ['a signature that is no text', envelope(data, 1)],
      ['no data', envelope(null, sign(data))],
      ['data that nests', envelope({ ...data, desc: { a: 1 } }, sign(data))],
      ['no JSON', 'SY'],
      ['a list', '[]'],
    ];
    for (const [name, body] of refused) expect([name, (await post(body)).statusCode]).toEqual([name, 401]);
    expect(await stored()).toBe(before);
  });

  it('refuses one signature that would speak for two amounts', async () => {
    const { order } = await fresh();
    // What the payer may write is signed without escapes: a text with `&amount=` in it reads like another field.
    const genuine = { accountNumber: '1', amount: 1000, description: `x&amount=250000&description=${order.memo}` };
    const forged = { accountNumber: '1&amount=1000&description=x', amount: 250_000, description: order.memo };
    expect(sign(forged)).toBe(sign(genuine));
    const before = await stored();
    for (const data of [forged, genuine]) expect((await post(envelope(data, sign(data)))).statusCode).toBe(401);
    const key = { 'accountNumber=1&amount': '1000&description=x', amount: 250_000, description: order.memo };
    expect(sign(key)).toBe(sign(genuine));
    expect((await post(envelope(key, sign(key)))).statusCode).toBe(401);
    expect(await stored()).toBe(before);
  });

  it('takes nothing of a payment that did not succeed', async () => {
    const { order } = await fresh();
    const before = await stored();
    expect((await tell(paymentOf(order, { code: '01' }))).statusCode).toBe(200);
    const data = paymentOf(order);
    expect((await post({ ...envelope(data, sign(data)), success: false })).statusCode).toBe(200);
    expect(await stored()).toBe(before);
  });

  it.each<[string, Data]>([
    ['another currency', { currency: 'USD' }],
    ['part of a dong', { amount: 0.5 }],
    ['no reference', { reference: '' }],
    ['no order', { orderCode: null }],
  ])('answers 400 to a genuine message with %s', async (_, changes) => {
    const before = await stored();
    expect((await tell(paymentOf({ memo: 'x', priceVnd: 1n }, changes))).statusCode).toBe(400);
    expect(await stored()).toBe(before);
  });

  it('refuses everything with 503 while no key is configured', async () => {
    const closed = await open({ secret: ' ' });
    const data = paymentOf({ memo: 'x', priceVnd: 1n });
    expect((await post(envelope(data, sign(data, ' ')), closed)).statusCode).toBe(503);
    await closed.close();
  });
});

it('money of which two providers tell is counted once', async () => {
  const { accountId, order } = await fresh();
  const data = paymentOf(order, { amount: 125_000 });
  await tell(data);
  const twin = await domain.transfers.receive({
    provider: 'casso',
    providerId: 'another id',
    bankReference: String(data.reference),
    direction: 'in',
    amountVnd: 125_000n,
    memo: order.memo,
    bookedAt: new Date(),
    accountNumbers: [bank.account],
  });
  expect(twin).toMatchObject({ kind: 'review', reason: 'repeated' });
  expect((await domain.orders.find(accountId, order.id))?.status).toBe('partial');
});
