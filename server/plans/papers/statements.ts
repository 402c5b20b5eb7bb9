import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import type { GrantKind } from '../../billing/grants.ts';
import { transaction } from '../../database/lane.ts';
import { createAccountTurns } from '../../shared/account-turns.ts';

/**
 * Statements: what an account had, got, used and lost in a month. The sums are those of the ledger, so that
 * `closing = opening + granted - charged - expired - takenBack` holds exactly, and each closing balance is the next opening
 * one. What is taken back is a movement at its own moment, so that the statement of a month that is over never changes; a
 * digest of it is kept from its first reading on, and every later reading is compared with it.
 */

export interface MonthlyStatement {
  accountId: string;
  /** `2026-11`. */
  month: string;
  from: Date;
  /** The first moment after the month. */
  to: Date;
  /** Pico-USD that were not used and had not expired: free or held. */
  opening: bigint;
  granted: bigint;
  charged: bigint;
  expired: bigint;
  /** By a refund, or because a purchase was a mistake; below zero where more refunds were undone. */
  takenBack: bigint;
  closing: bigint;
  movements: StatementMovement[];
  usage: StatementUsage[];
  /** SHA-256 in hex of all of it; null while the month is not over. */
  digest: string | null;
}

/** A grant, or what expired, was taken back or given back of one. */
export interface StatementMovement {
  kind: 'grant' | 'expiry' | 'refund' | 'refund_undone' | 'undone';
  at: Date;
  /** Pico-USD; below zero with `refund_undone`. */
  amount: bigint;
  grantKind: GrantKind;
  /** The order's memo code; null: no order paid for it. */
  memo: string | null;
  /** What the plan was called when it was ordered. */
  planName: string | null;
  /** Whole VND that this account paid for it; null: it paid nothing. */
  priceVnd: bigint | null;
  /** With a refund, the number of its credit note. */
  creditNote: bigint | null;
}

/** Requests of a day and a model. */
export interface StatementUsage {
  /** `2026-11-30`, in the zone of statements. */
  day: string;
  model: string;
  requests: bigint;
  /** Pico-USD. */
  charged: bigint;
}

/** Months of statements are those of the seller's books: Vietnamese ones. A whole number of hours from UTC, as `usage_hour` needs. */
export const statementZone = 'Asia/Ho_Chi_Minh';

const monthShape = /^(20\d\d)-(0[1-9]|1[0-2])$/;

/** Whether a text names a month, such as `2026-11`. */
export function isMonth(text: string): boolean {
  return monthShape.test(text);
}

/** Statements that are read at a time: each holds a connection of a pool that is shared with everything else. */
const maxReads = 2;

/**
 * `pool` must read BIGINT as `bigint`. A process reads at most two statements at a time, and one of an account, so that
 * many months of one account leave connections to the others.
 */
export function createStatements({ pool }: { pool: Pool }) {
  const inTurn = createAccountTurns({ perAccount: 1, perProcess: maxReads });

  return {
    /** The months of an account, the newest (the running one) first. */
    async months(accountId: string, limit: number): Promise<string[]> {
      const { rows } = await pool.query<{ month: string }>(
        `SELECT to_char(m, 'YYYY-MM') AS month
         FROM account, generate_series(date_trunc('month', created_at AT TIME ZONE $2),
                                       date_trunc('month', now() AT TIME ZONE $2), interval '1 month') AS m
         WHERE id = $1 ORDER BY m DESC LIMIT $3`,
        [accountId, statementZone, limit],
      );
      return rows.map(({ month }) => month);
    },

    /** The statement of a month; null when the account is unknown, or the month is none of its months. */
    async read(accountId: string, month: string): Promise<MonthlyStatement | null> {
      if (!isMonth(month)) return null;
      const readMonth = async (client: ClientBase): Promise<MonthlyStatement | null> => {
        // One snapshot, so that a running month adds up, too.
        await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
        const { rows } = await client.query<{ from: Date; to: Date; isOver: boolean }>(
          `SELECT start AT TIME ZONE $3 AS "from", (start + interval '1 month') AT TIME ZONE $3 AS "to",
                  (start + interval '1 month' + $4 * interval '1 millisecond') AT TIME ZONE $3 < now() AS "isOver"
           FROM account, (SELECT to_timestamp($2, 'YYYY-MM')::date::timestamp AS start) AS month
           WHERE id = $1 AND start >= date_trunc('month', created_at AT TIME ZONE $3) AND start <= now() AT TIME ZONE $3`,
          [accountId, month, statementZone, settledMs],
        );
        const [period] = rows;
        return period === undefined ? null : readStatement(client, { accountId, month, ...period });
      };
      const statement = await inTurn(accountId, () => transaction(pool, readMonth));
      if (statement !== null && statement.digest !== null) await keepDigest(pool, statement, statement.digest);
      return statement;
    },
  };
}

/** What is settled after the end of a month was begun in it: its moment is the database's, of a batch that runs for seconds. */
const settledMs = 60_000;

/** Thrown for a statement that is not the one that was read before: somebody has written past the rules of the ledger. */
export class StatementChanged extends Error {
  override name = 'StatementChanged';
  constructor({ accountId, month }: Pick<MonthlyStatement, 'accountId' | 'month'>) {
    super(`the statement of ${month} of account ${accountId} is not the one that was read first`);
  }
}

/** Keeps the digest of the first reading. Throws `StatementChanged`. */
async function keepDigest(pool: Pool, statement: MonthlyStatement, digest: string): Promise<void> {
  const key = [statement.accountId, `${statement.month}-01`];
  const read = () =>
    pool.query<{ digest: string }>(
      `SELECT encode(digest, 'hex') AS digest FROM statement_digest WHERE account_id = $1 AND month = $2`,
      key,
    );
  let known = (await read()).rows[0];
  if (known === undefined) {
    await pool.query(
      `INSERT INTO statement_digest (account_id, month, digest) VALUES ($1, $2, decode($3, 'hex')) ON CONFLICT DO NOTHING`,
      [...key, digest],
    );
    known = (await read()).rows[0];
  }
  if (known?.digest !== digest) throw new StatementChanged(statement);
}

export type Statements = ReturnType<typeof createStatements>;

async function readStatement(
  client: ClientBase,
  { isOver, ...period }: Period & Pick<MonthlyStatement, 'month'> & { isOver: boolean },
): Promise<MonthlyStatement> {
  const { accountId, from, to } = period;
  const { rows: usage } = await client.query<StatementUsage>(
    `SELECT to_char(hour AT TIME ZONE $4, 'YYYY-MM-DD') AS day, model, sum(requests)::bigint AS requests,
            sum(charged)::bigint AS charged
     FROM usage_hour WHERE account_id = $1 AND hour >= $2 AND hour < $3 GROUP BY 1, 2 ORDER BY 1, 2`,
    [accountId, from, to, statementZone],
  );
  const { rows: before } = await client.query<{ charged: bigint }>(
    'SELECT coalesce(sum(charged), 0)::bigint AS charged FROM usage_hour WHERE account_id = $1 AND hour < $2',
    [accountId, from],
  );
  const [granted, expiries, takenBack] = [
    await readMovements(client, period, ['grant', grantsSql]),
    await readMovements(client, period, ['expiry', expiriesSql]),
    [
      await readMovements(client, period, ['refund', refundsSql]),
      await readMovements(client, period, ['refund_undone', undoneRefundsSql]),
      await readMovements(client, period, ['undone', undoneSql]),
    ],
  ];
  const charged = sumOf(usage.map((row) => row.charged));
  const taken = sumOf(takenBack.map(({ within }) => within));
  const opening =
    granted.before - (before[0]?.charged ?? 0n) - expiries.before - sumOf(takenBack.map((each) => each.before));
  const sums = {
    opening,
    granted: granted.within,
    charged,
    expired: expiries.within,
    takenBack: taken,
    closing: opening + granted.within - charged - expiries.within - taken,
  };
  const movements = [granted, expiries, ...takenBack]
    .flatMap((each) => each.movements)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return { ...period, ...sums, movements, usage, digest: isOver ? digestOf({ period, sums, movements, usage }) : null };
}

/** Not of prices and names, which are shown as they are known: of what moved, when, and how much. */
function digestOf({
  period,
  sums,
  movements,
  usage,
}: {
  period: Period & { month: string };
  sums: Record<string, bigint>;
  movements: readonly StatementMovement[];
  usage: readonly StatementUsage[];
}): string {
  const moved = movements
    .map(({ kind, grantKind, at, amount, memo, priceVnd }) => [
      kind,
      grantKind,
      at.toISOString(),
      amount,
      memo,
      priceVnd,
    ])
    .map((each) => each.map(String).join(' '))
    .sort();
  const used = usage.map(({ day, model, requests, charged }) => [day, model, requests, charged].join(' '));
  return createHash('sha256')
    .update(JSON.stringify([period.accountId, period.month, Object.entries(sums).map(String), moved, used]))
    .digest('hex');
}

interface Movements {
  /** Pico-USD before the month, and in it. */
  before: bigint;
  within: bigint;
  movements: StatementMovement[];
}

type Period = Pick<MonthlyStatement, 'accountId' | 'from' | 'to'>;

/** Grants of an account as they were given: a purchase that was undone later was one. */
const given = `(SELECT g.account_id, g.id, g.created_at, g.amount, coalesce(u.kind, g.kind) AS kind,
                       coalesce(u.source_ref, g.source_ref) AS source_ref, u.undone_at
                FROM "grant" g LEFT JOIN grant_undone u ON u.account_id = g.account_id AND u.grant_id = g.id
                WHERE g.account_id = $1) AS g`;
// A gift that was received says nothing of its buyer's order.
const paidFor = `LEFT JOIN purchase_order o ON o.account_id = g.account_id
  AND g.source_ref IN ('order:' || o.id, 'bonus:' || o.id)`;
const described = `g.kind AS "grantKind", o.memo, o.plan_name AS "planName",
  CASE WHEN g.kind = 'purchase' THEN o.price_vnd END AS "priceVnd"`;

// `$1`: the account, `$2`: the end of the month.
const grantsSql = `SELECT g.created_at AS at, g.amount, ${described}, NULL::bigint AS "creditNote" FROM ${given} ${paidFor}
  WHERE g.created_at < $2 ORDER BY g.created_at, g.id`;
// The index `posting_expired` has these alone: an account has a posting for each request. What was taken back stands below.
const expiriesSql = `WITH p AS MATERIALIZED (
    SELECT id, account_id, grant_id, amount, created_at FROM posting WHERE account_id = $1 AND kind = 'expire' AND created_at < $2
  )
  SELECT p.created_at AS at, p.amount, ${described}, NULL::bigint AS "creditNote" FROM p JOIN ${given} ON g.account_id = p.account_id AND g.id = p.grant_id ${paidFor}
  WHERE g.undone_at IS NULL
    AND NOT EXISTS (SELECT FROM refund r LEFT JOIN refund_undone u ON u.refund_id = r.id
                    WHERE r.holder_id = $1 AND p.id IN (r.posting_id, r.bonus_posting_id, u.posting_id, u.bonus_posting_id))
  ORDER BY p.created_at, p.id`;
const refundsSql = `SELECT r.created_at AS at, back.amount, ${described}, r.number AS "creditNote" FROM refund r
  CROSS JOIN LATERAL (VALUES (r.grant_id, r.budget), (r.bonus_grant_id, r.bonus)) AS back (grant_id, amount)
  JOIN ${given} ON g.id = back.grant_id ${paidFor}
  WHERE r.holder_id = $1 AND r.created_at < $2 AND back.amount > 0 ORDER BY r.created_at, r.id, g.kind`;
const undoneRefundsSql = `SELECT u.undone_at AS at, -back.amount AS amount, ${described}, r.number AS "creditNote"
  FROM refund r JOIN refund_undone u ON u.refund_id = r.id
  CROSS JOIN LATERAL (VALUES (r.grant_id, r.budget), (r.bonus_grant_id, r.bonus)) AS back (grant_id, amount)
  JOIN ${given} ON g.id = back.grant_id ${paidFor}
  WHERE r.holder_id = $1 AND u.undone_at < $2 AND back.amount > 0 ORDER BY u.undone_at, r.id, g.kind`;
const undoneSql = `SELECT g.undone_at AS at, g.amount, ${described}, NULL::bigint AS "creditNote" FROM ${given} ${paidFor}
  WHERE g.undone_at < $2 ORDER BY g.undone_at, g.id`;

async function readMovements(
  client: ClientBase,
  { accountId, from, to }: Period,
  [kind, sql]: [StatementMovement['kind'], string],
): Promise<Movements> {
  const { rows } = await client.query<Omit<StatementMovement, 'kind'>>(sql, [accountId, to]);
  const movements = rows.filter(({ at }) => at >= from).map((row) => ({ kind, ...row }));
  const within = sumOf(movements.map(({ amount }) => amount));
  return { before: sumOf(rows.map(({ amount }) => amount)) - within, within, movements };
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
