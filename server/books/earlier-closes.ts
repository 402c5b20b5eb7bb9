import type { ClientBase } from 'pg';

/**
 * The figures that earlier versions froze of a month. They are kept beside the lines, so that such a version can close the
 * next month after a step back.
 */
const figures = [
  'revenueVnd',
  'charged',
  'chargedPaid',
  'trialCost',
  'expired',
  'shortfall',
  'upstreamCost',
  'unknownCharged',
] as const;
export type EarlierTotals = Record<(typeof figures)[number], bigint>;

/** What a close has kept of them. */
export const earlierFigures = (totals: Record<string, unknown>): EarlierTotals =>
  Object.fromEntries(
    figures.map((name) => [name, BigInt((totals[name] as string | undefined) ?? '0')]),
  ) as EarlierTotals;

/** `a - b`. */
export const subtractEarlier = (a: EarlierTotals, b: EarlierTotals): EarlierTotals =>
  Object.fromEntries(figures.map((name) => [name, a[name] - b[name]])) as EarlierTotals;

/** Everything before a moment, as it is known now. */
export async function readEarlierTotals(client: ClientBase, before: Date): Promise<EarlierTotals & { bought: bigint }> {
  const { rows } = await client.query<Record<string, string>>(
    `WITH customer AS (SELECT id FROM account WHERE kind <> 'probe'
     ), taken AS (
       SELECT coalesce(sum(t.amount_vnd), 0)::text AS "revenueVnd" FROM bank_transfer t JOIN transfer_match m ON m.transfer_id = t.id
       WHERE t.direction = 'in' AND t.booked_at < $1
     ), sold AS (
       SELECT coalesce(sum(charged), 0)::text AS charged, coalesce(sum(cost - charged), 0)::text AS shortfall,
              coalesce(sum(upstream_cost), 0)::text AS "upstreamCost", coalesce(sum(unknown_charged), 0)::text AS "unknownCharged"
       FROM (
         SELECT charged, cost, upstream_cost, unknown_charged FROM margin_hour
         WHERE hour < date_trunc('hour', $1::timestamptz, 'UTC') AND account_id IN (SELECT id FROM customer)
         UNION ALL
         -- The begin of an hour that the moment divides: months of some zones begin at half past.
         SELECT charged, cost, coalesce(upstream_cost, 0), CASE WHEN upstream_cost IS NULL THEN charged ELSE 0 END FROM ledger_entry
         WHERE date_trunc('hour', $1::timestamptz, 'UTC') < $1 AND account_id IN (SELECT id FROM customer)
           AND request_id >= uuid_at(date_trunc('hour', $1::timestamptz, 'UTC') - interval '1 day') AND request_id < uuid_at($1)
           AND created_at >= date_trunc('hour', $1::timestamptz, 'UTC') AND created_at < $1
       ) AS sale
     ), moved AS (
       SELECT coalesce(sum(p.amount) FILTER (WHERE p.kind = 'charge' AND g.kind = 'purchase'), 0)::text AS "chargedPaid",
              coalesce(sum(p.amount) FILTER (WHERE p.kind = 'charge' AND g.kind = 'trial'), 0)::text AS "trialCost",
              coalesce(sum(p.amount) FILTER (WHERE p.kind = 'expire' AND g.kind = 'purchase'), 0)::text AS expired
       FROM (
         SELECT account_id, grant_id, kind, amount FROM posting WHERE created_at < $1
         UNION ALL SELECT account_id, grant_id, 'charge', amount FROM archived_charge) AS p
       JOIN "grant" g ON g.account_id = p.account_id AND g.id = p.grant_id
       WHERE p.account_id IN (SELECT id FROM customer)
     ), bought AS (
       SELECT coalesce(sum(amount), 0)::text AS bought FROM "grant"
       WHERE kind = 'purchase' AND created_at < $1 AND account_id IN (SELECT id FROM customer)
     )
     SELECT * FROM taken, sold, moved, bought`,
    [before],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the totals were read and gave no row');
  const totals = Object.fromEntries(figures.map((name) => [name, BigInt(row[name] ?? '0')])) as EarlierTotals;
  return { ...totals, bought: BigInt(row['bought'] ?? '0') };
}
