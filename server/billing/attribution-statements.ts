import { otherLabel } from '../core/attribution.ts';
import type { PicoUsd } from '../core/money.ts';
import type { Statement } from './flight.ts';
import { type BulkColumn, bulk, list, moment } from './sql.ts';
import type { Settlement } from './types.ts';

/**
 * The statement that notes attributions beside the entries of a batch, and adds the entries up by hour for each session, user and
 * tag. Batches without any send nothing. It comes last in every transaction, and its rows in one order, as those of the usage by
 * hour: two processes that touch the same rows lock them in the same order.
 */
interface Attributed {
  settlement: Settlement;
  cost: PicoUsd;
  charged: PicoUsd;
}

const columns: BulkColumn<Attributed>[] = [
  ['account_id', 'uuid', ({ settlement }) => settlement.accountId],
  ['request_id', 'uuid', ({ settlement }) => settlement.requestId],
  ['key_id', 'uuid', ({ settlement }) => settlement.keyId],
  ['model', 'text', ({ settlement }) => settlement.model],
  ['session', 'text', ({ settlement }) => settlement.attribution?.session ?? null],
  ['end_user', 'text', ({ settlement }) => settlement.attribution?.user ?? null],
  // A nested list, which unnest would flatten.
  ['tags', 'text', ({ settlement }) => list(settlement.attribution?.tags ?? [])],
  ['input', 'bigint', ({ settlement }) => settlement.usage.input],
  ['cache_hit', 'bigint', ({ settlement }) => settlement.usage.cacheHit],
  ['cache_write_5m', 'bigint', ({ settlement }) => settlement.usage.cacheWrite5m],
  ['cache_write_1h', 'bigint', ({ settlement }) => settlement.usage.cacheWrite1h],
  ['output', 'bigint', ({ settlement }) => settlement.usage.output],
  ['cost', 'bigint', ({ cost }) => cost],
  ['charged', 'bigint', ({ charged }) => charged],
];
const sums = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output', 'cost', 'charged'];
const hour = `date_trunc('hour', now(), 'UTC')`;
/**
 * Sums of one account, kind and hour: a client that names a new session with each request makes no more rows. What comes
 * beyond is added up under one label; in concurrent batches a few rows more are made.
 */
const maxHourlySums = 1_000;
const place = 'account_id, kind, hour, label, model, key_id';

const insertAttributions = bulk(
  'insert_attributions',
  columns,
  (rows) =>
    `WITH given AS MATERIALIZED (SELECT * FROM ${rows}), noted AS (
       INSERT INTO attribution (account_id, request_id, session, end_user, tags, created_at)
       SELECT account_id, request_id, session, end_user, tags::text[], ${moment} FROM given
     ), labelled AS (
       SELECT account_id, 'session' AS kind, session AS label, model, key_id, ${sums.join(', ')} FROM given WHERE session IS NOT NULL
       UNION ALL
       SELECT account_id, 'user', end_user, model, key_id, ${sums.join(', ')} FROM given WHERE end_user IS NOT NULL
       UNION ALL
       SELECT account_id, 'tag', label, model, key_id, ${sums.join(', ')} FROM given, unnest(tags::text[]) AS label
     ), full_now AS MATERIALIZED (
       SELECT account_id, kind FROM (SELECT DISTINCT account_id, kind FROM labelled) AS l
       WHERE EXISTS (SELECT FROM attribution_hour h WHERE h.account_id = l.account_id AND h.kind = l.kind AND h.hour = ${hour} OFFSET ${maxHourlySums - 1})
     ), placed AS (
       SELECT account_id, kind, CASE WHEN (account_id, kind) IN (SELECT account_id, kind FROM full_now) AND NOT EXISTS (
                SELECT FROM attribution_hour h WHERE (h.account_id, h.kind, h.hour, h.label, h.model, h.key_id)
                  = (l.account_id, l.kind, ${hour}, l.label, l.model, l.key_id)) THEN '${otherLabel}' ELSE label END AS label,
              model, key_id, ${sums.join(', ')} FROM labelled l
     )
     INSERT INTO attribution_hour AS a (${place}, requests, ${sums.join(', ')}, first_at, last_at)
     SELECT account_id, kind, ${hour}, label, model, key_id, count(*),
            ${sums.map((sum) => `sum(${sum})`).join(', ')}, ${moment}, ${moment}
     FROM placed GROUP BY account_id, kind, label, model, key_id ORDER BY account_id, kind, label, model, key_id
     ON CONFLICT (${place}) DO UPDATE SET last_at = greatest(a.last_at, excluded.last_at),
     ${['requests', ...sums].map((sum) => `${sum} = a.${sum} + excluded.${sum}`).join(', ')}`,
);

/** The statements for the entries of a batch: none where no entry has an attribution. */
export function attributionStatements(entries: readonly Attributed[]): Statement[] {
  const attributed = entries.filter(({ settlement }) => settlement.attribution !== undefined);
  return attributed.length === 0 ? [] : [insertAttributions(attributed)];
}
