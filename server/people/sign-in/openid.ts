/** A provider that speaks OpenID Connect: the code flow with PKCE, and an ID token whose signature is checked. */

import * as oauth from 'oauth4webapi';
import { examineClient } from './examination.ts';
import {
  boundedFetch,
  confirmedAddress,
  type FlowSecrets,
  nameIn,
  type Provider,
  subjectIn,
  underDeadline,
  type Vouched,
  validated,
} from './vouching.ts';

/** The description is read again after this time. */
const describedForMs = 3_600_000;

export function createOpenId(options: {
  id: 'google' | 'oidc';
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  /** For tests and first steps: addresses without TLS. Never in production. */
  allowHttp: boolean;
}): Provider {
  const { id, name, clientId, clientSecret, redirectUri, allowHttp } = options;
  const issuer = new URL(options.issuer.replace(/\/+$/, ''));
  const client: oauth.Client = { client_id: clientId };
  const keys: oauth.JWKSCacheInput = {};
  let described: { server: oauth.AuthorizationServer; atMs: number } | null = null;

  const requests = (signal: AbortSignal) => ({
    signal,
    [oauth.customFetch]: boundedFetch,
    [oauth.allowInsecureRequests]: allowHttp,
  });

  const describe = async (signal: AbortSignal): Promise<oauth.AuthorizationServer> => {
    if (described !== null && Date.now() - described.atMs < describedForMs) return described.server;
    const answer = await oauth.discoveryRequest(issuer, { ...requests(signal), algorithm: 'oidc' });
    const server = await oauth.processDiscoveryResponse(issuer, answer);
    described = { server, atMs: Date.now() };
    return server;
  };

  /** Of the same subject, as JSON: one that is signed would need another check. */
  const userInfo = async (
    server: oauth.AuthorizationServer,
    subject: string,
    accessToken: string,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> => {
    const response = await oauth.userInfoRequest(server, client, accessToken, requests(signal));
    if (/jwt/i.test(response.headers.get('content-type') ?? '')) return {};
    return oauth.processUserInfoResponse(server, client, subject, response);
  };

  const vouchedIn = async (
    server: oauth.AuthorizationServer,
    tokens: oauth.TokenEndpointResponse,
    signal: AbortSignal,
  ): Promise<Vouched | null> => {
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    const subject = subjectIn(claims?.sub);
    if (claims === undefined || subject === null) return null;
    // A token that was made for another party is not for us, even where we are its only audience (section 3.1.3.7).
    if (claims.azp !== undefined && claims.azp !== clientId) return null;
    // An address and its confirmation are taken from one place: the ID token, unless that has no address.
    const told =
      claims['email'] === undefined && server.userinfo_endpoint !== undefined
        ? await userInfo(server, subject, tokens.access_token, signal)
        : claims;
    return { issuer: server.issuer, subject, email: confirmedAddress(told), name: nameIn(told['name']) };
  };

  return {
    id,
    name,

    begin: ({ state, nonce, codeVerifier }) =>
      underDeadline(async (signal) => {
        const server = await describe(signal);
        if (server.authorization_endpoint === undefined)
          return { kind: 'refused', reason: 'NO_AUTHORIZATION_ENDPOINT' };
        const there = new URL(server.authorization_endpoint);
        if (there.protocol !== 'https:' && !(allowHttp && there.protocol === 'http:'))
          return { kind: 'refused', reason: 'AUTHORIZATION_ENDPOINT_WITHOUT_TLS' };
        const asked = {
          client_id: clientId,
          redirect_uri: redirectUri,
          response_type: 'code',
          scope: 'openid email profile',
          state,
          nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        };
        for (const [member, value] of Object.entries(asked)) there.searchParams.set(member, value);
        return { kind: 'redirect', location: there.href };
      }),

    finish: (answer: URLSearchParams, { state, nonce, codeVerifier }: FlowSecrets) =>
      underDeadline(async (signal) => {
        const server = await describe(signal);
        const checked = validated(server, client, answer, state);
        if (checked === null) return { kind: 'declined' };
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          clientAuthentication(server, clientSecret),
          checked,
          redirectUri,
          codeVerifier,
          requests(signal),
        );
        // Checks `iss`, `aud`, `azp`, `exp`, `iat` and `nonce`; then the signature, with a key of the issuer.
        const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        });
        await oauth.validateApplicationLevelSignature(server, response, {
          ...requests(signal),
          [oauth.jwksCache]: keys,
        });
        const vouched = await vouchedIn(server, tokens, signal);
        return vouched === null ? { kind: 'refused', reason: 'NOT_OUR_SUBJECT' } : { kind: 'vouched', vouched };
      }),

    examine: () =>
      examineClient({ describe, clientId, clientSecret, redirectUri, authenticate: clientAuthentication, allowHttp }),
  };
}

/** In the form where the provider takes it there; else as the standard's default says (RFC 8414, section 2). */
function clientAuthentication(server: oauth.AuthorizationServer, secret: string): oauth.ClientAuth {
  const ways = server.token_endpoint_auth_methods_supported;
  return ways?.includes('client_secret_post') === true
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);
}
