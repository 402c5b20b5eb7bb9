import type { AccountLimits } from '../../accounts/account-limits.ts';
import { readAccountSpend } from '../../billing/reads/usage.ts';
import { actorOf, isTrustedOperator } from '../../people/principal.ts';
import { accountFor, decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { mayOperate } from '../guard/operator-roles.ts';
import { limitsOf, SpendLimitsInput, SpendLimitsType, SpendType } from '../keys/keys.ts';
import { paceFields, paceInputs, paceOf } from '../keys/pace.ts';
import { InputError, NotAllowedError, NotFoundError, refuseInput } from '../types/errors.ts';
import { AccountType } from './accounts.ts';

/** The limits that an account sets itself over all its keys. */

const AccountLimitsType = builder.objectRef<AccountLimits & { accountId: string }>('AccountLimits').implement({
  description: 'The limits that an account sets itself, over all its keys.',
  authScopes: ({ accountId }) => ({ account: accountId }),
  fields: (t) => ({
    spend: t.expose('limits', { type: SpendLimitsType, description: 'What it may spend.' }),
    timeZone: t.exposeString('timeZone', {
      description:
        'IANA name of the time zone in which its days, weeks and months begin, for the limits of its keys too.',
    }),
    ...paceFields(t, 'Requests that its keys may make in a minute together; null: the limit of the service.'),
    spent: t.field({
      type: SpendType,
      nullable: true,
      description: 'What its keys have spent together; null: it never had a spending limit.',
      resolve: ({ accountId }, _args, { db }) => readAccountSpend(db, accountId),
    }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  limits: t.field({
    type: AccountLimitsType,
    description: 'The limits that it sets itself.',
    select: { id: true },
    resolve: async ({ id }, _args, { domains }) => {
      const limits = await domains.accounts.limits(id);
      if (limits === null) throw new NotFoundError('account');
      return { accountId: id, ...limits };
    },
  }),
}));

const AccountLimitsInput = builder.inputType('AccountLimitsInput', {
  description: 'What is to change about the limits of an account; what is left out stays.',
  fields: (t) => ({
    accountId: t.id({ description: 'Which account; left out: your only or oldest one.' }),
    spend: t.field({ type: SpendLimitsInput, description: 'All spending limits anew.' }),
    ...paceInputs(t, 'Requests in a minute, 1 to 1000000; null: the limit of the service.'),
    timeZone: t.string({ description: 'IANA name of a time zone, e.g. Asia/Ho_Chi_Minh: where its days begin.' }),
  }),
});

builder.mutationField('setAccountLimits', (t) =>
  t.prismaField({
    type: AccountType,
    description:
      'Sets the limits of an account over all its keys, one’s own or, for operators who handle money, any. They count from the very next request on.',
    authScopes: { $any: { billing: true, trustedOperator: true } },
    errors: { types: [InputError, NotFoundError, NotAllowedError] },
    args: { input: t.arg({ type: AccountLimitsInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const accountId = accountToLimit(context, input.accountId);
      const { spend, timeZone, requestsPerMinute } = input;
      const { accounts } = context.domains;
      // Clients that do not know the weekly limit leave it out.
      const known = spend && spend.week === undefined ? await accounts.limits(accountId) : null;
      const outcome = await accounts.setLimits({
        accountId,
        actor: actorOf(context.principal),
        ...(spend === undefined ? {} : { limits: limitsOf(spend ?? {}, known?.limits.week ?? null) }),
        ...(typeof timeZone === 'string' ? { timeZone } : {}),
        ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
        ...paceOf(input),
      });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      return context.prisma.account.findUniqueOrThrow({ ...query, where: { id: accountId } });
    },
  }),
);

/** Operators name the account; everybody else, and operators without that role, reach their own. */
function accountToLimit(context: GraphqlContext, id: string | null | undefined): string {
  const { principal } = context;
  const named = id === null || id === undefined ? null : decodeUuid('Account', id);
  if (named === null || !isTrustedOperator(principal) || !mayOperate(principal, 'setAccountLimits'))
    return accountFor(context, id, 'billing');
  return named;
}
