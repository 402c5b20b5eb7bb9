import { type JournalNumbers, type JournalRole, journalRoles } from '../../books/journal.ts';
import { type ExchangeRate, formatRate, type TaxRule } from '../../books/rates.ts';
import { actorOf } from '../../people/principal.ts';
import { isMonth } from '../../plans/papers/statements.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { badInput, ConflictError, InputError } from '../types/errors.ts';

/** What an operator sets for the books: exchange rates, taxes, the numbers of accounts. */

const ExchangeRateType = builder.objectRef<ExchangeRate>('ExchangeRate').implement({
  description: 'What a USD costs in VND in a month, or on a day.',
  authScopes: { operator: true },
  fields: (t) => ({
    period: t.exposeString('period', { description: 'A month (`2026-10`), or a day of it (`2026-10-31`).' }),
    rate: t.string({
      description: 'VND for a USD, with at most four decimals.',
      resolve: ({ rate }) => formatRate(rate),
    }),
    source: t.exposeString('source', { description: 'Who says so, such as `Vietcombank, selling`.' }),
    setBy: t.exposeString('setBy', { description: 'Who set it, as in the audit log.' }),
    setAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
});

const BookTaxesType = builder.objectRef<TaxRule>('BookTaxes').implement({
  description: 'The taxes from a day on. Rates are hundredths of a percent.',
  authScopes: { operator: true },
  fields: (t) => ({
    validFrom: t.exposeString('validFrom', { description: 'The first day, such as `2026-10-01`.' }),
    salesVat: t.exposeInt('salesVat', { description: 'The VAT that the prices of plans include.' }),
    foreignVat: t.exposeInt('foreignVat', { description: 'VAT on what vendors abroad bill.' }),
    foreignIncome: t.exposeInt('foreignIncome', { description: 'Income tax on what vendors abroad bill.' }),
    foreignNet: t.exposeBoolean('foreignNet', {
      description: 'The vendors’ bills are net of these taxes, so that they are the operator’s cost.',
    }),
    note: t.exposeString('note', { description: 'The operator’s note.' }),
    setBy: t.exposeString('setBy', { description: 'Who set them, as in the audit log.' }),
    setAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
});

const JournalRoleType = builder.enumType('JournalAccountRole', {
  description: 'What an account of the journal is for.',
  values: {
    BANK: { value: 'bank', description: 'Money in banks.' },
    CUSTOMERS_MONEY: { value: 'customersMoney', description: 'Money of customers that no order has taken.' },
    DEFERRED_REVENUE: { value: 'deferredRevenue', description: 'Budget that is sold and not used.' },
    SALES_VAT: { value: 'salesVat', description: 'VAT of sales.' },
    REVENUE: { value: 'revenue', description: 'Used budget.' },
    EXPIRED_REVENUE: { value: 'expiredRevenue', description: 'Expired budget.' },
    ALLOWANCES: { value: 'allowances', description: 'Credit notes for used budget.' },
    COST_OF_SALES: { value: 'costOfSales', description: 'Vendors’ bills for what was sold.' },
    MARKETING: { value: 'marketing', description: 'Vendors’ bills for trials, bonuses and gifts.' },
    OWN_USE: { value: 'ownUse', description: 'Vendors’ bills for the operator’s own use and probes.' },
    VENDORS: { value: 'vendors', description: 'What vendors are owed.' },
    FOREIGN_TAXES: { value: 'foreignTaxes', description: 'Taxes on what vendors abroad bill.' },
  } satisfies Record<string, { value: JournalRole; description: string }>,
});

interface NumberedAccount {
  role: JournalRole;
  number: string;
}

const JournalAccountType = builder.objectRef<NumberedAccount>('JournalAccount').implement({
  description: 'An account of the journal.',
  authScopes: { operator: true },
  fields: (t) => ({
    role: t.expose('role', { type: JournalRoleType, description: 'What it is for.' }),
    number: t.exposeString('number', { description: 'The operator’s number of it.' }),
  }),
});

const toAccounts = (numbers: JournalNumbers): NumberedAccount[] =>
  journalRoles.map((role) => ({ role, number: numbers[role] }));

builder.objectFields(OperatorType, (t) => ({
  exchangeRates: t.field({
    type: [ExchangeRateType],
    description: 'The exchange rates of a month and of its days.',
    args: { month: t.arg.string({ required: true, description: 'Such as `2026-10`.' }) },
    resolve: (_operator, { month }, { domains }) => {
      if (!isMonth(month)) throw badInput('month', 'month is a month such as 2026-10.');
      return domains.books.rates(month);
    },
  }),
  bookTaxes: t.field({
    type: [BookTaxesType],
    description: 'The taxes, the latest day first.',
    resolve: (_operator, _args, { domains }) => domains.books.taxes(),
  }),
  journalAccounts: t.field({
    type: [JournalAccountType],
    description: 'The numbers of the accounts of the journal.',
    resolve: async (_operator, _args, { domains }) => toAccounts(await domains.books.journalNumbers()),
  }),
}));

const SetExchangeRateInput = builder.inputType('SetExchangeRateInput', {
  fields: (t) => ({
    period: t.string({ required: true, description: 'A month (`2026-10`), or a day of it (`2026-10-31`).' }),
    rate: t.string({ required: true, description: 'VND for a USD, with at most four decimals.' }),
    source: t.string({ required: true, description: 'Who says so.' }),
  }),
});

const SetBookTaxesInput = builder.inputType('SetBookTaxesInput', {
  description: 'What `setBookTaxes` takes. Rates are hundredths of a percent.',
  fields: (t) => ({
    validFrom: t.string({ required: true, description: 'The first day, such as `2026-10-01`.' }),
    salesVat: t.int({ required: true, description: 'The VAT that the prices of plans include.' }),
    foreignVat: t.int({ required: true, description: 'VAT on what vendors abroad bill.' }),
    foreignIncome: t.int({ required: true, description: 'Income tax on what vendors abroad bill.' }),
    foreignNet: t.boolean({ required: true, description: 'The vendors’ bills are net of these taxes.' }),
    note: t.string({ description: 'For people who read it later.' }),
  }),
});

const JournalAccountInput = builder.inputType('JournalAccountInput', {
  description: 'The number of an account of the journal.',
  fields: (t) => ({
    role: t.field({ type: JournalRoleType, required: true, description: 'What it is for.' }),
    number: t.string({ required: true, description: 'Its number.' }),
  }),
});

const JournalAccountsSavedType = builder.objectRef<{ accounts: NumberedAccount[] }>('JournalAccountsSaved').implement({
  description: 'The numbers that count now.',
  authScopes: { operator: true },
  fields: (t) => ({
    accounts: t.field({
      type: [JournalAccountType],
      description: 'All of them.',
      resolve: ({ accounts }) => accounts,
    }),
  }),
});

builder.mutationFields((t) => ({
  setExchangeRate: t.field({
    type: ExchangeRateType,
    description: 'Sets what a USD costs in a month, or on a day. A month that is closed keeps its own.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, ConflictError] },
    args: { input: t.arg({ type: SetExchangeRateInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) => {
      const outcome = await domains.books.setRate({ ...input, actor: actorOf(principal) });
      if (outcome.kind === 'bad_period') throw badInput('input.period', 'period is a month or a day: 2026-10-31.');
      if (outcome.kind === 'bad_rate')
        throw badInput('input.rate', 'rate is VND for a USD with at most four decimals, and has a source.');
      if (outcome.kind === 'month_closed') throw new ConflictError('The month is closed with the rate that it had.');
      return outcome.rate;
    },
  }),
  setBookTaxes: t.field({
    type: BookTaxesType,
    description: 'Sets the taxes from a day on.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: SetBookTaxesInput, required: true }) },
    resolve: async (_root, { input: { note, ...input } }, { domains, principal }) => {
      const outcome = await domains.books.setTaxes({ ...input, note: note ?? '', actor: actorOf(principal) });
      if (outcome.kind === 'bad_day') throw badInput('input.validFrom', 'validFrom is a day: 2026-10-01.');
      if (outcome.kind === 'bad_percent') throw badInput('input.salesVat', 'A tax is at most 50 percent.');
      return outcome.rule;
    },
  }),
  saveJournalAccounts: t.field({
    type: JournalAccountsSavedType,
    description: 'Changes numbers of the accounts of the journal.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: {
      accounts: t.arg({ type: [JournalAccountInput], required: true, description: 'Those that change.' }),
    },
    resolve: async (_root, { accounts }, { domains, principal }) => {
      const outcome = await domains.books.saveJournalNumbers({
        numbers: Object.fromEntries(accounts.map(({ role, number }) => [role, number])),
        actor: actorOf(principal),
      });
      if (outcome.kind === 'bad_number')
        throw badInput(
          `accounts.${accounts.findIndex(({ role }) => role === outcome.role)}.number`,
          'number has at most 20 letters, digits, points and hyphens.',
        );
      return { accounts: toAccounts(outcome.numbers) };
    },
  }),
}));
