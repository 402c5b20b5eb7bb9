/** Waiting for locks, and detecting deadlocks, in tests. */

import type { Pool } from 'pg';
import type { TestDatabase } from './database.ts';

/** Resolves once exactly so many sessions of the pool's database wait for a lock. */
export async function lockWaits(pool: Pool, sessions: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rows[0]?.count === sessions) return;
    await pause();
  }
}

const sessionName = 'circle';

/**
 * How often the sessions that `work` opens at the given address deadlock. A retry hides a deadlock from the caller;
 * only the database counts it, and only once those sessions have ended, which `work` must ensure.
 */
export async function circles(database: TestDatabase, work: (url: string) => Promise<void>): Promise<number> {
  const url = new URL(database.url);
  url.searchParams.set('application_name', sessionName);
  // Far below the time after which waiting for a lock ends by itself: a circle is seen as what it is.
  url.searchParams.set('options', '-c deadlock_timeout=10ms');
  const before = await deadlocks(database.pool);
  await work(url.href);
  for (;;) {
    const { rows } = await database.pool.query<{ left: boolean }>(
      'SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1) AS left',
      [sessionName],
    );
    if (rows[0]?.left === false) return Number((await deadlocks(database.pool)) - before);
    await pause();
  }
}

async function deadlocks(pool: Pool): Promise<bigint> {
  const { rows } = await pool.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  return BigInt(rows[0].deadlocks);
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}
