import type { PicoUsd } from '../core/money.ts';

/**
 * The rules of a key's own spending limits, beside its account's budget. Periods are calendar days and months in UTC,
 * by the database's clock. Pure, like `budget.ts`.
 */
export interface KeyLimits {
  day: PicoUsd | null;
  month: PicoUsd | null;
  lifetime: PicoUsd | null;
}

/** Charges of a key, and holds of its running requests. */
export interface KeySpend {
  charged: PicoUsd;
  held: PicoUsd;
  /** The day that `dayCharged` belongs to, `2026-11-21`. */
  day: string;
  dayCharged: PicoUsd;
  /** The first day of the month that `monthCharged` belongs to, `2026-11-01`. */
  month: string;
  monthCharged: PicoUsd;
}

/** The tightest limit of a key. */
export interface KeyRoom {
  period: 'day' | 'month' | 'lifetime';
  limit: PicoUsd;
  charged: PicoUsd;
  held: PicoUsd;
  /** Amount that the key may still hold. Zero when the limit is used up. */
  room: PicoUsd;
}

/** A key that has spent nothing yet. `today` as in `KeySpend.day`. */
export function noSpend(today: string): KeySpend {
  return { charged: 0n, held: 0n, day: today, dayCharged: 0n, month: monthOf(today), monthCharged: 0n };
}

/** The sums as of today: those of a past period are zero. A clock that went back changes nothing. */
export function roll(spend: KeySpend, today: string): KeySpend {
  const month = monthOf(today);
  return {
    ...spend,
    ...(today > spend.day ? { day: today, dayCharged: 0n } : {}),
    ...(month > spend.month ? { month, monthCharged: 0n } : {}),
  };
}

/** Adds to what a key holds (or takes from it, when negative). */
export function addHeld(spend: KeySpend, amount: PicoUsd): KeySpend {
  return { ...spend, held: spend.held + amount };
}

/**
 * Adds a charge of `today` to every period that it belongs to. A transaction that began before midnight may follow one
 * that began later: its charge belongs to the past day.
 */
export function addCharged(spend: KeySpend, amount: PicoUsd, today: string): KeySpend {
  const rolled = roll(spend, today);
  return {
    ...rolled,
    charged: rolled.charged + amount,
    dayCharged: rolled.dayCharged + (rolled.day === today ? amount : 0n),
    monthCharged: rolled.monthCharged + (rolled.month === monthOf(today) ? amount : 0n),
  };
}

/** The tightest limit of a key; null without limits. Running requests count with their holds. */
export function keyRoom(spend: KeySpend, limits: KeyLimits): KeyRoom | null {
  const rooms = [
    roomOf('day', limits.day, spend.dayCharged, spend.held),
    roomOf('month', limits.month, spend.monthCharged, spend.held),
    roomOf('lifetime', limits.lifetime, spend.charged, spend.held),
  ].filter((room) => room !== null);
  return rooms.reduce<KeyRoom | null>((least, room) => (least === null || room.room < least.room ? room : least), null);
}

function roomOf(period: KeyRoom['period'], limit: PicoUsd | null, charged: PicoUsd, held: PicoUsd): KeyRoom | null {
  if (limit === null) return null;
  const left = limit - charged - held;
  return { period, limit, charged, held, room: left > 0n ? left : 0n };
}

function monthOf(day: string): string {
  return `${day.slice(0, 7)}-01`;
}
