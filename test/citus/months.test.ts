/** A ledger with a past on the shards of a Citus: its months are closed, leave and come back as on one PostgreSQL. */

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import type { Admitted } from '../../server/billing/types.ts';
import { migrate } from '../../server/database/migrate.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createStatements } from '../../server/plans/papers/statements.ts';
import { createRefunds } from '../../server/plans/refunds.ts';
import { busiestOf, seedAccounts, seedEntries } from '../bench/seed.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { createAccount, createDomain, createPlans, oneUsd, order, transfer } from '../plans/support.ts';
import { createDirectory } from '../support/directory.ts';
import { type Nodes, startNodes } from './nodes.ts';

const directory = createDirectory('steyg-citus-months-');
let nodes: Nodes;
let pool: Pool;
/** The months that can be archived, oldest first. */
let months: string[];
/** What the busiest account read on one PostgreSQL. */
let statementBefore: unknown;

beforeAll(async () => {
  nodes = await startNodes(['citus.shard_count = 8']);
  const url = await nodes.database('steyg');
  await migrate({ url });
  pool = new Pool({ connectionString: url, max: 4, types: bigintTypes });
  pool.on('error', () => undefined);
  await createPlans(pool);
  await seedAccounts(pool, 30);
  await pool.query(`UPDATE account SET created_at = now() - interval '300 days' WHERE email LIKE 'scale-%'`);
  await seedEntries(pool, { accounts: 30, from: 0, to: 3_000, total: 3_000, days: 200, lines: true });
  months = (await admin('ledger', 'archive', '--before', '9999-12', '--dry-run'))['months'] as string[];
  statementBefore = await statementOf(month(1));
  const done = await admin('distribute');
  if (!('distributed' in done)) throw new Error(JSON.stringify(done));
});
afterAll(async () => {
  await pool.end();
  await nodes.remove();
  await rm(directory, { recursive: true, force: true });
});

async function admin(...words: string[]): Promise<Record<string, unknown>> {
  let out = '';
  await runCommandLine([...words, '--json'], {
    env: { DATABASE_URL: nodes.coordinator.url('steyg'), DATA_DIR: directory },
    out: (text) => {
      out += text;
    },
    err: () => undefined,
  });
  return JSON.parse(out) as Record<string, unknown>;
}

const month = (index: number): string => months[index] ?? '';
const folderOf = (name: string): string => join(directory, 'archives', `ledger-${name}`);

async function digestOf(...tables: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const table of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${table} AS t`);
    for (const row of rows.map((each) => each.row).sort()) hash.update(`${row}\n`);
  }
  return hash.digest('hex');
}

const statementOf = async (name: string) => createStatements({ pool }).read((await busiestOf(pool)).accountId, name);

it('closes a month, and an account reads the statement that it read before', async () => {
  expect(await admin('books', 'close', month(0))).not.toHaveProperty('error');
  expect(await admin('books', 'close', month(1))).not.toHaveProperty('error');
  const statement = await statementOf(month(1));
  expect(statement?.usage.length).toBeGreaterThan(5);
  expect(statement).toEqual(statementBefore);
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
});

it('sets aside a settlement that no shard can take, and settles the others of its batch', async () => {
  await addModel(pool, { id: 'big' });
  const customer = await addCustomer(pool, { budget: '10' });
  const { ledger, close } = await openLedger(nodes.coordinator.url('steyg'), { directory: join(directory, 'spool') });
  const asks = Array.from({ length: 5 }, () => ask(customer));
  const admissions: Admitted[] = [];
  for (const asked of asks) admissions.push(await admitted(ledger, asked));
  const usage = { input: 100_000_001, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
  const results = await Promise.allSettled(
    asks.map((asked, i) => ledger.settle(settlement(asked, admissions[i] as never, i === 0 ? { usage } : {}))),
  );
  expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
  expect(results[0]).toMatchObject({ reason: { name: 'Quarantined' } });
  await close();
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
});

it('takes an unused purchase back, and what is given back of it again', async () => {
  const accountId = await createAccount(pool);
  const made = await order(pool, accountId);
  await createDomain(pool).transfers.receive(transfer({ memo: made.memo, amountVnd: 250_000n }));
  const refunds = createRefunds({ pool });
  const by = '00000000-0000-7000-8000-000000000001';
  const refunded = await refunds.refundOrder({ orderId: made.id, budget: oneUsd, usedVnd: 0n, reason: 'asked', by });
  expect(refunded).toMatchObject({ kind: 'refunded', refund: { budget: oneUsd, amountVnd: 25_000n } });
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
});

it('archives closed months, proves them, and puts them back to the last column', async () => {
  const before = await digestOf('ledger_entry', 'posting');
  const sums = await digestOf('usage_hour', 'margin_hour', '"grant"', 'key_spend');
  const archived = await admin('ledger', 'archive', '--before', month(1), '--to', join(directory, 'archives'));
  expect(archived).toMatchObject({ archived: [{ month: month(0) }] });
  expect(await digestOf('usage_hour', 'margin_hour', '"grant"', 'key_spend')).toBe(sums);
  expect(await digestOf('ledger_entry', 'posting')).not.toBe(before);
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
  expect(await admin('ledger', 'verify', folderOf(month(0)))).toMatchObject({ archivedAt: expect.anything() });
  for (const table of ['posting', 'ledger_entry'])
    await expect(pool.query(`DELETE FROM ${table}`)).rejects.toMatchObject({ code: '23001' });
  // A late settlement, also by hand.
  const { rows: bounds } = await pool.query<{ low: string }>('SELECT low FROM archived_month');
  const late = `INSERT INTO ledger_entry SELECT (jsonb_populate_record(e, jsonb_build_object('request_id', '${bounds[0]?.low}'))).*
                FROM ledger_entry AS e LIMIT 1`;
  await expect(pool.query(late)).rejects.toThrow('the ledger of this month is archived');
  expect(await admin('ledger', 'restore', folderOf(month(0)))).toMatchObject({ month: month(0) });
  expect(await digestOf('ledger_entry', 'posting')).toBe(before);
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
  const { rows } = await pool.query('SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1)', [
    `ledger_partition.ledger_${month(0).replace('-', '_')}`,
  ]);
  expect(rows.length).toBe(1);
});

it('knows on one PostgreSQL again which months are archived', async () => {
  await admin('ledger', 'archive', '--before', month(1), '--to', join(directory, 'archives'));
  expect(await admin('distribute', '--back')).toEqual({ gathered: ['posting', 'ledger_entry'] });
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
  expect(await admin('ledger', 'restore', folderOf(month(0)))).toMatchObject({ month: month(0) });
  expect(await admin('invariants')).toEqual({ invariants: 'ok' });
});
