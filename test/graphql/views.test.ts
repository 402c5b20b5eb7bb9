import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// An operator's look at the pages of a customer: read-only, bound to one session, limited in time, and on record.

let plane: ControlPlane;
let operator: Browser;
let colleague: Browser;
let customer: Browser;
let accountId: string;
let grant: string;

beforeAll(async () => {
  plane = await createControlPlane();
  customer = await createPerson(plane, 'customer@example.com', '203.0.113.2');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  colleague = await createPerson(plane, 'colleague@example.com', '203.0.113.3');
  await setRole(true, true);
  const { rows } = await plane.database.pool.query(`SELECT id FROM account WHERE email = 'customer@example.com'`);
  accountId = rows[0].id;
  await customer.send('mutation { createKey(input: { name: "of the customer" }) { __typename } }');
});
afterAll(() => plane.close());

/** As if both operators had set up one-time codes and signed in with one, or not. */
async function setRole(isOperator: boolean, secondFactor: boolean): Promise<void> {
  await plane.database.pool.query(
    `UPDATE app_user SET operator = $1, two_factor_enabled = $2 WHERE email IN ('operator@example.com', 'colleague@example.com')`,
    [isOperator, secondFactor],
  );
}

const begin = `mutation ($accountId: ID!) {
  beginAccountView(accountId: $accountId) { __typename ... on AccountViewBegun { grant until } ... on Error { code } }
}`;

async function beginBy(browser: Browser, variables: Record<string, unknown> = { accountId }) {
  const { data, errors } = await browser.send(begin, { variables });
  return { begun: (data as { beginAccountView: Record<string, string> } | null)?.beginAccountView ?? null, errors };
}

const seen = (text: string) => ({ headers: { 'steyg-view': text } });

beforeEach(async () => {
  await setRole(true, true);
  grant = (await beginBy(operator)).begun?.['grant'] ?? '';
});

describe('a look at a customer', () => {
  it('sees the account as its readers do, and nothing of the operator’s own rights', async () => {
    const { data, errors } = await operator.send(
      '{ me { viewUntil accounts { name email keys(first: 5) { edges { node { name } } } budget { free } } } }',
      seen(grant),
    );
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      me: {
        accounts: [
          {
            email: 'customer@example.com',
            keys: { edges: [{ node: { name: 'of the customer' } }] },
            budget: { free: '5' },
          },
        ],
      },
    });
    const own = await operator.send('query ($accountId: ID!) { operator { timeline(accountId: $accountId) { at } } }', {
      ...seen(grant),
      variables: { accountId },
    });
    expect(own.errors.length).toBeGreaterThan(0);
    expect(own.data?.['operator'] ?? null).toBeNull();
    const { viewUntil } = (data as { me: { viewUntil: string } }).me;
    expect(Date.parse(viewUntil)).toBeGreaterThan(Date.now());
    expect(Date.parse(viewUntil)).toBeLessThanOrEqual(Date.now() + 15 * 60_000);
  });

  it.each([
    'mutation { createKey(input: { name: "by the operator" }) { __typename } }',
    'mutation { updateProfile(input: { name: "somebody else" }) { __typename } }',
    'mutation { signOut { __typename } }',
    'mutation ($accountId: ID!) { addAccountNote(input: { accountId: $accountId, text: "x" }) { __typename } }',
    'mutation ($accountId: ID!) { setAccountStatus(input: { accountId: $accountId, status: SUSPENDED }) { __typename } }',
    'mutation ($accountId: ID!) { beginAccountView(accountId: $accountId) { __typename } }',
  ])('changes nothing: %s', async (query) => {
    const state = async () =>
      (
        await plane.database.pool.query(
          `SELECT (SELECT json_agg(k.name) FROM api_key k) AS keys, (SELECT json_agg(u.name ORDER BY u.id) FROM app_user u) AS people,
             (SELECT count(*)::int FROM user_session) AS sessions, (SELECT json_agg(a.status) FROM account a) AS accounts,
             (SELECT count(*)::int FROM audit_entry) AS entries`,
        )
      ).rows;
    const before = await state();
    const variables = query.includes('$accountId') ? { variables: { accountId } } : {};
    const answer = await operator.send(query, { ...seen(grant), ...variables });
    expect(answer.errors.map(({ extensions }) => extensions?.['code'])).toEqual(['VIEW_ONLY']);
    expect(await state()).toEqual(before);
  });

  it('belongs to the session that began it', async () => {
    const expectEnded = async (browser: Pick<Browser, 'send'>, text: string, more: Record<string, string> = {}) => {
      const answer = await browser.send('{ me { viewUntil } }', { headers: { 'steyg-view': text, ...more } });
      expect(answer.status).toBe(401);
      expect(answer.errors.map(({ extensions }) => extensions?.['code'])).toEqual(['VIEW_ENDED']);
    };
    await expectEnded(colleague, grant);
    await expectEnded(customer, grant);
    await expectEnded(plane, grant);
    await expectEnded(operator, `${grant}x`);
    await expectEnded(operator, 'x'.repeat(5_000));
    const [payload = '', signature = ''] = grant.split('.');
    const longer = Buffer.from(payload, 'base64url')
      .toString()
      .replace(/"until":\d+/, '"until":99999999999999');
    await expectEnded(operator, `${Buffer.from(longer).toString('base64url')}.${signature}`);
  });

  it.each([
    ['the role', false, true],
    ['the second factor', true, false],
  ])('ends with %s of the operator', async (_what, isOperator, secondFactor) => {
    expect((await operator.send('{ me { viewUntil } }', seen(grant))).status).toBe(200);
    await setRole(isOperator, secondFactor);
    expect((await operator.send('{ me { viewUntil } }', seen(grant))).status).toBe(401);
  });

  it('ends after 15 minutes', async () => {
    const at = Date.now() + 15 * 60_000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(at);
    try {
      expect((await operator.send('{ me { viewUntil } }', seen(grant))).status).toBe(401);
    } finally {
      clock.mockRestore();
    }
  });

  it('is begun by an operator with a second factor alone, at an account that exists', async () => {
    expect((await beginBy(customer)).begun).toBeNull();
    expect((await beginBy(operator, { accountId: '00000000-0000-4000-8000-000000000000' })).begun).toMatchObject({
      code: 'NOT_FOUND',
    });
    await setRole(true, false);
    const { begun, errors } = await beginBy(operator);
    expect(begun).toBeNull();
    expect(errors.map(({ extensions }) => extensions?.['code'])).toEqual(['SECOND_FACTOR_REQUIRED']);
  });

  it('is on record for operators, and for the owner of the account', async () => {
    const { rows } = await plane.database.pool.query(
      `SELECT actor FROM audit_entry WHERE action = 'account.view' AND subject = 'account:' || $1 ORDER BY created_at DESC LIMIT 1`,
      [accountId],
    );
    expect(rows[0]?.actor).toMatch(/^user:/);
    const { data, errors } = await customer.send('{ account { operatorViews { nodes { at until } } } }');
    expect(errors).toEqual([]);
    const { operatorViews } = (data as { account: { operatorViews: { nodes: { at: string; until: string }[] } } })
      .account;
    expect(operatorViews.nodes.length).toBeGreaterThan(0);
    for (const { at, until } of operatorViews.nodes) expect(Date.parse(until)).toBeGreaterThan(Date.parse(at));
    // Readers of the account do not manage it: the look itself is one.
    const reader = await operator.send('{ account { operatorViews { nodes { at } } } }', seen(grant));
    expect(reader.data).toEqual({ account: null });
  });
});
