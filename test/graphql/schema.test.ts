/** The schema: authorisation rules, descriptions, and its printed form. */

import { readFile } from 'node:fs/promises';
import SchemaBuilder from '@pothos/core';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { isObjectType } from 'graphql';
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
