import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import type { AdmitAsk, Admitted } from '../../server/billing/lane/ledger.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import * as coins from './coins.ts';
import {
  addCustomer,
  addKey,
  addModel,
  ask,
  type Customer,
  endGrant,
  openLedger,
  settlement,
  type TestLedger,
} from './support.ts';

/** Random walks through the ledger on a real database, with several processes, against coins in purses. */
let db: TestDatabase;
let processes: TestLedger[];

beforeAll(async () => {
  db = await createDatabase();
  // One output token costs one pico-USD and the context nothing: a coin is a token.
  await addModel(db.pool, { id: 'coin', input: '0', cacheHit: '0', output: '0.000001' });
  processes = await Promise.all([openLedger(db.url), openLedger(db.url), openLedger(db.url)]);
});

afterAll(async () => {
  await Promise.all(processes.map((each) => each.close()));
  await db.drop();
});

const ledger = (index: number) => (processes[index % processes.length] as TestLedger).ledger;
const coinAsk = (customer: Customer, maxTokens: number): AdmitAsk =>
  ask(customer, { model: 'coin', textBytes: 0, maxTokens });
const costing = (asked: AdmitAsk, admission: Admitted, output: number) =>
  settlement(asked, admission, { usage: { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output } });

/** Grants end a minute apart, so that their order is that of the purses. */
async function give(customer: Customer, order: number, amount: number): Promise<string> {
  const { id } = await addGrant(db.pool, {
    accountId: customer.accountId,
    kind: 'adjustment',
    amount: BigInt(amount),
    expiresAt: new Date(Date.now() + (order + 60) * 60_000),
    sourceRef: `test:${randomUUID()}`,
  });
  return id;
}

type Step =
  | { do: 'grant'; amount: number }
  | { do: 'end'; which: number }
  | { do: 'admit'; by: number; amount: number }
  | { do: 'extend' | 'settle' | 'again'; by: number; which: number; amount: number }
  | { do: 'release' | 'sweep'; by: number; which: number };

const by = fc.nat(2);
const which = fc.nat(9);
const amount = fc.nat(60);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('grant' as const), amount: fc.integer({ min: 1, max: 80 }) }),
  fc.record({ do: fc.constant('end' as const), which }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant('admit' as const), by, amount }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('extend', 'settle', 'settle', 'again'), by, which, amount }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('release', 'sweep'), by, which }) },
);

test('whatever happens in whatever order on whatever process, the ledger agrees with coins in purses', {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const customer = await addCustomer(db.pool, { budget: null });
      const grants = [await give(customer, 0, 60)];
      const purses = [coins.purse('0', 60)];
      const running: { asked: AdmitAsk; admission: Admitted }[] = [];
      // Money in advance would be held beside what the purses know: a key that is used twice gets none.
      const keys = [customer.keyId];
      let admissions = 0;
      /** Requests that are settled, or whose hold was given back although they still ran. */
      const over: { asked: AdmitAsk; admission: Admitted; charged: number | null }[] = [];

      for (const each of steps) {
        const [mine, theirs]: [unknown[], unknown[]] = [[], []];
        const compare = (actual: unknown, expected: unknown): void => {
          mine.push(actual);
          theirs.push(expected);
        };
        if (each.do !== 'grant' && each.do !== 'end') coins.expire(purses);
        switch (each.do) {
          case 'grant': {
            grants.push(await give(customer, grants.length, each.amount));
            purses.push(coins.purse(String(purses.length), each.amount));
            break;
          }
          case 'end': {
            const index = each.which % purses.length;
            await endGrant(db.pool, grants[index] as string);
            const [ended] = purses.splice(index, 1);
            const [id] = grants.splice(index, 1);
            // It ends before all that have not ended, and after those that have: what they hold is spent in that order.
            const place = purses.filter((purse) => purse.ended).length;
            purses.splice(place, 0, { ...(ended as coins.Purse), ended: true });
            grants.splice(place, 0, id as string);
            break;
          }
          case 'admit': {
            admissions += 1;
            if (admissions % 2 === 0) keys.push(await addKey(db.pool, customer.accountId));
            const asked = coinAsk({ ...customer, keyId: keys.at(-1) as string }, each.amount);
            const answer = await ledger(each.by).admit(asked);
            const free = coins.count(purses, coins.spendable);
            const live = coins.count(purses, (coin, { ended }) => coins.isHeld(coin) && !ended);
            const floor = Math.min(each.amount, 16);
            const reason = free + live === 0 ? 'exhausted' : free + live < floor ? 'budget_below_minimum' : 'reserved';
            if (free + live === 0 || free < floor) compare(answer.kind === 'refused' && answer.reason, reason);
            else {
              compare(
                answer.kind === 'admitted' && answer.amount,
                BigInt(coins.hold(purses, asked.requestId, each.amount)),
              );
              running.push({ asked, admission: answer as Admitted });
            }
            break;
          }
          case 'extend': {
            const one = running[each.which % (running.length || 1)];
            if (one === undefined) break;
            const added = await ledger(each.by).extend(one.asked, BigInt(each.amount));
            compare(added, BigInt(coins.hold(purses, one.asked.requestId, each.amount)));
            break;
          }
          case 'settle': {
            const [one] = running.splice(each.which % (running.length || 1), 1);
            if (one === undefined) break;
            const settled = await ledger(each.by).settle(costing(one.asked, one.admission, each.amount));
            const charged = coins.settle(purses, one.asked.requestId, each.amount);
            const freeAfter = BigInt(coins.count(purses, coins.spendable));
            // What others hold is told where less was charged than it cost; the coins say nothing of that.
            const { heldAfter: _held, ...told } = settled as typeof settled & { heldAfter?: bigint };
            compare(told, { cost: BigInt(each.amount), charged: BigInt(charged), freeAfter, duplicate: false });
            over.push({ ...one, charged });
            break;
          }
          case 'again': {
            const one = over[each.which % (over.length || 1)];
            if (one === undefined) break;
            const settled = await ledger(each.by).settle(costing(one.asked, one.admission, each.amount));
            compare(settled.duplicate, one.charged !== null);
            one.charged ??= coins.settle(purses, one.asked.requestId, each.amount);
            compare(settled.charged, BigInt(one.charged));
            break;
          }
          case 'sweep':
          case 'release': {
            const [one] = running.splice(each.which % (running.length || 1), 1);
            if (one === undefined) break;
            if (each.do === 'release') await ledger(each.by).release(one.asked);
            else {
              await db.pool.query(`UPDATE process SET lease_until = now() - interval '1 second'`);
              await ledger(each.by).releaseOrphan(one.asked);
            }
            coins.release(purses, one.asked.requestId);
            over.push({ ...one, charged: null });
            break;
          }
        }
        expect(mine).toEqual(theirs);
        coins.expire(purses);
        await ledger(0).expire(customer.accountId);
        const { rows } = await db.pool.query('SELECT id, spent, held, expired FROM "grant" WHERE account_id = $1', [
          customer.accountId,
        ]);
        expect(new Map(rows.map((row) => [row.id, [row.spent, row.held, row.expired].map(Number)]))).toEqual(
          new Map(
            purses.map((purse, index) => [
              grants[index],
              [
                coins.count([purse], (coin) => coin === 'spent'),
                coins.count([purse], coins.isHeld),
                coins.count([purse], (coin) => coin === 'expired'),
              ],
            ]),
          ),
        );
      }
      expect(await checkInvariants(db.pool, { accounts: [customer.accountId] })).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('three processes at once on the same accounts break no invariant and never charge beyond the budget', {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ by, who: fc.nat(2), key: fc.nat(1), most: amount, cost: fc.nat(90), end: fc.nat(5) }), {
        minLength: 30,
        maxLength: 120,
      }),
      async (requests) => {
        const customers = await Promise.all([1, 2, 3].map(() => addCustomer(db.pool, { budget: null })));
        const second = await Promise.all(
          customers.map(({ accountId }) => addKey(db.pool, accountId, { limitDay: '0.0000000003' })),
        );
        await Promise.all(customers.flatMap((customer) => [give(customer, 0, 100), give(customer, 1, 400)]));

        const live = async (each: (typeof requests)[number]): Promise<void> => {
          const owner = customers[each.who] as Customer;
          const customer = each.key === 0 ? owner : { ...owner, keyId: second[each.who] as string };
          const asked = coinAsk(customer, each.most);
          const answer = await ledger(each.by).admit(asked);
          if (answer.kind === 'refused') return;
          const done = costing(asked, answer, each.cost);
          if (each.end === 0) return ledger(each.by).release(asked);
          if (each.end === 1) await ledger(each.by).extend(asked, BigInt(each.cost));
          if (each.end === 2) await ledger(each.by + 1).release(asked);
          if (each.end === 3) await Promise.all([ledger(each.by).settle(done), ledger(each.by + 1).settle(done)]);
          if (each.end === 4) await Promise.all([ledger(each.by).settle(done), ledger(each.by + 1).release(asked)]);
          else await ledger(each.by).settle(done);
        };
        await Promise.all(requests.map(live));

        const accounts = customers.map((customer) => customer.accountId);
        expect(await checkInvariants(db.pool, { accounts })).toEqual([]);
        for (const accountId of accounts) {
          const balance = await ledger(0).balance(accountId);
          expect(balance.held).toBe(0n);
          expect(balance.charged + balance.free).toBe(500n);
        }
      },
    ),
    { numRuns: 12 },
  );
});
