import type { Pool } from 'pg';
import { type DatabaseLog, openPool } from './pool.ts';

/**
 * Reads of history from a streaming replica, each with the age of what it shows. Money, keys and settings never come
 * through here. A replica that is away, behind by too much, or no replica any more is left out: the primary answers.
 */
export interface HistoryReader extends Pick<Pool, 'query'> {
  /** Maximum age (milliseconds) of what this reader has answered so far; null: all of it came from the primary. */
  readonly ageMs: number | null;
}

export interface History {
  /** A reader for one operation. */
  reader(): HistoryReader;
  close(): Promise<void>;
}

/** A failed replica is asked again after this time. */
const restMs = 5_000;
/** The age is measured at most once in this time, and counted on from there. */
const measuredEveryMs = 1_000;
const connections = 6;
/** Undefined tables and columns: the replica does not have the latest migration yet. */
const isBehindMigrations = (code: string | undefined): boolean => code === '42P01' || code === '42703';
/** A statement that took too long there would take too long on the primary, too. */
const tookTooLong = '57014';

export interface HistoryParts {
  primary: Pick<Pool, 'query'>;
  /** Null: everything is read from the primary. */
  replicaUrl: string | null;
  isShared: boolean;
  /** A replica that is further behind is not used. */
  maxAgeMs?: number;
  log: DatabaseLog;
}

export function createHistory({ primary, replicaUrl, isShared, maxAgeMs = 300_000, log }: HistoryParts): History {
  if (replicaUrl === null) {
    const direct = { query: primary.query.bind(primary), ageMs: null };
    return { reader: () => direct, close: async () => undefined };
  }
  const replica = openPool({
    url: replicaUrl,
    isShared,
    name: 'history',
    max: connections,
    queryTimeoutMs: 15_000,
    connectTimeoutMs: 2_000,
    settings: { statement_timeout: '10s', default_transaction_read_only: 'on' },
    log,
  });
  let restsUntil = 0;
  let isAway = false;
  let measured: { at: number; ageMs: number } | null = null;
  let measuring: Promise<void> | null = null;

  const leave = (reason: string, code?: string): void => {
    restsUntil = performance.now() + restMs;
    measured = null;
    if (!isAway) log.warn({ reason, code }, 'the replica is not used: history is read from the primary');
    isAway = true;
  };

  /**
   * The time since the last transaction that the replica has replayed: an upper bound, because an idle primary has none.
   * The leases of running processes make one every few seconds.
   */
  const measure = async (): Promise<void> => {
    const { rows } = await replica.query<{ replica: boolean; ageMs: number | null }>(
      `SELECT pg_is_in_recovery() AS replica,
              (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::float8 AS "ageMs"`,
    );
    const [row] = rows;
    // Promoted, or never one: what it shows may be another history.
    if (row?.replica !== true) leave('no_replica');
    else if (row.ageMs === null || row.ageMs > maxAgeMs) leave('too_old');
    else {
      measured = { at: performance.now(), ageMs: Math.max(0, row.ageMs) };
      if (isAway) log.info({}, 'the replica is used again');
      isAway = false;
    }
  };

  /** The replica's age, or null when it is not to be asked. */
  const ageOf = async (): Promise<number | null> => {
    const now = performance.now();
    if (now < restsUntil) return null;
    if (measured === null || now - measured.at > measuredEveryMs) {
      measuring ??= measure()
        .catch((error: unknown) => leave('away', codeOf(error)))
        .finally(() => {
          measuring = null;
        });
      await measuring;
    }
    const latest = measured;
    return latest === null ? null : latest.ageMs + (performance.now() - latest.at);
  };

  const reader = (): HistoryReader => {
    let oldest: number | null = null;
    const query = async (...given: unknown[]): Promise<unknown> => {
      const ask = (pool: Pick<Pool, 'query'>): Promise<unknown> =>
        (pool.query as (...args: unknown[]) => Promise<unknown>).apply(pool, given);
      const ageMs = await ageOf();
      if (ageMs === null) return ask(primary);
      try {
        const answer = await ask(replica);
        oldest = Math.max(oldest ?? 0, ageMs);
        return answer;
      } catch (error) {
        const code = codeOf(error);
        if (code === tookTooLong) throw error;
        // A conflict with recovery ends the statement, not the replica.
        if (code !== '40001') leave(isBehindMigrations(code) ? 'migrations' : 'failed', code);
        return ask(primary);
      }
    };
    return {
      query: query as Pool['query'],
      get ageMs() {
        return oldest;
      },
    };
  };
  return { reader, close: () => replica.end() };
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
