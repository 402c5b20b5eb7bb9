import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRecentlySettled } from '../../server/billing/reads/find-request.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement, type TestLedger } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** The operator's search finds a request by its id alone, without reading the ledger for it. */

let plane: ControlPlane;
let ledger: TestLedger;
let operator: Browser;
let accountId: string;
let requestId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  operator = await createPerson(plane, 'operator@example.com');
  await pool.query(`UPDATE app_user SET operator = true, two_factor_enabled = true`);
  ledger = await openLedger(plane.database.url);
  await addModel(pool, { id: 'big' });
  const customer = await addCustomer(pool);
  const asked = ask(customer);
  await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked)));
  [accountId, requestId] = [customer.accountId, asked.requestId];
});
afterAll(async () => {
  await ledger.close();
  await plane.close();
});

const search = async (text: string) => {
  const query = 'query ($text: String!) { operator { search(text: $text) { kind id detail } } }';
  return (await operator.send(query, { variables: { text } })).data;
};

it('by the accounts of the hours after it arrived, whichever letters the id is written in', async () => {
  const { pool } = plane.database;
  expect(await findRecentlySettled(pool, requestId)).toEqual({ accountId, model: 'big' });
  const hit = { operator: { search: [{ kind: 'REQUEST', id: requestId, detail: 'big' }] } };
  expect(await search(requestId)).toEqual(hit);
  expect(await search(`  ${requestId} `)).toEqual(hit);
  expect(await findRecentlySettled(pool, requestId.toUpperCase())).toEqual({ accountId, model: 'big' });
});

it('among all of its month when its settlement waited in a spool for days', async () => {
  const { pool } = plane.database;
  await pool.query(`UPDATE usage_hour SET hour = hour + interval '2 days'`);
  try {
    expect(await findRecentlySettled(pool, requestId)).toBeNull();
    expect(await search(requestId)).toEqual({
      operator: { search: [{ kind: 'REQUEST', id: requestId, detail: 'big' }] },
    });
  } finally {
    await pool.query(`UPDATE usage_hour SET hour = hour - interval '2 days'`);
  }
});

it.each([uuidv7(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])(
  'and nothing for %s, an id of nothing',
  async (id) => {
    expect(await search(id)).toEqual({ operator: { search: [] } });
  },
);

it('and an account for the id of an account', async () => {
  expect(await search(accountId)).toMatchObject({ operator: { search: [{ kind: 'ACCOUNT' }] } });
});
