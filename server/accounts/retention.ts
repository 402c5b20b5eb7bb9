import type { Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';

/** Retention: deletes unused sessions, entries of the audit log, and whom requests were for, when their time is over. */

export interface RetentionDays {
  /** Since the last use. */
  sessionDays: number;
  /** At least 30: the database refuses to delete younger entries. */
  auditDays: number;
  /** Whom requests were for, and the sums by it. */
  attributionDays: number;
}

/** Entries of one transaction: the table stays readable meanwhile. */
const batch = 5_000;

export function createRetention({ pool, days }: { pool: Pool; days: RetentionDays }) {
  return {
    /** Deletes what is over, and returns how much of each. */
    async apply(): Promise<{ sessions: number; auditEntries: number; attributions: number }> {
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
      return { sessions: sessions ?? 0, auditEntries, attributions };
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

export type Retention = ReturnType<typeof createRetention>;
