import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as budget from '../../server/billing/rules/budget.ts';
import * as coins from './coins.ts';

/** The pure rules of the budget, by examples and against a naive model of coins. */

function grant(id: string, amount: bigint, more: Partial<budget.Grant> = {}): budget.Grant {
  return { id, trial: false, amount, spent: 0n, held: 0n, expired: 0n, ended: false, overdrawn: false, ...more };
}

const sum = (parts: readonly { amount: bigint }[]): bigint => parts.reduce((total, part) => total + part.amount, 0n);

describe('placing a hold', () => {
  const grants = [
    grant('soon', 10n, { spent: 4n }),
    grant('gone', 50n, { ended: true }),
    grant('late', 100n, { held: 90n }),
  ];

  test('takes from what expires first, and nothing from what has ended', () => {
    const placed = budget.place(grants, 9n);
    expect(placed.parts).toEqual([
      { grantId: 'soon', amount: 6n },
      { grantId: 'late', amount: 3n },
    ]);
    expect(placed.amount).toBe(9n);
    expect(budget.apply(grants, placed.movements).map((each) => each.held)).toEqual([6n, 0n, 93n]);
  });

  test('takes all that is free when there is less', () => {
    expect(budget.place(grants, 1_000n).amount).toBe(16n);
    expect(budget.place(grants, 0n)).toEqual({ amount: 0n, parts: [], movements: [] });
    expect(budget.place([], 5n).amount).toBe(0n);
  });

  test('an extension adds to the parts', () => {
    const first = budget.place(grants, 7n);
    const after = budget.apply(grants, first.movements);
    const more = budget.extend(after, first.parts, 100n);
    expect(more.amount).toBe(9n);
    expect(more.parts).toEqual([
      { grantId: 'soon', amount: 6n },
      { grantId: 'late', amount: 10n },
    ]);
    expect(budget.freeIn(budget.apply(after, more.movements))).toBe(0n);
  });
});

describe('settling', () => {
  const two = [grant('soon', 10n, { held: 6n }), grant('late', 100n, { held: 4n })];
  const parts = [
    { grantId: 'soon', amount: 6n },
    { grantId: 'late', amount: 4n },
  ];

  test.each<[string, bigint, bigint, [bigint, bigint], bigint]>([
    ['less than was held', 5n, 5n, [5n, 0n], 105n],
    ['exactly what was held', 10n, 10n, [6n, 4n], 100n],
    ['more than was held', 12n, 12n, [8n, 4n], 98n],
    ['nothing', 0n, 0n, [0n, 0n], 110n],
    ['all there is', 110n, 110n, [10n, 100n], 0n],
    ['more than there is', 500n, 110n, [10n, 100n], 0n],
  ])('%s', (_what, owed, charged, spent, freeAfter) => {
    const done = budget.settle(two, parts, owed);
    expect(done).toMatchObject({ charged, freeAfter });
    const after = budget.apply(two, done.movements);
    expect(after.map((each) => each.spent)).toEqual(spent);
    expect(after.map((each) => each.held)).toEqual([0n, 0n]);
  });

  test('the hold pays even when its grant has ended; what is left of it expires', () => {
    const ended = [grant('trial', 10n, { held: 6n, expired: 4n, ended: true }), grant('paid', 100n)];
    const done = budget.settle(ended, [{ grantId: 'trial', amount: 6n }], 5n);
    expect(done).toMatchObject({ charged: 5n, freeAfter: 100n });
    const [trial, paid] = budget.apply(ended, done.movements);
    expect(trial).toMatchObject({ spent: 5n, held: 0n, expired: 5n });
    expect(paid).toMatchObject({ spent: 0n });
  });

  test('an ended grant pays for nothing that it had not reserved', () => {
    const ended = [grant('trial', 10n, { ended: true }), grant('paid', 3n)];
    const done = budget.settle(ended, [], 8n);
    expect(done).toMatchObject({ charged: 3n, freeAfter: 0n });
    expect(budget.apply(ended, done.movements)[0]).toMatchObject({ spent: 0n, expired: 10n });
  });

  test('without a hold, what is free pays, soonest expiry first', () => {
    const free = [grant('soon', 10n), grant('late', 100n)];
    const done = budget.settle(free, [], 12n);
    expect(done.movements).toEqual([
      { kind: 'charge', grantId: 'soon', amount: 10n, fromHold: false },
      { kind: 'charge', grantId: 'late', amount: 2n, fromHold: false },
    ]);
  });

  test('says which charges were reserved', () => {
    const done = budget.settle(two, parts, 12n);
    expect(done.movements.filter((each) => each.kind === 'charge')).toEqual([
      { kind: 'charge', grantId: 'soon', amount: 6n, fromHold: true },
      { kind: 'charge', grantId: 'late', amount: 4n, fromHold: true },
      { kind: 'charge', grantId: 'soon', amount: 2n, fromHold: false },
    ]);
  });

  test('a grant that came during the request and ends sooner does not pay before its own hold', () => {
    const grants = [grant('new', 5n, { held: 2n }), grant('old', 10n, { held: 6n })];
    // An extension took from the new one after the hold had taken from the old one.
    const held = [
      { grantId: 'old', amount: 6n },
      { grantId: 'new', amount: 2n },
    ];
    const done = budget.settle(grants, held, 3n);
    expect(budget.apply(grants, done.movements).map((each) => each.spent)).toEqual([2n, 1n]);
  });
});

describe('giving back', () => {
  test('frees what was held, and ends what came from an ended grant', () => {
    const grants = [grant('trial', 10n, { held: 6n, ended: true }), grant('paid', 9n, { held: 9n })];
    const parts = [
      { grantId: 'trial', amount: 6n },
      { grantId: 'paid', amount: 9n },
    ];
    const after = budget.apply(grants, budget.release(grants, parts));
    expect(after).toEqual([grant('trial', 10n, { expired: 10n, ended: true }), grant('paid', 9n)]);
  });
});

describe('expiry', () => {
  test('ends what is free and leaves what is held', () => {
    const grants = [grant('trial', 10n, { spent: 1n, held: 6n, ended: true }), grant('paid', 9n)];
    expect(budget.expire(grants)).toEqual([{ kind: 'expire', grantId: 'trial', amount: 3n, fromHold: false }]);
    expect(budget.expire(budget.apply(grants, budget.expire(grants)))).toEqual([]);
  });

  test('what ended grants hold is not waiting to come back', () => {
    expect(budget.heldIn([grant('trial', 10n, { held: 6n, ended: true }), grant('paid', 9n, { held: 2n })])).toBe(2n);
  });
});

test('money that is not there cannot be moved', () => {
  const grants = [grant('only', 10n, { held: 3n, spent: 5n })];
  const move =
    (kind: budget.Movement['kind'], amount: bigint, grantId = 'only') =>
    () =>
      budget.apply(grants, [{ kind, grantId, amount, fromHold: false }]);
  for (const kind of ['hold', 'charge', 'expire'] as const) {
    expect(move(kind, 2n)).not.toThrow();
    expect(move(kind, 3n)).toThrow('more than there is');
  }
  expect(move('release', 4n)).toThrow('more than there is');
  expect(move('hold', 1n, 'other')).toThrow('not there');
});

// ---------------------------------------------------------------------------------------------------- random walks

type Step =
  | { do: 'grant'; amount: number }
  | { do: 'end' | 'release'; which: number }
  | { do: 'place'; amount: number }
  | { do: 'extend' | 'settle'; which: number; amount: number }
  | { do: 'late'; amount: number }
  | { do: 'expire' };

const amount = fc.nat(40);
const which = fc.nat(9);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('grant' as const), amount: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ do: fc.constantFrom('end' as const, 'release' as const), which }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('place' as const), amount }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('extend' as const, 'settle' as const), which, amount }) },
  fc.record({ do: fc.constant('late' as const), amount }),
  fc.constant({ do: 'expire' as const }),
);

test('the rules agree with coins in purses, whatever happens in whatever order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let grants: readonly budget.Grant[] = [grant('g0', 30n)];
      const purses = [coins.purse('g0', 30)];
      const holds: { name: string; parts: readonly budget.Part[] }[] = [];
      let requests = 0;
      let [mine, theirs]: [unknown[], unknown[]] = [[], []];
      const compare = (actual: unknown, expected: unknown): void => {
        mine.push(actual);
        theirs.push(expected);
      };
      const settleBoth = (name: string, parts: readonly budget.Part[], owed: number): void => {
        const done = budget.settle(grants, parts, BigInt(owed));
        grants = budget.apply(grants, done.movements);
        compare(done.charged, BigInt(coins.settle(purses, name, owed)));
        compare(done.freeAfter, BigInt(coins.count(purses, coins.spendable)));
        compare(sum(done.movements.filter((each) => each.kind === 'charge')), done.charged);
      };

      for (const each of steps) {
        [mine, theirs] = [[], []];
        switch (each.do) {
          case 'grant': {
            // The newest never expires, so it is consumed last.
            grants = [...grants, grant(`g${grants.length}`, BigInt(each.amount))];
            purses.push(coins.purse(`g${purses.length}`, each.amount));
            break;
          }
          case 'end': {
            const index = each.which % purses.length;
            grants = grants.map((other, at) => (at === index ? { ...other, ended: true } : other));
            (purses[index] as coins.Purse).ended = true;
            break;
          }
          case 'place': {
            const name = `r${requests++}`;
            const placed = budget.place(grants, BigInt(each.amount));
            grants = budget.apply(grants, placed.movements);
            compare(placed.amount, BigInt(coins.hold(purses, name, each.amount)));
            compare(sum(placed.parts), placed.amount);
            holds.push({ name, parts: placed.parts });
            break;
          }
          case 'extend': {
            const hold = holds[each.which % (holds.length || 1)];
            if (hold === undefined) break;
            const more = budget.extend(grants, hold.parts, BigInt(each.amount));
            grants = budget.apply(grants, more.movements);
            compare(more.amount, BigInt(coins.hold(purses, hold.name, each.amount)));
            hold.parts = more.parts;
            break;
          }
          case 'settle': {
            const [hold] = holds.splice(each.which % (holds.length || 1), 1);
            if (hold !== undefined) settleBoth(hold.name, hold.parts, each.amount);
            break;
          }
          case 'late': {
            settleBoth('nobody', [], each.amount);
            break;
          }
          case 'release': {
            const [hold] = holds.splice(each.which % (holds.length || 1), 1);
            if (hold === undefined) break;
            grants = budget.apply(grants, budget.release(grants, hold.parts));
            coins.release(purses, hold.name);
            break;
          }
          case 'expire': {
            grants = budget.apply(grants, budget.expire(grants));
            coins.expire(purses);
            break;
          }
        }
        expect(mine).toEqual(theirs);
        expect(grants.map(({ id, spent, held, expired }) => ({ id, spent, held, expired }))).toEqual(
          purses.map((purse) => ({
            id: purse.id,
            spent: BigInt(coins.count([purse], (coin) => coin === 'spent')),
            held: BigInt(coins.count([purse], coins.isHeld)),
            expired: BigInt(coins.count([purse], (coin) => coin === 'expired')),
          })),
        );
      }
    }),
    { numRuns: 500 },
  );
});
