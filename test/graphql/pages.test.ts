import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Lists, page by page: nothing is left out and nothing comes twice, whatever happens to rows meanwhile. */

let plane: ControlPlane;
let owner: Browser;
let stranger: Browser;
let operator: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  stranger = await createPerson(plane, 'stranger@example.com', '203.0.113.2');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.3');
  await plane.database.pool.query(`UPDATE app_user SET operator = true WHERE email = 'operator@example.com'`);
});
afterAll(() => plane.close());

interface Page {
  names: string[];
  ids: string[];
  cursors: string[];
  hasNextPage: boolean;
  hasPreviousPage: boolean;
}

/** One of the lists: how it is asked for, and how rows come and go in it. */
interface List {
  name: string;
  who: () => Browser;
  ask: (args: string) => string;
  of: (answer: Answer) => unknown;
  table: 'api_key' | 'access_token' | 'account';
  make: (name: string, by?: Browser) => Promise<void>;
  drop: (id: string) => Promise<void>;
}

async function send(browser: Browser, document: string, variables: Record<string, unknown> = {}) {
  const answer = await browser.send(document, { variables });
  expect(answer.errors).toEqual([]);
  return answer;
}

const shape = 'edges { cursor node { id name } } pageInfo { hasNextPage hasPreviousPage }';
const own = (field: string) => (answer: Answer) =>
  (answer.data as Record<string, Record<string, unknown>>)['account']?.[field];

const lists: List[] = [
  {
    name: 'keys',
    table: 'api_key',
    who: () => owner,
    ask: (args) => `{ account { keys(${args}) { ${shape} } } }`,
    of: own('keys'),
    make: async (name, by = owner) => {
      await send(by, 'mutation ($name: String) { createKey(input: { name: $name }) { __typename } }', { name });
    },
    drop: async (id) => {
      await send(owner, 'mutation ($id: ID!) { deleteKey(id: $id) { __typename } }', { id });
    },
  },
  {
    name: 'access tokens',
    table: 'access_token',
    who: () => owner,
    ask: (args) => `{ account { accessTokens(${args}) { ${shape} } } }`,
    of: own('accessTokens'),
    make: async (name, by = owner) => {
      const document =
        'mutation ($name: String!) { createAccessToken(input: { name: $name, scopes: [READ] }) { __typename } }';
      await send(by, document, { name });
    },
    drop: async (id) => {
      await send(owner, 'mutation ($id: ID!) { revokeAccessToken(id: $id) { __typename } }', { id });
    },
  },
  {
    name: 'active accounts',
    table: 'account',
    who: () => operator,
    ask: (args) => `{ operator { accounts(status: ACTIVE, search: "listed", ${args}) { ${shape} } } }`,
    of: (answer) => (answer.data as Record<string, Record<string, unknown>>)['operator']?.['accounts'],
    make: async (name) => {
      await plane.database.pool.query(`INSERT INTO account (id, name, email) VALUES ($1, $2, $3)`, [
        randomUUID(),
        name,
        `${name}@listed.example.com`,
      ]);
    },
    drop: async (id) => {
      const account = Buffer.from(id, 'base64').toString().replace('Account:', '');
      await plane.database.pool.query(`UPDATE account SET status = 'suspended' WHERE id = $1`, [account]);
    },
  },
];

let seconds = 0;

/** One more row, a second younger than the one before: rows of one millisecond are in no order that a test could know. */
async function add({ table, make }: List, name: string, by?: Browser): Promise<void> {
  await make(name, by);
  seconds += 1;
  const at = `timestamptz '2026-11-01' + $2 * interval '1 second'`;
  await plane.database.pool.query(`UPDATE ${table} SET created_at = ${at} WHERE name = $1`, [name, seconds]);
}

async function page(list: List, args: string): Promise<Page> {
  const found = list.of(await send(list.who(), list.ask(args))) as {
    edges: { cursor: string; node: { id: string; name: string } }[];
    pageInfo: Pick<Page, 'hasNextPage' | 'hasPreviousPage'>;
  };
  return {
    names: found.edges.map(({ node }) => node.name),
    ids: found.edges.map(({ node }) => node.id),
    cursors: found.edges.map(({ cursor }) => cursor),
    ...found.pageInfo,
  };
}

describe.each(lists)('a page of $name', (list) => {
  beforeAll(async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await add(list, name);
  });

  it('ends exactly where the next one begins', async () => {
    const whole = await page(list, 'first: 6');
    expect(whole).toMatchObject({ names: ['f', 'e', 'd', 'c', 'b', 'a'], hasNextPage: false, hasPreviousPage: false });
    const cursor = whole.cursors[2];
    expect(await page(list, 'first: 3')).toMatchObject({ names: ['f', 'e', 'd'], hasNextPage: true });
    expect(await page(list, `first: 3, after: "${cursor}"`)).toMatchObject({
      names: ['c', 'b', 'a'],
      hasNextPage: false,
      hasPreviousPage: true,
    });
    expect(await page(list, `first: 2, after: "${whole.cursors[5]}"`)).toMatchObject({ names: [], hasNextPage: false });
  });

  it('leaves nothing out when the row of its cursor has gone from the list', async () => {
    const whole = await page(list, 'first: 6');
    const cursor = whole.cursors[2];
    await list.drop(whole.ids[2] ?? '');
    expect((await page(list, `first: 2, after: "${cursor}"`)).names).toEqual(['c', 'b']);
    expect((await page(list, 'first: 6')).names).toEqual(['f', 'e', 'c', 'b', 'a']);
  });

  it('is not moved by rows that are added meanwhile', async () => {
    const first = await page(list, 'first: 2');
    await add(list, 'g');
    expect((await page(list, `first: 2, after: "${first.cursors[1]}"`)).names).toEqual(['c', 'b']);
  });

  it.each([
    ['first: 2, after: "xyz"', expect.stringMatching(/cursor/)],
    ['first: 2, after: ""', expect.stringMatching(/cursor/)],
    [`first: 2, after: "${Buffer.from('GPC:S:no-id').toString('base64')}"`, 'This is not a cursor of this list.'],
  ])('is refused in words for %s', async (args, message) => {
    const { cursors } = await page(list, 'first: 1');
    const answer = await list.who().send(list.ask(args.replaceAll('CURSOR', JSON.stringify(cursors[0]))));
    expect(answer.errors).toMatchObject([{ message, extensions: { code: 'BAD_INPUT' } }]);
  });
});

it.each(lists.slice(0, 2))('a cursor of a stranger’s $name is answered like one of nobody’s', async (list) => {
  await add(list, 'theirs', stranger);
  const { text } = await stranger.send(list.ask('first: 1'));
  const [, theirs = ''] = /"cursor":"([^"]+)"/.exec(text) ?? [];
  expect(Buffer.from(theirs, 'base64').toString()).toMatch(/^GPC:S:.{36}$/);
  const nobodys = Buffer.from(`GPC:S:${randomUUID()}`).toString('base64');
  for (const args of ['first: 2, after: "CURSOR"', 'first: 1, after: "CURSOR"']) {
    const answers = await Promise.all(
      [theirs, nobodys].map((cursor) => owner.send(list.ask(args.replace('CURSOR', cursor)))),
    );
    expect(answers[0]?.errors).toEqual([]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  }
});

it('accounts are searched by what is written, not by a pattern', async () => {
  const accounts = lists[2] as List;
  await add(accounts, 'per_cent%');
  const search = async (text: string) => {
    const document = 'query ($text: String) { operator { accounts(search: $text) { edges { node { name } } } } }';
    const { data } = await send(operator, document, { text });
    const { edges } = (data as { operator: { accounts: { edges: { node: { name: string } }[] } } }).operator.accounts;
    return edges.map(({ node }) => node.name);
  };
  expect(await search('%')).toEqual(['per_cent%']);
  expect(await search('r_c')).toEqual(['per_cent%']);
  expect(await search('p_r')).toEqual([]);
  expect(await search('\\')).toEqual([]);
});

it('changes are listed page by page, also with a filter that the cursor’s row does not pass', async () => {
  for (const [at, subject] of ['thing:1', 'thing:2', 'thing:1', 'thing:2'].entries())
    await plane.database.pool.query(
      `INSERT INTO audit_entry (id, actor, action, subject, created_at)
       VALUES ($1, 'test', 'x', $2, timestamptz '2026-11-01' + $3 * interval '1 second')`,
      [randomUUID(), subject, at],
    );
  const log = async (args: string) => {
    const document = `{ operator { auditLog(actor: "test", ${args}) { edges { cursor node { subject } } } } }`;
    const { data } = await send(operator, document);
    return (data as { operator: { auditLog: { edges: { cursor: string; node: { subject: string } }[] } } }).operator
      .auditLog.edges;
  };
  const all = await log('first: 10');
  expect(all.map(({ node }) => node.subject)).toEqual(['thing:2', 'thing:1', 'thing:2', 'thing:1']);
  const rest = await log(`first: 10, subject: "thing:1", after: "${all[0]?.cursor}"`);
  expect(rest.map(({ cursor }) => cursor)).toEqual([all[1]?.cursor, all[3]?.cursor]);
});

describe('a list without a filter', () => {
  it.each([
    ['every account', () => operator, (args: string) => `{ operator { list: accounts(${args}) { ${ids} } } }`],
    ['every change', () => operator, (args: string) => `{ operator { list: auditLog(${args}) { ${ids} } } }`],
    ['every key', () => owner, (args: string) => `{ account { list: keys(deleted: true, ${args}) { ${ids} } } }`],
  ])('goes on to its end, page by page: %s', async (_name, who, ask) => {
    const read = async (args: string) => {
      const [found] = Object.values((await send(who(), ask(args))).data as Record<string, { list: IdPage }>);
      if (found === undefined) throw new Error('no list');
      return found.list;
    };
    const whole = (await read('first: 100')).edges.map(({ node }) => node.id);
    expect(whole.length).toBeGreaterThan(4);
    const walked: string[] = [];
    for (let after = ''; ; ) {
      const { edges, pageInfo } = await read(`first: 2${after}`);
      walked.push(...edges.map(({ node }) => node.id));
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(walked).toEqual(whole);
  });
});

const ids = 'edges { node { id } } pageInfo { hasNextPage endCursor }';

interface IdPage {
  edges: { node: { id: string } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

describe('a range', () => {
  const inverted = 'from: "2026-12-01", to: "2026-11-01"';
  it.each([
    ['usage', `{ account { usage(${inverted}) { pageInfo { endCursor } } } }`],
    ['the ledger', `{ account { ledger(filter: { ${inverted} }) { edges { cursor } } } }`],
    ['the audit log', `{ operator { auditLog(${inverted}) { edges { cursor } } } }`],
    ['revenue', `{ operator { revenue(${inverted}) { pageInfo { endCursor } } } }`],
  ])('that ends before it begins is refused for %s', async (_name, document) => {
    const answer = await operator.send(document);
    expect(answer.errors).toMatchObject([
      {
        message: 'to must not be before from.',
        extensions: { code: 'BAD_INPUT', problems: [{ message: expect.any(String) }] },
      },
    ]);
  });

  it('that ends before it begins is an expected error of a download', async () => {
    const document = `mutation { createLedgerDownload(input: { filter: { ${inverted} } }) { ... on InputError { problems { path } } } }`;
    expect((await send(owner, document)).data).toEqual({
      createLedgerDownload: { problems: [{ path: ['input', 'filter', 'to'] }] },
    });
  });

  it.each(['from: "9999-01-01", period: DAY', 'from: "2026-11-21", to: "2026-11-21", period: HOUR'])(
    'in which nothing can have happened is empty: %s',
    async (args) => {
      expect(
        (await send(owner, `{ account { usage(${args}) { nodes { cost } pageInfo { hasNextPage } } } }`)).data,
      ).toEqual({
        account: { usage: { nodes: [], pageInfo: { hasNextPage: false } } },
      });
    },
  );
});
