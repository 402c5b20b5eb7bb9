import type { ClientBase, Pool } from 'pg';
import { isUuid } from '../../shared/uuid.ts';
import type { OrderStatus, PayableOrder, ReviewReason } from '../payment-decision.ts';

/** Transfers, their matches and reviews as rows, for the writers: reads, locks and single statements. */

export interface Transfer {
  id: string;
  provider: string;
  providerId: string;
  bankReference: string | null;
  direction: 'in' | 'out';
  amountVnd: bigint;
  memo: string;
  bookedAt: Date;
  createdAt: Date;
  /** The order that it pays, and who matched it: `matcher`, or an operator. */
  orderId: string | null;
  matchedBy: string | null;
  review: Review | null;
}

export interface Review {
  reason: ReviewReason;
  orderId: string | null;
  /** With `repeated`: the first transfer of the same movement. */
  repeatsId: string | null;
  surplusVnd: bigint | null;
  closedAt: Date | null;
  closedBy: string | null;
  note: string | null;
}

export interface LockedOrder extends PayableOrder {
  id: string;
  accountId: string;
  status: OrderStatus;
  budget: bigint;
  bonus: bigint;
  giftTo: string | null;
  receiverId: string | null;
}

export type LockedRow = Omit<LockedOrder, 'receivedVnd'> & { now: Date };

export const lockedColumns = `id, account_id AS "accountId", status, price_vnd AS "priceVnd", budget, bonus, gift_to AS "giftTo",
  receiver_id AS "receiverId", upgrades,
  (SELECT erased_at IS NOT NULL FROM account WHERE account.id = purchase_order.account_id) AS erased,
  created_at AS "createdAt", expires_at AS "expiresAt", clock_timestamp() AS now`;

export async function lockOrder(client: ClientBase, orderId: string): Promise<LockedOrder | null> {
  const { rows } = await client.query<LockedRow>(
    `SELECT ${lockedColumns} FROM purchase_order WHERE id = $1 FOR UPDATE`,
    [orderId],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, receivedVnd: await sumReceived(client, row.id) };
}

/** Of refunds `r`: those that were not undone. */
export const standing = 'NOT EXISTS (SELECT FROM refund_undone u WHERE u.refund_id = r.id)';

/** Without what was refunded of these transfers. */
export async function sumReceived(client: ClientBase, orderId: string): Promise<bigint> {
  const { rows } = await client.query<{ sum: bigint }>(
    `SELECT (coalesce(sum(t.amount_vnd), 0) - coalesce((
       SELECT sum(r.amount_vnd) FROM refund r JOIN transfer_match m ON m.transfer_id = r.transfer_id
       WHERE m.order_id = $1 AND ${standing}), 0))::bigint AS sum
     FROM transfer_match m JOIN bank_transfer t ON t.id = m.transfer_id WHERE m.order_id = $1`,
    [orderId],
  );
  return rows[0]?.sum ?? 0n;
}

export async function insertMatch(
  client: ClientBase,
  match: { transferId: string; orderId: string; by: string },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO transfer_match (transfer_id, order_id, matched_by) VALUES ($1, $2, $3)
     ON CONFLICT (transfer_id) DO NOTHING`,
    [match.transferId, match.orderId, match.by],
  );
  return rowCount === 1;
}

export async function insertReview(
  client: ClientBase,
  review: {
    transferId: string;
    reason: ReviewReason;
    orderId: string | null;
    repeatsId?: string;
    surplusVnd?: bigint;
    /** What a person should know of it. */
    note?: string;
  },
): Promise<void> {
  // A transfer that was in the queue for another reason and then overpays an order becomes a surplus.
  await client.query(
    `INSERT INTO transfer_review AS r (transfer_id, reason, order_id, surplus_vnd, repeats_id, note)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (transfer_id) DO UPDATE SET reason = excluded.reason, order_id = excluded.order_id,
       surplus_vnd = excluded.surplus_vnd, closed_at = NULL, closed_by = NULL, note = coalesce(excluded.note, r.note)`,
    [
      review.transferId,
      review.reason,
      review.orderId,
      review.surplusVnd ?? null,
      review.repeatsId ?? null,
      review.note ?? null,
    ],
  );
}

/** Money that waited for a person because its order had expired can be used again. */
export async function closeShort(client: ClientBase, orderId: string, note: string): Promise<void> {
  await client.query(
    `UPDATE transfer_review SET closed_at = now(), closed_by = 'matcher', note = $2
     WHERE order_id = $1 AND reason = 'short' AND closed_at IS NULL`,
    [orderId, note],
  );
}

export async function closeMatched(
  client: ClientBase,
  { transferId, orderId, by }: { transferId: string; orderId: string; by: string },
): Promise<void> {
  await client.query(
    `UPDATE transfer_review SET closed_at = now(), closed_by = $2, note = coalesce(note, 'matched to order ' || $3)
     WHERE transfer_id = $1 AND closed_at IS NULL AND reason <> 'surplus'`,
    [transferId, by, orderId],
  );
}

export type TransferRow = Omit<Transfer, 'review'> & {
  reviewReason: ReviewReason | null;
  reviewOrderId: string | null;
  repeatsId: string | null;
  surplusVnd: bigint | null;
  closedAt: Date | null;
  closedBy: string | null;
  note: string | null;
};

export const transferColumns = `t.id, t.provider, t.provider_id AS "providerId", t.bank_reference AS "bankReference", t.direction,
  t.amount_vnd AS "amountVnd", t.memo, t.booked_at AS "bookedAt", t.created_at AS "createdAt", m.order_id AS "orderId",
  m.matched_by AS "matchedBy", r.reason AS "reviewReason", r.order_id AS "reviewOrderId", r.repeats_id AS "repeatsId",
  r.surplus_vnd AS "surplusVnd",
  r.closed_at AS "closedAt", r.closed_by AS "closedBy", r.note`;
export const transferTables = `bank_transfer t LEFT JOIN transfer_match m ON m.transfer_id = t.id
  LEFT JOIN transfer_review r ON r.transfer_id = t.id`;

export async function findTransfer(database: Pool | ClientBase, transferId: string): Promise<Transfer | null> {
  if (!isUuid(transferId)) return null;
  const { rows } = await database.query<TransferRow>(
    `SELECT ${transferColumns} FROM ${transferTables} WHERE t.id = $1`,
    [transferId],
  );
  return rows[0] === undefined ? null : toTransfer(rows[0]);
}

export function toTransfer({
  reviewReason,
  reviewOrderId,
  repeatsId,
  surplusVnd,
  closedAt,
  closedBy,
  note,
  ...row
}: TransferRow): Transfer {
  return {
    ...row,
    review:
      reviewReason === null
        ? null
        : { reason: reviewReason, orderId: reviewOrderId, repeatsId, surplusVnd, closedAt, closedBy, note },
  };
}
