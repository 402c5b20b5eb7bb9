import type { ClientBase, Pool } from 'pg';
import type { PicoUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import type { UnitPrices } from '../core/price.ts';
import type { Protocol } from '../core/protocol.ts';
import type { TokenPools, UsageSource } from '../core/tokens.ts';
import type { GrantKind } from './grants.ts';
import type { Balance } from './types.ts';

/** What can be asked of a pool or of one connection. */
export type Queryable = Pick<Pool | ClientBase, 'query'>;

/**
 * What can be read of the money, for people, programs and the operator. Nothing here locks anything, and nothing scans
 * the ledger: sums come from the hourly rows that are written with every entry, pages from the ledger's own order.
 * Amounts are pico-USD, moments the database's. Ranges of time include `from` and exclude `to`.
 */

/** The balance of an account: a projection of its grants. What has ended counts as expired, posted or not. */
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

/** The grants of an account, in the order in which they are used; those that are used up or over come last. */
export async function listGrants(db: Queryable, accountId: string): Promise<GrantRecord[]> {
  const { rows } = await db.query({
    name: 'usage_grants',
    text: `SELECT id, kind, amount, spent, held, ${expiredOf} AS expired, expires_at, created_at, source_ref, reason
           FROM "grant" WHERE account_id = $1
           ORDER BY amount - spent - held - ${expiredOf} = 0, expires_at, id LIMIT 1000`,
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

/** What of a grant is expired now, whether or not a posting says so already. */
const expiredOf = '(CASE WHEN expires_at <= now() THEN amount - spent - held ELSE expired END)';

/** What a key has spent and holds. A period that is over counts nothing. */
export interface KeySpendRecord {
  keyId: string;
  today: PicoUsd;
  thisMonth: PicoUsd;
  lifetime: PicoUsd;
  held: PicoUsd;
  lastUsedAt: Date | null;
}

/** Keys that were never used have no record. */
export async function readKeySpend(db: Queryable, accountId: string): Promise<KeySpendRecord[]> {
  const { rows } = await db.query({
    name: 'usage_key_spend',
    text: `SELECT key_id, charged, held, last_used_at,
                  CASE WHEN day >= (now() AT TIME ZONE 'UTC')::date THEN day_charged ELSE 0 END AS today,
                  CASE WHEN month >= date_trunc('month', now() AT TIME ZONE 'UTC')::date THEN month_charged ELSE 0 END AS this_month
           FROM key_spend WHERE account_id = $1`,
    values: [accountId],
  });
  return rows.map((row) => ({
    keyId: row.key_id,
    today: BigInt(row.today),
    thisMonth: BigInt(row.this_month),
    lifetime: BigInt(row.charged),
    held: BigInt(row.held),
    lastUsedAt: row.last_used_at,
  }));
}

/** One page of something. `next` continues after it; null at the end. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Thrown for a cursor that this server has not given out for such a list. */
export class BadCursor extends Error {
  override name = 'BadCursor';
}

export interface UsageQuery {
  /** Null: all accounts, for the operator. */
  accountId: string | null;
  /** With all accounts: only those of customers, or only those that uptime is measured with. */
  kind?: 'customer' | 'probe';
  /** Length of the periods; null: one for all time. */
  period: 'hour' | 'day' | 'month' | null;
  byModel: boolean;
  byKey: boolean;
  byOutcome?: boolean;
  from?: Date | null;
  to?: Date | null;
  model?: string | null;
  keyId?: string | null;
  /** Only requests that ended in one of these ways; null: all. */
  outcomes?: readonly Outcome[] | null;
  /** Where days and months begin. Zones that are not whole hours off UTC are cut to the hour. */
  timeZone?: string;
  limit: number;
  after?: string | null;
}

export interface UsageRecord extends TokenPools {
  /** The period's beginning; null without periods. */
  start: Date | null;
  /** Null when not grouped by it. */
  model: string | null;
  keyId: string | null;
  outcome: Outcome | null;
  requests: number;
  /** Those that the service failed at: neither the customer's choice nor their budget ended them. */
  failures: number;
  cost: PicoUsd;
  charged: PicoUsd;
  upstreamCost: PicoUsd;
}

/** Usage added up: newest period first, then by model, key and outcome. */
export async function readUsage(db: Queryable, query: UsageQuery): Promise<Page<UsageRecord>> {
  const { period, byModel, byKey, byOutcome = false, limit } = query;
  const after = query.after ? decodeCursor(query.after, [startPattern, /^/, /^$|^[0-9a-f-]{36}$/, /^[a-z_]*$/]) : null;
  const position = after ?? ['-infinity', '', '', ''];
  const start = period === null ? 'NULL::timestamptz' : `date_trunc('${periods[period]}', hour, $6)`;
  const { rows } = await db.query({
    text: `SELECT * FROM (
             SELECT ${start} AS start, ${byModel ? 'model' : 'NULL::text'} AS model, ${byKey ? 'key_id' : 'NULL::uuid'} AS key_id,
                    ${byOutcome ? 'outcome' : 'NULL::text'} AS outcome,
                    coalesce(sum(requests) FILTER (WHERE outcome IN (${failures})), 0)::text AS failures,
                    ${sums.map((sum) => `sum(${sum})::text AS ${sum}`).join(', ')}
             FROM usage_hour
             WHERE ($1::uuid IS NULL OR account_id = $1) AND hour >= coalesce($2::timestamptz, '-infinity')
               AND hour < coalesce($3::timestamptz, 'infinity') AND ($4::text IS NULL OR model = $4)
               AND ($5::uuid IS NULL OR key_id = $5) AND $6::text IS NOT NULL
               AND ($13::text[] IS NULL OR outcome = ANY ($13))
               AND ($12::text IS NULL OR account_id IN (SELECT id FROM account WHERE kind = 'probe') = ($12 = 'probe'))
             GROUP BY 1, 2, 3, 4
           ) AS grouped
           WHERE NOT $7::boolean
              OR (coalesce(start, '-infinity') < $8::timestamptz)
              OR (coalesce(start, '-infinity') = $8::timestamptz
                  AND (${place}) > ($9::text, $10::text, $14::text))
           ORDER BY coalesce(start, '-infinity') DESC, ${place}
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
    ],
  });
  return page(rows.map(usageOf), limit, ({ start, model, keyId, outcome }) => [
    start?.toISOString() ?? '-infinity',
    model ?? '',
    keyId ?? '',
    outcome ?? '',
  ]);
}

/** Where a row stands among those of its period. */
const place = ['model', 'key_id::text', 'outcome'].map((column) => `coalesce(${column}, '') COLLATE "C"`).join(', ');
/** Outcomes that are the service's failures, as SQL. */
const failures = (['upstream_error', 'upstream_cut', 'timeout', 'shutdown'] satisfies Outcome[])
  .map((outcome) => `'${outcome}'`)
  .join(', ');
const startPattern = /^(-infinity|\d{4}-\d{2}-\d{2}T\d{2}:00:00\.000Z)$/;
const periods = { hour: 'hour', day: 'day', month: 'month' } as const;
const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'] as const;
const sums = ['requests', ...pools, 'cost', 'charged', 'upstream_cost'] as const;

// Rows come out of pg without types.
// oxlint-disable-next-line typescript/no-explicit-any
type Row = any;

function usageOf(row: Row): UsageRecord {
  return {
    start: row.start,
    model: row.model,
    keyId: row.key_id,
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
  /** By the moment the request came in, which its id carries. */
  from?: Date | null;
  to?: Date | null;
  keyId?: string | null;
  model?: string | null;
  outcome?: Outcome | null;
  /** Newest first when left out. */
  order?: LedgerOrder;
  limit: number;
  after?: string | null;
}

/** By when the request came in, by cost, by the sum of the token pools, or by milliseconds to the last byte. */
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
 * Entries of an account in the order asked for, by default the newest request first. By time the primary key is the
 * order. No other index is kept, because every settlement would pay for it: by anything else the range of time is read
 * and sorted, so the range may hold `maxSorted` requests, and `RangeTooWide` is thrown where it holds more.
 */
export async function readLedger(db: Queryable, query: LedgerQuery): Promise<Page<LedgerRecord>> {
  const { order = newestFirst } = query;
  const [way, beyond] = order.ascending ? ['ASC', '>'] : ['DESC', '<'];
  const after = query.after ? decodeLedgerCursor(query.after, order) : null;
  const { sql } = ledgerOrders[order.by];
  if (sql !== null && (await isRangeTooWide(db, query))) throw new RangeTooWide();
  const position = sql === null ? 'request_id' : `(${sql}, request_id)`;
  const reached = sql === null ? '$4::uuid' : '($9::bigint, $4::uuid)';
  const { rows } = await db.query({
    name: `usage_ledger_${orderName(order).join('_')}`,
    text: `SELECT * FROM ledger_entry
           WHERE account_id = $1 AND request_id >= uuid_at(coalesce($2::timestamptz, '-infinity'))
             AND request_id < uuid_at(coalesce($3::timestamptz, 'infinity'))
             AND ($4::uuid IS NULL OR ${position} ${beyond} ${reached})
             AND ($5::uuid IS NULL OR key_id = $5) AND ($6::text IS NULL OR model = $6) AND ($7::text IS NULL OR outcome = $7)
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
      ...(sql === null ? [] : [after?.value ?? null]),
    ],
  });
  return page(rows.map(entryOf), query.limit, (entry) => ledgerPosition(entry, order));
}

/** The cursor after an entry, as the pages of `readLedger` end with in that order. */
export function ledgerCursor(entry: LedgerRecord, order: LedgerOrder = newestFirst): string {
  return encodeCursor(ledgerPosition(entry, order));
}

function ledgerPosition(entry: LedgerRecord, order: LedgerOrder): string[] {
  return [...orderName(order), String(ledgerOrders[order.by].read(entry)), entry.requestId];
}

function orderName({ by, ascending }: LedgerOrder): [string, string] {
  return [by, ascending ? 'up' : 'down'];
}

/** What entries are sorted by: as the database and as this page count it. */
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

/** What one page may have to sort: some tenths of a second for the database. */
export const maxSorted = 100_000;

/** Thrown where a list that is not sorted by time would have to sort more than `maxSorted` requests. */
export class RangeTooWide extends Error {
  override name = 'RangeTooWide';
}

/** Told by the hourly rows, of which at most one more than the limit is read: each counts a request at least. */
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

/** The entry of one request; null when there is none (yet). */
export async function readEntry(db: Queryable, accountId: string, requestId: string): Promise<LedgerRecord | null> {
  const { rows } = await db.query({
    name: 'usage_entry',
    text: 'SELECT * FROM ledger_entry WHERE account_id = $1 AND request_id = $2',
    values: [accountId, requestId],
  });
  return rows[0] === undefined ? null : entryOf(rows[0]);
}

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

function poolsOf(row: Row): TokenPools {
  return {
    input: Number(row.input),
    cacheHit: Number(row.cache_hit),
    cacheWrite5m: Number(row.cache_write_5m),
    cacheWrite1h: Number(row.cache_write_1h),
    output: Number(row.output),
  };
}

/** One more row than asked for was read: it only tells that there is a next page. */
function page<Item>(items: Item[], limit: number, keyOf: (item: Item) => string[]): Page<Item> {
  const kept = items.slice(0, limit);
  const last = kept.at(-1);
  const next = items.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null;
  return { items: kept, next };
}

function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** Whatever a client makes up must be refused here: the database would call it a fault of ours. */
function decodeCursor(cursor: string, shapes: readonly RegExp[]): string[] {
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
