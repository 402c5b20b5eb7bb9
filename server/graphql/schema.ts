import { type GraphQLSchema, isObjectType, lexicographicSortSchema, printSchema } from 'graphql';
import './scalars.ts';
import './error-types.ts';
import './watching.ts';
import './people.ts';
import './sign-up.ts';
import './sign-in.ts';
import './settings.ts';
import './sessions.ts';
import './accounts.ts';
import './members.ts';
import './keys.ts';
import './grants.ts';
import './budget.ts';
import './ledger.ts';
import './usage.ts';
import './access-tokens.ts';
import './catalog.ts';
import './catalog-entries.ts';
import './upstreams.ts';
import './routes.ts';
import './vendors.ts';
import './operator.ts';
import './operators.ts';
import './checklist.ts';
import './revenue.ts';
import './exceptions.ts';
import './audit.ts';
import './business.ts';
import './model-mismatches.ts';
import './parties.ts';
import './plans.ts';
import './orders.ts';
import './order-status.ts';
import './order-receipts.ts';
import './search.ts';
import './transfer-corrections.ts';
import './transfers.ts';
import './uptime.ts';
import './probing.ts';
import './status-updates.ts';
import './announcements.ts';
import './notices.ts';
import './webhooks.ts';
import { builder } from './builder.ts';
import { findUnguarded } from './guard.ts';
import { isCleanText } from './limits.ts';
import { sliceLists } from './slices.ts';

/** Loads the file of each domain and builds the schema, once. */

let built: GraphQLSchema | undefined;

/** The schema, built once from the domain files loaded above. Throws when a field or type has no authorisation rule. */
export function buildSchema(): GraphQLSchema {
  if (built !== undefined) return built;
  const schema = builder.toSchema({ sortSchema: false });
  const unguarded = findUnguarded(schema);
  if (unguarded.length > 0) throw new Error(`No authorisation rule: ${unguarded.join(', ')}`);
  answerNullForMalformedIds(schema);
  sliceLists(schema);
  built = schema;
  return schema;
}

/**
 * `node` answers null for a malformed id as for an unknown one. The library parses the id before the field's own resolver
 * runs, and would fail.
 */
function answerNullForMalformedIds(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()['node'];
  const resolve = field?.resolve;
  if (field === undefined || resolve === undefined) throw new Error('the schema has no field node');
  field.resolve = (root, args: { id: string }, context, info) =>
    namesNode(schema, args.id) ? resolve(root, args, context, info) : null;
}

function namesNode(schema: GraphQLSchema, id: string): boolean {
  const text = id.length > 512 ? '' : Buffer.from(id, 'base64').toString();
  const [, name = ''] = /^(\w+):./s.exec(text) ?? [];
  const type = schema.getType(name);
  return isObjectType(type) && type.getInterfaces().some((each) => each.name === 'Node') && isCleanText(text);
}

/** The schema as text: what `schema.graphql` holds and what SDK and dashboard are generated from. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(buildSchema()))}\n`;
}
