import { actorOf } from '../../people/principal.ts';
import type { MonthlyStatement } from '../../plans/papers/statements.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder, type ObjectFields } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';

/** Monthly statements of an account: their sums, and links to them as PDF and CSV. */

interface Month {
  accountId: string;
  month: string;
}

/** Reads the sums of a month once for all fields of one object. */
const read = new WeakMap<Month, Promise<MonthlyStatement>>();

function sums(month: Month, { domains }: GraphqlContext): Promise<MonthlyStatement> {
  const known =
    read.get(month) ??
    domains.statements.read(month.accountId, month.month).then((statement) => {
      if (statement === null) throw new Error('a month of an account has no statement');
      return statement;
    });
  read.set(month, known);
  return known;
}

/** The cost of one read of a month, in fields: a transaction over all that the account ever used. */
const readCost = 150;
/** That of each of its five sums: together they are one read. */
const sumsCost = readCost / 5;
const maxMonths = 120;

const sum = (
  t: ObjectFields<Month>,
  of: 'opening' | 'granted' | 'charged' | 'expired' | 'takenBack' | 'closing',
  description: string,
) =>
  t.field({
    type: 'UsdAmount',
    description,
    complexity: sumsCost,
    resolve: async (month, _args, context) => (await sums(month, context))[of],
  });

const StatementType = builder.objectRef<Month>('Statement').implement({
  description:
    'What an account had, got, used and lost in a month: `closing = opening + granted - charged - expired - takenBack`.',
  authScopes: ({ accountId }) => ({ account: accountId }),
  fields: (t) => ({
    month: t.exposeString('month', {
      description:
        'Which month, such as `2026-11`: by the time of Vietnam (UTC+7), as the books of the seller, whatever the time zone of the account.',
    }),
    opening: sum(t, 'opening', 'The balance when the month began: neither used nor expired.'),
    granted: sum(t, 'granted', 'The budget that was added.'),
    charged: sum(t, 'charged', 'What requests cost.'),
    expired: sum(t, 'expired', 'What expired unused.'),
    takenBack: sum(
      t,
      'takenBack',
      'What was taken back: refunded, or bought by mistake. Below zero where more was given back, of refunds by mistake.',
    ),
    closing: sum(t, 'closing', 'The balance when the month ended, or now.'),
    digest: t.string({
      nullable: true,
      description:
        'SHA-256 of the statement, kept from its first reading on: it never changes. Null while the month is not over.',
      complexity: sumsCost,
      resolve: async (month, _args, context) => (await sums(month, context)).digest,
    }),
    url: t.string({
      description:
        'The statement as PDF; `&format=csv` makes it CSV, `&lang=en` or `&lang=vi` chooses the language. Works for an hour, without a session.',
      resolve: ({ accountId, month }, _args, { domains, principal }) =>
        domains.statementLinks.link({ accountId, month }, actorOf(principal)).url,
    }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  statements: t.field({
    type: [StatementType],
    description: 'Monthly statements, the newest (of the running month) first.',
    select: { id: true },
    args: { first: t.arg.int({ defaultValue: 12, description: 'How many months, at most 120.' }) },
    complexity: ({ first }) => ({ field: 1, multiplier: Math.min(Math.max(first ?? 12, 1), maxMonths) }),
    resolve: async ({ id }, { first }, { domains }) =>
      (await domains.statements.months(id, Math.min(Math.max(first ?? 12, 1), maxMonths))).map((month) => ({
        accountId: id,
        month,
      })),
  }),
  statement: t.field({
    type: StatementType,
    nullable: true,
    description: 'The statement of one month; null when the account has none of it.',
    select: { id: true },
    args: { month: t.arg.string({ required: true, description: 'Which month, such as `2026-11`.' }) },
    complexity: { field: readCost, multiplier: 1 },
    resolve: async ({ id }, { month }, { domains }) => {
      const statement = await domains.statements.read(id, month);
      if (statement === null) return null;
      const found = { accountId: id, month };
      read.set(found, Promise.resolve(statement));
      return found;
    },
  }),
}));
