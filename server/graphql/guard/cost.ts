import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, type GraphQLError, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import type { GraphqlContext } from '../context.ts';
import { transportError } from '../types/errors.ts';

/**
 * The estimated cost of an operation before it runs: about one for each field that it resolves. Lists count with their
 * page size or an expected length, expensive fields with their own cost.
 */

export interface Cost {
  complexity: number;
  depth: number;
  breadth: number;
}

export const maxCost: Cost = { complexity: 20_000, depth: 14, breadth: 400 };

/** The cost of one operation. Its variables must have been checked. */
export function operationCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  context: GraphqlContext,
): Cost {
  // The library takes the first operation for the one that runs.
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
    { schema, variables: { ...variables }, ctx: context },
  );
}

/** Why an operation of this cost is refused; null when it is not. */
export function costError(cost: Cost): GraphQLError | null {
  for (const measure of ['complexity', 'depth', 'breadth'] as const) {
    if (cost[measure] <= maxCost[measure]) continue;
    return transportError(
      'DOCUMENT_TOO_LARGE',
      `This operation asks for too much at once: its ${measure} is ${cost[measure]}, at most ${maxCost[measure]} is answered. Ask for fewer fields or smaller pages.`,
      { measure, cost: cost[measure], maximum: maxCost[measure] },
    );
  }
  return null;
}
