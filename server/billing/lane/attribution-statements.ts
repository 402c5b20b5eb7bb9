import { otherLabel } from '../../core/attribution.ts';
import type { PicoUsd } from '../../core/money.ts';
import { addTokens, noTokens } from '../../core/tokens.ts';
import type { Settlement } from '../types.ts';
import type { Statement } from './flight.ts';
import { list, moment, plainList, statement } from './sql.ts';

/**
 * The statement that notes attributions beside the entries of a batch, and adds the entries up by hour for each session, user and
 * tag. Batches without any send nothing, and nothing is noted of an account that was erased while its request ran. It comes last in every transaction, and its rows in one order, as those of the usage by
 * hour: two processes that touch the same rows lock them in the same order.
 */
interface Attributed {
  settlement: Settlement;
  cost: PicoUsd;
  charged: PicoUsd;
}

/** What a batch adds to one row of sums. */
interface Sums {
  accountId: string;
  kind: 'session' | 'user' | 'tag';
  label: string;
  model: string;
  keyId: string;
  requests: number;
  input: number;
  cacheHit: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  cost: PicoUsd;
  charged: PicoUsd;
}

const added = ['requests', 'input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output', 'cost', 'charged'];
const hour = `date_trunc('hour', now(), 'UTC')`;
/**
 * Sums of one account, kind and hour: a client that names a new session with each request makes no more rows. What comes
 * beyond is added up under one label; in concurrent batches a few rows more are made.
 */
const maxHourlySums = 1_000;
const place = 'account_id, kind, hour, label, model, key_id';

// Tags are a nested list, which unnest would flatten. ORDER BY and OFFSET 0: plans by the primary key, made when the table is empty.
const insertAttributions = statement(
  'insert_attributions',
  `WITH known AS MATERIALIZED (
      SELECT account_id FROM (SELECT DISTINCT account_id FROM unnest($1::uuid[]) AS each (account_id)) AS l
      WHERE (SELECT a.erased_at FROM account a WHERE a.id = l.account_id) IS NULL
    ), noted AS (
      INSERT INTO attribution (account_id, request_id, session, end_user, tags, created_at)
      SELECT account_id, request_id, session, end_user, tags::text[], ${moment}
      FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS new (account_id, request_id, session, end_user, tags)
      WHERE account_id IN (SELECT account_id FROM known)
    ), given AS MATERIALIZED (
      SELECT * FROM unnest($6::uuid[], $7::text[], $8::text[], $9::text[], $10::uuid[], ${added.map((_name, index) => `$${11 + index}::bigint[]`).join(', ')})
        AS new (account_id, kind, label, model, key_id, ${added.join(', ')})
      WHERE account_id IN (SELECT account_id FROM known)
    ), full_now AS MATERIALIZED (
      SELECT account_id, kind FROM (SELECT DISTINCT account_id, kind FROM given) AS l
      WHERE EXISTS (SELECT FROM attribution_hour h WHERE h.account_id = l.account_id AND h.kind = l.kind AND h.hour = ${hour}
                    ORDER BY h.label, h.model, h.key_id OFFSET ${maxHourlySums - 1})
    ), placed AS (
      SELECT account_id, kind, CASE WHEN (account_id, kind) IN (SELECT account_id, kind FROM full_now) AND NOT EXISTS (
               SELECT FROM attribution_hour h WHERE (h.account_id, h.kind, h.hour, h.label, h.model, h.key_id)
                 = (l.account_id, l.kind, ${hour}, l.label, l.model, l.key_id) OFFSET 0) THEN '${otherLabel}' ELSE label END AS label,
             model, key_id, ${added.join(', ')} FROM given l
    )
    INSERT INTO attribution_hour AS a (${place}, ${added.join(', ')}, first_at, last_at)
    SELECT account_id, kind, ${hour}, label, model, key_id, ${added.map((sum) => `sum(${sum})`).join(', ')}, ${moment}, ${moment}
    FROM placed GROUP BY account_id, kind, label, model, key_id ORDER BY account_id, kind, label, model, key_id
    ON CONFLICT (${place}) DO UPDATE SET last_at = greatest(a.last_at, excluded.last_at),
    ${added.map((sum) => `${sum} = a.${sum} + excluded.${sum}`).join(', ')}`,
);

/** The statements for the entries of a batch: none where no entry has an attribution. */
export function attributionStatements(entries: readonly Attributed[]): Statement[] {
  const attributed = entries.filter(({ settlement }) => settlement.attribution !== undefined);
  if (attributed.length === 0) return [];
  const sums = addedUp(attributed);
  return [
    insertAttributions(
      plainList(attributed, ({ settlement }) => settlement.accountId),
      plainList(attributed, ({ settlement }) => settlement.requestId),
      list(attributed, ({ settlement }) => settlement.attribution?.session ?? null),
      list(attributed, ({ settlement }) => settlement.attribution?.user ?? null),
      list(attributed, ({ settlement }) => list(settlement.attribution?.tags ?? [])),
      plainList(sums, (row) => row.accountId),
      plainList(sums, (row) => row.kind),
      list(sums, (row) => row.label),
      list(sums, (row) => row.model),
      plainList(sums, (row) => row.keyId),
      ...(
        [
          (row) => row.requests,
          (row) => row.input,
          (row) => row.cacheHit,
          (row) => row.cacheWrite5m,
          (row) => row.cacheWrite1h,
          (row) => row.output,
          (row) => row.cost,
          (row) => row.charged,
        ] satisfies ((row: Sums) => number | bigint)[]
      ).map((of) => plainList(sums, of)),
    ),
  ];
}

/** One row for each label that entries of one model and key have. */
function addedUp(attributed: readonly Attributed[]): Sums[] {
  const rows = new Map<string, Sums>();
  for (const entry of attributed) {
    const { session = null, user = null, tags = [] } = entry.settlement.attribution ?? {};
    if (session !== null) add(rows, entry, { kind: 'session', label: session });
    if (user !== null) add(rows, entry, { kind: 'user', label: user });
    for (const label of tags) add(rows, entry, { kind: 'tag', label });
  }
  return [...rows.values()];
}

function add(
  rows: Map<string, Sums>,
  { settlement, cost, charged }: Attributed,
  { kind, label }: Pick<Sums, 'kind' | 'label'>,
): void {
  const { accountId, keyId, model, usage } = settlement;
  // Keys and kinds have no blanks; neither model nor label has a NUL, which PostgreSQL's text has not either.
  const id = `${accountId} ${keyId} ${kind} ${model}\0${label}`;
  let row = rows.get(id);
  if (row === undefined) {
    row = {
      accountId,
      kind,
      label,
      model,
      keyId,
      ...noTokens,
      requests: 0,
      cost: 0n,
      charged: 0n,
    };
    rows.set(id, row);
  }
  row.requests += 1;
  addTokens(row, usage);
  row.cost += cost;
  row.charged += charged;
}
