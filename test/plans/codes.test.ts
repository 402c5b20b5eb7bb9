import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createThrottle } from '../../server/people/sign-in/throttle.ts';
import { createCodes, type NewCodes } from '../../server/plans/codes.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount, createPlans, oneUsd } from './support.ts';

// Redemption codes: one grant for each account and use, whatever is tried at once.

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
});
afterAll(() => database.drop());
const holds = async () => expect(await checkInvariants(database.pool)).toEqual([]);
afterEach(holds);

const endless = { take: async () => null };
const codes = () => createCodes({ pool: database.pool, throttle: endless });

async function make(changes: Partial<NewCodes> = {}) {
  const outcome = await codes().create({
    name: 'Launch',
    count: 1,
    uses: 1,
    amount: 5n * oneUsd,
    validDays: null,
    planId: null,
    expiresAt: null,
    actor: 'operator',
    ...changes,
  });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  const [code = ''] = outcome.codes;
  return { ...outcome, code };
}

const redeem = (code: string, accountId: string) =>
  codes().redeem({ code, accountId, actor: `user:${accountId}`, network: '203.0.113.1' });

async function granted(accountId: string) {
  const { rows } = await database.pool.query(
    `SELECT kind, amount, expires_at AS "expiresAt" FROM "grant" WHERE account_id = $1`,
    [accountId],
  );
  return rows;
}

describe('a code', () => {
  it('makes one grant when one account redeems it 100 times at once', async () => {
    const { code } = await make({ uses: 50 });
    const accountId = await createAccount(database.pool);
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => redeem(code, accountId)));
    expect(outcomes.filter((one) => one.kind === 'redeemed' && !one.again)).toHaveLength(1);
    expect(outcomes.filter((one) => one.kind === 'redeemed' && one.again)).toHaveLength(99);
    expect(await granted(accountId)).toEqual([{ kind: 'code', amount: 5n * oneUsd, expiresAt: null }]);
  });

  it('of one use makes one grant when 100 accounts redeem it at once, and of three uses three', async () => {
    const accounts = await Promise.all(Array.from({ length: 100 }, () => createAccount(database.pool)));
    for (const uses of [1, 3]) {
      const { code, batch } = await make({ uses });
      const outcomes = await Promise.all(accounts.map((accountId) => redeem(code, accountId)));
      expect(outcomes.filter(({ kind }) => kind === 'redeemed')).toHaveLength(uses);
      expect(outcomes.filter(({ kind }) => kind === 'invalid_code')).toHaveLength(100 - uses);
      expect((await codes().list({ limit: 10, after: null })).find(({ id }) => id === batch.id)?.used).toBe(uses);
    }
  });

  it('is read in any spelling, and no part of it is stored', async () => {
    const { code } = await make();
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/);
    const { rows } = await database.pool.query('SELECT * FROM redemption_code');
    expect(JSON.stringify(rows)).not.toContain(code.slice(0, 11));
    const spelled = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`;
    expect((await redeem(spelled, await createAccount(database.pool))).kind).toBe('redeemed');
  });

  it('that is unknown, over or revoked is answered alike', async () => {
    const over = await make({ expiresAt: new Date(Date.now() + 86_400_000) });
    await database.pool.query('UPDATE code_batch SET expires_at = now() WHERE id = $1', [over.batch.id]);
    const revoked = await make();
    expect((await codes().revoke({ batchId: revoked.batch.id, actor: 'operator' }))?.revokedAt).toBeInstanceOf(Date);
    expect(await codes().revoke({ batchId: revoked.batch.id, actor: 'operator' })).toBeNull();
    const accountId = await createAccount(database.pool);
    for (const code of [over.code, revoked.code, 'AAAAA-AAAAA-AAAAA-AAAAA', 'x', ''])
      expect(await redeem(code, accountId)).toEqual({ kind: 'invalid_code' });
    expect(await granted(accountId)).toEqual([]);
  });

  it('of a plan gives the plan’s budget with its validity', async () => {
    const { code } = await make({ amount: null, planId: 'pro' });
    const accountId = await createAccount(database.pool);
    await redeem(code, accountId);
    const [grant] = await granted(accountId);
    expect(grant).toMatchObject({ kind: 'code', amount: 50n * oneUsd });
    expect(Math.round((grant.expiresAt.getTime() - Date.now()) / 86_400_000)).toBe(90);
  });

  it('cannot be guessed: attempts are limited by person and by network', async () => {
    const guarded = createCodes({ pool: database.pool, throttle: createThrottle({ pool: database.pool }) });
    const accountId = await createAccount(database.pool);
    const guess = (actor: string, network: string) => guarded.redeem({ code: 'x', accountId, actor, network });
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await guess('user:a', `198.51.100.${attempt}`)).toEqual({ kind: 'invalid_code' });
    expect(await guess('user:a', '198.51.100.99')).toMatchObject({ kind: 'throttled' });
    for (let person = 0; person < 60; person += 1)
      expect((await guess(`user:${person}`, '203.0.113.9')).kind).toBe('invalid_code');
    expect(await guess('user:another', '203.0.113.9')).toMatchObject({ kind: 'throttled' });
  });
});

it('a batch that makes no sense is refused with its field', async () => {
  for (const changes of [
    { count: 0 },
    { count: 1_001 },
    { uses: 0 },
    { amount: 0n },
    { amount: null },
    { planId: 'pro' },
    { validDays: 0 },
    { name: '' },
    { expiresAt: new Date(0) },
  ])
    await expect(make(changes).catch((error: Error) => error.message)).resolves.toBe('invalid');
  expect((await codes().create({ ...(await ask()), planId: 'none', amount: null })).kind).toBe('unknown_plan');
});

async function ask(): Promise<NewCodes> {
  return {
    name: 'Launch',
    count: 1,
    uses: 1,
    amount: oneUsd,
    validDays: null,
    planId: null,
    expiresAt: null,
    actor: 'operator',
  };
}
