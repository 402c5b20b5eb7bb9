/** The month with a pocket calculator in `server/books/README.md`, lived in the model that the four months prove. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { costByPayer, createShop, picoOf, rounded, usdOf } from './shop-model.ts';

it('the worked example of a month says what its facts come to', () => {
  // Input costs a USD for a million tokens, and the vendor asks for 60 % of it.
  const price = { input: '1', cacheHit: '1', output: '1' };
  const cost = { input: '0.6', cacheHit: '0.6', output: '0.6' };
  const shop = createShop({ model: { price, cost } });
  const use = (at: number, account: string, usd: string) =>
    shop.call(at, account, 'model', { input: Number(picoOf(usd) / 1_000_000n), output: 0 });
  for (const name of ['one', 'other', 'trial'] as const) shop.join(name, 'customer');
  shop.join('probe', 'probe');
  const bought = { priceVnd: 250_000, usd: '10', vat: 10 };
  shop.bank(1, 'received', 250_000);
  const sale = shop.sell({ at: 1, buyer: 'one', ...bought });
  shop.bank(2, 'received', 260_000);
  shop.sell({ at: 2, buyer: 'other', ...bought });
  use(3, 'one', '3');
  use(4, 'other', '4');
  shop.give({ at: 5, account: 'trial', kind: 'trial', usd: '5' });
  use(6, 'trial', '0.5');
  shop.give({ at: 7, account: 'probe', kind: 'probe', usd: '1' });
  // What costs 0.10 at the vendor.
  const probe = use(8, 'probe', '0.2');
  const probeCost = picoOf('0.1');
  const credited = shop.refund(sale, { at: 9, usd: null });

  const cash = shop.rollCash(0, 10);
  const gross = shop.rollVnd(true, 0, 10);
  const net = shop.rollVnd(false, 0, 10);
  const budget = shop.roll(({ kind }) => kind === 'bought', 0, 10);
  const split = costByPayer(shop.calls.filter((call) => call !== probe));
  const total = split.total + probeCost;
  const vnd = rounded(total * 26_000n, 10n ** 12n);
  const figures = {
    received: cash.received,
    sold: cash.sold,
    'VAT in it': gross.added - net.added,
    'credit note': credited,
    'owed back at the end': cash.closing,
    'the same in VND': gross.closing,
    'the same without VAT, added': net.added,
    'its used part': net.used,
    "vendors' cost in VND": vnd,
    result: net.used - vnd,
  };
  const readme = readFileSync(join(import.meta.dirname, '../../server/books/README.md'), 'utf8');
  const rows = new Map(
    [...readme.matchAll(/^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$/gm)].map(([, line = '', result = '']) => [line, result]),
  );
  const written = Object.fromEntries(Object.keys(figures).map((line) => [line, rows.get(line)]));
  expect(written).toEqual(
    Object.fromEntries(
      Object.entries(figures).map(([line, amount]) => [line, `${Number(amount).toLocaleString('en-US')} VND`]),
    ),
  );
  expect(rows.get('bought: added, used, refunded, closing')).toBe(`${usdOf(budget.closing)} USD`);
  expect([split.bought, split.trial, total].map(usdOf)).toEqual(['4.2', '0.3', '4.6']);
  expect(rows.get("vendors' cost: bought, trial, probe")).toBe('4.20 + 0.30 + 0.10 = 4.60 USD');
  expect(rows.get('margin')).toBe(`${usdOf(budget.used - total)}0 USD`);
});
