import type { ClientBase, Pool } from 'pg';
import type { PicoUsd } from './money.ts';
import type { Balance } from './types.ts';

/** What can be asked of a pool or of one connection. */
export type Queryable = Pick<Pool | ClientBase, 'query'>;

/**
 * What can be read of the money: for people, programs and the operator. Nothing here locks anything. All amounts are
 * pico-USD; all moments are the database's.
 */

/** The balance of an account: a projection of its grants. What has ended counts as expired, posted or not. */
export async function readBalance(db: Queryable, accountId: string): Promise<Balance> {
  const { rows } = await db.query({
    name: 'usage_balance',
    text: `SELECT coalesce(sum(amount), 0)::text AS granted, coalesce(sum(spent), 0)::text AS charged,
                  coalesce(sum(held), 0)::text AS held,
                  coalesce(sum(CASE WHEN expires_at <= now() THEN amount - spent - held ELSE expired END), 0)::text AS expired
           FROM "grant" WHERE account_id = $1`,
    values: [accountId],
  });
  const [granted, charged, held, expired] = ['granted', 'charged', 'held', 'expired'].map((name) =>
    BigInt(rows[0][name]),
  ) as [PicoUsd, PicoUsd, PicoUsd, PicoUsd];
  return { granted, charged, held, expired, free: granted - charged - held - expired };
}
