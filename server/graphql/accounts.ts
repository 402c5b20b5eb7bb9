import { accountsWith, isOperator } from '../people/principal.ts';
import { decodeUuid } from './access.ts';
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

builder.queryField('account', (t) =>
  t.prismaField({
    type: AccountType,
    nullable: true,
    description: 'One of your accounts; null: you have none with this id.',
    authScopes: { reader: true },
    args: { id: t.arg.id({ description: 'Which account; left out: your only or oldest one.' }) },
    resolve: (query, _root, { id }, { principal, prisma }) => {
      const visible = accountsWith(principal, 'read');
      const accountId = typeof id === 'string' ? decodeUuid('Account', id) : visible[0];
      return typeof accountId === 'string' && visible.includes(accountId)
        ? prisma.account.findUnique({ ...query, where: { id: accountId } })
        : null;
    },
  }),
);
