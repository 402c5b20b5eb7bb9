/** The schema: authorisation rules, descriptions, and its printed form. */

import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import SchemaBuilder from '@pothos/core';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { isInterfaceType, isObjectType, NoDeprecatedCustomRule, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { findUndescribed, findUnguarded } from '../../server/graphql/guard.ts';
import { schemaPath } from '../../server/graphql/print.ts';
import { buildSchema, printedSchema } from '../../server/graphql/schema.ts';

describe('the schema', () => {
  const schema = buildSchema();

  it('names an authorisation rule for every root field and every type', () => {
    expect(findUnguarded(schema)).toEqual([]);
  });

  it('describes every type, field, argument and value', () => {
    expect(findUndescribed(schema)).toEqual([]);
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
  const current = <T extends { deprecationReason?: string | null | undefined }>(all: readonly T[]) =>
    all.filter(({ deprecationReason }) => deprecationReason == null);

  it('give every mutation one argument, its input', () => {
    const mutations = current(Object.values(schema.getMutationType()?.getFields() ?? {}));
    expect(mutations.length).toBeGreaterThan(50);
    for (const { name, args } of mutations) {
      expect({ name, args: current(args).map((each) => each.name) }).toEqual({
        name,
        args: args.length === 0 ? [] : ['input'],
      });
    }
  });

  it('offer every list forward only', () => {
    const lists = objects.flatMap((type) => Object.values(type.getFields()).filter(({ args }) => isPaged(args)));
    expect(lists.length).toBeGreaterThan(5);
    for (const { args } of lists) {
      const names = current(args).map(({ name }) => name);
      expect(names).toContain('after');
      expect(names).not.toContain('last');
      expect(names).not.toContain('before');
    }
  });

  const isPaged = (args: readonly { name: string }[]) => args.some(({ name }) => name === 'last');

  it('name pages and their elements after what they hold', () => {
    const pages = objects.filter((type) => type.getFields()['edges'] !== undefined);
    expect(pages.length).toBeGreaterThan(5);
    for (const page of pages) {
      const [, node = ''] = /^(\w+)Connection$/.exec(page.getInterfaces()[0]?.name ?? '') ?? [];
      const edge = schema.getType(`${node}Edge`);
      expect(isInterfaceType(edge) && String(edge.getFields()['node']?.type)).toBe(`${node}!`);
    }
  });

  it('keep queries of an estimate valid that were written when its refusals were conflicts', () => {
    const document = parse(`query ($key: ID!) { estimate(keyId: $key, format: MESSAGES, body: "{}") {
      ... on Estimate { hold } ... on ConflictError { code message } ... on RequestRefusedError { reason } } }`);
    expect(validate(schema, document)).toEqual([]);
  });

  it('are kept by every operation of our own: none uses anything deprecated', () => {
    const root = new URL('../../', import.meta.url).pathname;
    const texts = globSync('sdk/operations/*.graphql', { cwd: root }).map((path) =>
      readFileSync(`${root}${path}`, 'utf8'),
    );
    expect(texts.length).toBeGreaterThan(5);
    const found = validate(schema, parse(texts.join('\n')), [NoDeprecatedCustomRule], { maxErrors: 1_000 });
    expect(found.map(({ message }) => message)).toEqual([]);
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
