import { listGrants, readBalance, readCacheSavings } from '../../billing/reads/usage.ts';
import type { Balance } from '../../billing/types.ts';
import { accountFor } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { pause } from '../notices/watching.ts';
import { badInput } from '../types/errors.ts';
import { GrantType } from './grants.ts';

/** The prepaid budget of an account and the grants that make it up. */

interface Budget extends Balance {
  accountId: string;
}

export const BudgetType = builder.objectRef<Budget>('Budget').implement({
  description: 'What an account may spend: granted = charged + held + expired + free, at every moment.',
  authScopes: (budget) => ({ account: budget.accountId }),
  fields: (t) => ({
    granted: t.expose('granted', { type: 'UsdAmount', description: 'All that was ever given.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'Charged for finished requests.' }),
    held: t.expose('held', {
      type: 'UsdAmount',
      description: 'Reserved by running requests, and in advance for busy keys until two seconds after their last one.',
    }),
    expired: t.expose('expired', { type: 'UsdAmount', description: 'Lost because its time was over.' }),
    free: t.expose('free', { type: 'UsdAmount', description: 'What is left to spend.' }),
    grants: t.field({
      type: [GrantType],
      description:
        'Grants in the order in which they are used, at most 1,000; those that are used up or over come last. `statements` has what each month began with.',
      complexity: { field: 1, multiplier: 20 },
      resolve: ({ accountId }, _args, { db }) => listGrants(db, accountId),
    }),
  }),
});

const maxSavingsMs = 92 * 86_400_000;

builder.prismaObjectFields(AccountType, (t) => ({
  budget: t.field({
    type: BudgetType,
    description: 'What the account may spend.',
    select: { id: true },
    resolve: async ({ id }, _args, { db }) => ({ accountId: id, ...(await readBalance(db, id)) }),
  }),
  cacheSavings: t.field({
    type: 'UsdAmount',
    nullable: true,
    description:
      'What caching saved since a moment, by the prices of each request: context read from a cache at the price of new context, less what writing to caches cost beyond it. Requests that a budget did not cover in full saved nothing and are left out. Null: too many requests to add up at once.',
    select: { id: true },
    complexity: 500,
    args: { from: t.arg({ type: 'DateTime', required: true, description: 'Since when; at most 92 days ago.' }) },
    resolve: ({ id }, { from }, { db, reports }) => {
      if (Date.now() - from.getTime() > maxSavingsMs)
        throw badInput('from', 'Savings are kept for 92 days: give a later `from`.');
      return reports(id, () => readCacheSavings(db, id, from));
    },
  }),
}));

/** Polling interval of a watched budget. */
const watchIntervalMs = 1_000;

/** The budget as it is, then after every change. */
async function* watchBudget(context: GraphqlContext, accountId: string): AsyncGenerator<Budget> {
  let shown = '';
  do {
    const budget = { accountId, ...(await readBalance(context.db, accountId)) };
    const now = Object.values(budget).join(' ');
    if (now !== shown) yield budget;
    shown = now;
  } while (await pause(watchIntervalMs, context.signal));
}

builder.subscriptionField('budgetChanged', (t) =>
  t.field({
    type: BudgetType,
    description: 'The budget of an account as it is now, and again when it has changed; at most once in a second.',
    authScopes: { reader: true },
    args: { accountId: t.arg.id({ description: 'Which account; left out: your only or oldest one.' }) },
    subscribe: (_root, { accountId }, context) => watchBudget(context, accountFor(context, accountId, 'read')),
    resolve: (budget) => budget,
  }),
);
