/** The primary of a streaming pair is killed under load, and the standby promoted. */

import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { type Service, startService } from '../resilience/processes.ts';
import type { ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { type LoadResult, startLoad } from '../support/load.ts';
import { type Node, type Pair, startPair } from './pair.ts';

/** How long whoever watches the primary takes to decide: the scripted part of a fail over. */
const detectionMs = 1_000;
/** What the service itself may need after the promotion until it takes requests again. */
const maxRecoveryMs = 15_000;

let pair: Pair;
let service: Service;
afterEach(async () => {
  await service.close();
  await pair.remove();
});

interface FailOver {
  results: LoadResult[];
  customers: Customer[];
  servers: ServerProcess[];
  /** Entries that the old primary had shown before it died, by request. */
  seen: Map<string, Date>;
  /** Milliseconds since the load began. */
  killedAt: number;
  promotedAt: number;
  /** When the standby had stopped receiving, by the database's clock; null: never. */
  cutAt: Date | null;
}

async function failOver({ synchronous, isBehind }: { synchronous: boolean; isBehind: boolean }): Promise<FailOver> {
  pair = await startPair({ synchronous });
  await migrate({ url: pair.primary.url });
  service = await startService(pair.primary.url);
  const env = { DATABASE_URL: pair.url, DRAIN_MS: '20000' };
  const servers = [await service.start('one', env), await service.start('other', env)];
  await Promise.all(servers.map((server) => server.ready()));
  const customers = await Promise.all([service.customer('1000'), service.customer('1000')]);
  const watch = watchEntries(pair.primary);
  const load = startLoad({ targets: () => servers.map(({ baseUrl }) => baseUrl), customers, perSecond: 20 });
  const beganAt = performance.now();
  await pause(6_000);
  let cutAt: Date | null = null;
  if (isBehind) {
    cutAt = (await pair.primary.query('SELECT clock_timestamp() AS now'))[0]?.['now'] as Date;
    await pair.standby.stop();
    await pause(2_000);
  }
  await pair.primary.kill();
  const killedAt = performance.now() - beganAt;
  const seen = watch.stop();
  if (isBehind) await pair.standby.start();
  await pause(detectionMs);
  await pair.standby.promote();
  const promotedAt = performance.now() - beganAt;
  // Until the service has answered for a while again.
  while (!load.results.some(({ fault, beganAt: at }) => fault === null && at > promotedAt + 3_000)) await pause(100);
  await pause(3_000);
  const results = await load.stop();
  await settledAndReleased(pair.standby);
  return { results, customers, servers, seen, killedAt, promotedAt, cutAt };
}

/** Polls what the primary shows: whatever it has shown was committed. */
function watchEntries(node: Node): { stop(): Map<string, Date> } {
  const seen = new Map<string, Date>();
  const watching = new AbortController();
  const watch = async (): Promise<void> => {
    while (!watching.signal.aborted) {
      try {
        const rows = await node.query('SELECT request_id, created_at FROM ledger_entry');
        for (const row of rows) seen.set(String(row['request_id']), row['created_at'] as Date);
      } catch {
        return;
      }
      await pause(50);
    }
  };
  void watch();
  return {
    stop() {
      watching.abort();
      return seen;
    },
  };
}

/** A line of figures for the reader of a run. */
function print(name: string, figures: object): void {
  process.stdout.write(`${name} ${JSON.stringify(figures)}\n`);
}

async function settledAndReleased(node: Node): Promise<void> {
  for (;;) {
    const [row] = await node.query(
      'SELECT (SELECT count(*) FROM hold)::int AS holds, (SELECT coalesce(sum(held), 0) FROM "grant")::text AS held',
    );
    if (row?.['holds'] === 0 && row['held'] === '0') return;
    await pause(100);
  }
}

async function ledgerOf(node: Node): Promise<string[]> {
  return (await node.query('SELECT request_id FROM ledger_entry')).map((row) => String(row['request_id']));
}

/** The time in which requests failed, from the first to the last that did. */
function outage(results: readonly LoadResult[]): { failed: number; fromMs: number; toMs: number } {
  const failed = results.filter(({ fault }) => fault !== null);
  return {
    failed: failed.length,
    fromMs: Math.round(Math.min(...failed.map(({ beganAt }) => beganAt))),
    toMs: Math.round(Math.max(...failed.map(({ endedAt }) => endedAt))),
  };
}

async function brokenRows(): Promise<unknown[]> {
  const { Pool } = await import('pg');
  const { bigintTypes } = await import('../../server/database/pool.ts');
  const { checkInvariants } = await import('../../server/billing/upkeep/invariants.ts');
  const pool = new Pool({ connectionString: pair.standby.url, types: bigintTypes });
  try {
    return await checkInvariants(pool, { accounts: null });
  } finally {
    await pool.end();
  }
}

it('synchronous: no settlement is lost, nothing is charged twice, requests fail only until the promoted one is found', async () => {
  const { results, servers, seen, killedAt, promotedAt } = await failOver({ synchronous: true, isBehind: false });
  const ledger = await ledgerOf(pair.standby);
  const figures = outage(results);
  print('synchronous', { requests: results.length, ...figures, killedAt, promotedAt, shown: seen.size });
  // What the old primary had shown.
  expect([...seen.keys()].filter((id) => !ledger.includes(id))).toEqual([]);
  // What a client has got whole: its settlement was on disk before its last bytes.
  const whole = results.filter(({ fault }) => fault === null).map(({ requestId }) => requestId);
  expect(whole.filter((id) => id === null || !ledger.includes(id))).toEqual([]);
  expect(ledger).toHaveLength(new Set(ledger).size);
  expect(figures.fromMs).toBeGreaterThan(killedAt - 5_000);
  expect(figures.toMs).toBeLessThan(promotedAt + maxRecoveryMs);
  expect(await brokenRows()).toEqual([]);
  for (const server of servers) server.signal('SIGTERM');
  for (const server of servers) expect(await server.exited).toBe(0);
});

it('asynchronous: what was committed since the standby stopped receiving can be lost, and nothing else', async () => {
  const { results, seen, cutAt, killedAt, promotedAt } = await failOver({ synchronous: false, isBehind: true });
  const ledger = await ledgerOf(pair.standby);
  const lost = [...seen].filter(([id]) => !ledger.includes(id));
  print('asynchronous', {
    requests: results.length,
    ...outage(results),
    killedAt,
    promotedAt,
    lost: lost.length,
  });
  // The test has to lose something to show that it is no more than that.
  expect(lost.length).toBeGreaterThan(0);
  // Entries carry the moment at which their batch began, which is before its commit.
  expect(lost.filter(([, at]) => cutAt === null || at.getTime() < cutAt.getTime() - 1_000)).toEqual([]);
  // What was answered and is in no ledger was settled in that time: the customer has paid nothing for it.
  const unpaid = results.filter(({ fault, requestId }) => fault === null && !ledger.includes(String(requestId)));
  expect(
    unpaid.filter(({ requestId }) => !lost.some(([id]) => id === requestId) && requestId !== null).length,
  ).toBeLessThanOrEqual(results.filter(({ endedAt }) => endedAt > killedAt - 500 && endedAt < killedAt + 500).length);
  expect(unpaid.filter(({ endedAt }) => endedAt < killedAt - 3_500)).toEqual([]);
  expect(ledger).toHaveLength(new Set(ledger).size);
  expect(await brokenRows()).toEqual([]);
});
