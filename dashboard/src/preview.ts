import { agentStep, costOf, type Prices, parseUsd, printUsd, stepsFor } from './money.ts';

/** Previews the effect of other prices before they are set. Exact. */

export interface AllPrices extends Prices {
  /** Empty: the price of new context. */
  cacheWrite5m: string | null;
  cacheWrite1h: string | null;
}

/** Prices for prompts above a length, which the whole request is charged at. */
export interface TierPrices extends AllPrices {
  abovePromptTokens: number;
}

/** A model's prices of every prompt length. */
export interface PricesByLength extends AllPrices {
  tiers?: readonly TierPrices[] | null;
  /** USD for one of what is charged by the piece; null: no price. */
  perUnit?: UnitAmounts | null;
  /** By what a request asks for and its vendor serves. */
  variants?: readonly VariantPrices[] | null;
  /** Null: images have no separate prices. */
  images?: ImageAmounts | null;
  /** Null: the same prices at every hour. */
  clock?: ClockPrices | null;
}

/** Prices of a tier, a speed, a region or a batch. */
export interface VariantPrices extends AllPrices {
  name: string;
  tiers?: TierPrices[] | null;
}

/** What images cost: USD per 1M of their tokens, and USD for one of a quality and size. */
export interface ImageAmounts {
  tokens?: { input: string; cacheHit: string; output: string } | null;
  each?: { quality?: string | null; size?: string | null; upToPixels?: number | null; price: string }[] | null;
}

/** Prices for hours of the week, which a request that is accepted in them is charged at. */
export interface WindowPrices extends AllPrices {
  weekdays: readonly string[];
  hours: readonly string[];
  tiers?: readonly TierPrices[] | null;
}

/** Prices by the clock. */
export interface ClockPrices {
  timeZone: string;
  exceptDates?: readonly string[] | null;
  windows: readonly WindowPrices[];
}

export interface UnitAmounts {
  search: string | null;
  image: string | null;
  minute: string | null;
}

/** The prices of a prompt of this length. */
export function pricesOfLength(prices: PricesByLength, promptTokens: bigint): AllPrices {
  return (
    (prices.tiers ?? [])
      .toSorted((a, b) => a.abovePromptTokens - b.abovePromptTokens)
      .findLast(({ abovePromptTokens }) => promptTokens > BigInt(abovePromptTokens)) ?? prices
  );
}

export interface TokenSums {
  input: string;
  cacheHit: string;
  cacheWrite5m: string;
  cacheWrite1h: string;
  output: string;
}

/** The usage of a period, with its revenue and cost. */
export interface Sold {
  tokens: TokenSums;
  cost: string;
  upstreamCost: string;
  /** What was charged on routes that do not say what they cost. */
  unknownCharged: string;
}

export interface Preview {
  stepsBefore: bigint | null;
  stepsAfter: bigint | null;
  stepBefore: string;
  stepAfter: string;
  /** The revenue of the same requests at the new prices. */
  soldAfter: string;
  soldChange: string;
  /** Null: some of it was sold where the cost is not known. */
  marginBefore: string | null;
  marginAfter: string | null;
}

/** The cost of tokens at given prices, over all five pools. */
export function costOfAll(tokens: TokenSums, prices: AllPrices): bigint {
  const perToken = (price: string) => parseUsd(price) / 1_000_000n;
  return (
    costOf({ input: BigInt(tokens.input), cacheHit: BigInt(tokens.cacheHit), output: BigInt(tokens.output) }, prices) +
    BigInt(tokens.cacheWrite5m) * perToken(prices.cacheWrite5m ?? prices.input) +
    BigInt(tokens.cacheWrite1h) * perToken(prices.cacheWrite1h ?? prices.input)
  );
}

/** Agent steps are compared at the ordinary prices for their length; sales, whose lengths and hours are not known here, at the first ones. */
export function previewOf(before: PricesByLength, after: PricesByLength, sold: Sold): Preview {
  const step = agentStep.cacheHit + agentStep.input;
  const [stepsAt, stepsAtNew] = [pricesOfLength(before, step), pricesOfLength(after, step)];
  const soldAfter = costOfAll(sold.tokens, after);
  const soldBefore = parseUsd(sold.cost);
  const upstream = parseUsd(sold.upstreamCost);
  const isKnown = parseUsd(sold.unknownCharged) === 0n;
  return {
    stepsBefore: stepsFor('5', stepsAt),
    stepsAfter: stepsFor('5', stepsAtNew),
    stepBefore: printUsd(costOf(agentStep, stepsAt)),
    stepAfter: printUsd(costOf(agentStep, stepsAtNew)),
    soldAfter: printUsd(soldAfter),
    soldChange: printUsd(soldAfter - soldBefore),
    marginBefore: isKnown ? printUsd(soldBefore - upstream) : null,
    marginAfter: isKnown ? printUsd(soldAfter - upstream) : null,
  };
}

/** Adds up sales. */
export function addSold(rows: readonly Sold[]): Sold {
  const sum = (read: (row: Sold) => string) => rows.reduce((total, row) => total + BigInt(read(row)), 0n).toString();
  const usd = (read: (row: Sold) => string) => printUsd(rows.reduce((total, row) => total + parseUsd(read(row)), 0n));
  return {
    tokens: {
      input: sum(({ tokens }) => tokens.input),
      cacheHit: sum(({ tokens }) => tokens.cacheHit),
      cacheWrite5m: sum(({ tokens }) => tokens.cacheWrite5m),
      cacheWrite1h: sum(({ tokens }) => tokens.cacheWrite1h),
      output: sum(({ tokens }) => tokens.output),
    },
    cost: usd(({ cost }) => cost),
    upstreamCost: usd(({ upstreamCost }) => upstreamCost),
    unknownCharged: usd(({ unknownCharged }) => unknownCharged),
  };
}

/**
 * The token pools that would be sold below a route's cost at some length of the prompt and hour. Where both have the same
 * hours these are compared; otherwise each set of prices is held against each set of costs.
 */
export function soldBelowCost(prices: PricesByLength, costs: PricesByLength): (keyof AllPrices)[] {
  const [ours, theirs] = [allHours(prices), allHours(costs)];
  const isSameHours = scheduleOf(prices) === scheduleOf(costs);
  const below = ours.flatMap((set, index) =>
    theirs.flatMap((cost, at) => (isSameHours && index !== at ? [] : lengthsBelowCost(set, cost))),
  );
  return [...new Set(below)];
}

/** The sets of prices that an hour can choose: those outside of all windows first. */
function allHours({ clock, ...ordinary }: PricesByLength): PricesByLength[] {
  return [ordinary, ...(clock?.windows ?? [])];
}

function scheduleOf({ clock }: PricesByLength): string {
  if (clock == null) return '';
  const windows = clock.windows.map(({ weekdays, hours }) => [[...weekdays].sort(), [...hours].sort()]);
  return JSON.stringify([clock.timeZone, [...(clock.exceptDates ?? [])].sort(), windows]);
}

function lengthsBelowCost(prices: PricesByLength, costs: PricesByLength): (keyof AllPrices)[] {
  const bounds = [prices, costs].flatMap(({ tiers }) =>
    (tiers ?? []).map(({ abovePromptTokens }) => abovePromptTokens),
  );
  return [0, ...bounds].flatMap((bound) =>
    setBelowCost(pricesOfLength(prices, BigInt(bound) + 1n), pricesOfLength(costs, BigInt(bound) + 1n)),
  );
}

function setBelowCost(prices: AllPrices, costs: AllPrices): (keyof AllPrices)[] {
  const filled = ({ input, cacheHit, output, cacheWrite5m, cacheWrite1h }: AllPrices) => ({
    input,
    cacheHit,
    output,
    cacheWrite5m: cacheWrite5m ?? input,
    cacheWrite1h: cacheWrite1h ?? input,
  });
  const ours = filled(prices);
  const theirs = filled(costs);
  return (Object.keys(ours) as (keyof AllPrices)[]).filter((kind) => parseUsd(ours[kind]) < parseUsd(theirs[kind]));
}
