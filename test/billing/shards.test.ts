/** Every statement of the money path says which account it is for: on a distributed PostgreSQL each goes to one shard. */

import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Ledger } from '../../server/billing/lane/ledger.ts';
import { heldBytesPerToken } from '../../server/core/tokens.ts';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createPostgres, type TestPostgres } from '../support/postgres.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement } from './support.ts';

/**
 * Tables that are the same for everybody, and why they stay small or quiet: processes and their leases, one row for each;
 * the counter of changes, one row; the catalog. `escrow_call` has a row while a process is asked to give idle money back.
 */
const global = ['process', 'admission_change', 'escrow_call', 'model', 'price', 'route', 'upstream'];

/** The statements that charge requests which an escrow pays for: most of those of a busy service. */
const promised = ['ledger_charge_grants', 'ledger_charge_keys', 'ledger_charge_escrows', 'ledger_insert_promised'];

/** Pico-USD of a token: `addModel`. */
const cacheHitPrice = 300_000;

/** How a process calls in what others hold in advance, and how they hear of it. */
const calls = ['INSERT INTO escrow_call', 'execute ledger_take_calls:'];

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
  // An escrow opens for a key that is used often within two seconds; a slow machine may need several attempts.
  const [busy] = customers;
  if (busy === undefined) throw new Error('no customer');
  for (let said = ''; !promised.every((name) => said.includes(`execute ${name}:`)); said = await postgres.log()) {
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        const asked = ask(busy);
        await ledger.settle(settlement(asked, await admitted(ledger, asked)));
      }),
    );
  }
  await callIn(url, pool, ledger);
  await close();
  await pool.end();
  const log = (await postgres.log()).slice(before);
  // A statement of several lines goes on with a tab.
  const said = [...log.matchAll(/execute ([a-z_]+|<unnamed>): ((?:.*)(?:\n\t.*)*)/g)];
  // The one statement of the money path without a name; what else has none is the test's own.
  const named = said.filter(([, name, text]) => name !== '<unnamed>' || text?.includes('escrow_call'));
  statements = new Map(named.map(([, name = '', text = '']) => [name, text]));
}, 120_000);
afterAll(() => postgres.remove());

/** Another process wants what this one holds in advance for a key that is used often, and calls it in. */
async function callIn(url: string, pool: Pool, ledger: Ledger): Promise<void> {
  const other = await openLedger(url);
  let customer = await addCustomer(pool, { budget: '0.1' });
  for (let round = 1, said = ''; !calls.every((text) => said.includes(text)); round += 1) {
    if (round % 5 === 0) customer = await addCustomer(pool, { budget: '0.1' });
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        const asked = ask(customer);
        const admission = await ledger.admit(asked);
        if (admission.kind === 'admitted') await ledger.settle(settlement(asked, admission));
      }),
    );
    const { rows } = await pool.query<{ free: string }>(
      `SELECT sum(amount - spent - expired - held)::text AS free FROM "grant" WHERE account_id = $1`,
      [customer.accountId],
    );
    // Its input alone costs what is free, by the lowest price: the answer needs what is idle elsewhere.
    const tokens = Math.ceil(Number(rows[0]?.free) / cacheHitPrice);
    const wanted = ask(customer, { textBytes: tokens * heldBytesPerToken });
    const admission = await other.ledger.admit(wanted);
    if (admission.kind === 'admitted') await other.ledger.release(wanted);
    said = await postgres.log();
  }
  await other.close();
}

const tablesOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?"?([a-z_]+)"?/gi)].map(([, name = '']) => name);

it('is read from what the ledger sends: admissions, extensions, settlements, promised charges, releases, replays, expiries, call-ins', () => {
  expect([...statements.keys()]).toEqual(
    expect.arrayContaining([
      'ledger_witness',
      'ledger_lock_grants',
      'ledger_insert_entries',
      'ledger_now',
      'ledger_take_calls',
      '<unnamed>',
      ...promised,
    ]),
  );
  expect(statements.size).toBeGreaterThan(15);
});

/** The statements that touch a table of accounts. */
const ofAccounts = (): [string, string][] =>
  [...statements].filter(([, text]) => tablesOf(text).some((name) => owned.includes(name) && !global.includes(name)));

it('names the account wherever it touches a table of accounts', () => {
  expect(ofAccounts().filter(([, text]) => !/\baccount_id\b/.test(text))).toEqual([]);
});

it('finds the rows that it changes by their account, also those whose place is known', () => {
  const changes = ofAccounts().filter(([, text]) => /\b(UPDATE "?[a-z_]+"? |DELETE FROM|MERGE INTO)/.test(text));
  expect(changes.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'ledger_write_grants',
      'ledger_write_key_spend',
      'ledger_charge_grants',
      'ledger_end_holds',
    ]),
  );
  expect(changes.filter(([, text]) => !/\baccount_id = /.test(text)).map(([name]) => name)).toEqual([]);
});

it('touches no other tables than those of accounts and the global ones that the page lists', () => {
  const known = new Set([...owned, ...global, 'account']);
  const touched = [...statements.values()]
    .flatMap(tablesOf)
    .filter((name) => tables.includes(name) && !known.has(name));
  expect(touched).toEqual([]);
});
