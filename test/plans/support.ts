/** Plans, orders and bank messages for tests. */

import { createHmac } from 'node:crypto';
import type { Pool } from 'pg';
import { transaction } from '../../server/database/lane.ts';
import { createTransfers, type IncomingTransfer } from '../../server/plans/bank/transfers.ts';
import type { Order } from '../../server/plans/order.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { type Plan, savePlan } from '../../server/plans/plans.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';

export const bank = { bin: '970436', account: '0011001234567', name: 'STEYG TEST' };
export const oneUsd = 10n ** 12n;

export async function createAccount(pool: Pool): Promise<string> {
  const id = uuidv7();
  await pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [id, 'Test', `${id}@example.com`]);
  return id;
}

/** Writes a plan as an operator would. */
export function upsertPlan(pool: Pool, plan: Plan) {
  return transaction(pool, (client) => savePlan(client, { plan, actor: 'system' }));
}

/** Two plans on sale and one that is not. */
export async function createPlans(pool: Pool): Promise<void> {
  const plan = { validDays: null, enabled: true };
  await upsertPlan(pool, { ...plan, id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10n * oneUsd });
  await upsertPlan(pool, {
    ...plan,
    id: 'pro',
    name: 'Pro',
    priceVnd: 1_000_000n,
    budget: 50n * oneUsd,
    validDays: 90,
  });
  await upsertPlan(pool, { ...plan, id: 'old', name: 'Old', priceVnd: 1n, budget: oneUsd, enabled: false });
}

export function createDomain(pool: Pool) {
  return {
    orders: createOrders({ pool, bank }),
    transfers: createTransfers({ pool, accountNumbers: [bank.account] }),
  };
}

/** Orders a plan and fails the test when that is refused. */
export async function order(pool: Pool, accountId: string, planId = 'starter', upgrades?: string): Promise<Order> {
  const outcome = await createDomain(pool).orders.create({
    accountId,
    planId,
    ...(upgrades === undefined ? {} : { upgrades }),
  });
  if (outcome.kind !== 'created') throw new Error(`the order was refused: ${outcome.kind}`);
  return outcome.order;
}

let movements = 0;

/** A transfer as a provider tells it. */
export function transfer(changes: Partial<IncomingTransfer> = {}): IncomingTransfer {
  movements += 1;
  return {
    provider: 'sepay',
    providerId: String(100_000 + movements),
    bankReference: `FT${movements}`,
    direction: 'in',
    amountVnd: 250_000n,
    memo: '',
    bookedAt: new Date(),
    accountNumbers: [bank.account],
    ...changes,
  };
}

/** SePay's message of a transfer, as bytes, with the headers that prove it. */
export function sepayMessage(input: { secret: string; fields: object; at?: Date }) {
  const body = Buffer.from(JSON.stringify(input.fields));
  const timestamp = String(Math.floor((input.at ?? new Date()).getTime() / 1000));
  const digest = createHmac('sha256', input.secret).update(`${timestamp}.`).update(body).digest('hex');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-sepay-timestamp': timestamp,
      'x-sepay-signature': `sha256=${digest}`,
    },
  };
}

/** What SePay says of a transfer that pays an order. */
export function sepayFields(order: { memo: string; priceVnd: bigint }, changes: object = {}) {
  movements += 1;
  return {
    id: 900_000 + movements,
    gateway: 'Vietcombank',
    transactionDate: new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
    accountNumber: bank.account,
    subAccount: null,
    code: order.memo,
    content: `MBVCB.${movements}.${order.memo}.CT tu 0291000123 toi ${bank.account}`,
    transferType: 'in',
    transferAmount: Number(order.priceVnd),
    accumulated: 19_077_000,
    referenceCode: `FT26325${movements}`,
    description: '',
    ...changes,
  };
}

/** Grants of an account that purchases gave, the smallest first. */
export async function purchases(pool: Pool, accountId: string) {
  const { rows } = await pool.query<{ amount: bigint; sourceRef: string; expiresAt: Date | null }>(
    `SELECT amount, source_ref AS "sourceRef", expires_at AS "expiresAt" FROM "grant"
     WHERE account_id = $1 AND kind = 'purchase' ORDER BY amount, id`,
    [accountId],
  );
  return rows;
}
