import type { PicoUsd } from '../core/money.ts';
import { cost, dearestWithin, type TieredPrices, unitCost, unitLines } from '../core/price.ts';
import { noTokens, type ReportedUsage } from '../core/tokens.ts';
import type { TokenBounds } from './bound.ts';
import { estimateOutput } from './estimate.ts';

/**
 * What is still unknown of a request's cost when its client leaves, and how long it is worth while to wait for the usage. Leaving
 * costs what staying costs: an exchange is ended at once only where its cost is known. An answer that is read on costs money
 * itself, so the wait ends when that comes to as much as the wait can tell; what is charged then is never more than the
 * vendor can have charged for what had been generated when the client left.
 */
export interface Leaving {
  /** The wait is as long as an answer may take, whatever is unknown. */
  readonly isPatient: boolean;
  /** The most that the vendor's bill can differ from what is known by now, pico-USD. Null: an answer that is not streamed. */
  unknown(account: ReportedUsage | null): PicoUsd;
  /** Cost of the answer so far, pico-USD. */
  answer(account: ReportedUsage): PicoUsd;
}

export interface LeavingParts {
  prices: TieredPrices;
  /** The request's bound on its prompt, all runs together. */
  promptBound: number;
  /** The most that the prompt and the pieces can cost, pico-USD. */
  contextBound: PicoUsd;
  /** How often the model may read its context: what is reported first is not all when it does so again. */
  contextRuns: number;
  bounds: TokenBounds;
  /** Images: nothing that a stream shows of one tells what it costs, so that its usage is waited for as for a whole answer. */
  isImage: boolean;
}

/** Less than this is not waited for, pico-USD: a tenth of a cent. */
export const worthWaiting: PicoUsd = 1_000_000_000n;
/** For more than this the wait is as long as an answer may take: ten cents. */
export const worthPatience: PicoUsd = 100_000_000_000n;

export function createLeaving({
  prices,
  promptBound,
  contextBound,
  contextRuns,
  bounds,
  isImage,
}: LeavingParts): Leaving {
  const dearest = dearestWithin(prices, promptBound);
  const pieces = unitCost(unitLines({ image: bounds.images, minute: bounds.minutes }, prices.perUnit));
  return {
    isPatient: isImage,
    unknown(account) {
      if (account === null || (isImage && (account.usage === null || account.partial)))
        return contextBound + BigInt(bounds.output) * dearest.output;
      const { usage } = account;
      if (usage !== null && !account.partial) return 0n;
      if (usage === null) return contextBound;
      if (contextRuns === 1) return pieces;
      const known = cost({ ...usage, output: 0 }, dearest);
      return contextBound > known ? contextBound - known : 0n;
    },
    answer: (account) =>
      cost({ ...noTokens, output: Math.max(estimateOutput(account), account.usage?.output ?? 0) }, dearest),
  };
}
