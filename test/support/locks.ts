import type { Pool } from 'pg';
import { Client } from 'pg';

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

/**
 * How often sessions of a database have waited in a circle, which is broken unnoticed by whoever begins again. A session
 * tells of it when it ends at the latest: to be called once every other session has.
 */
export async function circles(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ others: number; deadlocks: string }>(
        `SELECT (SELECT count(*)::int FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend') AS others,
                deadlocks FROM pg_stat_database WHERE datname = current_database()`,
      );
      if (rows[0]?.others === 0) return Number(rows[0].deadlocks);
      await pause();
    }
  } finally {
    await client.end();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}
