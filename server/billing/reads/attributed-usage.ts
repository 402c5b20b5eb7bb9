import type { Attribution, AttributionKind } from '../../core/attribution.ts';
import type { PicoUsd } from '../../core/money.ts';
import type { TokenPools } from '../../core/tokens.ts';
import type { Queryable } from '../../database/pool.ts';
import { decodeCursor, encodeCursor, inProject, type LedgerPage, page, poolsOf, RangeTooWide } from './usage.ts';

/**
 * Reads usage by session, user and tag, from the sums by hour that are written with every entry. An entry with several tags
 * counts for each of them; entries without a session, user or tag are in none of its rows.
 */
export interface AttributedUsageQuery {
  accountId: string;
  kind: AttributionKind;
  /** Only these, as they are stored; null: all. */
  labels?: readonly string[] | null;
  /** Days of the time zone; null: one sum for all time. */
  period?: 'day' | null;
  byModel?: boolean;
  byKey?: boolean;
  /** By the project in which a key lies now. */
  byProject?: boolean;
  from?: Date | null;
  to?: Date | null;
  model?: string | null;
  keyId?: string | null;
  /** Only keys that lie in this project now; null: all. */
  projectId?: string | null;
  timeZone?: string;
  /** Within each period: the most expensive first, or the last used. */
  order?: 'cost' | 'recent';
  limit: number;
  after?: string | null;
}

export interface AttributedUsage extends TokenPools {
  /** The day's beginning; null without periods. */
  start: Date | null;
  /** A digest or the value, as it was stored. */
  label: string;
  /** Null when not grouped by it. */
  model: string | null;
  keyId: string | null;
  /** Also null for keys that lie in none. */
  projectId: string | null;
  requests: number;
  cost: PicoUsd;
  charged: PicoUsd;
  /** When its first and last entry were written. */
  firstAt: Date;
  lastAt: Date;
}

/** Sums by hour that one page may read: some tenths of a second for the database. */
const maxSums = 200_000;

const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'] as const;
const sums = ['requests', ...pools, 'cost', 'charged'] as const;

/**
 * What the index reads: nothing but prefixes of the two indexes, so that a count of these rows bounds the scan. The labels
 * are left out of the text without any, so that a plan that is kept for all values still finds them by the index.
 */
const inScope = (ofLabels: boolean): string => `account_id = $1 AND kind = $2
  AND hour >= coalesce($3::timestamptz, '-infinity') AND hour < coalesce($4::timestamptz, 'infinity')
  ${ofLabels ? 'AND label = ANY ($5::text[])' : ''}`;

/** Throws `RangeTooWide` for a range with more than `maxSums` sums, and `BadCursor`. */
export async function readAttributedUsage(
  db: Queryable,
  query: AttributedUsageQuery,
): Promise<LedgerPage<AttributedUsage>> {
  const { period = null, byModel = false, byKey = false, byProject = false, order = 'cost', limit } = query;
  const labels = query.labels ?? null;
  const scope = inScope(labels !== null);
  const range = [query.accountId, query.kind, query.from ?? null, query.to ?? null];
  const { rows: counted } = await db.query({
    name: `attributed_range_${labels === null ? 'all' : 'labels'}`,
    text: `SELECT count(*) > ${maxSums} AS wide FROM (SELECT FROM attribution_hour WHERE ${scope} LIMIT ${maxSums + 1}) AS sums`,
    values: labels === null ? range : [...range, labels],
  });
  if (counted[0].wide === true) throw new RangeTooWide();
  const after = query.after ? decodeCursor(query.after, cursorShapes(order)) : null;
  const rank = order === 'cost' ? 'cost' : '(extract(epoch FROM last_at) * 1000)::bigint';
  const place = `label COLLATE "C", coalesce(model, '') COLLATE "C", coalesce(key_id::text, '') COLLATE "C",
    coalesce(project_id::text, '') COLLATE "C"`;
  const { rows } = await db.query({
    text: `SELECT * FROM (
             SELECT start, label, model, ${byKey ? 'key_id' : 'NULL::uuid'} AS key_id,
                    ${byProject ? 'k.project_id' : 'NULL::uuid'} AS project_id,
                    ${sums.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}, min(first_at) AS first_at, max(last_at) AS last_at
             FROM (
               SELECT ${period === null ? 'NULL::timestamptz' : `date_trunc('day', hour, $8)`} AS start, label,
                      ${byModel ? 'model' : 'NULL::text'} AS model, ${byKey || byProject ? 'key_id' : 'NULL::uuid'} AS key_id,
                      ${sums.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}, min(first_at) AS first_at, max(last_at) AS last_at
               FROM attribution_hour
               WHERE ${scope} AND $5::text[] IS NOT DISTINCT FROM $5
                 AND ($6::text IS NULL OR model = $6) AND ($7::uuid IS NULL OR key_id = $7) AND $8::text IS NOT NULL
                 AND ($17::uuid IS NULL OR ${inProject('$17')})
               GROUP BY 1, 2, 3, 4
             ) AS of_keys ${byProject ? 'LEFT JOIN api_key k ON k.id = key_id' : ''}
             GROUP BY 1, 2, 3, 4, 5
           ) AS grouped
           WHERE NOT $9::boolean OR coalesce(start, '-infinity') < $10::timestamptz
              OR (coalesce(start, '-infinity') = $10::timestamptz AND (${rank} < $11::numeric
                  OR (${rank} = $11::numeric AND (${place}) > ($12::text, $13::text, $14::text, $15::text))))
           ORDER BY coalesce(start, '-infinity') DESC, ${rank} DESC, ${place} LIMIT $16`,
    values: [
      ...range,
      labels,
      query.model ?? null,
      query.keyId ?? null,
      query.timeZone ?? 'UTC',
      after !== null,
      ...(after === null ? ['-infinity', '0', '', '', '', ''] : after.slice(1)),
      limit + 1,
      query.projectId ?? null,
    ],
  });
  return page(rows.map(toUsage), limit, (row) => positionOf(row, order));
}

/** The cursor after a row in pages of `readAttributedUsage` with that order. */
export function attributedCursor(row: AttributedUsage, order: 'cost' | 'recent'): string {
  return encodeCursor(positionOf(row, order));
}

function positionOf(row: AttributedUsage, order: 'cost' | 'recent'): string[] {
  return [
    order,
    row.start?.toISOString() ?? '-infinity',
    String(order === 'cost' ? row.cost : row.lastAt.getTime()),
    row.label,
    row.model ?? '',
    row.keyId ?? '',
    row.projectId ?? '',
  ];
}

const cursorShapes = (order: string): RegExp[] => [
  new RegExp(`^${order}$`),
  /^(-infinity|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00\.000Z)$/,
  /^\d{1,30}$/,
  /^/,
  /^/,
  /^$|^[0-9a-f-]{36}$/,
  /^$|^[0-9a-f-]{36}$/,
];

// Rows come out of pg without types.
// oxlint-disable-next-line typescript/no-explicit-any
function toUsage(row: any): AttributedUsage {
  return {
    start: row.start,
    label: row.label,
    model: row.model,
    keyId: row.key_id,
    projectId: row.project_id,
    requests: Number(row.requests),
    ...poolsOf(row),
    cost: BigInt(row.cost),
    charged: BigInt(row.charged),
    firstAt: row.first_at,
    lastAt: row.last_at,
  };
}

/** What is noted of requests of an account, by request id; those without an attribution are missing. */
export async function readAttributions(
  db: Queryable,
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, Attribution>> {
  const { rows } = await db.query({
    name: 'attributions',
    text: `SELECT request_id, session, end_user, coalesce(tags, '{}') AS tags FROM attribution
           WHERE account_id = $1 AND request_id = ANY ($2::uuid[])`,
    values: [accountId, requestIds],
  });
  return new Map(rows.map((row) => [row.request_id, { session: row.session, user: row.end_user, tags: row.tags }]));
}
