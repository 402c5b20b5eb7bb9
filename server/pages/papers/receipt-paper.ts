import { formatUsd } from '../../core/money.ts';
import { byteOrderMark, csvLine } from '../../shared/csv.ts';
import { demonstrationText, type Locale, momentText } from '../../shared/page.ts';
import type { Paper } from './paper.ts';
import {
  buyerLines,
  itemLines,
  type PrintedReceipt,
  planText,
  receiptWords,
  sellerLines,
  sellerLinks,
  vndText,
} from './receipt-words.ts';

/** The receipt of a paid order as a paper and as CSV. */

export function receiptPaper(receipt: PrintedReceipt, locale: Locale): Paper {
  const { order, paidAt, payments, seller, payee, demonstration } = receipt;
  const w = receiptWords[locale];
  const surplusVnd = order.receivedVnd - order.priceVnd;
  return {
    language: locale,
    title: `${w.title} ${order.memo}`,
    state: w.paid,
    warning: demonstrationText(locale, demonstration),
    facts: [
      { label: w.number, lines: [order.memo] },
      { label: w.issued, lines: [momentText(paidAt, locale, 'Vietnam')] },
      { label: w.seller, lines: sellerLines(seller, payee, locale) },
      { label: w.buyer, lines: buyerLines(receipt, locale) },
    ],
    tables: [
      {
        title: '',
        columns: [
          { head: w.item, width: 3 },
          { head: w.price, width: 1, isFigure: true },
        ],
        rows: [[itemLines(order, locale).join('\n'), vndText(order.priceVnd, locale)]],
        sums: [],
      },
      {
        title: w.payments,
        columns: [
          { head: w.bookedAt, width: 2 },
          { head: w.reference, width: 2 },
          { head: w.amount, width: 1.4, isFigure: true },
        ],
        rows: payments.map(({ bookedAt, bankReference, amountVnd }) => [
          momentText(bookedAt, locale, 'Vietnam'),
          bankReference ?? '–',
          vndText(amountVnd, locale),
        ]),
        sums: [
          [w.received, '', vndText(order.receivedVnd, locale)],
          ...(surplusVnd > 0n ? [[w.surplus, '', vndText(surplusVnd, locale)]] : []),
        ],
      },
    ],
    notes: [w.notInvoice, ...sellerLinks(seller, locale).map(({ name, url }) => `${name}: ${url}`)],
    foot: [seller.name || payee, seller.supportEmail, seller.supportPhone].filter((text) => text !== '').join(' · '),
    at: paidAt,
  };
}

/** A line for each transfer that paid the order. Amounts are whole VND and exact USD with a point, in both languages. */
export function receiptCsv(receipt: PrintedReceipt, locale: Locale): string {
  const { order, paidAt, payments, seller, payee } = receipt;
  const w = receiptWords[locale];
  const join = (lines: readonly string[]) => lines.filter((text) => text !== '').join(', ');
  const heads = [w.number, w.issued, w.seller, w.buyer, w.item, `${w.price} (VND)`, `${w.budgetHead} (USD)`];
  const lines = payments.map(({ bookedAt, bankReference, amountVnd }) =>
    csvLine([
      order.memo,
      paidAt.toISOString(),
      join(sellerLines(seller, payee, locale)),
      join(buyerLines(receipt, locale)),
      planText(order, locale),
      String(order.priceVnd),
      formatUsd(order.budget),
      formatUsd(order.bonus),
      order.giftTo ?? '',
      bookedAt.toISOString(),
      bankReference ?? '',
      String(amountVnd),
    ]),
  );
  const more = [`${w.bonusHead} (USD)`, w.giftHead, w.bookedAt, w.reference, `${w.amount} (VND)`];
  return `${byteOrderMark}${csvLine([...heads, ...more])}${lines.join('')}`;
}
