import type { CatalogOutcome } from '../catalog/changes.ts';
import type { UpstreamHealth } from '../catalog/router.ts';
import type { RouteTest } from '../catalog/test-route.ts';
import { actorOf, isOperator } from '../people/principal.ts';
import { decodeId, decodeUuid } from './access.ts';
import { builder } from './builder.ts';
import { InputError, NotFoundError } from './errors.ts';
import { ProtocolType } from './ledger.ts';
import { noSuchId } from './people.ts';

/** The catalog as operators see and change it: models with all their prices, upstreams, keys, routes. */

const OnDisconnect = builder.enumType('OnDisconnect', {
  description: 'What happens to an exchange with an upstream when the client leaves.',
  values: {
    ABORT: { value: 'abort', description: 'It is ended.' },
    DRAIN: { value: 'drain', description: 'It goes on for a bounded time, so that its usage is known.' },
  } as const,
});

interface RouteCostsView {
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
  output: bigint;
}

const price = (picoPerToken: bigint) => picoPerToken * 1_000_000n;
const optionalPrice = (picoPerToken: bigint | null) => (picoPerToken === null ? null : price(picoPerToken));

const RouteCostsType = builder.objectRef<RouteCostsView>('RouteCosts').implement({
  description: 'What the operator pays on a route, in USD per 1M tokens.',
  authScopes: { operator: true },
  fields: (t) => ({
    input: t.field({ type: 'UsdAmount', description: 'New context.', resolve: (costs) => price(costs.input) }),
    cacheHit: t.field({
      type: 'UsdAmount',
      description: 'Context from the cache.',
      resolve: (costs) => price(costs.cacheHit),
    }),
    cacheWrite5m: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'Written to the five-minute cache; null: as new context.',
      resolve: (costs) => optionalPrice(costs.cacheWrite5m),
    }),
    cacheWrite1h: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'Written to the one-hour cache; null: as new context.',
      resolve: (costs) => optionalPrice(costs.cacheWrite1h),
    }),
    output: t.field({
      type: 'UsdAmount',
      description: 'What the model writes.',
      resolve: (costs) => price(costs.output),
    }),
  }),
});

const UpstreamHealthType = builder.objectRef<UpstreamHealth>('UpstreamHealth').implement({
  description: 'How an upstream has been doing lately.',
  authScopes: { operator: true },
  fields: (t) => ({
    consecutiveFailures: t.exposeInt('consecutiveFailures', { description: 'Failures since the last success.' }),
    ejected: t.exposeBoolean('ejected', { description: 'Whether it is left out for a while.' }),
    restingKeys: t.exposeInt('restingKeys', { description: 'Keys that are left out for a while.' }),
  }),
});

const effortsKnown =
  'Reasoning efforts that it knows, of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; `none` alone: it takes no effort; empty: not said.';

export const CatalogEntryType = builder.prismaNode('Model', {
  name: 'CatalogEntry',
  id: { field: 'id' },
  description: 'A model as operators see it, switched off or not.',
  findUnique: (id, { principal }) => ({ id: isOperator(principal) ? id : noSuchId }),
  authScopes: { operator: true },
  fields: (t) => ({
    modelId: t.exposeString('id', { description: 'Catalog id.' }),
    displayName: t.exposeString('displayName', { description: 'What people read.' }),
    family: t.exposeString('family', { description: 'Which models it belongs with.' }),
    contextWindow: t.exposeInt('contextWindow', { description: 'Most tokens of a request and its answer.' }),
    maxOutputTokens: t.exposeInt('maxOutputTokens', { description: 'Most tokens of an answer.' }),
    allow: t.exposeStringList('allow', { description: 'Fields and betas that are open for it.' }),
    capabilities: t.exposeStringList('capabilities', { description: 'What it can do.' }),
    efforts: t.exposeStringList('efforts', { description: effortsKnown }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it can be called.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    prices: t.relation('prices', {
      description: 'Price versions, the newest first; those of the future stand before the one that is valid.',
      query: { orderBy: [{ validFrom: 'desc' }, { createdAt: 'desc' }], take: 100 },
    }),
    routes: t.relation('routes', {
      description: 'Where it runs.',
      query: { orderBy: [{ priority: 'asc' }, { upstreamId: 'asc' }, { upstreamModel: 'asc' }] },
    }),
  }),
});

export const PriceVersionType = builder.prismaObject('Price', {
  name: 'PriceVersion',
  description: 'Prices of a model from a moment on, in USD per 1M tokens. Never rewritten.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Which version; ledger entries freeze its figures.' }),
    input: t.field({
      type: 'UsdAmount',
      description: 'New context.',
      select: { input: true },
      resolve: (row) => price(row.input),
    }),
    cacheHit: t.field({
      type: 'UsdAmount',
      description: 'Context from the cache.',
      select: { cacheHit: true },
      resolve: (row) => price(row.cacheHit),
    }),
    cacheWrite5m: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'Written to the five-minute cache; null: as new context.',
      select: { cacheWrite5m: true },
      resolve: (row) => optionalPrice(row.cacheWrite5m),
    }),
    cacheWrite1h: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'Written to the one-hour cache; null: as new context.',
      select: { cacheWrite1h: true },
      resolve: (row) => optionalPrice(row.cacheWrite1h),
    }),
    output: t.field({
      type: 'UsdAmount',
      description: 'What the model writes.',
      select: { output: true },
      resolve: (row) => price(row.output),
    }),
    validFrom: t.expose('validFrom', { type: 'DateTime', description: 'From when it counts.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written.' }),
  }),
});

export const UpstreamType = builder.prismaNode('Upstream', {
  id: { field: 'id' },
  description: 'An endpoint where models run.',
  findUnique: (id, { principal }) => ({ id: isOperator(principal) ? id : noSuchId }),
  authScopes: { operator: true },
  fields: (t) => ({
    upstreamId: t.exposeString('id', { description: 'What operators call it.' }),
    protocol: t.field({
      type: ProtocolType,
      description: 'What it speaks.',
      select: { protocol: true },
      resolve: ({ protocol }) => protocol as 'messages' | 'chat-completions' | 'responses',
    }),
    baseUrl: t.exposeString('baseUrl', { description: 'Where it is.' }),
    onDisconnect: t.field({
      type: OnDisconnect,
      description: 'What happens when the client leaves.',
      select: { onDisconnect: true },
      resolve: ({ onDisconnect }) => (onDisconnect === 'drain' ? 'drain' : 'abort'),
    }),
    features: t.field({
      type: 'Json',
      description: 'What translation may use there, where it differs from the protocol’s defaults.',
      select: { features: true },
      resolve: ({ features }) => features,
    }),
    simulated: t.exposeBoolean('simulated', { description: 'Whether it is the built-in simulator.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is used.' }),
    keys: t.relation('keys', {
      description: 'Its keys; the secrets themselves are never shown.',
      query: { orderBy: { createdAt: 'asc' } },
    }),
    routes: t.relation('routes', { description: 'Models that run there.', query: { orderBy: { modelId: 'asc' } } }),
    health: t.field({
      type: UpstreamHealthType,
      nullable: true,
      description: 'How it has been doing, as the process that answers sees it; null: nothing speaks against it.',
      select: { id: true },
      resolve: ({ id }, _args, { domains }) =>
        domains.upstreamHealth().find(({ upstreamId }) => upstreamId === id) ?? null,
    }),
  }),
});

export const UpstreamKeyType = builder.prismaObject('UpstreamKey', {
  description: 'A vendor’s key, sealed.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'For `deleteUpstreamKey`.' }),
    last4: t.exposeString('last4', { description: 'How it ends.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is used.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
  }),
});

export const RouteType = builder.prismaNode('Route', {
  id: { field: 'id' },
  description: 'A model on an upstream.',
  findUnique: (id, { principal }) => ({ id: isOperator(principal) ? id : noSuchId }),
  authScopes: { operator: true },
  fields: (t) => ({
    entry: t.relation('model', { description: 'The model.' }),
    upstream: t.relation('upstream', { description: 'Where it runs.' }),
    upstreamModel: t.exposeString('upstreamModel', { description: 'What the upstream calls it.' }),
    priority: t.exposeInt('priority', { description: 'Lower is tried first.' }),
    weight: t.exposeInt('weight', { description: 'Share among routes of one priority.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is used.' }),
    costs: t.field({
      type: RouteCostsType,
      nullable: true,
      description: 'What the operator pays there; null: unknown.',
      select: {
        costInput: true,
        costCacheHit: true,
        costCacheWrite5m: true,
        costCacheWrite1h: true,
        costOutput: true,
      },
      resolve: ({ costInput, costCacheHit, costCacheWrite5m, costCacheWrite1h, costOutput }) =>
        costInput === null || costCacheHit === null || costOutput === null
          ? null
          : {
              input: costInput,
              cacheHit: costCacheHit,
              cacheWrite5m: costCacheWrite5m,
              cacheWrite1h: costCacheWrite1h,
              output: costOutput,
            },
    }),
  }),
});

const RouteTestType = builder.objectRef<RouteTest>('RouteTest').implement({
  description: 'What became of a test request.',
  authScopes: { operator: true },
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Whether the upstream answered as it should.' }),
    status: t.exposeInt('status', { nullable: true, description: 'Status of its answer; null without one.' }),
    latencyMs: t.exposeInt('latencyMs', { description: 'Milliseconds until the whole answer was there.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'What was wrong; null when nothing was.' }),
  }),
});

// ---------------------------------------------------------------------------------------------- changing the catalog

const writes = [InputError, NotFoundError];

/**
 * Throws what refused a change. `below`: the argument that carries the input; `elsewhere`: where members of the input
 * stand that the arguments have at another place, or call otherwise.
 */
function settle(outcome: CatalogOutcome, below: string[] = ['input'], elsewhere: Record<string, string[]> = {}): void {
  if (outcome.kind === 'unknown') throw new NotFoundError(outcome.what);
  if (outcome.kind !== 'invalid') return;
  throw new InputError(
    outcome.problems.map(({ path, message }) => {
      const [member = ''] = path;
      const place = path.length === 1 && Object.hasOwn(elsewhere, member) ? elsewhere[member] : undefined;
      if (place === undefined) return { path: [...below, ...path], message };
      return { path: place, message: message.replace(`${member} `, `${place.at(-1)} `) };
    }),
  );
}

/** Operators may name a model or an upstream by its own id or by its global one. */
const named = (type: string, id: string): string => decodeId(type, id) ?? id;

const SaveModelInput = builder.inputType('SaveModelInput', {
  description: 'A model, new or known.',
  fields: (t) => ({
    modelId: t.string({ required: true, description: 'Catalog id: lower case; what clients write in `model`.' }),
    displayName: t.string({ required: true, description: 'What people read.' }),
    family: t.string({ required: true, description: 'Which models it belongs with.' }),
    contextWindow: t.int({ required: true, description: 'Most tokens of a request and its answer.' }),
    maxOutputTokens: t.int({ required: true, description: 'Most tokens of an answer.' }),
    allow: t.stringList({ defaultValue: [], description: 'Fields and betas that are open for it.' }),
    capabilities: t.stringList({ defaultValue: [], description: 'What it can do.' }),
    efforts: t.stringList({ defaultValue: [], description: effortsKnown }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether it can be called.' }),
  }),
});

const PricesInput = builder.inputType('PricesInput', {
  description: 'Prices in USD per 1M tokens, as decimal strings with at most 6 decimals.',
  fields: (t) => ({
    input: t.string({ required: true, description: 'New context.' }),
    cacheHit: t.string({ required: true, description: 'Context from the cache; lower than `input`.' }),
    cacheWrite5m: t.string({ description: 'Written to the five-minute cache; left out: as new context.' }),
    cacheWrite1h: t.string({ description: 'Written to the one-hour cache; left out: as new context.' }),
    output: t.string({ required: true, description: 'What the model writes.' }),
  }),
});

const FeaturesInput = builder.inputType('UpstreamFeaturesInput', {
  description: 'What translation may use at an upstream; what is left out has the protocol’s default.',
  fields: (t) => ({
    maxTokensField: t.string({ description: '`max_tokens` or `max_completion_tokens`.' }),
    systemRole: t.string({ description: '`keep`, `user` or `hoist`.' }),
    files: t.boolean({ description: 'Takes documents.' }),
    jsonObject: t.boolean({ description: 'Takes a request for any JSON object.' }),
    sampling: t.boolean({ description: 'Takes temperature and the like.' }),
    reasoningHistory: t.boolean({ description: 'Takes earlier reasoning back.' }),
    effort: t.boolean({ description: 'Takes an effort.' }),
    store: t.boolean({ description: 'Keeps questions and answers unless it is told not to; it is told then.' }),
  }),
});

const SaveUpstreamInput = builder.inputType('SaveUpstreamInput', {
  description: 'An upstream, new or known.',
  fields: (t) => ({
    upstreamId: t.string({ required: true, description: 'What operators call it.' }),
    protocol: t.field({ type: ProtocolType, required: true, description: 'What it speaks.' }),
    baseUrl: t.string({
      required: true,
      description: 'https; without `/v1` for messages, with it for the others. A private address is refused.',
    }),
    onDisconnect: t.field({ type: OnDisconnect, defaultValue: 'abort', description: 'When the client leaves.' }),
    features: t.field({ type: FeaturesInput, description: 'What translation may use there.' }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether it is used.' }),
    secret: t.string({
      description: 'Its key, in place of those it has: write-only. Needed again when the address moves elsewhere.',
    }),
  }),
});

const RouteInput = builder.inputType('RouteInput', {
  description: 'A place where a model runs.',
  fields: (t) => ({
    upstreamId: t.string({ required: true, description: 'Where.' }),
    upstreamModel: t.string({ required: true, description: 'What the upstream calls the model.' }),
    priority: t.int({ defaultValue: 0, description: 'Lower is tried first.' }),
    weight: t.int({ defaultValue: 1, description: 'Share among routes of one priority.' }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether it is used.' }),
    costs: t.field({ type: PricesInput, description: 'What the operator pays there; left out: unknown.' }),
  }),
});

/** What was not given is left to the defaults of the domain. */
function given(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}

builder.mutationFields((t) => ({
  saveModel: t.prismaField({
    type: CatalogEntryType,
    description: 'Creates or changes a model. Its prices and routes stay.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: { input: t.arg({ type: SaveModelInput, required: true, description: 'The model.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { modelId, ...rest } = input;
      const outcome = await context.domains.catalogChanges.saveModel(
        { id: modelId, ...given(rest) },
        actorOf(context.principal),
      );
      settle(outcome, ['input'], { id: ['input', 'modelId'] });
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  setModelEnabled: t.prismaField({
    type: CatalogEntryType,
    description: 'Switches a model on or off. Running requests finish.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: {
      modelId: t.arg.string({ required: true, description: 'Which model.' }),
      enabled: t.arg.boolean({ required: true, description: 'On or off.' }),
    },
    resolve: async (query, _root, args, context) => {
      const modelId = named('CatalogEntry', args.modelId);
      const ask = { modelId, enabled: args.enabled };
      settle(await context.domains.catalogChanges.switchModel(ask, actorOf(context.principal)));
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  setPrices: t.prismaField({
    type: CatalogEntryType,
    description: 'Adds a price version. Requests that run are charged at the prices they were admitted with.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: {
      modelId: t.arg.string({ required: true, description: 'Which model.' }),
      input: t.arg({ type: PricesInput, required: true, description: 'The prices.' }),
      validFrom: t.arg({ type: 'DateTime', description: 'From when they count; left out: at once.' }),
    },
    resolve: async (query, _root, args, context) => {
      const modelId = named('CatalogEntry', args.modelId);
      const ask = { modelId, prices: given(args.input), validFrom: args.validFrom ?? null };
      const outcome = await context.domains.catalogChanges.setPrices(ask, actorOf(context.principal));
      settle(outcome, ['input'], { validFrom: ['validFrom'] });
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  setRoutes: t.prismaField({
    type: CatalogEntryType,
    description: 'Says where a model runs. Routes that are not named are switched off.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: {
      modelId: t.arg.string({ required: true, description: 'Which model.' }),
      routes: t.arg({ type: [RouteInput], required: true, description: 'All its routes.' }),
    },
    resolve: async (query, _root, args, context) => {
      const modelId = named('CatalogEntry', args.modelId);
      const routes = args.routes.map((route) => ({
        ...given(route),
        upstreamId: named('Upstream', route.upstreamId),
        costs: route.costs ? given(route.costs) : null,
      }));
      const outcome = await context.domains.catalogChanges.saveRoutes({ modelId, routes }, actorOf(context.principal));
      settle(outcome, ['routes']);
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  saveUpstream: t.prismaField({
    type: UpstreamType,
    description: 'Creates or changes an upstream.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: { input: t.arg({ type: SaveUpstreamInput, required: true, description: 'The upstream.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { upstreamId, secret, features, ...rest } = input;
      const outcome = await context.domains.catalogChanges.saveUpstream(
        { id: upstreamId, ...given(rest), features: given(features ?? {}) },
        secret ?? null,
        actorOf(context.principal),
      );
      settle(outcome, ['input'], { id: ['input', 'upstreamId'] });
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  setUpstreamEnabled: t.prismaField({
    type: UpstreamType,
    description: 'Switches an upstream on or off. Running requests finish.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: {
      upstreamId: t.arg.string({ required: true, description: 'Which upstream.' }),
      enabled: t.arg.boolean({ required: true, description: 'On or off.' }),
    },
    resolve: async (query, _root, args, context) => {
      const upstreamId = named('Upstream', args.upstreamId);
      const ask = { upstreamId, enabled: args.enabled };
      settle(await context.domains.catalogChanges.switchUpstream(ask, actorOf(context.principal)));
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  addUpstreamKey: t.prismaField({
    type: UpstreamType,
    description: 'Adds a key beside those that an upstream has: the load is spread over them. Write-only.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: {
      upstreamId: t.arg.string({ required: true, description: 'Which upstream.' }),
      secret: t.arg.string({ required: true, description: 'The key.' }),
    },
    resolve: async (query, _root, args, context) => {
      const upstreamId = named('Upstream', args.upstreamId);
      const ask = { upstreamId, secret: args.secret };
      settle(await context.domains.catalogChanges.addKey(ask, actorOf(context.principal)), []);
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  deleteUpstreamKey: t.prismaField({
    type: UpstreamType,
    description: 'Deletes a key of an upstream.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: {
      upstreamId: t.arg.string({ required: true, description: 'Which upstream.' }),
      keyId: t.arg.id({ required: true, description: 'Which key.' }),
    },
    resolve: async (query, _root, args, context) => {
      const upstreamId = named('Upstream', args.upstreamId);
      const ask = { upstreamId, keyId: args.keyId };
      settle(await context.domains.catalogChanges.deleteKey(ask, actorOf(context.principal)), []);
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  testRoute: t.field({
    type: RouteTestType,
    description: 'Sends the smallest request through a route, switched on or not. The operator pays for it.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError] },
    args: { id: t.arg.id({ required: true, description: 'Which route.' }) },
    resolve: async (_root, { id }, { domains }) => {
      const routeId = decodeUuid('Route', id);
      const result = routeId === null ? null : await domains.routeTester.test(routeId);
      if (result === null) throw new NotFoundError('route');
      return result;
    },
  }),
}));
