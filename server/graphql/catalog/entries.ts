import type { UnknownMembers } from '../../catalog/model.ts';
import type { ReasoningEffort } from '../../core/effort.ts';
import type { ModelKind } from '../../core/kind.ts';
import { actorOf, isOperator } from '../../people/principal.ts';
import { noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { storedEnum, wordValues } from '../types/enums.ts';
import { changeErrors, given, named, throwCatalogRefusal } from './changes.ts';
import { decimalPrices, PricesInput } from './price-inputs.ts';
import { PricesType, storedPrices } from './prices.ts';
import { knownCapabilities, ModelCapabilityType, ModelKindType, ReasoningEffortType } from './protocol.ts';

/** Models as operators see and change them, on or off, with all their prices. */

const reasoningSpeed =
  'Tokens a second that its hidden reasoning never falls below: silence of a stream counts so, and a stream that was left is charged so. Zero: it shows all its reasoning. Null: not said; silence of a model that reasons then counts as 80 tokens a second while it streams, and nobody is charged for it.';

const effortsTaken = 'Reasoning efforts that it knows; `NONE` alone: it takes no effort; empty: not said.';

const onUnknownMembers =
  'What becomes of a request with a top-level member that the gateway does not know. Translation refuses it in any case.';

const UnknownMembersType = storedEnum('UnknownMembers', {
  description: 'What becomes of members that the gateway does not know.',
  values: wordValues<UnknownMembers>({ pass: 'They are passed on.', refuse: 'The request is refused.' }),
});

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
    kind: t.field({
      type: ModelKindType,
      nullable: true,
      description: 'What it makes of its input.',
      resolve: ({ kind }) => kind as ModelKind,
    }),
    contextWindow: t.exposeInt('contextWindow', { description: 'Most tokens of a request and its answer.' }),
    maxOutputTokens: t.exposeInt('maxOutputTokens', { description: 'Most tokens of an answer.' }),
    allow: t.exposeStringList('allow', { description: 'Fields and betas that are open for it.' }),
    modelCapabilities: t.field({
      type: [ModelCapabilityType],
      description: 'What it can do, as far as programs may rely on it.',
      select: { capabilities: true },
      resolve: (model) => knownCapabilities(model.capabilities),
    }),
    capabilities: t.exposeStringList('capabilities', {
      description: 'What it can do, in words for people: an operator may name anything.',
    }),
    reasoningEfforts: t.field({
      type: [ReasoningEffortType],
      description: effortsTaken,
      select: { efforts: true },
      resolve: ({ efforts }) => efforts as ReasoningEffort[],
    }),
    onUnknownMembers: t.field({
      type: UnknownMembersType,
      nullable: true,
      description: onUnknownMembers,
      select: { unknownMembers: true },
      resolve: ({ unknownMembers }) => unknownMembers as UnknownMembers,
    }),
    reasoningTokensPerSecond: t.exposeInt('reasoningTokensPerSecond', {
      nullable: true,
      description: reasoningSpeed,
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it can be called.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    priceVersions: t.relation('prices', {
      description:
        'The newest 100 price versions, the newest first; those of the future stand before the one that is valid. The audit log has all.',
      query: { orderBy: [{ validFrom: 'desc' }, { createdAt: 'desc' }, { id: 'desc' }], take: 100 },
    }),
    routes: t.relation('routes', {
      description: 'Where it runs.',
      query: { orderBy: [{ priority: 'asc' }, { upstreamId: 'asc' }, { upstreamModel: 'asc' }] },
    }),
  }),
});

builder.prismaObject('Price', {
  name: 'PriceVersion',
  description: 'Prices of a model from a moment on. Never rewritten.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Which version; ledger entries freeze its figures.' }),
    prices: t.field({
      type: PricesType,
      description: 'The prices.',
      select: {
        input: true,
        cacheHit: true,
        cacheWrite5m: true,
        cacheWrite1h: true,
        output: true,
        tiers: true,
        perUnit: true,
        images: true,
        clock: true,
        variants: true,
      },
      resolve: (row) => storedPrices(row),
    }),
    maxPromptTokens: t.exposeInt('maxPromptTokens', {
      nullable: true,
      description: 'The longest prompt that has a price; null: whatever the upstream takes.',
    }),
    validFrom: t.expose('validFrom', { type: 'DateTime', description: 'From when it counts.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written.' }),
  }),
});

builder.objectFields(OperatorType, (t) => ({
  models: t.prismaField({
    type: [CatalogEntryType],
    description: 'Every model, switched off or not.',
    complexity: { field: 1, multiplier: 20 },
    resolve: (query, _operator, _args, { prisma }) => prisma.model.findMany({ ...query, orderBy: { id: 'asc' } }),
  }),
}));

const SaveModelInput = builder.inputType('SaveModelInput', {
  description: 'A model, new or known.',
  fields: (t) => ({
    modelId: t.string({ required: true, description: 'Catalog id: lower case; what clients write in `model`.' }),
    displayName: t.string({ required: true, description: 'What people read.' }),
    family: t.string({ required: true, description: 'Which models it belongs with.' }),
    kind: t.field({
      type: ModelKindType,
      description: 'What it makes of its input. Left out: what it is known for, `TEXT` of a new one.',
    }),
    contextWindow: t.int({ required: true, description: 'Most tokens of a request and its answer.' }),
    maxOutputTokens: t.int({ required: true, description: 'Most tokens of an answer.' }),
    allow: t.stringList({ defaultValue: [], description: 'Fields and betas that are open for it.' }),
    capabilities: t.stringList({
      defaultValue: [],
      description: 'What it can do: `tools`, `vision`, `thinking`, `caching`, and whatever people are to read.',
    }),
    reasoningEfforts: t.field({ type: [ReasoningEffortType], description: effortsTaken }),
    reasoningTokensPerSecond: t.int({ description: reasoningSpeed }),
    onUnknownMembers: t.field({ type: UnknownMembersType, description: `${onUnknownMembers} Left out: \`PASS\`.` }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether it can be called.' }),
  }),
});

const SavePricesInput = builder.inputType('SavePricesInput', {
  fields: (t) => ({
    modelId: t.string({ required: true, description: 'Which model.' }),
    prices: t.field({ type: PricesInput, required: true, description: 'The prices.' }),
    maxPromptTokens: t.int({
      description:
        'The longest prompt that these prices are for. A request whose prompt may be longer, by its bytes, is refused; left out: whatever the upstream takes.',
    }),
    validFrom: t.field({ type: 'DateTime', description: 'From when they count; left out: at once.' }),
  }),
});

const SetModelEnabledInput = builder.inputType('SetModelEnabledInput', {
  fields: (t) => ({
    modelId: t.string({ required: true, description: 'Which model.' }),
    enabled: t.boolean({ required: true, description: 'On or off.' }),
  }),
});

builder.mutationFields((t) => ({
  saveModel: t.prismaField({
    type: CatalogEntryType,
    description: 'Creates or changes a model. Its prices and routes stay.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: SaveModelInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const { modelId, reasoningEfforts: efforts, onUnknownMembers: unknownMembers, ...rest } = input;
      const known = await context.prisma.model.findUnique({ where: { id: modelId }, select: { kind: true } });
      const outcome = await context.domains.catalogChanges.saveModel(
        {
          id: modelId,
          ...(known === null ? {} : { kind: known.kind }),
          ...given({ ...rest, efforts, unknownMembers }),
        },
        actorOf(context.principal),
      );
      throwCatalogRefusal(outcome, ['input'], { id: ['input', 'modelId'] });
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  setModelEnabled: t.prismaField({
    type: CatalogEntryType,
    description: 'Switches a model on or off. Running requests finish.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: SetModelEnabledInput, required: true }) },
    resolve: async (query, _root, { input: args }, context) => {
      const modelId = named('CatalogEntry', args.modelId);
      const ask = { modelId, enabled: args.enabled };
      throwCatalogRefusal(await context.domains.catalogChanges.switchModel(ask, actorOf(context.principal)));
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
  savePrices: t.prismaField({
    type: CatalogEntryType,
    description: 'Adds a price version. Requests that run are charged at the prices they were admitted with.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: SavePricesInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const modelId = named('CatalogEntry', input.modelId);
      const prices = { ...decimalPrices(input.prices), ...given({ maxPromptTokens: input.maxPromptTokens }) };
      const ask = { modelId, prices, validFrom: input.validFrom ?? null };
      const outcome = await context.domains.catalogChanges.setPrices(ask, actorOf(context.principal));
      throwCatalogRefusal(outcome, ['input', 'prices'], {
        validFrom: ['input', 'validFrom'],
        maxPromptTokens: ['input', 'maxPromptTokens'],
      });
      return context.prisma.model.findUniqueOrThrow({ ...query, where: { id: modelId } });
    },
  }),
}));
