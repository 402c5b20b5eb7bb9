import type { AccountEntry } from '../../billing/reads/usage.ts';
import { checkInvariants } from '../../billing/upkeep/invariants.ts';
import { listDoubtful, listHolds, listShortfalls, type OpenHold } from '../../books/discrepancies.ts';
import { isUuid } from '../../shared/uuid.ts';
import { decodeUuid } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { ApiKeyType, loadKeys } from '../keys/keys.ts';
import { OperatorType } from '../operator/operator.ts';
import { pageFields, pageFromStart, type Report, reportEdge } from '../reports.ts';
import { badInput } from '../types/errors.ts';
import { pageSize } from '../types/paging.ts';
import { LedgerEntryPageType, LedgerEntryType } from './ledger.ts';

/** Exceptions for operators: shortfalls, doubtful token counts, holds and broken invariants. */

const HoldType = builder.objectRef<OpenHold>('Hold').implement({
  description: 'Budget that a running request holds.',
  authScopes: { operator: true },
  fields: (t) => ({
    account: t.loadable({
      type: AccountType,
      nullable: true,
      description: 'Whose request; null: the account was erased.',
      load: loadAccounts,
      resolve: ({ accountId }) => accountId,
    }),
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
}));

const recentRange = (args: {
  days?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}) => {
  const days = args.days ?? 7;
  if (days < 1 || days > 92) throw badInput('days', 'days must be between 1 and 92.');
  if (typeof args.after === 'string' && !isUuid(args.after)) throw badInput('after', 'after is a request id.');
  return { from: new Date(Date.now() - days * dayMs), after: args.after ?? null, limit: pageSize(args) };
};

const holdEdge = reportEdge('HoldEdge', HoldType);
const HoldPageType = builder.objectRef<Report<OpenHold>>('HoldConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: HoldType, edge: holdEdge }),
});

/** A page of entries, newest first, whose cursors are their ids. One more is read, to know whether there are more. */
async function entryPage(
  args: Parameters<typeof recentRange>[0],
  load: (range: ReturnType<typeof recentRange>) => Promise<AccountEntry[]>,
) {
  const range = recentRange(args);
  const rows = await load({ ...range, limit: range.limit + 1 });
  const edges = rows.slice(0, range.limit).map((node) => ({ cursor: node.requestId, node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: rows.length > range.limit,
      hasPreviousPage: range.after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

builder.objectFields(OperatorType, (t) => ({
  shortfalls: t.connection(
    {
      type: LedgerEntryType,
      description: 'Requests that could not be charged in full, newest first.',
      args: recentArguments,
      resolve: (_operator, args, { db }) => entryPage(args, (range) => listShortfalls(db, range)),
    },
    LedgerEntryPageType,
  ),
  anomalies: t.connection(
    {
      type: LedgerEntryType,
      description: 'Requests whose token counts were cut to what is possible, or estimated; newest first.',
      args: recentArguments,
      resolve: (_operator, args, { db }) => entryPage(args, (range) => listDoubtful(db, range)),
    },
    LedgerEntryPageType,
  ),
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
