import { MonthArchived } from '../../billing/archive/archived-months.ts';
import type { ClosedMonth, EarlierClose, MonthPreview } from '../../books/month-close.ts';
import type {
  BudgetLine,
  CashLine,
  Imbalance,
  MonthStatement,
  VendorCostLine,
  VndLine,
} from '../../books/month-statement.ts';
import { actorOf } from '../../people/principal.ts';
import { isMonth } from '../../plans/papers/statements.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { BusyError, badInput, ConflictError, InputError } from '../types/errors.ts';
import { DownloadType } from './ledger.ts';

/** Months of the books for operators: their lines, the next one, and those that are closed. */

const movementTexts = {
  opening: 'What there was when the month began.',
  added: 'Bought or given.',
  used: 'What requests were charged.',
  expired: 'What ended unused.',
  refunded:
    'Unused budget that was taken back with a credit note, less what was given back of refunds that were a mistake.',
  undone: 'What was taken back because its purchase was a mistake.',
  closing: 'opening + added - used - expired - refunded - undone.',
} as const;

const kindTexts = {
  bought: 'Budget of purchases.',
  trial: 'Budget of trials.',
  bonus: 'Bonuses of purchases.',
  given: 'Budget that was given otherwise: by operators, for a code, as a refund.',
  own: 'Budget that accounts of operators were given.',
  probe: 'Budget of the account that uptime is measured with.',
} as const;

const BudgetLineType = builder.objectRef<BudgetLine>('BudgetRollForward').implement({
  description:
    'How a kind of budget went through a month: `opening + added - used - expired - refunded - undone = closing`.',
  authScopes: { operator: true },
  fields: (t) => ({
    opening: t.expose('opening', { type: 'UsdAmount', description: movementTexts.opening }),
    added: t.expose('added', { type: 'UsdAmount', description: movementTexts.added }),
    used: t.expose('used', { type: 'UsdAmount', description: movementTexts.used }),
    expired: t.expose('expired', { type: 'UsdAmount', description: movementTexts.expired }),
    refunded: t.expose('refunded', { type: 'UsdAmount', description: movementTexts.refunded }),
    undone: t.expose('undone', { type: 'UsdAmount', description: movementTexts.undone }),
    closing: t.expose('closing', { type: 'UsdAmount', description: movementTexts.closing }),
  }),
});

const VndBudgetLineType = builder.objectRef<BudgetLine>('VndRollForward').implement({
  description: 'Bought budget in VND, each purchase at its own rate: what customers have paid in advance.',
  authScopes: { operator: true },
  fields: (t) => ({
    opening: t.expose('opening', { type: 'VndAmount', description: movementTexts.opening }),
    added: t.expose('added', { type: 'VndAmount', description: movementTexts.added }),
    used: t.expose('used', { type: 'VndAmount', description: movementTexts.used }),
    expired: t.expose('expired', { type: 'VndAmount', description: movementTexts.expired }),
    refunded: t.expose('refunded', { type: 'VndAmount', description: movementTexts.refunded }),
    undone: t.expose('undone', { type: 'VndAmount', description: movementTexts.undone }),
    closing: t.expose('closing', { type: 'VndAmount', description: movementTexts.closing }),
  }),
});

const CashLineType = builder.objectRef<CashLine>('CashRollForward').implement({
  description:
    'Money of customers: what was received, what was sold, and what is owed back. `opening + received - sold + undone + credited - sent = closing`, which is the sum of `surplus`, `partPayments`, `withoutOrder`, `unassigned` and `toSend`.',
  authScopes: { operator: true },
  fields: (t) => ({
    opening: t.expose('opening', { type: 'VndAmount', description: 'Owed back when the month began.' }),
    received: t.expose('received', {
      type: 'VndAmount',
      description: 'What the bank booked from customers, whether or not it bought anything.',
    }),
    sold: t.expose('sold', { type: 'VndAmount', description: 'The prices of the orders that were paid.' }),
    undone: t.expose('undone', { type: 'VndAmount', description: 'Of orders whose payment was taken back.' }),
    credited: t.expose('credited', { type: 'VndAmount', description: 'Credit notes of purchases.' }),
    sent: t.expose('sent', { type: 'VndAmount', description: 'What went back by the bank, matched to refunds.' }),
    closing: t.expose('closing', { type: 'VndAmount', description: 'Owed back when the month ended.' }),
    surplus: t.expose('surplus', {
      type: 'VndAmount',
      description: 'Of `closing`: paid beyond the price of an order.',
    }),
    partPayments: t.expose('partPayments', {
      type: 'VndAmount',
      description: 'Of `closing`: paid for orders that wait for the rest.',
    }),
    withoutOrder: t.expose('withoutOrder', {
      type: 'VndAmount',
      description: 'Of `closing`: paid for orders that expired or were cancelled.',
    }),
    unassigned: t.expose('unassigned', {
      type: 'VndAmount',
      description: 'Of `closing`: transfers that nobody has assigned to an order yet.',
    }),
    toSend: t.expose('toSend', {
      type: 'VndAmount',
      description: 'Of `closing`: credit notes that were not paid out yet.',
    }),
  }),
});

const VendorCostLineType = builder.objectRef<VendorCostLine>('VendorCostLines').implement({
  description: 'What the vendors cost, over the requests whose cost is known, by who paid for the requests.',
  authScopes: { operator: true },
  fields: (t) => ({
    bought: t.expose('bought', {
      type: 'UsdAmount',
      description: 'Paid from bought budget: the cost of what was sold.',
    }),
    trial: t.expose('trial', { type: 'UsdAmount', description: 'An expense: paid from trials.' }),
    bonus: t.expose('bonus', { type: 'UsdAmount', description: 'An expense: paid from bonuses.' }),
    given: t.expose('given', {
      type: 'UsdAmount',
      description: 'An expense: paid from what was given otherwise, or free of charge.',
    }),
    shortfall: t.expose('shortfall', { type: 'UsdAmount', description: 'An expense: paid by no budget.' }),
    own: t.expose('own', { type: 'UsdAmount', description: 'An expense: the accounts that operators own.' }),
    probe: t.expose('probe', { type: 'UsdAmount', description: 'An expense: measuring uptime.' }),
    unsplit: t.expose('unsplit', {
      type: 'UsdAmount',
      description:
        'Of requests in an archive, or that became known after their month was closed: who paid is not known.',
    }),
    total: t.expose('total', { type: 'UsdAmount', description: 'The sum.' }),
  }),
});

const VndLineType = builder.objectRef<VndLine>('VndResult').implement({
  description: 'The month in VND.',
  authScopes: { operator: true },
  fields: (t) => ({
    income: t.expose('income', {
      type: 'VndAmount',
      description: 'Used and expired bought budget without VAT, less credit notes for budget that was used.',
    }),
    vendorCost: t.expose('cost', { type: 'VndAmount', description: 'What the vendors cost, at the rates.' }),
    foreignVat: t.field({
      type: 'VndAmount',
      description: 'VAT on what vendors abroad billed, as the operator sets it.',
      resolve: ({ tax }) => tax.vat,
    }),
    foreignIncomeTax: t.field({
      type: 'VndAmount',
      description: 'Income tax on what vendors abroad billed, as the operator sets it.',
      resolve: ({ tax }) => tax.income,
    }),
    taxesBorne: t.boolean({
      description: 'Whether these taxes are the operator’s cost: the bills are net of them.',
      resolve: ({ tax }) => tax.borne,
    }),
    result: t.expose('result', { type: 'VndAmount', description: 'income - vendorCost - taxes that are borne.' }),
    rates: t.exposeStringList('rates', { description: 'The exchange rates with their sources and who set them.' }),
  }),
});

const MonthStatementType = builder.objectRef<MonthStatement>('MonthStatement').implement({
  description: 'Every line of a month.',
  authScopes: { operator: true },
  fields: (t) => ({
    cash: t.field({ type: CashLineType, description: 'Received, sold and owed back.', resolve: ({ cash }) => cash }),
    bought: t.field({ type: BudgetLineType, description: kindTexts.bought, resolve: ({ budgets }) => budgets.bought }),
    trial: t.field({ type: BudgetLineType, description: kindTexts.trial, resolve: ({ budgets }) => budgets.trial }),
    bonus: t.field({ type: BudgetLineType, description: kindTexts.bonus, resolve: ({ budgets }) => budgets.bonus }),
    given: t.field({ type: BudgetLineType, description: kindTexts.given, resolve: ({ budgets }) => budgets.given }),
    own: t.field({ type: BudgetLineType, description: kindTexts.own, resolve: ({ budgets }) => budgets.own }),
    probe: t.field({ type: BudgetLineType, description: kindTexts.probe, resolve: ({ budgets }) => budgets.probe }),
    boughtVnd: t.field({
      type: VndBudgetLineType,
      description: '`bought` in VND, VAT included.',
      resolve: ({ boughtVnd }) => boughtVnd,
    }),
    boughtNetVnd: t.field({
      type: VndBudgetLineType,
      description: '`bought` in VND without VAT: deferred revenue.',
      resolve: ({ boughtNetVnd }) => boughtNetVnd,
    }),
    allowedVnd: t.field({
      type: 'VndAmount',
      description: 'Credit notes for budget that was used, VAT included.',
      resolve: ({ allowed }) => allowed.gross,
    }),
    allowedNetVnd: t.field({
      type: 'VndAmount',
      description: '`allowedVnd` without VAT.',
      resolve: ({ allowed }) => allowed.net,
    }),
    vendorCost: t.field({
      type: VendorCostLineType,
      description: 'What the vendors cost.',
      resolve: ({ vendorCost }) => vendorCost,
    }),
    shortfall: t.expose('shortfall', { type: 'UsdAmount', description: 'The price of what no budget paid for.' }),
    unknownRequests: t.field({
      type: 'BigInt',
      description: 'Requests whose cost at the vendor is not known: they have no margin.',
      resolve: ({ unknown }) => unknown.requests,
    }),
    unknownCharged: t.field({
      type: 'UsdAmount',
      description: 'What customers were charged for them.',
      resolve: ({ unknown }) => unknown.charged,
    }),
    unknownOfBought: t.field({
      type: 'UsdAmount',
      description: 'Of `unknownCharged`: from bought budget.',
      resolve: ({ unknown }) => unknown.ofBought,
    }),
    margin: t.expose('margin', {
      type: 'UsdAmount',
      description: 'bought.used - unknownOfBought - vendorCost.total. Expired budget is not in it. Can be negative.',
    }),
    vnd: t.field({
      type: VndLineType,
      nullable: true,
      description: 'The month in VND; null: an exchange rate is missing.',
      resolve: ({ vnd }) => vnd,
    }),
    missingRates: t.exposeStringList('missingRates', { description: 'Days, or the month, without an exchange rate.' }),
  }),
});

const EarlierCloseType = builder.objectRef<EarlierClose>('EarlierClose').implement({
  description: 'What an earlier version froze of a month. Its margin counts trials and gifts as income.',
  authScopes: { operator: true },
  fields: (t) => ({
    revenueVnd: t.expose('revenueVnd', { type: 'VndAmount', description: 'Transfers that were matched to orders.' }),
    used: t.expose('charged', { type: 'UsdAmount', description: 'What customers were charged.' }),
    usedOfPurchases: t.expose('chargedPaid', { type: 'UsdAmount', description: 'Of `used`: from bought budget.' }),
    usedOfTrials: t.expose('trialCost', { type: 'UsdAmount', description: 'Of `used`: from trials.' }),
    unused: t.expose('unused', { type: 'UsdAmount', description: 'Bought budget that was left at the month’s end.' }),
    expired: t.expose('expired', { type: 'UsdAmount', description: 'Bought budget whose time was over.' }),
    shortfall: t.expose('shortfall', { type: 'UsdAmount', description: 'What budgets did not pay for.' }),
    upstreamCost: t.expose('upstreamCost', { type: 'UsdAmount', description: 'What the vendors cost for customers.' }),
    unknownCharged: t.expose('unknownCharged', { type: 'UsdAmount', description: 'Of `used`: at a cost not known.' }),
    margin: t.expose('margin', { type: 'UsdAmount', description: 'used - unknownCharged - upstreamCost.' }),
  }),
});

const ImbalanceType = builder.objectRef<Imbalance>('Imbalance').implement({
  description: 'A row of a month that does not add up.',
  authScopes: { operator: true },
  fields: (t) => ({
    row: t.exposeString('row', { description: 'Which row.' }),
    computed: t.exposeString('computed', { description: 'What its movements make: pico-USD or VND.' }),
    found: t.exposeString('found', { description: 'What is found by another way.' }),
  }),
});

const ClosedMonthType = builder.objectRef<ClosedMonth>('ClosedMonth').implement({
  description: 'A month whose lines never change again. What became known later is part of the month after it.',
  authScopes: { operator: true },
  fields: (t) => ({
    month: t.exposeString('month', { description: 'Such as `2026-10`.' }),
    timeZone: t.exposeString('timeZone', { description: 'Where it begins and ends.' }),
    statement: t.field({
      type: MonthStatementType,
      nullable: true,
      description: 'Its lines; null: an earlier version closed it, see `earlier`.',
      resolve: ({ statement }) => statement,
    }),
    earlier: t.field({
      type: EarlierCloseType,
      nullable: true,
      description: 'The figures of a close by an earlier version.',
      resolve: ({ earlier }) => earlier,
    }),
    digest: t.exposeString('digest', {
      nullable: true,
      description: 'SHA-256 of its lines, of those of the accounts and of the digest of the month before.',
    }),
    closedBy: t.exposeString('closedBy', { description: 'Who closed it, as in the audit log.' }),
    closedAt: t.expose('closedAt', { type: 'DateTime', description: 'When.' }),
  }),
});

const MonthPreviewType = builder.objectRef<MonthPreview>('MonthPreview').implement({
  description: 'What a close of the next month would freeze, as known now.',
  authScopes: { operator: true },
  fields: (t) => ({
    month: t.string({ description: 'Such as `2026-10`.', resolve: ({ statement }) => statement.month }),
    timeZone: t.string({ description: 'Where it begins and ends.', resolve: ({ statement }) => statement.timeZone }),
    statement: t.field({
      type: MonthStatementType,
      description: 'Its lines.',
      resolve: ({ statement }) => statement,
    }),
    isOver: t.exposeBoolean('isOver', { description: 'Only a month that is over can be closed.' }),
    imbalances: t.field({
      type: [ImbalanceType],
      description: 'Rows that do not add up: the close is refused.',
      resolve: ({ imbalances }) => imbalances,
    }),
  }),
});

/** A month such as `2026-10`, or an `InputError`. */
function checkMonth(month: string, path: string): string {
  if (!isMonth(month)) throw badInput(path, 'month is a month such as 2026-10.');
  return month;
}

const defaultZone = 'Asia/Ho_Chi_Minh';

function refuseZone(path: string): never {
  throw badInput(path, `timeZone is the IANA name of a time zone, such as ${defaultZone}.`);
}

builder.objectFields(OperatorType, (t) => ({
  nextMonthToClose: t.field({
    type: MonthPreviewType,
    description: 'What the next close would freeze: the month after the latest close.',
    complexity: { field: 50, multiplier: 1 },
    args: {
      month: t.arg.string({
        description: 'Before the first close, the month to begin with; left out: the last one that is over.',
      }),
      timeZone: t.arg.string({ defaultValue: defaultZone, description: 'As that of `closeMonth`.' }),
    },
    resolve: async (_operator, { month, timeZone }, { domains }) => {
      const asked = { month: month == null ? null : checkMonth(month, 'month'), timeZone: timeZone ?? defaultZone };
      const preview = await domains.books.previewMonth(asked).catch((error: Error) => {
        throw error instanceof MonthArchived ? badInput('month', error.message) : error;
      });
      return preview ?? refuseZone('timeZone');
    },
  }),
  closedMonths: t.field({
    type: [ClosedMonthType],
    description: 'Every closed month, the newest first.',
    complexity: { field: 1, multiplier: 36 },
    resolve: async (_operator, _args, { domains }) => (await domains.books.closedMonths()).reverse(),
  }),
}));

const CloseMonthInput = builder.inputType('CloseMonthInput', {
  fields: (t) => ({
    month: t.string({ required: true, description: 'Such as `2026-10`.' }),
    timeZone: t.string({
      defaultValue: defaultZone,
      description: 'Where the month begins and ends; after the first close, that of the close before is kept.',
    }),
  }),
});

builder.mutationField('closeMonth', (t) =>
  t.field({
    type: ClosedMonthType,
    description:
      'Freezes the figures of a month that is over. Months are closed one after the other; this cannot be undone.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, ConflictError] },
    args: { input: t.arg({ type: CloseMonthInput, required: true }) },
    resolve: async (_root, { input: { month, timeZone } }, { domains, principal }) => {
      const outcome = await domains.books.close({
        month: checkMonth(month, 'input.month'),
        timeZone: timeZone ?? defaultZone,
        actor: actorOf(principal),
      });
      if (outcome.kind === 'bad_zone') return refuseZone('input.timeZone');
      if (outcome.kind === 'archived') throw new ConflictError(outcome.message);
      if (outcome.kind === 'not_over') throw new ConflictError(`${month} is not over yet.`);
      if (outcome.kind === 'out_of_order')
        throw new ConflictError(`Months are closed one after the other; the next is ${outcome.next}.`);
      if (outcome.kind === 'unbalanced')
        throw new ConflictError(`${month} does not add up: ${outcome.imbalances.map(({ row }) => row).join(', ')}.`);
      if (outcome.kind === 'closed_before')
        throw new ConflictError(`${month} was closed on ${outcome.month.closedAt.toISOString()}.`);
      return outcome.month;
    },
  }),
);

const BookPaperType = builder.enumType('BookPaper', {
  description: 'What an adviser gets of a month beside its lines.',
  values: {
    JOURNAL: { value: 'journal', description: 'Double entry with the operator’s own numbers of accounts.' },
    PAPERS: { value: 'papers', description: 'Receipts and credit notes, by numbers without gaps, with their VAT.' },
    ADVANCES: { value: 'advances', description: 'What customers have paid in advance and are owed, by account.' },
  } as const,
});

const CreateBookPaperDownloadInput = builder.inputType('CreateBookPaperDownloadInput', {
  fields: (t) => ({
    paper: t.field({ type: BookPaperType, required: true, description: 'Which paper.' }),
    month: t.string({ required: true, description: 'Such as `2026-10`.' }),
  }),
});

builder.mutationFields((t) => ({
  createBookPaperDownload: t.field({
    type: DownloadType,
    description:
      'Makes a link to a paper of a month as CSV; `&lang=en` or `&lang=vi` chooses the language. All but `PAPERS` are of closed months.',
    authScopes: { operator: true },
    errors: { types: [InputError, BusyError] },
    args: {
      input: t.arg({ type: CreateBookPaperDownloadInput, required: true }),
    },
    resolve: (_root, { input: { paper, month } }, { domains, principal }) =>
      domains.booksLinks.link(`${paper} ${checkMonth(month, 'input.month')}`, actorOf(principal)),
  }),
  createBooksDownload: t.field({
    type: DownloadType,
    description: 'Makes a link to the closed months as CSV for an accountant.',
    authScopes: { operator: true },
    errors: { types: [BusyError] },
    resolve: (_root, _args, { domains, principal }) => domains.booksLinks.link('closed_months', actorOf(principal)),
  }),
}));
