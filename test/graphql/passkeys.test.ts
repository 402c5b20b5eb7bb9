/** Passkeys over GraphQL, with a software authenticator: what signs in, what does not, and who may add and remove them. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authenticator, createAuthenticator } from './support/authenticator.ts';
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

let plane: ControlPlane;
beforeAll(async () => {
  plane = await createControlPlane();
});
afterAll(() => plane.close());

let number = 0;
let email: string;
let device: Authenticator;
beforeEach(() => {
  number += 1;
  email = `passkey${number}@example.com`;
  device = createAuthenticator(publicUrl);
});

interface Result {
  __typename?: string;
  code?: string;
  json?: string;
  id?: string;
  name?: string;
}
const mutate = async (browser: Browser, text: string, variables: Record<string, unknown> = {}, ip?: string) => {
  const { data } = await browser.send(text, { variables, ...(ip === undefined ? {} : { ip }) });
  return Object.values(data ?? {})[0] as Result;
};
const begin = (browser: Browser, secret = password, code = '') =>
  mutate(
    browser,
    `mutation ($secret: String!, $code: String) { beginPasskey(input: { password: $secret, code: $code }) {
       __typename ... on PasskeyOptions { json } ... on Error { code } } }`,
    { secret, code },
  );
const add = (browser: Browser, credential: string, name = 'Phone') =>
  mutate(
    browser,
    `mutation ($name: String!, $credential: String!) { addPasskey(input: { name: $name, credential: $credential }) {
       __typename ... on Passkey { id name } ... on Error { code } } }`,
    { name, credential },
  );
const remove = (browser: Browser, id = '', secret = password) =>
  mutate(
    browser,
    `mutation ($id: ID!, $secret: String!) { removePasskey(input: { id: $id, password: $secret }) {
       __typename ... on Done { id } ... on Error { code } } }`,
    { id, secret },
  );
const beginSignIn = (browser: Browser) =>
  mutate(
    browser,
    `mutation { beginPasskeySignIn { __typename ... on PasskeyOptions { json } ... on Error { code } } }`,
  );
const enter = (browser: Browser, credential: string) =>
  mutate(
    browser,
    `mutation ($credential: String!) { signInWithPasskey(credential: $credential) {
       __typename ... on SignedIn { secondFactorRequired } ... on Error { code } } }`,
    { credential },
  );

async function addTo(browser: Browser, authenticator = device): Promise<string> {
  const { json = '' } = await begin(browser);
  const { id } = await add(browser, authenticator.make(json));
  return id ?? '';
}
async function signInWith(authenticator: Authenticator, browser = plane.browser()) {
  const { json = '' } = await beginSignIn(browser);
  return enter(browser, authenticator.use(json));
}
const whoAmI = async (browser: Browser) =>
  ((await browser.send('{ me { user { email } } }')).data?.['me'] as { user: { email: string } } | null)?.user.email;
const listOf = async (browser: Browser) =>
  (
    (await browser.send('{ me { passkeys { id name lastUsedAt } } }')).data?.['me'] as {
      passkeys: { id: string; name: string; lastUsedAt: string | null }[];
    } | null
  )?.passkeys;

async function switchCodesOn(browser: Browser): Promise<string> {
  const begun = await browser.send(
    `mutation ($secret: String!) { beginSecondFactor(password: $secret) { ... on SecondFactorSetup { uri } } }`,
    { variables: { secret: password } },
  );
  const { uri } = (begun.data as Record<string, { uri: string }>)['beginSecondFactor'] ?? { uri: '' };
  await browser.send(`mutation ($code: String!) { confirmSecondFactor(code: $code) { __typename } }`, {
    variables: { code: codeOf(uri) },
  });
  return uri;
}

describe('a passkey', () => {
  it('signs its owner in, without address, password and code, and says when it was last used', async () => {
    const owner = await createPerson(plane, email);
    await addTo(owner);
    await switchCodesOn(owner);
    const browser = plane.browser();
    for (let times = 0; times < 2; times += 1) {
      expect(await signInWith(device, browser)).toEqual({ __typename: 'SignedIn', secondFactorRequired: false });
      expect(await whoAmI(browser)).toBe(email);
    }
    expect(await listOf(browser)).toEqual([
      { id: expect.any(String), name: 'Phone', lastUsedAt: expect.stringMatching(/^20/) },
    ]);
    const sessions = await browser.send('{ me { sessions { current passkey } } }');
    expect(sessions.data).toEqual({
      me: {
        sessions: expect.arrayContaining([
          { current: true, passkey: true },
          { current: false, passkey: false },
        ]),
      },
    });
  });

  it('signs its owner in at most ten times a minute, whatever the network, and leaves no session beyond', async () => {
    await addTo(await createPerson(plane, email));
    const { rows: before } = await plane.database.pool.query(
      `INSERT INTO throttle (subject, count, since, until)
       SELECT sha256(convert_to('passkey-sign-in:' || id, 'UTF8')), 9, now(), now() + interval '1 day' FROM app_user WHERE email = $1
       RETURNING 1`,
      [email],
    );
    expect(before).toHaveLength(1);
    expect(await signInWith(device, plane.browser('198.51.100.1'))).toMatchObject({ __typename: 'SignedIn' });
    const late = plane.browser('198.51.100.2');
    expect(await signInWith(device, late)).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    expect(await whoAmI(late)).toBeUndefined();
    const { rows } = await plane.database.pool.query(
      'SELECT count(*)::int AS sessions FROM user_session WHERE user_id = (SELECT id FROM app_user WHERE email = $1)',
      [email],
    );
    expect(rows).toEqual([{ sessions: 2 }]);
  });

  it('opens the operators’ changes, as a one-time code does', async () => {
    const owner = await createPerson(plane, email);
    await addTo(owner);
    await plane.database.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [email]);
    const change = (browser: Browser) =>
      browser.send(`mutation { savePlan(input: { planId: "p${number}", name: "P", priceVnd: "1000", budget: "1" }) {
        __typename ... on Error { code } } }`);
    const refused = await change(owner);
    expect(JSON.stringify([refused.data, refused.errors])).toContain('SECOND_FACTOR_REQUIRED');
    const browser = plane.browser();
    await signInWith(device, browser);
    const allowed = await change(browser);
    expect(allowed.data).toEqual({ savePlan: { __typename: 'Plan' } });
  });

  it.each([
    ['whose device did not verify its user', (json: string) => device.use(json, { userVerified: false })],
    ['used by another page', (json: string) => device.use(json, { origin: 'http://steyg.test.example' })],
    ['of a device that was never added', (json: string) => createAuthenticator(publicUrl).use(json)],
    ['for a challenge of its own', (json: string) => device.use(json.replace(/"challenge":"."?/, '$&AA'))],
    ['that is no answer at all', () => '{"id":["x"]}'],
    ['that is no JSON', () => 'x'.repeat(20_000)],
  ])('%s does not sign in', async (_, use) => {
    await addTo(await createPerson(plane, email));
    const browser = plane.browser();
    const { json = '' } = await beginSignIn(browser);
    expect(await enter(browser, use(json))).toMatchObject({ code: 'INVALID_PASSKEY' });
    expect(await whoAmI(browser)).toBeUndefined();
  });

  it('does not sign in twice with one answer, nor in another browser', async () => {
    await addTo(await createPerson(plane, email));
    const browser = plane.browser();
    const { json = '' } = await beginSignIn(browser);
    const answer = device.use(json);
    const thief = plane.browser();
    expect(await enter(thief, answer)).toMatchObject({ code: 'INVALID_PASSKEY' });
    await beginSignIn(thief);
    expect(await enter(thief, answer)).toMatchObject({ code: 'INVALID_PASSKEY' });
    expect(await enter(browser, answer)).toMatchObject({ __typename: 'SignedIn' });
    expect(await enter(browser, answer)).toMatchObject({ code: 'INVALID_PASSKEY' });
  });

  it('neither signs in nor is added from a frame of another site', async () => {
    // Sign-ups of one network are limited.
    const owner = await createPerson(plane, email, '203.0.113.77');
    const framed = [{ crossOrigin: true }, { crossOrigin: 'false' }, { topOrigin: 'https://evil.example' }];
    for (const clientData of framed) {
      const { json = '' } = await begin(owner);
      expect(await add(owner, device.make(json, { clientData }))).toMatchObject({ code: 'INVALID_TOKEN' });
    }
    await addTo(owner);
    const browser = plane.browser('203.0.113.77');
    for (const clientData of framed) {
      const { json = '' } = await beginSignIn(browser);
      expect(await enter(browser, device.use(json, { clientData }))).toMatchObject({ code: 'INVALID_PASSKEY' });
    }
    const { json = '' } = await beginSignIn(browser);
    expect(await enter(browser, device.use(json))).toMatchObject({ __typename: 'SignedIn' });
  });

  it('is not added without user verification, for another page, or twice', async () => {
    const owner = await createPerson(plane, email);
    for (const ceremony of [{ userVerified: false }, { origin: 'https://steyg.test' }]) {
      const { json = '' } = await begin(owner);
      expect(await add(owner, device.make(json, ceremony))).toMatchObject({ code: 'INVALID_TOKEN' });
    }
    const { json = '' } = await begin(owner);
    const made = device.make(json);
    expect(await add(owner, made)).toMatchObject({ __typename: 'Passkey', name: 'Phone' });
    expect(await add(owner, made)).toMatchObject({ code: 'INVALID_TOKEN' });
    const again = await begin(owner);
    expect(JSON.parse(again.json ?? '{}')).toMatchObject({ excludeCredentials: [{ type: 'public-key' }] });
    expect(await listOf(owner)).toHaveLength(1);
    const mails = (await plane.mailsTo(email)).map(({ subject }) => subject);
    expect(mails.filter((subject) => subject === 'A passkey was added')).toHaveLength(1);
  });
});

describe('the cookies of two ways of signing in', () => {
  it('are refused in each other’s place, as wrong answers are', async () => {
    const owner = await createPerson(plane, email);
    await addTo(owner);
    await switchCodesOn(owner);
    const withCode = plane.browser();
    await signIn(withCode, email);
    const codeCookie = withCode.cookies.get('steyg-2fa') ?? '';
    const withPasskey = plane.browser();
    const { json = '' } = await beginSignIn(withPasskey);
    const passkeyCookie = withPasskey.cookies.get('steyg-passkey') ?? '';
    expect([codeCookie, passkeyCookie]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    withCode.cookies.set('steyg-2fa', passkeyCookie);
    withPasskey.cookies.set('steyg-passkey', codeCookie);
    for (const backup of [false, true])
      expect(
        await mutate(
          withCode,
          `mutation ($backup: Boolean!) { signInWithCode(input: { code: "123456", backup: $backup }) { ... on Error { code } } }`,
          { backup },
        ),
      ).toEqual({ code: 'INVALID_TOKEN' });
    expect(await enter(withPasskey, device.use(json))).toMatchObject({ code: 'INVALID_PASSKEY' });
    const another = createAuthenticator(publicUrl);
    const begun = await begin(owner, password, '');
    expect(begun).toMatchObject({ code: 'INVALID_CODE' });
    owner.cookies.set('steyg-passkey', codeCookie);
    const options = JSON.stringify({ ...JSON.parse(json), rp: { id: 'steyg.test' }, user: { id: 'AA' } });
    expect(await add(owner, another.make(options))).toMatchObject({ code: 'INVALID_TOKEN' });
    // Neither cookie was used up by it.
    withPasskey.cookies.set('steyg-passkey', passkeyCookie);
    expect(await enter(withPasskey, device.use(json))).toMatchObject({ __typename: 'SignedIn' });
  });
});

describe('a stolen session', () => {
  it('cannot add a passkey: that takes the password, and the code where codes are on', async () => {
    const owner = await createPerson(plane, email);
    expect(await begin(owner, 'wrong')).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(await begin(owner, '')).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    const uri = await switchCodesOn(owner);
    expect(await begin(owner, password)).toMatchObject({ code: 'INVALID_CODE' });
    expect(await begin(owner, password, '000000')).toMatchObject({ code: 'INVALID_CODE' });
    expect(await begin(owner, password, codeOf(uri, 1))).toMatchObject({ __typename: 'PasskeyOptions' });
  });

  it('cannot add one with the challenge of a sign-in, or another person’s', async () => {
    const owner = await createPerson(plane, email);
    const forSignIn = await beginSignIn(owner);
    const options = JSON.stringify({ ...JSON.parse(forSignIn.json ?? '{}'), rp: { id: 'steyg.test' } });
    expect(await add(owner, device.make(options))).toMatchObject({ code: 'INVALID_TOKEN' });
    const thief = await createPerson(plane, `thief${number}@example.com`);
    const { json = '' } = await begin(thief);
    // The thief plants the challenge's cookie in the owner's browser.
    owner.cookies.set('steyg-passkey', thief.cookies.get('steyg-passkey') ?? '');
    expect(await add(owner, device.make(json))).toMatchObject({ code: 'INVALID_TOKEN' });
    expect(await listOf(owner)).toEqual([]);
  });

  it('neither sees, renames nor removes passkeys of others, and removes none without the password', async () => {
    const owner = await createPerson(plane, email);
    const id = await addTo(owner);
    const thief = await createPerson(plane, `thief${number}@example.com`);
    const rename = `mutation ($id: ID!) { renamePasskey(input: { id: $id, name: "Mine" }) { __typename ... on Error { code } } }`;
    expect(await mutate(thief, rename, { id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await remove(thief, id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await listOf(thief)).toEqual([]);
    expect(await remove(owner, id, 'wrong')).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(await mutate(owner, rename, { id })).toMatchObject({ __typename: 'Passkey' });
    expect(await listOf(owner)).toMatchObject([{ id, name: 'Mine' }]);
  });
});

describe('a removed passkey', () => {
  it('signs in no more, and the sessions that it opened end, but the one that removes it', async () => {
    const owner = await createPerson(plane, email);
    const id = await addTo(owner);
    const [one, another] = [plane.browser(), plane.browser()];
    await signInWith(device, one);
    await signInWith(device, another);
    expect(await remove(one, id)).toEqual({ __typename: 'Done', id });
    expect(await whoAmI(one)).toBe(email);
    expect(await whoAmI(another)).toBeUndefined();
    expect(await whoAmI(owner)).toBe(email);
    expect(await signInWith(device)).toMatchObject({ code: 'INVALID_PASSKEY' });
    expect((await one.send('{ me { sessions { current passkey } } }')).data).toMatchObject({
      me: { sessions: expect.not.arrayContaining([expect.objectContaining({ passkey: true })]) },
    });
  });

  it('is forgotten with its person', async () => {
    const owner = await createPerson(plane, email);
    await addTo(owner);
    const { data } = await owner.send('{ me { accounts { id email } } }');
    const [account] = (data as { me: { accounts: { id: string; email: string }[] } }).me.accounts;
    const erase = `mutation ($id: ID!, $email: String!, $secret: String!) {
      eraseAccount(input: { accountId: $id, email: $email, password: $secret }) { __typename ... on Error { code } } }`;
    expect(await mutate(owner, erase, { ...account, secret: password })).toMatchObject({ __typename: 'AccountErased' });
    const { rows } = await plane.database.pool.query(
      'SELECT FROM user_passkey p WHERE NOT EXISTS (SELECT FROM app_user u WHERE u.id = p.user_id) OR p.user_id IN (SELECT id FROM app_user WHERE email = $1)',
      [email],
    );
    expect(rows).toEqual([]);
    expect(await signInWith(device)).toMatchObject({ code: 'INVALID_PASSKEY' });
  });
});

describe('a password chosen with the link of a mail', () => {
  it('removes every passkey, one that a thief planted among them, and says so', async () => {
    const owner = await createPerson(plane, email);
    await addTo(owner);
    const thiefs = createAuthenticator(publicUrl);
    await addTo(owner, thiefs);
    const inside = plane.browser();
    await signInWith(thiefs, inside);
    await plane.send(`mutation { requestPasswordReset(email: "${email}") { __typename } }`);
    const token = await tokenFor(plane, email, '/reset-password');
    const reset =
      'mutation ($token: String!) { resetPassword(input: { token: $token, newPassword: "brand new secret" }) { __typename } }';
    expect((await plane.send(reset, { variables: { token } })).data).toEqual({ resetPassword: { __typename: 'Done' } });
    for (const authenticator of [thiefs, device])
      expect(await signInWith(authenticator)).toMatchObject({ code: 'INVALID_PASSKEY' });
    expect(await whoAmI(inside)).toBeUndefined();
    await signIn(owner, email, 'brand new secret');
    expect(await listOf(owner)).toEqual([]);
    const subjects = async () => (await plane.mailsTo(email)).map(({ subject }) => subject);
    await expect.poll(subjects).toContain('Your passkeys and linked accounts were removed');
  });

  it('says nothing of passkeys to people who have none', async () => {
    // A network signs up a limited number of people in a while.
    const person = await createPerson(plane, email, '198.51.100.20');
    await person.send(`mutation { requestPasswordReset(email: "${email}") { __typename } }`);
    const token = await tokenFor(plane, email, '/reset-password');
    await person.send(
      `mutation { resetPassword(input: { token: "${token}", newPassword: "brand new secret" }) { __typename } }`,
    );
    const subjects = (await plane.mailsTo(email)).map(({ subject }) => subject);
    expect(subjects).toContain('Reset your password');
    expect(subjects).not.toContain('Your passkeys and linked accounts were removed');
  });
});

describe.each([
  ['at a numeric address, for which browsers make none', { publicUrl: 'http://127.0.0.1:8080' }],
  ['where people sign in with providers alone', { signIn: { passwordSignIn: false } }],
])('passkeys %s', (_, options) => {
  it('are off, and not offered', async () => {
    const off = await createControlPlane(options);
    try {
      expect((await off.send('{ signInMethods { passkeys } }')).data).toEqual({ signInMethods: { passkeys: false } });
      expect(await beginSignIn(off.browser())).toMatchObject({ code: 'NOT_ALLOWED' });
      expect(await enter(off.browser(), '{}')).toMatchObject({ code: 'NOT_ALLOWED' });
    } finally {
      await off.close();
    }
  });
});
