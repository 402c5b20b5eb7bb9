import { MonthArchived } from '../../billing/archived-months.ts';
import type { VendorBills } from '../../billing/vendor-bills.ts';
import type { UsageSide } from '../../billing/vendor-csv.ts';
import { maxComparedDays, type VendorComparison } from '../../billing/vendor-usage.ts';
import { actorOf } from '../../people/principal.ts';
import type { ClosedMonth, MonthPreview } from '../../plans/month-close.ts';
import { isMonth } from '../../plans/statements.ts';
import { builder } from '../builder.ts';
import { BusyError, badInput, ConflictError, InputError, NotFoundError } from '../errors.ts';
import { OperatorType } from '../operator/operator.ts';
import { offsetReport, type Report, reportEdge, reportFields, reportLength, reportOffset } from '../reports.ts';
import { DownloadType } from './ledger.ts';

/** The books for operators: vendors' bills beside the ledger, and closed months. */

const ComparedUsageType = builder.objectRef<UsageSide>('ComparedUsage').implement({
  description: 'What one side says of a day and a model.',
  authScopes: { operator: true },
  fields: (t) => ({
    requests: t.expose('requests', { type: 'BigInt', nullable: true, description: 'Null: the side does not say.' }),
    input: t.expose('input', {
      type: 'BigInt',
      description: 'Tokens that were neither read from nor written to a cache.',
    }),
    cacheHit: t.expose('cacheHit', { type: 'BigInt', description: 'Tokens that were read from a cache.' }),
    cacheWrite: t.expose('cacheWrite', { type: 'BigInt', description: 'Tokens that were written to a cache.' }),
    output: t.expose('output', { type: 'BigInt', description: 'Tokens of answers.' }),
    cost: t.expose('cost', { type: 'UsdAmount', nullable: true, description: 'Null: the side does not say.' }),
  }),
});

const VendorComparisonType = builder.objectRef<VendorComparison>('VendorComparison').implement({
  description: 'What a vendor says it billed for a day and a model, beside the ledger.',
  authScopes: { operator: true },
  fields: (t) => ({
    upstream: t.exposeString('upstream', { description: 'Id of the upstream.' }),
    day: t.exposeString('day', { description: 'The day (UTC), such as `2026-10-31`.' }),
    model: t.exposeString('model', { description: 'The vendor’s name of the model, without a date at its end.' }),
    vendor: t.field({
      type: ComparedUsageType,
      nullable: true,
      description: 'Null: the vendor’s file has nothing of it.',
      resolve: ({ vendor }) => vendor,
    }),
    ledger: t.field({
      type: ComparedUsageType,
      nullable: true,
      description: 'Null: the ledger has nothing of it.',
      resolve: ({ ledger }) => ledger,
    }),
    estimated: t.expose('estimated', {
      type: 'BigInt',
      description: 'Requests of the ledger whose tokens are estimates, because the vendor’s answer did not say.',
    }),
    apart: t.exposeFloat('apart', {
      description:
        'How far the figures are apart that are furthest: 0.5 is half of the larger one. Up to a thousand tokens and one cent count as nothing.',
    }),
    differs: t.exposeBoolean('differs', {
      description: 'Further apart than the `billPercent` of the settings of operators’ notices.',
    }),
  }),
});

interface ComparisonPage extends Report<VendorComparison> {
  compared: number;
  differing: number;
}

const ComparisonPageType = builder.objectRef<ComparisonPage>('VendorComparisonPage').implement({
  description: 'Rows of the comparison.',
  authScopes: { operator: true },
  fields: (t) => ({
    ...reportFields<VendorComparison>(t as never, {
      row: VendorComparisonType,
      edge: reportEdge('VendorComparisonPageEdge', VendorComparisonType),
      order: 'Newest day first, then by upstream and model.',
    }),
    compared: t.exposeInt('compared', { description: 'Days and models that were compared.' }),
    differing: t.exposeInt('differing', { description: 'How many of them differ.' }),
  }),
});

const VendorBillsType = builder.objectRef<VendorBills>('VendorBills').implement({
  description: 'How far the import of an upstream’s bills has come. Days are those of UTC.',
  authScopes: { operator: true },
  fields: (t) => ({
    upstream: t.exposeString('upstream', { description: 'Id of the upstream.' }),
    firstDay: t.exposeString('firstDay', { nullable: true, description: 'The first day with a bill; null: none.' }),
    lastDay: t.exposeString('lastDay', { nullable: true, description: 'The last day with a bill; null: none.' }),
    importedAt: t.expose('importedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the latest file was imported.',
    }),
    missingDays: t.exposeStringList('missingDays', {
      description: `Days of the last ${maxComparedDays} with usage and without a bill, after the first bill, older than the \`billDays\` of the settings of operators’ notices.`,
    }),
  }),
});

type MonthFigures = Omit<MonthPreview, 'isOver'>;

const MonthFiguresType = builder.interfaceRef<MonthFigures>('MonthFigures').implement({
  description: 'The figures of a month.',
  fields: (t) => ({
    month: t.exposeString('month', { description: 'Such as `2026-10`.' }),
    timeZone: t.exposeString('timeZone', { description: 'Where it begins and ends.' }),
    revenueVnd: t.expose('revenueVnd', {
      type: 'VndAmount',
      description: 'Booked by the bank for orders. Can be negative: a match of an earlier month was undone.',
    }),
    used: t.expose('charged', { type: 'UsdAmount', description: 'What customers were charged.' }),
    usedOfPurchases: t.expose('chargedPaid', { type: 'UsdAmount', description: 'Of `used`: from bought budget.' }),
    usedOfTrials: t.expose('trialCost', { type: 'UsdAmount', description: 'Of `used`: from the budget of trials.' }),
    usedOfGiven: t.expose('chargedGiven', {
      type: 'UsdAmount',
      description: 'Of `used`: from what was given otherwise: by operators, as a bonus, for a code, as a refund.',
    }),
    unused: t.expose('unused', { type: 'UsdAmount', description: 'Bought budget that was left at the month’s end.' }),
    expired: t.expose('expired', { type: 'UsdAmount', description: 'Bought budget whose time was over.' }),
    shortfall: t.expose('shortfall', { type: 'UsdAmount', description: 'What budgets did not pay for.' }),
    upstreamCost: t.expose('upstreamCost', {
      type: 'UsdAmount',
      description: 'What the upstreams cost, over the requests whose cost is known.',
    }),
    unknownCharged: t.expose('unknownCharged', {
      type: 'UsdAmount',
      description: 'Of `used`: for requests whose cost is not known.',
    }),
    margin: t.expose('margin', {
      type: 'UsdAmount',
      description: 'used - unknownCharged - upstreamCost. Can be negative.',
    }),
  }),
});

const ClosedMonthType = builder.objectRef<ClosedMonth>('ClosedMonth').implement({
  description: 'A month whose figures never change again. What became known later is part of the month after it.',
  authScopes: { operator: true },
  interfaces: [MonthFiguresType],
  fields: (t) => ({
    closedBy: t.exposeString('closedBy', { description: 'Who closed it, as in the audit log.' }),
    closedAt: t.expose('closedAt', { type: 'DateTime', description: 'When.' }),
  }),
});

const MonthPreviewType = builder.objectRef<MonthPreview>('MonthPreview').implement({
  description: 'What a close of the next month would freeze, as known now.',
  authScopes: { operator: true },
  interfaces: [MonthFiguresType],
  fields: (t) => ({
    isOver: t.exposeBoolean('isOver', { description: 'Only a month that is over can be closed.' }),
  }),
});

/** A month such as `2026-10`, or an `InputError`. */
function checkMonth(month: string): string {
  if (!isMonth(month)) throw badInput('month', 'month is a month such as 2026-10.');
  return month;
}

const defaultZone = 'Asia/Ho_Chi_Minh';

function refuseZone(): never {
  throw badInput('timeZone', `timeZone is the IANA name of a time zone, such as ${defaultZone}.`);
}

/** A day such as `2026-10-31`, or an `InputError`. */
function checkDay(name: string, text: string): string {
  const at = /^20\d\d-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text)
    throw badInput(name, `${name} is a day such as 2026-10-31.`);
  return text;
}

builder.objectFields(OperatorType, (t) => ({
  vendorComparison: t.field({
    type: ComparisonPageType,
    description:
      'What vendors say they billed beside the ledger, by day (UTC) and model, for the days that an imported file has.',
    complexity: { field: 50, multiplier: 1 },
    args: {
      from: t.arg.string({ required: true, description: 'The first day, such as `2026-10-01`.' }),
      to: t.arg.string({ required: true, description: `The last day, at most ${maxComparedDays - 1} later.` }),
      upstream: t.arg.string({ description: 'Only this upstream.' }),
      differing: t.arg.boolean({ defaultValue: false, description: 'Only rows that differ.' }),
      first: t.arg.int({ description: 'At most so many rows.' }),
      after: t.arg.string({ description: 'Rows after this cursor.' }),
    },
    resolve: async (_operator, { upstream, differing, ...args }, { domains }): Promise<ComparisonPage> => {
      const [from, to] = [checkDay('from', args.from), checkDay('to', args.to)];
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
      if (days < 0 || days >= maxComparedDays)
        throw badInput('to', `to is not before from, and at most ${maxComparedDays - 1} days later.`);
      const limit = reportLength(args.first);
      const offset = reportOffset(args.after);
      const all = await domains.books.compare({ from, to, upstream: upstream ?? null }).catch((error: Error) => {
        throw error instanceof MonthArchived ? badInput('from', error.message) : error;
      });
      const differ = all.filter((row) => row.differs);
      const rows = differing === true ? differ : all;
      const end = offset + limit;
      return {
        ...offsetReport(rows.slice(offset, end), offset, end < rows.length),
        compared: all.length,
        differing: differ.length,
      };
    },
  }),
  vendorBills: t.field({
    type: [VendorBillsType],
    description: 'Upstreams in use, with the bills that were imported of each and the days without one.',
    complexity: { field: 20, multiplier: 20 },
    resolve: (_operator, _args, { domains }) => domains.books.bills(),
  }),
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
      const asked = { month: month == null ? null : checkMonth(month), timeZone: timeZone ?? defaultZone };
      const preview = await domains.books.previewMonth(asked).catch((error: Error) => {
        throw error instanceof MonthArchived ? badInput('month', error.message) : error;
      });
      return preview ?? refuseZone();
    },
  }),
  closedMonths: t.field({
    type: [ClosedMonthType],
    description: 'Every closed month, the newest first.',
    complexity: { field: 1, multiplier: 36 },
    resolve: async (_operator, _args, { domains }) => (await domains.books.closedMonths()).reverse(),
  }),
}));

/** A request of GraphQL has at most 100 KiB: larger files come in by the command line. */
const maxFileLength = 80_000;

const ImportVendorUsageInput = builder.inputType('ImportVendorUsageInput', {
  description: 'The file of a vendor’s usage page.',
  fields: (t) => ({
    upstream: t.string({ required: true, description: 'Id of the upstream that the vendor billed.' }),
    csv: t.string({
      required: true,
      description: `The text of the CSV file: OpenAI’s export of completions grouped by model, that of Anthropic’s console, or the columns \`day,model,requests,input,cache_hit,cache_write,output,cost_usd\`. At most ${maxFileLength} characters.`,
    }),
  }),
});

const VendorUsageImportedType = builder
  .objectRef<{ upstream: string; rows: number; from: string; to: string }>('VendorUsageImported')
  .implement({
    description: 'What was taken in of a vendor’s file.',
    authScopes: { operator: true },
    fields: (t) => ({
      upstream: t.exposeString('upstream', { description: 'Id of the upstream.' }),
      rows: t.exposeInt('rows', { description: 'Days and models.' }),
      from: t.exposeString('from', { description: 'The first day.' }),
      to: t.exposeString('to', { description: 'The last day.' }),
    }),
  });

builder.mutationField('importVendorUsage', (t) =>
  t.field({
    type: VendorUsageImportedType,
    description:
      'Takes in what a vendor says it billed; days that an earlier file had are replaced. A file that cannot be read as a whole is refused.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: ImportVendorUsageInput, required: true, description: 'Of whom, and what.' }) },
    resolve: async (_root, { input: { upstream, csv } }, { domains, principal }) => {
      if (csv.length > maxFileLength)
        throw badInput(
          'input.csv',
          `A file has at most ${maxFileLength} characters here; \`admin books import\` takes in a larger one.`,
        );
      const outcome = await domains.books.importUsage({ upstream, text: csv, actor: actorOf(principal) });
      if (outcome.kind === 'unknown_upstream') throw new NotFoundError('upstream');
      if (outcome.kind === 'empty') throw badInput('input.csv', 'The file has no usage.');
      if (outcome.kind === 'unreadable') throw badInput('input.csv', outcome.message);
      return { upstream, ...outcome.imported };
    },
  }),
);

builder.mutationField('closeMonth', (t) =>
  t.field({
    type: ClosedMonthType,
    description:
      'Freezes the figures of a month that is over. Months are closed one after the other; this cannot be undone.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, ConflictError] },
    args: {
      month: t.arg.string({ required: true, description: 'Such as `2026-10`.' }),
      timeZone: t.arg.string({
        defaultValue: defaultZone,
        description: 'Where the month begins and ends; after the first close, that of the close before is kept.',
      }),
    },
    resolve: async (_root, { month, timeZone }, { domains, principal }) => {
      const outcome = await domains.books.close({
        month: checkMonth(month),
        timeZone: timeZone ?? defaultZone,
        actor: actorOf(principal),
      });
      if (outcome.kind === 'bad_zone') return refuseZone();
      if (outcome.kind === 'archived') throw new ConflictError(outcome.message);
      if (outcome.kind === 'not_over') throw new ConflictError(`${month} is not over yet.`);
      if (outcome.kind === 'out_of_order')
        throw new ConflictError(`Months are closed one after the other; the next is ${outcome.next}.`);
      if (outcome.kind === 'closed_before')
        throw new ConflictError(`${month} was closed on ${outcome.month.closedAt.toISOString()}.`);
      return outcome.month;
    },
  }),
);

builder.mutationFields((t) => ({
  createClosedMonthsDownload: t.field({
    type: DownloadType,
    description: 'Makes a link to the closed months as CSV for an accountant.',
    authScopes: { operator: true },
    errors: { types: [BusyError] },
    resolve: (_root, _args, { domains }) => domains.booksLinks.link('closed_months'),
  }),
  createBooksDownload: t.field({
    type: DownloadType,
    description: 'Makes a link to the closed months as CSV for an accountant.',
    deprecationReason: 'Use `createClosedMonthsDownload`, which answers with a union like every other mutation.',
    authScopes: { operator: true },
    resolve: (_root, _args, { domains }) => domains.booksLinks.link('closed_months'),
  }),
}));
