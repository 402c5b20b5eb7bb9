import type { PicoUsd } from './money.ts';

/** What images cost: their tokens, which vendors count apart from those of text, and one image by its quality and size. */

/** Pico-USD per token of images: sent, read from a cache, made. */
export interface ImageTokenPrices {
  input: PicoUsd;
  cacheHit: PicoUsd;
  output: PicoUsd;
}

/** The price of one image that is made. What is left out holds for all. */
export interface ImagePrice {
  /** In the vendor's word, such as `high`. */
  quality?: string;
  /** Exactly this one, such as `1024x1024`. */
  size?: string;
  /** Every size of at most so many pixels. */
  upToPixels?: number;
  price: PicoUsd;
}

export interface ImagePrices {
  /** Left out: tokens of images cost as those of text. */
  tokens?: ImageTokenPrices;
  /** Left out: an image costs nothing beside its tokens. */
  each?: readonly ImagePrice[];
}

/** The most prices of one image; the database holds the same bound. */
export const MAX_IMAGE_PRICES = 64;

/** What one image of an answer is; null: not known, or left to the vendor. */
export interface ImageForm {
  quality: string | null;
  size: string | null;
}

/**
 * The price of one image: of the lines that fit its form the most exact one, and the dearest of all where none fits or where its form
 * is not known. Zero: images have no price by the piece.
 */
export function priceOfImage(images: ImagePrices, made: ImageForm): PicoUsd {
  const { each = [] } = images;
  const form = plainForm(images, made);
  const fitting = each.flatMap((line) => {
    const fit = fitOf(line, form);
    return fit === null ? [] : [{ fit, price: line.price }];
  });
  if (fitting.length === 0) return dearestOf(each.map(({ price }) => price));
  const best = Math.max(...fitting.map(({ fit }) => fit));
  return dearestOf(fitting.filter(({ fit }) => fit === best).map(({ price }) => price));
}

/**
 * The most that one image can cost: as `priceOfImage`, where `auto` and what is left out may become anything that the vendor makes.
 */
export function dearestImage(images: ImagePrices, asked: ImageForm): PicoUsd {
  const form = plainForm(images, asked);
  if (form.quality !== null && form.size !== null) return priceOfImage(images, form);
  const { each = [] } = images;
  const possible = each.filter(
    ({ quality, size, upToPixels }) =>
      (form.quality === null || quality === undefined || plain(quality) === form.quality) &&
      (form.size === null ||
        (size === undefined && upToPixels === undefined) ||
        holds({ size, upToPixels }, form.size)),
  );
  // What fits none is charged at the dearest of all.
  return dearestOf((possible.length === 0 ? each : possible).map(({ price }) => price));
}

/** Words for qualities that vendors have, beside those that a catalog names. */
const qualities: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'standard', 'hd', 'ultra']);

/** A form without words that nobody knows: a vendor may take such a word for `auto`, or for another spelling of a dearer one. */
export function plainForm({ each = [] }: ImagePrices, { quality, size }: ImageForm): ImageForm {
  const names = (of: 'quality' | 'size', word: string): boolean => each.some((line) => plain(line[of]) === word);
  const [ofQuality, ofSize] = [plain(quality), plain(size)];
  return {
    quality: ofQuality !== null && (qualities.has(ofQuality) || names('quality', ofQuality)) ? ofQuality : null,
    size: ofSize !== null && (sidesOf(ofSize) !== null || names('size', ofSize)) ? ofSize : null,
  };
}

const plain = (word: string | null | undefined): string | null => word?.trim().toLowerCase() ?? null;

/** How exactly a line is for the form: an exact size before a bound, a small bound before a large one, a quality before none. */
function fitOf({ quality, size, upToPixels }: ImagePrice, form: ImageForm): number | null {
  if (quality !== undefined && plain(quality) !== form.quality) return null;
  const ofQuality = quality === undefined ? 0 : 0.5;
  if (size === undefined && upToPixels === undefined) return ofQuality;
  if (form.size === null || !holds({ size, upToPixels }, form.size)) return null;
  return ofQuality + (size === undefined ? 1 + 1 / (upToPixels ?? 1) : 3);
}

function holds(line: { size: string | undefined; upToPixels: number | undefined }, size: string): boolean {
  if (line.size !== undefined) return plain(line.size) === size;
  const pixels = pixelsOf(size);
  return pixels !== null && pixels <= (line.upToPixels ?? 0);
}

/** Width times height of a size such as `1024x1536`; null for anything else. */
export function pixelsOf(size: string): number | null {
  const sides = sidesOf(size);
  return sides === null ? null : sides[0] * sides[1];
}

export function sidesOf(size: string): [number, number] | null {
  const found = /^(\d{1,5})x(\d{1,5})$/.exec(size);
  return found === null ? null : [Number(found[1]), Number(found[2])];
}

const dearestOf = (prices: readonly PicoUsd[]): PicoUsd =>
  prices.reduce((most, price) => (price > most ? price : most), 0n);

/** As the database stores them: whole pico-USD, which JSON numbers hold exactly up to the bounds. */
export interface StoredImagePrices {
  tokens?: Record<keyof ImageTokenPrices, number>;
  each?: (Omit<ImagePrice, 'price'> & { price: number })[];
}

export function toStoredImages({ tokens, each }: ImagePrices): StoredImagePrices {
  return {
    ...(tokens === undefined
      ? {}
      : {
          tokens: {
            input: Number(tokens.input),
            cacheHit: Number(tokens.cacheHit),
            output: Number(tokens.output),
          },
        }),
    ...(each === undefined ? {} : { each: each.map((line) => ({ ...line, price: Number(line.price) })) }),
  };
}

export function fromStoredImages({ tokens, each }: StoredImagePrices): ImagePrices {
  return {
    ...(tokens === undefined
      ? {}
      : {
          tokens: { input: BigInt(tokens.input), cacheHit: BigInt(tokens.cacheHit), output: BigInt(tokens.output) },
        }),
    ...(each === undefined ? {} : { each: each.map((line) => ({ ...line, price: BigInt(line.price) })) }),
  };
}

/** The column of a row: JSON, or null where images have no separate prices. */
export function storedImages(images: ImagePrices | undefined): string | null {
  return images === undefined ? null : JSON.stringify(toStoredImages(images));
}
