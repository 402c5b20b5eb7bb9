import type { ClientBase, Pool } from 'pg';
import { type LockedGrant, lockGrants, returnTaken, takeBack } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { findTransfer, insertReview, type LockedOrder, lockOrder, standing } from './bank/transfer-rows.ts';
import { createMemo, findMemos } from './memo.ts';
import { recordOrderMail } from './order-mails.ts';
import { restoreInvoice, withdrawInvoice } from './papers/invoices.ts';

/**
 * Money that goes back to customers: of a purchase, of a surplus, or of a payment that bought nothing. A refund is a fact of
 * its own with the number of its credit note; the transfer that pays it is matched to it by its memo, or by hand. Of a
 * purchase, unused budget is taken back at the purchase's own rate; budget that was used is paid back as well where an
 * operator says so, and stays used. A refund that was a mistake is undone by a movement at its own moment: its credit note is
 * cancelled and keeps the number, and the budget returns to the grant that it was taken of.
 */

export type RefundKind = 'purchase' | 'surplus' | 'payment';

export interface Refund {
  id: string;
  /** Of the credit note. */
  number: bigint;
  memo: string;
  kind: RefundKind;
  orderId: string | null;
  transferId: string | null;
  accountId: string | null;
  /** Whole VND: for budget that is taken back, and for budget that was used or had expired. */
  amountVnd: bigint;
  unusedVnd: bigint;
  usedVnd: bigint;
  /** Pico-USD that were taken back, and of the bonus. */
  budget: bigint;
  bonus: bigint;
  /** Whole VND that the bank has sent for it. */
  sentVnd: bigint;
  reason: string;
  createdBy: string;
  createdAt: Date;
  /** When it was undone because it was a mistake, by whom and why. */
  undoneAt: Date | null;
  undoneBy: string | null;
  undoneReason: string | null;
}

export type RefundOutcome =
  | { kind: 'refunded'; refund: Refund }
  | { kind: 'unknown_order' }
  | { kind: 'unknown_transfer' }
  | { kind: 'not_paid' }
  /** The receiver of the gift has not got it yet. */
  | { kind: 'gift_waits' }
  /** What is free of its budget, and what running requests hold (pico-USD). */
  | { kind: 'too_much_budget'; free: bigint; held: bigint }
  /** What can go back at most, in whole VND. */
  | { kind: 'too_much'; mostVnd: bigint };

export type PayRefundOutcome =
  | { kind: 'paid'; refund: Refund }
  | { kind: 'unknown_transfer' }
  | { kind: 'unknown_refund' }
  /** It is incoming, or pays a refund already. */
  | { kind: 'not_payable' }
  /** More than what is left to send. */
  | { kind: 'too_much'; mostVnd: bigint };

export type UndoRefundOutcome =
  | { kind: 'undone'; refund: Refund }
  | { kind: 'unknown_refund' }
  /** It was undone before. */
  | { kind: 'already_undone' };

export interface RefundOfOrder {
  orderId: string;
  /** Pico-USD of unused budget to take back; null: all of it. */
  budget: bigint | null;
  /** Whole VND to pay back for budget that was used or had expired, which stays so; `all`: everything that was paid for it. */
  usedVnd: bigint | 'all';
  reason: string;
  by: string;
}

export interface RefundOfTransfer {
  transferId: string;
  /** Whole VND; null: everything that bought nothing. */
  amountVnd: bigint | null;
  reason: string;
  by: string;
}

/** What a refund of a purchase would be: pico-USD of its budget, and whole VND. */
export interface RefundQuote {
  free: bigint;
  /** Running requests hold it. */
  held: bigint;
  /** What would be taken back, and its VND. */
  budget: bigint;
  unusedVnd: bigint;
  /** What can go back at most for budget that was used or has expired. */
  mostUsedVnd: bigint;
}

type QuoteRow = Omit<LockedGrant, 'id'> & Record<'priceVnd' | 'unusedVnd' | 'usedVnd' | 'budget', bigint>;

const columns = `r.id, r.number, r.memo, r.kind, r.order_id AS "orderId", r.transfer_id AS "transferId", r.account_id AS "accountId",
  r.amount_vnd AS "amountVnd", r.unused_vnd AS "unusedVnd", r.used_vnd AS "usedVnd", r.budget, r.bonus, r.reason,
  r.created_by AS "createdBy", r.created_at AS "createdAt", undone.undone_at AS "undoneAt", undone.undone_by AS "undoneBy",
  undone.reason AS "undoneReason",
  (SELECT coalesce(sum(t.amount_vnd), 0)::bigint FROM refund_payment p JOIN bank_transfer t ON t.id = p.transfer_id
   WHERE p.refund_id = r.id) AS "sentVnd"`;
const tables = 'refund r LEFT JOIN refund_undone undone ON undone.refund_id = r.id';

/** `pool` must read BIGINT as `bigint`. */
export function createRefunds({ pool }: { pool: Pool }) {
  return {
    /** Takes unused budget of a purchase back, and says how much money goes back for it. */
    refundOrder(ask: RefundOfOrder): Promise<RefundOutcome> {
      if (!isUuid(ask.orderId)) return Promise.resolve({ kind: 'unknown_order' });
      return repeatedTransaction(pool, (client) => refundOrder(client, ask));
    },

    /** Says that a surplus, or a payment that bought nothing, goes back. It cannot pay an order any more. */
    refundTransfer(ask: RefundOfTransfer): Promise<RefundOutcome> {
      if (!isUuid(ask.transferId)) return Promise.resolve({ kind: 'unknown_transfer' });
      return repeatedTransaction(pool, (client) => refundTransfer(client, ask));
    },

    /** What a refund of so much unused budget (null: all of it) would give back now; null: nothing can go back. */
    async quote({ orderId, budget }: { orderId: string; budget: bigint | null }): Promise<RefundQuote | null> {
      const { rows } = await pool.query<QuoteRow>(
        `SELECT g.amount, g.spent, g.held, g.expired, o.price_vnd AS "priceVnd", coalesce(sum(r.unused_vnd), 0)::bigint AS "unusedVnd",
                coalesce(sum(r.used_vnd), 0)::bigint AS "usedVnd", coalesce(sum(r.budget), 0)::bigint AS budget
         FROM purchase_order o
         JOIN "grant" g ON g.account_id = coalesce(o.receiver_id, o.account_id) AND g.source_ref = 'order:' || o.id
         LEFT JOIN refund r ON r.order_id = o.id AND r.kind = 'purchase' AND ${standing}
         WHERE o.id = $1 AND o.status = 'paid' GROUP BY g.amount, g.spent, g.held, g.expired, o.price_vnd`,
        [isUuid(orderId) ? orderId : null],
      );
      const [row] = rows;
      if (row === undefined) return null;
      const { priceVnd, unusedVnd, usedVnd, budget: refunded, ...grant } = row;
      const free = grant.amount - grant.spent - grant.held - grant.expired;
      const asked = budget ?? free;
      if (asked < 0n || asked > free) return null;
      const earlier = { unusedVnd, usedVnd, budget: refunded };
      const { unusedVnd: back, mostUsedVnd } = refundVnd({ priceVnd, grant, earlier }, asked);
      return { free, held: grant.held, budget: asked, unusedVnd: back, mostUsedVnd };
    },

    /** Matches an outgoing transfer to a refund. */
    pay(ask: { transferId: string; refundId: string; by: string }): Promise<PayRefundOutcome> {
      if (!isUuid(ask.transferId)) return Promise.resolve({ kind: 'unknown_transfer' });
      if (!isUuid(ask.refundId)) return Promise.resolve({ kind: 'unknown_refund' });
      return repeatedTransaction(pool, async (client) => {
        const outcome = await payRefund(client, ask);
        if (outcome.kind === 'paid')
          await appendAudit(client, {
            actor: ask.by,
            action: 'refund.pay',
            subject: `transfer:${ask.transferId}`,
            after: { refundId: ask.refundId, creditNote: outcome.refund.number },
          });
        return outcome;
      });
    },

    /** Takes the match of an outgoing transfer back; false: it pays none. The match stays on record. */
    async undoPayment({ transferId, by }: { transferId: string; by: string }): Promise<boolean> {
      if (!isUuid(transferId)) return false;
      return repeatedTransaction(pool, (client) => undoPayment(client, { transferId, by }));
    },

    /**
     * Undoes a refund that was a mistake: its budget returns to where it was taken, its credit note is cancelled, and the
     * transfers that paid it wait for a person again.
     */
    undo(ask: { refundId: string; reason: string; by: string }): Promise<UndoRefundOutcome> {
      if (!isUuid(ask.refundId)) return Promise.resolve({ kind: 'unknown_refund' });
      return repeatedTransaction(pool, (client) => undoRefund(client, ask));
    },

    /** Newest first. `accountId`: of this account; `open`: those that were not sent in full. */
    async list({
      accountId = null,
      open = false,
      orderId = null,
      limit,
    }: {
      accountId?: string | null;
      open?: boolean;
      orderId?: string | null;
      limit: number;
    }): Promise<Refund[]> {
      const { rows } = await pool.query<Refund>(
        `SELECT * FROM (SELECT ${columns} FROM ${tables}
           WHERE ($1::uuid IS NULL OR r.account_id = $1) AND ($2::uuid IS NULL OR r.order_id = $2)) AS refund
         WHERE NOT $3 OR ("sentVnd" < "amountVnd" AND "undoneAt" IS NULL) ORDER BY number DESC LIMIT $4`,
        [accountId, orderId, open, limit],
      );
      return rows;
    },

    async find(refundId: string): Promise<Refund | null> {
      return isUuid(refundId) ? readRefund(pool, refundId) : null;
    },

    /** Those of orders, by order, oldest first. */
    async ofOrders(orderIds: readonly string[]): Promise<Map<string, Refund[]>> {
      const { rows } = await pool.query<Refund & { orderId: string }>(
        `SELECT ${columns} FROM ${tables} WHERE r.order_id = ANY ($1::uuid[]) ORDER BY r.number`,
        [orderIds],
      );
      return Map.groupBy(rows, ({ orderId }) => orderId);
    },
  };
}

export type Refunds = ReturnType<typeof createRefunds>;

async function readRefund(db: Pool | ClientBase, refundId: string): Promise<Refund | null> {
  const { rows } = await db.query<Refund>(`SELECT ${columns} FROM ${tables} WHERE r.id = $1`, [refundId]);
  return rows[0] ?? null;
}

/** What was refunded of an order's purchase before. */
async function readEarlier(client: ClientBase, orderId: string) {
  const { rows } = await client.query<{ unusedVnd: bigint; usedVnd: bigint; budget: bigint }>(
    `SELECT coalesce(sum(unused_vnd), 0)::bigint AS "unusedVnd", coalesce(sum(used_vnd), 0)::bigint AS "usedVnd",
            coalesce(sum(budget), 0)::bigint AS budget FROM refund r WHERE order_id = $1 AND kind = 'purchase' AND ${standing}`,
    [orderId],
  );
  return rows[0] ?? { unusedVnd: 0n, usedVnd: 0n, budget: 0n };
}

/**
 * Whole VND of a refund at the purchase's own rate, as the books count them: parts are cut to whole VND, and the last of the
 * budget takes what cutting has left.
 */
export function refundVnd(
  {
    priceVnd,
    grant,
    earlier,
  }: {
    priceVnd: bigint;
    grant: Omit<LockedGrant, 'id'>;
    earlier: { unusedVnd: bigint; usedVnd: bigint; budget: bigint };
  },
  budget: bigint,
): { unusedVnd: bigint; mostUsedVnd: bigint; isLast: boolean } {
  const part = (of: bigint): bigint => (priceVnd * of) / grant.amount;
  const expired = grant.expired - earlier.budget;
  const gone = part(grant.spent) + part(expired);
  const isLast = budget > 0n && grant.spent + grant.expired + budget === grant.amount;
  // What cutting has left may have gone back with another part.
  const rest = priceVnd - gone - earlier.unusedVnd;
  const unusedVnd = isLast && rest > 0n ? rest : isLast ? 0n : part(budget);
  const isOver = isLast || grant.spent + grant.expired === grant.amount;
  const mostUsedVnd = (isOver ? priceVnd - earlier.unusedVnd - unusedVnd : gone) - earlier.usedVnd;
  return { unusedVnd, mostUsedVnd, isLast: isOver };
}

async function refundOrder(client: ClientBase, ask: RefundOfOrder): Promise<RefundOutcome> {
  const order = await lockOrder(client, ask.orderId);
  if (order === null) return { kind: 'unknown_order' };
  if (order.status !== 'paid') return { kind: 'not_paid' };
  const holderId = order.giftTo === null ? order.accountId : order.receiverId;
  if (holderId === null) return { kind: 'gift_waits' };
  const earlier = await readEarlier(client, order.id);
  const id = uuidv7();
  const sources = { purchase: `order:${order.id}`, bonus: `bonus:${order.id}` };
  const grants = await lockGrants(client, { accountId: holderId, sourceRefs: Object.values(sources) });
  const grant = grants.get(sources.purchase);
  if (grant === undefined) throw new Error('a paid order has no grant');
  const free = grant.amount - grant.spent - grant.held - grant.expired;
  const budget = ask.budget ?? free;
  if (budget > free || budget < 0n || (ask.usedVnd === 'all' && grant.held > 0n))
    return { kind: 'too_much_budget', free, held: grant.held };
  const { unusedVnd, mostUsedVnd, isLast } = refundVnd({ priceVnd: order.priceVnd, grant, earlier }, budget);
  const usedVnd = ask.usedVnd === 'all' ? mostUsedVnd : ask.usedVnd;
  if (usedVnd > mostUsedVnd || usedVnd < 0n || unusedVnd + usedVnd === 0n)
    return { kind: 'too_much', mostVnd: unusedVnd + mostUsedVnd };
  // A bonus goes with the last of what it was given for.
  const given = isLast ? grants.get(sources.bonus) : undefined;
  const bonus = given === undefined ? 0n : given.amount - given.spent - given.held - given.expired;
  const postingId = budget === 0n ? null : await takeBack(client, { accountId: holderId, grant, amount: budget });
  const bonusPostingId =
    given === undefined || bonus === 0n
      ? null
      : await takeBack(client, { accountId: holderId, grant: given, amount: bonus });
  const refund = await insertRefund(client, {
    id,
    kind: 'purchase',
    orderId: order.id,
    transferId: null,
    accountId: order.accountId,
    amountVnd: unusedVnd + usedVnd,
    unusedVnd,
    usedVnd,
    holderId,
    grantId: budget === 0n ? null : grant.id,
    budget,
    postingId,
    bonusGrantId: bonusPostingId === null ? null : (given?.id ?? null),
    bonus,
    bonusPostingId,
    reason: ask.reason,
    createdBy: ask.by,
  });
  // The invoice said more than was paid in the end: a person corrects it at the provider.
  if (isLast && usedVnd === mostUsedVnd) await withdrawInvoice(client, order.id);
  else
    await client.query(
      `UPDATE order_invoice SET state = 'to_cancel', problem = 'refunded' WHERE order_id = $1 AND state = 'issued'`,
      [order.id],
    );
  return { kind: 'refunded', refund };
}

async function refundTransfer(client: ClientBase, ask: RefundOfTransfer): Promise<RefundOutcome> {
  const known = await findTransfer(client, ask.transferId);
  if (known === null || known.direction !== 'in') return { kind: 'unknown_transfer' };
  const order = known.orderId === null ? null : await lockOrder(client, known.orderId);
  // Serialised with matches and refunds of the same transfer.
  await client.query('SELECT FROM bank_transfer WHERE id = $1 FOR UPDATE', [known.id]);
  const transfer = await findTransfer(client, ask.transferId);
  if (transfer === null || transfer.orderId !== (order?.id ?? null)) return { kind: 'unknown_transfer' };
  const { rows } = await client.query<{ vnd: bigint }>(
    `SELECT coalesce(sum(amount_vnd), 0)::bigint AS vnd FROM refund r WHERE transfer_id = $1 AND ${standing}`,
    [transfer.id],
  );
  const left = transfer.amountVnd - (rows[0]?.vnd ?? 0n);
  // Told twice is no second money.
  const isMoney = transfer.review?.reason !== 'repeated' || order !== null;
  // `receivedVnd` is without what was refunded.
  const spare = order === null || order.status !== 'paid' ? left : order.receivedVnd - order.priceVnd;
  const mostVnd = !isMoney ? 0n : spare < left ? spare : left;
  const amountVnd = ask.amountVnd ?? mostVnd;
  if (amountVnd <= 0n || amountVnd > mostVnd) return { kind: 'too_much', mostVnd: mostVnd < 0n ? 0n : mostVnd };
  const refund = await insertRefund(client, {
    id: uuidv7(),
    kind: order?.status === 'paid' ? 'surplus' : 'payment',
    orderId: order?.id ?? null,
    transferId: transfer.id,
    accountId: order?.accountId ?? null,
    amountVnd,
    unusedVnd: 0n,
    usedVnd: 0n,
    holderId: null,
    grantId: null,
    budget: 0n,
    postingId: null,
    bonusGrantId: null,
    bonus: 0n,
    bonusPostingId: null,
    reason: ask.reason,
    createdBy: ask.by,
  });
  await client.query(
    `UPDATE transfer_review SET closed_at = now(), closed_by = $2, note = $3 WHERE transfer_id = $1 AND closed_at IS NULL`,
    [transfer.id, ask.by, `credit note ${refund.number}`],
  );
  return { kind: 'refunded', refund };
}

type NewRefund = Omit<
  Refund,
  'number' | 'memo' | 'sentVnd' | 'createdAt' | 'undoneAt' | 'undoneBy' | 'undoneReason'
> & {
  holderId: string | null;
  grantId: string | null;
  postingId: string | null;
  bonusGrantId: string | null;
  bonusPostingId: string | null;
};

async function insertRefund(client: ClientBase, refund: NewRefund): Promise<Refund> {
  const { rows: taken } = await client.query<{ number: bigint }>(`SELECT next_paper_number('credit_note') AS number`);
  const number = taken[0]?.number;
  if (number === undefined) throw new Error('a credit note got no number');
  // There are a thousand million codes, of orders and refunds together.
  for (let attempt = 0; attempt < 5; attempt++) {
    const { rowCount } = await client.query(
      `INSERT INTO refund (id, number, memo, kind, order_id, transfer_id, account_id, amount_vnd, unused_vnd, used_vnd, holder_id,
         grant_id, budget, posting_id, bonus_grant_id, bonus, bonus_posting_id, reason, created_by)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19
       WHERE NOT EXISTS (SELECT FROM purchase_order WHERE memo = $3)
       ON CONFLICT (memo) DO NOTHING`,
      [
        refund.id,
        number,
        createMemo(),
        refund.kind,
        refund.orderId,
        refund.transferId,
        refund.accountId,
        refund.amountVnd,
        refund.unusedVnd,
        refund.usedVnd,
        refund.holderId,
        refund.grantId,
        refund.budget,
        refund.postingId,
        refund.bonusGrantId,
        refund.bonus,
        refund.bonusPostingId,
        refund.reason,
        refund.createdBy,
      ],
    );
    if (rowCount !== 1) continue;
    if (refund.orderId !== null)
      await recordOrderMail(client, { orderId: refund.orderId, kind: 'refunded', subjectId: refund.id });
    const { kind, orderId, transferId, amountVnd, budget, usedVnd, reason } = refund;
    await appendAudit(client, {
      actor: refund.createdBy,
      action: 'refund.create',
      subject: orderId === null ? `transfer:${transferId}` : `order:${orderId}`,
      after: { creditNote: number, kind, amountVnd, budget, usedVnd, reason },
    });
    const written = await readRefund(client, refund.id);
    if (written === null) throw new Error('a refund that was just written is missing');
    return written;
  }
  throw new Error('no free memo code was found');
}

async function payRefund(
  client: ClientBase,
  { transferId, refundId, by }: { transferId: string; refundId: string; by: string },
): Promise<PayRefundOutcome> {
  const { rowCount } = await client.query('SELECT FROM refund WHERE id = $1 FOR UPDATE', [refundId]);
  const refund = rowCount === 0 ? null : await readRefund(client, refundId);
  if (refund === null) return { kind: 'unknown_refund' };
  const transfer = await findTransfer(client, transferId);
  if (transfer === null) return { kind: 'unknown_transfer' };
  if (transfer.direction !== 'out' || transfer.amountVnd === 0n || transfer.review?.reason === 'repeated')
    return { kind: 'not_payable' };
  const mostVnd = refund.undoneAt === null ? refund.amountVnd - refund.sentVnd : 0n;
  if (transfer.amountVnd > mostVnd) return { kind: 'too_much', mostVnd };
  const inserted = await client.query(
    `INSERT INTO refund_payment (transfer_id, refund_id, matched_by) VALUES ($1, $2, $3) ON CONFLICT (transfer_id) DO NOTHING`,
    [transferId, refundId, by],
  );
  if (inserted.rowCount !== 1) return { kind: 'not_payable' };
  await client.query(
    `UPDATE transfer_review SET closed_at = now(), closed_by = $2, note = $3 WHERE transfer_id = $1 AND closed_at IS NULL`,
    [transferId, by, `credit note ${refund.number}`],
  );
  return { kind: 'paid', refund: { ...refund, sentVnd: refund.sentVnd + transfer.amountVnd } };
}

async function undoPayment(
  client: ClientBase,
  { transferId, by }: { transferId: string; by: string },
): Promise<boolean> {
  const { rows } = await client.query<{ refundId: string }>(
    `INSERT INTO refund_unpayment (id, transfer_id, refund_id, matched_by, matched_at, undone_by)
     SELECT $1, transfer_id, refund_id, matched_by, created_at, $3 FROM (
       SELECT * FROM refund_payment WHERE transfer_id = $2 FOR UPDATE) AS paid
     RETURNING refund_id AS "refundId"`,
    [uuidv7(), transferId, by],
  );
  if (rows[0] === undefined) return false;
  await client.query('DELETE FROM refund_payment WHERE transfer_id = $1', [transferId]);
  await client.query(
    `INSERT INTO transfer_review (transfer_id, reason) VALUES ($1, 'outgoing')
     ON CONFLICT (transfer_id) DO UPDATE SET closed_at = NULL, closed_by = NULL, note = NULL`,
    [transferId],
  );
  await appendAudit(client, {
    actor: by,
    action: 'refund.undo_payment',
    subject: `transfer:${transferId}`,
    before: { refundId: rows[0].refundId },
  });
  return true;
}

async function undoRefund(
  client: ClientBase,
  { refundId, reason, by }: { refundId: string; reason: string; by: string },
): Promise<UndoRefundOutcome> {
  const known = await readRefund(client, refundId);
  if (known === null) return { kind: 'unknown_refund' };
  const order = known.orderId === null ? null : await lockOrder(client, known.orderId);
  if (known.transferId !== null)
    await client.query('SELECT FROM bank_transfer WHERE id = $1 FOR UPDATE', [known.transferId]);
  const { rows } = await client.query<TakenParts>(
    `SELECT holder_id AS "holderId", grant_id AS "grantId", bonus_grant_id AS "bonusGrantId" FROM refund WHERE id = $1 FOR UPDATE`,
    [refundId],
  );
  const taken = rows[0];
  const refund = await readRefund(client, refundId);
  if (taken === undefined || refund === null) throw new Error('a refund that was just read is missing');
  if (refund.undoneAt !== null) return { kind: 'already_undone' };
  const { rows: payments } = await client.query<{ transferId: string }>(
    'SELECT transfer_id AS "transferId" FROM refund_payment WHERE refund_id = $1 ORDER BY transfer_id',
    [refundId],
  );
  for (const { transferId } of payments) await undoPayment(client, { transferId, by });
  if (refund.orderId !== null && refund.kind === 'purchase') {
    const isOther = await isRefunded(client, { orderId: refund.orderId }, refundId);
    if (!isOther) await restoreInvoice(client, refund.orderId);
  }
  if (refund.transferId !== null) await reopenRefunded(client, { refund, order, transferId: refund.transferId, by });
  if (refund.orderId !== null)
    await recordOrderMail(client, { orderId: refund.orderId, kind: 'refund_undone', subjectId: refundId });
  const { number, kind, amountVnd, budget, orderId, transferId } = refund;
  await appendAudit(client, {
    actor: by,
    action: 'refund.undo',
    subject: orderId === null ? `transfer:${transferId}` : `order:${orderId}`,
    before: { creditNote: number, kind, amountVnd, budget },
    after: { reason, transfers: payments.map((each) => each.transferId) },
  });
  // The last locks.
  const postings = await returnBudget(client, { refund, taken });
  await client.query(
    'INSERT INTO refund_undone (refund_id, posting_id, bonus_posting_id, reason, undone_by) VALUES ($1, $2, $3, $4, $5)',
    [refundId, postings.budget, postings.bonus, reason, by],
  );
  const undone = await readRefund(client, refundId);
  if (undone === null) throw new Error('a refund that was just undone is missing');
  return { kind: 'undone', refund: undone };
}

/** Whose grants a refund took back of. */
interface TakenParts {
  holderId: string | null;
  grantId: string | null;
  bonusGrantId: string | null;
}

/** Gives back what a refund took; the ids of the postings. */
async function returnBudget(
  client: ClientBase,
  { refund, taken }: { refund: Refund; taken: TakenParts },
): Promise<Record<'budget' | 'bonus', string | null>> {
  const { holderId } = taken;
  const postings: Record<'budget' | 'bonus', string | null> = { budget: null, bonus: null };
  if (holderId === null || refund.orderId === null) return postings;
  const sources = { budget: `order:${refund.orderId}`, bonus: `bonus:${refund.orderId}` };
  const grants = await lockGrants(client, { accountId: holderId, sourceRefs: Object.values(sources) });
  for (const part of ['budget', 'bonus'] as const) {
    if (refund[part] === 0n) continue;
    const grant = grants.get(sources[part]);
    if (grant === undefined) throw new Error('what a refund took back has no grant');
    postings[part] = await returnTaken(client, { accountId: holderId, grant, amount: refund[part] });
  }
  return postings;
}

/**
 * Money whose refund was undone is a customer's again: part of an open order, or for a person to look at. Where it would
 * complete its order, it is for a person as well, who matches it like any other.
 */
async function reopenRefunded(
  client: ClientBase,
  { refund, order, transferId, by }: { refund: Refund; order: LockedOrder | null; transferId: string; by: string },
): Promise<void> {
  const { amountVnd, number } = refund;
  if (order?.status === 'paid') {
    const surplusVnd = order.receivedVnd + amountVnd - order.priceVnd;
    await insertReview(client, { transferId, reason: 'surplus', orderId: order.id, surplusVnd });
    return;
  }
  await client.query(
    'UPDATE transfer_review SET closed_at = NULL, closed_by = NULL, note = NULL WHERE transfer_id = $1 AND note = $2',
    [transferId, `credit note ${number}`],
  );
  if (order === null || order.receivedVnd + amountVnd < order.priceVnd) return;
  await client.query(
    `INSERT INTO transfer_unmatch (id, transfer_id, order_id, matched_by, matched_at, undone_by)
     SELECT $1, transfer_id, order_id, matched_by, created_at, $3 FROM transfer_match WHERE transfer_id = $2`,
    [uuidv7(), transferId, by],
  );
  await client.query('DELETE FROM transfer_match WHERE transfer_id = $1', [transferId]);
  await insertReview(client, { transferId, reason: 'no_memo', orderId: order.id });
}

/** The refund that an outgoing transfer pays by its memo: it names one, and no more is sent than it is of. Null: none. */
export async function matchRefund(
  client: ClientBase,
  { transferId, memo }: { transferId: string; memo: string },
): Promise<Refund | null> {
  const memos = findMemos(memo);
  const { rows } = await client.query<{ id: string }>('SELECT id FROM refund WHERE memo = ANY ($1)', [memos]);
  const [named, second] = rows;
  if (named === undefined || second !== undefined) return null;
  const outcome = await payRefund(client, { transferId, refundId: named.id, by: 'matcher' });
  return outcome.kind === 'paid' ? outcome.refund : null;
}

/** Whether anything of an order, or of a transfer, was refunded, by a refund beside `but`: it is neither undone nor upgraded nor matched. */
export async function isRefunded(
  client: ClientBase,
  of: { orderId: string } | { transferId: string },
  but: string | null = null,
): Promise<boolean> {
  // A refund of the transfer and a match of it wait for each other.
  if ('transferId' in of) await client.query('SELECT FROM bank_transfer WHERE id = $1 FOR UPDATE', [of.transferId]);
  const [column, id] = 'orderId' in of ? ['order_id', of.orderId] : ['transfer_id', of.transferId];
  const { rowCount } = await client.query(
    `SELECT FROM refund r WHERE ${column} = $1 AND r.id IS DISTINCT FROM $2::uuid AND ${standing} LIMIT 1`,
    [id, but],
  );
  return rowCount !== 0;
}
