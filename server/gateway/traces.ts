import type { FastifyRequest } from 'fastify';
import type { Settlement } from '../billing/lane/ledger.ts';
import { storableName } from '../catalog/model-mismatches.ts';
import type { Target } from '../catalog/router.ts';
import { type ModelKind, operationNames } from '../core/kind.ts';
import type { ProfileId } from '../core/profile.ts';
import { addTokens, type TokenPools } from '../core/tokens.ts';
import type { TraceContext } from '../runtime/telemetry/trace-context.ts';
import type { Tracer, TraceSpan } from '../runtime/telemetry/tracing.ts';
import type { ModelRequest } from './call.ts';
import type { Client } from './entrance/client.ts';
import type { Metered } from './settle.ts';
import type { AnswerWords } from './upstream/delivered.ts';

/**
 * What the spans of a model request say. Only for requests that are traced: the spine calls these functions where it has
 * a span. Names are the catalog's, never the client's text.
 */

/** The span of the whole request, from its first byte. */
export function traceCall(
  tracer: Tracer,
  request: FastifyRequest,
  { asks, parent }: { asks: ModelKind; parent: TraceContext | null },
): TraceSpan | null {
  const { method } = request;
  const route = request.routeOptions.url ?? '';
  const span = tracer.start(`${method} ${route}`, request.receivedAt, parent);
  span?.set({
    'gen_ai.operation.name': operationNames[asks],
    'http.request.method': method,
    'http.route': route,
    'steyg.request_id': request.id,
  });
  return span;
}

export function traceRequest(span: TraceSpan, { facts, model }: ModelRequest): void {
  span.set({
    'gen_ai.provider.name': 'steyg',
    'gen_ai.request.model': model.id,
    'gen_ai.request.stream': facts.stream,
    'gen_ai.request.max_tokens': facts.maxTokens ?? undefined,
  });
}

/** The conventions' names of providers, where they have one. */
const providers: Partial<Record<ProfileId, string>> = {
  'openai-gpt5': 'openai',
  'openai-o': 'openai',
  anthropic: 'anthropic',
  deepseek: 'deepseek',
  'gemini-compatible': 'gcp.gemini',
  azure: 'azure.ai.openai',
  'bedrock-compatible': 'aws.bedrock',
  groq: 'groq',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** The span of one try at one route. */
export function traceTry(parent: TraceSpan, { facts, model }: ModelRequest, { route, origin }: Target): TraceSpan {
  const { upstream, upstreamModel } = route;
  const { hostname, port, protocol } = new URL(origin);
  const operation = operationNames[model.kind];
  const span = parent.child(`${operation} ${upstreamModel}`, 'client');
  span.set({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': (upstream.profile === null ? undefined : providers[upstream.profile]) ?? upstream.id,
    'gen_ai.request.model': upstreamModel,
    'gen_ai.request.stream': facts.stream,
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    'steyg.upstream': upstream.id,
  });
  return span;
}

/** What a try's answer says of itself; usage that only was estimated is the request's, and not the vendor's. */
export function traceAnswered(span: TraceSpan, { model, finish }: AnswerWords, metered: Metered): void {
  const { usageSource, usage } = metered;
  const isReported = usageSource === 'reported' || usageSource === 'partial' || usageSource === 'clamped';
  span.set({
    ...(isReported ? usageOf(usage) : {}),
    'gen_ai.response.model': model === null ? undefined : storableName(model),
    // A word of the protocol and no text of the vendor's.
    'gen_ai.response.finish_reasons': finish !== undefined && /^[a-z_-]{1,40}$/i.test(finish) ? [finish] : undefined,
  });
}

/** The conventions count cached tokens as input, too. */
function usageOf(usage: TokenPools): Record<string, number> {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  return {
    'gen_ai.usage.input_tokens': usage.input + usage.cacheHit + written,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheHit,
    'gen_ai.usage.cache_write.input_tokens': written,
  };
}

/** What was metered, the runs of other models included. */
export function traceMetered(span: TraceSpan, { outcome, usageSource }: Metered, settlement: Settlement): void {
  const usage = { ...settlement.usage };
  for (const line of settlement.lines ?? []) addTokens(usage, line.usage);
  span.set({
    ...usageOf(usage),
    'steyg.outcome': outcome,
    'steyg.usage_source': usageSource,
  });
}

/** Ends the request's span. As HTTP's conventions have it, only the server's own faults are errors. */
export function traceAnswer(span: TraceSpan, status: number, client: Client, receivedAt: number): void {
  span.set({
    'http.response.status_code': status,
    'gen_ai.response.time_to_first_chunk':
      client.streaming && client.firstByteAt !== null ? (client.firstByteAt - receivedAt) / 1_000 : undefined,
  });
  span.end(status >= 500 ? String(status) : null);
}
