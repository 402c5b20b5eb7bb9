import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { byteOrderMark, csvLine } from '../shared/csv.ts';
import type { Locale } from '../shared/page.ts';
import type { MonthStatement } from './month-statement.ts';

/** A month as double entry, with the operator's own numbers of accounts: for the program of an accountant. */

/**
 * What an account is for, with its number in the chart of Circular 99/2025/TT-BTC, which replaced that of Circular 200/2014 from
 * 2026 on, until the operator says another: it lets enterprises choose numbers of their own.
 * https://github.com/odoo/odoo/blob/a6f0e5afe10b8eec894ed792cb2ce44bcfb35ab2/addons/l10n_vn/data/template/account.account-vn_TT99.csv
 * https://ata-legal.com/circular-99-2025-tt-btc-key-new-points-on-the-corporate-accounting-regime-effective-from-01-01-2026
 */
export const journalAccounts = {
  bank: '112',
  customersMoney: '3388',
  deferredRevenue: '3387',
  salesVat: '33311',
  revenue: '511',
  expiredRevenue: '711',
  allowances: '521',
  costOfSales: '632',
  marketing: '641',
  ownUse: '642',
  vendors: '331',
  foreignTaxes: '33382',
} as const;
export type JournalRole = keyof typeof journalAccounts;
export const journalRoles = Object.keys(journalAccounts) as JournalRole[];

export type JournalNumbers = Record<JournalRole, string>;

/** The numbers that count. */
export async function readJournalNumbers(db: Pick<Pool | ClientBase, 'query'>): Promise<JournalNumbers> {
  const { rows } = await db.query<{ role: string; number: string }>('SELECT role, number FROM journal_account');
  return { ...journalAccounts, ...Object.fromEntries(rows.map(({ role, number }) => [role, number])) };
}

export type SaveJournalOutcome = { kind: 'saved'; numbers: JournalNumbers } | { kind: 'bad_number'; role: JournalRole };

const numberShape = /^[0-9A-Za-z.-]{1,20}$/;

/** Changes some of the numbers. */
export async function saveJournalNumbers(
  pool: Pool,
  { numbers, actor }: { numbers: Partial<JournalNumbers>; actor: string },
): Promise<SaveJournalOutcome> {
  const given = journalRoles.flatMap((role) => (numbers[role] === undefined ? [] : [{ role, number: numbers[role] }]));
  const wrong = given.find(({ number }) => !numberShape.test(number));
  if (wrong !== undefined) return { kind: 'bad_number', role: wrong.role };
  return repeatedTransaction(pool, async (client): Promise<SaveJournalOutcome> => {
    const before = await readJournalNumbers(client);
    for (const { role, number } of given)
      await client.query(
        `INSERT INTO journal_account (role, number) VALUES ($1, $2)
         ON CONFLICT (role) DO UPDATE SET number = excluded.number, updated_at = now()`,
        [role, number],
      );
    const after = await readJournalNumbers(client);
    await appendAudit(client, { actor, action: 'books.journal_accounts', subject: 'journal', before, after });
    return { kind: 'saved', numbers: after };
  });
}

const texts = {
  received: { en: 'Received from customers', vi: 'Nhận tiền của khách hàng' },
  sold: { en: 'Sold in advance', vi: 'Bán trả trước' },
  soldVat: { en: 'VAT on sales', vi: 'Thuế GTGT đầu ra' },
  undone: { en: 'Sales taken back', vi: 'Hủy bán hàng' },
  undoneVat: { en: 'VAT on sales taken back', vi: 'Thuế GTGT của bán hàng đã hủy' },
  used: { en: 'Used budget of purchases', vi: 'Doanh thu theo số dư đã dùng' },
  expired: { en: 'Expired budget of purchases', vi: 'Doanh thu từ số dư hết hạn' },
  refunded: { en: 'Credit notes, unused budget', vi: 'Phiếu ghi giảm, số dư chưa dùng' },
  allowed: { en: 'Credit notes, used budget', vi: 'Phiếu ghi giảm, số dư đã dùng' },
  creditedVat: { en: 'VAT on credit notes', vi: 'Thuế GTGT của phiếu ghi giảm' },
  sent: { en: 'Sent back to customers', vi: 'Chuyển trả khách hàng' },
  costOfSales: { en: 'Vendors: what was sold', vi: 'Nhà cung cấp: phần đã bán' },
  marketing: {
    en: 'Vendors: trials, bonuses, gifts and shortfall',
    vi: 'Nhà cung cấp: dùng thử, thưởng, tặng và phần thiếu',
  },
  ownUse: { en: 'Vendors: own use and probes', vi: 'Nhà cung cấp: nội bộ và đo hoạt động' },
  foreignVat: { en: 'VAT on foreign services', vi: 'Thuế GTGT dịch vụ nước ngoài' },
  foreignIncome: { en: 'Income tax on foreign services', vi: 'Thuế TNDN nhà thầu nước ngoài' },
} as const;

/** Whole VND from one account to another: never negative. */
export interface JournalEntry {
  text: keyof typeof texts;
  debit: JournalRole;
  credit: JournalRole;
  amount: bigint;
}

/** Splits a sum as its parts are to each other: whole VND that add up to it. */
function splitVnd(total: bigint, parts: readonly bigint[]): bigint[] {
  const whole = parts.reduce((sum, part) => sum + part, 0n);
  let [taken, before] = [0n, 0n];
  return parts.map((part) => {
    taken += part;
    const upTo = whole === 0n ? 0n : (total * taken) / whole;
    const own = upTo - before;
    before = upTo;
    return own;
  });
}

/** The entries of a month. What vendors cost is left out while an exchange rate is missing. */
export function journalOf(statement: MonthStatement): JournalEntry[] {
  const { cash, boughtNetVnd, allowed, vendorCost, vnd } = statement;
  const entries: JournalEntry[] = [];
  const book = (text: JournalEntry['text'], debit: JournalRole, credit: JournalRole, amount: bigint): void => {
    // What is corrected goes the other way.
    if (amount > 0n) entries.push({ text, debit, credit, amount });
    if (amount < 0n) entries.push({ text, debit: credit, credit: debit, amount: -amount });
  };
  book('received', 'bank', 'customersMoney', cash.received);
  book('sold', 'customersMoney', 'deferredRevenue', boughtNetVnd.added);
  book('soldVat', 'customersMoney', 'salesVat', cash.sold - boughtNetVnd.added);
  book('undone', 'deferredRevenue', 'customersMoney', boughtNetVnd.undone);
  book('undoneVat', 'salesVat', 'customersMoney', cash.undone - boughtNetVnd.undone);
  book('used', 'deferredRevenue', 'revenue', boughtNetVnd.used);
  book('expired', 'deferredRevenue', 'expiredRevenue', boughtNetVnd.expired);
  book('refunded', 'deferredRevenue', 'customersMoney', boughtNetVnd.refunded);
  book('allowed', 'allowances', 'customersMoney', allowed.net);
  book('creditedVat', 'salesVat', 'customersMoney', cash.credited - boughtNetVnd.refunded - allowed.net);
  book('sent', 'customersMoney', 'bank', cash.sent);
  if (vnd === null) return entries;
  const { bought, trial, bonus, given, shortfall, unsplit, own, probe } = vendorCost;
  const [sold = 0n, gifts = 0n, ours = 0n] = splitVnd(vnd.cost, [
    bought,
    trial + bonus + given + shortfall + unsplit,
    own + probe,
  ]);
  book('costOfSales', 'costOfSales', 'vendors', sold);
  book('marketing', 'marketing', 'vendors', gifts);
  book('ownUse', 'ownUse', 'vendors', ours);
  const { vat, income, borne } = vnd.tax;
  book('foreignVat', borne ? 'costOfSales' : 'vendors', 'foreignTaxes', vat);
  book('foreignIncome', borne ? 'costOfSales' : 'vendors', 'foreignTaxes', income);
  return entries;
}

const heads = {
  en: ['entry', 'date', 'text', 'account', 'debit', 'credit'],
  vi: ['Số bút toán', 'Ngày', 'Diễn giải', 'Tài khoản', 'Nợ', 'Có'],
} as const;

/** The entries as CSV, two lines for each, on the last day of the month. */
export function journalCsv(statement: MonthStatement, numbers: JournalNumbers, locale: Locale): string {
  const [year = 0, month = 0] = statement.month.split('-').map(Number);
  const date = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
  const lines = journalOf(statement).flatMap(({ text, debit, credit, amount }, index) => {
    const start = [`${statement.month}-${String(index + 1).padStart(2, '0')}`, date, texts[text][locale]];
    const figure = { number: String(amount) };
    return [
      csvLine([...start, { number: numbers[debit] }, figure, '']),
      csvLine([...start, { number: numbers[credit] }, '', figure]),
    ];
  });
  return [byteOrderMark, csvLine(heads[locale]), ...lines].join('');
}
