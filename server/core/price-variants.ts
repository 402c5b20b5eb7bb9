import {
  type ClockedPrices,
  dearer,
  fromStoredTiers,
  type PriceTier,
  type PriceVariant,
  type StoredTier,
  type TieredPrices,
  tieredCost,
  toStoredTiers,
  type UnitPrices,
  type VariantChoice,
} from './price.ts';
import type { TokenPools } from './tokens.ts';

/**
 * Chooses among the variants of a price: by what was asked for where money is reserved, by what was served where it is charged.
 * One mechanism for faster tiers, regions and batches. A request names its words (`AdmitAsk.variant`, words joined by `+`); its hold
 * and its brake go by the dearest of what may come of them; its entry is charged at one set of prices and keeps `VariantChoice`.
 */

/** Words that no vendor serves otherwise than asked: a line of a batch is never charged as if it were none. */
const certain: ReadonlySet<string> = new Set(['batch']);

/** A word of a variant's name. */
export const variantWord = /^[a-z0-9][a-z0-9_.-]{0,31}$/;

/** The name of these words; empty: the ordinary prices. */
export function variantName(words: readonly string[]): string {
  return [...new Set(words)].sort().join('+');
}

/** Whether the name has one to four words as they are written, each once and in order. */
export function isVariantName(name: string): boolean {
  const words = name.split('+');
  return words.length <= 4 && words.every((word) => variantWord.test(word)) && variantName(words) === name;
}

/** The prices of a variant; null: they have none of this name. */
export function variantOf({ variants = [] }: Pick<TieredPrices, 'variants'>, name: string): PriceVariant | null {
  return variants.find((variant) => variant.name === name) ?? null;
}

/** The price with the sets of a variant in place of the ordinary ones. */
export function withVariant<Price extends ClockedPrices>(price: Price, variant: PriceVariant): Price {
  const { tiers: _ordinary, ...others } = price;
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output, tiers } = variant;
  const prices = { input, cacheHit, cacheWrite5m, cacheWrite1h, output };
  return { ...others, ...prices, ...(tiers.length === 0 ? {} : { tiers }) } as Price;
}

/** A set of prices that may come of what was asked. */
interface AllowedPrice<Price> {
  /** Of the variant; empty: the ordinary prices. */
  name: string;
  price: Price;
}

/**
 * The prices that may come of what was asked: a vendor may serve less than all of it. Those without a price are left out; at least
 * one is there.
 */
export function allowedPrices<Price extends TieredPrices>(price: Price, asked: string): AllowedPrice<Price>[] {
  const words = asked.split('+');
  const sure = words.filter((word) => certain.has(word));
  const variants = (price.variants ?? []).flatMap((variant) => {
    const named = variant.name.split('+');
    const isAllowed = named.every((word) => words.includes(word)) && sure.every((word) => named.includes(word));
    return isAllowed ? [{ name: variant.name, price: withVariant(price, variant) }] : [];
  });
  return sure.length > 0 && variants.length > 0 ? variants : [{ name: '', price }, ...variants];
}

/**
 * The price whose sets are the dearest, pool by pool, of what may come of what was asked: variants have the tiers of the ordinary
 * prices. Money is reserved at it; nothing is charged at it.
 */
export function dearestVariant<Price extends TieredPrices>(price: Price, asked: string): Price {
  const [first, ...others] = allowedPrices(price, asked).map((each) => each.price);
  return others.reduce((most, each) => {
    const tiers = most.tiers?.map((tier, index) => ({
      abovePromptTokens: tier.abovePromptTokens,
      ...dearer(tier, each.tiers?.[index] ?? tier),
    }));
    return { ...most, ...dearer(most, each), ...(tiers === undefined ? {} : { tiers }) };
  }, first ?? price);
}

/**
 * The prices that a request is charged at. `served`: the vendor's own words for what it served, none for the ordinary; null: it did
 * not say, and what was asked counts. What the vendor serves beyond what was asked, or under a word that has no price, is charged at the
 * dearest of what may come of what was asked (`isStrange`): no request costs more than what it asked for.
 */
export function chosenVariant<Price extends TieredPrices>(
  price: Price,
  asked: string,
  served: readonly string[] | null,
  usage: TokenPools,
): { price: Price; choice: VariantChoice; isStrange: boolean } {
  const allowed = allowedPrices(price, asked);
  const name = served === null ? asked : variantName(served);
  const found = allowed.find((each) => each.name === name);
  const dearest = allowed.reduce((most, each) =>
    tieredCost(usage, each.price) > tieredCost(usage, most.price) ? each : most,
  );
  const chosen = found ?? dearest;
  return {
    price: chosen.price,
    choice: {
      asked,
      served: served === null ? null : storedWords(name),
      charged: chosen.name === '' ? null : chosen.name,
    },
    isStrange: found === undefined,
  };
}

/** A vendor's words as entries keep them. */
function storedWords(words: string): string {
  return /^[A-Za-z0-9_.+:-]{0,64}$/.test(words) ? words : 'other';
}

/** Variants as the database stores them. */
export interface StoredVariant extends Record<keyof UnitPrices, number> {
  name: string;
  tiers: StoredTier[];
}

export function toStoredVariants(variants: readonly PriceVariant[]): StoredVariant[] {
  return variants.map(({ name, tiers, ...prices }) => ({
    name,
    input: Number(prices.input),
    cacheHit: Number(prices.cacheHit),
    cacheWrite5m: Number(prices.cacheWrite5m),
    cacheWrite1h: Number(prices.cacheWrite1h),
    output: Number(prices.output),
    tiers: toStoredTiers(tiers),
  }));
}

/** Throws for what no version of the server has written. */
export function fromStoredVariants(stored: readonly StoredVariant[]): PriceVariant[] {
  return stored.map(({ name, tiers, ...prices }) => ({
    name,
    input: BigInt(prices.input),
    cacheHit: BigInt(prices.cacheHit),
    cacheWrite5m: BigInt(prices.cacheWrite5m),
    cacheWrite1h: BigInt(prices.cacheWrite1h),
    output: BigInt(prices.output),
    tiers: fromStoredTiers(tiers),
  }));
}

/** What a line of a batch asks for, and is always charged at. */
const batch: VariantChoice = { asked: 'batch', served: null, charged: 'batch' };

/**
 * The prices of a batch: its variant, or half of every pool and tier (`multiplied`) where the price has none. What is counted by the
 * piece costs the same as elsewhere.
 *
 * - https://platform.claude.com/docs/en/build-with-claude/batch-processing#pricing: half of all usage, searches in full
 * - https://developers.openai.com/api/docs/guides/batch: half of the prices of the synchronous calls
 */
export function batchPrices<Price extends TieredPrices>(price: Price): Price & { variant: VariantChoice } {
  const { variants: _others, ...ordinary } = price;
  const variant = variantOf(price, batch.asked) ?? {
    name: batch.asked,
    ...multiplied({ ...price, tiers: price.tiers ?? [] }, 500_000n),
  };
  return { ...withVariant(ordinary as Price, variant), variant: batch };
}

/** A factor such as `1.1` or `0.5`, as whole millionths; null for everything else, and for more than 100. */
export function parseTimes(text: string): bigint | null {
  const match = /^(0|[1-9]\d{0,2})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) return null;
  const millionths = BigInt(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`);
  return millionths === 0n || millionths > 100_000_000n ? null : millionths;
}

/** Prices times whole millionths, each rounded up to a whole pico-USD per token. */
export function multiplied(
  price: UnitPrices & { tiers: readonly PriceTier[] },
  millionths: bigint,
): Omit<PriceVariant, 'name'> {
  const times = (amount: bigint) => (amount * millionths + 999_999n) / 1_000_000n;
  const set = ({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: UnitPrices): UnitPrices => ({
    input: times(input),
    // Rounding up must not make a cache hit as dear as new context.
    cacheHit: input > cacheHit && times(cacheHit) >= times(input) ? times(input) - 1n : times(cacheHit),
    cacheWrite5m: times(cacheWrite5m),
    cacheWrite1h: times(cacheWrite1h),
    output: times(output),
  });
  return {
    ...set(price),
    tiers: price.tiers.map((tier) => ({ abovePromptTokens: tier.abovePromptTokens, ...set(tier) })),
  };
}
