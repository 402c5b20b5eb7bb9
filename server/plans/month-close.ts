import type { ClientBase, Pool } from 'pg';
import { MonthArchived } from '../billing/archived-months.ts';
import { formatUsd } from '../core/money.ts';
import { transaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { csvLine } from '../shared/csv.ts';

/**
 * The close of a month: its figures are frozen in a row that never changes. They are the difference of two sums over all
 * time, the one known now and the one that the month before was closed with. So what becomes known later (a transfer that
 * the bank booked back, an order that was matched anew) is a figure of the next month, and nothing is ever lost.
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
type Totals = Record<(typeof figures)[number], bigint>;

/** VND of the bank; the other amounts are pico-USD of customers' accounts. */
export interface ClosedMonth extends Totals {
  /** `2026-10`. */
  month: string;
  timeZone: string;
  /** Used of what was given without a purchase: adjustments, bonuses, codes, refunds. Used = of purchases + of trials + this. */
  chargedGiven: bigint;
  /** Bought budget that was left at the month's end. */
  unused: bigint;
  /** Of requests whose cost at the upstream is known. */
  margin: bigint;
  closedBy: string;
  closedAt: Date;
}

export type CloseOutcome =
  | { kind: 'closed'; month: ClosedMonth }
  /** It was closed before: those figures stand. */
  | { kind: 'closed_before'; month: ClosedMonth }
  | { kind: 'not_over' }
  /** Some of the charges before the month are in an archive, added up, so they cannot be told apart by its first moment. */
  | { kind: 'archived'; message: string }
  /** PostgreSQL has no such zone. */
  | { kind: 'bad_zone' }
  /** Months are closed one after the other: this one is next. */
  | { kind: 'out_of_order'; next: string };

const columns = `to_char(month, 'YYYY-MM') AS month, time_zone AS "timeZone", revenue_vnd AS "revenueVnd", charged,
  charged_paid AS "chargedPaid", trial_cost AS "trialCost", expired, shortfall, upstream_cost AS "upstreamCost",
  unknown_charged AS "unknownCharged", charged - charged_paid - trial_cost AS "chargedGiven", unused, margin, closed_by AS "closedBy", closed_at AS "closedAt"`;

/** Oldest first. BIGINT must arrive as `bigint`. */
export async function listClosedMonths(db: Pick<Pool | ClientBase, 'query'>): Promise<ClosedMonth[]> {
  const { rows } = await db.query<ClosedMonth>(`SELECT ${columns} FROM closed_month ORDER BY month`);
  return rows;
}

/** Everything before a moment, as it is known now. */
async function readTotals(client: ClientBase, before: Date): Promise<Totals & { bought: bigint }> {
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
  const totals = Object.fromEntries(figures.map((name) => [name, BigInt(row[name] ?? '0')])) as Totals;
  return { ...totals, bought: BigInt(row['bought'] ?? '0') };
}

const nextOf = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`;
};

export interface CloseMonth {
  /** `2026-10`. */
  month: string;
  /** Time zone of its first and last moment, an IANA name; after the first close, that of the close before is kept. */
  timeZone: string;
  actor: string;
}

/** The figures of a month, as known now. */
interface Measured {
  timeZone: string;
  isOver: boolean;
  own: Totals;
  unused: bigint;
  margin: bigint;
  /** Everything up to the month's end. */
  totals: Totals;
}

type LatestClose = { month: string; timeZone: string; totals: Record<string, string> };

async function readLatestClose(client: ClientBase): Promise<LatestClose | null> {
  const { rows } = await client.query<LatestClose>(
    `SELECT to_char(month, 'YYYY-MM') AS month, time_zone AS "timeZone", totals FROM closed_month
     ORDER BY closed_month.month DESC LIMIT 1`,
  );
  return rows[0] ?? null;
}

/** Throws `MonthArchived` where totals before a moment would need archived charges one by one. */
async function refuseArchived(client: ClientBase, moment: Date): Promise<void> {
  const { rows } = await client.query<{ month: string; archivedAt: Date }>(
    `SELECT to_char(month, 'YYYY-MM') AS month, archived_at AS "archivedAt" FROM archived_month WHERE last_at >= $1
     ORDER BY archived_month.month DESC LIMIT 1`,
    [moment],
  );
  if (rows[0] !== undefined) throw new MonthArchived(rows[0]);
}

/** Null: PostgreSQL has no such time zone. Throws `MonthArchived`. */
async function measure(
  client: ClientBase,
  latest: LatestClose | null,
  { month, timeZone }: Pick<CloseMonth, 'month' | 'timeZone'>,
): Promise<Measured | null> {
  const zone = latest?.timeZone ?? timeZone;
  const { rowCount: zones } = await client.query('SELECT FROM pg_timezone_names WHERE name = $1', [zone]);
  if (zones === 0) return null;
  const { rows: bounds } = await client.query<{ start: Date; end: Date; isOver: boolean }>(
    `SELECT s.start, s.end, s.end <= now() AS "isOver"
     FROM (SELECT ($1 || '-01')::timestamp AT TIME ZONE $2 AS start, (($1 || '-01')::timestamp + interval '1 month') AT TIME ZONE $2 AS end) AS s`,
    [month, zone],
  );
  const [bound] = bounds;
  if (bound === undefined) throw new Error('the bounds of a month were read and gave no row');
  await refuseArchived(client, latest === null ? bound.start : bound.end);
  const now = await readTotals(client, bound.end);
  const before =
    latest === null
      ? await readTotals(client, bound.start)
      : (Object.fromEntries(figures.map((name) => [name, BigInt(latest.totals[name] ?? '0')])) as Totals);
  const own = Object.fromEntries(figures.map((name) => [name, now[name] - before[name]])) as Totals;
  return {
    timeZone: zone,
    isOver: bound.isOver,
    own,
    unused: now.bought - now.chargedPaid - now.expired,
    margin: own.charged - own.unknownCharged - own.upstreamCost,
    totals: now,
  };
}

/** The figures that a close would freeze, as known now. */
export interface MonthPreview extends Omit<ClosedMonth, 'closedBy' | 'closedAt'> {
  /** Only a month that is over can be closed. */
  isOver: boolean;
}

/**
 * What the next close would freeze: the month after the latest close, or before any the given one (null: the last that is
 * over). Null: PostgreSQL has no such time zone. Throws `MonthArchived`.
 */
export async function previewMonth(
  pool: Pool,
  { month, timeZone }: { month: string | null; timeZone: string },
): Promise<MonthPreview | null> {
  return transaction(pool, async (client) => {
    const latest = await readLatestClose(client);
    const next = latest === null ? (month ?? (await lastMonth(client))) : nextOf(latest.month);
    const measured = await measure(client, latest, { month: next, timeZone });
    if (measured === null) return null;
    const { own, unused, margin, isOver } = measured;
    const chargedGiven = own.charged - own.chargedPaid - own.trialCost;
    return { month: next, timeZone: measured.timeZone, isOver, ...own, chargedGiven, unused, margin };
  });
}

async function lastMonth(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ month: string }>(
    `SELECT to_char((now() AT TIME ZONE 'UTC') - interval '1 month', 'YYYY-MM') AS month`,
  );
  return rows[0]?.month ?? '';
}

/** Closes a month that is over. All closes wait for each other. */
export async function closeMonth(pool: Pool, input: CloseMonth): Promise<CloseOutcome> {
  try {
    return await closeOpenMonth(pool, input);
  } catch (error) {
    if (error instanceof MonthArchived) return { kind: 'archived', message: error.message };
    throw error;
  }
}

async function closeOpenMonth(pool: Pool, { month, timeZone, actor }: CloseMonth): Promise<CloseOutcome> {
  return transaction(pool, async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.closed_month', 0))`);
    const same = (await listClosedMonths(client)).find((each) => each.month === month);
    if (same !== undefined) return { kind: 'closed_before', month: same };
    const latest = await readLatestClose(client);
    if (latest !== null && nextOf(latest.month) !== month) return { kind: 'out_of_order', next: nextOf(latest.month) };
    const measured = await measure(client, latest, { month, timeZone });
    if (measured === null) return { kind: 'bad_zone' };
    if (!measured.isOver) return { kind: 'not_over' };
    const { own, unused, margin } = measured;
    const totals = Object.fromEntries(figures.map((name) => [name, String(measured.totals[name])]));
    const { rows } = await client.query<ClosedMonth>(
      `INSERT INTO closed_month (month, previous, time_zone, revenue_vnd, charged, charged_paid, trial_cost, expired, shortfall,
         upstream_cost, unknown_charged, unused, margin, totals, closed_by)
       VALUES (($1 || '-01')::date, ($2::text || '-01')::date, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15)
       RETURNING ${columns}`,
      [
        month,
        latest?.month ?? null,
        measured.timeZone,
        ...figures.map((name) => own[name]),
        unused,
        margin,
        JSON.stringify(totals),
        actor,
      ],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('a month was closed and gave no row');
    await appendAudit(client, { actor, action: 'books.close', subject: `month:${month}`, after: { ...own, unused } });
    return { kind: 'closed', month: row };
  });
}

/** What an accountant reads of a month; numbers are amounts in USD, and whole VND. */
const columnsForPeople: readonly (readonly [string, (month: ClosedMonth) => string | { number: string }])[] = [
  ['month', ({ month }) => month],
  ['timeZone', ({ timeZone }) => timeZone],
  ['revenueVnd', ({ revenueVnd }) => ({ number: String(revenueVnd) })],
  ['usedUsd', ({ charged }) => ({ number: formatUsd(charged) })],
  ['usedOfPurchasesUsd', ({ chargedPaid }) => ({ number: formatUsd(chargedPaid) })],
  ['unusedUsd', ({ unused }) => ({ number: formatUsd(unused) })],
  ['expiredUsd', ({ expired }) => ({ number: formatUsd(expired) })],
  ['trialCostUsd', ({ trialCost }) => ({ number: formatUsd(trialCost) })],
  ['usedOfGivenUsd', ({ chargedGiven }) => ({ number: formatUsd(chargedGiven) })],
  ['shortfallUsd', ({ shortfall }) => ({ number: formatUsd(shortfall) })],
  ['upstreamCostUsd', ({ upstreamCost }) => ({ number: formatUsd(upstreamCost) })],
  ['usedWithUnknownCostUsd', ({ unknownCharged }) => ({ number: formatUsd(unknownCharged) })],
  ['marginUsd', ({ margin }) => ({ number: formatUsd(margin) })],
  ['closedBy', ({ closedBy }) => closedBy],
  ['closedAt', ({ closedAt }) => closedAt.toISOString()],
];

/** A closed month by the names of its columns. */
export function closedMonthTexts(month: ClosedMonth): Record<string, string> {
  return Object.fromEntries(
    columnsForPeople.map(([name, read]) => {
      const cell = read(month);
      return [name, typeof cell === 'string' ? cell : cell.number];
    }),
  );
}

/** Closed months as CSV for an accountant. */
export function closedMonthsCsv(months: readonly ClosedMonth[]): string {
  const lines = months.map((month) => csvLine(columnsForPeople.map(([, read]) => read(month))));
  return csvLine(columnsForPeople.map(([name]) => name)) + lines.join('');
}
