import type { Throttle } from './throttle.ts';

/**
 * An authenticator's code is right for a minute and a half (its own half minute, and one on either side), and a code
 * that was used once must not be right again: whoever saw it being typed could use it in that time. Only a digest of it
 * is remembered, for longer than it is right.
 */
const rememberedS = 120;

/** Marks a person's code as used. False when it was used before; of any number of uses at once, one gets true. */
export async function useCode(throttle: Throttle, userId: string, code: string): Promise<boolean> {
  return (await throttle.take(`used-code:${userId}:${code}`, { attempts: 1, windowS: rememberedS })) === null;
}
