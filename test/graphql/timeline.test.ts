import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// The history of a customer as operators see it, and what operators do there.

let plane: ControlPlane;
let operator: Browser;
let customer: Browser;
let accountId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  customer = await createPerson(plane, 'customer@example.com', '203.0.113.2');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  // As if they had set up one-time codes and signed in with one.
  await plane.database.pool.query(
    `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'operator@example.com'`,
  );
  const { rows } = await plane.database.pool.query(`SELECT id FROM account WHERE email = 'customer@example.com'`);
  accountId = rows[0].id;
});
afterAll(() => plane.close());

const timeline = `query ($accountId: ID!, $first: Int, $after: String) {
  operator { timeline(accountId: $accountId, first: $first, after: $after) {
    edges { cursor node { at kind subject text actor usd vnd } } } }
}`;

interface Event {
  cursor: string;
  at: string;
  kind: string;
  subject: string;
  text: string | null;
  actor: string | null;
  usd: string | null;
}

async function events(more: object = {}): Promise<Event[]> {
  const { data, errors } = await operator.send(timeline, {
    variables: { accountId, ...more },
  });
  expect(errors).toEqual([]);
  const { edges } = (data as { operator: { timeline: { edges: { cursor: string; node: Event }[] } } }).operator
    .timeline;
  return edges.map(({ cursor, node }) => ({ ...node, cursor }));
}

const revoke = `mutation ($id: ID!, $reason: String!) {
  revokeKey(input: { id: $id, reason: $reason }) { __typename ... on ApiKey { status } ... on Error { code message } }
}`;
const note = `mutation ($accountId: ID!, $text: String!) {
  addAccountNote(input: { accountId: $accountId, text: $text }) { __typename ... on Account { id } ... on InputError { problems { path } } }
}`;
const setStatus = `mutation ($accountId: ID!, $status: AccountStatus!, $reason: String) {
  setAccountStatus(input: { accountId: $accountId, status: $status, reason: $reason }) { __typename }
}`;

describe('the timeline of a customer', () => {
  it('has sign-up, grants, keys, revocations with their reason, suspensions and notes, newest first, in pages', async () => {
    await customer.send('mutation { createKey(input: { name: "leaked" }) { __typename } }');
    const { rows } = await plane.database.pool.query('SELECT id FROM api_key WHERE account_id = $1', [accountId]);
    const revoked = await operator.send(revoke, {
      variables: { id: rows[0].id, reason: 'found in a public repository' },
    });
    expect(revoked.data).toEqual({ revokeKey: { __typename: 'ApiKey', status: 'DELETED' } });
    await operator.send(setStatus, { variables: { accountId, status: 'SUSPENDED', reason: 'waiting for an answer' } });
    await operator.send(setStatus, { variables: { accountId, status: 'ACTIVE' } });
    const written = await operator.send(note, { variables: { accountId, text: ' Called back on Monday. ' } });
    expect(written.data).toEqual({ addAccountNote: { __typename: 'Account', id: expect.any(String) } });

    const all = await events();
    expect(all.map(({ kind }) => kind).toSorted()).toEqual(
      ['OPENED', 'GRANTED', 'KEY_CREATED', 'KEY_DELETED', 'SUSPENDED', 'RESUMED', 'NOTED'].toSorted(),
    );
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    const of = (kind: string) => all.find((each) => each.kind === kind);
    expect(of('GRANTED')).toMatchObject({ subject: 'trial', usd: '5' });
    expect(of('KEY_DELETED')).toMatchObject({ text: 'found in a public repository' });
    expect(of('SUSPENDED')).toMatchObject({ text: 'waiting for an answer' });
    expect(of('SUSPENDED')?.actor).toMatch(/^user:/);
    expect(of('NOTED')).toMatchObject({ text: 'Called back on Monday.' });
    // The pages together are the whole.
    const first = await events({ first: 3 });
    expect(first).toEqual(all.slice(0, 3));
    expect(await events({ after: first.at(-1)?.cursor })).toEqual(all.slice(3));
  });

  it('refuses empty notes, and keys that are gone', async () => {
    const empty = await operator.send(note, { variables: { accountId, text: '  ' } });
    expect(empty.data).toMatchObject({ addAccountNote: { __typename: 'InputError' } });
    const { rows } = await plane.database.pool.query('SELECT id FROM api_key WHERE account_id = $1', [accountId]);
    const again = await operator.send(revoke, { variables: { id: rows[0].id, reason: 'again' } });
    expect(again.data).toMatchObject({ revokeKey: { __typename: 'NotFoundError' } });
  });

  it('is nothing that customers see or do', async () => {
    const before = await events();
    for (const [document, variables] of [
      [timeline, { accountId }],
      [note, { accountId, text: 'hello' }],
      [revoke, { id: accountId, reason: 'why not' }],
    ] as const) {
      const { errors } = await customer.send(document, { variables });
      expect(errors.length).toBeGreaterThan(0);
    }
    expect(await events()).toEqual(before);
  });
});
