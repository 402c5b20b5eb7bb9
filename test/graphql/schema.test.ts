/** The schema: authorisation rules, descriptions, and its printed form. */

import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import SchemaBuilder from '@pothos/core';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { getNamedType, isInputObjectType, isObjectType, isUnionType, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { findUndescribed, findUnguarded } from '../../server/graphql/guard/guard.ts';
import { schemaPath } from '../../server/graphql/print.ts';
import { buildSchema, printedSchema } from '../../server/graphql/schema.ts';
import { questions } from '../bench/graphql.ts';

describe('the schema', () => {
  const schema = buildSchema();

  it('names an authorisation rule for every root field and every type', () => {
    expect(findUnguarded(schema)).toEqual([]);
  });

  it('describes every type, field, argument and value', () => {
    expect(findUndescribed(schema)).toEqual([]);
  });

  it.each(Object.entries(questions))('has what the bench asks for: %s', (_, question) => {
    expect(validate(schema, parse(question))).toEqual([]);
  });

  it('is what schema.graphql says (npm run generate:schema)', async () => {
    expect(await readFile(schemaPath, 'utf8')).toBe(printedSchema());
  });

  it('gives every expected error a code and a sentence', () => {
    const errors = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && type.name.endsWith('Error'),
    );
    expect(errors.length).toBeGreaterThan(5);
    for (const type of errors) {
      expect(isObjectType(type) && type.getInterfaces().map(({ name }) => name)).toEqual(['Error']);
    }
  });
});

describe('the conventions of the schema', () => {
  const schema = buildSchema();
  const objects = Object.values(schema.getTypeMap()).filter(isObjectType);

  it('give every mutation plain arguments, a single value or ids, or else one input that is not null', () => {
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
    expect(mutations.length).toBeGreaterThan(50);
    const given = mutations.map(
      ({ name, args }) => [name, args.map((each) => `${each.name}: ${each.type.toString()}`)] as const,
    );
    const isId = (argument: string) => /^(?:id|\w+Id): /.test(argument);
    expect(given.filter(([, args]) => args.length > 1 && !args.every(isId))).toEqual([]);
    const all = mutations.flatMap(({ args }) => args);
    expect(all.filter(({ name }) => name !== 'input').length).toBeGreaterThan(20);
    for (const { type } of all.filter(({ name }) => name === 'input')) {
      expect(type.toString()).toMatch(/^\w+Input!$/);
      const members = getNamedType(type);
      expect(isInputObjectType(members) && Object.keys(members.getFields()).length).toBeGreaterThan(1);
    }
  });

  it('offer every list forward only', () => {
    const lists = objects.flatMap((type) =>
      Object.values(type.getFields()).filter(({ type: answer }) => getNamedType(answer).name.endsWith('Connection')),
    );
    expect(lists.length).toBeGreaterThan(20);
    for (const { args } of lists) {
      const names = args.map(({ name }) => name);
      expect(names).toContain('after');
      expect(names).not.toContain('last');
      expect(names).not.toContain('before');
    }
  });

  it('name pages and their elements after what they hold', () => {
    const pages = objects.filter((type) => type.getFields()['edges'] !== undefined);
    expect(pages.length).toBeGreaterThan(20);
    for (const page of pages) {
      const [, node = ''] = /^(\w+)Connection$/.exec(page.name) ?? [];
      const edge = schema.getType(`${node}Edge`);
      expect(isObjectType(edge) && String(edge.getFields()['node']?.type)).toBe(`${node}!`);
    }
  });

  it('have nothing deprecated before the first published version', () => {
    expect(printedSchema()).not.toContain('@deprecated');
  });
});

describe('a name of the schema', () => {
  const schema = buildSchema();
  const root = new URL('../../server/', import.meta.url).pathname;
  const source = globSync('**/*.ts', { cwd: root, exclude: ['**/generated/**'] })
    .map((path) => readFileSync(`${root}${path}`, 'utf8'))
    .join('\n');
  const words = new Set(source.match(/\w+/g));

  /** Types of the builder and of the library: what the design calls them is what they are called everywhere. */
  const builtIn = new Set([
    'Query',
    'Mutation',
    'Subscription',
    'PageInfo',
    'Node',
    'String',
    'Int',
    'Float',
    'Boolean',
    'ID',
  ]);

  it('is found in the source by searching for it: types, inputs, enums, and the fields of the roots', () => {
    const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__') && !builtIn.has(name));
    const named = types.filter((type) => !isUnionType(type)).map(({ name }) => name);
    const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    );
    expect(named.length + fields.length).toBeGreaterThan(400);
    expect([...named, ...fields].filter((name) => name !== 'node' && !words.has(name))).toEqual([]);
  });

  it('is, of a result, that of its field', () => {
    const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.values(type?.getFields() ?? {}),
    );
    const results = new Map(fields.map((field) => [getNamedType(field.type).name, field.name]));
    const unions = Object.values(schema.getTypeMap()).filter(isUnionType);
    expect(unions.length).toBeGreaterThan(100);
    for (const { name } of unions) {
      const field = results.get(name) ?? '';
      expect(name).toBe(`${field.slice(0, 1).toUpperCase()}${field.slice(1)}Result`);
    }
  });
});

describe('the guard', () => {
  it('notices a root field and a type that forgot their rule', () => {
    const builder = new SchemaBuilder<{ AuthScopes: { public: boolean } }>({
      plugins: [ScopeAuthPlugin],
      scopeAuth: { authScopes: () => ({ public: true }) },
      // The types of the plugins that the service's own builder uses are global.
    } as never);
    const Thing = builder
      .objectRef<{ id: string }>('Thing')
      .implement({ fields: (t) => ({ id: t.exposeString('id', {}) }) });
    builder.queryType({
      fields: (t) => ({
        open: t.boolean({ authScopes: { public: true }, resolve: () => true }),
        forgotten: t.field({ type: Thing, resolve: () => ({ id: '1' }) }),
      }),
    });
    expect(findUnguarded(builder.toSchema())).toEqual(['Query.forgotten', 'Thing']);
    expect(findUndescribed(builder.toSchema())).toContain('Thing.id');
  });
});
