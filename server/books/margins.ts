import type { PicoUsd } from '../core/money.ts';
import type { Queryable } from '../database/pool.ts';

/**
 * What came in and what the upstreams cost, by period, model, upstream and account. Exact to the ledger at every commit:
 * the database adds up the entries as they are written. Income is what bought budget paid for; trials, gifts, bonuses and
 * shortfall are part of the cost alone. A request on a route without costs has no margin; such requests are counted apart,
 * never as if they had cost nothing.
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
  /** Of `charged`: from bought budget; and of that, for requests at unknown cost. Null: a month of it is in an archive. */
  bought: PicoUsd | null;
  unknownBought: PicoUsd | null;
}

type MarginFigures = Pick<
  MarginRecord,
  'charged' | 'upstreamCost' | 'unknownRequests' | 'unknownCharged' | 'bought' | 'unknownBought'
>;

/** Whether the cost is known of nothing that was sold. */
export function isCostUnknown({ charged, upstreamCost, unknownRequests, unknownCharged }: MarginFigures): boolean {
  return unknownRequests > 0n && charged === unknownCharged && upstreamCost === 0n;
}

/**
 * What bought budget paid for requests whose cost is known, less what all of them cost; null where it is not known. What was
 * given is no income, and its cost an expense.
 */
export function marginOf(row: MarginFigures): PicoUsd | null {
  if (isCostUnknown(row) || row.bought === null || row.unknownBought === null) return null;
  return row.bought - row.unknownBought - row.upstreamCost;
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
  const bought = await readBought(db, query);
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
    ...(bought === null ? { bought: null, unknownBought: null } : (bought.get(keyOf(row)) ?? nothingBought)),
  }));
  return { items, more: rows.length > limit };
}

const nothingBought = { bought: 0n, unknownBought: 0n };

const keyOf = (row: Pick<Row, 'start' | 'model' | 'upstream' | 'account_id'>): string =>
  [row.start?.toISOString(), row.model, row.upstream, row.account_id].join(' ');

/** What bought budget paid, by the same groups. Null: the range has a month that is in an archive. */
async function readBought(
  db: Queryable,
  query: MarginQuery,
): Promise<Map<string, { bought: PicoUsd; unknownBought: PicoUsd }> | null> {
  const { period, byModel, byUpstream, byAccount } = query;
  const archived = await db.query(
    `SELECT FROM archived_month WHERE last_at >= coalesce($1::timestamptz, '-infinity')
       AND month < coalesce($2::timestamptz, 'infinity') LIMIT 1`,
    [query.from, query.to],
  );
  if (archived.rowCount !== 0) return null;
  // The ids of a request's postings begin as its own (`postingId` of the lane), so those of a period are a range of each
  // account's key. Without it the planner reads all postings, or those of an account once for each of its requests.
  // A whole hour, as the sums of margins are.
  const hour = `date_trunc('hour', e.created_at, 'UTC')`;
  const nextHour = (moment: string): string =>
    `date_trunc('hour', ${moment}::timestamptz + interval '1 hour' - interval '1 microsecond', 'UTC')`;
  const { rows } = await db.query<
    Pick<Row, 'start' | 'model' | 'upstream' | 'account_id'> & { bought: string; unknown: string }
  >({
    text: `SELECT ${period === null ? 'NULL::timestamptz' : `date_trunc('${periods[period]}', ${hour}, $7)`} AS start,
             ${byModel ? 'e.model' : 'NULL::text'} AS model, ${byUpstream ? 'e.upstream' : 'NULL::text'} AS upstream,
             ${byAccount ? 'e.account_id' : 'NULL::uuid'} AS account_id, sum(p.amount)::text AS bought,
             coalesce(sum(p.amount) FILTER (WHERE e.upstream_cost IS NULL), 0)::text AS unknown
           FROM (
             SELECT account_id, request_id, grant_id, amount FROM posting
             WHERE account_id = ANY (ARRAY (SELECT id FROM account WHERE ($5::uuid IS NULL OR id = $5) AND (kind = 'probe') = ($6 = 'probe')))
               AND kind = 'charge' AND ($1::timestamptz IS NULL OR id >= uuid_at($1::timestamptz - interval '1 day'))
               AND ($2::timestamptz IS NULL OR id < uuid_at($2::timestamptz + interval '1 hour'))) AS p
           JOIN "grant" g ON g.account_id = p.account_id AND g.id = p.grant_id AND g.kind = 'purchase'
           JOIN ledger_entry e ON e.account_id = p.account_id AND e.request_id = p.request_id
             AND ($1::timestamptz IS NULL OR e.request_id >= uuid_at($1::timestamptz - interval '1 day'))
             AND ($2::timestamptz IS NULL OR e.request_id < uuid_at($2::timestamptz + interval '1 hour'))
             AND ($1::timestamptz IS NULL OR e.created_at >= ${nextHour('$1')}) AND ($2::timestamptz IS NULL OR e.created_at < ${nextHour('$2')})
             AND ($3::text IS NULL OR e.model = $3) AND ($4::text IS NULL OR e.upstream = $4)
           WHERE $7::text IS NOT NULL
           GROUP BY 1, 2, 3, 4`,
    values: [query.from, query.to, query.model, query.upstream, query.accountId, query.kind, query.timeZone],
  });
  return new Map(rows.map((row) => [keyOf(row), { bought: BigInt(row.bought), unknownBought: BigInt(row.unknown) }]));
}
