import { z } from 'zod';
import { type Caller, tokenIn } from './caller.ts';
import { ask, asking, type IdentityParts } from './identity.ts';
import { address, chosenPassword, givenPassword, parseInput, shownName } from './input.ts';
import { localeOf, securityMail } from './mails.ts';
import { type AttemptRefusal, type Done, done, throttled, type Wrong, type WrongCode } from './outcomes.ts';
import type { UserPrincipal } from './principal.ts';
import { cookieNames } from './sign-in/auth.ts';
import { personalTexts } from './sign-in/passwords.ts';
import { createProof, type Proof, type StaleSignIn } from './sign-in/proof.ts';
import { sessionDigest } from './sign-in/session-tokens.ts';

/** A session as its owner sees it. */
export interface SessionView {
  id: string;
  userId: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
  /** Whether a passkey opened it. */
  passkey: boolean;
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
  /**
   * People without a password, because they sign in with a provider, need a fresh sign-in instead: a stolen session must
   * not suffice to lock its owner out.
   */
  beginSecondFactor(
    me: UserPrincipal,
    input: { password: string },
    caller: Caller,
  ): Promise<SecondFactorSecret | Wrong | StaleSignIn | AttemptRefusal | { kind: 'already_on' }>;
  confirmSecondFactor(
    me: UserPrincipal,
    input: { code: string },
    caller: Caller,
  ): Promise<Done | WrongCode | AttemptRefusal>;
  /** `code`: of the app, or a backup code. People without a password need a fresh sign-in besides. */
  disableSecondFactor(
    me: UserPrincipal,
    input: { password: string; code: string },
    caller: Caller,
  ): Promise<Done | Wrong | WrongCode | StaleSignIn | AttemptRefusal>;
  renewBackupCodes(
    me: UserPrincipal,
    input: { password: string },
    caller: Caller,
  ): Promise<{ kind: 'codes'; backupCodes: string[] } | Wrong | StaleSignIn | AttemptRefusal>;
  prove: Proof['prove'];
  /** Null: the session began with a sign-in a few minutes ago. */
  freshSignIn: Proof['freshSignIn'];
  listSessions(me: UserPrincipal): Promise<SessionView[]>;
  /** False when the person has no such session. */
  revokeSession(me: UserPrincipal, sessionId: string): Promise<boolean>;
  /** Ends every session but this one; returns how many. */
  revokeOtherSessions(me: UserPrincipal): Promise<number>;
}

export function createSettings(parts: IdentityParts): Settings {
  const { prisma, auth, throttle, mailer } = parts;
  const { mayAsk, hasPassword, freshSignIn, verifyPassword, verifyCode, passwordOrFreshSignIn, prove } =
    createProof(parts);
  const names = cookieNames(parts.publicUrl);
  const resetLink = `${parts.publicUrl}/forgot-password`;

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
      const parsed = parseInput(z.object({ password: givenPassword }), input);
      const refusal = parsed.kind === 'bad_input' ? parsed : await mayAsk(me);
      if (refusal !== null) return refusal;
      if (await hasPassword(me)) return beginTotp(auth, { password: input.password }, caller);
      return (await freshSignIn(me)) ?? beginTotp(auth, {}, caller);
    },

    async confirmSecondFactor(me, input, caller) {
      const refusal = await mayAsk(me);
      if (refusal !== null) return refusal;
      const answer = await verifyCode(me, input.code, caller, { backup: false });
      if (answer.kind !== 'answered') return answer;
      // Earlier sessions, in any browser, were opened without a code.
      const kept = tokenIn(answer.setCookies, names.session);
      await prisma.session.deleteMany({
        where: { userId: me.userId, ...(kept === null ? {} : { token: { not: sessionDigest(kept) } }) },
      });
      if (!me.secondFactor) mailer.post(securityMail(me.email, localeOf(me.locale), 'second_factor_on', resetLink));
      return done(answer.setCookies);
    },

    async disableSecondFactor(me, input, caller) {
      const refusal = await passwordOrFreshSignIn(me, input.password, caller);
      if (refusal !== null) return refusal;
      const code = await verifyCode(me, input.code, caller, { backup: true });
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
      // better-auth asks people without a password for nothing.
      const stale = (await hasPassword(me)) ? null : await freshSignIn(me);
      if (stale !== null) return stale;
      const body = { password: input.password };
      const answer = await ask(() => auth.api.generateBackupCodes({ ...asking(caller), body }));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') return { kind: 'wrong' };
      return { kind: 'codes', backupCodes: answer.response.backupCodes };
    },

    prove,
    freshSignIn,

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
      return sessions.map(({ id, userId, createdAt, updatedAt, expiresAt, ipAddress, userAgent, passkeyId }) => ({
        id,
        userId,
        createdAt,
        lastUsedAt: updatedAt,
        expiresAt,
        ipAddress,
        userAgent,
        passkey: passkeyId !== null,
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
