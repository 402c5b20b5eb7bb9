import type { ClientBase } from 'pg';
import { kindOf, parties } from './totals.ts';

/** What the vendors cost: everything before a moment by whose requests it was, and a month's by who paid for them. */

/** Pico-USD of everything before a moment, as it is known now. */
export const costTotals = [
  'customer',
  'own',
  'probe',
  'shortfall',
  'unknownRequests',
  'unknownCharged',
  'charged',
] as const;
export type CostTotals = Record<(typeof costTotals)[number], bigint>;

/** Who paid for the requests that the vendors billed. `shortfall`: nobody. */
export const payers = ['bought', 'trial', 'bonus', 'given', 'own', 'shortfall'] as const;
export type Payer = (typeof payers)[number];

export interface CostSplit {
  /** What vendors cost, by who paid; the probes are not among them. */
  cost: Record<Payer, bigint>;
  /** What bought budget paid for requests whose cost at the vendor is not known. */
  unknownOfBought: bigint;
  /** What vendors cost by day of the month's zone, everybody's. */
  byDay: { day: string; cost: bigint }[];
}

export async function readCostTotals(client: ClientBase, before: Date): Promise<CostTotals> {
  const { rows } = await client.query<Record<keyof CostTotals, string>>(
    `WITH p AS (${parties}
     ), sale AS (
       SELECT account_id, charged, cost, upstream_cost, unknown_requests, unknown_charged FROM margin_hour
       WHERE hour < date_trunc('hour', $1::timestamptz, 'UTC')
       UNION ALL
       -- The begin of an hour that the moment divides: months of some zones begin at half past.
       SELECT account_id, charged, cost, coalesce(upstream_cost, 0),
              (upstream_cost IS NULL AND usage_source <> 'none')::int, CASE WHEN upstream_cost IS NULL THEN charged ELSE 0 END FROM ledger_entry
       WHERE date_trunc('hour', $1::timestamptz, 'UTC') < $1
         AND request_id >= uuid_at(date_trunc('hour', $1::timestamptz, 'UTC') - interval '1 day') AND request_id < uuid_at($1)
         AND created_at >= date_trunc('hour', $1::timestamptz, 'UTC') AND created_at < $1
     )
     SELECT coalesce(sum(upstream_cost) FILTER (WHERE party = 'customer'), 0)::text AS customer,
            coalesce(sum(upstream_cost) FILTER (WHERE party = 'own'), 0)::text AS own,
            coalesce(sum(upstream_cost) FILTER (WHERE party = 'probe'), 0)::text AS probe,
            coalesce(sum(cost - charged) FILTER (WHERE party <> 'probe'), 0)::text AS shortfall,
            coalesce(sum(unknown_requests), 0)::text AS "unknownRequests",
            coalesce(sum(unknown_charged) FILTER (WHERE party <> 'probe'), 0)::text AS "unknownCharged",
            coalesce(sum(charged), 0)::text AS charged
     FROM sale JOIN p ON p.id = sale.account_id`,
    [before],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the costs were read and gave no row');
  return Object.fromEntries(costTotals.map((name) => [name, BigInt(row[name])])) as CostTotals;
}

/**
 * Splits what vendors cost between two moments by who paid: the cost of a request is divided as its price was, cut to whole
 * pico-USD in the order of `payers`, and the last of them takes the rest. What was free of charge is given.
 */
export async function readCostSplit(
  client: ClientBase,
  { from, to, timeZone }: { from: Date; to: Date; timeZone: string },
): Promise<CostSplit> {
  const running = payers.map((_, index) => payers.slice(0, index + 1).join(' + '));
  const share = (index: number): string =>
    index < 0
      ? '0'
      : `CASE WHEN price = 0 THEN ${index >= payers.indexOf('given') ? 'vendor' : '0'} ELSE div(vendor * (${running[index]}), price) END`;
  const { rows } = await client.query<Record<Payer | 'unknown', string>>(
    `WITH p AS (${parties}
     ), entry AS (
       SELECT e.account_id, e.request_id, e.cost::numeric AS price, e.cost - e.charged AS missing, e.upstream_cost, p.party
       FROM ledger_entry e JOIN p ON p.id = e.account_id
       WHERE p.party <> 'probe' AND e.request_id >= uuid_at($1::timestamptz - interval '1 day') AND e.request_id < uuid_at($2)
         AND e.created_at >= $1 AND e.created_at < $2
     ), paid AS (
       SELECT o.account_id, o.request_id, ${payers
         .filter((payer) => payer !== 'shortfall')
         .map((payer) => `coalesce(sum(o.amount) FILTER (WHERE ${kindOf('g.kind')} = '${payer}'), 0) AS ${payer}`)
         .join(', ')}
       FROM posting o JOIN "grant" g ON g.account_id = o.account_id AND g.id = o.grant_id JOIN p ON p.id = o.account_id
       WHERE o.kind = 'charge' AND o.created_at >= $1 AND o.created_at < $2 GROUP BY 1, 2
     ), split AS (
       SELECT price, coalesce(upstream_cost, 0)::numeric AS vendor, upstream_cost IS NULL AS is_unknown,
              coalesce(bought, 0) AS bought, coalesce(trial, 0) AS trial, coalesce(bonus, 0) AS bonus, coalesce(given, 0) AS given,
              coalesce(own, 0) + CASE WHEN party = 'own' THEN missing ELSE 0 END AS own,
              CASE WHEN party = 'own' THEN 0 ELSE missing END AS shortfall
       FROM entry LEFT JOIN paid USING (account_id, request_id)
     )
     SELECT ${payers.map((payer, index) => `coalesce(sum(${share(index)} - ${share(index - 1)}), 0)::bigint::text AS ${payer}`).join(', ')},
            coalesce(sum(bought) FILTER (WHERE is_unknown), 0)::text AS unknown FROM split`,
    [from, to],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the costs were split and gave no row');
  const { rows: byDay } = await client.query<{ day: string; cost: string }>(
    `SELECT to_char(hour AT TIME ZONE $3, 'YYYY-MM-DD') AS day, sum(upstream_cost)::text AS cost FROM margin_hour
     WHERE hour >= $1 AND hour < $2 GROUP BY 1 HAVING sum(upstream_cost) > 0 ORDER BY 1`,
    [from, to, timeZone],
  );
  return {
    cost: Object.fromEntries(payers.map((payer) => [payer, BigInt(row[payer])])) as Record<Payer, bigint>,
    unknownOfBought: BigInt(row.unknown),
    byDay: byDay.map(({ day, cost }) => ({ day, cost: BigInt(cost) })),
  };
}
