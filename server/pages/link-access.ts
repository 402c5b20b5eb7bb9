import type { FastifyReply } from 'fastify';
import type { Pool } from 'pg';
import { type Ability, rolesWith } from '../people/principal.ts';
import { isUuid } from '../shared/uuid.ts';
import { deadLink, linkHeaders } from './signed-links.ts';

/** Whether a link still opens what it was made for. */
interface LinkUse {
  /** Who made it, as the audit log names them. */
  holder: string;
  /** Whose data it opens; null: the operator's own. */
  accountId: string | null;
  /** What making it took. */
  ability: Ability;
}

/** Who may open the operator's own papers; what belongs to an account is there for every operator. */
const operatorOpens = (user: string): string =>
  `(${user}.operator OR ${user}.operator_role = 'finance' OR ($2::uuid IS NOT NULL AND ${user}.operator_role IS NOT NULL))`;

/**
 * A link outlives neither its account nor the access of who made it: a member who was removed or demoted, a token that was
 * deleted, an operator who is none any more. Asked for at each use, whatever the link's time says.
 */
export async function isStillOpen(
  pool: Pick<Pool, 'query'>,
  { holder, accountId, ability }: LinkUse,
): Promise<boolean> {
  const [kind, id = ''] = holder.split(':');
  if (!isUuid(id)) return false;
  const { rows } = await pool.query<{ open: boolean }>(
    kind === 'user' ? ofPerson : kind === 'token' ? ofToken : 'SELECT false AS open',
    kind === 'user' ? [id, accountId, rolesWith(ability)] : kind === 'token' ? [id, accountId] : [],
  );
  return rows[0]?.open === true;
}

const accountStays = `($2::uuid IS NULL OR EXISTS (SELECT FROM account a WHERE a.id = $2 AND a.erased_at IS NULL))`;
const ofPerson = `SELECT ${accountStays} AND EXISTS (
    SELECT FROM app_user u LEFT JOIN member m ON m.user_id = u.id AND m.account_id = $2
     WHERE u.id = $1 AND (${operatorOpens('u')} OR m.role = ANY ($3::text[]))) AS open`;
const ofToken = `SELECT ${accountStays} AND EXISTS (
    SELECT FROM access_token t LEFT JOIN app_user u ON u.id = t.created_by
     WHERE t.id = $1 AND t.deleted_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
       AND (t.account_id = $2 OR ('operator' = ANY (t.scopes) AND (t.created_by IS NULL OR ${operatorOpens('u')})))) AS open`;

/** The answer to a link whose holder or account has gone. */
export function goneLink(reply: FastifyReply): FastifyReply {
  return reply.code(410).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
}
