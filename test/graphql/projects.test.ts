import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type ControlPlane, createControlPlane, createPerson, tokenFor } from './support/server.ts';

/** Projects as the places of keys, and whom a key belongs to when people leave. */

let plane: ControlPlane;
let owner: Browser;
let accountId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  accountId = (await answer<{ id: string }>(owner, '{ account { id } }', {}, 'account')).id;
});
afterAll(() => plane.close());

async function answer<Shape>(
  browser: Browser,
  document: string,
  variables: Record<string, unknown>,
  field: string,
): Promise<Shape> {
  const { data, errors } = await browser.send(document, { variables });
  expect(errors).toEqual([]);
  return data?.[field] as Shape;
}

interface Project {
  __typename: string;
  id: string;
  name: string;
  archivedAt: string | null;
  code?: string;
}

interface Key {
  id: string;
  owner: string;
  project: { name: string } | null;
  maker: { name: string | null; isMember: boolean } | null;
}

const projectFields = '__typename ... on Project { id name archivedAt } ... on Error { code }';
const keyFields = 'id owner project { name } maker { name isMember }';

const createProject = (input: object, by = owner) =>
  answer<Project>(
    by,
    `mutation ($input: CreateProjectInput!) { createProject(input: $input) { ${projectFields} } }`,
    { input },
    'createProject',
  );

const updateProject = (input: object) =>
  answer<Project>(
    owner,
    `mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { ${projectFields} } }`,
    { input },
    'updateProject',
  );

const createKey = (input: object, by = owner) =>
  answer<{ __typename: string; code?: string; secret: string; key: Key }>(
    by,
    `mutation ($input: CreateKeyInput!) { createKey(input: $input) {
       __typename ... on NewApiKey { secret key { ${keyFields} } } ... on Error { code } } }`,
    { input },
    'createKey',
  );

const updateKey = (input: object, by = owner) =>
  answer<Key & { code?: string }>(
    by,
    `mutation ($input: UpdateKeyInput!) { updateKey(input: $input) {
       __typename ... on ApiKey { ${keyFields} } ... on Error { code } } }`,
    { input },
    'updateKey',
  );

const rotateKey = (id: string, by = owner) =>
  answer<{ key: Key }>(
    by,
    `mutation ($id: ID!) { rotateKey(input: { id: $id }) { __typename ... on NewApiKey { key { ${keyFields} } } } }`,
    { id },
    'rotateKey',
  );

/** Somebody who belongs to the owner's account. */
async function join(email: string, role: string, ip: string): Promise<Browser> {
  await owner.send(
    'mutation ($email: String!, $role: InvitedRole!) { inviteMember(input: { email: $email, role: $role }) { __typename } }',
    { variables: { email, role } },
  );
  const person = await createPerson(plane, email, ip);
  const token = await tokenFor(plane, email, '/invitation');
  await person.send('mutation ($token: String!) { acceptInvitation(token: $token) { __typename } }', {
    variables: { token },
  });
  return person;
}

async function remove(email: string): Promise<void> {
  const { members } = await answer<{ members: { id: string; email: string }[] }>(
    owner,
    '{ account { members { id email } } }',
    {},
    'account',
  );
  const id = members.find((member) => member.email === email)?.id;
  await owner.send('mutation ($id: ID!) { removeMember(input: { id: $id, keys: KEEP }) { __typename } }', {
    variables: { id },
  });
}

async function statusOf(key: Key): Promise<string | undefined> {
  const account = await answer<{ keys: { edges: { node: { id: string; status: string } }[] } }>(
    owner,
    '{ account { keys(deleted: true, first: 100) { edges { node { id status } } } } }',
    {},
    'account',
  );
  return account.keys.edges.find(({ node }) => node.id === key.id)?.node.status;
}

describe('a project', () => {
  it('takes keys when they are made and later, and gives them away', async () => {
    const first = await createProject({ name: 'First' });
    const second = await createProject({ name: 'Second' });
    const { key } = await createKey({ projectId: first.id });
    expect(key.project).toEqual({ name: 'First' });
    expect((await updateKey({ id: key.id, name: 'Other' })).project).toEqual({ name: 'First' });
    expect((await updateKey({ id: key.id, projectId: second.id })).project).toEqual({ name: 'Second' });
    expect((await rotateKey(key.id)).key.project).toEqual({ name: 'Second' });
    expect((await updateKey({ id: key.id, projectId: null })).project).toBe(null);
  });

  it('has a name of its own among those in use', async () => {
    const named = await createProject({ name: 'Named' });
    expect(await createProject({ name: 'NAMED' })).toMatchObject({ code: 'PROJECT_NAME_TAKEN' });
    expect((await updateProject({ id: named.id, archived: true })).archivedAt).not.toBe(null);
    expect(await createProject({ name: 'named' })).toMatchObject({ __typename: 'Project' });
    expect(await updateProject({ id: named.id, archived: false })).toMatchObject({ code: 'PROJECT_NAME_TAKEN' });
    expect(await createProject({ name: '' })).toMatchObject({ code: 'BAD_INPUT' });
  });

  it('is archived only when no key lies in it, and then takes none', async () => {
    const project = await createProject({ name: 'Old' });
    const { key } = await createKey({ projectId: project.id });
    expect(await updateProject({ id: project.id, archived: true })).toMatchObject({ code: 'PROJECT_HAS_KEYS' });
    await updateKey({ id: key.id, projectId: null });
    expect((await updateProject({ id: project.id, archived: true })).archivedAt).not.toBe(null);
    expect(await createKey({ projectId: project.id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await updateKey({ id: key.id, projectId: project.id })).toMatchObject({ code: 'NOT_FOUND' });
    const list = async (archived: boolean) =>
      (
        await answer<{ projects: Project[] }>(
          owner,
          'query ($archived: Boolean) { account { projects(archived: $archived) { id } } }',
          { archived },
          'account',
        )
      ).projects.map(({ id }) => id);
    expect(await list(false)).not.toContain(project.id);
    expect(await list(true)).toContain(project.id);
  });

  it('is made by owners and admins, and never filled with keys of another account', async () => {
    const member = await join('maker@example.com', 'MEMBER', '203.0.113.2');
    expect(await createProject({ accountId, name: 'Mine' }, member)).toMatchObject({ code: 'NOT_ALLOWED' });
    const { id } = await createProject({ name: 'Ours' });
    expect(await createKey({ projectId: id }, member)).toMatchObject({ code: 'NOT_FOUND' });
    expect((await createKey({ accountId, projectId: id }, member)).key.project).toEqual({ name: 'Ours' });
  });
});

describe('a project with a limit', () => {
  const tokenOf = async (scopes: string[]) =>
    (
      await answer<{ secret: string }>(
        owner,
        `mutation ($scopes: [TokenScope!]!) { createAccessToken(input: { name: "t", scopes: $scopes }) {
           ... on CreatedAccessToken { secret } } }`,
        { scopes },
        'createAccessToken',
      )
    ).secret;

  it('is left by a key only when those who pay take it out', async () => {
    const member = await join('mover@example.com', 'MEMBER', '203.0.113.7');
    const limited = await createProject({ name: 'Bounded', limits: { lifetime: '5' } });
    const roomy = await createProject({ name: 'Roomy', limits: { month: '50' } });
    const open = await createProject({ name: 'Open' });
    const { key } = await createKey({ accountId, projectId: open.id }, member);
    // Into a project with a limit, and renamed there: nothing escapes.
    expect((await updateKey({ id: key.id, projectId: limited.id }, member)).project).toEqual({ name: 'Bounded' });
    expect((await updateKey({ id: key.id, name: 'renamed', projectId: limited.id }, member)).code).toBeUndefined();
    for (const projectId of [null, open.id, roomy.id])
      expect(await updateKey({ id: key.id, projectId }, member)).toMatchObject({ code: 'NOT_ALLOWED' });
    const byToken = async (scopes: string[]) => {
      const { data } = await owner.send(
        `mutation ($id: ID!) { updateKey(input: { id: $id, projectId: null }) {
           __typename ... on ApiKey { project { name } } ... on Error { code } } }`,
        { variables: { id: key.id }, headers: { authorization: `Bearer ${await tokenOf(scopes)}`, cookie: '' } },
      );
      return data?.['updateKey'];
    };
    expect(await byToken(['KEYS'])).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await byToken(['KEYS', 'BILLING'])).toEqual({ __typename: 'ApiKey', project: null });
    await updateKey({ id: key.id, projectId: limited.id });
    expect((await updateKey({ id: key.id, projectId: roomy.id })).project).toEqual({ name: 'Roomy' });
  });

  it('has its months beside those of all others, as many of each as are asked for', async () => {
    const { pool } = plane.database;
    const names = ['M1', 'M2', 'M3'];
    for (const [i, name] of names.entries()) {
      const { id } = await createProject({ name });
      const uuid = Buffer.from(id, 'base64').toString().split(':')[1];
      await pool.query(
        `INSERT INTO shared_limit_month (account_id, subject_id, month, charged)
         SELECT account_id, id, date '2025-01-01' + n * interval '1 month', $2::bigint * 1000000000000 + n
         FROM project, generate_series(1, 4) n WHERE id = $1`,
        [uuid, i + 1],
      );
    }
    const { projects } = await answer<{ projects: { name: string; two: unknown[]; all: { month: string }[] }[] }>(
      owner,
      '{ account { projects { name two: months(count: 2) { month charged } all: months(count: 24) { month } } } }',
      {},
      'account',
    );
    const shown = projects.filter(({ name }) => names.includes(name));
    expect(shown.map(({ two }) => two)).toEqual(
      [1, 2, 3].map((usd) => [
        { month: '2025-05', charged: `${usd}.000000000004` },
        { month: '2025-04', charged: `${usd}.000000000003` },
      ]),
    );
    for (const { all } of shown)
      expect(all.map(({ month }) => month)).toEqual(['2025-05', '2025-04', '2025-03', '2025-02']);
    expect(projects.find(({ name }) => name === 'Bounded')).toMatchObject({ two: [], all: [] });
  });
});

describe('where a project has a limit', () => {
  // Other tests make keys in no project.
  afterAll(() => plane.database.pool.query('UPDATE shared_limit SET limit_month = NULL, limit_lifetime = NULL'));

  it('members, and tokens that may not set limits, make keys in projects only, or under a budget of their own', async () => {
    const member = await join('outside@example.com', 'MEMBER', '203.0.113.8');
    const { id } = await createProject({ name: 'Walled', limits: { month: '5' } });
    expect(await createKey({ accountId }, member)).toMatchObject({ code: 'PROJECT_REQUIRED' });
    expect((await createKey({ accountId, projectId: id }, member)).key.project).toEqual({ name: 'Walled' });
    expect((await createKey({ accountId })).key.project).toBeNull();
    const { secret } = await answer<{ secret: string }>(
      owner,
      `mutation { createAccessToken(input: { name: "t", scopes: [KEYS] }) { ... on CreatedAccessToken { secret } } }`,
      {},
      'createAccessToken',
    );
    const { data } = await owner.send('mutation { createKey(input: {}) { __typename ... on Error { code } } }', {
      headers: { authorization: `Bearer ${secret}`, cookie: '' },
    });
    expect(data?.['createKey']).toMatchObject({ code: 'PROJECT_REQUIRED' });
    // Nor by way of a project without a limit.
    const { id: free } = await createProject({ name: 'Free' });
    const { key: detour } = await createKey({ accountId, projectId: free }, member);
    expect(await updateKey({ id: detour.id, projectId: null }, member)).toMatchObject({ code: 'PROJECT_REQUIRED' });
    const { data: byToken } = await owner.send(
      'mutation ($id: ID!) { updateKey(input: { id: $id, projectId: null }) { __typename ... on Error { code } } }',
      { variables: { id: detour.id }, headers: { authorization: `Bearer ${secret}`, cookie: '' } },
    );
    expect(byToken?.['updateKey']).toMatchObject({ code: 'PROJECT_REQUIRED' });
    expect((await updateKey({ id: detour.id, name: 'stays', projectId: free }, member)).project).toEqual({
      name: 'Free',
    });
    expect((await updateKey({ id: detour.id, projectId: null })).project).toBeNull();
    expect((await updateKey({ id: detour.id, name: 'outside already', projectId: null }, member)).code).toBeUndefined();
    await updateKey({ id: detour.id, projectId: free });
    await plane.database.pool.query(
      `INSERT INTO shared_limit (account_id, subject_id, kind, limit_month)
       SELECT m.account_id, m.user_id, 'member', 1000 FROM member m JOIN app_user u ON u.id = m.user_id
       WHERE u.email = 'outside@example.com' AND m.role = 'member'`,
    );
    expect((await createKey({ accountId }, member)).key.project).toBeNull();
    expect((await updateKey({ id: detour.id, projectId: null }, member)).project).toBeNull();
  });
});

describe('a member who leaves', () => {
  it('leaves the keys of the account and takes their own along', async () => {
    const admin = await join('admin@example.com', 'ADMIN', '203.0.113.3');
    const shared = await createKey({ accountId }, admin);
    const personal = await createKey({ accountId, owner: 'MEMBER' }, admin);
    const successor = await rotateKey(personal.key.id);
    expect(shared.key).toMatchObject({ owner: 'ACCOUNT', maker: { isMember: true } });
    expect(successor.key).toMatchObject({ owner: 'MEMBER', maker: { name: personal.key.maker?.name } });
    await remove('admin@example.com');
    expect(await statusOf(shared.key)).toBe('ACTIVE');
    expect(await statusOf(personal.key)).toBe('DELETED');
    expect(await statusOf(successor.key)).toBe('DELETED');
    const after = await updateKey({ id: shared.key.id, name: 'Still there' });
    expect(after.maker).toEqual({ name: shared.key.maker?.name, isMember: false });
    // Nobody is there to whom it could belong.
    expect(await updateKey({ id: shared.key.id, owner: 'MEMBER' })).toMatchObject({ code: 'NOT_ALLOWED' });
  });

  it('with the role of a member had personal keys only, also by a token', async () => {
    const member = await join('plain@example.com', 'MEMBER', '203.0.113.4');
    const { key } = await createKey({ accountId }, member);
    expect(key.owner).toBe('MEMBER');
    expect(await createKey({ accountId, owner: 'ACCOUNT' }, member)).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await updateKey({ id: key.id, owner: 'ACCOUNT' }, member)).toMatchObject({ code: 'NOT_ALLOWED' });
    const token = await answer<{ secret: string }>(
      member,
      `mutation ($accountId: ID!) { createAccessToken(input: { accountId: $accountId, name: "t", scopes: [KEYS] }) {
         ... on CreatedAccessToken { secret } } }`,
      { accountId },
      'createAccessToken',
    );
    const { data } = await owner.send(
      `mutation { createKey(input: {}) { ... on NewApiKey { key { ${keyFields} } } } }`,
      { headers: { authorization: `Bearer ${token.secret}`, cookie: '' } },
    );
    const byToken = (data as { createKey: { key: Key } }).createKey.key;
    expect(byToken).toMatchObject({ owner: 'MEMBER', maker: { isMember: true } });
    // An owner may keep a key of theirs for the account.
    const { key: kept } = await createKey({ accountId }, member);
    expect((await updateKey({ id: kept.id, owner: 'ACCOUNT' })).owner).toBe('ACCOUNT');
    await remove('plain@example.com');
    expect(await statusOf(key)).toBe('DELETED');
    expect(await statusOf(byToken)).toBe('DELETED');
    expect(await statusOf(kept)).toBe('ACTIVE');
  });
});

describe('a monthly budget', () => {
  interface Spend {
    __typename?: string;
    code?: string;
    memberId: string;
    name: string | null;
    isMember: boolean;
    monthlyBudget: string | null;
    keys: number;
    personalKeys: number;
  }
  const spendFields = '__typename memberId name isMember monthlyBudget keys personalKeys';

  const memberSpend = async (by: Browser) =>
    (
      await answer<{ memberSpend: Spend[] }>(
        by,
        `query ($id: ID) { account(id: $id) { memberSpend { ${spendFields} } } }`,
        { id: accountId },
        'account',
      )
    ).memberSpend;

  const setBudget = (id: string, month: string | null, by = owner) =>
    answer<Spend>(
      by,
      `mutation ($input: SetMemberBudgetInput!) { setMemberBudget(input: $input) {
         __typename ... on MemberSpend { ${spendFields} } ... on Error { code } } }`,
      { input: { id, month } },
      'setMemberBudget',
    );

  it('is set by those who pay, seen by its member, and outlasts their leaving and coming back', async () => {
    const email = 'spender@example.com';
    const member = await join(email, 'MEMBER', '203.0.113.5');
    const { key } = await createKey({ accountId }, member);
    const [own] = await memberSpend(member);
    expect(await memberSpend(member)).toHaveLength(1);
    expect(own).toMatchObject({ monthlyBudget: null, keys: 1, personalKeys: 1 });
    const id = own?.memberId ?? '';
    expect(await setBudget(id, '7', member)).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await setBudget(id, '0')).toMatchObject({ code: 'BAD_INPUT' });
    expect(await setBudget(id, '7')).toMatchObject({ monthlyBudget: '7', isMember: true });
    expect(await memberSpend(member)).toMatchObject([{ monthlyBudget: '7' }]);
    // Kept for the account, the key survives its maker, and so does the budget that it counts in.
    await updateKey({ id: key.id, owner: 'ACCOUNT' });
    await remove(email);
    expect((await memberSpend(owner)).find(({ memberId }) => memberId === id)).toMatchObject({
      isMember: false,
      monthlyBudget: '7',
      keys: 1,
      personalKeys: 0,
    });
    expect(await setBudget(id, '8')).toMatchObject({ monthlyBudget: '8', isMember: false });
    await owner.send(
      'mutation ($email: String!) { inviteMember(input: { email: $email, role: MEMBER }) { __typename } }',
      {
        variables: { email },
      },
    );
    await expect
      .poll(async () => {
        const token = await tokenFor(plane, email, '/invitation');
        const { data } = await member.send(
          'mutation ($token: String!) { acceptInvitation(token: $token) { __typename } }',
          {
            variables: { token },
          },
        );
        return data?.['acceptInvitation'];
      })
      .toEqual({ __typename: 'Account' });
    expect(await memberSpend(member)).toMatchObject([{ monthlyBudget: '8', isMember: true }]);
  });

  it('leaves its member no other keys to spend through', async () => {
    const member = await join('bound@example.com', 'MEMBER', '203.0.113.6');
    const { key: foreign } = await createKey({ name: 'of the owner' });
    expect((await updateKey({ id: foreign.id, name: 'renamed' }, member)).code).toBe(undefined);
    const [own] = await memberSpend(member);
    await setBudget(own?.memberId ?? '', '5');
    expect(await updateKey({ id: foreign.id, name: 'again' }, member)).toMatchObject({ code: 'NOT_ALLOWED' });
    const rotated = await answer<{ __typename: string }>(
      member,
      'mutation ($id: ID!) { rotateKey(input: { id: $id }) { __typename } }',
      { id: foreign.id },
      'rotateKey',
    );
    expect(rotated.__typename).toBe('NotAllowedError');
    const { key } = await createKey({ accountId }, member);
    expect((await rotateKey(key.id, member)).key.owner).toBe('MEMBER');
  });
});
