import type { PicoUsd } from '../core/money.ts';
import type { Queryable } from './usage.ts';

/**
 * What came in and what the upstreams cost, by period, model, upstream and account. Exact to the ledger at every commit:
 * the database adds up the entries as they are written. A request on a route without costs has no margin; such requests
 * are counted apart, never as if they had cost nothing.
 */

export interface MarginQuery {
  /** Only customers' accounts, or only those of uptime probes. */
  kind: 'customer' | 'probe';
  /** Length of the periods; null: one for all time. */
  period: 'hour' | 'day' | 'month' | null;
  byModel: boolean;
  byUpstream: boolean;
  byAccount: boolean;
  from: Date | null;
  to: Date | null;
  model: string | null;
  upstream: string | null;
  accountId: string | null;
  /** Time zone of days and months. */
  timeZone: string;
  limit: number;
  /** Rows that were read before. */
  offset: number;
}

export interface MarginRecord {
  /** The period's beginning; null without periods. */
  start: Date | null;
  /** Null when not grouped by it. */
  model: string | null;
  upstream: string | null;
  accountId: string | null;
  requests: bigint;
  cost: PicoUsd;
  charged: PicoUsd;
  /** Of the requests whose cost is known. */
  upstreamCost: PicoUsd;
  /** Requests whose cost at the upstream is not known, and what they were charged. */
  unknownRequests: bigint;
  unknownCharged: PicoUsd;
}

type MarginFigures = Pick<MarginRecord, 'charged' | 'upstreamCost' | 'unknownRequests' | 'unknownCharged'>;

/** Whether the cost is known of nothing that was sold. */
export function isCostUnknown({ charged, upstreamCost, unknownRequests, unknownCharged }: MarginFigures): boolean {
  return unknownRequests > 0n && charged === unknownCharged && upstreamCost === 0n;
}

/** What is left of the requests whose cost is known; null where it is known of none. Uncharged cost is no income. */
export function marginOf(row: MarginFigures): PicoUsd | null {
  return isCostUnknown(row) ? null : row.charged - row.unknownCharged - row.upstreamCost;
}

const periods = { hour: 'hour', day: 'day', month: 'month' } as const;
const sums = ['requests', 'cost', 'charged', 'upstream_cost', 'unknown_requests', 'unknown_charged'] as const;

interface Row extends Record<(typeof sums)[number], string> {
  start: Date | null;
  model: string | null;
  upstream: string | null;
  account_id: string | null;
}

/** Newest period first, then by what was charged. `more`: there are further rows. */
export async function readMargins(
  db: Queryable,
  query: MarginQuery,
): Promise<{ items: MarginRecord[]; more: boolean }> {
  const { period, byModel, byUpstream, byAccount, limit } = query;
  const start = period === null ? 'NULL::timestamptz' : `date_trunc('${periods[period]}', hour, $7)`;
  const { rows } = await db.query<Row>({
    // Time zones are computed for hours, of which each has many rows.
    text: `SELECT ${start} AS start, model, upstream, account_id, ${sums.map((sum) => `sum(${sum})::text AS ${sum}`).join(', ')}
           FROM (
           SELECT ${period === null ? 'NULL::timestamptz' : 'hour'} AS hour, ${byModel ? 'model' : 'NULL::text'} AS model,
             ${byUpstream ? 'upstream' : 'NULL::text'} AS upstream, ${byAccount ? 'account_id' : 'NULL::uuid'} AS account_id,
             ${sums.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}
           FROM margin_hour
           WHERE hour >= coalesce($1::timestamptz, '-infinity') AND hour < coalesce($2::timestamptz, 'infinity')
             AND ($3::text IS NULL OR model = $3) AND ($4::text IS NULL OR upstream = $4)
             AND ($5::uuid IS NULL OR account_id = $5)
             AND account_id IN (SELECT id FROM account WHERE kind = 'probe') = ($6 = 'probe') AND $7::text IS NOT NULL
           GROUP BY 1, 2, 3, 4) AS of_hours
           GROUP BY 1, 2, 3, 4
           ORDER BY start DESC NULLS LAST, sum(charged) DESC, model, upstream, account_id
           LIMIT $8 OFFSET $9`,
    values: [
      query.from,
      query.to,
      query.model,
      query.upstream,
      query.accountId,
      query.kind,
      query.timeZone,
      limit + 1,
      query.offset,
    ],
  });
  const items = rows.slice(0, limit).map((row) => ({
    start: row.start,
    model: row.model,
    upstream: row.upstream,
    accountId: row.account_id,
    requests: BigInt(row.requests),
    cost: BigInt(row.cost),
    charged: BigInt(row.charged),
    upstreamCost: BigInt(row.upstream_cost),
    unknownRequests: BigInt(row.unknown_requests),
    unknownCharged: BigInt(row.unknown_charged),
  }));
  return { items, more: rows.length > limit };
}
