/** What GraphQL reads from a replica, how it says so, and what it never reads there. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { createSecret } from '../../server/keys/secret.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createAccount, createDomain, createPlans, order, transfer } from '../plans/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

let plane: ControlPlane;
let token = '';

beforeAll(async () => {
  plane = await createControlPlane({ historyAgeMs: 4_200 });
  const { pool } = plane.database;
  const created = await createAccounts({ pool }).create({
    email: 'a@example.com',
    grant: { kind: 'trial' },
    actor: 'test',
  });
  if (created.kind !== 'created') throw new Error(created.kind);
  const secret = createSecret('token');
  token = secret.secret;
  await pool.query(
    `INSERT INTO access_token (id, account_id, name, hash, prefix, last4, scopes) VALUES ($1, $2, 'test', $3, 'tk', 'beef', '{read,operator}')`,
    [uuidv7(), created.account.id, secret.hash],
  );
});
afterAll(() => plane.close());

async function extensionsOf(selection: string): Promise<unknown> {
  const answer = await plane.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    payload: JSON.stringify({ query: selection }),
  });
  const { errors, extensions } = JSON.parse(answer.body) as { errors?: unknown; extensions?: unknown };
  expect(errors).toBeUndefined();
  return extensions;
}

const history = { history: { source: 'replica', maxAgeSeconds: 5 } };

it.each([
  ['ledger pages', '{ account { ledger(first: 5) { edges { node { requestId } } } } }'],
  ['usage', '{ account { usage(period: DAY, by: [MODEL]) { nodes { requests } } } }'],
  ['revenue', '{ operator { revenue(period: DAY) { nodes { requests } } } }'],
  ['margins', '{ operator { margins(period: DAY, by: [MODEL]) { nodes { requests } } } }'],
])('%s may come from a replica, and then the answer says how old they are at most', async (_, selection) => {
  expect(await extensionsOf(selection)).toEqual(history);
});

it('money, keys and settings come from the primary: an answer without history says nothing of an age', async () => {
  const selection =
    '{ me { accounts { budget { free held charged grants { amount free } } keys(first: 5) { edges { node { name } } } } } }';
  expect(await extensionsOf(selection.replace('{ me { accounts', '{ account').replace(/ \}$/, ''))).toBeUndefined();
  expect(await extensionsOf('{ operator { holds(first: 5) { nodes { amount } } } }')).toBeUndefined();
  expect(await extensionsOf('{ models { modelId } }')).toBeUndefined();
});

describe('a replica that shows commits in another order, or nothing of them yet', () => {
  // A transaction may be seen by a reader of a replica before one that was seen earlier on the primary:
  // https://jepsen.io/analyses/amazon-rds-for-postgresql-17.4. What is frozen, handed out or judged must not come from there.
  let empty: TestDatabase;
  let behind: ControlPlane;
  let operator: Browser;
  let accountId = '';
  let orderId = '';
  const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 15));
  const name = month.toISOString().slice(0, 7);

  beforeAll(async () => {
    empty = await createDatabase();
    behind = await createControlPlane({ historyAgeMs: 0, replica: empty.pool });
    const { pool } = behind.database;
    operator = await createPerson(behind, 'operator@example.com');
    await pool.query('UPDATE app_user SET operator = true, two_factor_enabled = true');
    await createPlans(pool);
    accountId = await createAccount(pool);
    const paid = await order(pool, accountId);
    orderId = paid.id;
    await createDomain(pool).transfers.receive(transfer({ memo: paid.memo, bookedAt: month }));
  });
  afterAll(async () => {
    await behind.close();
    await empty.drop();
  });

  it('is where pages of the ledger come from', async () => {
    const query = `{ operator { account(id: "${accountId}") { ledger(first: 5) { edges { node { requestId } } } } } }`;
    expect(JSON.parse((await operator.raw(query)).text)).toMatchObject({
      extensions: { history: { source: 'replica' } },
    });
  });

  it('shows no receipt of what was just paid, and the receipt is there', async () => {
    const { text } = await operator.raw(`{ order(id: "${orderId}") { paidAt account { email } } }`);
    expect(JSON.parse(text)).toEqual({
      data: { order: { paidAt: expect.any(String), account: { email: `${accountId}@example.com` } } },
    });
  });

  it('knows of no broken rule, and the rule is reported', async () => {
    const query = `{ operator { invariants(accountId: "${accountId}") { invariant } } }`;
    expect(JSON.parse((await operator.raw(query)).text)).toEqual({ data: { operator: { invariants: [] } } });
    const client = await behind.database.pool.connect();
    await client.query(`SET session_replication_role = replica`);
    await client.query(`UPDATE "grant" SET spent = 1 WHERE account_id = $1`, [accountId]);
    const { text } = await operator.raw(query);
    await client.query(`UPDATE "grant" SET spent = 0 WHERE account_id = $1`, [accountId]);
    client.release(true);
    const answer = JSON.parse(text) as { data: { operator: { invariants: unknown[] } }; extensions?: unknown };
    expect(answer.data.operator.invariants.length).toBeGreaterThan(0);
    expect(answer.extensions).toBeUndefined();
  });

  it('has no money of the month, and the close of the month has it', async () => {
    const preview = JSON.parse(
      (
        await operator.raw(
          `{ operator { nextMonthToClose(month: "${name}", timeZone: "UTC") { statement { cash { received } } } } }`,
        )
      ).text,
    );
    expect(preview).toEqual({
      data: { operator: { nextMonthToClose: { statement: { cash: { received: '250000' } } } } },
    });
    const closed = await operator.raw(
      `mutation { closeMonth(input: { month: "${name}", timeZone: "UTC" }) { ... on ClosedMonth { month statement { cash { received } } } } }`,
    );
    expect(JSON.parse(closed.text)).toEqual({
      data: { closeMonth: { month: name, statement: { cash: { received: '250000' } } } },
    });
  });
});
