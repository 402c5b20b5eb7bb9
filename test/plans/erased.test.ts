import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { createErasure } from '../../server/accounts/erasure.ts';
import { addGrant } from '../../server/billing/grants.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createCodes } from '../../server/plans/codes.ts';
import { forgetOrders, lockOrders } from '../../server/plans/erased.ts';
import { createGifts } from '../../server/plans/gifts.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount, createDomain, createPlans, oneUsd, order, transfer } from './support.ts';

// Every way on which money can arrive for an account that was erased: it waits for a person and is nobody's budget.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
});
afterAll(() => database.drop());

const erase = async (accountId: string): Promise<void> => {
  const { pool } = database;
  const { rows } = await pool.query('SELECT email FROM account WHERE id = $1', [accountId]);
  const erasure = createErasure({
    pool,
    orders: { lock: lockOrders, forget: forgetOrders },
    forgetMails: async () => {},
    tell: () => {},
  });
  const by = { kind: 'operator', actor: 'test' } as const;
  expect(await erasure.erase({ accountId, by, confirmation: rows[0].email })).toMatchObject({ kind: 'erased' });
};
const grantsOf = async (accountId: string): Promise<string[]> =>
  (await database.pool.query('SELECT kind FROM "grant" WHERE account_id = $1 ORDER BY kind', [accountId])).rows.map(
    ({ kind }) => kind,
  );
const queue = async (): Promise<Map<string, string>> =>
  new Map(
    (await createDomain(database.pool).transfers.list({ queue: true, limit: 100 })).map(({ id, review }) => [
      id,
      review?.reason ?? '',
    ]),
  );

it.each([
  ['nothing was paid of', 0n],
  ['was partly paid', 100_000n],
])('the money for an order that %s when its account was erased waits for a person', async (_what, before) => {
  const { transfers } = createDomain(database.pool);
  const buyer = await createAccount(database.pool);
  const { id: orderId, memo, priceVnd } = await order(database.pool, buyer);
  const part = before > 0n ? await transfers.receive(transfer({ memo, amountVnd: before })) : null;
  await erase(buyer);
  const rest = await transfers.receive(transfer({ memo, amountVnd: priceVnd - before }));
  expect(rest).toMatchObject({ kind: 'review', reason: 'order_cancelled' });
  const waiting = await queue();
  expect(waiting.get(rest.transferId)).toBe('order_cancelled');
  expect(part === null ? 'short' : waiting.get(part.transferId)).toBe('short');
  // Nor does an operator's hand give it to nobody.
  const { transferId } = rest;
  expect(await transfers.matchByHand({ transferId, orderId, by: 'operator' })).toEqual({
    kind: 'not_payable',
    reason: 'order_cancelled',
  });
  expect(await transfers.creditAccount({ transferId, accountId: buyer, planId: 'starter', by: 'operator' })).toEqual({
    kind: 'unknown_account',
  });
  expect(await grantsOf(buyer)).toEqual([]);
});

it('money that was sent in time for an expired order of an erased account waits for a person', async () => {
  const { transfers, orders } = createDomain(database.pool);
  const buyer = await createAccount(database.pool);
  const { id, memo, priceVnd } = await order(database.pool, buyer);
  await database.pool.query(
    `UPDATE purchase_order SET created_at = now() - interval '5 days', expires_at = now() - interval '1 day' WHERE id = $1`,
    [id],
  );
  await orders.expire();
  await erase(buyer);
  const bookedAt = new Date(Date.now() - 2 * 86_400_000);
  expect(await transfers.receive(transfer({ memo, amountVnd: priceVnd, bookedAt }))).toMatchObject({ kind: 'review' });
  expect(await grantsOf(buyer)).toEqual([]);
});

it('a payment that is taken back after the erasure leaves no order that waits for money', async () => {
  const { transfers } = createDomain(database.pool);
  const buyer = await createAccount(database.pool);
  const made = await order(database.pool, buyer);
  const half = await transfers.receive(transfer({ memo: made.memo, amountVnd: made.priceVnd / 2n }));
  const { transferId } = await transfers.receive(transfer({ memo: 'none', amountVnd: made.priceVnd / 2n }));
  await transfers.matchByHand({ transferId, orderId: made.id, by: 'operator' });
  expect(await grantsOf(buyer)).toEqual(['purchase']);
  await erase(buyer);
  expect((await transfers.undoMatch({ transferId, by: 'operator' })).kind).toBe('undone');
  const waiting = await queue();
  expect([waiting.get(transferId), waiting.get(half.transferId)]).toEqual(['no_memo', 'short']);
  expect(await transfers.receive(transfer({ memo: made.memo, amountVnd: made.priceVnd }))).toMatchObject({
    kind: 'review',
    reason: 'order_cancelled',
  });
  expect(await grantsOf(buyer)).toEqual(['adjustment']);
});

it('a gift of an erased buyer still finds its receiver, whose address is not kept', async () => {
  const { transfers, orders } = createDomain(database.pool);
  const buyer = await createAccount(database.pool);
  const made = await orders.create({ accountId: buyer, planId: 'starter', giftTo: 'wanted@gift.example' });
  if (made.kind !== 'created') throw new Error(made.kind);
  await transfers.receive(transfer({ memo: made.order.memo, amountVnd: made.order.priceVnd }));
  await erase(buyer);
  const kept = async () =>
    (await database.pool.query('SELECT gift_to FROM purchase_order WHERE id = $1', [made.order.id])).rows[0].gift_to;
  expect(await kept()).not.toContain('gift.example');
  const { rows } = await database.pool.query(
    `INSERT INTO account (id, name, email) VALUES (gen_random_uuid(), 'New', 'wanted@gift.example') RETURNING id`,
  );
  expect(await createGifts({ pool: database.pool }).deliver()).toBe(1);
  expect(await grantsOf(rows[0].id)).toEqual(['purchase']);
  expect(await kept()).toBe(rows[0].id);
});

it('an overdue gift of an erased buyer, and one to an erased receiver, are never an erased account’s budget', async () => {
  const { transfers, orders } = createDomain(database.pool);
  const gifts = createGifts({ pool: database.pool });
  const [buyer, other, receiver] = await Promise.all([1, 2, 3].map(() => createAccount(database.pool)));
  if (buyer === undefined || other === undefined || receiver === undefined) throw new Error('no accounts');
  const give = async (accountId: string, giftTo: string) => {
    const made = await orders.create({ accountId, planId: 'starter', giftTo });
    if (made.kind !== 'created') throw new Error(made.kind);
    await erase(giftTo === receiver ? receiver : buyer);
    return made.order;
  };
  // To nobody, of a buyer who is erased once it was paid.
  const vain = await orders.create({ accountId: buyer, planId: 'starter', giftTo: 'nobody@gift.example' });
  if (vain.kind !== 'created') throw new Error(vain.kind);
  const { transferId } = await transfers.receive(transfer({ memo: vain.order.memo, amountVnd: vain.order.priceVnd }));
  await erase(buyer);
  // To an account that is erased before it is paid.
  const late = await give(other, receiver);
  await transfers.receive(transfer({ memo: late.memo, amountVnd: late.priceVnd }));
  expect(await gifts.deliver()).toBe(0);
  await database.pool.query(`UPDATE purchase_order SET paid_at = now() - interval '31 days' WHERE status = 'paid'`);
  expect(await gifts.deliver()).toBe(1);
  expect(await gifts.deliver()).toBe(0);
  expect((await queue()).get(transferId)).toBe('order_cancelled');
  expect([await grantsOf(buyer), await grantsOf(receiver), await grantsOf(other)]).toEqual([[], [], ['purchase']]);
});

it('no operator, code or program gives an erased account anything, and nobody wakes it', async () => {
  const { pool } = database;
  const accounts = createAccounts({ pool });
  const buyer = await createAccount(pool);
  const codes = createCodes({ pool, throttle: { take: async () => null } });
  const made = await codes.create({
    name: 'late',
    count: 1,
    uses: 5,
    amount: oneUsd,
    validDays: null,
    planId: null,
    expiresAt: null,
    actor: 'test',
  });
  if (made.kind !== 'created') throw new Error(made.kind);
  await erase(buyer);
  const ask = { accountId: buyer, actor: 'test' };
  expect(await accounts.giveGrant({ ...ask, amount: oneUsd, expiresAt: null })).toEqual({ kind: 'unknown_account' });
  expect(await accounts.resume(ask)).toEqual({ kind: 'unknown_account' });
  expect(await accounts.note({ ...ask, text: 'who they were' })).toEqual({ kind: 'unknown_account' });
  expect(await accounts.create({ email: `erased-${buyer}@erased.invalid`, actor: 'test' })).toMatchObject({
    kind: 'exists',
  });
  expect(await codes.redeem({ code: made.codes[0] ?? '', accountId: buyer, actor: 'test', network: 'here' })).toEqual({
    kind: 'invalid_code',
  });
  expect(await createDomain(pool).orders.create({ accountId: buyer, planId: 'starter' })).toEqual({
    kind: 'not_on_sale',
  });
  // The database has the last word, whoever writes.
  const grant = {
    accountId: buyer,
    kind: 'adjustment',
    amount: 1n,
    expiresAt: null,
    sourceRef: 'adjustment:x',
  } as const;
  await expect(addGrant(pool, grant)).rejects.toThrow('was erased');
  await expect(pool.query(`UPDATE account SET status = 'active' WHERE id = $1`, [buyer])).rejects.toThrow('was erased');
  expect(await grantsOf(buyer)).toEqual([]);
});

it('payments and erasures at the same moment: a grant that was there before, or money that waits', async () => {
  const { pool } = database;
  const { transfers } = createDomain(pool);
  for (let round = 0; round < 12; round += 1) {
    const buyer = await createAccount(pool);
    const { id, memo, priceVnd } = await order(pool, buyer);
    await transfers.receive(transfer({ memo, amountVnd: 1n }));
    const [receipt] = await Promise.all([
      transfers.receive(transfer({ memo, amountVnd: priceVnd - 1n })),
      new Promise((resolve) => setTimeout(resolve, round)).then(() => erase(buyer)),
    ]);
    const { rows } = await pool.query(
      `SELECT o.status, (SELECT count(*)::int FROM "grant" g JOIN account a ON a.id = g.account_id
                         WHERE a.id = o.account_id AND coalesce(g.expires_at > now(), true)) AS open
       FROM purchase_order o WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([{ status: receipt.kind === 'paid' ? 'paid' : 'cancelled', open: 0 }]);
  }
});

it('leaves books that hold', async () => {
  expect(await checkInvariants(database.pool)).toEqual([]);
});
