import { expect, it } from 'vitest';
import type { FrozenPrice, PriceVariant } from '../../server/core/price.ts';
import {
  allowedPrices,
  chosenVariant,
  dearestVariant,
  fromStoredVariants,
  isVariantName,
  multiplied,
  parseTimes,
  toStoredVariants,
} from '../../server/core/price-variants.ts';
import { noTokens } from '../../server/core/tokens.ts';

/** Variants of prices: which of them is held for, and which is charged. */
const tier = { abovePromptTokens: 100, input: 20n, cacheHit: 2n, cacheWrite5m: 20n, cacheWrite1h: 20n, output: 80n };
const ordinary: FrozenPrice = {
  id: 'p',
  input: 10n,
  cacheHit: 1n,
  cacheWrite5m: 10n,
  cacheWrite1h: 10n,
  output: 50n,
  tiers: [tier],
};
const variant = (name: string, times: string): PriceVariant => ({
  name,
  ...multiplied({ ...ordinary, tiers: [tier] }, parseTimes(times) ?? 0n),
});
const price: FrozenPrice = {
  ...ordinary,
  variants: [
    variant('batch', '0.5'),
    variant('fast', '6'),
    variant('fast+us', '6.6'),
    variant('flex', '0.5'),
    variant('us', '1.1'),
  ],
};
const usage = { ...noTokens, input: 10, output: 10 };

it('a factor multiplies every price and tier, and rounds up', () => {
  expect(multiplied({ ...ordinary, tiers: [tier] }, parseTimes('1.1') ?? 0n)).toEqual({
    input: 11n,
    cacheHit: 2n,
    cacheWrite5m: 11n,
    cacheWrite1h: 11n,
    output: 55n,
    tiers: [{ abovePromptTokens: 100, input: 22n, cacheHit: 3n, cacheWrite5m: 22n, cacheWrite1h: 22n, output: 88n }],
  });
  expect(['0', '0.0', '101', '1e3', '-1', '1.1234567', ' 1', ''].map(parseTimes)).toEqual(Array(8).fill(null));
});

it('a cache hit stays cheaper than new context, however a factor rounds', () => {
  const cheap = { ...ordinary, input: 2n, cacheHit: 1n, tiers: [] };
  expect(multiplied(cheap, parseTimes('0.1') ?? 0n)).toMatchObject({ input: 1n, cacheHit: 0n });
});

it('what is asked may be served in part, and a batch is always one', () => {
  const names = (asked: string) => allowedPrices(price, asked).map(({ name }) => name);
  expect(names('fast+us')).toEqual(['', 'fast', 'fast+us', 'us']);
  expect(names('flex')).toEqual(['', 'flex']);
  expect(names('batch')).toEqual(['batch']);
  expect(names('batch+us')).toEqual(['batch']);
});

it('the dearest of what may be served is reserved, tier by tier', () => {
  expect(dearestVariant(price, 'flex')).toMatchObject({ input: 10n, output: 50n, tiers: [tier] });
  expect(dearestVariant(price, 'fast+us')).toMatchObject({
    input: 66n,
    output: 330n,
    tiers: [{ abovePromptTokens: 100, input: 132n, output: 528n }],
  });
  expect(dearestVariant(price, 'batch')).toMatchObject({ input: 5n, output: 25n });
});

it.each([
  ['fast', ['fast'], { charged: 'fast', served: 'fast' }, 60n, false],
  ['fast', [], { charged: null, served: '' }, 10n, false],
  ['fast', null, { charged: 'fast', served: null }, 60n, false],
  ['fast+us', ['us'], { charged: 'us', served: 'us' }, 11n, false],
  ['flex', ['fast'], { charged: null, served: 'fast' }, 10n, true],
  ['flex', ['turbo'], { charged: null, served: 'turbo' }, 10n, true],
  ['fast', ['turbo max'], { charged: 'fast', served: 'other' }, 60n, true],
  ['batch', [], { charged: 'batch', served: '' }, 5n, true],
])(
  'asked %s, served %o: charged at what was served, never above what was asked',
  (asked, served, choice, input, odd) => {
    const chosen = chosenVariant(price, asked, served, usage);
    expect(chosen).toMatchObject({ choice: { asked, ...choice }, isStrange: odd });
    expect(chosen.price.input).toBe(input);
  },
);

it('names have their words in order, each once', () => {
  expect(['flex', 'fast+us', 'a+b+c+d'].every(isVariantName)).toBe(true);
  expect(['', '+', 'us+fast', 'us+us', 'Flex', 'a b', 'a+b+c+d+e'].some(isVariantName)).toBe(false);
});

it('variants come back from the database as they were', () => {
  const variants = price.variants ?? [];
  expect(fromStoredVariants(JSON.parse(JSON.stringify(toStoredVariants(variants))))).toEqual(variants);
});
