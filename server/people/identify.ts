import type { AccessTokens } from './access-tokens.ts';
import { absoluteS, cookieNames } from './auth.ts';
import { type Caller, cookieValue, headersOf } from './caller.ts';
import type { IdentityParts } from './identity.ts';
import { nobody, type Principal, type Role, roles } from './principal.ts';

export interface Identified {
  principal: Principal;
  /** A session that is in use is prolonged now and then; the browser must be told. */
  setCookies: string[];
}

/** Who sends a request. An access token that is wrong is an answer of its own: a program must not go on as nobody. */
export type Identify = (request: Caller & { authorization: string | null }) => Promise<Identified | 'bad_token'>;

export function createIdentify(
  parts: Pick<IdentityParts, 'prisma' | 'auth' | 'publicUrl'> & { accessTokens: AccessTokens },
): Identify {
  const { prisma, auth, publicUrl, accessTokens } = parts;
  const names = cookieNames(publicUrl);

  const bySession = async (caller: Caller): Promise<Identified> => {
    const asked = await auth.api.getSession({ headers: headersOf(caller), returnHeaders: true });
    const setCookies = asked.headers.getSetCookie();
    if (asked.response === null) return { principal: nobody, setCookies };
    const { session, user } = asked.response;
    if (Date.now() - session.createdAt.getTime() > absoluteS * 1_000) {
      await prisma.session.deleteMany({ where: { id: session.id } });
      return { principal: nobody, setCookies: [] };
    }
    const memberships = await prisma.member.findMany({
      where: { userId: user.id },
      orderBy: [{ createdAt: 'asc' }, { accountId: 'asc' }],
      select: { accountId: true, role: true },
    });
    return {
      setCookies,
      principal: {
        kind: 'user',
        userId: user.id,
        sessionId: session.id,
        email: user.email,
        name: user.name,
        locale: user.locale ?? 'en',
        emailVerified: user.emailVerified,
        operator: user.operator,
        secondFactor: user.twoFactorEnabled === true,
        memberships: new Map(memberships.flatMap(({ accountId, role }) => (isRole(role) ? [[accountId, role]] : []))),
      },
    };
  };

  return async ({ authorization, ...caller }) => {
    if (authorization !== null) {
      const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
      const principal = bearer === undefined ? null : await accessTokens.identify(bearer);
      return principal === null ? 'bad_token' : { principal, setCookies: [] };
    }
    if (cookieValue(caller.cookie, names.session) === null) return { principal: nobody, setCookies: [] };
    return bySession(caller);
  };
}

function isRole(role: string): role is Role {
  return (roles as readonly string[]).includes(role);
}
