import type { RouteTest } from '../../catalog/test-route.ts';
import { actorOf, isOperator } from '../../people/principal.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import { NotFoundError } from '../types/errors.ts';
import { changeErrors, given, named, throwCatalogRefusal } from './changes.ts';
import { CatalogEntryType } from './entries.ts';
import { decimalPrices, PricesInput } from './price-inputs.ts';
import { PricesType, storedPrices } from './prices.ts';

/** Routes: a model on an upstream. */

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
      type: PricesType,
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
      resolve: ({ costInput: input, costCacheHit: cacheHit, costOutput: output, ...row }) =>
        input === null || cacheHit === null || output === null
          ? null
          : storedPrices({
              input,
              cacheHit,
              cacheWrite5m: row.costCacheWrite5m,
              cacheWrite1h: row.costCacheWrite1h,
              output,
              tiers: row.costTiers,
              perUnit: row.costPerUnit,
              images: row.costImages,
              clock: row.costClock,
              variants: row.costVariants,
            }),
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
      type: PricesInput,
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
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, { domains }) => {
      const routeId = decodeUuid('Route', id);
      const result = routeId === null ? null : await domains.routeTester.test(routeId);
      if (result === null) throw new NotFoundError('route');
      return result;
    },
  }),
}));
