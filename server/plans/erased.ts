import type { ClientBase } from 'pg';
import { insertReview } from './bank/transfer-rows.ts';

/**
 * What the erasure of an account means for its orders and gifts. No money becomes budget of an account that nobody can use:
 * what arrives for one, and what had arrived, waits for a person. The database refuses such grants as well.
 */

/** Begins a receiver's address of which only the digest is left. */
const digested = 'sha256:';
/** In place of a receiver whom nobody needs to find any more. */
const nobody = 'erased';

/** SQL: a receiver as an erased buyer leaves them behind, so that a gift that waits still finds them. */
const digestOf = (address: string): string => `'${digested}' || encode(sha256(convert_to(${address}, 'UTF8')), 'hex')`;

export const isDigest = (giftTo: string): string => `${giftTo} LIKE '${digested}%'`;

/** SQL: whether a receiver is the digest of this address. */
export const isDigestOf = (address: string, giftTo: string): string =>
  `(${isDigest(giftTo)} AND ${digestOf(address)} = ${giftTo})`;

/** SQL: whether a gift still has somebody to wait for. */
export const hasReceiver = (giftTo: string): string => `${giftTo} <> '${nobody}'`;

/** Locks the orders that an erasure ends or changes: as payments do, before the account. */
export async function lockOrders(client: ClientBase, accountId: string): Promise<void> {
  await client.query(
    `SELECT FROM purchase_order WHERE account_id = $1 OR receiver_id = $1
       OR gift_to IN ($1::text, (SELECT email FROM account WHERE id = $1)) ORDER BY id FOR UPDATE`,
    [accountId],
  );
}

/**
 * Ends the orders of an account that is erased in this transaction, and forgets whom its gifts are for. `email` is the
 * account's; `addresses` are those that nothing may remember.
 */
export async function forgetOrders(
  client: ClientBase,
  { accountId, email, addresses }: { accountId: string; email: string; addresses: readonly string[] },
): Promise<void> {
  // An expired order is still paid by money that was sent in time.
  const { rows: ended } = await client.query<{ id: string }>(
    `UPDATE purchase_order SET status = 'cancelled' WHERE account_id = $1 AND status IN ('pending', 'partial', 'expired')
     RETURNING id`,
    [accountId],
  );
  for (const { id } of ended) await queuePart(client, id);
  await client.query(
    `UPDATE purchase_order SET idempotency_key = NULL, gift_to = CASE
       WHEN receiver_id IS NOT NULL THEN receiver_id::text
       WHEN gift_to IS NOT NULL AND status <> 'paid' THEN '${nobody}'
       WHEN gift_to LIKE '%@%' THEN ${digestOf('gift_to')} ELSE gift_to END
     WHERE account_id = $1`,
    [accountId],
  );
  // Gifts of others: those that were delivered name the account, those that wait return to their buyers.
  await client.query(
    `UPDATE purchase_order SET gift_to = $1::text WHERE gift_to = ANY ($2::text[]) OR receiver_id = $1::uuid`,
    [accountId, [email, ...addresses]],
  );
  await client.query('DELETE FROM order_mail WHERE order_id IN (SELECT id FROM purchase_order WHERE account_id = $1)', [
    accountId,
  ]);
}

/** Whether an account was erased. A running erasure is waited for, and one that begins later waits for this transaction. */
export async function isErased(client: ClientBase, accountId: string): Promise<boolean> {
  const { rows } = await client.query<{ erased: boolean }>(
    'SELECT erased_at IS NOT NULL AS erased FROM account WHERE id = $1 FOR KEY SHARE',
    [accountId],
  );
  return rows[0]?.erased ?? false;
}

/** A gift that waited in vain and whose buyer is erased belongs to nobody: its money waits for a person. */
export async function endGift(client: ClientBase, orderId: string): Promise<void> {
  await client.query(`UPDATE purchase_order SET gift_to = '${nobody}' WHERE id = $1`, [orderId]);
  await queueTransfers(client, {
    orderId,
    reason: 'order_cancelled',
    note: 'a gift that nobody took, of a buyer who was erased',
  });
}

/** What had arrived for an order of an erased account, which nothing completes any more. */
export const queuePart = (client: ClientBase, orderId: string): Promise<void> =>
  queueTransfers(client, { orderId, reason: 'short', note: 'the account was erased before it was paid' });

/** Puts the transfers that were matched to an order into the queue. What a person has closed as such stays closed. */
async function queueTransfers(
  client: ClientBase,
  { orderId, reason, note }: { orderId: string; reason: 'short' | 'order_cancelled'; note: string },
): Promise<void> {
  const { rows } = await client.query<{ transferId: string }>(
    `SELECT m.transfer_id AS "transferId" FROM transfer_match m LEFT JOIN transfer_review r USING (transfer_id)
     WHERE m.order_id = $1 AND (r.reason IS DISTINCT FROM $2 OR r.closed_by = 'matcher') ORDER BY 1`,
    [orderId, reason],
  );
  for (const { transferId } of rows) await insertReview(client, { transferId, reason, orderId, note });
}
