import { formatUsd } from '../../core/money.ts';
import type { Company, Seller } from '../../plans/papers/parties.ts';
import type { MonthlyStatement, StatementMovement, StatementUsage } from '../../plans/papers/statements.ts';
import { byteOrderMark, csvLine } from '../../shared/csv.ts';
import { demonstrationText, type Locale } from '../../shared/page.ts';
import type { Paper } from './paper.ts';
import { buyerLines, receiptWords, sellerLines, sellerLinks, usdText, vndText } from './receipt-words.ts';

/** The statement of a month as a paper and as CSV. */

export interface PrintedStatement {
  statement: MonthlyStatement;
  account: { name: string; email: string };
  company: Company | null;
  seller: Seller;
  payee: string;
  demonstration: boolean;
  /** When it was asked for: a running month has not ended. */
  at: Date;
}

interface Words {
  title: string;
  month: string;
  running: string;
  opening: string;
  closing: string;
  summary: string;
  granted: string;
  charged: string;
  expired: string;
  movements: string;
  usage: string;
  date: string;
  what: string;
  model: string;
  requests: string;
  entry: string;
  in: string;
  out: string;
  balance: string;
  paid: string;
  total: string;
  kinds: Record<StatementMovement['grantKind'], string>;
  expiryOf: (what: string) => string;
  takenBack: string;
  refundOf: (what: string) => string;
  refundUndoneOf: (what: string) => string;
  undoneOf: (what: string) => string;
  creditNote: string;
  digest: string;
  note: string;
}

const words: Record<Locale, Words> = {
  en: {
    title: 'Statement',
    month: 'Month',
    running: 'not yet over',
    opening: 'Balance at the start',
    closing: 'Balance at the end',
    summary: 'Summary',
    granted: 'Budget added',
    charged: 'Charged for requests',
    expired: 'Expired',
    movements: 'Budget added, expired and taken back',
    usage: 'Requests',
    date: 'Date (UTC+7)',
    what: 'What',
    model: 'Model',
    requests: 'Requests',
    entry: 'Entry',
    in: 'In (USD)',
    out: 'Out (USD)',
    balance: 'Balance (USD)',
    paid: 'Paid (VND)',
    total: 'Total',
    kinds: {
      trial: 'Trial',
      purchase: 'Purchase',
      adjustment: 'Given by the service',
      refund: 'Refund',
      bonus: 'Bonus',
      code: 'Code',
    },
    expiryOf: (what) => `Expired: ${what}`,
    takenBack: 'Taken back',
    refundOf: (what) => `Refunded: ${what}`,
    refundUndoneOf: (what) => `Given back, refunded by mistake: ${what}`,
    undoneOf: (what) => `Taken back, bought by mistake: ${what}`,
    creditNote: 'Credit note',
    digest: 'Digest (SHA-256): the same whenever this statement is read.',
    note: 'Months are those of Vietnam (UTC+7). The balance is what was not used and had not expired, held amounts of running requests included.',
  },
  vi: {
    title: 'Bảng kê',
    month: 'Tháng',
    running: 'chưa kết thúc',
    opening: 'Số dư đầu kỳ',
    closing: 'Số dư cuối kỳ',
    summary: 'Tổng hợp',
    granted: 'Số dư được cộng',
    charged: 'Đã trừ cho các yêu cầu',
    expired: 'Đã hết hạn',
    movements: 'Số dư được cộng, hết hạn và thu lại',
    usage: 'Yêu cầu',
    date: 'Ngày (UTC+7)',
    what: 'Nội dung',
    model: 'Model',
    requests: 'Số yêu cầu',
    entry: 'Mục',
    in: 'Vào (USD)',
    out: 'Ra (USD)',
    balance: 'Số dư (USD)',
    paid: 'Đã trả (VND)',
    total: 'Tổng cộng',
    kinds: {
      trial: 'Dùng thử',
      purchase: 'Mua',
      adjustment: 'Dịch vụ cấp',
      refund: 'Hoàn lại',
      bonus: 'Thưởng',
      code: 'Mã nạp',
    },
    expiryOf: (what) => `Hết hạn: ${what}`,
    takenBack: 'Thu lại',
    refundOf: (what) => `Hoàn tiền: ${what}`,
    refundUndoneOf: (what) => `Trả về do hoàn tiền nhầm: ${what}`,
    undoneOf: (what) => `Thu lại do mua nhầm: ${what}`,
    creditNote: 'Phiếu ghi giảm',
    digest: 'Mã băm (SHA-256): luôn giống nhau mỗi khi xem bảng kê này.',
    note: 'Tháng tính theo giờ Việt Nam (UTC+7). Số dư là phần chưa dùng và chưa hết hạn, gồm cả khoản đang giữ cho các yêu cầu đang chạy.',
  },
};

/** The moment in the zone of statements, in ISO 8601. */
function localTime(at: Date): string {
  return `${new Date(at.getTime() + 7 * 3_600_000).toISOString().slice(0, 19)}+07:00`;
}

function movementText({ kind, grantKind, memo, planName, creditNote }: StatementMovement, w: Words): string {
  const note = creditNote === null ? null : `${w.creditNote} ${creditNote}`;
  const what = [w.kinds[grantKind], planName, memo, note].filter((text) => text !== null).join(' · ');
  if (kind === 'grant') return what;
  if (kind === 'expiry') return w.expiryOf(what);
  if (kind === 'refund_undone') return w.refundUndoneOf(what);
  return kind === 'refund' ? w.refundOf(what) : w.undoneOf(what);
}

/** What a movement adds to the balance: below zero when it takes. */
const changeOf = ({ kind, amount }: StatementMovement): bigint => (kind === 'grant' ? amount : -amount);

/** Requests of the month by model. */
function byModel(usage: readonly StatementUsage[]): { model: string; requests: bigint; charged: bigint }[] {
  return [...Map.groupBy(usage, ({ model }) => model)].map(([model, rows]) => ({
    model,
    requests: rows.reduce((sum, { requests }) => sum + requests, 0n),
    charged: rows.reduce((sum, { charged }) => sum + charged, 0n),
  }));
}

export function statementPaper(printed: PrintedStatement, locale: Locale): Paper {
  const { statement, seller, payee, at } = printed;
  const w = words[locale];
  const receipts = receiptWords[locale];
  const usd = (amount: bigint) => usdText(amount, locale);
  // Nothing has no sign.
  const lessText = (amount: bigint) => (amount > 0n ? `−${usd(amount)}` : usd(-amount));
  const paidVnd = statement.movements.reduce(
    (sum, { kind, priceVnd }) => sum + (kind === 'grant' ? (priceVnd ?? 0n) : 0n),
    0n,
  );
  const models = byModel(statement.usage);
  return {
    language: locale,
    title: `${w.title} ${statement.month}`,
    state: at < statement.to ? w.running : '',
    warning: demonstrationText(locale, printed.demonstration),
    facts: [
      { label: receipts.seller, lines: sellerLines(seller, payee, locale) },
      { label: receipts.buyer, lines: buyerLines(printed, locale) },
    ],
    tables: [
      {
        title: w.summary,
        columns: [
          { head: w.entry, width: 3 },
          { head: 'USD', width: 1.5, isFigure: true },
        ],
        rows: [
          [w.opening, usd(statement.opening)],
          [w.granted, usd(statement.granted)],
          [w.charged, lessText(statement.charged)],
          [w.expired, lessText(statement.expired)],
          ...(statement.takenBack === 0n ? [] : [[w.takenBack, lessText(statement.takenBack)]]),
        ],
        sums: [[w.closing, usd(statement.closing)]],
      },
      {
        title: w.movements,
        columns: [
          { head: w.date, width: 1.6 },
          { head: w.what, width: 3 },
          { head: w.paid, width: 1.2, isFigure: true },
          { head: 'USD', width: 1.5, isFigure: true },
        ],
        rows: statement.movements.map((movement) => [
          localTime(movement.at).slice(0, 16).replace('T', ' '),
          movementText(movement, w),
          movement.kind === 'grant' && movement.priceVnd !== null ? vndText(movement.priceVnd, locale) : '',
          lessText(-changeOf(movement)),
        ]),
        sums: [
          [w.total, '', vndText(paidVnd, locale), usd(statement.granted - statement.expired - statement.takenBack)],
        ],
      },
      {
        title: w.usage,
        columns: [
          { head: w.model, width: 3 },
          { head: w.requests, width: 1, isFigure: true },
          { head: 'USD', width: 1.5, isFigure: true },
        ],
        rows: models.map(({ model, requests, charged }) => [model, String(requests), usd(charged)]),
        sums: [[w.total, String(models.reduce((sum, { requests }) => sum + requests, 0n)), usd(statement.charged)]],
      },
    ],
    notes: [
      w.note,
      ...(statement.digest === null ? [] : [`${w.digest} ${statement.digest}`]),
      ...sellerLinks(seller, locale).map(({ name, url }) => `${name}: ${url}`),
    ],
    foot: [seller.name || payee, seller.supportEmail, seller.supportPhone].filter((text) => text !== '').join(' · '),
    at,
  };
}

/**
 * A line for the balance at the start, each movement, each day's requests to a model, and the balance at the end, in the
 * order of time: the ins minus the outs are the balance at the end. Amounts have a point, in both languages, for
 * programs.
 */
export function statementCsv({ statement }: PrintedStatement, locale: Locale): string {
  const w = words[locale];
  const lines = [
    ...statement.movements.map((movement) => ({
      at: localTime(movement.at),
      cells: [
        movementText(movement, w),
        '',
        '',
        movement.kind === 'grant' ? (movement.priceVnd?.toString() ?? '') : '',
      ],
      in: changeOf(movement) > 0n ? changeOf(movement) : 0n,
      out: changeOf(movement) > 0n ? 0n : -changeOf(movement),
    })),
    ...statement.usage.map(({ day, model, requests, charged }) => ({
      // After what happened on the day, as it is the sum of the day.
      at: `${day}T24`,
      cells: [w.charged, model, String(requests), ''],
      in: 0n,
      out: charged,
    })),
  ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  let balance = statement.opening;
  const written = lines.map((entry) => {
    balance += entry.in - entry.out;
    return csvLine([
      entry.at.replace(/T24$/, ''),
      ...entry.cells,
      entry.in === 0n ? '' : formatUsd(entry.in),
      entry.out === 0n ? '' : formatUsd(entry.out),
      formatUsd(balance),
    ]);
  });
  return [
    byteOrderMark,
    csvLine([w.date, w.entry, w.model, w.requests, w.paid, w.in, w.out, w.balance]),
    csvLine([
      localTime(statement.from).slice(0, 10),
      w.opening,
      '',
      '',
      '',
      formatUsd(statement.opening),
      '',
      formatUsd(statement.opening),
    ]),
    ...written,
    csvLine([
      localTime(new Date(Math.min(statement.to.getTime() - 1, Date.now()))).slice(0, 10),
      w.closing,
      '',
      '',
      '',
      '',
      '',
      formatUsd(statement.closing),
    ]),
  ].join('');
}
