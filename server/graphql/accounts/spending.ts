import { type MemberSpend, type MonthSpend, readMemberSpend } from '../../billing/reads/shared-spend.ts';
import { abilitiesOn, accountsWith, actorOf } from '../../people/principal.ts';
import { isUuid } from '../../shared/uuid.ts';
import { decodeId, encodeId, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { badInput, InputError, NotAllowedError, NotFoundError, refuseInput } from '../types/errors.ts';
import { AccountType } from './accounts.ts';

/** Who spent what: the monthly budgets of members, and what the keys that they made have spent. */

export const MonthSpendType = builder.objectRef<MonthSpend>('MonthSpend').implement({
  description: 'What was charged in one month, in the time zone of the account.',
  authScopes: { public: true },
  fields: (t) => ({
    month: t.exposeString('month', { description: 'The month, such as 2026-11.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What was charged in it.' }),
  }),
});

const MemberSpendType = builder.objectRef<MemberSpend & { accountId: string }>('MemberSpend').implement({
  description: 'What the keys that one person made have spent together, whomever they belong to.',
  authScopes: ({ accountId }) => ({ account: accountId }),
  fields: (t) => ({
    memberId: t.id({
      description: 'For `setMemberBudget`; of somebody who left, too.',
      resolve: ({ accountId, userId }) => encodeId('Member', `${accountId}/${userId}`),
    }),
    name: t.exposeString('name', { nullable: true, description: 'What they are called; null: they were forgotten.' }),
    isMember: t.exposeBoolean('isMember', { description: 'Whether they belong to the account at this moment.' }),
    monthlyBudget: t.expose('limitMonth', {
      type: 'UsdAmount',
      nullable: true,
      description: 'What these keys may spend in a calendar month together; null: no limit.',
    }),
    thisMonth: t.expose('thisMonth', { type: 'UsdAmount', description: 'Since the first of the month.' }),
    lifetime: t.expose('lifetime', { type: 'UsdAmount', description: 'In all.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'Reserved by running requests, and in advance.' }),
    keys: t.exposeInt('keys', { description: 'Keys that they made and that work.' }),
    personalKeys: t.exposeInt('personalKeys', { description: 'Those of them that end when they leave the account.' }),
    months: t.field({
      type: [MonthSpendType],
      description: 'By month, newest first; months without charges are left out.',
      resolve: ({ months }) => [...months],
    }),
  }),
});

const maxMonths = 12;

builder.prismaObjectFields(AccountType, (t) => ({
  memberSpend: t.field({
    type: [MemberSpendType],
    description:
      'What its people have spent through the keys that they made: everybody’s for owners, admins and tokens with the scope `BILLING`; one’s own for others. Only this summary with its budgets is restricted: who made a key and what it spent (`keys`, `usage`) can be seen by every reader of the account.',
    select: { id: true },
    args: { months: t.arg.int({ defaultValue: 3, description: 'The last so many months; 1 to 12.' }) },
    resolve: async ({ id }, { months }, { principal, db }) => {
      const count = months ?? 3;
      if (count < 1 || count > maxMonths) throw badInput('months', `months is 1 to ${maxMonths}.`);
      const seesAll = abilitiesOn(principal, id).has('billing');
      if (!seesAll && principal.kind !== 'user') return [];
      const userId = seesAll || principal.kind !== 'user' ? null : principal.userId;
      const spend = await readMemberSpend(db, { accountId: id, userId, months: count });
      return spend.map((each) => ({ ...each, accountId: id }));
    },
  }),
}));

/** The person that an id names, of an account that the principal sees. */
function personOf(context: GraphqlContext, id: string): { accountId: string; userId: string } {
  const [accountId = '', userId = ''] = (decodeId('Member', id) ?? '').split('/');
  if (!isUuid(userId) || !accountsWith(context.principal, 'read').includes(accountId))
    throw new NotFoundError('member');
  return { accountId, userId };
}

const SetMemberBudgetInput = builder.inputType('SetMemberBudgetInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Whose: the id of a member, or a `memberId`.' }),
    month: t.field({ type: 'UsdAmount', description: 'In a calendar month; left out or null: no limit.' }),
  }),
});

builder.mutationField('setMemberBudget', (t) =>
  t.field({
    type: MemberSpendType,
    description:
      'Sets what the keys that a person made may spend in a month together. It counts from the very next request on, and stays when they leave, for the keys that stay.',
    authScopes: { billing: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError] },
    args: { input: t.arg({ type: SetMemberBudgetInput, required: true }) },
    resolve: async (_root, { input: { id, month } }, context) => {
      const person = personOf(context, id);
      requireAbility(context, person.accountId, 'billing');
      const actor = actorOf(context.principal);
      const outcome = await context.domains.accounts.setMemberLimit({ ...person, month: month ?? null, actor });
      if (outcome.kind === 'unknown_member') throw new NotFoundError('member');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      const [spend] = await readMemberSpend(context.db, { ...person, months: 1 });
      if (spend === undefined) throw new NotFoundError('member');
      return { ...spend, accountId: person.accountId };
    },
  }),
);
