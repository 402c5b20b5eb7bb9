import type { Vendor, VendorModel } from '../../catalog/vendors.ts';
import { actorOf } from '../../people/principal.ts';
import { encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { NotFoundError } from '../types/errors.ts';
import { changeErrors, throwCatalogRefusal } from './changes.ts';
import { RouteCostsType, RouteTestType } from './routes.ts';

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
    costs: t.field({ type: RouteCostsType, description: 'What the vendor charges.', resolve: ({ costs }) => costs }),
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
  description: 'A vendor, its key and the models to sell.',
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
  description: 'What `testVendorKey` takes.',
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
    args: { input: t.arg({ type: TestVendorKeyInput, required: true, description: 'Everything that it is given.' }) },
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
    args: { input: t.arg({ type: AddVendorInput, required: true, description: 'The vendor.' }) },
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
