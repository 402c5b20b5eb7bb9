import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { pauseAfterCheck } from '../../server/billing/upkeep/scheduled-checks.ts';
import { type Sweep, startSweep } from '../../server/billing/upkeep/sweep.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  type Customer,
  endGrant,
  grant,
  openLedger,
  quiet,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/** The sweep: releases the holds of dead processes, expires grants, checks invariants and makes partitions. */

const leaseMs = 400;
let db: TestDatabase;
let open: TestLedger[] = [];
let sweeps: Sweep[] = [];

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
});

afterEach(async () => {
  await Promise.all(sweeps.map((sweep) => sweep.close()));
  await Promise.all(open.map((each) => each.close()));
  [open, sweeps] = [[], []];
  await expectSound(db.pool);
});

afterAll(() => db.drop());

/** Processes live for as long as the test takes, on however slow a machine. */
async function start(holdLeaseMs = 60_000): Promise<TestLedger> {
  const opened = await openLedger(db.url, { holdLeaseMs });
  open.push(opened);
  return opened;
}

function sweepWith({ pool, ledger, spool }: TestLedger, log = quiet): Sweep {
  const sweep = startSweep({ pool, ledger, spool, leaseMs, log });
  sweeps.push(sweep);
  return sweep;
}

/** The check of all accounts is another test's subject, at whatever hour these run. */
const anotherHour = (): number => (new Date().getUTCHours() + 12) % 24;

const heldBy = async ({ accountId }: Customer): Promise<number> =>
  (await db.pool.query('SELECT FROM hold WHERE account_id = $1', [accountId])).rowCount ?? 0;
/** As if the process had stopped some time ago. */
const stopRenewing = (processId: string) =>
  db.pool.query(`UPDATE process SET lease_until = now() - interval '1 second' WHERE id = $1`, [processId]);
async function isCalm({ ledger }: TestLedger): Promise<void> {
  await expect.poll(() => ledger.calmForMs, { interval: 20 }).toBeGreaterThan(leaseMs);
}

test('the holds of a process that is gone come back, those of one that lives stay', async () => {
  const living = await start();
  // Renews every 15 seconds: to the database it is dead as soon as its lease is taken away.
  const dead = await start();
  const [hers, his] = [await addCustomer(db.pool), await addCustomer(db.pool)];
  await admitted(living.ledger, ask(hers));
  const asked = ask(his);
  const admission = await admitted(dead.ledger, asked);
  await stopRenewing(dead.processId);
  await isCalm(living);
  await sweepWith(living).round();
  expect(await heldBy(his)).toBe(0);
  expect(await heldBy(hers)).toBe(1);
  // It was not dead: what it finishes is charged from what is free.
  expect(await dead.ledger.settle(settlement(asked, admission))).toMatchObject({
    charged: usd('0.00105'),
    duplicate: false,
  });
});

test('nothing is given back before this process has watched for one full lease', async () => {
  const dead = await start();
  const customer = await addCustomer(db.pool);
  await admitted(dead.ledger, ask(customer));
  await stopRenewing(dead.processId);
  const patientMs = 4_000;
  // The database has been up for longer than that: only this process is new.
  await db.pool.query(
    `SELECT pg_sleep(extract(epoch FROM pg_postmaster_start_time() + $1 * interval '1 ms' - now()))`,
    [patientMs],
  );
  const patient = await start();
  const sweep = startSweep({ ...patient, leaseMs: patientMs, log: quiet });
  sweeps.push(sweep);
  await sweep.round();
  expect(await heldBy(customer)).toBe(1);
  await expect.poll(() => patient.ledger.calmForMs).toBeGreaterThan(patientMs);
  await sweep.round();
  expect(await heldBy(customer)).toBe(0);
});

test('a hold of an unknown process is released', async () => {
  const living = await start();
  const customer = await addCustomer(db.pool);
  await admitted(living.ledger, ask(customer));
  await db.pool.query('UPDATE hold SET process_id = $1 WHERE account_id = $2', [randomUUID(), customer.accountId]);
  await isCalm(living);
  await sweepWith(living).round();
  expect(await heldBy(customer)).toBe(0);
});

test('a release of the sweep does nothing to a hold whose process has come back', async () => {
  const living = await start();
  const customer = await addCustomer(db.pool);
  const asked = ask(customer);
  await admitted(living.ledger, asked);
  await living.ledger.releaseOrphan(asked);
  expect(await heldBy(customer)).toBe(1);
});

test('ended grants become postings although the account is unused', async () => {
  const living = await start();
  const customer = await addCustomer(db.pool, { budget: null });
  const trial = await grant(db.pool, customer.accountId, '5', { kind: 'trial', endsInMs: 60_000 });
  const asked = ask(customer);
  const admission = await admitted(living.ledger, asked);
  await endGrant(db.pool, trial);
  await sweepWith(living).round();
  const expired = async (): Promise<unknown[]> =>
    (
      await db.pool.query(`SELECT kind, amount, grant_id FROM posting WHERE account_id = $1 AND kind = 'expire'`, [
        customer.accountId,
      ])
    ).rows;
  expect(await expired()).toEqual([{ kind: 'expire', amount: usd('4.9982'), grant_id: trial }]);
  await living.ledger.settle(settlement(asked, admission));
  expect(await expired()).toHaveLength(2);
});

test('two sweeps at once do everything once', async () => {
  const [first, second, dead] = [await start(), await start(), await start()];
  const customers = await Promise.all(Array.from({ length: 20 }, () => addCustomer(db.pool)));
  const grants = await Promise.all(
    customers.map(({ accountId }) => grant(db.pool, accountId, '1', { endsInMs: 60_000 })),
  );
  await Promise.all(customers.map((customer) => admitted(dead.ledger, ask(customer))));
  await Promise.all(grants.map((id) => endGrant(db.pool, id)));
  await stopRenewing(dead.processId);
  await Promise.all([isCalm(first), isCalm(second)]);
  const [one, two] = [sweepWith(first), sweepWith(second)];
  await Promise.all([one.round(), two.round(), one.round(), two.round()]);
  expect(await Promise.all(customers.map(heldBy))).toEqual(customers.map(() => 0));
});

test('rows of processes that have been gone for long are deleted', async () => {
  const living = await start();
  const gone = randomUUID();
  await db.pool.query(`INSERT INTO process (id, lease_until) VALUES ($1, now() - interval '2 hours')`, [gone]);
  await sweepWith(living).round();
  const { rows } = await db.pool.query('SELECT id FROM process WHERE id = ANY ($1)', [[gone, living.processId]]);
  expect(rows).toEqual([{ id: living.processId }]);
});

test('partitions of the ledger are made ahead', async () => {
  const { rows: before } = await db.pool.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'ledger_partition' ORDER BY 1`,
  );
  const last = before
    .map((row) => row.tablename)
    .filter((name) => name !== 'ledger_elsewhere')
    .at(-1);
  await db.pool.query(`DROP TABLE ledger_partition.${last}`);
  const living = await start();
  await sweepWith(living).round();
  const { rows: after } = await db.pool.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'ledger_partition' ORDER BY 1`,
  );
  expect(after).toEqual(before);
});

test('partitions that cannot be made, while a month leaves the ledger, keep no check from its turn', async () => {
  const living = await start();
  const customer = await addCustomer(db.pool);
  const asked = ask(customer);
  await living.ledger.settle(settlement(asked, await admitted(living.ledger, asked)));
  await db.pool.query('UPDATE usage_hour SET charged = charged + 1 WHERE account_id = $1', [customer.accountId]);
  const archive = await db.pool.connect();
  await archive.query('BEGIN');
  await archive.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.ledger_partitions', 0))`);
  const faults: string[] = [];
  const log = { ...quiet, error: (_fields: object, text: string) => void faults.push(text) };
  const sweep = startSweep({ ...living, leaseMs, invariantsEveryMs: 0, fullCheckHour: anotherHour(), log });
  sweeps.push(sweep);
  await sweep.round();
  expect(faults.length).toBeGreaterThan(0);
  await archive.query('ROLLBACK');
  archive.release();
  await db.pool.query('UPDATE usage_hour SET charged = charged - 1 WHERE account_id = $1', [customer.accountId]);
});

test('a broken invariant of an account that was written to raises an alarm', async () => {
  const living = await start();
  const customer = await addCustomer(db.pool);
  const asked = ask(customer);
  await living.ledger.settle(settlement(asked, await admitted(living.ledger, asked)));
  await db.pool.query('UPDATE usage_hour SET charged = charged + 1 WHERE account_id = $1', [customer.accountId]);
  const alarms: object[] = [];
  const faults: string[] = [];
  const sweep = startSweep({
    ...living,
    leaseMs,
    invariantsEveryMs: 0,
    fullCheckHour: anotherHour(),
    log: { ...quiet, error: (fields) => alarms.push(fields) },
    metrics: { fault: (where) => faults.push(where) },
  });
  sweeps.push(sweep);
  await sweep.round();
  expect(alarms).toEqual([{ invariant: 'usage_hour', count: 1, rows: expect.stringContaining(customer.accountId) }]);
  expect(faults).toEqual(['invariant_broken']);
  await db.pool.query('UPDATE usage_hour SET charged = charged - 1 WHERE account_id = $1', [customer.accountId]);
});

test('an account with many requests is checked by what is new and by its sums', async () => {
  const living = await start();
  const customer = await addCustomer(db.pool);
  const asked = ask(customer);
  await living.ledger.settle(settlement(asked, await admitted(living.ledger, asked)));
  // A check of all rows would say I2 as well.
  await db.pool.query('UPDATE "grant" SET spent = spent + 1 WHERE account_id = $1', [customer.accountId]);
  const alarms: object[] = [];
  const sweep = startSweep({
    ...living,
    leaseMs,
    invariantsEveryMs: 0,
    fullCheckHour: anotherHour(),
    longRequests: 0,
    log: { ...quiet, error: (fields) => alarms.push(fields) },
  });
  sweeps.push(sweep);
  await sweep.round();
  expect(alarms).toMatchObject([{ invariant: 'I5' }]);
  await db.pool.query('UPDATE "grant" SET spent = spent - 1 WHERE account_id = $1', [customer.accountId]);
});

test('a check that takes long is made less often: it never needs more than a fiftieth of the time', () => {
  expect(pauseAfterCheck(60_000, 3)).toBe(60_000);
  for (const tookMs of [1_500, 13_000, 20_000])
    expect(tookMs / pauseAfterCheck(60_000, tookMs)).toBeLessThanOrEqual(0.02);
});
