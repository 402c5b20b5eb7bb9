import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { codeOf } from './support/codes.ts';
import {
  type Browser,
  type ControlPlane,
  createControlPlane,
  createPerson,
  password,
  signIn,
  tokenFor,
} from './support/server.ts';

/** Signing up, in and out, and the attacks on it. */

let plane: ControlPlane;
beforeAll(async () => {
  plane = await createControlPlane();
});
afterAll(() => plane.close());

const signUp = `mutation ($input: SignUpInput!) {
  signUp(input: $input) { __typename ... on Error { code message } ... on InputError { problems { path message } } }
}`;
const verify = `mutation ($token: String!) { verifyEmail(token: $token) { __typename ... on Error { code } } }`;
const count = async (table: string): Promise<number> =>
  (await plane.database.pool.query(`SELECT FROM ${table}`)).rowCount ?? 0;

describe('from a sign-up to the account', () => {
  it('opens the account and its trial when the address is confirmed, not before', async () => {
    const browser = plane.browser();
    const input = { email: ' Ada@Example.com ', password, name: 'Ada' };
    const first = await browser.send(signUp, { variables: { input } });
    expect(first.data).toEqual({ signUp: { __typename: 'Done' } });
    expect((await signIn(browser, 'ada@example.com')).data).toMatchObject({ signIn: { code: 'EMAIL_NOT_VERIFIED' } });
    expect(await count('account')).toBe(0);

    const token = await tokenFor(plane, 'ada@example.com');
    expect((await browser.send(verify, { variables: { token } })).data).toEqual({
      verifyEmail: { __typename: 'Done' },
    });
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

  it('opens one account and one trial, however often the link is used at once', async () => {
    const browser = plane.browser('198.51.100.1');
    await browser.send(signUp, { variables: { input: { email: 'many@example.com', password, name: 'Many' } } });
    const token = await tokenFor(plane, 'many@example.com');
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.send(verify, { variables: { token } })));
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => ({ verifyEmail: { __typename: 'Done' } })));
    const { rows } = await plane.database.pool.query(
      `SELECT a.id, count(g.id)::int AS grants FROM account a LEFT JOIN "grant" g ON g.account_id = a.id
       WHERE a.email = 'many@example.com' GROUP BY a.id`,
    );
    expect(rows).toEqual([{ id: expect.any(String), grants: 1 }]);
  });

  it('takes a double click for one sign-up', async () => {
    const input = { email: 'click@example.com', password, name: 'Click' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => plane.send(signUp, { variables: { input }, ip: '198.51.100.2' })),
    );
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => ({ signUp: { __typename: 'Done' } })));
    const { rows } = await plane.database.pool.query(`SELECT id FROM app_user WHERE email = 'click@example.com'`);
    expect(rows).toHaveLength(1);
  });

  it('gives a mailbox one trial, with any text behind the plus', async () => {
    await createPerson(plane, 'farmer@gmail.com', '198.51.100.3');
    await createPerson(plane, 'far.mer+2@googlemail.com', '198.51.100.4');
    const { rows } = await plane.database.pool.query(
      `SELECT a.email, g.kind FROM account a LEFT JOIN "grant" g ON g.account_id = a.id WHERE a.email LIKE '%mer%' ORDER BY 1`,
    );
    expect(rows).toEqual([
      { email: 'far.mer+2@googlemail.com', kind: null },
      { email: 'farmer@gmail.com', kind: 'trial' },
    ]);
  });

  it('confirms only the password that was chosen with the link', async () => {
    const victim = 'victim@example.com';
    const attacker = plane.browser('198.51.100.5');
    await attacker.send(signUp, {
      variables: { input: { email: victim, password: 'chosen by an attacker', name: 'X' } },
    });
    const stolenLink = await tokenFor(plane, victim);
    const owner = plane.browser('198.51.100.6');
    await owner.send(signUp, { variables: { input: { email: victim, password, name: 'Victim' } } });
    const stale = await owner.send(verify, { variables: { token: stolenLink } });
    expect(stale.data).toMatchObject({ verifyEmail: { code: 'INVALID_TOKEN' } });
    await expect.poll(async () => (await plane.mailsTo(victim)).length).toBe(2);
    await owner.send(verify, { variables: { token: await tokenFor(plane, victim) } });
    expect((await signIn(attacker, victim, 'chosen by an attacker')).data).toMatchObject({
      signIn: { code: 'INVALID_CREDENTIALS' },
    });
    expect((await signIn(owner, victim)).data).toMatchObject({ signIn: { __typename: 'SignedIn' } });
  });

  it('refuses what is no address, no name, no password', async () => {
    const cases = [
      { input: { email: 'not an address', password, name: 'N' }, path: ['input', 'email'] },
      { input: { email: 'a\u200Bb@example.com', password, name: 'N' }, path: ['input', 'email'] },
      { input: { email: '\u202Emoc.elpmaxe@a', password, name: 'N' }, path: ['input', 'email'] },
      { input: { email: 'n@example.com', password: 'short', name: 'N' }, path: ['input', 'password'] },
      { input: { email: 'n@example.com', password: 'x'.repeat(1_025), name: 'N' }, path: ['input', 'password'] },
      { input: { email: 'n@example.com', password: '1234567890', name: 'N' }, path: ['input', 'password'] },
      { input: { email: 'n@example.com', password: 'n@example.com', name: 'N' }, path: ['input', 'password'] },
      { input: { email: 'n@example.com', password, name: '' }, path: ['input', 'name'] },
      { input: { email: 'n@example.com', password, name: 'a\u202Eb' }, path: ['input', 'name'] },
    ];
    for (const { input, path } of cases) {
      const answer = await plane.send(signUp, { variables: { input }, ip: '198.51.100.7' });
      expect(answer.data).toMatchObject({ signUp: { __typename: 'InputError', problems: [{ path }] } });
    }
  });

  it('names what is wrong where it stands in the arguments', async () => {
    const person = await createPerson(plane, 'names@example.com', '198.51.100.8');
    const result = '{ ... on InputError { problems { path } } }';
    for (const [place, field] of [
      ['input.email', `signIn(input: { email: "x", password: "y" }) ${result}`],
      ['email', `requestPasswordReset(email: "x") ${result}`],
      ['email', `resendVerification(email: "x") ${result}`],
      ['input.newPassword', `resetPassword(input: { token: "x", newPassword: "y" }) ${result}`],
      ['input.newPassword', `changePassword(input: { currentPassword: "x", newPassword: "y" }) ${result}`],
      ['input.newEmail', `changeEmail(input: { newEmail: "x", password: "y" }) ${result}`],
      ['input.name', `updateProfile(input: { name: "" }) ${result}`],
    ] as const) {
      const answer = await person.send(`mutation { ${field} }`);
      const name = field.slice(0, field.indexOf('('));
      expect(answer.data).toEqual({ [name]: { problems: [{ path: place.split('.') }] } });
    }
    expect((await person.send('{ me { user { language } } }')).data).toEqual({ me: { user: { language: 'EN' } } });
  });
});

describe('whether an address has an account', () => {
  it('is told by no answer', async () => {
    await createPerson(plane, 'known@example.com', '198.51.100.10');
    const ask = async (email: string, ip: string) => [
      (await plane.send(signUp, { variables: { input: { email, password, name: 'Any' } }, ip })).text,
      (await plane.send(`mutation { resendVerification(email: "${email}") { __typename } }`, { ip })).text,
      (await plane.send(`mutation { requestPasswordReset(email: "${email}") { __typename } }`, { ip })).text,
      (await signIn(plane.browser(ip), email, 'not the password')).text,
    ];
    expect(await ask('known@example.com', '198.51.100.11')).toEqual(await ask('unknown@example.com', '198.51.100.12'));
  });

  it('is told to the mailbox', async () => {
    await plane.send(signUp, {
      variables: { input: { email: 'known@example.com', password, name: 'Again' } },
      ip: '198.51.100.13',
    });
    const mails = await plane.mailsTo('known@example.com');
    expect(mails.at(-1)?.subject).toBe('You already have a Steyg account');
  });
});

describe('sessions', () => {
  it('end with signing out, for other holders of the cookie, too', async () => {
    const browser = await createPerson(plane, 'bea@example.com', '198.51.100.20');
    const cookie = cookieOf(browser);
    await browser.send('mutation { signOut { __typename } }');
    expect((await browser.send('{ me { scopes } }')).data).toEqual({ me: null });
    expect((await plane.send('{ me { scopes } }', { headers: { cookie } })).data).toEqual({ me: null });
  });

  it('get a new id with every sign-in, and the old one ends', async () => {
    const browser = await createPerson(plane, 'cleo@example.com', '198.51.100.21');
    const before = cookieOf(browser);
    await signIn(browser, 'cleo@example.com');
    expect(cookieOf(browser)).not.toBe(before);
    expect((await plane.send('{ me { scopes } }', { headers: { cookie: before } })).data).toEqual({ me: null });
  });

  it('are stored as digests only', async () => {
    const browser = await createPerson(plane, 'dora@example.com', '198.51.100.22');
    const token = decodeURIComponent(browser.cookies.get('steyg-sid') ?? '').split('.')[0] ?? '';
    expect(token).toHaveLength(43);
    const { rows } = await plane.database.pool.query('SELECT token FROM user_session');
    expect(rows.map((row) => row.token)).not.toContain(token);
    // What the table holds opens nothing, even with a signature of the server's own making.
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('are listed and revoked by their owner', async () => {
    const first = await createPerson(plane, 'emil@example.com', '198.51.100.23');
    const second = plane.browser('198.51.100.24');
    await signIn(second, 'emil@example.com');
    const list = await first.send('{ me { sessions { id current ipAddress } } }');
    const { sessions } = (list.data as { me: { sessions: { id: string; current: boolean; ipAddress: string }[] } }).me;
    expect(sessions.map(({ ipAddress }) => ipAddress).sort()).toEqual(['198.51.100.23', '198.51.100.24']);
    const other = sessions.find(({ current }) => !current);
    const revoke = `mutation ($id: ID!) { revokeSession(id: $id) { __typename ... on Done { id } ... on Error { code } } }`;
    const ended = await first.send(revoke, { variables: { id: other?.id } });
    expect(ended.data).toEqual({ revokeSession: { __typename: 'Done', id: other?.id } });
    expect((await second.send('{ me { scopes } }')).data).toEqual({ me: null });
    const again = await first.send(revoke, { variables: { id: other?.id } });
    expect(again.data).toEqual({ revokeSession: { __typename: 'NotFoundError', code: 'NOT_FOUND' } });
  });

  it('all end when the password changes, and a new one begins here', async () => {
    const first = await createPerson(plane, 'fay@example.com', '198.51.100.25');
    const second = plane.browser('198.51.100.26');
    await signIn(second, 'fay@example.com');
    const old = cookieOf(first);
    const change = `mutation ($old: String!, $new: String!) {
      changePassword(input: { currentPassword: $old, newPassword: $new }) { __typename ... on Error { code } }
    }`;
    const wrong = await first.send(change, { variables: { old: 'not the password', new: 'another long one' } });
    expect(wrong.data).toMatchObject({ changePassword: { code: 'INVALID_CREDENTIALS' } });
    const changed = await first.send(change, { variables: { old: password, new: 'another long one' } });
    expect(changed.data).toEqual({ changePassword: { __typename: 'Done' } });
    expect((await first.send('{ me { user { email } } }')).data).toEqual({
      me: { user: { email: 'fay@example.com' } },
    });
    expect((await second.send('{ me { scopes } }')).data).toEqual({ me: null });
    expect((await plane.send('{ me { scopes } }', { headers: { cookie: old } })).data).toEqual({ me: null });
    expect((await signIn(second, 'fay@example.com')).data).toMatchObject({ signIn: { code: 'INVALID_CREDENTIALS' } });
    // The mail leads to where the change can be undone.
    expect((await plane.mailsTo('fay@example.com')).at(-1)).toMatchObject({
      subject: 'Your password was changed',
      links: ['http://steyg.test/forgot-password'],
    });
  });

  it('do not outlive thirty days, however much they are used', async () => {
    const browser = await createPerson(plane, 'gus@example.com', '198.51.100.27');
    await plane.database.pool.query(
      `UPDATE user_session SET created_at = now() - interval '31 days'
       WHERE user_id = (SELECT id FROM app_user WHERE email = 'gus@example.com')`,
    );
    expect((await browser.send('{ me { scopes } }')).data).toEqual({ me: null });
  });
});

async function expiryOf(email: string): Promise<Date> {
  const { rows } = await plane.database.pool.query(
    'SELECT s.expires_at FROM user_session s JOIN app_user u ON u.id = s.user_id WHERE u.email = $1',
    [email],
  );
  return rows[0].expires_at;
}

describe('a session in use', () => {
  it('is prolonged now and then, and told to the browser', async () => {
    const browser = await createPerson(plane, 'hedy@example.com', '198.51.100.28');
    const fresh = await browser.send('{ me { scopes } }');
    expect(fresh.setCookies).toEqual([]);
    const before = await expiryOf('hedy@example.com');
    await plane.database.pool.query(`UPDATE user_session SET expires_at = expires_at - interval '20 minutes'`);
    const later = await browser.send('{ me { user { name } } }');
    expect(later.setCookies.some((line) => line.startsWith('steyg-sid='))).toBe(true);
    expect((await expiryOf('hedy@example.com')).getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect((await browser.send('{ me { user { email } } }')).data).toEqual({
      me: { user: { email: 'hedy@example.com' } },
    });
  });
});

describe('a forgotten password', () => {
  it('is replaced with the link of a mail, once', async () => {
    const browser = await createPerson(plane, 'hal@example.com', '198.51.100.30');
    await plane.send('mutation { requestPasswordReset(email: "hal@example.com") { __typename } }');
    await expect.poll(async () => (await plane.mailsTo('hal@example.com')).length).toBe(2);
    const token = await tokenFor(plane, 'hal@example.com');
    const stored = await plane.database.pool.query('SELECT identifier FROM user_verification');
    expect(JSON.stringify(stored.rows)).not.toContain(token);
    const reset = `mutation ($token: String!) {
      resetPassword(input: { token: $token, newPassword: "brand new secret" }) { __typename ... on Error { code } }
    }`;
    expect((await plane.send(reset, { variables: { token } })).data).toEqual({ resetPassword: { __typename: 'Done' } });
    expect((await plane.send(reset, { variables: { token } })).data).toMatchObject({
      resetPassword: { code: 'INVALID_TOKEN' },
    });
    expect((await browser.send('{ me { scopes } }')).data).toEqual({ me: null });
    expect((await signIn(browser, 'hal@example.com', 'brand new secret')).data).toMatchObject({
      signIn: { __typename: 'SignedIn' },
    });
  });
});

describe('one-time codes', () => {
  // Codes change with the clock: it stands still, so that the one before and the one after stay what they are.
  beforeEach(() => void vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it('are asked for at sign-in once they are on', async () => {
    const browser = await createPerson(plane, 'ida@example.com', '198.51.100.40');
    const elsewhere = plane.browser('198.51.100.41');
    await signIn(elsewhere, 'ida@example.com');
    const begun = await browser.send(
      `mutation ($password: String!) { beginSecondFactor(password: $password) { ... on SecondFactorSetup { uri backupCodes } } }`,
      { variables: { password } },
    );
    const { uri, backupCodes } = (begun.data as { beginSecondFactor: { uri: string; backupCodes: string[] } })
      .beginSecondFactor;
    const confirm = `mutation ($code: String!) { confirmSecondFactor(code: $code) { __typename ... on Error { code } } }`;
    const wrong = await browser.send(confirm, { variables: { code: '000000' } });
    expect(wrong.data).toMatchObject({ confirmSecondFactor: { code: 'INVALID_CODE' } });
    expect((await browser.send(confirm, { variables: { code: codeOf(uri) } })).data).toEqual({
      confirmSecondFactor: { __typename: 'Done' },
    });
    expect((await browser.send('{ me { user { secondFactor } } }')).data).toEqual({
      me: { user: { secondFactor: true } },
    });
    // Signed in without a code: no longer.
    expect((await elsewhere.send('{ me { scopes } }')).data).toEqual({ me: null });

    const next = plane.browser('198.51.100.42');
    expect((await signIn(next, 'ida@example.com')).data).toMatchObject({ signIn: { secondFactorRequired: true } });
    expect((await next.send('{ me { scopes } }')).data).toEqual({ me: null });
    const withCode = `mutation ($code: String!, $backup: Boolean) {
      signInWithCode(input: { code: $code, backup: $backup }) { __typename ... on Error { code } }
    }`;
    expect((await next.send(withCode, { variables: { code: '000000' } })).data).toMatchObject({
      signInWithCode: { code: 'INVALID_CODE' },
    });
    // The next one, because an app's code works once.
    expect((await next.send(withCode, { variables: { code: codeOf(uri, 1) } })).data).toMatchObject({
      signInWithCode: { __typename: 'SignedIn' },
    });
    expect((await next.send('{ me { user { email } } }')).data).toEqual({ me: { user: { email: 'ida@example.com' } } });

    const third = plane.browser('198.51.100.43');
    await signIn(third, 'ida@example.com');
    const [backupCode] = backupCodes;
    const variables = { code: backupCode, backup: true };
    expect((await third.send(withCode, { variables })).data).toMatchObject({
      signInWithCode: { __typename: 'SignedIn' },
    });
    await third.send('mutation { signOut { __typename } }');
    await signIn(third, 'ida@example.com');
    expect((await third.send(withCode, { variables })).data).toMatchObject({
      signInWithCode: { code: 'INVALID_CODE' },
    });
    // A code that an onlooker saw opens nothing: neither the one of the set-up, nor that of the sign-in.
    const used = codeOf(uri, -1);
    const thief = plane.browser('198.51.100.44');
    await signIn(thief, 'ida@example.com');
    const disable = `mutation ($password: String!, $code: String!) {
      disableSecondFactor(input: { password: $password, code: $code }) { __typename ... on Error { code } }
    }`;
    const twins = await Promise.all(
      ['198.51.100.45', '198.51.100.46', '198.51.100.47'].map(async (ip) => {
        const twin = plane.browser(ip);
        await signIn(twin, 'ida@example.com');
        return (await twin.send(withCode, { variables: { code: used } })).data;
      }),
    );
    expect(twins.filter((data) => JSON.stringify(data).includes('SignedIn'))).toHaveLength(1);
    expect((await thief.send(withCode, { variables: { code: used } })).data).toMatchObject({
      signInWithCode: { code: 'INVALID_TOKEN' },
    });
    expect((await thief.send('{ me { scopes } }')).data).toEqual({ me: null });
    expect(thief.cookies.has('steyg-sid')).toBe(false);
    expect((await next.send(disable, { variables: { password, code: used } })).data).toMatchObject({
      disableSecondFactor: { code: 'INVALID_CODE' },
    });
    // Without the challenge of a password nothing can be tried.
    expect((await plane.send(withCode, { variables: { code: codeOf(uri) } })).data).toMatchObject({
      signInWithCode: { code: 'INVALID_TOKEN' },
    });
  });
});

/** Switches one-time codes on; returns the address that an authenticator app would read. */
async function useCodes(browser: Browser): Promise<string> {
  const begun = await browser.send(
    `mutation ($password: String!) { beginSecondFactor(password: $password) { ... on SecondFactorSetup { uri } } }`,
    { variables: { password } },
  );
  const { uri } = (begun.data as { beginSecondFactor: { uri: string } }).beginSecondFactor;
  await browser.send('mutation ($code: String!) { confirmSecondFactor(code: $code) { __typename } }', {
    variables: { code: codeOf(uri) },
  });
  return uri;
}

describe('a wrong one-time code', () => {
  const withCode = `mutation ($code: String!) {
    signInWithCode(input: { code: $code }) { __typename ... on Error { code message } }
  }`;

  it('is said to be the code, not the password', async () => {
    const owner = await createPerson(plane, 'wrong-code@example.com', '198.51.100.90');
    await useCodes(owner);
    const browser = plane.browser('198.51.100.91');
    await signIn(browser, 'wrong-code@example.com');
    const answer = await browser.send(withCode, { variables: { code: '000000' } });
    expect(answer.data).toMatchObject({
      signInWithCode: { code: 'INVALID_CODE', message: expect.stringContaining('The code is wrong') },
    });
  });

  it('is limited for the person across networks and challenges; the owner’s own browser goes on', async () => {
    const owner = await createPerson(plane, 'codes@example.com', '198.51.100.92');
    const uri = await useCodes(owner);
    const outcomes: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      const thief = plane.browser(`203.0.113.${100 + i}`);
      await signIn(thief, 'codes@example.com');
      const answer = await thief.send(withCode, { variables: { code: String(100_000 + i) } });
      outcomes.push((answer.data as { signInWithCode: { code: string } }).signInWithCode.code);
    }
    expect(outcomes.slice(0, 5)).toEqual(Array(5).fill('INVALID_CODE'));
    expect(outcomes.filter((code) => code === 'INVALID_CODE').length).toBeLessThan(9);
    expect(outcomes).toContain('TOO_MANY_ATTEMPTS');
    await owner.send('mutation { signOut { __typename } }');
    await signIn(owner, 'codes@example.com');
    expect((await owner.send(withCode, { variables: { code: codeOf(uri, 1) } })).data).toMatchObject({
      signInWithCode: { __typename: 'SignedIn' },
    });
  });
});

describe('a trial', () => {
  it('is counted for the network that a password reset is followed by, too', async () => {
    const kinds: string[] = [];
    for (let i = 0; i < 13; i += 1) {
      const email = `reset-farm-${i}@farm${i}.example.com`;
      const browser = plane.browser('198.51.100.93');
      const input = { email, password, name: 'Farm' };
      await plane.send(signUp, { variables: { input }, ip: `203.0.113.${150 + i}` });
      await tokenFor(plane, email, '/verify-email');
      await browser.send('mutation ($email: String!) { requestPasswordReset(email: $email) { __typename } }', {
        variables: { email },
      });
      const token = await tokenFor(plane, email, '/reset-password');
      await browser.send(
        'mutation ($token: String!) { resetPassword(input: { token: $token, newPassword: "a password for a farm" }) { __typename } }',
        { variables: { token } },
      );
      expect((await signIn(browser, email, 'a password for a farm')).data).toMatchObject({
        signIn: { __typename: 'SignedIn' },
      });
      const { rows } = await plane.database.pool.query<{ kind: string | null }>(
        `SELECT g.kind FROM account a LEFT JOIN "grant" g ON g.account_id = a.id WHERE a.email = $1`,
        [email],
      );
      kinds.push(...rows.map(({ kind }) => kind ?? 'none'));
    }
    expect(kinds).toEqual([...Array<string>(10).fill('trial'), ...Array<string>(3).fill('none')]);
  });
});

describe('a change of address', () => {
  it('asks the old address, then the new one, and only the session that began it', async () => {
    const browser = await createPerson(plane, 'jo@example.com', '198.51.100.50');
    const change = `mutation ($password: String!) {
      changeEmail(input: { newEmail: "jo@example.org", password: $password }) { __typename ... on Error { code } }
    }`;
    expect((await browser.send(change, { variables: { password: 'not the password' } })).data).toMatchObject({
      changeEmail: { code: 'INVALID_CREDENTIALS' },
    });
    await browser.send(change, { variables: { password } });
    await expect.poll(async () => (await plane.mailsTo('jo@example.com')).length).toBe(2);
    const first = await tokenFor(plane, 'jo@example.com');
    expect((await plane.send(verify, { variables: { token: first } })).data).toMatchObject({
      verifyEmail: { code: 'INVALID_TOKEN' },
    });
    await browser.send(verify, { variables: { token: first } });
    const second = await tokenFor(plane, 'jo@example.org');
    const stranger = await plane.send(verify, { variables: { token: second } });
    expect(stranger.data).toMatchObject({ verifyEmail: { code: 'INVALID_TOKEN' } });
    expect(stranger.setCookies).toEqual([]);
    await browser.send(verify, { variables: { token: second } });
    expect((await browser.send('{ me { user { email } } }')).data).toEqual({
      me: { user: { email: 'jo@example.org' } },
    });
  });
});

describe('guessing', () => {
  it('is slowed down per address and network, counted per field and not per request', async () => {
    await createPerson(plane, 'kim@example.com', '198.51.100.60');
    const aliases = Array.from(
      { length: 10 },
      (_item, i) =>
        `a${i}: signIn(input: { email: "kim@example.com", password: "guess number ${i}" }) { ... on Error { code } }`,
    );
    const answer = await plane.send(`mutation { ${aliases.join(' ')} }`, { ip: '198.51.100.61' });
    const codes = Object.values(answer.data as Record<string, { code: string }>).map(({ code }) => code);
    expect(codes.filter((code) => code === 'INVALID_CREDENTIALS')).toHaveLength(5);
    expect(codes.filter((code) => code === 'TOO_MANY_ATTEMPTS')).toHaveLength(5);
  });

  it('from a thousand networks slows down all browsers but the owner’s own', async () => {
    const owner = await createPerson(plane, 'lea@example.com', '198.51.100.62');
    const outcomes = new Map<string, number>();
    for (let i = 0; i < 40; i += 1) {
      const answer = await signIn(plane.browser(`203.0.113.${i}`), 'lea@example.com', `guess number ${i}`);
      const { code } = (answer.data as { signIn: { code: string } }).signIn;
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    }
    expect(outcomes.get('INVALID_CREDENTIALS')).toBeLessThan(20);
    expect(outcomes.get('TOO_MANY_ATTEMPTS')).toBeGreaterThan(20);
    // The delay goes on, however long this machine took for the guesses.
    await plane.database.pool.query(`UPDATE throttle SET until = now() + interval '1 minute' WHERE count >= 5`);
    const right = await signIn(plane.browser('203.0.113.200'), 'lea@example.com');
    expect(right.data).toMatchObject({ signIn: { code: 'TOO_MANY_ATTEMPTS' } });
    // The browser that signed in before is not delayed by strangers' attempts.
    await owner.send('mutation { signOut { __typename } }');
    expect((await signIn(owner, 'lea@example.com')).data).toMatchObject({ signIn: { __typename: 'SignedIn' } });
  });

  it('stores no address of whom it is about', async () => {
    const { rows } = await plane.database.pool.query('SELECT subject FROM throttle');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ subject }) => Buffer.isBuffer(subject) && subject.length === 32)).toBe(true);
  });
});

describe('over https', () => {
  it('cookies are for this host alone', async () => {
    const secure = await createControlPlane({ publicUrl: 'https://steyg.test' });
    try {
      const browser = await createPerson(secure, 'mia@example.com');
      const answer = await signIn(browser, 'mia@example.com');
      const session = answer.setCookies.find((line) => line.startsWith('__Host-sid=')) ?? '';
      expect(session).toMatch(/; Path=\/(;|$)/);
      expect(session).toMatch(/; HttpOnly(;|$)/);
      expect(session).toMatch(/; Secure(;|$)/);
      expect(session).toMatch(/; SameSite=Lax(;|$)/i);
      expect(session).not.toMatch(/Domain=/i);
    } finally {
      await secure.close();
    }
  });
});

function cookieOf(browser: Browser): string {
  return `steyg-sid=${browser.cookies.get('steyg-sid')}`;
}
