/**
 * An OpenID provider that says whatever a test tells it: every claim of the ID token and of userinfo, their signature,
 * whether there is an ID token at all, what its description says, and which of its addresses never answer.
 */

import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const client = { clientId: 'steyg', clientSecret: 'a secret of the client' };

/** What the provider says at the next exchange. A member that is `undefined` is left out. */
export interface Lies {
  idToken: Record<string, unknown>;
  /** Null: the token endpoint gives no ID token. */
  withIdToken: boolean;
  userinfo: Record<string, unknown>;
  /** Members of `/.well-known/openid-configuration` that replace the true ones. */
  description: Record<string, unknown>;
  /** Signed with a key that the issuer does not publish, or not at all. */
  signature: 'right' | 'foreign' | 'none';
  /** Paths whose requests are never answered. */
  silent: Set<string>;
  /** Query members of the answer of the authorization endpoint, besides code and state. */
  answer: Record<string, string>;
}

export interface LyingProvider {
  issuer: string;
  lies: Lies;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** The person agrees; returns the address that the browser is sent back to. */
  consent(there: string): string;
  /** Tells the truth again. */
  honest(): void;
  close(): Promise<void>;
}

const b64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startLyingProvider(): Promise<LyingProvider> {
  const pair = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const [own, foreign] = [pair(), pair()];
  const asked: string[] = [];
  const nonces = new Map<string, string>();
  const lies = { silent: new Set<string>() } as Lies;
  let issuer = '';

  const idToken = (nonce: string | undefined): string => {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: client.clientId, iat: nowS, exp: nowS + 300, nonce, ...lies.idToken };
    const head = { alg: lies.signature === 'none' ? 'none' : 'RS256', kid: 'key-1', typ: 'JWT' };
    const signed = `${b64(head)}.${b64(claims)}`;
    if (lies.signature === 'none') return `${signed}.`;
    const { privateKey } = lies.signature === 'foreign' ? foreign : own;
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey).toString('base64url')}`;
  };

  const answers: Record<string, (body: string) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/userinfo`,
      id_token_signing_alg_values_supported: ['RS256'],
      ...lies.description,
    }),
    '/keys': () => ({
      keys: [{ ...own.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'key-1' }],
    }),
    '/token': (body) => ({
      access_token: 'access',
      token_type: 'Bearer',
      ...(lies.withIdToken ? { id_token: idToken(nonces.get(new URLSearchParams(body).get('code') ?? '')) } : {}),
    }),
    '/userinfo': () => lies.userinfo,
  };

  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', issuer).pathname;
    asked.push(path);
    let body = '';
    for await (const part of request) body += String(part);
    if (lies.silent.has(path)) return;
    const answer = answers[path];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer?.(body) ?? {}));
  };
  const server = createServer((request, response) => void reply(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const honest = (): void => {
    Object.assign(lies, {
      idToken: {},
      withIdToken: true,
      userinfo: {},
      description: {},
      signature: 'right',
      answer: {},
    });
    lies.silent.clear();
    asked.length = 0;
  };
  honest();

  return {
    issuer,
    lies,
    asked,
    honest,
    consent(there) {
      const wanted = new URL(there).searchParams;
      const code = randomBytes(8).toString('hex');
      nonces.set(code, wanted.get('nonce') ?? '');
      const back = new URL(wanted.get('redirect_uri') ?? '');
      const members = { code, state: wanted.get('state') ?? '', ...lies.answer };
      for (const [member, value] of Object.entries(members)) back.searchParams.set(member, value);
      return back.href;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
