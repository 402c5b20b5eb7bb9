import { randomBytes } from 'node:crypto';
import type { TraceContext } from './trace-context.ts';

/**
 * Traces: what one request did and how long it took. Spans carry names of our own and counts; their attributes are a
 * list, like the fields of the log, so that nothing of what was asked or answered can be in one.
 *
 * Names are those of OpenTelemetry's conventions for HTTP and for generative AI
 * (github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/client-inference.md).
 */
const spanAttributes = [
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.request.stream',
  'gen_ai.request.max_tokens',
  'gen_ai.response.finish_reasons',
  'gen_ai.response.model',
  'gen_ai.response.time_to_first_chunk',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_write.input_tokens',
  'server.address',
  'server.port',
  'error.type',
  'steyg.request_id',
  'steyg.upstream',
  'steyg.outcome',
  'steyg.usage_source',
] as const;

type SpanAttribute = (typeof spanAttributes)[number];

export type AttributeValue = string | number | boolean | readonly string[];

/** As OTLP numbers them. */
const kinds = { internal: 1, server: 2, client: 3 } as const;

export interface TraceSpan {
  readonly context: TraceContext;
  child(name: string, kind: 'internal' | 'client'): TraceSpan;
  set(attributes: { readonly [A in SpanAttribute]?: AttributeValue | undefined }): void;
  /** Ends the span. `error`: a word for what went wrong; null: nothing did. A second call does nothing. */
  end(error?: string | null): void;
}

/** A span that has ended, for the exporter. */
export interface EndedSpan {
  context: TraceContext;
  parentSpanId: string | null;
  /** The parent is in another process. */
  isRemoteChild: boolean;
  name: string;
  kind: number;
  /** Milliseconds since the epoch, with fractions. */
  startedAt: number;
  endedAt: number;
  attributes: ReadonlyMap<string, AttributeValue>;
  error: string | null;
}

export interface Tracer {
  /**
   * The root span of a request, or null when it is not sampled. `receivedAt`: monotonic milliseconds. `parent`: the
   * caller's context.
   */
  start(name: string, receivedAt: number, parent: TraceContext | null): TraceSpan | null;
}

/** Which requests are traced: a share of all, or of those with a caller's context the ones that the caller sampled. */
export interface Sampling {
  /** From 0 to 1. */
  ratio: number;
  /** The operator lets callers decide for their traces: they are customers, and traces cost the operator money. */
  followsParent: boolean;
}

export interface TracerParts {
  sampling: Sampling;
  /** Whether callers' contexts are continued. */
  acceptsContext: boolean;
  take(span: EndedSpan): void;
}

const newId = (bytes: number): string => randomBytes(bytes).toString('hex');

/** The same decision for the same id. */
function isWithin(ratio: number, traceId: string): boolean {
  return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < ratio;
}

export function createTracer({ sampling, acceptsContext, take }: TracerParts): Tracer {
  const open = (
    name: string,
    kind: number,
    context: TraceContext,
    parentSpanId: string | null,
    isRemoteChild: boolean,
    startedAt: number,
    /** Milliseconds from the monotonic clock to the epoch, the same for all spans of a request. */
    epoch: number,
  ): TraceSpan => {
    const attributes = new Map<string, AttributeValue>();
    let hasEnded = false;
    return {
      context,
      child(childName, childKind) {
        const own = { ...context, spanId: newId(8) };
        return open(childName, kinds[childKind], own, context.spanId, false, performance.now(), epoch);
      },
      set(given) {
        for (const [key, value] of Object.entries(given)) if (value !== undefined) attributes.set(key, value);
      },
      end(error = null) {
        if (hasEnded) return;
        hasEnded = true;
        if (error !== null) attributes.set('error.type', error);
        take({
          context,
          parentSpanId,
          isRemoteChild,
          name,
          kind,
          startedAt: startedAt + epoch,
          endedAt: performance.now() + epoch,
          attributes,
          error,
        });
      },
    };
  };

  return {
    start(name, receivedAt, given) {
      const parent = acceptsContext ? given : null;
      const traceId = parent?.traceId ?? newId(16);
      const sampled =
        parent !== null && sampling.followsParent
          ? parent.sampled
          : // A caller chooses the id of its trace, and must not choose by it.
            isWithin(sampling.ratio, parent === null ? traceId : newId(4));
      if (!sampled) return null;
      const context = { traceId, spanId: newId(8), sampled, state: parent?.state ?? null };
      const epoch = Date.now() - performance.now();
      return open(name, kinds.server, context, parent?.spanId ?? null, parent !== null, receivedAt, epoch);
    },
  };
}
