import { accountsWith, actorOf, isOperator } from '../../people/principal.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { containing } from '../types/containing.ts';
import { storedEnum } from '../types/enums.ts';
import { badInput, ConflictError, InputError, NotFoundError, refuseInput } from '../types/errors.ts';
import { besideCursor, cursorRow } from '../types/paging.ts';

/** Accounts: the payers, each with one budget. */

export const AccountStatus = storedEnum('AccountStatus', {
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
      nullable: true,
      description: 'Whether the account may send requests.',
      select: { status: true },
      resolve: ({ status }) => (status === 'suspended' ? 'suspended' : 'active'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was opened.' }),
  }),
});

/** The accounts of these ids, in one query. */
export async function loadAccounts(ids: string[], { prisma }: GraphqlContext) {
  const accounts = await prisma.account.findMany({ where: { id: { in: ids } } });
  const byId = new Map(accounts.map((account) => [account.id, account]));
  return ids.map((id) => byId.get(id) ?? null);
}

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

/** Accounts whose id or address contains or equals a text, in any case. */
function searched(text: string) {
  if (text === '') return {};
  const part = containing(text);
  const id = decodeUuid('Account', text);
  return { OR: [{ email: part }, { name: part }, ...(id === null ? [] : [{ id }])] };
}

builder.objectFields(OperatorType, (t) => ({
  accounts: t.prismaConnection(
    {
      type: AccountType,
      cursor: 'id',
      description: 'Accounts, newest first.',
      args: {
        search: t.arg.string({ description: 'Part of the address or the name, or an id.' }),
        status: t.arg({ type: AccountStatus, description: 'Only accounts in this state.' }),
      },
      resolve: (query, _operator, { search, status, ...page }, { prisma }) =>
        prisma.account.findMany({
          ...query,
          where: besideCursor({ ...(status ? { status } : {}), ...searched(search?.trim() ?? '') }, cursorRow(page)),
          orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        }),
    },
    { name: 'AccountConnection' },
    { name: 'AccountEdge' },
  ),
  account: t.prismaField({
    type: AccountType,
    nullable: true,
    description: 'One account; null: there is none.',
    args: { id: t.arg.id({ required: true, description: 'Id of the account.' }) },
    resolve: (query, _operator, { id }, { prisma }) => {
      const accountId = decodeUuid('Account', id);
      return accountId === null ? null : prisma.account.findUnique({ ...query, where: { id: accountId } });
    },
  }),
}));

const SetAccountStatusInput = builder.inputType('SetAccountStatusInput', {
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'Which account.' }),
    status: t.field({ type: AccountStatus, required: true, description: 'What it is to be.' }),
    reason: t.string({ description: 'Why; the audit log and the timeline show it to operators.' }),
  }),
});

builder.mutationField('setAccountStatus', (t) =>
  t.prismaField({
    type: AccountType,
    description: 'Suspends an account, or lets it go on. Running requests finish.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: {
      input: t.arg({ type: SetAccountStatusInput, required: true }),
    },
    resolve: async (query, _root, { input: args }, context) => {
      const accountId = decodeUuid('Account', args.accountId);
      if (accountId === null) throw new NotFoundError('account');
      const reason = args.reason?.trim().slice(0, 500) ?? '';
      const ask = { accountId, actor: actorOf(context.principal), ...(reason === '' ? {} : { reason }) };
      const { accounts } = context.domains;
      const outcome = await (args.status === 'suspended' ? accounts.suspend(ask) : accounts.resume(ask));
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      return context.prisma.account.findUniqueOrThrow({ ...query, where: { id: accountId } });
    },
  }),
);

const OpenAccountInput = builder.inputType('OpenAccountInput', {
  fields: (t) => ({
    email: t.string({ required: true, description: 'Where notices go; who signs up with this address owns it.' }),
    name: t.string({ description: 'What the account is called; left out: the part of the address before the @.' }),
    budget: t.field({ type: 'UsdAmount', description: 'Its first budget, without an end; left out: none.' }),
  }),
});

builder.mutationField('openAccount', (t) =>
  t.prismaField({
    type: AccountType,
    description: 'Opens an account without a trial.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, ConflictError] },
    args: { input: t.arg({ type: OpenAccountInput, required: true }) },
    resolve: async (query, _root, { input }, { domains, prisma, principal }) => {
      const { email, name, budget } = input;
      if (typeof budget === 'bigint' && budget <= 0n) throw badInput('input.budget', 'budget must be more than zero.');
      const outcome = await domains.accounts.create({
        email,
        ...(typeof name === 'string' ? { name } : {}),
        grant: typeof budget === 'bigint' ? { kind: 'adjustment', amount: budget, days: null } : { kind: 'none' },
        actor: actorOf(principal),
      });
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      if (outcome.kind === 'exists')
        throw new ConflictError('There is an account with this address already.', 'ACCOUNT_EXISTS');
      return prisma.account.findUniqueOrThrow({ ...query, where: { id: outcome.account.id } });
    },
  }),
);
