import type { CatalogOutcome } from '../../catalog/changes.ts';
import type { ImagePrice, ImagePrices, ImageTokenPrices } from '../../core/image-price.ts';
import type { PerUnit, PriceVariant, PriceWindow, UnitPrices } from '../../core/price.ts';
import { decodeId } from '../access.ts';
import { builder, type ObjectFields } from '../builder.ts';
import { InputError, NotFoundError } from '../types/errors.ts';
import { WeekdayType } from './protocol.ts';

/** Shared by the catalog's mutations: refusals, names in inputs, prices per million. */

export const changeErrors = [InputError, NotFoundError];

/**
 * Throws the refusal of a change. `below`: the argument that carries the input; `elsewhere`: the paths of members that
 * the arguments place or name differently.
 */
export function throwCatalogRefusal(
  outcome: CatalogOutcome,
  below: string[] = ['input'],
  elsewhere: Record<string, string[]> = {},
): void {
  if (outcome.kind === 'unknown') throw new NotFoundError(outcome.what);
  if (outcome.kind !== 'invalid') return;
  throw new InputError(
    outcome.problems.map(({ path, message }) => {
      const [member = ''] = path;
      const place = path.length === 1 && Object.hasOwn(elsewhere, member) ? elsewhere[member] : undefined;
      if (place === undefined) return { path: [...below, ...path], message };
      return { path: place, message: message.replace(`${member} `, `${place.at(-1)} `) };
    }),
  );
}

/** Operators may name a model or an upstream by its own id or by its global one. */
export const named = (type: string, id: string): string => decodeId(type, id) ?? id;

/** Missing members are left to the domain's defaults. */
export function given(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}

export const price = (picoPerToken: bigint) => picoPerToken * 1_000_000n;
export const optionalPrice = (picoPerToken: bigint | null) => (picoPerToken === null ? null : price(picoPerToken));

const ImageTokenPricesType = builder.objectRef<ImageTokenPrices>('ImageTokenPrices').implement({
  description: 'Prices of the tokens of images, in USD per 1M.',
  authScopes: { public: true },
  fields: (t) => ({
    input: t.field({
      type: 'UsdAmount',
      description: 'Images that are sent.',
      resolve: ({ input }) => price(input),
    }),
    cacheHit: t.field({
      type: 'UsdAmount',
      description: 'Images read from the cache.',
      resolve: ({ cacheHit }) => price(cacheHit),
    }),
    output: t.field({
      type: 'UsdAmount',
      description: 'Images that are made.',
      resolve: ({ output }) => price(output),
    }),
  }),
});

const ImagePriceType = builder.objectRef<ImagePrice>('ImagePrice').implement({
  description: 'The price of one image that is made.',
  authScopes: { public: true },
  fields: (t) => ({
    quality: t.string({
      nullable: true,
      description: "In the vendor's word; null: every one.",
      resolve: ({ quality }) => quality ?? null,
    }),
    size: t.string({
      nullable: true,
      description: 'Exactly this one, such as `1024x1024`; null: every one.',
      resolve: ({ size }) => size ?? null,
    }),
    upToPixels: t.int({
      nullable: true,
      description: 'Every size of at most so many pixels; null: no bound.',
      resolve: ({ upToPixels }) => upToPixels ?? null,
    }),
    price: t.field({ type: 'UsdAmount', description: 'USD for one.', resolve: ({ price: usd }) => usd }),
  }),
});

export const ImagePricesType = builder.objectRef<ImagePrices>('ImagePrices').implement({
  description: 'What images cost, beside the text of a request.',
  authScopes: { public: true },
  fields: (t) => ({
    tokens: t.field({
      type: ImageTokenPricesType,
      nullable: true,
      description: 'Tokens of images; null: they cost as those of text.',
      resolve: ({ tokens }) => tokens ?? null,
    }),
    each: t.field({
      type: [ImagePriceType],
      description:
        'One image, by quality and size; the most exact line counts. Empty: it costs nothing beside its tokens.',
      // Of the price's own row.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ each }) => [...(each ?? [])],
    }),
  }),
});

/** Prices by the piece, of a model or of a route. */
export const UnitPricesType = builder.objectRef<PerUnit>('UnitPrices').implement({
  description: 'What is charged by the piece, in USD for one; null: it has no price.',
  authScopes: { public: true },
  fields: (t) => ({
    search: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'One search that the vendor makes.',
      resolve: ({ search }) => search ?? null,
    }),
    image: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'One image.',
      resolve: ({ image }) => image ?? null,
    }),
    minute: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'One minute; begun ones count whole.',
      resolve: ({ minute }) => minute ?? null,
    }),
  }),
});

/** Prices of tokens that every set of prices has, in USD per 1M. */
const basePrices = <Shape extends Pick<UnitPrices, 'input' | 'cacheHit' | 'output'>>(
  t: Pick<ObjectFields<Shape>, 'field'>,
) => ({
  input: t.field({ type: 'UsdAmount', description: 'New context.', resolve: (prices: Shape) => price(prices.input) }),
  cacheHit: t.field({
    type: 'UsdAmount',
    description: 'Context from the cache.',
    resolve: (prices: Shape) => price(prices.cacheHit),
  }),
  output: t.field({
    type: 'UsdAmount',
    description: 'What the model writes.',
    resolve: (prices: Shape) => price(prices.output),
  }),
});

interface StoredPrices extends Pick<UnitPrices, 'input' | 'cacheHit' | 'output'> {
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
}

/** The five prices as an operator entered them. */
export const enteredPrices = <Shape extends StoredPrices>(t: Pick<ObjectFields<Shape>, 'field'>) => ({
  ...basePrices<Shape>(t),
  cacheWrite5m: t.field({
    type: 'UsdAmount',
    nullable: true,
    description: 'Written to the five-minute cache; null: as new context.',
    resolve: (prices: Shape) => optionalPrice(prices.cacheWrite5m),
  }),
  cacheWrite1h: t.field({
    type: 'UsdAmount',
    nullable: true,
    description: 'Written to the one-hour cache; null: as new context.',
    resolve: (prices: Shape) => optionalPrice(prices.cacheWrite1h),
  }),
});

/** The five prices that count. */
const countingPrices = <Shape extends UnitPrices>(t: Pick<ObjectFields<Shape>, 'field'>) => ({
  ...basePrices<Shape>(t),
  cacheWrite5m: t.field({
    type: 'UsdAmount',
    description: 'Written to the five-minute cache.',
    resolve: (prices: Shape) => price(prices.cacheWrite5m),
  }),
  cacheWrite1h: t.field({
    type: 'UsdAmount',
    description: 'Written to the one-hour cache.',
    resolve: (prices: Shape) => price(prices.cacheWrite1h),
  }),
});

interface TierView extends UnitPrices {
  abovePromptTokens: number;
}

/** A tier as operators see it: of a model's price version or of a route's costs. */
export const PriceTierType = builder.objectRef<TierView>('PriceTier').implement({
  description: 'Prices for longer prompts, in USD per 1M tokens: the whole request is charged at them.',
  authScopes: { operator: true },
  fields: (t) => ({
    abovePromptTokens: t.exposeInt('abovePromptTokens', {
      description: 'For prompts of more tokens than this, all pools together.',
    }),
    ...countingPrices(t),
  }),
});

interface ClockView<Window> {
  timeZone: string;
  exceptDates: readonly string[];
  windows: readonly Window[];
}

/** What the schema says of prices by what is served, in answers and inputs. */
export const variantTexts = {
  variants: 'Other prices by what a request asks for and its vendor serves: a tier, a speed, a region, a batch.',
  name: "What chooses it: the value of a tier, a speed or a region that a request asks for, in its vendor's word (`flex`, `fast`, also for `priority`, `us`), `batch` for batches; with `+` between several, sorted: what they cost together.",
};

/** What the schema says of prices by the clock, in answers and inputs. */
export const clockTexts = {
  clock: 'Prices by the clock, in USD per 1M tokens: outside of all windows the ordinary prices count.',
  timeZone: 'IANA name of the time zone of days, hours and dates, such as `Asia/Shanghai`.',
  exceptDates: 'Dates on which no window begins, `YYYY-MM-DD`: public holidays that the vendor leaves out.',
  windows: 'Each has prices of its own; no two have a minute in common.',
  window: 'Prices for hours of the week: a request that is accepted in them is charged wholly at these.',
  days: '`mon` to `sun`: the days on which the hours begin.',
  weekdays: 'The days on which the hours begin.',
  hours:
    'Periods of the day, `HH:MM-HH:MM`, the end excluded; an end that is not after the beginning is on the next day.',
  tiers: 'Prices of the window for longer prompts, with the bounds of the ordinary ones.',
};

const PriceWindowType = builder.objectRef<PriceWindow>('PriceWindow').implement({
  description: clockTexts.window,
  authScopes: { operator: true },
  fields: (t) => ({
    weekdays: t.field({
      type: [WeekdayType],
      description: clockTexts.weekdays,
      resolve: ({ days }) => [...days],
    }),
    hours: t.stringList({ description: clockTexts.hours, resolve: ({ hours }) => [...hours] }),
    ...countingPrices(t),
    tiers: t.field({
      type: [PriceTierType],
      description: clockTexts.tiers,
      // Of the price's own row.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ tiers }) => [...tiers],
    }),
  }),
});

/** A variant as operators see it: of a model's price version or of a route's costs. */
export const PriceVariantType = builder.objectRef<PriceVariant>('PriceVariant').implement({
  description: 'Prices by what a request asks for and its vendor serves, in USD per 1M tokens.',
  authScopes: { operator: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: variantTexts.name }),
    ...countingPrices(t),
    tiers: t.field({
      type: [PriceTierType],
      description: 'Its prices for longer prompts, at the lengths of the ordinary ones.',
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ tiers }) => [...tiers],
    }),
  }),
});

/** A clock as operators see it: of a model's price version or of a route's costs. */
export const PriceClockType = builder.objectRef<ClockView<PriceWindow>>('PriceClock').implement({
  description: clockTexts.clock,
  authScopes: { operator: true },
  fields: (t) => ({
    timeZone: t.exposeString('timeZone', { description: clockTexts.timeZone }),
    exceptDates: t.stringList({
      description: clockTexts.exceptDates,
      resolve: ({ exceptDates }) => [...exceptDates],
    }),
    windows: t.field({
      type: [PriceWindowType],
      description: clockTexts.windows,
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ windows }) => [...windows],
    }),
  }),
});
