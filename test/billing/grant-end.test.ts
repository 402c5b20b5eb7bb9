import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { endGrant } from '../../server/billing/grants.ts';
import { listGrants, readBalance } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { transaction } from '../../server/database/lane.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { circles, lockWaits } from '../support/locks.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  grant,
  openLedger,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

// Budget is taken back by ending a grant: grants and charges stay unchanged, and every sum holds.

let db: TestDatabase;
let lanes: TestLedger[];
let accounts: ReturnType<typeof createAccounts>;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  lanes = [await openLedger(db.url), await openLedger(db.url)];
  accounts = createAccounts({ pool: db.pool });
});
afterAll(async () => {
  for (const lane of lanes) await lane.close();
  await db.drop();
});

const end = (accountId: string, grantId: string) =>
  accounts.endGrant({ accountId, grantId, reason: 'paid back', actor: 'user:1' });
const broken = (accountId: string) => checkInvariants(db.pool, { accounts: [accountId] });
const first = () => lanes[0]?.ledger as TestLedger['ledger'];

describe('a grant that is ended', () => {
  test('loses what is free of it, and the next request is refused', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const grantId = await grant(db.pool, accountId, '3');
    const asked = ask(customer);
    const { charged } = await first().settle(settlement(asked, await admitted(first(), asked)));
    expect(charged).toBeGreaterThan(0n);
    expect(await end(accountId, grantId)).toEqual({ kind: 'ended', free: usd('3') - charged, held: 0n });
    expect(await readBalance(db.pool, accountId)).toEqual({
      granted: usd('3'),
      charged,
      held: 0n,
      expired: usd('3') - charged,
      free: 0n,
    });
    expect(await first().admit(ask(customer))).toMatchObject({ kind: 'refused', reason: 'exhausted' });
    await first().expire(accountId);
    expect(await broken(accountId)).toEqual([]);
    expect(await end(accountId, grantId)).toEqual({ kind: 'over' });
    const { rows } = await db.pool.query(
      `SELECT actor, action, before ->> 'free' AS free, after ->> 'reason' AS reason FROM audit_entry WHERE subject = $1 AND action = 'grant.end'`,
      [`account:${accountId}`],
    );
    expect(rows).toEqual([
      { actor: 'user:1', action: 'grant.end', free: String(usd('3') - charged), reason: 'paid back' },
    ]);
  });

  test('still pays for the request that holds some of it, and loses what that gives back', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const grantId = await grant(db.pool, accountId, '3');
    const asked = ask(customer);
    const admission = await admitted(first(), asked);
    expect(await end(accountId, grantId)).toEqual({
      kind: 'ended',
      free: usd('3') - admission.amount,
      held: admission.amount,
    });
    const { cost, charged } = await first().settle(settlement(asked, admission));
    expect(charged).toBe(cost);
    expect(await listGrants(db.pool, accountId)).toMatchObject([
      { spent: charged, held: 0n, free: 0n, expired: usd('3') - charged },
    ]);
    expect(await broken(accountId)).toEqual([]);
  });

  test('ends after all that was charged to it, however early its transaction began', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const grantId = await grant(db.pool, accountId, '3');
    const running = ask(customer);
    let admission: Awaited<ReturnType<typeof admitted>> | undefined;
    await transaction(db.pool, async (client) => {
      await client.query('SELECT pg_sleep(0.003)');
      const asked = ask(customer);
      await first().settle(settlement(asked, await admitted(first(), asked)));
      admission = await admitted(first(), running);
      expect(await endGrant(client, { accountId, grantId })).toMatchObject({ kind: 'ended' });
    });
    if (admission === undefined) throw new Error('not admitted');
    await first().settle(settlement(running, admission));
    expect(await broken(accountId)).toEqual([]);
  });

  test('is that of the account alone', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const grantId = await grant(db.pool, customer.accountId, '3');
    const other = await addCustomer(db.pool);
    expect(await end(other.accountId, grantId)).toEqual({ kind: 'unknown_grant' });
    expect(await end(customer.accountId, 'x')).toEqual({ kind: 'unknown_grant' });
    expect(await readBalance(db.pool, customer.accountId)).toMatchObject({ free: usd('3') });
  });

  test.each(['', ' ', 'a\u0000', 'x'.repeat(501)])('needs a reason: not %j', async (reason) => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const grantId = await grant(db.pool, accountId, '3');
    expect(await accounts.endGrant({ accountId, grantId, reason, actor: 'user:1' })).toMatchObject({
      kind: 'invalid',
      field: 'reason',
    });
    expect(await readBalance(db.pool, accountId)).toMatchObject({ free: usd('3') });
  });

  test('causes no deadlock: transactions that began before and after it lock in one order', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const [soon, never] = [await grant(db.pool, accountId, '2'), await grant(db.pool, accountId, '3')].sort();
    await db.pool.query(`UPDATE "grant" SET expires_at = now() + interval '1 hour' WHERE id = $1`, [soon]);
    const deadlocks = await circles(db, async (url) => {
      const both = [await openLedger(url), await openLedger(url)] as const;
      try {
        const answers = await transaction(db.pool, async (client) => {
          await client.query('SELECT FROM "grant" WHERE account_id = $1 AND id = $2 FOR UPDATE', [accountId, soon]);
          const began = both[0].ledger.admit(ask(customer));
          await lockWaits(db.pool, 1);
          expect(await end(accountId, never as string)).toMatchObject({ kind: 'ended' });
          const later = both[1].ledger.admit(ask(customer));
          await lockWaits(db.pool, 2);
          return [began, later];
        });
        expect(await Promise.all(answers)).toMatchObject([{ kind: 'admitted' }, { kind: 'admitted' }]);
      } finally {
        for (const lane of both) await lane.close();
      }
    });
    expect(deadlocks).toBe(0);
    await first().expire(accountId);
    expect(await broken(accountId)).toEqual([]);
  });

  test('in the midst of requests of two processes breaks no sum and charges nothing it may not', async () => {
    const customer = await addCustomer(db.pool, { budget: null });
    const { accountId } = customer;
    const grants = [
      await grant(db.pool, accountId, '3'),
      await grant(db.pool, accountId, '2', { endsInMs: 3_600_000 }),
      await grant(db.pool, accountId, '1', { endsInMs: 7_200_000 }),
    ];
    const requests = Array.from({ length: 120 }, async (_, index) => {
      const { ledger } = lanes[index % 2] as TestLedger;
      const asked = ask(customer);
      const admission = await ledger.admit(asked);
      if (admission.kind !== 'admitted') return admission.reason;
      await ledger.settle(settlement(asked, admission));
      return 'charged';
    });
    const ends = grants.map((grantId) => end(accountId, grantId));
    const answers = new Set(await Promise.all(requests));
    expect((await Promise.all(ends)).map(({ kind }) => kind)).toEqual(['ended', 'ended', 'ended']);
    expect(
      [...answers].filter((answer) => !['charged', 'exhausted', 'budget_below_minimum', 'reserved'].includes(answer)),
    ).toEqual([]);
    await first().expire(accountId);
    expect(await readBalance(db.pool, accountId)).toMatchObject({ granted: usd('6'), held: 0n, free: 0n });
    expect(await broken(accountId)).toEqual([]);
  });
});
