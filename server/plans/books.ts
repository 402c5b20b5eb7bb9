import type { Pool } from 'pg';
import { type BillFinding, examineVendorBills, listVendorBills } from '../billing/vendor-bills.ts';
import { VendorFileError } from '../billing/vendor-csv.ts';
import {
  type ComparisonQuery,
  compareVendorUsage,
  importVendorUsage,
  type VendorImport,
  type VendorImported,
} from '../billing/vendor-usage.ts';
import { type CloseMonth, closeMonth, listClosedMonths, previewMonth } from './month-close.ts';

/** The operator's books: what vendors say they billed, and months that are closed. */

export type ImportOutcome =
  | { kind: 'imported'; imported: VendorImported }
  | { kind: 'unknown_upstream' }
  /** The file has no usage. */
  | { kind: 'empty' }
  /** `message`: a sentence with the line. Nothing was written. */
  | { kind: 'unreadable'; message: string };

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
        const imported = await importVendorUsage(pool, input);
        return imported === null ? { kind: 'empty' } : { kind: 'imported', imported };
      } catch (error) {
        if (error instanceof VendorFileError) return { kind: 'unreadable', message: error.message };
        throw error;
      }
    },
    async compare(query: Omit<ComparisonQuery, 'percent'>) {
      return compareVendorUsage(pool, { ...query, percent: (await tolerance()).percent });
    },
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
  };
}

export type Books = ReturnType<typeof createBooks>;
