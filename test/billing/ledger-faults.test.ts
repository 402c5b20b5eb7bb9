import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Closed, type Ledger, Quarantined, type Settled } from '../../server/billing/lane/ledger.ts';
import { startSweep } from '../../server/billing/upkeep/sweep.ts';
import { migrate } from '../../server/database/migrate.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createDirectory } from '../support/directory.ts';
import { createPostgres, type TestPostgres } from '../support/postgres.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  type Customer,
  openLedger,
  quiet,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/** The ledger with a database, a disk and a process that fail. */
let postgres: TestPostgres;
let url: string;
let db: Pool;
let open: TestLedger[];
let directory: string;

beforeAll(async () => {
  postgres = await createPostgres();
  url = postgres.url('faults');
  await ensureDatabase(postgres.url('postgres'), 'faults');
  await migrate({ url });
  db = new Pool({ connectionString: url, types: bigintTypes });
  db.on('error', () => {});
  await addModel(db, { id: 'big' });
});

beforeEach(() => {
  open = [];
  directory = createDirectory('steyg-spool-');
});

afterEach(async () => {
  await Promise.all(open.map((each) => each.close()));
  rmSync(directory, { recursive: true, force: true });
  await expectSound(db);
});

afterAll(async () => {
  await db.end();
  await postgres.remove();
});

async function start(options: Parameters<typeof openLedger>[1] = {}): Promise<TestLedger> {
  const opened = await openLedger(url, { directory, ...options });
  open.push(opened);
  return opened;
}

const entriesOf = async (ids: readonly string[]): Promise<number> => {
  const { rows } = await db.query('SELECT count(*) AS found FROM ledger_entry WHERE request_id = ANY ($1)', [ids]);
  return Number(rows[0].found);
};
const heldBy = async ({ accountId }: Customer): Promise<number> => {
  const { rows } = await db.query('SELECT count(*) AS found FROM hold WHERE account_id = $1', [accountId]);
  return Number(rows[0].found);
};
async function isHealthy(ledger: Ledger): Promise<void> {
  await expect.poll(() => ledger.healthy).toBe(true);
}

describe('a database that crashes under load', () => {
  test('loses no settlement and doubles none', { timeout: 180_000 }, async () => {
    const { ledger } = await start();
    const customers = await Promise.all(Array.from({ length: 5 }, () => addCustomer(db, { budget: '1000' })));
    const settled: Promise<Settled>[] = [];
    const ids: string[] = [];
    const refusals = new Set<string>();
    const state = { stopped: false };
    const client = async (customer: Customer): Promise<void> => {
      while (!state.stopped) {
        const asked = ask(customer);
        const answer = await ledger.admit(asked);
        if (answer.kind === 'refused') {
          refusals.add(answer.reason);
          await new Promise((resolve) => setTimeout(resolve, 20));
          continue;
        }
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
        ids.push(asked.requestId);
        const promise = ledger.settle(settlement(asked, answer));
        settled.push(promise);
        await promise;
      }
    };
    const clients = Array.from({ length: 60 }, (_, i) => client(customers[i % 5] as Customer));
    for (let crash = 0; crash < 3; crash += 1) {
      const before = ids.length;
      await expect.poll(() => ids.length).toBeGreaterThan(before + 200);
      await postgres.stop('immediate');
      // The clients may all be waiting for their settlements.
      const away = await ledger.admit(ask(customers[0] as Customer));
      refusals.add(away.kind === 'refused' ? away.reason : away.kind);
      await postgres.start();
      await isHealthy(ledger);
    }
    state.stopped = true;
    await Promise.all(clients);
    expect([...refusals]).toEqual(['unavailable']);
    const results = await Promise.all(settled);
    expect(results.every((each) => each.charged === usd('0.00105'))).toBe(true);
    expect(await entriesOf(ids)).toBe(ids.length);
    for (const customer of customers) {
      await expect.poll(() => heldBy(customer)).toBe(0);
    }
  });
});

describe('a process that is killed under load', () => {
  test('leaves every finished request exactly one entry, and no hold', { timeout: 180_000 }, async () => {
    const customers = await Promise.all(Array.from({ length: 5 }, () => addCustomer(db, { budget: '1000' })));
    const worker = spawn(
      process.execPath,
      [join(import.meta.dirname, 'worker.ts'), url, directory, JSON.stringify(customers)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const finished: string[] = [];
    const lines = createInterface({ input: worker.stdout }).on('line', (id) => finished.push(id));
    await expect.poll(() => finished.length).toBeGreaterThan(1_000);
    worker.kill('SIGKILL');
    await Promise.all([once(worker, 'exit'), once(lines, 'close')]);

    const held = await Promise.all(customers.map(heldBy));
    expect(held.reduce((a, b) => a + b)).toBeGreaterThan(0);
    expect(readdirSync(directory)).not.toEqual([]);

    const { ledger, spool, pool, processId } = await start({ holdLeaseMs: 500 });
    const sweep = startSweep({ pool, ledger, spool, leaseMs: 500, log: quiet });
    // Its pid is free, so its finished requests are settled without waiting for its lease.
    await expect.poll(() => entriesOf(finished)).toBe(finished.length);
    await db.query(`UPDATE process SET lease_until = now() WHERE id <> $1`, [processId]);
    for (const customer of customers) {
      await expect.poll(() => heldBy(customer)).toBe(0);
    }
    await sweep.close();
    const { rows } = await db.query(
      'SELECT count(*) AS entries, count(DISTINCT request_id) AS requests FROM ledger_entry',
    );
    expect(rows[0].entries).toBe(rows[0].requests);
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('a database that cannot be reached', () => {
  test('at the start: the ledger says so, refuses, and comes up by itself', async () => {
    await postgres.stop();
    const { ledger } = await start({ start: false });
    await expect(ledger.start()).rejects.toThrow('ENOENT');
    expect(ledger.healthy).toBe(false);
    const customer = { accountId: 'nobody', keyId: 'nothing' };
    expect(await ledger.admit(ask(customer))).toMatchObject({ kind: 'refused', reason: 'unavailable' });
    await postgres.start();
    const starts = () =>
      ledger.start().then(
        () => true,
        () => false,
      );
    await expect.poll(starts).toBe(true);
    expect(ledger.healthy).toBe(true);
  });

  test('at the settlement: the line is on disk, and in the database as soon as it is back', async () => {
    const { ledger, processId } = await start();
    const customer = await addCustomer(db);
    const [used, unused] = [ask(customer), ask(customer)];
    const admission = await admitted(ledger, used);
    await admitted(ledger, unused);
    await postgres.stop('immediate');
    const settled = ledger.settle(settlement(used, admission));
    const released = ledger.release(unused);
    expect(readFileSync(join(directory, `${processId}.0.ndjson`), 'utf8')).toContain(used.requestId);
    await expect(ledger.extend(used, 1n)).rejects.toThrow('cannot say whether there is more');
    await expect.poll(() => ledger.healthy).toBe(false);
    await postgres.start();
    expect(await settled).toMatchObject({ charged: usd('0.00105'), duplicate: false });
    await released;
    expect(await heldBy(customer)).toBe(0);
    await isHealthy(ledger);
  });

  test('until the process ends: the line stays on disk, and the next process settles it', async () => {
    const first = await openLedger(url, { directory, holdLeaseMs: 1_000 });
    const customer = await addCustomer(db);
    const asked = ask(customer);
    const admission = await admitted(first.ledger, asked);
    await postgres.stop('immediate');
    const lost = Promise.allSettled([first.ledger.settle(settlement(asked, admission))]);
    await first.close();
    expect(await lost).toMatchObject([{ status: 'rejected', reason: expect.any(Closed) }]);
    expect(readdirSync(directory)).toHaveLength(1);
    await postgres.start();

    const { ledger, spool, pool } = await start();
    const sweep = startSweep({ pool, ledger, spool, leaseMs: 1_000, log: quiet });
    await sweep.round();
    await sweep.close();
    expect(await entriesOf([asked.requestId])).toBe(1);
    expect(await heldBy(customer)).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('the holds of processes get one full lease after an outage', async () => {
    const leaseMs = 3_000;
    const dead = await openLedger(url, { directory, holdLeaseMs: leaseMs });
    const { ledger, spool, pool } = await start({ holdLeaseMs: leaseMs });
    const customer = await addCustomer(db);
    const asked = ask(customer);
    const admission = await admitted(dead.ledger, asked);
    // Its lease has run out, as far as the database knows.
    await db.query(`UPDATE process SET lease_until = now() - interval '1 second' WHERE id = $1`, [dead.processId]);
    await postgres.stop('immediate');
    await expect.poll(() => ledger.healthy).toBe(false);
    await postgres.start();
    await isHealthy(ledger);
    const sweep = startSweep({ pool, ledger, spool, leaseMs, log: quiet });
    await sweep.round();
    expect(await heldBy(customer)).toBe(1);
    // It lives, and renews its lease as soon as it can.
    await isHealthy(dead.ledger);
    await expect.poll(() => ledger.calmForMs).toBeGreaterThan(leaseMs);
    await sweep.round();
    expect(await heldBy(customer)).toBe(1);
    expect(await dead.ledger.settle(settlement(asked, admission))).toMatchObject({ duplicate: false });
    await sweep.close();
    await dead.close();
  });
});

describe('a database that was restarted', () => {
  test('unnoticed: the holds of processes get one full lease all the same', async () => {
    // Longer than a restart of the database takes on the slowest machine.
    const leaseMs = 60_000;
    const dead = await start();
    const { ledger, spool, pool } = await start();
    const customer = await addCustomer(db);
    const asked = ask(customer);
    await admitted(dead.ledger, asked);
    await db.query(`UPDATE process SET lease_until = now() - interval '1 second' WHERE id = $1`, [dead.processId]);
    await postgres.stop('immediate');
    await postgres.start();
    // It has had nothing to do meanwhile, so it has been calm for as long as it runs.
    const unaware = Object.create(ledger, { calmForMs: { value: 2 * leaseMs } }) as Ledger;
    const sweep = startSweep({ pool, ledger: unaware, spool, leaseMs, log: quiet });
    await sweep.round();
    expect(await heldBy(customer)).toBe(1);
    await sweep.close();
    await ledger.release(asked);
  });
});

describe('another session that holds a lock', () => {
  test('delays settlements, and admissions are told', async () => {
    const { ledger } = await start();
    const customer = await addCustomer(db);
    const asked = ask(customer);
    const admission = await admitted(ledger, asked);
    const blocker = await db.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT * FROM "grant" WHERE account_id = $1 FOR UPDATE', [customer.accountId]);
    const settled = ledger.settle(settlement(asked, admission));
    expect(await ledger.admit(ask(customer))).toMatchObject({ reason: 'unavailable' });
    await blocker.query('ROLLBACK');
    blocker.release();
    expect(await settled).toMatchObject({ charged: usd('0.00105') });
    await isHealthy(ledger);
    await expect.poll(() => heldBy(customer)).toBe(0);
  });
});

describe('a migration that changes what a statement of the session returns', () => {
  test('turns nobody away: the batch is carried out again on a new connection', async () => {
    const { ledger } = await start();
    const spend = async (): Promise<void> => {
      const asked = ask(await addCustomer(db, { budget: '1' }));
      const admission = await admitted(ledger, asked);
      expect(await ledger.settle(settlement(asked, admission))).toMatchObject({ duplicate: false });
    };
    await spend();
    for (const type of ['bigint', 'integer']) {
      await db.query(`ALTER TABLE model ALTER COLUMN context_window TYPE ${type}`);
      await spend();
    }
  });
});

describe('a settlement that the database can never take', () => {
  test('is set aside, its hold comes back, and the others of its batch are settled', async () => {
    const { ledger, directory: spoolDirectory } = await start();
    const customer = await addCustomer(db);
    const asks = Array.from({ length: 30 }, () => ask(customer));
    const admissions = await Promise.all(asks.map((asked) => admitted(ledger, asked)));
    const wrong = [
      { usage: { input: 100_000_001, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 } },
      { usage: { input: 0.5, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 } },
      { model: 'nul\0' },
      { latencyMs: 2 ** 31 },
    ];
    const results = await Promise.allSettled(
      asks.map((asked, i) => ledger.settle(settlement(asked, admissions[i] as never, wrong[i] ?? {}))),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.map((result) => result.reason)).toEqual(wrong.map(() => expect.any(Quarantined)));
    expect(results.slice(wrong.length).map((result) => result.status)).toEqual(Array(26).fill('fulfilled'));
    await expect.poll(() => heldBy(customer)).toBe(0);
    const aside = readFileSync(join(spoolDirectory, 'quarantine.log'), 'utf8').trim().split('\n');
    expect(aside.map((each) => JSON.parse(JSON.parse(each).line).requestId)).toEqual(
      asks.slice(0, wrong.length).map((asked) => asked.requestId),
    );
    expect(ledger.healthy).toBe(true);
  });
});

describe('a settlement of an account that there is not', () => {
  test('is set aside and becomes no entry, and late ones of known accounts are settled beside it', async () => {
    const { ledger, directory: spoolDirectory } = await start();
    const customer = await addCustomer(db);
    const [asked, late] = [ask(customer), ask(customer)];
    const admission = await admitted(ledger, asked);
    await ledger.release(asked);
    const stranger = settlement(ask({ ...customer, accountId: randomUUID() }), admission);
    const [unknown, known] = await Promise.allSettled([
      ledger.replay(stranger),
      // Its hold has been swept meanwhile.
      ledger.replay(settlement(late, admission)),
    ]);
    expect(unknown).toMatchObject({ status: 'rejected', reason: expect.any(Quarantined) });
    expect(known).toMatchObject({ status: 'fulfilled', value: { charged: usd('0.00105'), duplicate: false } });
    expect(await entriesOf([stranger.requestId, late.requestId])).toBe(1);
    expect(readFileSync(join(spoolDirectory, 'quarantine.log'), 'utf8')).toContain(stranger.requestId);
  });
});

describe('a settlement that can neither be taken nor set aside', () => {
  test('stays on disk', async () => {
    const { ledger, processId } = await start();
    const customer = await addCustomer(db);
    const asked = ask(customer);
    const admission = await admitted(ledger, asked);
    mkdirSync(join(directory, 'quarantine.log'));
    await expect(ledger.settle(settlement(asked, admission, { latencyMs: 2 ** 31 }))).rejects.toThrow(
      'cannot be set aside',
    );
    expect(readFileSync(join(directory, `${processId}.0.ndjson`), 'utf8')).toContain(asked.requestId);
    await expect.poll(() => heldBy(customer)).toBe(0);
  });
});

describe('a disk that takes no lines', () => {
  test('refuses new requests, lets running ones finish, and recovers', async () => {
    const blocked = join(directory, 'spool');
    const { ledger } = await start({ directory: blocked });
    const customer = await addCustomer(db);
    const asked = ask(customer);
    const admission = await admitted(ledger, asked);
    if (existsSync(blocked)) renameSync(blocked, `${blocked}.away`);
    writeFileSync(blocked, 'in the way');
    expect(await ledger.settle(settlement(asked, admission))).toMatchObject({ charged: usd('0.00105') });
    expect(ledger.healthy).toBe(false);
    expect(await ledger.admit(ask(customer))).toMatchObject({ reason: 'unavailable' });
    rmSync(blocked);
    await isHealthy(ledger);
    expect(await ledger.admit(ask(customer))).toMatchObject({ kind: 'admitted' });
  });
});

describe('closing', () => {
  test('settles what runs and lets go of the lease', async () => {
    const { ledger, processId, close } = await openLedger(url, { directory });
    const customer = await addCustomer(db);
    const asked = ask(customer);
    const settled = ledger.settle(settlement(asked, await admitted(ledger, asked)));
    await close();
    expect(await settled).toMatchObject({ duplicate: false });
    const { rows } = await db.query('SELECT lease_until <= now() AS ended FROM process WHERE id = $1', [processId]);
    expect(rows).toEqual([{ ended: true }]);
    expect(readdirSync(directory)).toEqual([]);
  });
});
