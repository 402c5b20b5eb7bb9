import { MAX_PICO, type PicoUsd } from './money.ts';

/** The five token pools of one request. Disjoint; whole numbers from 0 to 1e8. */
export interface TokenPools {
  /** New context, neither served from nor written to a cache. */
  input: number;
  cacheHit: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Generated tokens, reasoning included. */
  output: number;
}

/** One price for each pool, pico-USD per token. */
export interface UnitPrices {
  input: PicoUsd;
  cacheHit: PicoUsd;
  cacheWrite5m: PicoUsd;
  cacheWrite1h: PicoUsd;
  output: PicoUsd;
}

/** The price version that a request was admitted at. It stays the request's price however the catalog changes. */
export interface FrozenPrice extends UnitPrices {
  id: string;
}

/** A price version as the catalog stores it: writing to a cache may have no price of its own. */
export interface CatalogPrice {
  input: PicoUsd;
  cacheHit: PicoUsd;
  cacheWrite5m: PicoUsd | null;
  cacheWrite1h: PicoUsd | null;
  output: PicoUsd;
}

/** Completes a catalog price: a cache write without a price is new context, so it costs the input price. */
export function unitPrices(price: CatalogPrice): UnitPrices {
  return {
    input: price.input,
    cacheHit: price.cacheHit,
    cacheWrite5m: price.cacheWrite5m ?? price.input,
    cacheWrite1h: price.cacheWrite1h ?? price.input,
    output: price.output,
  };
}

/** What the pools cost at these prices. Exact. Throws a `RangeError` for a pool that is no whole number. */
export function cost(pools: TokenPools, prices: UnitPrices): PicoUsd {
  return (
    BigInt(pools.input) * prices.input +
    BigInt(pools.cacheHit) * prices.cacheHit +
    BigInt(pools.cacheWrite5m) * prices.cacheWrite5m +
    BigInt(pools.cacheWrite1h) * prices.cacheWrite1h +
    BigInt(pools.output) * prices.output
  );
}

/** The longest-lived cache that a request asks to be written. */
export type CacheWrite = 'none' | '5m' | '1h';

/** What is known of a request before it runs, as far as it decides how much to hold. */
export interface RequestSize {
  /** Bytes of the text in the request. */
  textBytes: number;
  /** A bound on the tokens of its images and documents. */
  mediaTokens: number;
  cacheWrite: CacheWrite;
  /** The caller's own cap on the answer, however large; null without one. */
  maxTokens: number | null;
  /** How many answers are asked for at once (`n`). */
  answers: number;
}

/** What the model can take and give, in tokens. */
export interface ModelSize {
  contextWindow: number;
  maxOutputTokens: number;
}

/** How much to hold for a request. */
export interface HoldSize {
  estimatedInputTokens: number;
  /** What is held when it is there. */
  target: PicoUsd;
  /** The least that the request can plausibly cost. Who has less cannot start it. Never above the target. */
  floor: PicoUsd;
  /** The part of the floor that does not depend on the length of the answer. */
  contextFloor: PicoUsd;
}

/** Text has at least this many bytes per token, so that the estimate errs on the side of more tokens. */
const bytesPerToken = 3;
/** What a hold reserves of an answer at first, and what an extension adds. */
const stepTokens = 4_096;
/** The shortest answer worth starting a request for. */
const shortestAnswerTokens = 16;

/**
 * Sizes a hold. It is an estimate on purpose: reserving the worst case would refuse a customer who has money, only
 * because a request without a cap could in theory produce a very long answer. A running answer that needs more extends
 * its hold; what cannot be extended is stopped.
 */
export function holdSize(request: RequestSize, model: ModelSize, prices: UnitPrices): HoldSize {
  const estimatedInputTokens = Math.min(
    Math.ceil(request.textBytes / bytesPerToken) + request.mediaTokens,
    model.contextWindow,
  );
  const cap = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const input = BigInt(estimatedInputTokens);
  const target =
    input * dearestInput(prices, request.cacheWrite) +
    BigInt(request.answers) * BigInt(Math.min(cap, stepTokens)) * prices.output;
  const contextFloor = input * prices.cacheHit;
  const floor = contextFloor + BigInt(Math.min(cap, shortestAnswerTokens)) * prices.output;
  return {
    estimatedInputTokens,
    target: least(target, MAX_PICO),
    floor: least(floor, target),
    contextFloor,
  };
}

/** What a running answer adds to its hold at a time. */
export function extension(prices: UnitPrices): PicoUsd {
  return BigInt(stepTokens) * prices.output;
}

/**
 * The longest answer that an amount pays for, so that a refusal can say what would fit; null: any length. Tokens are
 * rounded down: this is advice about a length, not money.
 */
export function affordableTokens(amount: PicoUsd, size: HoldSize, prices: UnitPrices): number | null {
  if (amount < size.contextFloor) return 0;
  if (prices.output === 0n) return null;
  return Number((amount - size.contextFloor) / prices.output);
}

function dearestInput(prices: UnitPrices, cacheWrite: CacheWrite): PicoUsd {
  // A request that writes the one-hour cache may write the five-minute cache beside it.
  if (cacheWrite === 'none') return prices.input;
  const shortLived = most(prices.input, prices.cacheWrite5m);
  return cacheWrite === '5m' ? shortLived : most(shortLived, prices.cacheWrite1h);
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
