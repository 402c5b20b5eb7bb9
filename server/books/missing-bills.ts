import type { Queryable } from '../database/pool.ts';
import { compareVendorUsage, maxComparedDays, type VendorComparison } from './bill-comparison.ts';

/** Which vendors' bills are here, which are missing, and which differ from the ledger. */

/** Days of archived months have no requests that a bill could be compared with. */
const inLedger = (day: string): string =>
  `NOT EXISTS (SELECT FROM archived_month a WHERE a.month = date_trunc('month', ${day}::timestamp)::date)`;

/** How far the import of one upstream's bills has come. */
export interface VendorBills {
  upstream: string;
  /** The first and the last day (`2026-10-31`, UTC) that a bill has; null: none was imported yet. */
  firstDay: string | null;
  lastDay: string | null;
  importedAt: Date | null;
  /** Days with usage and without a bill, the oldest first: of the last two months, and not before the first bill. */
  missingDays: string[];
}

/**
 * The bills of every upstream that was used in the last two months or has a bill; never of the simulator. A day of the
 * last `graceDays` is not missing yet.
 */
export async function listVendorBills(
  db: Queryable,
  { now, graceDays }: { now: Date; graceDays: number },
): Promise<VendorBills[]> {
  const { rows } = await db.query<VendorBills>(
    `WITH billed AS (
       SELECT upstream, min(day) AS first, max(day) AS last, max(imported_at) AS "importedAt" FROM vendor_usage GROUP BY 1
     ), used AS (
       SELECT upstream, (hour AT TIME ZONE 'UTC')::date AS day FROM margin_hour
       WHERE hour >= date_trunc('day', $1::timestamptz, 'UTC') - make_interval(days => $2)
       GROUP BY 1, 2 HAVING sum(cost) > 0 OR sum(upstream_cost) > 0
     ), missing AS (
       SELECT u.upstream, array_agg(to_char(u.day, 'YYYY-MM-DD') ORDER BY u.day) AS days FROM used u JOIN billed b USING (upstream)
       WHERE u.day > b.first AND u.day < ($1::timestamptz AT TIME ZONE 'UTC')::date - $3::int
         AND NOT EXISTS (SELECT FROM vendor_usage v WHERE v.upstream = u.upstream AND v.day = u.day)
         AND ${inLedger('u.day')}
       GROUP BY 1
     )
     SELECT s.id AS upstream, to_char(b.first, 'YYYY-MM-DD') AS "firstDay", to_char(b.last, 'YYYY-MM-DD') AS "lastDay",
            b."importedAt", coalesce(m.days, '{}') AS "missingDays"
     FROM upstream s LEFT JOIN billed b ON b.upstream = s.id LEFT JOIN missing m ON m.upstream = s.id
     WHERE NOT s.simulated AND (b.upstream IS NOT NULL OR EXISTS (SELECT FROM used WHERE used.upstream = s.id))
     ORDER BY s.id`,
    [now, maxComparedDays, graceDays],
  );
  return rows;
}

/** What is wrong with the bills of one upstream. */
export interface BillFinding {
  upstream: string;
  missingDays: string[];
  /** Days of bills that differ, the oldest first. */
  differingDays: string[];
  /** What is furthest apart; null: nothing differs. */
  furthest: VendorComparison | null;
}

/** A bill is examined every night for so long after its import: the ledger of its days no longer changes. */
const examinedDays = 28;

/** Examines the bills of every upstream. Upstreams without a finding are left out. */
export async function examineVendorBills(
  db: Queryable,
  { now, percent, graceDays }: { now: Date; percent: number; graceDays: number },
): Promise<BillFinding[]> {
  const bills = await listVendorBills(db, { now, graceDays });
  const { rows: recent } = await db.query<{ upstream: string; day: string }>(
    `SELECT DISTINCT upstream, to_char(day, 'YYYY-MM-DD') AS day FROM vendor_usage
     WHERE imported_at > $1::timestamptz - make_interval(days => $2) AND ${inLedger('day')} ORDER BY day`,
    [now, examinedDays],
  );
  const differing = await differingOf(db, recent, percent);
  return bills.flatMap(({ upstream, missingDays }) => {
    const own = differing.filter((row) => row.upstream === upstream);
    if (missingDays.length === 0 && own.length === 0) return [];
    const furthest = own.reduce<VendorComparison | null>(
      (most, row) => (most === null || row.apart > most.apart ? row : most),
      null,
    );
    return [{ upstream, missingDays, differingDays: [...new Set(own.map(({ day }) => day))].sort(), furthest }];
  });
}

/** What differs on these days (ascending): the ledger is read for at most `maxComparedDays` at once. */
async function differingOf(
  db: Queryable,
  days: readonly { upstream: string; day: string }[],
  percent: number,
): Promise<VendorComparison[]> {
  const differing: VendorComparison[] = [];
  for (let left = days; left.length > 0; ) {
    const from = left[0]?.day ?? '';
    const end = Date.parse(from) + (maxComparedDays - 1) * 86_400_000;
    const taken = left.filter(({ day }) => Date.parse(day) <= end);
    const compared = await compareVendorUsage(db, { from, to: taken.at(-1)?.day ?? from, upstream: null, percent });
    const isTaken = (row: VendorComparison) =>
      taken.some((each) => each.upstream === row.upstream && each.day === row.day);
    differing.push(...compared.filter((row) => row.differs && isTaken(row)));
    left = left.slice(taken.length);
  }
  return differing;
}
