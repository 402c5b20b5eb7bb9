import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Catalog, createCatalog } from '../../server/catalog/catalog.ts';
import { saveModel } from '../../server/catalog/models.ts';
import { createOpenRoutes } from '../../server/catalog/routes.ts';
import { type Route, saveRoutes, saveUpstream } from '../../server/catalog/upstreams.ts';
import { withDeadline } from '../../server/database/deadline.ts';
import { transaction } from '../../server/database/lane.ts';
import { watchPool } from '../keys/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addModel, model } from './support.ts';

/** The catalog's snapshot: names of models, freshness, and prices that begin later. */

let database: TestDatabase;
let nowMs = 1_000;

beforeAll(async () => {
  database = await createDatabase();
  await addModel(database.pool, 'big-1', {
    change: { allow: ['web_search'], capabilities: ['tools'], efforts: ['low', 'high'] },
  });
  await addModel(database.pool, 'vendor/small:2');
  await addModel(database.pool, 'kilo');
});
afterAll(() => database.drop());

async function open(parts: Partial<Parameters<typeof createCatalog>[0]> = {}): Promise<Catalog> {
  const catalog = createCatalog({ pool: database.pool, now: () => nowMs, ...parts });
  await catalog.refresh();
  return catalog;
}

const openRoutes = createOpenRoutes({ secretKey: randomBytes(32), simulatorUrl: null, log: { error() {} } });
const route = (upstreamModel: string): Omit<Route, 'modelId'> => ({
  upstreamId: 'vendor',
  upstreamModel,
  priority: 0,
  weight: 1,
  enabled: true,
  costs: null,
});

async function addUpstreamOfTests(): Promise<void> {
  await transaction(database.pool, async (client) => {
    const upstream = { id: 'vendor', protocol: 'messages', baseUrl: 'https://v.example.com' } as const;
    await saveUpstream(
      client,
      {
        ...upstream,
        onDisconnect: 'abort',
        profile: null,
        recipient: null,
        country: null,
        features: {},
        enabled: true,
      },
      'test',
    );
  });
}

async function addRoute(modelId: string): Promise<void> {
  await addUpstreamOfTests();
  await transaction(database.pool, (client) => saveRoutes(client, { modelId, routes: [route('v')], actor: 'test' }));
}

const pause = () => database.pool.query('SELECT 1');

describe('what a client means by a name', () => {
  test.each([
    ['big-1', 'big-1'],
    ['steyg/big-1', 'big-1'],
    ['BIG-1', 'big-1'],
    ['steyg/Big-1', 'big-1'],
    ['vendor/small:2', 'vendor/small:2'],
    ['steyg/vendor/small:2', 'vendor/small:2'],
  ])('%s is %s', async (sent, id) => {
    expect((await (await open()).resolve(sent))?.id).toBe(id);
  });

  test.each([
    'big',
    'big-1 ',
    ' big-1',
    'big_1',
    'steyg/steyg/big-1',
    'STEYG/big-1',
    'big-1\0',
    'big-1[1m]',
    '',
    'steyg/',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '\ud800',
    'x'.repeat(10_000),
    // The sign for Kelvin, whose lower case is our k.
    '\u212Ailo',
  ])('%j is nothing', async (sent) => {
    expect(await (await open()).resolve(sent)).toBeNull();
  });

  test('the exact id comes before the one without a prefix', async () => {
    // The rules for ids forbid such a one; an older row could still be there.
    await database.pool.query(
      `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ('steyg/big-1', 'X', 'x', 1, 1)`,
    );
    await database.pool.query(
      `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from)
       VALUES (gen_random_uuid(), 'steyg/big-1', 2, 1, 1, now() - interval '1 second')`,
    );
    expect((await (await open()).resolve('steyg/big-1'))?.id).toBe('steyg/big-1');
    await database.pool.query(`UPDATE model SET enabled = false WHERE id = 'steyg/big-1'`);
    expect((await (await open()).resolve('steyg/big-1'))?.id).toBe('big-1');
  });
});

describe('a model', () => {
  test('comes with everything that is known of it', async () => {
    expect(await (await open()).resolve('big-1')).toEqual({
      id: 'big-1',
      displayName: 'BIG-1',
      family: 'test',
      kind: 'text',
      contextWindow: 1_000,
      maxOutputTokens: 100,
      allow: new Set(['web_search']),
      capabilities: ['tools'],
      efforts: ['low', 'high'],
      reasoningTokensPerSecond: null,
      unknownMembers: 'pass',
      createdAt: expect.any(Date),
      price: {
        id: expect.any(String),
        input: 3_000_000n,
        cacheHit: 100_000n,
        // No price of its own: new context.
        cacheWrite5m: 3_000_000n,
        cacheWrite1h: 3_000_000n,
        output: 15_000_000n,
        validFrom: expect.any(Date),
      },
      routes: [],
    });
  });

  test('that was added a moment ago is found, together with its routes, by one reading', async () => {
    const watched = watchPool(database.pool);
    const catalog = await open({ pool: watched.pool, openRoutes });
    await addModel(database.pool, 'brand-new');
    await addRoute('brand-new');
    const before = watched.queries;
    expect((await catalog.resolve('brand-new'))?.routes).toMatchObject([{ model: 'brand-new', upstreamModel: 'v' }]);
    expect(watched.queries - before).toBe(2);
    await catalog.resolve('brand-new');
    expect(watched.queries - before).toBe(2);
  });

  test('never comes with routes of another moment, however often both change together', async () => {
    const catalog = await open({ openRoutes });
    await addModel(database.pool, 'paired');
    await addUpstreamOfTests();
    const change = (round: string): Promise<unknown> =>
      transaction(database.pool, async (client) => {
        await saveModel(client, model('paired', { displayName: round }), 'test');
        await saveRoutes(client, { modelId: 'paired', routes: [route(round)], actor: 'test' });
      });
    await change('first');
    const changes = (async () => {
      for (let round = 0; round < 40; round += 1) await change(`round ${round}`);
    })();
    const seen = new Set<string>();
    for (let reading = 0; reading < 80; reading += 1) {
      await catalog.refresh();
      const paired = await catalog.resolve('paired');
      expect(paired?.routes.map(({ upstreamModel }) => upstreamModel)).toEqual([paired?.displayName]);
      seen.add(paired?.displayName ?? '');
    }
    await changes;
    expect(seen.size).toBeGreaterThan(1);
  });

  test('that does not exist costs one small query each time, and no reading of the whole catalog', async () => {
    const watched = watchPool(database.pool);
    const catalog = await open({ pool: watched.pool, openRoutes });
    const before = watched.queries;
    await catalog.resolve('nope');
    await catalog.resolve('nope');
    expect(watched.queries - before).toBe(2);
    await catalog.resolve('nul\0');
    expect(watched.queries - before).toBe(2);
  });

  test('that is known costs no query', async () => {
    const watched = watchPool(database.pool);
    const catalog = await open({ pool: watched.pool });
    const before = watched.queries;
    for (let i = 0; i < 10; i += 1) await catalog.resolve('big-1');
    expect(watched.queries).toBe(before);
  });

  test('that was switched off is gone after a refresh, and from the list at once', async () => {
    await addModel(database.pool, 'going');
    const catalog = await open();
    expect(await catalog.resolve('going')).not.toBeNull();
    await database.pool.query(`UPDATE model SET enabled = false WHERE id = 'going'`);
    expect((await catalog.list()).map(({ id }) => id)).not.toContain('going');
    expect(await catalog.resolve('going')).toBeNull();
  });

  test('many who miss at the same moment share the reading', async () => {
    const watched = watchPool(database.pool);
    const catalog = await open({ pool: watched.pool, openRoutes });
    const before = watched.queries;
    await addModel(database.pool, 'popular');
    const found = await Promise.all(Array.from({ length: 50 }, () => catalog.resolve('popular')));
    expect(found.every((model) => model?.id === 'popular')).toBe(true);
    // One small query each, and at most one reading that runs plus one that follows it for every wave of answers.
    expect(watched.queries - before).toBeLessThan(100);
  });
});

describe('when no notice of a change arrives', () => {
  test('an old snapshot is read anew in the background', async () => {
    const watched = watchPool(database.pool);
    const catalog = await open({ pool: watched.pool, maxAgeMs: 1_000 });
    const before = watched.queries;
    await addModel(database.pool, 'big-1', { input: '4' });
    nowMs += 1_001;
    // The old one is still better than waiting; the admission reads the price anyway.
    expect((await catalog.resolve('big-1'))?.price.input).toBe(3_000_000n);
    await expect.poll(() => watched.answered - before).toBe(1);
    await pause();
    expect((await catalog.resolve('big-1'))?.price.input).toBe(4_000_000n);
    expect(watched.queries - before).toBe(1);
  });

  test('and when the database is away, the snapshot stays in use', async () => {
    let away = false;
    const pool = {
      query: (...args: [never]) => (away ? Promise.reject(new Error('away')) : database.pool.query(...args)),
    } as never;
    const catalog = await open({ pool, maxAgeMs: 1_000 });
    away = true;
    nowMs += 1_001;
    expect((await catalog.resolve('vendor/small:2'))?.id).toBe('vendor/small:2');
    // Whether an unknown one exists cannot be told, so it is not denied.
    await expect(catalog.resolve('unknown')).rejects.toThrow('away');
  });
});

describe('a price that was announced', () => {
  test('begins at its moment by the database’s clock, without another reading', async () => {
    await addModel(database.pool, 'rising', { input: '1' });
    await addModel(database.pool, 'rising', { input: '2', validFrom: new Date(Date.now() + 3_600_000) });
    await addModel(database.pool, 'rising', { input: '5', validFrom: new Date(Date.now() + 7_200_000) });
    const catalog = await open({ maxAgeMs: Number.POSITIVE_INFINITY });
    const inputNow = async () => (await catalog.resolve('rising'))?.price.input;
    expect(await inputNow()).toBe(1_000_000n);
    nowMs += 3_590_000;
    expect(await inputNow()).toBe(1_000_000n);
    nowMs += 11_000;
    expect(await inputNow()).toBe(2_000_000n);
    nowMs += 3_600_000;
    expect(await inputNow()).toBe(5_000_000n);
  });

  test('does not make a model callable before it', async () => {
    await addModel(database.pool, 'future', { validFrom: new Date(Date.now() + 3_600_000) });
    const catalog = await open({ maxAgeMs: Number.POSITIVE_INFINITY });
    expect(await catalog.resolve('future')).toBeNull();
    expect((await catalog.list()).map(({ id }) => id)).not.toContain('future');
    nowMs += 3_601_000;
    expect((await catalog.resolve('future'))?.id).toBe('future');
  });
});

describe('the list', () => {
  test('is that of the moment, by id', async () => {
    const catalog = await open();
    await addModel(database.pool, 'a-first');
    const ids = (await catalog.list()).map(({ id }) => id);
    expect(ids[0]).toBe('a-first');
    expect(ids).toEqual([...ids].sort());
    expect(ids).toContain('big-1');
  });
});

test('a look for an unknown model ends with the deadline of its request while the database is silent', async () => {
  // A connection on which nothing comes back.
  const silent = { query: () => new Promise(() => undefined) } as unknown as Pool;
  const catalog = await open({ asked: withDeadline(silent, 50) });
  await expect(catalog.resolve('nobody-knows-it')).rejects.toThrow('did not answer in time');
  expect((await catalog.resolve('kilo'))?.id).toBe('kilo');
});
