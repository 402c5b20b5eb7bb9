import type { IncomingHttpHeaders } from 'node:http';
import type { Keyring, Principal } from '../../keys/keyring.ts';
import { parseKey } from '../../keys/secret.ts';

/**
 * Resolves a credential to a Principal before the body is read. The checksum of a key rejects garbage without a query,
 * and a repeated wrong key (a tool that retries with a deleted key) is answered from a cache.
 */

/** `authorization` is the credential, else `x-api-key`. Neither is sent upstream. */
export function credentialOf(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (bearer !== undefined) return bearer;
    // `Bearer` without a token is a malformed credential, not an absent one.
    if (/^bearer\b/i.test(authorization)) return null;
  }
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

export interface Authenticator {
  /** Null: 401. May answer from the cache; the admission checks the database again. */
  authenticate(headers: IncomingHttpHeaders): Promise<Principal | null>;
  /** The same, never from the cache: for routes without an admission. */
  authenticateNow(headers: IncomingHttpHeaders): Promise<Principal | null>;
  /** Clears the cache of wrong keys; called when any key changes. */
  drop(): void;
}

const maxWrongKeys = 10_000;

export function createAuthenticator({ keyring }: { keyring: Keyring }): Authenticator {
  let wrong = new Set<string>();

  const find = async (headers: IncomingHttpHeaders, fresh: boolean): Promise<Principal | null> => {
    const credential = credentialOf(headers);
    const parsed = credential === null ? null : parseKey(credential);
    if (parsed === null) return null;
    const hash = parsed.hash.toString('base64');
    // A lookup that began before a drop writes to the set of that time: its key may have become valid since.
    const remembered = wrong;
    if (remembered.has(hash)) return null;
    const principal = fresh ? await keyring.findNow(parsed.hash) : await keyring.find(parsed.hash);
    if (principal === null) {
      if (remembered.size >= maxWrongKeys) remembered.clear();
      remembered.add(hash);
    }
    return principal;
  };

  return {
    authenticate: (headers) => find(headers, false),
    authenticateNow: (headers) => find(headers, true),
    drop() {
      wrong = new Set();
    },
  };
}
