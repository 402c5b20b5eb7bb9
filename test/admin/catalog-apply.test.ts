/** Applying catalog files: idempotent, complete or not at all, audited. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type AppliedChanges, applyCatalog } from '../../server/admin/catalog-apply.ts';
import { exportCatalog } from '../../server/admin/catalog-export.ts';
import { CatalogFileError, parseCatalogFile } from '../../server/admin/catalog-file.ts';
import { createCatalog } from '../../server/catalog/catalog.ts';
import { createOpenRoutes } from '../../server/catalog/routes.ts';
import { transaction } from '../../server/database/lane.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const secretKey = randomBytes(32);
const seal = createSeal({ secretKeys: [secretKey] });

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

function file({ input = '3', key = 'sk-vendor-1', model = 'vendor-name', priceVnd = 250_000 } = {}): string {
  return `
upstreams:
  - { id: vendor, protocol: messages, baseUrl: "http://127.0.0.1:9000", apiKey: ${key} }
models:
  - id: big-1
    displayName: Big 1
    family: big
    contextWindow: 200000
    maxOutputTokens: 32000
    prices: { input: "${input}", cacheHit: "0.3", output: "15" }
    routes:
      - { upstream: vendor, model: ${model} }
plans:
  - { id: starter, name: Starter, priceVnd: ${priceVnd}, budgetUsd: "10" }
`;
}

function apply(text: string, prune = false): Promise<AppliedChanges> {
  const content = parseCatalogFile('c.yaml', text, { allowPrivateUpstreams: true, vendorKey: () => undefined });
  return transaction(database.pool, (client) =>
    applyCatalog(client, { content, seal, prune, actor: 'op', name: 'c.yaml' }),
  );
}

const nothing = { created: [], changed: [], unchanged: [], disabled: [] };
const tables = ['upstream', 'upstream_key', 'model', 'price', 'route', 'plan', 'audit_entry'];

/** Everything that a file can change. */
async function everything(): Promise<string> {
  const rows = [];
  for (const table of tables) {
    rows.push((await database.pool.query(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)).rows);
  }
  return JSON.stringify(rows);
}

async function current() {
  const openRoutes = createOpenRoutes({ secretKey, simulatorUrl: null, log: { error: () => {} } });
  const catalog = createCatalog({ pool: database.pool, openRoutes });
  await catalog.refresh();
  return catalog;
}

/** A file of nothing but models. */
function fileOf(ids: readonly string[]): string {
  const entries = ids.map(
    (id) =>
      `  - { id: ${id}, displayName: N, family: n, contextWindow: 1, maxOutputTokens: 1, prices: { input: "1", cacheHit: "0", output: "1" } }`,
  );
  return `models:\n${entries.join('\n')}\n`;
}

/** The price versions of the model, the oldest first. */
async function versions() {
  const { rows } = await database.pool.query(
    `SELECT id, input FROM price WHERE model_id = 'big-1' ORDER BY created_at, id`,
  );
  return rows;
}

async function exported() {
  return (await transaction(database.pool, exportCatalog)).catalog;
}

beforeEach(async () => {
  await apply(file(), true);
});

describe('applying a file', () => {
  test('makes models callable, with routes and keys', async () => {
    const catalog = await current();
    expect((await catalog.resolve('big-1'))?.price.input).toBe(3_000_000n);
    expect((await catalog.resolve('big-1'))?.routes).toMatchObject([
      { upstreamModel: 'vendor-name', upstream: { id: 'vendor', keys: [{ secret: 'sk-vendor-1' }] } },
    ]);
  });

  test('again changes nothing at all', async () => {
    const before = await everything();
    expect(await apply(file())).toEqual({
      upstreams: { ...nothing, unchanged: ['vendor'] },
      models: { ...nothing, unchanged: ['big-1'] },
      plans: { ...nothing, unchanged: ['starter'] },
    });
    expect(await everything()).toBe(before);
  });

  test.each([
    ['a price is a new version', file({ input: '4' }), { models: ['big-1'] }],
    ['a key takes the other’s place', file({ key: 'sk-vendor-2' }), { upstreams: ['vendor'] }],
    ['a route is the model’s only one', file({ model: 'newer' }), { models: ['big-1'] }],
    ['a plan is sold for its new price', file({ priceVnd: 300_000 }), { plans: ['starter'] }],
  ])('what changed is changed: %s', async (_name, text, changed) => {
    const outcome = await apply(text);
    const found = Object.fromEntries(
      Object.entries(outcome).flatMap(([part, { changed: ids }]) => (ids.length === 0 ? [] : [[part, ids]])),
    );
    expect(found).toEqual(changed);
    expect((await apply(text)).models.unchanged).toEqual(['big-1']);
    const catalog = await current();
    expect((await catalog.resolve('big-1'))?.routes).toHaveLength(1);
    expect((await catalog.resolve('big-1'))?.routes[0]?.upstream.keys).toHaveLength(1);
  });

  test('old price versions stay as they were', async () => {
    const before = await versions();
    await apply(file({ input: '7.5' }));
    expect((await versions()).slice(0, before.length)).toEqual(before);
    expect((await versions()).at(-1)).toMatchObject({ input: 7_500_000n });
  });

  test('leaves alone what it does not name', async () => {
    const changes = await apply('plans: []');
    expect(changes).toEqual({ upstreams: nothing, models: nothing, plans: nothing });
    expect(await (await current()).resolve('big-1')).not.toBeNull();
  });

  test('with prune switches off what it does not name, and a later file switches it on again', async () => {
    const only = `
models: [{ id: other, displayName: O, family: o, contextWindow: 1, maxOutputTokens: 1, prices: { input: "1", cacheHit: "0", output: "1" } }]
`;
    const changes = await apply(only, true);
    expect(changes).toEqual({
      upstreams: { ...nothing, disabled: ['vendor'] },
      models: { ...nothing, created: ['other'], disabled: ['big-1'] },
      plans: { ...nothing, disabled: ['starter'] },
    });
    const off = await current();
    expect(await off.resolve('big-1')).toBeNull();
    expect(await apply(file())).toMatchObject({ models: { changed: ['big-1'] }, plans: { changed: ['starter'] } });
    const on = await current();
    expect((await on.resolve('big-1'))?.routes).toHaveLength(1);
  });

  test('by several processes at once happens once', async () => {
    const text = file({ input: '9' });
    const before = (await versions()).length;
    await Promise.all(Array.from({ length: 6 }, () => apply(text)));
    expect(await versions()).toHaveLength(before + 1);
  });

  test('at the same moment as another with the same new entries, in another order, is no fault', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `new-${index}`);
    const outcomes = await Promise.all(
      [ids, ids.toReversed(), ids, ids.toReversed()].map((list) => apply(fileOf(list))),
    );
    expect(outcomes.flatMap(({ models }) => models.created).toSorted()).toEqual(ids);
  });

  test('writes who changed what, and no key', async () => {
    await apply(file({ input: '11', key: 'sk-very-secret-9' }));
    const { rows } = await database.pool.query(
      `SELECT actor, action, subject, before, after FROM audit_entry ORDER BY created_at DESC, id DESC LIMIT 2`,
    );
    expect(rows.every(({ actor }) => actor === 'op')).toBe(true);
    expect(new Set(rows.map(({ action }) => action))).toEqual(new Set(['price.add', 'upstream.set_key']));
    expect(await everything()).not.toContain('sk-very-secret');
  });
});

describe('a file with a fault', () => {
  test('that only the database can tell changes nothing either, and has its line', async () => {
    const before = await everything();
    const text = file({ input: '42' }).replace('upstream: vendor,', 'upstream: elsewhere,');
    const error = await apply(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CatalogFileError);
    expect((error as CatalogFileError).faults).toEqual([
      { line: 12, at: 'models[0].routes[0].upstream', message: 'names the upstream "elsewhere", which there is not' },
    ]);
    expect(await everything()).toBe(before);
  });

  test('may lead to an upstream that an earlier file made', async () => {
    await expect(apply(file().replace(/upstreams:\n.*\n/, ''))).resolves.toMatchObject({
      models: { unchanged: ['big-1'] },
    });
  });
});

describe('exporting', () => {
  test('gives a file that changes nothing, without keys', async () => {
    await apply(`
upstreams:
  - { id: sim, protocol: chat-completions, baseUrl: simulator, features: { files: true }, enabled: false }
models:
  - id: rich
    displayName: "Rich: and 'quoted'"
    family: rich
    contextWindow: 5
    maxOutputTokens: 5
    prices:
      { input: "0.0375", cacheHit: "0.000001", output: "10000", cacheWrite5m: "0", cacheWrite1h: "1", maxPromptTokens: 900000, perUnit: { search: "0.01" },
        tiers: [{ abovePromptTokens: 200000, input: "2", cacheHit: "1", output: "3" }] }
    allow: [web_search]
    capabilities: [tools]
    efforts: [high, none, low]
    routes:
      - { upstream: sim, model: "x: y", priority: 3, weight: 4, costs: { input: "1", cacheHit: "1", output: "2", perUnit: { image: "0.04" }, tiers: [{ abovePromptTokens: 7, input: "1", cacheHit: "1", output: "3" }] } }
    enabled: false
plans:
  - { id: monthly, name: Monthly, priceVnd: 1, budgetUsd: "0.000000000001", validDays: 30 }
`);
    const text = stringify(await exported());
    expect(text).not.toContain('sk-vendor');
    expect(text).toMatch(/efforts:\s+- none\s+- low\s+- high\n/);
    const before = await everything();
    const changes = await apply(text, true);
    for (const part of Object.values(changes)) {
      expect(part).toMatchObject({ created: [], changed: [], disabled: [] });
    }
    expect(await everything()).toBe(before);
    expect(stringify(await exported())).toBe(text);
  });

  test('leaves out what has no price yet, and says which, so that the file can be applied', async () => {
    await database.pool.query(
      `INSERT INTO model (id, display_name, family, context_window, max_output_tokens)
       VALUES ('draft', 'Draft', 'd', 10, 10), ('coming', 'Coming', 'd', 10, 10)`,
    );
    await database.pool.query(
      `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from)
       VALUES (gen_random_uuid(), 'coming', 10, 1, 10, now() + interval '1 day')`,
    );
    const { catalog, unpriced } = await transaction(database.pool, exportCatalog);
    expect(unpriced).toEqual(['coming', 'draft']);
    const before = await everything();
    const changes = await apply(stringify(catalog));
    for (const part of Object.values(changes)) expect(part).toMatchObject({ created: [], changed: [] });
    expect(await everything()).toBe(before);
  });
});

describe('prices of tools at the vendor', () => {
  const search = 10_000_000_000;
  const priced = (perUnit: string, profile = 'anthropic') => `
upstreams:
  - { id: tools, protocol: messages, baseUrl: "http://127.0.0.1:9000"${profile === '' ? '' : `, profile: ${profile}`} }
models:
  - id: tool-1
    displayName: Tool 1
    family: tool
    contextWindow: 200000
    maxOutputTokens: 32000
    prices: { input: "3", cacheHit: "0.3", output: "15"${perUnit} }
    routes:
      - { upstream: tools, model: m, costs: { input: "3", cacheHit: "0.3", output: "15"${perUnit} } }
`;
  const stored = async () => {
    const { rows } = await database.pool.query<{ price: unknown; cost: unknown }>(
      `SELECT p.per_unit AS price, r.cost_per_unit AS cost FROM price p JOIN route r USING (model_id)
       WHERE model_id = 'tool-1' ORDER BY p.valid_from DESC, p.created_at DESC, p.id DESC LIMIT 1`,
    );
    return rows[0];
  };

  test.each([
    ['are the public ones where the file has none', '', 'anthropic', { search }, { search }],
    [
      'are those of the file',
      ', perUnit: { search: "0.02" }',
      'anthropic',
      { search: 2 * search },
      { search: 2 * search },
    ],
    ['are none where the file says so', ', perUnit: { search: null }', 'anthropic', {}, {}],
    ['are none of an unknown vendor', '', '', {}, {}],
  ])('%s, and an exported file says the same', async (_what, perUnit, profile, price, cost) => {
    const text = priced(perUnit, profile);
    await apply(text);
    expect(await stored()).toEqual({ price, cost });
    expect((await apply(text)).models.unchanged).toEqual(['tool-1']);
    const { catalog } = await transaction(database.pool, exportCatalog);
    expect((await apply(stringify(catalog))).models.unchanged).toContain('tool-1');
    expect(await stored()).toEqual({ price, cost });
  });
});
