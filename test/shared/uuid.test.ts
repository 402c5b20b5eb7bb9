import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isUuid, uuidv7 } from '../../server/shared/uuid.ts';

/** Ids of a process ascend, whatever its clock does within a second. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1) }));
afterEach(() => void vi.useRealTimers());

const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe('a UUIDv7', () => {
  it('has the form of RFC 9562 and the time of the clock', () => {
    const id = uuidv7();
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^.{8}-.{4}-7.{3}-[89ab].{3}-.{12}$/);
    expect(timeOf(id)).toBe(Date.now());
  });

  it('is greater than the one before, for more of them than a millisecond can count', () => {
    const ids = Array.from({ length: 20_000 }, () => uuidv7());
    expect(ids.findIndex((id, place) => place > 0 && id <= (ids[place - 1] ?? ''))).toBe(-1);
    expect(timeOf(ids.at(-1) ?? '') - Date.now()).toBeLessThan(10);
  });

  it('is greater than the one before when the clock is set back a little, and follows the clock over a larger step', () => {
    const first = uuidv7();
    vi.setSystemTime(Date.now() - 800);
    const second = uuidv7();
    expect(second > first).toBe(true);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(timeOf(uuidv7())).toBe(Date.now());
  });

  it('of another moment has its time, and leaves the order of the others alone', () => {
    const moment = Date.UTC(2035, 0, 1);
    const before = uuidv7();
    expect(timeOf(uuidv7(moment))).toBe(moment);
    const after = uuidv7();
    expect(after > before).toBe(true);
    expect(timeOf(after)).toBe(timeOf(before));
  });
});
