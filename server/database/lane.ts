import type { Pool, PoolClient } from 'pg';
import { type DatabaseLog, openPool } from './pool.ts';

/** How long a statement of the money lane may run. A client waits for it with open ears. */
export const statementTimeoutMs = 2_000;
/** How long a statement of the money lane may wait for a lock. */
export const lockTimeoutMs = 1_000;

/**
 * The money lane: the few connections that admissions and settlements go through. Batches share transactions, so
 * few are enough, and few keep lock queues short. Use named statements (`{ name, text, values }`): PostgreSQL
 * then plans each once a connection.
 */
export function openLane(options: { url: string; max: number; log: DatabaseLog }): Pool {
  return openPool({
    ...options,
    name: 'money',
    connectTimeoutMs: statementTimeoutMs,
    queryTimeoutMs: 2 * statementTimeoutMs,
    settings: {
      statement_timeout: `${statementTimeoutMs}ms`,
      lock_timeout: `${lockTimeoutMs}ms`,
      // A process that stops between two statements must not keep an account locked.
      idle_in_transaction_session_timeout: `${2 * statementTimeoutMs}ms`,
      // Commits are promises to clients, whatever the server's default says.
      synchronous_commit: 'on',
    },
  });
}

/**
 * Runs `work` in one transaction and returns what it returns. Whatever it throws rolls back and is thrown on. A
 * connection whose state is not known afterwards is closed, never reused.
 *
 * An error of COMMIT itself leaves open whether the transaction happened: callers rely on idempotent writes.
 */
export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // While a connection is checked out the pool does not listen, and an unheard error ends the process.
  client.on('error', ignore);
  let reusable = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    reusable = await rollBack(client);
    throw error;
  } finally {
    client.removeListener('error', ignore);
    client.release(!reusable);
  }
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

function ignore(): void {}
