/** Transfers: stored once, matched once, under concurrency too. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { completeMemo, findMemos } from '../../server/plans/memo.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount, createDomain, createPlans, oneUsd, order, purchases, transfer } from './support.ts';

let database: TestDatabase;
let domain: ReturnType<typeof createDomain>;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  domain = createDomain(database.pool);
});
afterAll(() => database.drop());

const fresh = async (planId = 'starter') => {
  const accountId = await createAccount(database.pool);
  return { accountId, order: await order(database.pool, accountId, planId) };
};
const stateOf = async (accountId: string, orderId: string) => domain.orders.find(accountId, orderId);
const move = (orderId: string, created: string, expires: string, status: string) =>
  database.pool.query(
    `UPDATE purchase_order SET created_at = now() + $2::interval, expires_at = now() + $3::interval, status = $4 WHERE id = $1`,
    [orderId, created, expires, status],
  );

describe('a transfer', () => {
  it('of the price pays the order and grants its budget, once', async () => {
    const { accountId, order } = await fresh();
    const money = transfer({ memo: `ck ${order.memo.toLowerCase()} cam on` });
    const receipt = await domain.transfers.receive(money);
    expect(receipt).toMatchObject({ kind: 'paid', orderId: order.id, surplusVnd: 0n });
    expect(await stateOf(accountId, order.id)).toMatchObject({ status: 'paid', receivedVnd: 250_000n });
    expect(await purchases(database.pool, accountId)).toEqual([
      { amount: 10n * oneUsd, sourceRef: `order:${order.id}`, expiresAt: null },
    ]);
    expect(await readBalance(database.pool, accountId)).toMatchObject({ free: 10n * oneUsd });

    const replays = await Promise.all(Array.from({ length: 100 }, () => domain.transfers.receive(money)));
    expect(new Set(replays.map(({ kind }) => kind))).toEqual(new Set(['duplicate']));
    expect(new Set(replays.map(({ transferId }) => transferId))).toEqual(new Set([receipt.transferId]));
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('told a hundred times at once is one transfer and one grant', async () => {
    const { accountId, order } = await fresh();
    const money = transfer({ memo: order.memo });
    const receipts = await Promise.all(Array.from({ length: 100 }, () => domain.transfers.receive(money)));
    expect(receipts.filter(({ kind }) => kind === 'paid')).toHaveLength(1);
    expect(receipts.filter(({ kind }) => kind === 'duplicate')).toHaveLength(99);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('below the price makes the order partial; many at once add up to one grant', async () => {
    const { accountId, order } = await fresh();
    const receipts = await Promise.all(
      Array.from({ length: 10 }, () => domain.transfers.receive(transfer({ memo: order.memo, amountVnd: 25_000n }))),
    );
    expect(receipts.filter(({ kind }) => kind === 'partial')).toHaveLength(9);
    expect(receipts.filter(({ kind }) => kind === 'paid')).toHaveLength(1);
    expect(await stateOf(accountId, order.id)).toMatchObject({ status: 'paid', receivedVnd: 250_000n });
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('below the price gives no budget and gives the order a week', async () => {
    const { accountId, order } = await fresh();
    expect(await domain.transfers.receive(transfer({ memo: order.memo, amountVnd: 249_999n }))).toMatchObject({
      kind: 'partial',
      missingVnd: 1n,
    });
    const state = await stateOf(accountId, order.id);
    expect(state?.status).toBe('partial');
    expect(state?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 6.9 * 86_400_000);
    expect(await purchases(database.pool, accountId)).toEqual([]);
    // What is still missing is what the next code asks for.
    expect(state === null ? null : domain.orders.instructions(state)?.amountVnd).toBe(1n);
  });

  it('above the price grants the plan and flags the surplus', async () => {
    const { accountId, order } = await fresh();
    const receipt = await domain.transfers.receive(transfer({ memo: order.memo, amountVnd: 300_000n }));
    expect(receipt).toMatchObject({ kind: 'paid', surplusVnd: 50_000n });
    expect(await purchases(database.pool, accountId)).toMatchObject([{ amount: 10n * oneUsd }]);
    expect(await domain.transfers.find(receipt.transferId)).toMatchObject({
      orderId: order.id,
      review: { reason: 'surplus', surplusVnd: 50_000n, closedAt: null },
    });
  });

  it('for a plan that ends gives a grant that ends', async () => {
    const { accountId, order } = await fresh('pro');
    await domain.transfers.receive(transfer({ memo: order.memo, amountVnd: 1_000_000n }));
    const [grant] = await purchases(database.pool, accountId);
    const days = ((grant?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);
  });

  it.each<[string, string, (memo: string) => Parameters<typeof transfer>[0], (id: string) => Promise<unknown>]>([
    ['without a code', 'no_memo', () => ({ memo: 'chuyen tien' }), async () => {}],
    ['with a code of no order', 'unknown_memo', () => ({ memo: completeMemo('000000') }), async () => {}],
    ['that leaves', 'outgoing', (memo) => ({ memo, direction: 'out' }), async () => {}],
    ['of nothing', 'no_amount', (memo) => ({ memo, amountVnd: 0n }), async () => {}],
    ['to another account', 'other_account', (memo) => ({ memo, accountNumbers: ['9704000001'] }), async () => {}],
    ['for an order out of time', 'late', (memo) => ({ memo }), (id) => move(id, '-5 days', '-1 hour', 'pending')],
    ['for an expired order', 'late', (memo) => ({ memo }), (id) => move(id, '-5 days', '-1 hour', 'expired')],
    ['for a cancelled order', 'order_cancelled', (memo) => ({ memo }), (id) => move(id, '0', '1 day', 'cancelled')],
  ])('%s waits for a person: %s', async (_, reason, changes, prepare) => {
    const { accountId, order } = await fresh();
    await prepare(order.id);
    const receipt = await domain.transfers.receive(transfer(changes(order.memo)));
    expect(receipt).toMatchObject({ kind: 'review', reason });
    expect(await purchases(database.pool, accountId)).toEqual([]);
    const queue = await domain.transfers.list({ queue: true, limit: 100 });
    expect(queue.map(({ id }) => id)).toContain(receipt.transferId);
  });

  it('with the codes of two orders waits for a person', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const memo = `${one.order.memo} ${two.order.memo}`;
    expect(findMemos(memo)).toHaveLength(2);
    expect(await domain.transfers.receive(transfer({ memo }))).toMatchObject({ reason: 'several_memos' });
  });

  it('that names no account of ours and no other is believed', async () => {
    const { order } = await fresh();
    expect(await domain.transfers.receive(transfer({ memo: order.memo, accountNumbers: [] }))).toMatchObject({
      kind: 'paid',
    });
  });

  it('told by two sources under different ids counts once, also at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const { accountId, order } = await fresh();
      const half = transfer({ memo: order.memo, amountVnd: 125_000n });
      const receipts = await Promise.all([
        domain.transfers.receive(half),
        domain.transfers.receive({ ...half, provider: 'operator', providerId: half.bankReference ?? '' }),
      ]);
      expect(receipts.map((receipt) => (receipt.kind === 'review' ? receipt.reason : receipt.kind)).sort()).toEqual([
        'partial',
        'repeated',
      ]);
      expect(await purchases(database.pool, accountId)).toEqual([]);
    }
  });

  it('of one source with two ids and one bank reference is one', async () => {
    const { accountId, order } = await fresh();
    const half = transfer({ memo: order.memo, amountVnd: 125_000n });
    expect(await domain.transfers.receive(half)).toMatchObject({ kind: 'partial' });
    expect(await domain.transfers.receive({ ...half, providerId: `${half.providerId}-2` })).toMatchObject({
      kind: 'duplicate',
    });
    expect(await purchases(database.pool, accountId)).toEqual([]);
  });

  it('after the order was paid waits for a person and grants nothing more', async () => {
    const { accountId, order } = await fresh();
    await domain.transfers.receive(transfer({ memo: order.memo }));
    expect(await domain.transfers.receive(transfer({ memo: order.memo }))).toMatchObject({ reason: 'order_paid' });
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('is not half done when the grant fails', async () => {
    const { accountId, order } = await fresh();
    const { createTransfers } = await import('../../server/plans/bank/transfers.ts');
    const failing = createTransfers({
      pool: database.pool,
      accountNumbers: null,
      giveGrant: async () => {
        throw new Error('no grant');
      },
    });
    const money = transfer({ memo: order.memo });
    await expect(failing.receive(money)).rejects.toThrow('no grant');
    expect(await stateOf(accountId, order.id)).toMatchObject({ status: 'pending', receivedVnd: 0n });
    // The provider tells it again, and now it works.
    expect(await domain.transfers.receive(money)).toMatchObject({ kind: 'paid' });
  });

  it('cannot be rewritten, and money that left cannot be matched, even by an operator', async () => {
    const { order } = await fresh();
    const receipt = await domain.transfers.receive(transfer({ memo: order.memo, direction: 'out' }));
    const id = receipt.transferId;
    await expect(database.pool.query('UPDATE bank_transfer SET amount_vnd = 1 WHERE id = $1', [id])).rejects.toThrow(
      'append-only',
    );
    await expect(
      database.pool.query(`INSERT INTO transfer_match (transfer_id, order_id, matched_by) VALUES ($1, $2, 'x')`, [
        id,
        order.id,
      ]),
    ).rejects.toThrow('cannot pay an order');
  });
});

describe('an operator', () => {
  it('matches what the memo did not, and the queue forgets it', async () => {
    const { accountId, order } = await fresh();
    const { transferId } = await domain.transfers.receive(transfer({ memo: 'tien mua goi' }));
    const outcome = await domain.transfers.matchByHand({ transferId, orderId: order.id, by: 'op' });
    expect(outcome).toEqual({ kind: 'paid', orderId: order.id, surplusVnd: 0n });
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
    expect(await domain.transfers.find(transferId)).toMatchObject({
      orderId: order.id,
      matchedBy: 'op',
      review: { closedBy: 'op' },
    });
  });

  it('may honour a late payment', async () => {
    const { accountId, order } = await fresh();
    await move(order.id, '-5 days', '-1 hour', 'expired');
    const { transferId } = await domain.transfers.receive(transfer({ memo: order.memo }));
    expect(await domain.transfers.matchByHand({ transferId, orderId: order.id, by: 'op' })).toMatchObject({
      kind: 'paid',
    });
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
  });

  it('cannot match a transfer twice, a paid order, money that left, or what does not exist', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const { transferId } = await domain.transfers.receive(transfer({ memo: one.order.memo }));
    const by = 'op';
    const nowhere = '00000000-0000-7000-8000-000000000000';
    const match = (transferId: string, orderId: string) => domain.transfers.matchByHand({ transferId, orderId, by });
    expect(await match(transferId, two.order.id)).toEqual({ kind: 'already_matched', orderId: one.order.id });
    const second = await domain.transfers.receive(transfer({ memo: one.order.memo }));
    expect(await match(second.transferId, one.order.id)).toEqual({ kind: 'not_payable', reason: 'order_paid' });
    const out = await domain.transfers.receive(transfer({ direction: 'out' }));
    expect(await match(out.transferId, two.order.id)).toEqual({ kind: 'not_payable', reason: 'outgoing' });
    expect(await match(nowhere, two.order.id)).toEqual({ kind: 'unknown_transfer' });
    expect(await match(second.transferId, nowhere)).toEqual({ kind: 'unknown_order' });
    expect(await purchases(database.pool, two.accountId)).toEqual([]);
  });

  it('and the webhook at once give one grant', async () => {
    for (let round = 0; round < 10; round++) {
      const { accountId, order } = await fresh();
      const stray = await domain.transfers.receive(transfer({ memo: 'khong ro' }));
      const [byHand, byMemo] = await Promise.all([
        domain.transfers.matchByHand({ transferId: stray.transferId, orderId: order.id, by: 'op' }),
        domain.transfers.receive(transfer({ memo: order.memo })),
      ]);
      expect([byHand.kind, byMemo.kind].filter((kind) => kind === 'paid')).toHaveLength(1);
      expect(await purchases(database.pool, accountId)).toHaveLength(1);
    }
  });

  it('and another at once match a transfer to one order', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const stray = await domain.transfers.receive(transfer({ memo: 'khong ro' }));
    const outcomes = await Promise.all(
      [one, two].map(({ order }) =>
        domain.transfers.matchByHand({ transferId: stray.transferId, orderId: order.id, by: 'op' }),
      ),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['already_matched', 'paid']);
  });

  it('closes what needs no order', async () => {
    const stray = await domain.transfers.receive(transfer({ memo: 'qua tang' }));
    const close = () => domain.transfers.closeReview({ transferId: stray.transferId, by: 'op', note: 'sent back' });
    expect([await close(), await close()]).toEqual([true, false]);
    const queue = await domain.transfers.list({ queue: true, limit: 100 });
    expect(queue.map(({ id }) => id)).not.toContain(stray.transferId);
  });
});

it('after all that the money adds up: no order was granted twice or without its money', async () => {
  expect(await checkInvariants(database.pool)).toEqual([]);
});
