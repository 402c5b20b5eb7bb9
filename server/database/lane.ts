/** The money lane: its connection pool, and transactions with and without retries. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { type DatabaseLog, openPool } from './pool.ts';

/** Timeout of a statement of the money lane. A client waits for its result. */
export const statementTimeoutMs = 2_000;
/** Timeout of a statement's wait for a lock. */
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
      // A process that stalls between two statements must not keep an account locked.
      idle_in_transaction_session_timeout: `${2 * statementTimeoutMs}ms`,
      // Clients rely on commits, so they are durable whatever the server's default is.
      synchronous_commit: 'on',
    },
  });
}

/**
 * Runs `work` in one transaction and returns its result. Anything it throws rolls back and is rethrown. A connection in
 * an unknown state is closed, never reused.
 *
 * An error of COMMIT itself leaves open whether the transaction happened, unless PostgreSQL says so: callers rely on
 * idempotent writes.
 */
export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // While a connection is checked out the pool has no listener on it, and an unhandled error ends the process.
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

/** Maximum attempts of a transaction that conflicts with others. */
const maxAttempts = 4;
const firstPauseMs = 20;

/** Codes with which PostgreSQL rolls back a transaction for the sake of another one, so that it may be retried. */
const undoneForOthers: ReadonlySet<unknown> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
]);

/**
 * Like `transaction`, with a few retries when PostgreSQL has rolled it back for the sake of another one. `work` must
 * only query the database: any other effect would be repeated.
 *
 * Nothing happens twice: PostgreSQL returns these codes only for what it has rolled back. When that is unknown (the
 * connection broke, also between COMMIT and its answer) or a statement timed out, the error is rethrown.
 */
export async function repeatedTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  for (let beginnings = 1; ; beginnings += 1) {
    try {
      return await transaction(pool, work);
    } catch (error) {
      if (beginnings === maxAttempts || !isUndoneForOthers(error)) throw error;
      // Random delays, so that conflicting transactions do not meet again.
      await delay(firstPauseMs * 2 ** beginnings * Math.random());
    }
  }
}

/** Whether the error is PostgreSQL's own: then the database is reachable, and the error is about the query. */
export function isSaidByDatabase(error: unknown): error is Error & { code?: unknown } {
  // System errors have a `code` too (EPIPE even has five characters), but no severity.
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
