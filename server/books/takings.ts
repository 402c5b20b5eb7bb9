import type { Pool } from 'pg';

/** What the business took in: money of customers at the bank, for the operator's home. */

export interface Takings {
  /** Whole VND of transfers that pay orders, booked today and this month in the given time zone. */
  vndToday: bigint;
  vndThisMonth: bigint;
  /** Transfers that wait for a person. */
  waitingTransfers: number;
  /** When the oldest of them arrived; null: none waits. */
  waitingSince: Date | null;
}

/** `zone` is an IANA name that PostgreSQL knows. */
export async function readTakings(pool: Pool, zone: string): Promise<Takings> {
  const { rows } = await pool.query<Takings>(
    `WITH taken AS (
       SELECT t.amount_vnd, t.booked_at AT TIME ZONE $1 AS booked FROM bank_transfer t
       JOIN transfer_match m ON m.transfer_id = t.id
       WHERE t.direction = 'in' AND t.booked_at > now() - interval '32 days'
     ), here AS (SELECT now() AT TIME ZONE $1 AS now)
     SELECT
       (SELECT coalesce(sum(amount_vnd), 0)::bigint FROM taken, here WHERE booked >= date_trunc('day', here.now)) AS "vndToday",
       (SELECT coalesce(sum(amount_vnd), 0)::bigint FROM taken, here WHERE booked >= date_trunc('month', here.now)) AS "vndThisMonth",
       (SELECT count(*)::int FROM transfer_review WHERE closed_at IS NULL) AS "waitingTransfers",
       (SELECT min(created_at) FROM transfer_review WHERE closed_at IS NULL) AS "waitingSince"`,
    [zone],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the takings were read and gave no row');
  return row;
}
