import type { Pool, PoolClient } from 'pg';
import { Closed, classify } from './failure.ts';
import { prepareForShards } from './shards.ts';
import { sessionSettings } from './statements.ts';

/** One connection of the pool that is kept while it works. */
export interface KeptConnection {
  open(): Promise<PoolClient>;
  /** Whether the database has spread the entries over nodes; known since it was opened. */
  readonly isSpread: boolean;
  /** After a failure: ends the transaction, or the connection when even that fails. */
  recover(client: PoolClient, error: unknown): Promise<void>;
  close(): void;
}

export function keepConnection(pool: Pool): KeptConnection {
  let kept: PoolClient | null = null;
  let closed = false;
  let isSpread = false;

  const drop = (client: PoolClient): void => {
    if (kept !== client) return;
    kept = null;
    client.release(true);
  };

  return {
    async open(): Promise<PoolClient> {
      if (kept !== null) return kept;
      const client = await pool.connect();
      if (closed) {
        client.release();
        throw new Closed('the ledger is closed');
      }
      kept = client;
      client.on('error', () => drop(client));
      try {
        const { rows } = await client.query<{ isCitus: boolean }>(
          `SELECT set_config(name, value, false), to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "isCitus"
           FROM unnest($1::text[], $2::text[]) AS setting (name, value)`,
          [Object.keys(sessionSettings), Object.values(sessionSettings)],
        );
        isSpread = rows[0]?.isCitus === true && (await prepareForShards(client));
      } catch (error) {
        drop(client);
        throw error;
      }
      return client;
    },

    get isSpread() {
      return isSpread;
    },

    async recover(client: PoolClient, error: unknown): Promise<void> {
      const failure = classify(error);
      // Without an answer of the database, the connection's state is unknown; with statements from before a migration, they fail again.
      if (failure === 'outage' || failure === 'stale') return drop(client);
      try {
        await client.query('ROLLBACK');
      } catch {
        drop(client);
      }
    },

    close(): void {
      closed = true;
      if (kept !== null) drop(kept);
    },
  };
}
