import { checkInvariants } from '../../billing/upkeep/invariants.ts';
import {
  type DoubtfulEntry,
  listDoubtful,
  listHolds,
  listShortfalls,
  type OpenHold,
  type Shortfall,
} from '../../books/discrepancies.ts';
import { isUuid } from '../../shared/uuid.ts';
import { decodeUuid } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder, type ObjectFields } from '../builder.ts';
import { ApiKeyType, loadKeys } from '../keys/keys.ts';
import { OperatorType } from '../operator/operator.ts';
import { pageFields, pageFromStart, type Report, reportEdge } from '../reports.ts';
import { badInput } from '../types/errors.ts';
import { listLength } from '../types/paging.ts';
import { OutcomeType, UsageSourceType } from './ledger.ts';

/** Exceptions for operators: shortfalls, doubtful token counts, holds and broken invariants. */

/** Whose request a row is of. */
const accountOf = <Row extends { accountId: string }>(t: ObjectFields<Row>) =>
  t.loadable({
    type: AccountType,
    nullable: true,
    description: 'Whose request; null: the account was erased.',
    load: loadAccounts,
    resolve: ({ accountId }) => accountId,
  });

const ShortfallType = builder.objectRef<Shortfall>('Shortfall').implement({
  description: 'A request whose cost could not be charged in full.',
  authScopes: { operator: true },
  fields: (t) => ({
    account: accountOf(t),
    requestId: t.exposeString('requestId', { description: 'Which request.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was settled.' }),
    model: t.exposeString('model', { description: 'Catalog id.' }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What was left to charge.' }),
    missing: t.field({
      type: 'UsdAmount',
      description: 'What was not charged: cost - charged.',
      resolve: ({ cost, charged }) => cost - charged,
    }),
  }),
});

const AnomalyType = builder.objectRef<DoubtfulEntry>('Anomaly').implement({
  description: 'A request whose token counts were cut to what is possible, or estimated.',
  authScopes: { operator: true },
  fields: (t) => ({
    account: accountOf(t),
    requestId: t.exposeString('requestId', { description: 'Which request.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was settled.' }),
    model: t.exposeString('model', { description: 'Catalog id.' }),
    upstream: t.exposeString('upstream', { description: 'Where it ran.' }),
    usageSource: t.field({
      type: UsageSourceType,
      nullable: true,
      description: 'Where the token counts come from.',
      resolve: ({ usageSource }) => usageSource,
    }),
    outcome: t.field({
      type: OutcomeType,
      nullable: true,
      description: 'How it ended.',
      resolve: ({ outcome }) => outcome,
    }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices.' }),
  }),
});

const HoldType = builder.objectRef<OpenHold>('Hold').implement({
  description: 'Budget that a running request holds.',
  authScopes: { operator: true },
  fields: (t) => ({
    account: accountOf(t),
    requestId: t.exposeString('requestId', { description: 'Which request.' }),
    key: t.loadable({
      type: ApiKeyType,
      nullable: true,
      description: 'With which key; null: it is gone.',
      load: loadKeys,
      resolve: ({ keyId }) => keyId,
    }),
    amount: t.expose('amount', { type: 'UsdAmount', description: 'How much.' }),
    heldAt: t.expose('heldAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

interface Broken {
  invariant: string;
  rows: unknown;
}

const BrokenInvariantType = builder.objectRef<Broken>('BrokenInvariant').implement({
  description: 'A rule of the money that does not hold somewhere.',
  authScopes: { operator: true },
  fields: (t) => ({
    invariant: t.exposeString('invariant', { description: 'Its name.' }),
    rows: t.expose('rows', { type: 'Json', description: 'Where it does not hold, at most 20 places.' }),
  }),
});

const dayMs = 86_400_000;

/** The arguments of a list of requests, newest first. */
const recentArguments = builder.args((t) => ({
  days: t.int({ defaultValue: 7, description: 'How far back, at most 92 days.' }),
  first: t.int({ defaultValue: 50 }),
  after: t.string(),
}));

const recentRange = (args: {
  days?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}) => {
  const days = args.days ?? 7;
  if (days < 1 || days > 92) throw badInput('days', 'days must be between 1 and 92.');
  if (typeof args.after === 'string' && !isUuid(args.after)) throw badInput('after', 'after is a request id.');
  return { from: new Date(Date.now() - days * dayMs), after: args.after ?? null, limit: listLength(args.first) };
};

const shortfallEdge = reportEdge('ShortfallEdge', ShortfallType);
const ShortfallPageType = builder.objectRef<Report<Shortfall>>('ShortfallConnection').implement({
  description: 'Requests that could not be charged in full.',
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: ShortfallType, edge: shortfallEdge }),
});

const anomalyEdge = reportEdge('AnomalyEdge', AnomalyType);
const AnomalyPageType = builder.objectRef<Report<DoubtfulEntry>>('AnomalyConnection').implement({
  description: 'Requests whose token counts are doubtful.',
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: AnomalyType, edge: anomalyEdge }),
});

const holdEdge = reportEdge('HoldEdge', HoldType);
const HoldPageType = builder.objectRef<Report<OpenHold>>('HoldConnection').implement({
  description: 'Holds of running requests.',
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: HoldType, edge: holdEdge }),
});

/** A page of requests, newest first, whose cursors are their ids. One more is read, to know whether there are more. */
async function requestPage<Row extends { requestId: string }>(
  args: Parameters<typeof recentRange>[0],
  load: (range: ReturnType<typeof recentRange>) => Promise<Row[]>,
): Promise<Report<Row>> {
  const range = recentRange(args);
  const rows = await load({ ...range, limit: range.limit + 1 });
  return {
    rows: rows.slice(0, range.limit),
    hasMore: rows.length > range.limit,
    isLater: range.after !== null,
    cursorOf: ({ requestId }) => requestId,
  };
}

builder.objectFields(OperatorType, (t) => ({
  shortfalls: t.field({
    type: ShortfallPageType,
    description: 'Requests that could not be charged in full, newest first.',
    args: recentArguments,
    resolve: (_operator, args, { db }) => requestPage(args, (range) => listShortfalls(db, range)),
  }),
  anomalies: t.field({
    type: AnomalyPageType,
    description: 'Requests whose token counts are doubtful, newest first.',
    args: recentArguments,
    resolve: (_operator, args, { db }) => requestPage(args, (range) => listDoubtful(db, range)),
  }),
  holds: t.field({
    type: HoldPageType,
    description: 'Holds of running requests, the oldest first.',
    args: {
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: (_operator, args, { db }) => pageFromStart(args, (limit) => listHolds(db, limit)),
  }),
  invariants: t.field({
    type: [BrokenInvariantType],
    description: 'Rules of the money that do not hold, for one account: none, when all is well.',
    complexity: 500,
    args: { accountId: t.arg.id({ required: true, description: 'Which account; all of them: `admin invariants`.' }) },
    resolve: (_operator, args, { db }) => {
      const accountId = decodeUuid('Account', args.accountId);
      return accountId === null ? [] : checkInvariants(db, { accounts: [accountId], limitMs: 10_000 });
    },
  }),
}));
