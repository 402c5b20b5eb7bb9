import type { ClientBase, Pool } from 'pg';
import type { GrantKind } from '../billing/grants.ts';
import { transaction } from '../database/lane.ts';

/**
 * Statements: what an account had, got, used and lost in a month. The sums are those of the ledger, so that
 * `closing = opening + granted - charged - expired` holds exactly, and each closing balance is the next opening one.
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
  closing: bigint;
  movements: StatementMovement[];
  usage: StatementUsage[];
}

/** A grant, or what expired of one. */
export interface StatementMovement {
  kind: 'grant' | 'expiry';
  at: Date;
  /** Pico-USD. */
  amount: bigint;
  grantKind: GrantKind;
  /** The order's memo code; null: no order paid for it. */
  memo: string | null;
  /** What the plan was called when it was ordered. */
  planName: string | null;
  /** Whole VND that this account paid for it; null: it paid nothing. */
  priceVnd: bigint | null;
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
  const inTurn = createTurns(maxReads);

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
        const { rows } = await client.query<{ from: Date; to: Date }>(
          `SELECT start AT TIME ZONE $3 AS "from", (start + interval '1 month') AT TIME ZONE $3 AS "to"
           FROM account, (SELECT to_timestamp($2, 'YYYY-MM')::date::timestamp AS start) AS month
           WHERE id = $1 AND start >= date_trunc('month', created_at AT TIME ZONE $3) AND start <= now() AT TIME ZONE $3`,
          [accountId, month, statementZone],
        );
        const [period] = rows;
        return period === undefined ? null : readStatement(client, { accountId, month, ...period });
      };
      return inTurn(accountId, () => transaction(pool, readMonth));
    },
  };
}

export type Statements = ReturnType<typeof createStatements>;

/** Runs work of accounts, at most `max` at a time and one of each account, in the order of their arrival. */
function createTurns(max: number): <T>(accountId: string, work: () => Promise<T>) => Promise<T> {
  const running = new Set<string>();
  const waiting: { accountId: string; begin: () => void }[] = [];
  const beginNext = (): void => {
    for (let at = 0; at < waiting.length && running.size < max; ) {
      const next = waiting[at];
      if (next === undefined || running.has(next.accountId)) at += 1;
      else {
        waiting.splice(at, 1);
        running.add(next.accountId);
        next.begin();
      }
    }
  };
  return async (accountId, work) => {
    await new Promise<void>((begin) => {
      waiting.push({ accountId, begin });
      beginNext();
    });
    try {
      return await work();
    } finally {
      running.delete(accountId);
      beginNext();
    }
  };
}

async function readStatement(
  client: ClientBase,
  period: Pick<MonthlyStatement, 'accountId' | 'month' | 'from' | 'to'>,
): Promise<MonthlyStatement> {
  const { accountId, from, to } = period;
  const granted = await readGrants(client, period);
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
  const expiries = await readExpiries(client, period);
  const charged = sumOf(usage.map((row) => row.charged));
  const newGrants = sumOf(granted.movements.map(({ amount }) => amount));
  const expired = sumOf(expiries.movements.map(({ amount }) => amount));
  const opening = granted.before - (before[0]?.charged ?? 0n) - expiries.before;
  return {
    ...period,
    opening,
    granted: newGrants,
    charged,
    expired,
    closing: opening + newGrants - charged - expired,
    movements: [...granted.movements, ...expiries.movements].toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    usage,
  };
}

interface Movements {
  /** Pico-USD before the month. */
  before: bigint;
  movements: StatementMovement[];
}

type Period = Pick<MonthlyStatement, 'accountId' | 'from' | 'to'>;

// A gift that was received says nothing of its buyer's order.
const paidFor = `LEFT JOIN purchase_order o ON o.account_id = g.account_id
  AND g.source_ref IN ('order:' || o.id, 'bonus:' || o.id)`;
const described = `g.kind AS "grantKind", o.memo, o.plan_name AS "planName",
  CASE WHEN g.kind = 'purchase' THEN o.price_vnd END AS "priceVnd"`;

async function readGrants(client: ClientBase, { accountId, from, to }: Period): Promise<Movements> {
  const { rows } = await client.query<Omit<StatementMovement, 'kind'>>(
    `SELECT g.created_at AS at, g.amount, ${described} FROM "grant" g ${paidFor}
     WHERE g.account_id = $1 AND g.created_at < $2 ORDER BY g.created_at, g.id`,
    [accountId, to],
  );
  const inMonth = rows.filter(({ at }) => at >= from);
  return {
    before: sumOf(rows.map(({ amount }) => amount)) - sumOf(inMonth.map(({ amount }) => amount)),
    movements: inMonth.map((row) => ({ kind: 'grant' as const, ...row })),
  };
}

async function readExpiries(client: ClientBase, { accountId, from, to }: Period): Promise<Movements> {
  // The index `posting_expired` has these alone: an account has a posting for each request.
  const { rows } = await client.query<Omit<StatementMovement, 'kind'>>(
    `SELECT p.created_at AS at, p.amount, ${described} FROM posting p
     JOIN "grant" g ON g.account_id = p.account_id AND g.id = p.grant_id ${paidFor}
     WHERE p.account_id = $1 AND p.kind = 'expire' AND p.created_at < $2 ORDER BY p.created_at, p.id`,
    [accountId, to],
  );
  const inMonth = rows.filter(({ at }) => at >= from);
  return {
    before: sumOf(rows.map(({ amount }) => amount)) - sumOf(inMonth.map(({ amount }) => amount)),
    movements: inMonth.map((row) => ({ kind: 'expiry' as const, ...row })),
  };
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
