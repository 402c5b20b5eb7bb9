import {
  fromStoredImages,
  type ImagePrice,
  type ImagePrices,
  type ImageTokenPrices,
  type StoredImagePrices,
} from '../../core/image-price.ts';
import {
  type CatalogPrice,
  type ClockedPrices,
  fromStoredTiers,
  fromStoredUnits,
  type PerUnit,
  type PriceClock,
  type PriceTier,
  type PriceVariant,
  type PriceWindow,
  type StoredTier,
  type UnitPrices,
  unitPrices,
} from '../../core/price.ts';
import { fromStoredClock, type StoredClock } from '../../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant } from '../../core/price-variants.ts';
import { listPlans, type Plan, type PlanPair, planPair, vndPerMillion } from '../../plans/plans.ts';
import { builder, type ObjectFields } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { WeekdayType } from './protocol.ts';

/** Prices as they are answered: one type for what customers pay, for price versions and for what vendors charge. */

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
  weekdays: 'The days on which the hours begin.',
  hours:
    'Periods of the day, `HH:MM-HH:MM`, the end excluded; an end that is not after the beginning is on the next day.',
  tiers: 'Prices of the window for longer prompts, with the bounds of the ordinary ones.',
};

const perMillion = (picoPerToken: bigint) => picoPerToken * 1_000_000n;

const ImageTokenPricesType = builder.objectRef<ImageTokenPrices>('ImageTokenPrices').implement({
  description: 'Prices of the tokens of images, in USD per 1M.',
  authScopes: { public: true },
  fields: (t) => ({
    input: t.field({
      type: 'UsdAmount',
      description: 'Images that are sent.',
      resolve: ({ input }) => perMillion(input),
    }),
    cacheHit: t.field({
      type: 'UsdAmount',
      description: 'Images read from the cache.',
      resolve: ({ cacheHit }) => perMillion(cacheHit),
    }),
    output: t.field({
      type: 'UsdAmount',
      description: 'Images that are made.',
      resolve: ({ output }) => perMillion(output),
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
    price: t.field({ type: 'UsdAmount', description: 'USD for one.', resolve: ({ price }) => price }),
  }),
});

const ImagePricesType = builder.objectRef<ImagePrices>('ImagePrices').implement({
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

const UnitPricesType = builder.objectRef<PerUnit>('UnitPrices').implement({
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

const pools = {
  input: 'New context.',
  cacheHit: 'Context read from the cache.',
  cacheWrite5m: 'Context written to the five-minute cache.',
  cacheWrite1h: 'Context written to the one-hour cache.',
  output: 'What the model writes.',
} as const;

/** A field for each of the five kinds of tokens. */
const poolFields = <Field>(field: (pool: keyof typeof pools, description: string) => Field) => ({
  input: field('input', pools.input),
  cacheHit: field('cacheHit', pools.cacheHit),
  cacheWrite5m: field('cacheWrite5m', pools.cacheWrite5m),
  cacheWrite1h: field('cacheWrite1h', pools.cacheWrite1h),
  output: field('output', pools.output),
});

const VndPricesType = builder.objectRef<{ prices: UnitPrices; plan: Plan }>('VndPrices').implement({
  description: 'Prices of a million tokens in VND, rounded to whole ones.',
  authScopes: { public: true },
  fields: (t) =>
    poolFields((pool, description) =>
      t.field({
        type: 'VndAmount',
        description,
        resolve: ({ prices, plan }) => vndPerMillion(prices[pool], plan),
      }),
    ),
});

/** One query an operation, however many prices are asked for. */
const pairs = new WeakMap<GraphqlContext, Promise<PlanPair>>();

function pairOf(context: GraphqlContext): Promise<PlanPair> {
  let pair = pairs.get(context);
  if (pair === undefined) {
    pair = listPlans(context.db).then(planPair);
    pairs.set(context, pair);
  }
  return pair;
}

/** The prices of the five kinds of tokens in USD, and what they are in VND. */
const tokenPrices = <Shape extends UnitPrices>(t: Pick<ObjectFields<Shape>, 'field'>) => {
  const inVnd = (plan: keyof PlanPair, description: string) =>
    t.field({
      type: VndPricesType,
      nullable: true,
      description,
      resolve: async (prices: Shape, _args: object, context: GraphqlContext) => {
        const { [plan]: at } = await pairOf(context);
        return at === null ? null : { prices, plan: at };
      },
    });
  return {
    ...poolFields((pool, description) =>
      t.field({ type: 'UsdAmount', description, resolve: (prices: Shape) => perMillion(prices[pool]) }),
    ),
    vndAtStarter: inVnd('starter', 'In VND, at what the Starter plan asks for a USD; null while no plan is on sale.'),
    vndAtBest: inVnd('best', 'In VND, at what the best plan asks for a USD; null while no plan is on sale.'),
  };
};

const PriceTierType = builder.objectRef<PriceTier>('PriceTier').implement({
  description:
    'Prices for longer prompts, in USD per 1M tokens: the whole request is charged at them, what the model writes included.',
  authScopes: { public: true },
  fields: (t) => ({
    abovePromptTokens: t.exposeInt('abovePromptTokens', {
      description: 'For prompts of more tokens than this, all pools together.',
    }),
    ...tokenPrices(t),
  }),
});

const PriceWindowType = builder.objectRef<PriceWindow>('PriceWindow').implement({
  description: clockTexts.window,
  authScopes: { public: true },
  fields: (t) => ({
    weekdays: t.field({
      type: [WeekdayType],
      description: clockTexts.weekdays,
      resolve: ({ days }) => [...days],
    }),
    hours: t.stringList({ description: clockTexts.hours, resolve: ({ hours }) => [...hours] }),
    ...tokenPrices(t),
    tiers: t.field({
      type: [PriceTierType],
      description: clockTexts.tiers,
      // Of the price's own row.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ tiers }) => [...tiers],
    }),
  }),
});

const PriceClockType = builder.objectRef<PriceClock>('PriceClock').implement({
  description: clockTexts.clock,
  authScopes: { public: true },
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

const PriceVariantType = builder.objectRef<PriceVariant>('PriceVariant').implement({
  description: 'Prices by what a request asks for and its vendor serves, in USD per 1M tokens.',
  authScopes: { public: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: variantTexts.name }),
    ...tokenPrices(t),
    tiers: t.field({
      type: [PriceTierType],
      description: 'Its prices for longer prompts, at the lengths of the ordinary ones.',
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ tiers }) => [...tiers],
    }),
  }),
});

/** All prices of a model or of a route. */
export const PricesType = builder.objectRef<ClockedPrices>('Prices').implement({
  description: 'What a million tokens cost, in USD, and what is charged beside them.',
  authScopes: { public: true },
  fields: (t) => ({
    ...tokenPrices(t),
    tiers: t.field({
      type: [PriceTierType],
      description: 'Other prices for longer prompts, rising by the length from which they count; empty: none.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ tiers }) => [...(tiers ?? [])],
    }),
    clock: t.field({
      type: PriceClockType,
      nullable: true,
      description: 'Other prices for hours of the week; null: the same at every hour.',
      resolve: ({ clock }) => clock ?? null,
    }),
    variants: t.field({
      type: [PriceVariantType],
      description: `${variantTexts.variants} Empty: none.`,
      // Of the price's own row, where no clock can stand beside them.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ variants }) => [...(variants ?? [])],
    }),
    perUnit: t.field({
      type: UnitPricesType,
      description: 'What is charged by the piece, beside the tokens.',
      resolve: ({ perUnit }) => perUnit ?? {},
    }),
    images: t.field({
      type: ImagePricesType,
      nullable: true,
      description: 'What images cost; null: they have no separate prices.',
      resolve: ({ images }) => images ?? null,
    }),
  }),
});

/** Prices as the catalog stores them, complete: a cache write without a price costs what new context does. */
export function wholePrices({ clock, ...prices }: Omit<CatalogPrice, 'maxPromptTokens' | 'without'>): ClockedPrices {
  return { ...unitPrices(prices), ...(clock === undefined ? {} : { clock }) };
}

/** A row's prices: of a price version or, by other names, of a route. */
export interface PriceRow
  extends Omit<CatalogPrice, 'tiers' | 'perUnit' | 'images' | 'variants' | 'clock' | 'maxPromptTokens'> {
  tiers: unknown;
  perUnit: unknown;
  images: unknown;
  variants: unknown;
  clock: unknown;
}

/** The prices of a row of the database, whose JSON columns the catalog has written. */
export function storedPrices({ tiers, perUnit, images, variants, clock, ...five }: PriceRow): ClockedPrices {
  return wholePrices({
    ...five,
    tiers: fromStoredTiers(tiers as StoredTier[]),
    perUnit: fromStoredUnits(perUnit as Record<string, number>),
    ...(images === null ? {} : { images: fromStoredImages(images as StoredImagePrices) }),
    ...(variants === null ? {} : { variants: fromStoredVariants(variants as StoredVariant[]) }),
    ...(clock === null ? {} : { clock: fromStoredClock(clock as StoredClock) }),
  });
}
