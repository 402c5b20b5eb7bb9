import type { PicoUsd } from '../../core/money.ts';
import type { Outcome } from '../../core/outcome.ts';
import {
  type ClockChoice,
  fromStoredLines,
  type RunLine,
  type StoredRunLine,
  type TierRange,
  type UnitLine,
  type UnitPrices,
  type VariantChoice,
} from '../../core/price.ts';
import { parseWindowText } from '../../core/price-clock.ts';
import type { Protocol } from '../../core/protocol.ts';
import type { TokenPools, UsageSource } from '../../core/tokens.ts';
import type { Queryable } from '../../database/pool.ts';
import { consumptionOrder, type GrantKind } from '../grants.ts';
import type { Balance } from '../types.ts';

/**
 * Read access to money and usage, for people, programs and the operator. Nothing here locks rows or scans the ledger:
 * sums come from the hourly rows that are written with every entry, pages from the ledger's primary key. Amounts are
 * pico-USD, moments the database's. Ranges of time include `from` and exclude `to`.
 */

/** The balance of an account, from its grants. Ended grants count as expired, posted or not. */
export async function readBalance(db: Queryable, accountId: string): Promise<Balance> {
  const { rows } = await db.query({
    name: 'usage_balance',
    text: `SELECT coalesce(sum(amount), 0)::text AS granted, coalesce(sum(spent), 0)::text AS charged,
                  coalesce(sum(held), 0)::text AS held, coalesce(sum(${expiredOf}), 0)::text AS expired
           FROM "grant" WHERE account_id = $1`,
    values: [accountId],
  });
  const [row] = rows;
  const granted = BigInt(row.granted);
  const charged = BigInt(row.charged);
  const held = BigInt(row.held);
  const expired = BigInt(row.expired);
  return { granted, charged, held, expired, free: granted - charged - held - expired };
}

/** Entries of hours without a sum of savings are added up only up to this many: some hundred milliseconds of the database. */
const maxSavingsEntries = 200_000;
/** A request that ended by the database's clock began before that by its process's clock, give or take this. */
const maxClockSkew = "interval '5 minutes'";

/**
 * What caching saved since a moment, in pico-USD, from the tokens and prices that are frozen in each entry: context that
 * was read from a cache at the price of new context, less what writing to caches cost beyond it. Requests that were not
 * charged in full are left out. Hours are added up as they are kept; the entries themselves are read only of the hour in
 * which the moment lies, and of hours from before savings were kept by hour. Null: these are too many, or archived.
 */
export async function readCacheSavings(db: Queryable, accountId: string, from: Date): Promise<PicoUsd | null> {
  const { rows } = await db.query({
    name: 'usage_cache_savings',
    text: `WITH sums AS MATERIALIZED (
             SELECT hour, requests, saved FROM margin_hour
             WHERE account_id = $1 AND hour >= date_trunc('hour', $2::timestamptz, 'UTC')
           ), known AS MATERIALIZED (
             SELECT greatest(date_trunc('hour', $2::timestamptz + interval '59 minutes 59.999 seconds', 'UTC'),
                             max(hour) FILTER (WHERE saved IS NULL) + interval '1 hour') AS since FROM sums
           ), entries AS MATERIALIZED (
             SELECT coalesce(sum(requests) FILTER (WHERE hour < since), 0) AS number,
                    coalesce(sum(saved) FILTER (WHERE hour >= since), 0) AS saved FROM sums, known
           )
           SELECT CASE
             WHEN number = 0 THEN entries.saved
             WHEN number > $3 OR EXISTS (SELECT FROM archived_month WHERE high > uuid_at($2::timestamptz) AND low < uuid_at(since)) THEN NULL
             ELSE entries.saved + (
               SELECT coalesce(sum(cache_hit::numeric * (price_input - price_cache_hit)
                                   - cache_write_5m::numeric * (price_cache_write_5m - price_input)
                                   - cache_write_1h::numeric * (price_cache_write_1h - price_input)), 0)
               FROM ledger_entry
               WHERE account_id = $1 AND request_id >= uuid_at($2::timestamptz) AND request_id < uuid_at(since + ${maxClockSkew})
                 AND created_at < since AND charged = cost AND cost > 0)
             END::text AS saved
           FROM entries, known`,
    values: [accountId, from, maxSavingsEntries],
  });
  const saved = rows[0]?.saved as string | null | undefined;
  return saved == null ? null : BigInt(saved);
}

/** One grant as people see it. */
export interface GrantRecord {
  id: string;
  kind: GrantKind;
  amount: PicoUsd;
  spent: PicoUsd;
  held: PicoUsd;
  /** Includes what has ended and waits to be posted. */
  expired: PicoUsd;
  free: PicoUsd;
  expiresAt: Date | null;
  createdAt: Date;
  sourceRef: string;
  reason: string | null;
}

/** The grants of an account, in the order of consumption; used up and ended ones come last. */
export async function listGrants(db: Queryable, accountId: string): Promise<GrantRecord[]> {
  const { rows } = await db.query({
    name: 'usage_grants',
    text: `SELECT id, kind, amount, spent, held, ${expiredOf} AS expired, expires_at, created_at, source_ref, reason
           FROM "grant" WHERE account_id = $1
           ORDER BY amount - spent - held - ${expiredOf} = 0, ${consumptionOrder} LIMIT 1000`,
    values: [accountId],
  });
  return rows.map((row) => {
    const [amount, spent, held, expired] = [row.amount, row.spent, row.held, row.expired].map(BigInt) as Four;
    return {
      id: row.id,
      kind: row.kind,
      amount,
      spent,
      held,
      expired,
      free: amount - spent - held - expired,
      expiresAt: row.expires_at,
      createdAt: row.created_at,
      sourceRef: row.source_ref,
      reason: row.reason,
    };
  });
}

type Four = [PicoUsd, PicoUsd, PicoUsd, PicoUsd];

/** The expired part of a grant, posted or not. */
const expiredOf = '(CASE WHEN expires_at <= now() THEN amount - spent - held ELSE expired END)';

/** Charges and holds of a key or an account, in the account's time zone. Past periods count as zero. */
export interface SpendRecord {
  today: PicoUsd;
  /** Since Monday. */
  thisWeek: PicoUsd;
  thisMonth: PicoUsd;
  lifetime: PicoUsd;
  held: PicoUsd;
}

export interface KeySpendRecord extends SpendRecord {
  keyId: string;
  lastUsedAt: Date | null;
}

const spendColumns = `charged, held,
  CASE WHEN day >= (now() AT TIME ZONE time_zone)::date THEN day_charged ELSE 0 END AS today,
  CASE WHEN week >= date_trunc('week', now() AT TIME ZONE time_zone)::date THEN week_charged ELSE 0 END AS this_week,
  CASE WHEN month >= date_trunc('month', now() AT TIME ZONE time_zone)::date THEN month_charged ELSE 0 END AS this_month`;

function toSpend(row: Record<string, string>): SpendRecord {
  const [today, thisWeek, thisMonth, lifetime, held] = [
    row['today'],
    row['this_week'],
    row['this_month'],
    row['charged'],
    row['held'],
  ].map((amount) => BigInt(amount ?? 0)) as [PicoUsd, PicoUsd, PicoUsd, PicoUsd, PicoUsd];
  return { today, thisWeek, thisMonth, lifetime, held };
}

/** What the keys of an account have spent together; null: it never had a limit, so that nothing was added up. */
export async function readAccountSpend(db: Queryable, accountId: string): Promise<SpendRecord | null> {
  const { rows } = await db.query({
    name: 'usage_account_spend',
    text: `SELECT ${spendColumns} FROM account_limit WHERE account_id = $1`,
    values: [accountId],
  });
  return rows[0] === undefined ? null : toSpend(rows[0]);
}

/** Unused keys have no record. */
export async function readKeySpend(
  db: Queryable,
  accountId: string,
  keyIds: readonly string[] | null = null,
): Promise<KeySpendRecord[]> {
  const { rows } = await db.query({
    name: 'usage_key_spend',
    text: `SELECT key_id, last_used_at, ${spendColumns} FROM key_spend
           WHERE account_id = $1 AND ($2::uuid[] IS NULL OR key_id = ANY ($2))`,
    values: [accountId, keyIds],
  });
  return rows.map((row) => ({ keyId: row.key_id, ...toSpend(row), lastUsedAt: row.last_used_at }));
}

/** One page of something. `next` continues after it; null at the end. */
export interface LedgerPage<Item> {
  items: Item[];
  next: string | null;
}

/** Thrown for a cursor that does not belong to this list. */
export class BadCursor extends Error {
  override name = 'BadCursor';
}

export interface UsageQuery {
  /** Null: all accounts, for the operator. */
  accountId: string | null;
  /** With all accounts: only customers' accounts, or only those of uptime probes. */
  kind?: 'customer' | 'probe';
  /** Length of the periods; null: one for all time. */
  period: 'hour' | 'day' | 'month' | null;
  byModel: boolean;
  byKey: boolean;
  /** By the project in which a key lies now. */
  byProject?: boolean;
  /** By the person who made the key. */
  byMaker?: boolean;
  byOutcome?: boolean;
  from?: Date | null;
  to?: Date | null;
  model?: string | null;
  keyId?: string | null;
  /** Only keys that lie in this project now; null: all. */
  projectId?: string | null;
  /** Only requests with one of these outcomes; null: all. */
  outcomes?: readonly Outcome[] | null;
  /** Time zone of days and months. Offsets are truncated to whole hours. */
  timeZone?: string;
  /**
   * Split into at most so many groups: those that were charged most over the whole range. The rest of a period is one
   * row. A chart of an account with ten thousand keys has a few lines. Null: every group.
   */
  most?: number | null;
  /** Without periods: what was charged most comes first. */
  dearestFirst?: boolean;
  limit: number;
  after?: string | null;
}

export interface UsageRecord extends TokenPools {
  /** The period's beginning; null without periods. */
  start: Date | null;
  /** The groups beyond `most`, added up; it has no model, key, project, maker and outcome. */
  isRest: boolean;
  /** Null when not grouped by it. */
  model: string | null;
  keyId: string | null;
  /** Also null for keys that lie in none. */
  projectId: string | null;
  /** The user id of whoever made the key; also null where nobody knows. */
  makerId: string | null;
  outcome: Outcome | null;
  requests: number;
  /** Failed requests: neither the client nor the budget ended them. */
  failures: number;
  cost: PicoUsd;
  charged: PicoUsd;
  upstreamCost: PicoUsd;
}

/** Sums of usage: newest period first, or what was charged most; then by model, key, outcome, project and maker. */
export async function readUsage(db: Queryable, query: UsageQuery): Promise<LedgerPage<UsageRecord>> {
  const { period, byModel, byKey, byProject = false, byMaker = false, byOutcome = false, limit, most = null } = query;
  const ofKeys = byProject || byMaker;
  const order = query.dearestFirst === true && period === null ? dearestFirst : newestPeriodFirst;
  const after = query.after
    ? decodeCursor(query.after, [order.pattern, /^/, idPattern, /^[a-z_]*$/, idPattern, /^(rest)?$/, idPattern])
    : null;
  const position = after ?? [order.first, '', '', '', '', '', ''];
  const startOf = (hour: string): string =>
    period === null ? 'NULL::timestamptz' : `date_trunc('${periods[period]}', ${hour}, $6)`;
  // Of all accounts an hour has many rows, so the time zone is computed for hours; of one account it has few.
  const [inner, outer] =
    query.accountId === null && period !== null ? ['hour', startOf('at')] : [startOf('hour'), 'at'];
  const { rows } = await db.query({
    // Projects and makers are looked up for keys, not for hours.
    text: `WITH grouped AS (
             SELECT ${outer} AS start, model, ${byKey ? 'key_id' : 'NULL::uuid'} AS key_id,
                    ${byProject ? 'k.project_id' : 'NULL::uuid'} AS project_id,
                    ${byMaker ? 'k.created_by' : 'NULL::uuid'} AS maker_id, outcome, false AS is_rest,
                    sum(failures) AS failures, ${sums.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}
             FROM (
             SELECT ${inner} AS at, ${byModel ? 'model' : 'NULL::text'} AS model,
                    ${byKey || ofKeys ? 'key_id' : 'NULL::uuid'} AS key_id, ${byOutcome ? 'outcome' : 'NULL::text'} AS outcome,
                    coalesce(sum(requests) FILTER (WHERE outcome IN (${failures})), 0) AS failures,
                    ${sums.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}
             FROM usage_hour
             WHERE ($1::uuid IS NULL OR account_id = $1) AND hour >= coalesce($2::timestamptz, '-infinity')
               AND hour < coalesce($3::timestamptz, 'infinity') AND ($4::text IS NULL OR model = $4)
               AND ($5::uuid IS NULL OR key_id = $5) AND $6::text IS NOT NULL AND ($16::uuid IS NULL OR ${inProject('$16')})
               AND ($13::text[] IS NULL OR outcome = ANY ($13))
               AND ($12::text IS NULL OR account_id IN (SELECT id FROM account WHERE kind = 'probe') = ($12 = 'probe'))
             GROUP BY 1, 2, 3, 4
             ) AS of_keys ${ofKeys ? 'LEFT JOIN api_key k ON k.id = key_id' : ''}
             GROUP BY 1, 2, 3, 4, 5, 6
           )${most === null ? '' : `, ${withoutRest('$19')}`}
           SELECT * FROM ${most === null ? 'grouped' : 'with_rest'} AS listed
           WHERE NOT $7::boolean OR (${order.sql} < $8::${order.type})
              OR (${order.sql} = $8::${order.type} AND (${place}) > ($9::text, $10::text, $14::text, $15::text, $17::text, $18::text))
           ORDER BY ${order.sql} DESC, ${place}
           LIMIT $11`,
    values: [
      query.accountId,
      query.from ?? null,
      query.to ?? null,
      query.model ?? null,
      query.keyId ?? null,
      query.timeZone ?? 'UTC',
      after !== null,
      ...position.slice(0, 3),
      limit + 1,
      query.kind ?? null,
      query.outcomes ?? null,
      position[3],
      position[4],
      query.projectId ?? null,
      position[5],
      position[6],
      ...(most === null ? [] : [most]),
    ],
  });
  return page(rows.map(usageOf), limit, (row) => usagePosition(row, order));
}

/** The groups of `grouped` that were charged most, and what is left of each period as one row. */
function withoutRest(most: string): string {
  const group = ['model', 'key_id', 'project_id', 'maker_id', 'outcome'];
  const isKept = group.map((column) => `g.${column} IS NOT DISTINCT FROM kept.${column}`).join(' AND ');
  return `kept AS MATERIALIZED (
             SELECT ${group.join(', ')}, true AS is_kept FROM grouped GROUP BY ${group.join(', ')}
             ORDER BY sum(charged) DESC, sum(requests) DESC, ${group.join(', ')} LIMIT ${most}
           ), with_rest AS (
             SELECT g.start, kept.model, kept.key_id, kept.project_id, kept.maker_id, kept.outcome, kept.is_kept IS NULL AS is_rest,
                    ${['failures', ...sums].map((sum) => `sum(g.${sum}) AS ${sum}`).join(', ')}
             FROM grouped AS g LEFT JOIN kept ON ${isKept}
             GROUP BY 1, 2, 3, 4, 5, 6, 7
           )`;
}

interface UsageOrder {
  sql: string;
  type: 'timestamptz' | 'numeric';
  /** What cursors hold of it. */
  pattern: RegExp;
  first: string;
  read: (row: UsageRecord) => string;
}

const newestPeriodFirst: UsageOrder = {
  sql: "coalesce(listed.start, '-infinity')",
  type: 'timestamptz',
  pattern: /^(-infinity|\d{4}-\d{2}-\d{2}T\d{2}:00:00\.000Z)$/,
  first: '-infinity',
  read: ({ start }) => start?.toISOString() ?? '-infinity',
};
const dearestFirst: UsageOrder = {
  sql: 'listed.charged',
  type: 'numeric',
  pattern: /^\d{1,30}$/,
  first: '0',
  read: ({ charged }) => String(charged),
};

/** The cursor after a row in pages of `readUsage` in that order. */
export function usageCursor(row: UsageRecord, { isDearestFirst = false }: { isDearestFirst?: boolean } = {}): string {
  return encodeCursor(usagePosition(row, isDearestFirst ? dearestFirst : newestPeriodFirst));
}

function usagePosition(row: UsageRecord, order: UsageOrder): string[] {
  const { model, keyId, outcome, projectId, makerId, isRest } = row;
  return [
    order.read(row),
    model ?? '',
    keyId ?? '',
    outcome ?? '',
    projectId ?? '',
    isRest ? 'rest' : '',
    makerId ?? '',
  ];
}

/** Whether the key lies in the project now. */
export const inProject = (project: string): string =>
  `key_id IN (SELECT k.id FROM api_key k WHERE k.account_id = $1 AND k.project_id = ${project})`;

/** Sort key of a row within its period. */
const place = [
  'model',
  'key_id::text',
  'outcome',
  'project_id::text',
  "CASE WHEN is_rest THEN 'rest' END",
  'maker_id::text',
]
  .map((column) => `coalesce(${column}, '') COLLATE "C"`)
  .join(', ');
/** Outcomes that are the service's failures: neither the client nor the budget ended the request. */
export const failedOutcomes = ['upstream_error', 'upstream_cut', 'timeout', 'shutdown'] as const satisfies Outcome[];
const failures = failedOutcomes.map((outcome) => `'${outcome}'`).join(', ');
const idPattern = /^$|^[0-9a-f-]{36}$/;
const periods = { hour: 'hour', day: 'day', month: 'month' } as const;
const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'] as const;
const sums = ['requests', ...pools, 'cost', 'charged', 'upstream_cost'] as const;

// Rows come out of pg without types.
// oxlint-disable-next-line typescript/no-explicit-any
type Row = any;

function usageOf(row: Row): UsageRecord {
  return {
    start: row.start,
    isRest: row.is_rest,
    model: row.model,
    keyId: row.key_id,
    projectId: row.project_id,
    makerId: row.maker_id,
    outcome: row.outcome,
    requests: Number(row.requests),
    failures: Number(row.failures),
    ...poolsOf(row),
    cost: BigInt(row.cost),
    charged: BigInt(row.charged),
    upstreamCost: BigInt(row.upstream_cost),
  };
}

export interface LedgerQuery {
  accountId: string;
  /** By the time the request arrived, which its id contains. */
  from?: Date | null;
  to?: Date | null;
  keyId?: string | null;
  /** Only keys that lie in this project now; null: all. */
  projectId?: string | null;
  model?: string | null;
  outcome?: Outcome | null;
  /** Only requests of these sessions, as they are stored. */
  sessions?: readonly string[] | null;
  /** Newest first when left out. */
  order?: LedgerOrder;
  limit: number;
  after?: string | null;
}

/** By arrival of the request, cost, sum of the token pools, or milliseconds to the last byte. */
export interface LedgerOrder {
  by: 'time' | 'cost' | 'tokens' | 'latency';
  ascending: boolean;
}

/** One finished request. */
export interface LedgerRecord {
  requestId: string;
  createdAt: Date;
  keyId: string;
  model: string;
  upstream: string;
  protocol: Protocol;
  stream: boolean;
  usage: TokenPools;
  prices: UnitPrices;
  /** The tier by prompt length that the prices are of; null: the price had none. */
  tier: TierRange | null;
  /** What the clock showed at the admission; null: the price did not depend on it. */
  byClock: ClockChoice | null;
  /** Which variant of the price was asked for, served and charged; null: none was asked for. */
  variant: VariantChoice | null;
  /** What was charged by the piece. */
  units: readonly UnitLine[];
  /** Runs of other models; empty: none. */
  lines: readonly RunLine[];
  cost: PicoUsd;
  charged: PicoUsd;
  freeAfter: PicoUsd;
  upstreamCost: PicoUsd | null;
  latencyMs: number;
  timeToFirstByteMs: number | null;
  outcome: Outcome;
  usageSource: UsageSource;
}

/**
 * Entries of an account in the given order, by default newest first. The order by time is that of the primary key.
 * There is no other index, because every settlement would pay for it: for other orders the range of time is read and
 * sorted, so it may contain `maxSorted` requests; `RangeTooWide` is thrown above that.
 */
export async function readLedger(db: Queryable, query: LedgerQuery): Promise<LedgerPage<LedgerRecord>> {
  const { order = newestFirst } = query;
  const [way, beyond] = order.ascending ? ['ASC', '>'] : ['DESC', '<'];
  const after = query.after ? decodeLedgerCursor(query.after, order) : null;
  const { sql } = ledgerOrders[order.by];
  const sessions = query.sessions ?? [];
  if (sql !== null && (await isRangeTooWide(db, query))) throw new RangeTooWide();
  const position = sql === null ? 'request_id' : `(${sql}, request_id)`;
  const reached = sql === null ? '$4::uuid' : '($9::bigint, $4::uuid)';
  const projectId = query.projectId ?? null;
  const more = [...(sql === null ? [] : [after?.value ?? null]), ...(sessions.length === 0 ? [] : [sessions])];
  const { rows } = await db.query({
    name: `usage_ledger_${orderName(order).join('_')}${sessions.length === 0 ? '' : '_of_session'}${projectId === null ? '' : '_in_project'}`,
    text: `SELECT * FROM ledger_entry ${sessions.length === 0 ? '' : ofSessions(sql === null ? '$9' : '$10')}
           WHERE account_id = $1 AND request_id >= uuid_at(coalesce($2::timestamptz, '-infinity'))
             AND request_id < uuid_at(coalesce($3::timestamptz, 'infinity'))
             AND ($4::uuid IS NULL OR ${position} ${beyond} ${reached})
             AND ($5::uuid IS NULL OR key_id = $5) AND ($6::text IS NULL OR model = $6) AND ($7::text IS NULL OR outcome = $7)
             ${projectId === null ? '' : `AND ${inProject(`$${9 + more.length}::uuid`)}`}
           ORDER BY ${sql === null ? '' : `${sql} ${way}, `}request_id ${way} LIMIT $8`,
    values: [
      query.accountId,
      query.from ?? null,
      query.to ?? null,
      after?.requestId ?? null,
      query.keyId ?? null,
      query.model ?? null,
      query.outcome ?? null,
      query.limit + 1,
      ...more,
      ...(projectId === null ? [] : [projectId]),
    ],
  });
  return page(rows.map(entryOf), query.limit, (entry) => ledgerPosition(entry, order));
}

const ofSessions = (list: string): string => `JOIN (SELECT account_id, request_id FROM attribution
  WHERE account_id = $1 AND session = ANY (${list}::text[])) AS of_session USING (account_id, request_id)`;

/** The cursor after an entry in pages of `readLedger` with that order. */
export function ledgerCursor(entry: LedgerRecord, order: LedgerOrder = newestFirst): string {
  return encodeCursor(ledgerPosition(entry, order));
}

function ledgerPosition(entry: LedgerRecord, order: LedgerOrder): string[] {
  return [...orderName(order), String(ledgerOrders[order.by].read(entry)), entry.requestId];
}

function orderName({ by, ascending }: LedgerOrder): [string, string] {
  return [by, ascending ? 'up' : 'down'];
}

/** The sort keys of entries, in SQL and for cursors. */
const ledgerOrders: Record<LedgerOrder['by'], { sql: string | null; read: (entry: LedgerRecord) => bigint | number }> =
  {
    time: { sql: null, read: () => 0 },
    cost: { sql: 'cost', read: ({ cost }) => cost },
    tokens: {
      sql: '(input + cache_hit + cache_write_5m + cache_write_1h + output)',
      read: ({ usage }) => usage.input + usage.cacheHit + usage.cacheWrite5m + usage.cacheWrite1h + usage.output,
    },
    latency: { sql: 'latency_ms::bigint', read: ({ latencyMs }) => latencyMs },
  };

const newestFirst: LedgerOrder = { by: 'time', ascending: false };

/** Maximum requests that one page may sort: some tenths of a second for the database. */
export const maxSorted = 100_000;

/** Thrown when a list that is not sorted by time would have to sort more than `maxSorted` requests. */
export class RangeTooWide extends Error {
  override name = 'RangeTooWide';
}

/** Decided by the hourly rows, of which at most one above the limit is read: each counts at least one request. */
async function isRangeTooWide(db: Queryable, { accountId, from, to }: LedgerQuery): Promise<boolean> {
  const { rows } = await db.query({
    name: 'usage_range',
    text: `SELECT coalesce(sum(requests), 0) > $4 AS wide FROM (
             SELECT requests FROM usage_hour WHERE account_id = $1 AND hour >= date_trunc('hour', coalesce($2::timestamptz, '-infinity'))
               AND hour < coalesce($3::timestamptz, 'infinity') LIMIT $4 + 1) AS hours`,
    values: [accountId, from ?? null, to ?? null, maxSorted],
  });
  return rows[0].wide;
}

function decodeLedgerCursor(cursor: string, order: LedgerOrder): { value: string; requestId: string } {
  const [by, way, value = '', requestId = ''] = decodeCursor(cursor, [/^/, /^/, /^\d{1,19}$/, uuidPattern]);
  const [ownBy, ownWay] = orderName(order);
  if (by !== ownBy || way !== ownWay || BigInt(value) >= 2n ** 63n) throw new BadCursor('a cursor of another order');
  return { value, requestId };
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Entries from rows that have each column as text, as an archive has them. Columns that are missing came later: they are NULL. */
export async function entriesOfRows(
  db: Queryable,
  columns: readonly string[],
  given: readonly Record<string, string | null>[],
): Promise<LedgerRecord[]> {
  const { rows: types } = await db.query(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = 'ledger_entry'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  );
  const known = types.filter(({ name }) => columns.includes(name)).map(({ name }) => name);
  const { rows } = await db.query({
    text: `SELECT ${types.map(({ name, type }) => `${known.includes(name) ? name : 'NULL'}::${type} AS ${name}`).join(', ')}
           FROM unnest(${known.map((_, index) => `$${index + 1}::text[]`).join(', ')}) WITH ORDINALITY AS given (${known.join(', ')}, place)
           ORDER BY place`,
    values: known.map((name) => given.map((row) => row[name] ?? null)),
  });
  return rows.map(entryOf);
}

/** The entry of one request; null when there is none (yet). */
export async function readEntry(db: Queryable, accountId: string, requestId: string): Promise<LedgerRecord | null> {
  const { rows } = await db.query({
    name: 'usage_entry',
    text: 'SELECT * FROM ledger_entry WHERE account_id = $1 AND request_id = $2',
    values: [accountId, requestId],
  });
  return rows[0] === undefined ? null : entryOf(rows[0]);
}

/** An entry with its account. */
export type AccountEntry = LedgerRecord & { accountId: string };

/** The entry of a whole row of `ledger_entry`. */
export const accountEntryOf = (row: Row): AccountEntry => ({ ...entryOf(row), accountId: row.account_id });

function entryOf(row: Row): LedgerRecord {
  return {
    requestId: row.request_id,
    createdAt: row.created_at,
    keyId: row.key_id,
    model: row.model,
    upstream: row.upstream,
    protocol: row.protocol,
    stream: row.stream,
    usage: poolsOf(row),
    prices: {
      input: BigInt(row.price_input),
      cacheHit: BigInt(row.price_cache_hit),
      cacheWrite5m: BigInt(row.price_cache_write_5m),
      cacheWrite1h: BigInt(row.price_cache_write_1h),
      output: BigInt(row.price_output),
    },
    tier:
      row.tier_above === null && row.tier_up_to === null
        ? null
        : { above: maybeNumber(row.tier_above), upTo: maybeNumber(row.tier_up_to) },
    byClock:
      row.priced_at === null
        ? null
        : { at: row.priced_at.getTime(), window: row.price_window && parseWindowText(row.price_window) },
    variant:
      row.variant_asked === null
        ? null
        : { asked: row.variant_asked, served: row.variant_served, charged: row.variant },
    units: ((row.units ?? []) as (Omit<UnitLine, 'price'> & { price: number })[]).map((line) => ({
      ...line,
      price: BigInt(line.price),
    })),
    lines: fromStoredLines((row.lines ?? []) as StoredRunLine[]),
    cost: BigInt(row.cost),
    charged: BigInt(row.charged),
    freeAfter: BigInt(row.free_after),
    upstreamCost: row.upstream_cost === null ? null : BigInt(row.upstream_cost),
    latencyMs: row.latency_ms,
    timeToFirstByteMs: row.time_to_first_byte_ms,
    outcome: row.outcome,
    usageSource: row.usage_source,
  };
}

const maybeNumber = (value: unknown): number | null => (value === null ? null : Number(value));

/** The token counts of a row, whose sums come as text. */
export function poolsOf(row: Row): TokenPools {
  return {
    input: Number(row.input),
    cacheHit: Number(row.cache_hit),
    cacheWrite5m: Number(row.cache_write_5m),
    cacheWrite1h: Number(row.cache_write_1h),
    output: Number(row.output),
  };
}

/** One row above the limit is read, only to know whether there is a next page. */
export function page<Item>(items: Item[], limit: number, keyOf: (item: Item) => string[]): LedgerPage<Item> {
  const kept = items.slice(0, limit);
  const last = kept.at(-1);
  const next = items.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null;
  return { items: kept, next };
}

/** A cursor: the sort key of the row that it stands behind. */
export function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** Refuses made-up cursors, which would otherwise be database errors. */
export function decodeCursor(cursor: string, shapes: readonly RegExp[]): string[] {
  const key = parseCursor(cursor);
  const fits =
    Array.isArray(key) &&
    key.length === shapes.length &&
    shapes.every(
      (shape, index) => typeof key[index] === 'string' && shape.test(key[index]) && !key[index].includes('\0'),
    );
  if (!fits) throw new BadCursor('not a cursor of this list');
  return key as string[];
}

function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
}
