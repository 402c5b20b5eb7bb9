import type { PicoUsd } from './money.ts';

/** Spending limits of a key or an account; null: none. Days, weeks and months are those of the account's time zone. */
export interface SpendLimits {
  day: PicoUsd | null;
  /** Weeks begin on Monday. */
  week: PicoUsd | null;
  month: PicoUsd | null;
  lifetime: PicoUsd | null;
}

/** At most so much within any so many minutes. */
export interface BurnLimit {
  amount: PicoUsd;
  minutes: number;
}

/** Whose a spending limit is. A member's is over the keys that they made, a project's over those that lie in it. */
export type LimitOwner = 'key' | 'member' | 'project' | 'account';
