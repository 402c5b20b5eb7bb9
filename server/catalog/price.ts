import { z } from 'zod';

/**
 * Prices as people write them: USD per 1,000,000 tokens, decimal text with at most 6 decimals, at most 10,000. Text, so
 * that nothing is rounded on the way: such a price is a whole number of pico-USD per token, and a cost is exact.
 */
const decimals = 6;
const dearest = 10_000n * 10n ** BigInt(decimals);
const pattern = /^(?:0|[1-9][0-9]{0,4})(?:\.[0-9]{1,6})?$/;
const sentence = 'must be USD per 1M tokens as text from "0" to "10000" with at most 6 decimals';

/** Pico-USD per token; null when the text is no price. */
export function parsePrice(text: string): bigint | null {
  if (!pattern.test(text)) return null;
  const [whole = '', fraction = ''] = text.split('.');
  const value = BigInt(whole + fraction.padEnd(decimals, '0'));
  return value > dearest ? null : value;
}

/** The shortest text of a price. */
export function formatPrice(picoPerToken: bigint): string {
  const digits = picoPerToken.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return digits.slice(0, -decimals) + (fraction === '' ? '' : `.${fraction}`);
}

/** Text to pico-USD per token. */
const priceText = z.string(sentence).transform((text, context) => {
  const value = parsePrice(text);
  if (value !== null) return value;
  context.addIssue({ code: 'custom', message: sentence, input: text });
  return z.NEVER;
});

/** The prices of a model, pico-USD per token. Null: writing to a cache costs the input price. */
export interface Prices {
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
  output: bigint;
}

const optionalPrice = priceText.nullish().transform((price) => price ?? null);

/** What is said of the prices of a model. A cache hit is cheaper than new context; only a free model has both at zero. */
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
    // Whatever is wrong beside them, these two are compared as soon as both are prices.
    when: ({ value }) => isPrice(value, 'input') && isPrice(value, 'cacheHit'),
  });

function isPrice(prices: unknown, name: 'input' | 'cacheHit'): boolean {
  return typeof prices === 'object' && prices !== null && typeof Reflect.get(prices, name) === 'bigint';
}

/** What a route costs the operator: the same members, of which a vendor may ask as much for a cache hit as for input. */
export const costsInput = z.strictObject({
  input: priceText,
  cacheHit: priceText,
  cacheWrite5m: optionalPrice,
  cacheWrite1h: optionalPrice,
  output: priceText,
});
