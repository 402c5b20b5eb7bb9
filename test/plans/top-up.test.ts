import { assert, bigInt, property } from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createGifts } from '../../server/plans/gifts.ts';
import type { NewOrder } from '../../server/plans/orders.ts';
import { bonusOf, createTopUp, creditTerms, freeTerms } from '../../server/plans/top-up.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount, createDomain, createPlans, oneUsd, transfer } from './support.ts';

// Free amounts, bonuses in steps, and plans for another account.

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  const topUp = createTopUp({ pool: database.pool });
  await topUp.save({ topUp: { planId: 'starter', minVnd: 50_000n, maxVnd: 5_000_000n }, actor: 'operator' });
  await topUp.saveBonus({
    steps: [
      { fromVnd: 500_000n, basisPoints: 500 },
      { fromVnd: 2_000_000n, basisPoints: 1_050 },
    ],
    actor: 'operator',
  });
});
afterAll(() => database.drop());
const holds = async () => expect(await checkInvariants(database.pool)).toEqual([]);
afterEach(holds);

async function buy(accountId: string, input: Omit<NewOrder, 'accountId'>) {
  const outcome = await createDomain(database.pool).orders.create({ accountId, ...input });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome.order;
}

const pay = (memo: string, amountVnd: bigint) =>
  createDomain(database.pool).transfers.receive(transfer({ memo, amountVnd }));

async function grants(accountId: string) {
  const { rows } = await database.pool.query(
    `SELECT kind, amount FROM "grant" WHERE account_id = $1 ORDER BY kind DESC`,
    [accountId],
  );
  return rows;
}

describe('a free amount', () => {
  it('costs and gives exactly what the plan’s price of a USD makes of it, in VND or in USD', async () => {
    const accountId = await createAccount(database.pool);
    expect(await buy(accountId, { amount: { vnd: 333_333n } })).toMatchObject({
      priceVnd: 333_333n,
      budget: 13_330_000_000_000n,
      freeAmount: true,
    });
    const made = await buy(accountId, { amount: { usd: 7_770_000_000_000n } });
    expect(made).toMatchObject({ priceVnd: 194_250n, budget: 7_770_000_000_000n });
    await pay(made.memo, made.priceVnd);
    expect(await grants(accountId)).toEqual([{ kind: 'purchase', amount: 7_770_000_000_000n }]);
  });

  it('outside of its bounds is refused with them, and so is a part of a cent', async () => {
    const accountId = await createAccount(database.pool);
    const { orders } = createDomain(database.pool);
    for (const amount of [{ vnd: 49_999n }, { vnd: 5_000_001n }, { usd: 1n }, { usd: 10n ** 18n }])
      expect(await orders.create({ accountId, amount })).toMatchObject({
        kind: 'not_offered',
        topUp: { minVnd: 50_000n, maxVnd: 5_000_000n },
      });
  });

  it('asked for again under the same idempotency key is the same order, another amount a conflict', async () => {
    const accountId = await createAccount(database.pool);
    const { orders } = createDomain(database.pool);
    const ask = (vnd: bigint) => orders.create({ accountId, amount: { vnd }, idempotencyKey: 'a click' });
    const first = await ask(100_000n);
    expect(await ask(100_000n)).toMatchObject({ kind: 'existing', order: { id: 'order' in first && first.order.id } });
    expect((await ask(100_001n)).kind).toBe('idempotency_conflict');
    expect((await orders.create({ accountId, planId: 'starter', idempotencyKey: 'a click' })).kind).toBe(
      'idempotency_conflict',
    );
  });

  it('never gives more than it pays for, and loses the buyer less than a cent or a VND', () => {
    const plan = { id: 'p', name: 'P', validDays: null, enabled: true };
    assert(
      property(
        bigInt(1n, 10n ** 9n),
        bigInt(1n, 10n ** 6n),
        bigInt(1n, 10n ** 10n),
        bigInt(1n, 10n ** 6n),
        (price, budgetCents, vnd, cents) => {
          const cent = oneUsd / 100n;
          const terms = { ...plan, priceVnd: price, budget: budgetCents * cent };
          const forVnd = creditTerms(vnd, terms);
          expect(forVnd.budget * price <= vnd * terms.budget).toBe(true);
          expect((forVnd.budget + cent) * price > vnd * terms.budget).toBe(true);
          const forUsd = freeTerms({ usd: cents * cent }, terms);
          expect(forUsd !== null && forUsd.priceVnd * terms.budget >= cents * cent * price).toBe(true);
          expect(forUsd !== null && (forUsd.priceVnd - 1n) * terms.budget < cents * cent * price).toBe(true);
        },
      ),
    );
  });
});

describe('a bonus', () => {
  const steps = [
    { fromVnd: 500_000n, basisPoints: 500 },
    { fromVnd: 2_000_000n, basisPoints: 1_050 },
  ];

  it.each([
    [499_999n, 10n * oneUsd, 0n],
    [500_000n, 20n * oneUsd, oneUsd],
    [1_999_999n, 80n * oneUsd, 4n * oneUsd],
    [2_000_000n, 80n * oneUsd, 8_400_000_000_000n],
    // Cut to whole cents.
    [500_000n, 110_000_000_000n, 0n],
    [500_000n, 1_110_000_000_000n, 50_000_000_000n],
  ])('of a price of %s VND for %s pico-USD is %s', (priceVnd, budget, bonus) => {
    expect(bonusOf({ priceVnd, budget }, steps)).toBe(bonus);
  });

  it('is a grant of its own kind beside the purchase, once through repeated messages, and frozen in the order', async () => {
    const accountId = await createAccount(database.pool);
    const made = await buy(accountId, { planId: 'pro' });
    expect(made.bonus).toBe(2_500_000_000_000n);
    await createTopUp({ pool: database.pool }).saveBonus({ steps: [], actor: 'operator' });
    const movement = transfer({ memo: made.memo, amountVnd: made.priceVnd });
    const { transfers } = createDomain(database.pool);
    await Promise.all(Array.from({ length: 20 }, () => transfers.receive(movement)));
    expect(await grants(accountId)).toEqual([
      { kind: 'purchase', amount: 50n * oneUsd },
      { kind: 'bonus', amount: 2_500_000_000_000n },
    ]);
    await createTopUp({ pool: database.pool }).saveBonus({ steps, actor: 'operator' });
  });

  it('goes with its purchase when a match by hand is undone, and neither goes while one is used', async () => {
    const accountId = await createAccount(database.pool);
    const made = await buy(accountId, { planId: 'pro' });
    const { transfers } = createDomain(database.pool);
    const { transferId } = await transfers.receive(transfer({ memo: 'none', amountVnd: made.priceVnd }));
    const match = () => transfers.matchByHand({ transferId, orderId: made.id, by: 'operator' });
    expect((await match()).kind).toBe('paid');
    await database.pool.query(`UPDATE "grant" SET spent = 1 WHERE account_id = $1 AND kind = 'bonus'`, [accountId]);
    expect((await transfers.undoMatch({ transferId, by: 'operator' })).kind).toBe('used');
    await database.pool.query(`UPDATE "grant" SET spent = 0 WHERE account_id = $1 AND kind = 'bonus'`, [accountId]);
    expect((await transfers.undoMatch({ transferId, by: 'operator' })).kind).toBe('undone');
    expect((await grants(accountId)).map(({ kind }) => kind)).toEqual(['adjustment', 'adjustment']);
    expect((await match()).kind).toBe('paid');
    expect((await grants(accountId)).filter(({ kind }) => kind !== 'adjustment')).toHaveLength(2);
  });
});

describe('a gift', () => {
  const gifts = () => createGifts({ pool: database.pool });

  it('gives the budget to the receiver, by address or id, and the order with its receipt stays the buyer’s', async () => {
    const [buyer, receiver] = [await createAccount(database.pool), await createAccount(database.pool)];
    for (const giftTo of [`${receiver}@example.com`, receiver]) {
      const made = await buy(buyer, { planId: 'pro', giftTo });
      expect(made.accountId).toBe(buyer);
      await pay(made.memo, made.priceVnd);
    }
    expect(await grants(buyer)).toEqual([]);
    expect((await grants(receiver)).map(({ kind }) => kind)).toEqual(['purchase', 'purchase', 'bonus', 'bonus']);
  });

  it('for nobody looks like one for somebody until it is paid and after, and waits for its receiver', async () => {
    const buyer = await createAccount(database.pool);
    const made = await buy(buyer, { planId: 'starter', giftTo: 'new@gift.example' });
    const known = await buy(buyer, { planId: 'starter', giftTo: `${buyer}@example.com` });
    const shown = ({ id: _id, memo: _memo, giftTo: _giftTo, ...rest }: typeof made) => ({
      ...rest,
      createdAt: null,
      expiresAt: null,
    });
    expect(shown(made)).toEqual(shown(known));
    expect((await pay(made.memo, made.priceVnd)).kind).toBe('paid');
    expect(await gifts().deliver()).toBe(0);
    const { rows } = await database.pool.query(
      `INSERT INTO account (id, name, email) VALUES (gen_random_uuid(), 'New', 'new@gift.example') RETURNING id`,
    );
    expect(await Promise.all([gifts().deliver(), gifts().deliver()]).then(([a, b]) => a + b)).toBe(1);
    expect(await grants(rows[0].id)).toEqual([{ kind: 'purchase', amount: 10n * oneUsd }]);
    expect(await grants(buyer)).toEqual([]);
  });

  it('that waited 30 days in vain is the buyer’s', async () => {
    const buyer = await createAccount(database.pool);
    const made = await buy(buyer, { planId: 'starter', giftTo: 'nobody@gift.example' });
    await pay(made.memo, made.priceVnd);
    await database.pool.query(`UPDATE purchase_order SET paid_at = now() - interval '31 days' WHERE id = $1`, [
      made.id,
    ]);
    expect(await gifts().deliver()).toBe(1);
    expect(await grants(buyer)).toEqual([{ kind: 'purchase', amount: 10n * oneUsd }]);
  });

  it('is no upgrade, and its undone payment takes the receiver’s grant back', async () => {
    const [buyer, receiver] = [await createAccount(database.pool), await createAccount(database.pool)];
    const made = await buy(buyer, { planId: 'starter', giftTo: receiver });
    const { transfers, orders } = createDomain(database.pool);
    expect(await orders.create({ accountId: buyer, planId: 'pro', upgrades: made.id, giftTo: receiver })).toEqual({
      kind: 'gift_of_upgrade',
    });
    const { transferId } = await transfers.receive(transfer({ memo: 'none', amountVnd: made.priceVnd }));
    await transfers.matchByHand({ transferId, orderId: made.id, by: 'operator' });
    expect((await transfers.undoMatch({ transferId, by: 'operator' })).kind).toBe('undone');
    expect((await grants(receiver)).map(({ kind }) => kind)).toEqual(['adjustment']);
  });
});
