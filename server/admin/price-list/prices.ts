/** Collects the prices of one entry of a list, and the reasons why they cannot be taken over. */

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
      const named = [...tiers].sort(([a], [b]) => a - b);
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
            : named.flatMap(([abovePromptTokens, sheet]) => {
                const set = complete({ ...keptBeside(base, sheet), ...sheet });
                return set === null ? [] : [{ ...set, abovePromptTokens }];
              }),
        rounded,
        faults,
      };
    },
  };
}

/** The base prices beside a tier with this input. An absolute price of a cache write is kept, at least as high as the input; a surcharge stays one. */
function keptBeside(base: Sheet, { input = base.input }: Sheet): Sheet {
  const kept = { ...base };
  for (const pool of ['cacheWrite5m', 'cacheWrite1h'] as const) {
    const write = base[pool];
    if (write === undefined || base.input === undefined || input === undefined) continue;
    if (write >= base.input && write < input) kept[pool] = input;
  }
  return kept;
}

function complete({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: Sheet): ListedPrices | null {
  if (input === undefined || output === undefined) return null;
  return {
    input,
    output,
    // Lists have 0 where they know none: nobody gives context away because it was kept.
    cacheHit: cacheHit === undefined || (cacheHit === 0n && input > 0n) ? null : cacheHit,
    cacheWrite5m: writeOf(cacheWrite5m, input),
    cacheWrite1h: writeOf(cacheWrite1h, input),
  };
}

/**
 * Writing context to a cache never costs less than sending it: a lower number is what the cache adds to it, as with
 * Gemini at OpenRouter (https://openrouter.ai/docs/features/prompt-caching#google-gemini), and nothing is the price of new context.
 */
function writeOf(write: bigint | undefined, input: bigint): bigint | null {
  if (write === undefined || (write === 0n && input > 0n)) return null;
  return write < input ? input + write : write;
}
