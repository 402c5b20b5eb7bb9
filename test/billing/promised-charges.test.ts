import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { additionsOf, promisedCharge } from '../../server/billing/escrow/promised-charges.ts';
import { decide, type Facts, type Operation, pairKey } from '../../server/billing/lane/batch.ts';
import { noSpend } from '../../server/billing/rules/spend-limit.ts';
import type { Settlement } from '../../server/billing/types.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  type Customer,
  openLedger,
  settlement,
  type TestLedger,
} from './support.ts';

/** Settlements that their promises pay for move the same money as the lane would, without reading a row. */

const price = { id: randomUUID(), input: 3n, cacheHit: 1n, cacheWrite5m: 3n, cacheWrite1h: 3n, output: 5n };

/** Two accounts with two keys and two grants each; every key has an escrow in one of the grants. */
const escrows = [0, 1].flatMap((account) =>
  [0, 1].map((key) => ({
    accountId: `00000000-0000-4000-8000-00000000000${account}`,
    keyId: `00000000-0000-4000-8000-00000000001${account * 2 + key}`,
    escrowId: `00000000-0000-4000-8000-00000000002${3 - account * 2 - key}`,
    grantId: `00000000-0000-4000-8000-00000000003${account}`,
  })),
);
const held = 100_000n;

function facts(): Facts {
  return {
    accountLimits: new Map(),
    sharedLimits: new Map(),
    nowMs: 0,
    change: '1',
    grantEnds: new Map(),
    escrowed: new Set(),
    grants: new Map(
      escrows.map(({ accountId, grantId }) => [
        accountId,
        [
          {
            id: grantId,
            trial: false,
            amount: 10n ** 12n,
            spent: 7n,
            held: 2n * held,
            expired: 0n,
            ended: false,
            overdrawn: false,
          },
        ],
      ]),
    ),
    keySpend: new Map(
      escrows.map(({ accountId, keyId }) => [pairKey(accountId, keyId), { ...noSpend, charged: 9n, held }]),
    ),
    holds: new Map(
      escrows.map(({ accountId, keyId, escrowId, grantId }) => [
        pairKey(accountId, escrowId),
        {
          accountId,
          requestId: escrowId,
          keyId,
          escrow: true,
          uncovered: false,
          parts: [{ grantId, amount: held }],
          heldAt: 'then',
          orphaned: false,
          limits: { day: null, week: null, month: null, lifetime: null, burn: null },
        },
      ]),
    ),
    uncovered: new Map(),
    entries: new Map(),
    accounts: new Set(),
    keys: new Map(),
    models: new Map(),
  };
}

const request = fc.record({
  escrow: fc.nat(escrows.length - 1),
  model: fc.constantFrom('big', 'small'),
  outcome: fc.constantFrom('completed' as const, 'client_closed' as const),
  input: fc.nat(40),
  output: fc.nat(40),
  upstreamCost: fc.option(fc.bigInt({ min: 0n, max: 50n })),
  /** What was promised beyond the cost. */
  more: fc.bigInt({ min: 0n, max: 100n }),
});

test('a batch of promised charges writes what the lane would have written', () => {
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 30 }), (requests) => {
      const settlements = requests.map(({ escrow, model, outcome, input, output, upstreamCost, more }): Settlement => {
        const { accountId, keyId, escrowId, grantId } = escrows[escrow] ?? escrows[0]!;
        const amount = BigInt(input) * price.input + BigInt(output) * price.output + more;
        return {
          ...settlementOf(accountId, keyId, { input, output }),
          model,
          outcome,
          upstreamCost,
          promise: { escrowId, parts: [{ grantId, amount }] },
        };
      });
      const known = facts();
      const operations: Operation[] = settlements.map((each) => ({ kind: 'settle', settlement: each }));
      const { changes, results } = decide(operations, known);
      const charges = settlements.map((each) => promisedCharge(each)!);
      const added = additionsOf(charges)!;

      const grants = new Map(added.grants.map(({ grantId, charged }) => [grantId, charged]));
      for (const { grant } of changes.grants) {
        const before = known.grants.get(escrows.find(({ grantId }) => grantId === grant.id)!.accountId)![0]!;
        expect(grant).toEqual({
          ...before,
          spent: before.spent + (grants.get(grant.id) ?? 0n),
          held: before.held - (grants.get(grant.id) ?? 0n),
        });
      }
      const keys = new Map(added.keys.map(({ keyId, charged }) => [keyId, charged]));
      for (const { keyId, spend } of changes.keySpend) {
        expect([spend.charged, spend.held]).toEqual([9n + (keys.get(keyId) ?? 0n), held - (keys.get(keyId) ?? 0n)]);
      }
      const rows = new Map(added.escrows.map(({ escrowId, charged }) => [escrowId, held - charged]));
      for (const { requestId, parts } of changes.holdsChanged)
        expect(parts.reduce((sum, { amount }) => sum + amount, 0n)).toBe(rows.get(requestId));
      expect(changes.holdsEnded).toEqual([]);

      const byRequest = new Map(charges.map((charge) => [charge.settlement.requestId, charge]));
      expect(added.charges.length).toBe(changes.entries.length);
      for (const entry of changes.entries) {
        const charge = byRequest.get(entry.settlement.requestId);
        expect([entry.cost, entry.charged]).toEqual([charge?.charged, charge?.charged]);
      }
      const posted = changes.postings.map(({ requestId, grantId, amount }) => [requestId, grantId, amount].join(' '));
      const expected = charges
        .filter(({ charged }) => charged > 0n)
        .map((charge) => [charge.settlement.requestId, charge.grantId, charge.charged].join(' '));
      expect(posted.sort()).toEqual(expected.sort());
      expect(results.map((result) => (result.kind === 'settled' ? result.own : null))).toEqual(
        charges.map(({ grantId, charged }) => (charged === 0n ? [] : [{ grantId, amount: charged }])),
      );
      const sums = (list: readonly object[]) => list.map((row) => JSON.stringify(row, textOf)).sort();
      expect(sums(added.usage.map((row) => ({ ...row, charged: row.cost })).map(sorted))).toEqual(
        sums(changes.usage.map(sorted)),
      );
    }),
    { numRuns: 300 },
  );
});

const textOf = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
const sorted = (row: object): object => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

function settlementOf(accountId: string, keyId: string, usage: { input: number; output: number }): Settlement {
  return {
    accountId,
    requestId: uuidv7(),
    keyId,
    model: 'big',
    upstream: 'one',
    protocol: 'messages',
    stream: true,
    usage: { cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, ...usage },
    price,
    upstreamCost: null,
    latencyMs: 1,
    timeToFirstByteMs: null,
    outcome: 'completed',
    usageSource: 'reported',
  };
}

test.each([
  ['without a promise', {}],
  ['that costs more than its promise', { promise: { escrowId: 'e', parts: [{ grantId: 'g', amount: 7n }] } }],
  ['of two grants', { promise: { escrowId: 'e', parts: ['g', 'h'].map((grantId) => ({ grantId, amount: 9n })) } }],
  [
    'whose line is damaged',
    { promise: { escrowId: 'e', parts: [{ grantId: 'g', amount: 9n }] }, usage: { input: 0.5 } },
  ],
])('the lane decides a settlement %s', (_name, more) => {
  const whole = { ...settlementOf('a', 'k', { input: 1, output: 1 }), ...more } as Settlement;
  expect(promisedCharge(whole)).toBeNull();
});

test('the lane decides a batch that charges one escrow in two grants', () => {
  const charges = ['g', 'h'].map((grantId) =>
    promisedCharge({
      ...settlementOf('a', 'k', { input: 1, output: 1 }),
      promise: { escrowId: 'e', parts: [{ grantId, amount: 9n }] },
    }),
  );
  expect(additionsOf(charges.map((charge) => charge!))).toBeNull();
});

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
});
afterAll(() => db.drop());

/** Admits requests until all of so many run on promises. */
async function promised(process: TestLedger, customer: Customer, count: number): Promise<Settlement[]> {
  for (const requests of [1, 20, 1]) {
    await Promise.all(
      Array.from({ length: requests }, async () => {
        const asked = ask(customer);
        await process.ledger.settle(settlement(asked, await admitted(process.ledger, asked)));
      }),
    );
  }
  const asked = Array.from({ length: count }, () => ask(customer));
  return Promise.all(asked.map(async (each) => settlement(each, await admitted(process.ledger, each))));
}

test('no admission waits for settlements whose account somebody else has locked', async () => {
  const process = await openLedger(db.url);
  const [busy, other] = [await addCustomer(db.pool, { budget: '100' }), await addCustomer(db.pool, { budget: '100' })];
  const running = await promised(process, busy, 5);
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM "grant" WHERE account_id = $1 FOR UPDATE', [busy.accountId]);
    const settled = Promise.all(running.map((each) => process.ledger.settle(each)));
    // The other account's hold is committed while the settlements wait for the lock.
    await admitted(process.ledger, ask(other));
    await client.query('COMMIT');
    expect((await settled).every(({ charged, cost, duplicate }) => charged === cost && !duplicate)).toBe(true);
  } finally {
    client.release();
    await process.close();
  }
  await expectSound(db.pool);
});

test('an entry keeps the tier of its price, beside entries without one', async () => {
  const process = await openLedger(db.url);
  const customer = await addCustomer(db.pool, { budget: '100' });
  const running = await promised(process, customer, 4);
  const tiers = [undefined, { above: null, upTo: 200_000 }, undefined, { above: 1, upTo: null }];
  await Promise.all(
    running.map((each, index) => {
      const tier = tiers[index];
      return process.ledger.settle(tier === undefined ? each : { ...each, price: { ...each.price, tier } });
    }),
  );
  const { rows } = await db.pool.query(
    'SELECT request_id AS id, tier_above AS above, tier_up_to AS "upTo" FROM ledger_entry WHERE request_id = ANY ($1)',
    [running.map(({ requestId }) => requestId)],
  );
  const found = new Map(
    rows.map(({ id, above, upTo }) => [id, [above, upTo].map((bound) => (bound === null ? null : Number(bound)))]),
  );
  expect(running.map(({ requestId }) => found.get(requestId))).toEqual([
    [null, null],
    [null, 200_000],
    [null, null],
    [1, null],
  ]);
  await process.close();
  await expectSound(db.pool);
});

test('settlements of an escrow that was swept are charged once, to what is free', async () => {
  const process = await openLedger(db.url);
  const customer = await addCustomer(db.pool, { budget: '100' });
  const running = await promised(process, customer, 5);
  const { rows } = await db.pool.query('SELECT request_id AS id FROM hold WHERE account_id = $1 AND escrow', [
    customer.accountId,
  ]);
  expect(rows.length).toBe(1);
  // As a sweep does it once the lease has ended.
  await db.pool.query(`UPDATE process SET lease_until = now() - interval '1 second'`);
  const sweeper = await openLedger(db.url);
  await sweeper.ledger.releaseOrphan({ accountId: customer.accountId, requestId: rows[0].id });
  const settled = await Promise.all(running.map((each) => process.ledger.settle(each)));
  expect(settled.every(({ charged, cost, duplicate }) => charged === cost && !duplicate)).toBe(true);
  const again = await Promise.all(running.map((each) => process.ledger.settle(each)));
  expect(again.every(({ duplicate }) => duplicate)).toBe(true);
  await process.close();
  await sweeper.close();
  await expectSound(db.pool);
});

test('two processes that settle for one key at once lose and double nothing', async () => {
  const processes = await Promise.all([openLedger(db.url), openLedger(db.url)]);
  const customer = await addCustomer(db.pool, { budget: '1000' });
  const load = async (process: TestLedger): Promise<bigint> => {
    let charged = 0n;
    const client = async (): Promise<void> => {
      for (let i = 0; i < 25; i += 1) {
        const asked = ask(customer);
        const settled = await process.ledger.settle(settlement(asked, await admitted(process.ledger, asked)));
        charged += settled.charged;
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    return charged;
  };
  const sums = await Promise.all(processes.map(load));
  const { charged } = await processes[0].ledger.balance(customer.accountId);
  expect(charged).toBe(sums[0]! + sums[1]!);
  await Promise.all(processes.map((each) => each.close()));
  expect(
    (await db.pool.query('SELECT count(*)::int AS n FROM ledger_entry WHERE account_id = $1', [customer.accountId]))
      .rows[0].n,
  ).toBe(800);
  await expectSound(db.pool);
});
