import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addKey,
  addModel,
  addPrice,
  admitted,
  ask,
  type Customer,
  endGrant,
  grant,
  openLedger,
  price,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/** The ledger on a real database, with two processes: holds, charges, refusals, limits and expiry. */

let db: TestDatabase;
let one: TestLedger;
let two: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  await addModel(db.pool, { id: 'free', input: '0', cacheHit: '0', output: '0' });
  one = await openLedger(db.url);
  two = await openLedger(db.url);
});

afterEach(async () => {
  await expectSound(db.pool);
});

afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await db.drop();
});

const entries = async ({ accountId }: Customer): Promise<Record<string, unknown>[]> =>
  (await db.pool.query('SELECT * FROM ledger_entry WHERE account_id = $1 ORDER BY request_id', [accountId])).rows;
const holds = async ({ accountId }: Customer): Promise<Record<string, unknown>[]> =>
  (await db.pool.query('SELECT * FROM hold WHERE account_id = $1', [accountId])).rows;
const postings = async ({ accountId }: Customer): Promise<Record<string, unknown>[]> =>
  (await db.pool.query('SELECT * FROM posting WHERE account_id = $1 ORDER BY created_at', [accountId])).rows;

/** 100 tokens of input at 3 USD/M and an answer of 100 at 15 USD/M. */
const target = usd('0.0018');
/** 100 tokens of input at 3 USD/M and an answer of 50 at 15 USD/M. */
const owed = usd('0.00105');
/** 100 tokens of cached input at 0.3 USD/M and an answer of 16 at 15 USD/M. */
const floor = usd('0.00027');

describe('a request on credit that cost more than its hold', () => {
  /** One that may cost more, and one that holds the rest of the money. */
  const both = async () => {
    const customer = await addCustomer(db.pool, { budget: '2' });
    const long = ask(customer, { maxTokens: 30_000, stream: false });
    const credit = await admitted(one.ledger, long);
    const other = ask(customer, { maxTokens: 32_000, answers: 4, stream: false, mostTokens: 100 });
    await admitted(one.ledger, other);
    const usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 30_000 };
    const line = settlement(long, credit, { usage, stream: false });
    expect(credit).toMatchObject({ uncovered: true });
    return { customer, other, line };
  };
  /** Until the ledger has looked once and found that others hold what is missing. */
  const looked = () => new Promise((resolve) => setTimeout(resolve, 100));

  test('waits for what the account’s others hold, and is paid for whole', async () => {
    const { customer, other, line } = await both();
    const settling = one.ledger.settle(line);
    await looked();
    expect(await entries(customer)).toEqual([]);
    // It keeps its place: none other runs on credit.
    const third = ask(customer, { maxTokens: 30_000, stream: false });
    expect(await two.ledger.admit(third)).toMatchObject({ kind: 'refused', reason: 'reserved' });
    await two.ledger.release(other);
    const { cost, charged } = await settling;
    expect(charged).toBe(cost);
    expect(await entries(customer)).toMatchObject([{ cost, charged }]);
  });

  test('is charged what there is when its process ends meanwhile', async () => {
    const { customer, line } = await both();
    const third = await openLedger(db.url);
    const settling = third.ledger.settle(line);
    await looked();
    await third.close();
    const { cost, charged } = await settling;
    expect(charged).toBeLessThan(cost);
    expect(await entries(customer)).toMatchObject([{ cost, charged }]);
  });
});

describe('a request', () => {
  test('holds what it may cost, is charged what it cost, and frees the rest', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    expect(admission).toMatchObject({
      amount: target,
      contextWindow: 200_000,
      maxOutputTokens: 32_000,
      trialOnly: false,
      price: {
        input: price('3'),
        cacheHit: price('0.3'),
        cacheWrite5m: price('3'),
        cacheWrite1h: price('3'),
        output: price('15'),
      },
    });
    expect(await one.ledger.balance(customer.accountId)).toMatchObject({ held: target, free: usd('5') - target });

    const settled = await one.ledger.settle(settlement(asked, admission));
    expect(settled).toEqual({ cost: owed, charged: owed, freeAfter: usd('5') - owed, duplicate: false });
    expect(await holds(customer)).toEqual([]);
    expect(await one.ledger.balance(customer.accountId)).toEqual({
      granted: usd('5'),
      charged: owed,
      held: 0n,
      expired: 0n,
      free: usd('5') - owed,
    });
  });

  test('leaves one entry that says everything about it', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    const done = settlement(asked, admission, {
      usage: { input: 1, cacheHit: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5 },
      upstream: 'an "odd" {name}, \\ even',
      upstreamCost: 42n,
      timeToFirstByteMs: null,
      outcome: 'upstream_cut',
      usageSource: 'partial',
      stream: false,
    });
    const { cost } = await one.ledger.settle(done);
    const [entry] = await entries(customer);
    expect(entry).toMatchObject({
      request_id: asked.requestId,
      key_id: customer.keyId,
      model: 'big',
      upstream: 'an "odd" {name}, \\ even',
      protocol: 'messages',
      input: 1n,
      cache_hit: 2n,
      cache_write_5m: 3n,
      cache_write_1h: 4n,
      output: 5n,
      price_input: price('3'),
      price_output: price('15'),
      cost,
      charged: cost,
      upstream_cost: 42n,
      latency_ms: 12,
      time_to_first_byte_ms: null,
      outcome: 'upstream_cut',
      usage_source: 'partial',
      stream: false,
    });
    const { rows } = await db.pool.query('SELECT * FROM usage_hour WHERE account_id = $1', [customer.accountId]);
    expect(rows).toMatchObject([
      { model: 'big', outcome: 'upstream_cut', requests: 1n, input: 1n, output: 5n, charged: cost, upstream_cost: 42n },
    ]);
  });

  test('that was never sent gives its hold back and leaves no entry', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    await admitted(one.ledger, asked);
    await one.ledger.release(asked);
    await one.ledger.release(asked);
    expect(await one.ledger.balance(customer.accountId)).toMatchObject({ held: 0n, free: usd('5') });
    expect(await entries(customer)).toEqual([]);
  });

  test('that failed has an entry with cost 0 and no posting', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    const none = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    const settled = await one.ledger.settle(
      settlement(asked, admission, { usage: none, outcome: 'timeout', usageSource: 'none' }),
    );
    expect(settled).toMatchObject({ cost: 0n, charged: 0n, freeAfter: usd('5') });
    expect(await entries(customer)).toHaveLength(1);
    expect(await postings(customer)).toEqual([]);
  });

  test('of a free model runs while there is any budget at all', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.000000000001' });
    const asked = ask(customer, { model: 'free' });
    const admission = await admitted(one.ledger, asked);
    expect(admission.amount).toBe(0n);
    expect(await one.ledger.settle(settlement(asked, admission))).toMatchObject({ cost: 0n, charged: 0n });
    const broke = await addCustomer(db.pool, { budget: null });
    expect(await one.ledger.admit(ask(broke, { model: 'free' }))).toMatchObject({ reason: 'exhausted' });
  });

  test('is charged once, however often and wherever it is settled', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    const done = settlement(asked, await admitted(one.ledger, asked));
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : two).ledger.settle(done)));
    all.push(await one.ledger.settle(done), await two.ledger.settle(done));
    expect(all.filter((settled) => !settled.duplicate)).toHaveLength(1);
    for (const settled of all) expect(settled).toMatchObject({ cost: owed, charged: owed, freeAfter: usd('5') - owed });
    expect(await entries(customer)).toHaveLength(1);
    expect(await postings(customer)).toHaveLength(1);
  });

  test('whose hold is gone is charged from what is free, soonest expiry first', async () => {
    const customer = await addCustomer(db.pool, { budget: '5' });
    const soon = await grant(db.pool, customer.accountId, '0.001', { endsInMs: 60_000 });
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    await one.ledger.release(asked);
    expect(await one.ledger.settle(settlement(asked, admission))).toMatchObject({ charged: owed, duplicate: false });
    const charges = await postings(customer);
    expect(charges.map((each) => each['held_at'])).toEqual([null, null]);
    expect(charges.find((each) => each['grant_id'] === soon)).toMatchObject({ amount: usd('0.001') });
  });

  test('that cost more than there is is charged what there is; the next one is refused', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.001' });
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    expect(admission.amount).toBe(usd('0.001'));
    const settled = await one.ledger.settle(settlement(asked, admission));
    expect(settled).toEqual({ cost: owed, charged: usd('0.001'), freeAfter: 0n, heldAfter: 0n, duplicate: false });
    expect(await one.ledger.admit(ask(customer))).toEqual({
      kind: 'refused',
      reason: 'exhausted',
      balance: { free: 0n, held: 0n },
      required: floor,
      bound: expect.any(BigInt),
      affordableMaxTokens: 0,
    });
  });

  test('that came late to an empty account is the operator’s loss, visible in the ledger', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.0018' });
    const late = ask(customer);
    const admission = await admitted(one.ledger, late);
    await one.ledger.release(late);
    const other = ask(customer);
    const usage = { input: 600, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    await one.ledger.settle(settlement(other, await admitted(one.ledger, other), { usage }));
    expect(await two.ledger.settle(settlement(late, admission))).toEqual({
      cost: owed,
      charged: 0n,
      freeAfter: 0n,
      heldAfter: 0n,
      duplicate: false,
    });
  });
});

describe('the hard cap', () => {
  test('two hundred requests at once on one cent never cost more than one cent', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.01' });
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const { ledger } = i % 2 === 0 ? one : two;
        const asked = ask(customer);
        const answer = await ledger.admit(asked);
        if (answer.kind === 'refused') return answer.reason;
        await ledger.settle(settlement(asked, answer));
        return 'served' as const;
      }),
    );
    const { charged, free } = await one.ledger.balance(customer.accountId);
    expect(charged).toBeLessThanOrEqual(usd('0.01'));
    expect(free).toBe(usd('0.01') - charged);
    expect(results.filter((result) => result === 'served').length).toBeGreaterThan(4);
    for (const result of results) expect(['served', 'reserved', 'budget_below_minimum', 'exhausted']).toContain(result);
  });

  test('what is reserved by running requests is refused differently from what is not there', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.0019' });
    const running = ask(customer);
    const admission = await admitted(one.ledger, running);
    const balance = { free: usd('0.0001'), held: target };
    // The context is 30 pico-millionths; what is free beyond it pays for four tokens of an answer.
    expect(await two.ledger.admit(ask(customer))).toEqual({
      kind: 'refused',
      reason: 'reserved',
      balance,
      required: floor,
      bound: expect.any(BigInt),
      affordableMaxTokens: 4,
    });
    expect(await two.ledger.admit(ask(customer, { textBytes: 30_000 }))).toMatchObject({
      reason: 'budget_below_minimum',
      balance,
    });
    // What is said to fit does fit.
    expect(await two.ledger.admit(ask(customer, { maxTokens: 4 }))).toMatchObject({
      kind: 'admitted',
      amount: usd('0.0001'),
    });
    await one.ledger.settle(settlement(running, admission));
    expect(await two.ledger.admit(ask(customer))).toMatchObject({ kind: 'admitted' });
  });

  test('money that one batch frees is there for the next request of the same batch', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.0018' });
    const first = ask(customer);
    const admission = await admitted(one.ledger, first);
    const usage = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    const next = one.ledger.admit(ask(customer));
    const done = one.ledger.settle(settlement(first, admission, { usage }));
    expect(await next).toMatchObject({ kind: 'admitted', amount: target });
    expect(await done).toMatchObject({ charged: 0n });
  });

  test('budget that is bought counts for the very next request', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'exhausted' });
    await grant(db.pool, customer.accountId, '5', { kind: 'adjustment' });
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ kind: 'admitted' });
  });
});

describe('an extension', () => {
  test('adds what is asked for as long as it is there', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.003' });
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    expect(await one.ledger.extend(asked, usd('0.001'))).toBe(usd('0.001'));
    expect(await one.ledger.extend(asked, usd('0.001'))).toBe(usd('0.0002'));
    expect(await one.ledger.extend(asked, usd('0.001'))).toBe(0n);
    expect(await holds(customer)).toMatchObject([{ amount: usd('0.003') }]);
    const usage = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1_000 };
    expect(await one.ledger.settle(settlement(asked, admission, { usage }))).toMatchObject({ charged: usd('0.003') });
  });

  test('extensions of one batch share what is left', async () => {
    const customer = await addCustomer(db.pool, { budget: '0.01' });
    const asks = [ask(customer), ask(customer)];
    const admissions = await Promise.all(asks.map((asked) => admitted(one.ledger, asked)));
    const added = await Promise.all([...asks, ...asks].map((asked) => one.ledger.extend(asked, usd('0.003'))));
    expect(added).toEqual([usd('0.003'), usd('0.003'), usd('0.0004'), 0n]);
    await Promise.all(asks.map((asked, i) => one.ledger.settle(settlement(asked, admissions[i] as never))));
    expect(await holds(customer)).toEqual([]);
  });

  test('adds nothing to a request that is over', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    const done = settlement(asked, await admitted(one.ledger, asked));
    const [, added] = await Promise.all([one.ledger.settle(done), one.ledger.extend(asked, 1n)]);
    expect(added).toBe(0n);
    expect(await one.ledger.extend({ ...asked, requestId: uuidv7() }, 1n)).toBe(0n);
  });

  test('stays within the limit of its key', async () => {
    const customer = await addCustomer(db.pool, { limitDay: '0.002' });
    const asked = ask(customer);
    await admitted(one.ledger, asked);
    expect(await one.ledger.extend(asked, usd('1'))).toBe(usd('0.0002'));
    expect(await one.ledger.extend(asked, usd('1'))).toBe(0n);
  });
});

describe('what is true counts at once', () => {
  test('a price is frozen when a request is admitted; the next request has the new one', async () => {
    await addModel(db.pool, { id: 'moving' });
    const customer = await addCustomer(db.pool);
    const before = ask(customer, { model: 'moving' });
    const admission = await admitted(one.ledger, before);
    const newPrice = await addPrice(db.pool, {
      id: 'moving',
      input: '6',
      cacheHit: '0.6',
      output: '30',
      cacheWrite5m: '7',
    });
    const after = await admitted(one.ledger, ask(customer, { model: 'moving' }));
    expect(after).toMatchObject({
      // A vendor may write its cache unasked.
      amount: 2n * target + 100n * price('1'),
      price: { id: newPrice, cacheWrite5m: price('7'), cacheWrite1h: price('6') },
    });
    expect(await one.ledger.settle(settlement(before, admission))).toMatchObject({ cost: owed, charged: owed });
  });

  test('a price that is not valid yet does not count', async () => {
    await addModel(db.pool, { id: 'planned' });
    await db.pool.query(
      `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from) VALUES ($1, 'planned', 9, 1, 9, now() + interval '1 hour')`,
      [randomUUID()],
    );
    const customer = await addCustomer(db.pool);
    expect(await one.ledger.admit(ask(customer, { model: 'planned' }))).toMatchObject({ price: { input: price('3') } });
  });

  test('a model that is switched off finishes what runs and takes nothing new', async () => {
    await addModel(db.pool, { id: 'leaving' });
    const customer = await addCustomer(db.pool);
    const running = ask(customer, { model: 'leaving' });
    const admission = await admitted(one.ledger, running);
    await db.pool.query(`UPDATE model SET enabled = false WHERE id = 'leaving'`);
    expect(await one.ledger.admit(ask(customer, { model: 'leaving' }))).toMatchObject({ reason: 'model' });
    expect(await one.ledger.settle(settlement(running, admission))).toMatchObject({ charged: owed });
  });

  test.each([
    ['a deleted key', 'UPDATE api_key SET deleted_at = now() WHERE account_id = $1', 'key_invalid'],
    ['an expired key', `UPDATE api_key SET expires_at = now() - interval '1 ms' WHERE account_id = $1`, 'key_invalid'],
    ['a suspended account', `UPDATE account SET status = 'suspended' WHERE id = $1`, 'suspended'],
  ])('%s is refused from the next request on; what runs is charged', async (_what, change, reason) => {
    const customer = await addCustomer(db.pool);
    const running = ask(customer);
    const admission = await admitted(one.ledger, running);
    await db.pool.query(change, [customer.accountId]);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ kind: 'refused', reason });
    expect(await two.ledger.admit(ask(customer))).toMatchObject({ kind: 'refused', reason });
    expect(await one.ledger.settle(settlement(running, admission))).toMatchObject({ charged: owed });
  });

  test('the key of another account opens nothing', async () => {
    const [mine, theirs] = [await addCustomer(db.pool), await addCustomer(db.pool)];
    expect(await one.ledger.admit(ask({ ...mine, keyId: theirs.keyId }))).toMatchObject({ reason: 'key_invalid' });
    expect(await one.ledger.admit(ask({ ...mine, keyId: randomUUID() }))).toMatchObject({ reason: 'key_invalid' });
    expect(await one.ledger.admit(ask({ accountId: randomUUID(), keyId: theirs.keyId }))).toMatchObject({
      reason: 'key_invalid',
    });
  });

  test('an account on trial is known as such', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    await grant(db.pool, customer.accountId, '5', { kind: 'trial', endsInMs: 60_000 });
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ trialOnly: true });
    const paid = await grant(db.pool, customer.accountId, '5', { endsInMs: 30_000 });
    const running = ask(customer);
    expect(await one.ledger.admit(running)).toMatchObject({ trialOnly: false });
    // What was paid for is over; only a running request still holds some of it.
    await endGrant(db.pool, paid);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ trialOnly: true });
    await one.ledger.release(running);
  });
});

describe('refusals come in one order', () => {
  test('key, suspended, exhausted, model, model not allowed, key limit, short', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const keyId = await addKey(db.pool, accountId, { models: ['free'], limitLifetime: '0.000001' });
    await db.pool.query(`UPDATE api_key SET deleted_at = now() WHERE id = $1`, [keyId]);
    await db.pool.query(`UPDATE account SET status = 'suspended' WHERE id = $1`, [accountId]);
    const reasonOf = async (model: string): Promise<string> => {
      const answer = await one.ledger.admit(ask({ accountId, keyId }, { model, textBytes: 30_000 }));
      return answer.kind === 'refused' ? answer.reason : answer.kind;
    };
    expect(await reasonOf('nope')).toBe('key_invalid');
    await db.pool.query('UPDATE api_key SET deleted_at = NULL WHERE id = $1', [keyId]);
    expect(await reasonOf('nope')).toBe('suspended');
    await db.pool.query(`UPDATE account SET status = 'active' WHERE id = $1`, [accountId]);
    expect(await reasonOf('nope')).toBe('exhausted');
    await grant(db.pool, accountId, '0.0001');
    expect(await reasonOf('nope')).toBe('model');
    expect(await reasonOf('big')).toBe('model_not_allowed');
    await db.pool.query(`UPDATE api_key SET models = '{}' WHERE id = $1`, [keyId]);
    expect(await reasonOf('big')).toBe('key_limit');
    await db.pool.query('UPDATE api_key SET limit_lifetime = NULL WHERE id = $1', [keyId]);
    expect(await reasonOf('big')).toBe('budget_below_minimum');
    expect(await reasonOf('free')).toBe('admitted');
  });
});

describe('a key of its own limits', () => {
  test('is refused when the limit is used up, and says which', async () => {
    const customer = await addCustomer(db.pool, { limitDay: '0.001' });
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    expect(admission.amount).toBe(usd('0.001'));
    await one.ledger.settle(settlement(asked, admission));
    expect(await one.ledger.admit(ask(customer))).toMatchObject({
      reason: 'key_limit',
      required: floor,
      bound: expect.any(BigInt),
      spendLimit: { of: 'key', period: 'day', limit: usd('0.001'), spent: owed, held: 0n },
    });
    // The account's other keys are not concerned.
    const keyId = await addKey(db.pool, customer.accountId);
    expect(await one.ledger.admit(ask({ ...customer, keyId }))).toMatchObject({ kind: 'admitted' });
  });

  test('counts what its running requests hold, which comes back', async () => {
    const customer = await addCustomer(db.pool, { limitDay: '0.002' });
    const asked = ask(customer);
    await admitted(one.ledger, asked);
    expect(await two.ledger.admit(ask(customer))).toMatchObject({ reason: 'reserved', required: floor });
    await one.ledger.release(asked);
    expect(await two.ledger.admit(ask(customer))).toMatchObject({ kind: 'admitted', amount: target });
  });

  test('has all of it again in the next period', async () => {
    const customer = await addCustomer(db.pool, { limitDay: '0.001' });
    const asked = ask(customer);
    await one.ledger.settle(settlement(asked, await admitted(one.ledger, asked)));
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'key_limit' });
    await db.pool.query(`UPDATE key_spend SET day = day - 1 WHERE key_id = $1`, [customer.keyId]);
    const next = ask(customer);
    const again = await admitted(one.ledger, next);
    expect(again.amount).toBe(usd('0.001'));
    await one.ledger.release(next);
    await db.pool.query('UPDATE key_spend SET day = day + 1 WHERE key_id = $1', [customer.keyId]);
  });
});

describe('expiry', () => {
  test('a trial that ends in mid-request pays for it; the rest expires, and the next request is refused', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const trial = await grant(db.pool, customer.accountId, '5', { kind: 'trial', endsInMs: 60_000 });
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    await endGrant(db.pool, trial);
    expect(await one.ledger.balance(customer.accountId)).toMatchObject({
      held: target,
      expired: usd('5') - target,
      free: 0n,
    });
    // What is still held of it will not come back, so there is nothing to wait for.
    expect(await two.ledger.admit(ask(customer))).toEqual({
      kind: 'refused',
      reason: 'exhausted',
      balance: { free: 0n, held: 0n },
      required: floor,
      bound: expect.any(BigInt),
      affordableMaxTokens: 0,
    });
    expect(await one.ledger.extend(asked, 1n)).toBe(0n);
    expect(await one.ledger.settle(settlement(asked, admission))).toMatchObject({ charged: owed, freeAfter: 0n });
    expect(await one.ledger.balance(customer.accountId)).toEqual({
      granted: usd('5'),
      charged: owed,
      held: 0n,
      expired: usd('5') - owed,
      free: 0n,
    });
    expect(new Set((await postings(customer)).map((each) => each['kind']))).toEqual(new Set(['charge', 'expire']));
  });

  test('a grant that ends while requests come in pays for none that came after', async () => {
    const customers = await Promise.all(Array.from({ length: 20 }, () => addCustomer(db.pool, { budget: null })));
    await Promise.all(
      customers.map(async (customer, i) => {
        await grant(db.pool, customer.accountId, '1', { endsInMs: 5 + i * 2 });
        const answers = [];
        do answers.push(await (i % 2 === 0 ? one : two).ledger.admit(ask(customer)));
        while (answers.at(-1)?.kind === 'admitted');
        expect(answers.at(-1)).toMatchObject({ reason: 'exhausted' });
      }),
    );
    const { rows } = await db.pool.query(
      'SELECT h.held_at, g.expires_at FROM hold h JOIN "grant" g ON g.id = h.grant_ids[1] WHERE h.held_at >= g.expires_at',
    );
    expect(rows).toEqual([]);
  });

  test('a late settlement takes nothing from a grant that has ended', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const trial = await grant(db.pool, customer.accountId, '5', { kind: 'trial', endsInMs: 60_000 });
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    await one.ledger.release(asked);
    await endGrant(db.pool, trial);
    expect(await one.ledger.settle(settlement(asked, admission))).toMatchObject({
      cost: owed,
      charged: 0n,
      freeAfter: 0n,
      heldAfter: 0n,
    });
  });

  test('is not changed by the clock of this process', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    await grant(db.pool, customer.accountId, '5', { kind: 'trial', endsInMs: 60_000 });
    const now = Date.now;
    Date.now = () => now() + 3_600_000;
    try {
      const asked = ask(customer);
      const admission = await admitted(one.ledger, asked);
      expect(await one.ledger.settle(settlement(asked, admission))).toMatchObject({ charged: owed });
    } finally {
      Date.now = now;
    }
  });
});
