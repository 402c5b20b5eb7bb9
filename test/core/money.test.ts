import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatPrice, formatUsd, MAX_PICO, MAX_PRICE, parsePrice, parseUsd } from '../../server/core/money.ts';

/** Parsing and formatting of amounts and prices. */

describe('an amount in USD', () => {
  test.each([
    ['0', 0n],
    ['5', 5_000_000_000_000n],
    ['0.195', 195_000_000_000n],
    ['0.000000000001', 1n],
    ['1.500', 1_500_000_000_000n],
    ['9223372.036854775807', MAX_PICO],
  ])('%s is %d pico-USD', (text, pico) => {
    expect(parseUsd(text)).toBe(pico);
  });

  test.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '-1',
    '+1',
    '1e3',
    '1e-3',
    '.5',
    '5.',
    '05',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '1_000',
    '１',

    '0.0000000000001',
    '9223372.036854775808',
    '1'.repeat(33),
    `0.${'0'.repeat(100_000)}`,
  ])('%j is refused', (text) => {
    expect(parseUsd(text)).toBeNull();
  });

  test('comes back as it went out', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX_PICO }), (pico) => {
        expect(parseUsd(formatUsd(pico))).toBe(pico);
      }),
    );
  });

  test.each([
    [0n, '0'],
    [1n, '0.000000000001'],
    [-1_500_000_000_000n, '-1.5'],
    [195_000_000_000n, '0.195'],
    [10_000_000_000_000n, '10'],
  ])('%d is written as %s', (pico, text) => {
    expect(formatUsd(pico)).toBe(text);
  });
});

describe('a price in USD per 1,000,000 tokens', () => {
  test.each([
    ['3', 3_000_000n],
    ['0.0375', 37_500n],
    ['0.000001', 1n],
    ['10000', MAX_PRICE],
    ['0', 0n],
  ])('%s is %d pico-USD a token', (text, pico) => {
    expect(parsePrice(text)).toBe(pico);
    expect(formatPrice(pico)).toBe(text);
  });

  test.each(['1000000000', '10000.000001', '-1', '0.0000001', '1.0000000', '1e-3', 'NaN'])('%s is refused', (text) => {
    expect(parsePrice(text)).toBeNull();
  });
});
