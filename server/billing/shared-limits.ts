import type { PicoUsd } from '../core/money.ts';
import type { SpendLimits } from '../core/spend-limits.ts';
import { type Spend, spendRoom } from './spend-limit.ts';

/**
 * The rules of limits that several keys share: those that a member made, and those of a project. They are kept when charging,
 * too, so requests under them are held for what they can cost. Pure, like `budget.ts`.
 */

/** A shared limit of a key, and what all its keys have spent together. */
export interface SharedLimit {
  /** Of the person or of the project. */
  id: string;
  of: 'member' | 'project';
  /** By month and in all. */
  limits: SpendLimits;
  spend: Spend;
}

/** Whether requests of the key have to be held for what they can cost. */
export function isCapped(shared: readonly SharedLimit[]): boolean {
  return shared.some(({ limits }) => limits.month !== null || limits.lifetime !== null);
}

/**
 * The most that may be charged for a request that holds `held`, which is part of `spend.held`; null: no bound. A hold is kept,
 * whatever has become of the limit since; beyond it a charge takes what the tightest limit leaves.
 */
export function maxCharge(shared: readonly SharedLimit[], held: PicoUsd): PicoUsd | null {
  let least: PicoUsd | null = null;
  for (const { spend, limits } of shared) {
    const room = spendRoom(spend, limits)?.room;
    if (room !== undefined && (least === null || room < least)) least = room;
  }
  return least === null ? null : held + least;
}
