import {
  type AttributedUsage,
  attributedCursor,
  readAttributedUsage,
  readAttributions,
} from '../../billing/reads/attributed-usage.ts';
import { RangeTooWide } from '../../billing/reads/usage.ts';
import {
  type Attribution,
  type AttributionKind,
  type AttributionMode,
  attributionId,
  storedLabels,
} from '../../core/attribution.ts';
import { actorOf } from '../../people/principal.ts';
import { accountFor } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { pageFields, type Report, reportEdge } from '../reports.ts';
import { storedEnum } from '../types/enums.ts';
import { badInput, InputError, NotAllowedError, NotFoundError } from '../types/errors.ts';
import { listLength } from '../types/paging.ts';
import { checkRange } from '../types/ranges.ts';
import { LedgerEntryType, TokensType } from './ledger.ts';
import { checkedUsage, hoursFrom, hoursTo, UsageOrderType } from './usage.ts';

/** Whom requests are for: what an account has stored of it, usage by it, and what is noted of one request. */

const AttributionModeType = storedEnum('AttributionMode', {
  description: 'What an account has stored of whom its requests are for.',
  values: {
    OFF: { value: 'off', description: 'Nothing.' },
    DIGESTS: {
      value: 'digests',
      description: 'Keyed digests: equal ids have equal digests, and none can be read. Names of tags are readable.',
    },
    TAGS: {
      value: 'tags',
      description:
        'Tags of the header `x-steyg-tags` as they are sent; sessions, users and metadata of request bodies as keyed digests. What new accounts have.',
    },
    PLAIN: {
      value: 'plain',
      description:
        'Sessions, users and values of tags as clients send them. An API key reads those of its project by `GET /v1/usage`, and one that lies in no project those of the whole account.',
    },
  } satisfies Record<string, { value: AttributionMode; description: string }>,
});

const AttributionKindType = builder.enumType('AttributionKind', {
  description: 'What usage is added up by.',
  values: {
    SESSION: { value: 'session', description: 'Sessions of client programs.' },
    USER: { value: 'user', description: 'End users that clients name.' },
    TAG: { value: 'tag', description: 'Tags; a request with several counts for each.' },
  } satisfies Record<string, { value: AttributionKind; description: string }>,
});

const AttributedUsageType = builder.objectRef<AttributedUsage>('AttributedUsage').implement({
  description: 'What a session, an end user or a tag came to.',
  authScopes: { public: true },
  fields: (t) => ({
    label: t.exposeString('label', {
      description: 'Which one: a digest (`~…`) or the value, of a tag `name=value`.',
    }),
    model: t.exposeString('model', { nullable: true, description: 'Catalog id; null when not split by model.' }),
    requests: t.field({ type: 'BigInt', description: 'Finished requests.', resolve: (row) => BigInt(row.requests) }),
    tokens: t.field({ type: TokensType, description: 'Tokens by pool.', resolve: (row) => row }),
    cost: t.expose('cost', { type: 'UsdAmount', description: 'Tokens x prices.' }),
    charged: t.expose('charged', { type: 'UsdAmount', description: 'What was taken from the budget.' }),
    firstAt: t.expose('firstAt', { type: 'DateTime', description: 'When its first request was settled.' }),
    lastAt: t.expose('lastAt', { type: 'DateTime', description: 'When its last request was settled.' }),
  }),
});

const AttributedPageType = builder.objectRef<Report<AttributedUsage>>('AttributedUsageConnection').implement({
  authScopes: { public: true },
  fields: (t) =>
    pageFields(t, {
      row: AttributedUsageType,
      edge: reportEdge('AttributedUsageEdge', AttributedUsageType),
    }),
});

/** In fields: up to 200,000 sums are read twice. */
const readCost = 1_000;

const tooWide = () =>
  badInput('from', 'There is too much usage between `from` and `to` to be added up: choose a shorter range.');

builder.prismaObjectFields(AccountType, (t) => ({
  attributionMode: t.field({
    type: AttributionModeType,
    nullable: true,
    description: 'What is stored of whom its requests are for.',
    select: { attribution: true },
    resolve: ({ attribution }) => attribution as AttributionMode,
  }),
  attributedUsage: t.field({
    type: AttributedPageType,
    description:
      'Usage added up by session, end user or tag, for what is within the retention. Requests that name none are in no row.',
    select: { id: true },
    complexity: { field: readCost, multiplier: 1 },
    args: {
      by: t.arg({ type: AttributionKindType, required: true, description: 'What it is added up by.' }),
      only: t.arg.string({
        description: 'Only this one: as the client names it (of a tag `name=value`), or as `label` has it.',
      }),
      byModel: t.arg.boolean({ defaultValue: false, description: 'Whether each is split by model.' }),
      from: t.arg({ type: 'DateTime', description: hoursFrom }),
      to: t.arg({ type: 'DateTime', description: hoursTo }),
      model: t.arg.string({ description: 'Only this catalog id.' }),
      order: t.arg({ type: UsageOrderType, defaultValue: 'cost', description: 'Which rows come first.' }),
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: ({ id: accountId }, args, { history, domains, reports }) => {
      checkRange(args, 'to');
      const only = args.only ?? null;
      if (only !== null && attributionId(only) === null) throw badInput('only', 'only has 1 to 256 characters.');
      const query = {
        accountId,
        kind: args.by,
        labels: only === null ? null : storedLabels(domains.attributionDigest, accountId, args.by, only),
        byModel: args.byModel ?? false,
        from: args.from ?? null,
        to: args.to ?? null,
        model: args.model ?? null,
        order: args.order === 'time' ? ('recent' as const) : ('cost' as const),
        limit: listLength(args.first),
        after: args.after ?? null,
      };
      return checkedUsage(async () => {
        const { items, next } = await reports(accountId, () => readAttributedUsage(history, query));
        const cursorOf = (row: AttributedUsage) => attributedCursor(row, query.order);
        return { rows: items, hasMore: next !== null, isLater: args.after != null, cursorOf };
      }).catch((error: unknown) => {
        throw error instanceof RangeTooWide ? tooWide() : error;
      });
    },
  }),
}));

const AttributionType = builder.objectRef<Attribution>('RequestAttribution').implement({
  description: 'Whom a request was for: digests (`~…`), or the values where the account has them stored.',
  authScopes: { public: true },
  fields: (t) => ({
    session: t.exposeString('session', { nullable: true, description: 'The session of the client program.' }),
    user: t.exposeString('user', { nullable: true, description: 'The end user that the client named.' }),
    tags: t.stringList({ description: '`name=value`.', resolve: ({ tags }) => [...tags] }),
  }),
});

/** Entries are named `account/request`. */
async function loadAttributions(refs: readonly string[], { db }: GraphqlContext): Promise<(Attribution | null)[]> {
  const byAccount = Map.groupBy(refs, (ref) => ref.split('/')[0] ?? '');
  const noted = new Map<string, Attribution>();
  for (const [accountId, of] of byAccount) {
    const ids = of.map((ref) => ref.split('/')[1] ?? '');
    for (const [requestId, attribution] of await readAttributions(db, accountId, ids))
      noted.set(`${accountId}/${requestId}`, attribution);
  }
  return refs.map((ref) => noted.get(ref) ?? null);
}

builder.objectFields(LedgerEntryType, (t) => ({
  attribution: t.loadable({
    type: AttributionType,
    nullable: true,
    description: 'Whom it was for; null: the client did not say, or nothing of it is stored.',
    load: (refs: string[], context: GraphqlContext) => loadAttributions(refs, context),
    resolve: ({ accountId, requestId }) => `${accountId}/${requestId}`,
  }),
}));

const SetAttributionModeInput = builder.inputType('SetAttributionModeInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Which account; left out: your only or oldest one.' }),
    mode: t.field({ type: AttributionModeType, required: true, description: 'What is to be stored.' }),
  }),
});

builder.mutationField('setAttributionMode', (t) =>
  t.prismaField({
    type: AccountType,
    description:
      'Sets what is stored of whom requests are for, from the next request on. What is stored already stays as it is.',
    authScopes: { user: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError] },
    args: { input: t.arg({ type: SetAttributionModeInput, required: true }) },
    resolve: async (query, _root, { input: { accountId: given, mode } }, context) => {
      const accountId = accountFor(context, given, 'members');
      const { accounts } = context.domains;
      const outcome = await accounts.setAttributionMode({ accountId, mode, actor: actorOf(context.principal) });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      return context.prisma.account.findUniqueOrThrow({ ...query, where: { id: accountId } });
    },
  }),
);
