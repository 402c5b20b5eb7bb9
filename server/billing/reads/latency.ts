import type { Queryable } from '../../database/pool.ts';
import { RangeTooWide } from './usage.ts';

/** How fast an account's requests were answered, from its ledger entries. */

export interface LatencyQuery {
  accountId: string;
  from: Date;
  to: Date | null;
  period: 'hour' | 'day';
  timeZone: string;
  keyId: string | null;
  model: string | null;
}

/** A period with requests that completed; one without is left out. Milliseconds, each a time that a request really took. */
export interface LatencyRecord {
  start: Date;
  requests: number;
  p50: number;
  p95: number;
  /** Null: no answer of the period was streamed. */
  firstByteP50: number | null;
  firstByteP95: number | null;
}

/** Entries that one answer may read: some hundred milliseconds of the database. */
export const maxTimed = 50_000;

/**
 * Percentiles by period, oldest first. There is no sum that they could come from: the entries are read, so the range may
 * contain `maxTimed` requests by the hourly sums; `RangeTooWide` is thrown above that, before any entry is read.
 */
export async function readLatency(db: Queryable, query: LatencyQuery): Promise<LatencyRecord[]> {
  const { accountId, from, to, period, timeZone, keyId, model } = query;
  const { rows: counted } = await db.query<{ wide: boolean }>({
    name: 'latency_range',
    text: `SELECT coalesce(sum(requests), 0) > $6 AS wide FROM (
             SELECT requests FROM usage_hour WHERE account_id = $1 AND hour >= date_trunc('hour', $2::timestamptz)
               AND hour < coalesce($3::timestamptz, 'infinity')
               AND ($4::uuid IS NULL OR key_id = $4) AND ($5::text IS NULL OR model = $5) LIMIT $6 + 1) AS hours`,
    values: [accountId, from, to, keyId, model, maxTimed],
  });
  if (counted[0]?.wide === true) throw new RangeTooWide();
  const { rows } = await db.query<LatencyRecord>({
    name: `latency_${period}`,
    text: `SELECT date_trunc('${period}', created_at, $6) AS start, count(*)::int AS requests,
                  percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50,
                  percentile_disc(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95,
                  percentile_disc(0.5) WITHIN GROUP (ORDER BY time_to_first_byte_ms) FILTER (WHERE stream) AS "firstByteP50",
                  percentile_disc(0.95) WITHIN GROUP (ORDER BY time_to_first_byte_ms) FILTER (WHERE stream) AS "firstByteP95"
             FROM ledger_entry
            WHERE account_id = $1 AND request_id >= uuid_at($2::timestamptz)
              AND request_id < uuid_at(coalesce($3::timestamptz, 'infinity')) AND outcome = 'completed'
              AND ($4::uuid IS NULL OR key_id = $4) AND ($5::text IS NULL OR model = $5)
            GROUP BY 1 ORDER BY 1`,
    values: [accountId, from, to, keyId, model, timeZone],
  });
  return rows;
}
