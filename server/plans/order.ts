/** What an order is, and the bank account that it is paid to. */

import type { OrderStatus } from './payment-decision.ts';

export interface Order {
  id: string;
  accountId: string;
  planId: string;
  planName: string;
  memo: string;
  /** Whole VND. With an upgrade: the difference. */
  priceVnd: bigint;
  /** Pico-USD. With an upgrade: the difference. */
  budget: bigint;
  validDays: number | null;
  status: OrderStatus;
  /** Pico-USD that are given beside the budget. */
  bonus: bigint;
  /** The buyer named the amount; the plan gave the price of a USD. */
  freeAmount: boolean;
  /** For whom it is, when not for the buyer: an account's id or e-mail address. */
  giftTo: string | null;
  /** The paid order that this one upgrades. */
  upgrades: string | null;
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
  /** Whole VND: the sum of its matched transfers. */
  receivedVnd: bigint;
}

/** The bank account to pay to. */
export interface BankAccount {
  /** Six digits that name the bank at NAPAS. */
  bin: string;
  account: string;
  /** The name of its owner. */
  name: string;
  /** Fictitious: it cannot be paid, and the QR code says so. */
  isDemonstration?: boolean;
}
