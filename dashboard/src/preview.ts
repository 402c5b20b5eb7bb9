import { agentStep, costOf, type Prices, parseUsd, printUsd, stepsFor } from './money.ts';

/** Previews the effect of other prices before they are set. Exact. */

export interface AllPrices extends Prices {
  /** Empty: the price of new context. */
  cacheWrite5m: string | null;
  cacheWrite1h: string | null;
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
}

export interface Preview {
  stepsBefore: bigint | null;
  stepsAfter: bigint | null;
  stepBefore: string;
  stepAfter: string;
  /** The revenue of the same requests at the new prices. */
  soldAfter: string;
  soldChange: string;
  marginBefore: string;
  marginAfter: string;
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

export function previewOf(before: AllPrices, after: AllPrices, sold: Sold): Preview {
  const soldAfter = costOfAll(sold.tokens, after);
  const soldBefore = parseUsd(sold.cost);
  const upstream = parseUsd(sold.upstreamCost);
  return {
    stepsBefore: stepsFor('5', before),
    stepsAfter: stepsFor('5', after),
    stepBefore: printUsd(costOf(agentStep, before)),
    stepAfter: printUsd(costOf(agentStep, after)),
    soldAfter: printUsd(soldAfter),
    soldChange: printUsd(soldAfter - soldBefore),
    marginBefore: printUsd(soldBefore - upstream),
    marginAfter: printUsd(soldAfter - upstream),
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
  };
}

/** The token pools that would be sold below a route's cost. */
export function soldBelowCost(prices: AllPrices, costs: AllPrices): (keyof AllPrices)[] {
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
