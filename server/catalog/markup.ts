import type { ImagePrices } from '../core/image-price.ts';
import { type CatalogPrice, chargedUnits, type PriceTier, type UnitPrices } from '../core/price.ts';
import type { RouteCosts } from './upstreams.ts';

/** A markup on what a vendor charges, in exact fractions. */
export interface Markup {
  part: bigint;
  of: bigint;
}

/** Reads a markup such as `15%` or `12.5%`, from 0 % to 1000 %. Null for everything else, a bare number included. */
export function parseMarkup(text: string): Markup | null {
  const match = /^(0|[1-9]\d{0,3})(?:\.(\d{1,4}))?\s*%$/.exec(text.trim());
  if (match === null) return null;
  const part = BigInt(`${match[1]}${(match[2] ?? '').padEnd(4, '0')}`);
  return part > 10_000_000n ? null : { part, of: 1_000_000n };
}

/**
 * Prices that bring the markup on every pool of every tier, variant and window: pico-USD per token, rounded up, so that the markup is never
 * missed. A cache hit must be cheaper than new context; where the vendor makes no difference, it is one pico-USD cheaper.
 */
export function markedUp(costs: RouteCosts, markup: Markup): CatalogPrice {
  const up = (cost: bigint) => (cost * (markup.of + markup.part) + markup.of - 1n) / markup.of;
  const upOrNull = (cost: bigint | null) => (cost === null ? null : up(cost));
  const hit = (cacheHit: bigint, input: bigint) =>
    up(cacheHit) < up(input) || input === 0n ? up(cacheHit) : up(input) - 1n;
  const setUp = (set: UnitPrices): UnitPrices => ({
    input: up(set.input),
    cacheHit: hit(set.cacheHit, set.input),
    cacheWrite5m: up(set.cacheWrite5m),
    cacheWrite1h: up(set.cacheWrite1h),
    output: up(set.output),
  });
  const tiersUp = (tiers: readonly PriceTier[]) =>
    tiers.map((tier) => ({ abovePromptTokens: tier.abovePromptTokens, ...setUp(tier) }));
  const imagesUp = ({ tokens, each }: ImagePrices): ImagePrices => ({
    ...(tokens === undefined
      ? {}
      : {
          tokens: { input: up(tokens.input), cacheHit: hit(tokens.cacheHit, tokens.input), output: up(tokens.output) },
        }),
    ...(each === undefined ? {} : { each: each.map((line) => ({ ...line, price: up(line.price) })) }),
  });
  const { clock, perUnit = {}, images, variants = [] } = costs;
  const pieces = chargedUnits.flatMap((unit) =>
    perUnit[unit] === undefined ? [] : [[unit, up(perUnit[unit])] as const],
  );
  return {
    input: up(costs.input),
    cacheHit: hit(costs.cacheHit, costs.input),
    cacheWrite5m: upOrNull(costs.cacheWrite5m),
    cacheWrite1h: upOrNull(costs.cacheWrite1h),
    output: up(costs.output),
    tiers: tiersUp(costs.tiers),
    ...(pieces.length === 0 ? {} : { perUnit: Object.fromEntries(pieces) }),
    ...(images === undefined ? {} : { images: imagesUp(images) }),
    ...(variants.length === 0
      ? {}
      : { variants: variants.map(({ name, tiers, ...set }) => ({ name, ...setUp(set), tiers: tiersUp(tiers) })) }),
    ...(clock === undefined
      ? {}
      : {
          clock: {
            ...clock,
            windows: clock.windows.map(({ days, hours, tiers, ...set }) => ({
              days,
              hours,
              ...setUp(set),
              tiers: tiersUp(tiers),
            })),
          },
        }),
    maxPromptTokens: null,
  };
}
