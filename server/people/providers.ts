/** Signing in with an account elsewhere: Google, GitHub, or any OpenID provider, through better-auth. */

import { createHmac, randomBytes } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { genericOAuth } from 'better-auth/plugins';
import type { Pool } from 'pg';
import { transaction } from '../database/lane.ts';
import { personAddress } from './address.ts';
import { cookieNames, sharedOptions, signInSecret } from './auth.ts';
import { type Caller, headersOf, tokenIn } from './caller.ts';
import { asking, type IdentityParts } from './identity.ts';
import { type AttemptRefusal, type Done, throttled } from './outcomes.ts';
import { sessionDigest } from './session-tokens.ts';
import { networkOf } from './throttle.ts';

interface ClientSettings {
  clientId: string;
  clientSecret: string;
}

/** The providers that the operator set up. */
export interface ProviderSettings {
  google: ClientSettings | null;
  github: ClientSettings | null;
  /** `issuer`: its address, below which `/.well-known/openid-configuration` is. */
  oidc: (ClientSettings & { issuer: string; name: string }) | null;
}

export const noProviders: ProviderSettings = { google: null, github: null, oidc: null };

/** Where the browser is sent. */
export interface Redirect {
  kind: 'redirect';
  location: string;
  setCookies: string[];
}

export interface ProviderSignIn {
  providers: readonly { id: string; name: string }[];
  /** `next`: the page to open afterwards. Null: there is no such provider, or it cannot be reached. */
  startWith(input: { provider: string; next: string }, caller: Caller): Promise<Redirect | AttemptRefusal | null>;
  /** The provider sent the browser back. `query` is what it added to the address. */
  finishWith(input: { provider: string; query: string }, caller: Caller): Promise<Redirect | AttemptRefusal>;
}

/** Addresses below which the flow takes place; providers are told `{publicUrl}/sign-in/with/callback/{provider}`. */
export const providerPath = '/sign-in/with';

const perNetwork = { attempts: 60, windowS: 60 };
const challengeS = 600;

type Arrive = (userId: string, caller: Caller, setCookies: string[]) => Promise<Done>;

export function createProviderSignIn(
  parts: IdentityParts & { settings: ProviderSettings; secretKey: Buffer; arrive: Arrive },
): ProviderSignIn {
  const { prisma, throttle, publicUrl, settings, arrive } = parts;
  const names = cookieNames(publicUrl);
  const providers = [
    ...(settings.google === null ? [] : [{ id: 'google', name: 'Google' }]),
    ...(settings.github === null ? [] : [{ id: 'github', name: 'GitHub' }]),
    ...(settings.oidc === null ? [] : [{ id: 'oidc', name: settings.oidc.name }]),
  ];
  let auth: ReturnType<typeof createProviderAuth> | null = null;

  const mayTry = async (caller: Caller): Promise<AttemptRefusal | null> => {
    const wait = await throttle.take(`provider:${networkOf(caller.ip)}`, perNetwork);
    return wait === null ? null : throttled(wait);
  };

  return {
    providers,

    async startWith({ provider, next }, caller) {
      if (!providers.some(({ id }) => id === provider)) return null;
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      auth ??= createProviderAuth(parts);
      const body = {
        provider,
        callbackURL: `${publicUrl}${next}`,
        errorCallbackURL: `${publicUrl}/sign-in`,
        disableRedirect: true,
      };
      try {
        const { headers, response } = await auth.api.signInSocial({ ...asking(caller), body });
        const { url } = response;
        if (url === undefined) return null;
        return { kind: 'redirect', location: url, setCookies: headers.getSetCookie() };
      } catch (error) {
        if (!(error instanceof APIError)) throw error;
        // A provider whose description could not be read is asked again at the next attempt.
        auth = null;
        return null;
      }
    },

    async finishWith({ provider, query }, caller) {
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      auth ??= createProviderAuth(parts);
      const address = `${publicUrl}${providerPath}/callback/${encodeURIComponent(provider)}?${query}`;
      const answer = await auth.handler(new Request(address, { headers: headersOf(caller) }));
      const location = answer.headers.get('location') ?? `${publicUrl}/sign-in?error=provider`;
      const setCookies = answer.headers.getSetCookie();
      const token = tokenIn(setCookies, names.session);
      if (token === null || token === '') return { kind: 'redirect', location, setCookies: [] };
      const session = await prisma.session.findUniqueOrThrow({
        where: { token: sessionDigest(token) },
        select: { id: true, user: { select: { id: true, twoFactorEnabled: true } } },
      });
      if (!session.user.twoFactorEnabled) {
        const done = await arrive(session.user.id, caller, setCookies);
        return { kind: 'redirect', location, setCookies: done.setCookies };
      }
      // The plugin asks for codes after passwords only. A thief of the account elsewhere must not get in without one.
      await prisma.session.delete({ where: { id: session.id } });
      const next = location.startsWith(`${publicUrl}/`) ? location.slice(publicUrl.length) : '/';
      return {
        kind: 'redirect',
        location: `${publicUrl}/sign-in?code=1&next=${encodeURIComponent(next)}`,
        setCookies: [await challenge(parts, names.secondFactor, session.user.id)],
      };
    },
  };
}

/** The cookie of a challenge, as better-auth's plugin makes it after a right password. */
async function challenge(
  { auth, publicUrl, secretKey }: IdentityParts & { secretKey: Buffer },
  name: string,
  userId: string,
): Promise<string> {
  const { internalAdapter } = await auth.$context;
  const identifier = `2fa-${randomBytes(18).toString('base64url')}`;
  const expiresAt = new Date(Date.now() + challengeS * 1_000);
  await internalAdapter.createVerificationValue({ value: userId, identifier, expiresAt });
  await internalAdapter.createVerificationValue({ value: '0', identifier: `2fa-attempts-${identifier}`, expiresAt });
  const signature = createHmac('sha256', signInSecret(secretKey)).update(identifier).digest('base64');
  return [
    `${name}=${encodeURIComponent(`${identifier}.${signature}`)}`,
    'Path=/',
    `Max-Age=${challengeS}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(publicUrl.startsWith('https://') ? ['Secure'] : []),
  ].join('; ');
}

/**
 * Before a provider's account is linked: somebody who was never confirmed may have signed up with the owner's address to
 * share what the owner does later ("account pre-hijacking", Sudhodanan and Paverd, USENIX Security 2022). The provider
 * has confirmed the address, so the owner keeps the person, without password, sessions and name of the other sign-up.
 * Does nothing where the address was confirmed before.
 */
function takeFromStranger(pool: Pool, userId: string): Promise<void> {
  return transaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE app_user SET email_verified = true, two_factor_enabled = false, name = split_part(email, '@', 1)
       WHERE id = $1 AND NOT email_verified`,
      [userId],
    );
    if (rowCount === 0) return;
    for (const table of ['user_credential', 'user_session', 'user_two_factor', 'user_passkey'])
      await client.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
  });
}

/** One spelling of an address, however a provider writes it: one person, one account, one trial. */
function mapped(profile: { email?: unknown }): { email: string } {
  return { email: personAddress(typeof profile.email === 'string' ? profile.email : '') ?? '' };
}

/**
 * better-auth for providers alone, made when it is first needed: it reads the provider's description then, and the
 * service starts without it. Only confirmed addresses open an account or lead to one that exists.
 */
function createProviderAuth(parts: IdentityParts & { settings: ProviderSettings; secretKey: Buffer }) {
  const { publicUrl, settings } = parts;
  const { google, github, oidc } = settings;
  const shared = sharedOptions(parts);
  return betterAuth({
    ...shared,
    basePath: providerPath,
    onAPIError: { errorURL: `${publicUrl}/sign-in` },
    account: {
      ...shared.account,
      updateAccountOnSignIn: false,
      accountLinking: { enabled: true, requireLocalEmailVerified: false },
    },
    socialProviders: {
      ...(google === null ? {} : { google: { ...google, mapProfileToUser: mapped } }),
      ...(github === null ? {} : { github: { ...github, mapProfileToUser: mapped } }),
    },
    databaseHooks: {
      user: {
        create: {
          // Otherwise an address that nobody proved would get a trial, and keep its owner out.
          before: async (user) => {
            if (!user.emailVerified) throw new APIError('FORBIDDEN', { code: 'email_not_verified' });
          },
        },
      },
      account: {
        // Tokens of the provider open the person's account there, and nothing here needs them.
        create: {
          before: async (account) => {
            await takeFromStranger(parts.pool, account.userId);
            return { data: { ...account, accessToken: null, refreshToken: null, idToken: null } };
          },
        },
      },
    },
    plugins: [
      genericOAuth({
        config:
          oidc === null
            ? []
            : [
                {
                  providerId: 'oidc',
                  discoveryUrl: `${oidc.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
                  requireIdTokenVerification: true,
                  clientId: oidc.clientId,
                  clientSecret: oidc.clientSecret,
                  scopes: ['openid', 'email', 'profile'],
                  pkce: true,
                  mapProfileToUser: mapped,
                },
              ],
      }),
    ],
  });
}
