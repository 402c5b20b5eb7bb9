/** `catalog import` and `catalog diff`: from a public price list to a catalog file, and back to what is different. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { parseMarkup } from '../../server/catalog/markup.ts';
import { parsePrice } from '../../server/core/money.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

const list = (name: string) => fileURLToPath(new URL(`price-list/${name}.json`, import.meta.url));
const modelsDev = list('models-dev');
const liteLlm = list('litellm');
const openRouter = list('openrouter');

let database: TestDatabase;
let directory: string;
let files = 0;

beforeAll(async () => {
  directory = createDirectory('steyg-lists-');
});
beforeEach(async () => {
  database = await createDatabase();
  return () => database.drop();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

async function call(...args: string[]) {
  const printed = { out: '', err: '' };
  const code = await runCommandLine(args, {
    env: {
      DATABASE_URL: database.url,
      DATA_DIR: directory,
      ALLOW_PRIVATE_UPSTREAMS: '1',
      ANTHROPIC_API_KEY: 'sk-ant-test',
      OPENAI_API_KEY: 'sk-test',
      OPENROUTER_API_KEY: 'sk-or-test',
    },
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
  });
  return { code, ...printed };
}

async function admin(...args: string[]): Promise<Json> {
  const { code, out } = await call(...args, '--json');
  if (code !== 0) throw new Error(out);
  return JSON.parse(out);
}

async function refused(...args: string[]): Promise<Json> {
  const { code, out } = await call(...args, '--json');
  expect(code).toBe(1);
  return JSON.parse(out).error;
}

const path = (name = 'file.yaml') => join(directory, `${(files += 1)}-${name}`);

/** A copy of a list with one more member in the entry of a model. */
async function listWith(model: string, member: Json): Promise<string> {
  const entries = JSON.parse(readFileSync(liteLlm, 'utf8'));
  Object.assign(entries[model], member);
  const copy = path('list.json');
  await writeFile(copy, JSON.stringify(entries));
  return copy;
}

async function everything(): Promise<string> {
  const rows = [];
  for (const table of ['upstream', 'upstream_key', 'model', 'price', 'route', 'plan', 'audit_entry']) {
    rows.push((await database.pool.query(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)).rows);
  }
  return JSON.stringify(rows);
}

describe('catalog import', () => {
  test.each([
    ['models.dev', modelsDev],
    ['LiteLLM', liteLlm],
  ])('writes a file from %s that `catalog apply` takes, at cost plus the markup', async (_name, from) => {
    const out = path();
    const { catalog } = await admin(
      'catalog',
      'import',
      from,
      '--vendor',
      'anthropic',
      '--markup',
      '15%',
      '--out',
      out,
    );
    const written = parse(await readFile(out, 'utf8'));
    expect(written).toEqual(catalog);
    expect(written.models.map(({ id }: Json) => id)).toEqual(['claude-haiku-4-5', 'claude-opus-4-8']);
    expect(written.models[0]).toMatchObject({
      displayName: 'Claude Haiku 4.5',
      contextWindow: 200_000,
      prices: { input: '1.15', cacheHit: '0.115', cacheWrite5m: '1.4375', cacheWrite1h: '2.3', output: '5.75' },
      routes: [
        {
          upstream: 'anthropic',
          model: 'claude-haiku-4-5',
          costs: { input: '1', cacheHit: '0.1', cacheWrite5m: '1.25', cacheWrite1h: '2', output: '5' },
        },
      ],
    });

    expect((await admin('catalog', 'apply', out)).catalog.models.created).toEqual([
      'claude-haiku-4-5',
      'claude-opus-4-8',
    ]);
    const { models } = await admin('catalog', 'export');
    for (const entry of written.models) {
      const stored = models.find(({ id }: Json) => id === entry.id);
      // The vendor's public price of its searches joins what the list says nothing of.
      const perUnit = { search: '0.01' };
      expect(stored.prices).toEqual({ perUnit, ...entry.prices });
      expect(stored.routes[0].costs).toEqual({ perUnit, ...entry.routes[0].costs });
    }
    // What was applied is what the list says.
    const { models: rows } = await admin('catalog', 'diff', from);
    expect(rows.map(({ differs }: Json) => differs)).toEqual([[], []]);
    expect(rows[0].margin).toEqual({
      input: '13.04',
      cacheHit: '13.04',
      cacheWrite5m: '13.04',
      cacheWrite1h: '13.04',
      output: '13.04',
    });
  });

  test.each([
    ['models.dev', modelsDev],
    ['LiteLLM', liteLlm],
  ])('carries the tiers of %s by prompt length into costs and prices', async (_name, from) => {
    const out = path();
    await admin(
      'catalog',
      'import',
      from,
      '--vendor',
      'openai',
      '--markup',
      '10%',
      '--models',
      'gpt-5.4',
      '--out',
      out,
    );
    await admin('catalog', 'apply', out);
    const [entry] = (await admin('catalog', 'export')).models;
    expect(entry.prices).toMatchObject({
      input: '2.75',
      output: '16.5',
      tiers: [{ abovePromptTokens: 272_000, input: '5.5', cacheHit: '0.55', output: '24.75' }],
    });
    expect(entry.routes[0].costs.tiers).toMatchObject([{ abovePromptTokens: 272_000, input: '5', output: '22.5' }]);
    const { models } = await admin('catalog', 'diff', from);
    expect(models.map(({ differs }: Json) => differs)).toEqual([[], []]);
    expect((await call('catalog', 'diff', from)).out).toContain('above 272000');
  });

  test('says in the file what it left out, what else is charged, and where the prices are from', async () => {
    const { code, out } = await call('catalog', 'import', modelsDev, '--vendor', 'anthropic', '--markup', '0%');
    expect(code).toBe(0);
    expect(out).toContain('# Left out: claude-3-opus-20240229: the vendor retires it');
    expect(out).toContain('# claude-opus-4-8: the list also prices experimental.modes.fast');
    expect(parse(out)).toMatchObject({
      source: { address: modelsDev, date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    });
  });

  test('takes the models that it is told, and no key of a vendor into the file', async () => {
    const only = 'claude-3-opus-20240229,claude-none';
    const named = await admin('catalog', 'import', modelsDev, '--vendor=anthropic', '--markup=5%', `--models=${only}`);
    expect(named.catalog.models.map(({ id }: Json) => id)).toEqual(['claude-3-opus-20240229']);
    expect(named.leftOut).toEqual([{ model: 'claude-none', reason: 'the list does not have it' }]);
    expect(named.catalog.upstreams[0]).toMatchObject({ apiKeyEnv: 'ANTHROPIC_API_KEY' });
    expect(JSON.stringify(named)).not.toContain('sk-ant-test');
  });

  test('writes nothing of a model with a price that it does not know, and names every such member', async () => {
    const from = await listWith('claude-opus-4-8', { thinking_surcharge: 0.01, other_fee: { peak: 2 } });
    const out = path();
    const opus = ['--models', 'claude-opus-4-8', '--out', out];
    const error = await refused('catalog', 'import', from, '--vendor', 'anthropic', '--markup', '15%', ...opus);
    expect(error).toMatchObject({
      code: 'unknown_price_fields',
      faults: [
        { model: 'claude-opus-4-8', field: 'thinking_surcharge' },
        { model: 'claude-opus-4-8', field: 'other_fee' },
      ],
    });
    await expect(readFile(out)).rejects.toThrow('ENOENT');
    // The others are had without it, and it is said why.
    const { catalog, leftOut } = await admin('catalog', 'import', from, '--vendor=anthropic', '--markup=15%');
    const ids = catalog.models.map(({ id }: Json) => id);
    expect(ids).toContain('claude-haiku-4-5');
    expect(ids).not.toContain('claude-opus-4-8');
    expect(leftOut).toContainEqual({
      model: 'claude-opus-4-8',
      reason: 'its prices cannot be taken: thinking_surcharge is not known, other_fee is not known',
    });
  });

  test('sells searches at the list price plus the markup where the vendor’s tool is known, else names them', async () => {
    const searches = { search_context_cost_per_query: { search_context_size_high: 0.05 } };
    const from = await listWith('gpt-5.4', { ...searches, output_cost_per_image: 0.04 });
    const { catalog, notes } = await admin('catalog', 'import', from, '--vendor=openai', '--markup=10%');
    const gpt = catalog.models.find(({ id }: Json) => id === 'gpt-5.4');
    expect(gpt.prices.perUnit).toEqual({ search: '0.055' });
    expect(gpt.routes[0].costs.perUnit).toEqual({ search: '0.05', image: '0.04' });
    expect(notes).toContainEqual({
      model: 'gpt-5.4',
      note: expect.stringMatching(/^the list prices by the piece: image 0\.04 USD\. .* not imported as a price/),
    });
    // OpenRouter's searches are no tool that is known here.
    const routed = await admin('catalog', 'import', openRouter, '--vendor=openrouter', '--markup=10%');
    const opus = routed.catalog.models.find(({ id }: Json) => id === 'anthropic/claude-opus-4.8');
    expect([opus.prices.perUnit, opus.routes[0].costs.perUnit]).toEqual([undefined, { search: '0.01' }]);
    expect(routed.notes).toContainEqual({
      model: 'anthropic/claude-opus-4.8',
      note: expect.stringContaining('search 0.01 USD. It is in the costs and not imported as a price'),
    });
  });

  test('takes OpenRouter’s own list, names what it leaves out, and finds it again without a difference', async () => {
    const out = path();
    const { leftOut } = await admin(
      'catalog',
      'import',
      openRouter,
      '--vendor=openrouter',
      '--markup=15%',
      '--out',
      out,
    );
    expect(leftOut).toEqual([
      { model: 'openai/gpt-5.3-chat', reason: 'the vendor retires it; name it to have it' },
      { model: 'openrouter/pareto-code', reason: 'it has no price by tokens' },
      { model: '~anthropic/claude-opus-latest', reason: 'its name cannot be an id' },
      {
        model: 'perplexity/sonar-pro-search',
        reason: expect.stringContaining('its prices cannot be taken: pricing.request is not known'),
      },
    ]);
    await admin('catalog', 'apply', out);
    const { models, missing } = await admin('catalog', 'diff', openRouter);
    expect(models.map(({ model, differs }: Json) => [model, differs])).toEqual(
      [
        'anthropic/claude-opus-4.8',
        'deepseek/deepseek-v4-flash-0731',
        'google/gemini-3.1-pro-preview',
        'google/gemma-4-26b-a4b-it',
        'openai/gpt-5.6-luna',
      ].map((id) => [id, []]),
    );
    // What could not be taken is not sold, and is named with what is not known of it.
    expect(missing).toMatchObject([
      { name: '~anthropic/claude-opus-latest', unknown: [] },
      { name: 'perplexity/sonar-pro-search', unknown: ['pricing.request'] },
    ]);
    expect((await call('catalog', 'diff', openRouter)).out).toContain('; not known: pricing.request');
  });

  test('leaves out one model that a catalog cannot take, and names it', async () => {
    const from = await listWith('claude-opus-4-8', { max_output_tokens: 1e15 });
    const all = await admin('catalog', 'import', from, '--vendor=anthropic', '--markup=15%');
    const ids = all.catalog.models.map(({ id }: Json) => id);
    expect(ids).toContain('claude-haiku-4-5');
    expect(ids).not.toContain('claude-opus-4-8');
    expect(all.leftOut).toContainEqual({
      model: 'claude-opus-4-8',
      reason: expect.stringMatching(/^a catalog does not take it: maxOutputTokens must be at most/),
    });
    const named = ['--vendor=anthropic', '--markup=15%', '--models=claude-opus-4-8'];
    expect(await refused('catalog', 'import', from, ...named)).toMatchObject({ code: 'invalid_price_list' });
  });

  test.each([
    ['invalid_input', ['--vendor', 'nobody', '--markup', '1%']],
    ['invalid_input', ['--vendor', 'anthropic', '--markup', '15']],
    ['usage', ['--vendor', 'anthropic']],
    ['nothing_to_import', ['--vendor', 'deepseek', '--markup', '1%']],
  ])('%s: %j', async (code, options) => {
    expect(await refused('catalog', 'import', modelsDev, ...options)).toMatchObject({ code });
  });

  test('never writes over a file', async () => {
    const out = path();
    await writeFile(out, 'mine');
    const error = await refused(
      'catalog',
      'import',
      modelsDev,
      '--vendor',
      'openai',
      '--markup',
      '1%',
      '--models',
      'gpt-5-mini',
      '--out',
      out,
    );
    expect(error).toMatchObject({ code: 'unwritable' });
    expect(await readFile(out, 'utf8')).toBe('mine');
  });
});

describe('catalog diff', () => {
  const catalog = `
upstreams:
  - { id: anthropic, protocol: messages, baseUrl: "https://api.anthropic.com", apiKeyEnv: ANTHROPIC_API_KEY }
  - { id: own, protocol: chat-completions, baseUrl: "http://127.0.0.1:9/v1" }
models:
  - id: opus
    displayName: Opus
    family: claude
    contextWindow: 200000
    maxOutputTokens: 128000
    prices: { input: "4", cacheHit: "0.6", output: "30" }
    routes:
      - { upstream: anthropic, model: claude-opus-4-8, priority: 3, costs: { input: "4.5", cacheHit: "0.5", output: "25" } }
      - { upstream: own, model: gpt-5-mini }
  - id: gone
    displayName: Gone
    family: claude
    contextWindow: 200000
    maxOutputTokens: 128000
    prices: { input: "4", cacheHit: "0.6", output: "30" }
    routes: [{ upstream: anthropic, model: claude-none }]
`;

  async function apply(text = catalog) {
    const file = path();
    await writeFile(file, text);
    await admin('catalog', 'apply', file);
  }

  test('shows models of the list that the catalog lacks, of the vendors that it has', async () => {
    await apply();
    const { missing } = await admin('catalog', 'diff', modelsDev);
    const names = missing.map(({ vendor, name }: { vendor: string; name: string }) => `${vendor}/${name}`);
    expect(names).toContain('anthropic/claude-haiku-4-5');
    expect(names).not.toContain('anthropic/claude-opus-4-8');
    expect(names.every((name: string) => name.startsWith('anthropic/'))).toBe(true);
    expect(missing.find(({ name }: { name: string }) => name === 'claude-haiku-4-5').prices).toMatchObject({
      input: '1',
      output: '5',
    });
    const { out } = await call('catalog', 'diff', modelsDev);
    expect(out).toMatch(/not in the catalog:[^]*anthropic: claude-haiku-4-5 {2}input 1,/);
  });

  test('shows list price, cost, price, margin, limits and differences of each route, and changes nothing', async () => {
    await apply();
    const before = await everything();
    const { models } = await admin('catalog', 'diff', modelsDev);
    expect(models).toMatchObject([
      {
        model: 'gone',
        list: null,
        cost: null,
        margin: { input: null },
        differs: ['not_listed'],
      },
      { model: 'opus', upstream: 'own', vendor: null, margin: { input: null }, differs: [] },
      {
        model: 'opus',
        upstream: 'anthropic',
        vendor: 'anthropic',
        list: { input: '5', cacheHit: '0.5', cacheWrite5m: '6.25', cacheWrite1h: '10', output: '25' },
        cost: { input: '4.5', cacheHit: '0.5', output: '25' },
        price: { input: '4', cacheHit: '0.6', output: '30' },
        margin: { input: '-12.50', cacheHit: '16.66', output: '16.66' },
        contextWindow: { ours: 200_000, list: 1_000_000 },
        differs: ['cost', 'loss', 'limits'],
      },
    ]);
    const { out } = await call('catalog', 'diff', modelsDev);
    for (const shown of ['sold below the list price', 'unknown', '-12.50 %', '(list: 1000000)', '--map own=VENDOR']) {
      expect(out).toContain(shown);
    }
    expect(await everything()).toBe(before);
  });

  test('compares an upstream at another address with the vendor that it is told', async () => {
    await apply();
    const { models } = await admin('catalog', 'diff', modelsDev, '--map', 'own=openai');
    expect(models.find(({ upstream }: Json) => upstream === 'own')).toMatchObject({
      vendor: 'openai',
      list: { input: '0.25', output: '2' },
    });
    expect(await refused('catalog', 'diff', modelsDev, '--map', 'own=nobody')).toMatchObject({ code: 'invalid_input' });
  });

  test('proposes a file that only `catalog apply` makes real, with the other routes as they are', async () => {
    await apply();
    const before = await everything();
    const out = path();
    await admin('catalog', 'diff', modelsDev, '--markup', '20%', '--out', out);
    expect(await everything()).toBe(before);
    await admin('catalog', 'apply', out);
    const { models } = await admin('catalog', 'export');
    const opus = models.find(({ id }: Json) => id === 'opus');
    expect(opus.prices).toMatchObject({ input: '6', cacheHit: '0.6', cacheWrite1h: '12', output: '30' });
    expect(opus.routes).toMatchObject([
      { upstream: 'own', model: 'gpt-5-mini' },
      { upstream: 'anthropic', priority: 3, costs: { input: '5', output: '25' } },
    ]);
    expect(models.find(({ id }: Json) => id === 'gone').prices.input).toBe('4');
    const again = await admin('catalog', 'diff', modelsDev);
    expect(again.models[2].differs).toEqual(['limits']);
  });

  test('leaves prices by the piece, which a list names otherwise, as they are', async () => {
    const out = path();
    await apply(catalog.replace('output: "25" }', 'output: "25", perUnit: { search: "0.01" } }'));
    const { models } = await admin('catalog', 'diff', modelsDev);
    expect(models[2].differs).toEqual(['cost', 'loss', 'limits']);
    await admin('catalog', 'diff', modelsDev, '--out', out);
    await admin('catalog', 'apply', out);
    expect((await admin('catalog', 'diff', modelsDev)).models[2]).toMatchObject({
      cost: { input: '5', perUnit: { search: '0.01' } },
      differs: ['loss', 'limits'],
    });
  });

  test('leaves prices of variants, which no list names, as they are, and does not call them a difference', async () => {
    const flex = (input: string, output: string) =>
      `variants: [{ name: flex, input: "${input}", cacheHit: "0.25", output: "${output}" }]`;
    await apply(
      catalog
        .replace('cacheHit: "0.6", output: "30" }', `cacheHit: "0.6", output: "30", ${flex('3', '15')} }`)
        .replace('output: "25" }', `output: "25", ${flex('2.5', '12.5')} }`),
    );
    const out = path();
    await admin('catalog', 'diff', modelsDev, '--markup', '20%', '--out', out);
    await admin('catalog', 'apply', out);
    const { models } = await admin('catalog', 'export');
    const opus = models.find(({ id }: Json) => id === 'opus');
    expect(opus.prices).toMatchObject({ input: '6', variants: [{ name: 'flex', input: '3', output: '15' }] });
    expect(opus.routes[1].costs).toMatchObject({
      input: '5',
      variants: [{ name: 'flex', input: '2.5', output: '12.5' }],
    });
    expect((await admin('catalog', 'diff', modelsDev)).models[2].differs).toEqual(['limits']);
  });

  test('a flat price is a loss where only long prompts cost more than it', async () => {
    const flat = (price: string) => `
upstreams:
  - { id: openrouter, protocol: chat-completions, baseUrl: "https://openrouter.ai/api/v1", apiKeyEnv: OPENROUTER_API_KEY }
models:
  - id: gemini
    displayName: Gemini
    family: gemini
    contextWindow: 1048576
    maxOutputTokens: 65536
    prices: { input: "${price}", cacheHit: "1", output: "20" }
    routes: [{ upstream: openrouter, model: google/gemini-3.1-pro-preview }]
`;
    const differs = async (price: string) => {
      await apply(flat(price));
      return (await admin('catalog', 'diff', openRouter)).models[0].differs;
    };
    expect(await differs('3.9')).toContain('loss');
    expect(await differs('4.5')).not.toContain('loss');
  });

  test('a price with the markup is above the cost of every route', async () => {
    await apply(
      catalog.replace(
        '{ upstream: own, model: gpt-5-mini }',
        '{ upstream: own, model: claude-haiku-4-5, priority: 1 }',
      ),
    );
    const out = path();
    await admin('catalog', 'diff', modelsDev, '--map', 'own=anthropic', '--markup', '20%', '--out', out);
    const [opus] = parse(await readFile(out, 'utf8')).models;
    expect(opus.routes.map(({ costs }: Json) => costs.input)).toEqual(expect.arrayContaining(['1', '5']));
    expect(opus.prices).toMatchObject({ input: '6', cacheHit: '0.6', cacheWrite1h: '12', output: '30' });
  });

  test('a price of the list that is not known ends it with its name, after what is known', async () => {
    await apply();
    const from = await listWith('claude-opus-4-8', { input_cost_per_token_moonlight: 1e-6 });
    const error = await refused('catalog', 'diff', from);
    expect(error).toMatchObject({
      code: 'unknown_price_fields',
      faults: [{ model: 'opus', field: 'input_cost_per_token_moonlight' }],
    });
    expect(error.models).toHaveLength(3);
    // A fault in a model that is not sold here is nobody's.
    expect((await call('catalog', 'diff', await listWith('dall-e-3', { new_fee: 1 }))).code).toBe(0);
  });

  test('proposes the list’s searches with the markup where they have a price, and nowhere else', async () => {
    await apply(catalog.replace('output: "30" }', 'output: "30", perUnit: { search: "0.02" } }'));
    const from = await listWith('claude-opus-4-8', {
      search_context_cost_per_query: { search_context_size_low: 0.008, search_context_size_high: 0.01 },
    });
    const out = path();
    await admin('catalog', 'diff', from, '--markup', '20%', '--out', out);
    expect(parse(await readFile(out, 'utf8')).models[0].prices.perUnit).toEqual({ search: '0.012' });
    // Switched off although the vendor has it.
    const off = catalog.replaceAll('output: "30" }', 'output: "30", perUnit: { search: null } }');
    await apply(off.replace('protocol: messages,', 'protocol: messages, profile: anthropic,'));
    const other = path();
    await admin('catalog', 'diff', from, '--markup', '20%', '--out', other);
    expect(parse(await readFile(other, 'utf8')).models[0].prices.perUnit).toEqual({ search: null });
  });

  test('reads the list from an address', async () => {
    await apply();
    const server = createServer((_request, response) => response.end(readFileSync(modelsDev))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      expect((await admin('catalog', 'diff', `http://127.0.0.1:${port}/api.json`)).models).toHaveLength(3);
      server.removeAllListeners('request');
      server.on('request', (_request, response) => response.writeHead(503).end());
      expect(await refused('catalog', 'diff', `http://127.0.0.1:${port}/api.json`)).toMatchObject({
        code: 'invalid_price_list',
        message: expect.stringContaining('503'),
      });
    } finally {
      server.close();
    }
  });
});

test('a markup of the command is the markup of every price in the file', async () => {
  const markup = parseMarkup('12.5%');
  const { catalog } = await admin('catalog', 'import', liteLlm, '--vendor', 'anthropic', '--markup', '12.5%');
  expect(markup).toEqual({ part: 125_000n, of: 1_000_000n });
  let withPieces = 0;
  for (const { prices, routes } of catalog.models) {
    const { perUnit, ...costs } = routes[0].costs as Record<string, string>;
    if (typeof perUnit === 'object') withPieces += 1;
    expect(prices.perUnit).toEqual(perUnit && { search: '0.01125' });
    for (const [pool, cost] of Object.entries(costs)) {
      const exact = (parsePrice(cost) ?? 0n) * 1_125_000n;
      expect((parsePrice(prices[pool]) ?? 0n) * 1_000_000n - exact).toBeLessThan(1_000_000n);
      expect((parsePrice(prices[pool]) ?? 0n) * 1_000_000n).toBeGreaterThanOrEqual(exact);
    }
  }
  expect(withPieces).toBeGreaterThan(0);
});
