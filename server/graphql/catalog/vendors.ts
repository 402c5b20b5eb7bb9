import type { FoundModel, FoundVendor } from '../../catalog/vendor-discovery.ts';
import type { Vendor, VendorModel } from '../../catalog/vendors.ts';
import { actorOf } from '../../people/principal.ts';
import { encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { InputError, NotFoundError } from '../types/errors.ts';
import { changeErrors, given, throwCatalogRefusal } from './changes.ts';
import { decimalPrices, PricesInput } from './price-inputs.ts';
import { PricesType, wholePrices } from './prices.ts';
import {
  knownCapabilities,
  ModelCapabilityType,
  ModelKindType,
  ProtocolType,
  ReasoningEffortType,
} from './protocol.ts';
import { RouteTestType } from './routes.ts';

/** Vendors that the service knows: from a key to models on sale in one step. */

interface VendorView {
  vendor: Vendor;
  /** The last characters of its keys here. */
  keys: readonly string[];
  /** Ids of its models that run there now, with the id of the route. */
  routes: ReadonlyMap<string, string>;
}

const VendorModelType = builder.objectRef<VendorModel & { routeId: string | null }>('VendorModel').implement({
  description: 'A model of a vendor at its list prices.',
  authScopes: { operator: true },
  fields: (t) => ({
    modelId: t.string({ description: 'What clients would send as `model`.', resolve: ({ model }) => model.id }),
    displayName: t.string({ description: 'What people read.', resolve: ({ model }) => model.displayName }),
    contextWindow: t.int({
      description: 'Tokens of prompt and answer together.',
      resolve: ({ model }) => model.contextWindow,
    }),
    maxOutputTokens: t.int({
      description: 'Tokens of the longest answer.',
      resolve: ({ model }) => model.maxOutputTokens,
    }),
    costs: t.field({
      type: PricesType,
      description: 'What the vendor charges.',
      resolve: ({ costs }) => wholePrices(costs),
    }),
    routeId: t.id({
      nullable: true,
      description: 'Its route to the vendor, for `testRoute`; null: it is not sold from there yet.',
      resolve: ({ routeId }) => routeId && encodeId('Route', routeId),
    }),
  }),
});

const VendorType = builder.objectRef<VendorView>('Vendor').implement({
  description: 'A vendor of models that the service knows.',
  authScopes: { operator: true },
  fields: (t) => ({
    vendorId: t.string({ description: 'For `addVendor`.', resolve: ({ vendor }) => vendor.id }),
    name: t.string({ description: 'What people read.', resolve: ({ vendor }) => vendor.name }),
    source: t.string({
      description: 'Where the list prices are from.',
      resolve: ({ vendor }) => vendor.source.address,
    }),
    sourceDate: t.string({ description: 'The day of the list prices.', resolve: ({ vendor }) => vendor.source.date }),
    keys: t.stringList({ description: 'How its keys end here.', resolve: ({ keys }) => [...keys] }),
    models: t.field({
      type: [VendorModelType],
      description: 'Its models.',
      resolve: ({ vendor, routes }) =>
        vendor.models.map((one) => ({ ...one, routeId: routes.get(one.model.id) ?? null })),
    }),
  }),
});

const AddVendorInput = builder.inputType('AddVendorInput', {
  fields: (t) => ({
    vendorId: t.string({ required: true, description: 'Which vendor.' }),
    secret: t.string({
      description:
        'Its key, in place of those it has: write-only, tried at the vendor before it is stored. Left out: it has one.',
    }),
    models: t.stringList({ required: true, description: 'Their `modelId`s.' }),
    markup: t.string({
      required: true,
      description: 'On the list prices, such as `15%`. A model that is sold already keeps its price.',
    }),
  }),
});

/** The vendors with what is here of each. */
async function vendorViews({ domains, prisma }: Pick<GraphqlContext, 'domains' | 'prisma'>): Promise<VendorView[]> {
  const [vendors, upstreams] = await Promise.all([
    domains.vendorSetup.list(),
    prisma.upstream.findMany({
      select: {
        id: true,
        keys: { select: { last4: true }, where: { enabled: true } },
        routes: { select: { id: true, modelId: true }, where: { enabled: true } },
      },
    }),
  ]);
  return vendors.map((vendor) => {
    const own = upstreams.filter(({ id }) => vendor.upstreams.some((upstream) => upstream.id === id));
    return {
      vendor,
      keys: [...new Set(own.flatMap(({ keys }) => keys.map(({ last4 }) => last4)))],
      routes: new Map(own.flatMap(({ routes }) => routes.map(({ id, modelId }) => [modelId, id]))),
    };
  });
}

builder.objectFields(OperatorType, (t) => ({
  vendors: t.field({
    type: [VendorType],
    description: 'The vendors that the service knows.',
    resolve: (_operator, _args, context) => vendorViews(context),
  }),
}));

const TestVendorKeyInput = builder.inputType('TestVendorKeyInput', {
  fields: (t) => ({
    vendorId: t.string({ required: true, description: 'Which vendor.' }),
    secret: t.string({ required: true, description: 'The key: write-only.' }),
  }),
});

builder.mutationFields((t) => ({
  testVendorKey: t.field({
    type: RouteTestType,
    description: 'Tries a key at a vendor, free of charge. It is stored nowhere.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError] },
    args: { input: t.arg({ type: TestVendorKeyInput, required: true }) },
    resolve: async (_root, { input: ask }, { domains }) => {
      const result = await domains.vendorSetup.testKey(ask);
      if (result === null) throw new NotFoundError('vendor');
      return result;
    },
  }),
  addVendor: t.field({
    type: VendorType,
    description:
      'Puts models of a vendor on sale: upstreams, key, models, prices with a markup and routes, all or nothing.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: AddVendorInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const { vendorId, secret, models, markup } = input;
      throwCatalogRefusal(
        await context.domains.vendorSetup.add(
          { vendorId, secret: secret ?? null, modelIds: models, markup },
          actorOf(context.principal),
        ),
      );
      const view = (await vendorViews(context)).find(({ vendor }) => vendor.id === vendorId);
      if (view === undefined) throw new NotFoundError('vendor');
      return view;
    },
  }),
}));

const FoundModelType = builder.objectRef<FoundModel>('FoundModel').implement({
  description: 'A model that an address lists, and what is proposed for it.',
  authScopes: { operator: true },
  fields: (t) => ({
    upstreamModel: t.exposeString('upstreamModel', { description: 'What the vendor calls it.' }),
    modelId: t.string({ description: 'What clients would send as `model`.', resolve: ({ model }) => model.id }),
    displayName: t.string({ description: 'What people read.', resolve: ({ model }) => model.displayName }),
    family: t.string({ description: 'What pages group it by.', resolve: ({ model }) => model.family }),
    kind: t.field({ type: ModelKindType, description: 'What it makes.', resolve: ({ model }) => model.kind }),
    contextWindow: t.int({
      description: 'Tokens of prompt and answer together.',
      resolve: ({ model }) => model.contextWindow,
    }),
    maxOutputTokens: t.int({
      description: 'Tokens of the longest answer.',
      resolve: ({ model }) => model.maxOutputTokens,
    }),
    limitsKnown: t.exposeBoolean('hasLimits', {
      description: 'Whether the limits are the vendor’s; otherwise they are cautious ones.',
    }),
    capabilities: t.field({
      type: [ModelCapabilityType],
      description: 'What it is known to do.',
      resolve: ({ model }) => knownCapabilities(model.capabilities),
    }),
    efforts: t.field({
      type: [ReasoningEffortType],
      description: 'Reasoning efforts that it is known to take.',
      resolve: ({ model }) => [...model.efforts],
    }),
    costs: t.field({
      type: PricesType,
      nullable: true,
      description: 'What the vendor charges, by its own list or the known one; null: it has to be entered.',
      resolve: ({ costs }) => costs && wholePrices(costs),
    }),
  }),
});

const FoundVendorType = builder.objectRef<FoundVendor>('FoundVendor').implement({
  description: 'What an address was found to be. Nothing of it is stored.',
  authScopes: { operator: true },
  fields: (t) => ({
    upstreamId: t.exposeString('upstreamId', { description: 'A proposed name of the upstream.' }),
    protocol: t.field({ type: ProtocolType, description: 'What it speaks.', resolve: ({ protocol }) => protocol }),
    baseUrl: t.exposeString('baseUrl', { description: 'The base address, as an upstream has it.' }),
    profile: t.exposeString('profile', {
      nullable: true,
      description: 'Its vendor, as in `vendorProfiles`; null: none that is known.',
    }),
    models: t.field({
      type: [FoundModelType],
      description: 'Its models, at most 2,000.',
      resolve: ({ models }) => [...models],
    }),
  }),
});

const DiscoverVendorInput = builder.inputType('DiscoverVendorInput', {
  fields: (t) => ({
    baseUrl: t.string({ required: true, description: 'The address that the vendor’s pages name.' }),
    secret: t.string({ description: 'The key: write-only. Left out: the vendor takes none.' }),
  }),
});

const NewModelInput = builder.inputType('NewModelInput', {
  description: 'A model to sell from an address.',
  fields: (t) => ({
    upstreamModel: t.string({ required: true, description: 'What the vendor calls it.' }),
    modelId: t.string({ required: true, description: 'What clients send as `model`.' }),
    displayName: t.string({ required: true, description: 'What people read.' }),
    family: t.string({ required: true, description: 'What pages group it by.' }),
    kind: t.field({ type: ModelKindType, description: 'What it makes; left out: text.' }),
    contextWindow: t.int({ required: true, description: 'Tokens of prompt and answer together.' }),
    maxOutputTokens: t.int({ required: true, description: 'Tokens of the longest answer.' }),
    capabilities: t.field({ type: [ModelCapabilityType], description: 'What it does; left out: not stated.' }),
    efforts: t.field({ type: [ReasoningEffortType], description: 'Efforts that it takes; left out: not stated.' }),
    costs: t.field({ type: PricesInput, required: true, description: 'What the vendor charges.' }),
  }),
});

const AddUpstreamModelsInput = builder.inputType('AddUpstreamModelsInput', {
  fields: (t) => ({
    upstreamId: t.string({ required: true, description: 'The name of the upstream; one that is there is kept.' }),
    protocol: t.field({ type: ProtocolType, required: true, description: 'What it speaks.' }),
    baseUrl: t.string({ required: true, description: 'Its base address.' }),
    profile: t.string({ description: 'Its vendor, as in `vendorProfiles`; left out: none that is known.' }),
    secret: t.string({ description: 'The key: write-only. Left out: the vendor takes none.' }),
    models: t.field({ type: [NewModelInput], required: true, description: 'The models; the first one is tried.' }),
    markup: t.string({
      required: true,
      description: 'On what the vendor charges, such as `15%`. A model that is sold already keeps its price.',
    }),
  }),
});

/** The catalog's names of members, where the input has others. */
const inputNames = (path: readonly string[]) =>
  path.map((member) => (member === 'id' ? (path[0] === 'models' ? 'modelId' : 'upstreamId') : member));

builder.mutationFields((t) => ({
  discoverVendor: t.field({
    type: FoundVendorType,
    description:
      'Finds the protocol and the models of an address by asking it for its list, free of charge. The key is stored nowhere.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: {
      input: t.arg({ type: DiscoverVendorInput, required: true }),
    },
    resolve: async (_root, { input: { baseUrl, secret } }, { domains }) => {
      const found = await domains.vendorSetup.discover({ baseUrl: baseUrl.trim(), secret: secret ?? null });
      if (found.kind === 'found') return found.vendor;
      throw new InputError([{ path: ['input', found.member], message: `${found.member} ${found.message}` }]);
    },
  }),
  addUpstreamModels: t.prismaField({
    type: 'Upstream',
    description:
      'Puts models of any vendor on sale: upstream, key, models, prices with a markup and routes, all or nothing, once the first model has answered the smallest request. The vendor charges for that.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: {
      input: t.arg({ type: AddUpstreamModelsInput, required: true }),
    },
    resolve: async (query, _root, { input: { upstreamId, models, ...rest } }, context) => {
      const outcome = await context.domains.vendorSetup.addUpstreamModels(
        {
          ...given(rest),
          id: upstreamId,
          models: models.map(({ modelId, costs, ...model }) => ({
            ...given(model),
            id: modelId,
            costs: decimalPrices(costs),
          })),
        },
        actorOf(context.principal),
      );
      throwCatalogRefusal(
        outcome.kind === 'invalid'
          ? {
              ...outcome,
              problems: outcome.problems.map(({ path, message }) => ({
                path: inputNames(path),
                message: message.startsWith('id ') ? `upstreamId ${message.slice(3)}` : message,
              })),
            }
          : outcome,
      );
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
}));
