import { type ClientBase, DatabaseError, type Pool } from 'pg';
import { MonthArchived } from '../billing/archive/archived-months.ts';
import { transaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { type EarlierTotals, earlierFigures, readEarlierTotals, subtractEarlier } from './earlier-closes.ts';
import {
  composeMonth,
  digestOf,
  findImbalances,
  type Imbalance,
  type MonthStatement,
  statementFromJson,
  statementToJson,
  type Totals,
} from './month-statement.ts';
import { costInVnd, foreignTaxes, formatRate, listRates, listTaxes } from './rates.ts';
import {
  type AccountTotals,
  noTotals,
  readAccountTotals,
  readLeft,
  readOwedParts,
  subtractTotals,
  sumTotals,
  totalsFromJson,
  totalsToJson,
} from './totals.ts';
import { type CostTotals, costTotals, readCostSplit, readCostTotals } from './vendor-cost.ts';

/**
 * The close of a month: its lines are frozen in a row that never changes, with a digest. They are the difference of two
 * sums over all time, the one known now and the one that the month before was closed with. So what becomes known later (a
 * transfer that the bank booked back, a request that was settled late) is a line of the next month, and nothing is ever
 * lost. A month whose rows do not add up is not closed.
 */

/** What earlier versions froze of a month; its lines are not known. */
export interface EarlierClose {
  /** Whole VND of matched transfers; the others are pico-USD. */
  revenueVnd: bigint;
  charged: bigint;
  chargedPaid: bigint;
  trialCost: bigint;
  expired: bigint;
  shortfall: bigint;
  upstreamCost: bigint;
  unknownCharged: bigint;
  unused: bigint;
  /** Gifts and trials counted as income. */
  margin: bigint;
}

export interface ClosedMonth {
  /** `2026-10`. */
  month: string;
  timeZone: string;
  /** Null: an earlier version closed it. */
  statement: MonthStatement | null;
  earlier: EarlierClose | null;
  /** SHA-256 in hex; null: an earlier version closed it. */
  digest: string | null;
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
  | { kind: 'out_of_order'; next: string }
  | { kind: 'unbalanced'; imbalances: Imbalance[] };

const columns = `to_char(month, 'YYYY-MM') AS month, time_zone AS "timeZone", statement, encode(digest, 'hex') AS digest,
  revenue_vnd AS "revenueVnd", charged, charged_paid AS "chargedPaid", trial_cost AS "trialCost", expired, shortfall,
  upstream_cost AS "upstreamCost", unknown_charged AS "unknownCharged", unused, margin, closed_by AS "closedBy",
  closed_at AS "closedAt"`;

type ClosedRow = EarlierClose & Omit<ClosedMonth, 'earlier' | 'statement'> & { statement: unknown };

function toClosed({ month, timeZone, statement, digest, closedBy, closedAt, ...earlier }: ClosedRow): ClosedMonth {
  const isEarlier = statement === null;
  return {
    month,
    timeZone,
    statement: isEarlier ? null : statementFromJson(statement),
    earlier: isEarlier ? earlier : null,
    digest,
    closedBy,
    closedAt,
  };
}

/** Oldest first. BIGINT must arrive as `bigint`. */
export async function listClosedMonths(db: Pick<Pool | ClientBase, 'query'>): Promise<ClosedMonth[]> {
  const { rows } = await db.query<ClosedRow>(`SELECT ${columns} FROM closed_month ORDER BY month`);
  return rows.map(toClosed);
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

type AccountsTotals = Map<string | null, AccountTotals>;

/** The lines of a month, as known now. */
interface Measured {
  timeZone: string;
  isOver: boolean;
  statement: MonthStatement;
  imbalances: Imbalance[];
  /** Everything up to the month's end. */
  totals: Totals;
  accounts: { before: AccountsTotals; now: AccountsTotals };
  /** What a server of an earlier version reads. */
  earlier: { before: EarlierTotals; now: EarlierTotals & { bought: bigint } };
}

interface LatestClose {
  month: string;
  timeZone: string;
  totals: Record<string, unknown>;
  digest: Buffer | null;
}

async function readLatestClose(client: ClientBase): Promise<LatestClose | null> {
  const { rows } = await client.query<LatestClose>(
    `SELECT to_char(month, 'YYYY-MM') AS month, time_zone AS "timeZone", totals, digest FROM closed_month
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

async function readTotals(client: ClientBase, at: Date): Promise<{ totals: Totals; accounts: AccountsTotals }> {
  const accounts = await readAccountTotals(client, at);
  return { accounts, totals: { accounts: sumTotals(accounts.values()), cost: await readCostTotals(client, at) } };
}

/** What the month before was closed with; null: with less, by an earlier version. */
async function readClosedTotals(
  client: ClientBase,
  latest: LatestClose,
): Promise<{ totals: Totals; accounts: AccountsTotals } | null> {
  const { accounts: stored, cost } = latest.totals as { accounts?: unknown; cost?: Record<string, string> };
  if (stored === undefined || cost === undefined) return null;
  const { rows } = await client.query<{ accountId: string; totals: unknown }>(
    `SELECT account_id AS "accountId", lines->'totals' AS totals FROM closed_account WHERE month = ($1 || '-01')::date`,
    [latest.month],
  );
  return {
    totals: {
      accounts: totalsFromJson(stored),
      cost: Object.fromEntries(costTotals.map((name) => [name, BigInt(cost[name] ?? '0')])) as CostTotals,
    },
    accounts: new Map(rows.map(({ accountId, totals }) => [accountId, totalsFromJson(totals)])),
  };
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
  const closed = latest === null ? null : await readClosedTotals(client, latest);
  await refuseArchived(client, closed === null ? bound.start : bound.end);
  const before = closed ?? (await readTotals(client, bound.start));
  const now = await readTotals(client, bound.end);
  const split = await readCostSplit(client, { from: bound.start, to: bound.end, timeZone: zone });
  const total = (['customer', 'own', 'probe'] as const).reduce(
    (sum, name) => sum + now.totals.cost[name] - before.totals.cost[name],
    0n,
  );
  const rates = await listRates(client, month);
  const cost = costInVnd({ month, total, byDay: split.byDay }, rates);
  const rule = (await listTaxes(client)).find(({ validFrom }) => validFrom <= `${month}-01`);
  const tax = foreignTaxes(cost.vnd, rule ?? { foreignVat: 0, foreignIncome: 0, foreignNet: false });
  const statement = composeMonth({
    month,
    timeZone: zone,
    before: before.totals,
    now: now.totals,
    split,
    owed: await readOwedParts(client, bound.end),
    vnd:
      cost.missing.length > 0
        ? null
        : {
            cost: cost.vnd,
            tax: { ...tax, borne: rule?.foreignNet ?? false },
            rates: rates.map(
              ({ period, rate, source, setBy }) => `${period}: ${formatRate(rate)} (${source}; ${setBy})`,
            ),
          },
    missingRates: cost.missing,
  });
  return {
    timeZone: zone,
    isOver: bound.isOver,
    statement,
    imbalances: findImbalances(statement, { now: now.totals, left: await readLeft(client, bound.end) }),
    totals: now.totals,
    accounts: { before: before.accounts, now: now.accounts },
    earlier: {
      before: latest === null ? await readEarlierTotals(client, bound.start) : earlierFigures(latest.totals),
      now: await readEarlierTotals(client, bound.end),
    },
  };
}

/** The lines that a close would freeze, as known now. */
export interface MonthPreview {
  statement: MonthStatement;
  /** Only a month that is over can be closed. */
  isOver: boolean;
  /** Rows that do not add up: the close is refused. */
  imbalances: Imbalance[];
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
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const latest = await readLatestClose(client);
    const next = latest === null ? (month ?? (await lastMonth(client))) : nextOf(latest.month);
    const measured = await measure(client, latest, { month: next, timeZone });
    if (measured === null) return null;
    const { statement, isOver, imbalances } = measured;
    return { statement, isOver, imbalances };
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
    // The database's own rule: what this code has not noticed.
    if (
      error instanceof DatabaseError &&
      error.constraint?.startsWith('closed_month_') === true &&
      error.constraint !== 'closed_month_one_first'
    )
      return { kind: 'unbalanced', imbalances: [{ row: error.constraint, computed: '', found: '' }] };
    throw error;
  }
}

async function closeOpenMonth(pool: Pool, { month, timeZone, actor }: CloseMonth): Promise<CloseOutcome> {
  return transaction(pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    // The lock of a table waits without a snapshot: what the close before wrote is seen.
    await client.query('LOCK TABLE closed_month IN SHARE ROW EXCLUSIVE MODE');
    const same = (await listClosedMonths(client)).find((each) => each.month === month);
    if (same !== undefined) return { kind: 'closed_before', month: same };
    const latest = await readLatestClose(client);
    if (latest !== null && nextOf(latest.month) !== month) return { kind: 'out_of_order', next: nextOf(latest.month) };
    const measured = await measure(client, latest, { month, timeZone });
    if (measured === null) return { kind: 'bad_zone' };
    if (!measured.isOver) return { kind: 'not_over' };
    if (measured.imbalances.length > 0) return { kind: 'unbalanced', imbalances: measured.imbalances };
    return { kind: 'closed', month: await writeClose(client, latest, { month, measured, actor }) };
  });
}

async function writeClose(
  client: ClientBase,
  latest: LatestClose | null,
  { month, measured, actor }: { month: string; measured: Measured; actor: string },
): Promise<ClosedMonth> {
  const accounts = accountLines(measured.accounts);
  const stored: unknown = JSON.parse(statementToJson(measured.statement));
  const digest = digestOf(stored, accounts, latest?.digest ?? null);
  const { before, now } = measured.earlier;
  const own = subtractEarlier(now, before);
  const totals = {
    ...Object.fromEntries(Object.entries(now).map(([name, amount]) => [name, String(amount)])),
    accounts: JSON.parse(totalsToJson(measured.totals.accounts)),
    cost: Object.fromEntries(Object.entries(measured.totals.cost).map(([name, amount]) => [name, String(amount)])),
  };
  const { rows } = await client.query<ClosedRow>(
    `INSERT INTO closed_month (month, previous, time_zone, revenue_vnd, charged, charged_paid, trial_cost, expired, shortfall,
       upstream_cost, unknown_charged, unused, margin, totals, statement, digest, closed_by)
     VALUES (($1 || '-01')::date, ($2::text || '-01')::date, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15::jsonb, $16, $17)
     RETURNING ${columns}`,
    [
      month,
      latest?.month ?? null,
      measured.timeZone,
      own.revenueVnd,
      own.charged,
      own.chargedPaid,
      own.trialCost,
      own.expired,
      own.shortfall,
      own.upstreamCost,
      own.unknownCharged,
      now.bought - now.chargedPaid - now.expired,
      own.charged - own.unknownCharged - own.upstreamCost,
      JSON.stringify(totals),
      JSON.stringify(stored),
      digest,
      actor,
    ],
  );
  await client.query(
    `INSERT INTO closed_account (month, account_id, lines)
     SELECT ($1 || '-01')::date, id, lines::jsonb FROM unnest($2::uuid[], $3::text[]) AS given (id, lines)`,
    [month, accounts.map(({ accountId }) => accountId), accounts.map(({ lines }) => JSON.stringify(lines))],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a month was closed and gave no row');
  await appendAudit(client, {
    actor,
    action: 'books.close',
    subject: `month:${month}`,
    after: { digest: digest.toString('hex'), margin: String(measured.statement.margin) },
  });
  return toClosed(row);
}

interface AccountLines {
  accountId: string;
  lines: { totals: unknown; month: unknown };
}

/** What a close keeps of every account that ever had anything: all of it up to the month's end, and the month's. */
function accountLines({ before, now }: Measured['accounts']): AccountLines[] {
  const ids = new Set([...before.keys(), ...now.keys()]);
  return [...ids].flatMap((accountId) => {
    if (accountId === null) return [];
    const [a, b] = [before.get(accountId) ?? noTotals(accountId), now.get(accountId) ?? noTotals(accountId)];
    const [totals, month] = [b, subtractTotals(b, a)].map((each): unknown => JSON.parse(totalsToJson(each)));
    return [{ accountId, lines: { totals, month } }];
  });
}

/** Closed months whose digest is not that of their rows: none, unless somebody wrote past the rules of the database. */
export async function verifyClosedMonths(db: Pick<Pool | ClientBase, 'query'>): Promise<string[]> {
  const { rows: months } = await db.query<{
    month: string;
    statement: unknown;
    digest: Buffer | null;
    previous: Buffer | null;
  }>(
    `SELECT to_char(m.month, 'YYYY-MM') AS month, m.statement, m.digest, b.digest AS previous
     FROM closed_month m LEFT JOIN closed_month b ON b.month = m.previous WHERE m.digest IS NOT NULL ORDER BY m.month`,
  );
  const changed: string[] = [];
  for (const { month, statement, digest, previous } of months) {
    const { rows: accounts } = await db.query<AccountLines>(
      `SELECT account_id AS "accountId", lines FROM closed_account WHERE month = ($1 || '-01')::date`,
      [month],
    );
    if (digest === null || !digestOf(statement, accounts, previous).equals(digest)) changed.push(month);
  }
  return changed;
}
