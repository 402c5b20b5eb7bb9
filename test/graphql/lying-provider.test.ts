/**
 * Signing in with a provider that lies, in every claim and for every state of the address here. The rule is written down
 * once more below, and each cell of the matrix is compared with it.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../server/runtime/config.ts';
import { client, type LyingProvider, startLyingProvider } from './support/lying-provider.ts';
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

let provider: LyingProvider;
let other: LyingProvider;
let plane: ControlPlane;

const settingsOf = ({ issuer }: LyingProvider) => ({
  google: null,
  github: null,
  oidc: { ...client, issuer, name: 'Work' },
});

beforeAll(async () => {
  provider = await startLyingProvider();
  other = await startLyingProvider();
  plane = await createControlPlane({ signIn: { providers: settingsOf(provider) } });
});
afterAll(async () => {
  await plane.close();
  await provider.close();
  await other.close();
});
let number = 0;
beforeEach(() => {
  number += 1;
  provider.honest();
});

// Attempts of one network are limited.
let network = 0;
const visit = (browser: Browser, address: string, at = plane) => {
  network += 1;
  return visitFrom(`10.${(network >> 8) % 256}.${network % 256}.1`, at, browser, address);
};

async function enter(browser: Browser, { next = '/keys', at = plane, from = provider } = {}): Promise<string> {
  const there = await visit(browser, `/sign-in/with/oidc?next=${encodeURIComponent(next)}`, at);
  return there.startsWith(from.issuer) ? visit(browser, from.consent(there), at) : there;
}
const emailOf = async (browser: Browser): Promise<string | null> => {
  const { data } = await browser.send('{ me { user { email } } }');
  return (data as { me: { user: { email: string } } | null }).me?.user.email ?? null;
};
const identitiesOf = async (browser: Browser) => {
  const { data } = await browser.send('{ me { identities { id name provider } } }');
  return (data as { me: { identities: { id: string; name: string; provider: string }[] } }).me.identities;
};
const freshAddress = () => `person-${number}-${network}@example.com`;

describe('a claim', () => {
  /** How `email_verified` and its like are said; only `true` under its own name counts. */
  const confirmations: [string, Record<string, unknown>, boolean][] = [
    ['true', { email_verified: true }, true],
    ['false', { email_verified: false }, false],
    ['"true"', { email_verified: 'true' }, false],
    ['"false"', { email_verified: 'false' }, false],
    ['"no"', { email_verified: 'no' }, false],
    ['1', { email_verified: 1 }, false],
    ['null', { email_verified: null }, false],
    ['nothing', {}, false],
    ['[true]', { email_verified: [true] }, false],
    ['{}', { email_verified: {} }, false],
    ['false beside emailVerified: true', { email_verified: false, emailVerified: true }, false],
    ['emailVerified: true alone', { emailVerified: true }, false],
    ['verified: true alone', { verified: true }, false],
  ];
  /** Where the address and its confirmation are said: both are taken from one place. */
  const places: [string, (email: string, said: object) => { idToken: object; userinfo: object }, boolean][] = [
    ['the ID token', (email, said) => ({ idToken: { email, ...said }, userinfo: {} }), true],
    ['userinfo', (email, said) => ({ idToken: {}, userinfo: { email, ...said } }), true],
    ['userinfo, the address in the ID token', (email, said) => ({ idToken: { email }, userinfo: said }), false],
    ['the ID token, the address in userinfo', (email, said) => ({ idToken: said, userinfo: { email } }), false],
    [
      'userinfo, beside an ID token that denies it',
      (email, said) => ({ idToken: { email, email_verified: false }, userinfo: { email, ...said } }),
      false,
    ],
  ];
  const states = ['nobody', 'unconfirmed', 'person', 'operator', 'linked'] as const;

  /** The rule: who is in afterwards, and what exists. */
  const expected = (state: (typeof states)[number], isConfirmed: boolean) => {
    if (state === 'linked') return 'in';
    if (!isConfirmed) return 'refused';
    return state === 'nobody' || state === 'unconfirmed' ? 'in' : 'asked for proof';
  };

  describe.each(states)('about an address here that has: %s,', (state) => {
    it.each(places)('said in %s', async (_place, tell, isOnePlace) => {
      for (const [said, claims, isTrue] of confirmations) {
        number += 1;
        provider.honest();
        const email = freshAddress();
        const sub = `subject ${email}`;
        await prepare(state, email, sub);
        const { idToken, userinfo } = tell(email, claims);
        Object.assign(provider.lies, { idToken: { sub, ...idToken }, userinfo: { sub, ...userinfo } });
        const browser = plane.browser();
        const end = await enter(browser);
        const outcome = {
          [`${publicUrl}/keys`]: 'in',
          [`${publicUrl}/sign-in?error=unconfirmed`]: 'refused',
          [`${publicUrl}/sign-in?link=oidc&next=%2Fkeys`]: 'asked for proof',
        }[end];
        const wanted = expected(state, isTrue && isOnePlace);
        expect([said, outcome ?? end]).toEqual([said, wanted]);
        expect([said, await emailOf(browser)]).toEqual([said, wanted === 'in' ? email : null]);
        expect([said, await linksOf(email)]).toEqual([said, wanted === 'in' ? 1 : 0]);
      }
    });
  });

  async function prepare(state: (typeof states)[number], email: string, sub: string): Promise<void> {
    const { pool } = plane.database;
    if (state === 'nobody') return;
    const { rows } = await pool.query(
      `INSERT INTO app_user (email, name, email_verified, operator) VALUES ($1, 'Owner', $2, $3) RETURNING id`,
      [email, state !== 'unconfirmed', state === 'operator'],
    );
    if (state === 'linked') {
      await pool.query(`INSERT INTO user_identity (user_id, provider, issuer, subject) VALUES ($1, 'oidc', $2, $3)`, [
        rows[0].id,
        provider.issuer,
        sub,
      ]);
    }
  }
  const linksOf = async (email: string): Promise<number> => {
    const { rows } = await plane.database.pool.query(
      'SELECT count(*)::int AS n FROM user_identity i JOIN app_user u ON u.id = i.user_id WHERE u.email = $1',
      [email],
    );
    return rows[0].n;
  };
});

describe('an answer that does not hold is refused:', () => {
  const confirmed = () => ({ sub: `subject-${number}`, email: freshAddress(), email_verified: true });
  const past = Math.floor(Date.now() / 1_000) - 600;
  it.each<[string, () => void]>([
    ['no ID token', () => void (provider.lies.withIdToken = false)],
    ['the ID token of another issuer', () => void (provider.lies.idToken['iss'] = 'https://elsewhere.example')],
    ['for another client', () => void (provider.lies.idToken['aud'] = 'another')],
    ['for another party, among several', () => Object.assign(provider.lies.idToken, { aud: ['steyg', 'b'], azp: 'b' })],
    ['for several, without a party', () => void (provider.lies.idToken['aud'] = ['steyg', 'b'])],
    ['for another party', () => void (provider.lies.idToken['azp'] = 'another')],
    ['expired', () => void (provider.lies.idToken['exp'] = past)],
    ['without an expiry', () => void (provider.lies.idToken['exp'] = undefined)],
    ['with the nonce of another flow', () => void (provider.lies.idToken['nonce'] = 'another')],
    ['without a nonce', () => void (provider.lies.idToken['nonce'] = undefined)],
    ['signed with a foreign key', () => void (provider.lies.signature = 'foreign')],
    ['not signed', () => void (provider.lies.signature = 'none')],
    ['of another issuer by its address', () => void (provider.lies.answer = { iss: 'https://elsewhere.example' })],
    ['of another state', () => void (provider.lies.answer = { state: 'another' })],
    ...(['', 0, 1, null, undefined, true, {}, { a: 1 }, [], ['a'], 'x'.repeat(256), 'a\0b', '\ud800'] as const).map(
      (sub): [string, () => void] => [
        `the subject ${JSON.stringify(sub)}`,
        () => void (provider.lies.idToken['sub'] = sub),
      ],
    ),
    [
      'userinfo of another subject',
      () => {
        Object.assign(provider.lies.idToken, { email: undefined });
        provider.lies.userinfo = { ...confirmed(), sub: 'another' };
      },
    ],
    [
      'userinfo without a subject',
      () => {
        Object.assign(provider.lies.idToken, { email: undefined });
        provider.lies.userinfo = { ...confirmed(), sub: undefined };
      },
    ],
  ])('%s', async (_, lie) => {
    const { rows: before } = await plane.database.pool.query('SELECT count(*)::int AS n FROM app_user');
    provider.lies.idToken = confirmed();
    lie();
    const browser = plane.browser();
    expect(await enter(browser)).toBe(`${publicUrl}/sign-in?error=provider`);
    expect(await emailOf(browser)).toBeNull();
    expect((await plane.database.pool.query('SELECT count(*)::int AS n FROM app_user')).rows).toEqual(before);
  });

  it('a subject of 255 characters is one', async () => {
    provider.lies.idToken = { ...confirmed(), sub: 'x'.repeat(255) };
    expect(await enter(plane.browser())).toBe(`${publicUrl}/keys`);
  });

  it('no text of the provider reaches the page', async () => {
    for (const answer of [
      { error: 'access_denied', error_description: 'Call +1 555 0100 to unlock' },
      { error: '<script>alert(1)</script>', error_description: 'x' },
    ]) {
      provider.lies.answer = answer;
      expect(await enter(plane.browser())).toBe(`${publicUrl}/sign-in?error=declined`);
    }
    provider.honest();
    provider.lies.idToken = { ...confirmed(), name: `Click https://evil.example now\n${'x'.repeat(500)}` };
    const browser = plane.browser();
    await enter(browser);
    const { data } = await browser.send('{ me { user { name email } } }');
    const { name, email } = (data as { me: { user: { name: string; email: string } } }).me.user;
    expect(name).toBe(email.split('@')[0]);
  });
});

describe('an account elsewhere with the address of a person here', () => {
  let email: string;
  let owner: Browser;
  const claims = () => ({ sub: `attacker-${number}`, email, email_verified: true });
  beforeEach(async () => {
    email = freshAddress();
    owner = await createPerson(plane, email, `172.16.${number % 256}.1`);
    provider.lies.idToken = claims();
  });
  const waits = `${publicUrl}/sign-in?link=oidc&next=%2Fkeys`;
  const ask = (browser: Browser) =>
    browser.send('mutation { requestIdentityLink { __typename ... on Error { code } } }');
  const link = async (browser: Browser, token: string) =>
    (
      await browser.send(
        'mutation ($token: String!) { linkIdentity(token: $token) { __typename ... on Error { code } } }',
        { variables: { token } },
      )
    ).data?.['linkIdentity'];

  it('is linked by the password, told by mail, listed, and removable', async () => {
    const browser = plane.browser(`172.17.${number % 256}.1`);
    expect(await enter(browser)).toBe(waits);
    expect(await emailOf(browser)).toBeNull();
    expect(await identitiesOf(owner)).toEqual([]);
    await signIn(browser, email);
    const host = new URL(provider.issuer).host;
    const [linked] = await identitiesOf(browser);
    expect(linked).toMatchObject({ name: host, provider: 'oidc' });
    const subjects = async () => (await plane.mailsTo(email)).map(({ subject }) => subject);
    expect(await subjects()).toContain(`An account of ${host} was linked`);
    const again = plane.browser();
    expect(await enter(again)).toBe(`${publicUrl}/keys`);
    expect(await emailOf(again)).toBe(email);
    const remove = async (secret: string) =>
      (
        await browser.send(
          'mutation ($id: ID!, $password: String!) { removeIdentity(input: { id: $id, password: $password }) { __typename ... on Error { code } } }',
          { variables: { id: linked?.id, password: secret } },
        )
      ).data?.['removeIdentity'];
    expect(await remove('wrong password')).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(await remove(password)).toMatchObject({ __typename: 'Done' });
    // The session that it opened has ended, and it opens none.
    expect(await emailOf(again)).toBeNull();
    expect(await emailOf(browser)).toBe(email);
    expect(await enter(plane.browser())).toBe(waits);
    expect(await subjects()).toContain(`An account of ${host} was removed`);
  });

  it('is not linked by a session that is there already, nor by another person who signs in', async () => {
    expect(await enter(owner)).toBe(waits);
    expect(await identitiesOf(owner)).toEqual([]);
    const browser = plane.browser(`172.18.${number % 256}.1`);
    await enter(browser);
    const stranger = `stranger-${email}`;
    await createPerson(plane, stranger, `172.19.${number % 256}.1`);
    await signIn(browser, stranger);
    expect(await identitiesOf(browser)).toEqual([]);
    await signIn(browser, email);
    expect(await identitiesOf(browser)).toEqual([]);
  });

  it('is linked by a mail, once, and only in the browser that asked for it', async () => {
    const browser = plane.browser(`172.20.${number % 256}.1`);
    await enter(browser);
    expect((await ask(browser)).data).toMatchObject({ requestIdentityLink: { __typename: 'Done' } });
    const token = await tokenFor(plane, email, '/link-identity');
    // The owner clicks on the link of an attacker.
    for (const elsewhere of [owner, plane.browser()])
      expect(await link(elsewhere, token)).toMatchObject({ code: 'INVALID_TOKEN' });
    expect(await identitiesOf(owner)).toEqual([]);
    const stolen = new Map(browser.cookies);
    expect(await link(browser, token)).toMatchObject({ __typename: 'SignedIn' });
    expect(await emailOf(browser)).toBe(email);
    expect(await identitiesOf(browser)).toHaveLength(1);
    const replay = plane.browser();
    for (const [name, value] of stolen) replay.cookies.set(name, value);
    expect(await link(replay, token)).toMatchObject({ code: 'INVALID_TOKEN' });
  });

  it('sends no mail where nothing waits, and takes no forged link', async () => {
    const browser = plane.browser();
    const count = (await plane.mailsTo(email)).length;
    expect((await ask(browser)).data).toMatchObject({ requestIdentityLink: { __typename: 'Done' } });
    expect(await plane.mailsTo(email)).toHaveLength(count);
    await enter(browser);
    for (const token of ['', 'x', 'a'.repeat(9_000), browser.cookies.get('steyg-link') ?? ''])
      expect(await link(browser, token)).toMatchObject({ code: 'INVALID_TOKEN' });
  });

  it('does not outlive a new password', async () => {
    const browser = plane.browser(`172.21.${number % 256}.1`);
    await enter(browser);
    await signIn(browser, email);
    expect(await enter(plane.browser())).toBe(`${publicUrl}/keys`);
    // What the version before left must not either.
    await plane.database.pool.query(
      `INSERT INTO user_credential (provider_id, provider_account_id, user_id)
       SELECT 'oidc', $2, id FROM app_user WHERE email = $1`,
      [email, `attacker-${number}`],
    );
    await owner.send('mutation ($email: String!) { requestPasswordReset(email: $email) { __typename } }', {
      variables: { email },
    });
    const token = await tokenFor(plane, email, '/reset-password');
    await plane.send(
      'mutation ($token: String!, $new: String!) { resetPassword(input: { token: $token, newPassword: $new }) { __typename } }',
      { variables: { token, new: 'another horse battery' } },
    );
    for (const address of [email, `elsewhere-${email}`]) {
      provider.lies.idToken = { ...claims(), email: address };
      const thief = plane.browser();
      await enter(thief);
      expect(await emailOf(thief)).not.toBe(email);
    }
    const { rows } = await plane.database.pool.query(
      `SELECT FROM user_credential c JOIN app_user u ON u.id = c.user_id WHERE u.email = $1 AND c.provider_id = 'oidc'`,
      [email],
    );
    expect(rows).toEqual([]);
    expect((await plane.mailsTo(email)).map(({ subject }) => subject)).toContain(
      'Your passkeys and linked accounts were removed',
    );
  });
});

describe('an issuer', () => {
  it('vouches for its own people alone: the same subject of another issuer is somebody else', async () => {
    const at = await createControlPlane({ signIn: { providers: settingsOf(provider) } });
    const { pool } = at.database;
    provider.lies.idToken = { sub: 'same', email: 'first@example.com', email_verified: true };
    const browser = at.browser();
    expect(await enter(browser, { at })).toBe(`${publicUrl}/keys`);
    // The operator changes the issuer; and the version before had a row without any.
    await pool.query(
      `INSERT INTO user_credential (provider_id, provider_account_id, user_id) SELECT 'oidc', 'same', id FROM app_user`,
    );
    await pool.query('UPDATE user_identity SET issuer = $1', ['https://before.example']);
    other.honest();
    provider.lies.idToken = { sub: 'same', email: 'stranger@example.com', email_verified: true };
    const stranger = at.browser();
    await enter(stranger, { at });
    expect(await emailOf(stranger)).toBe('stranger@example.com');
    await at.close();
  });

  it('that describes itself as another is refused', async () => {
    const at = await createControlPlane({ signIn: { providers: settingsOf(other) } });
    other.honest();
    other.lies.description = { issuer: 'https://elsewhere.example' };
    expect(await enter(at.browser(), { at, from: other })).toBe(`${publicUrl}/sign-in?error=provider`);
    other.lies.description = { authorization_endpoint: 'javascript:alert(1)' };
    expect(await enter(at.browser(), { at, from: other })).toBe(`${publicUrl}/sign-in?error=provider`);
    await at.close();
  });

  it('without TLS ends the start in production', () => {
    const env = {
      NODE_ENV: 'production',
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      OIDC_ISSUER: 'http://id.example.com',
      OIDC_CLIENT_ID: 'a',
      OIDC_CLIENT_SECRET: 'b',
    };
    expect(() => loadConfig(env)).toThrow(/OIDC_ISSUER: must be an https/);
  });
});

describe('a provider that is silent', () => {
  it.each(['/.well-known/openid-configuration', '/token', '/keys', '/userinfo'])(
    'at %s ends within its deadline, with a page that says so, and stops no other provider',
    async (path) => {
      const at = await createControlPlane({
        signIn: { providers: { ...settingsOf(other), github: { clientId: 'a', clientSecret: 'b' } } },
      });
      other.honest();
      other.lies.idToken = { sub: 'x' };
      other.lies.silent.add(path);
      const begunMs = performance.now();
      const waiting = enter(at.browser(), { at, from: other });
      const beside = performance.now();
      expect(await visit(at.browser(), '/sign-in/with/github', at)).toContain(
        'https://github.com/login/oauth/authorize',
      );
      expect(performance.now() - beside).toBeLessThan(2_000);
      expect(await waiting).toBe(`${publicUrl}/sign-in?error=unreachable`);
      expect(performance.now() - begunMs).toBeLessThan(8_000);
      expect(other.asked).toContain(path);
      await at.close();
    },
    30_000,
  );
});
