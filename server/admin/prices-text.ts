import { clockFacts, imageFacts, usdPerUnit, variantFacts } from '../catalog/models.ts';
import type { RouteCosts } from '../catalog/upstreams.ts';
import { formatPrice } from '../core/money.ts';
import type { CatalogPrice } from '../core/price.ts';

/** Prices and costs as a catalog file writes them: USD per 1M tokens as text. */
export function pricesText(prices: CatalogPrice | RouteCosts) {
  const { tiers, perUnit = {}, images, clock, variants } = prices;
  const maxPromptTokens = 'maxPromptTokens' in prices ? prices.maxPromptTokens : null;
  return {
    ...fiveText(prices),
    ...(tiers.length === 0
      ? {}
      : { tiers: tiers.map((tier) => ({ abovePromptTokens: tier.abovePromptTokens, ...fiveText(tier) })) }),
    ...(clock === undefined ? {} : { clock: clockFacts(clock) }),
    ...(variants === undefined ? {} : { variants: variantFacts(variants) }),
    ...(Object.keys(perUnit).length === 0 ? {} : { perUnit: usdPerUnit(perUnit) }),
    ...(images === undefined ? {} : { images: imageFacts(images) }),
    ...(maxPromptTokens === null ? {} : { maxPromptTokens }),
  };
}

function fiveText(prices: Pick<CatalogPrice, 'input' | 'cacheHit' | 'cacheWrite5m' | 'cacheWrite1h' | 'output'>) {
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = prices;
  return {
    input: formatPrice(input),
    cacheHit: formatPrice(cacheHit),
    ...(cacheWrite5m === null ? {} : { cacheWrite5m: formatPrice(cacheWrite5m) }),
    ...(cacheWrite1h === null ? {} : { cacheWrite1h: formatPrice(cacheWrite1h) }),
    output: formatPrice(output),
  };
}
