import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addCustomer, addModel, ask, openLedger, settlement, type TestLedger, usd } from './support.ts';

/** Requests that cannot be stopped, on a real database and across processes. */

let db: TestDatabase;
let processes: [TestLedger, TestLedger];

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big', maxOutputTokens: 64_000 });
  processes = [await openLedger(db.url), await openLedger(db.url)];
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.close()));
  await db.drop();
});
afterEach(async () => {
  const broken = await checkInvariants(db.pool);
  if (broken.length > 0) throw new Error(JSON.stringify(broken));
});

// Both wait half a minute for money that may still come back, on accounts of their own.
test.concurrent('200 at once at two processes: one uncovered, the others covered or told to wait; the loss is that of one', async () => {
  const customer = await addCustomer(db.pool, { budget: '4' });
  const asks = Array.from({ length: 200 }, () => ask(customer, { maxTokens: 63_000, stream: false }));
  const answers = await Promise.all(
    asks.map(async (asked, index) => {
      const { ledger } = processes[index % 2 === 0 ? 0 : 1];
      return { asked, ledger, admission: await ledger.admit(asked) };
    }),
  );
  const { rows } = await db.pool.query(
    'SELECT count(*)::integer AS holds, (count(*) FILTER (WHERE uncovered))::integer AS uncovered FROM hold WHERE account_id = $1',
    [customer.accountId],
  );
  expect(rows).toEqual([{ holds: 5, uncovered: 1 }]);
  const usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 63_000 };
  const refused = answers.flatMap(({ admission }) => (admission.kind === 'refused' ? [admission.reason] : []));
  expect(refused).toEqual(Array.from({ length: 195 }, () => 'reserved'));
  let lost = 0n;
  for (const { asked, ledger, admission } of answers) {
    if (admission.kind === 'admitted') {
      const { cost, charged } = await ledger.settle(settlement(asked, admission, { usage, stream: false }));
      lost += cost - charged;
    }
  }
  expect(lost).toBeLessThan(usd('0.9453'));
  expect((await readBalance(db.pool, customer.accountId)).held).toBe(0n);
});

test.concurrent('an account that was overdrawn while money was held is given no credit again, at any process', async () => {
  const customer = await addCustomer(db.pool, { budget: '1' });
  const [one, other] = processes.map(({ ledger }) => ledger) as [TestLedger['ledger'], TestLedger['ledger']];
  const held = ask(customer, { maxTokens: 50_000, answers: 1, stream: false });
  const uncovered = ask(customer, { maxTokens: 63_000, stream: false });
  const first = await one.admit(uncovered);
  const second = await other.admit(held);
  if (first.kind === 'refused' || second.kind === 'refused') throw new Error('refused');
  const usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 63_000 };
  const { cost, charged } = await one.settle(settlement(uncovered, first, { usage, stream: false }));
  expect(charged).toBeLessThan(cost);
  await other.release(held);
  const again = await other.admit(ask(customer, { maxTokens: 63_000, stream: false }));
  expect(again).toMatchObject({ kind: 'refused', reason: 'budget_below_minimum' });
  // A stream is stopped in time: it needs no credit.
  expect((await one.admit(ask(customer, { maxTokens: 63_000 }))).kind).toBe('admitted');
});

test('a hold that a process of the previous version placed counts as covered and is settled like any other', async () => {
  const customer = await addCustomer(db.pool, { budget: '1' });
  const [{ ledger, processId }] = processes;
  const asked = ask(customer, { stream: false });
  const admission = await ledger.admit(asked);
  if (admission.kind === 'refused') throw new Error('refused');
  await db.pool.query('DELETE FROM hold WHERE request_id = $1', [asked.requestId]);
  // Columns as that version writes them.
  await db.pool.query(
    `INSERT INTO hold (account_id, request_id, key_id, process_id, price_id, amount, grant_ids, grant_amounts, held_at)
     SELECT account_id, $2, $3, $4, $5, held, ARRAY[id], ARRAY[held], now() FROM "grant" WHERE account_id = $1`,
    [customer.accountId, asked.requestId, customer.keyId, processId, admission.price.id],
  );
  const second = ask(customer, { maxTokens: 63_000, stream: false });
  expect((await ledger.admit(second)).kind).toBe('admitted');
  expect((await ledger.settle(settlement(asked, admission, { stream: false }))).duplicate).toBe(false);
  await ledger.release(second);
});
