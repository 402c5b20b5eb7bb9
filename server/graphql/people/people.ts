import { localeOf } from '../../people/mails.ts';
import { accountsWith, isOperator, type UserPrincipal } from '../../people/principal.ts';
import { noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { transportError } from '../types/errors.ts';
import { LanguageType, TokenScopeType } from './enums.ts';

/** People, and the principal of a request. */

/** The signed-in person; fields that call this ask for the scope `user` first. */
export function me(context: GraphqlContext): UserPrincipal {
  if (context.principal.kind !== 'user') throw transportError('FORBIDDEN', 'This needs a signed-in person.');
  return context.principal;
}

export const UserType = builder.prismaNode('User', {
  id: { field: 'id' },
  description: 'A person who signs in.',
  // Only the person and operators find a person by id; others see them as members of an account.
  findUnique: (id, { principal }) =>
    principal.kind === 'user' && (isOperator(principal) || principal.userId === id) ? { id } : { id: noSuchId },
  authScopes: (user) => ({ self: user.id }),
  fields: (t) => ({
    email: t.exposeString('email', { description: 'What the person signs in with.' }),
    name: t.exposeString('name', { description: 'What the person is called.' }),
    language: t.field({
      type: LanguageType,
      nullable: true,
      description: 'Language of mails and pages.',
      select: { locale: true },
      resolve: ({ locale }) => localeOf(locale),
    }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'Whether the address has been confirmed.' }),
    secondFactor: t.exposeBoolean('twoFactorEnabled', {
      description: 'Whether signing in asks for a one-time code as well.',
    }),
    hasPassword: t.boolean({
      description: 'Whether the person has a password; those who signed up with a provider have none.',
      select: { credentials: { where: { password: { not: null } }, select: { id: true }, take: 1 } },
      resolve: ({ credentials }) => credentials.length > 0,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person signed up.' }),
  }),
});

export const ViewerType = builder.objectRef<GraphqlContext['principal']>('Viewer').implement({
  description: 'The principal of this request, and what it can reach.',
  authScopes: { reader: true },
});

builder.objectFields(ViewerType, (t) => ({
  user: t.prismaField({
    type: 'User',
    nullable: true,
    description: 'The signed-in person; null for an access token.',
    resolve: (query, principal, _args, { prisma }) =>
      principal.kind === 'user' ? prisma.user.findUnique({ ...query, where: { id: principal.userId } }) : null,
  }),
  scopes: t.field({
    type: [TokenScopeType],
    description: 'Scopes of the access token; empty for a person, whose roles count instead.',
    resolve: (principal) => (principal.kind === 'token' ? [...principal.scopes] : []),
  }),
  accounts: t.prismaField({
    type: ['Account'],
    description: 'Accounts that the viewer belongs to, the oldest membership first.',
    resolve: async (query, principal, _args, { prisma }) => {
      const ids = accountsWith(principal, 'read');
      const accounts = await prisma.account.findMany({ ...query, where: { id: { in: ids } } });
      return accounts.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    },
  }),
}));

builder.queryField('me', (t) =>
  t.field({
    type: ViewerType,
    nullable: true,
    description: 'The principal of this request; null without one.',
    authScopes: { public: true },
    resolve: (_root, _args, { principal }) => (principal.kind === 'nobody' ? null : principal),
  }),
);
