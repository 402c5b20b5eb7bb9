import { createHmac } from 'node:crypto';
import { isSameSecret } from '../shared/constant-time.ts';

/**
 * Signs what the vendor signs (thinking, encrypted reasoning) and recognises its own signatures, so that a gateway
 * that alters a thinking block, or makes one up, gets the vendor's 400 and not a friendly answer.
 */
export interface Signatures {
  sign(text: string): string;
  isOwn(text: string, signature: string): boolean;
}

const PREFIX = 'sim1.';

/** Derived from the seed alone: a signature stays good across restarts, as a vendor's would. */
export function createSignatures({ seed }: { seed: number }): Signatures {
  const sign = (text: string): string =>
    PREFIX + createHmac('sha256', `simulator signature ${seed}`).update(text).digest('base64');
  return {
    sign,
    isOwn(text, signature) {
      const expected = Buffer.from(sign(text));
      const given = Buffer.from(signature);
      return isSameSecret(given, expected);
    },
  };
}
