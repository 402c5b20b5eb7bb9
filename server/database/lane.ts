import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { type DatabaseLog, openPool } from './pool.ts';

/** How long a statement of the money lane may run. A client waits for it with open ears. */
export const statementTimeoutMs = 2_000;
/** How long a statement of the money lane may wait for a lock. */
export const lockTimeoutMs = 1_000;

/** The ledger keeps two (batches, the witness), the nightly check of everything takes two, and one is left for balances. */
export const laneConnections = 5;

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
 * An error of COMMIT itself leaves open whether the transaction happened, unless PostgreSQL says so: callers rely on
 * idempotent writes.
 */
export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // While a connection is checked out the pool does not listen, and an unheard error ends the process.
  client.on('error', ignore);
  let reusable = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and calls that success.
    if ((await client.query('COMMIT')).command !== 'COMMIT') throw new Error('the transaction was not committed');
    return result;
  } catch (error) {
    reusable = await rollBack(client);
    throw error;
  } finally {
    client.removeListener('error', ignore);
    client.release(!reusable);
  }
}

/** How often work is begun at most that others keep getting in the way of. */
const maxAttempts = 4;
const firstPauseMs = 20;

/** How PostgreSQL says that it has undone a transaction for the sake of another one, so that it may be begun again. */
const undoneForOthers: ReadonlySet<unknown> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
]);

/**
 * Like `transaction`, and begun again a few times when PostgreSQL has undone it for the sake of another one. `work` must
 * do nothing but ask the database: whatever else it did would be done once more.
 *
 * Nothing is done twice: PostgreSQL says these things only of what it has taken back. Where that is not known (the
 * connection broke, also between COMMIT and its answer) or where the statement was too slow, the error is thrown on.
 */
export async function repeatedTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  for (let beginnings = 1; ; beginnings += 1) {
    try {
      return await transaction(pool, work);
    } catch (error) {
      if (beginnings === maxAttempts || !isUndoneForOthers(error)) throw error;
      // Never the same twice, so that those who met do not meet again.
      await delay(firstPauseMs * 2 ** beginnings * Math.random());
    }
  }
}

/** Whether PostgreSQL itself said it: then it can be reached, and what it says is about what it was asked. */
export function isSaidByDatabase(error: unknown): error is Error & { code?: unknown } {
  // System errors have a `code` too (EPIPE is even five characters long), but no severity.
  return error instanceof Error && 'severity' in error;
}

function isUndoneForOthers(error: unknown): boolean {
  return isSaidByDatabase(error) && undoneForOthers.has(error.code);
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
