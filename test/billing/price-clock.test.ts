import { assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEscrows } from '../../server/billing/escrow/escrows.ts';
import { decide, type Facts, type ModelTruth } from '../../server/billing/lane/batch.ts';
import { readEntry } from '../../server/billing/reads/usage.ts';
import { holdSize } from '../../server/billing/rules/hold-size.ts';
import { decode, encode } from '../../server/billing/spool/spool-lines.ts';
import type { AdmitAsk, Admitted } from '../../server/billing/types.ts';
import { type PriceWindow, type UnitPrices, type VersionPrice, weekdays } from '../../server/core/price.ts';
import { toStoredClock } from '../../server/core/price-clock.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { escrowSupport } from './escrow-support.ts';
import { addCustomer, addModel, admitted, ask, settlement } from './support.ts';

/** Prices by the clock where money is held and charged: the set of the moment of the admission, by the database's clock. */

const five = (n: bigint): UnitPrices => ({
  input: n,
  cacheHit: n / 10n,
  cacheWrite5m: n,
  cacheWrite1h: n,
  output: n * 5n,
});

describe('at every moment around a boundary', () => {
  /** Night is dear on weekdays, and Sunday's night reaches into Monday and the next week. */
  const price: VersionPrice = {
    id: 'price',
    ...five(1_000n),
    tiers: [{ abovePromptTokens: 2_000, ...five(2_000n) }],
    clock: {
      timeZone: 'Asia/Ho_Chi_Minh',
      exceptDates: ['2027-01-01'],
      windows: [
        {
          days: ['mon', 'tue', 'wed', 'thu', 'fri'],
          hours: ['09:00-12:00'],
          ...five(3_000n),
          tiers: [{ abovePromptTokens: 2_000, ...five(4_000n) }],
        },
        { days: ['sun'], hours: ['22:00-06:00'], ...five(10n), tiers: [{ abovePromptTokens: 2_000, ...five(20n) }] },
      ],
    },
  };
  const monday = Date.parse('2026-12-28T00:00:00+07:00');
  const hour = 3_600_000;
  const day = 24 * hour;
  /** By hand: the ordinary prices, the dear ones of mornings, the cheap ones of Sunday's night. */
  const expectedAt = (atMs: number): bigint => {
    const since = (((atMs - monday) % (7 * day)) + 7 * day) % (7 * day);
    const [weekday, ofDay] = [Math.floor(since / day), since % day];
    const isNewYear = atMs - monday >= 4 * day && atMs - monday < 5 * day;
    if (weekday < 5 && ofDay >= 9 * hour && ofDay < 12 * hour) return isNewYear ? 1_000n : 3_000n;
    if ((weekday === 6 && ofDay >= 22 * hour) || (weekday === 0 && ofDay < 6 * hour)) return 10n;
    return 1_000n;
  };
  const boundaries = [0, 1, 4, 5, 6, 7, 8].flatMap((n) =>
    [0, 6, 9, 12, 22, 24].map((h) => monday + n * day + h * hour),
  );
  const anyMoment = [constantFrom(...boundaries), constantFrom(-60_000, -1, 0, 1, 59_999)] as const;

  const customer = { accountId: 'account', keyId: 'key' };
  const model: ModelTruth = { contextWindow: 200_000, maxOutputTokens: 32_000, price, priceUntilMs: null };
  const factsAt = (nowMs: number) =>
    ({
      today: '2026-12-28',
      nowMs,
      change: '1',
      grantEnds: new Map([['grant', null]]),
      escrowed: new Set(),
      keySpend: new Map(),
      accountLimits: new Map(),
      sharedLimits: new Map(),
      holds: new Map(),
      uncovered: new Map(),
      late: new Map(),
      entries: new Map(),
      grants: new Map([
        [
          'account',
          [
            {
              id: 'grant',
              amount: 10n ** 15n,
              spent: 0n,
              held: 0n,
              expired: 0n,
              ended: false,
              trial: false,
              overdrawn: false,
            },
          ],
        ],
      ]),
      keys: new Map([
        [
          customer.keyId,
          {
            accountId: customer.accountId,
            valid: true,
            expiresAtMs: null,
            accountActive: true,
            models: [],
            limits: { day: null, week: null, month: null, lifetime: null, burn: null },
            timeZone: 'UTC',
          },
        ],
      ]),
      models: new Map([['big', model]]),
    }) as unknown as Facts;

  /** What an admission at this moment has to be: price, window and hold. */
  function check(answer: Admitted, asked: AdmitAsk, atMs: number): void {
    const unit = expectedAt(atMs);
    const { price: frozen } = answer;
    expect({ input: frozen.input, output: frozen.output }).toEqual({ input: unit, output: unit * 5n });
    expect(frozen.tiers?.map(({ input }) => input)).toEqual([unit === 1_000n ? 2_000n : unit === 10n ? 20n : 4_000n]);
    expect(frozen.byClock?.at).toBe(atMs);
    expect(frozen.byClock?.window === null).toBe(unit === 1_000n);
    expect(answer.admittedAtMs).toBe(atMs);
    expect(answer.amount).toBe(holdSize(asked, model, frozen).target);
  }

  test('the lane holds and freezes what the clock of its transaction shows', async () => {
    await assert(
      asyncProperty(...anyMoment, integer({ min: 1, max: 20_000 }), async (boundary, offMs, textBytes) => {
        const asked = ask(customer, { textBytes });
        const { results } = decide([{ kind: 'admit', ask: asked }], factsAt(boundary + offMs));
        check(results[0] as Admitted, asked, boundary + offMs);
      }),
      { numRuns: 400 },
    );
  });

  test('an escrow that was filled at another price promises at the witness’s clock, and never less than the price needs', async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await assert(
      asyncProperty(...anyMoment, integer({ min: 1, max: 20_000 }), async (boundary, offMs, textBytes) => {
        // Filled long before: in another week, at whatever price counted then.
        const clock = { nowMs: boundary - 9 * day };
        const queued: { operation: unknown; resolve(result: never): void }[] = [];
        const escrows = createEscrows({
          witness: {
            ask: () =>
              Promise.resolve({
                change: '1',
                nowMs: clock.nowMs,
                lease: { sinceMs: 0, untilMs: clock.nowMs + 60_000 },
                ageMs: () => 0,
              }),
            close() {},
          },
          lane: { add: (operation) => new Promise((resolve) => queued.push({ operation, resolve })) },
          isHealthy: () => true,
          isRenewed: () => true,
          onFault: (error) => {
            throw error;
          },
          idleMs: 1_000_000,
        });
        const facts = factsAt(clock.nowMs);
        escrows.committed(
          [{ kind: 'admit', ask: ask(customer) }],
          [{ kind: 'refused', reason: 'unavailable' } as never],
          facts,
        );
        for (let i = 0; i < 8; i += 1) expect(await escrows.admit(ask(customer, { textBytes }))).toBe(null);
        const refill = queued.shift();
        if (refill === undefined) throw new Error('nothing was asked of the lane');
        const [prepared] = escrows.prepare([refill.operation as never]);
        const added = [{ grantId: 'grant', amount: 10n ** 14n }];
        const filled = { kind: 'refilled', freeAfter: 0n, added, lost: false, trialOnly: false };
        escrows.committed([prepared as never], [filled as never], facts);
        refill.resolve(filled as never);
        await turn();

        clock.nowMs = boundary + offMs;
        const asked = ask(customer, { textBytes });
        const answer = await escrows.admit(asked);
        if (answer === null || answer === 'unavailable') throw new Error(`not admitted: ${String(answer)}`);
        check(answer, asked, clock.nowMs);
        const { parts } = escrows.takePromise(settlement(asked, answer)) ?? { parts: [] };
        expect(parts.reduce((sum, { amount }) => sum + amount, 0n)).toBe(answer.amount);
      }),
      { numRuns: 200 },
    );
  });
});

describe('in the database', () => {
  let db: TestDatabase;
  const { processes, busy } = escrowSupport(() => db);
  const window = (more: Partial<PriceWindow> = {}): PriceWindow => ({
    days: weekdays,
    hours: ['00:00-24:00'],
    ...five(6_000_000n),
    tiers: [],
    ...more,
  });
  const setClock = async (model: string, exceptDates: string[]) => {
    const clock = toStoredClock({ timeZone: 'Asia/Shanghai', exceptDates, windows: [window()] });
    await addModel(db.pool, { id: model, clock });
  };
  /** The dates on which now can be, in every time zone. */
  const around = () => [-1, 0, 1].map((n) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10));

  beforeAll(async () => {
    db = await createDatabase();
    await setClock('always', []);
    await setClock('holiday', around());
    await addModel(db.pool, { id: 'plain' });
  });
  afterAll(() => db.drop());

  test.each([
    ['always', 6_000_000n, { days: weekdays, period: '00:00-24:00', timeZone: 'Asia/Shanghai' }],
    ['holiday', 3_000_000n, null],
  ])(
    'an entry of the model %s keeps the prices of its hours, by the lane and by an escrow',
    async (id, input, shown) => {
      await processes(1, async ([process]) => {
        const customer = await addCustomer(db.pool, { budget: '100' });
        const ledger = process!.ledger;
        const before = Date.now();
        for (const isBusy of [false, true]) {
          if (isBusy) await busy(process!, customer, { model: id });
          const asked = ask(customer, { model: id });
          const answer = await admitted(ledger, asked);
          expect(answer.price.input).toBe(input);
          await ledger.settle(settlement(asked, answer));
          const entry = await readEntry(db.pool, customer.accountId, asked.requestId);
          expect(entry).toMatchObject({ prices: { input }, byClock: { at: answer.admittedAtMs, window: shown } });
          expect(Math.abs(answer.admittedAtMs - before)).toBeLessThan(60_000);
        }
        // Beside entries at a price without windows, in one batch.
        const asked = [ask(customer, { model: id }), ask(customer, { model: 'plain' })];
        const answers = await Promise.all(asked.map((each) => admitted(ledger, each)));
        await Promise.all(asked.map((each, index) => ledger.settle(settlement(each, answers[index]!))));
        const entries = await Promise.all(asked.map((each) => readEntry(db.pool, customer.accountId, each.requestId)));
        expect(entries.map((entry) => entry?.byClock?.window)).toEqual([shown, undefined]);
      });
    },
  );

  test('a line of the spool keeps what the clock showed', async () => {
    const asked = ask(await addCustomer(db.pool, { budget: '1' }));
    for (const shown of [null, { days: weekdays, period: '22:00-06:00', timeZone: 'Asia/Shanghai' }]) {
      const byClock = { at: 1_795_000_000_000, window: shown };
      const each = settlement(asked, { price: { id: 'price', ...five(10n), byClock } } as Admitted);
      expect(decode(encode(each).trimEnd())).toEqual(each);
    }
  });
});
