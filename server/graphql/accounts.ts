import { accountsWith, isOperator } from '../people/principal.ts';
import { builder } from './builder.ts';
import { noSuchId } from './people.ts';

/** Accounts: who pays. */

export const AccountStatus = builder.enumType('AccountStatus', {
  description: 'Whether an account may send requests.',
  values: {
    ACTIVE: { value: 'active', description: 'Requests are taken.' },
    SUSPENDED: { value: 'suspended', description: 'An operator has stopped the account.' },
  } as const,
});

export const AccountType = builder.prismaNode('Account', {
  id: { field: 'id' },
  description: 'Who pays: one budget, shared by every key of the account.',
  findUnique: (id, { principal }) => ({
    id: isOperator(principal) || accountsWith(principal, 'read').includes(id) ? id : noSuchId,
  }),
  authScopes: (account) => ({ account: account.id }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What the account is called.' }),
    email: t.exposeString('email', { description: 'Where notices go.' }),
    status: t.field({
      type: AccountStatus,
      description: 'Whether the account may send requests.',
      select: { status: true },
      resolve: ({ status }) => (status === 'suspended' ? 'suspended' : 'active'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was opened.' }),
  }),
});
