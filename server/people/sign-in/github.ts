/**
 * GitHub, which speaks OAuth 2.0 without OpenID: the person is read from its API.
 *
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * https://docs.github.com/en/rest/users/users#get-the-authenticated-user
 * https://docs.github.com/en/rest/users/emails#list-email-addresses-for-the-authenticated-user
 */

import * as oauth from 'oauth4webapi';
import { examineClient } from './examination.ts';
import {
  boundedFetch,
  confirmedAddress,
  nameIn,
  type Provider,
  underDeadline,
  type Vouched,
  validated,
} from './vouching.ts';

const server = {
  issuer: 'https://github.com',
  authorization_endpoint: 'https://github.com/login/oauth/authorize',
  token_endpoint: 'https://github.com/login/oauth/access_token',
} as const satisfies oauth.AuthorizationServer;
const api = 'https://api.github.com';

export function createGithub(options: { clientId: string; clientSecret: string; redirectUri: string }): Provider {
  const { clientId, clientSecret, redirectUri } = options;
  const client: oauth.Client = { client_id: clientId };

  return {
    id: 'github',
    name: 'GitHub',

    begin: ({ state, codeVerifier }) =>
      underDeadline(async () => {
        const there = new URL(server.authorization_endpoint);
        const asked = {
          client_id: clientId,
          redirect_uri: redirectUri,
          response_type: 'code',
          scope: 'read:user user:email',
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        };
        for (const [member, value] of Object.entries(asked)) there.searchParams.set(member, value);
        return { kind: 'redirect', location: there.href };
      }),

    finish: (answer, { state, codeVerifier }) =>
      underDeadline(async (signal) => {
        // The address that it comes back to is GitHub's alone, so an issuer adds nothing (RFC 9700, section 4.4.2).
        const parameters = new URLSearchParams(answer);
        parameters.delete('iss');
        const checked = validated(server, client, parameters, state);
        if (checked === null) return { kind: 'declined' };
        const requests = { signal, [oauth.customFetch]: boundedFetch };
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          oauth.ClientSecretPost(clientSecret),
          checked,
          redirectUri,
          codeVerifier,
          requests,
        );
        const { access_token: token } = await oauth.processGenericTokenEndpointResponse(server, client, response);
        const read = (path: string) =>
          oauth.protectedResourceRequest(
            token,
            'GET',
            new URL(path, api),
            new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'steyg' }),
            null,
            requests,
          );
        const [person, addresses] = await Promise.all([
          jsonOf(await read('/user')),
          jsonOf(await read('/user/emails')),
        ]);
        const vouched = vouchedIn(person, addresses);
        return vouched === null ? { kind: 'refused', reason: 'NOT_OUR_SUBJECT' } : { kind: 'vouched', vouched };
      }),

    examine: () =>
      examineClient({
        describe: async () => server,
        clientId,
        clientSecret,
        redirectUri,
        authenticate: (_server, secret) => oauth.ClientSecretPost(secret),
        allowHttp: false,
      }),
  };
}

async function jsonOf(response: Response): Promise<unknown> {
  return response.status === 200 ? response.json() : null;
}

/** `id` is a number that GitHub never gives twice; a login can be given to another person. */
function vouchedIn(person: unknown, addresses: unknown): Vouched | null {
  const { id, name } = membersOf(person);
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) return null;
  const primary = (Array.isArray(addresses) ? addresses : []).map(membersOf).find((each) => each['primary'] === true);
  const email = primary === undefined ? null : confirmedAddress({ ...primary, email_verified: primary['verified'] });
  return { issuer: server.issuer, subject: String(id), email, name: nameIn(name) };
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
