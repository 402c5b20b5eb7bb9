import { leastImageTokens, pricesForImages, pricesForToolImages, tokensOfPartial } from '../../core/made-image-cost.ts';
import { MAX_PICO, type PicoUsd } from '../../core/money.ts';
import {
  type ChargedUnit,
  chargedUnits,
  dearer,
  dearestWithin,
  type FrozenPrice,
  pricesAt,
  type TieredPrices,
  type UnitCounts,
  type UnitPrices,
} from '../../core/price.ts';
import { allowedPrices, dearestVariant, variantOf } from '../../core/price-variants.ts';
import {
  type CacheWrite,
  type ImageAsk,
  mostInputTokens,
  type PromptSize,
  promptBound,
  type ToolImageBound,
} from '../../core/request.ts';
import { chargedBytesPerToken, heldBytesPerToken } from '../../core/tokens.ts';

/** Computes how much free budget a request needs, and how much of it is held. Pure. */

/** The properties of a request that decide the size of its hold. */
export interface RequestSize extends PromptSize {
  cacheWrite: CacheWrite;
  /**
   * Some of the prompt can be measured by the vendor alone (a document by address): a whole window of it must be free, because
   * no credit is given on what nobody here can know.
   */
  unmeasured?: boolean;
  /** The client's cap on the answer, however large; null without one. */
  maxTokens: number | null;
  /** Number of answers (`n`). */
  answers: number;
  /** A stream can be stopped when its budget is used up; an unstreamed answer cannot. */
  stream: boolean;
  /** Embeddings: how many inputs there are, each of which may fill the model's window. Left out: a conversation. */
  inputs?: number;
  /** The most searches that the vendor may make for it; left out: not known, so that one is counted. */
  searches?: number;
  /** The most images that the vendor may make for it; left out: none. */
  madeImages?: number;
  /** The most minutes of audio that it may have; left out: none. */
  minutes?: number;
  /** How often another model may be asked for advice, which no cap of the request shortens; left out: never. */
  advice?: number;
  /** The dearest prices of other models that may run for it; left out: none may. */
  otherPrices?: UnitPrices;
  /** What it asks for, of a request for images; left out: it is none. */
  imageAsk?: ImageAsk;
  /** The most that each image of a tool comes to; left out: the price of a piece. */
  toolImage?: ToolImageBound;
  /** The variant of the prices that it asks for, as in `PriceVariant`; left out: none. */
  variant?: string;
}

/** Limits of the model, in tokens. */
export interface ModelSize {
  contextWindow: number;
  maxOutputTokens: number;
}

/** How much to hold for a request. */
export interface HoldSize {
  estimatedInputTokens: number;
  /** The request's bound: no honest bill is higher. Tokens from bytes: a text never has more of them. Never below the others. */
  bound: PicoUsd;
  /**
   * The amount that covers the request: its bound; of a stream that of its prompt, with the first step of its answer, because
   * a brake that counts bounds stops the rest.
   */
  covered: PicoUsd;
  /** The least that covers a stream: the bound of its prompt and a short answer. Else the same as `covered`. */
  coveredFloor: PicoUsd;
  /** The amount that is held, if it is free, for a request that may cost more than its hold. Never above `covered`. */
  target: PicoUsd;
  /** The request's lowest plausible cost, required for admission. Never above the target. */
  floor: PicoUsd;
  /** The part of the floor that does not depend on the length of the answer. */
  contextFloor: PicoUsd;
  /** The part of the bound that does not depend on the length of the answer. */
  contextBound: PicoUsd;
  /** Price of an output token in the floor, and in the bound. */
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
 * Sizes a hold, from the request's bound and from an estimate. The whole bound of a stream is not reserved: a request
 * without a cap could produce a very long answer, and customers who have money would be refused. A running answer that
 * needs more extends its hold, or is stopped. Of tiered prices the dearest that the prompt can reach are held.
 */
export function holdSize(request: RequestSize, model: ModelSize, prices: TieredPrices): HoldSize {
  const { imageAsk } = request;
  const asked = request.variant === undefined ? prices : dearestVariant(prices, request.variant);
  const price =
    imageAsk === undefined ? pricesForToolImages(asked, request.toolImage) : pricesForImages(asked, imageAsk);
  const isEmbedding = request.inputs !== undefined;
  const window = model.contextWindow * (request.inputs ?? 1);
  const tokensAt = (bytesPerToken: number): number =>
    Math.min(Math.ceil(request.textBytes / bytesPerToken) + request.mediaTokens, window);
  const mostInput = mostInputTokens(request, model.contextWindow);
  // The whole cost of an embedding is its input, and cheap: it is held by bytes, so that the charge is never above.
  const estimatedInputTokens = isEmbedding ? mostInput : Math.min(tokensAt(heldBytesPerToken), mostInput);
  const cap = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const input = BigInt(estimatedInputTokens);
  const own = dearestWithin(price, promptBound(request, model.contextWindow));
  const dearest = request.otherPrices === undefined ? own : dearer(own, request.otherPrices);
  const likely = pricesAt(price, estimatedInputTokens);
  // Vendors have no cache for what they embed.
  const inputPrice = isEmbedding ? dearest.input : dearestInput(dearest, request.cacheWrite);
  const likelyInputPrice = request.cacheWrite === 'none' ? dearest.input : inputPrice;
  const allAnswers = BigInt(request.answers * (request.attempts ?? 1)) * dearest.output;
  const answers = (tokens: number): PicoUsd => BigInt(Math.min(cap, tokens)) * allAnswers;
  const pieces: Required<UnitCounts> = {
    search: request.searches ?? 1,
    image: request.madeImages ?? 0,
    minute: request.minutes ?? 0,
  };
  const piecesCost = (countOf: (unit: ChargedUnit) => number) =>
    chargedUnits.reduce((sum, unit) => sum + BigInt(countOf(unit)) * (price.perUnit?.[unit] ?? 0n), 0n);
  const advice = BigInt((request.advice ?? 0) * model.maxOutputTokens) * dearest.output;
  const partials = BigInt((imageAsk?.partials ?? 0) * tokensOfPartial * request.answers) * dearest.output;
  const contextBound = BigInt(mostInput) * inputPrice + piecesCost((unit) => pieces[unit]) + advice + partials;
  const bound = least(contextBound + answers(cap), MAX_PICO);
  // An image that is being made cannot be stopped, streamed or not: its whole bound is held.
  const canStop = request.stream && imageAsk === undefined;
  const covered = canStop ? least(contextBound + answers(stepTokens), bound) : bound;
  const isMade = (unit: ChargedUnit): boolean => unit === 'image' && imageAsk !== undefined;
  const likelyTarget =
    input * likelyInputPrice +
    answers(stepTokens) +
    // Minutes are known only from the last usage, when nothing can be stopped any more: all of them are reserved.
    // Images that are asked for are made, unlike those that a tool may make.
    piecesCost((unit) => (isMade(unit) ? pieces[unit] : Math.min(pieces[unit], held[unit] ?? pieces[unit])));
  const target = imageAsk === undefined ? least(likelyTarget, covered) : covered;
  const promptFloor = isEmbedding ? BigInt(tokensAt(chargedBytesPerToken)) * likely.input : input * likely.cacheHit;
  // A recording has begun at least one minute.
  const measured =
    promptFloor +
    piecesCost((unit) => (unit === 'minute' ? Math.min(pieces.minute, 1) : isMade(unit) ? pieces.image : 0));
  const contextFloor =
    request.unmeasured === true ? most(measured, BigInt(Math.min(mostInput, window)) * inputPrice) : measured;
  const shortest = imageAsk === undefined ? minAnswerTokens : leastImageTokens;
  const floor = contextFloor + BigInt(Math.min(cap, shortest) * (imageAsk?.count ?? 1)) * likely.output;
  return {
    estimatedInputTokens,
    bound,
    covered,
    coveredFloor: canStop ? least(contextBound + answers(minAnswerTokens), covered) : covered,
    target: most(target, least(floor, covered)),
    floor: least(floor, covered),
    contextFloor,
    contextBound,
    floorOutputPrice: likely.output,
    maxOutputPrice: dearest.output,
  };
}

/** Bytes of text for a token where it has the fewest: long words of English. */
const mostBytesPerToken = 8;

/**
 * The lowest plausible cost of an answered request: few tokens of context at the cheapest price of any prompt length, no
 * media, and one token of answer. Never above the floor. A request that fails costs nothing.
 */
export function leastCost(request: RequestSize, size: HoldSize, price: TieredPrices): PicoUsd {
  const allowed =
    request.variant === undefined ? [price] : allowedPrices(price, request.variant).map((each) => each.price);
  const sets = allowed.flatMap((each) => [each, ...(each.tiers ?? [])]);
  const cheapest = (of: (prices: UnitPrices) => PicoUsd): PicoUsd => sets.map(of).reduce(least);
  const input = cheapest((prices) =>
    request.inputs === undefined ? least(prices.input, prices.cacheHit) : prices.input,
  );
  const answer = request.maxTokens === 0 || request.inputs !== undefined ? 0n : cheapest(({ output }) => output);
  const tokens = BigInt(Math.floor(Math.min(request.textBytes / mostBytesPerToken, size.estimatedInputTokens)));
  return least(tokens * input + answer, size.floor);
}

/** Whether the model's prices lack what the request asks for: it is refused. */
export function isVariantUnpriced(
  { variant }: Pick<RequestSize, 'variant'>,
  { price }: { price: Pick<TieredPrices, 'variants'> },
): boolean {
  return variant !== undefined && variantOf(price, variant) === null;
}

/** Whether the prompt may be longer than the model's prices reach: such a request is refused. */
export function isUnpriced(
  request: PromptSize,
  model: Pick<ModelSize, 'contextWindow'> & { price: Pick<FrozenPrice, 'maxPromptTokens'> },
): boolean {
  const { maxPromptTokens } = model.price;
  return maxPromptTokens !== undefined && promptBound(request, model.contextWindow) > maxPromptTokens;
}

/** How a request may be held. */
export type Cover =
  /** For all that covers it. */
  | 'required'
  /** For less, if no other request of the account is held so. */
  | 'preferred';

/** An account with this many times a request's bound gets it covered, which causes no refusals. */
const richAccountFactor = 8n;

/**
 * The cover that a request needs. One at a time of an account may cost more than its hold: a customer with little money is not
 * refused because a text might have a token a byte, or an answer might be long. An account whose budget did not pay for
 * such a request (`overdrawn`) gets no such credit again, and unstreamed requests for several answers never do: each
 * answer could overrun.
 */
export function coverOf(request: Pick<RequestSize, 'stream' | 'answers'>, overdrawn: boolean): Cover {
  return overdrawn || (!request.stream && request.answers > 1) ? 'required' : 'preferred';
}

/** Free money that admission requires, whatever else is running. */
export function requiredFor(size: HoldSize, cover: Cover): PicoUsd {
  return cover === 'required' ? size.coveredFloor : size.floor;
}

/** The amount to hold of `available`, which is at least the required amount. */
export interface HoldChoice {
  amount: PicoUsd;
  /** The request may cost more than its hold. At most one of an account. */
  uncovered: boolean;
}

/**
 * The hold of a request. Null: it has to wait until the account's other uncovered request ends (`hasUncovered`), or
 * until what covers it is free.
 *
 * A stream is covered where that much is free, because what it holds for its prompt is free again as soon as the vendor has
 * counted it. An unstreamed answer would keep its bound until its end, so it is the uncovered one if it can be.
 */
export function chooseHold(
  size: HoldSize,
  { cover, stream }: { cover: Cover; stream: boolean },
  available: PicoUsd,
  hasUncovered: boolean,
): HoldChoice | null {
  const isCovered = available >= size.covered;
  if (isCovered && (stream || size.target === size.covered)) return { amount: size.covered, uncovered: false };
  const isCheap = available / richAccountFactor >= size.covered;
  if (isCovered && (cover === 'required' || isCheap || hasUncovered)) return { amount: size.covered, uncovered: false };
  if (cover === 'preferred' && !hasUncovered) return { amount: least(size.target, available), uncovered: true };
  return available >= size.coveredFloor ? { amount: least(size.covered, available), uncovered: false } : null;
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
  if (amount < size.contextBound) return 0;
  if (size.maxOutputPrice === 0n) return null;
  return Number((amount - size.contextBound) / (BigInt(answers) * size.maxOutputPrice));
}

/** Vendors that write their caches unasked write the short-lived one; the one-hour cache needs a marker. */
function dearestInput(prices: UnitPrices, cacheWrite: CacheWrite): PicoUsd {
  const shortLived = most(prices.input, prices.cacheWrite5m);
  return cacheWrite === '1h' ? most(shortLived, prices.cacheWrite1h) : shortLived;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
