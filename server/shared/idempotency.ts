import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';

/**
 * Idempotent creation under a key of the client's choice: a repeated call gets the first result instead of a second
 * object. Keys belong to an account and an operation.
 */
export interface OnceAsk {
  accountId: string;
  /** The mutation's name. */
  operation: string;
  key: string;
  /** The arguments; the same key with different ones is refused. */
  input: unknown;
}

export type Once<T> =
  | { kind: 'first'; value: T }
  | { kind: 'again'; resultId: string }
  /** The key was used with other arguments. */
  | { kind: 'conflict' };

/**
 * Runs `make` in the caller's transaction unless it ran before. A concurrent call waits for the first. `resultId` null:
 * nothing was made (it was refused), and the key stays unused.
 */
export async function once<T>(
  client: ClientBase,
  ask: OnceAsk,
  make: () => Promise<{ resultId: string | null; value: T }>,
): Promise<Once<T>> {
  const { accountId, operation, key } = ask;
  const input = digest(ask.input);
  const claimed = await client.query(
    `INSERT INTO idempotency (account_id, operation, key, input, result_id) VALUES ($1, $2, $3, $4, '')
     ON CONFLICT DO NOTHING`,
    [accountId, operation, key, input],
  );
  if (claimed.rowCount === 0) {
    const { rows } = await client.query<{ input: Buffer; resultId: string }>(
      `SELECT input, result_id AS "resultId" FROM idempotency WHERE account_id = $1 AND operation = $2 AND key = $3`,
      [accountId, operation, key],
    );
    const [before] = rows;
    return before === undefined || !before.input.equals(input)
      ? { kind: 'conflict' }
      : { kind: 'again', resultId: before.resultId };
  }
  const { resultId, value } = await make();
  await client.query(
    resultId === null
      ? `DELETE FROM idempotency WHERE account_id = $1 AND operation = $2 AND key = $3 AND $4::text IS NULL`
      : `UPDATE idempotency SET result_id = $4 WHERE account_id = $1 AND operation = $2 AND key = $3`,
    [accountId, operation, key, resultId],
  );
  return { kind: 'first', value };
}

function digest(input: unknown): Buffer {
  const text = JSON.stringify(input, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return createHash('sha256').update(text).digest();
}
