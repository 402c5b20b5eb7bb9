import type { Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { personAddress } from './address.ts';

/** The operators of the service. */

export type SetOperatorOutcome =
  | { kind: 'set'; userId: string }
  /** The address has not been confirmed. */
  | { kind: 'unknown_person' }
  | { kind: 'last_operator' };

export interface OperatorChange {
  email: string;
  operator: boolean;
  actor: string;
}

/**
 * Makes a person an operator, or revokes that. It takes effect on their sessions and operator tokens with the next
 * request, because both read it from the person.
 */
export function createSetOperator({ pool }: { pool: Pool }) {
  return async ({ email, operator, actor }: OperatorChange): Promise<SetOperatorOutcome> => {
    const address = personAddress(email);
    if (address === null) return { kind: 'unknown_person' };
    return repeatedTransaction(pool, async (client): Promise<SetOperatorOutcome> => {
      // Changes of operators are serialised, so that two cannot revoke each other at the same moment.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.operators', 0))`);
      const { rows } = await client.query<{ id: string; operator: boolean; others: boolean }>(
        `SELECT id, operator, EXISTS (SELECT FROM app_user o WHERE o.operator AND o.id <> u.id) AS others
         FROM app_user u WHERE email = $1 AND email_verified FOR UPDATE`,
        [address],
      );
      const [person] = rows;
      if (person === undefined) return { kind: 'unknown_person' };
      if (person.operator === operator) return { kind: 'set', userId: person.id };
      if (!operator && !person.others) return { kind: 'last_operator' };
      await client.query('UPDATE app_user SET operator = $2, updated_at = now() WHERE id = $1', [person.id, operator]);
      await appendAudit(client, {
        actor,
        action: operator ? 'operator.create' : 'operator.remove',
        subject: `user:${person.id}`,
        before: { operator: person.operator },
        after: { operator },
      });
      return { kind: 'set', userId: person.id };
    });
  };
}
