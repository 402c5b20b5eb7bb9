import type { PicoUsd } from './money.ts';
import type { TokenPools } from './tokens.ts';

/** Unit prices of the token pools, and the cost that follows from them. */

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

/** A price version as the catalog stores it: cache writes may have no price of their own. */
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

/** Cost of the pools at these prices, exact. Throws a `RangeError` for a pool that is not a whole number. */
export function cost(pools: TokenPools, prices: UnitPrices): PicoUsd {
  return (
    BigInt(pools.input) * prices.input +
    BigInt(pools.cacheHit) * prices.cacheHit +
    BigInt(pools.cacheWrite5m) * prices.cacheWrite5m +
    BigInt(pools.cacheWrite1h) * prices.cacheWrite1h +
    BigInt(pools.output) * prices.output
  );
}
