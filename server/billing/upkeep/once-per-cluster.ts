import type { Pool, PoolClient } from 'pg';
import { transaction } from '../../database/lane.ts';

/**
 * Runs `work` unless another process is running it. `maxMs`: for work during which the connection is idle for longer
 * than the pool's idle-in-transaction timeout, which would end the lock and let others begin.
 */
export async function oncePerCluster(
  pool: Pool,
  work: (client: PoolClient) => Promise<void>,
  { name = 'steyg.sweep', maxMs = null }: { name?: string; maxMs?: number | null } = {},
): Promise<void> {
  await transaction(pool, async (client) => {
    if (maxMs !== null)
      await client.query(`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`, [`${maxMs}ms`]);
    const { rows } = await client.query('SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS mine', [name]);
    if (rows[0].mine === true) await work(client);
  });
}
