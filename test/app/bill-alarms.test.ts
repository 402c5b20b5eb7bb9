import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { reconcileBills } from '../../server/app/bill-alarms.ts';
import { createBooks } from '../../server/books/books.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createNotices, type Notices } from '../../server/notices/notices.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** The nightly reconciliation of vendors' bills, and what operators are told of it. */

let database: TestDatabase;
let pool: Pool;
let notices: Notices;
const now = new Date('2026-11-10T03:41:00Z');
const account = randomUUID();

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url, max: 3, types: bigintTypes });
  notices = createNotices({
    pool,
    seal: createSeal({ secretKeys: [randomBytes(32)] }),
    deliverMail: async () => {},
    recordEvent: async () => {},
    messengers: { checkAddress: () => null },
    formatUsd: String,
    upstreamHealth: () => [],
    publicUrl: 'http://127.0.0.1',
    log: { warn() {} },
  });
  await pool.query(`INSERT INTO account (id, name, email) VALUES ($1, 'a', 'a@example.com')`, [account]);
});
afterAll(async () => {
  await notices.close();
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('TRUNCATE notice, vendor_usage, business_notice_settings CASCADE');
});

const books = () => createBooks({ pool, now: () => now });
const night = () => reconcileBills({ books: books(), notices });

async function addUpstream(id = `vendor-${randomUUID().slice(0, 8)}`, simulated = false): Promise<string> {
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url, simulated) VALUES ($1, 'messages', 'https://vendor.example', $2)`,
    [id, simulated],
  );
  return id;
}

async function use(upstream: string, day: string, input = 50_000): Promise<void> {
  await pool.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, upstream_cost,
       latency_ms, outcome, usage_source, stream, created_at)
     SELECT $1, overlay(uuid_at($2)::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid, $1, 'm', $3, 'messages', $4, 0, 0, 0, 0,
       1, 0, 0, 0, 0, $4, $4, 0, $4, 1, 'completed', 'reported', false, $2`,
    [account, `${day}T12:00:00Z`, upstream, input],
  );
}

async function bill(upstream: string, ...lines: string[]): Promise<void> {
  const text = ['day,model,input,output', ...lines].join('\n');
  const outcome = await books().importUsage({ upstream, text, actor: 'test', confirmed: true });
  expect(outcome.kind).toBe('imported');
  await pool.query('UPDATE vendor_usage SET imported_at = $1 WHERE upstream = $2', [now, upstream]);
}

/** Every notice of bills, the oldest first. */
async function told(): Promise<[string, string, Record<string, string>, boolean][]> {
  const { rows } = await pool.query(
    `SELECT kind, subject, facts, cleared_at IS NULL AS open FROM notice ORDER BY created_at, id`,
  );
  return rows.map(({ kind, subject, facts, open }) => [kind, subject, facts, open]);
}

it('a bill that differs is told once, again when another day differs, and is over when a corrected file came', async () => {
  const upstream = await addUpstream();
  for (const day of ['2026-11-01', '2026-11-02', '2026-11-03']) await use(upstream, day);
  await bill(upstream, '2026-11-01,m,50000,0', '2026-11-02,m,60000,0', '2026-11-03,m,50100,0');
  await Promise.all([night(), night()]);
  await night();
  const first = { upstream, model: 'm', day: '2026-11-02', percent: '16', days: '2026-11-02' };
  expect(await told()).toEqual([['bill_differs', upstream, first, true]]);

  await bill(upstream, '2026-11-01,other,100000,0');
  await night();
  const second = { upstream, model: 'm', day: '2026-11-01', percent: '100', days: '2026-11-01, 2026-11-02' };
  expect(await told()).toEqual([
    ['bill_differs', upstream, first, false],
    ['bill_differs', upstream, second, true],
  ]);

  await bill(upstream, '2026-11-01,m,50000,0', '2026-11-02,m,50000,0');
  await night();
  expect((await told()).map(([, , , open]) => open)).toEqual([false, false]);
});

it('a bill is missing when a day with usage is older than chosen, once an upstream has a first bill', async () => {
  const [upstream, never, simulator] = [await addUpstream(), await addUpstream(), await addUpstream(undefined, true)];
  for (const each of [upstream, never, simulator])
    for (const day of ['2026-10-20', '2026-10-30', '2026-11-02', '2026-11-08']) await use(each, day);
  await night();
  expect(await told()).toEqual([]);
  const listed = (await books().bills()).filter((each) => [upstream, never, simulator].includes(each.upstream));
  expect(listed.map((each) => [each.upstream, each.firstDay, each.missingDays])).toEqual(
    [upstream, never].toSorted().map((each) => [each, null, []]),
  );

  await bill(upstream, '2026-10-30,m,50000,0');
  await night();
  await night();
  // The bill of 8 November may still come; 20 October was before the first one.
  const missing = { upstream, day: '2026-11-02', days: '1' };
  expect(await told()).toEqual([['bill_missing', upstream, missing, true]]);
  await notices.saveBusinessSettings({ billDays: 1 }, 'user:test');
  expect((await books().bills()).find((each) => each.upstream === upstream)?.missingDays).toEqual([
    '2026-11-02',
    '2026-11-08',
  ]);

  await bill(upstream, '2026-11-02,m,50000,0', '2026-11-08,m,50000,0');
  await night();
  expect((await told()).map(([kind, , , open]) => [kind, open])).toEqual([['bill_missing', false]]);
});

it('what operators chose decides: the percentage, and kinds that they muted', async () => {
  const upstream = await addUpstream();
  await use(upstream, '2026-11-02');
  await use(upstream, '2026-11-01');
  await bill(upstream, '2026-11-01,m,55000,0');
  await notices.saveBusinessSettings({ billPercent: 10, billDays: 45 }, 'user:test');
  await night();
  expect(await told()).toEqual([]);
  await notices.saveBusinessSettings({ billPercent: 5, muted: ['bill_differs'] }, 'user:test');
  await night();
  expect(await told()).toEqual([]);
  await notices.saveBusinessSettings({ muted: [] }, 'user:test');
  await night();
  expect((await told()).map(([kind, , facts]) => [kind, facts['percent']])).toEqual([['bill_differs', '9']]);
  for (const wrong of [{ billPercent: 0 }, { billPercent: 101 }, { billDays: 0 }, { billDays: 46 }])
    expect(await notices.saveBusinessSettings(wrong, 'user:test')).toMatchObject({ kind: expect.any(String) });
});

it('days of an archived month are left out, and silence no other', async () => {
  const upstream = await addUpstream();
  for (const day of ['2026-09-28', '2026-09-29', '2026-10-02']) await use(upstream, day);
  await bill(upstream, '2026-09-27,m,1,0', '2026-09-28,m,60000,0', '2026-10-02,m,60000,0');
  await pool.query(
    `INSERT INTO archived_month (month, low, high, entries, postings, last_at, manifest, archive, archived_by)
     VALUES ('2026-09-01', uuid_at('2026-09-01T00:00:00Z'), uuid_at('2026-10-01T00:00:00Z'), 2, 0, '2026-09-29T12:00:00Z', $1, 'ledger-2026-09', 'test')`,
    [Buffer.alloc(32)],
  );
  await night();
  const facts = { upstream, model: 'm', day: '2026-10-02', percent: '16', days: '2026-10-02' };
  expect(await told()).toEqual([['bill_differs', upstream, facts, true]]);
});
