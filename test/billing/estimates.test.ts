import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdmitAsk, Admitted, Refused } from '../../server/billing/lane/ledger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { escrowSupport } from './escrow-support.ts';
import { addCustomer, addModel, ask, type Customer, settlement, usd } from './support.ts';

/** An estimate is the hold, or the refusal, that the same request gets next, and changes nothing. */

let db: TestDatabase;
const { processes, busy, escrowOf, sound } = escrowSupport(() => db);

const dear = {
  input: 6_000_000,
  cacheHit: 600_000,
  cacheWrite5m: 6_000_000,
  cacheWrite1h: 6_000_000,
  output: 30_000_000,
};
const everyDay = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big', cacheWrite1h: '6' });
  const hours = { days: [...everyDay], hours: ['00:00-24:00'], ...dear, tiers: [] };
  await addModel(db.pool, {
    id: 'dear-now',
    clock: { timeZone: 'Asia/Ho_Chi_Minh', exceptDates: [], windows: [hours] },
  });
  await addModel(db.pool, { id: 'tiered' });
  // A further version of its price, which is the one that counts.
  await db.pool.query(
    `INSERT INTO price (id, model_id, input, cache_hit, output, tiers, per_unit, valid_from)
     SELECT gen_random_uuid(), 'tiered', input, cache_hit, output, $1, $2, valid_from + interval '1 millisecond'
     FROM price WHERE model_id = 'tiered'`,
    [JSON.stringify([{ abovePromptTokens: 1_000, ...dear }]), JSON.stringify({ search: 10_000_000_000 })],
  );
});
afterAll(() => db.drop());

const size = fc.record({
  model: fc.constantFrom('big', 'dear-now', 'tiered', 'unknown'),
  textBytes: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 1_000_000 })),
  mediaTokens: fc.constantFrom(0, 0, 1_600),
  cacheWrite: fc.constantFrom('none' as const, '5m' as const, '1h' as const),
  maxTokens: fc.option(fc.oneof(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: 100_000 }))),
  answers: fc.constantFrom(1, 1, 3),
  stream: fc.boolean(),
  contextRuns: fc.constantFrom(1, 1, 16),
  searches: fc.constantFrom(0, 16),
});
const step = fc.record({ size, end: fc.constantFrom('settle' as const, 'release' as const, 'run' as const) });

/** Everything of an account that money is written to. */
async function written({ accountId }: Customer): Promise<unknown> {
  const { rows } = await db.pool.query(
    `SELECT (SELECT json_agg(g ORDER BY id) FROM "grant" g WHERE account_id = $1) AS grants,
            (SELECT json_agg(h ORDER BY request_id) FROM hold h WHERE account_id = $1) AS holds,
            (SELECT json_agg(s ORDER BY key_id) FROM key_spend s WHERE account_id = $1) AS spend,
            (SELECT count(*) FROM ledger_entry WHERE account_id = $1) AS entries,
            (SELECT count(*) FROM posting WHERE account_id = $1) AS postings`,
    [accountId],
  );
  return rows[0];
}

const comparable = (answer: Admitted | Refused): object => {
  if (answer.kind === 'admitted') return { hold: answer.amount };
  const { mayReturn: _, spendLimit, ...refused } = answer;
  return spendLimit === undefined ? refused : { ...refused, spendLimit: { ...spendLimit, returnsAtMs: null } };
};

test('an estimate is the hold or the refusal of the same request, whatever runs and however little money is left', async () => {
  await processes(1, async ([process]) => {
    const { ledger } = process!;
    const asks = fc.record({
      budget: fc.constantFrom('0', '0.001', '0.02', '0.5', '5', '1000'),
      limitDay: fc.constantFrom(undefined, undefined, '0.01', '1'),
      steps: fc.array(step, { minLength: 1, maxLength: 5 }),
    });
    let admissions = 0;
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(asks, async ({ budget, limitDay, steps }) => {
        const customer = await addCustomer(db.pool, {
          budget: budget === '0' ? null : budget,
          ...(limitDay === undefined ? {} : { limitDay }),
        });
        for (const { size, end } of steps) {
          const asked: AdmitAsk = ask(customer, size);
          const before = await written(customer);
          const estimate = await ledger.estimate(asked);
          expect(await written(customer)).toEqual(before);
          const answer = await ledger.admit(asked);
          expect(comparable(answer)).toEqual(
            estimate.kind === 'refused' ? comparable(estimate) : { hold: estimate.hold },
          );
          if (estimate.kind === 'refused') {
            refusals += 1;
            continue;
          }
          admissions += 1;
          if (answer.kind !== 'admitted') continue;
          expect(estimate.least).toBeLessThanOrEqual(estimate.hold);
          expect(estimate.hold).toBeLessThanOrEqual(estimate.most);
          if (end === 'settle') await ledger.settle(settlement(asked, answer, { stream: asked.stream }));
          else if (end === 'release') await ledger.release(asked);
        }
        await sound(customer);
      }),
      { numRuns: 40 },
    );
    // Both kinds of answers were compared.
    expect(admissions).toBeGreaterThan(20);
    expect(refusals).toBeGreaterThan(20);
  });
});

test('an estimate for a key with money held in advance is what its escrow promises, and draws nothing from it', async () => {
  await processes(1, async ([process]) => {
    const { ledger } = process!;
    const customer = await addCustomer(db.pool, { budget: '100' });
    await busy(process!, customer, { maxTokens: 2_000, stream: false });
    expect(await escrowOf(customer)).toBeGreaterThan(0n);
    let promised = 0;
    for (const maxTokens of [1, 100, 2_000, 2_000, null]) {
      for (const stream of [true, false]) {
        const asked = ask(customer, { maxTokens, stream });
        const before = await escrowOf(customer);
        const estimate = await ledger.estimate(asked);
        expect(await escrowOf(customer)).toBe(before);
        const answer = await ledger.admit(asked);
        expect(estimate).toMatchObject({ hold: answer.kind === 'admitted' && answer.amount });
        const { rows } = await db.pool.query('SELECT FROM hold WHERE request_id = $1', [asked.requestId]);
        promised += rows.length === 0 ? 1 : 0;
        await ledger.release(asked);
      }
    }
    expect(promised).toBeGreaterThan(0);
    await sound(customer);
  });
});

test('an estimate waits for no lock of the account, and is by the rates of the hour', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    const client = await db.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM "grant" WHERE account_id = $1 FOR UPDATE', [customer.accountId]);
      const estimate = await process!.ledger.estimate(ask(customer, { model: 'dear-now' }));
      // 100 tokens of context at 6 USD per million, and an answer of 100 at 30.
      expect(estimate).toMatchObject({ kind: 'estimated', hold: usd('0.0036'), inputTokens: 100 });
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});
