/** The price that an operator sees before a vendor's models are sold is the price that the server sets. */

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMarkup, withMarkup } from '../../dashboard/src/markup.ts';
import { markedUp, parseMarkup } from '../../server/catalog/markup.ts';
import { formatPrice } from '../../server/core/money.ts';

test('prices with a markup are those of the server, to the last digit', () => {
  const price = fc.bigInt({ min: 0n, max: 10_000_000_000n });
  const tenThousandths = fc.integer({ min: 0, max: 10_000_000 });
  fc.assert(
    fc.property(price, tenThousandths, (output, part) => {
      const text = `${Math.floor(part / 10_000)}.${String(part % 10_000).padStart(4, '0')}`;
      const [shown, real] = [readMarkup(text), parseMarkup(`${text}%`)];
      if (shown === null || real === null) throw new Error('not read');
      const costs = { input: output, cacheHit: 0n, cacheWrite5m: null, cacheWrite1h: null, output, tiers: [] };
      expect(withMarkup(formatPrice(output), shown)).toBe(formatPrice(markedUp(costs, real).output));
    }),
  );
});

test.each(['', '-1', '1001', '1e2', 'ten', '1.23456', '5%'])('%j is no markup', (text) => {
  expect(readMarkup(text)).toBeNull();
  expect(parseMarkup(`${text}%`)).toBeNull();
});
