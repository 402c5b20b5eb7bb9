import { isCostUnknown, type MarginRecord, marginOf, readMargins } from '../../billing/margins.ts';
import { readUsage, type UsageRecord, usageCursor } from '../../billing/usage.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { offsetReport, type Report, reportEdge, reportFields, reportOffset } from '../reports.ts';
import { TokensType } from './ledger.ts';
import { checkedUsage, hoursFrom, hoursTo, UsagePeriod, usageQuery, zoneOf } from './usage.ts';

/** Revenue and margins for operators: customers' charges and upstreams' costs. */

/** A row of usage with what is known of its margin; null: the hours have no margins. */
type RevenueRecord = UsageRecord & { margin: MarginRecord | null };

export const RevenueRowType = builder.objectRef<RevenueRecord>('RevenueRow').implement({
  description: 'What came in and went out in a period, by model.',
  authScopes: { operator: true },
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', nullable: true, description: 'When the period begins.' }),
    model: t.exposeString('model', { nullable: true, description: 'Catalog id.' }),
    requests: t.field({ type: 'BigInt', description: 'Finished requests.', resolve: (row) => BigInt(row.requests) }),
    failures: t.field({
      type: 'BigInt',
      description: 'How many of them did not end well.',
      resolve: (row) => BigInt(row.failures),
    }),
    tokens: t.field({
      type: TokensType,
      description: 'Tokens by pool: what other prices would have brought in follows from them.',
      resolve: (row) => row,
    }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What accounts were charged.' }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'What they would have been charged with enough budget.' }),
    shortfall: t.field({
      type: 'UsdAmount',
      description: 'cost - charged.',
      resolve: (row) => row.cost - row.charged,
    }),
    upstreamCost: t.expose('upstreamCost', {
      type: 'UsdAmount',
      description: 'What the upstreams cost, where the routes say so.',
    }),
    margin: t.field({
      type: 'UsdAmount',
      description: 'As `knownMargin`, and 0 where nothing is known.',
      deprecationReason: 'Use `knownMargin`, which is null where it is unknown.',
      resolve: ({ margin }) => (margin === null ? 0n : (marginOf(margin) ?? 0n)),
    }),
    knownMargin: t.field({
      type: 'UsdAmount',
      nullable: true,
      description:
        'What is left of what accounts were charged, over the requests whose cost is known: charged - unknownCharged - upstreamCost. Can be negative; null: the cost of none is known.',
      resolve: ({ margin }) => (margin === null ? null : marginOf(margin)),
    }),
    unknownRequests: t.field({
      type: 'BigInt',
      description: 'Requests on routes that do not say what they cost: they have no margin.',
      resolve: ({ margin, requests }) => margin?.unknownRequests ?? BigInt(requests),
    }),
    unknownCharged: t.field({
      type: 'UsdAmount',
      description: 'What accounts were charged for them.',
      resolve: ({ margin, charged }) => margin?.unknownCharged ?? charged,
    }),
  }),
});

const RevenuePageType = builder.objectRef<Report<RevenueRecord>>('RevenuePage').implement({
  description: 'Rows of the revenue table.',
  authScopes: { operator: true },
  fields: (t) =>
    reportFields(t, {
      row: RevenueRowType,
      edge: reportEdge('RevenuePageEdge', RevenueRowType),
      order: 'Newest period first, then by model.',
    }),
});

builder.objectFields(OperatorType, (t) => ({
  revenue: t.field({
    type: RevenuePageType,
    description:
      'What customers were charged, what upstreams cost, what is left, by period and model. Uptime is measured with an account of its own, which is not among them.',
    args: {
      from: t.arg({ type: 'DateTime', description: hoursFrom }),
      to: t.arg({ type: 'DateTime', description: hoursTo }),
      period: t.arg({ type: UsagePeriod, defaultValue: 'day', description: 'How long the periods are.' }),
      model: t.arg.string({ description: 'Only this catalog id.' }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: zoneOf }),
      probes: t.arg.boolean({ defaultValue: false, description: 'What measuring uptime used, instead of customers.' }),
      first: t.arg.int({ description: 'At most so many rows.' }),
      after: t.arg.string({ description: 'Rows after this cursor.' }),
    },
    resolve: (_operator, { probes, ...args }, { history }) =>
      checkedUsage(async () => {
        const kind = probes === true ? ('probe' as const) : ('customer' as const);
        const query = usageQuery({ ...args, by: ['model'] });
        const [{ items, next }, margins] = await Promise.all([
          readUsage(history, { accountId: null, kind, ...query }),
          marginsOf(history, { kind, ...query }),
        ]);
        return {
          rows: withMargins(items, margins),
          hasMore: next !== null,
          isLater: args.after != null,
          cursorOf: usageCursor,
        };
      }),
  }),
}));

/** The margins of all periods and models that rows of the query can have. */
async function marginsOf(
  db: GraphqlContext['history'],
  query: ReturnType<typeof usageQuery> & { kind: 'customer' | 'probe' },
): Promise<MarginRecord[]> {
  const { kind, from, to, period, model, timeZone } = query;
  const { items } = await readMargins(db, {
    kind,
    from,
    to,
    period,
    model,
    timeZone,
    byModel: true,
    byUpstream: false,
    byAccount: false,
    upstream: null,
    accountId: null,
    limit: 100_000,
    offset: 0,
  });
  return items;
}

/** Adds the margins of the same periods and models. */
function withMargins(rows: readonly UsageRecord[], items: readonly MarginRecord[]): RevenueRecord[] {
  const keyOf = (row: Pick<UsageRecord, 'start' | 'model'>): string =>
    `${row.start?.toISOString() ?? ''} ${row.model ?? ''}`;
  const margins = new Map(items.map((item) => [keyOf(item), item]));
  return rows.map((row) => ({ ...row, margin: margins.get(keyOf(row)) ?? null }));
}

const MarginGroup = builder.enumType('MarginGroup', {
  description: 'What margins are split by besides time.',
  values: {
    MODEL: { value: 'model', description: 'By model.' },
    UPSTREAM: { value: 'upstream', description: 'By upstream.' },
    ACCOUNT: { value: 'account', description: 'By account.' },
  } as const,
});

const MarginRowType = builder.objectRef<MarginRecord>('MarginRow').implement({
  description: 'What came in, what the upstreams cost, and what is left of it.',
  authScopes: { operator: true },
  fields: (t) => ({
    start: t.expose('start', {
      type: 'DateTime',
      nullable: true,
      description: 'When the period begins; null without periods.',
    }),
    model: t.exposeString('model', { nullable: true, description: 'Catalog id; null when not split by model.' }),
    upstream: t.exposeString('upstream', {
      nullable: true,
      description: 'Id of the upstream; null when not split by upstream.',
    }),
    account: t.loadable({
      type: AccountType,
      nullable: true,
      description: 'The account; null when not split by account.',
      load: loadAccounts,
      resolve: ({ accountId }) => accountId,
    }),
    requests: t.expose('requests', { type: 'BigInt', description: 'Finished requests.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What accounts were charged.' }),
    shortfall: t.field({
      type: 'UsdAmount',
      description: 'What budgets did not pay for: it is no income.',
      resolve: (row) => row.cost - row.charged,
    }),
    upstreamCost: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'What the upstreams cost, over the requests whose cost is known; null: it is known of none.',
      resolve: (row) => (isCostUnknown(row) ? null : row.upstreamCost),
    }),
    unknownRequests: t.expose('unknownRequests', {
      type: 'BigInt',
      description: 'Requests on routes that do not say what they cost: they have no margin.',
    }),
    unknownCharged: t.expose('unknownCharged', {
      type: 'UsdAmount',
      description: 'What accounts were charged for them.',
    }),
    margin: t.field({
      type: 'UsdAmount',
      nullable: true,
      description:
        'charged - unknownCharged - upstreamCost: what is left, over the requests whose cost is known. Can be negative; null: it is known of none.',
      resolve: marginOf,
    }),
  }),
});

const MarginPageType = builder.objectRef<Report<MarginRecord>>('MarginPage').implement({
  description: 'Rows of the margins.',
  authScopes: { operator: true },
  fields: (t) =>
    reportFields(t, {
      row: MarginRowType,
      edge: reportEdge('MarginPageEdge', MarginRowType),
      order: 'Newest period first, then by what was charged.',
    }),
});

builder.objectFields(OperatorType, (t) => ({
  margins: t.field({
    type: MarginPageType,
    description:
      'What is left of what customers were charged, by period, model, upstream and account. Where a route does not say what it costs, the margin is unknown.',
    args: {
      from: t.arg({ type: 'DateTime', description: hoursFrom }),
      to: t.arg({ type: 'DateTime', description: hoursTo }),
      period: t.arg({ type: UsagePeriod, description: 'How long the periods are; left out: one for all time.' }),
      by: t.arg({ type: [MarginGroup], description: 'What to split by besides time.' }),
      model: t.arg.string({ description: 'Only this catalog id.' }),
      upstream: t.arg.string({ description: 'Only this upstream.' }),
      accountId: t.arg.id({ description: 'Only this account.' }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: zoneOf }),
      probes: t.arg.boolean({ defaultValue: false, description: 'What measuring uptime used, instead of customers.' }),
      first: t.arg.int({ description: 'At most so many rows.' }),
      after: t.arg.string({ description: 'Rows after this cursor.' }),
    },
    resolve: (_operator, { by, upstream, accountId, probes, after, ...args }, { history }) =>
      checkedUsage(async () => {
        const { from, to, period, model, timeZone, limit } = usageQuery(args);
        const offset = reportOffset(after);
        const { items, more } = await readMargins(history, {
          from,
          to,
          period,
          model,
          timeZone,
          limit,
          offset,
          kind: probes === true ? 'probe' : 'customer',
          byModel: by?.includes('model') ?? false,
          byUpstream: by?.includes('upstream') ?? false,
          byAccount: by?.includes('account') ?? false,
          upstream: upstream ?? null,
          accountId: typeof accountId === 'string' ? (decodeUuid('Account', accountId) ?? noSuchId) : null,
        });
        return offsetReport(items, offset, more);
      }),
  }),
}));
