import { describe, expect, test } from 'vitest';
import { addCharged, addHeld, type KeySpend, keyRoom, noSpend, roll } from '../../server/billing/key-limit.ts';

/** The pure rules of a key's own spending limits. */

const none = { day: null, month: null, lifetime: null };
const spent: KeySpend = {
  charged: 100n,
  held: 5n,
  day: '2026-11-21',
  dayCharged: 10n,
  month: '2026-11-01',
  monthCharged: 40n,
};

describe('what a key has spent', () => {
  test.each([
    ['2026-11-21', { dayCharged: 10n, monthCharged: 40n }],
    ['2026-11-22', { day: '2026-11-22', dayCharged: 0n, monthCharged: 40n }],
    ['2026-12-01', { day: '2026-12-01', dayCharged: 0n, month: '2026-12-01', monthCharged: 0n }],
    ['2027-11-21', { day: '2027-11-21', dayCharged: 0n, month: '2027-11-01', monthCharged: 0n }],
    // A clock that goes back must not reset anything.
    ['2026-11-20', { day: '2026-11-21', dayCharged: 10n, month: '2026-11-01', monthCharged: 40n }],
    ['2026-10-31', { day: '2026-11-21', dayCharged: 10n, month: '2026-11-01', monthCharged: 40n }],
  ])('on %s', (today, expected) => {
    expect(roll(spent, today)).toEqual({ ...spent, ...expected });
  });

  test('a charge counts in every period, a hold in none', () => {
    expect(addCharged(addHeld(noSpend('2026-11-21'), 7n), 3n, '2026-11-21')).toEqual({
      charged: 3n,
      held: 7n,
      day: '2026-11-21',
      dayCharged: 3n,
      month: '2026-11-01',
      monthCharged: 3n,
    });
  });

  test('a charge of yesterday that comes after midnight does not count today', () => {
    expect(addCharged(spent, 3n, '2026-11-20')).toEqual({ ...spent, charged: 103n, monthCharged: 43n });
    expect(addCharged(spent, 3n, '2026-10-31')).toEqual({ ...spent, charged: 103n });
    expect(addCharged(spent, 3n, '2026-11-22')).toMatchObject({ day: '2026-11-22', dayCharged: 3n, monthCharged: 43n });
  });
});

describe('the room of a key', () => {
  test('is unlimited without limits', () => {
    expect(keyRoom(spent, none)).toBeNull();
  });

  test.each([
    [{ ...none, day: 20n }, 'day', 5n],
    [{ ...none, month: 60n }, 'month', 15n],
    [{ ...none, lifetime: 150n }, 'lifetime', 45n],
    [{ day: 20n, month: 60n, lifetime: 106n }, 'lifetime', 1n],
    [{ day: 20n, month: 46n, lifetime: 150n }, 'month', 1n],
    // Running requests may hold more than is left: a limit can be lowered.
    [{ ...none, day: 12n }, 'day', 0n],
    [{ ...none, day: 1n }, 'day', 0n],
  ])('%o leaves', (limits, period, room) => {
    expect(keyRoom(spent, limits)).toMatchObject({ period, room });
  });
});
