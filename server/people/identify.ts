/** Identifies who sends a request: a session, an access token, or neither. */

import type { AccessTokens } from './access-tokens.ts';
import { type Caller, cookieValue, headersOf, tokenOf } from './caller.ts';
import type { IdentityParts } from './identity.ts';
import { type ControlPrincipal, nobody, type OperatorRole, operatorRoleSql, type Role, roles } from './principal.ts';
import { absoluteS, cookieNames, idleS, prolongAfterS } from './sign-in/auth.ts';
import { sessionDigest } from './sign-in/session-tokens.ts';
import type { Views } from './views.ts';

export interface Identified {
  principal: ControlPrincipal;
  /** A session in use is prolonged now and then; the browser gets a new cookie. */
  setCookies: string[];
}

/**
 * The principal of a request. A wrong access token is an answer, too: a program must not continue as an anonymous
 * client. So is a look at a customer that has ended: its page must not continue with the operator's own rights.
 */
export type Identify = (
  request: Caller & {
    authorization: string | null;
    /** The grant of a look. */
    view?: string | null;
    /** Whether the request is use of a session, which prolongs it; a new cookie can be answered. Default: true. */
    prolong?: boolean;
  },
) => Promise<Identified | 'bad_token' | 'ended_view'>;

export function createIdentify(
  parts: Pick<IdentityParts, 'pool' | 'auth' | 'publicUrl'> & {
    accessTokens: AccessTokens;
    views: Pick<Views, 'open'>;
  },
): Identify {
  const { pool, auth, publicUrl, accessTokens, views } = parts;
  const names = cookieNames(publicUrl);

  /**
   * One statement for nearly every request. The cookie's signature adds nothing to a token of 256 random bits that is
   * looked up by its digest. A session that is due to be prolonged takes the slow path, through better-auth.
   */
  const bySession = async (caller: Caller, token: string, prolong: boolean): Promise<Identified> => {
    const { rows } = await pool.query<SessionRow>({
      name: 'people_session',
      text: `SELECT s.id AS "sessionId", s.user_id AS "userId", u.email, u.name, u.locale,
                    u.email_verified AS "emailVerified", ${operatorRoleSql('u')} AS "operatorRole", u.two_factor_enabled AS "secondFactor",
                    s.passkey_id IS NOT NULL AS passkey,
                    s.expires_at <= now() OR s.created_at <= now() - make_interval(secs => $2) AS over,
                    s.expires_at <= now() + make_interval(secs => $3) AS due,
                    ARRAY(SELECT m.account_id::text || ' ' || m.role || ' ' || a.status
                          FROM member m JOIN account a ON a.id = m.account_id WHERE m.user_id = u.id
                          ORDER BY m.created_at, m.account_id) AS memberships
               FROM user_session s JOIN app_user u ON u.id = s.user_id WHERE s.token = $1`,
      values: [sessionDigest(token), absoluteS, idleS - prolongAfterS],
    });
    const [row] = rows;
    if (row === undefined || row.over) {
      if (row !== undefined) await pool.query('DELETE FROM user_session WHERE id = $1', [row.sessionId]);
      return { principal: nobody, setCookies: [] };
    }
    const prolonged =
      row.due && prolong ? await auth.api.getSession({ headers: headersOf(caller), returnHeaders: true }) : null;
    const { over: _over, due: _due, memberships, ...person } = row;
    return {
      setCookies: prolonged?.headers.getSetCookie() ?? [],
      principal: {
        kind: 'user',
        ...person,
        memberships: new Map(memberships.flatMap(membershipOf)),
        suspended: new Set(memberships.flatMap(suspendedOf)),
      },
    };
  };

  const byItself = async ({
    authorization,
    prolong = true,
    ...caller
  }: Caller & { authorization: string | null; prolong?: boolean }): Promise<Identified | 'bad_token'> => {
    if (authorization !== null) {
      const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
      const principal = bearer === undefined ? null : await accessTokens.identify(bearer);
      return principal === null ? 'bad_token' : { principal, setCookies: [] };
    }
    const signed = cookieValue(caller.cookie, names.session);
    const token = signed === null ? null : tokenOf(signed);
    return token === null ? { principal: nobody, setCookies: [] } : bySession(caller, token, prolong);
  };

  return async ({ view = null, ...request }) => {
    const identified = await byItself(request);
    if (view === null || identified === 'bad_token') return identified;
    const { principal, setCookies } = identified;
    const seen = principal.kind === 'user' ? views.open(principal, view) : null;
    return seen === null ? 'ended_view' : { principal: seen, setCookies };
  };
}

interface SessionRow {
  sessionId: string;
  userId: string;
  email: string;
  name: string;
  locale: string;
  emailVerified: boolean;
  operatorRole: OperatorRole | null;
  secondFactor: boolean;
  passkey: boolean;
  over: boolean;
  due: boolean;
  /** `<account id> <role> <status>` */
  memberships: string[];
}

function membershipOf(text: string): [string, Role][] {
  const [accountId = '', role = ''] = text.split(' ');
  return isRole(role) ? [[accountId, role]] : [];
}

function suspendedOf(text: string): string[] {
  const [accountId = '', , status] = text.split(' ');
  return status === 'suspended' ? [accountId] : [];
}

function isRole(role: string): role is Role {
  return (roles as readonly string[]).includes(role);
}
