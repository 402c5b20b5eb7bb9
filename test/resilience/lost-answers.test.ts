import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { repeatedTransaction } from '../../server/database/lane.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createKey, createKeys } from '../../server/keys/keys.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { once } from '../../server/shared/idempotency.ts';
import { bank, createAccount, createPlans, oneUsd, transfer } from '../plans/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/**
 * Money movements whose transaction PostgreSQL aborts, or whose answer is lost. A retry has its effect exactly once,
 * and no failure is reported for a transaction that is known to have committed.
 */

let database: TestDatabase;
/** What happens to the next transactions at their end: one entry each, then nothing any more. */
let fates: Fate[];
let pool: Pool;

/** A code: PostgreSQL undoes the transaction with it. `lost`: it commits, and the connection breaks before it says so. */
type Fate = 'lost' | `${number}${string}`;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  pool = new Pool({ connectionString: database.url, types: bigintTypes, max: 3 });
  pool.on('error', () => undefined);
  pool.on('connect', meetFates);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => {
  fates = [];
});

function meetFates(client: PoolClient): void {
  const query = client.query.bind(client) as (...given: unknown[]) => Promise<{ rows: { pid: number }[] }>;
  const end = async (): Promise<unknown> => {
    const fate = fates.shift();
    if (fate === undefined) return query('COMMIT');
    if (fate !== 'lost') return query(`DO $$ BEGIN RAISE EXCEPTION 'undone' USING ERRCODE = '${fate}'; END $$`);
    const { rows } = await query('SELECT pg_backend_pid() AS pid');
    await query('COMMIT');
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    return query('SELECT 1');
  };
  client.query = ((...given: unknown[]) => (given[0] === 'COMMIT' ? end() : query(...given))) as typeof client.query;
}

interface Case {
  /** Makes what the mutation needs, and gives the mutation: asked again, it is the same question. */
  prepare(accountId: string): Promise<() => Promise<{ kind: string }>>;
  /** What it says, what it says when it had happened before, and what is there afterwards: counted, however often. */
  first: string;
  again: string;
  made(accountId: string): Promise<unknown>;
}

const actor = 'user:test';
const rows = async (text: string, accountId: string): Promise<unknown> =>
  (await database.pool.query(text, [accountId])).rows;
const domains = () => ({
  accounts: createAccounts({ pool }),
  keys: createKeys({ pool }),
  orders: createOrders({ pool, bank }),
  transfers: createTransfers({ pool, accountNumbers: null }),
});

async function anOrder(accountId: string) {
  const made = await domains().orders.create({ accountId, planId: 'starter' });
  if (made.kind !== 'created') throw new Error(made.kind);
  return made.order;
}

const grants = (accountId: string) =>
  rows(`SELECT kind, amount::text, expires_at <= now() AS ended FROM "grant" WHERE account_id = $1`, accountId);

const cases: Record<string, Case> = {
  'an order that is made': {
    prepare: async (accountId) => () =>
      domains().orders.create({ accountId, planId: 'starter', idempotencyKey: accountId }),
    first: 'created',
    again: 'existing',
    made: (accountId) => rows('SELECT count(*)::int AS orders FROM purchase_order WHERE account_id = $1', accountId),
  },
  'money that pays an order': {
    prepare: async (accountId) => {
      const told = transfer({ memo: (await anOrder(accountId)).memo });
      return () => domains().transfers.receive(told);
    },
    first: 'paid',
    again: 'duplicate',
    made: grants,
  },
  'money that a person lays beside an order': {
    prepare: async (accountId) => {
      const { id: orderId } = await anOrder(accountId);
      const { transferId } = await domains().transfers.receive(transfer());
      return () => domains().transfers.matchByHand({ transferId, orderId, by: actor });
    },
    first: 'paid',
    again: 'already_matched',
    made: grants,
  },
  'an order that is cancelled': {
    prepare: async (accountId) => {
      const { id: orderId } = await anOrder(accountId);
      return () => domains().orders.cancel({ accountId, orderId });
    },
    first: 'cancelled',
    again: 'cancelled',
    made: (accountId) => rows('SELECT status FROM purchase_order WHERE account_id = $1', accountId),
  },
  'budget that is given': {
    prepare: async (accountId) => () =>
      domains().accounts.giveGrant({ accountId, amount: oneUsd, expiresAt: null, actor, idempotencyKey: 'once' }),
    first: 'given',
    again: 'given_before',
    made: grants,
  },
  'budget that is taken back': {
    prepare: async (accountId) => {
      const given = await domains().accounts.giveGrant({ accountId, amount: oneUsd, expiresAt: null, actor });
      if (given.kind !== 'given') throw new Error(given.kind);
      return () => domains().accounts.endGrant({ accountId, grantId: given.grantId, reason: 'no more', actor });
    },
    first: 'ended',
    again: 'over',
    made: grants,
  },
  'a key that is made': {
    prepare: async (accountId) => () =>
      repeatedTransaction(pool, (client) =>
        once(client, { accountId, operation: 'createKey', key: 'once', input: {} }, async () => {
          const made = await createKey(client, { accountId, actor });
          return { resultId: made.kind === 'created' ? made.key.id : null, value: made };
        }),
      ),
    first: 'first',
    again: 'again',
    made: (accountId) => rows('SELECT count(*)::int AS keys FROM api_key WHERE account_id = $1', accountId),
  },
  'a key that is deleted': {
    prepare: async (accountId) => {
      const made = await domains().keys.create({ accountId, actor });
      if (made.kind !== 'created') throw new Error(made.kind);
      return () => domains().keys.delete({ accountId, id: made.key.id, actor });
    },
    first: 'deleted',
    again: 'unknown_key',
    made: (accountId) =>
      rows('SELECT count(*)::int AS keys FROM api_key WHERE account_id = $1 AND deleted_at IS NULL', accountId),
  },
  'an account that is suspended': {
    prepare: async (accountId) => () => domains().accounts.suspend({ accountId, actor }),
    first: 'changed',
    again: 'unchanged',
    made: (accountId) => rows('SELECT status FROM account WHERE id = $1', accountId),
  },
};

describe.each(Object.entries(cases))('%s', (_, { prepare, first, again, made }) => {
  /** What is there when nothing gets in the way. */
  async function undisturbed(): Promise<unknown> {
    const accountId = await createAccount(database.pool);
    const ask = await prepare(accountId);
    expect((await ask()).kind).toBe(first);
    return made(accountId);
  }

  it.each(['40001', '40P01', '55P03'] as const)(
    'happens once although PostgreSQL undoes it twice with %s',
    async (code) => {
      const accountId = await createAccount(database.pool);
      const ask = await prepare(accountId);
      fates = [code, code];
      expect((await ask()).kind).toBe(first);
      expect(await made(accountId)).toEqual(await undisturbed());
    },
  );

  it('has not happened when PostgreSQL found it too slow, and happens when it is asked for again', async () => {
    const accountId = await createAccount(database.pool);
    const ask = await prepare(accountId);
    const before = await made(accountId);
    fates = ['57014'];
    await expect(ask()).rejects.toMatchObject({ code: '57014' });
    expect(await made(accountId)).toEqual(before);
    expect((await ask()).kind).toBe(first);
  });

  it('is not repeated by itself when its answer is lost, and is found when it is asked for again', async () => {
    const accountId = await createAccount(database.pool);
    const ask = await prepare(accountId);
    fates = ['lost'];
    await expect(ask()).rejects.toThrow(/terminat|queryable|EPIPE|ECONNRESET/);
    expect(fates).toEqual([]);
    expect((await ask()).kind).toBe(again);
    expect(await made(accountId)).toEqual(await undisturbed());
  });
});

it('after all that every sum holds', async () => {
  expect(await checkInvariants(database.pool)).toEqual([]);
});
