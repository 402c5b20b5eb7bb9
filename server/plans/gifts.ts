import type { ClientBase, Pool } from 'pg';
import { addGrant } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { isUuid } from '../shared/uuid.ts';
import { endGift, hasReceiver, isDigest, isDigestOf, isErased } from './erased.ts';

/**
 * What a paid order gives, and to whom. A gift is for another account, named by its id or e-mail address. Whether there
 * is such an account is neither looked up nor told before the payment: a gift waits for it, and goes to the buyer when
 * it waited in vain.
 */

/** The order under lock. Amounts in pico-USD. */
export interface OrderToGive {
  id: string;
  accountId: string;
  budget: bigint;
  bonus: bigint;
  /** Null: for the buyer. */
  giftTo: string | null;
}

/** How long a gift waits for its receiver. */
export const giftWaitDays = 30;

/** Adds the grants of an order that was just paid, in the transaction of the payment. */
export async function giveOrder(
  client: ClientBase,
  { order, giveGrant = addGrant }: { order: OrderToGive; giveGrant?: typeof addGrant },
): Promise<void> {
  const receiver = order.giftTo === null ? order.accountId : await findReceiver(client, order.giftTo);
  if (receiver !== null) await giveTo(client, order, receiver, giveGrant);
}

async function giveTo(
  client: ClientBase,
  order: OrderToGive,
  accountId: string,
  giveGrant: typeof addGrant,
): Promise<void> {
  // Validity begins when the budget arrives.
  const { rows } = await client.query<{ expiresAt: Date | null }>(
    `UPDATE purchase_order SET receiver_id = CASE WHEN gift_to IS NULL THEN NULL ELSE $2::uuid END,
            gift_to = CASE WHEN ${isDigest('gift_to')} THEN $2::text ELSE gift_to END WHERE id = $1
     RETURNING now() + make_interval(days => valid_days) AS "expiresAt"`,
    [order.id, accountId],
  );
  const common = { accountId, expiresAt: rows[0]?.expiresAt ?? null };
  await giveGrant(client, { ...common, kind: 'purchase', amount: order.budget, sourceRef: `order:${order.id}` });
  if (order.bonus > 0n)
    await giveGrant(client, { ...common, kind: 'bonus', amount: order.bonus, sourceRef: `bonus:${order.id}` });
}

async function findReceiver(client: ClientBase, giftTo: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM account WHERE ${isUuid(giftTo) ? 'id = $1' : giftTo.includes('@') ? 'email = $1' : isDigestOf('email', '$1')}
       AND kind = 'customer' AND status = 'active'`,
    [giftTo],
  );
  return rows[0]?.id ?? null;
}

/** `pool` must read BIGINT as `bigint`. */
export function createGifts({ pool }: { pool: Pool }) {
  return {
    /** Gives the gifts whose receiver exists by now, and those that waited in vain to their buyers. Returns how many. */
    async deliver(): Promise<number> {
      const { rows: waiting } = await pool.query<{ id: string }>(
        `SELECT id FROM purchase_order o
         WHERE ${hasReceiver('gift_to')} AND receiver_id IS NULL AND status = 'paid'
           AND (paid_at < now() - make_interval(days => $1)
                OR EXISTS (SELECT FROM account a WHERE a.status = 'active' AND a.kind = 'customer'
                             AND (a.email = o.gift_to OR a.id::text = o.gift_to OR ${isDigestOf('a.email', 'o.gift_to')})))
         ORDER BY paid_at LIMIT 100`,
        [giftWaitDays],
      );
      let delivered = 0;
      for (const { id } of waiting)
        delivered += await repeatedTransaction(pool, async (client) => {
          const { rows } = await client.query<OrderToGive & { isOverdue: boolean }>(
            `SELECT id, account_id AS "accountId", budget, bonus, gift_to AS "giftTo",
                    paid_at < now() - make_interval(days => $2) AS "isOverdue"
             FROM purchase_order WHERE id = $1 AND status = 'paid' AND receiver_id IS NULL FOR UPDATE`,
            [id, giftWaitDays],
          );
          const [order] = rows;
          if (order === undefined || order.giftTo === null) return 0;
          const found = await findReceiver(client, order.giftTo);
          if (found === null && order.isOverdue && (await isErased(client, order.accountId))) {
            await endGift(client, order.id);
            return 0;
          }
          const receiver = found ?? (order.isOverdue ? order.accountId : null);
          if (receiver === null) return 0;
          await giveTo(client, order, receiver, addGrant);
          return 1;
        });
      return delivered;
    },
  };
}
