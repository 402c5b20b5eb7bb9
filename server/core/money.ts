/**
 * Money is a whole number of pico-USD (1e-12 USD). The unit is chosen too small on purpose: a catalog price of P USD per
 * 1,000,000 tokens is exactly P x 1e6 pico-USD per token, so that a cost is tokens x price. Nothing is ever divided and
 * nothing is ever rounded.
 */
export type PicoUsd = bigint;

/** The largest amount that one column holds (BIGINT): 9.2 million USD. */
export const MAX_PICO: PicoUsd = 2n ** 63n - 1n;

/** The highest price of a catalog: 10,000 USD per 1,000,000 tokens. Keeps every product below 2^63. */
export const MAX_PRICE: PicoUsd = 10_000n * 1_000_000n;

const usdDecimals = 12;
const priceDecimals = 6;

/** Length of an amount's text; longer texts are refused before a pattern is matched. */
const maxTextLength = 32;

/**
 * Parses a decimal string in USD with at most 12 decimals to pico-USD. Null for everything else: signs, exponents,
 * blanks, bare points, more decimals, amounts above `MAX_PICO`.
 */
export function parseUsd(text: string): PicoUsd | null {
  const value = parseDecimal(text, usdDecimals);
  return value === null || value > MAX_PICO ? null : value;
}

/** The shortest decimal string of an amount. Differences (a margin) may be negative. */
export function formatUsd(amount: PicoUsd): string {
  return formatDecimal(amount, usdDecimals);
}

/** A price in USD per 1,000,000 tokens, with at most 6 decimals, as pico-USD per token. Null for everything else. */
export function parsePrice(text: string): PicoUsd | null {
  const value = parseDecimal(text, priceDecimals);
  return value === null || value > MAX_PRICE ? null : value;
}

/** Pico-USD per token as USD per 1,000,000 tokens. */
export function formatPrice(picoPerToken: PicoUsd): string {
  return formatDecimal(picoPerToken, priceDecimals);
}

function parseDecimal(text: string, decimals: number): bigint | null {
  if (text.length > maxTextLength) return null;
  const match = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = ''] = match;
  if (fraction.length > decimals) return null;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

function formatDecimal(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}
