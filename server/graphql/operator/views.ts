import { isOperator } from '../../people/principal.ts';
import type { AccountView } from '../../people/views.ts';
import { decodeUuid, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { me, ViewerType } from '../people/people.ts';
import { keysetPage, pageFields, type Report, reportEdge } from '../reports.ts';
import { NotFoundError } from '../types/errors.ts';

/** An operator's look at the pages of a customer: read-only, limited in time, and on record. */

const BegunType = builder.objectRef<{ grant: string; until: Date }>('AccountViewBegun').implement({
  description: 'A look at an account that was begun.',
  authScopes: { operator: true },
  fields: (t) => ({
    grant: t.exposeString('grant', {
      description:
        'What requests of the same session send as the header `steyg-view`: they then see the account as its readers do, and change nothing.',
    }),
    until: t.expose('until', { type: 'DateTime', description: 'When the look ends.' }),
  }),
});

const LookType = builder.objectRef<AccountView>('AccountView').implement({
  description: 'A look that an operator took at an account.',
  authScopes: { public: true },
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it began.' }),
    until: t.expose('until', { type: 'DateTime', description: 'When it ended at the latest.' }),
  }),
});

builder.mutationField('beginAccountView', (t) =>
  t.field({
    type: BegunType,
    description:
      'Begins a look at the pages of a customer. It is read-only, ends after 15 minutes or with the operator’s session or role, and the owner of the account sees that it was taken. For a signed-in operator with a second factor.',
    authScopes: { $all: { user: true, trustedOperator: true } },
    errors: { types: [NotFoundError] },
    args: {
      accountId: t.arg.id({ required: true }),
    },
    resolve: async (_root, { accountId: globalId }, context) => {
      const accountId = decodeUuid('Account', globalId);
      const begun = accountId === null ? null : await context.domains.people.views.begin(me(context), accountId);
      if (begun === null) throw new NotFoundError('account');
      return begun;
    },
  }),
);

builder.objectField(ViewerType, 'viewUntil', (t) =>
  t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When the look at an account ends that this request is part of; null for people who see their own.',
    resolve: (principal) => (principal.kind === 'user' ? (principal.viewUntil ?? null) : null),
  }),
);

const lookEdge = reportEdge('AccountViewEdge', LookType);
const LookPageType = builder.objectRef<Report<AccountView>>('AccountViewConnection').implement({
  authScopes: { public: true },
  fields: (t) => pageFields(t, { row: LookType, edge: lookEdge }),
});

/** The looks at an account are for those who manage its members, and for operators. */
function requireLooks(context: GraphqlContext, accountId: string): void {
  if (context.principal.kind !== 'user' || !isOperator(context.principal))
    requireAbility(context, accountId, 'members');
}

builder.prismaObjectFields(AccountType, (t) => ({
  operatorViews: t.field({
    type: LookPageType,
    description: 'The looks that operators took at this account, newest first. For those who manage its members.',
    complexity: { field: 20, multiplier: 1 },
    select: { id: true },
    args: {
      first: t.arg.int({ defaultValue: 20 }),
      after: t.arg.string(),
    },
    resolve: ({ id: accountId }, args, context) => {
      requireLooks(context, accountId);
      const { views } = context.domains.people;
      return keysetPage<AccountView>(args, { ids: 1, keyOf: ({ at, id }) => ({ at, ids: [id] }) }, (range) =>
        views.list(accountId, range),
      );
    },
  }),
}));
