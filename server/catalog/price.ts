import { z } from 'zod';
import { type ImagePrices, MAX_IMAGE_PRICES } from '../core/image-price.ts';
import { parsePrice, parseUsd } from '../core/money.ts';
import {
  type ChargedUnit,
  chargedUnits,
  MAX_EXCEPT_DATES,
  MAX_PERIODS,
  MAX_TIERS,
  MAX_UNIT_PRICE,
  MAX_VARIANTS,
  MAX_WINDOWS,
  type PerUnit,
  type PriceClock,
  type PriceTier,
  type PriceVariant,
  type Weekday,
  weekdays,
} from '../core/price.ts';
import { haveOverlap, isTimeZone, parsePeriod, sameBounds } from '../core/price-clock.ts';
import { isVariantName, multiplied, parseTimes } from '../core/price-variants.ts';

/**
 * Validates prices: USD per 1,000,000 tokens, decimal text with at most 6 decimals, at most 10,000. Text avoids
 * rounding: such a price is a whole number of pico-USD per token, and a cost is exact.
 */
const sentence = 'must be USD per 1M tokens as text from "0" to "10000" with at most 6 decimals';

/** Text to pico-USD per token. */
const priceText = z.string(sentence).transform((text, context) => {
  const value = parsePrice(text);
  if (value !== null) return value;
  context.addIssue({ code: 'custom', message: sentence, input: text });
  return z.NEVER;
});

const optionalPrice = priceText.nullish().transform((price) => price ?? null);

const promptBound = z
  .int('must be a whole number of tokens')
  .min(1, 'must be at least 1')
  .max(100_000_000, 'must be at most 100000000');

/** One price for each pool; a cache write may have none of its own. */
const fivePrices = {
  input: priceText.describe('New context, USD per 1,000,000 tokens as text.'),
  cacheHit: priceText.describe('Context read from the cache. Lower than `input`, or both 0.'),
  cacheWrite5m: optionalPrice.describe('Context written to the five-minute cache. Left out: as `input`.'),
  cacheWrite1h: optionalPrice.describe('Context written to the one-hour cache. Left out: as `input`.'),
  output: priceText.describe('What the model writes, its reasoning included.'),
};

/** A cache hit is cheaper than new context; only a free model has both at zero. */
const cheaperHit = {
  path: ['cacheHit'],
  error: 'must be lower than the input price (or both 0)',
  // The two are compared whenever both are valid prices, whatever else is wrong.
  when: ({ value }: { value: unknown }) => isPrice(value, 'input') && isPrice(value, 'cacheHit'),
};

function isHitCheaper({ input, cacheHit }: { input: bigint; cacheHit: bigint }): boolean {
  return cacheHit < input || (cacheHit === 0n && input === 0n);
}

/** A cache write of a tier without its own price costs the tier's input price. */
function completed<Tier extends { input: bigint; cacheWrite5m: bigint | null; cacheWrite1h: bigint | null }>(
  tier: Tier,
) {
  return { ...tier, cacheWrite5m: tier.cacheWrite5m ?? tier.input, cacheWrite1h: tier.cacheWrite1h ?? tier.input };
}

const unitSentence = 'must be USD for one as text from "0" to "10", such as "0.01"';

const pieceText = z.string(unitSentence).transform((text, context) => {
  const value = parseUsd(text);
  if (value !== null && value <= MAX_UNIT_PRICE) return value;
  context.addIssue({ code: 'custom', message: unitSentence, input: text });
  return z.NEVER;
});

const unitPrice = pieceText.nullish();

/** What is charged by the piece, in USD for one. `off`: units that are to have no price. */
const perUnit = z
  .strictObject({
    search: unitPrice.describe(
      "One search that the vendor makes, USD as text. Left out: the vendor's public price where its profile knows one; `null`: none.",
    ),
    image: unitPrice.describe('One image, USD as text.'),
    minute: unitPrice.describe('One minute, begun ones whole, USD as text.'),
  })
  .nullish()
  .transform((given): { priced: PerUnit; off: ChargedUnit[] } => {
    const { search, image, minute } = given ?? {};
    return {
      priced: {
        ...(search == null ? {} : { search }),
        ...(image == null ? {} : { image }),
        ...(minute == null ? {} : { minute }),
      },
      off: chargedUnits.filter((unit) => given?.[unit] === null),
    };
  });

const imageWord = z
  .string('must be text')
  .regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, 'must be a word of the vendor such as "high" or "1024x1024"')
  .nullish();

const imagePrice = z
  .strictObject({
    quality: imageWord.describe("The quality in the vendor's word, such as `high`. Left out: every one."),
    size: imageWord.describe('Exactly this size, such as `1024x1024`. Left out: every one.'),
    upToPixels: z
      .int('must be a whole number of pixels')
      .min(1, 'must be at least 1')
      .max(1_000_000_000, 'must be at most 1000000000')
      .nullish()
      .describe('Every size of at most so many pixels, width times height.'),
    price: pieceText.describe('One such image, USD as text.'),
  })
  .refine(({ size, upToPixels }) => size == null || upToPixels == null, 'must not have both size and upToPixels')
  .transform(({ quality, size, upToPixels, price }) => ({
    ...(quality == null ? {} : { quality }),
    ...(size == null ? {} : { size }),
    ...(upToPixels == null ? {} : { upToPixels }),
    price,
  }));

/** Prices of images; null and left out: none of their own. */
const images = z
  .strictObject({
    tokens: z
      .strictObject({
        input: priceText.describe('Images that are sent, USD per 1,000,000 tokens as text.'),
        cacheHit: priceText.describe('Images read from the cache. Lower than `input`, or both 0.'),
        output: priceText.describe('Images that are made.'),
      })
      .refine(isHitCheaper, cheaperHit)
      .nullish()
      .describe('Tokens of images, where the vendor counts them apart. Left out: they cost as those of text.'),
    each: z
      .array(imagePrice, 'must be a list')
      .min(1, 'must have an entry')
      .max(MAX_IMAGE_PRICES, `must have at most ${MAX_IMAGE_PRICES} entries`)
      .nullish()
      .describe(
        'One image that is made, by quality and size, beside its tokens. The most exact line counts; what fits none costs as the dearest.',
      ),
  })
  .refine(({ tokens, each }) => tokens != null || each != null, 'must have tokens or each')
  .transform(
    ({ tokens, each }): ImagePrices => ({
      ...(tokens == null ? {} : { tokens }),
      ...(each == null ? {} : { each }),
    }),
  )
  .nullish();

const tierShape = z.strictObject({
  abovePromptTokens: promptBound.describe('For prompts of more tokens than this, all pools together.'),
  ...fivePrices,
});

function tiersOf<Tier extends { abovePromptTokens: number }>(tier: z.ZodType<Tier>) {
  return z
    .array(tier, 'must be a list')
    .max(MAX_TIERS, `must have at most ${MAX_TIERS} entries`)
    .refine(
      (tiers) => new Set(tiers.map(({ abovePromptTokens }) => abovePromptTokens)).size === tiers.length,
      'must not name the same abovePromptTokens twice',
    )
    .nullish()
    .transform((tiers) => [...(tiers ?? [])].sort((a, b) => a.abovePromptTokens - b.abovePromptTokens));
}

const periods = z
  .array(
    z
      .string('must be text')
      .refine(
        (text) => parsePeriod(text) !== null,
        'must be a period of the day such as "09:00-12:00", to "24:00" at most',
      ),
    'must be a list',
  )
  .min(1, 'must name a period')
  .max(MAX_PERIODS, `must have at most ${MAX_PERIODS} entries`)
  .transform((list) => [...list].sort())
  .describe(
    'Periods of the day, `HH:MM-HH:MM`, the end excluded. One that does not end after it begins ends on the next day.',
  );

const days = z
  .array(z.enum(weekdays, `must be ${weekdays.join(', ')}`), 'must be a list')
  .min(1, 'must name a day')
  .refine((list) => new Set(list).size === list.length, 'must not name a day twice')
  .transform((list): Weekday[] => weekdays.filter((day) => list.includes(day)))
  .describe('Days of the week on which the periods begin.');

const exceptDates = z
  .array(z.iso.date('must be a date such as "2027-01-01"'), 'must be a list')
  .max(MAX_EXCEPT_DATES, `must have at most ${MAX_EXCEPT_DATES} entries`)
  .nullish()
  .transform((dates) => [...new Set(dates ?? [])].sort())
  .describe('Dates on which no window begins, in the time zone: public holidays that the vendor leaves out.');

/** Prices by the clock. `tier`: one of a model, or of what a route costs. */
function clockOf(tier: z.ZodType<PriceTier>, hit: 'cheaper' | 'any') {
  const window = z.strictObject({
    days,
    hours: periods,
    ...fivePrices,
    tiers: tiersOf(tier).describe('As `tiers` outside of the windows, with the same bounds.'),
  });
  return z
    .strictObject({
      timeZone: z
        .string('must be text')
        .refine(isTimeZone, 'must be a time zone such as "Asia/Shanghai"')
        .describe('The IANA name of the time zone of days, hours and dates.'),
      exceptDates,
      windows: z
        .array(
          (hit === 'cheaper' ? window.refine(isHitCheaper, cheaperHit) : window).transform(completed),
          'must be a list',
        )
        .min(1, 'must have a window')
        .max(MAX_WINDOWS, `must have at most ${MAX_WINDOWS} entries`)
        .refine((windows) => !haveOverlap(windows), 'must not have a minute of the week in common')
        .describe('Each has prices of its own. A request is charged at those of the moment at which it is accepted.'),
    })
    .nullish();
}

/** A window has a set for every length that the ordinary prices tell apart: what a long prompt costs is never a guess. */
const windowBounds = {
  path: ['clock', 'windows'],
  error: 'must each have tiers with the same abovePromptTokens as the prices outside of them',
};

function haveSameBounds({ tiers, clock }: { tiers: readonly PriceTier[]; clock?: PriceClock }): boolean {
  return clock === undefined || clock.windows.every((window) => sameBounds(window.tiers, tiers));
}

const timesText = z.string('must be text').transform((text, context) => {
  const millionths = parseTimes(text);
  if (millionths !== null) return millionths;
  context.addIssue({
    code: 'custom',
    message: 'must be a factor as text, such as "0.5", above 0 and at most "100"',
    input: text,
  });
  return z.NEVER;
});

/** Variants of the prices: each a factor on all of them, or a separate set. `tier` and `hit`: as of a clock. */
function variantsOf(tier: z.ZodType<PriceTier>, hit: 'cheaper' | 'any') {
  const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();
  const variant = z
    .strictObject({
      name: z
        .string('must be text')
        .refine(
          isVariantName,
          'must be a word such as "flex", or several in order with "+" between them, such as "fast+us"',
        )
        .describe(
          'What chooses it: the value of `service_tier`, `speed` or `inference_geo` (such as `flex`, `priority`, `fast`, `us`), or `batch`. Several, sorted, with `+` between them: what they cost together.',
        ),
      times: optional(timesText).describe(
        'All prices and tiers times this, in place of prices: `0.5` is half. Rounded up to a millionth of a USD per 1,000,000 tokens.',
      ),
      input: optional(priceText).describe('As outside of the variants; left out with `times`.'),
      cacheHit: optional(priceText).describe('As outside of the variants; left out with `times`.'),
      cacheWrite5m: optionalPrice.describe('Left out: as `input` of the variant.'),
      cacheWrite1h: optionalPrice.describe('Left out: as `input` of the variant.'),
      output: optional(priceText).describe('As outside of the variants; left out with `times`.'),
      tiers: tiersOf(tier).describe('As `tiers` of the ordinary prices, with the same bounds; left out with `times`.'),
    })
    .transform(({ name, times, input, cacheHit, output, ...others }, context): GivenVariant => {
      if (times != null && input == null && cacheHit == null && output == null && others.tiers.length === 0)
        return { name, times };
      const sentence = (message: string, path: readonly string[] = []) => {
        // Zod writes where the value stands into the very list that it is given.
        context.addIssue({ code: 'custom', message, path: [...path] });
        return z.NEVER;
      };
      if (times != null || input == null || cacheHit == null || output == null)
        return sentence('must have either times, or input, cacheHit and output');
      if (hit === 'cheaper' && !isHitCheaper({ input, cacheHit })) return sentence(cheaperHit.error, cheaperHit.path);
      return { name, cacheHit, output, ...completed({ ...others, input }) };
    });
  return z
    .array(variant, 'must be a list')
    .max(MAX_VARIANTS, `must have at most ${MAX_VARIANTS} entries`)
    .refine(
      (list) => new Set(list.map(({ name }) => name)).size === list.length,
      'must not name the same variant twice',
    )
    .nullish();
}

type GivenVariant = { name: string; times: bigint } | PriceVariant;

const variantBounds = {
  path: ['variants'],
  error: 'must each have tiers with the same abovePromptTokens as the ordinary prices',
};

function haveVariantBounds({ tiers, variants }: { tiers: readonly PriceTier[]; variants?: readonly PriceVariant[] }) {
  return (variants ?? []).every((variant) => sameBounds(variant.tiers, tiers));
}

const clockOrVariants = {
  path: ['variants'],
  error: 'cannot be given together with a clock: a price has other sets by the hour or by what was asked for, not both',
};

function hasOneOfBoth({ clock, variants }: { clock?: PriceClock; variants?: readonly PriceVariant[] }): boolean {
  return clock === undefined || variants === undefined;
}

/** What a factor multiplies. */
interface Ordinary {
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
  output: bigint;
  tiers: readonly PriceTier[];
}

/** Variants as sets of their own, by name; left out where none are given. */
function withVariants<Prices extends Ordinary & { variants?: readonly GivenVariant[] | null | undefined }>({
  variants,
  ...prices
}: Prices) {
  return { ...prices, ...(variants == null || variants.length === 0 ? {} : { variants: setsOf(variants, prices) }) };
}

function setsOf(variants: readonly GivenVariant[], ordinary: Ordinary): PriceVariant[] {
  const sets = variants.map((variant) =>
    'times' in variant ? { name: variant.name, ...multiplied(completed(ordinary), variant.times) } : variant,
  );
  return sets.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Leaves out a clock and prices of images that are not given, and tells units without a price from those that were not spoken of. */
function settled<
  Prices extends {
    clock?: PriceClock | null | undefined;
    images?: ImagePrices | null | undefined;
    perUnit: { priced: PerUnit; off: ChargedUnit[] };
  },
>({ clock, images, perUnit: { priced, off }, ...prices }: Prices) {
  return {
    ...prices,
    perUnit: priced,
    ...(off.length === 0 ? {} : { without: off }),
    ...(images == null ? {} : { images }),
    ...(clock == null ? {} : { clock }),
  };
}

/** Prices of a model: five of them, other sets of five for longer prompts, and others for hours of the week. */
export const pricesInput = z
  .strictObject({
    ...fivePrices,
    tiers: tiersOf(tierShape.refine(isHitCheaper, cheaperHit).transform(completed)).describe(
      'Other prices for longer prompts. The whole request is charged at the set that applies, its output included.',
    ),
    clock: clockOf(tierShape.refine(isHitCheaper, cheaperHit).transform(completed), 'cheaper').describe(
      'Other prices for some hours of the week.',
    ),
    variants: variantsOf(tierShape.refine(isHitCheaper, cheaperHit).transform(completed), 'cheaper').describe(
      'Other prices by what a request asks for and its vendor serves: `service_tier`, `speed`, `inference_geo`, a batch. What has no variant is refused by name.',
    ),
    perUnit: perUnit.describe('What is charged by the piece, for what `allow` opens.'),
    images: images.describe('What images cost, for models of the kind `image`.'),
    maxPromptTokens: promptBound
      .nullish()
      .transform((bound) => bound ?? null)
      .describe(
        'The longest prompt that has a price. A prompt that may be longer, by its bytes, is refused. Left out: whatever the upstream takes.',
      ),
  })
  .refine(isHitCheaper, cheaperHit)
  .transform(settled)
  .transform(withVariants)
  .refine(haveSameBounds, windowBounds)
  .refine(haveVariantBounds, variantBounds)
  .refine(hasOneOfBoth, clockOrVariants);

function isPrice(prices: unknown, name: 'input' | 'cacheHit'): boolean {
  return typeof prices === 'object' && prices !== null && typeof Reflect.get(prices, name) === 'bigint';
}

/** Costs of a route for the operator: the same members, but a cache hit may cost as much as input. */
export const costsInput = z
  .strictObject({
    input: priceText.describe('Cost of new context, USD per 1,000,000 tokens as text.'),
    cacheHit: priceText.describe('Cost of context read from the cache.'),
    cacheWrite5m: optionalPrice.describe('Cost of context written to the five-minute cache. Left out: as `input`.'),
    cacheWrite1h: optionalPrice.describe('Cost of context written to the one-hour cache. Left out: as `input`.'),
    output: priceText.describe('Cost of what the model writes.'),
    tiers: tiersOf(tierShape.transform(completed)).describe('Other costs for longer prompts.'),
    clock: clockOf(tierShape.transform(completed), 'any').describe('Other costs for some hours of the week.'),
    variants: variantsOf(tierShape.transform(completed), 'any').describe(
      'Other costs by what the vendor served, as `variants` of the prices.',
    ),
    perUnit: perUnit.describe('What the vendor charges by the piece.'),
    images: images.describe('What the vendor charges for images.'),
  })
  .transform(settled)
  .transform(withVariants)
  .refine(haveSameBounds, windowBounds)
  .refine(haveVariantBounds, variantBounds)
  .refine(hasOneOfBoth, clockOrVariants);
