import { z } from 'zod';
import { parsePrice } from '../core/money.ts';

/**
 * Validates prices: USD per 1,000,000 tokens, decimal text with at most 6 decimals, at most 10,000. Text avoids
 * rounding: such a price is a whole number of pico-USD per token, and a cost is exact.
 */
const sentence = 'must be USD per 1M tokens as text from "0" to "10000" with at most 6 decimals';

/** Text to pico-USD per token. */
const priceText = z.string(sentence).transform((text, context) => {
  const value = parsePrice(text);
  if (value !== null) return value;
  context.addIssue({ code: 'custom', message: sentence, input: text });
  return z.NEVER;
});

const optionalPrice = priceText.nullish().transform((price) => price ?? null);

/** Prices of a model. A cache hit is cheaper than new context; only a free model has both at zero. */
export const pricesInput = z
  .strictObject({
    input: priceText.describe('New context, USD per 1,000,000 tokens as text.'),
    cacheHit: priceText.describe('Context read from the cache. Lower than `input`, or both 0.'),
    cacheWrite5m: optionalPrice.describe('Context written to the five-minute cache. Left out: as `input`.'),
    cacheWrite1h: optionalPrice.describe('Context written to the one-hour cache. Left out: as `input`.'),
    output: priceText.describe('What the model writes, its reasoning included.'),
  })
  .refine(({ input, cacheHit }) => cacheHit < input || (cacheHit === 0n && input === 0n), {
    path: ['cacheHit'],
    error: 'must be lower than the input price (or both 0)',
    // The two are compared whenever both are valid prices, whatever else is wrong.
    when: ({ value }) => isPrice(value, 'input') && isPrice(value, 'cacheHit'),
  });

function isPrice(prices: unknown, name: 'input' | 'cacheHit'): boolean {
  return typeof prices === 'object' && prices !== null && typeof Reflect.get(prices, name) === 'bigint';
}

/** Costs of a route for the operator: the same members, but a cache hit may cost as much as input. */
export const costsInput = z.strictObject({
  input: priceText.describe('Cost of new context, USD per 1,000,000 tokens as text.'),
  cacheHit: priceText.describe('Cost of context read from the cache.'),
  cacheWrite5m: optionalPrice.describe('Cost of context written to the five-minute cache. Left out: as `input`.'),
  cacheWrite1h: optionalPrice.describe('Cost of context written to the one-hour cache. Left out: as `input`.'),
  output: priceText.describe('Cost of what the model writes.'),
});
