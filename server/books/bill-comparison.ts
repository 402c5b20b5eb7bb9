import { listArchivedMonths, MonthArchived } from '../billing/archive/archived-months.ts';
import type { Queryable } from '../database/pool.ts';
import type { UsageSide } from './vendor-csv.ts';
import { readCredits } from './vendor-files.ts';

/** What vendors say that they billed, beside what the ledger says that they did. */

export interface VendorComparison {
  upstream: string;
  /** `2026-10-31`, UTC. */
  day: string;
  /** The vendor's name of the model, without a date at its end. */
  model: string;
  /** Null: the vendor has nothing of it. */
  vendor: UsageSide | null;
  /** Null: the ledger has nothing of it. */
  ledger: UsageSide | null;
  /** Ledger entries whose tokens are estimates, because the vendor's answer did not say. */
  estimated: bigint;
  /** Ledger entries whose cost is not known: `ledger.cost` is that of the others. */
  unknown: bigint;
  /** Requests that reached the vendor and brought no usage, so that nobody paid for them. */
  unpaid: bigint;
  /** How far the figures are apart that are furthest: 0.5 is half of the larger one. */
  apart: number;
  /** Further apart than the given tolerances. */
  differs: boolean;
  /** Why, the likeliest first; empty where nothing differs. */
  causes: BillCause[];
}

/** The sums of a period. */
export interface ComparisonTotal {
  upstream: string;
  vendor: UsageSide;
  ledger: UsageSide;
  /** Pico-USD below zero that the vendor has credited. */
  credits: bigint;
  /** Ledger entries whose cost is not known: `ledger.cost` is that of the others. */
  unknown: bigint;
  apart: number;
  differs: boolean;
}

/**
 * Why a bill may differ: `cost_unknown` the ledger has no cost; `missing_model` the ledger has nothing of the model, or the
 * bill has not; `counted_twice` one side has a multiple of the other, or cached tokens as new input as well; `price` equal tokens at another price; `time_zone` the
 * days beside it make up for it; `unpaid` requests without usage are billed; `estimated` tokens are estimates.
 */
export type BillCause =
  | 'cost_unknown'
  | 'missing_model'
  | 'counted_twice'
  | 'price'
  | 'time_zone'
  | 'unpaid'
  | 'estimated';

export interface ComparisonQuery {
  /** First and last day, UTC. */
  from: string;
  to: string;
  /** Null: every upstream that has figures of its vendor. */
  upstream: string | null;
  /** What is further apart differs: 1 is a hundredth. */
  percent: number;
  /** What is at most so far apart is the vendor's rounding; left out: the defaults. */
  least?: Tolerances;
}

/** Tokens, requests and pico-USD. */
export interface Tolerances {
  tokens: bigint;
  requests: bigint;
  cost: bigint;
}

/** A vendor rounds the cost of a day to a ten-thousandth of a USD; requests around midnight can fall on either day. */
export const defaultTolerances: Tolerances = { tokens: 20n, requests: 0n, cost: 100_000_000n };

/** Days are few enough for one answer: a ledger of millions is read for them. */
export const maxComparedDays = 62;

type SideRow = Record<'input' | 'cache_hit' | 'cache_write' | 'output', bigint | null> & {
  requests: bigint | null;
  cost: bigint | null;
};
interface Row {
  upstream: string;
  day: string;
  model: string;
  vendor: SideRow | null;
  estimated: bigint | null;
  unknown: bigint | null;
  unpaid: bigint | null;
  [name: string]: unknown;
}

/** Vendors put the date of a model's version behind its name. */
const withoutDate = (column: string): string =>
  `regexp_replace(${column}, '-([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})$', '')`;

/** The first moment of a day. */
const start = (day: string): string => `(${day}::date::timestamp AT TIME ZONE 'UTC')`;

/**
 * Compares day by day, on days and upstreams that a file has. Requests around midnight can fall on two sides of it, and
 * estimates are ours alone.
 */
export async function compareVendorUsage(
  db: Queryable,
  { from, to, upstream, percent, least = defaultTolerances }: ComparisonQuery,
): Promise<VendorComparison[]> {
  // Upstreams are known by single requests alone: a comparison with an archived month would be one with nothing.
  const range = { from: new Date(from), to: new Date(Date.parse(to) + 86_400_000) };
  const [archived] = await listArchivedMonths(db, range);
  if (archived !== undefined) throw new MonthArchived(archived);
  const { rows } = await db.query<Row>(
    `WITH told AS (
       SELECT upstream, day, ${withoutDate('model')} AS model, sum(requests)::bigint AS requests, sum(input)::bigint AS input,
              sum(cache_hit)::bigint AS cache_hit, sum(cache_write)::bigint AS cache_write, sum(output)::bigint AS output,
              CASE WHEN bool_and(cost IS NOT NULL) THEN sum(cost)::bigint END AS cost
       FROM vendor_usage WHERE day BETWEEN $1::date AND $2::date AND ($3::text IS NULL OR upstream = $3) GROUP BY 1, 2, 3
     ), days AS (SELECT DISTINCT upstream, day FROM told
     ), entries AS (
       SELECT upstream, (created_at AT TIME ZONE 'UTC')::date AS day, model,
              count(*) FILTER (WHERE usage_source <> 'none') AS requests, sum(input) AS input, sum(cache_hit) AS cache_hit,
              sum(cache_write_5m + cache_write_1h) AS cache_write, sum(output) AS output,
              sum(upstream_cost) AS cost, count(*) FILTER (WHERE upstream_cost IS NULL AND usage_source <> 'none') AS unknown,
              count(*) FILTER (WHERE usage_source IN ('estimated', 'partial')) AS estimated,
              count(*) FILTER (WHERE usage_source = 'none') AS unpaid
       FROM ledger_entry
       WHERE request_id >= uuid_at(${start('$1')} - interval '1 day') AND request_id < uuid_at(${start('$2')} + interval '1 day')
         AND created_at >= ${start('$1')} AND created_at < ${start('$2')} + interval '1 day'
         AND ($3::text IS NULL OR upstream = $3)
       GROUP BY 1, 2, 3
     ), ours AS (
       SELECT e.upstream, e.day, ${withoutDate('coalesce(r.upstream_model, e.model)')} AS model,
              sum(e.requests)::bigint AS requests, sum(e.input)::bigint AS input, sum(e.cache_hit)::bigint AS cache_hit,
              sum(e.cache_write)::bigint AS cache_write, sum(e.output)::bigint AS output,
              sum(e.cost)::bigint AS cost, sum(e.unknown)::bigint AS unknown, sum(e.estimated)::bigint AS estimated,
              sum(e.unpaid)::bigint AS unpaid
       FROM entries e
       -- An entry does not say which of several routes to one upstream it took: one whose name the vendor billed.
       LEFT JOIN LATERAL (
         SELECT route.upstream_model FROM route
         LEFT JOIN told ON told.upstream = e.upstream AND told.day = e.day AND told.model = ${withoutDate('route.upstream_model')}
         WHERE route.model_id = e.model AND route.upstream_id = e.upstream
         ORDER BY told.model IS NULL, NOT route.enabled, route.priority, route.upstream_model LIMIT 1) AS r ON true
       GROUP BY 1, 2, 3
     )
     SELECT upstream, to_char(day, 'YYYY-MM-DD') AS day, model, o.estimated, o.unknown, o.unpaid,
            t.name IS NOT NULL AS "isTold", coalesce(o.requests, 0) > 0 AS "isOurs",
            ${['requests', 'input', 'cache_hit', 'cache_write', 'output', 'cost'].map((name) => `t.${name} AS t_${name}, o.${name} AS o_${name}`).join(', ')}
     FROM (SELECT *, model AS name FROM told) AS t
     FULL JOIN (SELECT *, model AS name FROM ours WHERE (upstream, day) IN (SELECT upstream, day FROM days)) AS o USING (upstream, day, model)
     WHERE t.name IS NOT NULL OR o.requests > 0
     ORDER BY day DESC, upstream, model`,
    [from, to, upstream],
  );
  const compared = rows.map((row): VendorComparison => {
    const side = (letter: 't' | 'o'): UsageSide => ({
      requests: (row[`${letter}_requests`] as bigint | null) ?? null,
      input: (row[`${letter}_input`] as bigint | null) ?? 0n,
      cacheHit: (row[`${letter}_cache_hit`] as bigint | null) ?? 0n,
      cacheWrite: (row[`${letter}_cache_write`] as bigint | null) ?? 0n,
      output: (row[`${letter}_output`] as bigint | null) ?? 0n,
      cost: (row[`${letter}_cost`] as bigint | null) ?? null,
    });
    const vendor = row['isTold'] === true ? side('t') : null;
    const ledger = row['isOurs'] === true ? side('o') : null;
    const unknown = row.unknown ?? 0n;
    return {
      upstream: row.upstream,
      day: row.day,
      model: row.model,
      vendor,
      ledger,
      estimated: row.estimated ?? 0n,
      unknown,
      unpaid: row.unpaid ?? 0n,
      ...compareSides(vendor, ledger, { percent, least, isKnown: unknown === 0n }),
      causes: [],
    };
  });
  return compared.map((row) => (row.differs ? { ...row, causes: causesOf(row, compared, { percent, least }) } : row));
}

const inputOf = (side: UsageSide | null): bigint => (side === null ? 0n : side.input + side.cacheHit + side.cacheWrite);

interface Tolerated {
  percent: number;
  least: Tolerances;
}

/**
 * How far two sides are apart in the figure that is furthest, and whether that is more than the tolerances. A side that does
 * not say a figure is not compared in it. Where the ledger does not know every cost, a bill above what it knows differs.
 */
function compareSides(
  vendor: UsageSide | null,
  ledger: UsageSide | null,
  { percent, least, isKnown }: Tolerated & { isKnown: boolean },
): Pick<VendorComparison, 'apart' | 'differs'> {
  const figures: [bigint, bigint, bigint][] = [
    [inputOf(vendor), inputOf(ledger), least.tokens],
    [vendor?.output ?? 0n, ledger?.output ?? 0n, least.tokens],
  ];
  const [billed, paid] = [vendor?.cost ?? null, ledger === null ? 0n : (ledger.cost ?? (isKnown ? null : 0n))];
  if (billed !== null && paid !== null) figures.push([billed, paid, least.cost]);
  const [told, ours] = [vendor?.requests ?? null, ledger?.requests ?? null];
  if (told !== null && ours !== null) figures.push([told, ours, least.requests]);
  let apart = 0;
  let differs = false;
  for (const [a, b, most] of figures) {
    const difference = a > b ? a - b : b - a;
    if (difference === 0n) continue;
    const larger = a > b ? a : b;
    differs ||= difference > most && difference * 100n > BigInt(percent) * larger;
    apart = Math.max(apart, Number((difference * 10_000n) / larger) / 10_000);
  }
  return { apart, differs };
}

const nothing: UsageSide = { requests: 0n, input: 0n, cacheHit: 0n, cacheWrite: 0n, output: 0n, cost: 0n };
const tokensOf = (side: UsageSide | null): bigint => inputOf(side) + (side?.output ?? 0n);

/** Whether two amounts are within the tolerances. */
function isNear(a: bigint, b: bigint, most: bigint, percent: number): boolean {
  const difference = a > b ? a - b : b - a;
  return difference <= most || difference * 100n <= BigInt(percent) * (a > b ? a : b);
}

function causesOf(row: VendorComparison, all: readonly VendorComparison[], { percent, least }: Tolerated): BillCause[] {
  const { vendor, ledger } = row;
  const causes: BillCause[] = [];
  const near = (a: bigint, b: bigint) => isNear(a, b, least.tokens, percent);
  const [billed, ours] = [tokensOf(vendor), tokensOf(ledger)];
  const beside = all.filter(
    ({ upstream, model, day }) =>
      upstream === row.upstream &&
      model === row.model &&
      Math.abs(Date.parse(day) - Date.parse(row.day)) === 86_400_000,
  );
  // Within a day that lies beside it, whole: what is missing here is too much there.
  if (
    !near(billed, ours) &&
    beside.some((other) => near(billed + tokensOf(other.vendor), ours + tokensOf(other.ledger)))
  )
    causes.push('time_zone');
  if (row.unknown > 0n && vendor !== null && vendor.cost !== null) causes.push('cost_unknown');
  if (vendor === null || ledger === null) causes.push('missing_model');
  else {
    const multiple = [2n, 3n, 4n].some(
      (times) =>
        (ours > least.tokens && (near(billed, times * ours) || near(ours, times * billed))) ||
        (vendor.requests !== null &&
          ledger.requests !== null &&
          ledger.requests > 0n &&
          vendor.requests === times * ledger.requests),
    );
    // On the meter of new input as well as on meters of their own: https://github.com/Azure/azure-rest-api-specs/issues/45178
    const cached = ledger.cacheHit + ledger.cacheWrite;
    const isCachedTwice = cached > least.tokens && near(inputOf(vendor), inputOf(ledger) + cached);
    if (multiple || isCachedTwice) causes.push('counted_twice');
    if (
      near(billed, ours) &&
      row.unknown === 0n &&
      vendor.cost !== null &&
      !isNear(vendor.cost, ledger.cost ?? 0n, least.cost, percent)
    )
      causes.push('price');
  }
  if (row.unpaid > 0n && billed > ours) causes.push('unpaid');
  if (row.estimated > 0n) causes.push('estimated');
  return causes;
}

/** The sums of the days that bills have, by upstream; tolerances are those of a day. */
export async function compareTotals(
  db: Queryable,
  rows: readonly VendorComparison[],
  { from, to, upstream, percent, least = defaultTolerances }: ComparisonQuery,
): Promise<ComparisonTotal[]> {
  const credits = await readCredits(db, { from, to, upstream });
  return [...Map.groupBy(rows, (row) => row.upstream)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => {
      const sum = (of: 'vendor' | 'ledger'): UsageSide =>
        own.reduce<UsageSide>((so, row) => {
          const given = row[of] ?? nothing;
          // What is known of the ledger's cost is shown, however little of it.
          const side = of === 'ledger' && row.unknown > 0n ? { ...given, cost: given.cost ?? 0n } : given;
          const add = (a: bigint | null, b: bigint | null) => (a === null || b === null ? null : a + b);
          return {
            requests: add(so.requests, side.requests),
            input: so.input + side.input,
            cacheHit: so.cacheHit + side.cacheHit,
            cacheWrite: so.cacheWrite + side.cacheWrite,
            output: so.output + side.output,
            cost: add(so.cost, side.cost),
          };
        }, nothing);
      const [vendor, ledger] = [sum('vendor'), sum('ledger')];
      const unknown = own.reduce((all, row) => all + row.unknown, 0n);
      return {
        upstream: name,
        vendor,
        ledger,
        credits: credits.get(name) ?? 0n,
        unknown,
        ...compareSides(vendor, ledger, { percent, least, isKnown: unknown === 0n }),
      };
    });
}

/** At most so many requests are named for a cause. */
const maxNamed = 100;

/** The requests behind a cause, newest first, at most 100. Whose they are is for the operator to look up. */
export async function requestsBehind(
  db: Queryable,
  { upstream, day, model, cause }: { upstream: string; day: string; model: string; cause: BillCause },
): Promise<{ accountId: string; requestId: string; createdAt: Date; cost: bigint | null }[]> {
  const which: Record<BillCause, string> = {
    cost_unknown: `upstream_cost IS NULL AND usage_source <> 'none'`,
    missing_model: 'true',
    counted_twice: `usage_source <> 'none'`,
    price: `usage_source <> 'none'`,
    // Those that another zone would count to the day beside it.
    time_zone: `abs(extract(hour FROM created_at AT TIME ZONE 'UTC') - 12) >= 4`,
    unpaid: `usage_source = 'none'`,
    estimated: `usage_source IN ('estimated', 'partial')`,
  };
  const { rows } = await db.query(
    `SELECT e.account_id AS "accountId", e.request_id AS "requestId", e.created_at AS "createdAt", e.upstream_cost AS cost
     FROM ledger_entry e
     WHERE e.request_id >= uuid_at(${start('$2')} - interval '1 day') AND e.request_id < uuid_at(${start('$2')} + interval '1 day')
       AND e.created_at >= ${start('$2')} AND e.created_at < ${start('$2')} + interval '1 day' AND e.upstream = $1
       AND (${withoutDate('e.model')} = $3 OR EXISTS (
         SELECT FROM route r WHERE r.model_id = e.model AND r.upstream_id = e.upstream AND ${withoutDate('r.upstream_model')} = $3))
       AND (${which[cause]})
     ORDER BY e.created_at DESC, e.request_id LIMIT ${maxNamed}`,
    [upstream, day, model],
  );
  return rows;
}
