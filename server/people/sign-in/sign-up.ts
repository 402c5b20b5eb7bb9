/** Signing up, and confirming addresses by mail. */

import { createHmac, hkdfSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { describeError } from '../../runtime/http.ts';
import type { MailLog } from '../../runtime/mail.ts';
import { isSameSecret } from '../../shared/constant-time.ts';
import { personAddress } from '../address.ts';
import type { Caller } from '../caller.ts';
import { ask, asking, type IdentityParts } from '../identity.ts';
import { address, chosenPassword, parseInput, shownName } from '../input.ts';
import { alreadySignedUpMail, localeOf, newAddressMail, verificationMail } from '../mails.ts';
import { type AttemptRefusal, type BadToken, type Done, done, throttled } from '../outcomes.ts';
import type { AuthMails, MailedUser } from './auth.ts';
import { PasswordsBusyError, personalTexts } from './passwords.ts';
import { networkOf } from './throttle.ts';
import { takeAccountAlong } from './trials.ts';

export interface SignUpInput {
  email: string;
  password: string;
  name: string;
  locale?: string | null | undefined;
}

export interface SignUp {
  /** The outcome of any usable input is the same: the result goes to the mailbox alone. */
  signUp(input: SignUpInput, caller: Caller): Promise<Done | AttemptRefusal>;
  resendVerification(input: { email: string }, caller: Caller): Promise<Done | AttemptRefusal>;
  /**
   * Confirms the address of a sign-up, or one step of a change of address (which requires the session that started it).
   * The account with its trial is opened here.
   */
  verifyEmail(input: { token: string }, caller: Caller): Promise<Done | BadToken | AttemptRefusal>;
}

/** Sign-ups from one network: enough for a family or an office, not for a farm. */
const signUpsPerNetwork = { attempts: 20, windowS: 3_600 };
/** Mails to one address: the service must not flood a mailbox. */
const mailsPerAddress = { attempts: 5, windowS: 3_600 };
const mailRequestsPerNetwork = { attempts: 30, windowS: 3_600 };
const linksPerNetwork = { attempts: 60, windowS: 600 };

/** Longer than a sign-up takes, unless the password queue is full, which affects all sign-ups equally. */
const leastAnswerMs = 60;

export function createSignUp(parts: IdentityParts & { bindings: Bindings; log: MailLog }): SignUp {
  const { prisma, pool, auth, throttle, passwords, mailer, bindings, publicUrl, openAccount, log } = parts;

  /** Runs in the background: an answer must take as long for a known address as for an unknown one. */
  const inBackground = (work: () => Promise<unknown>): void => {
    void work().catch((error: unknown) => log.error(describeError(error), 'a mail about a sign-up could not be made'));
  };

  const sendVerification = (email: string): void =>
    inBackground(() => auth.api.sendVerificationEmail({ body: { email } }));

  /** The last password chosen before the confirmation counts; links sent for another one become invalid. */
  const chooseAgain = async (userId: string, password: string): Promise<void> => {
    const credential = await prisma.credential.findFirst({ where: { userId, providerId: 'credential' } });
    if (credential === null) return;
    if (credential.password !== null && (await passwords.verify({ hash: credential.password, password }))) return;
    const hash = await passwords.hash(password);
    // The address may have been confirmed meanwhile, by its owner: this person may be another one.
    await pool.query(
      `WITH unconfirmed AS (SELECT id FROM app_user WHERE id = $1 AND NOT email_verified FOR UPDATE)
       UPDATE user_credential c SET password = $3 FROM unconfirmed u WHERE c.id = $2 AND c.user_id = u.id`,
      [userId, credential.id, hash],
    );
  };

  return {
    async signUp(input, caller) {
      const personal = personalTexts({ email: personAddress(input.email) ?? '', name: input.name });
      const terms = z.object({ email: address, password: chosenPassword(personal), name: shownName });
      const parsed = parseInput(terms, input);
      if (parsed.kind === 'bad_input') return parsed;
      const { email } = parsed.value;
      const network = networkOf(caller.ip);
      const wait =
        (await throttle.take(`sign-up:${network}`, signUpsPerNetwork)) ??
        (await throttle.take(`mail:${email}`, mailsPerAddress));
      if (wait !== null) return throttled(wait);

      // Creating a person takes longer than finding one: the timing must not reveal which it was.
      const leaveTogether = delay(leastAnswerMs);
      const known = await prisma.user.findUnique({ where: { email } });
      try {
        if (known === null) {
          const { password, name } = input;
          const body = { email, password, name, locale: localeOf(input.locale) };
          const answer = await ask(() => auth.api.signUpEmail({ ...asking(caller), body }));
          if (answer.kind === 'busy') return answer;
          // Refused: a concurrent sign-up with the address succeeded. One of the two is enough.
          sendVerification(email);
        } else if (known.emailVerified) {
          // As much work as the other branches, so that timing reveals nothing.
          await passwords.hash(input.password);
          mailer.post(alreadySignedUpMail(email, localeOf(known.locale), `${publicUrl}/sign-in`));
        } else {
          await chooseAgain(known.id, input.password);
          sendVerification(email);
        }
      } catch (error) {
        if (error instanceof PasswordsBusyError) return { kind: 'busy' };
        throw error;
      }
      await leaveTogether;
      return done();
    },

    async resendVerification(input, caller) {
      const parsed = parseInput(z.object({ email: address }), input);
      if (parsed.kind === 'bad_input') return parsed;
      const { email } = parsed.value;
      const wait =
        (await throttle.take(`mail-request:${networkOf(caller.ip)}`, mailRequestsPerNetwork)) ??
        (await throttle.take(`mail:${email}`, mailsPerAddress));
      if (wait !== null) return throttled(wait);
      sendVerification(email);
      return done();
    },

    async verifyEmail(input, caller) {
      const wait = await throttle.take(`link:${networkOf(caller.ip)}`, linksPerNetwork);
      if (wait !== null) return throttled(wait);
      const link = bindings.open(input.token);
      if (link === null) return { kind: 'bad_token' };

      if (link.claims.requestType !== undefined) {
        // A change of address. better-auth would sign in any holder of the link; here only the session that asked
        // counts.
        const session = await auth.api.getSession({ headers: asking(caller).headers });
        if (session?.user.email !== link.claims.email) return { kind: 'bad_token' };
        const changed = await ask(() => auth.api.verifyEmail({ ...asking(caller), query: { token: link.token } }));
        if (changed.kind !== 'answered') return { kind: 'bad_token' };
        const { email, updateTo, requestType } = link.claims;
        if (requestType === 'change-email-verification' && updateTo !== undefined) {
          await takeAccountAlong({ pool, userId: session.user.id, from: email, to: updateTo });
        }
        return done();
      }

      const user = await prisma.user.findUnique({
        where: { email: link.claims.email },
        include: { credentials: { where: { providerId: 'credential' } } },
      });
      const password = user?.credentials[0]?.password ?? null;
      if (user === null || !bindings.isFor(link, password ?? '')) return { kind: 'bad_token' };
      const answer = await ask(() => auth.api.verifyEmail({ ...asking(caller), query: { token: link.token } }));
      if (answer.kind !== 'answered') return { kind: 'bad_token' };
      // Another password may have been chosen between the two statements; the link confirms this one.
      await prisma.credential.updateMany({ where: { userId: user.id, providerId: 'credential' }, data: { password } });
      await openAccount({ userId: user.id, email: user.email, name: user.name, network: networkOf(caller.ip) });
      return done();
    },
  };
}

/** The content that better-auth signed into the link of a mail. */
interface LinkClaims {
  email: string;
  updateTo?: string | undefined;
  requestType?: string | undefined;
}

interface Link {
  token: string;
  claims: LinkClaims;
  binding: string;
}

/**
 * A link confirms exactly the password that was chosen with it. Otherwise an attacker could sign up with another
 * person's address, wait until the owner signs up too and confirms, and sign in with their own password.
 */
export interface Bindings {
  bind(token: string, passwordHash: string): string;
  /** Parses a link's token; better-auth checks its signature. Null when it is malformed. */
  open(text: string): Link | null;
  isFor(link: Link, passwordHash: string): boolean;
}

const maxLinkLength = 2_048;

export function createBindings({ secretKey }: { secretKey: Buffer }): Bindings {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg mail link', 32));
  const binding = (token: string, passwordHash: string): Buffer =>
    createHmac('sha256', key).update(`${token}\0${passwordHash}`).digest().subarray(0, 16);
  return {
    bind: (token, passwordHash) => `${token}.${binding(token, passwordHash).toString('base64url')}`,
    open(text) {
      if (text.length > maxLinkLength) return null;
      const parts = text.split('.');
      if (parts.length !== 4) return null;
      const claims = readClaims(parts[1] ?? '');
      return claims === null ? null : { token: parts.slice(0, 3).join('.'), claims, binding: parts[3] ?? '' };
    },
    isFor(link, passwordHash) {
      const given = Buffer.from(link.binding, 'base64url');
      const expected = binding(link.token, passwordHash);
      return isSameSecret(given, expected);
    },
  };
}

function readClaims(payload: string): LinkClaims | null {
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
    const { email, updateTo, requestType } = claims;
    if (typeof email !== 'string') return null;
    return {
      email,
      ...(typeof updateTo === 'string' ? { updateTo } : {}),
      ...(typeof requestType === 'string' ? { requestType } : {}),
    };
  } catch {
    return null;
  }
}

/** The mail that confirms an address: of a sign-up, or the second step of a change. */
export function createVerificationMails(
  parts: Pick<IdentityParts, 'prisma' | 'mailer' | 'publicUrl'> & { bindings: Bindings },
): AuthMails['verification'] {
  const { prisma, mailer, publicUrl, bindings } = parts;
  const link = (bound: string) => `${publicUrl}/verify-email?token=${encodeURIComponent(bound)}`;
  return async (user: MailedUser, token: string) => {
    const stored = await prisma.user.findUnique({
      where: { id: user.id },
      include: { credentials: { where: { providerId: 'credential' } } },
    });
    const locale = localeOf(stored?.locale);
    if (bindings.open(`${token}.`)?.claims.requestType !== undefined) {
      mailer.post(newAddressMail(user.email, locale, link(bindings.bind(token, ''))));
      return;
    }
    const hash = stored?.credentials[0]?.password ?? '';
    mailer.post(verificationMail(user.email, locale, link(bindings.bind(token, hash))));
  };
}
