import type { Pool } from 'pg';
import type { Locale } from '../shared/page.ts';
import { type ComparisonQuery, compareTotals, compareVendorUsage, requestsBehind } from './bill-comparison.ts';
import { journalCsv, readJournalNumbers, saveJournalNumbers } from './journal.ts';
import { type BillFinding, examineVendorBills, listVendorBills } from './missing-bills.ts';
import { type CloseMonth, closeMonth, listClosedMonths, previewMonth, verifyClosedMonths } from './month-close.ts';
import { advancesCsv, findPaperGaps, listAdvances, listPapers, papersCsv } from './papers.ts';
import { listRates, listTaxes, setRate, setTaxes } from './rates.ts';
import { VendorFileError } from './vendor-csv.ts';
import {
  importVendorUsage,
  listVendorFiles,
  type ReplacedDay,
  undoImport,
  type VendorImport,
  type VendorImported,
} from './vendor-files.ts';

/** The operator's books: what vendors say they billed, and months that are closed. */

export type ImportOutcome =
  | { kind: 'imported'; imported: VendorImported }
  | { kind: 'unknown_upstream' }
  /** The file has no usage. */
  | { kind: 'empty' }
  /** The same file counts already, as this version. */
  | { kind: 'known'; version: number }
  /** What earlier files had of its period would be gone: to be confirmed. Nothing was written. */
  | { kind: 'would_remove'; removed: ReplacedDay[] }
  /** `message`: a sentence with the line. Nothing was written. */
  | { kind: 'unreadable'; message: string };

/** What an adviser gets of a month beside its lines. */
export const bookPapers = ['journal', 'papers', 'advances'] as const;
export type BookPaper = (typeof bookPapers)[number];

/** `pool` must read BIGINT as `bigint`. */
export function createBooks({ pool, now = () => new Date() }: { pool: Pool; now?: () => Date }) {
  /** What operators chose in the settings of their notices. */
  async function tolerance(): Promise<{ percent: number; graceDays: number }> {
    const { rows } = await pool.query<{ percent: number; graceDays: number }>(
      `SELECT bill_percent AS percent, bill_days AS "graceDays" FROM business_notice_settings`,
    );
    return rows[0] ?? { percent: 1, graceDays: 7 };
  }
  return {
    async importUsage(input: VendorImport): Promise<ImportOutcome> {
      const { rowCount } = await pool.query('SELECT FROM upstream WHERE id = $1', [input.upstream]);
      if (rowCount === 0) return { kind: 'unknown_upstream' };
      try {
        return await importVendorUsage(pool, input);
      } catch (error) {
        if (error instanceof VendorFileError) return { kind: 'unreadable', message: error.message };
        throw error;
      }
    },
    /** Rows of days and models, and the totals of the period. */
    async compare(query: Omit<ComparisonQuery, 'percent'>) {
      const asked = { ...query, percent: (await tolerance()).percent };
      const rows = await compareVendorUsage(pool, asked);
      return { rows, totals: await compareTotals(pool, rows, asked) };
    },
    requestsBehind: (input: Parameters<typeof requestsBehind>[1]) => requestsBehind(pool, input),
    /** Newest first. */
    files: (input: Parameters<typeof listVendorFiles>[1]) => listVendorFiles(pool, input),
    undoImport: (input: Parameters<typeof undoImport>[1]) => undoImport(pool, input),
    async bills() {
      return listVendorBills(pool, { now: now(), graceDays: (await tolerance()).graceDays });
    },
    /** What is wrong with vendors' bills: missing days, and what differs from the ledger. */
    async examineBills(): Promise<BillFinding[]> {
      return examineVendorBills(pool, { now: now(), ...(await tolerance()) });
    },
    /** Oldest first. */
    closedMonths: () => listClosedMonths(pool),
    previewMonth: (input: Parameters<typeof previewMonth>[1]) => previewMonth(pool, input),
    close: (input: CloseMonth) => closeMonth(pool, input),
    verify: () => verifyClosedMonths(pool),
    setRate: (input: Parameters<typeof setRate>[1]) => setRate(pool, input),
    setTaxes: (input: Parameters<typeof setTaxes>[1]) => setTaxes(pool, input),
    taxes: () => listTaxes(pool),
    rates: (month: string) => listRates(pool, month),
    journalNumbers: () => readJournalNumbers(pool),
    saveJournalNumbers: (input: Parameters<typeof saveJournalNumbers>[1]) => saveJournalNumbers(pool, input),
    /** A paper of a month as CSV; null: the month is not closed, or by an earlier version. */
    async csv(kind: BookPaper, month: string, locale: Locale): Promise<string | null> {
      if (kind === 'papers') return papersCsv(await listPapers(pool, month), locale);
      const closed = (await listClosedMonths(pool)).find((each) => each.month === month);
      if (closed?.statement == null) return null;
      if (kind === 'advances') return advancesCsv(await listAdvances(pool, month), locale);
      return journalCsv(closed.statement, await readJournalNumbers(pool), locale);
    },
    paperGaps: () => findPaperGaps(pool),
  };
}

export type Books = ReturnType<typeof createBooks>;
