import type { Queryable } from '../../database/pool.ts';

/** Finds the account of a request by its id alone, which no index of the ledger begins with. */

export interface FoundRequest {
  accountId: string;
  model: string;
}

/** A request is settled within this after it arrived, unless its settlement waited in a spool. */
const usuallySettledMs = 6 * 3_600_000;
/** Clocks of processes and of the database differ, give or take this. */
const maxSkewMs = 600_000;

/**
 * A request that was settled as usual. Its id begins with the moment of its arrival, and the sums by hour say which accounts had
 * requests then: only their entries are looked up, so the cost follows from the hours and not from the ledger.
 */
export async function findRecentlySettled(db: Queryable, requestId: string): Promise<FoundRequest | null> {
  const arrivedAt = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
  const { rows } = await db.query({
    name: 'request_of_hours',
    text: `WITH busy AS MATERIALIZED (
             SELECT DISTINCT account_id FROM usage_hour
             WHERE hour >= date_trunc('hour', to_timestamp($2::bigint / 1000.0), 'UTC') AND hour < to_timestamp($3::bigint / 1000.0)
           )
           SELECT e.account_id, e.model FROM busy CROSS JOIN LATERAL (
             SELECT account_id, model FROM ledger_entry WHERE account_id = busy.account_id AND request_id = $1 OFFSET 0
           ) AS e LIMIT 1`,
    values: [requestId, arrivedAt - maxSkewMs, arrivedAt + usuallySettledMs],
  });
  return rows[0] === undefined ? null : { accountId: rows[0].account_id, model: rows[0].model };
}

/** Any request: reads the index of the month in which it arrived, tenths of a second for a million requests. */
export async function findAnywhere(db: Queryable, requestId: string): Promise<FoundRequest | null> {
  const { rows } = await db.query({
    name: 'request_of_month',
    text: 'SELECT account_id, model FROM ledger_entry WHERE request_id = $1 LIMIT 1',
    values: [requestId],
  });
  return rows[0] === undefined ? null : { accountId: rows[0].account_id, model: rows[0].model };
}
