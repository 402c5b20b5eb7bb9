import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, createControlPlane, createPerson, password, signIn, tokenFor } from './support/server.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await createControlPlane();
});
afterAll(() => plane.close());

const signUp = `mutation ($input: SignUpInput!) {
  signUp(input: $input) { __typename ... on Error { code message } ... on InputError { problems { path message } } }
}`;

describe('from a sign-up to the account', () => {
  it('opens the account and its trial when the address is confirmed, not before', async () => {
    const browser = plane.browser();
    const input = { email: ' Ada@Example.com ', password, name: 'Ada' };
    const first = await browser.send(signUp, { variables: { input } });
    expect(first.data).toEqual({ signUp: { __typename: 'Done' } });
    expect((await signIn(browser, 'ada@example.com')).data).toMatchObject({ signIn: { code: 'EMAIL_NOT_VERIFIED' } });
    expect((await plane.database.pool.query('SELECT FROM account')).rowCount).toBe(0);

    const token = await tokenFor(plane, 'ada@example.com');
    const verified = await browser.send(
      `mutation ($token: String!) { verifyEmail(token: $token) { __typename ... on Error { code } } }`,
      { variables: { token } },
    );
    expect(verified.data).toEqual({ verifyEmail: { __typename: 'Done' } });
    expect((await signIn(browser, 'ADA@example.com')).data).toMatchObject({ signIn: { secondFactorRequired: false } });

    const me = await browser.send('{ me { user { email name } accounts { email status } } }');
    expect(me.data).toEqual({
      me: {
        user: { email: 'ada@example.com', name: 'Ada' },
        accounts: [{ email: 'ada@example.com', status: 'ACTIVE' }],
      },
    });
    const { rows } = await plane.database.pool.query('SELECT kind, amount FROM "grant"');
    expect(rows).toEqual([{ kind: 'trial', amount: 5_000_000_000_000n }]);
  });

  it('ends with a session that is gone after signing out', async () => {
    const browser = await createPerson(plane, 'bea@example.com');
    const stolen = new Map(browser.cookies);
    await browser.send('mutation { signOut { ok } }');
    expect((await browser.send('{ me { scopes } }')).data).toEqual({ me: null });
    const cookie = [...stolen].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await plane.send('{ me { scopes } }', { headers: { cookie } })).data).toEqual({ me: null });
  });
});
