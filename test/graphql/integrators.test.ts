import type { AddressInfo } from 'node:net';
import { Kind, NoDeprecatedCustomRule, parse, print, specifiedRules, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstQueries, graphiqlPage } from '../../server/graphql/graphiql.ts';
import { buildSchema } from '../../server/graphql/schema.ts';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** The features for integrators: links between objects, subscriptions, all problems at once, operators' operations. */

let plane: ControlPlane;
let owner: Browser;
let operator: Browser;
let accountId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.2');
  const { pool } = plane.database;
  await pool.query(
    `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'operator@example.com'`,
  );
  await pool.query(
    `INSERT INTO plan (id, name, price_vnd, budget) VALUES ('small', 'Small', 100000, 5000000000000), ('big', 'Big', 200000, 11000000000000)`,
  );
  await addModel(pool, { id: 'linked-model' });
  const { rows } = await pool.query(`SELECT id FROM account WHERE email = 'owner@example.com'`);
  accountId = rows[0].id;
});
afterAll(() => plane.close());

async function makeOrder(planId: string): Promise<string> {
  const answer = await owner.send(
    'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { ... on Order { id } ... on Error { message } } }',
    { variables: { input: { planId } } },
  );
  return (answer.data as { createOrder: { id: string } }).createOrder.id;
}

/** A finished request, and the id of its key. */
async function finishRequest(): Promise<{ requestId: string; keyId: string }> {
  await owner.send('mutation { createKey(input: {}) { __typename } }');
  const { rows } = await plane.database.pool.query(
    'SELECT id FROM api_key WHERE account_id = $1 ORDER BY created_at DESC LIMIT 1',
    [accountId],
  );
  const { ledger, close } = await openLedger(plane.database.url);
  const asked = ask({ accountId, keyId: rows[0].id }, { model: 'linked-model' });
  await ledger.settle(settlement(asked, await admitted(ledger, asked)));
  await close();
  return { requestId: asked.requestId, keyId: rows[0].id };
}

describe('an object', () => {
  it('links to what it names: orders to account and plan, transfers to orders, entries to models, rows to keys', async () => {
    const id = await makeOrder('small');
    const order = await owner.send(
      'query ($id: ID!) { order(id: $id) { account { email } plan { planId name } upgradedOrder { id } payment { memo amountVnd } } }',
      { variables: { id } },
    );
    expect(order.data).toMatchObject({
      order: { account: { email: 'owner@example.com' }, plan: { planId: 'small', name: 'Small' }, upgradedOrder: null },
    });
    const { memo } = (order.data as { order: { payment: { memo: string } } }).order.payment;
    const recorded = await operator.send(
      `mutation ($input: RecordTransferInput!) { recordTransfer(input: $input) { ... on BankTransfer { order { id status receivedVnd paidAt } } } }`,
      {
        variables: {
          input: {
            bankReference: 'FT1',
            amountVnd: '100000',
            memo,
            bookedAt: new Date(Date.now() - 1_000).toISOString(),
          },
        },
      },
    );
    expect(recorded.data).toMatchObject({ recordTransfer: { order: { id, status: 'PAID', receivedVnd: '100000' } } });

    const { requestId } = await finishRequest();
    const account = await owner.send(
      `query ($requestId: String!) { account {
         ledgerEntry(requestId: $requestId) { model catalogModel { modelId contextWindow } }
         usage(period: MONTH, by: [KEY]) { nodes { key { name last4 } } } } }`,
      { variables: { requestId } },
    );
    expect(account.errors).toEqual([]);
    expect(account.data).toMatchObject({
      account: {
        ledgerEntry: { model: 'linked-model', catalogModel: { modelId: 'linked-model' } },
        usage: { nodes: [{ key: { name: 'API key', last4: expect.any(String) } }] },
      },
    });
  });

  it('in a list of orders is reached page by page', async () => {
    for (let count = 0; count < 3; count += 1) await makeOrder('big');
    const page = async (args: string) => {
      const answer = await owner.send(
        `{ account { orders(${args}) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } } }`,
      );
      expect(answer.errors).toEqual([]);
      return (answer.data as { account: { orders: OrderPage } }).account.orders;
    };
    const all = await page('first: 10');
    const first = await page('first: 2');
    const second = await page(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect([...first.edges, ...second.edges].map(({ node }) => node.id)).toEqual(
      all.edges.slice(0, 4).map(({ node }) => node.id),
    );
  });
});

describe('lists of one kind of element', () => {
  it('share a fragment, and the short ones say how long they are', async () => {
    await makeOrder('small');
    const answer = await operator.send(
      `{ operator { accounts(first: 100) { edges { node { email keys(first: 1) { totalCount ...Keys } accessTokens { totalCount } orders(first: 1) { totalCount ...Orders } } } } }
         operatorOrders: operator { orders(first: 1) { ...Orders } } }
       fragment Keys on ApiKeyConnection { edges { node { name } } totalCount }
       fragment Orders on OrderConnection { edges { ...Order } pageInfo { hasNextPage } }
       fragment Order on OrderEdge { cursor node { memo } }`,
    );
    expect(answer.errors).toEqual([]);
    const { rows } = await plane.database.pool.query(
      `SELECT (SELECT count(*)::int FROM api_key WHERE account_id = $1 AND deleted_at IS NULL) AS keys,
              (SELECT count(*)::int FROM purchase_order WHERE account_id = $1) AS orders`,
      [accountId],
    );
    const { operator: below } = answer.data as unknown as { operator: { accounts: { edges: { node: object }[] } } };
    expect(below.accounts.edges.map(({ node }) => node)).toContainEqual({
      email: 'owner@example.com',
      keys: { totalCount: rows[0].keys, edges: expect.any(Array) },
      accessTokens: { totalCount: 0 },
      orders: { totalCount: rows[0].orders, edges: [expect.anything()], pageInfo: expect.anything() },
    });
    expect(rows[0].orders).toBeGreaterThan(0);
  });
});

describe('a key that is made twice with one idempotency key', () => {
  const create = () =>
    owner.send(
      `mutation { createKey(input: { idempotencyKey: "once" }) {
         __typename ... on NewApiKey { secret key { id } } ... on KeyCreatedBeforeError { code message key { id } } } }`,
    );

  it('has its secret, or is an error that names it', async () => {
    const first = (await create()).data as unknown as { createKey: { key: { id: string } } };
    expect(first).toEqual({
      createKey: {
        __typename: 'NewApiKey',
        secret: expect.stringMatching(/^sk-steyg-/),
        key: { id: expect.anything() },
      },
    });
    expect((await create()).data).toEqual({
      createKey: {
        __typename: 'KeyCreatedBeforeError',
        code: 'KEY_CREATED_BEFORE',
        message: expect.any(String),
        key: { id: first.createKey.key.id },
      },
    });
  });
});

describe('what only operators see', () => {
  it('stands below a field that is null for everybody else', async () => {
    const { requestId } = await finishRequest();
    const query = `{ me { operator { orders(first: 1) { totalCount } bankTransfers(queue: true) { totalCount } plans { planId } } scopes user { language } }
       node(id: "${Buffer.from(`LedgerEntry:${accountId}/${requestId}`).toString('base64')}") { ... on LedgerEntry { requestId operator { upstream upstreamCost margin } } } }`;
    const customers = await owner.send(query);
    expect(customers.errors).toEqual([]);
    expect(customers.data).toEqual({
      me: { operator: null, scopes: [], user: { language: 'EN' } },
      node: { requestId, operator: null },
    });
    const operators = await operator.send(query);
    expect(operators.errors).toEqual([]);
    expect(operators.data).toMatchObject({
      me: {
        operator: {
          orders: { totalCount: expect.any(Number) },
          bankTransfers: { totalCount: 0 },
          plans: expect.any(Array),
        },
      },
      node: { requestId, operator: { upstream: expect.any(String) } },
    });
  });

  it('has features of upstreams as types', async () => {
    await plane.database.pool.query(
      `INSERT INTO upstream (id, protocol, base_url, features) VALUES ('typed', 'chat-completions', 'https://typed.example', $1)`,
      [{ effort: 'named', toolChoice: 'auto', files: false, minOutputTokens: 16 }],
    );
    const answer = await operator.send(
      '{ operator { upstreams { upstreamId features { effort toolChoice files minOutputTokens store } } vendorProfiles { endpoints { features { effort systemRole cachedTokens maxTokensField } } } } }',
    );
    expect(answer.errors).toEqual([]);
    const { upstreams } = (answer.data as unknown as { operator: { upstreams: object[] } }).operator;
    expect(upstreams).toContainEqual({
      upstreamId: 'typed',
      features: { effort: 'NAMED', toolChoice: 'AUTO', files: false, minOutputTokens: 16, store: null },
    });
  });
});

describe('a mutation', () => {
  it('takes several values in one input, and a single one by its name', async () => {
    await owner.send(
      'mutation { createKey(input: { name: "first" }) { __typename } createdToo: createKey(input: { name: "second" }) { __typename } }',
    );
    const listed = await owner.send('{ account { keys(first: 2) { edges { node { id } } } } }');
    const [one] = (
      listed.data as unknown as { account: { keys: { edges: { node: { id: string } }[] } } }
    ).account.keys.edges.map(({ node }) => node.id);
    const deletes = (given: string) => owner.send(`mutation { deleteKey(${given}) { ... on ApiKey { id status } } }`);
    expect((await deletes(`id: "${one}"`)).data).toEqual({ deleteKey: { id: one, status: 'DELETED' } });
    expect((await deletes(`input: { id: "${one}" }`)).errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('says which value is missing, and names a wrong one by its place in the input', async () => {
    const without = await owner.send('mutation { deleteKey { __typename } }');
    expect(without.errors[0]).toMatchObject({
      message: expect.stringContaining('"ID!" is required'),
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
    const rotates = 'mutation ($input: RotateKeyInput!) { rotateKey(input: $input) { __typename } }';
    const empty = await owner.send(rotates, { variables: { input: {} } });
    expect(empty.errors[0]).toMatchObject({
      message: expect.stringContaining('$input.id'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    const problems = '... on InputError { problems { path } }';
    const wrong = 'currentPassword: "correct horse battery", newPassword: "x"';
    const told = async (given: string) =>
      (await owner.send(`mutation { changePassword(${given}) { __typename ${problems} } }`)).data;
    expect(await told(`input: { ${wrong} }`)).toMatchObject({
      changePassword: { problems: [{ path: ['input', 'newPassword'] }] },
    });
  });
});

describe('a mutation of the session, or of a token', () => {
  it('answers with an object', async () => {
    const guest = await createPerson(plane, 'guest@example.com', '203.0.113.3');
    const send = async (mutation: string) => {
      const answer = await guest.send(`mutation { ${mutation} }`);
      expect(answer.errors).toEqual([]);
      return answer.data;
    };
    const token = `createAccessToken(input: { name: "t", scopes: [READ] }) { ... on CreatedAccessToken { accessToken { id } } }`;
    const made = async () =>
      ((await send(token)) as unknown as { createAccessToken: { accessToken: { id: string } } }).createAccessToken
        .accessToken.id;
    const id = await made();
    expect(await send(`revokeAccessToken(id: "${id}") { ... on AccessToken { id deletedAt } }`)).toEqual({
      revokeAccessToken: { id, deletedAt: expect.any(String) },
    });
    const again = `revokeAccessToken(id: "${id}") { ... on Error { code requestId } }`;
    expect(await send(again)).toEqual({ revokeAccessToken: { code: 'NOT_FOUND', requestId: expect.any(String) } });
    expect(await send('revokeOtherSessions { ... on SessionsEnded { count viewer { user { email } } } }')).toEqual({
      revokeOtherSessions: { count: 0, viewer: { user: { email: 'guest@example.com' } } },
    });
    expect(await send('signOut { ... on Done { ok } }')).toEqual({ signOut: { ok: true } });
    expect((await guest.send('{ me { user { email } } }')).data).toEqual({ me: null });
    const download = await operator.send('mutation { createBooksDownload { ... on Download { url } } }');
    expect(download.data).toEqual({ createBooksDownload: { url: expect.stringContaining('/downloads/') } });
  });
});

interface OrderPage {
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: { endCursor: string; startCursor: string };
}

describe('prices in an input', () => {
  const problems = '__typename ... on InputError { problems { path message } }';
  const save = `mutation ($input: SavePricesInput!) {
    savePrices(input: $input) { ${problems} ... on CatalogEntry { priceVersions { prices { input cacheHit output tiers { output } perUnit { image } } } } }
  }`;
  const saveRoutes = `mutation ($routes: [RouteInput!]!) {
    setRoutes(input: { modelId: "linked-model", routes: $routes }) {
      ${problems} ... on CatalogEntry { routes { enabled costs { input output } } }
    }
  }`;
  const prices = { input: '3', cacheHit: '0.30', output: '15.000000' };
  const route = { upstreamId: 'priced', upstreamModel: 'linked-model' };

  it('are amounts of USD: of a model', async () => {
    const input = {
      modelId: 'linked-model',
      prices: {
        ...prices,
        tiers: [{ ...prices, abovePromptTokens: 200_000, output: '22.5' }],
        perUnit: { image: '0.04' },
      },
    };
    const saved = {
      input: '3',
      cacheHit: '0.3',
      output: '15',
      tiers: [{ output: '22.5' }],
      perUnit: { image: '0.04' },
    };
    expect((await operator.send(save, { variables: { input } })).data).toMatchObject({
      savePrices: { priceVersions: expect.arrayContaining([{ prices: saved }]) },
    });
  });

  it('are amounts of USD: of a route', async () => {
    await operator.send(
      'mutation { saveUpstream(input: { upstreamId: "priced", protocol: MESSAGES, baseUrl: "https://api.vendor.example", secret: "sk-vendor-key-1234" }) { __typename } }',
    );
    const one = { ...route, costs: prices };
    expect((await operator.send(saveRoutes, { variables: { routes: [one] } })).data).toMatchObject({
      setRoutes: { routes: expect.arrayContaining([{ enabled: true, costs: { input: '3', output: '15' } }]) },
    });
  });

  it('that are wrong are named by their place, and what is no amount is no input at all', async () => {
    const dear = { ...prices, cacheHit: '3' };
    const input = { modelId: 'linked-model', prices: dear, validFrom: '2020-01-01T00:00:00Z' };
    expect((await operator.send(save, { variables: { input: { ...input, validFrom: null } } })).data).toMatchObject({
      savePrices: { problems: [{ path: ['input', 'prices', 'cacheHit'] }] },
    });
    expect((await operator.send(save, { variables: { input: { ...input, prices } } })).data).toMatchObject({
      savePrices: { problems: [{ path: ['input', 'validFrom'] }] },
    });
    const routes = [{ ...route, costs: { ...prices, cacheHit: '0.0000001' } }];
    expect((await operator.send(saveRoutes, { variables: { routes } })).data).toMatchObject({
      setRoutes: { problems: [{ path: ['input', 'routes', '0', 'costs', 'cacheHit'] }] },
    });
    const number = await operator.send(save, { variables: { input: { ...input, prices: { ...prices, input: 3 } } } });
    expect(number.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });
});

describe('the company of an account', () => {
  const set = `mutation ($input: SetCompanyInput!) {
    setCompany(input: $input) { ... on Account { company { name taxCode } } ... on InputError { problems { path } } }
  }`;

  it('is set and taken away with one argument, whose wrong members are named', async () => {
    const viewer = await owner.send('{ account { id } }');
    const { id } = (viewer.data as { account: { id: string } }).account;
    const send = async (company: object | null) =>
      (await owner.send(set, { variables: { input: { accountId: id, company } } })).data;
    expect(await send({ name: 'Cty Một', taxCode: '0312345673' })).toEqual({
      setCompany: { company: { name: 'Cty Một', taxCode: '0312345673' } },
    });
    expect(await send({ name: 'Cty Một', taxCode: 'MST 1' })).toEqual({
      setCompany: { problems: [{ path: ['input', 'company', 'taxCode'] }] },
    });
    expect(await send(null)).toEqual({ setCompany: { company: null } });
  });
});

describe('a subscription', () => {
  /** The first events of a subscription, as they come; `meanwhile` runs when so many of them have. */
  async function events(
    query: string,
    count: number,
    { after, meanwhile }: { after: number; meanwhile: () => Promise<unknown> },
  ): Promise<unknown[]> {
    if (!plane.app.server.listening) await plane.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = plane.app.server.address() as AddressInfo;
    const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const gone = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', cookie },
      body: JSON.stringify({ query }),
      signal: gone.signal,
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const told: unknown[] = [];
    let acted = after === 0 ? meanwhile() : null;
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      told.splice(0);
      for (const [, data = ''] of text.matchAll(/^data: (\{.*\})$/gm)) told.push(JSON.parse(data));
      if (told.length >= count) break;
      if (told.length >= after) acted ??= meanwhile();
    }
    gone.abort();
    await acted;
    return told;
  }

  it('tells the budget as it is and when it has changed', async () => {
    const id = Buffer.from(`Account:${accountId}`).toString('base64');
    const told = await events('subscription { budgetChanged { granted } }', 2, {
      after: 1,
      meanwhile: () =>
        operator.send('mutation ($input: GiveGrantInput!) { giveGrant(input: $input) { __typename } }', {
          variables: { input: { accountId: id, amount: '7', reason: 'a test' } },
        }),
    });
    const [before, after] = told.map((event) =>
      Number((event as { data: { budgetChanged: { granted: string } } }).data.budgetChanged.granted),
    );
    expect((after ?? 0) - (before ?? 0)).toBe(7);
  });

  it('tells requests as they finish, and none that had finished before', async () => {
    let requestId = '';
    const told = await events('subscription { ledgerAppended { requestId outcome } }', 1, {
      after: 0,
      meanwhile: async () => {
        ({ requestId } = await finishRequest());
      },
    });
    expect(told).toEqual([{ data: { ledgerAppended: { requestId, outcome: 'COMPLETED' } } }]);
  });
});

describe('input with several mistakes', () => {
  const told = async (browser: Pick<Browser, 'send'>, query: string, input: object) => {
    const answer = await browser.send(query, { variables: { input } });
    const [result] = Object.values(answer.data ?? {}) as { problems: { path: string[]; message: string }[] }[];
    return result?.problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it('is told all of them at once', async () => {
    const asked = '... on InputError { problems { path message } }';
    expect(
      await told(plane, `mutation ($input: SignUpInput!) { signUp(input: $input) { ${asked} } }`, {
        email: 'nobody',
        password: 'short',
        name: ' ',
      }),
    ).toEqual([
      'input.email: This is not an e-mail address.',
      'input.password: The password needs at least 10 characters.',
      'input.name: The name must not be empty.',
    ]);
    expect(
      await told(operator, `mutation ($input: SavePlanInput!) { savePlan(input: $input) { ${asked} } }`, {
        planId: 'Not an id',
        name: '',
        priceVnd: '0',
        budget: '0',
        validDays: 0,
      }),
    ).toEqual([
      'input.planId: planId must be lower-case letters, digits and hyphens.',
      'input.name: name must not be empty.',
      'input.priceVnd: priceVnd must be more than zero.',
      'input.budget: budget must be more than zero.',
      'input.validDays: validDays must be a whole number of days, at most 36500.',
    ]);
    expect(
      await told(operator, `mutation ($input: AnnounceInput!) { announce(input: $input) { ${asked} } }`, {
        kind: 'INFO',
        title: '',
        body: '',
        startsAt: '2026-01-02T00:00:00Z',
        endsAt: '2026-01-01T00:00:00Z',
      }),
    ).toEqual([
      'input.title: title must not be empty.',
      'input.body: body must not be empty.',
      'input.endsAt: endsAt must be after the beginning.',
    ]);
    expect(
      await told(owner, `mutation ($input: CreateKeyInput!) { createKey(input: $input) { ${asked} } }`, {
        name: '',
        limits: { day: '0' },
      }),
    ).toEqual(['input.name: name must not be empty.', 'input.limits: limits must be more than zero.']);
  });
});

describe('an operation that costs too much', () => {
  it('is told its cost, the maximum and its request id', async () => {
    const many = Array.from({ length: 29 }, (_item, i) => `l${i}: ledger(first: 100) { edges { cursor } }`).join(' ');
    const answer = await owner.send(`{ me { accounts { ${many} } } }`);
    expect(answer.errors[0]).toMatchObject({
      message: expect.stringMatching(/its complexity is \d+, at most 20000 is answered/),
      extensions: {
        code: 'DOCUMENT_TOO_LARGE',
        measure: 'complexity',
        cost: expect.any(Number),
        maximum: 20_000,
        requestId: expect.any(String),
      },
    });
  });
});

describe('the operations that the page for trying out begins with', () => {
  const { definitions } = parse(firstQueries);
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);

  it('stand in the page', async () => {
    const [options = ''] = /\{"endpoint":.*\}/.exec(await graphiqlPage()) ?? [];
    expect(JSON.parse(options)).toEqual({ endpoint: '/graphql', defaultQuery: firstQueries });
  });

  it('use nothing that is deprecated', () => {
    expect(operations.length).toBe(definitions.length);
    const rules = [...specifiedRules, NoDeprecatedCustomRule];
    expect(validate(buildSchema(), parse(firstQueries), rules)).toEqual([]);
  });

  it.each(
    operations.filter(({ operation }) => operation !== 'subscription').map((each) => [each.name?.value, print(each)]),
  )('%s: runs', async (_name, text) => {
    const answer = await owner.send(text);
    expect(answer.errors).toEqual([]);
    expect(JSON.stringify(answer.data)).not.toMatch(/null\}$|"code"/);
  });
});

describe('a model key sent in place of an access token', () => {
  it('is recognised', async () => {
    const answer = await plane.send('{ __typename }', { headers: { authorization: 'Bearer sk-steyg-whatever' } });
    expect(answer.status).toBe(401);
    expect(answer.errors[0]?.message).toContain('access token (tk-steyg-');
    expect(answer.text).not.toContain('whatever');
  });
});

describe('an operator', () => {
  const open = `mutation ($input: OpenAccountInput!) { openAccount(input: $input) {
    __typename ... on Account { email name budget { free } } ... on Error { code message } } }`;
  const set = `mutation ($email: String!, $operator: Boolean!) { setOperator(input: { email: $email, operator: $operator }) {
    __typename ... on User { email operator } ... on Error { code } } }`;

  it('opens an account with a first budget, once for each address', async () => {
    const input = { email: 'New.Customer@example.com', name: 'New', budget: '12.5' };
    expect((await operator.send(open, { variables: { input } })).data).toEqual({
      openAccount: {
        __typename: 'Account',
        email: 'new.customer@example.com',
        name: 'New',
        budget: { free: '12.5' },
      },
    });
    expect((await operator.send(open, { variables: { input } })).data).toMatchObject({
      openAccount: { __typename: 'ConflictError', code: 'ACCOUNT_EXISTS' },
    });
    for (const wrong of [{ email: 'x' }, { email: 'a@example.com', budget: '0' }, { email: 'a@example.com', name: '' }])
      expect((await operator.send(open, { variables: { input: wrong } })).data).toMatchObject({
        openAccount: { __typename: 'InputError' },
      });
  });

  it('makes operators of people who have signed up, and takes it away, but not from the last one', async () => {
    const change = async (email: string, isOperator: boolean) =>
      (await operator.send(set, { variables: { email, operator: isOperator } })).data;
    expect(await change('operator@example.com', false)).toMatchObject({ setOperator: { code: 'LAST_OPERATOR' } });
    expect(await change('nobody@example.com', true)).toMatchObject({ setOperator: { code: 'NOT_FOUND' } });
    expect(await change('owner@example.com', true)).toMatchObject({ setOperator: { operator: true } });
    expect((await owner.send('{ operator { accounts(first: 1) { edges { node { id } } } } }')).errors).toEqual([]);
    expect(await change('owner@example.com', false)).toMatchObject({ setOperator: { operator: false } });
    expect((await owner.send('{ operator { accounts(first: 1) { edges { node { id } } } } }')).errors).toHaveLength(1);
    const { rows } = await plane.database.pool.query(
      `SELECT action FROM audit_entry WHERE action LIKE 'operator.%' ORDER BY created_at, id`,
    );
    expect(rows.map(({ action }) => action)).toEqual(['operator.create', 'operator.remove']);
  });

  describe('whose token or session was stolen', () => {
    const age = (by: string) =>
      plane.database.pool.query(
        `UPDATE user_session SET created_at = now() - $1::interval
         WHERE user_id = (SELECT id FROM app_user WHERE email = 'operator@example.com')`,
        [by],
      );
    const make = async (scopes: string[]) => {
      const { data } = await operator.send(
        `mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) {
           ... on CreatedAccessToken { secret } ... on Error { code } } }`,
        { variables: { input: { name: 't', scopes } } },
      );
      return (data as { createAccessToken: { secret?: string; code?: string } }).createAccessToken;
    };
    const change = (secret: string, email: string, isOperator: boolean) =>
      plane.send(set, { variables: { email, operator: isOperator }, headers: { authorization: `Bearer ${secret}` } });
    const operators = async () =>
      (await plane.database.pool.query('SELECT email FROM app_user WHERE operator ORDER BY email')).rows;

    it('does not make or end operators with the token, who would outlive it', async () => {
      const { secret = '' } = await make(['OPERATOR']);
      const before = await operators();
      const headers = { authorization: `Bearer ${secret}` };
      expect((await plane.send('{ operator { operators { email } } }', { headers })).errors).toEqual([]);
      for (const [email, isOperator] of [
        ['owner@example.com', true],
        ['operator@example.com', false],
      ] as const)
        expect((await change(secret, email, isOperator)).data).toMatchObject({ setOperator: { code: 'NOT_ALLOWED' } });
      expect(await operators()).toEqual(before);
    });

    it('makes neither operators nor their tokens with a session whose sign-in is older than ten minutes', async () => {
      const before = await operators();
      await age('11 minutes');
      const { data } = await operator.send(set, { variables: { email: 'owner@example.com', operator: true } });
      expect(data).toMatchObject({ setOperator: { code: 'SIGN_IN_AGAIN' } });
      expect(await make(['OPERATOR'])).toEqual({ code: 'SIGN_IN_AGAIN' });
      expect(await make(['READ'])).toHaveProperty('secret');
      expect(await operators()).toEqual(before);
      await age('1 minute');
    });
  });

  it('is the only one who can', async () => {
    const variables = { email: 'owner@example.com', operator: true };
    expect((await owner.send(set, { variables })).errors[0]?.extensions['code']).toBe('FORBIDDEN');
    const input = { email: 'z@example.com' };
    expect((await owner.send(open, { variables: { input } })).errors[0]?.extensions['code']).toBe('FORBIDDEN');
  });
});
