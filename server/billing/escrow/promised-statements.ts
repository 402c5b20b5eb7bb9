import type { EntryPrice } from '../../core/price.ts';
import { attributionStatements } from '../lane/attribution-statements.ts';
import type { Statement, StatementResult } from '../lane/flight.ts';
import { type BulkColumn, list, lookup, moment, plainList, statement } from '../lane/sql.ts';
import { movedPeriods, pricedAt, priceWindow, upsertUsage } from '../lane/writes.ts';
import type { Settlement } from '../types.ts';
import type { Additions, EscrowAddition, PlacedCharge, UsageAddition } from './promised-charges.ts';

/**
 * The statements of a batch of promised charges. Nothing is read before: each row moves by an addition, which PostgreSQL
 * computes from the row's latest version once it has its lock.
 *
 * `MERGE` finds each row by its key, from the given rows (its outer join cannot begin at the other end), and
 * locks in their order. A row that is missing (an escrow that was swept) divides by zero, which aborts the transaction.
 */

const impossible = `1 / (length(new.account_id::text) - 36)`;

const chargeGrants = statement(
  'charge_grants',
  `MERGE INTO "grant" AS g USING unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS new (account_id, id, charged)
   ON g.account_id = new.account_id AND g.id = new.id
   WHEN MATCHED THEN UPDATE SET spent = g.spent + new.charged, held = g.held - new.charged
   WHEN NOT MATCHED THEN INSERT (account_id, id, kind, source_ref, amount)
     VALUES (new.account_id, new.id, 'adjustment', '', ${impossible})`,
);

const chargeKeys = statement(
  'charge_keys',
  `MERGE INTO key_spend AS k USING unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS new (account_id, key_id, charged)
   ON k.account_id = new.account_id AND k.key_id = new.key_id
   WHEN MATCHED THEN UPDATE SET charged = k.charged + new.charged, held = k.held - new.charged, last_used_at = ${moment},
     ${movedPeriods('new.charged')}
   WHEN NOT MATCHED THEN INSERT (account_id, key_id, charged) VALUES (new.account_id, new.key_id, ${impossible})`,
);

const chargeEscrows = statement(
  'charge_escrows',
  `MERGE INTO hold AS h
   USING unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[]) AS new (account_id, id, key_id, grant_id, charged)
   ON h.account_id = new.account_id AND h.request_id = new.id
   WHEN MATCHED AND h.escrow AND h.key_id = new.key_id THEN UPDATE SET amount = h.amount - new.charged,
     grant_amounts[array_position(h.grant_ids, new.grant_id)]
       = h.grant_amounts[array_position(h.grant_ids, new.grant_id)] - new.charged
   WHEN MATCHED THEN UPDATE SET amount = ${impossible}
   WHEN NOT MATCHED THEN INSERT (account_id, request_id, amount) VALUES (new.account_id, new.id, ${impossible})`,
);

/** The properties that many settlements of a batch share; each set of them is sent once. */
const kindColumns: BulkColumn<Kind>[] = [
  ['key_id', 'uuid', ({ settlement }) => settlement.keyId],
  ['model', 'text', ({ settlement }) => settlement.model],
  ['upstream', 'text', ({ settlement }) => settlement.upstream],
  ['protocol', 'text', ({ settlement }) => settlement.protocol],
  ['price_input', 'bigint', ({ settlement }) => settlement.price.input],
  ['price_cache_hit', 'bigint', ({ settlement }) => settlement.price.cacheHit],
  ['price_cache_write_5m', 'bigint', ({ settlement }) => settlement.price.cacheWrite5m],
  ['price_cache_write_1h', 'bigint', ({ settlement }) => settlement.price.cacheWrite1h],
  ['price_output', 'bigint', ({ settlement }) => settlement.price.output],
  ['tier_above', 'bigint', ({ settlement }) => settlement.price.tier?.above ?? null],
  ['tier_up_to', 'bigint', ({ settlement }) => settlement.price.tier?.upTo ?? null],
  ['priced_at', 'timestamptz', ({ settlement }) => pricedAt(settlement.price)],
  ['price_window', 'text', ({ settlement }) => priceWindow(settlement.price)],
  ['outcome', 'text', ({ settlement }) => settlement.outcome],
  ['usage_source', 'text', ({ settlement }) => settlement.usageSource],
  ['stream', 'boolean', ({ settlement }) => settlement.stream],
];

interface Kind {
  settlement: Settlement;
}

type Row = PlacedCharge & { kind: number };

const rowColumns: BulkColumn<Row>[] = [
  ['account', 'integer', ({ account }) => account + 1],
  ['escrow', 'integer', ({ escrow }) => escrow + 1],
  ['kind', 'integer', ({ kind }) => kind + 1],
  ['request_id', 'uuid', ({ charge }) => charge.settlement.requestId],
  ['input', 'bigint', ({ charge }) => charge.settlement.usage.input],
  ['cache_hit', 'bigint', ({ charge }) => charge.settlement.usage.cacheHit],
  ['cache_write_5m', 'bigint', ({ charge }) => charge.settlement.usage.cacheWrite5m],
  ['cache_write_1h', 'bigint', ({ charge }) => charge.settlement.usage.cacheWrite1h],
  ['output', 'bigint', ({ charge }) => charge.settlement.usage.output],
  ['charged', 'bigint', ({ charge }) => charge.charged],
  ['upstream_cost', 'bigint', ({ charge }) => charge.settlement.upstreamCost],
  ['latency_ms', 'integer', ({ charge }) => charge.settlement.latencyMs],
  ['time_to_first_byte_ms', 'integer', ({ charge }) => charge.settlement.timeToFirstByteMs],
];

const columnOf = (offset: number, columns: readonly BulkColumn<never>[], name: string): string => {
  const index = columns.findIndex(([column]) => column === name);
  return `$${offset + index}::${columns[index]?.[1]}[]`;
};
const firstKind = 5;
const firstRow = firstKind + kindColumns.length;
const rowArrays = rowColumns.map(([name]) => columnOf(firstRow, rowColumns, name)).join(', ');
const rowNames = rowColumns.map(([name]) => name).join(', ');
const kindNames = kindColumns.map(([name]) => name);
/** The columns of an entry that come with the row itself. */
const ownNames = rowColumns.map(([name]) => name).filter((name) => !['account', 'escrow', 'kind'].includes(name));

/**
 * The entries and their postings. `free`: what each account has free; a charge out of an escrow does not change it.
 * `held`: since when each escrow holds money. Its row tells the caller what is free.
 */
const insertEntries = statement(
  'insert_promised',
  `WITH free AS MATERIALIZED (
     SELECT array_agg(coalesce(f.amount, 0) ORDER BY account.n) AS amounts
     FROM unnest($1::uuid[]) WITH ORDINALITY AS account (id, n)
     LEFT JOIN LATERAL (
       SELECT least(sum(amount - spent - held - expired), 9223372036854775807)::bigint AS amount FROM "grant"
       WHERE account_id = account.id AND spent + expired < amount AND coalesce(expires_at > ${moment}, true) OFFSET 0
     ) AS f ON true
   ), held AS MATERIALIZED (
     SELECT array_agg(h.held_at ORDER BY escrow.n) AS moments
     FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS escrow (account_id, id, n)
     ${lookup('h', 'held_at', 'hold', 'account_id = escrow.account_id AND request_id = escrow.id')}
   ), new AS MATERIALIZED (
     SELECT ($1::uuid[])[account] AS account_id, (SELECT amounts FROM free)[account] AS free_after,
            (SELECT moments FROM held)[escrow] AS held_at, ($4::uuid[])[escrow] AS grant_id,
            ${kindNames.map((name) => `(${columnOf(firstKind, kindColumns, name)})[kind] AS ${name}`).join(', ')},
            ${ownNames.join(', ')}
     FROM unnest(${rowArrays}) AS given (${rowNames})
   ), entered AS (
     INSERT INTO ledger_entry (account_id, free_after, ${kindNames.join(', ')}, ${ownNames.join(', ')}, cost, created_at)
     SELECT account_id, free_after, ${kindNames.join(', ')}, ${ownNames.join(', ')}, charged, ${moment} FROM new
   ), posted AS (
     INSERT INTO posting (account_id, id, grant_id, kind, amount, request_id, held_at, created_at)
     SELECT account_id, request_id, grant_id, 'charge', charged, request_id, held_at, ${moment} FROM new WHERE charged > 0
   )
   SELECT amounts FROM free`,
);

/** The statements that write the additions, without the transaction around them. */
export function additionStatements(additions: Additions): Statement[] {
  const { escrows, grants, keys, usage, accounts, charges } = additions;
  const { kinds, rows } = kindsOf(charges);
  const escrowAccounts = plainList(escrows, (row) => row.accountId);
  const escrowIds = plainList(escrows, (row) => row.escrowId);
  const escrowGrants = plainList(escrows, (row) => row.grantId);
  return [
    chargeGrants(
      plainList(grants, (row) => row.accountId),
      plainList(grants, (row) => row.grantId),
      plainList(grants, chargedBy),
    ),
    chargeKeys(
      plainList(keys, (row) => row.accountId),
      plainList(keys, (row) => row.keyId),
      plainList(keys, chargedBy),
    ),
    chargeEscrows(
      escrowAccounts,
      escrowIds,
      plainList(escrows, (row) => row.keyId),
      escrowGrants,
      plainList(escrows, chargedBy),
    ),
    insertEntries(
      plainList(accounts, (id) => id),
      escrowAccounts,
      escrowIds,
      escrowGrants,
      ...kindColumns.map(([, type, of]) => (type === 'text' ? list : plainList)(kinds, of)),
      ...rowColumns.map(([, , of]) => plainList(rows, of)),
    ),
    upsertUsage(usage.map(usageRow)),
    ...attributionStatements(
      charges.map(({ charge: { settlement, charged } }) => ({ settlement, cost: charged, charged })),
    ),
  ];
}

/** The free money of each account, from the answers to the statements of the additions. */
export function freeOf(answers: readonly StatementResult[]): bigint[] {
  const amounts = answers[insertIndex]?.rows[0]?.[0];
  if (typeof amounts !== 'string') throw new Error('the entries were not answered');
  return amounts.slice(1, -1).split(',').map(BigInt);
}

/** Where `additionStatements` has the entries. */
const insertIndex = 3;

const chargedBy = ({ charged }: Pick<EscrowAddition, 'charged'>): bigint => charged;

const usageRow = (addition: UsageAddition) => ({ ...addition, charged: addition.cost });

/** Finds the settlements that differ in nothing but their figures. Those of one escrow are neighbours. */
function kindsOf(charges: readonly PlacedCharge[]): { kinds: Kind[]; rows: Row[] } {
  const kinds: Kind[] = [];
  const byEscrow = new Map<number, number[]>();
  const rows = charges.map((charge) => {
    const { settlement } = charge.charge;
    const known = byEscrow.get(charge.escrow) ?? [];
    byEscrow.set(charge.escrow, known);
    let kind = known.find((index) => isSameKind(kinds[index]?.settlement, settlement));
    if (kind === undefined) {
      kind = kinds.push({ settlement }) - 1;
      known.push(kind);
    }
    return { ...charge, kind };
  });
  return { kinds, rows };
}

function isSameKind(known: Settlement | undefined, settlement: Settlement): boolean {
  return (
    known !== undefined &&
    known.model === settlement.model &&
    known.upstream === settlement.upstream &&
    known.protocol === settlement.protocol &&
    known.outcome === settlement.outcome &&
    known.usageSource === settlement.usageSource &&
    known.stream === settlement.stream &&
    isSamePrice(known.price, settlement.price)
  );
}

function isSamePrice(known: EntryPrice, price: EntryPrice): boolean {
  return (
    known === price ||
    (known.input === price.input &&
      known.cacheHit === price.cacheHit &&
      known.cacheWrite5m === price.cacheWrite5m &&
      known.cacheWrite1h === price.cacheWrite1h &&
      known.output === price.output &&
      known.tier?.above === price.tier?.above &&
      known.tier?.upTo === price.tier?.upTo &&
      known.byClock?.at === price.byClock?.at &&
      priceWindow(known) === priceWindow(price))
  );
}
