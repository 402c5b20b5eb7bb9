/** Signing in with an OpenID provider: a local one plays it, and its answers are what a test says. */

import { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../server/runtime/config.ts';
import { startApp } from '../support/app.ts';
import { codeOf } from './support/codes.ts';
import {
  type Browser,
  type ControlPlane,
  createControlPlane,
  createPerson,
  password,
  publicUrl,
  signIn,
  tokenFor,
} from './support/server.ts';
import { visitFrom } from './support/visits.ts';

let provider: OAuth2Server;
let plane: ControlPlane;
let strict: ControlPlane;
let claims: Record<string, unknown>;

beforeAll(async () => {
  provider = new OAuth2Server();
  await provider.issuer.keys.generate('RS256');
  await provider.start(0, '127.0.0.1');
  provider.service.on('beforeTokenSigning', (token: { payload: Record<string, unknown> }) => {
    Object.assign(token.payload, claims);
  });
  provider.service.on('beforeUserinfo', (answer: { body: unknown }) => {
    answer.body = claims;
  });
  const oidc = {
    issuer: provider.issuer.url ?? '',
    clientId: 'steyg',
    clientSecret: 'a secret of the client',
    name: 'Work',
  };
  const providers = { google: null, github: null, oidc };
  plane = await createControlPlane({ signIn: { providers } });
  strict = await createControlPlane({ signIn: { providers, passwordSignIn: false } });
});
afterAll(async () => {
  await plane.close();
  await strict.close();
  await provider.stop();
});
let number = 0;
beforeEach(() => {
  number += 1;
  claims = {
    sub: `subject-${number}`,
    aud: 'steyg',
    email: `p${number}@example.com`,
    email_verified: true,
    name: 'Pat',
  };
});

/** Attempts of one network are limited, and each test is a network. */
const visit = (at: ControlPlane, browser: Browser, address: string) =>
  visitFrom(`203.0.113.${number % 250}`, at, browser, address);

/** Signs in with the provider and returns where the browser ends. */
async function withProvider(browser: Browser, next = '/keys', at = plane): Promise<string> {
  const there = await visit(at, browser, `/sign-in/with/oidc?next=${encodeURIComponent(next)}`);
  expect(there.startsWith(provider.issuer.url ?? '-')).toBe(true);
  const back = await fetch(there, { redirect: 'manual' });
  return visit(at, browser, back.headers.get('location') ?? '');
}

const whoAmI = async (browser: Browser) =>
  (await browser.send('{ me { user { email name } accounts { email } } }')).data?.['me'];

describe('a person of the provider', () => {
  it('gets an account with the trial, and comes back to it', async () => {
    const browser = plane.browser();
    expect(await withProvider(browser)).toBe(`${publicUrl}/keys`);
    const email = `p${number}@example.com`;
    expect(await whoAmI(browser)).toEqual({ user: { email, name: 'Pat' }, accounts: [{ email }] });
    const again = plane.browser();
    await withProvider(again);
    expect(await whoAmI(again)).toEqual(await whoAmI(browser));
    const { rows } = await plane.database.pool.query(
      `SELECT g.kind FROM "grant" g JOIN account a ON a.id = g.account_id WHERE a.email = $1`,
      [email],
    );
    expect(rows).toEqual([{ kind: 'trial' }]);
  });

  it('has one trial for one mailbox, however it is entered', async () => {
    await createPerson(plane, 'one.mailbox@gmail.com');
    for (const email of ['OneMailbox@gmail.com', 'one.mail.box+x@googlemail.com']) {
      number += 1;
      claims = { ...claims, sub: `subject-${number}`, email };
      await withProvider(plane.browser());
    }
    const { rows } = await plane.database.pool.query(
      `SELECT a.email, count(g.id)::int AS trials FROM account a LEFT JOIN "grant" g ON g.account_id = a.id AND g.kind = 'trial'
       WHERE a.email LIKE '%mail.com' GROUP BY 1 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { email: 'one.mail.box+x@googlemail.com', trials: 0 },
      { email: 'one.mailbox@gmail.com', trials: 1 },
      { email: 'onemailbox@gmail.com', trials: 0 },
    ]);
  });

  it('enters the account that has the address once its person has proved to be here, too', async () => {
    const email = `p${number}@example.com`;
    const known = await createPerson(plane, email);
    const browser = plane.browser();
    claims['email'] = email.toUpperCase();
    expect(await withProvider(browser)).toBe(`${publicUrl}/sign-in?link=oidc&next=%2Fkeys`);
    expect(await whoAmI(browser)).toBeNull();
    await signIn(browser, email);
    const again = plane.browser();
    await withProvider(again);
    expect(await whoAmI(again)).toEqual(await whoAmI(known));
  });

  it.each([
    ['that the provider did not confirm', false],
    ['of which it says nothing', undefined],
  ])('does not get in with an address %s', async (_, email_verified) => {
    const email = `victim${number}@example.com`;
    await createPerson(plane, email);
    for (const address of [email, `nobody${number}@example.com`]) {
      claims = { ...claims, email: address, email_verified };
      const browser = plane.browser();
      expect(await withProvider(browser)).toContain(`${publicUrl}/sign-in?error=`);
      expect(await whoAmI(browser)).toBeNull();
    }
    const { rows } = await plane.database.pool.query('SELECT FROM app_user WHERE email = $1', [
      `nobody${number}@example.com`,
    ]);
    expect(rows).toHaveLength(0);
  });

  describe('whose address a stranger has signed up with, and never confirmed,', () => {
    const signUp = (email: string, name: string) =>
      plane.send(`mutation ($input: SignUpInput!) { signUp(input: $input) { __typename } }`, {
        variables: { input: { email, password, name } },
      });
    const verify = async (token: string) =>
      (
        await plane.send(
          `mutation ($token: String!) { verifyEmail(token: $token) { __typename ... on Error { code } } }`,
          { variables: { token } },
        )
      ).data;

    it('gets in, and shares nothing with the stranger: neither password nor name nor link', async () => {
      const email = `p${number}@example.com`;
      await signUp(email, 'Stranger');
      const link = await tokenFor(plane, email, '/verify-email');
      const browser = plane.browser();
      expect(await withProvider(browser)).toBe(`${publicUrl}/keys`);
      expect(await whoAmI(browser)).toEqual({ user: { email, name: `p${number}` }, accounts: [{ email }] });
      const stranger = plane.browser();
      expect((await signIn(stranger, email)).data).toMatchObject({ signIn: { code: 'INVALID_CREDENTIALS' } });
      expect(await verify(link)).toMatchObject({ verifyEmail: { code: 'INVALID_TOKEN' } });
      // Another sign-up with the address changes nothing either.
      await signUp(email, 'Stranger');
      expect((await signIn(stranger, email)).data).toMatchObject({ signIn: { code: 'INVALID_CREDENTIALS' } });
      const { rows } = await plane.database.pool.query(
        `SELECT i.provider, count(c.id)::int AS credentials FROM app_user u JOIN user_identity i ON i.user_id = u.id
           LEFT JOIN user_credential c ON c.user_id = u.id WHERE u.email = $1 GROUP BY 1`,
        [email],
      );
      expect(rows).toEqual([{ provider: 'oidc', credentials: 0 }]);
      await withProvider(plane.browser());
      expect(await whoAmI(browser)).not.toBeNull();
    });

    it('keeps the stranger out also when both come at the same moment', async () => {
      for (let turn = 0; turn < 6; turn += 1) {
        number += 1;
        const email = `p${number}@example.com`;
        claims = { ...claims, sub: `subject-${number}`, email };
        await signUp(email, 'Stranger');
        const again = () =>
          plane.send(`mutation ($input: SignUpInput!) { signUp(input: $input) { __typename } }`, {
            variables: { input: { email, password: `${password} again`, name: 'Stranger' } },
            ip: `198.51.100.${number % 250}`,
          });
        const browser = plane.browser();
        await Promise.all([again(), withProvider(browser), again()]);
        expect(await whoAmI(browser)).not.toBeNull();
        for (const secret of [password, `${password} again`])
          expect((await signIn(plane.browser(`198.51.100.${number % 250}`), email, secret)).data).toMatchObject({
            signIn: { code: 'INVALID_CREDENTIALS' },
          });
      }
    });

    it('does not help a provider that confirms nothing', async () => {
      const email = `p${number}@example.com`;
      await signUp(email, 'Owner');
      claims = { ...claims, email_verified: false };
      const browser = plane.browser();
      expect(await withProvider(browser)).toContain(`${publicUrl}/sign-in?error=`);
      expect(await whoAmI(browser)).toBeNull();
      expect(await verify(await tokenFor(plane, email, '/verify-email'))).toMatchObject({
        verifyEmail: { __typename: 'Done' },
      });
      expect((await signIn(plane.browser(), email)).data).toMatchObject({ signIn: { __typename: 'SignedIn' } });
    });
  });

  it('is asked for the code of the second factor, and has no session before', async () => {
    const browser = plane.browser();
    await withProvider(browser);
    // People of a provider have no password that could be asked for.
    const begun = await browser.send(
      `mutation { beginSecondFactor(password: "") { ... on SecondFactorSetup { uri } ... on Error { code } } }`,
    );
    const { uri } = (begun.data as Record<string, { uri: string }>)['beginSecondFactor'] ?? { uri: '' };
    const confirm = `mutation ($code: String!) { confirmSecondFactor(code: $code) { __typename ... on Error { code } } }`;
    await browser.send(confirm, { variables: { code: codeOf(uri) } });
    const another = plane.browser();
    expect(await withProvider(another, '/topup')).toBe(`${publicUrl}/sign-in?code=1&next=%2Ftopup`);
    expect(await whoAmI(another)).toBeNull();
    const enter = `mutation ($code: String!) { signInWithCode(input: { code: $code }) { __typename ... on Error { code } } }`;
    expect((await another.send(enter, { variables: { code: '000000' } })).data).toMatchObject({
      signInWithCode: { code: 'INVALID_CODE' },
    });
    // The code of the set-up is used up.
    await another.send(enter, { variables: { code: codeOf(uri, 1) } });
    expect(await whoAmI(another)).toMatchObject({ user: { name: 'Pat' } });
  });

  describe('with a session that was stolen, which is older than ten minutes,', () => {
    const begin = (browser: Browser, secret: string) =>
      browser.send(
        `mutation ($secret: String!) { beginSecondFactor(password: $secret) {
           ... on SecondFactorSetup { uri backupCodes } ... on Error { code } } }`,
        { variables: { secret } },
      );
    const age = () =>
      plane.database.pool.query(
        `UPDATE user_session SET created_at = now() - interval '11 minutes'
         WHERE user_id = (SELECT id FROM app_user WHERE email = $1)`,
        [`p${number}@example.com`],
      );

    it('cannot be locked out by one-time codes, nor lose the account', async () => {
      const browser = plane.browser();
      await withProvider(browser);
      await age();
      for (const secret of ['', 'anything'])
        expect((await begin(browser, secret)).data).toEqual({ beginSecondFactor: { code: 'SIGN_IN_AGAIN' } });
      const { data } = await browser.send('{ me { user { hasPassword } accounts { id email } } }');
      const { user, accounts } = (data as { me: { user: object; accounts: { id: string; email: string }[] } }).me;
      expect(user).toEqual({ hasPassword: false });
      const erase = `mutation ($id: ID!, $email: String!) { eraseAccount(input: { accountId: $id, email: $email, password: "x" }) {
        __typename ... on Error { code } } }`;
      const variables = accounts[0] ?? {};
      expect((await browser.send(erase, { variables })).data).toMatchObject({
        eraseAccount: { code: 'SIGN_IN_AGAIN' },
      });
      const fresh = plane.browser();
      await withProvider(fresh);
      expect((await fresh.send(erase, { variables })).data).toMatchObject({
        eraseAccount: { __typename: 'AccountErased' },
      });
    });

    it('keeps the codes on; the person is told of them, and switches them off after a sign-in', async () => {
      const browser = plane.browser();
      await withProvider(browser);
      const begun = await begin(browser, '');
      const { uri, backupCodes } = (begun.data as { beginSecondFactor: { uri: string; backupCodes: string[] } })
        .beginSecondFactor;
      await browser.send('mutation ($code: String!) { confirmSecondFactor(code: $code) { __typename } }', {
        variables: { code: codeOf(uri) },
      });
      const mails = await plane.mailsTo(`p${number}@example.com`);
      expect(mails.map(({ subject }) => subject)).toContain('One-time codes were switched on');
      const disable = (code: string | undefined) =>
        browser.send(
          `mutation ($code: String!) { disableSecondFactor(input: { password: "", code: $code }) { __typename ... on Error { code } } }`,
          { variables: { code } },
        );
      const renew = () =>
        browser.send(`mutation { renewBackupCodes(password: "x") { __typename ... on Error { code } } }`);
      await age();
      expect((await disable(backupCodes[0])).data).toMatchObject({ disableSecondFactor: { code: 'SIGN_IN_AGAIN' } });
      expect((await renew()).data).toMatchObject({ renewBackupCodes: { code: 'SIGN_IN_AGAIN' } });
      await withProvider(browser);
      await browser.send('mutation ($code: String!) { signInWithCode(input: { code: $code }) { __typename } }', {
        variables: { code: codeOf(uri, 1) },
      });
      expect((await disable('000000')).data).toMatchObject({ disableSecondFactor: { code: 'INVALID_CODE' } });
      expect((await disable(backupCodes[0])).data).toMatchObject({ disableSecondFactor: { __typename: 'Done' } });
      expect((await browser.send('{ me { user { secondFactor } } }')).data).toMatchObject({
        me: { user: { secondFactor: false } },
      });
    });
  });

  it('that has a password is asked for it before the second factor is set up', async () => {
    const browser = await createPerson(plane, `p${number}@example.com`);
    const begun = await browser.send(`mutation { beginSecondFactor(password: "") { ... on Error { code } } }`);
    expect(begun.data).toMatchObject({ beginSecondFactor: { code: 'INVALID_CREDENTIALS' } });
  });

  it('leaves no tokens of the provider in the database', async () => {
    await withProvider(plane.browser());
    await withProvider(plane.browser());
    const { rows } = await plane.database.pool.query(
      `SELECT DISTINCT c.* FROM user_credential c JOIN app_user u ON u.id = c.user_id WHERE u.email = $1`,
      [`p${number}@example.com`],
    );
    expect(rows).toEqual([]);
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'is never sent on to %s',
    async (next) => {
      expect(await withProvider(plane.browser(), next)).toBe(`${publicUrl}/`);
    },
  );
});

describe('an answer of the provider', () => {
  it('does not sign in another browser than the one that asked', async () => {
    const there = await visit(plane, plane.browser(), '/sign-in/with/oidc');
    const back = await fetch(there, { redirect: 'manual' });
    const victim = plane.browser();
    expect(await visit(plane, victim, back.headers.get('location') ?? '')).toContain('/sign-in?error=');
    expect(await whoAmI(victim)).toBeNull();
  });

  it('for another client is refused', async () => {
    claims['aud'] = 'another-client';
    const browser = plane.browser();
    expect(await withProvider(browser)).toContain('/sign-in?error=');
    expect(await whoAmI(browser)).toBeNull();
  });

  it('of a provider that was not set up leads back to the page', async () => {
    expect(await visit(plane, plane.browser(), '/sign-in/with/google')).toBe(`${publicUrl}/sign-in?error=provider`);
  });
});

it('the settings of a started service lead to the provider', async () => {
  const env = {
    PUBLIC_URL: 'https://steyg.example',
    OIDC_ISSUER: provider.issuer.url ?? '',
    OIDC_CLIENT_ID: 'steyg',
    OIDC_CLIENT_SECRET: 'a secret',
  };
  const app = await startApp({ env });
  const answer = await fetch(`${app.url}/sign-in/with/oidc`, { redirect: 'manual' });
  const there = new URL(answer.headers.get('location') ?? '');
  expect([answer.status, there.origin]).toEqual([302, provider.issuer.url]);
  expect(there.searchParams.get('redirect_uri')).toBe('https://steyg.example/sign-in/with/callback/oidc');
  expect(there.searchParams.get('code_challenge_method')).toBe('S256');
  await app.close();
});

describe('without passwords', () => {
  it('only the provider lets people in, and the page is told', async () => {
    const methods = '{ signInMethods { passwords providers { id name } } }';
    expect((await strict.send(methods)).data).toEqual({
      signInMethods: { passwords: false, providers: [{ id: 'oidc', name: 'Work' }] },
    });
    const browser = strict.browser();
    const refused = [
      await signIn(browser, 'a@example.com'),
      await browser.send(
        `mutation { signUp(input: { email: "a@example.com", password: "${password}", name: "A" }) { ... on Error { code } } }`,
      ),
      await browser.send(`mutation { requestPasswordReset(email: "a@example.com") { ... on Error { code } } }`),
      await browser.send(
        `mutation { resetPassword(input: { token: "x", newPassword: "${password}" }) { ... on Error { code } } }`,
      ),
    ];
    for (const { data } of refused)
      expect(Object.values(data ?? {})).toEqual([expect.objectContaining({ code: 'NOT_ALLOWED' })]);
    expect(await withProvider(browser, '/keys', strict)).toBe(`${publicUrl}/keys`);
    expect(await whoAmI(browser)).toMatchObject({ user: { name: 'Pat' } });
  });

  it.each([
    [{ PASSWORD_SIGN_IN: '0' }, /PASSWORD_SIGN_IN/],
    [{ OIDC_ISSUER: 'https://id.example.com' }, /OIDC_CLIENT_ID, OIDC_CLIENT_SECRET/],
    [{ GOOGLE_CLIENT_ID: 'x' }, /GOOGLE_CLIENT_SECRET/],
  ])('settings that would lock people out end the start: %o', (env, problem) => {
    expect(() => loadConfig(env)).toThrow(problem);
  });
});
