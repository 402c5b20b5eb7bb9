import { MAX_PICO, type PicoUsd } from '../core/money.ts';
import type { UnitPrices } from '../core/price.ts';
import type { CacheWrite } from '../core/request.ts';
import { heldBytesPerToken } from '../core/tokens.ts';

/** How much budget a request has to find free, and how much of it is reserved. Pure. */

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
  /** A stream can be stopped when its budget is used up; an answer in one piece cannot. */
  stream: boolean;
  /** How often the model may read its context for this one request: once, or more where the vendor runs tools for it. */
  contextRuns: number;
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
  /** What the request can cost at most. Rests on bytes, which no text has fewer of than tokens. Never below the target. */
  maxCost: PicoUsd;
  /** The part of the most it can cost that does not depend on the length of the answer. */
  maxContextCost: PicoUsd;
}

/** What a hold reserves of an answer at first, and what an extension adds. */
const stepTokens = 4_096;
/** The shortest answer worth starting a request for. */
const minAnswerTokens = 16;

/**
 * Sizes a hold. It is an estimate on purpose: reserving the worst case would refuse a customer who has money, only
 * because a request without a cap could in theory produce a very long answer. A running answer that needs more extends
 * its hold; what cannot be extended is stopped.
 */
export function holdSize(request: RequestSize, model: ModelSize, prices: UnitPrices): HoldSize {
  const estimatedInputTokens = Math.min(
    Math.ceil(request.textBytes / heldBytesPerToken) + request.mediaTokens,
    model.contextWindow,
  );
  const cap = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const input = BigInt(estimatedInputTokens);
  const inputPrice = dearestInput(prices, request.cacheWrite);
  const allAnswers = BigInt(request.answers) * prices.output;
  const target = input * inputPrice + BigInt(Math.min(cap, stepTokens)) * allAnswers;
  const maxInputTokens = Math.min(request.textBytes + request.mediaTokens, model.contextWindow) * request.contextRuns;
  const maxContextCost = BigInt(maxInputTokens) * inputPrice;
  const contextFloor = input * prices.cacheHit;
  const floor = contextFloor + BigInt(Math.min(cap, minAnswerTokens)) * prices.output;
  return {
    estimatedInputTokens,
    target: least(target, MAX_PICO),
    floor: least(floor, target),
    contextFloor,
    maxCost: least(maxContextCost + BigInt(cap) * allAnswers, MAX_PICO),
    maxContextCost,
  };
}

/** How a request that is not streamed may be held; a stream is always held for its target. */
export type Cover =
  /** For all that it can cost: nothing can stop it on the way. */
  | 'required'
  /** For its target where no other request of the account is held for less than it can cost, else for all. */
  | 'preferred'
  | 'none';

/** An account that can pay a request so many times over has it covered without anyone being refused for it. */
const richAccountFactor = 8n;

/**
 * Which cover a request needs. Answers in one piece cannot be stopped when the budget is used up, so they are covered,
 * except for one at a time: a customer with little money is not refused for an answer that might be long. An account
 * whose budget did not pay for such an answer (`overdrawn`) is not given that credit again, and several answers at
 * once never are: they would overrun as many times.
 */
export function coverOf(request: Pick<RequestSize, 'stream' | 'answers'>, overdrawn: boolean): Cover {
  if (request.stream) return 'none';
  return overdrawn || request.answers > 1 ? 'required' : 'preferred';
}

/** What must be free for a request to be admitted at all, whatever else is running. */
export function requiredFor(size: HoldSize, cover: Cover): PicoUsd {
  return cover === 'required' ? size.maxCost : size.floor;
}

/** What to hold when `available`, at least what is required, can be held. */
export interface HoldChoice {
  amount: PicoUsd;
  /** The request may cost more than its hold, and nothing can stop it. */
  uncovered: boolean;
}

/**
 * The hold of a request, or null: it has to wait until the account's other uncovered request ends
 * (`hasUncovered`), unless as much becomes free as it can cost.
 */
export function chooseHold(size: HoldSize, cover: Cover, available: PicoUsd, hasUncovered: boolean): HoldChoice | null {
  const ordinary = least(size.target, available);
  if (cover === 'none' || size.maxCost === ordinary) return { amount: ordinary, uncovered: false };
  const isCheap = available / richAccountFactor >= size.maxCost;
  if (cover === 'required' || isCheap || (hasUncovered && available >= size.maxCost))
    return { amount: size.maxCost, uncovered: false };
  return hasUncovered ? null : { amount: ordinary, uncovered: true };
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

/** The same for answers that have to be covered: the longest that an amount covers, each of them. */
export function coveredTokens(amount: PicoUsd, size: HoldSize, answers: number, prices: UnitPrices): number | null {
  if (amount < size.maxContextCost) return 0;
  if (prices.output === 0n) return null;
  return Number((amount - size.maxContextCost) / (BigInt(answers) * prices.output));
}

function dearestInput(prices: UnitPrices, cacheWrite: CacheWrite): PicoUsd {
  // A request that writes the one-hour cache may write the five-minute cache beside it.
  if (cacheWrite === 'none') return prices.input;
  const shortLived = most(prices.input, prices.cacheWrite5m);
  return cacheWrite === '5m' ? shortLived : most(shortLived, prices.cacheWrite1h);
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
