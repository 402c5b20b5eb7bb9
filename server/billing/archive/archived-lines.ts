import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Pool } from 'pg';
import { entriesOfRows, type LedgerRecord } from '../reads/usage.ts';
import { ArchiveDamaged, readManifest, readTable, type TableFacts } from './archive-files.ts';

/**
 * The requests of an account in months that are in an archive, read from its files, which hold those of every account: only
 * the account's own leave this module. An archive lies where `ledger archive` wrote it, or under the same name in the folder
 * that is set for archives; a server that reaches neither says which months it lacks.
 */

/** A month whose archive is within reach. */
export interface ReachedMonth {
  /** `2026-01`, UTC, by the time requests arrived. */
  month: string;
  folder: string;
  entries: TableFacts;
}

interface ArchiveReach {
  /** The newest first. */
  reached: ReachedMonth[];
  /** Months whose archive this server cannot read, the oldest first. */
  missing: string[];
}

interface Known {
  month: string;
  archive: string;
  manifest: Buffer;
}

const pageRows = 250;

/** `directory`: the folder of archives that is set for this server; null: none. */
export function createArchivedLines({ db, directory }: { db: Pool; directory: string | null }) {
  /** Where the archive of a month lies; null: not within reach, or it is another archive. */
  async function reach({ month, archive, manifest: known }: Known): Promise<ReachedMonth | null> {
    for (const folder of [archive, ...(directory === null ? [] : [join(directory, basename(archive))])])
      try {
        const { manifest, sha256 } = await readManifest(folder);
        const entries = manifest.tables.ledger_entry;
        if (!sha256.equals(known) || manifest.month !== month) continue;
        if ((await stat(join(folder, entries.file))).size === entries.bytes) return { month, folder, entries };
      } catch {
        // It is not there, or not readable for this process.
      }
    return null;
  }

  return {
    /** The archived months that a range of time touches. `to` is excluded. */
    async find({ from, to }: { from: Date | null; to: Date | null }): Promise<ArchiveReach> {
      const { rows } = await db.query<Known>(
        `SELECT to_char(month, 'YYYY-MM') AS month, archive, manifest FROM archived_month
         WHERE (month::timestamp + interval '1 month') AT TIME ZONE 'UTC' > coalesce($1::timestamptz, '-infinity')
           AND month::timestamp AT TIME ZONE 'UTC' < coalesce($2::timestamptz, 'infinity') ORDER BY month`,
        [from, to],
      );
      const reached: ReachedMonth[] = [];
      const missing: string[] = [];
      for (const known of rows) {
        const found = await reach(known);
        if (found === null) missing.push(known.month);
        else reached.unshift(found);
      }
      return { reached, missing };
    },

    /**
     * The requests of an account in an archived month, in pages, the oldest first. Reads past the accounts before it, and no
     * further. Throws `ArchiveDamaged` where they do not add up to what the database remembers of the month.
     */
    async *read({ month, folder, entries }: ReachedMonth, accountId: string): AsyncGenerator<LedgerRecord[]> {
      const { rows: sums } = await db.query<{ requests: string; charged: string }>(
        `SELECT coalesce(sum(requests), 0)::text AS requests, coalesce(sum(charged), 0)::text AS charged FROM archived_sum
         WHERE account_id = $1 AND month = ($2 || '-01')::date`,
        [accountId, month],
      );
      const left = { requests: BigInt(sums[0]?.requests ?? '0'), charged: BigInt(sums[0]?.charged ?? '0') };
      if (left.requests === 0n) return;
      let page: Record<string, string | null>[] = [];
      const written = async (): Promise<LedgerRecord[]> => {
        const records = await entriesOfRows(db, entries.columns, page);
        page = [];
        for (const { charged } of records) left.charged -= charged;
        left.requests -= BigInt(records.length);
        return records;
      };
      for await (const row of readTable(folder, entries)) {
        const owner = row['account_id'] ?? '';
        if (owner < accountId) continue;
        // They are in the order of accounts.
        if (owner > accountId) break;
        page.push(row);
        if (page.length === pageRows) yield await written();
      }
      if (page.length > 0) yield await written();
      if (left.requests !== 0n || left.charged !== 0n)
        throw new ArchiveDamaged(`the requests of ${month} in ${folder} do not add up`);
    },
  };
}

export type ArchivedLines = ReturnType<typeof createArchivedLines>;
