import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { graphqlCommand, guideNames, guideQuery } from '../../dashboard/src/guides.ts';
import { en } from '../../dashboard/src/language/en.ts';

// What the quick starts tell people to send is what the service understands.

const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../schema.graphql'), 'utf8'));

describe('the quick start of GraphQL', () => {
  it('asks for fields that the schema has', () => {
    expect(validate(schema, parse(guideQuery))).toEqual([]);
  });

  it('sends the same query as a command', () => {
    const command = graphqlCommand('https://steyg.example');
    const [, body = ''] = /-d '(.*)'$/s.exec(command) ?? [];
    const { query } = JSON.parse(body) as { query: string };
    expect(validate(schema, parse(query))).toEqual([]);
    expect(query.replaceAll(/\s/g, '')).toBe(guideQuery.replaceAll(/\s/g, ''));
    expect(command).toContain('https://steyg.example/graphql');
  });
});

it('every quick start has a name of its own', () => {
  expect(Object.keys(en.guides.names).toSorted()).toEqual(guideNames.toSorted());
  expect(new Set(Object.values(en.guides.names)).size).toBe(guideNames.length);
});
