/** Every statement of the money path says which account it is for: on a distributed PostgreSQL each goes to one shard. */

import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createPostgres, type TestPostgres } from '../support/postgres.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement } from './support.ts';

/**
 * Tables that are the same for everybody, and why they stay small or quiet: processes and their leases, one row for each;
 * the counter of changes, one row; the catalog. `escrow_call` has a row while a process is asked to give idle money back.
 */
const global = ['process', 'admission_change', 'escrow_call', 'model', 'price', 'route', 'upstream'];

let postgres: TestPostgres;
let statements: Map<string, string>;
let owned: string[];
let tables: string[];

beforeAll(async () => {
  postgres = await createPostgres({ log_statement: 'all', fsync: 'off' });
  await ensureDatabase(postgres.url('postgres'), 'shards');
  const url = postgres.url('shards');
  await migrate({ url });
  const pool = new Pool({ connectionString: url, max: 2 });
  await addModel(pool, { id: 'big' });
  const customers = [await addCustomer(pool, { budget: '100' }), await addCustomer(pool, { budget: '0.01' })];
  const { rows } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'account_id'`,
  );
  owned = rows.map(({ name }) => name);
  const all = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  tables = all.rows.map(({ name }) => name);
  const before = (await postgres.log()).length;
  const { ledger, close } = await openLedger(url);
  for (const customer of customers) {
    for (let i = 0; i < 4; i += 1) {
      const asked = ask(customer);
      const admission = await ledger.admit(asked);
      if (admission.kind === 'refused') continue;
      if (i === 1) await ledger.extend(asked, 1_000n);
      if (i === 2) await ledger.release(asked);
      else await ledger.settle(settlement(asked, admission));
    }
    const replayed = ask(customer);
    await ledger.replay(settlement(replayed, await admitted(ledger, ask(customers[0] ?? customer))));
    await ledger.expire(customer.accountId);
  }
  await close();
  await pool.end();
  const log = (await postgres.log()).slice(before);
  // A statement of several lines goes on with a tab.
  const said = [...log.matchAll(/execute ([a-z_]+): ((?:.*)(?:\n\t.*)*)/g)];
  statements = new Map(said.map(([, name = '', text = '']) => [name, text]));
}, 120_000);
afterAll(() => postgres.remove());

const tablesOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?"?([a-z_]+)"?/gi)].map(([, name = '']) => name);

it('is read from what the ledger sends: admissions, extensions, settlements, releases, replays and expiries', () => {
  expect([...statements.keys()]).toEqual(
    expect.arrayContaining(['ledger_witness', 'ledger_lock_grants', 'ledger_insert_entries', 'ledger_now']),
  );
  expect(statements.size).toBeGreaterThan(10);
});

/** They find the rows that an earlier statement of the same transaction has locked, by their place on the disk. */
const byPlace = ['ledger_write_grants', 'ledger_write_key_spend'];

it('names the account wherever it touches a table of accounts, but for two writes of rows that are locked already', () => {
  const without = [...statements].filter(
    ([, text]) =>
      tablesOf(text).some((name) => owned.includes(name) && !global.includes(name)) && !/\baccount_id\b/.test(text),
  );
  expect(without.map(([name]) => name).sort()).toEqual(byPlace);
});

it('touches no other tables than those of accounts and the global ones that the page lists', () => {
  const known = new Set([...owned, ...global, 'account']);
  const touched = [...statements.values()]
    .flatMap(tablesOf)
    .filter((name) => tables.includes(name) && !known.has(name));
  expect(touched).toEqual([]);
});
