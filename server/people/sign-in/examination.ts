/**
 * A client's id and secret, tried without a person: the provider is asked to exchange a code that it never gave. It has to
 * authenticate the client before it looks at the code (RFC 6749, sections 3.2.1 and 4.1.3), so it says `invalid_client` to a
 * stranger, and to its client that the code is wrong. Providers differ, so a second try, with a secret that is surely wrong,
 * shows whether this one tells the two apart.
 *
 * GitHub's words: https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
 */

import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { boundedFetch, type ClientFinding, newSecrets, underDeadline, validated } from './vouching.ts';

const refusalShape = z.object({ error: z.string() });
const strangers: readonly unknown[] = ['invalid_client', 'unauthorized_client', 'incorrect_client_credentials'];
const wrongCodes: readonly unknown[] = ['invalid_grant', 'bad_verification_code'];

export async function examineClient(options: {
  describe: (signal: AbortSignal) => Promise<oauth.AuthorizationServer>;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  authenticate: (server: oauth.AuthorizationServer, secret: string) => oauth.ClientAuth;
  allowHttp: boolean;
}): Promise<ClientFinding> {
  const { clientId, clientSecret, redirectUri, authenticate } = options;
  const described = await underDeadline(async (signal) => ({ kind: 'server', server: await options.describe(signal) }));
  if (described.kind === 'unreachable') return 'unreachable';
  if (!('server' in described)) return 'issuer_unknown';
  const { server } = described;
  const client: oauth.Client = { client_id: clientId };

  /** The provider's word for what is wrong with an exchange by this secret. */
  const wordTo = (secret: string) =>
    underDeadline(async (signal) => {
      const { state, nonce, codeVerifier } = newSecrets();
      const answer = new URLSearchParams({ code: nonce, state });
      if (server.authorization_response_iss_parameter_supported === true) answer.set('iss', server.issuer);
      const checked = validated(server, client, answer, state);
      if (checked === null) throw new Error('an answer of our own is a refusal');
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authenticate(server, secret),
        checked,
        redirectUri,
        codeVerifier,
        { signal, [oauth.customFetch]: boundedFetch, [oauth.allowInsecureRequests]: options.allowHttp },
      );
      const told = refusalShape.safeParse(await response.json());
      return { kind: 'told', error: told.data?.error };
    });

  const ours = await wordTo(clientSecret);
  if (ours.kind === 'unreachable') return 'unreachable';
  const word = 'error' in ours ? ours.error : undefined;
  if (strangers.includes(word)) return 'client_refused';
  if (word === 'redirect_uri_mismatch') return 'redirect_refused';
  if (!wrongCodes.includes(word)) return 'client_unproved';
  const another = await wordTo(`not ${clientSecret}`);
  return 'error' in another && strangers.includes(another.error) ? 'client_known' : 'client_unproved';
}
