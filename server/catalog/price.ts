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
    input: priceText,
    cacheHit: priceText,
    cacheWrite5m: optionalPrice,
    cacheWrite1h: optionalPrice,
    output: priceText,
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
  input: priceText,
  cacheHit: priceText,
  cacheWrite5m: optionalPrice,
  cacheWrite1h: optionalPrice,
  output: priceText,
});
