import type { Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { personAddress } from './address.ts';
import { type OperatorRole, operatorRoleSql } from './principal.ts';

/** The operators of the service. */

export type SetOperatorOutcome =
  | { kind: 'set'; userId: string }
  /** The address has not been confirmed. */
  | { kind: 'unknown_person' }
  /** The last owner. */
  | { kind: 'last_operator' };

export interface OperatorChange {
  email: string;
  /** Null: no operator any more. */
  role: OperatorRole | null;
  actor: string;
}

/**
 * Makes a person an operator of that role, or none. It takes effect on their sessions and operator tokens with the next
 * request, because both read it from the person. Owners are never without another one.
 */
export function createSetOperator({ pool }: { pool: Pool }) {
  return async ({ email, role, actor }: OperatorChange): Promise<SetOperatorOutcome> => {
    const address = personAddress(email);
    if (address === null) return { kind: 'unknown_person' };
    return repeatedTransaction(pool, async (client): Promise<SetOperatorOutcome> => {
      // Changes of operators are serialised, so that two cannot revoke each other at the same moment.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.operators', 0))`);
      const { rows } = await client.query<{ id: string; role: OperatorRole | null; others: boolean }>(
        `SELECT id, ${operatorRoleSql('u')} AS role,
                EXISTS (SELECT FROM app_user o WHERE o.operator AND o.id <> u.id) AS others
         FROM app_user u WHERE email = $1 AND email_verified FOR UPDATE`,
        [address],
      );
      const [person] = rows;
      if (person === undefined) return { kind: 'unknown_person' };
      if (person.role === role) return { kind: 'set', userId: person.id };
      if (person.role === 'owner' && !person.others) return { kind: 'last_operator' };
      await client.query('UPDATE app_user SET operator = $2, operator_role = $3, updated_at = now() WHERE id = $1', [
        person.id,
        role === 'owner',
        role === 'owner' ? null : role,
      ]);
      await appendAudit(client, {
        actor,
        action: person.role === null ? 'operator.create' : role === null ? 'operator.remove' : 'operator.change',
        subject: `user:${person.id}`,
        before: { role: person.role },
        after: { role },
      });
      return { kind: 'set', userId: person.id };
    });
  };
}
