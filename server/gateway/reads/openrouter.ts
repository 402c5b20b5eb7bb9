import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import type { LedgerRecord } from '../../billing/reads/usage.ts';
import type { Catalog, CatalogModel } from '../../catalog/catalog.ts';
import type { PicoUsd } from '../../core/money.ts';
import type { Keys } from '../../keys/keys.ts';
import { isRequestId, requestIdHeaders } from '../../runtime/http.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';
import { callableModels, presentModel } from './models.ts';
import { entryFor, principalOf } from './usage.ts';

/**
 * Addresses that only OpenRouter's clients ask for, in the shapes that its published SDK requires (`@openrouter/sdk` 1.3,
 * schemas `GenerationResponse`, `ModelsCountResponse`, `ModelResponse` and `ListEndpointsResponse`): what one request came to,
 * and the catalog as a count, one by one, and by who runs a model.
 */
export interface OpenRouterParts {
  pool: Pool;
  keys: Keys;
  catalog: Catalog;
  refusals: Refusals;
}

const requestIdIn = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function registerOpenRouterRoutes(app: FastifyInstance, parts: OpenRouterParts): void {
  const { catalog, refusals } = parts;
  const config = { protocol: 'chat-completions', authenticate: 'now' } as const;
  const answer = (request: FastifyRequest, response: FastifyReply, data: unknown): FastifyReply =>
    response.headers(requestIdHeaders(request.id)).send({ data });

  app.get('/v1/generation', { config }, async (request, response) => {
    const { id = '' } = request.query as { id?: string | string[] };
    // Ids of answers that the gateway has written itself end in the request's id.
    const requestId = requestIdIn.exec(String(id))?.[0];
    if (requestId === undefined || !isRequestId(requestId)) {
      throw new RefusalError(
        refusals.notFound('id: must be the id of a request, as the header `x-request-id` of its answer says.'),
      );
    }
    const entry = await entryFor(parts, principalOf(request), requestId);
    const model = await catalog.resolve(entry.model);
    return answer(request, response, {
      ...presentGeneration(entry),
      api_type: model?.kind === 'embedding' ? 'embeddings' : 'completions',
    });
  });

  app.get('/v1/generation/content', { config }, async () => {
    throw new RefusalError(
      refusals.notFound('Prompts and answers are not stored here, so there is nothing to look up.'),
    );
  });

  app.get('/v1/models/count', { config }, async (request, response) => {
    const models = await callableModels(catalog, principalOf(request));
    return answer(request, response, { count: models.length });
  });

  app.get('/v1/models/user', { config }, async (request, response) => {
    const models = await callableModels(catalog, principalOf(request));
    return answer(request, response, models.map(presentModel));
  });

  app.get('/v1/embeddings/models', { config }, async (request, response) => {
    const models = await callableModels(catalog, principalOf(request));
    return answer(request, response, models.filter(({ kind }) => kind === 'embedding').map(presentModel));
  });

  const named = async (request: FastifyRequest): Promise<CatalogModel> => {
    const { author, slug } = request.params as { author: string; slug: string };
    const models = await callableModels(catalog, principalOf(request));
    const found = await catalog.resolve(`${author}/${slug}`);
    // The library cannot ask for an id without a slash: the family stands before it.
    const model = models.find(({ id, family }) => id === found?.id || (id === slug && family === author));
    if (model === undefined) {
      throw new RefusalError({
        ...refusals.notFound(`Requested model ${author}/${slug} is not available in the service`),
        code: 'model_not_found',
      });
    }
    return model;
  };

  app.get('/v1/model/:author/:slug', { config }, async (request, response) =>
    answer(request, response, presentModel(await named(request))),
  );
  app.get('/v1/models/:author/:slug/endpoints', { config }, async (request, response) =>
    answer(request, response, presentEndpoints(await named(request))),
  );
}

/** USD as a JSON number, as these clients read it; `/v1/usage` has the exact string. */
const toNumber = (pico: PicoUsd): number => Number(pico) / 1e12;

function presentGeneration(entry: LedgerRecord): Record<string, unknown> {
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = entry.usage;
  const prompt = input + cacheHit + cacheWrite5m + cacheWrite1h;
  return {
    id: entry.requestId,
    request_id: entry.requestId,
    created_at: entry.createdAt.toISOString(),
    model: entry.model,
    provider_name: entry.upstream,
    streamed: entry.stream,
    cancelled: entry.outcome === 'client_closed',
    latency: entry.latencyMs,
    generation_time: entry.latencyMs - (entry.timeToFirstByteMs ?? 0),
    tokens_prompt: prompt,
    tokens_completion: output,
    native_tokens_prompt: prompt,
    native_tokens_completion: output,
    native_tokens_cached: cacheHit,
    total_cost: toNumber(entry.cost),
    usage: toNumber(entry.charged),
    ...notRecorded,
  };
}

/** What the library demands of a generation, and what the ledger does not have. */
const notRecorded = {
  app_id: null,
  cache_discount: null,
  data_region: 'global',
  external_user: null,
  finish_reason: null,
  http_referer: null,
  is_byok: false,
  moderation_latency: null,
  native_finish_reason: null,
  native_tokens_completion_images: null,
  native_tokens_reasoning: null,
  num_fetches: null,
  num_input_audio_prompt: null,
  num_media_completion: null,
  num_media_prompt: null,
  num_search_results: null,
  origin: '',
  preset_id: null,
  provider_responses: null,
  router: null,
  service_tier: null,
  upstream_id: null,
  upstream_inference_cost: null,
  user_agent: null,
  web_search_engine: null,
  workspace_id: null,
};

/** One endpoint, which is this service: where a model runs behind it is the operator's. */
function presentEndpoints(model: CatalogModel): Record<string, unknown> {
  const { id, name, created, architecture, pricing, supported_parameters, context_length, max_output_tokens } =
    presentModel(model);
  const endpoint = {
    name: `Steyg | ${model.id}`,
    model_id: id,
    model_name: name,
    provider_name: 'Steyg',
    tag: 'steyg',
    context_length,
    max_completion_tokens: max_output_tokens,
    max_prompt_tokens: model.price.maxPromptTokens ?? null,
    pricing,
    supported_parameters,
    quantization: null,
    status: model.routes.length === 0 ? -1 : 0,
    supports_implicit_caching: true,
    supports_tool_choice: toolChoices(model),
    latency_last_30m: null,
    throughput_last_30m: null,
    uptime_last_5m: null,
    uptime_last_30m: null,
    uptime_last_1d: null,
  };
  return { id, name, created, description: '', architecture, endpoints: [endpoint] };
}

function toolChoices({ capabilities }: CatalogModel): Record<string, boolean> {
  const takes = capabilities.includes('tools');
  return { auto: takes, none: takes, required: takes, function: takes };
}
