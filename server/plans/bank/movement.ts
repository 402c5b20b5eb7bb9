/** Decides, purely, whether two messages of equal direction and amount describe the same movement at the bank. */

import { findMemos } from '../memo.ts';

/** The fields that are compared. Direction and amount are equal already. */
export interface ToldMovement {
  /** The source: `sepay`, `casso`, …, or `operator`. */
  provider: string;
  bankReference: string | null;
  memo: string;
  bookedAt: Date;
  /** Our accounts that the message names; empty when it names none or when they were not stored. */
  accountNumbers: readonly string[];
}

/**
 * `same`: one movement, reported again under another id. `doubtful`: perhaps one, so a person decides. `distinct`: two.
 * Only `distinct` counts without a person.
 */
export type Sameness = 'same' | 'doubtful' | 'distinct';

/** Messages further apart describe one movement only if they carry the same bank reference. */
export const maxApartMs = 86_400_000;

/**
 * Compares two messages with different ids.
 *
 * An equal bank reference is never counted twice: it is the same movement where provider, account, memo and the bank's
 * day agree, and doubtful otherwise. Two different references of one provider are two movements. Everything else (no
 * reference, or references of two providers, which name one movement differently) is doubtful when both messages name
 * the same order within a day.
 */
export function compareMovements(told: ToldMovement, stored: ToldMovement): Sameness {
  const [left, right] = [referenceKey(told.bankReference), referenceKey(stored.bankReference)];
  const sameProvider = told.provider === stored.provider;
  if (left !== null && left === right) {
    const agree =
      sameProvider &&
      vietnamDay(told.bookedAt) === vietnamDay(stored.bookedAt) &&
      plain(told.memo) === plain(stored.memo) &&
      shareAccount(told.accountNumbers, stored.accountNumbers);
    return agree ? 'same' : 'doubtful';
  }
  if (sameProvider && left !== null && right !== null) return 'distinct';
  if (Math.abs(told.bookedAt.getTime() - stored.bookedAt.getTime()) > maxApartMs) return 'distinct';
  const orders = new Set(findMemos(stored.memo));
  return findMemos(told.memo).some((memo) => orders.has(memo)) ? 'doubtful' : 'distinct';
}

/**
 * A bank reference without case, spaces and punctuation, which messengers change. Null for none and for placeholders
 * (`-`, `0`, `000000`): a placeholder would merge all movements.
 */
export function referenceKey(reference: string | null): string | null {
  const key = plain(reference ?? '');
  return key === '' || /^0+$/.test(key) || placeholders.has(key) ? null : key;
}

const placeholders: ReadonlySet<string> = new Set(['NULL', 'NONE', 'NA', 'UNDEFINED', 'UNKNOWN']);

/** ASCII only, as PostgreSQL's index of the same key computes it in every locale. */
function plain(text: string): string {
  return text.replaceAll(/[^0-9A-Za-z]/g, '').toUpperCase();
}

/** The calendar day in Vietnam (UTC+7, no daylight saving): bank references are unique within it. */
function vietnamDay(moment: Date): number {
  return Math.floor((moment.getTime() + 7 * 3_600_000) / 86_400_000);
}

function shareAccount(left: readonly string[], right: readonly string[]): boolean {
  if (left.length === 0 && right.length === 0) return true;
  return left.some((account) => right.includes(account));
}
