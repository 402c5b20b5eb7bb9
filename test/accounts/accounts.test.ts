/** Accounts: one trial for each address, grants that are given and ended once. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccounts, type NewAccount } from '../../server/accounts/accounts.ts';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let accounts: ReturnType<typeof createAccounts>;

beforeAll(async () => {
  database = await createDatabase();
  accounts = createAccounts({ pool: database.pool });
});
afterAll(() => database.drop());

const usd = (amount: number) => BigInt(amount) * 1_000_000_000_000n;

async function create(ask: Partial<NewAccount> & { email: string }) {
  const outcome = await accounts.create({ actor: 'test', ...ask });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome.account;
}

async function grantsOf(accountId: string) {
  const { rows } = await database.pool.query(
    `SELECT kind, amount, source_ref, expires_at - created_at AS lasts, extract(epoch FROM expires_at - now()) / 3600 AS hours
     FROM "grant" WHERE account_id = $1`,
    [accountId],
  );
  return rows;
}

async function auditOf(subject: string) {
  const { rows } = await database.pool.query(
    'SELECT actor, action, before, after FROM audit_entry WHERE subject = $1 ORDER BY created_at, id',
    [subject],
  );
  return rows;
}

async function person(email: string): Promise<string> {
  const { rows } = await database.pool.query(`INSERT INTO app_user (name, email) VALUES ('P', $1) RETURNING id`, [
    email,
  ]);
  return rows[0].id;
}

async function membersOf(accountId: string) {
  const { rows } = await database.pool.query('SELECT user_id, role FROM member WHERE account_id = $1', [accountId]);
  return rows;
}

describe('a new account', () => {
  test('starts with 5 USD for 7 days', async () => {
    const account = await create({ email: 'trial@example.com' });
    const [grant, ...others] = await grantsOf(account.id);
    expect(others).toEqual([]);
    expect(grant).toMatchObject({ kind: 'trial', amount: usd(5), source_ref: `trial:${account.id}` });
    expect(Number(grant.hours)).toBeGreaterThan(7 * 24 - 1);
    expect(Number(grant.hours)).toBeLessThanOrEqual(7 * 24);
    expect(account).toMatchObject({ email: 'trial@example.com', name: 'trial', status: 'active', kind: 'customer' });
  });

  test('starts with what an operator gives instead', async () => {
    const account = await create({
      email: 'given@example.com',
      grant: { kind: 'adjustment', amount: usd(20), days: null },
    });
    expect(await grantsOf(account.id)).toMatchObject([{ kind: 'adjustment', amount: usd(20), hours: null }]);
    const bare = await create({ email: 'bare@example.com', grant: { kind: 'none' } });
    expect(await grantsOf(bare.id)).toEqual([]);
  });

  test('is told of in the audit log, with its grant', async () => {
    const account = await create({ email: 'audited@example.com', actor: 'user:1' });
    expect(await auditOf(`account:${account.id}`)).toEqual([
      {
        actor: 'user:1',
        action: 'account.create',
        before: null,
        after: { name: 'audited', email: 'audited@example.com', status: 'active', kind: 'customer' },
      },
      expect.objectContaining({ action: 'grant.add', after: expect.objectContaining({ amount: usd(5).toString() }) }),
    ]);
  });

  test('is one, with one trial, however often it is asked for at once and however it is spelt', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        accounts.create({ email: index % 2 === 0 ? 'Twice@Example.com' : 'ｔｗｉｃｅ@example.com', actor: 'test' }),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    const ids = new Set(outcomes.map((outcome) => (outcome.kind === 'invalid' ? null : outcome.account.id)));
    expect(ids.size).toBe(1);
    const { granted } = await readBalance(database.pool, [...ids][0] ?? '');
    expect(granted).toBe(usd(5));
  });

  test('is not made half: what cannot be granted leaves no account', async () => {
    const ask = {
      email: 'half@example.com',
      grant: { kind: 'adjustment', amount: 0n, days: null },
      actor: 'test',
    } as const;
    await expect(accounts.create(ask)).rejects.toThrow(/grant_amount/);
    expect(await accounts.find('half@example.com')).toBeNull();
  });

  test.each([
    ['email', { email: 'no address' }],
    ['email', { email: 'nul\0@example.com' }],
    ['name', { email: 'a@example.com', name: 'tab\there' }],
    ['name', { email: 'b@example.com', name: 'half \ud800' }],
    ['name', { email: 'c@example.com', name: 'x'.repeat(101) }],
  ])('with a bad %s is an input error, not a fault: %j', async (field, ask) => {
    expect(await accounts.create({ actor: 'test', ...ask })).toMatchObject({ kind: 'invalid', field });
  });
});

describe('members', () => {
  test('the person it is opened for owns it', async () => {
    const ownerId = await person('owner@example.com');
    const account = await create({ email: 'owner@example.com', ownerId });
    expect(await membersOf(account.id)).toEqual([{ user_id: ownerId, role: 'owner' }]);
  });

  test('an account without members goes to the first person who proves its address, and to no later one', async () => {
    const account = await create({ email: 'later@example.com' });
    const [first, second] = [await person('later@example.com'), await person('intruder@example.com')];
    const joined = await accounts.create({ email: 'later@example.com', ownerId: first, actor: 'test' });
    expect(joined).toMatchObject({ kind: 'exists', account: { id: account.id } });
    await accounts.create({ email: 'later@example.com', ownerId: second, actor: 'test' });
    expect(await membersOf(account.id)).toEqual([{ user_id: first, role: 'owner' }]);
    const joins = (await auditOf(`account:${account.id}`)).filter(({ action }) => action === 'account.add_owner');
    expect(joins).toMatchObject([{ after: { ownerId: first } }]);
  });
});

describe('finding', () => {
  test('by id or by address in any spelling', async () => {
    const account = await create({ email: 'find@example.com' });
    expect(await accounts.find(account.id)).toEqual(account);
    expect(await accounts.find('FIND@example.com')).toEqual(account);
  });

  test.each(['nobody@example.com', '00000000-0000-0000-0000-000000000000', 'neither', '', '\0', "'; --"])(
    'nothing for %j',
    async (text) => {
      expect(await accounts.find(text)).toBeNull();
    },
  );
});

describe('suspending', () => {
  test('and resuming leave their traces; repeating leaves none', async () => {
    const { id: accountId } = await create({ email: 'suspend@example.com' });
    expect(await accounts.suspend({ accountId, actor: 'op' })).toMatchObject({
      kind: 'changed',
      account: { status: 'suspended' },
    });
    expect(await accounts.suspend({ accountId, actor: 'op' })).toMatchObject({ kind: 'unchanged' });
    expect((await accounts.find(accountId))?.status).toBe('suspended');
    expect(await accounts.resume({ accountId, actor: 'op' })).toMatchObject({ account: { status: 'active' } });
    const actions = (await auditOf(`account:${accountId}`)).filter(({ actor }) => actor === 'op');
    expect(actions).toEqual([
      { actor: 'op', action: 'account.suspend', before: { status: 'active' }, after: { status: 'suspended' } },
      { actor: 'op', action: 'account.resume', before: { status: 'suspended' }, after: { status: 'active' } },
    ]);
  });

  test('what is not there is unknown', async () => {
    expect(await accounts.suspend({ accountId: 'x', actor: 'op' })).toEqual({ kind: 'unknown_account' });
  });
});

describe('a grant by hand', () => {
  test('adds to the budget, once for each idempotency key', async () => {
    const { id: accountId } = await create({ email: 'grant@example.com', grant: { kind: 'none' } });
    const ask = { accountId, amount: usd(7), expiresAt: null, reason: 'sorry', idempotencyKey: 'k1', actor: 'op' };
    const first = await accounts.giveGrant(ask);
    const second = await accounts.giveGrant(ask);
    expect(first.kind).toBe('given');
    expect(second).toEqual({ ...first, kind: 'given_before' });
    await accounts.giveGrant({ accountId, amount: usd(1), expiresAt: null, actor: 'op' });
    await accounts.giveGrant({ accountId, amount: usd(1), expiresAt: null, actor: 'op' });
    expect((await readBalance(database.pool, accountId)).free).toBe(usd(9));
    const given = (await auditOf(`account:${accountId}`)).filter(({ action }) => action === 'grant.add');
    expect(given).toHaveLength(3);
    expect(given[0]).toMatchObject({ actor: 'op', after: { reason: 'sorry', amount: usd(7).toString() } });
  });

  test('that has come to its end is still known by its idempotency key, and not given again', async () => {
    const { id: accountId } = await create({ email: 'short-grant@example.com', grant: { kind: 'none' } });
    const { rows } = await database.pool.query(`SELECT now() + interval '1 hour' AS at`);
    const ask = { accountId, amount: usd(7), expiresAt: rows[0].at, idempotencyKey: 'k1', actor: 'op' };
    const first = await accounts.giveGrant(ask);
    expect(first.kind).toBe('given');
    const late = { ...ask, expiresAt: new Date(rows[0].at.getTime() - 7_200_000) };
    expect(await accounts.giveGrant(late)).toEqual({ ...first, kind: 'given_before' });
    expect(await accounts.giveGrant({ ...late, idempotencyKey: 'k2' })).toMatchObject({ field: 'expiresAt' });
  });

  test.each([
    ['amount', { amount: 0n }],
    ['amount', { amount: -1n }],
    ['amount', { amount: 2n ** 63n }],
    ['expiresAt', { expiresAt: new Date('2020-01-01') }],
    ['reason', { reason: 'bell\u0007' }],
  ])('with a bad %s is refused', async (field, change) => {
    const { id: accountId } = await create({ email: `bad-${crypto.randomUUID()}@example.com` });
    const ask = { accountId, amount: usd(1), expiresAt: null, actor: 'op', ...change };
    expect(await accounts.giveGrant(ask)).toMatchObject({ kind: 'invalid', field });
  });

  test('needs an account', async () => {
    const ask = { amount: usd(1), expiresAt: null, actor: 'op' };
    expect(await accounts.giveGrant({ ...ask, accountId: crypto.randomUUID() })).toEqual({ kind: 'unknown_account' });
  });
});
