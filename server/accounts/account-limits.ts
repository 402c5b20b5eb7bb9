import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { isTimeZone } from '../core/price-clock.ts';
import type { SpendLimits } from '../core/spend-limits.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, spendLimitsShape } from '../shared/input.ts';
import { isUuid } from '../shared/uuid.ts';

/** The limits that an account sets itself, over all its keys, and where its days begin. */
export interface AccountLimits {
  /** Spending limits in pico-USD; null: only the budget limits the account. */
  limits: SpendLimits;
  /** IANA name of the time zone whose days, weeks and months count, for the limits of its keys too. */
  timeZone: string;
}

export type SetLimitsOutcome = { kind: 'changed' } | { kind: 'unknown_account' } | InvalidInput<keyof AccountLimits>;

const noLimits: SpendLimits = { day: null, week: null, month: null, lifetime: null };

const shape: z.ZodType<AccountLimits> = z.object({
  limits: spendLimitsShape,
  timeZone: z.string().refine(isTimeZone, 'must be the name of a time zone, e.g. Asia/Ho_Chi_Minh'),
});

const select = `SELECT a.time_zone AS "timeZone", l.limit_day AS day, l.limit_week AS week, l.limit_month AS month,
    l.limit_lifetime AS lifetime
  FROM account a LEFT JOIN account_limit l ON l.account_id = a.id WHERE a.id = $1`;

type Row = { timeZone: string } & SpendLimits;

function toLimits({ timeZone, ...limits }: Row): AccountLimits {
  return { timeZone, limits: { ...noLimits, ...limits } };
}

/** The limits of an account; null: there is no such account. */
export async function readAccountLimits(db: Pool | ClientBase, accountId: string): Promise<AccountLimits | null> {
  if (!isUuid(accountId)) return null;
  const { rows } = await db.query<Row>(select, [accountId]);
  return rows[0] === undefined ? null : toLimits(rows[0]);
}

/** Changes the given limits only. They count from the very next request on; running requests finish. */
export function setAccountLimits(
  pool: Pool,
  { accountId, actor, ...change }: { accountId: string; actor: string } & Partial<AccountLimits>,
): Promise<SetLimitsOutcome> {
  return repeatedTransaction(pool, async (client): Promise<SetLimitsOutcome> => {
    if (!isUuid(accountId)) return { kind: 'unknown_account' };
    await client.query('SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
    const before = await readAccountLimits(client, accountId);
    if (before === null) return { kind: 'unknown_account' };
    const after = { ...before, ...change };
    const problem = checkInput(shape, after);
    if (problem !== null) return problem;
    // Where a day begins decides what has been spent in it: its trigger counts anew.
    if (after.timeZone !== before.timeZone)
      await client.query('UPDATE account SET time_zone = $2 WHERE id = $1', [accountId, after.timeZone]);
    const { day, week, month, lifetime } = after.limits;
    if (change.limits !== undefined) {
      await client.query(
        `INSERT INTO account_limit AS l (account_id, limit_day, limit_week, limit_month, limit_lifetime)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account_id) DO UPDATE SET limit_day = excluded.limit_day, limit_week = excluded.limit_week,
           limit_month = excluded.limit_month, limit_lifetime = excluded.limit_lifetime`,
        [accountId, day, week, month, lifetime],
      );
    }
    const facts = ({ limits, timeZone }: AccountLimits) => ({ limits: { ...limits }, timeZone });
    await appendAudit(client, {
      actor,
      action: 'account.limits',
      subject: `account:${accountId}`,
      before: facts(before),
      after: facts(after),
    });
    return { kind: 'changed' };
  });
}
