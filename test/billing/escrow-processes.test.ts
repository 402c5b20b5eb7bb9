import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { startSweep } from '../../server/billing/upkeep/sweep.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { addCustomer, addModel, type Customer, openLedger, quiet } from './support.ts';

/** Processes with escrows that are killed or paused. */
let db: TestDatabase;
// Long enough that a busy machine lets no process lose its lease but the one that is stopped.
const leaseMs = 4_000;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
});

afterAll(() => db.drop());

interface Worker {
  child: ChildProcessByStdio<null, Readable, null>;
  /** Request ids and when they were admitted, by the wall clock. */
  admitted: Map<string, number>;
  settled: string[];
  gone: Promise<unknown>;
}

function work(directory: string, customers: readonly Customer[]): Worker {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'escrow-worker.ts'), db.url, directory, JSON.stringify(customers), String(leaseMs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const worker: Worker = { child, admitted: new Map(), settled: [], gone: Promise.resolve() };
  const lines = createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, id = '', at] = line.split(' ');
    if (what === 'admitted') worker.admitted.set(id, Number(at));
    else worker.settled.push(id);
  });
  worker.gone = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return worker;
}

const countOf = async (text: string, values: unknown[]): Promise<number> =>
  Number((await db.pool.query<{ n: string }>(`SELECT count(*)::text AS n ${text}`, values)).rows[0]?.n);

test('one of three processes is killed and one stands still beyond its lease: everything is charged once, nothing stays held, and what was swept is promised no more', {
  timeout: 180_000,
}, async () => {
  const directory = createDirectory('steyg-spool-');
  const customers = await Promise.all([1, 2].map(() => addCustomer(db.pool, { budget: '1000' })));
  const accounts = customers.map(({ accountId }) => accountId);
  const escrows = (): Promise<number> => countOf('FROM hold WHERE account_id = ANY ($1) AND escrow', [accounts]);
  const own = await openLedger(db.url, { directory, holdLeaseMs: leaseMs });
  const sweep = startSweep({ pool: own.pool, ledger: own.ledger, spool: own.spool, leaseMs, log: quiet });
  const workers = [1, 2, 3].map(() => work(directory, customers));
  const [killed, stopped, spared] = workers as [Worker, Worker, Worker];
  try {
    await expect.poll(() => Math.min(...workers.map(({ settled }) => settled.length))).toBeGreaterThan(300);
    await expect.poll(escrows).toBeGreaterThan(3);

    killed.child.kill('SIGKILL');
    stopped.child.kill('SIGSTOP');
    await killed.gone;
    // Only the third process's escrows are left.
    await expect.poll(escrows).toBeLessThanOrEqual(2);
    const before = spared.settled.length;
    await expect.poll(() => spared.settled.length).toBeGreaterThan(before + 100);
    const continuedAt = Date.now();
    stopped.child.kill('SIGCONT');
    const since = (): string[] => [...stopped.admitted].filter(([, at]) => at >= continuedAt).map(([id]) => id);
    await expect.poll(() => since().length).toBeGreaterThan(300);

    const { rows } = await db.pool.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
    for (const { child } of [stopped, spared]) child.kill('SIGKILL');
    await Promise.all([stopped.gone, spared.gone]);
    const settled = workers.flatMap((each) => each.settled);
    const entries = (): Promise<number> => countOf('FROM ledger_entry WHERE request_id = ANY ($1)', [settled]);
    await expect.poll(entries).toBe(settled.length);
    await expect.poll(() => countOf('FROM hold WHERE account_id = ANY ($1)', [accounts])).toBe(0);
    expect(await checkInvariants(db.pool, { accounts })).toEqual([]);
    // Every cost is below its promise, so every request admitted after the pause was paid from money held for it.
    const unheld = `FROM posting p WHERE p.kind = 'charge' AND p.request_id = ANY ($1) AND p.held_at IS NULL
      AND p.created_at < $2`;
    // What was still on its way when the process was killed is charged by the sweep.
    const confirmed = new Set(stopped.settled);
    const live = since().filter((id) => confirmed.has(id));
    expect(live.length).toBeGreaterThan(0);
    expect(await countOf(unheld, [live, rows[0]?.now])).toBe(0);
  } finally {
    for (const { child } of workers) child.kill('SIGKILL');
    await sweep.close();
    await own.close();
  }
});
