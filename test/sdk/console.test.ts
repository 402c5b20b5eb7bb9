/** The SDK's methods for the control plane. */

import { GraphqlError, isFailure, orThrow, ResultError, Steyg, type TypedDocument } from '@steyg/sdk';
import { parse } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import type { TokenScope } from '../../server/people/principal.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { transfer } from '../plans/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { events, json, ping, scripted } from './support.ts';

let app: TestApp;
let customer: Customer;
let steyg: Steyg;

async function clientWith(scopes: TokenScope[], accountId = customer.accountId): Promise<Steyg> {
  const tokens = createAccessTokens({ pool: app.pool });
  const token = await tokens.create({ accountId, name: 'test', scopes, expiresAt: null, createdBy: null }, 'test');
  if (token.kind !== 'created') throw new Error(token.kind);
  return new Steyg({ baseUrl: app.baseUrl, apiKey: customer.secret, accessToken: token.secret });
}

beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
  steyg = await clientWith(['read', 'keys', 'billing']);
});
afterAll(() => app.close());
afterEach(() => void vi.useRealTimers());

describe('an operation', () => {
  it('answers with its own field, single fields on the way stepped into', async () => {
    const budget = await steyg.console.ledger.budget();
    expect(budget?.granted).toBe('100');
    expect(await steyg.console.ledger.entry({ requestId: 'nobody’s' })).toBeNull();
    const models = await steyg.console.catalog.models();
    expect(models.map(({ modelId }) => modelId)).toContain('sim-small');
  });

  it('hands out the response behind it', async () => {
    const { data, requestId, response } = await steyg.console.catalog.model({ modelId: 'sim-small' }).withResponse();
    expect(data?.displayName).toBe('Simulated Small');
    expect(requestId).toBe(response.headers.get('x-request-id'));
  });

  it('works without a credential where it is public, and refuses clearly where it is not', async () => {
    const nobody = new Steyg({ baseUrl: app.baseUrl });
    expect(await nobody.console.orders.plans()).toEqual(expect.any(Array));
    const failure = await nobody.console.keys.listKeys().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GraphqlError);
    expect(failure).toMatchObject({ code: 'UNAUTHENTICATED', problems: [{ path: ['account'] }] });
    const reader = await clientWith(['read']);
    await expect(reader.console.keys.createKey({ input: { name: 'x' } })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('with a wrong token is refused with its status', async () => {
    const stranger = new Steyg({ baseUrl: app.baseUrl, accessToken: 'tk-steyg-wrong' });
    await expect(stranger.console.people.me()).rejects.toMatchObject({
      name: 'AuthenticationError',
      code: 'UNAUTHENTICATED',
    });
  });
});

describe('expected errors', () => {
  it('are results that can be told apart', async () => {
    const result = await steyg.console.keys.deleteKey({ id: 'nobody’s' });
    expect(isFailure(result)).toBe(true);
    expect(result).toMatchObject({
      __typename: 'NotFoundError',
      code: expect.any(String),
      message: expect.any(String),
    });
  });

  it('can be thrown instead', async () => {
    const { key, secret } = orThrow(await steyg.console.keys.createKey({ input: { name: 'laptop' } }));
    expect(secret).toMatch(/^sk-steyg-/);
    expect(key.name).toBe('laptop');
    const bad = await steyg.console.keys.createKey({ input: { name: 'x'.repeat(10_000) } });
    expect(() => orThrow(bad)).toThrow(ResultError);
    expect(() => orThrow(bad)).toThrow(expect.objectContaining({ type: 'InputError', result: bad }));
  });
});

describe('a list', () => {
  it('awaited is its first page, iterated it is every page', async () => {
    const other = await app.customer();
    const console = (await clientWith(['read', 'keys'], other.accountId)).console;
    for (const name of ['b', 'c', 'd', 'e']) orThrow(await console.keys.createKey({ input: { name } }));
    const page = await console.keys.listKeys({ first: 2 });
    expect(page?.edges).toHaveLength(2);
    expect(page?.pageInfo.hasNextPage).toBe(true);
    const names = [];
    for await (const key of console.keys.listKeys({ first: 2 })) names.push(key.name);
    expect(names).toHaveLength(5);
    expect(new Set(names).size).toBe(5);
  });

  it('of a report goes on where it left off', async () => {
    for (const model of ['sim-large', 'sim-medium', 'sim-small']) await steyg.messages.create({ ...ping, model });
    await app.quiet(customer.accountId);
    const models = [];
    for await (const row of steyg.console.ledger.usage({ by: ['MODEL'], first: 1 })) models.push(row.model);
    expect(models.map(String).toSorted()).toEqual(['sim-large', 'sim-medium', 'sim-small']);
    const entries = [];
    for await (const entry of steyg.console.ledger.listEntries({ first: 2 })) entries.push(entry.model);
    expect(entries).toHaveLength(3);
  });

  it('of an unknown account is empty', async () => {
    const all = [];
    for await (const each of steyg.console.keys.listKeys({ accountId: 'nobody’s' })) all.push(each);
    expect(all).toEqual([]);
  });

  it('asks for its first page once, and tells of a failure where it is read', async () => {
    const connection = {
      edges: [{ cursor: 'a', node: { id: '1' } }],
      pageInfo: { hasNextPage: false, endCursor: 'a' },
    };
    const { steyg: fake, seen } = scripted([json({ data: { account: { keys: connection } } })]);
    const list = fake.console.keys.listKeys();
    await list;
    for await (const each of list) expect(each).toEqual({ id: '1' });
    expect(seen).toHaveLength(1);
    const failing = scripted([json({ errors: [{ message: 'no' }] })]).steyg.console.keys.listKeys();
    await expect(failing[Symbol.asyncIterator]().next()).rejects.toThrow('no');
  });
});

describe('a subscription', () => {
  it('tells of an order until it is paid', async () => {
    const secret = await app.pool.query(
      `INSERT INTO plan (id, name, price_vnd, budget) VALUES ('starter', 'Starter', 250000, 10000000000000)
       ON CONFLICT (id) DO NOTHING`,
    );
    expect(secret.rowCount).toBeLessThanOrEqual(1);
    const order = orThrow(await steyg.console.orders.createOrder({ input: { planId: 'starter' } }));
    const statuses = [];
    for await (const { status } of steyg.console.orders.orderStatus({ id: order.id })) {
      statuses.push(status);
      if (status !== 'PENDING') continue;
      const transfers = createTransfers({ pool: app.pool, accountNumbers: null });
      await transfers.receive(transfer({ memo: order.memo, amountVnd: BigInt(order.priceVnd) }));
    }
    expect(statuses.at(-1)).toBe('PAID');
    expect((await steyg.console.ledger.budget())?.granted).toBe('110');
  });

  const next = (id: string) => `: keep-alive\n\nevent: next\ndata: {"data":{"orderStatus":{"id":"${id}"}}}\n\n`;
  const complete = 'event: complete\ndata:\n\n';
  const idsOf = async (subscription: AsyncIterable<{ id: string }>) => {
    const ids = [];
    for await (const { id } of subscription) ids.push(id);
    return ids;
  };

  it('that is left ends', async () => {
    let left = false;
    const first = scripted([events([next('1'), next('2')], 'close', () => (left = true))]).steyg;
    for await (const order of first.console.orders.orderStatus({ id: '1' })) {
      expect(order).toEqual({ id: '1' });
      break;
    }
    expect(left).toBe(true);
  });

  it('that breaks off is begun again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const busy = json({}, 503, { 'retry-after-ms': '0' });
    const { steyg: fake, seen } = scripted([
      events([next('1')]),
      events([next('2')], 'error'),
      busy,
      new TypeError('fetch failed'),
      busy,
      busy,
      events([next('3'), complete]),
    ]);
    const ids = idsOf(fake.console.orders.orderStatus({ id: '1' }));
    await vi.runAllTimersAsync();
    expect(await ids).toEqual(['1', '2', '3']);
    expect(seen).toHaveLength(7);
    expect(seen[6]?.body).toEqual(seen[0]?.body);
  });

  it('that tells something each time may break off as often as it likes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const often = Array.from({ length: 15 }, (_, n) => events([next(`${n}`)]));
    const { steyg: fake } = scripted([...often, events([complete])]);
    const ids = idsOf(fake.console.orders.orderStatus({ id: '1' }));
    await vi.runAllTimersAsync();
    expect(await ids).toHaveLength(15);
  });

  it('that breaks off again and again without an event is given up', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { steyg: fake, seen } = scripted([() => events([': keep-alive\n\n'])]);
    const failure = idsOf(fake.console.orders.orderStatus({ id: '1' })).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await failure).toMatchObject({ name: 'ConnectionError' });
    expect(seen).toHaveLength(11);
    const impatient = scripted([() => events([])]);
    await expect(idsOf(impatient.steyg.console.orders.orderStatus({ id: '1' }, { maxRetries: 0 }))).rejects.toThrow(
      'without being completed',
    );
    expect(impatient.seen).toHaveLength(1);
  });

  it('that waits to begin again ends with its signal', async () => {
    const controller = new AbortController();
    const { steyg: fake } = scripted([events([next('1')])]);
    const loop = async () => {
      for await (const _ of fake.console.orders.orderStatus({ id: '1' }, { signal: controller.signal })) {
        setTimeout(() => controller.abort(), 5);
      }
    };
    await expect(loop()).rejects.toMatchObject({ name: 'AbortedError' });
  });

  it('that is refused says so as any operation does', async () => {
    const nobody = new Steyg({ baseUrl: app.baseUrl });
    await expect(idsOf(nobody.console.orders.orderStatus({ id: 'x' }))).rejects.toMatchObject({
      name: 'GraphqlError',
      code: 'UNAUTHENTICATED',
    });
    await expect(idsOf(steyg.console.orders.orderStatus({ id: 'x' }))).rejects.toMatchObject({
      name: 'GraphqlError',
      code: expect.stringMatching(/NOT_FOUND|BAD_USER_INPUT/),
    });
  });

  it('may have a document of one’s own', async () => {
    const document = 'subscription S($id: ID!) { orderStatus(id: $id) { id } }';
    const { steyg: fake, seen } = scripted([events([next('1'), complete])]);
    const all = [];
    for await (const event of fake.subscribe<{ orderStatus: { id: string } }>(document, { id: '1' })) all.push(event);
    expect(all).toEqual([{ orderStatus: { id: '1' } }]);
    expect(seen[0]?.body).toEqual({ query: document, variables: { id: '1' } });
    expect(() => fake.graphql(document)).toThrow('steyg.subscribe');
  });
});

describe('idempotency', () => {
  const made = json({ data: { createKey: { __typename: 'NewApiKey' } } });
  const lost = new TypeError('fetch failed');

  it('is kept over attempts, and is the caller’s to decide', async () => {
    const { steyg: fake, seen } = scripted([lost, made]);
    await fake.console.keys.createKey({ input: { name: 'a' } });
    const keys = seen.map(
      ({ body }) => (body as { variables: { input: { idempotencyKey: string } } }).variables.input.idempotencyKey,
    );
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    await fake.console.keys.createKey({ input: { name: 'a', idempotencyKey: 'mine' } });
    expect(seen[2]?.body).toMatchObject({ variables: { input: { idempotencyKey: 'mine' } } });
    await fake.console.keys.createKey({ input: { name: 'a', idempotencyKey: null } });
    expect(seen[3]?.body).toMatchObject({ variables: { input: { idempotencyKey: expect.any(String) } } });
  });

  it('holds with the server: twice the same is one key', async () => {
    const input = { name: 'once', idempotencyKey: 'the-same' };
    const first = orThrow(await steyg.console.keys.createKey({ input }));
    const second = await steyg.console.keys.createKey({ input });
    expect(second).toMatchObject({ __typename: 'KeyCreatedBeforeError', key: { id: first.key.id } });
    expect(first.secret).toMatch(/^sk-steyg-/);
  });

  it('lacking, a mutation is not sent again, unless it was refused for its number', async () => {
    const { steyg: fake, seen } = scripted([lost]);
    await expect(fake.console.keys.deleteKey({ id: '1' })).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(seen).toHaveLength(1);
    await expect(fake.graphql('mutation { signOut { ok } }')).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(seen).toHaveLength(2);
    const busy = scripted([json({}, 429, { 'retry-after-ms': '0' }), json({ data: { deleteKey: { id: '1' } } })]);
    await busy.steyg.console.keys.deleteKey({ id: '1' });
    expect(busy.seen).toHaveLength(2);
  });

  it('is no question for a query', async () => {
    const { steyg: fake, seen } = scripted([lost, json({ data: { models: [] } })]);
    expect(await fake.graphql('# mutation\nquery { models { modelId } }')).toEqual({ models: [] });
    expect(seen).toHaveLength(2);
  });
});

describe('a document of one’s own', () => {
  it('is typed by hand or by what generators make', async () => {
    const byHand = await steyg.graphql<{ models: { modelId: string }[] }>('{ models { modelId } }');
    expect(byHand.models.length).toBe(3);
    const document = 'query ($id: String!) { model(modelId: $id) { modelId } }' as TypedDocument<
      { model: { modelId: string } | null },
      { id: string }
    >;
    const { model } = await steyg.graphql(document, { id: 'sim-small' });
    expect(model?.modelId).toBe('sim-small');
  });

  it('may be a tree, which is sent as the text that it was parsed from', async () => {
    const tree = parse('{ models { modelId } }') as unknown as TypedDocument<{ models: object[] }>;
    expect((await steyg.graphql(tree)).models).toHaveLength(3);
    const lost = parse('{ models { modelId } }', { noLocation: true }) as unknown as TypedDocument;
    expect(() => steyg.graphql(lost)).toThrow('print(document)');
  });

  it('that is wrong is refused with the reason', async () => {
    await expect(steyg.graphql('{ nope }')).rejects.toThrow('nope');
  });
});

describe('a client that sends documents by name', () => {
  const unknown = json({ errors: [{ message: 'unknown', extensions: { code: 'PERSISTED_DOCUMENT_NOT_FOUND' } }] });

  it('sends no text to a service that knows them', async () => {
    const { steyg: client, seen } = scripted([json({ data: { me: { id: '1' } } })], { persistedDocuments: true });
    expect(await client.console.people.me()).toEqual({ id: '1' });
    expect(seen.map(({ body }) => body)).toEqual([
      { documentId: expect.stringMatching(/^x-steyg:[0-9a-f]{16}\.me$/), variables: {} },
    ]);
  });

  it('sends the text to one that does not, also of a change: nothing was done', async () => {
    const done = json({ data: { deleteKey: { __typename: 'ApiKey', id: '1' } } });
    const { steyg: client, seen } = scripted([unknown, done], { persistedDocuments: true });
    expect(await client.console.keys.deleteKey({ id: '1' })).toMatchObject({ id: '1' });
    expect(seen[1]?.body).toMatchObject({
      query: expect.stringContaining('mutation deleteKey'),
      variables: { id: '1' },
    });
    expect(seen).toHaveLength(2);
  });

  it('gives its name and its text the same idempotency key', async () => {
    const { steyg: client, seen } = scripted([unknown, json({ data: {} })], { persistedDocuments: true });
    await client.console.keys.createKey({ input: { name: 'a' } });
    const [first, second] = seen.map(({ body }) => (body as { variables: object }).variables);
    expect(first).toEqual({ input: { name: 'a', idempotencyKey: expect.any(String) } });
    expect(second).toEqual(first);
  });

  it('subscribes in the same way', async () => {
    const event = 'event: next\ndata: {"data":{"orderStatus":{"id":"1"}}}\n\nevent: complete\ndata:\n\n';
    const { steyg: client, seen } = scripted([events([unknownEvent]), events([event])], { persistedDocuments: true });
    const ids = [];
    for await (const { id } of client.console.orders.orderStatus({ id: '1' })) ids.push(id);
    expect(ids).toEqual(['1']);
    expect(seen[1]?.body).toMatchObject({ query: expect.stringContaining('subscription orderStatus') });
  });

  const unknownEvent =
    'event: next\ndata: {"errors":[{"message":"unknown","extensions":{"code":"PERSISTED_DOCUMENT_NOT_FOUND"}}]}\n\nevent: complete\ndata:\n\n';
});
