import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';

/** Keyed digests of clients' identifiers; without the secret they cannot be guessed. `scope` separates their uses. */
export function createDigest(secretKey: Buffer): (scope: string, text: string) => string {
  // As an object: bytes would be made one for each digest.
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg digest', 32)));
  return (scope, text) => createHmac('sha256', key).update(scope).update('\0').update(text).digest('base64url');
}
