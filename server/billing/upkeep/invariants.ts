import type { Pool, PoolClient } from 'pg';
import { isSpread } from '../../database/distribution.ts';
import { transaction } from '../../database/lane.ts';
import { batchProcess } from '../lane/statements.ts';

/**
 * The invariants of the money, as queries that return violating rows. They read one snapshot of the database, and
 * return nothing after every commit, also while requests run.
 */
export interface BrokenInvariant {
  /** `I1` to `I10` with their parts, `usage_hour`, `margin_hour`, `batch`, `key_spend`, `account_limit` or `shared_limit`. */
  invariant: string;
  rows: Record<string, unknown>[];
}

export interface InvariantScope {
  /** Null: all accounts. */
  accounts: readonly string[] | null;
  /** Maximum age of a hold: the longest stream plus grace. */
  maxHoldMs?: number;
  /** Timeout of one query. */
  limitMs?: number;
  /**
   * For accounts with more rows than can be read every minute: rows written before this moment, and the hourly sums of
   * earlier hours, are assumed correct. Not detected then: older postings that vanished or were added, and wrong
   * charges of single grants (their sum per account is checked).
   */
  since?: Date;
  /** Ends the check, which then throws. */
  signal?: AbortSignal;
}

const defaultMaxHoldMs = 6 * 3_600_000;
const noLimitMs = 24 * 3_600_000;
/** Enough for a diagnosis; a broken invariant can affect every row. */
const maxRows = 20;

/** `$1`: accounts or null. `$2`: maximum age of a hold, in milliseconds. */
const inScope = (column: string): string => `($1::uuid[] IS NULL OR ${column} = ANY ($1::uuid[]))`;

/** Which per-request rows are read: all of them, or the new ones and the sums of the others. */
interface Reading {
  /** Condition on entries and postings, whose id is in the column. */
  written(column: string): string;
  /** Condition on the sums by hour. */
  hours: string;
  /** Source and time column of a key's charges. */
  charged: { from: string; at: string };
}

const everything: Reading = {
  written: () => 'true',
  hours: 'true',
  charged: {
    from: `(SELECT account_id, key_id, charged, created_at FROM ledger_entry
            UNION ALL SELECT account_id, key_id, charged, hour FROM archived_sum) AS entry`,
    at: 'created_at',
  },
};

/**
 * Rows since the beginning of that hour are found by their ids, which begin with the time of the request: at most the
 * longest stream earlier.
 */
function newSince(since: Date, maxHoldMs: number): Reading {
  const hourMs = Math.floor(since.getTime() / 3_600_000) * 3_600_000;
  const moment = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`;
  const first = `uuid_at(${moment(hourMs - maxHoldMs)})`;
  return {
    written: (column) => `created_at >= ${moment(hourMs)} AND ${column} >= ${first}`,
    hours: `hour >= ${moment(hourMs)}`,
    charged: { from: 'usage_hour', at: 'hour' },
  };
}

/** Every invariant by its name, as a query of the violating rows. */
function invariantsOf(reading: Reading): Record<string, string> {
  return { ...invariantsOfAmounts(reading), ...invariantsOfRules(reading), ...invariantsOfSums(reading) };
}

/** What grants, holds, postings and entries say about the same money. */
function invariantsOfAmounts({ written }: Reading): Record<string, string> {
  return {
    // Money that is spent, held or expired was granted.
    I1: `SELECT account_id, id AS grant_id, amount::text, spent::text, held::text, expired::text FROM "grant"
         WHERE ${inScope('account_id')} AND (spent + held + expired > amount OR least(spent, held, expired) < 0)`,

    // The figures of a grant are the sums of its movements.
    I2: `WITH posted AS (
           SELECT account_id, grant_id, sum(spent) AS spent, sum(expired) AS expired FROM (
             SELECT account_id, grant_id, coalesce(sum(amount) FILTER (WHERE kind = 'charge'), 0) AS spent,
                    coalesce(sum(amount) FILTER (WHERE kind = 'expire'), 0) AS expired
             FROM posting WHERE ${inScope('account_id')} GROUP BY account_id, grant_id
             UNION ALL SELECT account_id, grant_id, amount, 0 FROM archived_charge WHERE ${inScope('account_id')}) AS part
           GROUP BY account_id, grant_id
         ), reserved AS (
           SELECT account_id, part.grant_id, sum(part.amount) AS held
           FROM hold, unnest(grant_ids, grant_amounts) AS part (grant_id, amount)
           WHERE ${inScope('account_id')} GROUP BY account_id, part.grant_id
         )
         SELECT account_id, grant_id, g.spent::text, posted.spent::text AS posted_spent, g.expired::text,
                posted.expired::text AS posted_expired, g.held::text, reserved.held::text AS reserved
         FROM (SELECT account_id, id AS grant_id, spent, held, expired FROM "grant" WHERE ${inScope('account_id')}) AS g
         FULL JOIN posted USING (account_id, grant_id) FULL JOIN reserved USING (account_id, grant_id)
         WHERE (g.spent, g.expired, g.held) IS DISTINCT FROM
               (coalesce(posted.spent, 0), coalesce(posted.expired, 0), coalesce(reserved.held, 0))`,

    // A hold is as large as its parts. (Part of I2, seen from the other side.)
    I2_hold: `SELECT account_id, request_id, amount::text FROM hold
              WHERE ${inScope('account_id')} AND amount <> (SELECT coalesce(sum(part), 0) FROM unnest(grant_amounts) AS part)`,

    // A request is held or settled, never both, and settled once. (Once: the primary key, seen across partitions.)
    I3: `SELECT h.account_id, h.request_id, 'held and settled' AS what
         FROM (SELECT account_id, request_id FROM hold WHERE ${inScope('account_id')} OFFSET 0) AS h
         JOIN ledger_entry e ON ${inScope('e.account_id')} AND e.account_id = h.account_id AND e.request_id = h.request_id
         UNION ALL
         SELECT account_id, request_id, 'settled more than once' FROM ledger_entry
         WHERE ${inScope('account_id')} AND ${written('request_id')} GROUP BY account_id, request_id HAVING count(*) > 1`,

    // Every cost can be recomputed from its own row; what was charged was taken from grants, to the last pico-USD.
    I4: `WITH posted AS (
           SELECT account_id, request_id, sum(amount) AS amount FROM posting
           WHERE kind = 'charge' AND ${inScope('account_id')} AND ${written('id')} GROUP BY account_id, request_id
         )
         SELECT account_id, request_id, e.cost::text, e.charged::text, posted.amount::text AS posted
         FROM (SELECT * FROM ledger_entry WHERE ${inScope('account_id')} AND ${written('request_id')}) AS e
         FULL JOIN posted USING (account_id, request_id)
         WHERE e.charged IS DISTINCT FROM coalesce(posted.amount, 0) OR e.charged > e.cost
            OR e.cost <> e.input * e.price_input + e.cache_hit * e.price_cache_hit + e.cache_write_5m * e.price_cache_write_5m
                       + e.cache_write_1h * e.price_cache_write_1h + e.output * e.price_output
                       + CASE WHEN e.units IS NULL THEN 0 ELSE coalesce(units_cost(e.units), -1) END
                       + CASE WHEN e.lines IS NULL THEN 0 ELSE coalesce(lines_cost(e.lines), -1) END`,

    // The same of the sums that stand for archived months: their costs follow from their own rows, and their charges are
    // those of the grants. Every single request was checked when its month was archived.
    I4_archived: `WITH entry AS (
           SELECT account_id, month, sum(charged) AS charged, sum(requests) AS requests,
                  bool_and(cost = input::numeric * price_input + cache_hit::numeric * price_cache_hit
                           + cache_write_5m::numeric * price_cache_write_5m + cache_write_1h::numeric * price_cache_write_1h
                           + output::numeric * price_output + units_cost) AS follows
           FROM archived_sum WHERE ${inScope('account_id')} GROUP BY account_id, month
         ), posted AS (
           SELECT account_id, month, sum(amount) AS amount FROM archived_charge WHERE ${inScope('account_id')}
           GROUP BY account_id, month
         )
         SELECT account_id, month::text, entry.charged::text, posted.amount::text AS posted
         FROM entry FULL JOIN posted USING (account_id, month)
         WHERE coalesce(entry.charged, 0) <> coalesce(posted.amount, 0) OR entry.follows IS NOT TRUE`,

    // Per account: what was granted, less what was charged and what expired, is what is free or held.
    I5: `WITH granted AS (
           SELECT account_id, sum(amount) AS amount, sum(amount - spent - held - expired) AS free FROM "grant"
           WHERE ${inScope('account_id')} GROUP BY account_id
         ), charged AS (
           SELECT account_id, sum(charged) AS amount FROM (
             SELECT account_id, charged FROM ledger_entry WHERE ${inScope('account_id')}
             UNION ALL SELECT account_id, charged FROM archived_sum WHERE ${inScope('account_id')}) AS entry
           GROUP BY account_id
         ), expired AS (
           SELECT account_id, sum(amount) AS amount FROM posting WHERE kind = 'expire' AND ${inScope('account_id')}
           GROUP BY account_id
         ), reserved AS (
           SELECT account_id, sum(amount) AS amount FROM hold WHERE ${inScope('account_id')} GROUP BY account_id
         )
         SELECT account_id, granted.amount::text AS granted, charged.amount::text AS charged, expired.amount::text AS expired,
                granted.free::text, reserved.amount::text AS held
         FROM granted FULL JOIN charged USING (account_id) FULL JOIN expired USING (account_id) FULL JOIN reserved USING (account_id)
         WHERE coalesce(granted.amount, 0) - coalesce(charged.amount, 0) - coalesce(expired.amount, 0)
               <> coalesce(granted.free, 0) + coalesce(reserved.amount, 0)`,
  };
}

/** What was allowed to be charged, bought and held. */
function invariantsOfRules({ written }: Reading): Record<string, string> {
  return {
    // A charge is below the cost only when nothing was left.
    I6: `SELECT account_id, request_id, cost::text, charged::text, free_after::text FROM ledger_entry
         WHERE ${inScope('account_id')} AND ${written('request_id')} AND charged < cost AND free_after <> 0`,

    // The same by the grants: what the account had then and had not charged was held for other requests. Grants of the last
    // minute before may have come too late, and charges that waited for the account may have been committed earlier.
    I6_account: `WITH short AS MATERIALIZED (
           SELECT account_id, request_id, created_at, held_after FROM ledger_entry
           WHERE ${inScope('account_id')} AND ${written('request_id')} AND charged < cost AND held_after IS NOT NULL
         ), posted AS MATERIALIZED (
           SELECT short.account_id, short.request_id, p.grant_id, sum(p.amount) AS amount
           FROM short JOIN posting p ON ${inScope('p.account_id')} AND p.account_id = short.account_id AND p.created_at <= short.created_at + interval '10 seconds'
           GROUP BY 1, 2, 3
         )
         SELECT short.account_id, short.request_id, kept.amount::text AS free_or_held, short.held_after::text
         FROM short CROSS JOIN LATERAL (
           SELECT coalesce(sum(g.amount
             - coalesce((SELECT p.amount FROM posted p WHERE p.account_id = g.account_id AND p.request_id = short.request_id
                         AND p.grant_id = g.id), 0)
             - coalesce((SELECT sum(amount) FROM archived_charge c WHERE c.account_id = g.account_id AND c.grant_id = g.id), 0)
           ), 0) AS amount
           FROM "grant" g
           WHERE g.account_id = short.account_id AND g.created_at < short.created_at - interval '1 minute'
         ) AS kept
         WHERE kept.amount > short.held_after`,

    // An ended grant pays only from holds that were placed before its end.
    I7: `SELECT p.account_id, p.request_id, p.grant_id, p.held_at, p.created_at, g.expires_at
         FROM (SELECT * FROM posting WHERE ${inScope('account_id')} AND ${written('id')} AND kind = 'charge') AS p
         JOIN "grant" g ON g.account_id = p.account_id AND g.id = p.grant_id
         WHERE coalesce(p.held_at, p.created_at) >= g.expires_at
         UNION ALL
         SELECT c.account_id, NULL, c.grant_id, c.last_held_at, NULL, g.expires_at
         FROM (SELECT * FROM archived_charge WHERE ${inScope('account_id')}) AS c
         JOIN "grant" g ON g.account_id = c.account_id AND g.id = c.grant_id
         WHERE c.last_held_at >= g.expires_at`,

    // One grant for each paid order, and enough money for it at the bank.
    I8: `WITH paid AS (
           SELECT coalesce(o.receiver_id, o.account_id) AS account_id, o.id, o.price_vnd, o.budget,
                  (SELECT coalesce(sum(t.amount_vnd), 0) FROM transfer_match m JOIN bank_transfer t ON t.id = m.transfer_id
                   WHERE m.order_id = o.id AND t.direction = 'in') AS received
           FROM purchase_order o
           WHERE o.status = 'paid' AND (o.gift_to IS NULL OR o.receiver_id IS NOT NULL)
             AND ${inScope('coalesce(o.receiver_id, o.account_id)')}
         ), bought AS (
           SELECT account_id, source_ref, amount FROM "grant" WHERE kind = 'purchase' AND ${inScope('account_id')}
         )
         SELECT coalesce(paid.account_id, bought.account_id) AS account_id, paid.id AS order_id, bought.source_ref,
                paid.price_vnd::text, paid.received::text, paid.budget::text, bought.amount::text AS granted
         FROM paid FULL JOIN bought ON bought.account_id = paid.account_id AND bought.source_ref = 'order:' || paid.id
         WHERE paid.id IS NULL OR bought.source_ref IS NULL OR paid.received < paid.price_vnd OR paid.budget <> bought.amount`,

    // A bonus for each paid order that promised one, and for no other.
    I8_bonus: `WITH paid AS (
           SELECT coalesce(receiver_id, account_id) AS account_id, id, bonus FROM purchase_order
           WHERE status = 'paid' AND bonus > 0 AND (gift_to IS NULL OR receiver_id IS NOT NULL)
             AND ${inScope('coalesce(receiver_id, account_id)')}
         ), given AS (
           SELECT account_id, source_ref, amount FROM "grant" WHERE kind = 'bonus' AND ${inScope('account_id')}
         )
         SELECT coalesce(paid.account_id, given.account_id) AS account_id, paid.id AS order_id, given.source_ref,
                paid.bonus::text, given.amount::text AS granted
         FROM paid FULL JOIN given ON given.account_id = paid.account_id AND given.source_ref = 'bonus:' || paid.id
         WHERE paid.bonus IS DISTINCT FROM given.amount`,

    // A grant for each redemption of a code, of the code's amount, and no more redemptions than the code has uses.
    I8_code: `WITH redeemed AS (
           SELECT r.account_id, r.code_id, b.amount, c.used > b.uses AS over
           FROM redemption r JOIN redemption_code c ON c.id = r.code_id JOIN code_batch b ON b.id = c.batch_id
           WHERE ${inScope('r.account_id')}
         ), given AS (
           SELECT account_id, source_ref, amount FROM "grant" WHERE kind = 'code' AND ${inScope('account_id')}
         )
         SELECT coalesce(redeemed.account_id, given.account_id) AS account_id, redeemed.code_id, given.source_ref,
                redeemed.amount::text, given.amount::text AS granted
         FROM redeemed FULL JOIN given
           ON given.account_id = redeemed.account_id AND given.source_ref = 'code:' || redeemed.code_id
         WHERE redeemed.amount IS DISTINCT FROM given.amount OR redeemed.over`,

    // No hold is older than the longest stream. An escrow lives as long as its key is busy.
    I9: `SELECT account_id, request_id, held_at FROM hold
         WHERE ${inScope('account_id')} AND NOT escrow AND held_at < now() - $2::bigint * interval '1 millisecond'`,

    // Promises never exceed their escrow, as far as the database can tell: every escrow has a process that accounts for
    // its promises, and is returned or swept when that process ends.
    I10: `SELECT account_id, request_id, key_id, process_id, amount::text FROM hold
          WHERE ${inScope('account_id')} AND escrow
            AND NOT EXISTS (SELECT FROM process p WHERE p.id = hold.process_id
                            AND p.lease_until >= now() - $2::bigint * interval '1 millisecond')`,

    // A batch holds what its lines may still come to and nothing else does in its place: a hold without a lease belongs to a batch
    // that is not settled, and its bound is the sum of those of its lines.
    batch: `SELECT h.account_id, h.request_id, 'held for no batch' AS what FROM hold h
            WHERE ${inScope('h.account_id')} AND h.process_id = '${batchProcess}'
              AND NOT EXISTS (SELECT FROM vendor_batch b WHERE b.account_id = h.account_id AND b.id = h.request_id AND b.settled_at IS NULL)
            UNION ALL
            SELECT account_id, id, 'bound is not that of its lines' FROM vendor_batch b
            WHERE ${inScope('account_id')} AND settled_at IS NULL AND (lines::bigint, bound::numeric) <> (
              SELECT count(*), coalesce(sum(bound), 0) FROM vendor_batch_line l
              WHERE l.account_id = b.account_id AND l.source_id = coalesce(b.input_file, b.id))`,
  };
}

/** Sums of `key_spend` and `account_limit` that belong to the present day, week and month. */
const windows = `CASE WHEN day = (now() AT TIME ZONE time_zone)::date THEN day_charged ELSE 0 END AS today,
  CASE WHEN week = date_trunc('week', now() AT TIME ZONE time_zone)::date THEN week_charged ELSE 0 END AS this_week,
  CASE WHEN month = date_trunc('month', now() AT TIME ZONE time_zone)::date THEN month_charged ELSE 0 END AS this_month`;

const startOf = (period: string): string =>
  `date_trunc('${period}', now() AT TIME ZONE time_zone) AT TIME ZONE time_zone`;
/** When they began, and whether sums by hour can tell: a zone may be half an hour off. */
const starts = `${startOf('day')} AS day, ${startOf('week')} AS week, ${startOf('month')} AS month,
  extract(minute FROM ${startOf('day')}) = 0 AS whole_hours`;

const usageAmounts = [
  'input',
  'cache_hit',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'cost',
  'charged',
  'upstream_cost',
] as const;
/** The sums of one side of the comparison; those of the other side are negative. */
const amounts = (sign: '' | '-'): string =>
  usageAmounts
    .map((name) => `${sign}${name === 'upstream_cost' ? 'coalesce(upstream_cost, 0)' : name} AS ${name}`)
    .join(', ');

/**
 * The period in which the hourly sums of a moment are compared: its hour, or its month if that is archived, since the
 * archive's sums are by month.
 */
const compared = (hour: string): string => `CASE
  WHEN ${hour} < (SELECT (max(month)::timestamp + interval '1 month') AT TIME ZONE 'UTC' FROM archived_month)
   AND date_trunc('month', ${hour}, 'UTC') = ANY (ARRAY(SELECT month::timestamp AT TIME ZONE 'UTC' FROM archived_month))
  THEN date_trunc('month', ${hour}, 'UTC') ELSE ${hour} END`;

/** The sums that are kept are those of the ledger. */
function invariantsOfSums({ written, hours, charged }: Reading): Record<string, string> {
  return {
    // The hourly sums are those of the ledger.
    usage_hour: `SELECT account_id, hour, model, key_id, outcome, sum(requests) FILTER (WHERE kept)::text AS requests,
                (-sum(requests) FILTER (WHERE NOT kept))::text AS entries, sum(charged) FILTER (WHERE kept)::text AS charged,
                (-sum(charged) FILTER (WHERE NOT kept))::text AS entries_charged
         FROM (
           SELECT account_id, ${compared('hour')} AS hour, model, key_id, outcome, true AS kept, requests, ${amounts('')}
           FROM usage_hour WHERE ${inScope('account_id')} AND ${hours}
           UNION ALL
           SELECT account_id, ${compared(`date_trunc('hour', created_at, 'UTC')`)}, model, key_id, outcome, false, -1, ${amounts('-')}
           FROM ledger_entry WHERE ${inScope('account_id')} AND ${written('request_id')}
           UNION ALL
           SELECT account_id, ${compared('hour')}, model, key_id, outcome, false, -requests, ${amounts('-')}
           FROM archived_sum WHERE ${inScope('account_id')} AND ${hours}) AS side
         GROUP BY account_id, hour, model, key_id, outcome
         HAVING sum(requests) <> 0 OR ${usageAmounts.map((name) => `sum(${name}) <> 0`).join(' OR ')}`,

    // The hourly sums of margins are those of the ledger, and so is what caching saved, where it was kept from the hour's first
    // request on. An archive's sums have no upstreams and do not tell what caching saved.
    margin_hour: `SELECT account_id, hour, model, sum(requests)::text AS requests_more, sum(cost)::text AS cost_more,
                sum(charged)::text AS charged_more, sum(upstream_cost)::text AS upstream_cost_more, sum(saved)::text AS saved_more
         FROM (
           SELECT account_id, ${compared('hour')} AS hour, model, requests, cost, charged, upstream_cost, saved, saved IS NOT NULL AS known
           FROM margin_hour WHERE ${inScope('account_id')} AND ${hours}
           UNION ALL
           SELECT account_id, ${compared(`date_trunc('hour', created_at, 'UTC')`)}, model, -1, -cost, -charged, -coalesce(upstream_cost, 0),
                  CASE WHEN charged = cost AND cost > 0 THEN cache_write_5m * (price_cache_write_5m - price_input)
                    + cache_write_1h * (price_cache_write_1h - price_input) - cache_hit * (price_input - price_cache_hit) ELSE 0 END, true
           FROM ledger_entry WHERE ${inScope('account_id')} AND ${written('request_id')}
           UNION ALL
           SELECT account_id, ${compared('hour')}, model, -requests, -cost, -charged, -upstream_cost, 0, false
           FROM archived_sum WHERE ${inScope('account_id')} AND ${hours}) AS side
         GROUP BY account_id, hour, model
         HAVING sum(requests) <> 0 OR sum(cost) <> 0 OR sum(charged) <> 0 OR sum(upstream_cost) <> 0
             OR (bool_and(known) AND sum(saved) <> 0)`,

    // The figures of a key are the sums of its requests' charges and holds, by the days of its account's time zone.
    key_spend: `WITH zone AS MATERIALIZED (
           SELECT id, ${starts} FROM account WHERE ${inScope('id')}
         ), spent AS (
           SELECT account_id, key_id, sum(charged) AS charged,
                  coalesce(sum(charged) FILTER (WHERE ${charged.at} >= zone.day), 0) AS today,
                  coalesce(sum(charged) FILTER (WHERE ${charged.at} >= zone.week), 0) AS this_week,
                  coalesce(sum(charged) FILTER (WHERE ${charged.at} >= zone.month), 0) AS this_month
           FROM ${charged.from} JOIN zone ON zone.id = account_id
           -- Said again for the planner, which would read the whole ledger for the accounts of the zones.
           WHERE ${inScope('account_id')} GROUP BY account_id, key_id
         ), reserved AS (
           SELECT account_id, key_id, sum(amount) AS held FROM hold WHERE ${inScope('account_id')} GROUP BY account_id, key_id
         ), kept AS (
           SELECT account_id, key_id, charged, held, ${windows} FROM key_spend WHERE ${inScope('account_id')}
         )
         SELECT account_id, key_id, kept.charged::text, spent.charged::text AS entries_charged, kept.held::text, reserved.held::text AS reserved
         FROM kept FULL JOIN spent USING (account_id, key_id) FULL JOIN reserved USING (account_id, key_id)
         LEFT JOIN zone ON zone.id = account_id
         WHERE (coalesce(kept.charged, 0), coalesce(kept.held, 0)) IS DISTINCT FROM (coalesce(spent.charged, 0), coalesce(reserved.held, 0))
            OR (${charged.at === 'created_at' ? 'true' : 'zone.whole_hours'}
                AND (coalesce(kept.today, 0), coalesce(kept.this_week, 0), coalesce(kept.this_month, 0)) IS DISTINCT FROM
                    (coalesce(spent.today, 0), coalesce(spent.this_week, 0), coalesce(spent.this_month, 0)))`,

    // The figures of an account with limits are the sums of its keys.
    account_limit: `WITH keys AS (
           SELECT account_id, sum(charged) AS charged, sum(held) AS held, sum(today) AS today, sum(this_week) AS this_week,
                  sum(this_month) AS this_month
           FROM (SELECT account_id, charged, held, ${windows} FROM key_spend WHERE ${inScope('account_id')}) AS key GROUP BY account_id
         )
         SELECT account_id, kept.charged::text, keys.charged::text AS keys_charged, kept.held::text, keys.held::text AS keys_held
         FROM (SELECT account_id, charged, held, ${windows} FROM account_limit WHERE ${inScope('account_id')}) AS kept
         LEFT JOIN keys USING (account_id)
         WHERE (kept.charged, kept.held, kept.today, kept.this_week, kept.this_month) IS DISTINCT FROM
               (coalesce(keys.charged, 0), coalesce(keys.held, 0), coalesce(keys.today, 0), coalesce(keys.this_week, 0), coalesce(keys.this_month, 0))`,

    // The figures of a shared limit are the sums of its keys: of a member those that they made, of a project what was charged
    // while they lay in it; and its months add up to the whole.
    shared_limit: `WITH linked AS (
           SELECT s.account_id, s.key_id, s.charged, s.held, s.member_id, s.project_id, k.created_by, k.project_id AS lies_in
           FROM key_spend s LEFT JOIN api_key k ON k.id = s.key_id WHERE ${inScope('s.account_id')}
         ), held AS (
           SELECT account_id, subject_id, sum(held) AS held, sum(charged) AS charged
           FROM (SELECT account_id, created_by AS subject_id, held, charged FROM linked
                 UNION ALL SELECT account_id, lies_in, held, 0 FROM linked) AS one
           WHERE subject_id IS NOT NULL GROUP BY account_id, subject_id
         ), stays AS (
           SELECT p.account_id, p.project_id AS subject_id, sum(coalesce(p.to_charged, s.charged, 0) - p.from_charged) AS charged
           FROM key_project p LEFT JOIN key_spend s ON s.account_id = p.account_id AND s.key_id = p.key_id
           WHERE ${inScope('p.account_id')} GROUP BY p.account_id, p.project_id
         ), months AS (
           SELECT account_id, subject_id, sum(charged) AS charged FROM shared_limit_month WHERE ${inScope('account_id')}
           GROUP BY account_id, subject_id
         )
         SELECT l.account_id, l.subject_id, l.kind, l.charged::text, l.held::text, held.held::text AS keys_held,
                coalesce(CASE WHEN l.kind = 'member' THEN held.charged ELSE stays.charged END, 0)::text AS keys_charged
         FROM (SELECT * FROM shared_limit WHERE ${inScope('account_id')}) AS l
         LEFT JOIN held USING (account_id, subject_id) LEFT JOIN stays USING (account_id, subject_id)
         LEFT JOIN months USING (account_id, subject_id)
         WHERE (l.charged, l.held) IS DISTINCT FROM
               (coalesce(CASE WHEN l.kind = 'member' THEN held.charged ELSE stays.charged END, 0), coalesce(held.held, 0))
            OR l.charged <> l.earlier_charged + l.month_charged + coalesce(months.charged, 0)
         UNION ALL
         SELECT linked.account_id, coalesce(linked.project_id, linked.lies_in, linked.member_id, linked.created_by), 'key',
                linked.charged::text, linked.held::text, NULL, NULL
         FROM linked LEFT JOIN shared_limit l ON l.account_id = linked.account_id AND l.subject_id = linked.created_by
         WHERE linked.project_id IS DISTINCT FROM linked.lies_in OR linked.member_id IS DISTINCT FROM l.subject_id`,
  };
}

/** Replacements of the two invariants that read every posting of an account. */
const withoutPostings: Record<string, string> = {
  // Expired money and charges of single grants cannot be checked without postings; held money can.
  I2: `WITH reserved AS (
         SELECT account_id, part.grant_id, sum(part.amount) AS held
         FROM hold, unnest(grant_ids, grant_amounts) AS part (grant_id, amount)
         WHERE ${inScope('account_id')} GROUP BY account_id, part.grant_id
       )
       SELECT account_id, grant_id, g.held::text, reserved.held::text AS reserved
       FROM (SELECT account_id, id AS grant_id, held FROM "grant" WHERE ${inScope('account_id')}) AS g
       FULL JOIN reserved USING (account_id, grant_id)
       WHERE g.held IS DISTINCT FROM coalesce(reserved.held, 0)`,

  // Expired money is in the grants themselves, so this checks that the grants' spent money equals the charges.
  I5: `WITH granted AS (
         SELECT account_id, sum(spent) AS spent, sum(held) AS held FROM "grant" WHERE ${inScope('account_id')} GROUP BY account_id
       ), charged AS (
         SELECT account_id, sum(charged) AS amount FROM usage_hour WHERE ${inScope('account_id')} GROUP BY account_id
       ), reserved AS (
         SELECT account_id, sum(amount) AS amount FROM hold WHERE ${inScope('account_id')} GROUP BY account_id
       )
       SELECT account_id, granted.spent::text, charged.amount::text AS charged, granted.held::text, reserved.amount::text AS reserved
       FROM granted FULL JOIN charged USING (account_id) FULL JOIN reserved USING (account_id)
       WHERE (coalesce(granted.spent, 0), coalesce(granted.held, 0)) IS DISTINCT FROM
             (coalesce(charged.amount, 0), coalesce(reserved.amount, 0))`,
};

/** Accounts with more than `above` requests, by the hourly sums: a check should not read all their rows. */
export async function listLongAccounts(pool: Pool, accounts: readonly string[], above: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT account_id AS id FROM usage_hour WHERE account_id = ANY ($1::uuid[]) GROUP BY account_id HAVING sum(requests) > $2`,
    [accounts, above],
  );
  return rows.map(({ id }) => id);
}

/**
 * Runs every invariant in one snapshot and returns the broken ones. The full run reads the whole ledger, which takes
 * long but blocks nothing.
 */
export async function checkInvariants(
  pool: Pool,
  scope: InvariantScope = { accounts: null },
): Promise<BrokenInvariant[]> {
  const { accounts, maxHoldMs = defaultMaxHoldMs, limitMs = noLimitMs, since, signal } = scope;
  if (accounts?.length === 0) return [];
  const invariants =
    since === undefined
      ? invariantsOf(everything)
      : { ...invariantsOf(newSince(since, maxHoldMs)), ...withoutPostings };
  const broken = await transaction(pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Before the snapshot is taken: a month that is archived meanwhile would be missing from both sides of it.
    await client.query('LOCK TABLE ledger_entry IN ACCESS SHARE MODE');
    return readBroken(client, { invariants, accounts, maxHoldMs, limitMs, pool, signal });
  });
  return broken.length > 0 && (await isSpread(pool))
    ? readAgain(pool, broken, { invariants, maxHoldMs, limitMs, signal })
    : broken;
}

interface Check {
  invariants: Readonly<Record<string, string>>;
  accounts: readonly string[] | null;
  maxHoldMs: number;
  limitMs: number;
  pool: Pool;
  signal: AbortSignal | undefined;
}

/** The broken ones, as this transaction sees the database. */
async function readBroken(
  client: PoolClient,
  { invariants, accounts, maxHoldMs, limitMs, pool, signal }: Check,
): Promise<BrokenInvariant[]> {
  await client.query(`SELECT set_config('statement_timeout', $1, true)`, [`${limitMs}ms`]);
  const { rows: self } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const cancel = (): void => {
    pool.query('SELECT pg_cancel_backend($1)', [self[0]?.pid]).catch(() => undefined);
  };
  const broken: BrokenInvariant[] = [];
  signal?.addEventListener('abort', cancel);
  try {
    for (const [invariant, text] of Object.entries(invariants)) {
      signal?.throwIfAborted();
      const query = {
        text: `SELECT * FROM (${text}) AS broken LIMIT ${maxRows}`,
        values: text.includes('$2') ? [accounts, maxHoldMs] : [accounts],
        // The pool's own query timeout may be shorter.
        query_timeout: limitMs + 1_000,
      };
      const { rows } = await client.query(query);
      if (rows.length > 0) broken.push({ invariant, rows });
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
  return broken;
}

/**
 * A node commits its entries a moment after the coordinator has committed what was charged: what seems broken is read once more while
 * the writers of its accounts wait, who hold their grants until every node has committed.
 */
async function readAgain(
  pool: Pool,
  broken: readonly BrokenInvariant[],
  { invariants, ...how }: Pick<Check, 'invariants' | 'maxHoldMs' | 'limitMs' | 'signal'>,
): Promise<BrokenInvariant[]> {
  const accounts = [...new Set(broken.flatMap(({ rows }) => rows.map((row) => row['account_id'] as string)))];
  const doubtful = Object.fromEntries(broken.map(({ invariant }) => [invariant, invariants[invariant] ?? '']));
  return transaction(pool, async (client) => {
    await client.query(
      'SELECT FROM "grant" WHERE account_id = ANY ($1::uuid[]) ORDER BY account_id, id FOR NO KEY UPDATE',
      [accounts],
    );
    return readBroken(client, { invariants: doubtful, accounts, pool, ...how });
  });
}
