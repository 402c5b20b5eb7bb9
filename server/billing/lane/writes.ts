import { type EntryPrice, toStoredLines, type UnitLine } from '../../core/price.ts';
import { windowText } from '../../core/price-clock.ts';
import type { Grant } from '../rules/budget.ts';
import type { RequestRef } from '../types.ts';
import { attributionStatements } from './attribution-statements.ts';
import type { Changes } from './batch.ts';
import { pairKey } from './batch.ts';
import type { Statement } from './flight.ts';
import { type BulkColumn, bulk, bulkOfExisting, list, lookup, moment } from './sql.ts';
import { batchProcess, type RowPlaces } from './statements.ts';

/** The statements that write what a batch has decided. */

/** Finds the hold of each new row. */
const place = lookup('found', 'ctid AS place', 'hold', 'account_id = new.account_id AND request_id = new.request_id');

interface HoldParts extends RequestRef {
  parts: readonly { grantId: string; amount: bigint }[];
}

/** A nested list, which unnest would flatten: it is passed as text. */
const partColumns = <Item extends HoldParts>(): BulkColumn<Item>[] => [
  ['grant_ids', 'text', (hold) => list(hold.parts, (part) => part.grantId)],
  ['grant_amounts', 'text', (hold) => list(hold.parts, (part) => part.amount)],
  ['amount', 'bigint', (hold) => hold.parts.reduce((sum, part) => sum + part.amount, 0n)],
];

/**
 * Found by their places, since they are locked. The account says which shard they are on; `IS TRUE` keeps the planner from
 * searching by it.
 */
const writeGrants = bulkOfExisting<Grant & { place: string; accountId: string }>(
  'write_grants',
  [
    ['place', 'tid', (grant) => grant.place],
    ['account_id', 'uuid', (grant) => grant.accountId],
    ['spent', 'bigint', (grant) => grant.spent],
    ['held', 'bigint', (grant) => grant.held],
    ['expired', 'bigint', (grant) => grant.expired],
    ['overdrawn', 'boolean', (grant) => grant.overdrawn],
  ],
  (rows) =>
    `UPDATE "grant" g SET spent = new.spent, held = new.held, expired = new.expired, overdrawn = new.overdrawn
     FROM ${rows} WHERE g.ctid = new.place AND (g.account_id = new.account_id) IS TRUE`,
);

const keySpendColumns: BulkColumn<Changes['keySpend'][number]>[] = [
  ['account_id', 'uuid', (item) => item.accountId],
  ['key_id', 'uuid', (item) => item.keyId],
  ['charged', 'bigint', (item) => item.spend.charged],
  ['held', 'bigint', (item) => item.spend.held],
];
const keySpendNames = keySpendColumns.map(([name]) => name).join(', ');

const insertKeySpend = bulk(
  'insert_key_spend',
  keySpendColumns,
  (rows) => `INSERT INTO key_spend (${keySpendNames}, last_used_at) SELECT ${keySpendNames}, ${moment} FROM ${rows}
     ORDER BY account_id, key_id`,
);

/**
 * The sums of a key (`k`) by day, week and month, moved by what is charged, which is right while they are those of today. A trigger
 * corrects the others, counts burn windows and the charges of versions that leave all of it to the trigger.
 */
export const movedPeriods = (added: string): string =>
  ['day_charged', 'week_charged', 'month_charged'].map((sum) => `${sum} = k.${sum} + (${added})`).join(', ');

/** Complete values, not additions: the writer has locked the account. */
const writeKeySpend = bulkOfExisting<Changes['keySpend'][number] & { place: string }>(
  'write_key_spend',
  [['place', 'tid', ({ place }) => place], ...keySpendColumns.filter(([name]) => name !== 'key_id')],
  (rows) =>
    `UPDATE key_spend k SET charged = new.charged, held = new.held, last_used_at = ${moment}, ${movedPeriods('new.charged - k.charged')}
     FROM ${rows} WHERE k.ctid = new.place AND (k.account_id = new.account_id) IS TRUE`,
);

const endHolds = bulkOfExisting<RequestRef>(
  'end_holds',
  [
    ['account_id', 'uuid', (ref) => ref.accountId],
    ['request_id', 'uuid', (ref) => ref.requestId],
  ],
  (rows) => `DELETE FROM hold WHERE ctid = ANY (ARRAY (SELECT found.place FROM ${rows} ${place}))`,
);

const changeHolds = bulkOfExisting<Changes['holdsChanged'][number]>(
  'change_holds',
  [
    ['account_id', 'uuid', (hold) => hold.accountId],
    ['request_id', 'uuid', (hold) => hold.requestId],
    ['uncovered', 'boolean', (hold) => hold.uncovered],
    ...partColumns<Changes['holdsChanged'][number]>(),
  ],
  (rows) =>
    `UPDATE hold h SET amount = new.amount, uncovered = new.uncovered, grant_ids = new.grant_ids::uuid[], grant_amounts = new.grant_amounts::bigint[]
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
    ['uncovered', 'boolean', (hold) => hold.uncovered],
    ['escrow', 'boolean', (hold) => hold.escrow],
    ...partColumns<Changes['holdsPlaced'][number] & { processId: string }>(),
  ],
  (rows) =>
    `INSERT INTO hold (account_id, request_id, key_id, process_id, price_id, uncovered, escrow, amount, grant_ids, grant_amounts, held_at)
     SELECT account_id, request_id, key_id, process_id, price_id, uncovered, escrow, amount, grant_ids::uuid[], grant_amounts::bigint[], ${moment}
     FROM ${rows}`,
);

const entryColumns: BulkColumn<Changes['entries'][number]>[] = [
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
/** Further columns of entries at prices by length, by the clock or by what was served, with units or other models' runs, or charged short; others have NULL there. */
const furtherColumns: BulkColumn<Changes['entries'][number]>[] = [
  ['tier_above', 'bigint', ({ settlement }) => settlement.price.tier?.above ?? null],
  ['tier_up_to', 'bigint', ({ settlement }) => settlement.price.tier?.upTo ?? null],
  ['priced_at', 'timestamptz', ({ settlement }) => pricedAt(settlement.price)],
  ['price_window', 'text', ({ settlement }) => priceWindow(settlement.price)],
  ['variant', 'text', ({ settlement }) => settlement.price.variant?.charged ?? null],
  ['variant_asked', 'text', ({ settlement }) => settlement.price.variant?.asked ?? null],
  ['variant_served', 'text', ({ settlement }) => settlement.price.variant?.served ?? null],
  ['units', 'jsonb', ({ settlement }) => storedLines(settlement.units)],
  [
    'lines',
    'jsonb',
    ({ settlement: { lines } }) => (lines === undefined ? null : JSON.stringify(toStoredLines(lines))),
  ],
  ['held_after', 'bigint', ({ heldAfter }) => heldAfter ?? null],
];

export function pricedAt({ byClock }: EntryPrice): string | null {
  return byClock === undefined ? null : new Date(byClock.at).toISOString();
}

export function priceWindow({ byClock }: EntryPrice): string | null {
  return byClock === undefined || byClock.window === null ? null : windowText(byClock.window);
}

function storedLines(units: readonly UnitLine[] | undefined): string | null {
  if (units === undefined || units.length === 0) return null;
  return JSON.stringify(units.map(({ unit, count, price }) => ({ unit, count, price: Number(price) })));
}

/**
 * Sorted, because two processes may settle the same requests at once (the owner of a spool and its adopter), and
 * accounts without grants are not locked.
 */
const insertEntriesInto = (name: string, columns: BulkColumn<Changes['entries'][number]>[]) => {
  const names = columns.map(([column]) => column).join(', ');
  return bulk(
    name,
    columns,
    (rows) =>
      `INSERT INTO ledger_entry (${names}, created_at) SELECT ${names}, ${moment} FROM ${rows} ORDER BY account_id, request_id`,
  );
};
const insertPlainEntries = insertEntriesInto('insert_entries', entryColumns);
const insertFurtherEntries = insertEntriesInto('insert_further_entries', [...entryColumns, ...furtherColumns]);

function insertEntries(entries: Changes['entries']): Statement {
  const hasFurther = entries.some(
    ({ settlement: { price, units, lines }, heldAfter }) =>
      price.tier !== undefined ||
      price.byClock !== undefined ||
      price.variant !== undefined ||
      units !== undefined ||
      lines !== undefined ||
      heldAfter !== undefined,
  );
  return hasFurther ? insertFurtherEntries(entries) : insertPlainEntries(entries);
}

const insertPostings = bulk<Changes['postings'][number]>(
  'insert_postings',
  [
    ['id', 'uuid', (posting) => posting.id],
    ['account_id', 'uuid', (posting) => posting.accountId],
    ['grant_id', 'uuid', (posting) => posting.grantId],
    ['kind', 'text', (posting) => posting.kind],
    ['amount', 'bigint', (posting) => posting.amount],
    ['request_id', 'uuid', (posting) => posting.requestId],
    ['held_at', 'timestamptz', (posting) => posting.heldAt],
  ],
  (rows) =>
    `INSERT INTO posting (account_id, id, grant_id, kind, amount, request_id, held_at, created_at)
     SELECT account_id, coalesce(id, gen_random_uuid()), grant_id, kind, amount, request_id, held_at, ${moment} FROM ${rows}`,
);

const usageSums = `requests, input, cache_hit, cache_write_5m, cache_write_1h, output, cost, charged, upstream_cost`;

/** Sorted, because two processes that touch the same rows must touch them in the same order. */
export const upsertUsage = bulk<Changes['usage'][number]>(
  'add_usage',
  [
    ['account_id', 'uuid', (delta) => delta.accountId],
    ['model', 'text', (delta) => delta.model],
    ['key_id', 'uuid', (delta) => delta.keyId],
    ['outcome', 'text', (delta) => delta.outcome],
    ['requests', 'bigint', (delta) => delta.requests],
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
    `INSERT INTO usage_hour AS u (account_id, hour, model, key_id, outcome, ${usageSums})
     SELECT account_id, date_trunc('hour', now(), 'UTC'), model, key_id, outcome, ${usageSums}
     FROM ${rows} ORDER BY account_id, model, key_id, outcome
     ON CONFLICT (account_id, hour, model, key_id, outcome) DO UPDATE SET
     ${usageSums
       .split(', ')
       .map((sum) => `${sum} = u.${sum} + excluded.${sum}`)
       .join(', ')}`,
);

/** The statements that write the changes. Empty when nothing changed. */
export function writes(changes: Changes, places: RowPlaces, processId: string): Statement[] {
  const grants = changes.grants.map(({ accountId, grant }) => ({
    ...grant,
    accountId,
    place: places.grants.get(grant.id) ?? '',
  }));
  const [known, unknown] = [[], []] as [(Changes['keySpend'][number] & { place: string })[], Changes['keySpend']];
  for (const item of changes.keySpend) {
    const place = places.keySpend.get(pairKey(item.accountId, item.keyId));
    if (place === undefined) unknown.push(item);
    else known.push({ ...item, place });
  }
  const placed = changes.holdsPlaced.map((hold) => ({
    ...hold,
    processId: hold.outlives === true ? batchProcess : processId,
  }));
  return [
    ...(grants.length > 0 ? [writeGrants(grants)] : []),
    ...(known.length > 0 ? [writeKeySpend(known)] : []),
    ...(unknown.length > 0 ? [insertKeySpend(unknown)] : []),
    ...(changes.holdsEnded.length > 0 ? [endHolds(changes.holdsEnded)] : []),
    ...(changes.holdsChanged.length > 0 ? [changeHolds(changes.holdsChanged)] : []),
    ...(placed.length > 0 ? [placeHolds(placed)] : []),
    ...(changes.entries.length > 0 ? [insertEntries(changes.entries)] : []),
    ...(changes.postings.length > 0 ? [insertPostings(changes.postings)] : []),
    ...(changes.usage.length > 0 ? [upsertUsage(changes.usage)] : []),
    ...attributionStatements(changes.entries),
  ];
}
