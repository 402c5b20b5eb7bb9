import { type GraphQLSchema, isObjectType, lexicographicSortSchema, printSchema } from 'graphql';
import './types/scalars.ts';
import './types/error-types.ts';
import './notices/watching.ts';
import './people/people.ts';
import './people/sign-up.ts';
import './people/sign-in.ts';
import './people/profile.ts';
import './people/second-factor.ts';
import './people/identities.ts';
import './people/passkeys.ts';
import './people/sessions.ts';
import './accounts/accounts.ts';
import './accounts/limits.ts';
import './accounts/members.ts';
import './accounts/projects.ts';
import './accounts/spending.ts';
import './keys/keys.ts';
import './keys/estimate.ts';
import './keys/machine-logins.ts';
import './billing/grants.ts';
import './billing/budget.ts';
import './billing/ledger.ts';
import './billing/batches.ts';
import './billing/usage.ts';
import './billing/latency.ts';
import './billing/attribution.ts';
import './people/access-tokens.ts';
import './catalog/catalog.ts';
import './catalog/entries.ts';
import './catalog/upstreams.ts';
import './catalog/routes.ts';
import './catalog/vendors.ts';
import './operator/operator.ts';
import './operator/service-settings.ts';
import './operator/operators.ts';
import './operator/checklist.ts';
import './billing/revenue.ts';
import './billing/book-settings.ts';
import './billing/books.ts';
import './billing/months.ts';
import './billing/discrepancies.ts';
import './operator/audit.ts';
import './billing/business.ts';
import './catalog/model-mismatches.ts';
import './accounts/parties.ts';
import './accounts/data.ts';
import './plans/plans.ts';
import './plans/refunds.ts';
import './plans/orders.ts';
import './plans/order-status.ts';
import './plans/invoices.ts';
import './plans/codes.ts';
import './plans/top-up.ts';
import './plans/statements.ts';
import './operator/search.ts';
import './operator/timeline.ts';
import './operator/views.ts';
import './plans/transfer-corrections.ts';
import './plans/transfers.ts';
import './uptime/uptime.ts';
import './uptime/probing.ts';
import './uptime/status-updates.ts';
import './notices/announcements.ts';
import './notices/channels.ts';
import './notices/notices.ts';
import './notices/webhooks.ts';
import { builder } from './builder.ts';
import { findUnguarded } from './guard/guard.ts';
import { isCleanText } from './guard/limits.ts';
import { holdOperatorRoles } from './guard/operator-roles.ts';
import { sliceLists } from './guard/slices.ts';
import { omitUnknownValues } from './types/enums.ts';
import { readForward } from './types/paging.ts';

/** Loads the file of each domain and builds the schema, once. */

let built: GraphQLSchema | undefined;

/** The schema, built once from the domain files loaded above. Throws when a field or type has no authorisation rule. */
export function buildSchema(): GraphQLSchema {
  if (built !== undefined) return built;
  const schema = builder.toSchema({ sortSchema: false });
  const unguarded = findUnguarded(schema);
  if (unguarded.length > 0) throw new Error(`No authorisation rule: ${unguarded.join(', ')}`);
  holdOperatorRoles(schema);
  answerNullForMalformedIds(schema);
  sliceLists(schema);
  readForward(schema);
  omitUnknownValues(schema);
  built = schema;
  return built;
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
