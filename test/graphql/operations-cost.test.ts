import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEnumType, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { GraphqlContext } from '../../server/graphql/context.ts';
import { costError, operationCost } from '../../server/graphql/guard/cost.ts';
import { buildSchema } from '../../server/graphql/schema.ts';

// What the SDK and the pages send is within the limits of the service, page sizes included.

const sources = globSync('sdk/operations/*.graphql', { cwd: join(import.meta.dirname, '../..') });
const document = parse(
  sources.map((path) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')).join('\n'),
);
const queries = document.definitions.filter(
  (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION && each.operation === 'query',
);

/** A value for each variable that has to be given; costs depend on page sizes alone, which have defaults. */
function neededValues({ variableDefinitions = [] }: OperationDefinitionNode): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, type }) => {
      if (type.kind !== Kind.NON_NULL_TYPE) return [];
      const name = type.type.kind === Kind.NAMED_TYPE ? type.type.name.value : 'list';
      const named = buildSchema().getType(name);
      const value = isEnumType(named)
        ? named.getValues()[0]?.name
        : ({ list: [], DateTime: '2026-01-01T00:00:00.000Z', Int: 1, Boolean: true }[name] ?? 'x');
      return [[variable.name.value, value]];
    }),
  );
}

describe('every query of the SDK', () => {
  it('costs less than the service allows for one', () => {
    const schema = buildSchema();
    expect(queries.length).toBeGreaterThan(40);
    const refused = queries.flatMap((operation) => {
      const cost = operationCost(schema, document, operation, neededValues(operation), {} as GraphqlContext);
      const error = costError(cost);
      return error === null ? [] : [`${operation.name?.value}: ${error.message}`];
    });
    expect(refused).toEqual([]);
  });
});

it('sums over all that was attributed, and months of every project, cost what they read', () => {
  const schema = buildSchema();
  const costOf = (fields: string) => {
    const asked = parse(`{ account { ${fields} } }`);
    const [operation] = asked.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
    return operationCost(schema, asked, operation, {}, {} as GraphqlContext);
  };
  const aliases = Array.from(
    { length: 30 },
    (_, i) => `a${i}: attributedUsage(by: TAG) { pageInfo { endCursor } }`,
  ).join(' ');
  expect(costError(costOf(aliases))).not.toBeNull();
  expect(costError(costOf('attributedUsage(by: TAG) { nodes { label } }'))).toBeNull();
  expect(costOf('projects { months(count: 24) { month } }').complexity).toBeGreaterThanOrEqual(200 * 24);
});

it('the months of statements that one operation can read are few: each is a read of all that an account used', () => {
  const schema = buildSchema();
  const costOf = (fields: string) => {
    const asked = parse(`{ account { ${fields} } }`);
    const [operation] = asked.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
    return operationCost(schema, asked, operation, {}, {} as GraphqlContext).complexity;
  };
  expect(costOf('statement(month: "2026-11") { month }')).toBeGreaterThanOrEqual(150);
  expect(costOf('statements(first: 12) { opening granted charged expired closing }')).toBeGreaterThanOrEqual(12 * 150);
});
