import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import './scalars.ts';
import './error-types.ts';
import './people.ts';
import './accounts.ts';
import './members.ts';
import './keys.ts';
import './budget.ts';
import './ledger.ts';
import './usage.ts';
import './access-tokens.ts';
import './catalog.ts';
import './upstreams.ts';
import './operator.ts';
import './model-mismatches.ts';
import './plans.ts';
import './orders.ts';
import './transfers.ts';
import './uptime.ts';
import './notices.ts';
import { builder } from './builder.ts';
import { findUnguarded } from './guard.ts';

let built: GraphQLSchema | undefined;

/** The schema, built once from the domain files loaded above. Throws when a field or type has no authorisation rule. */
export function buildSchema(): GraphQLSchema {
  if (built !== undefined) return built;
  const schema = builder.toSchema({ sortSchema: false });
  const unguarded = findUnguarded(schema);
  if (unguarded.length > 0) throw new Error(`No authorisation rule: ${unguarded.join(', ')}`);
  built = schema;
  return schema;
}

/** The schema as text: what `schema.graphql` holds and what SDK and dashboard are generated from. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(buildSchema()))}\n`;
}
