/** What GraphQL reads from a replica, how it says so, and what it never reads there. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { createSecret } from '../../server/keys/secret.ts';
import { uuidv7 } from '../../server/runtime/http.ts';
import { type ControlPlane, createControlPlane } from './support/server.ts';

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
  ['usage', '{ account { usage(period: DAY, by: [MODEL]) { rows { requests } } } }'],
  ['revenue', '{ operator { revenue(period: DAY) { rows { requests } } } }'],
  ['margins', '{ operator { margins(period: DAY, by: [MODEL]) { rows { requests } } } }'],
])('%s may come from a replica, and then the answer says how old they are at most', async (_, selection) => {
  expect(await extensionsOf(selection)).toEqual(history);
});

it('money, keys and settings come from the primary: an answer without history says nothing of an age', async () => {
  const selection =
    '{ me { accounts { budget { free held charged grants { amount free } } keys(first: 5) { edges { node { name } } } } } }';
  expect(await extensionsOf(selection.replace('{ me { accounts', '{ account').replace(/ \}$/, ''))).toBeUndefined();
  expect(await extensionsOf('{ operator { holds(first: 5) { amount } } }')).toBeUndefined();
  expect(await extensionsOf('{ models { modelId } }')).toBeUndefined();
});
