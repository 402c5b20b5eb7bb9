import { type ClockedPrices, pricesAt } from '../core/price.ts';
import { pricesOfAllHours } from '../core/price-clock.ts';

/** What a sum of money means to people: steps of an agent. One step's tokens, as agents have been seen to use them. */
const step = { cacheHit: 150_000n, input: 30_000n, output: 4_000n };
const fiveUsd = 5_000_000_000_000n;

/**
 * How many illustrative agent steps 5 USD pay for, at the prices for a prompt of their length and of the dearest hours;
 * null when a step costs nothing. `isMarked`: the client marks its context, so that the new tokens are written to the five-minute cache.
 */
export function agentSteps(price: ClockedPrices, isMarked = false): number | null {
  const costs = pricesOfAllHours(price).map((prices) => {
    const { input, cacheHit, cacheWrite5m, output } = pricesAt(prices, Number(step.cacheHit + step.input));
    return step.cacheHit * cacheHit + step.input * (isMarked ? cacheWrite5m : input) + step.output * output;
  });
  const dearest = costs.reduce((a, b) => (a > b ? a : b));
  return dearest === 0n ? null : Number(fiveUsd / dearest);
}
