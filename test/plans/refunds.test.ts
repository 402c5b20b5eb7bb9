import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createOrderMails } from '../../server/plans/order-mails.ts';
import { createStatements } from '../../server/plans/papers/statements.ts';
import { createRefunds } from '../../server/plans/refunds.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount, createDomain, createPlans, oneUsd, order, transfer } from './support.ts';

/** Money that goes back: of purchases, surpluses and payments that bought nothing. */

let database: TestDatabase;
let pool: Pool;
const by = randomUUID();

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url, max: 4, types: bigintTypes });
  pool.on('error', () => {});
  await createPlans(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const refunds = () => createRefunds({ pool });
const domain = () => createDomain(pool);

/** An order that was paid with 250,000 VND for 10 USD, of which so much is spent. */
async function paidOrder({ spent = 0n, amountVnd = 250_000n } = {}) {
  const accountId = await createAccount(pool);
  const made = await order(pool, accountId);
  const receipt = await domain().transfers.receive(transfer({ memo: made.memo, amountVnd }));
  if (spent > 0n) await spend(accountId, spent);
  return { accountId, orderId: made.id, transferId: receipt.transferId };
}

/** As a settlement leaves the money of a grant. */
async function spend(accountId: string, amount: bigint): Promise<void> {
  await pool.query(
    `WITH g AS (UPDATE "grant" SET spent = spent + $2 WHERE account_id = $1 AND kind = 'purchase' RETURNING id)
     INSERT INTO posting (account_id, grant_id, kind, amount, request_id) SELECT $1, id, 'charge', $2, gen_random_uuid() FROM g`,
    [accountId, amount],
  );
}

const whole = { budget: null, usedVnd: 0n, reason: 'asked for it', by };

async function grantOf(accountId: string) {
  const { rows } = await pool.query<{ free: bigint; expired: bigint }>(
    `SELECT amount - spent - held - expired AS free, expired FROM "grant" WHERE account_id = $1 AND kind = 'purchase'`,
    [accountId],
  );
  return rows[0];
}

describe('a refund of a purchase', () => {
  it('takes unused budget back at the purchase’s own rate, with a credit note, and keeps what was used', async () => {
    const { accountId, orderId } = await paidOrder({ spent: 3n * oneUsd });
    expect(await refunds().refundOrder({ ...whole, orderId })).toMatchObject({
      kind: 'refunded',
      refund: {
        kind: 'purchase',
        amountVnd: 175_000n,
        unusedVnd: 175_000n,
        usedVnd: 0n,
        budget: 7n * oneUsd,
        sentVnd: 0n,
      },
    });
    expect(await grantOf(accountId)).toEqual({ free: 0n, expired: 7n * oneUsd });
    // The test spends without requests, which I4 and I5 notice; the grants and what was sold are sound.
    const broken = (await checkInvariants(pool, { accounts: [accountId] })).map(({ invariant }) => invariant);
    expect(broken.filter((name) => name !== 'I4' && name !== 'I5')).toEqual([]);
    const statement = await createStatements({ pool }).read(
      accountId,
      new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 7),
    );
    expect(statement).toMatchObject({ takenBack: 7n * oneUsd, expired: 0n });
    expect(statement?.movements.map(({ kind, creditNote }) => [kind, creditNote === null])).toEqual([
      ['grant', true],
      ['refund', false],
    ]);
  });

  it('gives a part back and leaves the rest usable, until nothing is left, to the dong', async () => {
    const { accountId, orderId } = await paidOrder({ spent: oneUsd / 3n });
    const first = await refunds().refundOrder({ ...whole, orderId, budget: oneUsd / 7n });
    expect(first).toMatchObject({ refund: { amountVnd: 3_571n, budget: oneUsd / 7n } });
    expect(await grantOf(accountId)).toMatchObject({ free: 10n * oneUsd - oneUsd / 3n - oneUsd / 7n });
    const rest = await refunds().refundOrder({ ...whole, orderId });
    // 250,000 less 8,333 for what was used, less 3,571.
    expect(rest).toMatchObject({ refund: { amountVnd: 238_096n } });
    expect(await refunds().refundOrder({ ...whole, orderId })).toEqual({ kind: 'too_much', mostVnd: 8_333n });
  });

  it('gives back what was paid for used budget only when an operator says so', async () => {
    const { orderId } = await paidOrder({ spent: 4n * oneUsd });
    expect(await refunds().refundOrder({ ...whole, orderId, usedVnd: 100_001n })).toEqual({
      kind: 'too_much',
      mostVnd: 250_000n,
    });
    expect(await refunds().refundOrder({ ...whole, orderId, usedVnd: 'all' })).toMatchObject({
      refund: { amountVnd: 250_000n, unusedVnd: 150_000n, usedVnd: 100_000n },
    });
  });

  it('takes nothing that running requests hold', async () => {
    const { accountId, orderId } = await paidOrder();
    await pool.query(`UPDATE "grant" SET held = $2 WHERE account_id = $1`, [accountId, oneUsd]);
    expect(await refunds().refundOrder({ ...whole, orderId, budget: 10n * oneUsd })).toEqual({
      kind: 'too_much_budget',
      free: 9n * oneUsd,
      held: oneUsd,
    });
    expect(await refunds().refundOrder({ ...whole, orderId, usedVnd: 'all' })).toMatchObject({
      kind: 'too_much_budget',
    });
  });

  it('is refused for an order that is not paid; a refunded one is neither upgraded nor undone', async () => {
    const accountId = await createAccount(pool);
    const made = await order(pool, accountId);
    expect(await refunds().refundOrder({ ...whole, orderId: made.id })).toEqual({ kind: 'not_paid' });
    expect(await refunds().refundOrder({ ...whole, orderId: randomUUID() })).toEqual({ kind: 'unknown_order' });
    const { transferId } = await domain().transfers.receive(transfer({ amountVnd: 250_000n }));
    await domain().transfers.matchByHand({ transferId, orderId: made.id, by });
    await refunds().refundOrder({ ...whole, orderId: made.id, budget: oneUsd });
    expect(await domain().transfers.undoMatch({ transferId, by })).toEqual({ kind: 'refunded' });
    expect(await domain().orders.create({ accountId, planId: 'pro', upgrades: made.id })).toEqual({
      kind: 'not_upgradable',
      reason: 'refunded',
    });
  });

  it('is told to the buyer by mail, each once', async () => {
    const { orderId } = await paidOrder({ spent: 5n * oneUsd });
    for (const budget of [oneUsd, 2n * oneUsd]) await refunds().refundOrder({ ...whole, orderId, budget });
    const told: string[] = [];
    const mails = createOrderMails({
      pool,
      deliverMail: async ({ subject }) => void told.push(subject),
      formatUsd: String,
      bank: null,
      publicUrl: 'https://steyg.example',
      log: { warn() {} },
    });
    for (let times = 0; times < 2; times += 1) await mails.send();
    const { rows } = await pool.query('SELECT memo FROM purchase_order WHERE id = $1', [orderId]);
    expect(told.filter((subject) => subject.includes(rows[0].memo) && subject.includes('back'))).toEqual([
      `Steyg order ${rows[0].memo}: ₫25,000 go back to you`,
      `Steyg order ${rows[0].memo}: ₫50,000 go back to you`,
    ]);
  });

  it('of twenty at once is one, and numbers of credit notes have no gaps', async () => {
    const { orderId } = await paidOrder();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => refunds().refundOrder({ ...whole, orderId, budget: 6n * oneUsd })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'refunded')).toHaveLength(1);
    const { rows } = await pool.query('SELECT count(*) AS n, max(number) AS last FROM refund');
    expect(rows[0].n).toBe(rows[0].last);
  });
});

describe('a refund that was a mistake', () => {
  const undo = (refundId: string) => refunds().undo({ refundId, reason: 'the wrong customer', by });

  async function refunded(ask: { orderId: string; budget?: bigint; usedVnd?: bigint | 'all' }) {
    const made = await refunds().refundOrder({ ...whole, ...ask });
    if (made.kind !== 'refunded') throw new Error(made.kind);
    return made.refund;
  }

  it('gives the budget back where it was taken, and its credit note keeps the number', async () => {
    const { accountId, orderId } = await paidOrder({ spent: 3n * oneUsd });
    const { id, number } = await refunded({ orderId });
    expect(await undo(id)).toMatchObject({
      kind: 'undone',
      refund: { number, undoneBy: by, undoneReason: 'the wrong customer', undoneAt: expect.any(Date) },
    });
    expect(await grantOf(accountId)).toEqual({ free: 7n * oneUsd, expired: 0n });
    const broken = (await checkInvariants(pool, { accounts: [accountId] })).map(({ invariant }) => invariant);
    expect(broken.filter((name) => name !== 'I4' && name !== 'I5')).toEqual([]);
    expect((await refunds().list({ open: true, limit: 100 })).map((each) => each.id)).not.toContain(id);
    const statement = await createStatements({ pool }).read(
      accountId,
      new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 7),
    );
    expect(statement).toMatchObject({ takenBack: 0n, expired: 0n });
    expect(statement?.movements.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['grant', 10n * oneUsd],
      ['refund', 7n * oneUsd],
      ['refund_undone', -7n * oneUsd],
    ]);
    // It is a purchase as before: it can be refunded, its match undone, and it can be upgraded.
    expect(await refunds().quote({ orderId, budget: null })).toMatchObject({ unusedVnd: 175_000n });
    const upgrade = await domain().orders.create({ accountId, planId: 'pro', upgrades: orderId });
    expect(upgrade.kind).toBe('created');
    expect(await refunded({ orderId })).toMatchObject({ number: number + 1n, amountVnd: 175_000n });
  });

  it('is undone once, of twenty at once', async () => {
    const { accountId, orderId } = await paidOrder();
    const { id } = await refunded({ orderId, budget: oneUsd });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => undo(id)));
    expect(outcomes.filter(({ kind }) => kind === 'undone')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'already_undone')).toHaveLength(19);
    expect(await grantOf(accountId)).toEqual({ free: 10n * oneUsd, expired: 0n });
    expect(await undo(randomUUID())).toEqual({ kind: 'unknown_refund' });
    expect(await undo('no id')).toEqual({ kind: 'unknown_refund' });
  });

  it('leaves the other refunds of the order, and their sums never exceed the price', async () => {
    const { orderId, accountId } = await paidOrder({ spent: oneUsd / 3n });
    const first = await refunded({ orderId, budget: oneUsd / 7n });
    const last = await refunded({ orderId, usedVnd: 'all' });
    expect(first.amountVnd + last.amountVnd).toBe(250_000n);
    await undo(first.id);
    // What cutting had left went back with the last: what is undone goes back for what it went back for.
    expect(await refunds().quote({ orderId, budget: null })).toMatchObject({ unusedVnd: first.amountVnd });
    expect(await refunded({ orderId })).toMatchObject({ amountVnd: first.amountVnd });
    expect(await grantOf(accountId)).toMatchObject({ free: 0n });
  });

  it('frees the bank’s movement, which then pays another refund', async () => {
    const [one, two] = [await paidOrder(), await paidOrder()];
    const [wrong, right] = [await refunded({ orderId: one.orderId }), await refunded({ orderId: two.orderId })];
    const { transferId } = await domain().transfers.receive(
      transfer({ direction: 'out', memo: wrong.memo, amountVnd: 250_000n }),
    );
    expect(await refunds().find(wrong.id)).toMatchObject({ sentVnd: 250_000n });
    await undo(wrong.id);
    expect((await domain().transfers.find(transferId))?.review).toMatchObject({ reason: 'outgoing', closedAt: null });
    expect(await refunds().pay({ transferId, refundId: wrong.id, by })).toEqual({ kind: 'too_much', mostVnd: 0n });
    expect(await refunds().pay({ transferId, refundId: right.id, by })).toMatchObject({ kind: 'paid' });
    // The memo of a cancelled credit note pays nothing.
    expect(
      await domain().transfers.receive(transfer({ direction: 'out', memo: wrong.memo, amountVnd: 1n })),
    ).toMatchObject({ kind: 'review', reason: 'outgoing' });
  });

  it('brings money back that bought nothing: a surplus, a part-payment, a payment for no order', async () => {
    const { transferId: over } = await paidOrder({ amountVnd: 260_000n });
    const ask = { amountVnd: null, reason: 'a slip', by };
    const back = async (transferId: string): Promise<string> => {
      const made = await refunds().refundTransfer({ ...ask, transferId });
      if (made.kind !== 'refunded') throw new Error(made.kind);
      return made.refund.id;
    };
    await undo(await back(over));
    expect((await domain().transfers.find(over))?.review).toMatchObject({ reason: 'surplus', closedAt: null });

    const part = await order(pool, await createAccount(pool));
    const { transferId: first } = await domain().transfers.receive(transfer({ memo: part.memo, amountVnd: 100_000n }));
    const gone = await back(first);
    await undo(gone);
    expect(await domain().transfers.receive(transfer({ memo: part.memo, amountVnd: 150_000n }))).toMatchObject({
      kind: 'paid',
    });

    const accountId = await createAccount(pool);
    const { transferId: lost } = await domain().transfers.receive(transfer({ amountVnd: 250_000n }));
    await undo(await back(lost));
    expect((await domain().transfers.find(lost))?.review).toMatchObject({ closedAt: null });
    const made = await order(pool, accountId);
    expect(await domain().transfers.matchByHand({ transferId: lost, orderId: made.id, by })).toMatchObject({
      kind: 'paid',
    });
  });

  it('of money that completes its order waits for a person, who matches it', async () => {
    const made = await order(pool, await createAccount(pool));
    const { transferId } = await domain().transfers.receive(transfer({ memo: made.memo, amountVnd: 100_000n }));
    const refund = await refunds().refundTransfer({ transferId, amountVnd: null, reason: 'a slip', by });
    if (refund.kind !== 'refunded') throw new Error(refund.kind);
    expect(await domain().transfers.receive(transfer({ memo: made.memo, amountVnd: 200_000n }))).toMatchObject({
      kind: 'partial',
    });
    await undo(refund.refund.id);
    expect(await domain().transfers.matchByHand({ transferId, orderId: made.id, by })).toMatchObject({
      kind: 'paid',
      surplusVnd: 50_000n,
    });
  });

  it('is told to the buyer by mail', async () => {
    const { orderId } = await paidOrder();
    const { id, number } = await refunded({ orderId, budget: oneUsd });
    await undo(id);
    const told: string[] = [];
    const mails = createOrderMails({
      pool,
      deliverMail: async ({ subject }) => void told.push(subject),
      formatUsd: String,
      bank: null,
      publicUrl: 'https://steyg.example',
      log: { warn() {} },
    });
    await mails.send();
    expect(told.filter((subject) => subject.includes(`credit note ${number} is cancelled`))).toHaveLength(1);
  });
});

describe('money that bought nothing', () => {
  it('goes back as far as it is beyond the price', async () => {
    const { transferId } = await paidOrder({ amountVnd: 260_000n });
    const ask = { transferId, reason: 'paid too much', by };
    expect(await refunds().refundTransfer({ ...ask, amountVnd: 10_001n })).toEqual({
      kind: 'too_much',
      mostVnd: 10_000n,
    });
    expect(await refunds().refundTransfer({ ...ask, amountVnd: null })).toMatchObject({
      refund: { kind: 'surplus', amountVnd: 10_000n },
    });
    expect(await refunds().refundTransfer({ ...ask, amountVnd: null })).toEqual({ kind: 'too_much', mostVnd: 0n });
    expect((await domain().transfers.find(transferId))?.review).toMatchObject({ closedBy: by });
  });

  it('pays no order any more: the rest alone does not reach the price', async () => {
    const accountId = await createAccount(pool);
    const made = await order(pool, accountId);
    const { transferId } = await domain().transfers.receive(transfer({ memo: made.memo, amountVnd: 100_000n }));
    expect(await refunds().refundTransfer({ transferId, amountVnd: null, reason: 'gave up', by })).toMatchObject({
      refund: { kind: 'payment', amountVnd: 100_000n, accountId },
    });
    expect(await domain().transfers.receive(transfer({ memo: made.memo, amountVnd: 150_000n }))).toMatchObject({
      kind: 'partial',
      missingVnd: 100_000n,
    });
  });

  it('that nobody claimed goes back, and then neither pays an order nor credits an account', async () => {
    const accountId = await createAccount(pool);
    const { transferId } = await domain().transfers.receive(transfer({ amountVnd: 250_000n }));
    expect(await refunds().refundTransfer({ transferId, amountVnd: null, reason: 'unknown', by })).toMatchObject({
      refund: { kind: 'payment', accountId: null },
    });
    const made = await order(pool, accountId);
    expect(await domain().transfers.matchByHand({ transferId, orderId: made.id, by })).toEqual({ kind: 'refunded' });
    expect(await domain().transfers.creditAccount({ transferId, accountId, planId: 'starter', by })).toEqual({
      kind: 'refunded',
    });
  });
});

describe('the bank’s movement of a refund', () => {
  const outgoing = (memo: string, amountVnd: bigint) => transfer({ direction: 'out', memo, amountVnd });

  it('is matched by the memo of the credit note, in parts, and never beyond its amount', async () => {
    const { orderId } = await paidOrder({ spent: 2n * oneUsd });
    const made = await refunds().refundOrder({ ...whole, orderId });
    if (made.kind !== 'refunded') throw new Error(made.kind);
    const { id, memo } = made.refund;
    expect(await domain().transfers.receive(outgoing(`HOAN TIEN ${memo}`, 150_000n))).toMatchObject({
      kind: 'refund',
      refundId: id,
    });
    const beyond = await domain().transfers.receive(outgoing(memo, 60_000n));
    expect(beyond).toMatchObject({ kind: 'review', reason: 'outgoing' });
    expect(await refunds().pay({ transferId: beyond.transferId, refundId: id, by })).toEqual({
      kind: 'too_much',
      mostVnd: 50_000n,
    });
    expect(await domain().transfers.receive(outgoing(memo, 50_000n))).toMatchObject({ kind: 'refund' });
    expect(await refunds().find(id)).toMatchObject({ sentVnd: 200_000n });
    expect((await refunds().list({ open: true, limit: 100 })).map((each) => each.id)).not.toContain(id);
  });

  it('is matched by hand, and taken back with a record', async () => {
    const { orderId } = await paidOrder();
    const made = await refunds().refundOrder({ ...whole, orderId });
    if (made.kind !== 'refunded') throw new Error(made.kind);
    const { transferId } = await domain().transfers.receive(outgoing('no memo', 250_000n));
    expect(await refunds().pay({ transferId, refundId: made.refund.id, by })).toMatchObject({ kind: 'paid' });
    expect((await domain().transfers.find(transferId))?.review?.closedBy).toBe(by);
    expect(await refunds().undoPayment({ transferId, by })).toBe(true);
    expect(await refunds().undoPayment({ transferId, by })).toBe(false);
    expect(await refunds().find(made.refund.id)).toMatchObject({ sentVnd: 0n });
    await expect(pool.query('DELETE FROM refund_payment')).rejects.toThrow('append-only');
    const { rows } = await pool.query('SELECT matched_by FROM refund_unpayment WHERE transfer_id = $1', [transferId]);
    expect(rows).toEqual([{ matched_by: by }]);
  });
});
