import { MonthArchived } from '../../billing/archive/archived-months.ts';
import { type ComparisonTotal, maxComparedDays, type VendorComparison } from '../../books/bill-comparison.ts';
import type { VendorBills } from '../../books/missing-bills.ts';
import type { UsageSide } from '../../books/vendor-csv.ts';
import type { VendorFileVersion, VendorImported } from '../../books/vendor-files.ts';
import { actorOf } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import type { Domains } from '../domains.ts';
import { OperatorType } from '../operator/operator.ts';
import {
  offsetReport,
  pageFields,
  pageFromStart,
  type Report,
  reportEdge,
  reportLength,
  reportOffset,
  rowsText,
} from '../reports.ts';
import { badInput, InputError, NotFoundError } from '../types/errors.ts';

/** Vendors' bills beside the ledger, for operators. */

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

const BillCauseType = builder.enumType('BillCause', {
  description: 'Why a vendor’s bill may differ from the ledger.',
  values: {
    COST_UNKNOWN: { value: 'cost_unknown', description: 'The route does not say what requests cost.' },
    MISSING_MODEL: { value: 'missing_model', description: 'One side has nothing of the model.' },
    COUNTED_TWICE: {
      value: 'counted_twice',
      description: 'One side has a multiple of the other, or what was cached is new input as well.',
    },
    PRICE: { value: 'price', description: 'Equal tokens at another price.' },
    TIME_ZONE: { value: 'time_zone', description: 'The day beside it makes up for it.' },
    UNPAID: { value: 'unpaid', description: 'Requests without usage are billed.' },
    ESTIMATED: { value: 'estimated', description: 'Tokens of the ledger are estimates.' },
  } as const,
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
      description: 'How far the figures are apart that are furthest: 0.5 is half of the larger one.',
    }),
    differs: t.exposeBoolean('differs', {
      description:
        'Further apart than the `billPercent` of the settings of operators’ notices, and than 20 tokens or a ten-thousandth of a USD.',
    }),
    unknown: t.expose('unknown', {
      type: 'BigInt',
      description: 'Requests of the ledger whose cost is not known; `ledger.cost` is that of the others.',
    }),
    unpaid: t.expose('unpaid', {
      type: 'BigInt',
      description: 'Requests that reached the vendor and brought no usage: nobody paid for them.',
    }),
    causes: t.field({
      type: [BillCauseType],
      description: 'Why it may differ, the likeliest first.',
      resolve: ({ causes }) => causes,
    }),
    requests: t.stringList({
      description: 'Ids of the requests behind a cause, the newest first, at most 100.',
      complexity: 50,
      args: { cause: t.arg({ type: BillCauseType, required: true, description: 'Which cause.' }) },
      resolve: async ({ upstream, day, model }, { cause }, { domains }) =>
        (await domains.books.requestsBehind({ upstream, day, model, cause })).map(({ requestId }) => requestId),
    }),
  }),
});

interface ComparisonPage extends Report<VendorComparison> {
  totals: ComparisonTotal[];
  compared: number;
  differing: number;
}

const ComparisonTotalType = builder.objectRef<ComparisonTotal>('VendorComparisonTotal').implement({
  description: 'The sums of a vendor over the period, on the days that its bills have.',
  authScopes: { operator: true },
  fields: (t) => ({
    upstream: t.exposeString('upstream', { description: 'Id of the upstream.' }),
    vendor: t.field({ type: ComparedUsageType, description: 'Its bills.', resolve: ({ vendor }) => vendor }),
    ledger: t.field({ type: ComparedUsageType, description: 'The ledger.', resolve: ({ ledger }) => ledger }),
    credits: t.expose('credits', { type: 'UsdAmount', description: 'What it credited: zero or below.' }),
    unknown: t.expose('unknown', {
      type: 'BigInt',
      description: 'Requests of the ledger whose cost is not known; `ledger.cost` is that of the others.',
    }),
    apart: t.exposeFloat('apart', { description: 'As that of a row.' }),
    differs: t.exposeBoolean('differs', { description: 'As that of a row.' }),
  }),
});

const ComparisonPageType = builder.objectRef<ComparisonPage>('VendorComparisonConnection').implement({
  authScopes: { operator: true },
  fields: (t) => ({
    ...pageFields<VendorComparison>(t as never, {
      row: VendorComparisonType,
      edge: reportEdge('VendorComparisonEdge', VendorComparisonType),
    }),
    compared: t.exposeInt('compared', { description: 'Days and models that were compared.' }),
    differing: t.exposeInt('differing', { description: 'How many of them differ.' }),
    totals: t.field({
      type: [ComparisonTotalType],
      description: 'The sums by upstream.',
      resolve: ({ totals }) => totals,
    }),
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
      'What vendors say they billed beside the ledger, by day (UTC), the newest first, upstream and model, for the days that an imported file has.',
    complexity: { field: 50, multiplier: 1 },
    args: {
      from: t.arg.string({ required: true, description: 'The first day, such as `2026-10-01`.' }),
      to: t.arg.string({ required: true, description: `The last day, at most ${maxComparedDays - 1} later.` }),
      upstream: t.arg.string({ description: 'Only this upstream.' }),
      differing: t.arg.boolean({ defaultValue: false, description: 'Only rows that differ.' }),
      first: t.arg.int({ description: rowsText }),
      after: t.arg.string(),
    },
    resolve: async (_operator, { upstream, differing, ...args }, { domains }): Promise<ComparisonPage> => {
      const [from, to] = [checkDay('from', args.from), checkDay('to', args.to)];
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
      if (days < 0 || days >= maxComparedDays)
        throw badInput('to', `to is not before from, and at most ${maxComparedDays - 1} days later.`);
      const limit = reportLength(args.first);
      const offset = reportOffset(args.after);
      const { rows: all, totals } = await domains.books
        .compare({ from, to, upstream: upstream ?? null })
        .catch((error: Error) => {
          throw error instanceof MonthArchived ? badInput('from', error.message) : error;
        });
      const differ = all.filter((row) => row.differs);
      const rows = differing === true ? differ : all;
      const end = offset + limit;
      return {
        ...offsetReport(rows.slice(offset, end), offset, end < rows.length),
        compared: all.length,
        differing: differ.length,
        totals,
      };
    },
  }),
  vendorBills: t.field({
    type: [VendorBillsType],
    description: 'Upstreams in use, with the bills that were imported of each and the days without one.',
    complexity: { field: 20, multiplier: 20 },
    resolve: (_operator, _args, { domains }) => domains.books.bills(),
  }),
}));

/** A request of GraphQL has at most 100 KiB: larger files come in by the command line. */
const maxFileLength = 80_000;

const ImportVendorUsageInput = builder.inputType('ImportVendorUsageInput', {
  fields: (t) => ({
    upstream: t.string({ required: true, description: 'Id of the upstream that the vendor billed.' }),
    csv: t.string({
      required: true,
      description: `The text of the CSV file: OpenAI’s export of completions grouped by model, that of Anthropic’s console, or the columns \`day,model,requests,input,cache_hit,cache_write,output,cost_usd\`. At most ${maxFileLength} characters.`,
    }),
    add: t.boolean({ description: 'Only its own days and models are replaced, instead of its whole period.' }),
    confirmed: t.boolean({ description: 'What earlier files had of the period, and this one has not, may go.' }),
  }),
});

const VendorFileType = builder.objectRef<VendorFileVersion>('VendorFile').implement({
  description: 'A file of a vendor that was imported.',
  authScopes: { operator: true },
  fields: (t) => ({
    fileId: t.exposeString('id', { description: 'With which it is taken back.' }),
    upstream: t.exposeString('upstream', { description: 'Id of the upstream.' }),
    version: t.exposeInt('version', { description: 'Counts the files of the upstream.' }),
    from: t.exposeString('from', { description: 'The first day.' }),
    to: t.exposeString('to', { description: 'The last day.' }),
    rows: t.exposeInt('rows', { description: 'Days and models.' }),
    importedBy: t.exposeString('importedBy', { description: 'Who imported it, as in the audit log.' }),
    importedAt: t.expose('importedAt', { type: 'DateTime', description: 'When.' }),
    undoneAt: t.expose('undoneAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was taken back; null: it counts.',
    }),
  }),
});

const VendorUsageImportedType = builder
  .objectRef<Pick<VendorImported, 'replaced' | 'emptyDays'> & { file: VendorFileVersion }>('VendorUsageImported')
  .implement({
    description: 'What was taken in of a vendor’s file.',
    authScopes: { operator: true },
    fields: (t) => ({
      file: t.expose('file', { type: VendorFileType, description: 'The file.' }),
      replaced: t.int({
        description: 'Days and models of earlier files that it changes.',
        resolve: ({ replaced }) => replaced.length,
      }),
      emptyDays: t.exposeStringList('emptyDays', { description: 'Days of its period without a line.' }),
    }),
  });

const vendorFileEdge = reportEdge('VendorFileEdge', VendorFileType);
const VendorFilePageType = builder.objectRef<Report<VendorFileVersion>>('VendorFileConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: VendorFileType, edge: vendorFileEdge }),
});

builder.objectField(OperatorType, 'vendorFiles', (t) =>
  t.field({
    type: VendorFilePageType,
    description: 'Files of vendors that were imported, the newest first.',
    args: {
      upstream: t.arg.string({ description: 'Only this upstream.' }),
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: (_operator, { upstream, ...page }, { domains }) =>
      pageFromStart(page, (limit) => domains.books.files({ upstream: upstream ?? null, limit })),
  }),
);

/** A file of an upstream, as it counts now. */
async function fileOf({ books }: Pick<Domains, 'books'>, upstream: string, fileId: string): Promise<VendorFileVersion> {
  const file = (await books.files({ upstream, limit: 1_000 })).find(({ id }) => id === fileId);
  if (file === undefined) throw new NotFoundError('file');
  return file;
}

builder.mutationField('undoVendorImport', (t) =>
  t.field({
    type: VendorFileType,
    description: 'Takes an imported file back: what counts is what the other files say.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError] },
    args: {
      fileId: t.arg.string({ required: true }),
    },
    resolve: async (_root, { fileId }, { domains, principal }) => {
      const undone = await domains.books.undoImport({ fileId, actor: actorOf(principal) });
      if (undone === null) throw new NotFoundError('file');
      return fileOf(domains, undone.upstream, fileId);
    },
  }),
);

builder.mutationField('importVendorUsage', (t) =>
  t.field({
    type: VendorUsageImportedType,
    description:
      'Takes in what a vendor says it billed; a file stands for its whole period, or (`add`) for its own days and models alone. What earlier files had and would be gone has to be `confirmed`. A file that cannot be read as a whole is refused.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: ImportVendorUsageInput, required: true }) },
    resolve: async (_root, { input: { upstream, csv, add, confirmed } }, { domains, principal }) => {
      if (csv.length > maxFileLength)
        throw badInput(
          'input.csv',
          `A file has at most ${maxFileLength} characters here; \`admin books import\` takes in a larger one.`,
        );
      const outcome = await domains.books.importUsage({
        upstream,
        text: csv,
        actor: actorOf(principal),
        add: add ?? false,
        confirmed: confirmed ?? false,
      });
      if (outcome.kind === 'unknown_upstream') throw new NotFoundError('upstream');
      if (outcome.kind === 'empty') throw badInput('input.csv', 'The file has no usage.');
      if (outcome.kind === 'unreadable') throw badInput('input.csv', outcome.message);
      if (outcome.kind === 'known')
        throw badInput('input.csv', `This file was imported before, as version ${outcome.version}.`);
      if (outcome.kind === 'would_remove')
        throw badInput(
          'input.confirmed',
          `Earlier files have what this one has not: ${outcome.removed
            .slice(0, 10)
            .map(({ day, model }) => `${day} ${model}`)
            .join(', ')}.`,
        );
      const { id, replaced, emptyDays } = outcome.imported;
      return { file: await fileOf(domains, upstream, id), replaced, emptyDays };
    },
  }),
);
