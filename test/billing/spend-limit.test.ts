import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addCharged,
  addHeld,
  burnWindowOf,
  noSpend,
  returnsAt,
  type Spend,
  spendRoom,
  tighter,
} from '../../server/billing/rules/spend-limit.ts';
import { nextStart } from '../../server/core/local-time.ts';

/** The pure rules of the spending limits of keys and accounts. */

const none = { day: null, week: null, month: null, lifetime: null, burn: null };
const spent: Spend = { charged: 100n, held: 5n, day: 10n, week: 25n, month: 40n, burn: null };

test('a charge counts in every period, a hold in none', () => {
  expect(addCharged(addHeld(noSpend, 7n), 3n)).toEqual({
    charged: 3n,
    held: 7n,
    day: 3n,
    week: 3n,
    month: 3n,
    burn: null,
  });
});

describe('the room of a limit', () => {
  test('is unlimited without limits', () => {
    expect(spendRoom(spent, none)).toBeNull();
  });

  test.each([
    [{ ...none, day: 20n }, 'day', 5n],
    [{ ...none, week: 40n }, 'week', 10n],
    [{ ...none, month: 60n }, 'month', 15n],
    [{ ...none, lifetime: 150n }, 'lifetime', 45n],
    [{ ...none, day: 20n, month: 60n, lifetime: 106n }, 'lifetime', 1n],
    [{ ...none, day: 20n, month: 46n, lifetime: 150n }, 'month', 1n],
    [{ ...none, day: 20n, week: 31n, month: 47n, lifetime: 150n }, 'week', 1n],
    // Running requests may hold more than is left: a limit can be lowered.
    [{ ...none, day: 12n }, 'day', 0n],
    [{ ...none, day: 1n }, 'day', 0n],
  ])('%o leaves', (limits, period, room) => {
    expect(spendRoom(spent, limits)).toMatchObject({ period, room });
  });

  test('of several is that of the tightest', () => {
    expect(tighter({ room: 5n }, null, { room: 3n }, { room: 4n })).toEqual({ room: 3n });
    expect(tighter(null, null)).toBeNull();
  });
});

describe('a burn window', () => {
  const minutes = 5;
  const empty = { seconds: minutes, step: 0, charged: Array.from({ length: 61 }, () => 0n) };

  test('has every charge of the last minutes and none that is a step older, however they come', () => {
    const charges = fc.array(
      fc.record({ afterMs: fc.nat({ max: 200_000 }), amount: fc.bigInt({ min: 1n, max: 1_000n }) }),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(charges, fc.nat({ max: 400_000 }), (list, lookAfterMs) => {
        // A ring as the database keeps it.
        let [ring, atMs] = [{ ...empty }, 1_800_000_000_000];
        const made: { atMs: number; amount: bigint }[] = [];
        for (const { afterMs, amount } of list) {
          atMs += afterMs;
          const step = Math.floor(atMs / 1_000 / minutes);
          const charged = [...ring.charged];
          for (let each = Math.max(ring.step + 1, step - 60); each <= step; each += 1) charged[each % 61] = 0n;
          charged[step % 61] = (charged[step % 61] ?? 0n) + amount;
          ring = { ...ring, step, charged };
          made.push({ atMs, amount });
        }
        const nowMs = atMs + lookAfterMs;
        const sumSince = (sinceMs: number) =>
          made.filter((each) => each.atMs > sinceMs).reduce((sum, { amount }) => sum + amount, 0n);
        const spend = { ...noSpend, burn: burnWindowOf(ring, nowMs) };
        const counted = spendRoom(spend, { ...none, burn: { amount: 10n ** 9n, minutes } })?.charged ?? 0n;
        expect(counted).toBeGreaterThanOrEqual(sumSince(nowMs - minutes * 60_000));
        expect(counted).toBeLessThanOrEqual(sumSince(nowMs - minutes * 61_000 - 1));
      }),
    );
  });

  test('says when what was charged first leaves it', () => {
    const step = 360_000_000;
    const charged = [...empty.charged];
    charged[step % 61] = 6n;
    charged[(step - 10) % 61] = 3n;
    const now = { nowMs: step * minutes * 1_000, timeZone: 'UTC' };
    const spend = addHeld({ ...noSpend, burn: burnWindowOf({ ...empty, step, charged }, now.nowMs) }, 1n);
    const room = spendRoom(spend, { ...none, burn: { amount: 11n, minutes } });
    if (room === null) throw new Error('there is a limit');
    expect(room).toMatchObject({ period: 'burn', charged: 9n, held: 1n, room: 1n });
    expect(returnsAt(room, spend, 4n, now)).toBe((step - 10 + 61) * minutes * 1_000);
    expect(returnsAt(room, spend, 5n, now)).toBe((step + 61) * minutes * 1_000);
    // What is held comes back too, but nobody knows when.
    expect(returnsAt(room, spend, 11n, now)).toBeNull();
    expect(returnsAt(room, spend, 12n, now)).toBeNull();
  });
});

describe('the next day, week and month of a time zone', () => {
  test.each([
    ['2026-11-22T16:59:59.999Z', 'Asia/Ho_Chi_Minh', '2026-11-22T17:00Z', '2026-11-22T17:00Z', '2026-11-30T17:00Z'],
    ['2026-11-22T17:00:00Z', 'Asia/Ho_Chi_Minh', '2026-11-23T17:00Z', '2026-11-29T17:00Z', '2026-11-30T17:00Z'],
    ['2026-12-31T23:59:59Z', 'UTC', '2027-01-01T00:00Z', '2027-01-04T00:00Z', '2027-01-01T00:00Z'],
    // Half an hour off, and the two changes of summer time.
    ['2026-11-22T18:30:00Z', 'Asia/Kolkata', '2026-11-23T18:30Z', '2026-11-29T18:30Z', '2026-11-30T18:30Z'],
    ['2026-03-28T12:00:00Z', 'Europe/Berlin', '2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-31T22:00Z'],
    ['2026-10-24T22:30:00Z', 'Europe/Berlin', '2026-10-25T23:00Z', '2026-10-25T23:00Z', '2026-10-31T23:00Z'],
  ])('at %s in %s', (now, timeZone, day, week, month) => {
    const next = (period: 'day' | 'week' | 'month') => nextStart(period, Date.parse(now), timeZone);
    expect([next('day'), next('week'), next('month')]).toEqual([day, week, month].map((moment) => Date.parse(moment)));
  });
});
