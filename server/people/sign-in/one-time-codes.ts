/** One-time codes of an authenticator: each is used once, and guesses are throttled per person. */

import type { Throttle } from './throttle.ts';

/**
 * An authenticator's code is valid for a minute and a half (its own half minute, and one on either side), and a used
 * code must not be valid again: an onlooker could use it in that time. Only its digest is kept, for longer than the
 * code is valid.
 */
const rememberedS = 120;

/** Marks a person's code as used. False when it was used before; of any number of concurrent uses, one gets true. */
export async function useCode(throttle: Throttle, userId: string, code: string): Promise<boolean> {
  return (await throttle.take(`used-code:${userId}:${code}`, { attempts: 1, windowS: rememberedS })) === null;
}

/**
 * Wrong codes of one person, from all networks together: a few at once, then one after a pause that doubles up to an hour,
 * about 40 in the first day and 24 in each further one. Three codes of a million are right at a moment (NIST SP 800-63B
 * allows 100 failures in a row).
 */
export const codeGuessing = { free: 5, maxS: 3_600 };
