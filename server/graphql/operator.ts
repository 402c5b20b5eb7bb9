import type { Pool } from 'pg';
import {
  type DoubtfulEntry,
  listDoubtful,
  listHolds,
  listShortfalls,
  type OpenHold,
  type Shortfall,
} from '../billing/exceptions.ts';
import { GrantConflict } from '../billing/grants.ts';
import { checkInvariants } from '../billing/invariants.ts';
import { listGrants, readUsage, type UsageRecord } from '../billing/usage.ts';
import { actorOf } from '../people/principal.ts';
import { isUuid } from '../shared/uuid.ts';
import { decodeUuid, encodeId } from './access.ts';
import { AccountStatus, AccountType } from './accounts.ts';
import { GrantType } from './budget.ts';
import { builder } from './builder.ts';
import { badInput, ConflictError, InputError, idempotencyConflict, NotFoundError } from './errors.ts';
import { TokensType } from './ledger.ts';
import { checkRange } from './ranges.ts';
import { besideCursor, cursorRow } from './row-cursors.ts';
import { CatalogEntryType, UpstreamType } from './upstreams.ts';
import { hoursFrom, hoursTo, type UsagePage, UsagePeriod, usagePage, usageQuery, zoneOf } from './usage.ts';

/** The operator's side: accounts, money in and out, what does not add up, who changed what. */

type Operator = Record<string, never>;

/** Everything that only operators see; other domain files add their fields to it. */
export const OperatorType = builder.objectRef<Operator>('Operator').implement({
  description: 'What only operators see.',
  authScopes: { operator: true },
});

builder.queryField('operator', (t) =>
  t.field({
    type: OperatorType,
    description: 'The operator’s side.',
    authScopes: { operator: true },
    resolve: () => ({}),
  }),
);

// ---------------------------------------------------------------------------------------------- accounts

/** Accounts that a text is part of, in any case, or names. What stands for any letter in a pattern stands for itself. */
function searched(text: string) {
  if (text === '') return {};
  const part = { contains: text.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const };
  const id = decodeUuid('Account', text);
  return { OR: [{ email: part }, { name: part }, ...(id === null ? [] : [{ id }])] };
}

builder.objectFields(OperatorType, (t) => ({
  accounts: t.prismaConnection({
    type: AccountType,
    cursor: 'id',
    description: 'Accounts, newest first.',
    args: {
      search: t.arg.string({ description: 'Part of the address or the name, or an id.' }),
      status: t.arg({ type: AccountStatus, description: 'Only accounts in this state.' }),
    },
    resolve: (query, _operator, { search, status, ...page }, { prisma }) =>
      prisma.account.findMany({
        ...query,
        where: besideCursor({ ...(status ? { status } : {}), ...searched(search?.trim() ?? '') }, cursorRow(page)),
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      }),
  }),
  account: t.prismaField({
    type: AccountType,
    nullable: true,
    description: 'One account; null: there is none.',
    args: { id: t.arg.id({ required: true, description: 'Id of the account.' }) },
    resolve: (query, _operator, { id }, { prisma }) => {
      const accountId = decodeUuid('Account', id);
      return accountId === null ? null : prisma.account.findUnique({ ...query, where: { id: accountId } });
    },
  }),
  models: t.prismaField({
    type: [CatalogEntryType],
    description: 'Every model, switched off or not.',
    complexity: { field: 1, multiplier: 20 },
    resolve: (query, _operator, _args, { prisma }) => prisma.model.findMany({ ...query, orderBy: { id: 'asc' } }),
  }),
  upstreams: t.prismaField({
    type: [UpstreamType],
    description: 'Every upstream.',
    resolve: (query, _operator, _args, { prisma }) => prisma.upstream.findMany({ ...query, orderBy: { id: 'asc' } }),
  }),
}));

interface OfGrant {
  accountId: string;
  grantId: string;
}

const findGrant = async (db: Pool, { accountId, grantId }: OfGrant) =>
  (await listGrants(db, accountId)).find(({ id }) => id === grantId) ?? null;

interface GrantGiven extends OfGrant {
  givenBefore: boolean;
}

const GrantGivenType = builder.objectRef<GrantGiven>('GrantGiven').implement({
  description: 'A grant that was given by hand.',
  authScopes: { operator: true },
  fields: (t) => ({
    grant: t.field({
      type: GrantType,
      nullable: true,
      description: 'The grant.',
      resolve: (of, _args, { db }) => findGrant(db, of),
    }),
    givenBefore: t.exposeBoolean('givenBefore', {
      description: 'True: the idempotency key was used before, and nothing was given now.',
    }),
  }),
});

interface GrantEnded extends OfGrant {
  taken: bigint;
  held: bigint;
}

const GrantEndedType = builder.objectRef<GrantEnded>('GrantEnded').implement({
  description: 'A grant that was ended before its time.',
  authScopes: { operator: true },
  fields: (t) => ({
    grant: t.field({
      type: GrantType,
      nullable: true,
      description: 'The grant.',
      resolve: (of, _args, { db }) => findGrant(db, of),
    }),
    taken: t.expose('taken', { type: 'UsdAmount', description: 'What was free of it, and is lost.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'What running requests may still be charged from it.' }),
  }),
});

const GiveGrantInput = builder.inputType('GiveGrantInput', {
  description: 'Budget that is given by hand.',
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'To which account.' }),
    amount: t.field({ type: 'UsdAmount', required: true, description: 'How much.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; left out: never.' }),
    reason: t.string({ required: true, description: 'Why; the account holder sees it.' }),
    idempotencyKey: t.string({ description: 'Asking again with the same key gives nothing more.' }),
  }),
});

builder.mutationFields((t) => ({
  setAccountStatus: t.prismaField({
    type: AccountType,
    description: 'Suspends an account, or lets it go on. Running requests finish.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: {
      accountId: t.arg.id({ required: true, description: 'Which account.' }),
      status: t.arg({ type: AccountStatus, required: true, description: 'What it is to be.' }),
    },
    resolve: async (query, _root, args, context) => {
      const accountId = decodeUuid('Account', args.accountId);
      if (accountId === null) throw new NotFoundError('account');
      const ask = { accountId, actor: actorOf(context.principal) };
      const { accounts } = context.domains;
      const outcome = await (args.status === 'suspended' ? accounts.suspend(ask) : accounts.resume(ask));
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      return context.prisma.account.findUniqueOrThrow({ ...query, where: { id: accountId } });
    },
  }),
  giveGrant: t.field({
    type: GrantGivenType,
    description: 'Gives an account budget by hand.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: GiveGrantInput, required: true, description: 'What is given.' }) },
    resolve: async (_root, { input }, context) => {
      const accountId = decodeUuid('Account', input.accountId);
      if (accountId === null) throw new NotFoundError('account');
      const { idempotencyKey } = input;
      if (typeof idempotencyKey === 'string' && (idempotencyKey === '' || idempotencyKey.length > 200)) {
        throw badInput('input.idempotencyKey', 'An idempotency key has 1 to 200 characters.');
      }
      const outcome = await giveOnce(() =>
        context.domains.accounts.giveGrant({
          accountId,
          amount: input.amount,
          expiresAt: input.expiresAt ?? null,
          reason: input.reason,
          ...(typeof idempotencyKey === 'string' ? { idempotencyKey } : {}),
          actor: actorOf(context.principal),
        }),
      );
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'invalid') throw badInput(['input', outcome.field], `${outcome.field} ${outcome.message}.`);
      const given = { accountId, grantId: outcome.grantId };
      const givenBefore = outcome.kind === 'given_before';
      const before = givenBefore ? await findGrant(context.db, given) : null;
      if (before !== null && !isWhatWasGiven(before, input)) throw idempotencyConflict();
      return { ...given, givenBefore };
    },
  }),
}));

const EndGrantInput = builder.inputType('EndGrantInput', {
  description: 'A grant that is to end now.',
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'Of which account.' }),
    grantId: t.id({ required: true, description: 'Which grant.' }),
    reason: t.string({ required: true, description: 'Why; it is kept in the audit log.' }),
  }),
});

builder.mutationField('endGrant', (t) =>
  t.field({
    type: GrantEndedType,
    description:
      'Takes back what is unspent of a grant: it ends now. Running requests keep what they hold of it, and what they give back is lost too.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: EndGrantInput, required: true, description: 'Which, and why.' }) },
    resolve: async (_root, { input }, context) => {
      const accountId = decodeUuid('Account', input.accountId);
      const grantId = decodeUuid('Grant', input.grantId);
      if (accountId === null || grantId === null) throw new NotFoundError('grant');
      const { reason } = input;
      const actor = actorOf(context.principal);
      const outcome = await context.domains.accounts.endGrant({ accountId, grantId, reason, actor });
      if (outcome.kind === 'unknown_grant') throw new NotFoundError('grant');
      if (outcome.kind === 'invalid') throw badInput(['input', outcome.field], `${outcome.field} ${outcome.message}.`);
      if (outcome.kind === 'over') throw new ConflictError('Nothing is left of this grant.');
      return { accountId, grantId, taken: outcome.free, held: outcome.held };
    },
  }),
);

/** Amounts are compared where the grant is written. A grant that is over may have been ended since: its end says nothing. */
function isWhatWasGiven(
  given: { reason: string | null; expiresAt: Date | null },
  asked: { reason: string; expiresAt?: Date | null | undefined },
): boolean {
  const over = given.expiresAt !== null && given.expiresAt.getTime() <= Date.now();
  return given.reason === asked.reason && (over || given.expiresAt?.getTime() === asked.expiresAt?.getTime());
}

/** The same idempotency key with another amount is a mistake of the caller. */
async function giveOnce<T>(give: () => Promise<T>): Promise<T> {
  try {
    return await give();
  } catch (error) {
    if (error instanceof GrantConflict) throw idempotencyConflict();
    throw error;
  }
}

// ---------------------------------------------------------------------------------------------- money in and out

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

// ---------------------------------------------------------------------------------------------- what does not add up

const ShortfallType = builder.objectRef<Shortfall>('Shortfall').implement({
  description: 'A request whose cost could not be charged in full.',
  authScopes: { operator: true },
  fields: (t) => ({
    accountId: t.id({ description: 'Whose request.', resolve: ({ accountId }) => encodeId('Account', accountId) }),
    requestId: t.exposeString('requestId', { description: 'Which request.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was settled.' }),
    model: t.exposeString('model', { description: 'Catalog id.' }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What was left to charge.' }),
    missing: t.field({
      type: 'UsdAmount',
      description: 'What nobody paid.',
      resolve: ({ cost, charged }) => cost - charged,
    }),
  }),
});

const AnomalyType = builder.objectRef<DoubtfulEntry>('Anomaly').implement({
  description: 'A request whose token counts were cut to what is possible, or estimated.',
  authScopes: { operator: true },
  fields: (t) => ({
    accountId: t.id({ description: 'Whose request.', resolve: ({ accountId }) => encodeId('Account', accountId) }),
    requestId: t.exposeString('requestId', { description: 'Which request.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was settled.' }),
    model: t.exposeString('model', { description: 'Catalog id.' }),
    upstream: t.exposeString('upstream', { description: 'Where it ran.' }),
    usageSource: t.exposeString('usageSource', { description: '`clamped` or `estimated`.' }),
    outcome: t.exposeString('outcome', { description: 'How it ended.' }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices.' }),
  }),
});

const HoldType = builder.objectRef<OpenHold>('Hold').implement({
  description: 'Budget that a running request holds.',
  authScopes: { operator: true },
  fields: (t) => ({
    accountId: t.id({ description: 'Whose request.', resolve: ({ accountId }) => encodeId('Account', accountId) }),
    requestId: t.exposeString('requestId', { description: 'Which request.' }),
    keyId: t.id({ description: 'With which key.', resolve: ({ keyId }) => encodeId('ApiKey', keyId) }),
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

const mostExceptions = 100;
const dayMs = 86_400_000;

const exceptionArgs = (args: {
  days?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}) => {
  const days = args.days ?? 7;
  const limit = args.first ?? 50;
  if (days < 1 || days > 92) throw badInput('days', 'days must be between 1 and 92.');
  if (limit < 1 || limit > mostExceptions) throw badInput('first', `first must be between 1 and ${mostExceptions}.`);
  if (typeof args.after === 'string' && !isUuid(args.after)) throw badInput('after', 'after is a request id.');
  return { from: new Date(Date.now() - days * dayMs), after: args.after ?? null, limit };
};

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
  shortfalls: t.field({
    type: [ShortfallType],
    description: 'Requests that could not be charged in full, newest first.',
    complexity: { field: 1, multiplier: 50 },
    args: {
      days: t.arg.int({ defaultValue: 7, description: 'How far back, at most 92 days.' }),
      first: t.arg.int({ defaultValue: 50, description: `How many, at most ${mostExceptions}.` }),
      after: t.arg.string({ description: 'Those before this request id.' }),
    },
    resolve: (_operator, args, { db }) => listShortfalls(db, exceptionArgs(args)),
  }),
  anomalies: t.field({
    type: [AnomalyType],
    description: 'Requests whose token counts are doubtful, newest first.',
    complexity: { field: 1, multiplier: 50 },
    args: {
      days: t.arg.int({ defaultValue: 7, description: 'How far back, at most 92 days.' }),
      first: t.arg.int({ defaultValue: 50, description: `How many, at most ${mostExceptions}.` }),
      after: t.arg.string({ description: 'Those before this request id.' }),
    },
    resolve: (_operator, args, { db }) => listDoubtful(db, exceptionArgs(args)),
  }),
  holds: t.field({
    type: [HoldType],
    description: 'Holds of running requests, the oldest first.',
    complexity: { field: 1, multiplier: 50 },
    args: { first: t.arg.int({ defaultValue: 50, description: `How many, at most ${mostExceptions}.` }) },
    resolve: (_operator, { first }, { db }) => listHolds(db, exceptionArgs({ first: first ?? null }).limit),
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

// ---------------------------------------------------------------------------------------------- who changed what

const AuditEntryType = builder.prismaObject('AuditEntry', {
  description: 'Something that was changed. Never rewritten, and without secrets.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Which entry.' }),
    actor: t.exposeString('actor', {
      description: 'Who: `user:<id>`, `token:<id>`, `command-line` or `system`.',
    }),
    action: t.exposeString('action', { description: 'What was done, e.g. `price.add`.' }),
    subject: t.exposeString('subject', { description: 'To what, e.g. `model:big-1`.' }),
    before: t.expose('before', { type: 'Json', nullable: true, description: 'How it was.' }),
    after: t.expose('after', { type: 'Json', nullable: true, description: 'How it is.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
});

builder.objectFields(OperatorType, (t) => ({
  auditLog: t.prismaConnection({
    type: AuditEntryType,
    cursor: 'id',
    description: 'What was changed, newest first.',
    args: {
      subject: t.arg.string({ description: 'Only changes of this, e.g. `model:big-1`.' }),
      actor: t.arg.string({ description: 'Only changes by this actor.' }),
      from: t.arg({ type: 'DateTime', description: 'From this moment on.' }),
      to: t.arg({ type: 'DateTime', description: 'Before this moment.' }),
    },
    resolve: (query, _operator, { subject, actor, from, to, ...page }, { prisma }) => {
      checkRange({ from, to }, 'to');
      const where = {
        ...(typeof subject === 'string' ? { subject } : {}),
        ...(typeof actor === 'string' ? { actor } : {}),
        createdAt: { ...(from ? { gte: from } : {}), ...(to ? { lt: to } : {}) },
      };
      return prisma.auditEntry.findMany({
        ...query,
        where: besideCursor(where, cursorRow(page)),
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      });
    },
  }),
}));
