import { createHmac, hkdfSync } from 'node:crypto';
import type { Pool } from 'pg';
import { z } from 'zod';
import { transaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { isSameSecret } from '../shared/constant-time.ts';
import type { KeysetRange } from '../shared/keyset.ts';
import { actorOf, isTrustedOperator, type UserPrincipal } from './principal.ts';

/**
 * Read-only access of an operator to the pages of a customer: the account as those see it who may read it and change nothing, for a
 * limited time. The token belongs to one session of one operator, and counts only while that person still is one; the
 * audit log of the account has every access.
 */
export interface Views {
  /** Begins an access; `grant` is its token. Null: there is no such account. */
  begin(principal: UserPrincipal, accountId: string): Promise<{ grant: string; until: Date } | null>;
  /** The principal of a request with a grant; null where the grant does not count, or not any more. */
  open(principal: UserPrincipal, grant: string): UserPrincipal | null;
  /** The accesses to an account, newest first. */
  list(accountId: string, range?: KeysetRange): Promise<AccountView[]>;
}

/** Read-only access that an operator had to an account. */
export interface AccountView {
  id: string;
  at: Date;
  until: Date;
}

const validMs = 15 * 60_000;
const maxListed = 20;
/** Longer texts are refused before they are parsed. */
const maxGrantLength = 1_024;

const contents = z.object({ sessionId: z.string(), accountId: z.uuid(), until: z.number() });

export function createViews({ pool, secretKey }: { pool: Pool; secretKey: Buffer }): Views {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg view', 32));
  const sign = (payload: string): Buffer => createHmac('sha256', key).update(payload).digest();
  return {
    async begin(principal, accountId) {
      const until = new Date(Date.now() + validMs);
      const isKnown = await transaction(pool, async (client) => {
        const { rowCount } = await client.query('SELECT 1 FROM account WHERE id = $1', [accountId]);
        if (rowCount === 0) return false;
        await appendAudit(client, {
          actor: actorOf(principal),
          action: 'account.view',
          subject: `account:${accountId}`,
          after: { until },
        });
        return true;
      });
      if (!isKnown) return null;
      const looked = { sessionId: principal.sessionId, accountId, until: until.getTime() };
      const payload = Buffer.from(JSON.stringify(looked)).toString('base64url');
      return { grant: `${payload}.${sign(payload).toString('base64url')}`, until };
    },
    open(principal, grant) {
      if (grant.length > maxGrantLength || !isTrustedOperator(principal)) return null;
      const [payload = '', signature = ''] = grant.split('.');
      if (!isSameSecret(Buffer.from(signature, 'base64url'), sign(payload))) return null;
      const { data } = contents.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
      if (data === undefined || data.sessionId !== principal.sessionId || data.until <= Date.now()) return null;
      return {
        ...principal,
        operatorRole: null,
        memberships: new Map([[data.accountId, 'viewer']]),
        suspended: new Set(),
        viewUntil: new Date(data.until),
      };
    },
    async list(accountId, { limit, after } = { limit: maxListed, after: null }) {
      const { rows } = await pool.query<AccountView>(
        `SELECT id, created_at AS at, (after->>'until')::timestamptz AS until FROM audit_entry
         WHERE subject = $1 AND action = 'account.view'
           AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::uuid))
         ORDER BY created_at DESC, id DESC LIMIT $2`,
        [`account:${accountId}`, limit, after?.at, after?.ids[0]],
      );
      return rows;
    },
  };
}
