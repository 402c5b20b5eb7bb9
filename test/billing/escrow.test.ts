import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  advance,
  callIn,
  common,
  draw,
  type Escrow,
  emptyEscrow,
  forget,
  giveBack,
  minus,
  outstanding,
  plus,
  refill,
  settle,
  sumOf,
  withEnds,
} from '../../server/billing/escrow/escrow.ts';
import type { Part } from '../../server/billing/rules/budget.ts';

/** The rules of escrows against a naive model: single coins with one state each, and the database's row. */

interface Coin {
  grant: string;
  at: 'idle' | 'promised' | 'charged' | 'returned';
  /** The request that it is promised to. */
  request: number | null;
}

type Step =
  | { do: 'refill'; grant: number; amount: number; answered: boolean }
  | { do: 'draw' | 'extend'; which: number; amount: number }
  | { do: 'settle'; which: number; cost: number; answer: 'given' | 'lost' }
  | { do: 'release'; which: number }
  | { do: 'trim'; answered: boolean }
  | { do: 'callIn' }
  | { do: 'pass'; ms: number }
  | { do: 'sweep' };

const which = fc.nat(9);
const amount = fc.nat(30);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('refill' as const),
    grant: fc.nat(2),
    amount: fc.integer({ min: 1, max: 60 }),
    answered: fc.boolean(),
  }),
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('draw', 'extend'), which, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which,
      cost: amount,
      answer: fc.constantFrom('given', 'lost'),
    }),
  },
  fc.record({ do: fc.constant('release' as const), which }),
  fc.record({ do: fc.constant('trim' as const), answered: fc.boolean() }),
  fc.record({ do: fc.constantFrom('callIn') }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(15) }),
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
);

/** g0 ends at 40, g1 at 20, g2 never. */
const ends = new Map<string, number | null>([
  ['g0', 40],
  ['g1', 20],
  ['g2', null],
]);
const order = ['g1', 'g0', 'g2'];

test('I10: what is promised and what is idle is never more than the durable hold, whatever is lost or swept in between', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      let now = 0;
      /** The database's row. */
      let row: readonly Part[] = [];
      let escrow: Escrow = emptyEscrow;
      let closed = false;
      let coins: Coin[] = [];
      const requests = new Map<number, readonly Part[]>();
      let count = 0;
      const live = (grant: string): boolean => (ends.get(grant) ?? Number.POSITIVE_INFINITY) > now;
      const take = (wanted: number, request: number): number => {
        let taken = 0;
        for (const grant of order.filter(live)) {
          for (const coin of coins) {
            if (taken === wanted || coin.at !== 'idle' || coin.grant !== grant) continue;
            coin.at = 'promised';
            coin.request = request;
            taken += 1;
          }
        }
        return taken;
      };

      for (const each of steps) {
        const [mine, theirs]: [unknown[], unknown[]] = [[], []];
        const compare = (actual: unknown, expected: unknown): void => {
          mine.push(actual);
          theirs.push(expected);
        };
        const request = [...requests.keys()][('which' in each ? each.which : 0) % (requests.size || 1)];
        switch (each.do) {
          case 'refill': {
            const grant = `g${each.grant}`;
            // The lane adds nothing of a grant that has ended, and nothing to an escrow that is closed.
            if (!live(grant) || closed) break;
            const parts = [{ grantId: grant, amount: BigInt(each.amount) }];
            row = plus(row, parts);
            if (!each.answered) break;
            escrow = refill(escrow, parts, ends);
            coins.push(...Array.from({ length: each.amount }, (): Coin => ({ grant, at: 'idle', request: null })));
            break;
          }
          case 'draw': {
            if (closed) break;
            count += 1;
            const drawn = draw(escrow, BigInt(each.amount), now);
            escrow = drawn.escrow;
            requests.set(count, drawn.parts);
            compare(sumOf(drawn.parts), BigInt(take(each.amount, count)));
            compare(
              drawn.parts.every(({ grantId }) => live(grantId)),
              true,
            );
            break;
          }
          case 'extend': {
            if (request === undefined || closed) break;
            const drawn = draw(escrow, BigInt(each.amount), now);
            escrow = drawn.escrow;
            requests.set(request, plus(requests.get(request) ?? [], drawn.parts));
            compare(sumOf(drawn.parts), BigInt(take(each.amount, request)));
            break;
          }
          case 'settle': {
            if (request === undefined) break;
            const parts = requests.get(request) ?? [];
            // The lane charges what the row still has of the promise.
            let left = BigInt(each.cost);
            const own: Part[] = [];
            for (const part of common(parts, row)) {
              const charged = part.amount < left ? part.amount : left;
              if (charged > 0n) own.push({ grantId: part.grantId, amount: charged });
              left -= charged;
            }
            row = minus(row, own);
            // A lost answer is followed by a retry, which only reports that it was settled before.
            escrow = each.answer === 'given' ? settle(escrow, parts, own) : forget(escrow, parts);
            requests.delete(request);
            for (const part of own) {
              let charged = part.amount;
              for (const coin of coins)
                if (charged > 0n && coin.request === request && coin.grant === part.grantId) {
                  coin.at = 'charged';
                  coin.request = null;
                  charged -= 1n;
                }
            }
            for (const coin of coins)
              if (coin.request === request) {
                coin.at = each.answer === 'given' ? 'idle' : 'returned';
                coin.request = null;
              }
            break;
          }
          case 'release': {
            if (request === undefined) break;
            escrow = giveBack(escrow, requests.get(request) ?? []);
            requests.delete(request);
            for (const coin of coins)
              if (coin.request === request) {
                coin.at = 'idle';
                coin.request = null;
              }
            break;
          }
          case 'trim':
            // Tried again after a lost answer, it does the same again.
            row = common(row, outstanding(escrow));
            if (!each.answered) row = common(row, outstanding(escrow));
            break;
          case 'callIn':
            escrow = callIn(escrow, null);
            for (const coin of coins) if (coin.at === 'idle') coin.at = 'returned';
            break;
          case 'pass':
            now += each.ms;
            break;
          case 'sweep':
            // The lease ended and others gave the row back: the process learns of it from its witness and closes.
            row = [];
            escrow = callIn(escrow, null);
            for (const coin of coins) if (coin.at === 'idle') coin.at = 'returned';
            closed = true;
            break;
        }
        if (closed) coins = coins.filter((coin) => coin.at !== 'idle');
        if (closed) escrow = callIn(escrow, null);
        const idle = coins.filter((coin) => coin.at === 'idle').length;
        const promised = coins.filter((coin) => coin.at === 'promised').length;
        expect([sumOf(escrow.idle), sumOf(escrow.promised)]).toEqual([BigInt(idle), BigInt(promised)]);
        // I10, by grant. Swept money is no longer promised: it is charged to free money.
        if (!closed) for (const part of outstanding(escrow)) compare(sumOf(common([part], row)), part.amount);
        expect(mine).toEqual(theirs);
        // Every request has what it was promised.
        const kept = [...requests.values()].reduce((sum, parts) => sum + sumOf(parts), 0n);
        expect(sumOf(escrow.promised)).toBe(kept);
      }
    }),
    { numRuns: 500 },
  );
});

test('nothing is held in advance near the end of the money, and never more than a share of what is free', () => {
  const pico = fc.bigInt({ min: 0n, max: 10n ** 18n });
  fc.assert(
    fc.property(pico, fc.option(pico), pico, pico, (free, room, need, wanted) => {
      const ahead = advance({ free, room, need, wanted });
      const available = room === null || free < room ? free : room;
      expect(ahead >= 0n && ahead <= wanted && ahead * 8n <= available).toBe(true);
      expect(ahead === 0n || available >= 16n * need).toBe(true);
    }),
  );
});

test('money that ends first is promised first, and ended money is not promised', () => {
  const parts = ['g2', 'g0', 'g1'].map((grantId) => ({ grantId, amount: 10n }));
  const escrow = refill(emptyEscrow, parts, ends);
  expect(draw(escrow, 15n, 0).parts).toEqual([
    { grantId: 'g1', amount: 10n },
    { grantId: 'g0', amount: 5n },
  ]);
  expect(draw(escrow, 15n, 20).parts).toEqual([
    { grantId: 'g0', amount: 10n },
    { grantId: 'g2', amount: 5n },
  ]);
  expect(draw(escrow, 100n, 40).parts).toEqual([{ grantId: 'g2', amount: 10n }]);
});

test('of grants that end at the same moment, the one that comes first in their order is promised first', () => {
  for (const order of [
    ['given', 'bought', 'later'],
    ['bought', 'given', 'later'],
  ] as const) {
    const ends = new Map([
      ['other', 1] as const,
      ...order.map((grantId) => [grantId, grantId === 'later' ? 9 : 5] as const),
    ]);
    const parts = ['later', 'bought', 'given'].map((grantId) => ({ grantId, amount: 10n }));
    let escrow = refill(refill(emptyEscrow, parts.slice(0, 1), ends), parts.slice(1), ends);
    expect(draw(escrow, 12n, 0).parts).toEqual([
      { grantId: order[0], amount: 10n },
      { grantId: order[1], amount: 2n },
    ]);
    // What was promised and becomes idle again is in its old place.
    const drawn = draw(escrow, 25n, 0);
    escrow = settle(drawn.escrow, drawn.parts, []);
    expect(draw(escrow, 25n, 0).parts).toEqual(drawn.parts);
    // Ends of other accounts alone change nothing.
    expect(draw(withEnds(escrow, new Map([['other', 2]])), 25n, 0).parts).toEqual(drawn.parts);
  }
});

test('an escrow remembers the ends of its own grants only, however many it is told', () => {
  const ends = new Map(Array.from({ length: 1_000 }, (_, index) => [`other ${index}`, index] as const));
  let escrow: Escrow = emptyEscrow;
  for (let i = 0; i < 3; i += 1)
    escrow = refill(escrow, [{ grantId: 'own', amount: 5n }], new Map([...ends, ['own', 9]]));
  expect(withEnds(escrow, ends).ends).toEqual(new Map([['own', 9]]));
});
