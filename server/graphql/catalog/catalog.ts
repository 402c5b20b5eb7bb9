import DataLoader from 'dataloader';
import { agentSteps } from '../../catalog/agent-steps.ts';
import type { CatalogModel } from '../../catalog/catalog.ts';
import type { Protocol } from '../../core/protocol.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { PricesType } from './prices.ts';
import {
  knownCapabilities,
  ModelCapabilityType,
  ModelKindType,
  ProtocolType,
  ReasoningEffortType,
} from './protocol.ts';

/** The public catalog: models and what they cost. */

/** A model with the price that is valid now. */
export const ModelType = builder.objectRef<CatalogModel>('Model');

interface RouteFacts {
  protocol: Protocol;
  simulated: boolean;
}

const everyProtocol: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

/** The running routes of models, read in one query an operation: enabled routes of enabled upstreams. */
const routeLoaders = new WeakMap<GraphqlContext, DataLoader<string, RouteFacts[]>>();

function routesOf(context: GraphqlContext): DataLoader<string, RouteFacts[]> {
  let loader = routeLoaders.get(context);
  if (loader === undefined) {
    loader = new DataLoader(async (ids: readonly string[]) => {
      const { rows } = await context.db.query<RouteFacts & { modelId: string }>(
        `SELECT r.model_id AS "modelId", u.protocol, u.simulated FROM route r JOIN upstream u ON u.id = r.upstream_id
         WHERE r.model_id = ANY ($1) AND r.enabled AND u.enabled`,
        [ids],
      );
      const byModel = Map.groupBy(rows, ({ modelId }) => modelId);
      return ids.map((id) => byModel.get(id) ?? []);
    });
    routeLoaders.set(context, loader);
  }
  return loader;
}

builder.node(ModelType, {
  name: 'Model',
  description: 'A model that can be called.',
  id: { resolve: ({ id }) => id },
  loadOne: async (id, { domains }) => {
    const model = await domains.catalog.resolve(id);
    return model?.id === id ? model : null;
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'contextWindow' in value && 'price' in value,
  authScopes: { public: true },
  fields: (t) => ({
    modelId: t.exposeString('id', { description: 'Catalog id: what clients write in `model`.' }),
    displayName: t.exposeString('displayName', { description: 'What people read.' }),
    family: t.exposeString('family', { description: 'Which models it belongs with.' }),
    kind: t.field({
      type: ModelKindType,
      nullable: true,
      description: 'What it makes of its input.',
      resolve: ({ kind }) => kind,
    }),
    contextWindow: t.exposeInt('contextWindow', { description: 'Most tokens of a request and its answer.' }),
    maxOutputTokens: t.exposeInt('maxOutputTokens', { description: 'Most tokens of an answer.' }),
    modelCapabilities: t.field({
      type: [ModelCapabilityType],
      description: 'What it can do, as far as programs may rely on it.',
      resolve: ({ capabilities }) => knownCapabilities(capabilities),
    }),
    capabilities: t.stringList({
      description: 'What it can do, in words for people: an operator may name anything.',
      resolve: ({ capabilities }) => [...capabilities],
    }),
    reasoningEfforts: t.field({
      type: [ReasoningEffortType],
      description: 'Reasoning efforts that it knows; `NONE` alone: it takes no effort; empty: not said.',
      resolve: ({ efforts }) => [...efforts],
    }),
    protocols: t.field({
      type: [ProtocolType],
      description:
        'Protocols over which it can be called: all of them, by translation where no route of it speaks one, and none while it has no route.',
      resolve: async ({ id }, _args, context) => {
        const routes = await routesOf(context).load(id);
        return routes.length === 0 ? [] : everyProtocol;
      },
    }),
    nativeProtocols: t.field({
      type: [ProtocolType],
      description: 'Protocols that its routes speak themselves: such requests are forwarded as they are.',
      resolve: async ({ id }, _args, context) => {
        const routes = await routesOf(context).load(id);
        return everyProtocol.filter((protocol) => routes.some((route) => route.protocol === protocol));
      },
    }),
    prices: t.field({ type: PricesType, description: 'What it costs now.', resolve: ({ price }) => price }),
    maxPromptTokens: t.int({
      nullable: true,
      description:
        'The longest prompt that has a price: a request whose prompt may be longer, by its bytes, is refused. Null: whatever its context window takes.',
      resolve: ({ price }) => price.maxPromptTokens ?? null,
    }),
    pricedSince: t.field({
      type: 'DateTime',
      description: 'Since when these prices are valid.',
      resolve: ({ price }) => price.validFrom,
    }),
    agentStepsFor5Usd: t.int({
      nullable: true,
      description:
        'How many illustrative agent steps (150,000 tokens from the cache, 30,000 new, 4,000 written) 5 USD pay for, at the prices of the dearest hours; null when they are free, and for models that make embeddings.',
      resolve: ({ kind, price }) => (kind === 'text' ? agentSteps(price) : null),
    }),
    markedAgentStepsFor5Usd: t.int({
      nullable: true,
      description:
        'The same where the client marks its context for the cache: the 30,000 new tokens are written to the five-minute cache. Null when they are free.',
      resolve: ({ kind, price }) => (kind === 'text' ? agentSteps(price, true) : null),
    }),
    simulated: t.boolean({
      description: 'Whether it runs on the built-in simulator: nothing it says comes from a model.',
      resolve: async ({ id }, _args, context) => {
        const routes = await routesOf(context).load(id);
        return routes.length > 0 && routes.every(({ simulated }) => simulated);
      },
    }),
  }),
});

builder.queryFields((t) => ({
  models: t.field({
    type: [ModelType],
    description: 'Every model that can be called at this moment.',
    authScopes: { public: true },
    complexity: { field: 1, multiplier: 50 },
    resolve: (_root, _args, { domains }) => domains.catalog.list(),
  }),
  model: t.field({
    type: ModelType,
    nullable: true,
    description: 'The model that a client means by this text, as the model endpoints understand it; null: none.',
    authScopes: { public: true },
    args: { modelId: t.arg.string({ required: true, description: 'Catalog id.' }) },
    resolve: (_root, { modelId }, { domains }) => (modelId.length > 256 ? null : domains.catalog.resolve(modelId)),
  }),
}));
