import type { Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';

/**
 * Retention: deletes unused sessions, entries of the audit log, whom requests were for, and the lines of old batches, when their time
 * is over.
 */

export interface RetentionDays {
  /** Since the last use. */
  sessionDays: number;
  /** At least 30: the database refuses to delete younger entries. */
  auditDays: number;
  /** Whom requests were for, and the sums by it. */
  attributionDays: number;
}

/**
 * Lines tell whose a result is, so they stay as long as results can be read: Anthropic's for 29 days after the batch was made
 * (https://platform.claude.com/docs/en/build-with-claude/batch-processing). OpenAI has no such end for the files that it writes.
 */
const batchLineDays = 30;

/** Entries of one transaction: the table stays readable meanwhile. */
const batch = 5_000;

export interface Deleted {
  sessions: number;
  auditEntries: number;
  attributions: number;
  batchLines: number;
}

export function createRetention({ pool, days }: { pool: Pool; days: RetentionDays }) {
  return {
    /** Deletes what is over, and returns how much of each. */
    async apply(): Promise<Deleted> {
      const { rowCount: sessions } = await pool.query(
        'DELETE FROM user_session WHERE updated_at < now() - make_interval(days => $1)',
        [days.sessionDays],
      );
      let auditEntries = 0;
      for (;;) {
        const deleted = await repeatedTransaction(pool, async (client) => {
          await client.query(`SELECT set_config('steyg.audit', 'retention', true)`);
          const { rowCount } = await client.query(
            `DELETE FROM audit_entry WHERE id IN (SELECT id FROM audit_entry
               WHERE created_at < now() - make_interval(days => $1) ORDER BY created_at LIMIT $2)`,
            [days.auditDays, batch],
          );
          return rowCount ?? 0;
        });
        auditEntries += deleted;
        if (deleted < batch) break;
      }
      const attributions = await deleteOld(pool, 'attribution', 'created_at', days.attributionDays);
      await deleteOld(pool, 'attribution_hour', 'hour', days.attributionDays);
      const batchLines = await deleteBatchLines(pool);
      return { sessions: sessions ?? 0, auditEntries, attributions, batchLines };
    },
  };
}

/** Deletes the rows of a table that are older than so many days, and returns how many there were. */
async function deleteOld(pool: Pool, table: string, moment: string, days: number): Promise<number> {
  for (let all = 0; ; ) {
    const { rowCount } = await pool.query(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${table}
         WHERE ${moment} < now() - make_interval(days => $1) LIMIT $2))`,
      [days, batch],
    );
    all += rowCount ?? 0;
    if ((rowCount ?? 0) < batch) return all;
  }
}

/** Lines that came with their batch, when it has been settled for so long. Those of a file belong to its other batches, too. */
async function deleteBatchLines(pool: Pool): Promise<number> {
  for (let all = 0; ; ) {
    const { rowCount } = await pool.query(
      `DELETE FROM vendor_batch_line WHERE ctid = ANY (ARRAY (
         SELECT l.ctid FROM vendor_batch b JOIN vendor_batch_line l ON l.account_id = b.account_id AND l.source_id = b.id
         WHERE b.form = 'messages' AND b.settled_at < now() - make_interval(days => $1) LIMIT $2))`,
      [batchLineDays, batch],
    );
    all += rowCount ?? 0;
    if ((rowCount ?? 0) < batch) return all;
  }
}

export type Retention = ReturnType<typeof createRetention>;
