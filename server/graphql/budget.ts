import type { GrantKind } from '../billing/grants.ts';
import type { Balance } from '../billing/types.ts';
import { type GrantRecord, listGrants, readBalance } from '../billing/usage.ts';
import { encodeId } from './access.ts';
import { AccountType } from './accounts.ts';
import { builder } from './builder.ts';

/** The prepaid budget of an account and the grants that make it up. */

export const GrantKindType = builder.enumType('GrantKind', {
  description: 'Where a grant comes from.',
  values: {
    TRIAL: { value: 'trial', description: 'The budget that a new account starts with.' },
    PURCHASE: { value: 'purchase', description: 'Bought with a plan.' },
    ADJUSTMENT: { value: 'adjustment', description: 'Given by an operator.' },
    REFUND: { value: 'refund', description: 'Given back.' },
  } satisfies Record<string, { value: GrantKind; description: string }>,
});

export const GrantType = builder.objectRef<GrantRecord>('Grant').implement({
  description: 'Budget that was given. What it has left is amount - spent - held - expired.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the grant.', resolve: ({ id }) => encodeId('Grant', id) }),
    kind: t.expose('kind', { type: GrantKindType, description: 'Where it comes from.' }),
    amount: t.expose('amount', { type: 'UsdAmount', description: 'How much was given.' }),
    spent: t.expose('spent', { type: 'UsdAmount', description: 'Charged for finished requests.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'Reserved by running requests.' }),
    expired: t.expose('expired', { type: 'UsdAmount', description: 'Lost because its time was over.' }),
    free: t.expose('free', { type: 'UsdAmount', description: 'What is left.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why an operator gave it.' }),
  }),
});

interface Budget extends Balance {
  accountId: string;
}

export const BudgetType = builder.objectRef<Budget>('Budget').implement({
  description: 'What an account may spend: granted = charged + held + expired + free, at every moment.',
  authScopes: (budget) => ({ account: budget.accountId }),
  fields: (t) => ({
    granted: t.expose('granted', { type: 'UsdAmount', description: 'All that was ever given.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'Charged for finished requests.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'Reserved by running requests.' }),
    expired: t.expose('expired', { type: 'UsdAmount', description: 'Lost because its time was over.' }),
    free: t.expose('free', { type: 'UsdAmount', description: 'What is left to spend.' }),
    grants: t.field({
      type: [GrantType],
      description: 'Grants in the order in which they are used; those that are used up or over come last.',
      complexity: { field: 1, multiplier: 20 },
      resolve: ({ accountId }, _args, { db }) => listGrants(db, accountId),
    }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  budget: t.field({
    type: BudgetType,
    description: 'What the account may spend.',
    select: { id: true },
    resolve: async ({ id }, _args, { db }) => ({ accountId: id, ...(await readBalance(db, id)) }),
  }),
}));
