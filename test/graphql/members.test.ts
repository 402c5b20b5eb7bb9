import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../server/database/lane.ts';
import { lockWaits } from '../support/locks.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson, tokenFor } from './support/server.ts';

/** The people of an account, what their roles let them do, and programs with access tokens. */

let plane: ControlPlane;
let owner: Browser;
let guest: Browser;
let accountId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  guest = await createPerson(plane, 'guest@example.com', '203.0.113.2');
  const answer = await owner.send('{ account { id } }');
  accountId = (answer.data as { account: { id: string } }).account.id;
});
afterAll(() => plane.close());

const invite = `mutation ($accountId: ID, $email: String!, $role: InvitedRole!) {
  inviteMember(input: { accountId: $accountId, email: $email, role: $role }) { __typename ... on Invitation { id } ... on Error { code } }
}`;
const accept = `mutation ($token: String!) { acceptInvitation(token: $token) { __typename ... on Account { name } ... on Error { code } } }`;
const createKey = `mutation ($accountId: ID) { createKey(input: { accountId: $accountId }) { __typename ... on Error { code } } }`;
const setRole = `mutation ($id: ID!, $role: Role!) { setMemberRole(input: { id: $id, role: $role }) {
  __typename ... on Done { id member { id email role } } ... on Error { code } } }`;
const remove = `mutation ($id: ID!) { removeMember(input: { id: $id, keys: KEEP }) { __typename ... on Done { id member { id } } ... on Error { code } } }`;

async function memberId(email: string): Promise<string> {
  const answer = await owner.send('{ account { members { id email } } }');
  const { members } = (answer.data as { account: { members: { id: string; email: string }[] } }).account;
  return members.find((member) => member.email === email)?.id ?? '';
}

describe('an invitation', () => {
  it('lets in the person who signs in with the invited address, and no other', async () => {
    await owner.send(invite, { variables: { email: 'Guest@example.com', role: 'VIEWER' } });
    await expect.poll(async () => (await plane.mailsTo('guest@example.com')).length).toBe(2);
    const token = await tokenFor(plane, 'guest@example.com', '/invitation');
    const stranger = await createPerson(plane, 'stranger@example.com', '203.0.113.3');
    expect((await stranger.send(accept, { variables: { token } })).data).toMatchObject({
      acceptInvitation: { code: 'INVALID_TOKEN' },
    });
    expect((await guest.send(accept, { variables: { token } })).data).toMatchObject({
      acceptInvitation: { __typename: 'Account' },
    });
    expect((await guest.send(accept, { variables: { token } })).data).toMatchObject({
      acceptInvitation: { code: 'INVALID_TOKEN' },
    });
    const seen = await guest.send('query ($id: ID!) { account(id: $id) { budget { free } } }', {
      variables: { id: accountId },
    });
    expect(seen.data).toEqual({ account: { budget: { free: '5' } } });
  });

  it('works no longer once it is taken back', async () => {
    const made = await owner.send(invite, { variables: { email: 'late@example.com', role: 'ADMIN' } });
    const { id } = (made.data as { inviteMember: { id: string } }).inviteMember;
    const token = await tokenFor(plane, 'late@example.com', '/invitation');
    const revoked = await owner.send('mutation ($id: ID!) { revokeInvitation(id: $id) { ... on Done { id } } }', {
      variables: { id },
    });
    expect(revoked.data).toEqual({ revokeInvitation: { id } });
    const late = await createPerson(plane, 'late@example.com', '203.0.113.4');
    expect((await late.send(accept, { variables: { token } })).data).toMatchObject({
      acceptInvitation: { code: 'INVALID_TOKEN' },
    });
  });
});

describe('the invitations of a member', () => {
  it.each([
    ['is demoted', setRole, { role: 'VIEWER' }],
    ['is removed', remove, {}],
  ])('who %s open nothing any more', async (word, document, change) => {
    const [admin, confederate] = [
      `admin-${word.replace(' ', '')}@example.com`,
      `mate-${word.replace(' ', '')}@example.com`,
    ];
    await owner.send(invite, { variables: { email: admin, role: 'ADMIN' } });
    const inviter = await createPerson(plane, admin, `203.0.113.${word.length}`);
    await inviter.send(accept, { variables: { token: await tokenFor(plane, admin, '/invitation') } });
    const made = await inviter.send(invite, { variables: { accountId, email: confederate, role: 'ADMIN' } });
    expect(made.data).toMatchObject({ inviteMember: { __typename: 'Invitation' } });
    await owner.send(document, { variables: { id: await memberId(admin), ...change } });
    const token = await tokenFor(plane, confederate, '/invitation');
    const mate = await createPerson(plane, confederate, `203.0.113.${20 + word.length}`);
    expect((await mate.send(accept, { variables: { token } })).data).toMatchObject({
      acceptInvitation: { code: 'INVALID_TOKEN' },
    });
    const open = await owner.send('{ account { invitations { email } } }');
    expect(JSON.stringify(open.data)).not.toContain(confederate);
    // What an earlier version of the server left open opens nothing either.
    await plane.database.pool.query('UPDATE invitation SET revoked_at = NULL WHERE email = $1', [confederate]);
    expect((await mate.send(accept, { variables: { token } })).data).toMatchObject({
      acceptInvitation: { code: 'INVALID_TOKEN' },
    });
  });
});

/** The code of the error that the guest is answered with; null for none. */
async function code(document: string, variables: object): Promise<string | null> {
  const answer = await guest.send(document, { variables: { accountId, ...variables } });
  expect(answer.errors).toEqual([]);
  return (Object.values(answer.data ?? {})[0] as { code?: string }).code ?? null;
}

describe('a role', () => {
  it.each([
    ['VIEWER', { createKey: 'NOT_ALLOWED', createOrder: 'NOT_ALLOWED', inviteMember: 'NOT_ALLOWED' }],
    ['MEMBER', { createKey: null, createOrder: 'NOT_ALLOWED', inviteMember: 'NOT_ALLOWED' }],
    ['ADMIN', { createKey: null, createOrder: 'NOT_FOUND', inviteMember: null }],
  ])('%s allows what it should and nothing more', async (role, expected) => {
    await owner.send(setRole, { variables: { id: await memberId('guest@example.com'), role } });
    const order = `mutation ($accountId: ID) { createOrder(input: { accountId: $accountId, planId: "none" }) { __typename ... on Error { code } } }`;
    expect({
      createKey: await code(createKey, {}),
      createOrder: await code(order, {}),
      inviteMember: await code(invite, { email: `by-${role}@example.com`, role: 'VIEWER' }),
    }).toEqual(expected);
  });

  it('of an owner is only an owner’s to give and to take, and the last one stays', async () => {
    const guestId = await memberId('guest@example.com');
    const ownerId = await memberId('owner@example.com');
    await owner.send(setRole, { variables: { id: guestId, role: 'ADMIN' } });
    for (const [document, variables] of [
      [setRole, { id: guestId, role: 'OWNER' }],
      [setRole, { id: ownerId, role: 'VIEWER' }],
      [remove, { id: ownerId }],
    ] as const) {
      const answer = await guest.send(document, { variables });
      expect(Object.values(answer.data ?? {})[0]).toMatchObject({ code: 'NOT_ALLOWED' });
    }
    const alone = await owner.send(remove, { variables: { id: ownerId } });
    expect(alone.data).toMatchObject({ removeMember: { code: 'LAST_OWNER' } });
  });
});

describe('an access token', () => {
  const create = `mutation ($scopes: [TokenScope!]!, $expiresAt: DateTime) {
    createAccessToken(input: { name: "ci", scopes: $scopes, expiresAt: $expiresAt }) {
      __typename ... on CreatedAccessToken { secret accessToken { id name scopes } } ... on Error { code }
    }
  }`;
  const make = async (scopes: string[]): Promise<{ id: string; headers: Record<string, string> }> => {
    const answer = await owner.send(create, { variables: { scopes } });
    const { secret, accessToken } = (
      answer.data as { createAccessToken: { secret: string; accessToken: { id: string } } }
    ).createAccessToken;
    return { id: accessToken.id, headers: { authorization: `Bearer ${secret}` } };
  };

  it('does what its scopes say', async () => {
    const read = await make(['READ']);
    const keys = await make(['KEYS']);
    const see = '{ me { user { email } scopes accounts { email budget { free } } } }';
    expect((await plane.send(see, { headers: read.headers })).data).toEqual({
      me: { user: null, scopes: ['READ'], accounts: [{ email: 'owner@example.com', budget: { free: '5' } }] },
    });
    expect((await plane.send(createKey, { headers: read.headers })).errors[0]?.extensions['code']).toBe('FORBIDDEN');
    expect((await plane.send(createKey, { headers: keys.headers })).data).toMatchObject({
      createKey: { __typename: 'NewApiKey' },
    });
    // Programs choose no people and make no tokens, and see nothing of operators.
    for (const document of [
      'mutation { inviteMember(input: { email: "a@example.com", role: ADMIN }) { __typename } }',
      'mutation { createAccessToken(input: { name: "x", scopes: [READ] }) { __typename } }',
      'mutation { signOut { __typename } updateProfile(input: { name: "X" }) { __typename } }',
      '{ operator { models { modelId } } }',
    ]) {
      expect((await plane.send(document, { headers: keys.headers })).errors[0]?.extensions['code']).toBe('FORBIDDEN');
    }
  });

  it('gives no scope that its maker lacks', async () => {
    const answer = await owner.send(create, { variables: { scopes: ['READ', 'OPERATOR'] } });
    expect(answer.data).toMatchObject({ createAccessToken: { code: 'NOT_ALLOWED' } });
  });

  it('that is wrong, over or deleted is an answer of its own, and never an anonymous request', async () => {
    const token = await make(['READ']);
    const good = token.headers['authorization'] ?? '';
    for (const authorization of ['Bearer x', 'Bearer ', 'Basic abc', good.slice(0, -1), `${good}x`]) {
      const answer = await plane.send('{ models { modelId } }', { headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.errors[0]?.extensions['code']).toBe('UNAUTHENTICATED');
    }
    await owner.send('mutation ($id: ID!) { revokeAccessToken(id: $id) { __typename } }', {
      variables: { id: token.id },
    });
    expect((await plane.send('{ me { scopes } }', { headers: token.headers })).status).toBe(401);
    const late = await make(['READ']);
    await plane.database.pool.query(
      `UPDATE access_token SET expires_at = now() - interval '1 second' WHERE deleted_at IS NULL`,
    );
    expect((await plane.send('{ me { scopes } }', { headers: late.headers })).status).toBe(401);
    const past = await owner.send(create, { variables: { scopes: ['READ'], expiresAt: '2020-01-01T00:00:00Z' } });
    expect(past.data).toMatchObject({ createAccessToken: { code: 'BAD_INPUT' } });
  });

  it('is no API key, and an API key is no token', async () => {
    const made = await owner.send('mutation { createKey(input: {}) { ... on NewApiKey { secret } } }');
    const { secret } = (made.data as { createKey: { secret: string } }).createKey;
    const answer = await plane.send('{ me { scopes } }', { headers: { authorization: `Bearer ${secret}` } });
    expect(answer.status).toBe(401);
  });

  it('ends when its maker may no longer do what it does', async () => {
    const guestId = await memberId('guest@example.com');
    const mine = `mutation ($accountId: ID, $scopes: [TokenScope!]!) {
      createAccessToken(input: { accountId: $accountId, name: "mine", scopes: $scopes }) { ... on CreatedAccessToken { secret } }
    }`;
    const makeMine = async (scopes: string[]) => {
      const answer = await guest.send(mine, { variables: { accountId, scopes } });
      const { secret } = (answer.data as { createAccessToken: { secret: string } }).createAccessToken;
      return { authorization: `Bearer ${secret}` };
    };
    await owner.send(setRole, { variables: { id: guestId, role: 'ADMIN' } });
    const [read, keys, billing] = [
      await makeMine(['READ']),
      await makeMine(['READ', 'KEYS']),
      await makeMine(['BILLING']),
    ];
    const statusOf = async (headers: Record<string, string>) =>
      (await plane.send('{ me { scopes } }', { headers })).status;
    const statuses = () => Promise.all([read, keys, billing].map(statusOf));
    expect(await statuses()).toEqual([200, 200, 200]);
    const changed = await owner.send(setRole, { variables: { id: guestId, role: 'MEMBER' } });
    expect(changed.data).toMatchObject({ setMemberRole: { id: guestId, member: { id: guestId, role: 'MEMBER' } } });
    expect(await statuses()).toEqual([200, 200, 401]);
    await owner.send(setRole, { variables: { id: guestId, role: 'VIEWER' } });
    expect(await statuses()).toEqual([200, 401, 401]);
  });

  it('is not made by a member who is just being removed', async () => {
    const guestId = await memberId('guest@example.com');
    await owner.send(setRole, { variables: { id: guestId, role: 'ADMIN' } });
    const made = await transaction(plane.database.pool, async (client) => {
      const { rowCount } = await client.query(
        `DELETE FROM member m USING app_user u WHERE u.id = m.user_id AND u.email = 'guest@example.com'
         AND m.account_id = $1`,
        [Buffer.from(accountId, 'base64').toString().split(':')[1]],
      );
      expect(rowCount).toBe(1);
      // Once the removal has ended the tokens that it sees, another one would outlive it.
      const making = guest.send(
        `mutation ($accountId: ID) { createAccessToken(input: { accountId: $accountId, name: "late", scopes: [READ] }) { __typename ... on Error { code } } }`,
        { variables: { accountId } },
      );
      await Promise.race([lockWaits(plane.database.pool, 1), making]);
      return { making };
    });
    expect((await made.making).data).toMatchObject({ createAccessToken: { code: 'NOT_ALLOWED' } });
    await plane.database.pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'admin' FROM app_user WHERE email = 'guest@example.com'`,
      [Buffer.from(accountId, 'base64').toString().split(':')[1]],
    );
  });

  it('ends when its maker leaves the account', async () => {
    const guestId = await memberId('guest@example.com');
    await owner.send(setRole, { variables: { id: guestId, role: 'ADMIN' } });
    const answer = await guest.send(
      `mutation ($accountId: ID) { createAccessToken(input: { accountId: $accountId, name: "mine", scopes: [READ] }) { ... on CreatedAccessToken { secret } } }`,
      { variables: { accountId } },
    );
    const { secret } = (answer.data as { createAccessToken: { secret: string } }).createAccessToken;
    const headers = { authorization: `Bearer ${secret}` };
    expect((await plane.send('{ me { scopes } }', { headers })).status).toBe(200);
    const removed = await owner.send(remove, { variables: { id: guestId } });
    expect(removed.data).toEqual({ removeMember: { __typename: 'Done', id: guestId, member: null } });
    expect((await plane.send('{ me { scopes } }', { headers })).status).toBe(401);
    const seen = await guest.send('query ($id: ID!) { account(id: $id) { name } }', { variables: { id: accountId } });
    expect(seen.data).toEqual({ account: null });
  });
});

describe('the removal of somebody who made keys of the account', () => {
  const removeWith = `mutation ($id: ID!, $keys: LeftKeys) { removeMember(input: { id: $id, keys: $keys }) {
    __typename ... on Done { id } ... on Error { code } ... on KeysUndecidedError { keys { id name last4 } } } }`;
  const make = `mutation ($accountId: ID, $name: String!, $owner: KeyOwner) {
    createKey(input: { accountId: $accountId, name: $name, owner: $owner }) {
      __typename ... on NewApiKey { secret key { id } } ... on Error { code message } } }`;
  const rotate = `mutation ($id: ID!) { rotateKey(input: { id: $id, graceSeconds: 0 }) { ... on NewApiKey { key { id } } ... on Error { code } } }`;
  const uuidOf = (id: string) => Buffer.from(id, 'base64').toString().split(':')[1] ?? '';
  let count = 0;

  /** An admin of the account, by invitation. */
  async function makeAdmin(): Promise<{ admin: Browser; email: string; id: string }> {
    count += 1;
    const email = `admin-${count}@example.com`;
    const admin = await createPerson(plane, email, `203.0.113.${50 + count}`);
    await plane.database.pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'admin' FROM app_user WHERE email = $2`,
      [uuidOf(accountId), email],
    );
    return { admin, email, id: await memberId(email) };
  }

  async function makeKey(by: Browser, name: string, holder: 'ACCOUNT' | 'MEMBER' = 'ACCOUNT'): Promise<string> {
    const answer = await by.send(make, { variables: { accountId, name, owner: holder } });
    expect(answer.data).toMatchObject({ createKey: { __typename: 'NewApiKey' } });
    return (answer.data as { createKey: { key: { id: string } } }).createKey.key.id;
  }

  const isLive = async (id: string) => {
    const { rowCount } = await plane.database.pool.query('SELECT FROM api_key WHERE id = $1 AND deleted_at IS NULL', [
      uuidOf(id),
    ]);
    return rowCount === 1;
  };

  it('is refused until somebody says what becomes of these keys, and names them', async () => {
    const { admin, id, email } = await makeAdmin();
    const [shared, personal] = [await makeKey(admin, 'deploys'), await makeKey(admin, 'laptop', 'MEMBER')];
    const ofOwner = await makeKey(owner, 'of the owner');
    const asked = await owner.send(removeWith, { variables: { id } });
    expect(asked.data).toEqual({
      removeMember: {
        __typename: 'KeysUndecidedError',
        code: 'KEYS_UNDECIDED',
        keys: [{ id: shared, name: 'deploys', last4: expect.stringMatching(/^.{4}$/) }],
      },
    });
    expect(await memberId(email)).toBe(id);
    for (const key of [shared, personal, ofOwner]) expect(await isLive(key)).toBe(true);

    await owner.send(removeWith, { variables: { id, keys: 'REVOKE' } });
    expect(await memberId(email)).toBe('');
    for (const key of [shared, personal]) expect(await isLive(key)).toBe(false);
    expect(await isLive(ofOwner)).toBe(true);
    const { rows } = await plane.database.pool.query(
      `SELECT action, before, after FROM audit_entry WHERE subject IN ($1, $2) AND action IN ('member.remove', 'key.delete')
       ORDER BY created_at DESC LIMIT 2`,
      [`account:${uuidOf(accountId)}`, `key:${uuidOf(shared)}`],
    );
    const userId = Buffer.from(id, 'base64').toString().split('/')[1];
    expect(rows).toContainEqual({ action: 'key.delete', before: { name: 'deploys', userId }, after: null });
    expect(rows).toContainEqual({
      action: 'member.remove',
      before: { userId, role: 'admin' },
      after: { userId, keys: 'revoke', seenKeys: '1' },
    });
    const [mail] = (await plane.mailsTo('owner@example.com')).filter(({ subject }) => subject.includes('revoked'));
    expect(mail?.text).toContain('- deploys (…');
  });

  it('keeps them where that is said, and tells the owners which still work', async () => {
    const { admin, id } = await makeAdmin();
    const key = await makeKey(admin, 'kept one');
    const removed = await owner.send(removeWith, { variables: { id, keys: 'KEEP' } });
    expect(removed.data).toEqual({ removeMember: { __typename: 'Done', id } });
    expect(await isLive(key)).toBe(true);
    await expect
      .poll(async () => (await plane.mailsTo('owner@example.com')).map(({ text }) => text).join('\n'))
      .toMatch(/still work\..*\n\n- kept one \(…/);
  });

  it('counts a key that they rotated, whoever made it', async () => {
    const { admin, id } = await makeAdmin();
    const before = await makeKey(owner, 'rotated by the admin');
    const answer = await admin.send(rotate, { variables: { id: before } });
    const { key } = (answer.data as { rotateKey: { key: { id: string } } }).rotateKey;
    const asked = await owner.send(removeWith, { variables: { id } });
    expect(asked.data).toMatchObject({ removeMember: { keys: [{ id: key.id, name: 'rotated by the admin' }] } });
    await owner.send(removeWith, { variables: { id, keys: 'REVOKE' } });
    expect(await isLive(key.id)).toBe(false);
  });

  it('asks admins who leave by themselves, too, and nobody where there are no such keys', async () => {
    const one = await makeAdmin();
    const key = await makeKey(one.admin, 'left behind');
    expect((await one.admin.send(removeWith, { variables: { id: one.id } })).data).toMatchObject({
      removeMember: { code: 'KEYS_UNDECIDED' },
    });
    expect((await one.admin.send(removeWith, { variables: { id: one.id, keys: 'KEEP' } })).data).toMatchObject({
      removeMember: { __typename: 'Done' },
    });
    expect(await isLive(key)).toBe(true);
    await expect
      .poll(async () => (await plane.mailsTo('owner@example.com')).map(({ text }) => text).join('\n'))
      .toContain('- left behind (…');
    const two = await makeAdmin();
    expect((await owner.send(removeWith, { variables: { id: two.id } })).data).toMatchObject({
      removeMember: { __typename: 'Done' },
    });
  });

  it('cannot be outrun by a key that they make at the same moment', async () => {
    const { admin, id, email } = await makeAdmin();
    const making = await transaction(plane.database.pool, async (client) => {
      await client.query(
        `DELETE FROM member WHERE account_id = $1 AND user_id = (SELECT id FROM app_user WHERE email = $2)`,
        [uuidOf(accountId), email],
      );
      const asked = admin.send(make, { variables: { accountId, name: 'late', owner: 'ACCOUNT' } });
      await Promise.race([lockWaits(plane.database.pool, 1), asked]);
      return { asked };
    });
    expect((await making.asked).data).toMatchObject({ createKey: { code: 'NOT_ALLOWED' } });
    expect(await memberId(email)).not.toBe(id);
  });
});
