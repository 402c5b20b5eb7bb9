import { isSaidByDatabase } from '../database/lane.ts';

/**
 * What a failed batch means for the operations in it:
 * - `outage`: the database is out of reach or cannot work. Nobody's fault; everything waits.
 * - `contention`: somebody else was faster. The same batch succeeds a moment later.
 * - `poison`: one of the operations can never succeed, and takes the whole batch with it.
 */
export type DatabaseFailure = 'outage' | 'contention' | 'poison';

/** Thrown when the pure rules cannot take an operation. */
export class Unworkable extends Error {
  override name = 'Unworkable';
}

const contention: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // statement timeout
  '22012', // division by zero: how a statement says that a row it read is not there any more
  '23505', // unique violation: the same thing was written elsewhere a moment ago
]);

/** Data exceptions, constraint violations, limits of the program: about what was sent, not about the server. */
const poison: ReadonlySet<string> = new Set(['22', '23', '54']);

/** What went wrong, by PostgreSQL's error code. Everything without one is the connection's end. */
export function classify(error: unknown): DatabaseFailure {
  if (error instanceof Unworkable) return 'poison';
  const code = sqlState(error);
  if (code === null) return 'outage';
  if (contention.has(code)) return 'contention';
  return poison.has(code.slice(0, 2)) ? 'poison' : 'outage';
}

/** The five characters that PostgreSQL gives every error; null for errors that did not come from it. */
function sqlState(error: unknown): string | null {
  return isSaidByDatabase(error) && typeof error.code === 'string' ? error.code : null;
}

/** What a log line may say of an error: its kind, never its message, which may quote data. */
export function describe(error: unknown): { error: string; code: string | null; constraint?: string } {
  if (!(error instanceof Error)) return { error: typeof error, code: null };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : null;
  return { error: error.name, code, ...(constraint === null ? {} : { constraint }) };
}
