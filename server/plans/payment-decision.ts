/**
 * Decides what a bank transfer means for an order: pure, on locked rows; the caller writes the decision. The database
 * repeats the rules that guard money: a transfer pays at most one order, an order is granted once.
 */

export type OrderStatus = 'pending' | 'partial' | 'paid' | 'expired' | 'cancelled';

/** Why a transfer waits for a person. */
export type ReviewReason =
  | 'no_memo'
  | 'unknown_memo'
  | 'several_memos'
  | 'late'
  | 'order_paid'
  | 'order_cancelled'
  | 'outgoing'
  | 'no_amount'
  | 'other_account'
  | 'repeated'
  | 'surplus'
  | 'short';

/** The fields of an order that a payment depends on. Amounts are whole VND. */
export interface PayableOrder {
  status: OrderStatus;
  priceVnd: bigint;
  /** The sum of the transfers matched so far. */
  receivedVnd: bigint;
  createdAt: Date;
  expiresAt: Date;
  /** The order whose plan this one upgrades. */
  upgrades: string | null;
  /** The account that it is of was erased: nothing is granted for it any more. */
  erased?: boolean;
}

export interface IncomingAmount {
  direction: 'in' | 'out';
  amountVnd: bigint;
  bookedAt: Date;
}

export type PaymentDecision =
  /** The price is reached. `surplusVnd` is the excess. */
  | { kind: 'paid'; surplusVnd: bigint }
  | { kind: 'partial'; missingVnd: bigint }
  | { kind: 'review'; reason: ReviewReason };

/** Transfers that cannot pay any order, regardless of their text. Null: it can. */
export function refuseAmount({ direction, amountVnd }: IncomingAmount): 'outgoing' | 'no_amount' | null {
  if (direction === 'out') return 'outgoing';
  return amountVnd > 0n ? null : 'no_amount';
}

/**
 * Decides on a transfer whose memo names exactly this order. `now` is the database's clock.
 *
 * An expired order is still paid by money that was sent in time: the bank's time counts, not the arrival of the
 * message, unless that time is impossible (before the order, or in the future). An upgrade is the exception: once
 * expired, another upgrade may have taken its place.
 */
export function decidePayment(order: PayableOrder, transfer: IncomingAmount, now: Date): PaymentDecision {
  const refused = refuseAmount(transfer);
  if (refused !== null) return { kind: 'review', reason: refused };
  if (order.status === 'paid') return { kind: 'review', reason: 'order_paid' };
  if (order.status === 'cancelled' || order.erased === true) return { kind: 'review', reason: 'order_cancelled' };
  const superseded = order.status === 'expired' && order.upgrades !== null;
  if (superseded || isLate(order, transfer, now)) return { kind: 'review', reason: 'late' };
  return addUp(order, transfer.amountVnd);
}

/**
 * Decides on a transfer that an operator matches to an order: an operator may forgive lateness and cancellation, but
 * not grant twice, nor to an account that was erased.
 */
export function decideByHand(order: PayableOrder, transfer: IncomingAmount): PaymentDecision {
  const refused = refuseAmount(transfer);
  if (refused !== null) return { kind: 'review', reason: refused };
  if (order.status === 'paid') return { kind: 'review', reason: 'order_paid' };
  if (order.erased === true) return { kind: 'review', reason: 'order_cancelled' };
  return addUp(order, transfer.amountVnd);
}

function addUp(order: PayableOrder, amountVnd: bigint): PaymentDecision {
  const sum = order.receivedVnd + amountVnd;
  return sum >= order.priceVnd
    ? { kind: 'paid', surplusVnd: sum - order.priceVnd }
    : { kind: 'partial', missingVnd: order.priceVnd - sum };
}

function isLate(order: PayableOrder, transfer: IncomingAmount, now: Date): boolean {
  const plausible = transfer.bookedAt >= order.createdAt && transfer.bookedAt <= now;
  return (plausible ? transfer.bookedAt : now) > order.expiresAt;
}
