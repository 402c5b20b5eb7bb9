/** Passkeys (WebAuthn), through better-auth's plugin: adding, naming and removing them, and signing in with one. */

import { isIP } from 'node:net';
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { z } from 'zod';
import { type Caller, cookieValue, tokenIn, tokenOf, withoutCookie } from '../caller.ts';
import { ask, asking, type IdentityParts } from '../identity.ts';
import { parseInput, shownName } from '../input.ts';
import { localeOf, securityMail } from '../mails.ts';
import {
  type AttemptRefusal,
  type BadToken,
  type Done,
  done,
  throttled,
  type Wrong,
  type WrongCode,
} from '../outcomes.ts';
import type { UserPrincipal } from '../principal.ts';
import { cookieNames, sharedOptions } from './auth.ts';
import { createProof, type StaleSignIn } from './proof.ts';
import { sessionDigest } from './session-tokens.ts';
import { networkOf } from './throttle.ts';

/** A passkey as its owner sees it. */
export interface PasskeyView {
  id: string;
  userId: string;
  name: string | null;
  /** Whether a password manager keeps copies of it, so that it outlives the device. */
  backedUp: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** What a browser needs to make or use a passkey: the JSON form of WebAuthn's options. */
export interface PasskeyOptions {
  kind: 'options';
  json: string;
  setCookies: string[];
}

/** The service's address is none that browsers make passkeys for, or its operator has people sign in elsewhere. */
export interface PasskeysOff {
  kind: 'passkeys_off';
}

export interface Passkeys {
  /** Whether people can sign in with passkeys here. */
  passkeySignIn: boolean;
  beginPasskeySignIn(caller: Caller): Promise<PasskeyOptions | PasskeysOff | AttemptRefusal>;
  /** `credential`: the browser's answer as JSON. A device that did not verify its user is refused. */
  signInWithPasskey(
    input: { credential: string },
    caller: Caller,
  ): Promise<Done | Wrong | PasskeysOff | AttemptRefusal>;
  /**
   * Asks for the password, or a fresh sign-in of people who have none, and for a one-time code where those are on: with a
   * passkey nothing else is asked for, so that a stolen session must not suffice to add one.
   */
  beginPasskey(
    me: UserPrincipal,
    input: { password: string; code: string },
    caller: Caller,
  ): Promise<PasskeyOptions | PasskeysOff | TooManyPasskeys | Wrong | WrongCode | StaleSignIn | AttemptRefusal>;
  addPasskey(
    me: UserPrincipal,
    input: { name: string; credential: string },
    caller: Caller,
  ): Promise<{ kind: 'added'; passkey: PasskeyView } | BadToken | PasskeysOff | AttemptRefusal>;
  listPasskeys(me: UserPrincipal): Promise<PasskeyView[]>;
  /** Null: the person has no such passkey. */
  renamePasskey(me: UserPrincipal, input: { id: string; name: string }): Promise<PasskeyView | AttemptRefusal | null>;
  /** Ends the other sessions that it opened. Null: the person has no such passkey. */
  removePasskey(
    me: UserPrincipal,
    input: { id: string; password: string },
    caller: Caller,
  ): Promise<Done | Wrong | StaleSignIn | AttemptRefusal | null>;
}

/** More of them than anybody's devices are a mistake, or an attack. */
interface TooManyPasskeys {
  kind: 'too_many';
}
const maxPasskeys = 20;

const perNetwork = { attempts: 60, windowS: 60 };
/** Of one person, from all networks together: each sign-in is a session, and from new browsers a notice. */
const perPerson = { attempts: 10, windowS: 60 };
/** An answer without attestation has about a kilobyte. */
const maxCredentialLength = 16_384;

const base64url = z
  .string()
  .max(8_192)
  .regex(/^[\w-]+$/);
const credentialBase = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  // Extensions are not used.
  clientExtensionResults: z.unknown().transform(() => ({})),
};
const registration = z.object({
  ...credentialBase,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .optional(),
  }),
});
const assertion = z.object({
  ...credentialBase,
  response: z.object({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url }),
});

type Arrive = (userId: string, caller: Caller, setCookies: string[]) => Promise<Done>;

export function createPasskeys(
  parts: IdentityParts & { secretKey: Buffer; arrive: Arrive; passwordSignIn: boolean },
): Passkeys {
  const { prisma, throttle, publicUrl, mailer, arrive } = parts;
  const { mayAsk, passwordOrFreshSignIn, verifyCode } = createProof(parts);
  const names = cookieNames(publicUrl);
  const securityPage = `${publicUrl}/security`;
  // A person whom the operator's provider no longer lets in must not come in past it.
  const isOn = parts.passwordSignIn && isDomain(new URL(publicUrl).hostname);
  // Made when it is first needed: most processes never verify a signature, and the plugin is large.
  let auth: Promise<PasskeyAuth> | null = null;
  const plugin = (): Promise<PasskeyAuth> => {
    auth ??= createPasskeyAuth(parts);
    return auth;
  };

  const mayTry = async (caller: Caller): Promise<PasskeysOff | AttemptRefusal | null> => {
    if (!isOn) return { kind: 'passkeys_off' };
    const wait = await throttle.take(`passkey:${networkOf(caller.ip)}`, perNetwork);
    return wait === null ? null : throttled(wait);
  };

  /** Whether the browser's cookie stands for a challenge of passkeys: those of one-time codes are signed alike. */
  const isChallenged = async (caller: Caller): Promise<boolean> => {
    const signed = cookieValue(caller.cookie, names.passkey);
    const identifier = signed === null ? null : tokenOf(signed);
    if (identifier === null) return false;
    const { internalAdapter } = await parts.auth.$context;
    const challenge = await internalAdapter.findVerificationValue(identifier);
    return challenge !== null && challengeIn(challenge.value);
  };

  return {
    passkeySignIn: isOn,

    async beginPasskeySignIn(caller) {
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      const { api } = await plugin();
      const { headers, response } = await api.generatePasskeyAuthenticationOptions(
        asking(withoutCookie(caller, names.session)),
      );
      // The plugin prefers the verification of the user; here it is required.
      const json = JSON.stringify({ ...response, userVerification: 'required' });
      return { kind: 'options', json, setCookies: headers.getSetCookie() };
    },

    async signInWithPasskey({ credential }, caller) {
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      const response = credentialIn(credential, assertion);
      if (response === null || isFramed(response.response.clientDataJSON) || !(await isChallenged(caller)))
        return { kind: 'wrong' };
      const owner = await prisma.passkey.findUnique({ where: { credentialID: response.id }, select: { userId: true } });
      if (owner === null) return { kind: 'wrong' };
      const { api } = await plugin();
      const answer = await ask(() =>
        api.verifyPasskeyAuthentication({ ...asking(withoutCookie(caller, names.session)), body: { response } }),
      );
      if (answer.kind === 'busy') return answer;
      const token = answer.kind === 'answered' ? tokenIn(answer.setCookies, names.session) : null;
      if (answer.kind === 'refused' || token === null) return { kind: 'wrong' };
      // Counted once the passkey is proven: its id is no secret, and strangers must not lock its owner out.
      const wait = await throttle.take(`passkey-sign-in:${owner.userId}`, perPerson);
      if (wait !== null) {
        await prisma.session.deleteMany({ where: { token: sessionDigest(token) } });
        return throttled(wait);
      }
      // Marked before its cookie leaves: it counts as a sign-in with two factors, and ends with the passkey.
      const passkey = await prisma.passkey.update({
        where: { credentialID: response.id },
        data: { lastUsedAt: new Date(), sessions: { connect: { token: sessionDigest(token) } } },
        select: { userId: true },
      });
      return arrive(passkey.userId, caller, answer.setCookies);
    },

    async beginPasskey(me, { password, code }, caller) {
      if (!isOn) return { kind: 'passkeys_off' };
      const refusal = await passwordOrFreshSignIn(me, password, caller);
      if (refusal !== null) return refusal;
      if (me.secondFactor) {
        const proven = await verifyCode(me, code, caller, { backup: true });
        if (proven.kind !== 'answered') return proven;
      }
      if ((await prisma.passkey.count({ where: { userId: me.userId } })) >= maxPasskeys) return { kind: 'too_many' };
      const { api } = await plugin();
      const answer = await ask(() => api.generatePasskeyRegistrationOptions(asking(caller)));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') return { kind: 'stale_sign_in' };
      return { kind: 'options', json: JSON.stringify(answer.response), setCookies: answer.setCookies };
    },

    async addPasskey(me, { name, credential }, caller) {
      if (!isOn) return { kind: 'passkeys_off' };
      const parsed = parseInput(z.object({ name: shownName }), { name });
      const refusal = parsed.kind === 'bad_input' ? parsed : await mayAsk(me);
      if (refusal !== null) return refusal;
      const response = credentialIn(credential, registration);
      if (response === null || isFramed(response.response.clientDataJSON) || !(await isChallenged(caller)))
        return { kind: 'bad_token' };
      const { api } = await plugin();
      const answer = await ask(() => api.verifyPasskeyRegistration({ ...asking(caller), body: { response, name } }));
      if (answer.kind === 'busy') return answer;
      if (answer.kind === 'refused') return { kind: 'bad_token' };
      mailer.post(securityMail(me.email, localeOf(me.locale), 'passkey_added', securityPage));
      const passkey = await prisma.passkey.findUniqueOrThrow({ where: { credentialID: response.id }, select: shown });
      return { kind: 'added', passkey };
    },

    ...createPasskeyList(parts, { passwordOrFreshSignIn, securityPage }),
  };
}

const shown = { id: true, userId: true, name: true, backedUp: true, createdAt: true, lastUsedAt: true } as const;

function createPasskeyList(
  { prisma, mailer }: IdentityParts,
  {
    passwordOrFreshSignIn,
    securityPage,
  }: Pick<ReturnType<typeof createProof>, 'passwordOrFreshSignIn'> & { securityPage: string },
): Pick<Passkeys, 'listPasskeys' | 'renamePasskey' | 'removePasskey'> {
  return {
    listPasskeys(me) {
      return prisma.passkey.findMany({ where: { userId: me.userId }, orderBy: { createdAt: 'asc' }, select: shown });
    },

    async renamePasskey(me, { id, name }) {
      const parsed = parseInput(z.object({ name: shownName }), { name });
      if (parsed.kind === 'bad_input') return parsed;
      const [renamed] = await prisma.passkey.updateManyAndReturn({
        where: { id, userId: me.userId },
        data: { name },
        select: shown,
      });
      return renamed ?? null;
    },

    async removePasskey(me, { id, password }, caller) {
      if ((await prisma.passkey.count({ where: { id, userId: me.userId } })) === 0) return null;
      const refusal = await passwordOrFreshSignIn(me, password, caller);
      if (refusal !== null) return refusal;
      const [, removed] = await prisma.$transaction([
        // This session goes on, without the rank that the passkey gave it.
        prisma.session.updateMany({
          where: { id: me.sessionId, userId: me.userId, passkeyId: id },
          data: { passkeyId: null },
        }),
        prisma.passkey.deleteMany({ where: { id, userId: me.userId } }),
      ]);
      if (removed.count === 0) return null;
      mailer.post(securityMail(me.email, localeOf(me.locale), 'passkey_removed', securityPage));
      return done();
    },
  };
}

/** Browsers make passkeys for domains, `localhost` among them, not for numeric addresses (WebAuthn, section 5.1.3). */
function isDomain(hostname: string): boolean {
  return isIP(hostname.replaceAll(/^\[|\]$/g, '')) === 0;
}

function credentialIn<S extends z.ZodType>(text: string, shape: S): z.output<S> | null {
  if (text.length > maxCredentialLength) return null;
  try {
    const parsed = shape.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

const clientData = z.object({ crossOrigin: z.literal(false).optional(), topOrigin: z.undefined().optional() });

/**
 * Whether the browser says that another site's page held ours in a frame when it asked (WebAuthn Level 3, section 5.8.1): ours are
 * never framed, and the person saw the other site.
 */
function isFramed(clientDataJSON: string): boolean {
  try {
    return !clientData.safeParse(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'))).success;
  } catch {
    return true;
  }
}

const storedChallenge = z.object({ type: z.string(), expectedChallenge: z.string() });

/** Whether a stored verification is a challenge in the plugin's form. */
function challengeIn(text: string): boolean {
  try {
    return storedChallenge.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

type PasskeyAuth = Awaited<ReturnType<typeof createPasskeyAuth>>;

/** better-auth for passkeys alone. Both ceremonies require that the device verifies its user: by finger, face or PIN. */
async function createPasskeyAuth(parts: Pick<IdentityParts, 'prisma' | 'publicUrl'> & { secretKey: Buffer }) {
  const { publicUrl } = parts;
  const { passkey } = await import('@better-auth/passkey');
  const refuse = (): never => {
    throw new APIError('UNAUTHORIZED', { code: 'USER_NOT_VERIFIED' });
  };
  const shared = sharedOptions(parts);
  return betterAuth({
    ...shared,
    basePath: '/passkeys-are-not-mounted',
    plugins: [
      passkey({
        rpName: 'Steyg',
        rpID: new URL(publicUrl).hostname,
        origin: new URL(publicUrl).origin,
        // Kept by the authenticator with the account's name: nothing has to be typed to sign in.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: {
          afterVerification: ({ verification }) => {
            if (verification.registrationInfo?.userVerified !== true) refuse();
          },
        },
        authentication: {
          afterVerification: ({ verification }) => {
            if (!verification.authenticationInfo.userVerified) refuse();
          },
        },
        advanced: { webAuthnChallengeCookie: challengeCookie },
      }),
    ],
    advanced: {
      ...shared.advanced,
      cookies: {
        ...shared.advanced.cookies,
        [challengeCookie]: {
          name: cookieNames(publicUrl).passkey,
          attributes: shared.advanced.defaultCookieAttributes,
        },
      },
    },
  });
}

const challengeCookie = 'passkey';
