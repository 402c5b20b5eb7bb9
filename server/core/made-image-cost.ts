import { dearestImage, type ImageForm, type ImagePrices, plainForm, priceOfImage } from './image-price.ts';
import type { PicoUsd } from './money.ts';
import {
  dearestWithin,
  type TieredPrices,
  type UnitCounts,
  type UnitLine,
  type UnitPrices,
  unitLines,
} from './price.ts';
import type { ImageAsk, ToolImageAsk, ToolImageBound } from './request.ts';

/** What a request for images comes to: at most, from what it asks for, and exactly, from what was made. */

/**
 * Tokens of a first version of an image in a stream, beside those of the image:
 * https://developers.openai.com/api/docs/guides/image-generation#cost-and-latency
 */
export const tokensOfPartial = 100;

/** The fewest tokens of an image that is published: a small one of low quality. */
export const leastImageTokens = 196;

/**
 * The dearest prices that a request for images can come to, whatever of it is text or image: money is held at them. The price of an
 * image by the piece is that of the dearest that the request can get.
 */
export function pricesForImages(price: TieredPrices, { form }: Pick<ImageAsk, 'form'>): TieredPrices {
  const { images } = price;
  if (images === undefined) return price;
  const each = images.each === undefined ? undefined : dearestImage(images, form);
  return {
    ...withTokens(price, images),
    ...(price.tiers === undefined
      ? {}
      : { tiers: price.tiers.map((tier) => ({ ...tier, ...withTokens(tier, images) })) }),
    ...(each === undefined ? {} : { perUnit: { ...price.perUnit, image: each } }),
  };
}

function withTokens<Prices extends UnitPrices>(price: Prices, { tokens }: ImagePrices): Prices {
  if (tokens === undefined) return price;
  return {
    ...price,
    input: most(price.input, tokens.input),
    output: most(price.output, tokens.output),
  };
}

/**
 * The price of one image that was made. `made`: what the answer says of it; what it leaves open was as asked for, or the dearest.
 * Undefined: images have no price by the piece. Never more than the dearest that the request can get.
 */
export function priceOfMade(
  { images, perUnit = {} }: Pick<TieredPrices, 'images' | 'perUnit'>,
  asked: ImageForm,
  made: ImageForm,
): PicoUsd | undefined {
  if (images?.each === undefined) return perUnit.image;
  const form = plainForm(images, {
    quality: known(made.quality) ?? asked.quality,
    size: known(made.size) ?? asked.size,
  });
  const bound = dearestImage(images, asked);
  const price = form.quality === null || form.size === null ? dearestImage(images, form) : priceOfImage(images, form);
  return price < bound ? price : bound;
}

/** A model that makes images for a tool: its prices, and its window and the tokens of its dearest image. */
interface ToolPainter {
  price: TieredPrices;
  contextWindow: number;
  maxOutputTokens: number;
}

/** The most that one image of a tool can come to, whichever of these makes it. */
export function toolImageBound(
  ask: Pick<ToolImageAsk, 'form' | 'partials'>,
  makers: readonly ToolPainter[],
): ToolImageBound {
  const bound = { price: 0n, input: 0, output: 0 };
  for (const { price, contextWindow, maxOutputTokens } of makers) {
    const prices = pricesForImages(price, ask);
    const each = dearestWithin(prices, Number.POSITIVE_INFINITY);
    const output = maxOutputTokens + ask.partials * tokensOfPartial;
    const one = BigInt(contextWindow) * each.input + BigInt(output) * each.output + (prices.perUnit?.image ?? 0n);
    bound.price = most(bound.price, one);
    bound.input = Math.max(bound.input, contextWindow);
    bound.output = Math.max(bound.output, output);
  }
  return bound;
}

/** Prices with that of one image of a tool; as they are where there is none. */
export function pricesForToolImages(price: TieredPrices, one: ToolImageBound | undefined): TieredPrices {
  return one === undefined ? price : { ...price, perUnit: { ...price.perUnit, image: one.price } };
}

const known = (word: string | null): string | null => (word === null || word === 'auto' || word === '' ? null : word);

/** As `unitLines`, with the price of the images that were made. */
export function unitLinesOfImages(
  counts: UnitCounts,
  price: Pick<TieredPrices, 'images' | 'perUnit'>,
  asked: ImageForm,
  made: ImageForm,
): UnitLine[] {
  const image = priceOfMade(price, asked, made);
  return unitLines(counts, image === undefined ? price.perUnit : { ...price.perUnit, image });
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
