import type { Pool } from 'pg';
import { transaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { listArchivedMonths, MonthArchived } from './archived-months.ts';
import type { Queryable } from './usage.ts';
import { readVendorFile, type UsageSide, type VendorFormat } from './vendor-csv.ts';

/** What vendors say that they billed, beside what the ledger says that they did. */

export interface VendorImport {
  upstream: string;
  /** The file's text. */
  text: string;
  actor: string;
}

export interface VendorImported {
  format: VendorFormat;
  /** Days and models that were written. */
  rows: number;
  from: string;
  to: string;
}

/** Writes a file's days; those that an earlier file had are replaced. Throws `VendorFileError`, and then writes nothing. */
export async function importVendorUsage(
  pool: Pool,
  { upstream, text, actor }: VendorImport,
): Promise<VendorImported | null> {
  const { format, days } = readVendorFile(text);
  const known = days.map(({ day }) => day).sort();
  const [from, to] = [known[0], known.at(-1)];
  if (from === undefined || to === undefined) return null;
  await transaction(pool, async (client) => {
    await client.query(`DELETE FROM vendor_usage WHERE upstream = $1 AND day = ANY ($2::date[])`, [
      upstream,
      [...new Set(known)],
    ]);
    await client.query(
      `INSERT INTO vendor_usage (upstream, day, model, requests, input, cache_hit, cache_write, output, cost, source, imported_by)
       SELECT $1, day, model, requests, input, cache_hit, cache_write, output, cost, $2, $3
       FROM unnest($4::date[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
         AS given (day, model, requests, input, cache_hit, cache_write, output, cost)`,
      [
        upstream,
        format,
        actor,
        days.map(({ day }) => day),
        days.map(({ model }) => model),
        days.map(({ requests }) => requests),
        days.map(({ input }) => input),
        days.map(({ cacheHit }) => cacheHit),
        days.map(({ cacheWrite }) => cacheWrite),
        days.map(({ output }) => output),
        days.map(({ cost }) => cost),
      ],
    );
    const after = { format, from, to, rows: days.length };
    await appendAudit(client, { actor, action: 'books.import', subject: `upstream:${upstream}`, after });
  });
  return { format, rows: days.length, from, to };
}

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
  /** How far the figures are apart that are furthest: 0.5 is half of the larger one. */
  apart: number;
  /** Further apart than the given percentage. */
  differs: boolean;
}

export interface ComparisonQuery {
  /** First and last day, UTC. */
  from: string;
  to: string;
  /** Null: every upstream that has figures of its vendor. */
  upstream: string | null;
  /** What is further apart differs: 1 is a hundredth. */
  percent: number;
}

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
  { from, to, upstream, percent }: ComparisonQuery,
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
              count(*) AS requests, sum(input) AS input, sum(cache_hit) AS cache_hit,
              sum(cache_write_5m + cache_write_1h) AS cache_write, sum(output) AS output,
              CASE WHEN bool_and(upstream_cost IS NOT NULL) THEN sum(upstream_cost) END AS cost,
              count(*) FILTER (WHERE usage_source IN ('estimated', 'partial')) AS estimated
       FROM ledger_entry
       WHERE request_id >= uuid_at(${start('$1')} - interval '1 day') AND request_id < uuid_at(${start('$2')} + interval '1 day')
         AND created_at >= ${start('$1')} AND created_at < ${start('$2')} + interval '1 day'
         AND usage_source <> 'none' AND ($3::text IS NULL OR upstream = $3)
       GROUP BY 1, 2, 3
     ), ours AS (
       SELECT e.upstream, e.day, ${withoutDate('coalesce(r.upstream_model, e.model)')} AS model,
              sum(e.requests)::bigint AS requests, sum(e.input)::bigint AS input, sum(e.cache_hit)::bigint AS cache_hit,
              sum(e.cache_write)::bigint AS cache_write, sum(e.output)::bigint AS output,
              CASE WHEN bool_and(e.cost IS NOT NULL) THEN sum(e.cost)::bigint END AS cost, sum(e.estimated)::bigint AS estimated
       FROM entries e
       -- An entry does not say which of several routes to one upstream it took: one whose name the vendor billed.
       LEFT JOIN LATERAL (
         SELECT route.upstream_model FROM route
         LEFT JOIN told ON told.upstream = e.upstream AND told.day = e.day AND told.model = ${withoutDate('route.upstream_model')}
         WHERE route.model_id = e.model AND route.upstream_id = e.upstream
         ORDER BY told.model IS NULL, NOT route.enabled, route.priority, route.upstream_model LIMIT 1) AS r ON true
       GROUP BY 1, 2, 3
     )
     SELECT upstream, to_char(day, 'YYYY-MM-DD') AS day, model, o.estimated,
            t.name IS NOT NULL AS "isTold", o.name IS NOT NULL AS "isOurs",
            ${['requests', 'input', 'cache_hit', 'cache_write', 'output', 'cost'].map((name) => `t.${name} AS t_${name}, o.${name} AS o_${name}`).join(', ')}
     FROM (SELECT *, model AS name FROM told) AS t
     FULL JOIN (SELECT *, model AS name FROM ours WHERE (upstream, day) IN (SELECT upstream, day FROM days)) AS o USING (upstream, day, model)
     ORDER BY day DESC, upstream, model`,
    [from, to, upstream],
  );
  return rows.map((row) => {
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
    return {
      upstream: row.upstream,
      day: row.day,
      model: row.model,
      vendor,
      ledger,
      estimated: row.estimated ?? 0n,
      ...compareSides(vendor, ledger, percent),
    };
  });
}

const inputOf = (side: UsageSide | null): bigint => (side === null ? 0n : side.input + side.cacheHit + side.cacheWrite);

/** Smaller differences are the vendor's rounding: tokens, and pico-USD (a cent). */
const negligible = { tokens: 1_000n, cost: 10_000_000_000n };

/** How far two sides are apart in the figure that is furthest, and whether that is more than a percentage. */
function compareSides(
  vendor: UsageSide | null,
  ledger: UsageSide | null,
  percent: number,
): Pick<VendorComparison, 'apart' | 'differs'> {
  const figures: [bigint, bigint, bigint][] = [
    [inputOf(vendor), inputOf(ledger), negligible.tokens],
    [vendor?.output ?? 0n, ledger?.output ?? 0n, negligible.tokens],
  ];
  const [billed, paid] = [vendor?.cost ?? null, ledger?.cost ?? null];
  if (billed !== null && paid !== null) figures.push([billed, paid, negligible.cost]);
  let apart = 0;
  let differs = false;
  for (const [a, b, least] of figures) {
    const difference = a > b ? a - b : b - a;
    if (difference <= least) continue;
    const larger = a > b ? a : b;
    differs ||= difference * 100n > BigInt(percent) * larger;
    apart = Math.max(apart, Number((difference * 10_000n) / larger) / 10_000);
  }
  return { apart, differs };
}
