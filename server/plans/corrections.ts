import type { ClientBase, Pool } from 'pg';
import { undoPurchase } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import type { ApplyPayment } from './apply-payment.ts';
import { closeMatched, findTransfer, insertMatch, type LockedOrder, lockOrder } from './bank/transfer-rows.ts';
import { queuePart } from './erased.ts';
import { insertOrder, lockPurchases, violates } from './orders.ts';
import { withdrawInvoice } from './papers/invoices.ts';
import { type OrderStatus, type ReviewReason, refuseAmount } from './payment-decision.ts';
import { findPlan } from './plans.ts';
import { isRefunded } from './refunds.ts';
import { creditTerms } from './top-up.ts';

/** Corrections of bank transfers by operators: a match taken back, and an account credited where no order exists. */

/** `pool` must read BIGINT as `bigint` (the types of the money lane). */
export function createCorrections(pool: Pool, apply: ApplyPayment) {
  /**
   * Takes back a match that an operator made, while nothing of its budget is spent or held: the grant ends, the order
   * waits for its money again, and the transfer returns to the queue. The match stays on record.
   */
  async function undoMatch(input: { transferId: string; by: string }): Promise<UndoOutcome> {
    if (!isUuid(input.transferId)) return { kind: 'unknown_transfer' };
    return repeatedTransaction(pool, (client) => undo(client, input)).catch((error: unknown): UndoOutcome => {
      if (error instanceof UndoRefused) return { kind: 'used', ...error.used };
      // Another upgrade of the same order has taken its place meanwhile.
      if (violates(error, 'purchase_order_upgrade')) return { kind: 'upgraded' };
      throw error;
    });
  }

  /**
   * Credits an account with a transfer that belongs to no order: an order of exactly this amount is made at a plan's
   * price of a USD (cut to whole cents) and paid by it, so that receipt, books and invariants are those of every order.
   */
  async function creditAccount(input: {
    transferId: string;
    accountId: string;
    planId: string;
    by: string;
  }): Promise<CreditOutcome> {
    if (!isUuid(input.transferId)) return { kind: 'unknown_transfer' };
    if (!isUuid(input.accountId)) return { kind: 'unknown_account' };
    return repeatedTransaction(pool, async (client): Promise<CreditOutcome> => {
      const transfer = await findTransfer(client, input.transferId);
      if (transfer === null) return { kind: 'unknown_transfer' };
      if (transfer.orderId !== null) return { kind: 'already_matched', orderId: transfer.orderId };
      const refused = refuseAmount(transfer);
      if (refused !== null) return { kind: 'not_payable', reason: refused };
      // The evidence of a movement that was reported before is no second money.
      if (transfer.review?.reason === 'repeated') return { kind: 'not_payable', reason: 'repeated' };
      if (await isRefunded(client, { transferId: input.transferId })) return { kind: 'refunded' };
      const plan = await findPlan(client, input.planId);
      if (plan === null) return { kind: 'unknown_plan' };
      const terms = creditTerms(transfer.amountVnd, plan);
      if (terms.budget <= 0n) return { kind: 'too_little' };
      const { rowCount } = await client.query('SELECT FROM account WHERE id = $1 AND erased_at IS NULL FOR KEY SHARE', [
        input.accountId,
      ]);
      if (rowCount === 0) return { kind: 'unknown_account' };
      const orderId = await insertOrder(client, {
        accountId: input.accountId,
        plan,
        terms,
        upgrades: null,
        idempotencyKey: null,
        lifetimeMs: 0,
      });
      const order = await lockOrder(client, orderId);
      if (order === null) throw new Error('an order that was just written is missing');
      if (!(await insertMatch(client, { transferId: input.transferId, orderId, by: input.by })))
        throw new MatchedMeanwhile();
      const decision = { kind: 'paid', surplusVnd: 0n } as const;
      await apply(client, { order, transferId: input.transferId, decision, byHand: true });
      await closeMatched(client, { transferId: input.transferId, orderId, by: input.by });
      await appendAudit(client, {
        actor: input.by,
        action: 'transfer.credit',
        subject: `transfer:${input.transferId}`,
        after: { accountId: input.accountId, orderId, amountVnd: transfer.amountVnd, budget: terms.budget },
      });
      return { kind: 'credited', orderId };
    }).catch(async (error: unknown): Promise<CreditOutcome> => {
      if (!(error instanceof MatchedMeanwhile)) throw error;
      const transfer = await findTransfer(pool, input.transferId);
      return { kind: 'already_matched', orderId: transfer?.orderId ?? '' };
    });
  }

  return { undoMatch, creditAccount };
}

async function undo(client: ClientBase, { transferId, by }: { transferId: string; by: string }): Promise<UndoOutcome> {
  const matched = await findTransfer(client, transferId);
  if (matched === null) return { kind: 'unknown_transfer' };
  const accountId = matched.orderId === null ? null : await accountOfOrder(client, matched.orderId);
  if (matched.orderId === null || accountId === null) return { kind: 'not_matched' };
  // No upgrade of this order begins meanwhile.
  await lockPurchases(client, accountId);
  const order = await lockOrder(client, matched.orderId);
  // Read again under the order's lock: another operator may have undone it meanwhile.
  const match = order === null ? null : await findMatch(client, transferId, order.id);
  if (order === null || match === null) return { kind: 'not_matched' };
  if (match.matchedBy === 'matcher') return { kind: 'matched_by_memo' };
  if (await isRefunded(client, { orderId: order.id })) return { kind: 'refunded' };
  const remaining = order.receivedVnd - matched.amountVnd;
  // Other transfers pay the order: its grant stays.
  const staysPaid = order.status === 'paid' && remaining >= order.priceVnd;
  if (!staysPaid && (await isUpgraded(client, order.id))) return { kind: 'upgraded' };
  const status = staysPaid ? 'paid' : await reopenOrder(client, { order, transferId, remaining });
  await client.query(
    `INSERT INTO transfer_unmatch (id, transfer_id, order_id, matched_by, matched_at, undone_by)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [uuidv7(), transferId, order.id, match.matchedBy, match.createdAt, by],
  );
  await client.query('DELETE FROM transfer_match WHERE transfer_id = $1', [transferId]);
  await reopenReview(client, transferId);
  if (status === 'cancelled') await queuePart(client, order.id);
  await correctSurplus(client, { orderId: order.id, surplusVnd: staysPaid ? remaining - order.priceVnd : 0n });
  await appendAudit(client, {
    actor: by,
    action: 'transfer.undo',
    subject: `transfer:${transferId}`,
    before: { orderId: order.id, orderStatus: order.status, amountVnd: matched.amountVnd },
    after: { orderStatus: status },
  });
  if (staysPaid || order.status !== 'paid') return { kind: 'undone', orderId: order.id };
  await withdrawInvoice(client, order.id);
  const receiver = order.giftTo === null ? order.accountId : order.receiverId;
  // A gift that still waits for its receiver has no grant.
  if (receiver === null) return { kind: 'undone', orderId: order.id };
  await client.query('UPDATE purchase_order SET receiver_id = NULL WHERE id = $1', [order.id]);
  // The last locks: from here on nothing of the grants can be held.
  for (const sourceRef of [`order:${order.id}`, ...(order.bonus > 0n ? [`bonus:${order.id}`] : [])]) {
    const reason = 'its transfer was matched by mistake';
    const grant = await undoPurchase(client, { accountId: receiver, sourceRef, reason });
    if (grant.kind === 'used') throw new UndoRefused({ spent: grant.spent, held: grant.held });
    if (grant.kind === 'unknown_grant') throw new Error('a paid order has no grant');
  }
  return { kind: 'undone', orderId: order.id };
}

async function accountOfOrder(client: ClientBase, orderId: string): Promise<string | null> {
  const { rows } = await client.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM purchase_order WHERE id = $1',
    [orderId],
  );
  return rows[0]?.accountId ?? null;
}

/** Lets an order wait for its money again, or expire; returns its status. One of an erased account waits for nothing. */
async function reopenOrder(
  client: ClientBase,
  { order, transferId, remaining }: { order: LockedOrder; transferId: string; remaining: bigint },
): Promise<OrderStatus> {
  const { rows } = await client.query<{ status: OrderStatus }>(
    `UPDATE purchase_order SET paid_at = NULL, status = CASE
       WHEN $4 THEN 'cancelled'
       WHEN $2::bigint > 0 AND (expires_at > now() OR upgrades IS NULL) THEN 'partial'
       WHEN $2::bigint = 0 AND $3 THEN 'cancelled'
       WHEN $2::bigint = 0 AND expires_at > now() THEN 'pending'
       ELSE 'expired' END
     WHERE id = $1 RETURNING status`,
    [order.id, remaining, await wasCancelled(client, transferId), order.erased === true],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a locked order is missing');
  return row.status;
}

/** Surpluses of an order's other transfers, after one was taken away: what is left of them, or none. */
async function correctSurplus(
  client: ClientBase,
  { orderId, surplusVnd }: { orderId: string; surplusVnd: bigint },
): Promise<void> {
  await client.query(
    `UPDATE transfer_review SET surplus_vnd = CASE WHEN $2::bigint > 0 THEN least(surplus_vnd, $2) ELSE surplus_vnd END,
            closed_at = CASE WHEN $2::bigint > 0 THEN closed_at ELSE now() END,
            closed_by = CASE WHEN $2::bigint > 0 THEN closed_by ELSE 'matcher' END,
            note = CASE WHEN $2::bigint > 0 THEN note ELSE 'another transfer of the order was taken away' END
     WHERE order_id = $1 AND reason = 'surplus' AND closed_at IS NULL`,
    [orderId, surplusVnd],
  );
}

export type UndoOutcome =
  | { kind: 'undone'; orderId: string }
  | { kind: 'unknown_transfer' }
  | { kind: 'not_matched' }
  /** The payer's memo names the order: that is no operator's mistake. */
  | { kind: 'matched_by_memo' }
  /** Another order upgrades the paid one. */
  | { kind: 'upgraded' }
  /** Some of it went back already. */
  | { kind: 'refunded' }
  /** Pico-USD of its budget that are spent, or held by running requests. */
  | { kind: 'used'; spent: bigint; held: bigint };

export type CreditOutcome =
  | { kind: 'credited'; orderId: string }
  | { kind: 'unknown_transfer' }
  | { kind: 'unknown_account' }
  | { kind: 'unknown_plan' }
  | { kind: 'already_matched'; orderId: string }
  | { kind: 'not_payable'; reason: ReviewReason }
  /** It goes back to whoever sent it. */
  | { kind: 'refunded' }
  /** It buys less than a cent. */
  | { kind: 'too_little' };

/** Thrown to roll a transaction back: what was changed before the grant was locked must not stay. */
class UndoRefused extends Error {
  override name = 'UndoRefused';
  readonly used: { spent: bigint; held: bigint };
  constructor(used: { spent: bigint; held: bigint }) {
    super('something of the budget is used');
    this.used = used;
  }
}

class MatchedMeanwhile extends Error {
  override name = 'MatchedMeanwhile';
}

async function findMatch(
  client: ClientBase,
  transferId: string,
  orderId: string,
): Promise<{ matchedBy: string; createdAt: Date } | null> {
  const { rows } = await client.query<{ matchedBy: string; createdAt: Date }>(
    `SELECT matched_by AS "matchedBy", created_at AS "createdAt" FROM transfer_match
     WHERE transfer_id = $1 AND order_id = $2`,
    [transferId, orderId],
  );
  return rows[0] ?? null;
}

async function isUpgraded(client: ClientBase, orderId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM purchase_order WHERE upgrades = $1 AND status IN ('pending', 'partial', 'paid') LIMIT 1`,
    [orderId],
  );
  return rowCount !== 0;
}

/** Whether the order was cancelled when the transfer was matched to it, by the audit log. */
async function wasCancelled(client: ClientBase, transferId: string): Promise<boolean> {
  const { rows } = await client.query<{ status: string | null }>(
    `SELECT before->>'orderStatus' AS status FROM audit_entry
     WHERE subject = 'transfer:' || $1 AND action = 'transfer.match' ORDER BY created_at DESC, id DESC LIMIT 1`,
    [transferId],
  );
  return rows[0]?.status === 'cancelled';
}

/** Puts a transfer back into the queue, for the reason that it was there for. */
async function reopenReview(client: ClientBase, transferId: string): Promise<void> {
  await client.query(
    `INSERT INTO transfer_review AS r (transfer_id, reason) VALUES ($1, 'no_memo')
     ON CONFLICT (transfer_id) DO UPDATE
     SET reason = CASE WHEN r.reason IN ('surplus', 'short') THEN 'no_memo' ELSE r.reason END,
         surplus_vnd = NULL, closed_at = NULL, closed_by = NULL, note = NULL`,
    [transferId],
  );
}
