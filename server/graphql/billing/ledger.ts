import {
  type ArchivedMonth,
  archivedMonthOf,
  archivedSentence,
  listArchivedMonths,
} from '../../billing/archive/archived-months.ts';
import {
  type AccountEntry,
  BadCursor,
  ledgerCursor,
  maxSorted,
  type LedgerOrder as Order,
  RangeTooWide,
  readEntry,
  readLedger,
} from '../../billing/reads/usage.ts';
import { storedLabels } from '../../core/attribution.ts';
import type { Outcome } from '../../core/outcome.ts';
import {
  type ChargedUnit,
  type ClockChoice,
  cost,
  type RunLine,
  type TierRange,
  type UnitLine,
  type UnitPrices,
  type VariantChoice,
  type Weekday,
} from '../../core/price.ts';
import type { TokenPools, UsageSource } from '../../core/tokens.ts';
import { abilitiesOn, actorOf, isOperator } from '../../people/principal.ts';
import { isRequestId } from '../../runtime/http.ts';
import { isUuid } from '../../shared/uuid.ts';
import { accountFor, decodeUuid } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { ModelType } from '../catalog/catalog.ts';
import { ProtocolType, WeekdayType } from '../catalog/protocol.ts';
import type { GraphqlContext } from '../context.ts';
import type { Domains } from '../domains.ts';
import { ApiKeyType, loadKeys } from '../keys/keys.ts';
import { pause } from '../notices/watching.ts';
import { storedEnum, wordValues } from '../types/enums.ts';
import { badInput, InputError, NotAllowedError, NotFoundError } from '../types/errors.ts';
import { pageSize } from '../types/paging.ts';
import { checkRange } from '../types/ranges.ts';

/** The ledger: one entry for every finished request, from which its charge can be computed again. */

export const OutcomeType = storedEnum('RequestOutcome', {
  description: 'How a request ended.',
  values: {
    COMPLETED: { value: 'completed', description: 'Answered to the end.' },
    BUDGET_STOPPED: { value: 'budget_stopped', description: 'Ended because the budget ran out.' },
    CLIENT_CLOSED: { value: 'client_closed', description: 'The client left before the end.' },
    UPSTREAM_ERROR: { value: 'upstream_error', description: 'The model could not be reached or failed.' },
    UPSTREAM_CUT: { value: 'upstream_cut', description: 'The answer broke off.' },
    TIMEOUT: { value: 'timeout', description: 'The model took too long.' },
    SHUTDOWN: {
      value: 'shutdown',
      description: 'The service ended it: the server was stopped, or could not check the budget.',
    },
  } satisfies Record<string, { value: Outcome; description: string }>,
});

export const UsageSourceType = storedEnum('UsageSource', {
  description: 'Where the token counts of an entry come from.',
  values: {
    REPORTED: { value: 'reported', description: 'The model reported them.' },
    PARTIAL: { value: 'partial', description: 'Reported up to where the answer ended, the rest estimated.' },
    CLAMPED: { value: 'clamped', description: 'Reported, but cut to what is possible.' },
    ESTIMATED: { value: 'estimated', description: 'Counted by the gateway.' },
    NONE: { value: 'none', description: 'There are none: the request failed before any.' },
  } satisfies Record<string, { value: UsageSource; description: string }>,
});

export const TokensType = builder.objectRef<TokenPools>('Tokens').implement({
  description: 'Tokens in five pools that do not overlap.',
  authScopes: { public: true },
  fields: (t) => ({
    input: t.field({ type: 'BigInt', description: 'New context.', resolve: ({ input }) => BigInt(input) }),
    cacheHit: t.field({
      type: 'BigInt',
      description: 'Context read from the cache.',
      resolve: ({ cacheHit }) => BigInt(cacheHit),
    }),
    cacheWrite5m: t.field({
      type: 'BigInt',
      description: 'Context written to the five-minute cache.',
      resolve: ({ cacheWrite5m }) => BigInt(cacheWrite5m),
    }),
    cacheWrite1h: t.field({
      type: 'BigInt',
      description: 'Context written to the one-hour cache.',
      resolve: ({ cacheWrite1h }) => BigInt(cacheWrite1h),
    }),
    output: t.field({
      type: 'BigInt',
      description: 'What the model wrote, reasoning included.',
      resolve: ({ output }) => BigInt(output),
    }),
  }),
});

const poolNames = ['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;

interface ReceiptLine {
  pool: (typeof poolNames)[number];
  tokens: bigint;
  /** Pico-USD per token. */
  unitPrice: bigint;
}

const TokenPoolType = builder.enumType('TokenPool', {
  description: 'One of the five kinds of tokens that have prices.',
  values: {
    INPUT: { value: 'input', description: 'New context.' },
    CACHE_HIT: { value: 'cacheHit', description: 'Context read from the cache.' },
    CACHE_WRITE_5M: { value: 'cacheWrite5m', description: 'Context written to the five-minute cache.' },
    CACHE_WRITE_1H: { value: 'cacheWrite1h', description: 'Context written to the one-hour cache.' },
    OUTPUT: { value: 'output', description: 'What the model wrote, reasoning included.' },
  } satisfies Record<string, { value: ReceiptLine['pool']; description: string }>,
});

const ChargedUnitType = storedEnum('ChargedUnit', {
  description: 'Something that is charged by the piece.',
  values: wordValues<ChargedUnit>({
    search: 'A search that the vendor makes.',
    image: 'An image.',
    minute: 'A minute; begun ones count whole.',
  }),
});

const ReceiptLineType = builder.objectRef<ReceiptLine>('ReceiptLine').implement({
  description: 'One line of a receipt: tokens x price per million / 1,000,000 = amount, without rounding.',
  authScopes: { public: true },
  fields: (t) => ({
    tokenPool: t.field({ type: TokenPoolType, description: 'Which tokens.', resolve: ({ pool }) => pool }),
    tokens: t.expose('tokens', { type: 'BigInt', description: 'How many tokens.' }),
    pricePerMillion: t.field({
      type: 'UsdAmount',
      description: 'Price of a million of them at the moment the request was admitted.',
      resolve: ({ unitPrice }) => unitPrice * 1_000_000n,
    }),
    amount: t.field({
      type: 'UsdAmount',
      description: 'tokens x pricePerMillion / 1,000,000.',
      resolve: ({ tokens, unitPrice }) => tokens * unitPrice,
    }),
  }),
});

const UnitLineType = builder.objectRef<UnitLine>('UnitLine').implement({
  description: 'What was charged by the piece: count x price = amount.',
  authScopes: { public: true },
  fields: (t) => ({
    chargedUnit: t.field({ type: ChargedUnitType, nullable: true, description: 'What.', resolve: ({ unit }) => unit }),
    count: t.exposeInt('count', { description: 'How many.' }),
    price: t.expose('price', {
      type: 'UsdAmount',
      description: 'Price of one at the moment the request was admitted.',
    }),
    amount: t.field({
      type: 'UsdAmount',
      description: 'count x price.',
      resolve: ({ count, price }) => BigInt(count) * price,
    }),
  }),
});

const RunLineType = builder.objectRef<RunLine>('RunLine').implement({
  description:
    'What another model did for a request, such as the one that served it after a refusal, at its own prices.',
  authScopes: { public: true },
  fields: (t) => ({
    model: t.exposeString('model', {
      description: 'Catalog id; the name that was reported where the catalog has no price of the model.',
    }),
    receipt: t.field({
      type: [ReceiptLineType],
      description: 'How its amount comes about.',
      resolve: ({ usage, price }) => receiptOf(usage, price),
    }),
    amount: t.field({
      type: 'UsdAmount',
      description: 'The sum of its receipt.',
      resolve: ({ usage, price }) => cost(usage, price),
    }),
  }),
});

const PromptTierType = builder.objectRef<TierRange>('PromptTier').implement({
  description: 'A range of prompt lengths that has its own prices: all tokens of the prompt, whatever their pool.',
  authScopes: { public: true },
  fields: (t) => ({
    abovePromptTokens: t.exposeInt('above', { nullable: true, description: 'More tokens than this; null: any.' }),
    upToPromptTokens: t.exposeInt('upTo', { nullable: true, description: 'At most so many tokens; null: any.' }),
  }),
});

const PriceHoursType = builder.objectRef<NonNullable<ClockChoice['window']>>('PriceHours').implement({
  description: 'Hours of the week that have their own prices.',
  authScopes: { public: true },
  fields: (t) => ({
    weekdays: t.field({
      type: [WeekdayType],
      description: 'In the time zone; hours over midnight belong to the day on which they begin.',
      resolve: ({ days }) => days as Weekday[],
    }),
    period: t.exposeString('period', { description: '`HH:MM-HH:MM`, the end excluded.' }),
    timeZone: t.exposeString('timeZone', { description: 'IANA name.' }),
  }),
});

const PriceMomentType = builder.objectRef<ClockChoice>('PriceMoment').implement({
  description: 'What the clock showed when a request was accepted whose price depends on it.',
  authScopes: { public: true },
  fields: (t) => ({
    pricedAt: t.field({
      type: 'DateTime',
      description: 'When the request was accepted: the prices of this moment count, whenever it ended.',
      resolve: ({ at }) => new Date(at),
    }),
    window: t.field({
      type: PriceHoursType,
      nullable: true,
      description: 'The hours whose prices count; null: those outside of all such hours.',
      resolve: ({ window }) => window,
    }),
  }),
});

function receiptOf(usage: TokenPools, prices: UnitPrices): ReceiptLine[] {
  return poolNames.map((pool) => ({ pool, tokens: BigInt(usage[pool]), unitPrice: prices[pool] }));
}

const marginOf = ({ charged, upstreamCost }: AccountEntry): bigint | null =>
  upstreamCost === null ? null : charged - upstreamCost;

const OperatorEntryType = builder.objectRef<AccountEntry>('LedgerEntryOperator').implement({
  description: 'What operators see of a finished request.',
  authScopes: { operator: true },
  fields: (t) => ({
    account: t.loadable({
      type: AccountType,
      nullable: true,
      description: 'Whose request; null: the account was erased.',
      load: loadAccounts,
      resolve: ({ accountId }) => accountId,
    }),
    shortfall: t.field({
      type: 'UsdAmount',
      description: 'What could not be charged: cost - charged.',
      resolve: ({ cost: whole, charged }) => whole - charged,
    }),
    upstream: t.exposeString('upstream', { nullable: true, description: 'Where it ran.' }),
    upstreamCost: t.expose('upstreamCost', {
      type: 'UsdAmount',
      nullable: true,
      description: 'What the operator paid for it; null: unknown.',
    }),
    margin: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'charged - upstreamCost; null: the cost is unknown.',
      resolve: marginOf,
    }),
  }),
});

const VariantChoiceType = builder.objectRef<VariantChoice>('PriceVariantChoice').implement({
  description:
    'Which variant of the prices counted: words such as `flex`, `fast`, `us`, several with `+` between them.',
  authScopes: { public: true },
  fields: (t) => ({
    asked: t.exposeString('asked', { description: 'What the request asked for.' }),
    served: t.exposeString('served', {
      nullable: true,
      description: 'What the vendor says that it served; empty: the ordinary one. Null: it does not say.',
    }),
    counted: t.exposeString('charged', {
      nullable: true,
      description: 'Whose prices counted; null: the ordinary ones.',
    }),
  }),
});

export const LedgerEntryType = builder.objectRef<AccountEntry>('LedgerEntry');

builder.node(LedgerEntryType, {
  name: 'LedgerEntry',
  description: 'One finished request: tokens, prices, cost, charge. Nothing of what was said.',
  id: { resolve: ({ accountId, requestId }) => `${accountId}/${requestId}` },
  loadOne: async (id, { principal, db }) => {
    const [accountId = '', requestId = ''] = id.split('/');
    const visible = isOperator(principal) || abilitiesOn(principal, accountId).has('read');
    if (!visible || !isUuid(accountId) || !isRequestId(requestId)) return null;
    const entry = await readEntry(db, accountId, requestId);
    return entry === null ? null : { ...entry, accountId };
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'requestId' in value && 'freeAfter' in value,
  authScopes: (entry) => ({ account: entry.accountId }),
  fields: (t) => ({
    requestId: t.exposeString('requestId', { description: 'The id that the answer carried in `x-request-id`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the request was settled.' }),
    key: t.loadable({
      type: ApiKeyType,
      nullable: true,
      description: 'The key that it came with.',
      load: loadKeys,
      resolve: ({ keyId }) => keyId,
    }),
    model: t.exposeString('model', { description: 'Catalog id.' }),
    catalogModel: t.field({
      type: ModelType,
      nullable: true,
      description: 'The model as it is in the catalog now; null when it cannot be called any more.',
      resolve: async ({ model }, _args, { domains }) => {
        const found = await domains.catalog.resolve(model);
        return found?.id === model ? found : null;
      },
    }),
    protocol: t.expose('protocol', {
      type: ProtocolType,
      nullable: true,
      description: 'The protocol that the client spoke.',
    }),
    stream: t.exposeBoolean('stream', { description: 'Whether the answer was streamed.' }),
    usage: t.expose('usage', { type: TokensType, description: 'Tokens by pool.' }),
    usageSource: t.expose('usageSource', {
      type: UsageSourceType,
      nullable: true,
      description: 'Where the token counts come from.',
    }),
    receipt: t.field({
      type: [ReceiptLineType],
      description:
        'How the cost comes about: the amounts add up to `cost`, together with those of `units` and `lines`.',
      resolve: ({ usage, prices }) => receiptOf(usage, prices),
    }),
    units: t.field({
      type: [UnitLineType],
      description: 'What was charged by the piece, beside the tokens.',
      resolve: ({ units }) => [...units],
    }),
    lines: t.field({
      type: [RunLineType],
      description: 'What other models did for the request, beside the tokens of `usage`.',
      resolve: ({ lines }) => [...lines],
    }),
    clock: t.field({
      type: PriceMomentType,
      nullable: true,
      description: 'Which of the prices by the clock counted; null: the price did not depend on it.',
      resolve: ({ byClock }) => byClock,
    }),
    variant: t.field({
      type: VariantChoiceType,
      nullable: true,
      description: 'The tier, speed or region that was asked for, served and charged; null: none was asked for.',
      resolve: ({ variant }) => variant,
    }),
    tier: t.field({
      type: PromptTierType,
      nullable: true,
      description: 'Which of the prices by prompt length counted; null: the model had one set of prices.',
      resolve: ({ tier }) => tier,
    }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices, with `units` and `lines`.' }),
    charged: t.expose('charged', {
      type: 'UsdAmount',
      description:
        'What was taken from the budget: the cost, or less when nothing was left of it, or of the budget of a member or a project.',
    }),
    freeAfter: t.expose('freeAfter', {
      type: 'UsdAmount',
      description:
        'What was left for such a request afterwards: of the budget, or zero where that of a member or a project ended the charge.',
    }),
    latencyMs: t.exposeInt('latencyMs', { description: 'Milliseconds from the request to the last byte.' }),
    timeToFirstByteMs: t.exposeInt('timeToFirstByteMs', {
      nullable: true,
      description: 'Milliseconds from the request to the first byte of the answer.',
    }),
    outcome: t.expose('outcome', { type: OutcomeType, nullable: true, description: 'How the request ended.' }),
    operator: t.field({
      type: OperatorEntryType,
      nullable: true,
      description: 'What operators see of it; null for everybody else.',
      resolve: (entry, _args, { principal }) => (isOperator(principal) ? entry : null),
    }),
  }),
});

/** Pages of entries: of an account, and of all where something is wrong. */
export const LedgerEntryPageType = builder.connectionObject(
  { type: LedgerEntryType, name: 'LedgerEntryConnection' },
  { name: 'LedgerEntryEdge' },
);

export const LedgerFilter = builder.inputType('LedgerFilter', {
  description: 'Which entries; what is left out does not matter.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'Requests from this moment on.' }),
    to: t.field({ type: 'DateTime', description: 'Requests before this moment.' }),
    keyId: t.id({ description: 'Requests of this key.' }),
    model: t.string({ description: 'Requests for this catalog id.' }),
    outcome: t.field({ type: OutcomeType, description: 'Requests that ended so.' }),
    session: t.string({
      description: 'Requests of this session: as the client names it, or as `attribution` has it.',
    }),
  }),
});

type FilterInput = typeof LedgerFilter.$inferInput;

/** A filter in the form of the ledger's queries. An invalid key id matches nothing; an inverted range is refused. `below`: what carries the filter. */
export function ledgerFilter(
  filter: FilterInput | null | undefined,
  accountId: string,
  { attributionDigest }: Pick<Domains, 'attributionDigest'>,
  below: readonly string[] = [],
) {
  const { from, to, keyId, model, outcome, session } = filter ?? {};
  checkRange({ from, to }, [...below, 'filter', 'to']);
  const missing = '00000000-0000-0000-0000-000000000000';
  return {
    from: from ?? null,
    to: to ?? null,
    keyId: keyId === null || keyId === undefined ? null : (decodeUuid('ApiKey', keyId) ?? missing),
    model: model ?? null,
    outcome: outcome ?? null,
    sessions: session == null ? null : storedLabels(attributionDigest, accountId, 'session', session),
  };
}

const LedgerOrderField = builder.enumType('LedgerOrderField', {
  description: 'What ledger entries are sorted by.',
  values: {
    TIME: { value: 'time', description: 'When the request came in.' },
    COST: { value: 'cost', description: 'What it cost.' },
    TOKENS: { value: 'tokens', description: 'All its tokens together.' },
    LATENCY: { value: 'latency', description: 'How long it took to the last byte.' },
  } satisfies Record<string, { value: Order['by']; description: string }>,
});

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Which end of a list comes first.',
  values: {
    ASC: { value: 'asc', description: 'The smallest, or the oldest.' },
    DESC: { value: 'desc', description: 'The largest, or the newest.' },
  } as const,
});

const LedgerOrderInput = builder.inputType('LedgerOrder', {
  description: 'How ledger entries are sorted; equal ones by time, the same way.',
  fields: (t) => ({
    field: t.field({ type: LedgerOrderField, required: true, description: 'By what.' }),
    direction: t.field({ type: OrderDirection, required: true, defaultValue: 'desc', description: 'Which way.' }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  ledger: t.connection(
    {
      type: LedgerEntryType,
      description: `Finished requests. Sorted by anything but time, a list covers at most ${maxSorted} requests: narrow the filter’s range where there are more.`,
      select: { id: true },
      // Whole rows are read, whatever is selected of them.
      complexity: (args) => ({ field: 20 + pageSize(args), multiplier: pageSize(args) }),
      args: {
        filter: t.arg({ type: LedgerFilter, description: 'Which entries.' }),
        orderBy: t.arg({ type: LedgerOrderInput, description: 'How they are sorted; left out: the newest first.' }),
      },
      resolve: async ({ id: accountId }, args, { history, domains }) => {
        const order: Order = { by: args.orderBy?.field ?? 'time', ascending: args.orderBy?.direction === 'asc' };
        try {
          const page = await readLedger(history, {
            accountId,
            ...ledgerFilter(args.filter, accountId, domains),
            order,
            limit: pageSize(args),
            after: args.after ?? null,
          });
          const edges = page.items.map((entry) => ({
            cursor: ledgerCursor(entry, order),
            node: { ...entry, accountId },
          }));
          return {
            edges,
            pageInfo: {
              hasNextPage: page.next !== null,
              hasPreviousPage: args.after != null,
              startCursor: edges[0]?.cursor ?? null,
              endCursor: edges.at(-1)?.cursor ?? null,
            },
          };
        } catch (error) {
          if (error instanceof BadCursor) throw badInput('after', 'This is not a cursor of this list.');
          if (error instanceof RangeTooWide)
            throw badInput(
              'filter',
              `There are more than ${maxSorted} requests to sort: choose a shorter range, or sort by time.`,
            );
          throw error;
        }
      },
    },
    LedgerEntryPageType,
  ),
}));

const ArchivedMonthType = builder.objectRef<ArchivedMonth>('ArchivedMonth').implement({
  description: 'A month whose single requests are no longer here, but in an archive. Its sums stay.',
  authScopes: { reader: true },
  fields: (t) => ({
    month: t.exposeString('month', { description: 'Such as `2026-01`, in UTC, by the time requests arrived.' }),
    from: t.expose('from', { type: 'DateTime', description: 'Its first moment.' }),
    to: t.expose('to', { type: 'DateTime', description: 'The first moment after it.' }),
    archivedAt: t.expose('archivedAt', { type: 'DateTime', description: 'When it was archived.' }),
    inDownloads: t.boolean({
      description:
        'Whether `createLedgerDownload` has its requests: the server reaches the archive. Otherwise the operator has it.',
      complexity: 5,
      resolve: async ({ from, to }, _args, { domains }) =>
        (await domains.archivedLines.find({ from, to })).reached.length > 0,
    }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  archivedMonths: t.field({
    type: [ArchivedMonthType],
    description: 'Months without single requests in `ledger`, because they were archived; the oldest first.',
    complexity: { field: 1, multiplier: 12 },
    args: {
      from: t.arg({ type: 'DateTime', description: 'Months that end after this moment.' }),
      to: t.arg({ type: 'DateTime', description: 'Months that begin before this moment.' }),
    },
    resolve: (_account, { from, to }, { db }) => {
      checkRange({ from, to }, ['to']);
      return listArchivedMonths(db, { from: from ?? null, to: to ?? null });
    },
  }),
  ledgerEntry: t.field({
    type: LedgerEntryType,
    nullable: true,
    description:
      'The entry of one request; null when there is none (yet). A request of an archived month is refused with a sentence.',
    select: { id: true },
    args: { requestId: t.arg.string({ required: true, description: 'From the `x-request-id` of the answer.' }) },
    resolve: async ({ id: accountId }, { requestId }, { db }) => {
      if (!isRequestId(requestId)) return null;
      const entry = await readEntry(db, accountId, requestId);
      if (entry !== null) return { ...entry, accountId };
      const archived = await archivedMonthOf(db, requestId);
      if (archived !== null) throw badInput('requestId', archivedSentence(archived));
      return null;
    },
  }),
}));

interface Download {
  url: string;
  expiresAt: Date;
}

export const DownloadType = builder.objectRef<Download>('Download').implement({
  description: 'A link that works for a few minutes, without a session.',
  authScopes: { reader: true },
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where to fetch it.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link stops working.' }),
  }),
});

const CreateLedgerDownloadInput = builder.inputType('CreateLedgerDownloadInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Whose ledger; left out: your only or oldest account.' }),
    filter: t.field({ type: LedgerFilter, description: 'Which entries.' }),
  }),
});

builder.mutationField('createLedgerDownload', (t) =>
  t.field({
    type: DownloadType,
    description: 'Makes a link to the ledger as CSV.',
    authScopes: { reader: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError] },
    args: {
      input: t.arg({ type: CreateLedgerDownloadInput, required: true }),
    },
    resolve: (_root, { input: { accountId: given, filter } }, context) => {
      const accountId = accountFor(context, given, 'read');
      return context.domains.downloads.link(
        { accountId, ...ledgerFilter(filter, accountId, context.domains, ['input']) },
        actorOf(context.principal),
      );
    },
  }),
);

/** Polling interval of a watched ledger. */
const watchIntervalMs = 1_000;
/** Maximum entries per event; a client that was slower reads the list. */
const maxTold = 20;

/** New entries of an account, the oldest first, from now on. */
async function watchLedger(context: GraphqlContext, accountId: string): Promise<AsyncGenerator<AccountEntry>> {
  const newest = async () => (await readLedger(context.db, { accountId, limit: maxTold })).items;
  // Read before the subscription is answered: what finishes after its head has arrived is sent.
  const before = await newest();
  return (async function* () {
    let told = new Set(before.map(({ requestId }) => requestId));
    while (await pause(watchIntervalMs, context.signal)) {
      const entries = await newest();
      for (const entry of entries.toReversed()) if (!told.has(entry.requestId)) yield { ...entry, accountId };
      told = new Set(entries.map(({ requestId }) => requestId));
    }
  })();
}

builder.subscriptionField('ledgerAppended', (t) =>
  t.field({
    type: LedgerEntryType,
    description:
      'Requests of an account as they finish, each once, while they are among the 20 that began last. The ledger has all.',
    authScopes: { reader: true },
    args: { accountId: t.arg.id({ description: 'Which account; left out: your only or oldest one.' }) },
    subscribe: (_root, { accountId }, context) => watchLedger(context, accountFor(context, accountId, 'read')),
    resolve: (entry) => entry,
  }),
);
