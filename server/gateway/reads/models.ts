import type { FastifyInstance } from 'fastify';
import type { Catalog, CatalogModel } from '../../catalog/catalog.ts';
import { imageFacts, usdPerUnit } from '../../catalog/models.ts';
import type { ImagePrices } from '../../core/image-price.ts';
import type { ModelKind } from '../../core/kind.ts';
import { formatPrice } from '../../core/money.ts';
import type { PriceClock, PriceTier, UnitPrices } from '../../core/price.ts';
import type { Principal } from '../../keys/keyring.ts';
import { requestIdHeaders } from '../../runtime/http.ts';
import { reply } from '../entrance/model-routes.ts';
import type { Refusals } from '../refusals/refusals.ts';

/**
 * `GET /v1/models` and `/v1/models/{id}`: one envelope that the clients of every protocol parse, restricted to the
 * models of the calling key. Prices are extension members, which other clients ignore.
 */

export interface ModelsParts {
  catalog: Catalog;
  refusals: Refusals;
}

/** Pico-USD per token as USD per token: the unit of OpenRouter's clients. */
function usdPerToken(picoPerToken: bigint): string {
  const digits = picoPerToken.toString().padStart(13, '0');
  const rest = digits.slice(-12).replace(/0+$/, '');
  return rest === '' ? digits.slice(0, -12) : `${digits.slice(0, -12)}.${rest}`;
}

/**
 * Reasoning in the shape of OpenRouter's clients, strongest effort first; absent when the entry names no effort, or
 * only `none`.
 */
function reasoningOf({ efforts }: CatalogModel): Record<string, unknown> {
  const mandatory = !efforts.includes('none');
  if (efforts.length === 0 || (efforts.length === 1 && !mandatory)) return {};
  return { reasoning: { mandatory, supported_efforts: efforts.toReversed() } };
}

/** Chat completions parameters that every model accepts, by OpenRouter's names. */
const commonParameters = ['max_tokens', 'max_completion_tokens', 'stop', 'temperature', 'top_p'];
const toolParameters = ['tools', 'tool_choice', 'parallel_tool_calls'];
const thinkingParameters = ['reasoning', 'include_reasoning', 'reasoning_effort'];

const otherParameters: Record<Exclude<ModelKind, 'text'>, readonly string[]> = {
  embedding: ['encoding_format', 'dimensions'],
  image: ['n', 'size', 'quality', 'background', 'output_format', 'output_compression', 'stream', 'partial_images'],
};

const outputs: Record<ModelKind, string> = { text: 'text', embedding: 'embeddings', image: 'image' };

function textParameters(capabilities: readonly string[]): string[] {
  return [
    ...commonParameters,
    ...(capabilities.includes('tools') ? toolParameters : []),
    ...(capabilities.includes('thinking') ? thinkingParameters : []),
  ];
}

/** The members that OpenRouter's published SDK requires of a model (`@openrouter/sdk`, schema `Model`). */
function openRouterMembers({
  id,
  kind,
  capabilities,
  contextWindow,
  maxOutputTokens,
}: CatalogModel): Record<string, unknown> {
  const input = ['text', ...(capabilities.includes('vision') ? ['image'] : [])];
  const output = outputs[kind];
  return {
    canonical_slug: id,
    architecture: {
      modality: `${input.join('+')}->${output}`,
      input_modalities: input,
      output_modalities: [output],
      tokenizer: 'Other',
      instruct_type: null,
    },
    supported_parameters: kind === 'text' ? textParameters(capabilities) : otherParameters[kind],
    top_provider: { context_length: contextWindow, max_completion_tokens: maxOutputTokens, is_moderated: false },
    per_request_limits: null,
    default_parameters: null,
    supported_voices: null,
    links: { details: `/api/v1/models/${id}` },
  };
}

export function presentModel(model: CatalogModel): Record<string, unknown> {
  const { price } = model;
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    created: Math.floor(model.createdAt.getTime() / 1000),
    created_at: model.createdAt.toISOString(),
    owned_by: model.family,
    display_name: model.displayName,
    name: model.displayName,
    kind: model.kind,
    context_length: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    ...openRouterMembers(model),
    ...reasoningOf(model),
    pricing: {
      prompt: usdPerToken(price.input),
      completion: usdPerToken(price.output),
      input_cache_read: usdPerToken(price.cacheHit),
      input_cache_write: usdPerToken(price.cacheWrite5m),
      input_cache_write_1h: usdPerToken(price.cacheWrite1h),
    },
    price_usd_per_million: {
      ...usdPerMillion(price),
      tiers: presentTiers(price.tiers ?? []),
      clock: price.clock === undefined ? null : presentClock(price.clock),
      variants: (price.variants ?? []).map(({ name, tiers, ...set }) => ({
        name,
        ...usdPerMillion(set),
        tiers: presentTiers(tiers),
      })),
      per_unit: usdPerUnit(price.perUnit ?? {}),
      images: price.images === undefined ? null : presentImages(price.images),
      max_prompt_tokens: price.maxPromptTokens ?? null,
    },
  };
}

function presentImages(images: ImagePrices) {
  const { tokens, each = [] } = imageFacts(images);
  return {
    tokens: tokens === undefined ? null : { input: tokens.input, cache_hit: tokens.cacheHit, output: tokens.output },
    each: each.map(({ quality = null, size = null, upToPixels = null, price }) => ({
      quality,
      size,
      up_to_pixels: upToPixels,
      price,
    })),
  };
}

function presentTiers(tiers: readonly PriceTier[]) {
  return tiers.map((tier) => ({ above_prompt_tokens: tier.abovePromptTokens, ...usdPerMillion(tier) }));
}

function presentClock({ timeZone, exceptDates, windows }: PriceClock) {
  return {
    time_zone: timeZone,
    except_dates: exceptDates,
    windows: windows.map((window) => ({
      days: window.days,
      hours: window.hours,
      ...usdPerMillion(window),
      tiers: presentTiers(window.tiers),
    })),
  };
}

function usdPerMillion(prices: UnitPrices): Record<string, string> {
  return {
    input: formatPrice(prices.input),
    cache_hit: formatPrice(prices.cacheHit),
    cache_write_5m: formatPrice(prices.cacheWrite5m),
    cache_write_1h: formatPrice(prices.cacheWrite1h),
    output: formatPrice(prices.output),
  };
}

/** The models that the key may call. */
export async function callableModels(catalog: Catalog, principal: Principal | null): Promise<CatalogModel[]> {
  const allowed = principal?.models ?? null;
  return (await catalog.list()).filter((model) => allowed === null || allowed.has(model.id));
}

export function registerModelsRoutes(app: FastifyInstance, { catalog, refusals }: ModelsParts): void {
  app.get(
    '/v1/models',
    { config: { protocol: 'chat-completions', authenticate: 'now' } },
    async (request, response) => {
      const models = await callableModels(catalog, request.principal);
      const data = models.map(presentModel);
      return response.headers(requestIdHeaders(request.id)).send({
        object: 'list',
        data,
        has_more: false,
        first_id: models[0]?.id ?? null,
        last_id: models.at(-1)?.id ?? null,
        total_count: data.length,
        links: { next: null },
      });
    },
  );

  // Catalog ids may contain a slash, so the id is everything that follows.
  app.get(
    '/v1/models/*',
    { config: { protocol: 'chat-completions', authenticate: 'now' } },
    async (request, response) => {
      const id = (request.params as { '*': string })['*'];
      if (id === '') return reply(response, 'chat-completions', refusals.notFound());
      const models = await callableModels(catalog, request.principal);
      // A model can be looked up by every name that requests may use.
      const named = await catalog.resolve(id);
      const model = models.find((candidate) => candidate.id === named?.id);
      if (model === undefined) {
        return reply(response, 'chat-completions', {
          ...refusals.notFound(`Requested model ${id} is not available in the service`),
          code: 'model_not_found',
        });
      }
      return response.headers(requestIdHeaders(request.id)).send(presentModel(model));
    },
  );
}
