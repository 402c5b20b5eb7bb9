import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGrant, GrantConflict } from '../../server/billing/grants.ts';
import {
  BadCursor,
  type LedgerQuery,
  type LedgerRecord,
  listGrants,
  maxSorted,
  RangeTooWide,
  readBalance,
  readEntry,
  readKeySpend,
  readLedger,
  readUsage,
  type UsageQuery,
} from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import type { Outcome } from '../../server/core/outcome.ts';
import { transaction } from '../../server/database/lane.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  addCustomer,
  addKey,
  addModel,
  admitted,
  ask,
  type Customer,
  endGrant,
  grant,
  openLedger,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/** Reading of grants, usage and the ledger: sums, groups, orders and pages. */

let db: TestDatabase;
let lane: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  await addModel(db.pool, { id: 'small', input: '1', cacheHit: '0.1', output: '2' });
  lane = await openLedger(db.url);
});

afterAll(async () => {
  await lane.close();
  await db.drop();
});

async function request(
  customer: Customer,
  more: { model?: string; output?: number; at?: number; failed?: boolean; latencyMs?: number } = {},
): Promise<string> {
  const asked = ask(customer, { model: more.model ?? 'big', requestId: uuidv7(more.at) });
  const usage = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: more.output ?? 10 };
  const admission = await admitted(lane.ledger, asked);
  await lane.ledger.settle(
    settlement(asked, admission, {
      usage,
      upstreamCost: 3n,
      outcome: more.failed ? 'timeout' : 'completed',
      ...(more.latencyMs === undefined ? {} : { latencyMs: more.latencyMs }),
    }),
  );
  return asked.requestId;
}

/** Every page of a list, one after the other. */
async function allPages<Item>(
  read: (after: string | null) => Promise<{ items: Item[]; next: string | null }>,
): Promise<Item[]> {
  const found: Item[] = [];
  let after: string | null = null;
  do {
    const page: { items: Item[]; next: string | null } = await read(after);
    found.push(...page.items);
    after = page.next;
  } while (after !== null);
  return found;
}

const give = (accountId: string, amount: bigint, sourceRef: string) => ({
  accountId,
  kind: 'adjustment' as const,
  amount,
  expiresAt: null,
  sourceRef,
});

const sums = (customer: Customer | null, more: Partial<UsageQuery>): UsageQuery => ({
  accountId: customer?.accountId ?? null,
  period: null,
  byModel: false,
  byKey: false,
  limit: 100,
  ...more,
});

const entries = (customer: Customer, more: Partial<LedgerQuery> = {}): LedgerQuery => ({
  accountId: customer.accountId,
  limit: 100,
  ...more,
});

describe('a grant', () => {
  test('is given once for each source, however many ask at once', async () => {
    const { accountId } = await addCustomer(db.pool, { budget: null });
    const all = await Promise.all(Array.from({ length: 30 }, () => addGrant(db.pool, give(accountId, 7n, 'order:1'))));
    expect(all.filter((each) => each.added)).toHaveLength(1);
    expect(new Set(all.map((each) => each.id)).size).toBe(1);
    expect(await readBalance(db.pool, accountId)).toMatchObject({ granted: 7n, free: 7n });
  });

  test('for the same source but not the same is a mistake', async () => {
    const { accountId } = await addCustomer(db.pool, { budget: null });
    await addGrant(db.pool, give(accountId, 7n, 'order:1'));
    await expect(addGrant(db.pool, give(accountId, 8n, 'order:1'))).rejects.toThrow(GrantConflict);
    await expect(addGrant(db.pool, { ...give(accountId, 7n, 'order:1'), kind: 'refund' })).rejects.toThrow(
      GrantConflict,
    );
  });

  test('belongs to the transaction that gives it', async () => {
    const { accountId } = await addCustomer(db.pool, { budget: null });
    const undone = transaction(db.pool, async (client) => {
      await addGrant(client, give(accountId, 7n, 'order:1'));
      throw new Error('changed my mind');
    });
    await expect(undone).rejects.toThrow('changed my mind');
    expect(await listGrants(db.pool, accountId)).toEqual([]);
  });

  test.each([0n, -1n])('of %d is refused by the database', async (amount) => {
    const { accountId } = await addCustomer(db.pool, { budget: null });
    await expect(addGrant(db.pool, give(accountId, amount, 'order:1'))).rejects.toThrow('grant_amount');
  });

  test('stands in the list in the order in which it is used', async () => {
    const customer = await addCustomer(db.pool, { budget: '1' });
    const { accountId } = customer;
    const ended = await grant(db.pool, accountId, '3', { kind: 'trial', endsInMs: 60_000 });
    const soon = await grant(db.pool, accountId, '2', { endsInMs: 90_000 });
    await endGrant(db.pool, ended);
    await request(customer, { output: 100 });
    expect(
      (await listGrants(db.pool, accountId)).map(({ id, amount, free, expired }) => ({ id, amount, free, expired })),
    ).toEqual([
      { id: soon, amount: usd('2'), free: usd('1.9985'), expired: 0n },
      { id: expect.any(String), amount: usd('1'), free: usd('1'), expired: 0n },
      { id: ended, amount: usd('3'), free: 0n, expired: usd('3') },
    ]);
  });
});

describe('usage', () => {
  let customer: Customer;
  let second: Customer;
  const yesterday = new Date(Date.now() - 86_400_000);

  beforeAll(async () => {
    customer = await addCustomer(db.pool);
    second = { ...customer, keyId: await addKey(db.pool, customer.accountId) };
    await request(customer);
    await request(customer, { model: 'small', failed: true });
    await request(second, { output: 20 });
    await request(await addCustomer(db.pool), { model: 'small' });
    // Entries are written now; for the days before, only their sums are made up.
    await db.pool.query(
      `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, output, charged)
       SELECT $1, date_trunc('day', now() - interval '1 day', 'UTC') + n * interval '1 hour', 'big', $2, 'completed', 1, 5, 50 FROM generate_series(20, 23) AS n`,
      [customer.accountId, customer.keyId],
    );
  });

  test('adds up to one line', async () => {
    const { items, next } = await readUsage(db.pool, sums(customer, {}));
    expect(next).toBeNull();
    expect(items).toMatchObject([
      { start: null, model: null, keyId: null, requests: 7, failures: 1, output: 60, upstreamCost: 9n },
    ]);
    expect(items[0]?.charged).toBe(200n + 30n * 15_000_000n + 10n * 2_000_000n);
  });

  test('by model, by key, by both', async () => {
    const models = await readUsage(db.pool, sums(customer, { byModel: true }));
    expect(models.items.map(({ model, requests }) => [model, requests])).toEqual([
      ['big', 6],
      ['small', 1],
    ]);
    const keys = await readUsage(db.pool, sums(customer, { byKey: true }));
    expect(new Map(keys.items.map(({ keyId, requests }) => [keyId, requests]))).toEqual(
      new Map([
        [customer.keyId, 6],
        [second.keyId, 1],
      ]),
    );
    expect((await readUsage(db.pool, sums(customer, { byModel: true, byKey: true }))).items).toHaveLength(3);
  });

  test('by day, hour and month; days begin where people live', async () => {
    const days = await readUsage(
      db.pool,
      sums(customer, { period: 'day', to: new Date(new Date().setUTCHours(0, 0, 0, 0)) }),
    );
    expect(days.items).toMatchObject([{ requests: 4, start: new Date(yesterday.setUTCHours(0, 0, 0, 0)) }]);
    const hours = await readUsage(
      db.pool,
      sums(customer, { period: 'hour', to: new Date(new Date().setUTCHours(0, 0, 0, 0)) }),
    );
    expect(hours.items.map(({ start }) => start?.getUTCHours())).toEqual([23, 22, 21, 20]);
    // 20 to 23 o'clock UTC is after midnight in Vietnam.
    const there = await readUsage(
      db.pool,
      sums(customer, {
        period: 'day',
        timeZone: 'Asia/Ho_Chi_Minh',
        to: new Date(new Date().setUTCHours(0, 0, 0, 0)),
      }),
    );
    expect(there.items.map(({ start }) => start?.getUTCHours())).toEqual([17]);
    expect((await readUsage(db.pool, sums(customer, { period: 'month', model: 'small' }))).items).toHaveLength(1);
  });

  test('of one model, of one key, of a range of time', async () => {
    expect((await readUsage(db.pool, sums(customer, { model: 'small' }))).items).toMatchObject([{ requests: 1 }]);
    expect((await readUsage(db.pool, sums(customer, { keyId: second.keyId }))).items).toMatchObject([{ output: 20 }]);
    const from = new Date(new Date().setUTCMinutes(0, 0, 0));
    expect((await readUsage(db.pool, sums(customer, { from }))).items).toMatchObject([{ requests: 3 }]);
    expect((await readUsage(db.pool, sums(customer, { from: new Date(Date.now() + 86_400_000) }))).items).toEqual([]);
  });

  test('by outcome, and of some outcomes only', async () => {
    const { items } = await readUsage(db.pool, sums(customer, { byOutcome: true }));
    expect(items.map(({ outcome, requests, failures }) => [outcome, requests, failures])).toEqual([
      ['completed', 6, 0],
      ['timeout', 1, 1],
    ]);
    const timeouts = await readUsage(db.pool, sums(customer, { byModel: true, outcomes: ['timeout', 'shutdown'] }));
    expect(timeouts.items).toMatchObject([{ model: 'small', outcome: null, requests: 1, failures: 1, output: 10 }]);
    expect((await readUsage(db.pool, sums(customer, { outcomes: ['upstream_cut'], byModel: true }))).items).toEqual([]);
    expect((await readUsage(db.pool, sums(customer, { outcomes: [], byModel: true }))).items).toEqual([]);
    const all = { period: 'hour', byModel: true, byKey: true, byOutcome: true } as const;
    expect(await allPages((after) => readUsage(db.pool, sums(customer, { ...all, limit: 1, after })))).toEqual(
      (await readUsage(db.pool, sums(customer, all))).items,
    );
  });

  test('of every outcome is what the ledger says, from any batch', async () => {
    const busy = await addCustomer(db.pool);
    const outcomes: Outcome[] = [
      'completed',
      'budget_stopped',
      'client_closed',
      'upstream_error',
      'upstream_cut',
      'timeout',
      'shutdown',
    ];
    // All at once, so that several outcomes of one hour, model and key are in the same batch.
    const asked = outcomes.flatMap((outcome, index) =>
      Array.from({ length: index + 1 }, () => ({ outcome, request: ask(busy, { model: 'big' }) })),
    );
    await Promise.all(
      asked.map(async ({ outcome, request: each }, index) => {
        const admission = await admitted(lane.ledger, each);
        const usage = { input: index, cacheHit: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 1 };
        await lane.ledger.settle(settlement(each, admission, { usage, outcome }));
      }),
    );
    const { items } = await readUsage(db.pool, sums(busy, { byOutcome: true }));
    const { rows } = await db.pool.query(
      `SELECT outcome, count(*)::int AS requests, sum(input)::int AS input, sum(charged)::text AS charged
       FROM ledger_entry WHERE account_id = $1 GROUP BY outcome ORDER BY outcome COLLATE "C"`,
      [busy.accountId],
    );
    expect(
      items.map(({ outcome, requests, input, charged }) => ({ outcome, requests, input, charged: `${charged}` })),
    ).toEqual(rows);
    expect(rows).toHaveLength(outcomes.length);
    const [all] = (await readUsage(db.pool, sums(busy, {}))).items;
    expect(all).toMatchObject({ requests: 28, failures: 4 + 5 + 6 + 7 });
    expect(await checkInvariants(db.pool, { accounts: [busy.accountId] })).toEqual([]);
  });

  test('of all accounts, for the operator', async () => {
    expect((await readUsage(db.pool, sums(null, { model: 'small' }))).items).toMatchObject([{ requests: 2 }]);
  });

  test('page by page is the same as at once', async () => {
    for (const limit of [1, 2, 3, 100]) {
      const at = (after: string | null) =>
        readUsage(db.pool, sums(customer, { period: 'hour', byModel: true, byKey: true, limit, after }));
      const all = await allPages(at);
      expect(all).toEqual(
        (await readUsage(db.pool, sums(customer, { period: 'hour', byModel: true, byKey: true }))).items,
      );
      expect(all).toHaveLength(7);
    }
    const models = await allPages((after) => readUsage(db.pool, sums(customer, { byModel: true, limit: 1, after })));
    expect(models.map(({ model }) => model)).toEqual(['big', 'small']);
  });

  test('of keys: today, this week, this month, ever', async () => {
    const spend = await readKeySpend(db.pool, customer.accountId);
    expect(spend.find(({ keyId }) => keyId === second.keyId)).toEqual({
      keyId: second.keyId,
      today: 20n * 15_000_000n,
      thisWeek: 20n * 15_000_000n,
      thisMonth: 20n * 15_000_000n,
      lifetime: 20n * 15_000_000n,
      held: 0n,
      lastUsedAt: expect.any(Date),
    });
    await db.pool.query('UPDATE key_spend SET day = day - 1 WHERE key_id = $1', [second.keyId]);
    const [later] = (await readKeySpend(db.pool, customer.accountId)).filter(({ keyId }) => keyId === second.keyId);
    expect(later).toMatchObject({ today: 0n, thisMonth: 20n * 15_000_000n });
  });
});

describe('the ledger', () => {
  test('shows the newest request first, page by page, and finds what is asked for', async () => {
    const customer = await addCustomer(db.pool);
    const second = { ...customer, keyId: await addKey(db.pool, customer.accountId) };
    const now = Date.now();
    const lastMonth = now - 32 * 86_400_000;
    // One of the clocks was wrong: it stands where its id says, wherever it is stored.
    const ids = [
      await request(customer, { at: lastMonth }),
      await request(customer, { at: now - 5_000 }),
      await request(second, { at: now - 4_000, model: 'small' }),
      await request(customer, { at: now - 3_000, failed: true }),
      await request(customer, { at: now + 400 * 86_400_000 }),
    ].reverse();
    const idsOf = async (more: Partial<LedgerQuery>): Promise<string[]> =>
      (await readLedger(db.pool, entries(customer, more))).items.map((entry) => entry.requestId);
    expect(await idsOf({})).toEqual(ids);
    for (const limit of [1, 2, 4, 5]) {
      const all = await allPages((after) => readLedger(db.pool, entries(customer, { limit, after })));
      expect(all.map((entry) => entry.requestId)).toEqual(ids);
    }
    expect(await idsOf({ keyId: second.keyId })).toEqual([ids[2]]);
    expect(await idsOf({ model: 'small' })).toEqual([ids[2]]);
    expect(await idsOf({ outcome: 'timeout' })).toEqual([ids[1]]);
    expect(await idsOf({ from: new Date(now - 4_000), to: new Date(now) })).toEqual([ids[1], ids[2]]);
    expect(await idsOf({ to: new Date(now - 4_000) })).toEqual([ids[3], ids[4]]);
  });

  describe('in another order', () => {
    const orders = (['time', 'cost', 'tokens', 'latency'] as const).flatMap((by) =>
      [true, false].map((ascending) => ({ by, ascending })),
    );
    const keys = {
      time: () => 0n,
      cost: ({ cost }: LedgerRecord) => cost,
      tokens: ({ usage }: LedgerRecord) => BigInt(Object.values(usage).reduce((sum, pool) => sum + pool, 0)),
      latency: ({ latencyMs }: LedgerRecord) => BigInt(latencyMs),
    };
    let customer: Customer;
    let all: LedgerRecord[];

    beforeAll(async () => {
      customer = await addCustomer(db.pool);
      const now = Date.now();
      // No two orders agree, some values are equal, and the numbers do not sort like their digits.
      const drawn: [string, number, number][] = [
        ['big', 9, 700],
        ['small', 10, 70],
        ['small', 100, 1_000],
        ['big', 9, 70],
        ['big', 0, 12],
        ['small', 8, 1_000],
      ];
      for (const [i, [model, output, latencyMs]] of drawn.entries())
        await request(customer, { at: now + i, model, output, latencyMs });
      all = (await readLedger(db.pool, entries(customer))).items;
    });

    test.each(orders)('$by, ascending: $ascending, page by page', async (order) => {
      const way = order.ascending ? 1 : -1;
      const key = keys[order.by];
      const expected = all
        .toSorted((a, b) => way * (Number(key(a) - key(b)) || (a.requestId < b.requestId ? -1 : 1)))
        .map(({ requestId }) => requestId);
      for (const limit of [1, 2, 4, 100]) {
        const read = await allPages((after) => readLedger(db.pool, entries(customer, { order, limit, after })));
        expect(read.map(({ requestId }) => requestId)).toEqual(expected);
      }
    });

    test('a cursor belongs to the order that it came from', async () => {
      for (const order of orders) {
        const { next } = await readLedger(db.pool, entries(customer, { order, limit: 2 }));
        for (const other of orders.filter((each) => each !== order)) {
          const reading = readLedger(db.pool, entries(customer, { order: other, limit: 2, after: next }));
          await expect(reading).rejects.toThrow(BadCursor);
        }
      }
      const huge = Buffer.from(JSON.stringify(['cost', 'up', '9'.repeat(19), uuidv7()])).toString('base64url');
      const order = { by: 'cost' as const, ascending: true };
      await expect(readLedger(db.pool, entries(customer, { order, after: huge }))).rejects.toThrow(BadCursor);
    });

    test('with a filter keeps to it', async () => {
      const order = { by: 'latency' as const, ascending: false };
      const { items } = await readLedger(db.pool, entries(customer, { order, model: 'small' }));
      expect(items.map(({ latencyMs }) => latencyMs)).toEqual([1_000, 1_000, 70]);
    });

    test('needs a range that can be sorted; time needs none', async () => {
      const busy = await addCustomer(db.pool);
      await request(busy);
      await db.pool.query(
        `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests)
         VALUES ($1, '2026-01-01T00:00Z', 'big', $2, 'completed', $3), ($1, '2026-01-01T01:00Z', 'big', $2, 'completed', 1)`,
        [busy.accountId, busy.keyId, maxSorted],
      );
      for (const order of orders.filter(({ by }) => by !== 'time'))
        await expect(readLedger(db.pool, entries(busy, { order }))).rejects.toThrow(RangeTooWide);
      for (const order of orders.filter(({ by }) => by === 'time'))
        expect((await readLedger(db.pool, entries(busy, { order }))).items).toHaveLength(1);
      const order = { by: 'cost' as const, ascending: false };
      const from = new Date('2026-01-01T01:00Z');
      expect((await readLedger(db.pool, entries(busy, { order, from }))).items).toHaveLength(1);
      await expect(readLedger(db.pool, entries(busy, { order, from: new Date('2026-01-01T00:59Z') }))).rejects.toThrow(
        RangeTooWide,
      );
    });
  });

  test('shows an entry with its prices, to its own account only', async () => {
    const customer = await addCustomer(db.pool);
    const requestId = await request(customer, { output: 7 });
    const entry = await readEntry(db.pool, customer.accountId, requestId);
    expect(entry).toEqual({
      requestId,
      createdAt: expect.any(Date),
      keyId: customer.keyId,
      model: 'big',
      upstream: 'simulator',
      protocol: 'messages',
      stream: true,
      usage: { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 7 },
      prices: {
        input: 3_000_000n,
        cacheHit: 300_000n,
        cacheWrite5m: 3_000_000n,
        cacheWrite1h: 3_000_000n,
        output: 15_000_000n,
      },
      tier: null,
      byClock: null,
      variant: null,
      units: [],
      lines: [],
      cost: 105_000_000n,
      charged: 105_000_000n,
      freeAfter: usd('5') - 105_000_000n,
      upstreamCost: 3n,
      latencyMs: 12,
      timeToFirstByteMs: 3,
      outcome: 'completed',
      usageSource: 'reported',
    });
    expect(await readEntry(db.pool, (await addCustomer(db.pool)).accountId, requestId)).toBeNull();
    expect(await readEntry(db.pool, customer.accountId, uuidv7())).toBeNull();
  });

  test.each([
    'x',
    Buffer.from('[]').toString('base64url'),
    Buffer.from('["1"]').toString('base64url'),
    Buffer.from('[1]').toString('base64url'),
    Buffer.from(`["${randomUUID()}","",""]`).toString('base64url'),
    Buffer.from('["-infinity","\\u0000","",""]').toString('base64url'),
    Buffer.from('["yesterday","","",""]').toString('base64url'),
  ])('does not take the cursor %s', async (after) => {
    const customer = await addCustomer(db.pool);
    await expect(readLedger(db.pool, entries(customer, { after }))).rejects.toThrow(BadCursor);
    const grouped = {
      accountId: customer.accountId,
      period: 'day' as const,
      byModel: true,
      byKey: true,
      limit: 1,
      after,
    };
    await expect(readUsage(db.pool, grouped)).rejects.toThrow(BadCursor);
  });
});
