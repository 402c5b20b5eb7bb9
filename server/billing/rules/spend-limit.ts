import { nextStart } from '../../core/local-time.ts';
import type { PicoUsd } from '../../core/money.ts';
import type { BurnLimit, SpendLimits } from '../../core/spend-limits.ts';

/**
 * The rules of the spending limits of keys and accounts, beside the account's budget. Days, weeks and months are those of
 * the account's time zone, by the database's clock; a trigger keeps their sums. Pure, like `budget.ts`.
 */
export interface KeyLimits extends SpendLimits {
  burn: BurnLimit | null;
}

/** What a key or an account has been charged, and what its running requests and escrows hold. As of a moment. */
export interface Spend {
  charged: PicoUsd;
  held: PicoUsd;
  /** Charged since the day, the week and the month began. */
  day: PicoUsd;
  week: PicoUsd;
  month: PicoUsd;
  /** Null: no burn limit. */
  burn: BurnWindow | null;
}

/** Charges of a burn window, by steps of a sixtieth of it. The window has 60 whole steps and the one that runs. */
export interface BurnWindow {
  stepSeconds: number;
  /** The step that runs: seconds since 1970 divided by `stepSeconds`. */
  step: number;
  /** Steps with charges, oldest first. */
  charges: readonly { step: number; charged: PicoUsd }[];
}

/** Steps of a burn window, as the ring in the database has them. */
const burnSteps = 61;

/** The tightest limit. */
export interface Room {
  period: keyof KeyLimits;
  limit: PicoUsd;
  /** In the period. */
  charged: PicoUsd;
  held: PicoUsd;
  /** Amount that may still be held. Zero when the limit is used up. */
  room: PicoUsd;
}

export const noSpend: Spend = { charged: 0n, held: 0n, day: 0n, week: 0n, month: 0n, burn: null };

/** The burn window of a ring: `ring[step % 61]` has the charges of each of the 61 steps up to `step`. */
export function burnWindowOf(
  ring: { seconds: number; step: number; charged: readonly PicoUsd[] },
  nowMs: number,
): BurnWindow {
  const step = Math.max(ring.step, Math.floor(nowMs / 1_000 / ring.seconds));
  const charges: { step: number; charged: PicoUsd }[] = [];
  for (let each = Math.max(step, burnSteps) - burnSteps + 1; each <= ring.step; each += 1) {
    const charged = ring.charged[each % burnSteps] ?? 0n;
    if (charged > 0n) charges.push({ step: each, charged });
  }
  return { stepSeconds: ring.seconds, step, charges };
}

/** Adds to what is held (or takes from it, when negative). */
export function addHeld(spend: Spend, amount: PicoUsd): Spend {
  return { ...spend, held: spend.held + amount };
}

/** Adds a charge of this moment to every period. */
export function addCharged(spend: Spend, amount: PicoUsd): Spend {
  const { burn } = spend;
  return {
    ...spend,
    charged: spend.charged + amount,
    day: spend.day + amount,
    week: spend.week + amount,
    month: spend.month + amount,
    burn: burn && { ...burn, charges: [...burn.charges, { step: burn.step, charged: amount }] },
  };
}

/** The tightest limit; null without limits. Running requests and escrows count with what they hold. */
export function spendRoom(spend: Spend, limits: SpendLimits & Partial<KeyLimits>): Room | null {
  return tighter(
    roomOf('day', limits.day, spend.day, spend.held),
    roomOf('week', limits.week, spend.week, spend.held),
    roomOf('month', limits.month, spend.month, spend.held),
    roomOf('lifetime', limits.lifetime, spend.charged, spend.held),
    roomOf('burn', limits.burn?.amount ?? null, burned(spend.burn), spend.held),
  );
}

/** The room with the least money; of equal ones the first. */
export function tighter<Known extends Pick<Room, 'room'>>(...rooms: readonly (Known | null)[]): Known | null {
  let least: Known | null = null;
  for (const room of rooms) if (room !== null && (least === null || room.room < least.room)) least = room;
  return least;
}

/**
 * When a limit that was reached has room for `required` again, milliseconds of the database's clock; null: not without a change. A
 * burn window frees what was charged first.
 */
export function returnsAt(
  room: Room,
  spend: Spend,
  required: PicoUsd,
  now: { nowMs: number; timeZone: string },
): number | null {
  if (room.period === 'lifetime' || required > room.limit) return null;
  if (room.period !== 'burn') return nextStart(room.period, now.nowMs, now.timeZone);
  let left = room.charged;
  for (const { step, charged } of spend.burn?.charges ?? []) {
    left -= charged;
    if (room.limit - left - room.held >= required) return (step + burnSteps) * (spend.burn?.stepSeconds ?? 0) * 1_000;
  }
  return null;
}

function burned(burn: BurnWindow | null): PicoUsd {
  let sum = 0n;
  for (const { charged } of burn?.charges ?? []) sum += charged;
  return sum;
}

function roomOf(period: Room['period'], limit: PicoUsd | null, charged: PicoUsd, held: PicoUsd): Room | null {
  if (limit === null) return null;
  const left = limit - charged - held;
  return { period, limit, charged, held, room: left > 0n ? left : 0n };
}
