import { createHmac } from 'node:crypto';
import { isSameSecret } from '../shared/constant-time.ts';

/**
 * Signatures of thinking and encrypted reasoning. The simulator accepts only its own, so that a gateway that alters or
 * invents a thinking block gets the vendor's 400.
 */
export interface Signatures {
  sign(text: string): string;
  isOwn(text: string, signature: string): boolean;
}

const PREFIX = 'sim1.';

/** Derived from the seed alone: a signature stays valid across restarts, as a vendor's would. */
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
