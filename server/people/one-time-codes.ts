/** One-time codes of an authenticator: each is used once, and guessing at them is slowed down per person. */

import type { Throttle } from './throttle.ts';

/**
 * An authenticator's code is right for a minute and a half (its own half minute, and one on either side), and a code
 * that was used once must not be right again: somebody who saw it being typed could use it in that time. Only a digest of it
 * is remembered, for longer than it is right.
 */
const rememberedS = 120;

/** Marks a person's code as used. False when it was used before; of any number of uses at once, one gets true. */
export async function useCode(throttle: Throttle, userId: string, code: string): Promise<boolean> {
  return (await throttle.take(`used-code:${userId}:${code}`, { attempts: 1, windowS: rememberedS })) === null;
}

/**
 * Wrong codes of one person, from all networks together: a few at once, then one after a pause that doubles up to an hour,
 * about 40 in the first day and 24 in each further one. Three codes of a million are right at a moment (NIST SP 800-63B
 * allows 100 failures in a row).
 */
export const codeGuessing = { free: 5, maxS: 3_600 };
