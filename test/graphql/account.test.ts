import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModel, admitted, ask, openLedger, settlement, type TestLedger } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** The operations of an account holder. */

let plane: ControlPlane;
let ledger: TestLedger;
let owner: Browser;
let accountId: string;
let keyId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  ledger = await openLedger(plane.database.url);
  await addModel(plane.database.pool, { id: 'big' });
  owner = await createPerson(plane, 'owner@example.com');
  const { rows } = await plane.database.pool.query('SELECT id FROM account');
  accountId = rows[0].id;
});
afterAll(async () => {
  await ledger.close();
  await plane.close();
});

const createKey = `mutation ($input: CreateKeyInput!) {
  createKey(input: $input) {
    __typename
    ... on NewApiKey { secret key { id name status models limits { day lifetime } spend { lifetime } } }
    ... on Error { code message }
    ... on InputError { problems { path message } }
  }
}`;

describe('keys', () => {
  it('shows the secret of a new key once', async () => {
    const input = { name: 'laptop', limits: { day: '1.5' }, models: ['big'], idempotencyKey: 'first' };
    const made = await owner.send(createKey, { variables: { input } });
    expect(made.data).toMatchObject({
      createKey: {
        __typename: 'NewApiKey',
        secret: expect.stringMatching(/^sk-steyg-/),
        key: { name: 'laptop', status: 'ACTIVE', models: ['big'], limits: { day: '1.5', lifetime: null } },
      },
    });
    const { rows } = await plane.database.pool.query('SELECT id FROM api_key');
    keyId = rows[0].id;

    const again = await owner.send(createKey, { variables: { input } });
    expect(again.data).toMatchObject({
      createKey: { __typename: 'KeyCreatedBeforeError', code: 'KEY_CREATED_BEFORE' },
    });
    expect((await plane.database.pool.query('SELECT FROM api_key')).rowCount).toBe(1);

    const other = await owner.send(createKey, { variables: { input: { ...input, name: 'desktop' } } });
    expect(other.data).toMatchObject({ createKey: { code: 'IDEMPOTENCY_CONFLICT' } });
  });

  it.each([
    ['name', { name: ' ' }],
    ['models', { models: ['big', 'bog'] }],
    ['limits', { limits: { day: '0' } }],
    ['requestsPerMinute', { requestsPerMinute: 0 }],
    ['expiresAt', { expiresAt: '2026-01-01T00:00:00Z' }],
  ])('says that the %s of a key cannot be', async (field, input) => {
    const problem = { __typename: 'InputError', code: 'BAD_INPUT', problems: [{ path: ['input', field] }] };
    const made = await owner.send(createKey, { variables: { input } });
    expect(made.data).toMatchObject({ createKey: problem });
    const changed = await owner.send(
      `mutation ($input: UpdateKeyInput!) { updateKey(input: $input) {
        __typename ... on Error { code } ... on InputError { problems { path } } } }`,
      { variables: { input: { ...input, id: keyId } } },
    );
    expect(changed.data).toMatchObject({ updateKey: problem });
  });

  it('limits the requests per minute of a key, and takes the limit away again', async () => {
    const made = await owner.send(
      `mutation { createKey(input: { requestsPerMinute: 60 }) { ... on NewApiKey { key { id requestsPerMinute } } } }`,
    );
    expect(made.data).toMatchObject({ createKey: { key: { requestsPerMinute: 60 } } });
    const { id } = (made.data as { createKey: { key: { id: string } } }).createKey.key;
    const change = (input: object) =>
      owner.send(
        `mutation ($input: UpdateKeyInput!) { updateKey(input: $input) { ... on ApiKey { name requestsPerMinute } } }`,
        { variables: { input: { id, ...input } } },
      );
    expect((await change({ name: 'paced' })).data).toEqual({ updateKey: { name: 'paced', requestsPerMinute: 60 } });
    expect((await change({ requestsPerMinute: 1_000_000 })).data).toMatchObject({
      updateKey: { requestsPerMinute: 1_000_000 },
    });
    expect((await change({ requestsPerMinute: null })).data).toMatchObject({ updateKey: { requestsPerMinute: null } });
  });

  it('keeps what it may spend in a week when a program that knows no weeks changes it, and gets a burn limit and a pace', async () => {
    const made = await owner.send(
      `mutation { createKey(input: { limits: { day: "1", week: "2" }, burnLimit: { amount: "0.5", minutes: 10 }, tokensPerMinute: 9000,
         maxConcurrent: 2, addresses: ["203.0.113.0/24"] }) { ... on NewApiKey { key { id limits { day week }
         burnLimit { amount minutes } tokensPerMinute maxConcurrent addresses } } } }`,
    );
    const { key } = (made.data as { createKey: { key: { id: string } } }).createKey;
    expect(key).toMatchObject({
      limits: { day: '1', week: '2' },
      burnLimit: { amount: '0.5', minutes: 10 },
      tokensPerMinute: 9_000,
      maxConcurrent: 2,
      addresses: ['203.0.113.0/24'],
    });
    const change = (input: object) =>
      owner.send(
        `mutation ($input: UpdateKeyInput!) { updateKey(input: $input) { ... on ApiKey { limits { day week } burnLimit { amount } addresses }
           ... on InputError { problems { path } } } }`,
        { variables: { input: { id: key.id, ...input } } },
      );
    expect((await change({ limits: { day: '3' } })).data).toMatchObject({
      updateKey: { limits: { day: '3', week: '2' }, burnLimit: { amount: '0.5' } },
    });
    expect((await change({ limits: { week: null }, burnLimit: null, addresses: [] })).data).toEqual({
      updateKey: { limits: { day: null, week: null }, burnLimit: null, addresses: [] },
    });
    expect((await change({ addresses: ['nowhere'] })).data).toEqual({
      updateKey: { problems: [{ path: ['input', 'addresses'] }] },
    });
  });

  it('has limits over all its keys and a time zone, which only those who handle its money change', async () => {
    const read = '{ account { limits { timeZone spend { day week } requestsPerMinute addresses spent { today } } } }';
    const first = await owner.send(read);
    expect(first.errors).toEqual([]);
    expect(first.data).toMatchObject({
      account: { limits: { timeZone: 'Asia/Ho_Chi_Minh', spend: { week: null }, spent: null } },
    });
    const set = (input: object) =>
      owner.send(
        `mutation ($input: AccountLimitsInput!) { setAccountLimits(input: $input) { ... on Account { limits { timeZone spend { week } } }
           ... on InputError { problems { path } } } }`,
        { variables: { input } },
      );
    expect((await set({ timeZone: 'Asia/Nowhere' })).data).toEqual({
      setAccountLimits: { problems: [{ path: ['input', 'timeZone'] }] },
    });
    expect((await set({ spend: { week: '7' }, requestsPerMinute: 90, timeZone: 'Asia/Tokyo' })).data).toEqual({
      setAccountLimits: { limits: { timeZone: 'Asia/Tokyo', spend: { week: '7' } } },
    });
    expect((await owner.send(read)).data).toEqual({
      account: {
        limits: {
          timeZone: 'Asia/Tokyo',
          spend: { day: null, week: '7' },
          requestsPerMinute: 90,
          addresses: [],
          spent: { today: expect.any(String) },
        },
      },
    });
    // What is left out stays, also by a program that knows no weeks.
    expect((await set({ timeZone: 'UTC' })).data).toMatchObject({
      setAccountLimits: { limits: { spend: { week: '7' } } },
    });
    expect((await set({ spend: { day: '10' } })).data).toMatchObject({
      setAccountLimits: { limits: { spend: { week: '7' } } },
    });
    expect((await set({ spend: null })).data).toMatchObject({
      setAccountLimits: { limits: { spend: { week: null } } },
    });
  });

  it('leaves a key restricted to a model that is gone', async () => {
    await plane.database.pool.query(`UPDATE api_key SET models = '{big,gone}' WHERE id = $1`, [keyId]);
    const changed = await owner.send(
      `mutation ($id: ID!) { updateKey(input: { id: $id, models: ["gone", "big"] }) { ... on ApiKey { models } } }`,
      { variables: { id: keyId } },
    );
    expect(changed.data).toEqual({ updateKey: { models: ['gone', 'big'] } });
  });
});

describe('the ledger', () => {
  it('lists finished requests with a receipt that adds up, in pages', async () => {
    for (let i = 0; i < 3; i += 1) {
      const asked = ask({ accountId, keyId });
      await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked)));
    }
    const query = `query ($after: String) { me { accounts {
      budget { granted charged held expired free grants { kind free } }
      ledger(first: 2, after: $after) {
        edges { cursor node {
          requestId model outcome cost charged key { name } operator { upstream }
          usage { input output } receipt { tokenPool tokens pricePerMillion amount }
        } }
        pageInfo { hasNextPage endCursor }
      }
    } } }`;
    const first = await owner.send(query);
    expect(first.errors).toEqual([]);
    const account = (first.data as { me: { accounts: Account[] } }).me.accounts[0] as Account;
    expect(account.budget).toMatchObject({ granted: '5', charged: '0.00315', free: '4.99685', held: '0' });
    expect(account.ledger.edges).toHaveLength(2);
    const { node } = account.ledger.edges[0] as Account['ledger']['edges'][number];
    expect(node).toMatchObject({
      model: 'big',
      outcome: 'COMPLETED',
      cost: '0.00105',
      key: { name: 'laptop' },
      operator: null,
    });
    expect(node.receipt).toContainEqual({
      tokenPool: 'OUTPUT',
      tokens: '50',
      pricePerMillion: '15',
      amount: '0.00075',
    });
    expect(account.ledger.pageInfo.hasNextPage).toBe(true);

    const second = await owner.send(query, { variables: { after: account.ledger.pageInfo.endCursor } });
    const rest = (second.data as { me: { accounts: Account[] } }).me.accounts[0] as Account;
    expect(rest.ledger.edges).toHaveLength(1);
    expect(rest.ledger.pageInfo.hasNextPage).toBe(false);
  });

  it('is sorted as it is asked for, and says when there is too much to sort', async () => {
    const query = `query ($orderBy: LedgerOrder, $after: String, $from: DateTime) { me { accounts {
      ledger(first: 2, after: $after, orderBy: $orderBy, filter: { from: $from }) {
        edges { node { requestId latencyMs } } pageInfo { hasNextPage endCursor }
      }
    } } }`;
    type Page = { edges: { node: { requestId: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
    const page = async (variables: Record<string, unknown>): Promise<Page> => {
      const answer = await owner.send(query, { variables });
      expect(answer.errors).toEqual([]);
      return (answer.data as { me: { accounts: { ledger: Page }[] } }).me.accounts[0]?.ledger as Page;
    };
    const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.requestId);
    const newest = await page({});
    const oldest = { field: 'TIME', direction: 'ASC' };
    const first = await page({ orderBy: oldest });
    const rest = await page({ orderBy: oldest, after: first.pageInfo.endCursor });
    expect([...idsOf(first), ...idsOf(rest)].toReversed().slice(0, 2)).toEqual(idsOf(newest));
    // All cost the same: then the newest comes first, as by time.
    expect(idsOf(await page({ orderBy: { field: 'COST' } }))).toEqual(idsOf(newest));
    const stray = await owner.send(query, {
      variables: { orderBy: { field: 'LATENCY' }, after: first.pageInfo.endCursor },
    });
    expect(stray.errors[0]).toMatchObject({ extensions: { code: 'BAD_INPUT' } });

    await plane.database.pool.query(
      `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests) VALUES ($1, '2026-01-01T00:00Z', 'big', $2, 'completed', 100000)`,
      [accountId, keyId],
    );
    const refused = await owner.send(query, { variables: { orderBy: { field: 'TOKENS' } } });
    expect(refused.errors[0]).toMatchObject({ extensions: { code: 'BAD_INPUT' } });
    expect(refused.errors[0]?.message).toContain('shorter range');
    await page({ orderBy: { field: 'TOKENS' }, from: '2026-01-02T00:00:00Z' });
    await plane.database.pool.query(`DELETE FROM usage_hour WHERE hour = '2026-01-01T00:00Z'`);
  });

  it.each(['AET', 'VST', 'Factory', 'Mars/Phobos', '+07:00'])(
    'is not added up by days of %s, which the database does not know',
    async (timeZone) => {
      const answer = await owner.send(
        'query ($timeZone: String) { account { usage(period: DAY, timeZone: $timeZone) { nodes { start } } } }',
        { variables: { timeZone } },
      );
      expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_INPUT', problems: [{ path: ['timeZone'] }] } }]);
    },
  );

  it('adds usage up for a chart', async () => {
    const answer = await owner.send(
      `{ me { accounts { usage(period: DAY, by: [MODEL, KEY]) { nodes { model requests cost tokens { output } } pageInfo { hasNextPage } } } } }`,
    );
    expect(answer.data).toEqual({
      me: {
        accounts: [
          {
            usage: {
              nodes: [{ model: 'big', requests: '3', cost: '0.00315', tokens: { output: '150' } }],
              pageInfo: { hasNextPage: false },
            },
          },
        ],
      },
    });
  });

  it('adds up what ended in some of the ways only', async () => {
    const counts = async (args: string) => {
      const { data, errors } = await owner.send(
        `{ me { accounts { usage(${args}) { nodes { outcome requests failures } } } } }`,
      );
      expect(errors).toEqual([]);
      return (data as { me: { accounts: { usage: { nodes: unknown[] } }[] } }).me.accounts[0]?.usage.nodes;
    };
    const all = { outcome: null, requests: '3', failures: '0' };
    expect(await counts('period: DAY')).toEqual([all]);
    expect(await counts('period: DAY, outcomes: [COMPLETED, TIMEOUT]')).toEqual([all]);
    expect(await counts('period: DAY, outcomes: [TIMEOUT, SHUTDOWN]')).toEqual([]);
    expect(await counts('period: DAY, by: [OUTCOME]')).toEqual([{ ...all, outcome: 'COMPLETED' }]);
  });

  it('can be downloaded as CSV with a link that was signed', async () => {
    const answer = await owner.send(
      `mutation { createLedgerDownload(input: {}) { ... on Download { url } ... on Error { code } } }`,
    );
    const { url } = (answer.data as { createLedgerDownload: { url: string } }).createLedgerDownload;
    const csv = await plane.app.inject({ method: 'GET', url: url.slice('http://steyg.test'.length) });
    expect(csv.statusCode).toBe(200);
    expect(csv.body.trim().split('\r\n')).toHaveLength(4);
    expect(csv.body).toContain(',big,messages,true,completed,reported,100,0,0,0,50,0.00105,,0,0.00105,');
    const forged = `${url.slice('http://steyg.test'.length, -4)}AAAA`;
    expect((await plane.app.inject({ method: 'GET', url: forged })).statusCode).toBe(403);
  });
});

interface Account {
  budget: Record<string, unknown>;
  ledger: {
    edges: { cursor: string; node: { receipt: unknown[] } & Record<string, unknown> }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  };
}
