/** The decision on a payment, case by case. */

import { describe, expect, it } from 'vitest';
import {
  decideByHand,
  decidePayment,
  type IncomingAmount,
  type PayableOrder,
  type PaymentDecision,
} from '../../server/plans/payment-decision.ts';

const day = 24 * 3_600_000;
const now = new Date('2026-11-21T09:00:00Z');
const at = (days: number) => new Date(now.getTime() + days * day);

const anOrder = (changes: Partial<PayableOrder> = {}): PayableOrder => ({
  status: 'pending',
  priceVnd: 250_000n,
  receivedVnd: 0n,
  createdAt: at(-1),
  expiresAt: at(2),
  upgrades: null,
  ...changes,
});
const aTransfer = (changes: Partial<IncomingAmount> = {}): IncomingAmount => ({
  direction: 'in',
  amountVnd: 250_000n,
  bookedAt: at(-0.1),
  ...changes,
});
const paid = (surplusVnd = 0n): PaymentDecision => ({ kind: 'paid', surplusVnd });
const partial = (missingVnd: bigint): PaymentDecision => ({ kind: 'partial', missingVnd });
const review = (reason: Extract<PaymentDecision, { kind: 'review' }>['reason']): PaymentDecision => ({
  kind: 'review',
  reason,
});
const over = { createdAt: at(-5), expiresAt: at(-2) };

describe('a transfer that names an order', () => {
  it.each<[string, Partial<PayableOrder>, Partial<IncomingAmount>, PaymentDecision]>([
    ['exactly the price', {}, {}, paid()],
    ['one VND short', {}, { amountVnd: 249_999n }, partial(1n)],
    ['one VND over', {}, { amountVnd: 250_001n }, paid(1n)],
    ['the rest of a split payment', { status: 'partial', receivedVnd: 100_000n }, { amountVnd: 150_000n }, paid()],
    ['not yet the rest', { status: 'partial', receivedVnd: 100_000n }, { amountVnd: 1n }, partial(149_999n)],
    ['more than the rest', { status: 'partial', receivedVnd: 100_000n }, { amountVnd: 200_000n }, paid(50_000n)],
    ['a second payment', { status: 'paid', receivedVnd: 250_000n }, {}, review('order_paid')],
    ['a cancelled order', { status: 'cancelled' }, {}, review('order_cancelled')],
    ['after the time, order still open', { expiresAt: at(-0.01) }, { bookedAt: now }, review('late')],
    ['after the time, order expired', { status: 'expired', ...over }, { bookedAt: at(-1) }, review('late')],
    ['told late, booked in time', { status: 'expired', ...over }, { bookedAt: at(-3) }, paid()],
    [
      'told late, booked in time, short',
      { status: 'expired', ...over },
      { bookedAt: at(-3), amountVnd: 1n },
      partial(249_999n),
    ],
    ['expired, booked before the order was made', { status: 'expired', ...over }, { bookedAt: at(-6) }, review('late')],
    ['open, booked before the order was made', {}, { bookedAt: at(-6) }, paid()],
    ['expired, booked in the future', { status: 'expired', ...over }, { bookedAt: at(1) }, review('late')],
    [
      'expired upgrade, booked in time',
      { status: 'expired', upgrades: 'x', ...over },
      { bookedAt: at(-3) },
      review('late'),
    ],
    ['money that left', {}, { direction: 'out' }, review('outgoing')],
    ['nothing', {}, { amountVnd: 0n }, review('no_amount')],
    ['less than nothing', {}, { amountVnd: -250_000n }, review('no_amount')],
  ])('%s', (_, order, transfer, expected) => {
    expect(decidePayment(anOrder(order), aTransfer(transfer), now)).toEqual(expected);
  });

  it.each<[string, Partial<PayableOrder>, Partial<IncomingAmount>, PaymentDecision]>([
    ['a late payment', { status: 'expired', ...over }, { bookedAt: at(-1) }, paid()],
    ['a cancelled order', { status: 'cancelled' }, {}, paid()],
    ['part of the price', {}, { amountVnd: 1n }, partial(249_999n)],
    ['a paid order', { status: 'paid', receivedVnd: 250_000n }, {}, review('order_paid')],
    ['money that left', {}, { direction: 'out' }, review('outgoing')],
    ['nothing', {}, { amountVnd: 0n }, review('no_amount')],
  ])('by hand: %s', (_, order, transfer, expected) => {
    expect(decideByHand(anOrder(order), aTransfer(transfer))).toEqual(expected);
  });
});
