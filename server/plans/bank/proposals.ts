import type { Pool } from 'pg';
import { memoLength } from '../memo.ts';
import type { OrderStatus } from '../payment-decision.ts';
import type { Transfer } from './transfer-rows.ts';

/**
 * Proposals of the order that a transfer may pay, for the operator who matches it: its memo code was mistyped or cut, or
 * its amount is exactly what an order waits for. Nothing is ever matched by a proposal itself.
 */

export interface Proposal {
  orderId: string;
  /** `near_memo`: the text holds almost its code. `same_amount`: it waits for exactly this amount. */
  reason: 'near_memo' | 'same_amount';
  /** Missing, added or different characters of the code; 0 with `same_amount`. */
  differences: number;
}

/** More differences would make any text resemble some order. */
const maxDifferences = 2;
const maxProposals = 5;
/** Orders that are looked at, the newest. */
const maxCandidates = 5_000;
/** Longer texts are cut: banks deliver a few hundred characters. */
const maxTextLength = 300;

interface Candidate {
  id: string;
  memo: string;
  status: OrderStatus;
  /** Whole VND. */
  missingVnd: bigint;
  createdAt: Date;
}

/** Proposals for a transfer that pays no order, the most likely first. */
export async function proposeOrders(
  pool: Pool,
  transfer: Pick<Transfer, 'memo' | 'amountVnd' | 'bookedAt' | 'orderId' | 'direction'>,
): Promise<Proposal[]> {
  if (transfer.orderId !== null || transfer.direction === 'out') return [];
  const { rows } = await pool.query<Candidate>(
    // The newest of each account alone, so that no account fills the list.
    `SELECT o.id, o.memo, o.status, o.created_at AS "createdAt",
            o.price_vnd - coalesce((SELECT sum(t.amount_vnd) FROM transfer_match m JOIN bank_transfer t ON t.id = m.transfer_id
                                    WHERE m.order_id = o.id), 0)::bigint AS "missingVnd"
     FROM (SELECT *, row_number() OVER (PARTITION BY account_id ORDER BY id DESC) AS place FROM purchase_order
           WHERE status <> 'paid' AND created_at > $1::timestamptz - interval '60 days') o
     WHERE o.place <= 20 AND o.created_at > $1::timestamptz - interval '60 days'
       AND o.created_at < $1::timestamptz + interval '1 day'
     ORDER BY o.id DESC LIMIT $2`,
    [transfer.bookedAt, maxCandidates],
  );
  return rankProposals(transfer, rows);
}

/** The proposals among these orders: near codes first, then equal amounts of open orders, the newest first. */
export function rankProposals(
  transfer: Pick<Transfer, 'memo' | 'amountVnd'>,
  candidates: readonly Candidate[],
): Proposal[] {
  const text = plain(transfer.memo).slice(0, maxTextLength);
  const near: (Proposal & { pays: boolean })[] = [];
  const equal: Proposal[] = [];
  for (const { id, memo, status, missingVnd } of candidates) {
    const pays = missingVnd === transfer.amountVnd;
    const differences = mayResemble(memo, text) ? differencesWithin(memo, text) : memoLength;
    if (differences <= maxDifferences) near.push({ orderId: id, reason: 'near_memo', differences, pays });
    else if (pays && status !== 'cancelled') equal.push({ orderId: id, reason: 'same_amount', differences: 0 });
  }
  near.sort((a, b) => a.differences - b.differences || Number(b.pays) - Number(a.pays));
  const proposals = near.map(({ pays: _pays, ...proposal }): Proposal => proposal);
  return [...proposals, ...equal].slice(0, maxProposals);
}

/**
 * Whether a text can hold the code with at most two differences: two leave one third of it as it is. Spares the matching
 * for almost all orders.
 */
export function mayResemble(code: string, text: string): boolean {
  const third = Math.floor(code.length / (maxDifferences + 1));
  return [0, third, 2 * third].some((at) => text.includes(code.slice(at, at + third)));
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '');
}

/**
 * The fewest edits (a character missing, added or different) that turn a part of the text into the code: approximate
 * matching after Sellers, in time code x text.
 */
export function differencesWithin(code: string, text: string): number {
  let above = Array.from({ length: text.length + 1 }, () => 0);
  for (let i = 1; i <= code.length; i++) {
    const row = [i];
    for (let j = 1; j <= text.length; j++) {
      const changed = (above[j - 1] ?? 0) + (code[i - 1] === text[j - 1] ? 0 : 1);
      row.push(Math.min(changed, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above.reduce((least, value) => Math.min(least, value), memoLength);
}
