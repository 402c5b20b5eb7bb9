import type { Pool } from 'pg';
import type { Ledger } from '../lane/ledger.ts';
import type { BillingLog, BillingMetrics } from '../log.ts';
import { type BrokenInvariant, checkInvariants, listLongAccounts } from './invariants.ts';
import { oncePerCluster } from './once-per-cluster.ts';

/** When the invariants are checked: every minute for the accounts that were written to, at night for all. */
export interface ScheduledChecks {
  /** Runs the checks that are due. */
  runDue(): Promise<void>;
}

export interface ScheduledChecksParts {
  pool: Pool;
  ledger: Ledger;
  log: BillingLog;
  metrics: BillingMetrics | undefined;
  everyMs: number;
  /** Accounts with more requests than this are checked by their new rows. */
  longRequests: number;
  /** UTC. */
  fullCheckHour: number;
  signal: AbortSignal;
}

const invariantLimitMs = 20_000;

/** The full check of the invariants runs in this hour (UTC): the middle of the night in Vietnam. */
export const nightHour = 19;
/** How long it keeps other processes from running it. */
const maxFullCheckMs = 6 * 3_600_000;

/** A check that takes longer than this runs less often. */
const quickCheckMs = 1_200;

/** For accounts with more requests, only new rows are read every minute, and all rows at night. */
export const longAccountRequests = 50_000;
/** Age of new rows: includes those of a failed or late check. */
const recentMs = 600_000;

/**
 * Interval between the beginnings of checks: they take at most a fiftieth of the time, so that requests do not wait for
 * them.
 */
export function pauseAfterCheck(everyMs: number, tookMs: number): number {
  return everyMs * Math.max(1, tookMs / quickCheckMs);
}

export function scheduleChecks(parts: ScheduledChecksParts): ScheduledChecks {
  const { pool, ledger, log, metrics, everyMs, longRequests, fullCheckHour, signal } = parts;
  let nextCheckAt = performance.now() + everyMs;
  let fullCheckDay = '';

  /** Every process checks the accounts that it has written to. */
  const checkTouched = async (): Promise<void> => {
    const now = performance.now();
    if (now < nextCheckAt) return;
    try {
      await check(ledger.takeTouched());
    } finally {
      nextCheckAt = now + pauseAfterCheck(everyMs, performance.now() - now);
    }
  };

  const checkAll = async (): Promise<void> => {
    const now = new Date();
    const day = now.toISOString().slice(0, 10);
    if (now.getUTCHours() !== fullCheckHour || fullCheckDay === day) return;
    fullCheckDay = day;
    await oncePerCluster(pool, () => check(null), { name: 'steyg.full_check', maxMs: maxFullCheckMs });
  };

  const check = async (accounts: string[] | null): Promise<void> => {
    if (accounts === null) return report(await checkInvariants(pool, { accounts: null, signal }));
    const long = new Set(await listLongAccounts(pool, accounts, longRequests));
    const limitMs = invariantLimitMs;
    report(await checkInvariants(pool, { accounts: accounts.filter((id) => !long.has(id)), limitMs, signal }));
    if (long.size === 0) return;
    // By the database's clock, which dated the rows: a process's clock that is ahead would skip some.
    const { rows } = await pool.query<{ since: Date }>(`SELECT now() - $1 * interval '1 millisecond' AS since`, [
      recentMs,
    ]);
    for (const { since } of rows) report(await checkInvariants(pool, { accounts: [...long], limitMs, since, signal }));
  };

  const report = (broken: readonly BrokenInvariant[]): void => {
    for (const { invariant, rows } of broken) {
      metrics?.fault('invariant_broken');
      log.error({ invariant, count: rows.length, rows: textOf(rows) }, 'an invariant of the money is broken');
    }
  };

  return {
    async runDue() {
      await checkTouched();
      await checkAll();
    },
  };
}

/** Ids and amounts as text, because the log takes no objects. */
function textOf(rows: readonly Record<string, unknown>[]): string {
  return JSON.stringify(rows, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
