/** Purchases end to end: from a bank's message to the grant. */

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { listPlans } from '../../server/plans/plans.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { bank, sepayFields, sepayMessage } from './support.ts';

const secret = 'a secret between the bank and us';
let service: TestApp;

beforeAll(async () => {
  service = await startApp({
    env: {
      SEPAY_WEBHOOK_SECRET: secret,
      CASSO_WEBHOOK_SECRET: secret,
      PAYOS_CHECKSUM_KEY: secret,
      BANK_ACCOUNT: bank.account,
    },
  });
});
afterAll(() => service.close());

const ask = (key: string) =>
  fetch(`${service.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify({ model: 'sim-small', max_tokens: 16, messages: [{ role: 'user', content: 'ping' }] }),
  });

it('an exhausted account buys a plan, and the very next request with the same key succeeds', async () => {
  const { accountId, secret: key } = await service.customer({ usd: '0.000001' });
  expect((await ask(key)).status).toBe(402);
  const before = await readBalance(service.pool, accountId);

  const orders = createOrders({ pool: service.pool, bank });
  const [plan] = await listPlans(service.pool);
  const outcome = await orders.create({ accountId, planId: plan?.id ?? '' });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  const message = sepayMessage({ secret, fields: sepayFields(outcome.order) });
  const told = await fetch(`${service.url}/webhooks/sepay`, {
    method: 'POST',
    headers: message.headers,
    body: new Uint8Array(message.body),
  });
  expect(told.status).toBe(200);

  expect((await ask(key)).status).toBe(200);
  await service.quiet(accountId);
  const { granted, charged, free } = await readBalance(service.pool, accountId);
  expect(granted - before.granted).toBe(outcome.order.budget);
  expect(charged).toBeGreaterThan(0n);
  expect(free).toBe(granted - charged);
  // What banks and payers write never reaches the log.
  expect(service.logged.join('\n')).not.toContain(outcome.order.memo);
});

it('every provider that is configured pays orders, and its messages are counted', async () => {
  const { accountId } = await service.customer();
  const orders = createOrders({ pool: service.pool, bank });
  const [plan] = await listPlans(service.pool);
  const buy = async () => {
    const outcome = await orders.create({ accountId, planId: plan?.id ?? '' });
    if (outcome.kind !== 'created') throw new Error(outcome.kind);
    return outcome.order;
  };
  const statusOf = async (id: string) => (await orders.find(accountId, id))?.status;
  const tell = async (provider: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.url}/webhooks/${provider}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return response.status;
  };

  const byCasso = await buy();
  // Its keys are in order, as they are signed.
  const movement = {
    data: {
      accountNumber: bank.account,
      amount: Number(byCasso.priceVnd),
      description: byCasso.memo,
      id: 1,
      reference: 'C1',
    },
    error: 0,
  };
  const now = Date.now();
  const digest = createHmac('sha512', secret)
    .update(`${now}.${JSON.stringify(movement)}`)
    .digest('hex');
  expect(await tell('casso', movement)).toBe(401);
  expect(await statusOf(byCasso.id)).toBe('pending');
  expect(await tell('casso', movement, { 'x-casso-signature': `t=${now},v1=${digest}` })).toBe(200);
  expect(await statusOf(byCasso.id)).toBe('paid');

  const byPayos = await buy();
  const data = {
    accountNumber: bank.account,
    amount: Number(byPayos.priceVnd),
    code: '00',
    currency: 'VND',
    description: byPayos.memo,
    orderCode: 7,
    reference: 'P7',
  };
  const text = Object.entries(data)
    .map(([key, value]) => `${key}=${value}`)
    .join('&');
  const signature = createHmac('sha256', secret).update(text).digest('hex');
  expect(await tell('payos', { code: '00', success: true, data, signature })).toBe(200);
  expect(await statusOf(byPayos.id)).toBe('paid');

  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  for (const [provider, outcome] of [
    ['casso', 'unsigned'],
    ['casso', 'paid'],
    ['payos', 'paid'],
  ])
    expect(metrics).toMatch(new RegExp(`\\{provider="${provider}",outcome="${outcome}"\\} 1`));
});
