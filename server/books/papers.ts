import type { Pool } from 'pg';
import { formatUsd } from '../core/money.ts';
import { byteOrderMark, csvLine } from '../shared/csv.ts';
import type { Locale } from '../shared/page.ts';
import { leftOf, owedOf, totalsFromJson, vatOf, withVat } from './totals.ts';

/** Receipts and credit notes of a month, by their numbers, which have no gaps; and what customers have paid in advance. */

export interface ListedPaper {
  series: 'receipt' | 'credit_note';
  number: bigint;
  issuedAt: Date;
  /** When a receipt ended because its payment was taken back, or a credit note because it was a mistake. */
  voidedAt: Date | null;
  /** The memo code of the order; null: a payment for none. */
  memo: string | null;
  /** The buyer as the paper names them. */
  buyer: string;
  taxCode: string;
  /** Whole VND with VAT, and the VAT in it. */
  amountVnd: bigint;
  vatVnd: bigint;
}

/** Those of a month in Vietnam's time, receipts first. */
export async function listPapers(pool: Pool, month: string): Promise<ListedPaper[]> {
  const { rows } = await pool.query<ListedPaper>(
    `WITH bound AS (
       SELECT ($1 || '-01')::timestamp AT TIME ZONE 'Asia/Ho_Chi_Minh' AS "from",
              (($1 || '-01')::timestamp + interval '1 month') AT TIME ZONE 'Asia/Ho_Chi_Minh' AS "to"
     ), paper AS (
       SELECT 'receipt' AS series, number, issued_at, voided_at, order_id, NULL::uuid AS account_id, price_vnd AS vnd,
              ${vatOf('price_vnd', 'issued_at')} AS vat FROM receipt
       UNION ALL
       SELECT 'credit_note', r.number, r.created_at, u.undone_at, r.order_id, r.account_id, r.amount_vnd,
              CASE WHEN r.kind = 'purchase' THEN ${withVat('r.unused_vnd')} + ${withVat('r.used_vnd')} ELSE 0 END
       FROM refund r LEFT JOIN purchase_order o ON o.id = r.order_id LEFT JOIN refund_undone u ON u.refund_id = r.id
     )
     SELECT p.series, p.number, p.issued_at AS "issuedAt", p.voided_at AS "voidedAt", o.memo,
            coalesce(s.company->>'name', a.name, '') AS buyer, coalesce(s.company->>'taxCode', '') AS "taxCode",
            p.vnd AS "amountVnd", p.vat::bigint AS "vatVnd"
     FROM bound, paper p LEFT JOIN purchase_order o ON o.id = p.order_id LEFT JOIN order_parties s ON s.order_id = p.order_id
     LEFT JOIN account a ON a.id = coalesce(o.account_id, p.account_id)
     WHERE p.issued_at >= bound."from" AND p.issued_at < bound."to" ORDER BY p.series DESC, p.number`,
    [month],
  );
  return rows;
}

/** Numbers that are missing in a series: none. */
export async function findPaperGaps(pool: Pool): Promise<{ series: string; number: bigint }[]> {
  const { rows } = await pool.query<{ series: string; number: bigint }>(
    `SELECT series, number::bigint FROM (
       SELECT series, generate_series(1, last) AS number FROM paper_number) AS given
     WHERE NOT EXISTS (SELECT FROM receipt r WHERE series = 'receipt' AND r.number = given.number)
       AND NOT EXISTS (SELECT FROM refund r WHERE series = 'credit_note' AND r.number = given.number)
     ORDER BY 1, 2 LIMIT 100`,
  );
  return rows;
}

const paperHeads = {
  en: ['paper', 'number', 'issued', 'order', 'buyer', 'taxCode', 'netVnd', 'vatVnd', 'totalVnd', 'voided'],
  vi: [
    'Chứng từ',
    'Số',
    'Ngày lập',
    'Đơn',
    'Người mua',
    'Mã số thuế',
    'Chưa thuế',
    'Thuế GTGT',
    'Tổng cộng',
    'Hủy ngày',
  ],
} as const;
const paperNames = {
  en: { receipt: 'Receipt', credit_note: 'Credit note' },
  vi: { receipt: 'Biên nhận', credit_note: 'Phiếu ghi giảm' },
} as const;

/** The moment in Vietnam's time. */
const localTime = (at: Date | null): string =>
  at === null ? '' : `${new Date(at.getTime() + 7 * 3_600_000).toISOString().slice(0, 19)}+07:00`;

export function papersCsv(papers: readonly ListedPaper[], locale: Locale): string {
  const lines = papers.map((paper) =>
    csvLine([
      paperNames[locale][paper.series],
      { number: String(paper.number) },
      localTime(paper.issuedAt),
      paper.memo ?? '',
      paper.buyer,
      paper.taxCode,
      { number: String(paper.amountVnd - paper.vatVnd) },
      { number: String(paper.vatVnd) },
      { number: String(paper.amountVnd) },
      localTime(paper.voidedAt),
    ]),
  );
  return [byteOrderMark, csvLine(paperHeads[locale]), ...lines].join('');
}

/** What a customer has paid in advance and is owed at the end of a closed month. */
export interface Advance {
  accountId: string;
  name: string;
  /** Pico-USD of bought budget that is left. */
  bought: bigint;
  /** The same in whole VND at each purchase's own rate, with VAT and without. */
  vnd: bigint;
  netVnd: bigint;
  /** Whole VND that are owed back beside it. */
  owedVnd: bigint;
}

/** Of a closed month, as it was closed: accounts that have anything. Their sums are lines of the month. */
export async function listAdvances(pool: Pool, month: string): Promise<Advance[]> {
  const { rows } = await pool.query<{ accountId: string; name: string | null; totals: unknown }>(
    `SELECT c.account_id AS "accountId", a.name, c.lines->'totals' AS totals FROM closed_account c
     LEFT JOIN account a ON a.id = c.account_id WHERE c.month = ($1 || '-01')::date ORDER BY a.created_at, c.account_id`,
    [month],
  );
  return rows.flatMap(({ accountId, name, totals }) => {
    const { budgets, vnd, netVnd, cash } = totalsFromJson(totals);
    const advance = {
      accountId,
      name: name ?? '',
      bought: leftOf(budgets.bought),
      vnd: leftOf(vnd),
      netVnd: leftOf(netVnd),
      owedVnd: owedOf(cash),
    };
    return advance.bought === 0n && advance.vnd === 0n && advance.owedVnd === 0n ? [] : [advance];
  });
}

const advanceHeads = {
  en: ['account', 'name', 'boughtUsd', 'advanceVnd', 'advanceNetVnd', 'owedBackVnd'],
  vi: ['Tài khoản', 'Tên', 'Số dư mua USD', 'Trả trước VND', 'Trả trước chưa thuế', 'Phải trả lại VND'],
} as const;

export function advancesCsv(advances: readonly Advance[], locale: Locale): string {
  const lines = advances.map(({ accountId, name, bought, vnd, netVnd, owedVnd }) =>
    csvLine([
      accountId,
      name,
      { number: formatUsd(bought) },
      ...[vnd, netVnd, owedVnd].map((amount) => ({ number: String(amount) })),
    ]),
  );
  return [byteOrderMark, csvLine(advanceHeads[locale]), ...lines].join('');
}
