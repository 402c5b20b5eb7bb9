import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { startSweep } from '../../server/billing/upkeep/sweep.ts';
import { connections } from '../../server/database/connections.ts';
import { transaction } from '../../server/database/lane.ts';
import { createKeyring } from '../../server/keys/keyring.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { parseKey } from '../../server/keys/secret.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { createProbeAccount } from '../../server/uptime/probes/round.ts';
import { bank, createPlans, transfer } from '../plans/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  grant,
  openLedger,
  quiet,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

// Expiries and leases follow the database's clock, whatever the clock of a process says.

let db: TestDatabase;
let lane: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  await createPlans(db.pool);
  lane = await openLedger(db.url);
});
afterAll(async () => {
  await lane.close();
  await db.drop();
});

const minute = 60_000;

describe.each([-120 * minute, -10 * minute, 10 * minute, 120 * minute])(
  'a process whose clock is %i ms ahead',
  (ahead) => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ahead });
      return () => vi.useRealTimers();
    });
    const actor = 'op';
    /** A moment by the database's clock. */
    const inMs = async (ms: number): Promise<Date> =>
      (await db.pool.query(`SELECT now() + $1 * interval '1 millisecond' AS at`, [ms])).rows[0].at;

    test('ends grants when they end, and not before', async () => {
      const customer = await addCustomer(db.pool, { budget: null });
      const { accountId } = customer;
      await grant(db.pool, accountId, '1', { endsInMs: 5 * minute });
      await grant(db.pool, accountId, '2', { endsInMs: -minute });
      expect((await readBalance(db.pool, accountId)).free).toBe(usd('1'));
      const asked = ask(customer);
      await lane.ledger.settle(settlement(asked, await admitted(lane.ledger, asked)));
      const accounts = createAccounts({ pool: db.pool });
      const give = (expiresAt: Date) => accounts.giveGrant({ accountId, amount: 1n, expiresAt, actor });
      expect((await give(await inMs(5 * minute))).kind).toBe('given');
      expect((await give(await inMs(-1))).kind).toBe('invalid');
      expect(await readBalance(db.pool, accountId)).toMatchObject({ expired: usd('2') });
    });

    test('opens with keys until they end, and not longer', async () => {
      const { accountId } = await addCustomer(db.pool);
      const [keys, keyring] = [createKeys({ pool: db.pool }), createKeyring({ pool: db.pool })];
      const find = async (endsInMs: number) => {
        const made = await keys.create({ accountId, actor, expiresAt: await inMs(5 * minute) });
        if (made.kind !== 'created') throw new Error(made.kind);
        await db.pool.query('UPDATE api_key SET expires_at = $2 WHERE id = $1', [made.key.id, await inMs(endsInMs)]);
        return keyring.find(parseKey(made.secret)?.hash ?? Buffer.alloc(0));
      };
      expect(await keys.create({ accountId, actor, expiresAt: await inMs(-1) })).toMatchObject({ kind: 'invalid' });
      const found = [await find(5 * minute), await find(-1)];
      expect(found).toEqual([expect.objectContaining({ accountId }), null]);
    });

    test('takes money for orders until they end, by the time at the bank', async () => {
      const { accountId } = await addCustomer(db.pool);
      const orders = createOrders({ pool: db.pool, bank });
      const transfers = createTransfers({ pool: db.pool, accountNumbers: null });
      const pay = async (endsInMs: number, bookedInMs: number) => {
        const made = await orders.create({ accountId, planId: 'starter' });
        if (made.kind !== 'created') throw new Error(made.kind);
        await db.pool.query('UPDATE purchase_order SET created_at = $2, expires_at = $3 WHERE id = $1', [
          made.order.id,
          await inMs(-60 * minute),
          await inMs(endsInMs),
        ]);
        await orders.expire();
        return transfers.receive(transfer({ memo: made.order.memo, bookedAt: await inMs(bookedInMs) }));
      };
      expect(await pay(5 * minute, -minute)).toMatchObject({ kind: 'paid' });
      expect(await pay(-5 * minute, -6 * minute)).toMatchObject({ kind: 'paid' });
      expect(await pay(-5 * minute, -minute)).toMatchObject({ kind: 'review', reason: 'late' });
      // A booking time in the future is replaced by the time of the notification.
      expect(await pay(5 * minute, 60 * minute)).toMatchObject({ kind: 'paid' });
    });

    test('checks what is new of accounts with many requests', async () => {
      const customer = await addCustomer(db.pool);
      const asked = ask(customer);
      lane.ledger.takeTouched();
      await lane.ledger.settle(settlement(asked, await admitted(lane.ledger, asked)));
      await db.pool.query('UPDATE usage_hour SET charged = charged + 1 WHERE account_id = $1', [customer.accountId]);
      const alarms: Record<string, unknown>[] = [];
      const log = { ...quiet, error: (fields: object) => void alarms.push({ ...fields }) };
      const sweep = startSweep({ ...lane, leaseMs: minute, invariantsEveryMs: 0, longRequests: 0, log });
      await sweep.round();
      await sweep.close();
      expect(alarms.map(({ invariant }) => invariant)).toContain('usage_hour');
      await db.pool.query('UPDATE usage_hour SET charged = charged - 1 WHERE account_id = $1', [customer.accountId]);
    });

    test('keeps its lease, and the holds of those that live', async () => {
      const customer = await addCustomer(db.pool);
      const other = await openLedger(db.url);
      const asked = ask(customer);
      const admission = await admitted(other.ledger, asked);
      await lane.ledger.releaseOrphan(asked);
      expect((await readBalance(db.pool, customer.accountId)).held).toBe(admission.amount);
      await other.ledger.release(asked);
      await other.close();
    });
  },
);

test('the full check keeps other processes from starting it while it runs, and no request waits for it', async () => {
  const pool = new Pool({
    connectionString: db.url,
    max: connections.lane,
    options: '-c idle_in_transaction_session_timeout=300ms',
  });
  pool.on('error', () => undefined);
  const quietHour = new Date();
  quietHour.setUTCHours(19);
  vi.useFakeTimers({ toFake: ['Date'], now: quietHour });
  try {
    await transaction(db.pool, async (client) => {
      // Only the check reads this table, so only the check has to wait.
      await client.query('LOCK TABLE purchase_order IN ACCESS EXCLUSIVE MODE');
      const sweep = startSweep({ ...lane, pool, leaseMs: 4 * minute, log: quiet });
      await expect.poll(() => idleChecks()).toEqual([expect.any(Number)]);
      await expect.poll(async () => (await idleChecks())[0] ?? Number.NaN, { interval: 50 }).toBeGreaterThan(700);
      // Reading a balance still finds a connection, and a stopping process does not wait for the check.
      await readBalance(pool, randomUUID());
      await sweep.close();
    });
    expect(await idleChecks()).toEqual([]);
  } finally {
    vi.useRealTimers();
    await pool.end();
  }
});

/** Idle milliseconds of the connections that hold the lock of the full check. */
async function idleChecks(): Promise<number[]> {
  const { rows } = await db.pool.query<{ ms: number }>(
    `SELECT extract(epoch FROM clock_timestamp() - state_change)::float8 * 1000 AS ms
     FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE locktype = 'advisory' AND a.datname = current_database() AND a.state = 'idle in transaction'
       AND (l.classid::bigint << 32) + l.objid::bigint = hashtextextended('steyg.full_check', 0)`,
  );
  return rows.map(({ ms }) => ms);
}

test('a month that ends sooner by the database’s clock leaves no probes without budget', async () => {
  const accounts = createAccounts({ pool: db.pool });
  const now = new Date('2026-11-30T23:59:00Z');
  const databaseNow = new Date('2026-12-01T00:09:00Z');
  /** A moment of that night as the database's clock has it today. */
  const byDatabase = async (moment: Date): Promise<Date> =>
    (
      await db.pool.query(`SELECT now() + $1 * interval '1 millisecond' AS at`, [
        moment.getTime() - databaseNow.getTime(),
      ])
    ).rows[0].at;
  const keys = createKeys({ pool: db.pool });
  const given: string[] = [];
  const account = createProbeAccount({
    now: () => now,
    accounts: {
      create: accounts.create,
      giveGrant: async (ask) => {
        const outcome = await accounts.giveGrant({ ...ask, expiresAt: await byDatabase(ask.expiresAt) });
        given.push(outcome.kind);
        return outcome;
      },
    },
    keys: {
      ...keys,
      create: async (terms) =>
        keys.create({ ...terms, expiresAt: terms.expiresAt == null ? null : await byDatabase(terms.expiresAt) }),
    },
  });
  expect(await account.key()).toMatch(/^sk-/);
  expect(given).toEqual(['given']);
});
