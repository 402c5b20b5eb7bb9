/** Books that an earlier version of the server wrote: its closed months stay readable, and the next ones go on from them. */

import { randomUUID } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareVendorUsage } from '../../server/books/bill-comparison.ts';
import { createBooks } from '../../server/books/books.ts';
import { migrate, migrationsDirectory, readMigrations } from '../../server/database/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase({ migrated: false });
  const directory = createDirectory('steyg-earlier-');
  const all = (await readMigrations()).map(({ name }) => name);
  // The lines of months came with this one.
  const earlier = all.filter((name) => name < '20261123095814_refunds_and_whole_months');
  if (earlier.length === all.length) throw new Error('the migration has another name');
  for (const name of earlier) await cp(join(migrationsDirectory, name), join(directory, name), { recursive: true });
  await migrate({ url: database.url, directory });
  const { pool } = database;
  const [account, grant] = [randomUUID(), randomUUID()];
  await pool.query(`INSERT INTO account (id, name, email) VALUES ($1, 'a', 'a@example.com')`, [account]);
  await pool.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, source_ref, created_at)
     VALUES ($1, $2, 'adjustment', 1000, 'adjustment:x', '2026-07-10')`,
    [account, grant],
  );
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'messages', 'https://vendor.example')`,
  );
  const figures = { revenueVnd: '5000', charged: '7', chargedPaid: '0', trialCost: '0', expired: '0', shortfall: '0' };
  await pool.query(
    `INSERT INTO closed_month (month, previous, time_zone, revenue_vnd, charged, charged_paid, trial_cost, expired, shortfall,
       upstream_cost, unknown_charged, unused, margin, totals, closed_by)
     VALUES ('2026-08-01', NULL, 'Asia/Ho_Chi_Minh', 5000, 7, 0, 0, 0, 0, 3, 0, 0, 4, $1, 'user:x')`,
    [JSON.stringify({ ...figures, upstreamCost: '3', unknownCharged: '0' })],
  );
  await pool.query(
    `INSERT INTO vendor_usage (upstream, day, model, input, cache_hit, cache_write, output, cost, source, imported_by)
     VALUES ('vendor', '2026-08-05', 'm', 10, 0, 0, 5, 7, 'generic', 'user:x')`,
  );
  await migrate({ url: database.url });
}, 120_000);
afterAll(() => database.drop());

it('a month that was closed before keeps its figures, and the next one is closed with its lines after it', async () => {
  const books = createBooks({ pool: database.pool });
  const [before] = await books.closedMonths();
  expect(before).toMatchObject({
    month: '2026-08',
    statement: null,
    digest: null,
    earlier: { revenueVnd: 5_000n, charged: 7n, upstreamCost: 3n, margin: 4n },
  });
  // It has no lines that a journal could be made of.
  expect(await books.csv('journal', '2026-08', 'en')).toBeNull();
  const closed = await books.close({ month: '2026-09', timeZone: 'UTC', actor: 'test' });
  expect(closed).toMatchObject({
    kind: 'closed',
    month: { timeZone: 'Asia/Ho_Chi_Minh', statement: { budgets: { given: { opening: 1_000n, closing: 1_000n } } } },
  });
  expect((await books.closedMonths())[0]).toEqual(before);
  expect(await books.verify()).toEqual([]);
});

it('a vendor’s figures that were imported before are compared, are versions, and a file of their days says what it replaces', async () => {
  const books = createBooks({ pool: database.pool });
  const days = { from: '2026-08-01', to: '2026-08-31', upstream: null, percent: 1 };
  expect((await compareVendorUsage(database.pool, days)).map(({ model, vendor }) => [model, vendor?.input])).toEqual([
    ['m', 10n],
  ]);
  const text = 'day,model,input,output\n2026-08-05,other,1,1';
  expect(await books.importUsage({ upstream: 'vendor', text, actor: 'test' })).toMatchObject({
    kind: 'would_remove',
    removed: [{ day: '2026-08-05', model: 'm', after: null }],
  });
});
