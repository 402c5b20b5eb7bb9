import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costsInput, pricesInput } from '../../server/catalog/price.ts';
import { formatPrice, parsePrice } from '../../server/core/money.ts';

/** Validation of prices as operators write them. */

const prices = { input: '3', cacheHit: '0.3', output: '15' };

describe('a price is text that says exactly so many pico-USD per token', () => {
  test.each([
    ['0', 0n],
    ['3', 3_000_000n],
    ['0.0375', 37_500n],
    ['0.000001', 1n],
    ['10000', 10_000_000_000n],
    ['9999.999999', 9_999_999_999n],
  ])('%s', (text, pico) => {
    expect(parsePrice(text)).toBe(pico);
    expect(formatPrice(pico)).toBe(text);
  });

  test('whatever is printed is read back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10_000_000_000n }), (pico) => {
        expect(parsePrice(formatPrice(pico))).toBe(pico);
      }),
    );
  });

  test.each([
    '1000000000',
    '10000.000001',
    '10001',
    '-1',
    '-0',
    '+1',
    '0.0000001',
    '1.1234567',
    '1e-3',
    '1E3',
    'NaN',
    'Infinity',
    '',
    ' 1',
    '1 ',
    '01',
    '.5',
    '5.',
    '1,5',
    '0x10',
    '１',
    '1\n',
    '1_000',
  ])('%j is none', (text) => {
    expect(parsePrice(text)).toBeNull();
  });
});

describe('the prices of a model', () => {
  test('are read, with cache writes at the input price when they have none of their own', () => {
    expect(pricesInput.parse(prices)).toEqual({
      input: 3_000_000n,
      cacheHit: 300_000n,
      cacheWrite5m: null,
      cacheWrite1h: null,
      output: 15_000_000n,
      tiers: [],
      maxPromptTokens: null,
      perUnit: {},
    });
    expect(pricesInput.parse({ ...prices, cacheWrite5m: '3.75', cacheWrite1h: '6' })).toMatchObject({
      cacheWrite5m: 3_750_000n,
      cacheWrite1h: 6_000_000n,
    });
  });

  test('have a cache hit below the input, unless both are free', () => {
    expect(pricesInput.safeParse({ ...prices, cacheHit: '3' }).success).toBe(false);
    expect(pricesInput.safeParse({ ...prices, cacheHit: '4' }).success).toBe(false);
    expect(pricesInput.safeParse({ ...prices, cacheHit: '2.999999' }).success).toBe(true);
    expect(pricesInput.safeParse({ input: '0', cacheHit: '0', output: '0' }).success).toBe(true);
    expect(pricesInput.safeParse({ input: '0', cacheHit: '0.1', output: '0' }).success).toBe(false);
  });

  const tier = { abovePromptTokens: 200_000, input: '6', cacheHit: '0.6', output: '22.5' };

  test('of longer prompts are read in rising order, with cache writes at the input price of their own tier', () => {
    const longest = { ...tier, abovePromptTokens: 500_000, cacheWrite5m: '7' };
    const { tiers, maxPromptTokens } = pricesInput.parse({
      ...prices,
      tiers: [longest, tier],
      maxPromptTokens: 900_000,
    });
    const six = { input: 6_000_000n, cacheHit: 600_000n, cacheWrite1h: 6_000_000n, output: 22_500_000n };
    expect(tiers).toEqual([
      { abovePromptTokens: 200_000, ...six, cacheWrite5m: 6_000_000n },
      { abovePromptTokens: 500_000, ...six, cacheWrite5m: 7_000_000n },
    ]);
    expect(maxPromptTokens).toBe(900_000);
  });

  test('of a route may have a cache hit as dear as the input, in tiers as well', () => {
    const flat = { ...tier, cacheHit: '6' };
    expect(costsInput.safeParse({ ...prices, cacheHit: '3', tiers: [flat] }).success).toBe(true);
    expect(pricesInput.safeParse({ ...prices, tiers: [flat] }).success).toBe(false);
  });

  test('by the piece are USD for one, exact to the pico-USD', () => {
    const { perUnit } = pricesInput.parse({ ...prices, perUnit: { search: '0.01', minute: '0.000000000001' } });
    expect(perUnit).toEqual({ search: 10_000_000_000n, minute: 1n });
  });

  test('variants are factors or sets of their own, in the order of their names', () => {
    const own = { ...prices, name: 'priority', tiers: [tier] };
    const { variants } = pricesInput.parse({
      ...prices,
      tiers: [tier],
      variants: [own, { name: 'flex', times: '0.5' }],
    });
    expect(variants?.map(({ name }) => name)).toEqual(['flex', 'priority']);
    expect(variants?.[0]).toMatchObject({ input: 1_500_000n, output: 7_500_000n });
    expect(variants?.[0]?.tiers[0]).toMatchObject({ abovePromptTokens: tier.abovePromptTokens, output: 11_250_000n });
    expect(pricesInput.parse({ ...prices, variants: [] })).not.toHaveProperty('variants');
  });

  test('hours and variants together are refused, of prices and of costs, in words that name both', () => {
    const clock = { timeZone: 'UTC', windows: [{ ...prices, days: ['mon'], hours: ['00:00-08:00'] }] };
    const variants = [{ name: 'flex', times: '0.5' }];
    for (const shape of [pricesInput, costsInput]) {
      expect(shape.safeParse({ ...prices, clock, variants: [] }).success).toBe(true);
      expect(shape.safeParse({ ...prices, clock, variants }).error?.issues).toMatchObject([
        { path: ['variants'], message: expect.stringMatching(/together with a clock: .* not both/) },
      ]);
    }
  });

  test.each([
    ['a variant without prices', { ...prices, variants: [{ name: 'flex' }] }],
    ['a variant with a factor and prices', { ...prices, variants: [{ ...prices, name: 'flex', times: '0.5' }] }],
    [
      'a variant without the tiers of the ordinary prices',
      { ...prices, tiers: [tier], variants: [{ ...prices, name: 'flex' }] },
    ],
    [
      'a variant twice',
      {
        ...prices,
        variants: [
          { name: 'flex', times: '1' },
          { name: 'flex', times: '2' },
        ],
      },
    ],
    ['a variant whose words are not in order', { ...prices, variants: [{ name: 'us+fast', times: '2' }] }],
    ['a variant of nothing', { ...prices, variants: [{ name: 'flex', times: '0' }] }],
    [
      'a variant whose cache hit is as dear as its input',
      { ...prices, variants: [{ ...prices, cacheHit: '3', name: 'flex' }] },
    ],
    ['a unit that is not known', { ...prices, perUnit: { smile: '1' } }],
    ['a unit above 10 USD', { ...prices, perUnit: { search: '10.000000000001' } }],
    ['a unit as a number', { ...prices, perUnit: { search: 0.01 } }],
    ['a tier without a bound', { ...prices, tiers: [{ ...tier, abovePromptTokens: undefined }] }],
    ['a tier from the first token', { ...prices, tiers: [{ ...tier, abovePromptTokens: 0 }] }],
    ['half a token', { ...prices, tiers: [{ ...tier, abovePromptTokens: 0.5 }] }],
    ['the same bound twice', { ...prices, tiers: [tier, tier] }],
    ['more tiers than four', { ...prices, tiers: [1, 2, 3, 4, 5].map((n) => ({ ...tier, abovePromptTokens: n })) }],
    ['a tier with a member that is not known', { ...prices, tiers: [{ ...tier, discount: '1' }] }],
    ['a tier without an output price', { ...prices, tiers: [{ ...tier, output: undefined }] }],
    ['a prompt of no tokens', { ...prices, maxPromptTokens: 0 }],
    ['a number', { ...prices, input: 3 }],
    ['not a number', { ...prices, output: Number.NaN }],
    ['missing', { input: '3', output: '15' }],
    ['unknown', { ...prices, reasoning: '1' }],
    ['null where a price must be', { ...prices, output: null }],
  ])('%s is refused', (_name, input) => {
    expect(pricesInput.safeParse(input).success).toBe(false);
  });
});
