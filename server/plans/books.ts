import type { Pool } from 'pg';
import { VendorFileError } from '../billing/vendor-csv.ts';
import {
  type ComparisonQuery,
  compareVendorUsage,
  importVendorUsage,
  type VendorImport,
  type VendorImported,
} from '../billing/vendor-usage.ts';
import { type CloseMonth, closeMonth, listClosedMonths } from './month-close.ts';

/** The operator's books: what vendors say they billed, and months that are closed. */

export type ImportOutcome =
  | { kind: 'imported'; imported: VendorImported }
  | { kind: 'unknown_upstream' }
  /** The file has no usage. */
  | { kind: 'empty' }
  /** `message`: a sentence with the line. Nothing was written. */
  | { kind: 'unreadable'; message: string };

/** `pool` must read BIGINT as `bigint`. */
export function createBooks({ pool }: { pool: Pool }) {
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
    compare: (query: ComparisonQuery) => compareVendorUsage(pool, query),
    /** Oldest first. */
    closedMonths: () => listClosedMonths(pool),
    close: (input: CloseMonth) => closeMonth(pool, input),
  };
}

export type Books = ReturnType<typeof createBooks>;
