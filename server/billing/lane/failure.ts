import { databaseSentence } from '../../core/database-sentence.ts';
import { isSaidByDatabase } from '../../database/lane.ts';

/**
 * What a failed batch means for the operations in it:
 * - `outage`: the database is unreachable or cannot work. All operations wait.
 * - `contention`: a conflict with another transaction. A retry of the same batch succeeds.
 * - `stale`: a migration has changed a table since the session was prepared for it. A retry on a new connection
 *   succeeds, unless this version needs what has gone; then the last retry is as an outage.
 * - `poison`: one of the operations can never succeed, and fails the whole batch.
 */
export type DatabaseFailure = 'outage' | 'contention' | 'stale' | 'poison';

/** Thrown when the pure rules cannot take an operation. */
export class Unworkable extends Error {
  override name = 'Unworkable';
}

/** Rejects an operation that can never be committed. */
export class Quarantined extends Error {
  override name = 'Quarantined';
}

/** Rejects an extension while the database is out of reach: whether money is left is unknown. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** Rejects waiting operations when the ledger is closed before the database is back. */
export class Closed extends Error {
  override name = 'Closed';
}

const contention: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // statement timeout
  '22012', // division by zero: a statement's signal that a row it read has vanished
  '23505', // unique violation: another process has just written the same row
]);

const stale: ReadonlySet<string> = new Set([
  '0A000', // a prepared statement's result has got other columns
  '42703', // a column has gone of which a function of the session knows (`shards.ts`)
]);

/**
 * SQLSTATE classes of data exceptions, constraint violations and program limits: caused by the input, not by the
 * server.
 */
const poison: ReadonlySet<string> = new Set(['22', '23', '54']);

/** Classifies an error by its SQLSTATE. An error without one means that the connection was lost. */
export function classify(error: unknown): DatabaseFailure {
  if (error instanceof Unworkable) return 'poison';
  const code = sqlState(error);
  if (code === null) return 'outage';
  if (contention.has(code)) return 'contention';
  if (stale.has(code)) return 'stale';
  return poison.has(code.slice(0, 2)) ? 'poison' : 'outage';
}

/** The SQLSTATE of an error; null for errors that did not come from PostgreSQL. */
function sqlState(error: unknown): string | null {
  return isSaidByDatabase(error) && typeof error.code === 'string' ? error.code : null;
}

/** The loggable part of an error: its kind, never its message, which may quote data, except where it is about schema or settings. */
export function describe(error: unknown): { error: string; code: string | null; constraint?: string; said?: string } {
  if (!(error instanceof Error)) return { error: typeof error, code: null };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : null;
  const said = databaseSentence(error);
  return {
    error: error.name,
    code,
    ...(constraint === null ? {} : { constraint }),
    ...(said === undefined ? {} : { said }),
  };
}
