import { describe, expect, it } from 'vitest';
import { createPresses } from '../../dashboard/src/presses.ts';

// Buttons that make something: a double click, a lost answer and a press too much make one thing.

describe('an attempt', () => {
  it('is not begun twice while it is under way, and another one is', () => {
    const presses = createPresses();
    expect(presses.begin({ planId: 'starter' })).toBe(true);
    expect(presses.begin({ planId: 'starter' })).toBe(false);
    expect(presses.begin({ planId: 'large' })).toBe(true);
    expect(presses.keyOf({ planId: 'starter' })).not.toBe(presses.keyOf({ planId: 'large' }));
  });

  it('keeps its key after a lost answer, and for a moment after it was made', () => {
    let now = 0;
    const presses = createPresses(() => now);
    presses.begin('same');
    const key = presses.keyOf('same');
    presses.end('same', false);
    now = 60_000;
    expect([presses.begin('same'), presses.keyOf('same')]).toEqual([true, key]);
    presses.end('same', true);
    now += 1_000;
    expect([presses.begin('same'), presses.keyOf('same')]).toEqual([true, key]);
    presses.end('same', true);
    now += 6_000;
    expect(presses.begin('same')).toBe(true);
    expect(presses.keyOf('same')).not.toBe(key);
  });

  it('of nothing in particular is one as well', () => {
    const presses = createPresses();
    expect([presses.begin(undefined), presses.begin(undefined)]).toEqual([true, false]);
  });
});
