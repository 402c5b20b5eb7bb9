import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setAccountLimits } from '../../server/accounts/account-limits.ts';
import { readAccountSpend, readKeySpend } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import type { SpendLimits } from '../../server/core/spend-limits.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addKey,
  addModel,
  admitted,
  ask,
  type Customer,
  openLedger,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/** Spending limits of keys and accounts in the ledger: by day, week, month and in all, and within minutes. */
let db: TestDatabase;
let one: TestLedger;
let two: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  [one, two] = await Promise.all([openLedger(db.url), openLedger(db.url)]);
});

afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await db.drop();
});

const none: SpendLimits = { day: null, week: null, month: null, lifetime: null };
const owed = usd('0.00105');
const limitAccount = (accountId: string, limits: Partial<SpendLimits>) =>
  setAccountLimits(db.pool, { accountId, actor: 'test', limits: { ...none, ...limits } });
const setZone = (accountId: string, timeZone: string) =>
  setAccountLimits(db.pool, { accountId, actor: 'test', timeZone });

/** A request of 0.0018 USD that costs 0.00105 USD. */
async function spend({ ledger }: TestLedger, customer: Customer): Promise<void> {
  const asked = ask(customer);
  await ledger.settle(settlement(asked, await admitted(ledger, asked)));
}

/** A finished request of 1 pico-USD a token, as if it had been charged then. */
async function chargedAt({ accountId, keyId }: Customer, at: Date, amount: bigint): Promise<void> {
  await db.pool.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h,
       output, price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after,
       latency_ms, outcome, usage_source, stream, created_at)
     VALUES ($1, $2, $3, 'big', 's', 'messages', $4, 0, 0, 0, 0, 1, 1, 1, 1, 1, $4, $4, 0, 1, 'completed', 'reported', true, $5)`,
    [accountId, uuidv7(at.getTime()), keyId, amount, at],
  );
  await db.pool.query(
    `INSERT INTO usage_hour AS u (account_id, hour, model, key_id, outcome, requests, input, cost, charged)
     VALUES ($1, date_trunc('hour', $2::timestamptz, 'UTC'), 'big', $3, 'completed', 1, $4, $4, $4)
     ON CONFLICT (account_id, hour, model, key_id, outcome) DO UPDATE SET requests = u.requests + 1,
       input = u.input + $4, cost = u.cost + $4, charged = u.charged + $4`,
    [accountId, at, keyId, amount],
  );
  await db.pool.query(
    `INSERT INTO key_spend AS k (account_id, key_id, charged) VALUES ($1, $2, $3)
     ON CONFLICT (account_id, key_id) DO UPDATE SET charged = k.charged + $3`,
    [accountId, keyId, amount],
  );
}

describe('a limit', () => {
  test.each(['day', 'week', 'month', 'lifetime'] as const)(
    'of a key by %s is kept, and says whose it is',
    async (period) => {
      const customer = await addCustomer(db.pool);
      await db.pool.query(`UPDATE api_key SET limit_${period} = $2 WHERE id = $1`, [customer.keyId, usd('0.001')]);
      await spend(one, customer);
      expect(await two.ledger.admit(ask(customer))).toMatchObject({
        reason: 'key_limit',
        spendLimit: { of: 'key', period, limit: usd('0.001'), spent: owed, held: 0n },
      });
      expect(await readKeySpend(db.pool, customer.accountId)).toMatchObject([
        { today: owed, thisWeek: owed, thisMonth: owed, lifetime: owed },
      ]);
      await expectSound(db.pool, [customer.accountId]);
    },
  );

  test.each(['day', 'week', 'month', 'lifetime'] as const)(
    'of an account by %s is kept over all its keys',
    async (period) => {
      const customer = await addCustomer(db.pool);
      const other = { ...customer, keyId: await addKey(db.pool, customer.accountId) };
      await spend(one, customer);
      // What was spent before it was set counts.
      expect(await limitAccount(customer.accountId, { [period]: usd('0.003') })).toEqual({ kind: 'changed' });
      await spend(two, other);
      const running = ask(other);
      expect((await admitted(one.ledger, running)).amount).toBe(usd('0.003') - 2n * owed);
      expect(await two.ledger.admit(ask(customer))).toMatchObject({ reason: 'reserved' });
      await one.ledger.release(running);
      await spend(two, customer);
      expect(await one.ledger.admit(ask(other))).toMatchObject({
        reason: 'account_limit',
        spendLimit: { of: 'account', period, limit: usd('0.003'), spent: 3n * owed, held: 0n },
      });
      expect(await readAccountSpend(db.pool, customer.accountId)).toMatchObject({
        today: 3n * owed,
        lifetime: 3n * owed,
      });
      await expectSound(db.pool, [customer.accountId]);
    },
  );

  test('of an account bounds what a running answer may cost', async () => {
    const customer = await addCustomer(db.pool);
    await limitAccount(customer.accountId, { week: usd('0.002') });
    const asked = ask(customer);
    await admitted(one.ledger, asked);
    expect(await one.ledger.extend(asked, usd('1'))).toBe(usd('0.0002'));
    expect(await one.ledger.extend(asked, usd('1'))).toBe(0n);
    await one.ledger.release(asked);
  });

  test('that is raised or taken away counts from the next request on', async () => {
    const customer = await addCustomer(db.pool);
    await limitAccount(customer.accountId, { day: usd('0.001') });
    await spend(one, customer);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'account_limit' });
    await limitAccount(customer.accountId, { day: usd('0.002') });
    await spend(two, customer);
    await limitAccount(customer.accountId, {});
    await spend(two, customer);
    await expectSound(db.pool, [customer.accountId]);
  });

  test('says when it returns: with the next day of the account', async () => {
    const customer = await addCustomer(db.pool, { limitDay: '0.001' });
    await setZone(customer.accountId, 'Asia/Kolkata');
    await spend(one, customer);
    const refused = await one.ledger.admit(ask(customer));
    const { rows } = await db.pool.query<{ at: Date }>(
      `SELECT (date_trunc('day', now() AT TIME ZONE 'Asia/Kolkata') + interval '1 day') AT TIME ZONE 'Asia/Kolkata' AS at`,
    );
    expect(refused).toMatchObject({ spendLimit: { returnsAtMs: rows[0]?.at.getTime() } });
  });

  test.each(['day', 'week', 'month'] as const)('by %s is whole again in the next one', async (period) => {
    const customer = await addCustomer(db.pool);
    const { accountId, keyId } = customer;
    await db.pool.query(`UPDATE api_key SET limit_${period} = $2 WHERE id = $1`, [keyId, usd('0.001')]);
    await limitAccount(accountId, { [period]: usd('0.001') });
    await spend(one, customer);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'key_limit' });
    const ago = (days: number) => `day = day - ${days}, week = week - ${days}, month = month - ${days}`;
    const days = { day: 1, week: 7, month: 31 }[period];
    await db.pool.query(`UPDATE key_spend SET ${ago(days)} WHERE key_id = $1`, [keyId]);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'account_limit' });
    await db.pool.query(`UPDATE account_limit SET ${ago(days)} WHERE account_id = $1`, [accountId]);
    await spend(one, customer);
    expect(await readKeySpend(db.pool, accountId)).toMatchObject([{ today: owed, lifetime: 2n * owed }]);
    expect(await readAccountSpend(db.pool, accountId)).toMatchObject({ today: owed, lifetime: 2n * owed });
  });
});

describe('where a day begins', () => {
  test.each(['UTC', 'Asia/Ho_Chi_Minh', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Kiritimati'])(
    'in %s: what was charged before it counts no more, to the second',
    async (timeZone) => {
      const customer = await addCustomer(db.pool);
      const { accountId } = customer;
      const { rows } = await db.pool.query<Record<'day' | 'week' | 'month', Date>>(
        `SELECT ${['day', 'week', 'month'].map((period) => `date_trunc('${period}', now() AT TIME ZONE $1) AT TIME ZONE $1 AS ${period}`).join(', ')}`,
        [timeZone],
      );
      const [starts] = rows;
      if (starts === undefined) throw new Error('the database says nothing');
      const now = Date.now();
      const made: [Date, bigint][] = [];
      let amount = 1n;
      for (const start of Object.values(starts)) {
        for (const seconds of [-3_600, -1, 0, 1, 3_600]) {
          const at = new Date(start.getTime() + seconds * 1_000);
          if (at.getTime() > now) continue;
          made.push([at, amount]);
          await chargedAt(customer, at, amount);
          amount *= 2n;
        }
      }
      const since = (start: Date) => made.filter(([at]) => at >= start).reduce((sum, [, each]) => sum + each, 0n);
      await limitAccount(accountId, { day: usd('1') });
      // From a zone that is a day ahead or behind, so that everything is counted anew.
      await setZone(accountId, timeZone === 'Pacific/Kiritimati' ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati');
      await setZone(accountId, timeZone);
      const expected = {
        today: since(starts.day),
        thisWeek: since(starts.week),
        thisMonth: since(starts.month),
        lifetime: amount - 1n,
      };
      expect(await readKeySpend(db.pool, accountId)).toMatchObject([expected]);
      expect(await readAccountSpend(db.pool, accountId)).toMatchObject(expected);
      const broken = await checkInvariants(db.pool, { accounts: [accountId] });
      expect(broken.filter(({ invariant }) => /key_spend|account_limit/.test(invariant))).toEqual([]);
      // These entries were paid from no grant: what a test wrote by hand must not disturb the other tests.
      await db.pool.query('DELETE FROM key_spend WHERE account_id = $1', [accountId]);
    },
  );

  test.each(['Asia/Nowhere', '', 'UTC+7', '7'])('is not %j, which is no time zone', async (timeZone) => {
    const { accountId } = await addCustomer(db.pool);
    expect(await setZone(accountId, timeZone)).toMatchObject({ kind: 'invalid', field: 'timeZone' });
  });
});

describe('the sums of a key by day, week and month', () => {
  /** A zone in which no day ends while the test runs. */
  const zone = [22, 23, 0].includes(new Date().getUTCHours()) ? 'Asia/Ho_Chi_Minh' : 'UTC';
  const sumsOf = async ({ keyId }: Customer) =>
    (
      await db.pool.query(
        `SELECT day, day_charged, week, week_charged, month, month_charged, charged, burn_charged FROM key_spend WHERE key_id = $1`,
        [keyId],
      )
    ).rows[0];

  test('are moved by the settlement itself: its trigger has nothing to do', async () => {
    const customer = await addCustomer(db.pool);
    await setZone(customer.accountId, zone);
    await spend(one, customer);
    await db.pool.query('ALTER TABLE key_spend DISABLE TRIGGER count_charged');
    try {
      for (let i = 0; i < 6; i += 1) await spend(one, customer);
      const all = 7n * owed;
      expect(await readKeySpend(db.pool, customer.accountId)).toMatchObject([
        { today: all, thisWeek: all, thisMonth: all, lifetime: all },
      ]);
    } finally {
      await db.pool.query('ALTER TABLE key_spend ENABLE TRIGGER count_charged');
    }
  });

  const today = `(now() AT TIME ZONE '${zone}')::date`;
  test.each([
    ['today', today, today],
    ['yesterday', `${today} - 1`, `${today} - 1`],
    ['last week', `${today} - 7`, `${today} - 7`],
    ['forty days ago', `${today} - 40`, `${today} - 40`],
    ['tomorrow, for a transaction that began later', `${today} + 1`, today],
    ['next month, for a transaction that began later', `${today} + 31`, `${today} + 31`],
  ])('are those of today after a charge, whichever version writes it: they were of %s', async (_when, day, month) => {
    for (const burn of [false, true]) {
      const [mine, older] = [await addCustomer(db.pool), await addCustomer(db.pool)];
      for (const customer of [mine, older]) {
        await setZone(customer.accountId, zone);
        await spend(one, customer);
        if (burn)
          await db.pool.query('UPDATE api_key SET burn_limit = $2, burn_minutes = 1440 WHERE id = $1', [
            customer.keyId,
            usd('1'),
          ]);
        await db.pool.query(
          `UPDATE key_spend SET day = ${day}, week = date_trunc('week', (${day})::timestamp)::date, month = date_trunc('month', (${month})::timestamp)::date
           WHERE key_id = $1`,
          [customer.keyId],
        );
      }
      await spend(two, mine);
      // The statement of the version before, which leaves all sums to the trigger.
      await db.pool.query('UPDATE key_spend SET charged = charged + $2 WHERE key_id = $1', [older.keyId, owed]);
      const [sums, expected] = [await sumsOf(mine), await sumsOf(older)];
      expect(sums.burn_charged === null).toBe(!burn);
      const burned = ({ burn_charged }: { burn_charged: string[] | null }) =>
        (burn_charged ?? []).reduce((sum, each) => sum + BigInt(each), 0n);
      expect(burned(sums)).toBe(burned(expected));
      expect({ ...sums, burn_charged: null }).toEqual({ ...expected, burn_charged: null });
      await db.pool.query('DELETE FROM key_spend WHERE key_id = ANY ($1)', [[mine.keyId, older.keyId]]);
    }
  });
});

describe('a burn limit', () => {
  const burn = (keyId: string, amount: string | null, minutes: number | null) =>
    db.pool.query('UPDATE api_key SET burn_limit = $2, burn_minutes = $3 WHERE id = $1', [
      keyId,
      amount === null ? null : usd(amount),
      minutes,
    ]);

  test('stops a key that spends too fast, and lets it go on when the window has passed', async () => {
    const customer = await addCustomer(db.pool);
    await burn(customer.keyId, '0.002', 10);
    await spend(one, customer);
    await spend(two, customer);
    const refused = await one.ledger.admit(ask(customer));
    expect(refused).toMatchObject({
      reason: 'burn_limit',
      spendLimit: { of: 'key', period: 'burn', limit: usd('0.002'), spent: 2n * owed, burnMinutes: 10 },
    });
    if (refused.kind !== 'refused') throw new Error('it was admitted');
    const returnsInMs = (refused.spendLimit?.returnsAtMs ?? 0) - Date.now();
    expect(returnsInMs).toBeGreaterThan(9 * 60_000);
    expect(returnsInMs).toBeLessThan(10.4 * 60_000);
    // As if 61 steps of ten seconds had passed.
    await db.pool.query('UPDATE key_spend SET burn_step = burn_step - 61 WHERE key_id = $1', [customer.keyId]);
    await spend(one, customer);
    await expectSound(db.pool, [customer.accountId]);
  });

  test('is lifted by raising it or taking it away, and counts anew with another window', async () => {
    const customer = await addCustomer(db.pool);
    await spend(one, customer);
    await burn(customer.keyId, '0.001', 1);
    await spend(one, customer);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'burn_limit' });
    await burn(customer.keyId, '0.002', 1);
    await spend(two, customer);
    expect(await two.ledger.admit(ask(customer))).toMatchObject({ reason: 'burn_limit' });
    await burn(customer.keyId, null, null);
    await spend(two, customer);
    await burn(customer.keyId, '0.001', 5);
    await spend(two, customer);
    expect(await two.ledger.admit(ask(customer))).toMatchObject({ reason: 'burn_limit' });
  });
});

test('three processes with escrows never charge beyond the limits of keys and of their account', {
  timeout: 240_000,
}, async () => {
  const limits = { day: usd('0.5'), burn: usd('0.2'), week: usd('0.9') };
  const customer = await addCustomer(db.pool, { budget: '1000' });
  const { accountId } = customer;
  const byDay = { accountId, keyId: await addKey(db.pool, accountId, { limitDay: '0.5' }) };
  const byBurn = { accountId, keyId: await addKey(db.pool, accountId) };
  await db.pool.query('UPDATE api_key SET burn_limit = $2, burn_minutes = 60 WHERE id = $1', [
    byBurn.keyId,
    limits.burn,
  ]);
  await limitAccount(accountId, { week: limits.week });
  const directory = createDirectory('steyg-spool-');
  const workers = [1, 2, 3].map(() => work(directory, [customer, byDay, byBurn]));
  const figures = async () => {
    const { rows } = await db.pool.query<{ keyId: string; charged: bigint; held: bigint }>(
      'SELECT key_id AS "keyId", charged, held FROM key_spend WHERE account_id = $1',
      [accountId],
    );
    const used = (keyId: string) => {
      const row = rows.find((each) => each.keyId === keyId);
      return (row?.charged ?? 0n) + (row?.held ?? 0n);
    };
    const all = rows.reduce((sum, { charged, held }) => sum + charged + held, 0n);
    return { all, ofDay: used(byDay.keyId), ofBurn: used(byBurn.keyId) };
  };
  const escrowed: number[] = [];
  const passed: string[] = [];
  try {
    await expect
      .poll(
        async () => {
          const { all, ofDay, ofBurn } = await figures();
          if (all > limits.week) passed.push(`week ${all}`);
          if (ofDay > limits.day) passed.push(`day ${ofDay}`);
          if (ofBurn > limits.burn) passed.push(`burn ${ofBurn}`);
          const { rowCount } = await db.pool.query('SELECT FROM hold WHERE account_id = $1 AND escrow', [accountId]);
          escrowed.push(rowCount ?? 0);
          const { lifetime = 0n } = (await readAccountSpend(db.pool, accountId)) ?? {};
          return lifetime;
        },
        { timeout: 60_000, interval: 50 },
      )
      .toBeGreaterThan(limits.week - usd('0.001'));
    // Money was held in advance on the way, or nothing would be shown here.
    expect(Math.max(...escrowed)).toBeGreaterThan(2);
  } finally {
    for (const { child, gone } of workers) {
      child.kill('SIGTERM');
      await gone;
    }
  }
  expect(passed).toEqual([]);
  expect((await figures()).all).toBeLessThanOrEqual(limits.week);
});

/** Requests that cost the least that they can, 0.00027 USD: where a limit leaves less, none is admitted. */
const exactly = [
  { maxTokens: 16 },
  { usage: { input: 0, cacheHit: 100, cacheWrite5m: 0, cacheWrite1h: 0, output: 16 } },
].map((each) => JSON.stringify(each));

interface Worker {
  child: ChildProcessByStdio<null, Readable, null>;
  gone: Promise<unknown>;
}

function work(directory: string, customers: readonly Customer[]): Worker {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'escrow-worker.ts'), db.url, directory, JSON.stringify(customers), '60000', ...exactly],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: child.stdout }).on('line', () => undefined);
  return { child, gone: Promise.all([once(child, 'exit'), once(lines, 'close')]) };
}
