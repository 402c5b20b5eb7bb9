import type { LedgerEntry } from './generated/rest.ts';
import { formatPico, parseDecimal } from './internal/usd.ts';

/**
 * A charge can be recomputed from its ledger entry alone: five token counts, five frozen prices. Everything is whole
 * pico-USD (1e-12 USD): a price of P USD per 1,000,000 tokens is exactly P x 1e6 pico-USD per token, so nothing is
 * ever rounded.
 */

/** The part of a ledger entry that its cost follows from. Token counts may be strings, as the control plane has them. */
export interface Receipt {
  usage: Record<Pool, number | string | bigint>;
  prices: { input: string; cache_hit: string; cache_write_5m: string; cache_write_1h: string; output: string };
  cost_usd: string;
  charged_usd: string;
}

/** The five kinds of tokens that have a price. */
type Pool = `${'input' | 'cache_hit' | 'cache_write_5m' | 'cache_write_1h' | 'output'}_tokens`;

/** What a recomputation found. */
export interface ReceiptCheck {
  /** True when the cost is what tokens and prices make, and no more than it was charged. */
  matches: boolean;
  /** The recomputed cost, USD as a decimal string. */
  costUsd: string;
  /** The recomputed cost in whole pico-USD. */
  costPico: bigint;
  /** The entry's own cost in whole pico-USD. */
  statedPico: bigint;
  /** What each kind of token cost, in whole pico-USD. */
  parts: { input: bigint; cacheHit: bigint; cacheWrite5m: bigint; cacheWrite1h: bigint; output: bigint };
  /** What does not add up, as sentences; empty when all does. */
  problems: string[];
}

/**
 * Recomputes what a request cost, to the last pico-USD. Throws a `RangeError` on an amount or count that is none.
 *
 * @example
 * ```ts
 * const entry = await steyg.usage.entry(requestId);
 * const { matches, problems } = verifyReceipt(entry);
 * if (!matches) console.error(problems);
 * ```
 */
export function verifyReceipt(entry: Receipt | LedgerEntry): ReceiptCheck {
  const { usage, prices } = entry;
  const parts = {
    input: count(usage.input_tokens) * perToken(prices.input),
    cacheHit: count(usage.cache_hit_tokens) * perToken(prices.cache_hit),
    cacheWrite5m: count(usage.cache_write_5m_tokens) * perToken(prices.cache_write_5m),
    cacheWrite1h: count(usage.cache_write_1h_tokens) * perToken(prices.cache_write_1h),
    output: count(usage.output_tokens) * perToken(prices.output),
  };
  const costPico = Object.values(parts).reduce((sum, part) => sum + part, 0n);
  const statedPico = parseDecimal(entry.cost_usd, 12);
  const chargedPico = parseDecimal(entry.charged_usd, 12);
  const problems = [
    ...(costPico === statedPico
      ? []
      : [`The cost is stated as ${entry.cost_usd} USD and comes to ${formatPico(costPico)} USD.`]),
    ...(chargedPico <= costPico
      ? []
      : [`${entry.charged_usd} USD were charged for a cost of ${formatPico(costPico)} USD.`]),
  ];
  return { matches: problems.length === 0, costUsd: formatPico(costPico), costPico, statedPico, parts, problems };
}

/** USD per 1,000,000 tokens as pico-USD per token. */
const perToken = (price: string): bigint => parseDecimal(price, 6);

function count(tokens: number | string | bigint): bigint {
  const whole = BigInt(tokens);
  if (whole < 0n) throw new RangeError(`${tokens} is no count of tokens.`);
  return whole;
}
