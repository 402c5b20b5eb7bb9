/**
 * Google and GitHub as their pages describe them, in place of `fetch`. All other addresses are reached as ever.
 *
 * https://developers.google.com/identity/openid-connect/openid-connect
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * https://docs.github.com/en/rest/users/emails
 */

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export type IdentityVendor = 'google' | 'github';

export const clients = {
  google: { clientId: 'steyg.apps.googleusercontent.com', clientSecret: 'secret of Google' },
  github: { clientId: 'Iv1.steyg', clientSecret: 'secret of GitHub' },
} as const;

/** The person who is signed in at the vendor. */
export interface VendorPerson {
  /** `sub` at Google, `id` at GitHub. */
  id: number;
  name: string;
  email: string;
  verified: boolean;
  /** GitHub: the address that the profile shows; null, which is the default there: none. */
  shown?: string | null;
  /** GitHub: further addresses. */
  others?: readonly { email: string; verified: boolean }[];
}

const pages: Record<IdentityVendor, string> = {
  google: 'https://accounts.google.com/o/oauth2/v2/auth',
  github: 'https://github.com/login/oauth/authorize',
};

interface Consent {
  vendor: IdentityVendor;
  person: VendorPerson;
  redirectUri: string;
  challenge: string | null;
  nonce: string | null;
}

export interface IdentityVendors {
  /** The person agrees on the vendor's page; returns the address that the browser is sent back to. */
  consent(there: string, person: VendorPerson): string;
  /** What was asked of the vendors' servers, as `POST https://…`. */
  readonly asked: string[];
  /** Puts `fetch` back. */
  restore(): void;
}

export function playIdentityVendors(): IdentityVendors {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const codes = new Map<string, Consent>();
  const tokens = new Map<string, VendorPerson>();
  const asked: string[] = [];
  const known = globalThis.fetch;

  function idToken({ id, name, email, verified }: VendorPerson, nonce: string | null): string {
    const nowS = Math.floor(Date.now() / 1_000);
    const { clientId } = clients.google;
    const claims = {
      iss: 'https://accounts.google.com',
      azp: clientId,
      aud: clientId,
      sub: String(id),
      email,
      email_verified: verified,
      name,
      nonce: nonce ?? undefined,
      iat: nowS,
      exp: nowS + 3_600,
    };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: 'key-1', typ: 'JWT' })}.${part(claims)}`;
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  /** Exchanges a code, which works once, for tokens. */
  async function exchange(vendor: IdentityVendor, request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const code = form.get('code') ?? '';
    const consent = codes.get(code);
    codes.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const isProved =
      consent?.challenge === null || createHash('sha256').update(verifier).digest('base64url') === consent?.challenge;
    const isClient =
      form.get('client_id') === clients[vendor].clientId && form.get('client_secret') === clients[vendor].clientSecret;
    // Before the code is looked at (RFC 6749, section 4.1.3).
    if (!isClient)
      return vendor === 'google'
        ? Response.json({ error: 'invalid_client', error_description: 'Unauthorized' }, { status: 401 })
        : Response.json({ error: 'incorrect_client_credentials' });
    if (consent?.vendor !== vendor || consent.redirectUri !== form.get('redirect_uri') || !isProved)
      // GitHub tells failures with status 200.
      return vendor === 'google'
        ? Response.json({ error: 'invalid_grant', error_description: 'Bad Request' }, { status: 400 })
        : Response.json({ error: 'bad_verification_code' });
    const accessToken = randomBytes(20).toString('hex');
    tokens.set(accessToken, consent.person);
    return vendor === 'google'
      ? Response.json({
          access_token: accessToken,
          expires_in: 3_599,
          scope:
            'openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/userinfo.profile',
          token_type: 'Bearer',
          id_token: idToken(consent.person, consent.nonce),
        })
      : Response.json({ access_token: accessToken, scope: 'read:user,user:email', token_type: 'bearer' });
  }

  function personOf(request: Request): VendorPerson | undefined {
    return tokens.get(/^bearer (\w+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '');
  }

  const withPerson = (request: Request, body: (person: VendorPerson) => unknown): Response => {
    const person = personOf(request);
    return person === undefined
      ? Response.json({ message: 'Bad credentials', status: '401' }, { status: 401 })
      : Response.json(body(person));
  };

  const answers: Record<string, (request: Request) => Response | Promise<Response>> = {
    'GET https://accounts.google.com/.well-known/openid-configuration': () =>
      Response.json({
        issuer: 'https://accounts.google.com',
        authorization_endpoint: pages.google,
        token_endpoint: 'https://oauth2.googleapis.com/token',
        userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
        jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
        code_challenge_methods_supported: ['plain', 'S256'],
      }),
    'POST https://oauth2.googleapis.com/token': (request) => exchange('google', request),
    'GET https://www.googleapis.com/oauth2/v3/certs': () =>
      Response.json({ keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'key-1' }] }),
    'POST https://github.com/login/oauth/access_token': (request) => exchange('github', request),
    'GET https://api.github.com/user': (request) =>
      withPerson(request, ({ id, name, shown = null }) => ({
        login: `person-${id}`,
        id,
        avatar_url: `https://avatars.githubusercontent.com/u/${id}`,
        type: 'User',
        name,
        email: shown,
      })),
    'GET https://api.github.com/user/emails': (request) =>
      withPerson(request, ({ email, verified, others = [] }) => [
        ...others.map((other) => ({ ...other, primary: false, visibility: null })),
        { email, verified, primary: true, visibility: 'private' },
      ]),
  };

  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { origin, pathname } = new URL(request.url);
    if (!/(?:^|\.)(?:google|googleapis|github)\.com$/.test(new URL(origin).hostname)) return known(input, init);
    const what = `${request.method} ${origin}${pathname}`;
    asked.push(what);
    const answer = answers[what];
    if (answer === undefined) throw new Error(`the vendors have no such address: ${what}`);
    return answer(request);
  };

  return {
    asked,
    consent(there, person) {
      const url = new URL(there);
      const vendor = (['google', 'github'] as const).find((each) => pages[each] === url.origin + url.pathname);
      const wanted = url.searchParams;
      const redirectUri = wanted.get('redirect_uri') ?? '';
      if (vendor === undefined) throw new Error(`no page of a vendor: ${there}`);
      if (wanted.get('client_id') !== clients[vendor].clientId || wanted.get('response_type') !== 'code')
        throw new Error(`the vendor would refuse this: ${there}`);
      const code = randomBytes(10).toString('hex');
      codes.set(code, {
        vendor,
        person,
        redirectUri,
        challenge: wanted.get('code_challenge'),
        nonce: wanted.get('nonce'),
      });
      const back = new URL(redirectUri);
      back.searchParams.set('code', code);
      back.searchParams.set('state', wanted.get('state') ?? '');
      return back.href;
    },
    restore() {
      globalThis.fetch = known;
    },
  };
}
