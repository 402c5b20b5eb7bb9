/** A month's figures of a large ledger are read from the month: what came before it is not scanned. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { readMargins } from '../../server/books/margins.ts';
import { seedAccounts, seedEntries } from '../bench/seed.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await seedAccounts(database.pool, 40);
  await seedEntries(database.pool, { accounts: 40, from: 0, to: 40_000, total: 40_000, days: 365 });
  // The seed gives what nobody paid for.
  await database.pool.query(`UPDATE "grant" SET kind = 'purchase'`);
  await database.pool.query('ANALYZE posting, ledger_entry, "grant", account, margin_hour');
}, 300_000);
afterAll(() => database.drop());

it('revenue of a month reads neither all postings nor the partitions of other months', async () => {
  const { pool } = database;
  const { rows } = await pool.query(`SELECT date_trunc('month', now()) - interval '4 months' AS "from",
    date_trunc('month', now()) - interval '3 months' AS "to"`);
  const { from, to } = rows[0];
  const asked: { text: string; values: unknown[] }[] = [];
  const spy = {
    query: (query: never, values: never) => {
      asked.push(typeof query === 'string' ? { text: query, values } : query);
      return pool.query(query, values);
    },
  };
  const query = {
    kind: 'customer',
    period: 'month',
    byModel: true,
    byUpstream: true,
    byAccount: false,
    from,
    to,
    model: null,
    upstream: null,
    accountId: null,
    timeZone: 'UTC',
    limit: 100,
    offset: 0,
  } as const;
  await readMargins(spy as never, query);
  const ofBought = asked.find(({ text }) => text.includes('FROM posting'));
  const { rows: plan } = await pool.query({
    text: `EXPLAIN ${ofBought?.text}`,
    values: ofBought?.values ?? [],
  });
  const lines = plan.map((row) => row['QUERY PLAN']);
  expect(lines.filter((line) => /Seq Scan on posting/.test(line))).toEqual([]);
  const ofPostings = lines.findIndex((line) => /Scan (using|on) posting/.test(line));
  expect(lines.slice(ofPostings).find((line) => line.includes('Index Cond'))).toMatch(
    /account_id = .*\(id >= .*\(id < /,
  );
  // A partition before and one after: a request may run over midnight.
  expect(lines.filter((line) => / on ledger_\d/.test(line)).length).toBeLessThanOrEqual(2 * 3);
  // Never each request with each posting.
  expect(lines.filter((line) => /Join Filter: .*request_id/.test(line))).toEqual([]);
});
