import { type Arbitrary, array, assert, asyncProperty, boolean, constantFrom, integer, nat, record } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { compareMovements, type ToldMovement } from '../../server/plans/bank/movement.ts';
import { reconcile } from '../../server/plans/bank/reconciliation.ts';
import type { IncomingTransfer } from '../../server/plans/bank/transfers.ts';
import { completeMemo } from '../../server/plans/memo.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bank, createAccount, createDomain, createPlans, order, purchases, transfer } from './support.ts';

// One movement of money counts once, however many messages report it.

let database: TestDatabase;
let domain: ReturnType<typeof createDomain>;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  domain = createDomain(database.pool);
});
afterAll(() => database.drop());

const fresh = async () => {
  const accountId = await createAccount(database.pool);
  return { accountId, order: await order(database.pool, accountId) };
};
const received = async (accountId: string, orderId: string) => {
  const found = await domain.orders.find(accountId, orderId);
  return { status: found?.status, receivedVnd: found?.receivedVnd };
};

describe('a movement told again by the same provider under a new id', () => {
  it('is recognised: the price less one dong, told twice, does not pay the order', async () => {
    const { accountId, order } = await fresh();
    const short = transfer({ memo: order.memo, amountVnd: 249_999n });
    const first = await domain.transfers.receive(short);
    const again = await domain.transfers.receive({ ...short, providerId: `${short.providerId}-again` });
    expect(again).toEqual({ kind: 'duplicate', transferId: first.transferId });
    expect(await received(accountId, order.id)).toEqual({ status: 'partial', receivedVnd: 249_999n });
    expect(await purchases(database.pool, accountId)).toEqual([]);
  });

  it('is kept as evidence that points to the first telling, outside the queue', async () => {
    const { order } = await fresh();
    const told = transfer({ memo: order.memo });
    const { transferId } = await domain.transfers.receive(told);
    await domain.transfers.receive({ ...told, providerId: `${told.providerId}-again` });
    const [newest] = await domain.transfers.list({ queue: false, limit: 1 });
    expect(newest).toMatchObject({
      providerId: `${told.providerId}-again`,
      orderId: null,
      review: { reason: 'repeated', repeatsId: transferId, closedBy: 'matcher' },
    });
  });

  it.each<[string, Partial<IncomingTransfer>]>([
    ['with its reference', {}],
    ['without a reference', { bankReference: null }],
    ['with a placeholder for a reference', { bankReference: '-' }],
  ])('a hundred times at once, half the price %s, counts once', async (_, changes) => {
    const { accountId, order } = await fresh();
    const half = transfer({ memo: order.memo, amountVnd: 125_000n, ...changes });
    const receipts = await Promise.all(
      Array.from({ length: 100 }, (_each, at) =>
        domain.transfers.receive({ ...half, providerId: `${half.providerId}-${at}` }),
      ),
    );
    expect(receipts.filter(({ kind }) => kind === 'partial')).toHaveLength(1);
    expect(receipts.filter(({ kind }) => kind === 'paid')).toEqual([]);
    expect(await received(accountId, order.id)).toEqual({ status: 'partial', receivedVnd: 125_000n });
  });

  it.each<[string, Partial<IncomingTransfer>]>([
    ['on another day', { bookedAt: new Date(Date.now() - 3 * 86_400_000) }],
    ['for another account of ours', { accountNumbers: [bank.account, '999'].slice(1) }],
    ['in other words', { memo: 'chuyen khoan lai' }],
    ['by another provider, as it writes references', { provider: 'casso' }],
  ])('%s waits for a person', async (_, changes) => {
    const { accountId, order } = await fresh();
    const half = transfer({ memo: order.memo, amountVnd: 125_000n, bankReference: `ft-${order.memo}.1` });
    await domain.transfers.receive(half);
    const again = { ...half, providerId: `${half.providerId}-2`, bankReference: `FT ${order.memo} 1`, ...changes };
    expect(await domain.transfers.receive(again)).toMatchObject({ kind: 'review', reason: 'repeated' });
    expect(await received(accountId, order.id)).toEqual({ status: 'partial', receivedVnd: 125_000n });
    const queue = await domain.transfers.list({ queue: true, limit: 100 });
    expect(queue.map(({ providerId }) => providerId)).toContain(again.providerId);
  });
});

it('what a webhook told and the listing tells under other ids and without references counts once', async () => {
  const { accountId, order } = await fresh();
  const half = transfer({ memo: order.memo, amountVnd: 125_000n });
  await domain.transfers.receive(half);
  const source = {
    listSince: async () => [
      { ...half, providerId: 'listing-1', bankReference: null },
      { ...half, providerId: 'listing-2' },
    ],
  };
  const counts = await reconcile({ source, transfers: domain.transfers, windowMs: 3_600_000 });
  expect(counts).toEqual({ duplicate: 1, paid: 0, partial: 0, refund: 0, review: 1 });
  expect(await received(accountId, order.id)).toEqual({ status: 'partial', receivedVnd: 125_000n });
});

it('two movements of one provider with references of their own are two', async () => {
  const { accountId, order } = await fresh();
  const half = transfer({ memo: order.memo, amountVnd: 125_000n });
  await domain.transfers.receive(half);
  const other = { ...half, providerId: `${half.providerId}-2`, bankReference: `${half.bankReference}X` };
  expect(await domain.transfers.receive(other)).toMatchObject({ kind: 'paid' });
  expect(await purchases(database.pool, accountId)).toHaveLength(1);
});

it('a person decides what is doubtful, and the database refuses the matcher', async () => {
  const { accountId, order } = await fresh();
  const half = transfer({ memo: order.memo, amountVnd: 125_000n });
  await domain.transfers.receive(half);
  const { transferId } = await domain.transfers.receive({
    ...half,
    provider: 'casso',
    providerId: `c${half.providerId}`,
  });
  await expect(
    database.pool.query(`INSERT INTO transfer_match (transfer_id, order_id, matched_by) VALUES ($1, $2, 'matcher')`, [
      transferId,
      order.id,
    ]),
  ).rejects.toThrow('pays an order already');
  expect(await domain.transfers.matchByHand({ transferId, orderId: order.id, by: 'op' })).toMatchObject({
    kind: 'paid',
  });
  expect(await purchases(database.pool, accountId)).toHaveLength(1);
});

/** One real movement, and the messages that tell of it. */
interface Played {
  amountVnd: bigint;
  reference: boolean;
  tellings: { provider: string; id: number; reference: 'as is' | 'spaced' | 'none'; minutes: number }[];
}

const played: Arbitrary<Played> = record({
  amountVnd: constantFrom(50_000n, 125_000n, 249_999n),
  reference: boolean(),
  tellings: array(
    record({
      provider: constantFrom('sepay', 'casso', 'operator'),
      id: nat(2),
      reference: constantFrom('as is' as const, 'spaced' as const, 'none' as const),
      minutes: integer({ min: -30, max: 30 }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

it('never counts more than what moved: random movements, told in any order and at once by all messengers', async () => {
  await assert(
    asyncProperty(array(played, { minLength: 1, maxLength: 3 }), async (movements) => {
      const { accountId, order } = await fresh();
      const told = movements.flatMap(({ amountVnd, reference, tellings }, movement) =>
        tellings.map((telling) => {
          const name = `${order.memo}M${movement}`;
          const written = telling.reference === 'spaced' ? name.toLowerCase().replace('m', ' m-') : name;
          return transfer({
            provider: telling.provider,
            providerId: `${name}-${telling.id}`,
            bankReference: reference && telling.reference !== 'none' ? written : null,
            amountVnd,
            memo: `ck ${order.memo}`,
            bookedAt: new Date(Date.now() - 3_600_000 + telling.minutes * 60_000),
          });
        }),
      );
      await Promise.all(told.map((each) => domain.transfers.receive(each)));
      const moved = movements.reduce((sum, { amountVnd }) => sum + amountVnd, 0n);
      const { receivedVnd = 0n, status } = await received(accountId, order.id);
      expect(receivedVnd).toBeLessThanOrEqual(moved);
      expect(receivedVnd).toBeGreaterThan(0n);
      expect(status === 'paid' && moved < 250_000n).toBe(false);
    }),
    { numRuns: 40 },
  );
});

it('after all that the money adds up', async () => {
  expect(await checkInvariants(database.pool)).toEqual([]);
});

describe('two messages', () => {
  const one: ToldMovement = {
    provider: 'sepay',
    bankReference: 'FT26325.1',
    memo: `ck ${completeMemo('7K3Q9F')}`,
    bookedAt: new Date('2026-11-22T05:00:00Z'),
    accountNumbers: ['1'],
  };
  it.each<[string, Partial<ToldMovement>, ReturnType<typeof compareMovements>]>([
    ['that agree in everything', {}, 'same'],
    ['whose references differ in case and punctuation', { bankReference: 'ft26325-1' }, 'same'],
    ['of which one names a further account', { accountNumbers: ['2', '1'] }, 'same'],
    ['whose references differ', { bankReference: 'FT26325.2' }, 'distinct'],
    ['of the next day in Vietnam', { bookedAt: new Date('2026-11-22T17:00:00Z') }, 'doubtful'],
    ['of different accounts', { accountNumbers: ['2'] }, 'doubtful'],
    ['of which one names no account', { accountNumbers: [] }, 'doubtful'],
    ['with other words', { memo: 'x' }, 'doubtful'],
    ['of two providers', { provider: 'casso' }, 'doubtful'],
    ['of two providers that name the movement differently', { provider: 'casso', bankReference: 'T9' }, 'doubtful'],
    [
      'of two providers about different orders',
      { provider: 'casso', bankReference: 'T9', memo: completeMemo('000001') },
      'distinct',
    ],
    ['of which one has no reference', { bankReference: null }, 'doubtful'],
    ['of which one has a placeholder', { bankReference: '000' }, 'doubtful'],
    [
      'without a reference and two days apart',
      { bankReference: null, bookedAt: new Date('2026-11-24T05:00:01Z') },
      'distinct',
    ],
  ])('%s: %s', (_, changes, sameness) => {
    expect(compareMovements({ ...one, ...changes }, one)).toBe(sameness);
    expect(compareMovements(one, { ...one, ...changes })).toBe(sameness);
  });
});
