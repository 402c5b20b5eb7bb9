import type { RouteTest } from '../../catalog/test-route.ts';
import { fromStoredImages, type ImagePrices, type StoredImagePrices } from '../../core/image-price.ts';
import {
  fromStoredTiers,
  fromStoredUnits,
  type PerUnit,
  type PriceClock,
  type PriceTier,
  type PriceVariant,
  type StoredTier,
} from '../../core/price.ts';
import { fromStoredClock, type StoredClock } from '../../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant } from '../../core/price-variants.ts';
import { actorOf, isOperator } from '../../people/principal.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import { NotFoundError } from '../types/errors.ts';
import {
  changeErrors,
  enteredPrices,
  given,
  ImagePricesType,
  named,
  PriceClockType,
  PriceTierType,
  PriceVariantType,
  throwCatalogRefusal,
  UnitPricesType,
  variantTexts,
} from './changes.ts';
import { CatalogEntryType } from './entries.ts';
import { decimalPrices, VendorPricesInput } from './price-inputs.ts';

/** Routes: a model on an upstream. */

interface RouteCostsView {
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
  output: bigint;
  tiers: readonly PriceTier[];
  perUnit?: PerUnit;
  images?: ImagePrices;
  variants?: readonly PriceVariant[];
  clock?: PriceClock;
}

export const RouteCostsType = builder.objectRef<RouteCostsView>('RouteCosts').implement({
  description: 'What the operator pays on a route, in USD per 1M tokens.',
  authScopes: { operator: true },
  fields: (t) => ({
    ...enteredPrices(t),
    tiers: t.field({
      type: [PriceTierType],
      description: 'Other costs for longer prompts, rising.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ tiers }) => [...tiers],
    }),
    clock: t.field({
      type: PriceClockType,
      nullable: true,
      description: 'Other costs for hours of the week; null: the same at every hour.',
      resolve: ({ clock }) => clock ?? null,
    }),
    variants: t.field({
      type: [PriceVariantType],
      description: `${variantTexts.variants} Empty: none.`,
      // Of the price's own row, where no clock can stand beside them.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ variants }) => [...(variants ?? [])],
    }),
    perUnit: t.field({
      type: UnitPricesType,
      description: 'What the vendor charges by the piece.',
      resolve: ({ perUnit }) => perUnit ?? {},
    }),
    images: t.field({
      type: ImagePricesType,
      nullable: true,
      description: 'What the vendor charges for images; null: no separate prices.',
      resolve: ({ images }) => images ?? null,
    }),
  }),
});

builder.prismaNode('Route', {
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
        costTiers: true,
        costPerUnit: true,
        costImages: true,
        costClock: true,
        costVariants: true,
      },
      resolve: ({ costInput, costCacheHit, costOutput, costClock, ...row }) =>
        costInput === null || costCacheHit === null || costOutput === null
          ? null
          : {
              input: costInput,
              cacheHit: costCacheHit,
              cacheWrite5m: row.costCacheWrite5m,
              cacheWrite1h: row.costCacheWrite1h,
              output: costOutput,
              tiers: fromStoredTiers(row.costTiers as unknown as StoredTier[]),
              perUnit: fromStoredUnits(row.costPerUnit as Record<string, number>),
              ...(row.costImages === null ? {} : { images: fromStoredImages(row.costImages as StoredImagePrices) }),
              ...(costClock === null ? {} : { clock: fromStoredClock(costClock as unknown as StoredClock) }),
              ...(row.costVariants === null
                ? {}
                : { variants: fromStoredVariants(row.costVariants as unknown as StoredVariant[]) }),
            },
    }),
  }),
});

export const RouteTestType = builder.objectRef<RouteTest>('RouteTest').implement({
  description: 'What became of a test request.',
  authScopes: { operator: true },
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Whether the upstream answered as it should.' }),
    status: t.exposeInt('status', { nullable: true, description: 'Status of its answer; null without one.' }),
    latencyMs: t.exposeInt('latencyMs', { description: 'Milliseconds until the whole answer was there.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'What was wrong; null when nothing was.' }),
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
    costs: t.field({
      type: VendorPricesInput,
      description: 'What the operator pays there; left out: unknown.',
    }),
  }),
});

const SetRoutesInput = builder.inputType('SetRoutesInput', {
  fields: (t) => ({
    modelId: t.string({ required: true, description: 'Which model.' }),
    routes: t.field({ type: [RouteInput], required: true, description: 'All its routes.' }),
  }),
});

const TestRouteInput = builder.inputType('TestRouteInput', {
  fields: (t) => ({ id: t.id({ required: true, description: 'Which route.' }) }),
});

builder.mutationFields((t) => ({
  setRoutes: t.prismaField({
    type: CatalogEntryType,
    description: 'Says where a model runs. Routes that are not named are switched off.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: SetRoutesInput, required: true }) },
    resolve: async (query, _root, { input: args }, context) => {
      const modelId = named('CatalogEntry', args.modelId);
      const routes = args.routes.map(({ costs, ...route }) => ({
        ...given(route),
        upstreamId: named('Upstream', route.upstreamId),
        costs: costs ? decimalPrices(costs) : null,
      }));
      const outcome = await context.domains.catalogChanges.saveRoutes({ modelId, routes }, actorOf(context.principal));
      throwCatalogRefusal(outcome, ['input', 'routes']);
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  testRoute: t.field({
    type: RouteTestType,
    description: 'Sends the smallest request through a route, switched on or not. The operator pays for it.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError] },
    args: { input: t.arg({ type: TestRouteInput, required: true }) },
    resolve: async (_root, { input: { id } }, { domains }) => {
      const routeId = decodeUuid('Route', id);
      const result = routeId === null ? null : await domains.routeTester.test(routeId);
      if (result === null) throw new NotFoundError('route');
      return result;
    },
  }),
}));
