import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRouteTester } from '../../server/catalog/test-route.ts';
import { profileIds } from '../../server/core/profile.ts';
import { transaction } from '../../server/database/lane.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** The operator's side: the catalog, money that does not add up, accounts, and who may do what. */

let plane: ControlPlane;
let operator: Browser;
let customer: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  customer = await createPerson(plane, 'customer@example.com', '203.0.113.2');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  // As if they had set up one-time codes and signed in with one.
  await plane.database.pool.query(
    `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'operator@example.com'`,
  );
});
afterAll(() => plane.close());

async function storedPrices(): Promise<number | null> {
  return (await plane.database.pool.query('SELECT FROM price')).rowCount;
}

async function addRoute(id: string, baseUrl: string): Promise<string> {
  const { pool } = plane.database;
  await pool.query(`INSERT INTO upstream (id, protocol, base_url) VALUES ($1, 'messages', $2)`, [id, baseUrl]);
  const { rows } = await pool.query(
    `INSERT INTO route (id, model_id, upstream_id, upstream_model) VALUES (gen_random_uuid(), 'big-1', $1, 'm') RETURNING id`,
    [id],
  );
  return rows[0].id;
}

async function accountOf(email: string): Promise<string> {
  const { rows } = await plane.database.pool.query('SELECT id FROM account WHERE email = $1', [email]);
  return rows[0].id;
}

const saveModel = `mutation ($input: SaveModelInput!) {
  saveModel(input: $input) { __typename ... on CatalogEntry { modelId enabled } ... on InputError { problems { path message } } ... on Error { code } }
}`;
const model = {
  modelId: 'big-1',
  displayName: 'Big 1',
  family: 'big',
  contextWindow: 200_000,
  maxOutputTokens: 32_000,
};

const savePrices = `mutation ($input: SavePricesInput!) {
  savePrices(input: $input) {
    __typename ... on CatalogEntry { priceVersions { validFrom prices { input cacheHit output } } } ... on Error { code } ... on InputError { problems { path message } }
  }
}`;
const prices = { input: '3', cacheHit: '0.3', output: '15' };

const saveUpstream = `mutation ($input: SaveUpstreamInput!) {
  saveUpstream(input: $input) {
    __typename ... on Upstream { upstreamId baseUrl keys { last4 } } ... on Error { code } ... on InputError { problems { path message } }
  }
}`;

const known = 'displayName: "B", family: "b", contextWindow: 10, maxOutputTokens: 10';
const place = 'protocol: MESSAGES, baseUrl: "https://api.vendor.example"';
const routes = (list: string) => `input: { modelId: "big-1", routes: [${list}] }`;

describe('the catalog', () => {
  it('takes a model, its prices and its routes, and lists it publicly', async () => {
    expect((await operator.send(saveModel, { variables: { input: model } })).data).toMatchObject({
      saveModel: { modelId: 'big-1', enabled: true },
    });
    expect((await plane.send('{ models { modelId } }')).data).toEqual({ models: [] });
    await operator.send(savePrices, { variables: { input: { modelId: 'big-1', prices } } });
    const input = {
      upstreamId: 'vendor',
      protocol: 'MESSAGES',
      baseUrl: 'https://api.vendor.example',
      secret: 'sk-vendor-key-1234',
    };
    const saved = await operator.send(saveUpstream, { variables: { input } });
    expect(saved.data).toMatchObject({ saveUpstream: { upstreamId: 'vendor', keys: [{ last4: '1234' }] } });
    expect(saved.text).not.toContain('sk-vendor');
    const routed = await operator.send(
      `mutation { setRoutes(input: { modelId: "big-1", routes: [{ upstreamId: "vendor", upstreamModel: "vendor-big", costs: { input: "1", cacheHit: "0.1", output: "5" } }] }) {
        __typename ... on CatalogEntry { routes { upstreamModel costs { input output } upstream { upstreamId } } }
      } }`,
    );
    expect(routed.data).toMatchObject({
      setRoutes: {
        routes: [
          { upstreamModel: 'vendor-big', costs: { input: '1', output: '5' }, upstream: { upstreamId: 'vendor' } },
        ],
      },
    });
    await transaction(plane.database.pool, async (client) => {
      const plan = { validDays: null, enabled: true };
      await savePlan(client, {
        plan: { ...plan, id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10n ** 13n },
        actor: 'test',
      });
      await savePlan(client, {
        plan: { ...plan, id: 'pro', name: 'Pro', priceVnd: 1_000_000n, budget: 5n * 10n ** 13n },
        actor: 'test',
      });
    });
    const list = await plane.send(
      `{ models { modelId displayName contextWindow simulated agentStepsFor5Usd protocols
         prices { output vndAtStarter { output } vndAtBest { output } } } }`,
    );
    expect(list.data).toEqual({
      models: [
        {
          modelId: 'big-1',
          displayName: 'Big 1',
          contextWindow: 200_000,
          simulated: false,
          // 150,000 x 0.30 + 30,000 x 3 + 4,000 x 15 = 0.195 USD a step.
          agentStepsFor5Usd: 25,
          protocols: ['MESSAGES', 'CHAT_COMPLETIONS', 'RESPONSES'],
          prices: { output: '15', vndAtStarter: { output: '375000' }, vndAtBest: { output: '300000' } },
        },
      ],
    });
  });

  it.each([
    [{ ...prices, output: '0.0000001' }, 'output'],
    [{ ...prices, cacheHit: '3' }, 'cacheHit'],
  ])('refuses prices that cannot be: %j', async (entered, member) => {
    const before = await storedPrices();
    const answer = await operator.send(savePrices, { variables: { input: { modelId: 'big-1', prices: entered } } });
    expect(answer.data).toMatchObject({
      savePrices: { code: 'BAD_INPUT', problems: [{ path: ['input', 'prices', member] }] },
    });
    expect(await storedPrices()).toBe(before);
  });

  it.each(['1e-3', 'NaN', '-1', '1000000000'])('takes no price that is no amount: %s', async (output) => {
    const before = await storedPrices();
    const answer = await operator.send(savePrices, {
      variables: { input: { modelId: 'big-1', prices: { ...prices, output } } },
    });
    expect(answer.errors[0]).toMatchObject({
      message: expect.stringContaining('$input.prices.output'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(await storedPrices()).toBe(before);
  });

  it('announces prices for later without touching those of today', async () => {
    const validFrom = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await operator.send(savePrices, {
      variables: { input: { modelId: 'big-1', prices: { ...prices, output: '20' }, validFrom } },
    });
    expect(answer.data).toMatchObject({
      savePrices: { priceVersions: [{ validFrom, prices: { output: '20' } }, { prices: { output: '15' } }] },
    });
    expect((await plane.send('{ model(modelId: "steyg/BIG-1") { prices { output } } }')).data).toEqual({
      model: { prices: { output: '15' } },
    });
    const past = await operator.send(savePrices, {
      variables: { input: { modelId: 'big-1', prices, validFrom: '2020-01-01T00:00:00Z' } },
    });
    expect(past.data).toMatchObject({
      savePrices: { code: 'BAD_INPUT', problems: [{ path: ['input', 'validFrom'] }] },
    });
  });

  it.each([
    'http://api.vendor.example',
    'https://user:secret@api.vendor.example',
    'https://169.254.169.254/latest',
    'https://127.0.0.1',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://localhost',
    'https://metadata.google.internal',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '',
  ])('keeps upstreams away from %s', async (baseUrl) => {
    const input = { upstreamId: 'evil', protocol: 'MESSAGES', baseUrl };
    const answer = await operator.send(saveUpstream, { variables: { input } });
    expect(answer.data).toMatchObject({
      saveUpstream: { code: 'BAD_INPUT', problems: [{ path: ['input', 'baseUrl'] }] },
    });
    expect((await plane.database.pool.query(`SELECT FROM upstream WHERE id = 'evil'`)).rowCount).toBe(0);
  });

  it.each([
    ['saveModel', `input: { ${known}, modelId: "Big" }`, ['input', 'modelId'], /^modelId must be lower-case/],
    ['saveUpstream', `input: { ${place}, upstreamId: "A B" }`, ['input', 'upstreamId'], /^upstreamId must/],
    [
      'setRoutes',
      routes('{ upstreamId: "none", upstreamModel: "x" }'),
      ['input', 'routes', '0', 'upstreamId'],
      /is not/,
    ],
    [
      'setRoutes',
      routes('{ upstreamId: "vendor", upstreamModel: "x", weight: 0 }'),
      ['input', 'routes', '0', 'weight'],
      /^weight must be at least 1\.$/,
    ],
    [
      'setRoutes',
      routes('{ upstreamId: "vendor", upstreamModel: "x" }, { upstreamId: "vendor", upstreamModel: "x" }'),
      ['input', 'routes'],
      /^routes must not/,
    ],
  ])('says what is wrong in %s where it stands in the arguments: %s', async (field, given, path, message) => {
    const { data } = await operator.send(
      `mutation { ${field}(${given}) { ... on InputError { problems { path message } } } }`,
    );
    expect(data).toEqual({ [field]: { problems: [{ path, message: expect.stringMatching(message) }] } });
  });

  it('does not send a key to another address than the one it was given for', async () => {
    const moved = { upstreamId: 'vendor', protocol: 'MESSAGES', baseUrl: 'https://attacker.example' };
    const answer = await operator.send(saveUpstream, { variables: { input: moved } });
    expect(answer.data).toMatchObject({ saveUpstream: { problems: [{ path: ['input', 'secret'] }] } });
    const path = { ...moved, baseUrl: 'https://api.vendor.example/v2' };
    expect((await operator.send(saveUpstream, { variables: { input: path } })).data).toMatchObject({
      saveUpstream: { baseUrl: 'https://api.vendor.example/v2' },
    });
  });

  it('keeps an upstream at its vendor until another one, or none, is named', async () => {
    const input = { upstreamId: 'played', protocol: 'MESSAGES', baseUrl: 'https://api.vendor.example' };
    const profileAfter = async (change: Record<string, unknown>) => {
      const mutation = `mutation ($input: SaveUpstreamInput!) { saveUpstream(input: $input) {
        ... on Upstream { profile } ... on InputError { problems { path message } } } }`;
      const { data } = await operator.send(mutation, { variables: { input: { ...input, ...change } } });
      return (data as { saveUpstream: unknown }).saveUpstream;
    };
    expect(await profileAfter({})).toEqual({ profile: null });
    expect(await profileAfter({ profile: 'anthropic' })).toEqual({ profile: 'anthropic' });
    expect(await profileAfter({ enabled: false })).toEqual({ profile: 'anthropic' });
    expect(await profileAfter({ profile: 'groq' })).toEqual({
      problems: [{ path: ['input', 'profile'], message: expect.stringContaining('speaks chat-completions') }],
    });
    expect(await profileAfter({ profile: 'nobody' })).toMatchObject({ problems: [{ path: ['input', 'profile'] }] });
    expect(await profileAfter({ profile: null })).toEqual({ profile: null });
    expect(await profileAfter({ profile: 'anthropic' })).toEqual({ profile: 'anthropic' });
    expect(await profileAfter({ protocol: 'CHAT_COMPLETIONS' })).toEqual({ profile: null });
  });

  it('lists the vendors that an upstream can be of, and where they are', async () => {
    const { data } = await operator.send(`{ operator { vendorProfiles { profile endpoints { protocol baseUrl } } } }`);
    const { vendorProfiles } = (data as { operator: { vendorProfiles: { profile: string }[] } }).operator;
    expect(vendorProfiles.map(({ profile }) => profile)).toEqual([...profileIds]);
    expect(vendorProfiles).toContainEqual({
      profile: 'anthropic',
      endpoints: [{ protocol: 'MESSAGES', baseUrl: 'https://api.anthropic.com' }],
    });
  });

  it('writes down who changed what, without secrets', async () => {
    const answer = await operator.send(
      `{ operator { auditLog(first: 100) { edges { node { actor action subject before after } } } } }`,
    );
    const entries = (answer.data as { operator: { auditLog: { edges: { node: Record<string, unknown> }[] } } }).operator
      .auditLog.edges;
    expect(entries.map(({ node }) => node['action'])).toEqual(
      expect.arrayContaining(['model.create', 'price.add', 'upstream.create', 'upstream.set_key', 'route.change']),
    );
    expect(entries.every(({ node }) => /^(user:|test)/.test(String(node['actor'])))).toBe(true);
    expect(answer.text).not.toContain('sk-vendor');
  });

  it('names the person or token behind each actor, and the account that was changed', async () => {
    const account = await operator.send(
      `mutation { openAccount(input: { email: "named@example.com", name: "Named" }) { ... on Account { id } } }`,
    );
    const { id } = (account.data as { openAccount: { id: string } }).openAccount;
    const answer = await operator.send(
      `{ operator { auditLog(first: 1, subject: "account:${await accountOf('named@example.com')}") { edges { node { actor actorName account { id name } } } }
           rest: auditLog(first: 100) { edges { node { actor actorName subject account { id } } } } } }`,
    );
    type Log = { edges: { node: Record<string, unknown> }[] };
    const { auditLog, rest } = (answer.data as { operator: { auditLog: Log; rest: Log } }).operator;
    expect(auditLog.edges.map(({ node }) => node)).toMatchObject([
      {
        actor: expect.stringMatching(/^user:/),
        actorName: expect.stringContaining('@'),
        account: { id, name: 'Named' },
      },
    ]);
    const others = rest.edges.map(({ node }) => node).filter(({ subject }) => !String(subject).startsWith('account:'));
    expect(others.length).toBeGreaterThan(0);
    expect(others.every((node) => node['account'] === null)).toBe(true);
  });

  it('shows names as they are: escaping is the reader’s', async () => {
    const input = { ...model, modelId: 'xss', displayName: '<script>alert(1)</script>' };
    await operator.send(saveModel, { variables: { input } });
    const answer = await operator.send('{ operator { models { modelId displayName } } }');
    expect(answer.data).toMatchObject({
      operator: { models: expect.arrayContaining([{ modelId: 'xss', displayName: '<script>alert(1)</script>' }]) },
    });
  });
});

describe('a test of a route', () => {
  let upstream: Server;
  let seen: string[] = [];
  beforeAll(async () => {
    upstream = createServer((request, response) => {
      seen.push(request.url ?? '');
      if (request.url?.startsWith('/moved') === true) {
        response.writeHead(302, { location: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/elsewhere` });
        response.end();
      } else {
        response.writeHead(request.url?.startsWith('/bad') === true ? 401 : 200, {
          'content-type': 'application/json',
        });
        response.end('{"error":{"message":"your key sk-vendor-key-1234 is wrong"}}');
      }
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => upstream.close(resolve)));

  it('says how the upstream answered, and never what', async () => {
    const { port } = upstream.address() as AddressInfo;
    const seal = createSeal({ secretKeys: [Buffer.alloc(32)] });
    const tester = createRouteTester({ pool: plane.database.pool, seal, simulatorUrl: null, allowPrivate: true });
    try {
      const good = await addRoute('good', `http://127.0.0.1:${port}`);
      expect(await tester.test(good)).toMatchObject({ ok: true, status: 200, problem: null });
      const bad = await addRoute('bad', `http://127.0.0.1:${port}/bad`);
      expect(await tester.test(bad)).toMatchObject({
        ok: false,
        status: 401,
        problem: 'The upstream refused the key.',
      });
      seen = [];
      const moved = await addRoute('moved', `http://127.0.0.1:${port}/moved`);
      expect(await tester.test(moved)).toMatchObject({ ok: false, status: 302 });
      expect(seen).toHaveLength(1);
    } finally {
      await tester.close();
    }
  });

  it('reaches no private address, even one that the table has', async () => {
    const { port } = upstream.address() as AddressInfo;
    seen = [];
    for (const [id, baseUrl] of [
      ['literal', `http://127.0.0.1:${port}`],
      ['name', `http://localhost:${port}`],
    ] as const) {
      const routeId = await addRoute(id, baseUrl);
      const answer = await operator.send(
        `mutation ($id: ID!) { testRoute(id: $id) { ... on RouteTest { ok status problem } } }`,
        { variables: { id: routeId } },
      );
      expect(answer.data).toMatchObject({ testRoute: { ok: false, status: null } });
    }
    expect(seen).toEqual([]);
  });
});

describe('accounts', () => {
  it('are found, suspended and given budget with a reason', async () => {
    const found = await operator.send(
      `{ operator { accounts(search: "CUSTOMER@", first: 5) { edges { node { email budget { free } } } } } }`,
    );
    expect(found.data).toEqual({
      operator: { accounts: { edges: [{ node: { email: 'customer@example.com', budget: { free: '5' } } }] } },
    });
    const give = `mutation ($input: GiveGrantInput!) { giveGrant(input: $input) {
      __typename ... on GrantGiven { givenBefore grant { amount kind reason } } ... on Error { code } } }`;
    const accountId = await accountOf('customer@example.com');
    const input = { accountId, amount: '2.5', reason: 'sorry', idempotencyKey: 'k1' };
    expect((await operator.send(give, { variables: { input } })).data).toMatchObject({
      giveGrant: { givenBefore: false, grant: { amount: '2.5', kind: 'ADJUSTMENT', reason: 'sorry' } },
    });
    expect((await operator.send(give, { variables: { input } })).data).toMatchObject({
      giveGrant: { givenBefore: true },
    });
    for (const other of [{ amount: '3' }, { reason: 'another' }, { expiresAt: '2090-01-01' }]) {
      expect((await operator.send(give, { variables: { input: { ...input, ...other } } })).data).toMatchObject({
        giveGrant: { code: 'IDEMPOTENCY_CONFLICT' },
      });
    }
    expect((await operator.send(give, { variables: { input: { ...input, amount: '0' } } })).data).toMatchObject({
      giveGrant: { code: 'BAD_INPUT' },
    });
    const given = await operator.send(
      `{ operator { account(id: "${accountId}") { budget { free expired grants { id reason free } } } } }`,
    );
    const { grants } = (
      given.data as { operator: { account: { budget: { grants: { id: string; reason: string }[] } } } }
    ).operator.account.budget;
    const grantId = grants.find(({ reason }) => reason === 'sorry')?.id;
    const end = `mutation ($input: EndGrantInput!) { endGrant(input: $input) {
      __typename ... on GrantEnded { taken held grant { free expired reason } } ... on Error { code } } }`;
    const ending = { accountId, grantId, reason: 'twice' };
    expect((await operator.send(end, { variables: { input: { ...ending, reason: ' ' } } })).data).toMatchObject({
      endGrant: { code: 'BAD_INPUT' },
    });
    expect((await operator.send(end, { variables: { input: ending } })).data).toEqual({
      endGrant: {
        __typename: 'GrantEnded',
        taken: '2.5',
        held: '0',
        grant: { free: '0', expired: '2.5', reason: 'sorry' },
      },
    });
    expect((await operator.send(end, { variables: { input: ending } })).data).toMatchObject({
      endGrant: { code: 'CONFLICT' },
    });
    expect((await operator.send(end, { variables: { input: { ...ending, grantId: accountId } } })).data).toMatchObject({
      endGrant: { code: 'NOT_FOUND' },
    });
    const status = `mutation ($id: ID!, $status: AccountStatus!) { setAccountStatus(input: { accountId: $id, status: $status }) { ... on Account { status } ... on Error { code } } }`;
    expect((await operator.send(status, { variables: { id: accountId, status: 'SUSPENDED' } })).data).toEqual({
      setAccountStatus: { status: 'SUSPENDED' },
    });
    expect((await customer.send('{ account { status budget { free } } }')).data).toEqual({
      account: { status: 'SUSPENDED', budget: { free: '5' } },
    });
    await operator.send(status, { variables: { id: accountId, status: 'ACTIVE' } });
  });

  it('that are suspended can be looked at by their people and programs, and nothing else', async () => {
    const accountId = await accountOf('customer@example.com');
    const made = await customer.send(
      'mutation { createAccessToken(input: { name: "t", scopes: [KEYS, BILLING] }) { ... on CreatedAccessToken { secret } } }',
    );
    const { secret } = (made.data as { createAccessToken: { secret: string } }).createAccessToken;
    const authorization = `Bearer ${secret}`;
    const setStatus = (status: string) =>
      operator.send(
        'mutation ($id: ID!, $status: AccountStatus!) { setAccountStatus(input: { accountId: $id, status: $status }) { __typename } }',
        { variables: { id: accountId, status } },
      );
    await setStatus('SUSPENDED');
    const acts = [
      'mutation { createKey(input: {}) { __typename } }',
      'mutation { createOrder(input: { planId: "starter" }) { __typename } }',
      'mutation { inviteMember(input: { email: "friend@example.com", role: VIEWER }) { ... on Error { message } } }',
      'mutation { createWebhookEndpoint(input: { url: "https://example.com/" }) { __typename } }',
    ];
    for (const act of acts) expect((await customer.send(act)).text).toContain('This account is suspended');
    for (const act of acts.slice(0, 2))
      expect((await plane.send(act, { headers: { authorization } })).text).toContain('This account is suspended');
    const look = '{ account { status ledger(first: 1) { edges { cursor } } orders(first: 1) { edges { cursor } } } }';
    for (const answer of [await customer.send(look), await plane.send(look, { headers: { authorization } })]) {
      expect(answer.errors).toEqual([]);
      expect(answer.data).toMatchObject({ account: { status: 'SUSPENDED' } });
    }
    // Operators' actions are not refused because of that: otherwise the suspension could not be reviewed.
    for (const act of ['{ operator { models { modelId } } }', 'mutation { testRoute(id: "x") { __typename } }']) {
      expect((await customer.send(act)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
    await setStatus('ACTIVE');
    const { data } = await customer.send('mutation { createKey(input: {}) { __typename } }');
    expect(data).toEqual({ createKey: { __typename: 'NewApiKey' } });
  });

  it('show what they brought in, what that cost, and what does not add up', async () => {
    const accountId = await accountOf('customer@example.com');
    const made = await customer.send('mutation { createKey(input: {}) { ... on NewApiKey { key { id } } } }');
    const keyId = Buffer.from((made.data as { createKey: { key: { id: string } } }).createKey.key.id, 'base64')
      .toString()
      .slice('ApiKey:'.length);
    const ledger = await openLedger(plane.database.url);
    try {
      const asked = ask({ accountId, keyId }, { model: 'big-1' });
      const admission = await admitted(ledger.ledger, asked);
      await ledger.ledger.settle(
        settlement(asked, admission, { upstreamCost: 350_000_000n, usageSource: 'estimated' }),
      );
      const running = ask({ accountId, keyId }, { model: 'big-1' });
      await admitted(ledger.ledger, running);
    } finally {
      await ledger.close();
    }
    // What the service spends on watching itself is no revenue, and is seen by itself.
    await plane.database.pool.query(
      `WITH probe AS (INSERT INTO account (id, name, email, kind) VALUES (gen_random_uuid(), 'Probe', 'probe@steyg.invalid', 'probe') RETURNING id),
            sums AS (INSERT INTO margin_hour (account_id, hour, model, upstream, requests, charged, cost)
                     SELECT id, date_trunc('hour', now(), 'UTC'), 'big-1', 'simulator', 7, 7, 7 FROM probe)
       INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, charged, cost)
       SELECT id, date_trunc('hour', now(), 'UTC'), 'big-1', gen_random_uuid(), 'completed', 7, 7, 7 FROM probe`,
    );
    const answer = await operator.send(`{ operator {
      revenue(period: DAY) { nodes { model requests charged upstreamCost margin unknownRequests unknownCharged shortfall } }
      margins(by: [UPSTREAM, ACCOUNT]) { nodes { upstream account { email } charged upstreamCost margin unknownRequests } pageInfo { hasNextPage } }
      probes: revenue(period: DAY, probes: true) { nodes { model requests charged } }
      anomalies { nodes { model usageSource operator { account { email } shortfall } } } shortfalls { nodes { requestId } }
      holds { nodes { amount account { email } key { name } } }
      invariants(accountId: "${accountId}") { invariant rows }
    } }`);
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({
      operator: {
        revenue: {
          nodes: [
            {
              model: 'big-1',
              requests: '1',
              charged: '0.00105',
              upstreamCost: '0.00035',
              margin: '-0.00035',
              unknownRequests: '0',
              unknownCharged: '0',
              shortfall: '0',
            },
          ],
        },
        margins: {
          nodes: [
            {
              upstream: 'simulator',
              account: { email: 'customer@example.com' },
              charged: '0.00105',
              upstreamCost: '0.00035',
              margin: '-0.00035',
              unknownRequests: '0',
            },
          ],
          pageInfo: { hasNextPage: false },
        },
        probes: { nodes: [{ model: 'big-1', requests: '7', charged: '0.000000000007' }] },
        anomalies: {
          nodes: [
            {
              model: 'big-1',
              usageSource: 'ESTIMATED',
              operator: { account: { email: 'customer@example.com' }, shortfall: '0' },
            },
          ],
        },
        shortfalls: { nodes: [] },
        holds: {
          nodes: [
            {
              amount: expect.any(String),
              account: { email: 'customer@example.com' },
              key: { name: expect.any(String) },
            },
          ],
        },
        invariants: [],
      },
    });
  });
});

describe('a person who is no operator', () => {
  it('sees and changes nothing of it', async () => {
    for (const [document, variables] of [
      ['{ operator { models { modelId } } }', {}],
      [saveModel, { input: model }],
      [savePrices, { input: { modelId: 'big-1', prices } }],
      [saveUpstream, { input: { upstreamId: 'x', protocol: 'MESSAGES', baseUrl: 'https://a.example' } }],
    ] as const) {
      expect((await customer.send(document, { variables })).errors[0]?.extensions['code']).toBe('FORBIDDEN');
      expect((await plane.send(document, { variables })).errors[0]?.extensions['code']).toBe('UNAUTHENTICATED');
    }
    const id = Buffer.from('CatalogEntry:big-1').toString('base64');
    expect((await customer.send('query ($id: ID!) { node(id: $id) { id } }', { variables: { id } })).data).toEqual({
      node: null,
    });
  });

  it('is told from an operator without one-time codes, who may look but not touch', async () => {
    const plain = await createPerson(plane, 'plain@example.com', '203.0.113.3');
    await plane.database.pool.query(`UPDATE app_user SET operator = true WHERE email = 'plain@example.com'`);
    expect((await plain.send('{ operator { models { modelId } } }')).errors).toEqual([]);
    expect((await plain.send(saveModel, { variables: { input: model } })).errors[0]?.extensions['code']).toBe(
      'SECOND_FACTOR_REQUIRED',
    );
  });
});
