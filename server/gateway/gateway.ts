import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { missingVersionPage, requestIdHeaders } from '../runtime/http.ts';
import { type MessageBatchParts, registerMessageBatches } from './batches/message-batches.ts';
import { registerOpenaiBatches } from './batches/openai-batches.ts';
import { wrongBase } from './entrance/addresses.ts';
import { allowOtherOrigins, answerPreflight, isPreflight } from './entrance/cross-origin.ts';
import {
  type EdgeParts,
  guardEdge,
  type ModelRouteParts,
  protocolOf,
  registerModelRoutes,
  reply,
} from './entrance/model-routes.ts';
import { type CountTokensParts, registerCountTokens } from './reads/count-tokens.ts';
import { type Estimator, registerEstimates } from './reads/estimates.ts';
import { type ModelsParts, registerModelsRoutes } from './reads/models.ts';
import { registerOpenRouterRoutes } from './reads/openrouter.ts';
import { registerUsageRoutes, type UsageParts } from './reads/usage.ts';
import type { Relay } from './relay.ts';
import { acceptUpgrades, type SocketParts } from './sockets/upgrade.ts';

/** The data plane as one Fastify scope under `/api`: its own body handling, its own errors, its own 404s. */

export interface GatewayParts extends EdgeParts, SocketParts, ModelsParts, CountTokensParts, UsageParts {
  batches: MessageBatchParts;
  relay: Relay;
  estimate: Estimator;
  tracer: ModelRouteParts['tracer'];
  /** `{PUBLIC_URL}/api`. */
  readonly baseUrl: string;
}

const known: [RegExp, string][] = [
  [
    /^\/api\/v1\/(messages\/count_tokens|(messages|chat\/completions|responses|embeddings|images\/(generations|edits))(\/estimate)?|responses\/compact)$/,
    'POST',
  ],
  [/^\/api\/v1\/messages\/batches\/[^/]+\/cancel$/, 'POST'],
  [/^\/api\/v1\/messages\/batches\/[^/]+$/, 'GET, DELETE'],
  [/^\/api\/v1\/messages\/batches\/[^/]+\/results$/, 'GET'],
  [/^\/api\/v1\/messages\/batches$/, 'GET, POST'],
  [/^\/api\/v1\/(files|batches)$/, 'GET, POST'],
  [/^\/api\/v1\/files\/[^/]+$/, 'GET, DELETE'],
  [/^\/api\/v1\/(files\/[^/]+\/content|batches\/[^/]+)$/, 'GET'],
  [/^\/api\/v1\/batches\/[^/]+\/cancel$/, 'POST'],
  [/^\/api\/v1\/(models(\/.+)?|model\/.+|embeddings\/models|usage|key|credits|generation(\/content)?)$/, 'GET'],
];

/** Calls of the vendors' and OpenRouter's client libraries that have no meaning here, by the name after the version. */
const notOffered =
  /^\/api\/v1\/((?:activity|alpha|analytics|assistants|audio|auth|benchmarks|byok|completions|containers|conversations|datasets|endpoints|evals|fine_tuning|guardrails|images|interns|keys|moderations|observability|organization|presets|providers|realtime|rerank|skills|threads|uploads|vector_stores|videos|workspaces)(?:\/|$)|generation\/feedback$)/;

export function registerGateway(app: FastifyInstance, parts: GatewayParts): void {
  void app.register(
    async (scope) => {
      allowOtherOrigins(scope);
      const sockets = acceptUpgrades(scope, parts);
      guardEdge(scope, parts);
      sockets.register();
      registerModelRoutes(scope, parts);
      registerCountTokens(scope, parts);
      registerEstimates(scope, parts);
      registerModelsRoutes(scope, parts);
      registerUsageRoutes(scope, parts);
      registerOpenRouterRoutes(scope, parts);
      registerMessageBatches(scope, parts.batches);
      registerOpenaiBatches(scope, parts.batches);
      registerProbes(scope);
      registerMissing(scope, parts);
    },
    { prefix: '/api' },
  );
}

/** Coding agents probe the server before the first request; any quick answer except a 401 will do. */
function registerProbes(scope: FastifyInstance): void {
  for (const path of ['/hello', '/api/hello']) {
    scope.route({
      method: ['GET', 'HEAD'],
      url: path,
      handler: async (request, response) => response.headers(requestIdHeaders(request.id)).send('ok'),
    });
  }
}

/** Unknown paths are answered before a body is read, with or without a key. */
function registerMissing(scope: FastifyInstance, parts: Pick<GatewayParts, 'refusals' | 'baseUrl'>): void {
  const { refusals } = parts;
  const answer = (request: FastifyRequest, response: FastifyReply): FastifyReply => {
    if (isPreflight(request)) return answerPreflight(request, response);
    const path = request.url.split('?', 1)[0] ?? '';
    const protocol = protocolOf(path);
    switch (wrongBase(path)) {
      case 'missing':
        return response
          .code(404)
          .headers({
            ...requestIdHeaders(request.id),
            'content-type': 'text/html; charset=utf-8',
            'content-security-policy': "default-src 'none'",
          })
          .send(missingVersionPage(parts.baseUrl));
      case 'messages':
        return reply(
          response,
          protocol,
          refusals.notFound(`The base URL must end in /v1 for this client: ${parts.baseUrl}/v1`),
        );
      case 'twice': {
        const meant = protocol === 'messages' ? parts.baseUrl : `${parts.baseUrl}/v1`;
        return reply(
          response,
          protocol,
          refusals.notFound(`The address has /v1 twice; the base URL of this client must be ${meant}`),
        );
      }
      case null:
    }
    const allow = known.find(([pattern]) => pattern.test(path))?.[1];
    if (allow === undefined && notOffered.test(path)) return reply(response, protocol, refusals.notOffered());
    if (allow !== undefined) return reply(response.header('allow', allow), protocol, refusals.methodNotAllowed(allow));
    return reply(response, protocol, refusals.notFound());
  };

  scope.addHook('onRequest', async (request, response) => (request.is404 ? answer(request, response) : undefined));
  scope.setNotFoundHandler(answer);
}
