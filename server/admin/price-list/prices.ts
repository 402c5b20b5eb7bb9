/** Collects the prices of one entry of a list, and whatever stands against them. */

import { formatPrice, MAX_PRICE } from '../../core/money.ts';
import { MAX_UNIT_PRICE } from '../../core/price.ts';
import { ListedNumber, scaled } from './decimal.ts';
import type { ListedPrices, ListedTier, ListFault, Pool } from './price-list.ts';

type Sheet = Partial<Record<Pool, bigint>>;

export interface Collected {
  prices: ListedPrices | null;
  tiers: ListedTier[];
  rounded: boolean;
  faults: ListFault[];
}

/** `power`: what turns the list's unit into pico-USD per token, as a power of ten. */
export function createCollector(power: number) {
  const base: Sheet = {};
  const tiers = new Map<number, Sheet>();
  const faults: ListFault[] = [];
  let rounded = false;

  const read = (field: string, value: unknown): bigint | null => {
    const text = value instanceof ListedNumber ? value.text : typeof value === 'string' ? value : '';
    const price = scaled(text, power);
    if (price === null || price.value > MAX_PRICE) {
      faults.push({ field, message: `is no price from 0 to ${formatPrice(MAX_PRICE)} USD per 1M tokens` });
      return null;
    }
    if (!price.exact) rounded = true;
    return price.value;
  };

  return {
    fault(field: string, message: string): void {
      faults.push({ field, message });
    },
    /** A price of the base set, or of the tier above so many prompt tokens. */
    take(pool: Pool, field: string, value: unknown, above: number | null = null): void {
      if (value === null) return;
      const price = read(field, value);
      if (price === null) return;
      const sheet = above === null ? base : (tiers.get(above) ?? {});
      if (above !== null) tiers.set(above, sheet);
      if (sheet[pool] !== undefined && sheet[pool] !== price) {
        faults.push({ field, message: `names another price of the same tokens (${pool}) than a member before it` });
      }
      sheet[pool] = price;
    },
    /** Reasoning is a part of the output here, so it must cost the same. */
    takeReasoning(field: string, value: unknown, above: number | null = null): void {
      if (value === null) return;
      const price = read(field, value);
      const output = above === null ? base.output : (tiers.get(above)?.output ?? base.output);
      if (price !== null && price !== output) {
        faults.push({ field, message: 'prices reasoning apart from the output, which a catalog cannot say' });
      }
    },
    /** A price of one piece; null where it is none. */
    readPiece(field: string, value: unknown): bigint | null {
      const text = value instanceof ListedNumber ? value.text : typeof value === 'string' ? value : '';
      const price = scaled(text, 12);
      if (price !== null && price.value <= MAX_UNIT_PRICE) return price.value;
      faults.push({ field, message: 'is no price from 0 to 10 USD for one' });
      return null;
    },
    /** Another set of prices, such as those of some hours; a pool that it does not name keeps its price. */
    readSet(members: readonly (readonly [pool: Pool, field: string, value: unknown])[]): Sheet {
      const sheet: Sheet = {};
      for (const [pool, field, value] of members) {
        const price = value === null ? null : read(field, value);
        if (price !== null) sheet[pool] = price;
      }
      return sheet;
    },
    result(): Collected {
      const prices = complete(base);
      if (prices === null && Object.keys(base).length > 0) {
        faults.push({ field: base.input === undefined ? 'input' : 'output', message: 'has no price, but others have' });
      }
      return {
        prices,
        // A pool that a tier does not name keeps its price.
        tiers:
          prices === null
            ? []
            : [...tiers]
                .sort(([a], [b]) => a - b)
                .map(([abovePromptTokens, sheet]) => ({ ...prices, ...sheet, abovePromptTokens })),
        rounded,
        faults,
      };
    },
  };
}

function complete({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: Sheet): ListedPrices | null {
  if (input === undefined || output === undefined) return null;
  return {
    input,
    output,
    cacheHit: cacheHit ?? null,
    cacheWrite5m: cacheWrite5m ?? null,
    cacheWrite1h: cacheWrite1h ?? null,
  };
}
