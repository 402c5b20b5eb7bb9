import { readUsage, type UsageRecord } from '../../billing/reads/usage.ts';
import { isCostUnknown, type MarginRecord, marginOf, readMargins } from '../../books/margins.ts';
import type { TokenPools } from '../../core/tokens.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder, type ObjectFields } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { offsetReport, pageFields, type Report, reportEdge, reportOffset, rowsText } from '../reports.ts';
import { TokensType } from './ledger.ts';
import { checkedUsage, hoursFrom, hoursTo, UsagePeriod, usageQuery, zoneOf } from './usage.ts';

/** Revenue and margins for operators: customers' charges and upstreams' costs. */

function boughtFields(t: ObjectFields<MarginRecord>) {
  return {
    bought: t.expose('bought', {
      type: 'UsdAmount',
      nullable: true,
      description: 'Of `charged`: from bought budget, which alone is income; null: a month of it is in an archive.',
    }),
    unknownBought: t.expose('unknownBought', {
      type: 'UsdAmount',
      nullable: true,
      description: 'Of `bought`: for requests at unknown cost, which are in no margin; null as `bought` is.',
    }),
  };
}

function unknownFields(t: ObjectFields<MarginRecord>) {
  return {
    unknownRequests: t.expose('unknownRequests', {
      type: 'BigInt',
      description: 'Of `requests`: those on routes that do not say what they cost. They are in no margin.',
    }),
    unknownCharged: t.expose('unknownCharged', {
      type: 'UsdAmount',
      description: 'Of `charged`: what accounts were charged for them.',
    }),
  };
}

/**
 * A row of the margins, the one source of every sum of money and requests, with what only the hourly usage has: tokens, and
 * how many requests failed.
 */
type RevenueRecord = MarginRecord & { usage: Pick<UsageRecord, 'failures' | keyof TokenPools> };

export const RevenueRowType = builder.objectRef<RevenueRecord>('RevenueRow').implement({
  description: 'What came in and went out in a period, by model.',
  authScopes: { operator: true },
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', nullable: true, description: 'When the period begins.' }),
    model: t.exposeString('model', { nullable: true, description: 'Catalog id.' }),
    requests: t.expose('requests', { type: 'BigInt', description: 'Finished requests.' }),
    failures: t.field({
      type: 'BigInt',
      description: 'How many of them did not end well.',
      resolve: ({ usage }) => BigInt(usage.failures),
    }),
    tokens: t.field({
      type: TokensType,
      description: 'Tokens by pool: what other prices would have brought in follows from them.',
      resolve: ({ usage }) => usage,
    }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What accounts were charged.' }),
    ...boughtFields(t),
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
      nullable: true,
      description:
        'bought - unknownBought - upstreamCost: trials, gifts and bonuses are no income. Can be negative; null: not known.',
      resolve: marginOf,
    }),
    ...unknownFields(t),
  }),
});

const RevenuePageType = builder.objectRef<Report<RevenueRecord>>('RevenueRowConnection').implement({
  authScopes: { operator: true },
  fields: (t) =>
    pageFields(t, {
      row: RevenueRowType,
      edge: reportEdge('RevenueRowEdge', RevenueRowType),
    }),
});

builder.objectFields(OperatorType, (t) => ({
  revenue: t.field({
    type: RevenuePageType,
    description:
      'What customers were charged, what upstreams cost, what is left, by period and model: the newest period first, then by what was charged. Uptime is measured with an account of its own, which is not among them.',
    args: {
      from: t.arg({ type: 'DateTime', description: hoursFrom }),
      to: t.arg({ type: 'DateTime', description: hoursTo }),
      period: t.arg({ type: UsagePeriod, defaultValue: 'day', description: 'How long the periods are.' }),
      model: t.arg.string({ description: 'Only this catalog id.' }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: zoneOf }),
      probes: t.arg.boolean({ defaultValue: false, description: 'What measuring uptime used, instead of customers.' }),
      first: t.arg.int({ description: rowsText }),
      after: t.arg.string(),
    },
    resolve: (_operator, { probes, ...args }, { history }) =>
      checkedUsage(async () => {
        const kind = probes === true ? ('probe' as const) : ('customer' as const);
        const query = { kind, ...usageQuery({ ...args, by: ['model'], after: null }) };
        const offset = reportOffset(args.after);
        const [{ items, more }, usage] = await Promise.all([
          readMargins(history, { ...query, ...everything, byModel: true, offset }),
          readUsage(history, { accountId: null, ...query, limit: maxUsageRows }),
        ]);
        return offsetReport(withUsage(items, usage.items), offset, more);
      }),
  }),
}));

const everything = { byModel: false, byUpstream: false, byAccount: false, upstream: null, accountId: null };

/** Rows of usage that are read beside a page of revenue, whose order is another. */
const maxUsageRows = 100_000;

const noUsage = { failures: 0, input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };

/** Adds the usage of the same periods and models. */
function withUsage(rows: readonly MarginRecord[], items: readonly UsageRecord[]): RevenueRecord[] {
  const keyOf = (row: Pick<UsageRecord, 'start' | 'model'>): string =>
    `${row.start?.toISOString() ?? ''} ${row.model ?? ''}`;
  const usage = new Map(items.map((item) => [keyOf(item), item]));
  return rows.map((row) => ({ ...row, usage: usage.get(keyOf(row)) ?? noUsage }));
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
    ...boughtFields(t),
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
    ...unknownFields(t),
    margin: t.field({
      type: 'UsdAmount',
      nullable: true,
      description:
        'bought - unknownBought - upstreamCost: trials, gifts and bonuses are no income. Can be negative; null: not known.',
      resolve: marginOf,
    }),
  }),
});

const MarginPageType = builder.objectRef<Report<MarginRecord>>('MarginRowConnection').implement({
  authScopes: { operator: true },
  fields: (t) =>
    pageFields(t, {
      row: MarginRowType,
      edge: reportEdge('MarginRowEdge', MarginRowType),
    }),
});

builder.objectFields(OperatorType, (t) => ({
  margins: t.field({
    type: MarginPageType,
    description:
      'What is left of what customers were charged, by period, model, upstream and account: the newest period first, then by what was charged. Where a route does not say what it costs, the margin is unknown.',
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
      first: t.arg.int({ description: rowsText }),
      after: t.arg.string(),
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
