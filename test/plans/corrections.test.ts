/** Corrections of transfers: proposals, a match taken back, an account credited without an order. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { differencesWithin, mayResemble, proposeOrders } from '../../server/plans/bank/proposals.ts';
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
const waiting = async (changes: Parameters<typeof transfer>[0] = {}) => {
  const { transferId } = await domain.transfers.receive(transfer({ memo: 'tien com', ...changes }));
  return transferId;
};
const by = 'operator';
const holds = async () => expect(await checkInvariants(database.pool)).toEqual([]);

describe('proposals', () => {
  it('find a code of which a character is missing, added or wrong', async () => {
    const { order: paid } = await fresh();
    const { memo } = paid;
    const mistyped = [
      `ck ${memo.slice(0, 5)}${memo.slice(6)} cam on`,
      `ck ${memo.slice(0, 4)}X${memo.slice(4)}`,
      `ck ${memo.slice(0, -1)}${memo.endsWith('7') ? '8' : '7'} 0291000123`,
      `${memo.slice(0, 3)} ${memo.slice(4)}`,
    ];
    for (const text of mistyped) {
      const transferId = await waiting({ memo: text, amountVnd: 1n });
      const found = await domain.transfers.find(transferId);
      const [first] = found === null ? [] : await proposeOrders(database.pool, found);
      expect({ text, ...first }).toMatchObject({ text, orderId: paid.id, reason: 'near_memo' });
    }
  });

  it('name orders that wait for exactly this amount after those, and nothing for a transfer that pays', async () => {
    const { order: open } = await fresh();
    await database.pool.query(`UPDATE purchase_order SET price_vnd = 777123 WHERE id = $1`, [open.id]);
    const found = await domain.transfers.find(await waiting({ amountVnd: 777_123n }));
    if (found === null) throw new Error('missing');
    expect(await proposeOrders(database.pool, found)).toEqual([
      { orderId: open.id, reason: 'same_amount', differences: 0 },
    ]);
    await domain.transfers.matchByHand({ transferId: found.id, orderId: open.id, by });
    const matched = await domain.transfers.find(found.id);
    expect(matched === null ? null : await proposeOrders(database.pool, matched)).toEqual([]);
  });

  it('count edits as a person would', () => {
    expect(differencesWithin('SYWJEGRDA', 'CKSYWJEGRDAOK')).toBe(0);
    expect(differencesWithin('SYWJEGRDA', 'SYWJEGRD')).toBe(1);
    expect(differencesWithin('SYWJEGRDA', 'SYWJXGRDA')).toBe(1);
    expect(differencesWithin('SYWJEGRDA', 'THANKYOU')).toBeGreaterThan(2);
    expect(differencesWithin('SYWJEGRDA', '')).toBe(9);
  });
});

describe('the shortcut past orders that cannot resemble a text', () => {
  it('never passes one by that is within two edits', () => {
    const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    let seed = 7;
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const letter = () => letters.charAt(next(letters.length));
    const passedBy: { code: string; text: string }[] = [];
    for (let round = 0; round < 3_000; round++) {
      const code = `SY${Array.from({ length: 7 }, letter).join('')}`;
      let written = code;
      for (let edit = 0; edit < 2; edit++) {
        const at = next(written.length);
        const middle = [written.charAt(at) + letter(), '', letter()][next(3)] ?? '';
        written = written.slice(0, at) + middle + written.slice(at + 1);
      }
      const text = `CK${written}CAMON`;
      if (differencesWithin(code, text) <= 2 && !mayResemble(code, text)) passedBy.push({ code, text });
    }
    expect(passedBy).toEqual([]);
  });
});

describe('a match that an operator made', () => {
  it('is taken back while nothing is spent: budget, order and queue are as before, and it can be made right', async () => {
    const wrong = await fresh();
    const right = await fresh();
    const transferId = await waiting();
    await domain.transfers.matchByHand({ transferId, orderId: wrong.order.id, by });
    expect(await readBalance(database.pool, wrong.accountId)).toMatchObject({ free: 10n * oneUsd });

    expect(await domain.transfers.undoMatch({ transferId, by })).toEqual({ kind: 'undone', orderId: wrong.order.id });
    expect(await readBalance(database.pool, wrong.accountId)).toMatchObject({ free: 0n });
    expect(await domain.orders.find(wrong.accountId, wrong.order.id)).toMatchObject({
      status: 'pending',
      receivedVnd: 0n,
      paidAt: null,
    });
    expect(await domain.transfers.find(transferId)).toMatchObject({
      orderId: null,
      review: { reason: 'no_memo', closedAt: null },
    });
    await holds();

    await domain.transfers.matchByHand({ transferId, orderId: right.order.id, by });
    expect(await purchases(database.pool, right.accountId)).toHaveLength(1);
    // The first order can still be paid by its own money.
    await domain.transfers.receive(transfer({ memo: wrong.order.memo }));
    expect(await readBalance(database.pool, wrong.accountId)).toMatchObject({ free: 10n * oneUsd });
    await holds();
  });

  it('stays when something of its budget is spent or held, and nothing changes', async () => {
    for (const used of ['spent', 'held']) {
      const { accountId, order: paid } = await fresh();
      const transferId = await waiting();
      await domain.transfers.matchByHand({ transferId, orderId: paid.id, by });
      await database.pool.query(`UPDATE "grant" SET ${used} = 1 WHERE account_id = $1`, [accountId]);
      expect(await domain.transfers.undoMatch({ transferId, by })).toMatchObject({ kind: 'used', [used]: 1n });
      expect(await domain.orders.find(accountId, paid.id)).toMatchObject({ status: 'paid', receivedVnd: 250_000n });
      expect(await purchases(database.pool, accountId)).toHaveLength(1);
      expect((await domain.transfers.find(transferId))?.orderId).toBe(paid.id);
      await database.pool.query(`UPDATE "grant" SET ${used} = 0 WHERE account_id = $1`, [accountId]);
    }
    await holds();
  });

  it('of part of the money leaves the rest with the order', async () => {
    const { accountId, order: paid } = await fresh();
    await domain.transfers.receive(transfer({ memo: paid.memo, amountVnd: 100_000n }));
    const transferId = await waiting({ amountVnd: 150_000n });
    expect(await domain.transfers.matchByHand({ transferId, orderId: paid.id, by })).toMatchObject({ kind: 'paid' });
    await domain.transfers.undoMatch({ transferId, by });
    expect(await domain.orders.find(accountId, paid.id)).toMatchObject({ status: 'partial', receivedVnd: 100_000n });
    await holds();
  });

  it('of an order that other money pays as well leaves it paid, and corrects the surplus', async () => {
    const { accountId, order: paid } = await fresh();
    const wrong = await waiting({ amountVnd: 100_000n });
    await domain.transfers.matchByHand({ transferId: wrong, orderId: paid.id, by });
    const own = await domain.transfers.receive(transfer({ memo: paid.memo, amountVnd: 260_000n }));
    expect(own).toMatchObject({ kind: 'paid', surplusVnd: 110_000n });
    expect(await domain.transfers.undoMatch({ transferId: wrong, by })).toMatchObject({ kind: 'undone' });
    expect(await domain.orders.find(accountId, paid.id)).toMatchObject({ status: 'paid', receivedVnd: 260_000n });
    expect(await readBalance(database.pool, accountId)).toMatchObject({ free: 10n * oneUsd });
    expect((await domain.transfers.find(own.transferId))?.review).toMatchObject({
      surplusVnd: 10_000n,
      closedAt: null,
    });
    await holds();
  });

  it('gives nothing to a batch that waits for the grant while it is taken back', async () => {
    const { accountId, order: paid } = await fresh();
    const transferId = await waiting();
    await domain.transfers.matchByHand({ transferId, orderId: paid.id, by });
    await domain.transfers.undoMatch({ transferId, by });
    // A transaction that began before sees the grant as one that had ended, whatever its own moment is.
    const { rows } = await database.pool.query(
      `SELECT expires_at <= created_at AS never FROM "grant" WHERE account_id = $1`,
      [accountId],
    );
    expect(rows).toEqual([{ never: true }]);
  });

  it('is not taken back when the payer named the order, or another order upgrades it', async () => {
    const named = await fresh();
    const paid = await domain.transfers.receive(transfer({ memo: named.order.memo }));
    expect(await domain.transfers.undoMatch({ transferId: paid.transferId, by })).toEqual({ kind: 'matched_by_memo' });
    const base = await fresh();
    const transferId = await waiting();
    await domain.transfers.matchByHand({ transferId, orderId: base.order.id, by });
    await order(database.pool, base.accountId, 'pro', base.order.id);
    expect(await domain.transfers.undoMatch({ transferId, by })).toEqual({ kind: 'upgraded' });
  });

  it('is taken back once by ten operators at once', async () => {
    const { accountId, order: paid } = await fresh();
    const transferId = await waiting();
    await domain.transfers.matchByHand({ transferId, orderId: paid.id, by });
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => domain.transfers.undoMatch({ transferId, by })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'undone')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'not_matched')).toHaveLength(9);
    expect(await purchases(database.pool, accountId)).toEqual([]);
    await holds();
  });

  it('leaves the table of matches only with its record', async () => {
    const { order: paid } = await fresh();
    const transferId = await waiting();
    await domain.transfers.matchByHand({ transferId, orderId: paid.id, by });
    await expect(
      database.pool.query('DELETE FROM transfer_match WHERE transfer_id = $1', [transferId]),
    ).rejects.toThrow('append-only');
    await domain.transfers.undoMatch({ transferId, by });
    const { rows } = await database.pool.query(
      'SELECT matched_by, undone_by, order_id FROM transfer_unmatch WHERE transfer_id = $1',
      [transferId],
    );
    expect(rows).toEqual([{ matched_by: by, undone_by: by, order_id: paid.id }]);
    await expect(database.pool.query('DELETE FROM transfer_unmatch')).rejects.toThrow('append-only');
  });
});

describe('a transfer without an order', () => {
  it('credits an account at a plan’s price of a USD, with an order and a receipt like any other', async () => {
    const accountId = await createAccount(database.pool);
    const transferId = await waiting({ amountVnd: 123_456n });
    const outcome = await domain.transfers.creditAccount({ transferId, accountId, planId: 'starter', by });
    if (outcome.kind !== 'credited') throw new Error(outcome.kind);
    // 123,456 / 25,000 = 4.93824, cut to whole cents.
    expect(await readBalance(database.pool, accountId)).toMatchObject({ free: (493n * oneUsd) / 100n });
    expect(await domain.orders.find(accountId, outcome.orderId)).toMatchObject({
      status: 'paid',
      priceVnd: 123_456n,
      receivedVnd: 123_456n,
    });
    await holds();
    expect(await domain.transfers.undoMatch({ transferId, by })).toMatchObject({ kind: 'undone' });
    expect(await readBalance(database.pool, accountId)).toMatchObject({ free: 0n });
    await holds();
  });

  it('credits once, however many ask, and never what left us, was matched, or is worth nothing', async () => {
    const accountId = await createAccount(database.pool);
    const transferId = await waiting({ amountVnd: 50_000n });
    const ask = { transferId, accountId, planId: 'starter', by };
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => domain.transfers.creditAccount(ask)));
    expect(outcomes.filter(({ kind }) => kind === 'credited')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'already_matched')).toHaveLength(9);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
    const outgoing = await waiting({ direction: 'out' });
    expect(await domain.transfers.creditAccount({ ...ask, transferId: outgoing })).toMatchObject({
      kind: 'not_payable',
    });
    const tiny = await waiting({ amountVnd: 1n });
    expect(await domain.transfers.creditAccount({ ...ask, transferId: tiny })).toEqual({ kind: 'too_little' });
    expect(await domain.transfers.creditAccount({ ...ask, planId: 'none' })).toMatchObject({ kind: 'already_matched' });
    await holds();
  });
});
