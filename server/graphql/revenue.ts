import { readUsage, type UsageRecord } from '../billing/usage.ts';
import { builder } from './builder.ts';
import { TokensType } from './ledger.ts';
import { OperatorType } from './operator.ts';
import { hoursFrom, hoursTo, type UsagePage, UsagePeriod, usagePage, usageQuery, zoneOf } from './usage.ts';

/** Revenue for operators: customers' charges and upstreams' costs. */

export const RevenueRowType = builder.objectRef<UsageRecord>('RevenueRow').implement({
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
      description: 'charged - upstreamCost; can be negative.',
      resolve: (row) => row.charged - row.upstreamCost,
    }),
  }),
});

const RevenuePageType = builder.objectRef<UsagePage>('RevenuePage').implement({
  description: 'Rows of the revenue table.',
  authScopes: { operator: true },
  fields: (t) => ({
    rows: t.field({
      type: [RevenueRowType],
      description: 'Newest period first, then by model.',
      complexity: { field: 1, multiplier: 50 },
      resolve: ({ rows }) => rows,
    }),
    next: t.exposeString('next', { nullable: true, description: 'Cursor for more rows; null: these are all.' }),
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
    resolve: (_operator, { probes, ...args }, { db }) =>
      usagePage(() =>
        readUsage(db, {
          accountId: null,
          kind: probes === true ? 'probe' : 'customer',
          ...usageQuery({ ...args, by: ['model'] }),
        }),
      ),
  }),
}));
