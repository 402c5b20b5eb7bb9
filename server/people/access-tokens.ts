import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { createSecret, parseToken } from '../keys/secret.ts';
import { appendAudit } from '../shared/audit.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { parseInput, shownName } from './input.ts';
import type { BadInput } from './outcomes.ts';
import {
  type OperatorRole,
  operatorRoleSql,
  type Role,
  scopes,
  scopesOf,
  type TokenPrincipal,
  type TokenScope,
} from './principal.ts';

/** Access tokens: the credentials of programs for the control plane. Only digests are stored. */
export interface AccessTokens {
  /** The principal of a secret; null when it is unknown, expired or deleted. */
  identify(secret: string): Promise<TokenPrincipal | null>;
  /** `not_allowed`: the person has left the account meanwhile, or their role allows less than the token would. */
  create(input: NewAccessToken, actor: string): Promise<CreatedAccessToken | BadInput | { kind: 'not_allowed' }>;
  /** False when the account has no such token. */
  delete(input: { accountId: string; id: string }, actor: string): Promise<boolean>;
}

export interface NewAccessToken {
  accountId: string;
  name: string;
  scopes: readonly TokenScope[];
  expiresAt: Date | null;
  /** The person who made it; null for the command line. */
  createdBy: string | null;
}

export interface CreatedAccessToken {
  kind: 'created';
  id: string;
  /** Shown once. */
  secret: string;
}

const maxPerAccount = 100;

const tokenShape = z.object({
  name: shownName,
  scopes: z
    .array(z.enum(scopes))
    .readonly()
    .refine((list) => list.length > 0, 'Choose at least one scope.'),
  expiresAt: z
    .date()
    .nullable()
    .refine((end) => end === null || end.getTime() > Date.now(), 'The token would have expired already.'),
});

export function createAccessTokens({ pool }: { pool: Pool }): AccessTokens {
  return {
    async identify(secret) {
      const parsed = parseToken(secret);
      if (parsed === null) return null;
      // The scope `operator` is only as good as the operator who made the token; the command line needs no such proof.
      const { rows } = await pool.query<{
        id: string;
        account_id: string;
        scopes: string[];
        role: OperatorRole | null;
        stale: boolean;
        suspended: boolean;
      }>(
        `SELECT t.id, t.account_id, t.scopes,
                CASE WHEN t.created_by IS NULL THEN 'owner' ELSE ${operatorRoleSql('u')} END AS role,
                coalesce(t.last_used_at < now() - interval '1 minute', true) AS stale, a.status = 'suspended' AS suspended
           FROM access_token t JOIN account a ON a.id = t.account_id LEFT JOIN app_user u ON u.id = t.created_by
          WHERE t.hash = $1 AND t.deleted_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`,
        [parsed.hash],
      );
      const row = rows[0];
      if (row === undefined) return null;
      if (row.stale) await pool.query('UPDATE access_token SET last_used_at = now() WHERE id = $1', [row.id]);
      const given = scopes.filter((scope) => row.scopes.includes(scope) && (scope !== 'operator' || row.role !== null));
      return {
        kind: 'token',
        tokenId: row.id,
        accountId: row.account_id,
        scopes: new Set(given),
        operatorRole: given.includes('operator') ? row.role : null,
        suspended: new Set(row.suspended ? [row.account_id] : []),
      };
    },

    async create(input, actor) {
      const parsed = parseInput(tokenShape, input);
      if (parsed.kind === 'bad_input') return parsed;
      const { secret, hash, prefix, last4 } = createSecret('token');
      const id = uuidv7();
      const chosen = scopes.filter((scope) => input.scopes.includes(scope));
      return repeatedTransaction(
        pool,
        async (client): Promise<CreatedAccessToken | BadInput | { kind: 'not_allowed' }> => {
          // Tokens of one account are made one after the other, so that they can be counted.
          await client.query('SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE', [input.accountId]);
          if (!(await mayGive(client, input))) return { kind: 'not_allowed' };
          const { rows } = await client.query<{ count: string }>(
            `SELECT count(*) FROM access_token WHERE account_id = $1 AND deleted_at IS NULL`,
            [input.accountId],
          );
          if (Number(rows[0]?.count ?? 0) >= maxPerAccount) {
            return {
              kind: 'bad_input',
              field: 'name',
              message: `An account has at most ${maxPerAccount} access tokens.`,
              others: [],
            };
          }
          await client.query(
            `INSERT INTO access_token (id, account_id, name, hash, prefix, last4, scopes, created_by, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
            [id, input.accountId, input.name, hash, prefix, last4, chosen, input.createdBy, input.expiresAt],
          );
          const after = { accountId: input.accountId, name: input.name, scopes: chosen, expiresAt: input.expiresAt };
          await appendAudit(client, { actor, action: 'access-token.create', subject: `access-token:${id}`, after });
          return { kind: 'created', id, secret };
        },
      );
    },

    async delete({ accountId, id }, actor) {
      return repeatedTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `UPDATE access_token SET deleted_at = now() WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL`,
          [id, accountId],
        );
        if (rowCount !== 1) return false;
        await appendAudit(client, { actor, action: 'access-token.delete', subject: `access-token:${id}` });
        return true;
      });
    },
  };
}

/**
 * Whether the person who makes the token has its abilities, under a lock that keeps them: ending a membership, or
 * lowering a role, ends the tokens made under it, and must not miss one that is being made.
 */
async function mayGive(client: ClientBase, { accountId, createdBy, scopes: asked }: NewAccessToken): Promise<boolean> {
  if (createdBy === null) return true;
  const { rows } = await client.query<{ role: Role }>(
    'SELECT role FROM member WHERE account_id = $1 AND user_id = $2 FOR SHARE',
    [accountId, createdBy],
  );
  const [member] = rows;
  if (member === undefined) return false;
  // An operator token's own abilities do not come from the role.
  const given: readonly TokenScope[] = [...scopesOf(member.role), 'operator'];
  return asked.every((scope) => given.includes(scope));
}
