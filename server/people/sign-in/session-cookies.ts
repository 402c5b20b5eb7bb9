/** Sessions and challenges that are opened by us, in the form that better-auth reads: cookies with its signature. */

import { createHmac, randomBytes } from 'node:crypto';
import { type Caller } from '../caller.ts';
import type { IdentityParts } from '../identity.ts';
import { cookieNames, idleS, signInSecret } from './auth.ts';

/** A challenge lasts as long as it takes to find the phone. */
const challengeS = 600;

export interface Opened {
  kind: 'session' | 'challenge';
  setCookies: string[];
}

/** A cookie of this host alone, which scripts do not see. `maxAgeS` 0 removes it. */
export function hostCookie(publicUrl: string, name: string, value: string, maxAgeS: number): string {
  return [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${maxAgeS}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(publicUrl.startsWith('https://') ? ['Secure'] : []),
  ].join('; ');
}

/**
 * Opens a session for a person who has proved who they are; where one-time codes are on, a challenge for one instead: the
 * plugin asks for codes after passwords only, and a thief of an account elsewhere must not get in without one.
 */
export function createOpening({
  auth,
  publicUrl,
  secretKey,
}: Pick<IdentityParts, 'auth' | 'publicUrl'> & { secretKey: Buffer }) {
  const names = cookieNames(publicUrl);
  const signed = (name: string, value: string, maxAgeS: number): string => {
    const signature = createHmac('sha256', signInSecret(secretKey)).update(value).digest('base64');
    return hostCookie(publicUrl, name, encodeURIComponent(`${value}.${signature}`), maxAgeS);
  };

  return async (person: { id: string; twoFactorEnabled: boolean }, caller: Caller): Promise<Opened> => {
    const { internalAdapter } = await auth.$context;
    if (!person.twoFactorEnabled) {
      const from = { ipAddress: caller.ip, userAgent: caller.userAgent.slice(0, 400) };
      const session = await internalAdapter.createSession(person.id, false, from);
      return { kind: 'session', setCookies: [signed(names.session, session.token, idleS)] };
    }
    const identifier = `2fa-${randomBytes(18).toString('base64url')}`;
    const expiresAt = new Date(Date.now() + challengeS * 1_000);
    await internalAdapter.createVerificationValue({ value: person.id, identifier, expiresAt });
    await internalAdapter.createVerificationValue({ value: '0', identifier: `2fa-attempts-${identifier}`, expiresAt });
    return { kind: 'challenge', setCookies: [signed(names.secondFactor, identifier, challengeS)] };
  };
}
