/** The documentation of the catalog file: every key is described, by the schema that checks it. */

import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { catalogInput } from '../../server/admin/catalog-content.ts';
import { catalogKeys } from '../../server/admin/catalog-schema.ts';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { catalogPagePath, withCatalogKeys } from '../../server/admin/print-catalog-keys.ts';

/** A database that nothing reaches: the command must not need one. */
const env = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' };

async function print(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const code = await runCommandLine(['catalog', 'schema', ...args], {
    env,
    out: (text) => printed.push(text),
    err: (text) => printed.push(text),
  });
  expect({ code, printed: printed.length }).toEqual({ code: 0, printed: 1 });
  return printed.join('');
}

/** Every member that the checking schema knows, found without the code under test. */
function knownTo(schema: z.ZodType): string[] {
  const paths: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (!(node instanceof z.ZodType)) return;
    if (node instanceof z.ZodObject) {
      for (const [name, member] of Object.entries(node.shape)) {
        const place = path === '' ? name : `${path}.${name}`;
        paths.push(place);
        walk(member, place);
      }
      return;
    }
    if (node instanceof z.ZodArray) return walk(node.element, path);
    if (node instanceof z.ZodUnion) return node.options.forEach((option) => walk(option, path));
    const { innerType, in: input } = node.def as { innerType?: unknown; in?: unknown };
    walk(innerType ?? input, path);
  };
  walk(schema, '');
  return paths;
}

describe('the keys of the catalog file', () => {
  test('are all documented, each with a description of its own words', () => {
    const keys = catalogKeys();
    const documented = new Set(keys.map(({ path }) => path.replaceAll('[]', '')));
    const known = knownTo(catalogInput({ allowPrivate: false }));
    expect(known.length).toBeGreaterThan(50);
    expect(known.filter((path) => !documented.has(path))).toEqual([]);
    expect(keys.filter(({ description }) => description.length < 15).map(({ path }) => path)).toEqual([]);
    expect(keys.filter(({ description }) => !/[.:]$/.test(description)).map(({ path }) => path)).toEqual([]);
  });

  test('are what server/CATALOG.md lists: `npm run generate:catalog` writes it', async () => {
    const page = await readFile(catalogPagePath, 'utf8');
    expect(page).toBe(withCatalogKeys(page));
    for (const { description } of catalogKeys()) expect(page).toContain(description);
  });

  test('are printed by `catalog schema` without a database, as tables and as JSON Schema', async () => {
    const tables = await print();
    for (const key of ['maxTokensField', 'allow', 'capabilities', 'cacheWrite1h', 'costs', 'weight', 'validDays']) {
      expect(tables).toContain(key);
    }
    const schema = JSON.parse(await print('--json')) as { properties: Record<string, unknown> };
    expect(Object.keys(schema.properties)).toEqual(['source', 'upstreams', 'models', 'plans']);
  });
});
