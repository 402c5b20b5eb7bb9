import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { isTimeZone } from '../core/price-clock.ts';
import type { SpendLimits } from '../core/spend-limits.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, paceShape, spendLimitsShape } from '../shared/input.ts';
import { isUuid } from '../shared/uuid.ts';

/** The limits that an account sets itself, over all its keys, and where its days begin. */
export interface AccountLimits {
  /** Spending limits in pico-USD; null: only the budget limits the account. */
  limits: SpendLimits;
  /** IANA name of the time zone whose days, weeks and months count, for the limits of its keys too. */
  timeZone: string;
  /** Limits of pace over all keys; null: only those of the service. */
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  maxConcurrent: number | null;
  /** Networks that its keys may be used from, in CIDR notation; empty: all. */
  addresses: readonly string[];
}

export type SetLimitsOutcome = { kind: 'changed' } | { kind: 'unknown_account' } | InvalidInput<keyof AccountLimits>;

const shape: z.ZodType<AccountLimits> = z.object({
  limits: spendLimitsShape,
  ...paceShape,
  timeZone: z.string().refine(isTimeZone, 'must be the name of a time zone, e.g. Asia/Ho_Chi_Minh'),
});

const select = `SELECT a.time_zone AS "timeZone", l.limit_day AS day, l.limit_week AS week, l.limit_month AS month,
    l.limit_lifetime AS lifetime, l.requests_per_minute AS "requestsPerMinute", l.tokens_per_minute AS "tokensPerMinute",
    l.max_concurrent AS "maxConcurrent", coalesce(l.addresses, '{}') AS addresses
  FROM account a LEFT JOIN account_limit l ON l.account_id = a.id WHERE a.id = $1`;

type Row = Omit<AccountLimits, 'limits'> & SpendLimits;

function toLimits({ day, week, month, lifetime, ...rest }: Row): AccountLimits {
  return { ...rest, limits: { day, week, month, lifetime } };
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
    const { rowCount } = await client.query(
      'SELECT FROM account WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE',
      [accountId],
    );
    const before = await readAccountLimits(client, accountId);
    if (rowCount === 0 || before === null) return { kind: 'unknown_account' };
    const after = { ...before, ...change };
    const problem = checkInput(shape, after);
    if (problem !== null) return problem;
    // Where a day begins decides what has been spent in it: its trigger counts anew.
    if (after.timeZone !== before.timeZone)
      await client.query('UPDATE account SET time_zone = $2 WHERE id = $1', [accountId, after.timeZone]);
    const { timeZone: _timeZone, ...rowChange } = change;
    if (Object.keys(rowChange).length > 0) await writeRow(client, accountId, after);
    const facts = ({ limits, ...rest }: AccountLimits) => ({ ...rest, limits: { ...limits } });
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

async function writeRow(client: ClientBase, accountId: string, after: AccountLimits): Promise<void> {
  const { limits, requestsPerMinute, tokensPerMinute, maxConcurrent, addresses } = after;
  await client.query(
    `INSERT INTO account_limit (account_id, limit_day, limit_week, limit_month, limit_lifetime, requests_per_minute,
       tokens_per_minute, max_concurrent, addresses)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (account_id) DO UPDATE SET limit_day = excluded.limit_day, limit_week = excluded.limit_week,
       limit_month = excluded.limit_month, limit_lifetime = excluded.limit_lifetime,
       requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,
       max_concurrent = excluded.max_concurrent, addresses = excluded.addresses`,
    [
      accountId,
      limits.day,
      limits.week,
      limits.month,
      limits.lifetime,
      requestsPerMinute,
      tokensPerMinute,
      maxConcurrent,
      [...new Set(addresses)],
    ],
  );
}
