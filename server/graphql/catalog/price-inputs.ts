import { formatUsd } from '../../core/money.ts';
import { builder } from '../builder.ts';
import { given } from './changes.ts';
import { clockTexts, variantTexts } from './prices.ts';
import { WeekdayType } from './protocol.ts';

/** Prices as operators enter them: amounts of USD, for models and for what vendors charge. */

type Fields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

/** The five prices of tokens, in USD per 1M. */
const tokenPrices = (t: Fields) => ({
  input: t.field({ type: 'UsdAmount', required: true, description: 'New context.' }),
  cacheHit: t.field({
    type: 'UsdAmount',
    required: true,
    description: 'Context from the cache; lower than `input`.',
  }),
  cacheWrite5m: t.field({
    type: 'UsdAmount',
    description: 'Written to the five-minute cache; left out: as new context.',
  }),
  cacheWrite1h: t.field({
    type: 'UsdAmount',
    description: 'Written to the one-hour cache; left out: as new context.',
  }),
  output: t.field({ type: 'UsdAmount', required: true, description: 'What the model writes.' }),
});

const UnitPricesInput = builder.inputType('UnitPricesInput', {
  description: 'What is charged by the piece, in USD for one; what is left out has no price.',
  fields: (t) => ({
    search: t.field({ type: 'UsdAmount', description: 'One search that the vendor makes.' }),
    image: t.field({ type: 'UsdAmount', description: 'One image.' }),
    minute: t.field({ type: 'UsdAmount', description: 'One minute; begun ones count whole.' }),
  }),
});

const ImageTokenPricesInput = builder.inputType('ImageTokenPricesInput', {
  description: 'Prices of the tokens of images, in USD per 1M.',
  fields: (t) => ({
    input: t.field({ type: 'UsdAmount', required: true, description: 'Images that are sent.' }),
    cacheHit: t.field({
      type: 'UsdAmount',
      required: true,
      description: 'Images read from the cache; lower than `input`.',
    }),
    output: t.field({ type: 'UsdAmount', required: true, description: 'Images that are made.' }),
  }),
});

const ImagePriceInput = builder.inputType('ImagePriceInput', {
  description: 'The price of one image that is made; what is left out holds for all.',
  fields: (t) => ({
    quality: t.string({ description: "In the vendor's word, such as `high`." }),
    size: t.string({ description: 'Exactly this one, such as `1024x1024`.' }),
    upToPixels: t.int({ description: 'Every size of at most so many pixels.' }),
    price: t.field({ type: 'UsdAmount', required: true, description: 'USD for one.' }),
  }),
});

const ImagePricesInput = builder.inputType('ImagePricesInput', {
  description: 'What images cost.',
  fields: (t) => ({
    tokens: t.field({
      type: ImageTokenPricesInput,
      description: 'Tokens of images; left out: they cost as those of text.',
    }),
    each: t.field({
      type: [ImagePriceInput],
      description: 'One image by quality and size; left out: nothing beside its tokens.',
    }),
  }),
});

const PriceTierInput = builder.inputType('PriceTierInput', {
  description: 'Prices for longer prompts, in USD per 1M tokens: the whole request is charged at them.',
  fields: (t) => ({
    abovePromptTokens: t.int({
      required: true,
      description: 'For prompts of more tokens than this, all pools together.',
    }),
    ...tokenPrices(t),
  }),
});

const PriceWindowInput = builder.inputType('PriceWindowInput', {
  description: clockTexts.window,
  fields: (t) => ({
    weekdays: t.field({ type: [WeekdayType], required: true, description: clockTexts.weekdays }),
    hours: t.stringList({ required: true, description: clockTexts.hours }),
    ...tokenPrices(t),
    tiers: t.field({ type: [PriceTierInput], description: clockTexts.tiers }),
  }),
});

const PriceClockInput = builder.inputType('PriceClockInput', {
  description: clockTexts.clock,
  fields: (t) => ({
    timeZone: t.string({ required: true, description: clockTexts.timeZone }),
    exceptDates: t.stringList({ description: clockTexts.exceptDates }),
    windows: t.field({ type: [PriceWindowInput], required: true, description: clockTexts.windows }),
  }),
});

const PriceVariantInput = builder.inputType('PriceVariantInput', {
  description: 'Prices by what is served: either `times`, or a set of prices.',
  fields: (t) => ({
    name: t.string({ required: true, description: variantTexts.name }),
    times: t.string({ description: 'All prices and tiers times this: `0.5` is half.' }),
    input: t.field({ type: 'UsdAmount', description: 'New context.' }),
    cacheHit: t.field({ type: 'UsdAmount', description: 'Context from the cache; lower than `input`.' }),
    cacheWrite5m: t.field({ type: 'UsdAmount', description: 'Written to the five-minute cache.' }),
    cacheWrite1h: t.field({ type: 'UsdAmount', description: 'Written to the one-hour cache.' }),
    output: t.field({ type: 'UsdAmount', description: 'What the model writes.' }),
    tiers: t.field({ type: [PriceTierInput], description: 'At the lengths of the ordinary ones.' }),
  }),
});

export const PricesInput = builder.inputType('PricesInput', {
  description: 'What a million tokens cost, in USD with at most 6 decimals, and what is charged beside them.',
  fields: (t) => ({
    ...tokenPrices(t),
    tiers: t.field({ type: [PriceTierInput], description: 'Other prices for longer prompts; left out: none.' }),
    clock: t.field({ type: PriceClockInput, description: 'Other prices for hours of the week; left out: none.' }),
    variants: t.field({ type: [PriceVariantInput], description: `${variantTexts.variants} Left out: none.` }),
    perUnit: t.field({ type: UnitPricesInput, description: 'What is charged by the piece; left out: nothing.' }),
    images: t.field({ type: ImagePricesInput, description: 'What images cost; left out: no separate prices.' }),
  }),
});

/** Prices in the form of the catalog's own checks, which take decimal strings and name the member that is wrong. */
export function decimalPrices(prices: object): Record<string, unknown> {
  // The catalog stores the days of a window as `days`.
  const members = Object.entries(given(prices)).map(([name, value]) => [
    name === 'weekdays' ? 'days' : name,
    decimals(value),
  ]);
  return Object.fromEntries(members) as Record<string, unknown>;
}

function decimals(value: unknown): unknown {
  if (typeof value === 'bigint') return formatUsd(value);
  if (Array.isArray(value)) return value.map(decimals);
  return typeof value === 'object' && value !== null ? decimalPrices(value) : value;
}
