/** Orders: frozen terms, idempotency, upgrades, expiry. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { findPlan, listPlans } from '../../server/plans/plans.ts';
import { createQrPictures } from '../../server/plans/qr/qr-pictures.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { lockWaits } from '../support/locks.ts';
import { createAccount, createDomain, createPlans, oneUsd, order, purchases, transfer, upsertPlan } from './support.ts';

let database: TestDatabase;
let domain: ReturnType<typeof createDomain>;
let accountId: string;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  domain = createDomain(database.pool);
});
afterAll(() => database.drop());
beforeEach(async () => {
  accountId = await createAccount(database.pool);
});

const pay = (memo: string, amountVnd: bigint) => domain.transfers.receive(transfer({ memo, amountVnd }));

describe('an order', () => {
  it('freezes price and budget, regardless of later changes of the plan', async () => {
    const made = await order(database.pool, accountId, 'pro');
    const plan = await findPlan(database.pool, 'pro');
    if (plan === null) throw new Error('no plan');
    await upsertPlan(database.pool, { ...plan, priceVnd: 5n, budget: 999n * oneUsd, validDays: 1 });
    expect(await domain.orders.find(accountId, made.id)).toMatchObject({
      priceVnd: 1_000_000n,
      budget: 50n * oneUsd,
      validDays: 90,
      status: 'pending',
    });
    await pay(made.memo, 1_000_000n);
    expect(await purchases(database.pool, accountId)).toMatchObject([{ amount: 50n * oneUsd }]);
    await upsertPlan(database.pool, plan);
  });

  it('carries everything that a banking app needs', async () => {
    const made = await order(database.pool, accountId);
    const how = domain.orders.instructions(made);
    expect(how).toMatchObject({ amountVnd: 250_000n, memo: made.memo, bank: { bin: '970436' } });
    expect(how?.qrPayload).toContain(`5406250000`);
    expect(how?.qrPayload).toContain(`0809${made.memo}`);
    const pictures = createQrPictures();
    const { svg, png } = await pictures.draw(how?.qrPayload ?? '');
    await pictures.close();
    expect(svg).toMatch(/^<svg /);
    expect(Buffer.from(png, 'base64').subarray(1, 4).toString()).toBe('PNG');
  });

  it('is the same for the same idempotency key, also for fifty at once, and refused for another plan', async () => {
    const ask = (planId = 'starter') => domain.orders.create({ accountId, planId, idempotencyKey: 'a click' });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(new Set(outcomes.map((o) => ('order' in o ? o.order.id : o.kind))).size).toBe(1);
    expect(await ask('pro')).toEqual({ kind: 'idempotency_conflict' });
    const other = await createAccount(database.pool);
    const theirs = await domain.orders.create({ accountId: other, planId: 'starter', idempotencyKey: 'a click' });
    expect(theirs.kind).toBe('created');
  });

  it('is refused for plans that are not on sale, and beyond ten open ones', async () => {
    expect(await domain.orders.create({ accountId, planId: 'old' })).toEqual({ kind: 'unknown_plan' });
    expect(await domain.orders.create({ accountId, planId: '__proto__' })).toEqual({ kind: 'unknown_plan' });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => domain.orders.create({ accountId, planId: 'starter' })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(10);
    expect(outcomes.filter(({ kind }) => kind === 'too_many_open_orders')).toHaveLength(10);
  });

  it('is refused after twenty unpaid ones within an hour, cancelled ones included; paid ones do not count', async () => {
    const paid = await order(database.pool, accountId);
    await database.pool.query(`UPDATE purchase_order SET status = 'paid', paid_at = now() WHERE id = $1`, [paid.id]);
    for (let made = 0; made < 20; made += 1) {
      const { id } = await order(database.pool, accountId);
      expect((await domain.orders.cancel({ accountId, orderId: id })).kind).toBe('cancelled');
    }
    const refused = await domain.orders.create({ accountId, planId: 'starter' });
    expect(refused).toEqual({ kind: 'throttled', retryAfterS: expect.any(Number) });
    if (refused.kind !== 'throttled') return;
    expect(refused.retryAfterS).toBeGreaterThan(3_000);
    expect(refused.retryAfterS).toBeLessThanOrEqual(3_600);
    const other = await createAccount(database.pool);
    expect((await domain.orders.create({ accountId: other, planId: 'starter' })).kind).toBe('created');
    await database.pool.query(
      `UPDATE purchase_order SET created_at = created_at - interval '1 hour' WHERE account_id = $1`,
      [accountId],
    );
    expect((await domain.orders.create({ accountId, planId: 'starter' })).kind).toBe('created');
  });

  it('belongs to its account: for others it does not exist', async () => {
    const made = await order(database.pool, accountId);
    const other = await createAccount(database.pool);
    expect(await domain.orders.find(other, made.id)).toBeNull();
    expect(await domain.orders.cancel({ accountId: other, orderId: made.id })).toEqual({ kind: 'unknown_order' });
    expect(await domain.orders.create({ accountId: other, planId: 'pro', upgrades: made.id })).toEqual({
      kind: 'unknown_order',
    });
    expect(await domain.orders.list({ accountId: other, limit: 10 })).toEqual([]);
  });

  it('can be cancelled until money has arrived', async () => {
    const made = await order(database.pool, accountId);
    expect(await domain.orders.cancel({ accountId, orderId: made.id })).toMatchObject({ kind: 'cancelled' });
    const second = await order(database.pool, accountId);
    await pay(second.memo, 1n);
    expect(await domain.orders.cancel({ accountId, orderId: second.id })).toEqual({
      kind: 'not_cancellable',
      status: 'partial',
    });
  });

  it('expires, and money that had reached it waits for a person until the order is paid after all', async () => {
    const made = await order(database.pool, accountId);
    const { transferId } = await pay(made.memo, 100_000n);
    await database.pool.query(`UPDATE purchase_order SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
      made.id,
    ]);
    expect(await domain.orders.expire()).toBe(1);
    expect(await domain.orders.expire()).toBe(0);
    expect(await domain.orders.find(accountId, made.id)).toMatchObject({ status: 'expired' });
    expect((await domain.transfers.find(transferId))?.review).toMatchObject({ reason: 'short', closedAt: null });
    const rest = await pay(made.memo, 150_000n);
    expect(rest).toMatchObject({ kind: 'review', reason: 'late' });
    await domain.transfers.matchByHand({ transferId: rest.transferId, orderId: made.id, by: 'op' });
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
    expect((await domain.transfers.find(transferId))?.review?.closedBy).toBe('matcher');
  });

  it('that expires sends money back into the queue that a person had laid beside it, unless it was dealt with', async () => {
    const made = await order(database.pool, accountId);
    const [first, second] = [await pay('no memo', 100_000n), await pay('no memo', 50_000n)];
    const expireNow = async () => {
      await database.pool.query(`UPDATE purchase_order SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
        made.id,
      ]);
      expect(await domain.orders.expire()).toBe(1);
    };
    const reviewOf = async ({ transferId }: { transferId: string }) =>
      (await domain.transfers.find(transferId))?.review;
    await domain.transfers.matchByHand({ transferId: first.transferId, orderId: made.id, by: 'op' });
    expect(await reviewOf(first)).toMatchObject({ reason: 'no_memo', closedBy: 'op' });
    await expireNow();
    expect(await reviewOf(first)).toMatchObject({ reason: 'short', orderId: made.id, closedAt: null, closedBy: null });

    await domain.transfers.closeReview({ transferId: first.transferId, by: 'op', note: 'sent back' });
    await domain.transfers.matchByHand({ transferId: second.transferId, orderId: made.id, by: 'op' });
    await expireNow();
    expect(await reviewOf(first)).toMatchObject({ reason: 'short', closedBy: 'op', note: 'sent back' });
    expect(await reviewOf(second)).toMatchObject({ reason: 'short', closedAt: null });
  });

  it('that expired and then gets some more waits again, and none of its money for a person until it expires again', async () => {
    const made = await order(database.pool, accountId);
    const first = await pay(made.memo, 100_000n);
    const end = async () => {
      await database.pool.query(
        `UPDATE purchase_order SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 minute' WHERE id = $1`,
        [made.id],
      );
      expect(await domain.orders.expire()).toBe(1);
    };
    const reviewOf = async ({ transferId }: { transferId: string }) =>
      (await domain.transfers.find(transferId))?.review;
    await end();
    expect(await reviewOf(first)).toMatchObject({ reason: 'short', closedAt: null });
    // Sent in time, heard of late.
    const bookedAt = new Date(Date.now() - 3_600_000);
    const more = await domain.transfers.receive(transfer({ memo: made.memo, amountVnd: 50_000n, bookedAt }));
    expect(more).toMatchObject({ kind: 'partial', missingVnd: 100_000n });
    expect(await reviewOf(first)).toMatchObject({ reason: 'short', closedBy: 'matcher' });
    await end();
    for (const money of [first, more]) expect(await reviewOf(money)).toMatchObject({ reason: 'short', closedAt: null });
  });

  it('is listed newest first, page by page', async () => {
    const made = [];
    for (let i = 0; i < 5; i++) made.push((await order(database.pool, accountId)).id);
    const first = await domain.orders.list({ accountId, limit: 3 });
    const rest = await domain.orders.list({ accountId, limit: 3, before: first.at(-1)?.id ?? '' });
    expect([...first, ...rest].map(({ id }) => id)).toEqual(made.toReversed());
  });
});

async function paidStarter() {
  const made = await order(database.pool, accountId);
  await pay(made.memo, 250_000n);
  return made;
}

it('an order keeps its terms, regardless of later changes of its plan', async () => {
  const plan = { id: 'fleeting', name: 'Fleeting', priceVnd: 300_000n, budget: oneUsd, validDays: 30, enabled: true };
  await upsertPlan(database.pool, plan);
  const made = await order(database.pool, accountId, 'fleeting');
  await upsertPlan(database.pool, {
    ...plan,
    name: 'Other',
    priceVnd: 2n,
    budget: 1n,
    validDays: null,
    enabled: false,
  });
  const frozen = { planName: 'Fleeting', priceVnd: 300_000n, budget: oneUsd, validDays: 30 };
  expect(await domain.orders.find(accountId, made.id)).toMatchObject(frozen);
  expect((await domain.orders.search({ memo: made.memo, limit: 1 }))[0]).toMatchObject(frozen);
});

it('orders are found by operators, by state and by any spelling of the memo', async () => {
  const made = await order(database.pool, accountId);
  await pay(made.memo, 1n);
  const search = (input: Partial<Parameters<typeof domain.orders.search>[0]>) =>
    domain.orders.search({ limit: 5, ...input });
  expect(await search({ memo: `ck ${made.memo.toLowerCase()}` })).toMatchObject([{ id: made.id, status: 'partial' }]);
  expect(await search({ memo: made.memo, status: 'paid' })).toEqual([]);
  expect(await search({ memo: 'no code' })).toEqual([]);
  expect((await search({ status: 'partial' }))[0]?.id).toBe(made.id);
  expect(await domain.orders.findAny(made.id)).toMatchObject({ accountId });
  expect(await domain.orders.findAny('x')).toBeNull();
  expect((await domain.transfers.ofOrders([made.id])).get(made.id)).toMatchObject([{ amountVnd: 1n }]);
});

describe('an upgrade', () => {
  it('costs and gives the difference', async () => {
    const base = await paidStarter();
    const upgrade = await order(database.pool, accountId, 'pro', base.id);
    expect(upgrade).toMatchObject({ priceVnd: 750_000n, budget: 40n * oneUsd, upgrades: base.id });
    await pay(upgrade.memo, 750_000n);
    expect((await purchases(database.pool, accountId)).map(({ amount }) => amount)).toEqual([
      10n * oneUsd,
      40n * oneUsd,
    ]);
  });

  it('of an upgrade counts everything that was paid before', async () => {
    await upsertPlan(database.pool, {
      id: 'team',
      name: 'Team',
      priceVnd: 4_000_000n,
      budget: 220n * oneUsd,
      validDays: null,
      enabled: true,
    });
    const base = await paidStarter();
    const upgrade = await order(database.pool, accountId, 'pro', base.id);
    await pay(upgrade.memo, 750_000n);
    expect(await order(database.pool, accountId, 'team', upgrade.id)).toMatchObject({
      priceVnd: 3_000_000n,
      budget: 170n * oneUsd,
    });
  });

  it('needs a paid order, a dearer plan, and happens once', async () => {
    const ask = (planId: string, upgrades: string) => domain.orders.create({ accountId, planId, upgrades });
    const unpaid = await order(database.pool, accountId);
    expect(await ask('pro', unpaid.id)).toEqual({ kind: 'not_upgradable', reason: 'not_paid' });
    const base = await paidStarter();
    expect(await ask('starter', base.id)).toEqual({ kind: 'not_upgradable', reason: 'not_dearer' });
    const outcomes = await Promise.all([ask('pro', base.id), ask('pro', base.id), ask('pro', base.id)]);
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'not_upgradable')).toHaveLength(2);
  });

  it('that expired is not paid a second time once another took its place', async () => {
    const base = await paidStarter();
    const first = await order(database.pool, accountId, 'pro', base.id);
    await database.pool.query(`UPDATE purchase_order SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
      first.id,
    ]);
    await domain.orders.expire();
    const second = await order(database.pool, accountId, 'pro', base.id);
    await pay(second.memo, 750_000n);
    const late = await pay(first.memo, 750_000n);
    expect(late).toMatchObject({ kind: 'review', reason: 'late' });
    expect(await domain.transfers.matchByHand({ transferId: late.transferId, orderId: first.id, by: 'op' })).toEqual({
      kind: 'upgrade_superseded',
    });
    expect(await purchases(database.pool, accountId)).toHaveLength(2);
  });

  it('is refused while a person revives another one of the same order', async () => {
    const base = await paidStarter();
    const first = await order(database.pool, accountId, 'pro', base.id);
    await database.pool.query(`UPDATE purchase_order SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
      first.id,
    ]);
    await domain.orders.expire();
    const late = await pay(first.memo, 750_000n);
    const [reviving, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hand = createTransfers({
      pool: database.pool,
      accountNumbers: null,
      onOrderMoved: async () => {
        reviving.resolve();
        await done.promise;
      },
    });
    const matched = hand.matchByHand({ transferId: late.transferId, orderId: first.id, by: 'op' });
    await reviving.promise;
    const second = domain.orders.create({ accountId, planId: 'pro', upgrades: base.id });
    await lockWaits(database.pool, 1);
    done.resolve();
    expect(await matched).toMatchObject({ kind: 'paid' });
    expect(await second).toEqual({ kind: 'not_upgradable', reason: 'already_upgraded' });
    expect(await purchases(database.pool, accountId)).toHaveLength(2);
  });
});

describe('plans', () => {
  const plan = { id: 'gold', name: 'Gold', priceVnd: 10n, budget: oneUsd, validDays: null, enabled: false };

  it('are listed by price, those on sale unless all are asked for', async () => {
    expect((await listPlans(database.pool)).map(({ id }) => id)).not.toContain('old');
    expect((await listPlans(database.pool, { all: true })).map(({ id }) => id)[0]).toBe('old');
  });

  it('are saved once, changed and told in the audit', async () => {
    const kinds = [];
    for (const changes of [{}, {}, { priceVnd: 11n }])
      kinds.push((await upsertPlan(database.pool, { ...plan, ...changes })).kind);
    expect(kinds).toEqual(['created', 'unchanged', 'changed']);
    const { rows } = await database.pool.query(
      `SELECT action, before ->> 'priceVnd' AS before, after ->> 'priceVnd' AS after FROM audit_entry
       WHERE subject = 'plan:gold' ORDER BY created_at, action DESC`,
    );
    expect(rows).toEqual([
      { action: 'plan.create', before: null, after: '10' },
      { action: 'plan.change', before: '10', after: '11' },
    ]);
  });

  it.each([
    ['id', { id: 'A b' }],
    ['name', { name: ' ' }],
    ['priceVnd', { priceVnd: 0n }],
    ['priceVnd', { priceVnd: 10n ** 13n }],
    ['budget', { budget: 0n }],
    ['budget', { budget: 2n ** 63n }],
    ['validDays', { validDays: 0 }],
    ['validDays', { validDays: 1.5 }],
  ])('are refused for their %s', async (field, changes) => {
    expect(await upsertPlan(database.pool, { ...plan, id: 'never', ...changes })).toMatchObject({
      kind: 'invalid',
      field,
    });
    expect(await findPlan(database.pool, 'never')).toBeNull();
  });
});
