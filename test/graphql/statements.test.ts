import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';
import { statementsOf } from './support/statements.ts';

/** How many SQL statements an operation takes must not depend on how much it lists. */

let plane: ControlPlane;
let owner: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com');
  await fill(1);
});
afterAll(() => plane.close());

/** Keys, models and finished requests, `count` of each more. */
async function fill(count: number): Promise<void> {
  const { pool } = plane.database;
  const { rows } = await pool.query('SELECT id FROM account LIMIT 1');
  const accountId: string = rows[0].id;
  const ledger = await openLedger(plane.database.url);
  try {
    for (let i = 0; i < count; i += 1) {
      const model = `model-${Math.random().toString(36).slice(2)}`;
      await addModel(pool, { id: model });
      await owner.send('mutation { createKey(input: {}) { __typename } }');
      const keys = await pool.query('SELECT id FROM api_key ORDER BY created_at DESC LIMIT 1');
      const asked = ask({ accountId, keyId: keys.rows[0].id }, { model });
      await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked)));
    }
  } finally {
    await ledger.close();
  }
}

/** What the dashboard asks for, and how many statements it may take: one of them finds out who is asking. */
const operations: { name: string; query: string; most: number }[] = [
  {
    name: 'me with budget and keys',
    query: `{ me { user { name } accounts {
      name budget { free held grants { kind free expiresAt } }
      keys(first: 100) { edges { node { name status limits { day } lastUsedAt spend { today } } } }
    } } }`,
    most: 7,
  },
  {
    name: 'a page of the ledger',
    query: `{ account { ledger(first: 50) {
      edges { node { requestId model cost charged outcome key { name last4 } receipt { amount } } }
    } } }`,
    most: 4,
  },
  {
    name: 'usage by day, model and key',
    query: `{ account { usage(period: DAY, by: [MODEL, KEY]) { nodes { start model key { id } cost tokens { output } } } } }`,
    // The keys of all rows are one statement.
    most: 4,
  },
  {
    name: 'the public catalog',
    query: `{ models { modelId simulated agentStepsFor5Usd
      prices { input output vndAtStarter { input output } vndAtBest { input output } } } }`,
    most: 5,
  },
  {
    name: 'members, invitations and tokens',
    query: `{ account { members { name role } invitations { email } accessTokens(first: 20) { edges { node { name } } } } }`,
    most: 5,
  },
];

describe('the number of statements', () => {
  it.each(operations)('of $name is bounded', async ({ query, most }) => {
    // The first time may fill what is remembered.
    await owner.send(query);
    const few = await statementsOf(async () => expect((await owner.send(query)).errors).toEqual([]));
    expect(few.length).toBeLessThanOrEqual(most);
  });

  it('does not grow with what is listed', async () => {
    const before = await count();
    await fill(15);
    expect(await count()).toEqual(before);
  });
});

async function count(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name, query } of operations) {
    counts[name] = (await statementsOf(() => owner.send(query))).length;
  }
  return counts;
}
