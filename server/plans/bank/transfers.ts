/**
 * Bank transfers: stored once, matched to at most one order; all others wait for a person. Matching and granting are
 * one transaction: a paid order without its grant, or a grant without its money, is never visible.
 */

import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../../database/lane.ts';
import { appendAudit } from '../../shared/audit.ts';
import { isUuid, uuidv7 } from '../../shared/uuid.ts';
import { type ApplyPaymentDeps, createApplyPayment } from '../apply-payment.ts';
import { createCorrections } from '../corrections.ts';
import { findMemos } from '../memo.ts';
import { violates } from '../orders.ts';
import { decideByHand, decidePayment, type ReviewReason, refuseAmount } from '../payment-decision.ts';
import { isRefunded, matchRefund } from '../refunds.ts';
import { compareMovements, maxApartMs, referenceKey, type Sameness } from './movement.ts';
import {
  closeMatched,
  findTransfer,
  insertMatch,
  insertReview,
  type LockedOrder,
  type LockedRow,
  lockedColumns,
  lockOrder,
  sumReceived,
  type Transfer,
  type TransferRow,
  toTransfer,
  transferColumns,
  transferTables,
} from './transfer-rows.ts';

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
  /** It is the money of a refund, by its memo. */
  | { kind: 'refund'; transferId: string; refundId: string }
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
  /** It goes back to whoever sent it. */
  | { kind: 'refunded' }
  | { kind: 'not_payable'; reason: ReviewReason };

export interface TransferDeps extends ApplyPaymentDeps {
  /** Must read BIGINT as `bigint` (the types of the money lane). */
  pool: Pool;
  /** Our account numbers: money to other accounts only waits for a person. Null: not checked. */
  accountNumbers: readonly string[] | null;
}

export function createTransfers(deps: TransferDeps) {
  const { pool } = deps;
  const apply = createApplyPayment(deps);

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

      if (transfer.direction === 'out') {
        const refund = await matchRefund(client, { transferId, memo: transfer.memo });
        if (refund !== null) return { kind: 'refund', transferId, refundId: refund.id };
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
      await apply(client, { order, transferId, decision, byHand: false });
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
        if (await isRefunded(client, { transferId: input.transferId })) return { kind: 'refunded' };
        const decision = decideByHand(order, transfer);
        if (decision.kind === 'review') return { kind: 'not_payable', reason: decision.reason };
        if (!(await insertMatch(client, input))) {
          const matched = await findTransfer(client, input.transferId);
          return { kind: 'already_matched', orderId: matched?.orderId ?? input.orderId };
        }
        await apply(client, { order, transferId: input.transferId, decision, byHand: true });
        await closeMatched(client, input);
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

  return { receive, matchByHand, ...createCorrections(pool, apply), ...reviewQueue(pool) };
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
