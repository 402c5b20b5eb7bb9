import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { amount, checkInput, type InvalidInput, maxPico } from '../shared/input.ts';
import { isUuid } from '../shared/uuid.ts';

/** Limits that several keys share: of a member over the keys that they made, and of a project over its keys. */

/** Pico-USD; null: no limit. Months are those of the account's time zone. */
export interface SharedLimits {
  month: bigint | null;
  lifetime: bigint | null;
}

export type SetMemberLimitOutcome =
  | { kind: 'changed' }
  /** Neither belongs to the account nor has made a key of it. */
  | { kind: 'unknown_member' }
  | InvalidInput<'month'>;

const limit = amount(maxPico).nullable();

export const sharedLimitsShape: z.ZodType<SharedLimits> = z.object({ month: limit, lifetime: limit });

/**
 * Sets what the keys that a person made may spend in a month, together. It outlasts their membership, because keys that belong
 * to the account do.
 */
export function setMemberLimit(
  pool: Pool,
  { accountId, userId, month, actor }: { accountId: string; userId: string; month: bigint | null; actor: string },
): Promise<SetMemberLimitOutcome> {
  return repeatedTransaction(pool, async (client): Promise<SetMemberLimitOutcome> => {
    const problem = checkInput(z.object({ month: limit }), { month });
    if (problem !== null) return problem;
    if (!isUuid(accountId) || !isUuid(userId)) return { kind: 'unknown_member' };
    await client.query('SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
    const { rows } = await client.query<{ known: boolean; before: bigint | null }>(
      `SELECT EXISTS (SELECT FROM member WHERE account_id = $1 AND user_id = $2)
              OR EXISTS (SELECT FROM api_key WHERE account_id = $1 AND created_by = $2) AS known,
              (SELECT limit_month FROM shared_limit WHERE account_id = $1 AND subject_id = $2) AS before`,
      [accountId, userId],
    );
    const [person] = rows;
    if (person?.known !== true) return { kind: 'unknown_member' };
    await client.query(
      `INSERT INTO shared_limit (account_id, subject_id, kind, limit_month) VALUES ($1, $2, 'member', $3)
       ON CONFLICT (account_id, subject_id) DO UPDATE SET limit_month = excluded.limit_month`,
      [accountId, userId, month],
    );
    await appendAudit(client, {
      actor,
      action: 'member.limit',
      subject: `account:${accountId}`,
      before: { userId, month: person.before },
      after: { userId, month },
    });
    return { kind: 'changed' };
  });
}

/** The limits of a project, in the caller's transaction. */
export async function readProjectLimits(
  client: ClientBase,
  ref: { accountId: string; id: string },
): Promise<SharedLimits> {
  const { rows } = await client.query<SharedLimits>(
    'SELECT limit_month AS month, limit_lifetime AS lifetime FROM shared_limit WHERE account_id = $1 AND subject_id = $2',
    [ref.accountId, ref.id],
  );
  return rows[0] ?? { month: null, lifetime: null };
}

export async function writeProjectLimits(
  client: ClientBase,
  { accountId, id, month, lifetime }: { accountId: string; id: string } & SharedLimits,
): Promise<void> {
  await client.query(
    'UPDATE shared_limit SET limit_month = $3, limit_lifetime = $4 WHERE account_id = $1 AND subject_id = $2',
    [accountId, id, month, lifetime],
  );
}
