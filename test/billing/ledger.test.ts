import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement, type TestLedger, usd } from './support.ts';

let db: TestDatabase;
let lane: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  lane = await openLedger(db.url);
});

afterAll(async () => {
  await lane.close();
  await db.drop();
});

describe('a request', () => {
  test('holds what it may cost, is charged what it cost, and frees the rest', async () => {
    const customer = await addCustomer(db.pool);
    const asked = ask(customer);
    const admission = await admitted(lane.ledger, asked);
    expect(admission.amount).toBe(usd('0.0018'));
    expect(await lane.ledger.balance(customer.accountId)).toMatchObject({ held: usd('0.0018'), free: usd('4.9982') });
    const settled = await lane.ledger.settle(settlement(asked, admission));
    expect(settled).toEqual({
      cost: usd('0.00105'),
      charged: usd('0.00105'),
      freeAfter: usd('4.99895'),
      duplicate: false,
    });
    expect(await lane.ledger.balance(customer.accountId)).toEqual({
      granted: usd('5'),
      charged: usd('0.00105'),
      held: 0n,
      expired: 0n,
      free: usd('4.99895'),
    });
  });
});
