import { MAX_PICO, type PicoUsd } from '../core/money.ts';
import {
  type ChargedUnit,
  chargedUnits,
  dearestWithin,
  type FrozenPrice,
  pricesAt,
  type TieredPrices,
  type UnitCounts,
  type UnitPrices,
} from '../core/price.ts';
import { type CacheWrite, type PromptSize, promptBound } from '../core/request.ts';
import { chargedBytesPerToken, heldBytesPerToken } from '../core/tokens.ts';

/** Computes how much free budget a request needs, and how much of it is held. Pure. */

/** The properties of a request that decide the size of its hold. */
export interface RequestSize extends PromptSize {
  cacheWrite: CacheWrite;
  /** The client's cap on the answer, however large; null without one. */
  maxTokens: number | null;
  /** Number of answers (`n`). */
  answers: number;
  /** A stream can be stopped when its budget is used up; an unstreamed answer cannot. */
  stream: boolean;
  /** Embeddings: how many inputs there are, each of which may fill the model's window. Left out: a conversation. */
  inputs?: number;
  /** The most searches that the vendor may make for it; left out: none that are known of. */
  searches?: number;
  /** The most images that the vendor may make for it; left out: none. */
  madeImages?: number;
  /** The most minutes of audio that it may have; left out: none. */
  minutes?: number;
}

/** Limits of the model, in tokens. */
export interface ModelSize {
  contextWindow: number;
  maxOutputTokens: number;
}

/** How much to hold for a request. */
export interface HoldSize {
  estimatedInputTokens: number;
  /** The amount that is held if it is free. */
  target: PicoUsd;
  /** The request's lowest plausible cost, required for admission. Never above the target. */
  floor: PicoUsd;
  /** The part of the floor that does not depend on the length of the answer. */
  contextFloor: PicoUsd;
  /** The request's maximum cost, from bytes: a text never has more tokens than bytes. Never below the target. */
  maxCost: PicoUsd;
  /** The part of the maximum cost that does not depend on the length of the answer. */
  maxContextCost: PicoUsd;
  /** Price of an output token in the floor, and in the maximum cost. */
  floorOutputPrice: PicoUsd;
  maxOutputPrice: PicoUsd;
}

/** Output tokens that a hold reserves at first, and that an extension adds. */
const stepTokens = 4_096;
/** Searches and images that a hold reserves at first; the brake extends it for more. */
const held: UnitCounts = { search: 4, image: 1 };
/** Output tokens of the shortest answer that is worth starting a request for. */
const minAnswerTokens = 16;

/**
 * Sizes a hold. An estimate on purpose: reserving the worst case would refuse customers who have money, because a
 * request without a cap could produce a very long answer. A running answer that needs more extends its hold, or is
 * stopped. Of tiered prices the dearest that the prompt can reach are held.
 */
export function holdSize(request: RequestSize, model: ModelSize, price: TieredPrices): HoldSize {
  const isEmbedding = request.inputs !== undefined;
  const window = model.contextWindow * (request.inputs ?? 1);
  const tokensAt = (bytesPerToken: number): number =>
    Math.min(Math.ceil(request.textBytes / bytesPerToken) + request.mediaTokens, window);
  // The whole cost of an embedding is its input, and cheap: it is held by bytes, so that the charge is never above.
  const estimatedInputTokens = tokensAt(isEmbedding ? 1 : heldBytesPerToken);
  const cap = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const input = BigInt(estimatedInputTokens);
  const prices = dearestWithin(price, promptBound(request, model.contextWindow));
  const likely = pricesAt(price, estimatedInputTokens);
  const inputPrice = dearestInput(prices, request.cacheWrite);
  const allAnswers = BigInt(request.answers) * prices.output;
  const pieces: Required<UnitCounts> = {
    // A model with a price for searches may search unasked, and is charged for it.
    search: Math.max(request.searches ?? 0, 1),
    image: request.madeImages ?? 0,
    minute: request.minutes ?? 0,
  };
  const piecesCost = (countOf: (unit: ChargedUnit) => number) =>
    chargedUnits.reduce((sum, unit) => sum + BigInt(countOf(unit)) * (price.perUnit?.[unit] ?? 0n), 0n);
  const target =
    input * inputPrice +
    BigInt(Math.min(cap, stepTokens)) * allAnswers +
    // Minutes are known only from the last usage, when nothing can be stopped any more: all of them are reserved.
    piecesCost((unit) => Math.min(pieces[unit], held[unit] ?? pieces[unit]));
  const maxInputTokens = tokensAt(1) * request.contextRuns;
  const maxContextCost = BigInt(maxInputTokens) * inputPrice + piecesCost((unit) => pieces[unit]);
  const promptFloor = isEmbedding ? BigInt(tokensAt(chargedBytesPerToken)) * likely.input : input * likely.cacheHit;
  // A recording has begun at least one minute.
  const contextFloor = promptFloor + piecesCost((unit) => (unit === 'minute' ? Math.min(pieces.minute, 1) : 0));
  const floor = contextFloor + BigInt(Math.min(cap, minAnswerTokens)) * likely.output;
  return {
    estimatedInputTokens,
    target: least(target, MAX_PICO),
    floor: least(floor, target),
    contextFloor,
    maxCost: least(maxContextCost + BigInt(cap) * allAnswers, MAX_PICO),
    maxContextCost,
    floorOutputPrice: likely.output,
    maxOutputPrice: prices.output,
  };
}

/**
 * The size for a key whose spending is capped when it is charged (`shared-limits.ts`): nothing of the prompt is left to an
 * estimate, so that what an answer costs beyond its hold is at most what its last chunk brings.
 */
export function coveredSize(request: RequestSize, model: ModelSize, price: TieredPrices): HoldSize {
  const size = holdSize(request, model, price);
  const cap = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const upTo = (tokens: number): PicoUsd =>
    least(
      size.maxContextCost + BigInt(Math.min(cap, tokens)) * BigInt(request.answers) * size.maxOutputPrice,
      size.maxCost,
    );
  return {
    ...size,
    target: upTo(stepTokens),
    floor: upTo(minAnswerTokens),
    contextFloor: size.maxContextCost,
    floorOutputPrice: size.maxOutputPrice,
  };
}

/** Bytes of text for a token where it has the fewest: long words of English. */
const mostBytesPerToken = 8;

/**
 * The lowest plausible cost of an answered request: few tokens of context at the cheapest price of any prompt length, no
 * media, and one token of answer. Never above the floor. A request that fails costs nothing.
 */
export function leastCost(request: RequestSize, size: HoldSize, price: TieredPrices): PicoUsd {
  const sets = [price, ...(price.tiers ?? [])];
  const cheapest = (of: (prices: UnitPrices) => PicoUsd): PicoUsd => sets.map(of).reduce(least);
  const input = cheapest((prices) =>
    request.inputs === undefined ? least(prices.input, prices.cacheHit) : prices.input,
  );
  const answer = request.maxTokens === 0 || request.inputs !== undefined ? 0n : cheapest(({ output }) => output);
  const tokens = BigInt(Math.floor(Math.min(request.textBytes / mostBytesPerToken, size.estimatedInputTokens)));
  return least(tokens * input + answer, size.floor);
}

/** Whether the prompt may be longer than the model's prices reach: such a request is refused. */
export function isUnpriced(
  request: PromptSize,
  model: Pick<ModelSize, 'contextWindow'> & { price: Pick<FrozenPrice, 'maxPromptTokens'> },
): boolean {
  const { maxPromptTokens } = model.price;
  return maxPromptTokens !== undefined && promptBound(request, model.contextWindow) > maxPromptTokens;
}

/** How an unstreamed request may be held; a stream is always held for its target. */
export type Cover =
  /** For its maximum cost: it cannot be stopped. */
  | 'required'
  /** For its target if no other request of the account is held below its maximum cost; else for its maximum cost. */
  | 'preferred'
  | 'none';

/** An account with this many times a request's maximum cost gets it covered, which causes no refusals. */
const richAccountFactor = 8n;

/**
 * The cover that a request needs. Unstreamed answers cannot be stopped when the budget is used up, so they are covered,
 * except for one at a time: a customer with little money is not refused because an answer might be long. An account
 * whose budget did not pay for such an answer (`overdrawn`) gets no such credit again, and requests for several answers
 * never do: each answer could overrun.
 */
export function coverOf(request: Pick<RequestSize, 'stream' | 'answers'>, overdrawn: boolean): Cover {
  if (request.stream) return 'none';
  return overdrawn || request.answers > 1 ? 'required' : 'preferred';
}

/** Free money that admission requires, whatever else is running. */
export function requiredFor(size: HoldSize, cover: Cover): PicoUsd {
  return cover === 'required' ? size.maxCost : size.floor;
}

/** The amount to hold of `available`, which is at least the required amount. */
export interface HoldChoice {
  amount: PicoUsd;
  /** The request may cost more than its hold, and cannot be stopped. */
  uncovered: boolean;
}

/**
 * The hold of a request. Null: it has to wait until the account's other uncovered request ends (`hasUncovered`), or
 * until its maximum cost is free.
 */
export function chooseHold(size: HoldSize, cover: Cover, available: PicoUsd, hasUncovered: boolean): HoldChoice | null {
  const ordinary = least(size.target, available);
  if (cover === 'none' || size.maxCost === ordinary) return { amount: ordinary, uncovered: false };
  const isCheap = available / richAccountFactor >= size.maxCost;
  if (cover === 'required' || isCheap || (hasUncovered && available >= size.maxCost))
    return { amount: size.maxCost, uncovered: false };
  return hasUncovered ? null : { amount: ordinary, uncovered: true };
}

/** Amount of one extension of a running answer's hold. */
export function extension(prices: UnitPrices): PicoUsd {
  return BigInt(stepTokens) * prices.output;
}

/**
 * The longest answer that an amount pays for, as advice in a refusal; null: any length. Tokens are rounded down: this
 * is a length, not money.
 */
export function affordableTokens(amount: PicoUsd, size: HoldSize): number | null {
  if (amount < size.contextFloor) return 0;
  if (size.floorOutputPrice === 0n) return null;
  return Number((amount - size.contextFloor) / size.floorOutputPrice);
}

/** The same for answers that have to be covered: the maximum length of each. */
export function coveredTokens(amount: PicoUsd, size: HoldSize, answers: number): number | null {
  if (amount < size.maxContextCost) return 0;
  if (size.maxOutputPrice === 0n) return null;
  return Number((amount - size.maxContextCost) / (BigInt(answers) * size.maxOutputPrice));
}

function dearestInput(prices: UnitPrices, cacheWrite: CacheWrite): PicoUsd {
  // A request that writes the one-hour cache may write the five-minute cache beside it.
  if (cacheWrite === 'none') return prices.input;
  const shortLived = most(prices.input, prices.cacheWrite5m);
  return cacheWrite === '5m' ? shortLived : most(shortLived, prices.cacheWrite1h);
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
