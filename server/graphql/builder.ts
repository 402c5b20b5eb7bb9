import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import ErrorsPlugin from '@pothos/plugin-errors';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import ValidationPlugin from '@pothos/plugin-validation';
import type { GraphQLResolveInfo } from 'graphql';
import type PrismaTypes from '../database/generated/pothos-types.ts';
import { getDatamodel } from '../database/generated/pothos-types.ts';
import { abilitiesOn, accountsWith, isOperator, isTrustedOperator } from '../people/principal.ts';
import { suspendedSentence } from './access.ts';
import type { GraphqlContext } from './context.ts';
import { InputError, transportError } from './types/errors.ts';
import { defaultPage, maxPage, pageLength, pageSize } from './types/paging.ts';

/**
 * The schema's builder: one per process, because Pothos collects types as the domain files load (`schema.ts`).
 *
 * Every root field and every object type names its rule (`authScopes`); `guard.ts` refuses to build a schema in which
 * one does not.
 */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    UsdAmount: { Input: bigint; Output: bigint };
    VndAmount: { Input: bigint; Output: bigint };
    DateTime: { Input: Date; Output: Date };
    BigInt: { Input: bigint; Output: bigint };
    Json: { Input: never; Output: unknown };
  };
  AuthScopes: {
    /** Any client, signed in or not. Explicit, so that each open field is a visible decision. */
    public: boolean;
    /** A person with a session. */
    user: boolean;
    /** A person, or a token with the scope `read` or more. */
    reader: boolean;
    /** May manage the keys of some account. Which one is checked against the object itself. */
    keys: boolean;
    /** May spend money of some account. */
    billing: boolean;
    /** May manage the members of some account. */
    members: boolean;
    /** May see this account. Operators see all. */
    account: string;
    /** The user itself, or an operator. */
    self: string;
    operator: boolean;
    /** An operator with a second factor (browser) or the operator scope (token): for what moves money or prices. */
    trustedOperator: boolean;
  };
}>({
  // The first plugin is the outermost: an expected error thrown further in becomes a result.
  plugins: [
    ErrorsPlugin,
    ScopeAuthPlugin,
    RelayPlugin,
    PrismaPlugin,
    ComplexityPlugin,
    ValidationPlugin,
    DataloaderPlugin,
  ],
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    // Arguments are validated before the field's rule is asked. The errors reveal no more than the schema.
    unsafelyHandleInputErrors: true,
    defaultUnionOptions: { name: ({ fieldName }) => `${capital(fieldName)}Result` },
    defaultResultOptions: {
      name: ({ fieldName }) => `${capital(fieldName)}Success`,
      description: 'What was asked for.',
    },
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    // Once for each object rather than for each of its fields.
    runScopesOnType: true,
    authScopes: (context) => {
      const { principal } = context;
      const operator = isOperator(principal);
      return {
        public: true,
        user: principal.kind === 'user',
        reader: principal.kind === 'user' || accountsWith(principal, 'read').length > 0 || operator,
        keys: accountsWith(principal, 'keys').length > 0,
        billing: accountsWith(principal, 'billing').length > 0,
        members: accountsWith(principal, 'members').length > 0,
        // Evaluated again: a mutation may have added an account to its own principal.
        account: (accountId) => operator || abilitiesOn(context.principal, accountId).has('read'),
        self: (userId) => operator || (principal.kind === 'user' && principal.userId === userId),
        operator,
        trustedOperator: isTrustedOperator(principal),
      };
    },
    unauthorizedError: (_parent, { principal }, info) => {
      if (principal.kind === 'nobody') return transportError('UNAUTHENTICATED', 'Sign in, or send an access token.');
      if (isOperator(principal) && !isTrustedOperator(principal)) {
        return transportError(
          'SECOND_FACTOR_REQUIRED',
          'Set up a one-time code for your sign-in first: what moves money or prices asks for it.',
        );
      }
      // A suspended account is the reason that a person can act on, unless the field is for operators only.
      if (principal.suspended.size > 0 && !isForOperators(info))
        return transportError('ACCOUNT_SUSPENDED', suspendedSentence);
      return transportError('FORBIDDEN', `You may not use ${info.parentType.name}.${info.fieldName}.`);
    },
  },
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    // Every account, key and order is reached through its own field or `node`; a field for lists of ids would only
    // multiply work.
    nodesQueryOptions: false,
    nodeTypeOptions: { description: 'An object that `node(id:)` can fetch again.' },
    idFieldOptions: { description: 'Global id: opaque, usable with `node(id:)`.' },
    nodeQueryOptions: {
      description: 'Any object by its global id; null when there is none that you may see.',
      nullable: true,
      authScopes: { public: true },
      args: { id: { description: 'Global id.' } },
      resolve: async (_root, { id }, _context, _info, resolveNode) => {
        try {
          return await resolveNode(id);
        } catch (error) {
          // Prisma throws for a row that does not exist and for an id of the wrong form.
          if (isMissing(error)) return null;
          throw error;
        }
      },
    },
    // What every list has in common is said once, here: the members of pages and their arguments repeat no description.
    pageInfoTypeOptions: {
      description: `Where a page of a list begins and ends. Lists are read forward: the \`first\` elements (at most ${maxPage}, left out: ${defaultPage}) \`after\` a cursor. A page has them as \`nodes\`, and as \`edges\` with the opaque \`cursor\` of each.`,
      authScopes: { public: true },
    },
    hasNextPageFieldOptions: { description: 'Whether there is more after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first element of the page.' },
    endCursorFieldOptions: { description: 'Cursor of the last element of the page: `after` of the next one.' },
    // The connection has counted its elements already.
    edgesFieldOptions: { complexity: { field: 1, multiplier: 1 } },
    // Pages of Prisma read their rows by this path as well as by that of edges.
    nodesOnConnection: { complexity: { field: 1, multiplier: 1 } },
    firstArgOptions: { validate: pageLength },
    defaultConnectionTypeOptions: { authScopes: { public: true } },
    defaultEdgeTypeOptions: { authScopes: { public: true } },
    defaultConnectionFieldOptions: {
      // The cost of a page depends on its size.
      complexity: (args: object) => ({ field: 1, multiplier: pageSize(args) }),
    },
  },
  prisma: {
    client: ({ prisma }) => prisma,
    dmmf: getDatamodel(),
    maxConnectionSize: maxPage,
    defaultConnectionSize: defaultPage,
    // A list that Pothos would load one parent at a time is a mistake, made visible in development.
    onUnusedQuery: null,
  },
  complexity: {
    defaultComplexity: 1,
    defaultListMultiplier: 5,
    // `cost.ts` holds operations to their limits before they run.
    disabled: true,
  },
  validation: {
    validationError: (failure) =>
      new InputError(
        failure.issues.map((issue) => ({
          path: (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)),
          message: issue.message,
        })),
      ),
  },
});

/** What makes the fields of an object; for fields that several types have. */
export type ObjectFields<Shape> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Shape>;

/** Whether a field's rule admits operators only. */
function isForOperators({ parentType, fieldName }: GraphQLResolveInfo): boolean {
  const extensions = parentType.getFields()[fieldName]?.extensions as { pothosOptions?: { authScopes?: unknown } };
  const rule = extensions.pothosOptions?.authScopes;
  return typeof rule === 'object' && rule !== null && ('operator' in rule || 'trustedOperator' in rule);
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'P2025' || code === 'P2023' || code === 'P2007';
}

function capital(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

builder.queryType({ description: 'Everything that can be asked.' });
builder.mutationType({
  description:
    'Everything that can be changed. A mutation takes the ids of what it is about, or one other value, by their names; one that takes more has an `input`. It answers what was asked for or one of the errors that can be expected: a union that has its name and `Result`.',
});
