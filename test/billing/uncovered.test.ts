import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, type Facts, type Hold, pairKey } from '../../server/billing/lane/batch.ts';
import type { AdmitAsk, Admitted, Refused } from '../../server/billing/lane/ledger.ts';
import type { Grant } from '../../server/billing/rules/budget.ts';
import {
  chooseHold,
  coveredTokens,
  coverOf,
  holdSize,
  type RequestSize,
} from '../../server/billing/rules/hold-size.ts';
import { cost, unitPrices } from '../../server/core/price.ts';
import { type Customer, price, settlement, ask as standardAsk, usd } from './support.ts';

/** Held by its bytes. */
const ask = (customer: Customer, more: Partial<AdmitAsk> = {}): AdmitAsk =>
  standardAsk(customer, { mostTokens: more.textBytes ?? 300, ...more });

/** The operator's maximum loss by answers that cannot be stopped when the budget is used up. */

const unit = unitPrices({
  input: price('3'),
  cacheHit: price('0.3'),
  cacheWrite5m: null,
  cacheWrite1h: null,
  output: price('15'),
});
const model = { contextWindow: 200_000, maxOutputTokens: 64_000, price: { id: 'p', ...unit }, priceUntilMs: null };
const customer = { accountId: 'a', keyId: 'k' };

/** One account in memory, behind the same decision that the database's transactions make. */
function account(budget: bigint) {
  let grants: readonly Grant[] = [];
  let keySpend: Facts['keySpend'] = new Map();
  const holds = new Map<string, Hold>();
  let uncovered: string | null = null;
  let count = 0;
  const give = (amount: bigint) => {
    count += 1;
    const id = `g${count}`;
    grants = [
      ...grants,
      { id, trial: false, amount, spent: 0n, held: 0n, expired: 0n, ended: false, overdrawn: false },
    ];
  };
  give(budget);
  const limits = { day: null, week: null, month: null, lifetime: null, burn: null };
  const run = (operation: Parameters<typeof decide>[0][number]) => {
    const { results, changes } = decide([operation], {
      nowMs: 0,
      change: '0',
      grantEnds: new Map(),
      escrowed: new Set(),
      grants: new Map([['a', grants]]),
      keySpend,
      accountLimits: new Map(),
      sharedLimits: new Map(),
      holds,
      uncovered: uncovered === null ? new Map() : new Map([['a', uncovered]]),
      entries: new Map(),
      accounts: new Set(['a']),
      keys: new Map([
        [
          'k',
          {
            accountId: 'a',
            valid: true,
            expiresAtMs: null,
            accountActive: true,
            models: [],
            limits,
            timeZone: 'UTC',
          },
        ],
      ]),
      models: new Map([['big', model]]),
    });
    const changed = new Map(changes.grants.map(({ grant }) => [grant.id, grant]));
    // The database's lock reads those that are not used up.
    grants = grants
      .map((grant) => changed.get(grant.id) ?? grant)
      .filter((grant) => grant.spent + grant.expired < grant.amount);
    keySpend = new Map(changes.keySpend.map(({ spend }) => [pairKey('a', 'k'), spend]));
    for (const { requestId } of changes.holdsEnded) {
      holds.delete(pairKey('a', requestId));
      if (uncovered === requestId) uncovered = null;
    }
    for (const placed of changes.holdsPlaced) {
      // The database's own bound.
      if (placed.uncovered && uncovered !== null) throw new Error('two uncovered holds of one account');
      if (placed.uncovered) uncovered = placed.requestId;
      holds.set(pairKey('a', placed.requestId), { ...placed, heldAt: '', orphaned: false, limits });
    }
    return results[0];
  };
  return {
    give,
    admit: (asked: AdmitAsk) => run({ kind: 'admit', ask: asked }) as Admitted | Refused,
    /** Ends a request; to what it cost the operator. */
    settle(asked: AdmitAsk, admission: Admitted, input: number, output: number): bigint {
      const usage = { input, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output };
      const result = run({
        kind: 'settle',
        final: true,
        settlement: settlement(asked, admission, { usage, stream: asked.stream }),
      });
      if (result?.kind !== 'settled') throw new Error('not settled');
      return result.settled.cost - result.settled.charged;
    },
  };
}

interface Load {
  textBytes: number;
  maxTokens: number | null;
  answers: number;
  /** Shares of what they can come to at most. */
  density: number;
  length: number;
  /** Which of the running requests ends before this one is asked for; none when beyond them. */
  ends: number;
}

const load: fc.Arbitrary<Load> = fc.record({
  textBytes: fc.oneof(fc.integer({ min: 50, max: 3_000 }), fc.integer({ min: 3_000, max: 700_000 })),
  maxTokens: fc.oneof(fc.constant(null), fc.constant(63_000), fc.integer({ min: 1, max: 100_000 })),
  answers: fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 8 })),
  density: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.oneof(fc.constant(1), fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
  ends: fc.nat({ max: 40 }),
});

const overrunOf = (asked: AdmitAsk, admission: Admitted) => holdSize(asked, model, unit).bound - admission.amount;

describe('requests that are not streamed, 2 to 200 of an account', () => {
  test('cost the operator no more than what one of them overran, each time the budget was used up', () => {
    fc.assert(
      fc.property(
        fc.array(load, { minLength: 2, maxLength: 200 }),
        fc.integer({ min: 1, max: 20_000_000 }),
        fc.array(fc.integer({ min: 1, max: 20_000_000 }), { maxLength: 3 }),
        (loads, micros, topUps) => {
          const book = account(BigInt(micros) * 1_000_000n);
          const running: { asked: AdmitAsk; admission: Admitted; load: Load }[] = [];
          let lost = 0n;
          let maxOverrun = 0n;
          const end = (index: number) => {
            const [done] = running.splice(index, 1);
            if (done === undefined) return;
            const { asked, admission } = done;
            const { density, length } = done.load;
            const input = Math.floor(Math.min(asked.textBytes, model.contextWindow) * density);
            const cap = Math.min(asked.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens);
            lost += book.settle(asked, admission, input, Math.floor(cap * length) * asked.answers);
          };
          for (const [index, each] of loads.entries()) {
            end(each.ends);
            const topUp = topUps[Math.floor(index / 50)];
            if (topUp !== undefined && index % 50 === 49) book.give(BigInt(topUp) * 1_000_000n);
            const { textBytes, maxTokens, answers } = each;
            const asked = ask(customer, { textBytes, maxTokens, answers, stream: false });
            const admission = book.admit(asked);
            if (admission.kind === 'refused') continue;
            const overrun = overrunOf(asked, admission);
            if (overrun > maxOverrun) maxOverrun = overrun;
            running.push({ asked, admission, load: each });
          }
          while (running.length > 0) end(0);
          expect(lost).toBeLessThanOrEqual(maxOverrun * BigInt(1 + topUps.length));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('60 of 63,000 tokens at once on 4 USD cost the operator less than one of them', () => {
    const book = account(usd('4'));
    const asks = Array.from({ length: 60 }, () => ask(customer, { maxTokens: 63_000, stream: false }));
    const admitted = asks.map((asked) => ({ asked, admission: book.admit(asked) }));
    const running = admitted.filter(
      (each): each is { asked: AdmitAsk; admission: Admitted } => each.admission.kind === 'admitted',
    );
    let lost = 0n;
    for (const { asked, admission } of running) lost += book.settle(asked, admission, 100, 63_000);
    const one = cost({ input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 63_000 }, unit);
    expect(running).toHaveLength(5);
    expect(lost).toBeLessThan(one);
    // Those who were refused are told what would fit, and that waiting helps.
    const refused = admitted.map(({ admission }) => admission).filter((each) => each.kind === 'refused');
    expect(refused).toHaveLength(55);
    expect(refused.at(-1)).toMatchObject({ reason: 'reserved', required: one + 200n * price('3') });
    expect(refused.at(-1)?.affordableMaxTokens).toBeGreaterThan(0);
  });

  test('money that others give back is no new credit: an account is overdrawn once', () => {
    const book = account(usd('4'));
    const slow = Array.from({ length: 5 }, () => ask(customer, { maxTokens: 63_000, stream: false }));
    const [first, ...others] = slow.map((asked) => ({ asked, admission: book.admit(asked) as Admitted }));
    if (first === undefined) throw new Error('none');
    expect(book.settle(first.asked, first.admission, 100, 63_000)).toBeGreaterThan(0n);
    // The others were reserved to the last token and cost almost nothing: most of the money is free again.
    for (const { asked, admission } of others) expect(book.settle(asked, admission, 100, 1)).toBe(0n);
    const long = () => ask(customer, { maxTokens: 63_000, stream: false });
    let last: Admitted | Refused;
    for (;;) {
      const asked = long();
      last = book.admit(asked);
      if (last.kind === 'refused') break;
      expect(book.settle(asked, last, 300, 63_000)).toBe(0n);
    }
    expect(last).toMatchObject({ reason: 'budget_below_minimum' });
    // What it is told to ask for is what it gets.
    const { affordableMaxTokens } = last;
    expect(book.admit(ask(customer, { maxTokens: affordableMaxTokens ?? 0, stream: false })).kind).toBe('admitted');
  });
});

describe('one request alone that is not streamed', () => {
  test('runs on the ordinary hold, however long its answer might be', () => {
    const book = account(usd('0.01'));
    expect(book.admit(ask(customer, { maxTokens: null, stream: false }))).toMatchObject({
      kind: 'admitted',
      amount: usd('0.01'),
    });
  });

  test('has another wait that is covered by nothing, until it has ended', () => {
    const book = account(usd('0.5'));
    const asked = ask(customer, { maxTokens: 63_000, stream: false });
    const admission = book.admit(asked) as Admitted;
    expect(admission.kind).toBe('admitted');
    const next = () => book.admit(ask(customer, { maxTokens: 63_000, stream: false }));
    expect(next()).toMatchObject({ reason: 'reserved' });
    // Streams, and answers that what is free covers, need not wait.
    expect(book.admit(ask(customer, { maxTokens: 63_000 })).kind).toBe('admitted');
    expect(book.admit(ask(customer, { maxTokens: 50, stream: false })).kind).toBe('admitted');
    book.settle(asked, admission, 100, 10);
    expect(next().kind).toBe('admitted');
  });

  test('of several answers is covered to the last token of each, or refused for want of money', () => {
    const book = account(usd('4'));
    const several = (answers: number) => book.admit(ask(customer, { maxTokens: 63_000, answers, stream: false }));
    const refused = several(5) as Refused;
    expect(refused).toMatchObject({ kind: 'refused', reason: 'budget_below_minimum' });
    expect(refused.affordableMaxTokens).toBe(53_321);
    expect(several(4)).toMatchObject({ kind: 'admitted', amount: usd('3.7809') });
    expect(several(4)).toMatchObject({ kind: 'refused', reason: 'reserved' });
  });
});

describe('the choice of a hold', () => {
  const request = (more: Partial<RequestSize> = {}): RequestSize => ({
    ...ask(customer, { maxTokens: 50_000, stream: false }),
    ...more,
  });
  const size = holdSize(request(), model, unit);

  test('rests on bytes: no text has more tokens', () => {
    expect(size.bound).toBe(300n * price('3') + 50_000n * price('15'));
    const tools = holdSize(request({ contextRuns: 16 }), model, unit);
    // What tools of the vendor find comes into the context, up to the window, each time that it is read.
    expect(tools.bound - size.bound).toBe((16n * 200_000n - 300n) * price('3'));
  });

  test.each([
    ['covered, when the account is rich', 'preferred', 8n * size.bound, true, size.bound, false],
    ['ordinary, when it is not and nothing else is uncovered', 'preferred', 7n * size.bound, false, size.target, true],
    ['covered, when something else is uncovered', 'preferred', size.bound, true, size.bound, false],
    ['all that is free, when that is less', 'preferred', size.floor, false, size.floor, true],
    ['covered, when it has to be', 'required', size.bound, false, size.bound, false],
  ] as const)('%s', (_what, cover, available, hasUncovered, amount, uncovered) => {
    expect(chooseHold(size, { cover, stream: false }, available, hasUncovered)).toEqual({ amount, uncovered });
  });

  test('is none while something else is uncovered and this cannot be covered', () => {
    expect(chooseHold(size, { cover: 'preferred', stream: false }, size.bound - 1n, true)).toBeNull();
  });

  test('gives no credit to an overdrawn account, and none to a request for several answers', () => {
    expect(coverOf({ stream: false, answers: 1 }, false)).toBe('preferred');
    expect(coverOf({ stream: false, answers: 1 }, true)).toBe('required');
    expect(coverOf({ stream: false, answers: 2 }, false)).toBe('required');
    expect(coverOf({ stream: true, answers: 2 }, false)).toBe('preferred');
    expect(coverOf({ stream: true, answers: 2 }, true)).toBe('required');
  });

  test('a model whose answers cost nothing has no longest one', () => {
    expect(coveredTokens(size.bound, { ...size, maxOutputPrice: 0n }, 1)).toBeNull();
  });
});
