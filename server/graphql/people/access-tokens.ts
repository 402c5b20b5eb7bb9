import { accountsWith, actorOf, isTrustedOperator, type TokenScope } from '../../people/principal.ts';
import { accountFor, decodeUuid, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { ConflictError, InputError, NotAllowedError, NotFoundError } from '../types/errors.ts';
import { besideCursor, cursorRow, totalCountText } from '../types/paging.ts';
import { TokenScopeType } from './enums.ts';
import { requirePresence, throwRefusal } from './outcomes.ts';
import { me } from './people.ts';

/** Access tokens: the credentials of programs for this API. */

export const AccessTokenType = builder.prismaNode('AccessToken', {
  id: { field: 'id' },
  description: 'A secret with which a program uses this API. The secret itself is shown once, when it is made.',
  findUnique: (id, { principal }) => ({ id, accountId: { in: accountsWith(principal, 'read') } }),
  authScopes: (token) => ({ account: token.accountId }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What people call it.' }),
    prefix: t.exposeString('prefix', { description: 'How the secret begins.' }),
    last4: t.exposeString('last4', { description: 'How the secret ends.' }),
    scopes: t.field({
      type: [TokenScopeType],
      description: 'What it may do.',
      resolve: ({ scopes }) => scopes as TokenScope[],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'About when it was last used.',
    }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', nullable: true, description: 'When it was deleted.' }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  accessTokens: t.relatedConnection(
    'accessTokens',
    {
      cursor: 'id',
      description: 'Access tokens of the account, newest first.',
      query: (page) => {
        const row = cursorRow(page);
        return {
          where: {
            ...besideCursor({ deletedAt: null }, row),
            ...(row === null ? {} : { account: { accessTokens: { some: { id: row } } } }),
          },
          orderBy: [{ createdAt: 'desc' as const }, { id: 'desc' as const }],
        };
      },
    },
    {
      name: 'AccessTokenConnection',
      fields: (page) => ({
        totalCount: page.int({
          description: totalCountText,
          resolve: ({ parent }, _args, { prisma }) =>
            prisma.accessToken.count({ where: { accountId: parent.id, deletedAt: null } }),
        }),
      }),
    },
    { name: 'AccessTokenEdge' },
  ),
}));

interface MadeToken {
  tokenId: string;
  secret: string;
}

const MadeTokenType = builder.objectRef<MadeToken>('CreatedAccessToken').implement({
  description: 'An access token that was just made.',
  authScopes: { user: true },
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'The secret: shown this once. Sent as `Authorization: Bearer`.' }),
    accessToken: t.prismaField({
      type: AccessTokenType,
      description: 'The token.',
      resolve: (query, { tokenId }, _args, { prisma }) =>
        prisma.accessToken.findUniqueOrThrow({ ...query, where: { id: tokenId } }),
    }),
  }),
});

const CreateAccessTokenInput = builder.inputType('CreateAccessTokenInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'For which account; left out: your only or oldest one.' }),
    name: t.string({ required: true, description: 'What people call it.' }),
    scopes: t.field({ type: [TokenScopeType], required: true, description: 'What it may do.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; left out: never.' }),
  }),
});

builder.mutationField('createAccessToken', (t) =>
  t.field({
    type: MadeTokenType,
    description:
      'Makes an access token. Only people can, with scopes for what they may do themselves; the scope `operator` takes a sign-in in the last 10 minutes.',
    authScopes: { user: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError, ConflictError] },
    args: { input: t.arg({ type: CreateAccessTokenInput, required: true }) },
    resolve: async (_root, { input }, context): Promise<MadeToken> => {
      const accountId = accountFor(context, input.accountId, 'read');
      for (const scope of input.scopes) {
        if (scope !== 'operator') requireAbility(context, accountId, scope);
        else if (!isTrustedOperator(context.principal)) {
          throw new NotAllowedError(
            'Only an operator who signs in with a one-time code can give the scope `operator`.',
          );
        } else await requirePresence(context);
      }
      const outcome = await context.domains.people.accessTokens.create(
        {
          accountId,
          name: input.name,
          scopes: input.scopes,
          expiresAt: input.expiresAt ?? null,
          createdBy: me(context).userId,
        },
        actorOf(context.principal),
      );
      if (outcome.kind === 'bad_input') return throwRefusal(outcome);
      if (outcome.kind === 'not_allowed') throw new NotAllowedError('Your role in this account does not allow that.');
      return { tokenId: outcome.id, secret: outcome.secret };
    },
  }),
);

/** Deletes a token that the person may delete; answers with its id. */
async function deleteToken(context: GraphqlContext, id: string): Promise<string> {
  const tokenId = decodeUuid('AccessToken', id);
  const token =
    tokenId === null
      ? null
      : await context.prisma.accessToken.findFirst({
          where: { id: tokenId, accountId: { in: accountsWith(context.principal, 'read') }, deletedAt: null },
        });
  if (token === null) throw new NotFoundError('access token');
  const own = token.createdBy === me(context).userId;
  if (!own) requireAbility(context, token.accountId, 'members');
  const ref = { accountId: token.accountId, id: token.id };
  const deleted = await context.domains.people.accessTokens.delete(ref, actorOf(context.principal));
  if (!deleted) throw new NotFoundError('access token');
  return token.id;
}

builder.mutationFields((t) => ({
  revokeAccessToken: t.prismaField({
    type: AccessTokenType,
    description: 'Deletes an access token: it opens nothing from now on.',
    authScopes: { user: true },
    errors: { types: [NotFoundError, NotAllowedError] },
    args: {
      id: t.arg.id({ required: true }),
    },
    resolve: async (query, _root, { id }, context) =>
      context.prisma.accessToken.findUniqueOrThrow({ ...query, where: { id: await deleteToken(context, id) } }),
  }),
}));
