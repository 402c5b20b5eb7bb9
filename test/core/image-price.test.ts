import { expect, test } from 'vitest';
import {
  dearestImage,
  fromStoredImages,
  type ImagePrices,
  priceOfImage,
  toStoredImages,
} from '../../server/core/image-price.ts';

/** The price of one image by what it is. */

const prices: ImagePrices = {
  each: [
    { quality: 'low', price: 1n },
    { quality: 'high', size: '1024x1024', price: 20n },
    { quality: 'high', upToPixels: 1_048_576, price: 10n },
    { quality: 'high', upToPixels: 4_194_304, price: 40n },
    { quality: 'high', price: 90n },
  ],
};

test('the most exact line counts, and what fits none costs as the dearest', () => {
  const at = (quality: string | null, size: string | null) => priceOfImage(prices, { quality, size });
  expect(at('low', '4096x4096')).toBe(1n);
  expect(at('high', '1024x1024')).toBe(20n);
  // Classes by pixels: 1280x720 is no larger than 1024x1024. https://github.com/Wei-Shaw/sub2api/issues/2008
  expect(at('high', '1280x720')).toBe(10n);
  expect(at('high', '2048x2048')).toBe(40n);
  expect(at('high', '4096x4096')).toBe(90n);
  expect(at('high', null)).toBe(90n);
  expect(at('ultra', '1024x1024')).toBe(90n);
  expect(at(null, null)).toBe(90n);
  expect(priceOfImage({}, { quality: null, size: null })).toBe(0n);
});

test('no image costs more than the dearest that its request allows', () => {
  const words = ['low', 'medium', 'high', null];
  const sizes = ['1024x1024', '1280x720', '2048x2048', '4096x4096', 'odd', null];
  for (const quality of words)
    for (const size of sizes)
      for (const served of quality === null ? words : [quality])
        for (const made of size === null ? sizes : [size])
          expect(priceOfImage(prices, { quality: served, size: made })).toBeLessThanOrEqual(
            dearestImage(prices, { quality, size }),
          );
});

test('prices of images come back from the database as they were', () => {
  const all: ImagePrices = { ...prices, tokens: { input: 8_000_000n, cacheHit: 2_000_000n, output: 30_000_000n } };
  expect(fromStoredImages(JSON.parse(JSON.stringify(toStoredImages(all))))).toEqual(all);
});
