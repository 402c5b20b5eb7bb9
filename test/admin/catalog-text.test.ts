/** Catalog files that commands write from a public price list say what the catalog says, whatever texts the list has. */

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseCatalogFile } from '../../server/admin/catalog-file.ts';
import { catalogText } from '../../server/admin/catalog-text.ts';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { createDirectory } from '../support/directory.ts';

let directory: string;
let files = 0;

beforeAll(() => {
  directory = createDirectory('steyg-catalog-text-');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const injected = '\nplans:\n  - { id: free, name: Free, priceVnd: 1000, budgetUsd: "1000" }\n';

/** Texts of every character, and pieces that mean something to YAML, to a terminal or to an encoder. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(injected, '\r', '\r\nplans: []', '\u0085', '\u2028', '\u2029', '\u001B[2J', '\0', '\uD800'),
      fc.constantFrom(' #', ': ', '- ', '---\n', '...\n', '&a', '*a', '"', "'", '\t', '\uFEFF', 'x'.repeat(600)),
    ),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));
const name = fc.oneof(hostile, fc.constantFrom('one', 'two', 'Three'));

/** An entry with texts in each member that has one, of models that are sold and of models that are left out. */
const modelsDevEntry = fc.record(
  {
    name,
    family: name,
    status: fc.constantFrom('deprecated', 'active'),
    experimental: fc.record({ modes: fc.dictionary(hostile, fc.constant({})) }),
    modalities: fc.record({ input: fc.array(hostile, { maxLength: 2 }), output: fc.constantFrom(['text'], ['image']) }),
    limit: fc.constant({ context: 1000, output: 100 }),
    cost: fc.constantFrom<object>({ input: 1, output: 2 }, { input: 1, output: 2, input_audio: 3 }, {}),
    extra: hostile,
  },
  { requiredKeys: ['limit'] },
);
const modelsDev = fc
  .tuple(fc.array(fc.tuple(name, modelsDevEntry), { minLength: 1, maxLength: 3 }), hostile)
  .map(([entries, vendor]) => ({
    openai: {
      name: vendor,
      models: Object.fromEntries([
        ...entries,
        ['sold', { limit: { context: 1000, output: 100 }, cost: { input: 1, output: 2 } }],
      ]),
    },
  }));
const liteLlmEntry = fc.record(
  {
    litellm_provider: fc.constant('openai'),
    mode: fc.oneof(fc.constant('chat'), hostile),
    max_input_tokens: fc.constant(1000),
    max_output_tokens: fc.constant(100),
    input_cost_per_token: fc.constant(1e-6),
    output_cost_per_token: fc.constant(2e-6),
    deprecation_date: hostile,
    source: hostile,
    comment: hostile,
    output_cost_per_image_2K: fc.constant(1),
  },
  { requiredKeys: ['litellm_provider', 'mode'] },
);
const liteLlm = fc.array(fc.tuple(name, liteLlmEntry), { minLength: 1, maxLength: 3 }).map((entries) =>
  Object.fromEntries([
    ...entries,
    [
      'sold',
      {
        litellm_provider: 'openai',
        mode: 'chat',
        max_input_tokens: 1000,
        max_output_tokens: 100,
        input_cost_per_token: 1e-6,
        output_cost_per_token: 2e-6,
      },
    ],
  ]),
);

async function importList(list: object) {
  const from = join(directory, `${(files += 1)}.json`);
  const out = join(directory, `${files}.yaml`);
  await writeFile(from, JSON.stringify(list));
  const printed = { out: '', err: '' };
  const call = (...args: string[]) =>
    runCommandLine(['catalog', 'import', from, '--vendor=openai', '--markup=10%', ...args], {
      env: { DATA_DIR: directory },
      out: (text) => {
        printed.out += text;
      },
      err: (text) => {
        printed.err += text;
      },
    });
  const code = await call('--json', `--out=${out}`);
  const answer = JSON.parse(printed.out);
  Object.assign(printed, { out: '', err: '' });
  await call();
  const file = await readFile(out, 'utf8').catch(() => null);
  return { code, answer, file, printed };
}

/** What must hold of every list: a file that is the catalog, or none. */
async function expectSafe(list: object): Promise<boolean> {
  const { code, answer, file, printed } = await importList(list);
  expect([undefined, 'invalid_price_list', 'unknown_price_fields']).toContain(answer.error?.code);
  expect(file === null).toBe(code !== 0);
  if (code !== 0) return false;
  for (const text of [file ?? '', printed.out]) {
    expect(parse(text)).toEqual(answer.catalog);
    expect(Object.keys(parse(text))).toEqual(['source', 'upstreams', 'models']);
    const head = text.slice(0, text.indexOf('\nsource:')).split('\n');
    expect(head).toHaveLength(2 + answer.notes.length + answer.leftOut.length);
    expect(head.filter((line) => !/^# [\x20-\x7E]{0,500}$/.test(line))).toEqual([]);
  }
  const content = parseCatalogFile('file.yaml', file ?? '', {
    allowPrivateUpstreams: false,
    vendorKey: () => 'sk-test-0123456789',
  });
  expect(content.plans).toEqual([]);
  expect(content.models.map(({ model }) => model.id)).toContain('sold');
  return true;
}

describe('catalog import', () => {
  test('takes a name that goes on as YAML for no more than a comment', async () => {
    const limits = { limit: { context: 1000, output: 100 }, cost: { input: 1, output: 2 } };
    const models = { [`x${injected}`]: { ...limits, modalities: { output: ['image'] } }, sold: limits };
    expect(await expectSafe({ openai: { models } })).toBe(true);
    const noted = { ...limits, experimental: { modes: { [injected]: {} } } };
    expect(await expectSafe({ openai: { models: { sold: noted } } })).toBe(true);
  });

  test.each([
    ['models.dev', modelsDev],
    ['LiteLLM', liteLlm],
  ])('writes the catalog alone, whatever texts a list of %s has', async (_name, lists: fc.Arbitrary<object>) => {
    let written = 0;
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        if (await expectSafe(list)) written += 1;
      }),
      { numRuns: 80 },
    );
    expect(written).toBeGreaterThan(10);
  });

  test('says which name of a list a catalog cannot have, and writes nothing', async () => {
    const models = { sold: { name: 'a\nb', limit: { context: 1000, output: 100 }, cost: { input: 1, output: 2 } } };
    const { answer, file } = await importList({ openai: { models } });
    expect(answer.error).toMatchObject({ code: 'invalid_price_list', faults: [{ at: 'models.0.displayName' }] });
    expect(file).toBeNull();
  });
});

test('a text that would be read as another catalog is never returned', () => {
  expect(() => catalogText([], { models: [{ contextWindow: Number.NaN }] })).toThrow('something else');
  expect(parse(catalogText([injected], { models: [] }))).toEqual({ models: [] });
});
