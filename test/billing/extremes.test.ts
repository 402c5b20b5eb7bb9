import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listGrants, readBalance, readKeySpend, readLedger, readUsage } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { formatUsd, MAX_PICO } from '../../server/core/money.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addCustomer, addModel, admitted, ask, grant, openLedger, settlement, type TestLedger } from './support.ts';

// The largest possible amounts: nothing is rounded, nothing overflows, and one account never blocks another.

let db: TestDatabase;
let lane: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, {
    id: 'dear',
    input: '10000',
    cacheHit: '9999.999999',
    output: '10000',
    contextWindow: 100_000_000,
  });
  await addModel(db.pool, { id: 'big' });
  lane = await openLedger(db.url);
});
afterAll(async () => {
  await lane.close();
  rmSync(lane.directory, { recursive: true, force: true });
  await db.drop();
});

const most = formatUsd(MAX_PICO);
/** As many tokens as a pool can have, at the highest price that there is. */
const full = { input: 100_000_000, cacheHit: 100_000_000, cacheWrite5m: 0, cacheWrite1h: 0, output: 100_000_000 };
const cost = 100_000_000n * (10_000_000_000n + 9_999_999_999n + 10_000_000_000n);

test('the dearest request of the richest account is charged to the last pico-USD', async () => {
  const customer = await addCustomer(db.pool, { budget: null });
  const { accountId } = customer;
  for (let count = 0; count < 3; count += 1) await grant(db.pool, accountId, most);
  const asked = ask(customer, { model: 'dear', textBytes: 300_000_000, maxTokens: 4_096, answers: 128 });
  const admission = await admitted(lane.ledger, asked);
  expect(admission.amount).toBe(100_000_000n * 10_000_000_000n + 128n * 4_096n * 10_000_000_000n);
  const settled = await lane.ledger.settle(settlement(asked, admission, { model: 'dear', usage: full }));
  expect(settled).toEqual({ cost, charged: cost, freeAfter: MAX_PICO, duplicate: false });
  expect(await readBalance(db.pool, accountId)).toEqual({
    granted: 3n * MAX_PICO,
    charged: cost,
    held: 0n,
    expired: 0n,
    free: 3n * MAX_PICO - cost,
  });
  expect(new Set((await listGrants(db.pool, accountId)).map(({ spent }) => spent))).toEqual(new Set([0n, cost]));
  const { items } = await readUsage(db.pool, { accountId, period: null, byModel: true, byKey: true, limit: 5 });
  expect(items).toMatchObject([{ cost, charged: cost, input: 100_000_000 }]);
  expect(await readKeySpend(db.pool, accountId)).toMatchObject([{ lifetime: cost, today: cost, held: 0n }]);
  expect((await readLedger(db.pool, { accountId, limit: 5 })).items).toMatchObject([{ cost, freeAfter: MAX_PICO }]);
  expect(await checkInvariants(db.pool)).toEqual([]);
});

test('what a key spends beyond what a column holds is set aside, and others are charged', async () => {
  const [rich, other] = [await addCustomer(db.pool, { budget: null }), await addCustomer(db.pool)];
  for (let count = 0; count < 3; count += 1) await grant(db.pool, rich.accountId, most);
  const settle = async () => {
    const asked = ask(rich, { model: 'dear' });
    return lane.ledger.settle(settlement(asked, await admitted(lane.ledger, asked), { model: 'dear', usage: full }));
  };
  const small = ask(other);
  const smallAdmission = await admitted(lane.ledger, small);
  for (let count = 0; count < 3; count += 1) expect((await settle()).charged).toBe(cost);
  const [beyond, charged] = await Promise.allSettled([settle(), lane.ledger.settle(settlement(small, smallAdmission))]);
  expect(beyond).toMatchObject({ status: 'rejected', reason: { name: 'Quarantined' } });
  expect(charged).toMatchObject({ status: 'fulfilled' });
  await expect.poll(async () => (await readBalance(db.pool, rich.accountId)).held).toBe(0n);
  expect(await readBalance(db.pool, rich.accountId)).toMatchObject({
    charged: 3n * cost,
    free: 3n * MAX_PICO - 3n * cost,
  });
  expect(await checkInvariants(db.pool)).toEqual([]);
});
