import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Limits of documents and requests, and what production hides. */

let plane: ControlPlane;
let production: ControlPlane;
beforeAll(async () => {
  [plane, production] = await Promise.all([createControlPlane(), createControlPlane({ production: true })]);
});
afterAll(() => Promise.all([plane.close(), production.close()]));

/** Rows that were written in the database during this work: the throttle alone writes for every sign-in that runs. */
async function written(work: () => Promise<unknown>): Promise<number> {
  const before = await rowsWritten();
  await work();
  return (await rowsWritten()) - before;
}

async function rowsWritten(): Promise<number> {
  const { rows } = await plane.database.pool.query('SELECT count(*)::int AS n FROM throttle');
  return rows[0].n;
}

const signIn = (alias: string) =>
  `${alias}: signIn(input: { email: "a@example.com", password: "guess" }) { ... on Error { code } }`;

describe('a document', () => {
  it('with a thousand aliases is refused before anything runs', async () => {
    const document = `mutation { ${Array.from({ length: 1_000 }, (_item, i) => signIn(`a${i}`)).join(' ')} }`;
    const wrote = await written(async () => {
      const answer = await plane.send(document);
      expect(answer.data).toBeNull();
      expect(answer.errors.length).toBeGreaterThan(0);
      expect(answer.errors[0]?.extensions['code']).toBe('DOCUMENT_TOO_LARGE');
    });
    expect(wrote).toBe(0);
  });

  it('with more actions than one operation may have is refused', async () => {
    const document = `mutation { ${Array.from({ length: 11 }, (_item, i) => signIn(`a${i}`)).join(' ')} }`;
    expect((await plane.send(document)).errors[0]?.message).toBe('An operation changes at most 10 things.');
    const actions = Array.from({ length: 11 }, (_item, i) => signIn(`a${i}`)).join(' ');
    for (const hidden of [
      `mutation { ...All } fragment All on Mutation { ${actions} }`,
      `mutation { ... on Mutation { ${actions} } }`,
    ]) {
      const wrote = await written(async () => {
        expect((await plane.send(hidden)).errors[0]?.message).toBe('An operation changes at most 10 things.');
      });
      expect(wrote).toBe(0);
    }
  });

  it.each([
    ['five thousand levels deep', `{ ${'me { accounts { '.repeat(2_500)} id ${'} }'.repeat(2_500)} }`],
    ['twenty levels deep', `{ me { ${'accounts { members '.repeat(1)} ${'{ x '.repeat(20)} ${'}'.repeat(20)} } } }`],
    ['with fifty thousand tokens', `{ ${'__typename '.repeat(50_000)} }`.slice(0, 100_000)],
    ['with a flood of directives', `{ __typename ${'@include(if: true) '.repeat(200)} }`],
    ['with a bomb of fragments', bomb(18)],
    ['that selects the same field over and over', `{ ${'__typename '.repeat(1_000)} }`],
    ['that selects a field again in many fragments', overlapping(50)],
    ['with very many fragments', overlapping(100)],
    ['with fragments in a circle', 'query { ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
    ['asking for too much', `{ me { accounts { ${connections()} } } }`],
  ])('%s is refused', async (_name, document) => {
    const answer = await plane.send(document);
    expect(answer.data?.['me'] ?? null).toBeNull();
    expect(answer.errors.length).toBeGreaterThan(0);
    expect(answer.errors.length).toBeLessThanOrEqual(11);
  });

  it('sent as a batch is refused', async () => {
    const reply = await plane.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }]),
    });
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).not.toHaveProperty('data');
  });

  it('that is no JSON, no object or names unknown members is refused', async () => {
    for (const payload of [
      '',
      '{',
      'null',
      '"{ __typename }"',
      '{"query":1}',
      '{"query":"{ __typename }","extra":1}',
    ]) {
      const reply = await plane.app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload,
      });
      expect(reply.statusCode).toBe(400);
    }
  });

  it('that breaks off is not quoted in the answer', async () => {
    for (const { app } of [plane, production]) {
      const reply = await app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload: '{"query":"mutation { signIn(input: { password: \\"hunter2\\" })',
      });
      expect(reply.statusCode).toBe(400);
      expect(reply.json()).toEqual({
        errors: [{ message: 'POST body sent invalid JSON.', extensions: { code: 'BAD_REQUEST' } }],
      });
    }
  });

  it('that accepts no type of answer that there is is refused with the types that there are', async () => {
    const ask = (query: string, accept: string) =>
      plane.app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json', accept },
        payload: JSON.stringify({ query }),
      });
    for (const reply of [await ask('{ models { id } }', 'text/html'), await ask('{ models { id } }', 'image/png')]) {
      expect(reply.statusCode).toBe(406);
      expect(reply.json()).toMatchObject({
        errors: [{ message: expect.stringContaining('text/event-stream'), extensions: { code: 'NOT_ACCEPTABLE' } }],
      });
    }
  });
});

it.each([
  'x',
  '',
  'Zm9v',
  'Account:',
  'Account:x',
  'Bogus:1',
  'Member:x',
  'Query:1',
  'LedgerEntry:a/b',
  'Plan:\u0000',
  `Account:${'x'.repeat(2_000)}`,
])('an id that is none of anything (%j) is of nothing that can be fetched', async (text) => {
  for (const id of [text, Buffer.from(text).toString('base64')].filter((each) => !each.includes('\u0000'))) {
    const answer = await plane.send('query ($id: ID!) { node(id: $id) { id } }', { variables: { id } });
    expect([answer.errors, answer.data]).toEqual([[], { node: null }]);
  }
});

/** Every level spreads the next one twice: 2^depth fields when unfolded. */
function bomb(depth: number): string {
  const fragments = Array.from(
    { length: depth },
    (_item, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`,
  );
  return `{ ...F0 } ${fragments.join(' ')} fragment F${depth} on Query { __typename }`;
}

/** Fragments that select the same fields: validation compares each of them with each other one. */
function overlapping(count: number): string {
  const names = Array.from({ length: count }, (_item, i) => `F${i}`);
  const fragments = names.map((name) => `fragment ${name} on Query { status { models { modelId } } plans { name } }`);
  return `{ ${names.map((name) => `...${name}`).join(' ')} } ${fragments.join(' ')}`;
}

function connections(): string {
  const nodes =
    'edges { node { requestId model receipt { pool tokens amount pricePerMillion } usage { input output } } }';
  return ['a', 'b', 'c', 'd'].map((alias) => `${alias}: ledger(first: 100) { ${nodes} }`).join(' ');
}

describe('a page', () => {
  it.each([
    ['first: 1000000000'],
    ['first: -1'],
    ['first: 0'],
    ['first: 101'],
    ['after: "garbage"'],
    ['after: "bnVsbA=="'],
  ])('of the ledger with %s is refused', async (argument) => {
    const browser = await owner();
    const answer = await browser.send(`{ me { accounts { ledger(${argument}) { edges { cursor } } } } }`);
    expect(answer.errors).toHaveLength(1);
    expect(answer.errors[0]?.extensions['code']).toMatch(/^(BAD_INPUT|BAD_USER_INPUT|DOCUMENT_TOO_LARGE)$/);
  });

  it.each([['first: 1000000000'], ['first: -1'], ['after: "garbage"'], ['after: "R1BDOlM6eA=="'], ['first: 1.5']])(
    'of keys with %s is refused',
    async (argument) => {
      const browser = await owner();
      const answer = await browser.send(`{ me { accounts { keys(${argument}) { edges { cursor } } } } }`);
      expect(answer.errors.map(({ extensions }) => extensions['code'])).not.toContain('INTERNAL');
      expect(answer.errors.length).toBeGreaterThan(0);
    },
  );
});

let person: ReturnType<typeof createPerson> | undefined;
function owner(): ReturnType<typeof createPerson> {
  person ??= createPerson(plane, 'owner@example.com');
  return person;
}

function post(headers: Record<string, string>, payload: string) {
  return plane.app.inject({ method: 'POST', url: '/graphql', headers, payload });
}

describe('a request', () => {
  const mutation = JSON.stringify({ query: 'mutation { signOut { ok } }' });

  it.each([
    ['application/x-www-form-urlencoded', 'query=mutation%20%7B%20signOut%20%7B%20ok%20%7D%20%7D'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{}\r\n--x--'],
    ['text/plain', mutation],
    ['application/graphql', 'mutation { signOut { ok } }'],
    ['application/json; charset=utf-16', mutation],
  ])('of type %s is refused', async (type, payload) => {
    const reply = await post({ 'content-type': type }, payload);
    expect(reply.statusCode).toBe(415);
    expect(reply.json()).not.toHaveProperty('data');
  });

  it('from another site is refused, by either header of the browser', async () => {
    const type = { 'content-type': 'application/json' };
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'http://steyg.test' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://other.steyg.test' },
    ];
    for (const headers of foreign) {
      const reply = await post({ ...type, ...headers }, mutation);
      expect(reply.statusCode).toBe(403);
    }
    const own: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'same-origin', origin: 'http://steyg.test' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of own) {
      expect((await post({ ...type, ...headers }, mutation)).statusCode).toBe(200);
    }
  });

  it('with GET does nothing', async () => {
    const reply = await plane.app.inject({ method: 'GET', url: '/graphql?query=mutation{signOut{ok}}' });
    expect(reply.statusCode).toBe(405);
  });

  it('that is too large is refused unread', async () => {
    const query = `mutation { signIn(input: { email: "a@example.com", password: "${'x'.repeat(1_000_000)}" }) { __typename } }`;
    const reply = await post({ 'content-type': 'application/json' }, JSON.stringify({ query }));
    expect(reply.statusCode).toBe(413);
  });

  it('that is not UTF-8 is refused', async () => {
    const reply = await plane.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json' },
      payload: Buffer.from('{"query":"{ __typename }","variables":{"a":"\xff"}}', 'latin1'),
    });
    expect(reply.statusCode).toBe(400);
  });

  it('carries its id, which the answer repeats', async () => {
    const reply = await post({ 'content-type': 'application/json' }, mutation);
    expect(reply.headers['x-request-id']).toBeTruthy();
    expect(reply.headers['cache-control']).toBe('no-store');
  });
});

describe('text', () => {
  const signUp = `mutation ($input: SignUpInput!) { signUp(input: $input) { __typename ... on Error { code } } }`;

  it('with NUL or half a character is refused in variables and in documents', async () => {
    for (const name of ['a\u0000b', 'a\uD800b', '\uDC00']) {
      const input = { email: 'a@example.com', password: 'long enough it is', name };
      const byVariable = await plane.send(signUp, { variables: { input } });
      expect(byVariable.errors[0]?.extensions['code']).toBe('BAD_USER_INPUT');
    }
    for (const escape of ['\\u0000', '\\uD800']) {
      const literal = await plane.send(`mutation { resendVerification(email: "a${escape}b") { __typename } }`);
      expect(literal.data).toBeNull();
      expect(literal.errors.length).toBeGreaterThan(0);
    }
  });

  it('in members that the input does not have is an error, and nothing is written', async () => {
    const input = {
      email: 'x@example.com',
      password: 'long enough it is',
      name: 'X',
      operator: true,
      emailVerified: true,
    };
    const answer = await plane.send(signUp, { variables: { input } });
    expect(answer.errors[0]?.extensions['code']).toBe('BAD_USER_INPUT');
    expect(answer.data).toBeNull();
    const { rowCount } = await plane.database.pool.query(`SELECT FROM app_user WHERE email = 'x@example.com'`);
    expect(rowCount).toBe(0);
  });
});

describe('production', () => {
  it('does not tell the schema', async () => {
    for (const query of ['{ __schema { types { name } } }', '{ __type(name: "User") { fields { name } } }']) {
      const answer = await production.send(query);
      expect(answer.data).toBeNull();
      expect(answer.text).not.toContain('SignUpInput');
    }
    expect((await production.send('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });

  it('suggests no names', async () => {
    const input = { email: 'a@example.com', password: 'long enough it is', name: 'X', emal: 'x' };
    const mistakes = [
      production.send('{ mee { scopes } }'),
      production.send('{ me { scope } }'),
      production.send('{ models { modelIdd } }'),
      production.send('mutation { signIn(input: { emial: "a", password: "b" }) { __typename } }'),
      production.send('mutation ($input: SignUpInputs!) { signUp(input: $input) { __typename } }'),
      production.send('mutation ($input: SignUpInput!) { signUp(input: $input) { __typename } }', {
        variables: { input },
      }),
    ];
    for (const answer of await Promise.all(mistakes)) {
      expect(answer.errors.length).toBeGreaterThan(0);
      expect(answer.text).not.toMatch(/did you mean/i);
    }
  });

  it('has no page for trying things out; development has, for people with a session', async () => {
    const page = { method: 'GET', url: '/graphql', headers: { accept: 'text/html' } } as const;
    const reply = await production.app.inject(page);
    expect(reply.statusCode).toBe(405);
    expect(reply.body).not.toContain('GraphiQL');
    expect((await plane.app.inject(page)).headers['location']).toBe('/docs/graphql');
    const cookie = [...(await owner()).cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const signedIn = { ...page, headers: { ...page.headers, cookie } };
    expect((await plane.app.inject(signedIn)).body).toContain('GraphiQL');
  });
});

describe('a failure on our side', () => {
  it('says nothing but the id of the request, and logs no text of it', async () => {
    const broken = await createControlPlane({ production: true });
    try {
      await broken.database.pool.query('ALTER TABLE throttle RENAME COLUMN subject TO secret_column_name');
      const answer = await broken.send(
        'mutation { signIn(input: { email: "a@example.com", password: "hunter2 hunter2" }) { __typename } }',
      );
      expect(answer.data).toBeNull();
      expect(answer.errors).toEqual([
        expect.objectContaining({
          message: 'Something went wrong on our side.',
          extensions: { code: 'INTERNAL', requestId: expect.any(String) },
        }),
      ]);
      expect(answer.text).not.toMatch(/throttle|secret_column_name|subject|hunter2/);
      expect(broken.logged).toHaveLength(1);
      expect(JSON.stringify(broken.logged)).not.toMatch(/hunter2|example\.com|secret_column_name/);
    } finally {
      await broken.close();
    }
  });
});
