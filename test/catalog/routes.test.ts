import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Catalog, createCatalog } from '../../server/catalog/catalog.ts';
import type { RouteRecord } from '../../server/catalog/route.ts';
import { createOpenRoutes, type OpenRoutesParts } from '../../server/catalog/routes.ts';
import {
  addUpstreamKey,
  deleteUpstreamKey,
  type Route,
  saveRoutes,
  saveUpstream,
  saveUpstreamKey,
  type Upstream,
  upstreamInput,
} from '../../server/catalog/upstreams.ts';
import { transaction } from '../../server/database/lane.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { watchPool } from '../keys/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addModel } from './support.ts';

/** Routes in the snapshot, and writing upstreams, keys and routes. */

let database: TestDatabase;
const secretKey = randomBytes(32);
const seal = createSeal({ secretKeys: [secretKey] });
const actor = 'op';

beforeAll(async () => {
  database = await createDatabase();
  for (const id of ['m1', 'm2', 'm3', 'm4', 'm5']) await addModel(database.pool, id);
});
afterAll(() => database.drop());

const upstream = (id: string, change: Partial<Upstream> = {}): Upstream => ({
  id,
  protocol: 'chat-completions',
  baseUrl: `https://${id}.example.com/v1`,
  onDisconnect: 'abort',
  profile: null,
  recipient: null,
  country: null,
  features: {},
  enabled: true,
  ...change,
});
const route = (upstreamId: string, change: Partial<Route> = {}): Omit<Route, 'modelId'> => ({
  upstreamId,
  upstreamModel: 'vendor-model',
  priority: 0,
  weight: 1,
  enabled: true,
  costs: null,
  ...change,
});
const inTransaction = <T>(work: Parameters<typeof transaction<T>>[1]) => transaction(database.pool, work);
const addUpstream = (id: string, change: Partial<Upstream> = {}) =>
  inTransaction((client) => saveUpstream(client, upstream(id, change), actor));
const setRoutes = (modelId: string, routes: Omit<Route, 'modelId'>[]) =>
  inTransaction((client) => saveRoutes(client, { modelId, routes, actor }));
const setKey = (upstreamId: string, secret: string) =>
  inTransaction((client) => saveUpstreamKey(client, seal, { upstreamId, secret, actor }));

function open(change: Partial<OpenRoutesParts> = {}, more: Partial<Parameters<typeof createCatalog>[0]> = {}) {
  const errors: object[] = [];
  const log = { error: (fields: object) => void errors.push(fields) };
  const openRoutes = createOpenRoutes({ secretKey, simulatorUrl: 'http://127.0.0.1:9', log, ...change });
  return { catalog: createCatalog({ pool: database.pool, openRoutes, ...more }), errors };
}

async function routesOf(catalog: Catalog, model: string): Promise<readonly RouteRecord[]> {
  return (await catalog.resolve(model))?.routes ?? [];
}

async function audited(subject: string) {
  const { rows } = await database.pool.query(
    'SELECT action, before, after FROM audit_entry WHERE subject = $1 ORDER BY created_at, id',
    [subject],
  );
  return rows;
}

describe('the snapshot', () => {
  test('has routes with upstreams, their features and open keys', async () => {
    await addUpstream('vendor-a', { features: { files: true } });
    await setKey('vendor-a', 'sk-vendor-secret-1');
    const costs = { input: 1n, cacheHit: 2n, cacheWrite5m: null, cacheWrite1h: 5n, output: 4n, tiers: [] };
    await setRoutes('m1', [route('vendor-a', { priority: 2, weight: 3, costs })]);
    const { catalog } = open();
    await catalog.refresh();
    expect(await routesOf(catalog, 'm1')).toEqual([
      {
        id: expect.any(String),
        model: 'm1',
        upstreamModel: 'vendor-model',
        priority: 2,
        weight: 3,
        // A cache write without a cost of its own costs what input costs.
        costs: { input: 1n, cacheHit: 2n, cacheWrite5m: 1n, cacheWrite1h: 5n, output: 4n },
        upstream: {
          id: 'vendor-a',
          protocol: 'chat-completions',
          baseUrl: 'https://vendor-a.example.com/v1',
          onDisconnect: 'abort',
          profile: null,
          simulated: false,
          keys: [{ id: expect.any(String), secret: 'sk-vendor-secret-1' }],
          features: {
            maxTokensField: null,
            systemRole: 'keep',
            files: true,
            jsonObject: true,
            sampling: true,
            reasoningHistory: false,
            effort: false,
            store: false,
            jsonSchema: true,
            stop: true,
            thinkingSwitch: false,
            toolChoice: 'named',
            traceContext: false,
            hostedTools: true,
            parallelCalls: true,
            shortCallIds: false,
            webSocket: false,
            callSignatures: false,
            imageUrls: true,
            endUser: true,
            usageOption: true,
            minOutputTokens: 0,
            cachedTokens: null,
          },
        },
      },
    ]);
    for (const unknown of ['nothing', '__proto__', 'constructor']) expect(await routesOf(catalog, unknown)).toEqual([]);
  });

  test('knows where the simulator is, under the address each protocol wants', async () => {
    await addUpstream('sim-m', { protocol: 'messages', baseUrl: 'simulator' });
    await addUpstream('sim-c', { baseUrl: 'simulator' });
    await setRoutes('m2', [route('sim-m'), route('sim-c')]);
    const { catalog } = open();
    await catalog.refresh();
    const found = (await routesOf(catalog, 'm2')).map(({ upstream }) => [
      upstream.id,
      upstream.baseUrl,
      upstream.simulated,
    ]);
    expect(found.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
      ['sim-c', 'http://127.0.0.1:9/v1', true],
      ['sim-m', 'http://127.0.0.1:9', true],
    ]);
    const without = open({ simulatorUrl: null }).catalog;
    await without.refresh();
    expect(await routesOf(without, 'm2')).toEqual([]);
  });

  test('leaves out what is switched off', async () => {
    await addUpstream('off', { enabled: false });
    await addUpstream('on');
    await setRoutes('m3', [route('off'), route('on'), route('on', { upstreamModel: 'other', enabled: false })]);
    const { catalog } = open();
    await catalog.refresh();
    expect((await routesOf(catalog, 'm3')).map(({ upstream }) => upstream.id)).toEqual(['on']);
  });

  test('leaves out an upstream whose keys do not open, and says so: it must not be asked without one', async () => {
    await addUpstream('sealed');
    await setKey('sealed', 'sk-1');
    await addUpstream('keyless');
    await setRoutes('m4', [route('sealed'), route('keyless')]);
    const { catalog, errors } = open({ secretKey: randomBytes(32) });
    await catalog.refresh();
    expect((await routesOf(catalog, 'm4')).map(({ upstream }) => upstream.id)).toEqual(['keyless']);
    expect(errors).toContainEqual({ upstream: 'sealed' });
  });

  test('is read anew in the background when it is old', async () => {
    let nowMs = 0;
    const watched = watchPool(database.pool);
    const { catalog } = open({}, { pool: watched.pool, now: () => nowMs, maxAgeMs: 1_000 });
    await catalog.refresh();
    await addUpstream('late');
    await setRoutes('m5', [route('late')]);
    nowMs += 1_001;
    const before = watched.answered;
    expect(await routesOf(catalog, 'm5')).toEqual([]);
    await expect.poll(() => watched.answered - before).toBe(1);
    await expect.poll(async () => (await routesOf(catalog, 'm5')).length).toBe(1);
    expect(watched.queries).toBe(2);
  });
});

describe('writing', () => {
  test('an upstream: created, changed or left alone, with the audit log', async () => {
    expect(await addUpstream('w1', { features: { files: true, effort: true } })).toBe('created');
    expect(await addUpstream('w1', { features: { effort: true, files: true } })).toBe('unchanged');
    expect(await addUpstream('w1', { onDisconnect: 'drain' })).toBe('changed');
    expect((await audited('upstream:w1')).map(({ action }) => action)).toEqual(['upstream.create', 'upstream.change']);
  });

  test('routes: those that are no longer named are switched off, and come back when they are', async () => {
    await addUpstream('w2');
    expect(await setRoutes('m1', [route('w2'), route('w2', { upstreamModel: 'b' })])).toBe('changed');
    expect(await setRoutes('m1', [route('w2', { upstreamModel: 'b' }), route('w2')])).toBe('unchanged');
    await setRoutes('m1', [route('w2', { upstreamModel: 'b', weight: 5 })]);
    const { catalog } = open();
    await catalog.refresh();
    expect(await routesOf(catalog, 'm1')).toMatchObject([{ upstreamModel: 'b', weight: 5 }]);
    await setRoutes('m1', [route('w2')]);
    await catalog.refresh();
    expect(await routesOf(catalog, 'm1')).toMatchObject([{ upstreamModel: 'vendor-model', weight: 1 }]);
  });

  test('a key: the same changes nothing, another takes its place, and none is written down', async () => {
    await addUpstream('w3');
    expect(await setKey('w3', 'sk-first-1111')).toBe('created');
    expect(await setKey('w3', 'sk-first-1111')).toBe('unchanged');
    expect(await setKey('w3', 'sk-second-2222')).toBe('changed');
    const { rows } = await database.pool.query(`SELECT * FROM upstream_key WHERE upstream_id = 'w3'`);
    expect(rows).toMatchObject([{ last4: '2222' }]);
    const everything = JSON.stringify([rows, await audited('upstream:w3')]);
    expect(everything).not.toMatch(/sk-(first|second)/);
    expect(rows[0].sealed.includes('sk-second')).toBe(false);
    // The end of a short key would be most of it.
    expect(await setKey('w3', 'sk-short')).toBe('changed');
    const short = await database.pool.query(`SELECT last4 FROM upstream_key WHERE upstream_id = 'w3'`);
    expect(short.rows).toEqual([{ last4: '' }]);
    expect(JSON.stringify(await audited('upstream:w3'))).not.toContain('hort');
  });

  test('a key that was sealed with an older secret key is sealed anew', async () => {
    await addUpstream('w4');
    await setKey('w4', 'sk-1');
    const newKey = randomBytes(32);
    const both = createSeal({ secretKeys: [newKey, secretKey] });
    const again = await inTransaction((client) =>
      saveUpstreamKey(client, both, { upstreamId: 'w4', secret: 'sk-1', actor }),
    );
    expect(again).toBe('unchanged');
    await setRoutes('m2', [route('w4')]);
    const { catalog } = open({ secretKey: newKey });
    await catalog.refresh();
    expect((await routesOf(catalog, 'm2'))[0]?.upstream.keys).toMatchObject([{ secret: 'sk-1' }]);
  });

  test('several keys: added and deleted one by one', async () => {
    await addUpstream('w5');
    const add = (secret: string) =>
      inTransaction((client) => addUpstreamKey(client, seal, { upstreamId: 'w5', secret, actor }));
    const remove = (keyId: string, upstreamId = 'w5') =>
      inTransaction((client) => deleteUpstreamKey(client, { upstreamId, keyId, actor }));
    const [a, b] = [await add('sk-a'), await add('sk-b')];
    expect(await setKey('w5', 'sk-b')).toBe('unchanged');
    expect(await remove(a, 'w4')).toBe(false);
    expect(await remove('not an id')).toBe(false);
    expect(await remove(a)).toBe(true);
    expect(await remove(a)).toBe(false);
    const { rows } = await database.pool.query(`SELECT id FROM upstream_key WHERE upstream_id = 'w5'`);
    expect(rows).toEqual([{ id: b }]);
  });
});

describe('a base address', () => {
  const check = (baseUrl: string, allowPrivate = false) =>
    upstreamInput({ allowPrivate }).safeParse({ id: 'a', protocol: 'messages', baseUrl });

  test.each([
    'http://api.example.com',
    'https://user:pass@api.example.com',
    'https://api.example.com/?x=1',
    'https://127.0.0.1',
    'https://169.254.169.254/latest',
    'https://[::1]',
    'https://localhost',
    'ftp://api.example.com',
    'nonsense',
    '',
  ])('%j is refused', (baseUrl) => {
    expect(check(baseUrl).success).toBe(false);
  });

  test('is kept without trailing slashes; private ones need permission; the simulator does not', () => {
    expect(check('https://api.example.com/v1//').data?.baseUrl).toBe('https://api.example.com/v1');
    expect(check('http://127.0.0.1:9000', true).success).toBe(true);
    expect(check('simulator').data?.baseUrl).toBe('simulator');
  });
});
