import { BadCursor, failedOutcomes, readUsage, type UsageRecord, usageCursor } from '../../billing/reads/usage.ts';
import type { Outcome } from '../../core/outcome.ts';
import { decodeUuid } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { loadProjects, ProjectType } from '../accounts/projects.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { ApiKeyType, KeyMakerType, loadKeys, loadMakers } from '../keys/keys.ts';
import { OperatorType } from '../operator/operator.ts';
import { pageFields, type Report, reportEdge, reportLength, rowsText } from '../reports.ts';
import { badInput } from '../types/errors.ts';
import { checkRange } from '../types/ranges.ts';
import { OutcomeType, TokensType } from './ledger.ts';

/** Usage totals, from the hourly rows that are exact to the ledger at every commit. One query a chart. */

export const UsagePeriod = builder.enumType('UsagePeriod', {
  description: 'How long the periods of a chart are.',
  values: {
    HOUR: { value: 'hour', description: 'Hours.' },
    DAY: { value: 'day', description: 'Days.' },
    MONTH: { value: 'month', description: 'Months.' },
  } as const,
});

export const UsageGroup = builder.enumType('UsageGroup', {
  description: 'What usage is split by besides time.',
  values: {
    MODEL: { value: 'model', description: 'By model.' },
    KEY: { value: 'key', description: 'By key.' },
    PROJECT: { value: 'project', description: 'By the project in which the key lies now.' },
    MAKER: { value: 'maker', description: 'By the person who made the key.' },
    OUTCOME: { value: 'outcome', description: 'By how requests ended.' },
  } as const,
});

export const UsageOrderType = builder.enumType('UsageOrder', {
  description: 'Which rows of usage come first.',
  values: {
    TIME: { value: 'time', description: 'Those of the newest period, or that were used last.' },
    COST: { value: 'cost', description: 'Those that were charged most; of `usage` only without periods.' },
  } as const,
});

/** Usage with the account that it is of. */
type UsageRowRecord = UsageRecord & { accountId: string };

export const UsageRowType = builder.objectRef<UsageRowRecord>('UsageRow').implement({
  description: 'Usage of one period, and of what it is split by.',
  authScopes: { public: true },
  fields: (t) => ({
    start: t.expose('start', {
      type: 'DateTime',
      nullable: true,
      description: 'When the period begins; null without periods.',
    }),
    model: t.exposeString('model', { nullable: true, description: 'Catalog id; null when not split by model.' }),
    key: t.loadable({
      type: ApiKeyType,
      nullable: true,
      description: 'The key; null when not split by key.',
      load: loadKeys,
      resolve: ({ keyId }) => keyId,
    }),
    project: t.loadable({
      type: ProjectType,
      nullable: true,
      description: 'The project; null for keys that lie in none, and when not split by project.',
      load: loadProjects,
      resolve: ({ projectId }) => projectId,
    }),
    maker: t.loadable({
      type: KeyMakerType,
      nullable: true,
      description: 'Who made the key; null where nobody knows, and when not split by maker.',
      load: (refs: string[], context: GraphqlContext) => loadMakers(refs, context),
      resolve: ({ accountId, makerId }) => (makerId === null ? null : `${accountId}/${makerId}`),
    }),
    outcome: t.expose('outcome', {
      type: OutcomeType,
      nullable: true,
      description: 'How the requests ended; null when not split by outcome.',
    }),
    isRest: t.exposeBoolean('isRest', {
      description:
        'Whether it is what is left beside the groups of `most`, added up: of no model, key, project, maker and outcome.',
    }),
    requests: t.field({ type: 'BigInt', description: 'Finished requests.', resolve: (row) => BigInt(row.requests) }),
    failures: t.field({
      type: 'BigInt',
      description: 'How many of them did not end well.',
      resolve: (row) => BigInt(row.failures),
    }),
    tokens: t.field({ type: TokensType, description: 'Tokens by pool.', resolve: (row) => row }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What was taken from the budget.' }),
  }),
});

export const UsagePageType = builder.objectRef<Report<UsageRowRecord>>('UsageRowConnection').implement({
  authScopes: { public: true },
  fields: (t) =>
    pageFields(t, {
      row: UsageRowType,
      edge: reportEdge('UsageRowEdge', UsageRowType),
    }),
});

/** Usage is kept by the hour (UTC): a chart covers whole hours. */
export const hoursFrom = 'Hours that begin at this moment or later: usage is added up from whole hours (UTC).';
export const hoursTo = 'Hours that begin before this moment.';
export const zoneOf = 'Where days and months begin. An hour belongs to the day in which it begins.';

const maxHourlyRange = 92 * 86_400_000;

/** Groups of a chart at most: more lines than anybody tells apart. */
const maxGroups = 50;

export interface UsageArguments {
  from?: Date | null | undefined;
  to?: Date | null | undefined;
  period?: 'hour' | 'day' | 'month' | null | undefined;
  by?: ('model' | 'key' | 'project' | 'maker' | 'outcome')[] | null | undefined;
  model?: string | null | undefined;
  keyId?: string | null | undefined;
  outcomes?: Outcome[] | null | undefined;
  timeZone?: string | null | undefined;
  most?: number | null | undefined;
  order?: 'time' | 'cost' | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/** Arguments of a chart in the form of the usage query; throws an `InputError` for unusable ones. */
export function usageQuery(args: UsageArguments) {
  const { from, to, period, by, model, keyId, outcomes, timeZone, most, order, first, after } = args;
  const limit = reportLength(first);
  const zone = checkZone(timeZone ?? 'UTC');
  checkRange({ from, to }, 'to');
  const span = (to ?? new Date()).getTime() - (from ?? new Date(0)).getTime();
  if (period === 'hour' && span > maxHourlyRange)
    throw badInput('from', 'Hours can be asked for 92 days at once: give a `from` that is closer to `to`.');
  if (typeof most === 'number' && (most < 1 || most > maxGroups)) throw badInput('most', `most is 1 to ${maxGroups}.`);
  const isDearestFirst = order === 'cost';
  if (isDearestFirst && period != null)
    throw badInput('order', 'Rows of periods are sorted by time: leave out `period`.');
  return {
    most: most ?? null,
    dearestFirst: isDearestFirst,
    from: from ?? null,
    to: to ?? null,
    period: period ?? null,
    byModel: by?.includes('model') ?? false,
    byKey: by?.includes('key') ?? false,
    byProject: by?.includes('project') ?? false,
    byMaker: by?.includes('maker') ?? false,
    byOutcome: by?.includes('outcome') ?? false,
    model: model ?? null,
    keyId:
      keyId === null || keyId === undefined
        ? null
        : (decodeUuid('ApiKey', keyId) ?? '00000000-0000-0000-0000-000000000000'),
    outcomes: outcomes ?? null,
    timeZone: zone,
    limit,
    after: after ?? null,
  };
}

const badZone = () => badInput('timeZone', 'timeZone is the name of a zone, such as Asia/Ho_Chi_Minh.');

/** The zone, or an `InputError` for a name that is none. */
export function checkZone(zone: string): string {
  if (!isTimeZone(zone)) throw badZone();
  return zone;
}

/** Refuses malformed names at once; the database, which computes with the zone, decides on the rest (`checkedUsage`). */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** PostgreSQL: invalid parameter value. The zone is the only parameter that only the database can check. */
const invalidParameter = '22023';

/** Runs a usage query; an invalid cursor or zone is an error of the client. */
export async function checkedUsage<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof BadCursor) throw badInput('after', 'This is not a cursor of this list.');
    if (error instanceof Error && 'code' in error && error.code === invalidParameter) throw badZone();
    throw error;
  }
}

builder.prismaObjectFields(AccountType, (t) => ({
  usage: t.field({
    type: UsagePageType,
    description: 'Usage added up for a chart: the newest period first, then by model, key, outcome, project and maker.',
    select: { id: true },
    // Hours are added up, however few rows come of them.
    complexity: { field: 200, multiplier: 1 },
    args: {
      from: t.arg({ type: 'DateTime', description: hoursFrom }),
      to: t.arg({ type: 'DateTime', description: hoursTo }),
      period: t.arg({ type: UsagePeriod, description: 'How long the periods are; left out: one for all time.' }),
      by: t.arg({ type: [UsageGroup], description: 'What to split by besides time.' }),
      model: t.arg.string({ description: 'Only this catalog id.' }),
      keyId: t.arg.id({ description: 'Only this key.' }),
      outcomes: t.arg({
        type: [OutcomeType],
        description: 'Only requests that ended in one of these ways; left out: all.',
      }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: zoneOf }),
      most: t.arg.int({
        description: `Split into at most so many groups, those that were charged most over the whole time; the rest of each period is one row. 1 to ${maxGroups}; left out: every group.`,
      }),
      order: t.arg({ type: UsageOrderType, defaultValue: 'time', description: 'Which rows come first.' }),
      first: t.arg.int({ description: rowsText }),
      after: t.arg.string(),
    },
    resolve: ({ id }, args, { history }) =>
      checkedUsage(async () => {
        const query = usageQuery(args);
        const { items, next } = await readUsage(history, { accountId: id, ...query });
        const cursorOf = (row: UsageRecord) => usageCursor(row, { isDearestFirst: query.dearestFirst });
        const rows = items.map((row) => ({ ...row, accountId: id }));
        return { rows, hasMore: next !== null, isLater: args.after != null, cursorOf };
      }),
  }),
}));

const FailureCountType = builder.objectRef<UsageRecord>('FailureCount').implement({
  description: 'Requests of customers that failed in one period, in one way.',
  authScopes: { operator: true },
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', nullable: true, description: 'When the period begins.' }),
    outcome: t.expose('outcome', { type: OutcomeType, nullable: true, description: 'How they ended.' }),
    failures: t.field({ type: 'BigInt', description: 'How many.', resolve: ({ failures }) => BigInt(failures) }),
  }),
});

/** Periods of each way to fail: 92 days of hours are fewer. */
const maxFailureRows = 20_000;

builder.objectField(OperatorType, 'failures', (t) =>
  t.field({
    type: [FailureCountType],
    description: 'Requests of all customers that failed, by how they ended: the newest period first.',
    complexity: { field: 200, multiplier: 1 },
    args: {
      from: t.arg({ type: 'DateTime', required: true, description: hoursFrom }),
      to: t.arg({ type: 'DateTime', description: hoursTo }),
      period: t.arg({ type: UsagePeriod, required: true, description: 'How long the periods are.' }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: zoneOf }),
    },
    resolve: (_operator, args, { history }) =>
      checkedUsage(async () => {
        const query = usageQuery({ ...args, by: ['outcome'], outcomes: [...failedOutcomes] });
        const all = { ...query, accountId: null, kind: 'customer', limit: maxFailureRows } as const;
        return (await readUsage(history, all)).items;
      }),
  }),
);
