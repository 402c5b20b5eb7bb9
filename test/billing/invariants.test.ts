import { randomUUID } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  type Customer,
  openLedger,
  settlement,
  type TestLedger,
} from './support.ts';

/** Breaks every invariant once, with the database's own rules switched off, and expects the check to report it. */
let db: TestDatabase;
let lane: TestLedger;
let customer: Customer;
let settled: string;
let running: string;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  lane = await openLedger(db.url);
  const { rows } = await db.pool.query(
    `SELECT conrelid::regclass AS relation, conname FROM pg_constraint
     WHERE contype = 'c' AND conparentid = 0 AND conrelid IN ('"grant"'::regclass, 'ledger_entry'::regclass, 'hold'::regclass, 'key_spend'::regclass)`,
  );
  for (const { relation, conname } of rows) await db.pool.query(`ALTER TABLE ${relation} DROP CONSTRAINT ${conname}`);
});

beforeEach(async () => {
  customer = await addCustomer(db.pool);
  const [first, second] = [ask(customer), ask(customer)];
  await lane.ledger.settle(settlement(first, await admitted(lane.ledger, first)));
  await admitted(lane.ledger, second);
  [settled, running] = [first.requestId, second.requestId];
  await expectSound(db.pool, [customer.accountId]);
});

afterAll(async () => {
  await lane.close();
  await db.drop();
});

const broken = async (scope: { since?: Date } = {}): Promise<string[]> =>
  (await checkInvariants(db.pool, { accounts: [customer.accountId], ...scope })).map(({ invariant }) => invariant);

/** The check of a long account: the rows of this hour, and the sums of all. */
const recently = () => broken({ since: new Date() });

/** Runs a statement with the append-only triggers off. `$1` is the account. */
async function tamper(text: string, ...values: unknown[]): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query(`SET session_replication_role = 'replica'`);
    const { rowCount } = await client.query(text, [customer.accountId, ...values]);
    expect(rowCount).toBe(1);
  } finally {
    await client.query('RESET session_replication_role');
    client.release();
  }
}

const breaks: [what: string, text: string, whole: string[], recent?: string[]][] = [
  ['a grant that has given more than it is', 'UPDATE "grant" SET amount = 1 WHERE account_id = $1', ['I1']],
  ['less than nothing', 'UPDATE "grant" SET spent = -1 WHERE account_id = $1', ['I1', 'I2', 'I5'], ['I1', 'I5']],
  ['spent without a posting', 'UPDATE "grant" SET spent = spent + 1 WHERE account_id = $1', ['I2', 'I5'], ['I5']],
  ['expired without a posting', 'UPDATE "grant" SET expired = expired + 1 WHERE account_id = $1', ['I2', 'I5'], []],
  ['held without a hold', 'UPDATE "grant" SET held = held + 1 WHERE account_id = $1', ['I2', 'I5']],
  ['a hold that vanished', 'DELETE FROM hold WHERE account_id = $1', ['I2', 'I5', 'key_spend']],
  [
    'a hold that is not its parts',
    'UPDATE hold SET amount = amount + 1 WHERE account_id = $1',
    ['I2_hold', 'I5', 'key_spend'],
  ],
  ['a posting that vanished', 'DELETE FROM posting WHERE account_id = $1', ['I2', 'I4'], ['I4']],
  [
    'a posting too many',
    `INSERT INTO posting (account_id, id, grant_id, kind, amount, request_id)
     SELECT account_id, overlay(id::text PLACING 'ffff' FROM 33)::uuid, grant_id, kind, 1, request_id FROM posting WHERE account_id = $1`,
    ['I2', 'I4'],
    ['I4'],
  ],
  [
    'an entry that vanished',
    'DELETE FROM ledger_entry WHERE account_id = $1',
    ['I4', 'I5', 'usage_hour', 'margin_hour', 'key_spend'],
    ['I4', 'usage_hour', 'margin_hour'],
  ],
  [
    'a cost that does not follow from its row',
    'UPDATE ledger_entry SET cost = cost + 1, free_after = 0 WHERE account_id = $1',
    ['I4', 'usage_hour', 'margin_hour'],
  ],
  [
    'a charge that was never posted',
    'UPDATE ledger_entry SET charged = charged - 1, free_after = 0 WHERE account_id = $1',
    ['I4', 'I5', 'usage_hour', 'margin_hour', 'key_spend'],
    ['I4', 'usage_hour', 'margin_hour'],
  ],
  [
    'a cost that a limit of the customer kept from being charged: the account had free money',
    `UPDATE ledger_entry SET cost = cost + price_output, output = output + 1, free_after = 0, held_after = 0,
       created_at = created_at + interval '2 minutes' WHERE account_id = $1`,
    ['I6_account', 'usage_hour', 'margin_hour'],
  ],
  ['hours that do not add up', 'UPDATE usage_hour SET output = output + 1 WHERE account_id = $1', ['usage_hour']],
  ['hours of another outcome', `UPDATE usage_hour SET outcome = 'timeout' WHERE account_id = $1`, ['usage_hour']],
  [
    'hours that are missing',
    'DELETE FROM usage_hour WHERE account_id = $1',
    ['usage_hour'],
    ['I5', 'usage_hour', 'key_spend'],
  ],
  ['margins that do not add up', 'UPDATE margin_hour SET charged = charged + 1 WHERE account_id = $1', ['margin_hour']],
  ['margins that are missing', 'DELETE FROM margin_hour WHERE account_id = $1', ['margin_hour']],
  ['savings that no request made', 'UPDATE margin_hour SET saved = saved + 1 WHERE account_id = $1', ['margin_hour']],
  ['savings that were not kept yet (sound)', 'UPDATE margin_hour SET saved = NULL WHERE account_id = $1', []],
  [
    'a key that has spent more than its requests',
    'UPDATE key_spend SET charged = charged + 1 WHERE account_id = $1',
    ['key_spend'],
  ],
  ['a key whose day is wrong', 'UPDATE key_spend SET day_charged = 0 WHERE account_id = $1', ['key_spend']],
  [
    'a key whose held sum is not that of its holds',
    'UPDATE key_spend SET held = 0 WHERE account_id = $1',
    ['key_spend'],
  ],
  ['a hold as old as the hills', `UPDATE hold SET held_at = now() - interval '1 day' WHERE account_id = $1`, ['I9']],
  [
    'an escrow of which no process keeps account',
    `UPDATE hold SET escrow = true, process_id = gen_random_uuid() WHERE account_id = $1`,
    ['I10'],
  ],
  [
    'money that is held for a batch that is none',
    `UPDATE hold SET escrow = true, process_id = '00000000-0000-7000-8000-00000000ba7c' WHERE account_id = $1`,
    ['batch'],
  ],
];

test.each(breaks)('%s', async (_what, text, expected) => {
  await tamper(text);
  expect(await broken()).toEqual(expected);
});

test.each(breaks)('among what is new: %s', async (_what, text, whole, expected = whole) => {
  expect(await recently()).toEqual([]);
  await tamper(text);
  expect(await recently()).toEqual(expected);
});

test('what is of long ago is read by the check of everything alone', async () => {
  await tamper(`UPDATE ledger_entry SET cost = cost + 1, free_after = 0 WHERE account_id = $1`);
  const later = new Date(Date.now() + 24 * 3_600_000);
  expect(await broken({ since: later })).toEqual([]);
  expect(await broken()).toEqual(['I4', 'usage_hour', 'margin_hour']);
});

test('an entry of a version that did not say what was held is not judged by the grants', async () => {
  await tamper(
    `UPDATE ledger_entry SET cost = cost + price_output, output = output + 1, free_after = 0,
       created_at = created_at + interval '2 minutes' WHERE account_id = $1`,
  );
  expect(await broken()).toEqual(['usage_hour', 'margin_hour']);
});

test('a request that is held and settled', async () => {
  await tamper('UPDATE hold SET request_id = $2 WHERE account_id = $1', settled);
  expect(await broken()).toEqual(['I3']);
  expect(await recently()).toEqual(['I3']);
});

test('less charged than the cost, with money left', async () => {
  await tamper('UPDATE ledger_entry SET cost = cost + price_output, output = output + 1 WHERE account_id = $1');
  expect(await broken()).toEqual(['I6', 'usage_hour', 'margin_hour']);
  expect(await recently()).toEqual(['I6', 'usage_hour', 'margin_hour']);
});

test('an ended grant that paid for what it had not reserved', async () => {
  await tamper(
    `UPDATE "grant" SET expires_at = (SELECT held_at FROM hold WHERE request_id = $2) - interval '1 minute' WHERE account_id = $1`,
    running,
  );
  expect(await broken()).toEqual(['I7']);
  expect(await recently()).toEqual(['I7']);
});

test('a charge from free funds after the end of their grant', async () => {
  await tamper(`UPDATE posting SET held_at = NULL WHERE account_id = $1`);
  expect(await broken()).toEqual([]);
  await tamper(
    `UPDATE "grant" SET expires_at = (SELECT created_at FROM posting WHERE account_id = $1) WHERE account_id = $1`,
  );
  expect(await broken()).toEqual(['I7']);
});

test('orders, their grants and the money at the bank', async () => {
  const orderId = randomUUID();
  const transferId = randomUUID();
  await db.pool.query(
    `INSERT INTO plan (id, name, price_vnd, budget) VALUES ('starter', 'Starter', 250000, 10) ON CONFLICT DO NOTHING`,
  );
  await tamper(
    `INSERT INTO purchase_order (account_id, id, plan_id, plan_name, memo, price_vnd, budget, status, paid_at, expires_at)
     VALUES ($1, $2, 'starter', 'Starter', $3, 250000, 10, 'paid', now(), now())`,
    orderId,
    uuidv7(),
  );
  expect(await broken()).toEqual(['I8']);
  const transfer = (amount: number) =>
    tamper(
      `WITH moved AS (INSERT INTO bank_transfer (id, provider, provider_id, direction, amount_vnd, memo, booked_at)
         SELECT $2, 'test', $3, 'in', $4, '', now() WHERE $1::uuid IS NOT NULL RETURNING id)
       INSERT INTO transfer_match (transfer_id, order_id, matched_by) SELECT id, $5, 'matcher' FROM moved`,
      randomUUID(),
      transferId + amount,
      amount,
      orderId,
    );
  await transfer(249_999);
  const bought = (amount: number) =>
    tamper(
      `INSERT INTO "grant" (account_id, id, kind, amount, source_ref) VALUES ($1, $2, 'purchase', $3, $4)`,
      randomUUID(),
      amount,
      `order:${orderId}`,
    );
  await bought(10);
  expect(await broken()).toEqual(['I8']);
  await transfer(1);
  expect(await broken()).toEqual([]);
  await tamper(`UPDATE "grant" SET amount = 11 WHERE account_id = $1 AND kind = 'purchase'`);
  expect(await broken()).toEqual(['I8']);
  await tamper(
    `UPDATE "grant" SET amount = 10, source_ref = 'order:somewhere-else' WHERE account_id = $1 AND kind = 'purchase'`,
  );
  expect(await broken()).toEqual(['I8']);
});

test('accounts that are not asked about are not looked at; without a list, all are', async () => {
  await tamper('UPDATE key_spend SET held = 0 WHERE account_id = $1');
  const other = await addCustomer(db.pool);
  expect(await checkInvariants(db.pool, { accounts: [other.accountId] })).toEqual([]);
  expect(await checkInvariants(db.pool, { accounts: [] })).toEqual([]);
  expect((await checkInvariants(db.pool)).map(({ invariant }) => invariant)).toContain('key_spend');
});

test('a check of some accounts searches every table with a row for each request by those accounts', async () => {
  // Plans that read a table whole, and joins that search it for each row of another, hide whether its own rows are bounded.
  const options = '-c enable_seqscan=off -c enable_nestloop=off';
  const pool = new Pool({ connectionString: db.url, max: 1, options });
  const asked: { text: string; values: unknown[] }[] = [];
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [what] = given as [{ text?: string; values: unknown[] }];
      if (what.text?.startsWith('SELECT * FROM (') === true) asked.push({ text: what.text, values: what.values });
      return query(...given);
    }) as PoolClient['query'];
  });
  try {
    expect(await checkInvariants(pool, { accounts: [customer.accountId] })).toEqual([]);
    expect(asked.length).toBeGreaterThan(12);
    const unbounded: string[] = [];
    for (const { text, values } of asked) {
      const { rows } = await pool.query({ text: `EXPLAIN ${text}`, values });
      const nodes = rows
        .map((row) => String(row['QUERY PLAN']))
        .join('\n')
        .split('->');
      for (const node of nodes)
        if (
          /Scan .*on (ledger_\w+|posting|usage_hour|margin_hour|archived_\w+)/.test(node) &&
          !node.includes('account_id')
        )
          unbounded.push(`${text.slice(0, 60)} ${node.trim()}`);
    }
    expect(unbounded.filter((node) => !node.includes('archived_month'))).toEqual([]);
  } finally {
    await pool.end();
  }
});
