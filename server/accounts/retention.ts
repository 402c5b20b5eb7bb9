import type { Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';

/** Retention: deletes sessions that nobody uses and entries of the audit log when their time is over. */

export interface RetentionDays {
  /** Since the last use. */
  sessionDays: number;
  /** At least 30: the database refuses to delete younger entries. */
  auditDays: number;
}

/** Entries of one transaction: the table stays readable meanwhile. */
const batch = 5_000;

export function createRetention({ pool, days }: { pool: Pool; days: RetentionDays }) {
  return {
    /** Deletes what is over, and returns how much of each. */
    async apply(): Promise<{ sessions: number; auditEntries: number }> {
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
        if (deleted < batch) return { sessions: sessions ?? 0, auditEntries };
      }
    },
  };
}

export type Retention = ReturnType<typeof createRetention>;
