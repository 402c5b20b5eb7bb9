/**
 * Bank transfers: stored once, matched to at most one order; all others wait for a person. Matching and granting are
 * one transaction: a paid order without its grant, or a grant without its money, is never visible.
 */

import type { ClientBase, Pool } from 'pg';
import { addGrant } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../runtime/http.ts';
import { appendAudit } from '../shared/audit.ts';
import { isUuid } from '../shared/uuid.ts';
import { findMemos } from './memo.ts';
import { compareMovements, maxApartMs, referenceKey, type Sameness } from './movement.ts';
import { violates } from './orders.ts';
import {
  decideByHand,
  decidePayment,
  type OrderStatus,
  type PayableOrder,
  type PaymentDecision,
  type ReviewReason,
  refuseAmount,
} from './payment.ts';

/** A movement at the bank as a provider reports it. */
export interface IncomingTransfer {
  /** `sepay`, …, or `operator` for one read off a statement. */
  provider: string;
  /** The provider's own id: a message with a known id changes nothing. */
  providerId: string;
  bankReference: string | null;
  direction: 'in' | 'out';
  /** Whole VND, never negative: the direction says which way. */
  amountVnd: bigint;
  memo: string;
  bookedAt: Date;
  /** Our accounts that the movement names (main and virtual account); empty when the provider names none. */
  accountNumbers: string[];
}

/** The outcome of a transfer. */
export type TransferReceipt =
  /** The movement is stored already, under this id or (`transferId` is the first one) another; nothing is paid. */
  | { kind: 'duplicate'; transferId: string }
  | { kind: 'paid'; transferId: string; orderId: string; surplusVnd: bigint }
  | { kind: 'partial'; transferId: string; orderId: string; missingVnd: bigint }
  | { kind: 'review'; transferId: string; reason: ReviewReason };

export type MatchOutcome =
  | { kind: 'paid'; orderId: string; surplusVnd: bigint }
  | { kind: 'partial'; orderId: string; missingVnd: bigint }
  | { kind: 'unknown_transfer' }
  | { kind: 'unknown_order' }
  /** The transfer pays an order already, perhaps this one, by a concurrent decision. */
  | { kind: 'already_matched'; orderId: string }
  /** Another upgrade of the same order was paid meanwhile. */
  | { kind: 'upgrade_superseded' }
  | { kind: 'not_payable'; reason: ReviewReason };

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

/** Called inside the transaction that changed an order. */
interface OrderMoved {
  accountId: string;
  orderId: string;
  status: 'partial' | 'paid';
}

export interface TransferDeps {
  /** Must read BIGINT as `bigint` (the types of the money lane). */
  pool: Pool;
  /** Makes the grant in the given transaction, once for each source. Billing's, unless a test replaces it. */
  giveGrant?: typeof addGrant;
  /** Our account numbers: money to other accounts only waits for a person. Null: not checked. */
  accountNumbers: readonly string[] | null;
  /** Called in the same transaction, to publish payments. An error in it rolls the payment back. */
  onOrderMoved?: (client: ClientBase, moved: OrderMoved) => Promise<void>;
}

/** How long a partly paid order waits for the rest. */
const partialGraceDays = 7;

export function createTransfers(deps: TransferDeps) {
  const { pool } = deps;
  const apply = createSettlement(deps);

  /**
   * Receives a transfer: stored once, matched by its memo, decided and applied, all in one transaction. Once this
   * resolves the provider may forget it. Idempotent, also across concurrent processes. An operator's report can grant
   * budget as well: it is audited as theirs.
   */
  function receive(transfer: IncomingTransfer, { recordedBy }: { recordedBy?: string } = {}): Promise<TransferReceipt> {
    return repeatedTransaction(pool, async (client): Promise<TransferReceipt> => {
      // Concurrent messages about one movement must see each other; all of them agree on these two fields, so both are
      // locked.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.transfer:' || $1, 0))`, [
        `${transfer.direction}:${transfer.amountVnd}`,
      ]);
      const stored = await insertTransfer(client, transfer);
      if (!stored.fresh) return { kind: 'duplicate', transferId: stored.id };
      const transferId = stored.id;
      if (recordedBy !== undefined) {
        const { bankReference, amountVnd, memo, bookedAt } = transfer;
        await appendAudit(client, {
          actor: recordedBy,
          action: 'transfer.record',
          subject: `transfer:${transferId}`,
          after: { bankReference, amountVnd, memo, bookedAt },
        });
      }

      const earlier = await findEarlier(client, transferId, transfer);
      if (earlier !== null) {
        await insertReview(client, { transferId, reason: 'repeated', orderId: null, repeatsId: earlier.id });
        if (earlier.sameness === 'doubtful') return { kind: 'review', transferId, reason: 'repeated' };
        await closeRepeated(client, transferId);
        return { kind: 'duplicate', transferId: earlier.id };
      }

      const found = await findPayableOrder(client, transfer, deps.accountNumbers);
      if (found.kind === 'review') {
        await insertReview(client, { transferId, reason: found.reason, orderId: null });
        return { kind: 'review', transferId, reason: found.reason };
      }

      const { order, now } = found;
      const decision = decidePayment(order, transfer, now);
      const orderId = order.id;
      if (decision.kind === 'review') {
        await insertReview(client, { transferId, reason: decision.reason, orderId });
        return { kind: 'review', transferId, reason: decision.reason };
      }
      await insertMatch(client, { transferId, orderId, by: 'matcher' });
      await apply(client, { order, transferId, decision });
      return { ...decision, transferId, orderId };
    });
  }

  /**
   * An operator matches a transfer to an order. That may override its text and its time, never its amount: the sum must
   * still reach the price, and a paid order is not granted again.
   */
  async function matchByHand(input: { transferId: string; orderId: string; by: string }): Promise<MatchOutcome> {
    if (!isUuid(input.transferId)) return { kind: 'unknown_transfer' };
    if (!isUuid(input.orderId)) return { kind: 'unknown_order' };
    try {
      return await repeatedTransaction(pool, async (client): Promise<MatchOutcome> => {
        const order = await lockOrder(client, input.orderId);
        const transfer = await findTransfer(client, input.transferId);
        if (transfer === null) return { kind: 'unknown_transfer' };
        if (order === null) return { kind: 'unknown_order' };
        if (transfer.orderId !== null) return { kind: 'already_matched', orderId: transfer.orderId };
        const decision = decideByHand(order, transfer);
        if (decision.kind === 'review') return { kind: 'not_payable', reason: decision.reason };
        if (!(await insertMatch(client, input))) {
          const matched = await findTransfer(client, input.transferId);
          return { kind: 'already_matched', orderId: matched?.orderId ?? input.orderId };
        }
        await apply(client, { order, transferId: input.transferId, decision });
        await client.query(
          `UPDATE transfer_review SET closed_at = now(), closed_by = $2, note = coalesce(note, 'matched to order ' || $3)
           WHERE transfer_id = $1 AND closed_at IS NULL AND reason <> 'surplus'`,
          [input.transferId, input.by, input.orderId],
        );
        await appendAudit(client, {
          actor: input.by,
          action: 'transfer.match',
          subject: `transfer:${input.transferId}`,
          before: { orderStatus: order.status },
          after: { orderId: input.orderId, orderStatus: decision.kind, amountVnd: transfer.amountVnd },
        });
        return { ...decision, orderId: input.orderId };
      });
    } catch (error) {
      if (violates(error, 'purchase_order_upgrade')) return { kind: 'upgrade_superseded' };
      throw error;
    }
  }

  return { receive, matchByHand, ...reviewQueue(pool) };
}

/** Applies a decision to its order: status, grant, surplus. In the transaction of the decision. */
function createSettlement({ giveGrant = addGrant, onOrderMoved }: TransferDeps) {
  return async function apply(
    client: ClientBase,
    step: { order: LockedOrder; transferId: string; decision: Exclude<PaymentDecision, { kind: 'review' }> },
  ): Promise<void> {
    const { order, transferId, decision } = step;
    if (decision.kind === 'partial') {
      await client.query(
        `UPDATE purchase_order SET status = 'partial', expires_at = greatest(expires_at, now() + make_interval(days => $2))
         WHERE id = $1`,
        [order.id, partialGraceDays],
      );
      await closeShort(client, order.id, 'the order waits for the rest again');
    } else {
      const { rows } = await client.query<{ expiresAt: Date | null }>(
        `UPDATE purchase_order SET status = 'paid', paid_at = now() WHERE id = $1
         RETURNING now() + make_interval(days => valid_days) AS "expiresAt"`,
        [order.id],
      );
      await giveGrant(client, {
        accountId: order.accountId,
        kind: 'purchase',
        amount: order.budget,
        expiresAt: rows[0]?.expiresAt ?? null,
        sourceRef: `order:${order.id}`,
      });
      await closeShort(client, order.id, 'the order was paid after all');
      if (decision.surplusVnd > 0n)
        await insertReview(client, {
          transferId,
          reason: 'surplus',
          orderId: order.id,
          surplusVnd: decision.surplusVnd,
        });
    }
    await onOrderMoved?.(client, {
      accountId: order.accountId,
      orderId: order.id,
      status: decision.kind,
    });
  };
}

/** The queue of transfers that wait for a person, and the other transfers. */
function reviewQueue(pool: Pool) {
  /** Closes a transfer of the queue; false when it is not (any more) in the queue. */
  async function closeReview(input: { transferId: string; by: string; note: string }): Promise<boolean> {
    if (!isUuid(input.transferId)) return false;
    return repeatedTransaction(pool, async (client) => {
      const { rows } = await client.query<{ reason: ReviewReason }>(
        `UPDATE transfer_review SET closed_at = now(), closed_by = $2, note = $3
         WHERE transfer_id = $1 AND closed_at IS NULL RETURNING reason`,
        [input.transferId, input.by, input.note],
      );
      const [closed] = rows;
      if (closed === undefined) return false;
      await appendAudit(client, {
        actor: input.by,
        action: 'transfer.close',
        subject: `transfer:${input.transferId}`,
        before: { reason: closed.reason },
        after: { note: input.note },
      });
      return true;
    });
  }

  /** Transfers, newest first; `queue`: only those that wait for a person. `before` is the last id seen. */
  async function list(input: { queue: boolean; limit: number; before?: string }): Promise<Transfer[]> {
    const { rows } = await pool.query<TransferRow>(
      `SELECT ${transferColumns} FROM ${transferTables}
       WHERE ($1 IS FALSE OR (r.transfer_id IS NOT NULL AND r.closed_at IS NULL)) AND ($2::uuid IS NULL OR t.id < $2)
       ORDER BY t.id DESC LIMIT $3`,
      [input.queue, input.before ?? null, input.limit],
    );
    return rows.map(toTransfer);
  }

  /** The transfers that pay some orders, by order, in the order in which they were matched. */
  async function ofOrders(orderIds: readonly string[]): Promise<Map<string, Transfer[]>> {
    const { rows } = await pool.query<TransferRow>(
      `SELECT ${transferColumns} FROM ${transferTables} WHERE m.order_id = ANY ($1::uuid[]) ORDER BY m.created_at, t.id`,
      [orderIds],
    );
    return Map.groupBy(rows.map(toTransfer), ({ orderId }) => orderId ?? '');
  }

  return { closeReview, list, ofOrders, find: (transferId: string) => findTransfer(pool, transferId) };
}

export type Transfers = ReturnType<typeof createTransfers>;

interface LockedOrder extends PayableOrder {
  id: string;
  accountId: string;
  status: OrderStatus;
  budget: bigint;
}

async function insertTransfer(client: ClientBase, transfer: IncomingTransfer): Promise<{ id: string; fresh: boolean }> {
  const id = uuidv7();
  // Waits for a concurrent transaction that stores the same transfer, and then finds it stored.
  const { rowCount } = await client.query(
    `INSERT INTO bank_transfer
       (id, provider, provider_id, bank_reference, direction, amount_vnd, memo, booked_at, account_numbers)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (provider, provider_id) DO NOTHING`,
    [
      id,
      transfer.provider,
      transfer.providerId,
      transfer.bankReference,
      transfer.direction,
      transfer.amountVnd,
      transfer.memo,
      transfer.bookedAt,
      transfer.accountNumbers,
    ],
  );
  if (rowCount === 1) return { id, fresh: true };
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM bank_transfer WHERE provider = $1 AND provider_id = $2',
    [transfer.provider, transfer.providerId],
  );
  return { id: rows[0]?.id ?? id, fresh: false };
}

/**
 * The stored transfer of the same movement, surely or perhaps; null: none. Counting a movement under two
 * ids would turn half a payment into a whole one.
 */
async function findEarlier(
  client: ClientBase,
  transferId: string,
  transfer: IncomingTransfer,
): Promise<{ id: string; sameness: Exclude<Sameness, 'distinct'> } | null> {
  // The rows for which compareMovements can return anything but distinct, and few others: with the same reference at
  // any time, or of the same order within a day.
  const { rows } = await client.query<IncomingTransfer & { id: string }>(
    `SELECT id, provider, bank_reference AS "bankReference", memo, booked_at AS "bookedAt",
            coalesce(account_numbers, '{}') AS "accountNumbers"
     FROM bank_transfer
     WHERE direction = $2 AND amount_vnd = $3 AND id <> $1
       AND (upper(regexp_replace(bank_reference, '[^0-9A-Za-z]', '', 'g')) = $4
            OR booked_at BETWEEN $5::timestamptz - $6 * interval '1 millisecond'
                             AND $5::timestamptz + $6 * interval '1 millisecond')
     ORDER BY id`,
    [
      transferId,
      transfer.direction,
      transfer.amountVnd,
      referenceKey(transfer.bankReference),
      transfer.bookedAt,
      maxApartMs,
    ],
  );
  let doubtful: string | null = null;
  for (const row of rows) {
    const sameness = compareMovements(transfer, row);
    if (sameness === 'same') return { id: row.id, sameness };
    if (sameness === 'doubtful') doubtful ??= row.id;
  }
  return doubtful === null ? null : { id: doubtful, sameness: 'doubtful' };
}

/** A surely repeated movement needs no person: it is kept as evidence, out of the queue. */
async function closeRepeated(client: ClientBase, transferId: string): Promise<void> {
  await client.query(
    `UPDATE transfer_review SET closed_at = now(), closed_by = 'matcher', note = 'the movement was told before'
     WHERE transfer_id = $1`,
    [transferId],
  );
}

type Found = { kind: 'order'; order: LockedOrder; now: Date } | { kind: 'review'; reason: ReviewReason };

/** The one order that a transfer's memo names, under lock, or why there is none. */
async function findPayableOrder(
  client: ClientBase,
  transfer: IncomingTransfer,
  ours: readonly string[] | null,
): Promise<Found> {
  const refused = refuseAmount(transfer);
  if (refused !== null) return { kind: 'review', reason: refused };
  if (ours !== null && transfer.accountNumbers.length > 0 && !transfer.accountNumbers.some((a) => ours.includes(a)))
    return { kind: 'review', reason: 'other_account' };
  const memos = findMemos(transfer.memo);
  if (memos.length === 0) return { kind: 'review', reason: 'no_memo' };
  const { rows } = await client.query<LockedRow>(
    `SELECT ${lockedColumns} FROM purchase_order WHERE memo = ANY ($1) ORDER BY id FOR UPDATE`,
    [memos],
  );
  const [row, second] = rows;
  if (row === undefined) return { kind: 'review', reason: 'unknown_memo' };
  if (second !== undefined) return { kind: 'review', reason: 'several_memos' };
  const { now, ...order } = row;
  // Summed after the lock is held: the previous holder may have added to the sum.
  return { kind: 'order', now, order: { ...order, receivedVnd: await sumReceived(client, order.id) } };
}

type LockedRow = Omit<LockedOrder, 'receivedVnd'> & { now: Date };

const lockedColumns = `id, account_id AS "accountId", status, price_vnd AS "priceVnd", budget, upgrades,
  created_at AS "createdAt", expires_at AS "expiresAt", clock_timestamp() AS now`;

async function lockOrder(client: ClientBase, orderId: string): Promise<LockedOrder | null> {
  const { rows } = await client.query<LockedRow>(
    `SELECT ${lockedColumns} FROM purchase_order WHERE id = $1 FOR UPDATE`,
    [orderId],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, receivedVnd: await sumReceived(client, row.id) };
}

async function sumReceived(client: ClientBase, orderId: string): Promise<bigint> {
  const { rows } = await client.query<{ sum: bigint }>(
    `SELECT coalesce(sum(t.amount_vnd), 0)::bigint AS sum
     FROM transfer_match m JOIN bank_transfer t ON t.id = m.transfer_id WHERE m.order_id = $1`,
    [orderId],
  );
  return rows[0]?.sum ?? 0n;
}

async function insertMatch(
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

async function insertReview(
  client: ClientBase,
  review: {
    transferId: string;
    reason: ReviewReason;
    orderId: string | null;
    repeatsId?: string;
    surplusVnd?: bigint;
  },
): Promise<void> {
  // A transfer that was in the queue for another reason and then overpays an order becomes a surplus.
  await client.query(
    `INSERT INTO transfer_review (transfer_id, reason, order_id, surplus_vnd, repeats_id) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (transfer_id) DO UPDATE SET reason = excluded.reason, order_id = excluded.order_id,
       surplus_vnd = excluded.surplus_vnd, closed_at = NULL, closed_by = NULL`,
    [review.transferId, review.reason, review.orderId, review.surplusVnd ?? null, review.repeatsId ?? null],
  );
}

/** Money that waited for a person because its order had expired can be used again. */
async function closeShort(client: ClientBase, orderId: string, note: string): Promise<void> {
  await client.query(
    `UPDATE transfer_review SET closed_at = now(), closed_by = 'matcher', note = $2
     WHERE order_id = $1 AND reason = 'short' AND closed_at IS NULL`,
    [orderId, note],
  );
}

type TransferRow = Omit<Transfer, 'review'> & {
  reviewReason: ReviewReason | null;
  reviewOrderId: string | null;
  repeatsId: string | null;
  surplusVnd: bigint | null;
  closedAt: Date | null;
  closedBy: string | null;
  note: string | null;
};

const transferColumns = `t.id, t.provider, t.provider_id AS "providerId", t.bank_reference AS "bankReference", t.direction,
  t.amount_vnd AS "amountVnd", t.memo, t.booked_at AS "bookedAt", t.created_at AS "createdAt", m.order_id AS "orderId",
  m.matched_by AS "matchedBy", r.reason AS "reviewReason", r.order_id AS "reviewOrderId", r.repeats_id AS "repeatsId",
  r.surplus_vnd AS "surplusVnd",
  r.closed_at AS "closedAt", r.closed_by AS "closedBy", r.note`;
const transferTables = `bank_transfer t LEFT JOIN transfer_match m ON m.transfer_id = t.id
  LEFT JOIN transfer_review r ON r.transfer_id = t.id`;

async function findTransfer(database: Pool | ClientBase, transferId: string): Promise<Transfer | null> {
  if (!isUuid(transferId)) return null;
  const { rows } = await database.query<TransferRow>(
    `SELECT ${transferColumns} FROM ${transferTables} WHERE t.id = $1`,
    [transferId],
  );
  return rows[0] === undefined ? null : toTransfer(rows[0]);
}

function toTransfer({
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
