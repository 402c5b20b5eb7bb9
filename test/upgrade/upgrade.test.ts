/** Released versions and this one serve at once, on one database, while processes are replaced under load: there and back. */

import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { setAccountLimits } from '../../server/accounts/account-limits.ts';
import { createProjects } from '../../server/accounts/projects.ts';
import { setMemberLimit } from '../../server/accounts/shared-limits.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { type Service, startService } from '../resilience/processes.ts';
import type { ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type LoadResult, startLoad } from '../support/load.ts';
import { createCustomer, install } from './install.ts';

const commits = (process.env['UPGRADE_FROM'] ?? '').split(',').filter((commit) => commit !== '');
const perSecond = Number(process.env['UPGRADE_PER_SECOND'] ?? 200);

let database: TestDatabase;
let service: Service;
afterEach(async () => {
  await service.close();
  await database.drop();
});

type Version = 'old' | 'new';
type Side = 'left' | 'right';

it.each(commits)('from %s to this version and back, process by process: no request fails', async (commit) => {
  const folder = install(commit);
  database = await createDatabase({ migrated: false });
  service = await startService(database.url);
  const ports = new Map<Side, number>();
  const serving = new Map<Side, { server: ServerProcess; version: Version }>();
  /** The addresses that the clients use, as a balancer would give them. */
  const inUse = new Set<Side>();

  const start = async (side: Side, version: Version): Promise<void> => {
    const env = { HOLD_LEASE_MS: '10000', DRAIN_MS: '20000', DRAIN_IDLE_MS: '5000' };
    const server = await service.start(side, env, ports.get(side), version === 'old' ? folder : undefined);
    ports.set(side, Number(new URL(server.url).port));
    serving.set(side, { server, version });
    if (version === 'new') inUse.add(side);
    await server.ready();
    inUse.add(side);
  };
  const stop = async (side: Side): Promise<void> => {
    const { server, version } = serving.get(side) ?? {};
    if (version === 'old' && server !== undefined) {
      inUse.delete(side);
      // The first version refuses what reaches it after the signal.
      while (load.runningAt(server.baseUrl) > 0) await pause(20);
    }
    server?.signal('SIGTERM');
    expect(await server?.exited).toBe(0);
    inUse.delete(side);
  };

  await start('left', 'old');
  await start('right', 'old');
  const customers = ['one', 'other', 'limited'].map((name) =>
    createCustomer(folder, database.url, `${name}@example.com`),
  );
  const targets = (): string[] => [...inUse].flatMap((side) => serving.get(side)?.server.baseUrl ?? []);
  const load = startLoad({ targets, customers, perSecond });
  const escrows = watchEscrows(service);
  await pause(2_000);
  const steps: { side: Side; to: Version; answered: number; failed: number; late: number }[] = [];
  for (const [side, to] of [
    ['left', 'new'],
    ['right', 'new'],
    ['left', 'old'],
    ['right', 'old'],
  ] as const) {
    const before = load.results.length;
    await stop(side);
    await start(side, to);
    if (side === 'left' && to === 'new') await limitEverywhere(service, customers[2]);
    await pause(3_000);
    const during = load.results.slice(before);
    const faults = during.filter(({ fault }) => fault !== null);
    steps.push({ side, to, answered: during.length, failed: faults.length, late: faults.filter(isLate).length });
  }
  const results = await load.stop();
  print(
    commit,
    { perSecond, requests: results.length, repeatedConnects: load.repeated, mostEscrows: escrows.stop() },
    steps,
  );
  expect(results.filter((result) => result.fault !== null && !isLate(result))).toEqual([]);
  // Both ways of holding money have met on the same accounts.
  expect(escrows.stop()).toBeGreaterThan(0);
  await stop('left');
  await stop('right');
  await service.released();
  const rows = await service.rows(customers.map(({ accountId }) => accountId));
  const answered = results.filter(({ status }) => status === 200);
  expect(new Set(rows.keys())).toEqual(new Set(answered.map(({ requestId }) => requestId)));
  expect(new Set(rows.values())).toEqual(new Set([1]));
  expect(await service.broken()).toEqual([]);
});

it.each(commits)('a killed process of this version leaves nothing behind that %s cannot give back', async (commit) => {
  const folder = install(commit);
  database = await createDatabase({ migrated: false });
  service = await startService(database.url);
  const env = { HOLD_LEASE_MS: '3000' };
  const killed = await service.start('left', env);
  await killed.ready();
  const customers = [await service.customer('1000')];
  const load = startLoad({ targets: () => [killed.baseUrl], customers, perSecond: Math.min(30, perSecond) });
  const escrows = watchEscrows(service);
  while (escrows.most() === 0) await pause(50);
  await killed.kill();
  escrows.stop();
  // Its data directory too: the lines of its spool are this version's.
  const old = await service.start('left', env, Number(new URL(killed.url).port), folder);
  await old.ready();
  const results = await load.stop();
  await service.released();
  const rows = await service.rows(customers.map(({ accountId }) => accountId));
  const whole = results.filter(({ fault }) => fault === null).map(({ requestId }) => requestId);
  expect(whole.filter((id) => !rows.has(String(id)))).toEqual([]);
  expect(new Set(rows.values())).toEqual(new Set([1]));
  expect(await service.broken()).toEqual([]);
});

/** The first version refuses what it cannot admit within a second, as happens on a machine that does other work, too. */
function isLate({ status, fault }: LoadResult): boolean {
  return status === 503 && fault?.includes('cannot check budgets') === true;
}

/**
 * Gives a customer every limit whose sums triggers keep, higher than what a run spends: the released version's statements run these
 * triggers, too, in its own order of locks.
 */
async function limitEverywhere({ pool }: Service, customer: Customer | undefined): Promise<void> {
  const { accountId, keyId } = customer ?? { accountId: '', keyId: '' };
  const actor = 'test';
  const high = 900n * 10n ** 12n;
  const project = await createProjects({ pool }).create({
    accountId,
    name: 'limited',
    limits: { month: high, lifetime: high },
    actor,
  });
  if (project.kind !== 'created') throw new Error(project.kind);
  const terms = { projectId: project.project.id, burnLimit: { amount: high, minutes: 1 } };
  const key = await createKeys({ pool }).change({ accountId, id: keyId, actor, ...terms });
  expect(key.kind).toBe('changed');
  const limits = { day: high, week: high, month: high, lifetime: high };
  expect(await setAccountLimits(pool, { accountId, actor, limits })).toEqual({ kind: 'changed' });
  // A key that the released version has made names nobody.
  const { rows } = await pool.query(
    'UPDATE api_key SET created_by = gen_random_uuid() WHERE id = $1 RETURNING created_by',
    [keyId],
  );
  expect(await setMemberLimit(pool, { accountId, userId: rows[0].created_by, month: high, actor })).toEqual({
    kind: 'changed',
  });
}

/** A line of figures for the reader of a run. */
function print(...figures: unknown[]): void {
  process.stdout.write(`${figures.map((each) => JSON.stringify(each)).join(' ')}\n`);
}

/** Counts the escrows that exist at once. */
function watchEscrows({ pool }: Service): { most(): number; stop(): number } {
  let most = 0;
  const count = async (): Promise<void> => {
    try {
      const { rows } = await pool.query('SELECT count(*)::int AS n FROM hold WHERE escrow');
      most = Math.max(most, rows[0].n);
    } catch {
      // The column is there only after the first migration.
    }
  };
  const clock = setInterval(() => {
    void count();
  }, 100);
  return {
    most: () => most,
    stop() {
      clearInterval(clock);
      return most;
    },
  };
}
