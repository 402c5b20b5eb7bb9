import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstStart } from '../../server/admin/first-start.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { listPlans } from '../../server/plans/plans.ts';
import { ConfigError, loadConfig } from '../../server/runtime/config.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount, createPlans } from './support.ts';

// Without a configured bank account, customers are not asked to pay.

const production = { NODE_ENV: 'production', SECRET_KEY: Buffer.alloc(32, 1).toString('base64') };
const account = { BANK_BIN: '970436', BANK_ACCOUNT: '1234567890', BANK_NAME: 'STEYG JSC' };

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
});
afterAll(() => database.drop());

const ordersWith = (env: Record<string, string>) => createOrders({ pool: database.pool, bank: loadConfig(env).bank });
const order = async (env: Record<string, string>) => {
  const orders = ordersWith(env);
  const outcome = await orders.create({ accountId: await createAccount(database.pool), planId: 'starter' });
  return 'order' in outcome ? { memo: outcome.order.memo, payment: orders.instructions(outcome.order) } : outcome.kind;
};

describe('in production', () => {
  it('no order is made while BANK_* is not set, and one that was made shows no account', async () => {
    expect(await order(production)).toBe('not_on_sale');
    const before = await ordersWith({}).create({ accountId: await createAccount(database.pool), planId: 'starter' });
    if (before.kind !== 'created') throw new Error(before.kind);
    expect(ordersWith(production).instructions(before.order)).toBeNull();
  });

  it('orders name the account that is set, and nothing of a demonstration', async () => {
    const made = await order({ ...production, ...account });
    if (typeof made === 'string') throw new Error(made);
    expect(made.payment).toMatchObject({ bank: { account: '1234567890', isDemonstration: false } });
    expect(made.payment?.qrPayload).toContain(`0809${made.memo}`);
    expect(made.payment?.qrPayload).not.toContain('DEMO');
  });

  it.each(['BANK_BIN', 'BANK_ACCOUNT', 'BANK_NAME'] as const)('%s missing beside the others ends the start', (name) => {
    const { [name]: _, ...rest } = account;
    expect(() => loadConfig({ ...production, ...rest })).toThrow(ConfigError);
    expect(() => loadConfig({ ...production, ...rest })).toThrow(name);
  });
});

it('outside production the account is of no bank, and the memo of the QR code says that it is a demonstration', async () => {
  const made = await order({});
  if (typeof made === 'string') throw new Error(made);
  expect(made.payment?.bank).toEqual({
    bin: '000000',
    account: '0000000000',
    name: 'STEYG DEMO',
    isDemonstration: true,
  });
  expect(made.payment?.qrPayload).toContain(`DEMO ${made.memo}`);
});

describe('a first start', () => {
  const plansAfter = async (change: { catalogFile: boolean; production: boolean }) => {
    const empty = await createDatabase();
    try {
      const seal = createSeal({ secretKeys: [Buffer.alloc(32, 1)] });
      const admin = { email: null, password: null };
      await firstStart({
        pool: empty.pool,
        seal,
        upstreamsFromEnv: false,
        vendorKey: () => undefined,
        admin,
        ...change,
      });
      const [all, onSale] = [await listPlans(empty.pool, { all: true }), await listPlans(empty.pool)];
      return [all.length, onSale.length];
    } finally {
      await empty.drop();
    }
  };

  it('with a catalog file without plans puts nothing on sale', async () => {
    expect(await plansAfter({ catalogFile: true, production: false })).toEqual([0, 0]);
  });

  it('makes example plans, which are on sale outside production only', async () => {
    expect(await plansAfter({ catalogFile: false, production: false })).toEqual([3, 3]);
    expect(await plansAfter({ catalogFile: false, production: true })).toEqual([3, 0]);
  });
});
