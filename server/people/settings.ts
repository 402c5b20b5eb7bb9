import { z } from 'zod';
import { cookieNames } from './auth.ts';
import { type Caller, headersOf, tokenIn } from './caller.ts';
import { ask, asking, type IdentityParts } from './identity.ts';
import { address, chosenPassword, givenPassword, parseInput, shownName } from './input.ts';
import { localeOf, securityMail } from './mails.ts';
import { codeGuessing, useCode } from './one-time-codes.ts';
import { type AttemptRefusal, type Done, done, throttled, type Wrong, type WrongCode } from './outcomes.ts';
import { personalTexts } from './passwords.ts';
import type { UserPrincipal } from './principal.ts';
import { sessionDigest } from './session-tokens.ts';

/** A session as its owner sees it. */
export interface SessionView {
  id: string;
  userId: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
  current: boolean;
}

/** The set-up of an authenticator app, and the backup codes. Shown once. */
export interface SecondFactorSecret {
  kind: 'secret';
  uri: string;
  backupCodes: string[];
}

/** The changes that signed-in people make to their own sign-in. Sensitive ones ask for the password again. */
export interface Settings {
  updateProfile(
    me: UserPrincipal,
    input: { name?: string | null; locale?: string | null },
  ): Promise<Done | AttemptRefusal>;
  /** Ends every session, this one included, and starts a new one here. */
  changePassword(
    me: UserPrincipal,
    input: { currentPassword: string; newPassword: string },
    caller: Caller,
  ): Promise<Done | Wrong | AttemptRefusal>;
  /** Asks the old address first, then the new one. The answer does not reveal whether the new one is taken. */
  changeEmail(
    me: UserPrincipal,
    input: { newEmail: string; password: string },
    caller: Caller,
  ): Promise<Done | Wrong | AttemptRefusal>;
  /** Without a password only for people who have none, because they sign in with a provider. */
  beginSecondFactor(
    me: UserPrincipal,
    input: { password: string },
    caller: Caller,
  ): Promise<SecondFactorSecret | Wrong | AttemptRefusal | { kind: 'already_on' }>;
  confirmSecondFactor(
    me: UserPrincipal,
    input: { code: string },
    caller: Caller,
  ): Promise<Done | WrongCode | AttemptRefusal>;
  disableSecondFactor(
    me: UserPrincipal,
    input: { password: string; code: string },
    caller: Caller,
  ): Promise<Done | Wrong | WrongCode | AttemptRefusal>;
  renewBackupCodes(
    me: UserPrincipal,
    input: { password: string },
    caller: Caller,
  ): Promise<{ kind: 'codes'; backupCodes: string[] } | Wrong | AttemptRefusal>;
  listSessions(me: UserPrincipal): Promise<SessionView[]>;
  /** False when the person has no such session. */
  revokeSession(me: UserPrincipal, sessionId: string): Promise<boolean>;
  /** Ends every session but this one; returns how many. */
  revokeOtherSessions(me: UserPrincipal): Promise<number>;
}

const perUser = { attempts: 10, windowS: 300 };

export function createSettings(parts: IdentityParts): Settings {
  const { prisma, auth, throttle, mailer } = parts;
  const names = cookieNames(parts.publicUrl);
  const resetLink = `${parts.publicUrl}/forgot-password`;

  /** Throttles every prompt for a password or code of a signed-in person. */
  const mayAsk = async (me: UserPrincipal): Promise<AttemptRefusal | null> => {
    const wait = await throttle.take(`again:${me.userId}`, perUser);
    return wait === null ? null : throttled(wait);
  };

  const verifyPassword = async (me: UserPrincipal, password: string, caller: Caller) => {
    const parsed = parseInput(z.object({ password: givenPassword }), { password });
    const refusal = parsed.kind === 'bad_input' ? parsed : await mayAsk(me);
    if (refusal !== null) return refusal;
    const answer = await ask(async () => ({
      headers: new Headers(),
      response: await auth.api.verifyPassword({ headers: headersOf(caller), body: { password } }),
    }));
    if (answer.kind === 'busy') return answer;
    return answer.kind === 'answered' ? null : ({ kind: 'wrong' } as const);
  };

  const verifyCode = async (me: UserPrincipal, text: string, caller: Caller) => {
    const code = text.replaceAll(/\s/g, '').slice(0, 64);
    const guesser = `code-again:${me.userId}`;
    const wait = await throttle.slow(guesser, codeGuessing);
    if (wait !== null) return throttled(wait);
    if (!(await useCode(throttle, me.userId, code))) return { kind: 'wrong_code' as const };
    const answer = await ask(() => auth.api.verifyTOTP({ ...asking(caller), body: { code } }));
    if (answer.kind === 'refused') return { kind: 'wrong_code' as const };
    if (answer.kind === 'answered') await throttle.forget(guesser);
    return answer;
  };

  return {
    ...createProfile(prisma),

    async changePassword(me, input, caller) {
      const terms = z.object({ newPassword: chosenPassword(personalTexts(me)), currentPassword: givenPassword });
      const parsed = parseInput(terms, input);
      if (parsed.kind === 'bad_input') return parsed;
      const refusal = await mayAsk(me);
      if (refusal !== null) return refusal;
      const body = { ...input, revokeOtherSessions: true };
      const answer = await ask(() => auth.api.changePassword({ ...asking(caller), body }));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') return { kind: 'wrong' };
      mailer.post(securityMail(me.email, localeOf(me.locale), 'password', resetLink));
      return done(answer.setCookies);
    },

    async changeEmail(me, input, caller) {
      const another = address.refine((text) => text !== me.email, 'This is your address already.');
      const parsed = parseInput(z.object({ newEmail: another }), input);
      if (parsed.kind === 'bad_input') return parsed;
      const { newEmail } = parsed.value;
      const refusal = await verifyPassword(me, input.password, caller);
      if (refusal !== null) return refusal;
      const wait = await throttle.take(`mail:${me.email}`, { attempts: 5, windowS: 3_600 });
      if (wait !== null) return throttled(wait);
      await ask(() => auth.api.changeEmail({ ...asking(caller), body: { newEmail } }));
      return done();
    },

    async beginSecondFactor(me, input, caller) {
      const given = input.password === '' ? {} : { password: input.password };
      const parsed = parseInput(z.object({ password: givenPassword.optional() }), given);
      const refusal = parsed.kind === 'bad_input' ? parsed : await mayAsk(me);
      return refusal ?? beginTotp(auth, given, caller);
    },

    async confirmSecondFactor(me, input, caller) {
      const refusal = await mayAsk(me);
      if (refusal !== null) return refusal;
      const answer = await verifyCode(me, input.code, caller);
      if (answer.kind !== 'answered') return answer;
      // Earlier sessions, in any browser, were opened without a code.
      const kept = tokenIn(answer.setCookies, names.session);
      await prisma.session.deleteMany({
        where: { userId: me.userId, ...(kept === null ? {} : { token: { not: sessionDigest(kept) } }) },
      });
      return done(answer.setCookies);
    },

    async disableSecondFactor(me, input, caller) {
      const refusal = await verifyPassword(me, input.password, caller);
      if (refusal !== null) return refusal;
      const code = await verifyCode(me, input.code, caller);
      if (code.kind !== 'answered') return code;
      const body = { password: input.password };
      const answer = await ask(() => auth.api.disableTwoFactor({ ...asking(caller), body }));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') return { kind: 'wrong' };
      mailer.post(securityMail(me.email, localeOf(me.locale), 'second_factor_off', resetLink));
      return done(answer.setCookies);
    },

    async renewBackupCodes(me, input, caller) {
      const parsed = parseInput(z.object({ password: givenPassword }), input);
      const refusal = parsed.kind === 'bad_input' ? parsed : await mayAsk(me);
      if (refusal !== null) return refusal;
      const body = { password: input.password };
      const answer = await ask(() => auth.api.generateBackupCodes({ ...asking(caller), body }));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') return { kind: 'wrong' };
      return { kind: 'codes', backupCodes: answer.response.backupCodes };
    },

    ...createSessionList(prisma),
  };
}

/** Name and language. */
function createProfile(prisma: IdentityParts['prisma']): Pick<Settings, 'updateProfile'> {
  return {
    async updateProfile(me, input) {
      // An unknown language is refused, not replaced.
      const language = z.string().pipe(z.enum(['en', 'vi'], 'The language is en or vi.'));
      const parsed = parseInput(z.object({ name: shownName, locale: language }), {
        name: input.name ?? me.name,
        locale: input.locale ?? localeOf(me.locale),
      });
      if (parsed.kind === 'bad_input') return parsed;
      await prisma.user.update({ where: { id: me.userId }, data: parsed.value });
      return done();
    },
  };
}

/** The browsers in which a person is signed in. */
function createSessionList(
  prisma: IdentityParts['prisma'],
): Pick<Settings, 'listSessions' | 'revokeSession' | 'revokeOtherSessions'> {
  return {
    async listSessions(me) {
      const sessions = await prisma.session.findMany({
        where: { userId: me.userId, expiresAt: { gt: new Date() } },
        orderBy: { updatedAt: 'desc' },
        take: 100,
      });
      return sessions.map(({ id, userId, createdAt, updatedAt, expiresAt, ipAddress, userAgent }) => ({
        id,
        userId,
        createdAt,
        lastUsedAt: updatedAt,
        expiresAt,
        ipAddress,
        userAgent,
        current: id === me.sessionId,
      }));
    },

    async revokeSession(me, sessionId) {
      const { count } = await prisma.session.deleteMany({ where: { id: sessionId, userId: me.userId } });
      return count > 0;
    },

    async revokeOtherSessions(me) {
      const { count } = await prisma.session.deleteMany({ where: { userId: me.userId, id: { not: me.sessionId } } });
      return count;
    },
  };
}

/** The authenticator app's secret, once better-auth has checked the password, if there is one. */
async function beginTotp(
  auth: IdentityParts['auth'],
  given: { password?: string },
  caller: Caller,
): ReturnType<Settings['beginSecondFactor']> {
  const body = { ...given, method: 'totp' as const };
  const answer = await ask(() => auth.api.enableTwoFactor({ ...asking(caller), body }));
  if (answer.kind === 'busy') return answer;
  if (answer.kind === 'refused') return { kind: answer.code === 'TOTP_ALREADY_ENABLED' ? 'already_on' : 'wrong' };
  const { response } = answer;
  if (!('totpURI' in response)) return { kind: 'wrong' };
  return { kind: 'secret', uri: response.totpURI, backupCodes: response.backupCodes };
}
