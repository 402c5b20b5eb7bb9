import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createRoster } from '../../server/shared/roster.ts';

/** Members of many requests: visited in order, and gone from memory once they have left. */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;

describe('a roster', () => {
  it('visits its members in the order in which they joined, except those that have left meanwhile', () => {
    const roster = createRoster<{ name: string }>();
    const leave = new Map(['a', 'b', 'c'].map((name) => [name, roster.join({ name })]));
    leave.get('b')?.();
    leave.get('b')?.();
    const seen: string[] = [];
    roster.join({ name: 'd' });
    roster.visit(({ name }) => {
      seen.push(name);
      if (name === 'a') leave.get('c')?.();
    });
    expect(seen).toEqual(['a', 'd']);
    expect(roster.size).toBe(2);
    roster.clear();
    expect(roster.size).toBe(0);
  });

  it('keeps nothing of members that have left, even when minor collections have promoted a part of it', () => {
    const roster = createRoster<{ bytes: number[] }>();
    // Parsed, because V8 may come to allocate what a literal or a constructor makes in the old generation at once, where minor
    // collections free nothing: it decides so for places in the code whose objects it has often seen survive.
    const member = JSON.stringify({ bytes: Array.from({ length: 500 }, (_, i) => i) });
    const current: (() => void)[] = [];
    const churn = (members: number): void => {
      for (let i = 0; i < members; i += 1) {
        current.push(roster.join(JSON.parse(member)));
        if (current.length > 64) current.shift()?.();
      }
    };
    churn(1_000);
    for (let i = 0; i < 3; i += 1) collect({ type: 'minor' });
    const before = oldBytes();
    let most = before;
    // 80 MB in all; without a full collection, a `Set` of the members would leave most of them in the old generation.
    for (let i = 0; i < 40; i += 1) {
      churn(500);
      collect({ type: 'minor' });
      most = Math.max(most, oldBytes());
    }
    expect(most - before).toBeLessThan(8 * 1_048_576);
  });
});
