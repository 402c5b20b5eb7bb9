import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { transaction } from '../../database/lane.ts';
import { describe, Quarantined } from '../lane/failure.ts';
import type { Ledger } from '../lane/ledger.ts';
import type { BillingLog, BillingMetrics } from '../log.ts';
import type { Spool } from '../spool/spool.ts';
import { type SpoolFile, writerIsGone } from '../spool/spool-reader.ts';
import type { Settlement } from '../types.ts';
import { oncePerCluster } from './once-per-cluster.ts';
import { longAccountRequests, nightHour, scheduleChecks } from './scheduled-checks.ts';

/**
 * The periodic duties of billing: settles the spools of dead processes, releases their holds, expires ended grants,
 * checks the invariants, creates partitions for the next months. Money moves only through the ledger; the sweep finds
 * the work.
 */
export interface Sweep {
  /** One round now, beside those of the timer. */
  round(): Promise<void>;
  close(): Promise<void>;
}

export interface SweepParts {
  pool: Pool;
  ledger: Ledger;
  spool: Spool;
  leaseMs: number;
  log: BillingLog;
  metrics?: BillingMetrics;
  invariantsEveryMs?: number;
  /** Accounts with more requests than this are checked by their new rows. */
  longRequests?: number;
  /** UTC. */
  fullCheckHour?: number;
}

const slowestRoundMs = 5_000;
const monthsAhead = 3;
const expiriesEveryMs = 30_000;
const partitionsEveryMs = 3_600_000;
const partitionsAgainMs = 60_000;
const partitionsLimitMs = 60_000;
const holdsAtOnce = 1_000;
const accountsAtOnce = 1_000;

export function startSweep(parts: SweepParts): Sweep {
  const { pool, ledger, spool, leaseMs, log, metrics, invariantsEveryMs: everyMs = 60_000 } = parts;
  const { longRequests = longAccountRequests, fullCheckHour = nightHour } = parts;
  const stop = new AbortController();
  const { signal } = stop;
  const checks = scheduleChecks({
    pool,
    ledger,
    log,
    metrics,
    everyMs,
    longRequests,
    fullCheckHour,
    signal,
  });
  const partitions = createPartitions(pool, log);
  let expiredAt = Number.NEGATIVE_INFINITY;
  let current: Promise<void> = Promise.resolve();

  const round = async (): Promise<void> => {
    await duty(moveMoney);
    await duty(checks.runDue);
    await duty(partitions);
  };

  /** One that fails keeps no other from its work. */
  const duty = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!signal.aborted) log.warn(describe(error), 'a sweep did not get through');
    });
  };

  const moveMoney = async (): Promise<void> => {
    // What a node cannot take would keep the round waiting, and spent money has to be charged before its hold is released.
    if (ledger.calmForMs === 0) return;
    // Spools come first: spent money should be charged before its hold is released. A lease that ends while spools are
    // read is left to the next round, because its spool was not among them.
    const { rows } = await pool.query<{ began: string }>('SELECT now()::text AS began');
    const began = rows[0]?.began ?? '-infinity';
    await adoptSpools();
    await oncePerCluster(pool, async (client) => {
      await releaseDeadHolds(client, began);
      await endGrants(client);
      await client.query(`DELETE FROM process p WHERE lease_until < now() - interval '1 hour'
                          AND NOT EXISTS (SELECT FROM hold WHERE process_id = p.id)`);
      // Dead processes cannot answer call-ins.
      await client.query(`DELETE FROM escrow_call c
                          WHERE NOT EXISTS (SELECT FROM process p WHERE p.id = c.process_id AND p.lease_until >= now())`);
    });
  };

  const adoptSpools = async (): Promise<void> => {
    const files = spool.others();
    if (files.length === 0 || !ledger.healthy) return;
    const orphans = await orphansOf(pool, files);
    for (const file of orphans) {
      const settled = await spool.adopt(file, replay);
      log.info({ settled }, 'settled what a process that is gone had left on disk');
    }
  };

  const replay = async (settlement: Settlement): Promise<void> => {
    await ledger.replay(settlement).catch((error: unknown) => {
      // It was set aside, so it need not stay in this file.
      if (!(error instanceof Quarantined)) throw error;
    });
  };

  /**
   * Leases of live processes may have expired while the database was down or unreachable: they get one full lease to
   * renew them.
   */
  const releaseDeadHolds = async (client: PoolClient, endedBefore: string): Promise<void> => {
    if (ledger.calmForMs < leaseMs) return;
    const { rows } = await client.query(
      `SELECT h.account_id, h.request_id FROM hold h LEFT JOIN process p ON p.id = h.process_id
       WHERE coalesce(p.lease_until < $2::timestamptz, true) AND pg_postmaster_start_time() < now() - $1 * interval '1 millisecond'
       LIMIT ${holdsAtOnce}`,
      [leaseMs, endedBefore],
    );
    await Promise.all(
      rows.map((row) => ledger.releaseOrphan({ accountId: row.account_id, requestId: row.request_id })),
    );
    if (rows.length > 0) log.warn({ holds: rows.length }, 'gave back what processes that are gone had held');
  };

  /** Batches expire the grants of used accounts; this is for unused ones, so it is not urgent. */
  const endGrants = async (client: PoolClient): Promise<void> => {
    if (performance.now() - expiredAt < expiriesEveryMs) return;
    expiredAt = performance.now();
    const { rows } = await client.query(
      `SELECT DISTINCT account_id FROM "grant"
       WHERE spent + expired < amount AND expires_at <= now() AND spent + held + expired < amount LIMIT ${accountsAtOnce}`,
    );
    await Promise.all(rows.map((row) => ledger.expire(row.account_id)));
  };

  const guarded = (): Promise<void> => {
    // Rounds are serialised, including requested ones.
    current = current.then(round);
    return current;
  };

  const run = async (): Promise<void> => {
    const pauseMs = Math.min(slowestRoundMs, leaseMs / 4);
    while (!signal.aborted) {
      await guarded();
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const running = run();

  return {
    round: guarded,
    async close() {
      stop.abort();
      await running;
    },
  };
}

/** Makes the partitions of the next months, once an hour. */
function createPartitions(pool: Pool, log: Pick<BillingLog, 'info'>): () => Promise<void> {
  let madeAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - madeAt < partitionsEveryMs) return;
    // An archive or a reader of the whole ledger may have the lock: there is time for another try.
    madeAt = performance.now() - partitionsEveryMs + partitionsAgainMs;
    const made = await transaction(pool, async (client) => {
      // Where nodes share the ledger, each makes its part of a month.
      await client.query(`SET LOCAL statement_timeout = '${partitionsLimitMs}ms'`);
      const text = 'SELECT ensure_ledger_partitions($1) AS made';
      const query = { text, values: [monthsAhead], query_timeout: partitionsLimitMs };
      const { rows } = await client.query<{ made: number }>(query);
      return rows[0]?.made ?? 0;
    });
    madeAt = performance.now();
    if (made > 0) log.info({ made }, 'made partitions of the ledger');
  };
}

/** Files of dead processes: their lease has ended, or they ran on this machine and have exited. */
async function orphansOf(pool: Pool, files: readonly SpoolFile[]): Promise<SpoolFile[]> {
  const { rows } = await pool.query('SELECT id FROM process WHERE id = ANY ($1::uuid[]) AND lease_until >= now()', [
    files.map((file) => file.processId).filter((id) => id !== null),
  ]);
  const living = new Set(rows.map((row) => row.id));
  return files.filter((file) => !living.has(file.processId) || writerIsGone(file));
}
