import type { ClientBase, QueryConfig, QueryResult } from 'pg';
import type { Changes, EntryFigures, Facts, Hold, KeyTruth, ModelTruth, Operation } from './batch.ts';
import { pairKey } from './batch.ts';
import type { Grant } from './budget.ts';
import type { KeySpend } from './key-limit.ts';
import { unitPrices } from './price.ts';
import type { RequestRef } from './types.ts';

/**
 * The SQL of the ledger. Every statement is named, so that a connection plans it once, and handles a whole batch, so that
 * a batch costs the same few round trips however large it is. Rows are found by key only.
 */

/**
 * What the connection of the ledger starts with. Plans are made once and kept, often while the tables are still empty, so
 * they must be right for tables of any size, whatever the statistics say. Therefore every lookup is a `LATERAL` subquery
 * behind `OFFSET 0`, which cannot be turned into a join that starts at the other end, and every write finds its row by
 * the place that such a lookup gave.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  timezone: 'UTC',
  datestyle: 'ISO',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  // An upstream call relies on its hold: what was committed must be on disk.
  synchronous_commit: 'on',
  statement_timeout: '2s',
  lock_timeout: '1s',
  // A process that stops between two statements must not keep an account locked.
  idle_in_transaction_session_timeout: '4s',
};

/**
 * The moment of a transaction. Columns keep milliseconds, and rounding up would let a hold seem to be placed at the very
 * moment its grant ended; so the moment is cut off, everywhere.
 */
const moment = `date_trunc('milliseconds', now())`;

/** What was written a moment ago with a rounded time is not in the future. */
const justNow = `${moment} + interval '1 millisecond'`;

const statement = (name: string, text: string, values: unknown[]): QueryConfig => ({
  name: `ledger_${name}`,
  text,
  values,
});

/** A lookup of one row by its key, for each row of what stands before it. See `sessionSettings`. */
const lookup = (alias: string, columns: string, table: string, key: string): string =>
  `JOIN LATERAL (SELECT ${columns} FROM ${table} WHERE ${key} OFFSET 0) AS ${alias} ON true`;

/** Where the hold of each new row is. */
const place = lookup('found', 'ctid AS place', 'hold', 'account_id = new.account_id AND request_id = new.request_id');

/** Sends statements in one flight where the connection can, and waits for all. Throws the first failure. */
export async function flight(client: ClientBase, queries: readonly QueryConfig[]): Promise<QueryResult[]> {
  const results: QueryResult[] = [];
  if (!('pipeline' in client && client.pipeline === true)) {
    for (const query of queries) results.push(await client.query(query));
    return results;
  }
  // What follows a failure in a transaction fails too, and says less: the first failure is the one that counts.
  const settled = await Promise.allSettled(queries.map((query) => client.query(query)));
  for (const result of settled) {
    if (result.status === 'rejected') throw result.reason;
    results.push(result.value);
  }
  return results;
}

/** Registers a process or renews its lease, by the database's clock. */
export function renewLease(processId: string, leaseMs: number): QueryConfig {
  return statement(
    'renew_lease',
    `INSERT INTO process (id, lease_until) VALUES ($1, now() + $2 * interval '1 millisecond')
     ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`,
    [processId, leaseMs],
  );
}

/** Ends a lease. Nothing of the process may be running any more. */
export function endLease(processId: string): QueryConfig {
  return statement('end_lease', 'UPDATE process SET lease_until = now() WHERE id = $1', [processId]);
}

/**
 * Locks and reads what the operations touch. The grants that are not used up are the lock of their account: everybody
 * locks all of them, in one order (account, soonest expiry, id), before anything of the account that amounts to money is
 * read or written. The statements after it see what was committed while it waited.
 */
export async function readFacts(
  client: ClientBase,
  operations: readonly Operation[],
  prologue: readonly QueryConfig[],
): Promise<{ facts: Facts; places: Places }> {
  const touched = touchedBy(operations);
  const queries = [
    ...prologue,
    statement('today', `SELECT (now() AT TIME ZONE 'UTC')::date::text AS today`, []),
    statement(
      'lock_grants',
      `SELECT account_id, id, ctid::text AS place, kind = 'trial' AS trial, amount, spent, held, expired, coalesce(expires_at <= ${moment}, false) AS ended
       FROM "grant" WHERE account_id = ANY ($1::uuid[]) AND spent + expired < amount
       ORDER BY account_id, expires_at, id FOR NO KEY UPDATE`,
      [list(touched.accounts)],
    ),
    statement(
      'read_key_spend',
      `SELECT s.* FROM (SELECT account_id, key_id FROM unnest($1::uuid[], $2::uuid[]) AS asked (account_id, key_id)
                        UNION ALL
                        SELECT ref.account_id, h.key_id FROM unnest($3::uuid[], $4::uuid[]) AS ref (account_id, request_id)
                        ${lookup('h', 'key_id', 'hold', 'account_id = ref.account_id AND request_id = ref.request_id')}) AS asked
       ${lookup(
         's',
         'account_id, key_id, charged, held, day::text AS day, day_charged, month::text AS month, month_charged',
         'key_spend',
         'account_id = asked.account_id AND key_id = asked.key_id',
       )}`,
      [...pairs([...touched.keys.values()], (key) => key.keyId), ...pairs(touched.refs, (ref) => ref.requestId)],
    ),
    statement(
      'read_holds',
      `SELECT h.*, coalesce(p.lease_until < now(), true) AS orphaned, k.limit_day, k.limit_month, k.limit_lifetime
       FROM unnest($1::uuid[], $2::uuid[]) AS ref (account_id, request_id)
       ${lookup(
         'h',
         'account_id, request_id, key_id, process_id, grant_ids, grant_amounts, held_at::text AS held_at',
         'hold',
         'account_id = ref.account_id AND request_id = ref.request_id',
       )}
       LEFT ${lookup('p', 'lease_until', 'process', 'id = h.process_id')}
       LEFT ${lookup('k', 'limit_day, limit_month, limit_lifetime', 'api_key', 'id = h.key_id')}`,
      pairs(touched.holds, (ref) => ref.requestId),
    ),
    statement(
      'read_keys',
      `SELECT k.*, a.active AS account_active FROM unnest($1::uuid[]) AS asked (id)
       ${lookup(
         'k',
         `id, account_id, models, limit_day, limit_month, limit_lifetime,
          deleted_at IS NULL AND coalesce(expires_at > now(), true) AS valid`,
         'api_key',
         'id = asked.id',
       )}
       ${lookup('a', `status = 'active' AS active`, 'account', 'id = k.account_id')}`,
      [list(touched.admittedKeys)],
    ),
    statement(
      'read_models',
      `SELECT m.id, m.context_window, m.max_output_tokens, p.id AS price_id, p.input, p.cache_hit, p.cache_write_5m,
              p.cache_write_1h, p.output
       FROM unnest($1::text[]) AS asked (id)
       ${lookup('m', 'id, enabled, context_window, max_output_tokens', 'model', 'id = asked.id')}
       CROSS JOIN LATERAL (SELECT * FROM price WHERE model_id = m.id AND valid_from <= ${justNow}
                           ORDER BY valid_from DESC, created_at DESC, id DESC LIMIT 1) AS p
       WHERE m.enabled`,
      [list(touched.models)],
    ),
  ];
  const results = await flight(client, queries);
  const [today, grants, keySpend, holds, keys, models] = results.slice(prologue.length).map((result) => result.rows);
  const facts: Facts = {
    today: today?.[0].today,
    grants: grantsOf(grants ?? []),
    keySpend: new Map((keySpend ?? []).map((row) => [pairKey(row.account_id, row.key_id), keySpendOf(row)])),
    holds: new Map((holds ?? []).map((row) => [pairKey(row.account_id, row.request_id), holdOf(row)])),
    entries: new Map(),
    keys: new Map((keys ?? []).map((row) => [row.id, keyOf(row)])),
    models: new Map((models ?? []).map((row) => [row.id, modelOf(row)])),
  };
  const entries = await readEntries(client, operations, facts.holds);
  return { facts: { ...facts, entries }, places: new Map((grants ?? []).map((row) => [row.id, row.place])) };
}

/** Where the locked grants are, by id. Nobody can move them while they are locked. */
type Places = ReadonlyMap<string, string>;

/** A settlement whose hold is there has no entry yet. Only the others have to be looked up: late ones and duplicates. */
async function readEntries(
  client: ClientBase,
  operations: readonly Operation[],
  holds: Facts['holds'],
): Promise<Map<string, EntryFigures>> {
  const refs = operations
    .filter((operation) => operation.kind === 'settle')
    .map((operation) => operation.settlement)
    .filter((settlement) => !holds.has(pairKey(settlement.accountId, settlement.requestId)));
  if (refs.length === 0) return new Map();
  const [result] = await flight(client, [
    statement(
      'read_entries',
      `SELECT e.* FROM unnest($1::uuid[], $2::uuid[]) AS ref (account_id, request_id)
       ${lookup(
         'e',
         'account_id, request_id, cost, charged, free_after',
         'ledger_entry',
         'account_id = ref.account_id AND request_id = ref.request_id',
       )}`,
      pairs(refs, (ref) => ref.requestId),
    ),
  ]);
  return new Map(
    result?.rows.map((row) => [
      pairKey(row.account_id, row.request_id),
      { cost: BigInt(row.cost), charged: BigInt(row.charged), freeAfter: BigInt(row.free_after) },
    ]),
  );
}

interface Touched {
  accounts: Set<string>;
  /** Keys that the operations name. */
  keys: Map<string, { accountId: string; keyId: string }>;
  /** Operations that name no key: it is that of their hold. */
  refs: RequestRef[];
  admittedKeys: Set<string>;
  models: Set<string>;
  holds: RequestRef[];
}

function touchedBy(operations: readonly Operation[]): Touched {
  const touched: Touched = {
    accounts: new Set(),
    keys: new Map(),
    refs: [],
    admittedKeys: new Set(),
    models: new Set(),
    holds: [],
  };
  for (const operation of operations) {
    switch (operation.kind) {
      case 'settle':
        touched.accounts.add(operation.settlement.accountId);
        touched.keys.set(operation.settlement.keyId, operation.settlement);
        touched.holds.push(operation.settlement);
        break;
      case 'admit':
        touched.accounts.add(operation.ask.accountId);
        touched.keys.set(operation.ask.keyId, operation.ask);
        touched.admittedKeys.add(operation.ask.keyId);
        touched.models.add(operation.ask.model);
        break;
      case 'expire':
        touched.accounts.add(operation.accountId);
        break;
      case 'extend':
      case 'release':
        touched.accounts.add(operation.accountId);
        touched.holds.push(operation);
        touched.refs.push(operation);
        break;
    }
  }
  return touched;
}

// Rows come out of pg without types. BIGINT is text or bigint, depending on the pool's settings.
// oxlint-disable-next-line typescript/no-explicit-any
type Row = any;

function grantsOf(rows: readonly Row[]): Map<string, readonly Grant[]> {
  const grants = new Map<string, Grant[]>();
  for (const row of rows) {
    const grant: Grant = {
      id: row.id,
      trial: row.trial,
      amount: BigInt(row.amount),
      spent: BigInt(row.spent),
      held: BigInt(row.held),
      expired: BigInt(row.expired),
      ended: row.ended,
    };
    const list = grants.get(row.account_id);
    if (list === undefined) grants.set(row.account_id, [grant]);
    else list.push(grant);
  }
  return grants;
}

function keySpendOf(row: Row): KeySpend {
  return {
    charged: BigInt(row.charged),
    held: BigInt(row.held),
    day: row.day,
    dayCharged: BigInt(row.day_charged),
    month: row.month,
    monthCharged: BigInt(row.month_charged),
  };
}

function holdOf(row: Row): Hold {
  return {
    accountId: row.account_id,
    requestId: row.request_id,
    keyId: row.key_id,
    parts: row.grant_ids.map((grantId: string, i: number) => ({ grantId, amount: BigInt(row.grant_amounts[i]) })),
    heldAt: row.held_at,
    orphaned: row.orphaned,
    limits: limitsOf(row),
  };
}

function keyOf(row: Row): KeyTruth {
  return {
    accountId: row.account_id,
    valid: row.valid,
    accountActive: row.account_active,
    models: row.models,
    limits: limitsOf(row),
  };
}

function limitsOf(row: Row): Hold['limits'] {
  return {
    day: maybe(row.limit_day),
    month: maybe(row.limit_month),
    lifetime: maybe(row.limit_lifetime),
  };
}

function modelOf(row: Row): ModelTruth {
  const price = unitPrices({
    input: BigInt(row.input),
    cacheHit: BigInt(row.cache_hit),
    cacheWrite5m: maybe(row.cache_write_5m),
    cacheWrite1h: maybe(row.cache_write_1h),
    output: BigInt(row.output),
  });
  return {
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens,
    price: { id: row.price_id, ...price },
  };
}

const maybe = (value: string | bigint | null): bigint | null => (value === null ? null : BigInt(value));

/** A value of a row, before it becomes text. */
type Value = string | number | bigint | boolean | null;

/** A column of the rows that a statement takes: its name, its type, and where its value comes from. */
type Column<Item> = readonly [name: string, type: string, of: (item: Item) => Value];

/** A statement that takes any number of rows, one array a column. */
function bulk<Item>(name: string, columns: readonly Column<Item>[], text: (rows: string) => string) {
  const names = columns.map(([column]) => column).join(', ');
  const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
  const sql = text(`unnest(${arrays}) AS new (${names})`);
  return (items: readonly Item[]): QueryConfig =>
    statement(
      name,
      sql,
      columns.map(([, , of]) => list(items, of)),
    );
}

/**
 * A write that must find every row it was given. The locks make sure that it does; if they ever did not, nothing may be
 * committed: the division by zero takes the transaction back, and the batch starts again.
 */
function bulkOfExisting<Item>(name: string, columns: readonly Column<Item>[], text: (rows: string) => string) {
  const given = `cardinality($1::${columns[0]?.[1]}[])`;
  return bulk(
    name,
    columns,
    (rows) => `WITH done AS (${text(rows)} RETURNING 1) SELECT 1 / (count(*) = ${given})::integer FROM done`,
  );
}

interface HoldParts extends RequestRef {
  parts: readonly { grantId: string; amount: bigint }[];
}

/** A list within a list, which unnest would flatten: it travels as text. */
const partColumns = <Item extends HoldParts>(): Column<Item>[] => [
  ['grant_ids', 'text', (hold) => list(hold.parts, (part) => part.grantId)],
  ['grant_amounts', 'text', (hold) => list(hold.parts, (part) => part.amount)],
  ['amount', 'bigint', (hold) => hold.parts.reduce((sum, part) => sum + part.amount, 0n)],
];

const writeGrants = bulkOfExisting<Grant & { place: string }>(
  'write_grants',
  [
    ['place', 'tid', (grant) => grant.place],
    ['spent', 'bigint', (grant) => grant.spent],
    ['held', 'bigint', (grant) => grant.held],
    ['expired', 'bigint', (grant) => grant.expired],
  ],
  (rows) =>
    `UPDATE "grant" g SET spent = new.spent, held = new.held, expired = new.expired
     FROM ${rows} WHERE g.ctid = new.place`,
);

const keySpendColumns: Column<Changes['keySpend'][number]>[] = [
  ['account_id', 'uuid', (item) => item.accountId],
  ['key_id', 'uuid', (item) => item.keyId],
  ['charged', 'bigint', (item) => item.spend.charged],
  ['held', 'bigint', (item) => item.spend.held],
  ['day', 'date', (item) => item.spend.day],
  ['day_charged', 'bigint', (item) => item.spend.dayCharged],
  ['month', 'date', (item) => item.spend.month],
  ['month_charged', 'bigint', (item) => item.spend.monthCharged],
];
const keySpendNames = keySpendColumns.map(([name]) => name).join(', ');

/** Complete values, not additions: whoever writes them has locked the account. */
const writeKeySpend = bulk(
  'write_key_spend',
  keySpendColumns,
  (rows) =>
    `INSERT INTO key_spend (${keySpendNames}, last_used_at) SELECT ${keySpendNames}, ${moment} FROM ${rows}
     ON CONFLICT (account_id, key_id) DO UPDATE SET (${keySpendNames}, last_used_at) =
       (${keySpendNames.replaceAll(/\w+/g, 'excluded.$&')}, excluded.last_used_at)`,
);

const endHolds = bulkOfExisting<RequestRef>(
  'end_holds',
  [
    ['account_id', 'uuid', (ref) => ref.accountId],
    ['request_id', 'uuid', (ref) => ref.requestId],
  ],
  (rows) => `DELETE FROM hold WHERE ctid = ANY (ARRAY (SELECT found.place FROM ${rows} ${place}))`,
);

const extendHolds = bulkOfExisting<HoldParts>(
  'extend_holds',
  [
    ['account_id', 'uuid', (hold) => hold.accountId],
    ['request_id', 'uuid', (hold) => hold.requestId],
    ...partColumns<HoldParts>(),
  ],
  (rows) =>
    `UPDATE hold h SET amount = new.amount, grant_ids = new.grant_ids::uuid[], grant_amounts = new.grant_amounts::bigint[]
     FROM ${rows} ${place} WHERE h.ctid = found.place`,
);

const placeHolds = bulk<Changes['holdsPlaced'][number] & { processId: string }>(
  'place_holds',
  [
    ['account_id', 'uuid', (hold) => hold.accountId],
    ['request_id', 'uuid', (hold) => hold.requestId],
    ['key_id', 'uuid', (hold) => hold.keyId],
    ['process_id', 'uuid', (hold) => hold.processId],
    ['price_id', 'uuid', (hold) => hold.priceId],
    ...partColumns<Changes['holdsPlaced'][number] & { processId: string }>(),
  ],
  (rows) =>
    `INSERT INTO hold (account_id, request_id, key_id, process_id, price_id, amount, grant_ids, grant_amounts, held_at)
     SELECT account_id, request_id, key_id, process_id, price_id, amount, grant_ids::uuid[], grant_amounts::bigint[], ${moment}
     FROM ${rows}`,
);

const entryColumns: Column<Changes['entries'][number]>[] = [
  ['account_id', 'uuid', ({ settlement }) => settlement.accountId],
  ['request_id', 'uuid', ({ settlement }) => settlement.requestId],
  ['key_id', 'uuid', ({ settlement }) => settlement.keyId],
  ['model', 'text', ({ settlement }) => settlement.model],
  ['upstream', 'text', ({ settlement }) => settlement.upstream],
  ['protocol', 'text', ({ settlement }) => settlement.protocol],
  ['input', 'bigint', ({ settlement }) => settlement.usage.input],
  ['cache_hit', 'bigint', ({ settlement }) => settlement.usage.cacheHit],
  ['cache_write_5m', 'bigint', ({ settlement }) => settlement.usage.cacheWrite5m],
  ['cache_write_1h', 'bigint', ({ settlement }) => settlement.usage.cacheWrite1h],
  ['output', 'bigint', ({ settlement }) => settlement.usage.output],
  ['price_input', 'bigint', ({ settlement }) => settlement.price.input],
  ['price_cache_hit', 'bigint', ({ settlement }) => settlement.price.cacheHit],
  ['price_cache_write_5m', 'bigint', ({ settlement }) => settlement.price.cacheWrite5m],
  ['price_cache_write_1h', 'bigint', ({ settlement }) => settlement.price.cacheWrite1h],
  ['price_output', 'bigint', ({ settlement }) => settlement.price.output],
  ['cost', 'bigint', (entry) => entry.cost],
  ['charged', 'bigint', (entry) => entry.charged],
  ['free_after', 'bigint', (entry) => entry.freeAfter],
  ['upstream_cost', 'bigint', ({ settlement }) => settlement.upstreamCost],
  ['latency_ms', 'integer', ({ settlement }) => settlement.latencyMs],
  ['time_to_first_byte_ms', 'integer', ({ settlement }) => settlement.timeToFirstByteMs],
  ['outcome', 'text', ({ settlement }) => settlement.outcome],
  ['usage_source', 'text', ({ settlement }) => settlement.usageSource],
  ['stream', 'boolean', ({ settlement }) => settlement.stream],
];
const entryNames = entryColumns.map(([name]) => name).join(', ');

const insertEntries = bulk(
  'insert_entries',
  entryColumns,
  (rows) => `INSERT INTO ledger_entry (${entryNames}, created_at) SELECT ${entryNames}, ${moment} FROM ${rows}`,
);

const insertPostings = bulk<Changes['postings'][number]>(
  'insert_postings',
  [
    ['account_id', 'uuid', (posting) => posting.accountId],
    ['grant_id', 'uuid', (posting) => posting.grantId],
    ['kind', 'text', (posting) => posting.kind],
    ['amount', 'bigint', (posting) => posting.amount],
    ['request_id', 'uuid', (posting) => posting.requestId],
    ['held_at', 'timestamptz', (posting) => posting.heldAt],
  ],
  (rows) =>
    `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, held_at, created_at)
     SELECT account_id, grant_id, kind, amount, request_id, held_at, ${moment} FROM ${rows}`,
);

const usageSums = `requests, failures, input, cache_hit, cache_write_5m, cache_write_1h, output, cost, charged, upstream_cost`;

/** Sorted, because two processes that touch the same rows must touch them in the same order. */
const addUsage = bulk<Changes['usage'][number]>(
  'add_usage',
  [
    ['account_id', 'uuid', (delta) => delta.accountId],
    ['model', 'text', (delta) => delta.model],
    ['key_id', 'uuid', (delta) => delta.keyId],
    ['requests', 'bigint', (delta) => delta.requests],
    ['failures', 'bigint', (delta) => delta.failures],
    ['input', 'bigint', (delta) => delta.input],
    ['cache_hit', 'bigint', (delta) => delta.cacheHit],
    ['cache_write_5m', 'bigint', (delta) => delta.cacheWrite5m],
    ['cache_write_1h', 'bigint', (delta) => delta.cacheWrite1h],
    ['output', 'bigint', (delta) => delta.output],
    ['cost', 'bigint', (delta) => delta.cost],
    ['charged', 'bigint', (delta) => delta.charged],
    ['upstream_cost', 'bigint', (delta) => delta.upstreamCost],
  ],
  (rows) =>
    `INSERT INTO usage_hour AS u (account_id, hour, model, key_id, ${usageSums})
     SELECT account_id, date_trunc('hour', now(), 'UTC'), model, key_id, ${usageSums}
     FROM ${rows} ORDER BY account_id, model, key_id
     ON CONFLICT (account_id, hour, model, key_id) DO UPDATE SET
     ${usageSums
       .split(', ')
       .map((sum) => `${sum} = u.${sum} + excluded.${sum}`)
       .join(', ')}`,
);

/** The statements that write the changes. Empty when nothing changed. */
export function writes(changes: Changes, places: Places, processId: string): QueryConfig[] {
  const grants = changes.grants.map(({ grant }) => ({ ...grant, place: places.get(grant.id) ?? '' }));
  const placed = changes.holdsPlaced.map((hold) => ({ ...hold, processId }));
  return [
    ...(grants.length > 0 ? [writeGrants(grants)] : []),
    ...(changes.keySpend.length > 0 ? [writeKeySpend(changes.keySpend)] : []),
    ...(changes.holdsEnded.length > 0 ? [endHolds(changes.holdsEnded)] : []),
    ...(changes.holdsExtended.length > 0 ? [extendHolds(changes.holdsExtended)] : []),
    ...(placed.length > 0 ? [placeHolds(placed)] : []),
    ...(changes.entries.length > 0 ? [insertEntries(changes.entries)] : []),
    ...(changes.postings.length > 0 ? [insertPostings(changes.postings)] : []),
    ...(changes.usage.length > 0 ? [addUsage(changes.usage)] : []),
  ];
}

function pairs<Item extends { accountId: string }>(items: readonly Item[], idOf: (item: Item) => string): string[] {
  return [list(items, (item) => item.accountId), list(items, idOf)];
}

/** An array as PostgreSQL reads it. Far cheaper than what pg does with arrays, which matters at thousands of rows a second. */
function list(items: Iterable<string>): string;
function list<Item>(items: Iterable<Item>, of: (item: Item) => Value): string;
function list<Item>(items: Iterable<Item>, of: (item: Item) => Value = (item) => item as Value): string {
  let text = '';
  for (const item of items) {
    const value = of(item);
    const element = value === null ? 'NULL' : typeof value === 'string' ? quote(value) : String(value);
    text += text === '' ? element : `,${element}`;
  }
  return `{${text}}`;
}

function quote(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;
}
