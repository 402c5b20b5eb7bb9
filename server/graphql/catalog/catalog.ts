import DataLoader from 'dataloader';
import { agentSteps } from '../../catalog/agent-steps.ts';
import type { CatalogModel } from '../../catalog/catalog.ts';
import {
  type PriceClock,
  type PriceTier,
  type PriceVariant,
  type PriceWindow,
  type UnitPrices,
} from '../../core/price.ts';
import type { Protocol } from '../../core/protocol.ts';
import { listPlans, type PlanPair, planPair, vndPerMillion } from '../../plans/plans.ts';
import { builder, type ObjectFields } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { ImagePricesType, UnitPricesType, variantTexts } from './changes.ts';
import {
  knownCapabilities,
  ModelCapabilityType,
  ModelKindType,
  ProtocolType,
  ReasoningEffortType,
  WeekdayType,
} from './protocol.ts';

/** The public catalog: models and their prices, in USD and in VND. */

/** A model with the price that is valid now. */
export const ModelType = builder.objectRef<CatalogModel>('Model');

interface PriceView {
  /** Pico-USD per token. */
  price: bigint;
}

/** One query an operation, however many prices are asked for. */
const pairs = new WeakMap<GraphqlContext, Promise<PlanPair>>();

function pairOf(context: GraphqlContext): Promise<PlanPair> {
  let pair = pairs.get(context);
  if (pair === undefined) {
    pair = listPlans(context.db).then(planPair);
    pairs.set(context, pair);
  }
  return pair;
}

export const TokenPriceType = builder.objectRef<PriceView>('TokenPrice').implement({
  description: 'The price of a million tokens.',
  authScopes: { public: true },
  fields: (t) => ({
    usdPerMillion: t.field({
      type: 'UsdAmount',
      description: 'In USD: what counts.',
      resolve: ({ price }) => price * 1_000_000n,
    }),
    vndPerMillionAtStarter: t.field({
      type: 'VndAmount',
      nullable: true,
      description: 'In VND, at what the Starter plan asks for a USD; null while no plan is on sale.',
      resolve: async ({ price }, _args, context) => {
        const { starter } = await pairOf(context);
        return starter === null ? null : vndPerMillion(price, starter);
      },
    }),
    vndPerMillionAtBest: t.field({
      type: 'VndAmount',
      nullable: true,
      description: 'In VND, at what the best plan asks for a USD; null while no plan is on sale.',
      resolve: async ({ price }, _args, context) => {
        const { best } = await pairOf(context);
        return best === null ? null : vndPerMillion(price, best);
      },
    }),
  }),
});

/** The prices of the five kinds of tokens. `of`: where the object has them. */
const tokenPrices = <Shape>(t: ObjectFields<Shape>, of: (object: Shape) => UnitPrices) => ({
  input: t.field({
    type: TokenPriceType,
    description: 'Price of new context.',
    resolve: (object: Shape) => ({ price: of(object).input }),
  }),
  cacheHit: t.field({
    type: TokenPriceType,
    description: 'Price of context read from the cache.',
    resolve: (object: Shape) => ({ price: of(object).cacheHit }),
  }),
  cacheWrite5m: t.field({
    type: TokenPriceType,
    description: 'Price of context written to the five-minute cache.',
    resolve: (object: Shape) => ({ price: of(object).cacheWrite5m }),
  }),
  cacheWrite1h: t.field({
    type: TokenPriceType,
    description: 'Price of context written to the one-hour cache.',
    resolve: (object: Shape) => ({ price: of(object).cacheWrite1h }),
  }),
  output: t.field({
    type: TokenPriceType,
    description: 'Price of what it writes.',
    resolve: (object: Shape) => ({ price: of(object).output }),
  }),
});

const ModelPriceTierType = builder.objectRef<PriceTier>('ModelPriceTier').implement({
  description:
    'Prices of a model for longer prompts: the whole request is charged at them, what the model writes included.',
  authScopes: { public: true },
  fields: (t) => ({
    abovePromptTokens: t.exposeInt('abovePromptTokens', {
      description: 'For prompts of more tokens than this, all pools together.',
    }),
    ...tokenPrices(t, (prices) => prices),
  }),
});

const ModelPriceWindowType = builder.objectRef<PriceWindow>('ModelPriceWindow').implement({
  description: 'Prices of a model for hours of the week: a request that is accepted in them is charged at these.',
  authScopes: { public: true },
  fields: (t) => ({
    weekdays: t.field({
      type: [WeekdayType],
      description: 'The days on which the hours begin.',
      resolve: ({ days }) => [...days],
    }),
    hours: t.stringList({
      description:
        'Periods of the day, `HH:MM-HH:MM`, the end excluded; an end that is not after the beginning is on the next day.',
      resolve: ({ hours }) => [...hours],
    }),
    ...tokenPrices(t, (prices) => prices),
    priceTiers: t.field({
      type: [ModelPriceTierType],
      description: 'Prices of these hours for longer prompts, rising; empty: none.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ tiers }) => [...tiers],
    }),
  }),
});

const ModelPriceClockType = builder.objectRef<PriceClock>('ModelPriceClock').implement({
  description: 'Prices of a model by the clock: outside of all windows the ordinary prices count.',
  authScopes: { public: true },
  fields: (t) => ({
    timeZone: t.exposeString('timeZone', { description: 'IANA name of the time zone of days, hours and dates.' }),
    exceptDates: t.stringList({
      description: 'Dates on which no window begins, `YYYY-MM-DD`.',
      resolve: ({ exceptDates }) => [...exceptDates],
    }),
    windows: t.field({
      type: [ModelPriceWindowType],
      description: 'Each has its own prices; no two have a minute in common.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ windows }) => [...windows],
    }),
  }),
});

const ModelPriceVariantType = builder.objectRef<PriceVariant>('ModelPriceVariant').implement({
  description: 'Prices of a model that count where a request asks for them and its vendor serves them.',
  authScopes: { public: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: variantTexts.name }),
    ...tokenPrices(t, (prices) => prices),
    priceTiers: t.field({
      type: [ModelPriceTierType],
      description: 'Its prices for longer prompts, rising; empty: none.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ tiers }) => [...tiers],
    }),
  }),
});

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
    ...tokenPrices(t, ({ price }) => price),
    priceTiers: t.field({
      type: [ModelPriceTierType],
      description: 'Other prices for longer prompts, rising by the length from which they count; empty: none.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ price }) => [...(price.tiers ?? [])],
    }),
    priceClock: t.field({
      type: ModelPriceClockType,
      nullable: true,
      description: 'Other prices for hours of the week; null: the same at every hour.',
      resolve: ({ price }) => price.clock ?? null,
    }),
    priceVariants: t.field({
      type: [ModelPriceVariantType],
      description: `${variantTexts.variants} Empty: none.`,
      // Of the price's own row, where no clock can stand beside them.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ price }) => [...(price.variants ?? [])],
    }),
    perUnit: t.field({
      type: UnitPricesType,
      description: 'What is charged by the piece, beside the tokens.',
      resolve: ({ price }) => price.perUnit ?? {},
    }),
    imagePrices: t.field({
      type: ImagePricesType,
      nullable: true,
      description: 'What images cost; null: they have no separate prices.',
      resolve: ({ price }) => price.images ?? null,
    }),
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
