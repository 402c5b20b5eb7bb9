import type { ImagePrices } from './image-price.ts';
import type { PicoUsd } from './money.ts';
import type { TokenPools } from './tokens.ts';

/** Unit prices of the token pools, their tiers by prompt length and windows by the clock, and the cost that follows from them. */

/** One price for each pool, pico-USD per token. */
export interface UnitPrices {
  input: PicoUsd;
  cacheHit: PicoUsd;
  cacheWrite5m: PicoUsd;
  cacheWrite1h: PicoUsd;
  output: PicoUsd;
}

/** Another set of prices for longer prompts. */
export interface PriceTier extends UnitPrices {
  /** A request whose prompt has more tokens than this is charged wholly at this set, its output included. */
  abovePromptTokens: number;
}

/**
 * A set of prices that counts in place of the ordinary one by what a request asked for and its vendor served: a faster or slower
 * tier, a region, a batch. What is charged by the piece stays as it is.
 */
export interface PriceVariant extends UnitPrices {
  /**
   * The words that choose it, sorted and joined by `+`: the value of `service_tier`, `speed` or `inference_geo` (`flex`, `priority`,
   * `fast`, `us`), or `batch`. `fast+us` is what both together cost.
   */
  name: string;
  /** As in `TieredPrices`, with the bounds of the ordinary prices; empty: none. */
  tiers: readonly PriceTier[];
}

/** The most variants of one price version; the database holds the same bound. */
export const MAX_VARIANTS = 8;

/** What vendors charge by the piece. */
export const chargedUnits = ['search', 'image', 'minute'] as const;
export type ChargedUnit = (typeof chargedUnits)[number];

/** Pico-USD for one of each; a unit that is left out has no price. */
export type PerUnit = Partial<Record<ChargedUnit, PicoUsd>>;

/** How many of each unit one request used. */
export type UnitCounts = Partial<Record<ChargedUnit, number>>;

/** Units of one kind in a ledger entry: so many, each at this price. */
export interface UnitLine {
  unit: ChargedUnit;
  /** 1 to `MAX_UNITS`. */
  count: number;
  price: PicoUsd;
}

/** The most units of one kind in an entry, and the highest price of one: 10 USD. The database holds the same bounds. */
export const MAX_UNITS = 100_000;
export const MAX_UNIT_PRICE: PicoUsd = 10_000_000_000_000n;

/** The runs of one other model in a ledger entry, at the price that was frozen for it. */
export interface RunLine {
  /** Catalog id where the catalog prices the model, else the name that the upstream reported. */
  model: string;
  usage: TokenPools;
  price: UnitPrices;
}

/** The most lines of an entry; the database holds the same bound. */
export const MAX_RUN_LINES = 32;

/** Prices that may depend on the length of the prompt. */
export interface TieredPrices extends UnitPrices {
  /** Rising by `abovePromptTokens`, at most `MAX_TIERS`. Left out: one set of prices for every prompt. */
  tiers?: readonly PriceTier[];
  /** Left out: nothing has a price by the piece. */
  perUnit?: PerUnit;
  /** Left out: images have no separate prices. */
  images?: ImagePrices;
  /** Left out: one price whatever was asked for and served. `price-variants.ts` chooses. */
  variants?: readonly PriceVariant[];
  /** Prices with windows are no prices yet: `pricesAtMoment` chooses. */
  clock?: never;
}

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** Another set of prices for some hours of the week. */
export interface PriceWindow extends UnitPrices {
  /** In the clock's time zone, in the order of the week. Hours over midnight belong to the day on which they begin. */
  days: readonly Weekday[];
  /** `HH:MM-HH:MM`, the end excluded; an end that is not after the beginning is on the next day. */
  hours: readonly string[];
  /** As in `TieredPrices`, with the bounds of the ordinary prices; empty: none. */
  tiers: readonly PriceTier[];
}

/** Prices by the clock. Outside of all windows the ordinary prices count. */
export interface PriceClock {
  /** IANA name, such as `Asia/Shanghai`. */
  timeZone: string;
  /** Days without windows, `YYYY-MM-DD` in the time zone: a vendor's public holidays. */
  exceptDates: readonly string[];
  /** 1 to `MAX_WINDOWS`, without a minute in common. */
  windows: readonly PriceWindow[];
}

/** The most windows of a clock, periods of a window, and days without windows; the database holds the same bounds. */
export const MAX_WINDOWS = 4;
export const MAX_PERIODS = 4;
export const MAX_EXCEPT_DATES = 400;

/** Prices that may depend on the clock, too. */
export interface ClockedPrices extends Omit<TieredPrices, 'clock'> {
  clock?: PriceClock;
}

/** A price version, before a request's admission chooses among its windows. */
export interface VersionPrice extends ClockedPrices {
  id: string;
  /** Longer prompts have no price. Left out: the upstream's own limit is the end. */
  maxPromptTokens?: number;
}

/** What the clock showed when a request was admitted at a price version with windows. */
export interface ClockChoice {
  /** By the database's clock, milliseconds since 1970. */
  at: number;
  /** The window that counted, with the one of its periods; null: none did. */
  window: { days: readonly Weekday[]; period: string; timeZone: string } | null;
}

/** The price version that a request was admitted at. It stays the request's price however the catalog changes. */
export interface FrozenPrice extends TieredPrices {
  id: string;
  /** As in `VersionPrice`. */
  maxPromptTokens?: number;
  /** Left out: the version has no windows. */
  byClock?: ClockChoice;
  /** Set where the request ends, with the sets of prices of that variant. */
  variant?: VariantChoice;
}

/** The prompts that one set of tiered prices is for: more than `above` tokens, at most `upTo`. Null: no bound. */
export interface TierRange {
  above: number | null;
  upTo: number | null;
}

/** Which variant of the prices a request asked for, which its vendor says that it served, and which was charged. */
export interface VariantChoice {
  /** Sorted words joined by `+`, as in `PriceVariant`. */
  asked: string;
  /** In the vendor's words; empty: it served the ordinary one. Null: it did not say, or its word is not relied on. */
  served: string | null;
  /** Name of the variant; null: the ordinary prices. */
  charged: string | null;
}

/** The one set of prices that a request is charged at, as its ledger entry keeps it. */
export interface EntryPrice extends UnitPrices {
  /** The price version. */
  id: string;
  /** The tier that applied; left out where the version has no tiers. */
  tier?: TierRange;
  /** Left out where the version has no windows. */
  byClock?: ClockChoice;
  /** Left out: the request asked for none, and was charged at the ordinary prices. */
  variant?: VariantChoice;
  /** A version with tiers is no entry's price: `entryPrice` makes it one. */
  tiers?: never;
}

/** A price version as the catalog stores it: cache writes may have no price of their own. */
export interface CatalogPrice {
  input: PicoUsd;
  cacheHit: PicoUsd;
  cacheWrite5m: PicoUsd | null;
  cacheWrite1h: PicoUsd | null;
  output: PicoUsd;
  /** As in `TieredPrices`; empty: none. */
  tiers: readonly PriceTier[];
  /** As in `VersionPrice`; null: none. */
  maxPromptTokens: number | null;
  perUnit?: PerUnit;
  /** As in `TieredPrices`. */
  images?: ImagePrices;
  variants?: readonly PriceVariant[];
  /** Units that are to have no price although a vendor's public one is known; only on the way into the database. */
  without?: readonly ChargedUnit[];
  /** Left out: the same prices at every hour. */
  clock?: PriceClock;
}

/** The most tiers of one price version; the database holds the same bound. */
export const MAX_TIERS = 4;

/** Completes a catalog price: a cache write without a price is new context, so it costs the input price. */
export function unitPrices(
  price: Pick<CatalogPrice, keyof UnitPrices> &
    Partial<Pick<CatalogPrice, 'tiers' | 'perUnit' | 'images' | 'variants'>>,
): TieredPrices {
  const { tiers = [], perUnit = {}, images, variants = [] } = price;
  return {
    input: price.input,
    cacheHit: price.cacheHit,
    cacheWrite5m: price.cacheWrite5m ?? price.input,
    cacheWrite1h: price.cacheWrite1h ?? price.input,
    output: price.output,
    ...(tiers.length === 0 ? {} : { tiers }),
    ...(Object.keys(perUnit).length === 0 ? {} : { perUnit }),
    ...(images === undefined ? {} : { images }),
    ...(variants.length === 0 ? {} : { variants }),
  };
}

/** Tokens of the prompt: everything but the output. */
export function promptTokens({ input, cacheHit, cacheWrite5m, cacheWrite1h }: TokenPools): number {
  return input + cacheHit + cacheWrite5m + cacheWrite1h;
}

/** The set of prices of a prompt of this length. */
export function pricesAt(price: TieredPrices, prompt: number): UnitPrices {
  return price.tiers?.findLast(({ abovePromptTokens }) => prompt > abovePromptTokens) ?? price;
}

/** The tier of a prompt of this length; null: one set of prices is for every prompt. */
export function tierOf({ tiers }: TieredPrices, prompt: number): TierRange | null {
  return tiers === undefined ? null : rangeOf(tiers, prompt);
}

function rangeOf(tiers: readonly PriceTier[], prompt: number): TierRange {
  const bounds = tiers.map(({ abovePromptTokens }) => abovePromptTokens);
  return {
    above: bounds.findLast((bound) => prompt > bound) ?? null,
    upTo: bounds.find((bound) => prompt <= bound) ?? null,
  };
}

/** The prices of one request, by the length of its prompt, with the range of the tier. */
export function entryPrice(price: FrozenPrice, usage: TokenPools): EntryPrice {
  const { id, tiers, byClock, variant } = price;
  if (tiers === undefined) return price as UnitPrices & { id: string; byClock?: ClockChoice };
  const prompt = promptTokens(usage);
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = pricesAt(price, prompt);
  return {
    id,
    input,
    cacheHit,
    cacheWrite5m,
    cacheWrite1h,
    output,
    tier: rangeOf(tiers, prompt),
    ...(variant === undefined ? {} : { variant }),
    ...(byClock === undefined ? {} : { byClock }),
  };
}

/**
 * The dearest prices, pool by pool, that a prompt of at most `maxPrompt` tokens can come to. Money is reserved at them;
 * nothing is charged at them.
 */
export function dearestWithin(price: TieredPrices, maxPrompt: number): UnitPrices {
  const { tiers } = price;
  if (tiers === undefined) return price;
  let dearest: UnitPrices = price;
  for (const tier of tiers) if (maxPrompt > tier.abovePromptTokens) dearest = dearer(dearest, tier);
  return dearest;
}

/** The dearer price of each pool. */
export function dearer(a: UnitPrices, b: UnitPrices): UnitPrices {
  return {
    input: most(a.input, b.input),
    cacheHit: most(a.cacheHit, b.cacheHit),
    cacheWrite5m: most(a.cacheWrite5m, b.cacheWrite5m),
    cacheWrite1h: most(a.cacheWrite1h, b.cacheWrite1h),
    output: most(a.output, b.output),
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

/** Cost of the pools at the set of prices for a prompt of their length. */
export function tieredCost(pools: TokenPools, price: TieredPrices): PicoUsd {
  return cost(pools, price.tiers === undefined ? price : pricesAt(price, promptTokens(pools)));
}

/** The lines of an entry for what a request used. A unit without a price costs nothing and is kept nevertheless. */
export function unitLines(counts: UnitCounts, perUnit: PerUnit = {}): UnitLine[] {
  return chargedUnits.flatMap((unit) => {
    const count = Math.min(counts[unit] ?? 0, MAX_UNITS);
    return count > 0 ? [{ unit, count, price: perUnit[unit] ?? 0n }] : [];
  });
}

export function unitCost(lines: readonly UnitLine[]): PicoUsd {
  return lines.reduce((sum, { count, price }) => sum + BigInt(count) * price, 0n);
}

/** What a ledger entry's cost follows from. */
export interface PricedUse {
  usage: TokenPools;
  price: UnitPrices;
  units?: readonly UnitLine[];
  lines?: readonly RunLine[];
}

/** Cost of a ledger entry: its tokens, its units and the runs of other models. */
export function entryCost({ usage, price, units, lines }: PricedUse): PicoUsd {
  let sum = cost(usage, price);
  if (units !== undefined) sum += unitCost(units);
  if (lines !== undefined) for (const line of lines) sum += cost(line.usage, line.price);
  return sum;
}

/** Prices by the piece as the database stores them: JSON numbers hold them exactly up to `MAX_UNIT_PRICE`. */
export function toStoredUnits(perUnit: PerUnit): Record<string, number> {
  return Object.fromEntries(Object.entries(perUnit).map(([unit, price]) => [unit, Number(price)]));
}

export function fromStoredUnits(stored: Partial<Record<ChargedUnit, number>>): PerUnit {
  const perUnit: PerUnit = {};
  for (const unit of chargedUnits) {
    const price = stored[unit];
    if (price !== undefined) perUnit[unit] = BigInt(price);
  }
  return perUnit;
}

/** Lines as the database stores them: whole numbers, which JSON holds exactly up to the bounds of pools and prices. */
export interface StoredRunLine {
  model: string;
  tokens: TokenPools;
  prices: Record<keyof UnitPrices, number>;
}

export function toStoredLines(lines: readonly RunLine[]): StoredRunLine[] {
  return lines.map(({ model, usage, price }) => ({
    model,
    tokens: usage,
    prices: {
      input: Number(price.input),
      cacheHit: Number(price.cacheHit),
      cacheWrite5m: Number(price.cacheWrite5m),
      cacheWrite1h: Number(price.cacheWrite1h),
      output: Number(price.output),
    },
  }));
}

/** Throws for what is no whole number. */
export function fromStoredLines(stored: readonly StoredRunLine[]): RunLine[] {
  return stored.map(({ model, tokens, prices }) => ({
    model,
    usage: tokens,
    price: {
      input: BigInt(prices.input),
      cacheHit: BigInt(prices.cacheHit),
      cacheWrite5m: BigInt(prices.cacheWrite5m),
      cacheWrite1h: BigInt(prices.cacheWrite1h),
      output: BigInt(prices.output),
    },
  }));
}

/** Tiers as the database stores them: whole pico-USD per token, which JSON numbers hold exactly up to `MAX_PRICE`. */
export interface StoredTier extends Record<keyof UnitPrices, number> {
  abovePromptTokens: number;
}

export function toStoredTiers(tiers: readonly PriceTier[]): StoredTier[] {
  return tiers.map((tier) => ({
    abovePromptTokens: tier.abovePromptTokens,
    input: Number(tier.input),
    cacheHit: Number(tier.cacheHit),
    cacheWrite5m: Number(tier.cacheWrite5m),
    cacheWrite1h: Number(tier.cacheWrite1h),
    output: Number(tier.output),
  }));
}

/** Reads stored tiers, rising. Throws for what no version of the server has written. */
export function fromStoredTiers(stored: readonly StoredTier[]): PriceTier[] {
  const tiers = stored.map((tier) => ({
    abovePromptTokens: tier.abovePromptTokens,
    input: BigInt(tier.input),
    cacheHit: BigInt(tier.cacheHit),
    cacheWrite5m: BigInt(tier.cacheWrite5m),
    cacheWrite1h: BigInt(tier.cacheWrite1h),
    output: BigInt(tier.output),
  }));
  return tiers.sort((a, b) => a.abovePromptTokens - b.abovePromptTokens);
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
