import { MAX_PICO, type PicoUsd } from '../core/money.ts';
import type { UnitPrices } from '../core/price.ts';
import type { CacheWrite } from '../core/request.ts';

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
