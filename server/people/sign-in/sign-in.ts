/** Signing in with password and one-time code, and choosing a new password by mail. */

import { z } from 'zod';
import { isUuid } from '../../shared/uuid.ts';
import { type Caller, cookieValue, tokenIn, tokenOf, withoutCookie } from '../caller.ts';
import { ask, asking, type IdentityParts } from '../identity.ts';
import { address, chosenPassword, givenPassword, parseInput } from '../input.ts';
import {
  type AttemptRefusal,
  type BadToken,
  type Done,
  done,
  throttled,
  type Wrong,
  type WrongCode,
} from '../outcomes.ts';
import { cookieNames } from './auth.ts';
import { deviceName } from './device-name.ts';
import { codeGuessing, useCode } from './one-time-codes.ts';
import { hostCookie } from './session-cookies.ts';
import { sessionDigest } from './session-tokens.ts';
import { networkOf } from './throttle.ts';

/** The password was right; a one-time code is required next, in the same browser. */
export interface SecondFactorAsked {
  kind: 'second_factor';
  setCookies: string[];
}

export interface SignIn {
  signIn(
    input: { email: string; password: string },
    caller: Caller,
  ): Promise<Done | SecondFactorAsked | Wrong | { kind: 'unverified' } | AttemptRefusal>;
  /** The second step: a code of the authenticator, or one of the backup codes. */
  signInWithCode(
    input: { code: string; backup: boolean },
    caller: Caller,
  ): Promise<Done | WrongCode | BadToken | AttemptRefusal>;
  signOut(caller: Caller): Promise<Done>;
  requestPasswordReset(input: { email: string }, caller: Caller): Promise<Done | AttemptRefusal>;
  resetPassword(
    input: { token: string; newPassword: string },
    caller: Caller,
  ): Promise<Done | BadToken | AttemptRefusal>;
}

const perAddressAndNetwork = { attempts: 5, windowS: 60 };
const perNetwork = { attempts: 60, windowS: 60 };
/** After this many wrong passwords in a row an address waits longer and longer, up to a minute. */
const guessing = { free: 10, maxS: 60 };
const mailsPerAddress = { attempts: 5, windowS: 3_600 };
const mailRequestsPerNetwork = { attempts: 30, windowS: 3_600 };
const resetsPerNetwork = { attempts: 20, windowS: 600 };
const deviceDays = 400;
/** The first sign-in of a person comes within this time of the sign-up. */
const firstSignInMs = 3_600_000;

/** A sign-in from a browser that the person had not used before. */
export interface NewSignIn {
  userId: string;
  sessionId: string;
  facts: { email: string; device: string; network: string };
}

/** What every way of signing in ends with. */
export function createArrival(
  parts: Pick<IdentityParts, 'prisma' | 'throttle' | 'devices' | 'publicUrl' | 'openAccount'> & {
    onNewSignIn: (signIn: NewSignIn) => Promise<void>;
    /** Links the account elsewhere that waits in this browser for the person's proof; returns cookies. */
    linkWaiting: (userId: string, caller: Caller) => Promise<string[]>;
  },
) {
  const { prisma, throttle, devices, publicUrl, openAccount } = parts;
  const names = cookieNames(publicUrl);
  const tellIfNew = createNewSignInReport(parts);

  const deviceCookie = (address: string): string =>
    hostCookie(publicUrl, names.device, devices.issue(address), deviceDays * 86_400);

  /** The counter of attempts: this browser's, if the person has signed in with it before, or the one of all others. */
  const guesser = (address: string, caller: Caller): string => {
    const device = devices.recognise(cookieValue(caller.cookie, names.device), address);
    return device === null ? `sign-in:${address}` : `sign-in:${address}:${device}`;
  };

  /** A new sign-in ends the browser's previous session: ids are never carried over (session fixation). */
  const endPrevious = async (caller: Caller): Promise<void> => {
    const signed = cookieValue(caller.cookie, names.session);
    const token = signed === null ? null : tokenOf(signed);
    if (token !== null) await prisma.session.deleteMany({ where: { token: sessionDigest(token) } });
  };

  /** A successful sign-in. An account that a crash kept from being opened after the confirmation is opened now. */
  const arrive = async (userId: string, caller: Caller, setCookies: string[]): Promise<Done> => {
    await endPrevious(caller);
    const user = await prisma.user.findUniqueOrThrow({
      where: { id: userId },
      include: { memberships: { take: 1, select: { role: true } } },
    });
    const { email, name } = user;
    if (user.memberships.length === 0) await openAccount({ userId, email, name, network: networkOf(caller.ip) });
    await throttle.forget(guesser(email, caller));
    await tellIfNew(user, caller, setCookies);
    return done([...setCookies, ...(await parts.linkWaiting(userId, caller)), deviceCookie(email)]);
  };

  return { arrive, guesser };
}

export function createSignIn(parts: IdentityParts & ReturnType<typeof createArrival>): SignIn {
  const { prisma, auth, throttle, publicUrl, arrive, guesser } = parts;
  const names = cookieNames(publicUrl);

  /** The person whose password was right, by the challenge in the browser's cookie; null: none, or expired. */
  const challenged = async (caller: Caller): Promise<{ email: string } | null> => {
    const signed = cookieValue(caller.cookie, names.secondFactor);
    const identifier = signed === null ? null : tokenOf(signed);
    if (identifier === null) return null;
    const { internalAdapter } = await auth.$context;
    const challenge = await internalAdapter.findVerificationValue(identifier);
    // The cookies of a passkey's challenge are signed alike, and their challenges are kept in the same table.
    if (challenge === null || !isUuid(challenge.value)) return null;
    return prisma.user.findUnique({ where: { id: challenge.value }, select: { email: true } });
  };

  return {
    async signIn(input, caller) {
      const parsed = parseInput(z.object({ password: givenPassword, email: address }), input);
      if (parsed.kind === 'bad_input') return parsed;
      const { email } = parsed.value;
      const network = networkOf(caller.ip);
      const wait =
        (await throttle.take(`sign-in:${email}:${network}`, perAddressAndNetwork)) ??
        (await throttle.take(`sign-in-network:${network}`, perNetwork)) ??
        (await throttle.slow(guesser(email, caller), guessing));
      if (wait !== null) return throttled(wait);

      const body = { email, password: input.password };
      const answer = await ask(() => auth.api.signInEmail({ ...asking(caller), body }));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') {
        return answer.code === 'EMAIL_NOT_VERIFIED' ? { kind: 'unverified' } : { kind: 'wrong' };
      }
      if ('twoFactorRedirect' in answer.response) return { kind: 'second_factor', setCookies: answer.setCookies };
      return arrive(answer.response.user.id, caller, answer.setCookies);
    },

    async signInWithCode(input, caller) {
      const wait = await throttle.take(`code:${networkOf(caller.ip)}`, perNetwork);
      if (wait !== null) return throttled(wait);
      const code = input.code.replaceAll(/\s/g, '');
      if (code === '' || code.length > 64) return { kind: 'wrong_code' };
      const person = await challenged(caller);
      if (person === null) return { kind: 'bad_token' };
      // Across networks and challenges: the password may be known to an attacker, and codes have six digits.
      const guesserOfCodes = `code-${guesser(person.email, caller)}`;
      const slowed = await throttle.slow(guesserOfCodes, codeGuessing);
      if (slowed !== null) return throttled(slowed);
      // A session in the same browser must not replace the challenge.
      const challenge = withoutCookie(caller, names.session);
      const answer = await ask<{ user: { id: string } }>(() =>
        input.backup
          ? auth.api.verifyBackupCode({ ...asking(challenge), body: { code } })
          : auth.api.verifyTOTP({ ...asking(challenge), body: { code } }),
      );
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') {
        const wrong = answer.code === 'INVALID_CODE' || answer.code === 'INVALID_BACKUP_CODE';
        return { kind: wrong ? 'wrong_code' : 'bad_token' };
      }
      const { id } = answer.response.user;
      if (input.backup || (await useCode(throttle, id, code))) {
        await throttle.forget(guesserOfCodes);
        return arrive(id, caller, answer.setCookies);
      }
      // A reused code: the session ends before its cookie is sent, and so does the challenge.
      const token = tokenIn(answer.setCookies, names.session);
      if (token !== null) await prisma.session.deleteMany({ where: { token: sessionDigest(token) } });
      return { kind: 'bad_token' };
    },

    async signOut(caller) {
      const answer = await ask(() => auth.api.signOut(asking(caller)));
      return done(answer.kind === 'answered' ? answer.setCookies : []);
    },

    ...createPasswordReset(parts),
  };
}

/** Written down before the cookie leaves: no session reaches a browser without its report. */
function createNewSignInReport({
  prisma,
  devices,
  publicUrl,
  onNewSignIn,
}: Pick<IdentityParts, 'prisma' | 'devices' | 'publicUrl'> & { onNewSignIn: (signIn: NewSignIn) => Promise<void> }) {
  const names = cookieNames(publicUrl);
  return async (
    user: { id: string; email: string; createdAt: Date },
    caller: Caller,
    setCookies: readonly string[],
  ): Promise<void> => {
    const isKnown = devices.recognise(cookieValue(caller.cookie, names.device), user.email) !== null;
    const token = tokenIn(setCookies, names.session);
    if (isKnown || token === null) return;
    const session = await prisma.session.findUnique({ where: { token: sessionDigest(token) }, select: { id: true } });
    // The sign-in that follows the sign-up is no news.
    const isFirst = Date.now() - user.createdAt.getTime() < firstSignInMs;
    if (session === null || (isFirst && (await prisma.session.count({ where: { userId: user.id } })) === 1)) return;
    const { email } = user;
    const device = deviceName(caller.userAgent) ?? 'an unknown device';
    await onNewSignIn({ userId: user.id, sessionId: session.id, facts: { email, device, network: caller.ip } });
  };
}

/** Choosing a new password with the link of a mail. */
function createPasswordReset({
  auth,
  throttle,
}: IdentityParts): Pick<SignIn, 'requestPasswordReset' | 'resetPassword'> {
  return {
    async requestPasswordReset(input, caller) {
      const parsed = parseInput(z.object({ email: address }), input);
      if (parsed.kind === 'bad_input') return parsed;
      const { email } = parsed.value;
      const wait =
        (await throttle.take(`mail-request:${networkOf(caller.ip)}`, mailRequestsPerNetwork)) ??
        (await throttle.take(`mail:${email}`, mailsPerAddress));
      if (wait !== null) return throttled(wait);
      await ask(() => auth.api.requestPasswordReset({ ...asking(caller), body: { email } }));
      return done();
    },

    async resetPassword(input, caller) {
      const parsed = parseInput(z.object({ newPassword: chosenPassword() }), input);
      if (parsed.kind === 'bad_input') return parsed;
      const wait = await throttle.take(`reset:${networkOf(caller.ip)}`, resetsPerNetwork);
      if (wait !== null) return throttled(wait);
      if (input.token.length > 256) return { kind: 'bad_token' };
      const { token, newPassword } = input;
      const answer = await ask(() => auth.api.resetPassword({ ...asking(caller), body: { token, newPassword } }));
      if (answer.kind === 'busy') return answer;
      return answer.kind === 'answered' ? done() : { kind: 'bad_token' };
    },
  };
}
