import { afterAll, beforeAll, expect, it } from 'vitest';
import { listGrants } from '../../server/billing/reads/usage.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
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

// Which grant pays where several end at the same moment: by a rule, not by their random ids.

let db: TestDatabase;
let ledger: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  ledger = await openLedger(db.url);
});
afterAll(async () => {
  await ledger.close();
  await db.drop();
});

it.each(['its own hold', 'what is free'])(
  'of grants that end together gifts pay before purchases, and the older purchase first: out of %s',
  async (source) => {
    const customer = await addCustomer(db.pool, { budget: null });
    const kinds = ['purchase', 'bonus', 'purchase', 'trial', 'purchase', 'code', 'purchase', 'adjustment'] as const;
    const grants: string[] = [];
    for (const kind of kinds) {
      grants.push(await grant(db.pool, customer.accountId, '0.00015', { kind }));
      // Each has a moment of its own.
      await db.pool.query('SELECT pg_sleep(0.002)');
    }
    // What ends at all comes before what never ends, also when it was bought.
    grants.push(await grant(db.pool, customer.accountId, '0.00015', { kind: 'purchase', endsInMs: 600_000 }));
    const order = [8, 1, 3, 5, 7, 0, 2, 4, 6].map((index) => grants[index]);
    expect((await listGrants(db.pool, customer.accountId)).map(({ id }) => id)).toEqual(order);

    const asked = ask(customer);
    const admission = await admitted(ledger.ledger, asked);
    if (source === 'what is free') await ledger.ledger.release(asked);
    // As much as seven of them.
    const charged = usd('0.00105');
    expect(await ledger.ledger.settle(settlement(asked, admission))).toMatchObject({ charged });
    const { rows } = await db.pool.query('SELECT grant_id FROM posting WHERE account_id = $1', [customer.accountId]);
    expect(new Set(rows.map((row) => row.grant_id))).toEqual(new Set(order.slice(0, 7)));
    // Used up ones are listed last.
    const listed = await listGrants(db.pool, customer.accountId);
    expect(listed.map(({ id }) => id)).toEqual([...order.slice(7), ...order.slice(0, 7)]);
  },
);
