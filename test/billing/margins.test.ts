import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MarginQuery, marginOf, readMargins } from '../../server/books/margins.ts';
import { readMigrations } from '../../server/database/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  type Customer,
  openLedger,
  settlement,
  type TestLedger,
} from './support.ts';

/** Margins: exact to the ledger, less the shortfall, and unknown where a route does not say what it costs. */

let db: TestDatabase;
let lane: TestLedger;
let customer: Customer;
let other: Customer;

beforeAll(async () => {
  db = await createDatabase();
  // An output token costs 15 pico-USD, and the context nothing.
  await addModel(db.pool, { id: 'big', input: '0', cacheHit: '0', output: '0.000015' });
  await addModel(db.pool, { id: 'small', input: '0', cacheHit: '0', output: '0.000001' });
  lane = await openLedger(db.url);
  customer = await addCustomer(db.pool);
  other = await addCustomer(db.pool);
  // Bought, not given.
  await db.pool.query(`UPDATE "grant" SET kind = 'purchase'`);
  await sell(customer, { model: 'big', upstream: 'known', output: 10, upstreamCost: 90n });
  await sell(customer, { model: 'big', upstream: 'silent', output: 100, upstreamCost: null });
  await sell(other, { model: 'big', upstream: 'silent', output: 100, upstreamCost: null });
  await sell(other, { model: 'small', upstream: 'known', output: 10, upstreamCost: 70n });
  // It failed before it used anything: that costs nothing anywhere.
  await sell(other, { model: 'small', upstream: 'silent', output: 0, upstreamCost: null, usageSource: 'none' });
});
afterAll(async () => {
  await lane.close();
  await db.drop();
});

interface Sale {
  model: string;
  upstream: string;
  output: number;
  upstreamCost: bigint | null;
  usageSource?: 'reported' | 'none';
}

async function sell(buyer: Customer, { output, ...sale }: Sale): Promise<void> {
  const asked = ask(buyer, { model: sale.model });
  const usage = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output };
  await lane.ledger.settle(settlement(asked, await admitted(lane.ledger, asked), { usage, ...sale }));
}

async function margins(more: Partial<MarginQuery>): Promise<object[]> {
  const { items } = await readMargins(db.pool, {
    kind: 'customer',
    period: null,
    byModel: false,
    byUpstream: false,
    byAccount: false,
    from: null,
    to: null,
    model: null,
    upstream: null,
    accountId: null,
    timeZone: 'UTC',
    limit: 100,
    offset: 0,
    ...more,
  });
  return items.map((item) => ({
    name: [item.model, item.upstream, item.accountId].filter((part) => part !== null).join(' '),
    charged: item.charged,
    unknown: [item.unknownRequests, item.unknownCharged],
    margin: marginOf(item),
  }));
}

it('by upstream are unknown where no cost is set, never all that was charged', async () => {
  expect(await margins({ byUpstream: true })).toEqual([
    { name: 'silent', charged: 3_000n, unknown: [2n, 3_000n], margin: null },
    { name: 'known', charged: 160n, unknown: [0n, 0n], margin: 0n },
  ]);
  expect(await margins({ byUpstream: true, model: 'big' })).toEqual([
    { name: 'silent', charged: 3_000n, unknown: [2n, 3_000n], margin: null },
    { name: 'known', charged: 150n, unknown: [0n, 0n], margin: 60n },
  ]);
});

it('by model and by account leave out what is unknown', async () => {
  expect(await margins({ byModel: true })).toEqual([
    { name: 'big', charged: 3_150n, unknown: [2n, 3_000n], margin: 60n },
    { name: 'small', charged: 10n, unknown: [0n, 0n], margin: -60n },
  ]);
  expect(await margins({ byAccount: true })).toEqual([
    { name: customer.accountId, charged: 1_650n, unknown: [1n, 1_500n], margin: 60n },
    { name: other.accountId, charged: 1_510n, unknown: [1n, 1_500n], margin: -60n },
  ]);
});

it('subtract what a budget did not pay for', async () => {
  const poor = await addCustomer(db.pool, { budget: '0.0000000002' });
  await db.pool.query(`UPDATE "grant" SET kind = 'purchase' WHERE account_id = $1`, [poor.accountId]);
  const asked = ask(poor, { model: 'big', maxTokens: 10 });
  const usage = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 100 };
  // 100 tokens came to 1,500 pico-USD; the budget had 200, and the upstream asks for 900.
  await lane.ledger.settle(
    settlement(asked, await admitted(lane.ledger, asked), { usage, upstream: 'known', upstreamCost: 900n }),
  );
  expect(await margins({ accountId: poor.accountId })).toMatchObject([{ charged: 200n, margin: -700n }]);
});

it('of old entries are added up by the migration, to the same sums', async () => {
  // What caching saved came with a later migration.
  const columns =
    'account_id, hour, model, upstream, requests, cost, charged, upstream_cost, unknown_requests, unknown_charged';
  const sums = async () => (await db.pool.query(`SELECT ${columns} FROM margin_hour ORDER BY 1, 2, 3, 4`)).rows;
  const before = await sums();
  expect(before.length).toBeGreaterThan(3);
  const script = (await readMigrations()).find(({ name }) => name.endsWith('_margins'))?.script;
  await db.pool.query('DROP TRIGGER add_margin ON ledger_entry; DROP TABLE margin_hour; DROP FUNCTION add_margin');
  await db.pool.query(`BEGIN; ${script}; COMMIT`);
  expect(await sums()).toEqual(before);
});

it('count nothing that was given as income, and its cost as an expense', async () => {
  const guest = await addCustomer(db.pool, { budget: '0.000001' });
  await sell(guest, { model: 'big', upstream: 'known', output: 10, upstreamCost: 90n });
  expect(await margins({ accountId: guest.accountId })).toEqual([
    { name: '', charged: 150n, unknown: [0n, 0n], margin: -90n },
  ]);
});
