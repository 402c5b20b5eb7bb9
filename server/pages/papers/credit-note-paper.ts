import { formatUsd } from '../../core/money.ts';
import type { Order } from '../../plans/order.ts';
import type { Company, Seller } from '../../plans/papers/parties.ts';
import type { Refund, RefundKind } from '../../plans/refunds.ts';
import { byteOrderMark, csvLine } from '../../shared/csv.ts';
import { demonstrationText, type Locale, momentText } from '../../shared/page.ts';
import type { Paper } from './paper.ts';
import { buyerLines, receiptWords, sellerLines, sellerLinks, usdText, vndText } from './receipt-words.ts';

/** The credit note of a refund as a paper and as CSV. Why it was made is the operator's own note, and not on it. */

export interface PrintedCreditNote {
  refund: Refund;
  /** Null: the payment was for no order. */
  order: Pick<Order, 'memo' | 'planName'> | null;
  /** The buyer; null: nobody knows whose payment it was. */
  account: { name: string; email: string } | null;
  company: Company | null;
  seller: Seller;
  payee: string;
  demonstration: boolean;
}

interface Words {
  title: string;
  sent: string;
  waits: string;
  undone: string;
  undoneOn: string;
  issued: string;
  to: string;
  order: string;
  what: string;
  kinds: Record<RefundKind, string>;
  unused: (usd: string) => string;
  bonus: (usd: string) => string;
  used: string;
  total: string;
  sentSoFar: string;
  notInvoice: string;
}

const words: Record<Locale, Words> = {
  en: {
    title: 'Credit note',
    sent: 'Sent',
    waits: 'To be sent',
    undone: 'Cancelled',
    undoneOn: 'Cancelled on',
    issued: 'Issued on',
    to: 'For',
    order: 'Order',
    what: 'What goes back',
    kinds: {
      purchase: 'Refund of a purchase',
      surplus: 'What was paid beyond the price',
      payment: 'A payment that bought nothing',
    },
    unused: (usd) => `Unused budget that was taken back: ${usd} USD`,
    bonus: (usd) => `Its bonus was taken back as well: ${usd} USD, free of charge`,
    used: 'For budget that was used or had expired, which stays so',
    total: 'Total',
    sentSoFar: 'Sent by the bank so far',
    notInvoice: 'This credit note confirms what goes back. It is not an adjustment of a VAT invoice.',
  },
  vi: {
    title: 'Phiếu ghi giảm',
    sent: 'Đã chuyển',
    waits: 'Chờ chuyển',
    undone: 'Đã hủy',
    undoneOn: 'Ngày hủy',
    issued: 'Ngày lập',
    to: 'Bên được hoàn',
    order: 'Đơn hàng',
    what: 'Khoản hoàn lại',
    kinds: {
      purchase: 'Hoàn tiền mua',
      surplus: 'Phần đã trả vượt giá',
      payment: 'Khoản thanh toán không dùng để mua',
    },
    unused: (usd) => `Số dư chưa dùng được thu lại: ${usd} USD`,
    bonus: (usd) => `Phần thưởng kèm theo cũng được thu lại: ${usd} USD, không tính tiền`,
    used: 'Cho số dư đã dùng hoặc đã hết hạn, phần này giữ nguyên',
    total: 'Tổng cộng',
    sentSoFar: 'Ngân hàng đã chuyển đến nay',
    notInvoice: 'Phiếu này xác nhận số tiền được hoàn lại, không phải là hóa đơn điều chỉnh.',
  },
};

/** What goes back, with its whole VND. */
function itemsOf({ kind, unusedVnd, usedVnd, amountVnd, budget, bonus }: Refund, locale: Locale): [string, bigint][] {
  const w = words[locale];
  if (kind !== 'purchase') return [[w.kinds[kind], amountVnd]];
  const items: [string, bigint][] = [];
  const given = bonus === 0n ? [] : [w.bonus(usdText(bonus, locale))];
  if (budget > 0n) items.push([[w.unused(usdText(budget, locale)), ...given].join('\n'), unusedVnd]);
  if (usedVnd > 0n) items.push([w.used, usedVnd]);
  return items;
}

export function creditNotePaper(printed: PrintedCreditNote, locale: Locale): Paper {
  const { refund, order, account, company, seller, payee, demonstration } = printed;
  const w = words[locale];
  const receipts = receiptWords[locale];
  const vnd = (amount: bigint) => vndText(amount, locale);
  return {
    language: locale,
    title: `${w.title} ${refund.number}`,
    state: refund.undoneAt !== null ? w.undone : refund.sentVnd >= refund.amountVnd ? w.sent : w.waits,
    warning: demonstrationText(locale, demonstration),
    facts: [
      { label: receipts.number, lines: [String(refund.number)] },
      { label: w.issued, lines: [momentText(refund.createdAt, locale, 'Vietnam')] },
      ...(refund.undoneAt === null
        ? []
        : [{ label: w.undoneOn, lines: [momentText(refund.undoneAt, locale, 'Vietnam')] }]),
      ...(order === null ? [] : [{ label: w.order, lines: [order.memo, order.planName] }]),
      { label: receipts.seller, lines: sellerLines(seller, payee, locale) },
      { label: w.to, lines: account === null ? ['–'] : buyerLines({ company, account }, locale) },
    ],
    tables: [
      {
        title: '',
        columns: [
          { head: w.what, width: 3 },
          { head: receipts.amount, width: 1, isFigure: true },
        ],
        rows: itemsOf(refund, locale).map(([text, amount]) => [text, vnd(amount)]),
        sums: [
          [w.total, vnd(refund.amountVnd)],
          [w.sentSoFar, vnd(refund.sentVnd)],
        ],
      },
    ],
    notes: [w.notInvoice, ...sellerLinks(seller, locale).map(({ name, url }) => `${name}: ${url}`)],
    foot: [seller.name || payee, seller.supportEmail, seller.supportPhone].filter((text) => text !== '').join(' · '),
    at: refund.createdAt,
  };
}

/** A line for each item. Amounts are whole VND and exact USD with a point, in both languages. */
export function creditNoteCsv({ refund, order }: PrintedCreditNote, locale: Locale): string {
  const w = words[locale];
  const receipts = receiptWords[locale];
  const heads = [
    receipts.number,
    w.issued,
    w.order,
    w.what,
    `${receipts.amount} (VND)`,
    `${receipts.budgetHead} (USD)`,
    w.undoneOn,
  ];
  const lines = itemsOf(refund, locale).map(([text, amount], index) =>
    csvLine([
      String(refund.number),
      refund.createdAt.toISOString(),
      order?.memo ?? '',
      text.replaceAll('\n', '; '),
      { number: String(amount) },
      { number: index === 0 ? formatUsd(refund.budget) : '0' },
      refund.undoneAt?.toISOString() ?? '',
    ]),
  );
  return [byteOrderMark, csvLine(heads), ...lines].join('');
}
