import { hostname } from 'node:os';
import type { OtlpEndpoint } from './otlp.ts';
import type { TelemetrySettings } from './telemetry.ts';
import type { Sampling } from './tracing.ts';

/**
 * OpenTelemetry's standard variables as settings. Without an endpoint nothing is sent. Values that this server cannot do
 * (another protocol, another propagator) are problems of the environment: a silent substitute would lose data.
 */
export interface TelemetryVariables {
  OTEL_SDK_DISABLED?: string | undefined;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_EXPORTER_OTLP_TIMEOUT: number;
  OTEL_EXPORTER_OTLP_COMPRESSION: string;
  OTEL_TRACES_EXPORTER: string;
  OTEL_METRICS_EXPORTER: string;
  OTEL_METRIC_EXPORT_INTERVAL: number;
  OTEL_TRACES_SAMPLER: string;
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_BSP_SCHEDULE_DELAY: number;
  OTEL_PROPAGATORS: string;
  OTEL_SERVICE_NAME: string;
  OTEL_RESOURCE_ATTRIBUTES?: string | undefined;
}

/** `key=value` pairs with commas between them, percent-encoded; null: malformed. */
export function readPairs(text: string): Record<string, string> | null {
  const pairs = text
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map((pair) => /^([^=]+)=(.*)$/s.exec(pair));
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        if (pair === null) throw new URIError('no pair');
        return [decodeURIComponent(pair[1] ?? '').trim(), decodeURIComponent(pair[2] ?? '').trim()];
      }),
    );
  } catch {
    return null;
  }
}

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

function samplingOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }: TelemetryVariables): Sampling {
  const followsParent = sampler.startsWith('parentbased_');
  if (sampler.endsWith('always_on')) return { ratio: 1, followsParent };
  return { ratio: sampler.endsWith('always_off') ? 0 : ratio, followsParent };
}

/** Null: nothing is sent. */
export function telemetryOf(v: TelemetryVariables): TelemetrySettings | null {
  if (v.OTEL_SDK_DISABLED === 'true') return null;
  const endpoint = (own: string | undefined, path: string): OtlpEndpoint | null => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: base } = v;
    // The address of one signal is used as it is, the common one gets the signal's path.
    const url = own ?? (base === undefined ? undefined : base + path);
    if (url === undefined) return null;
    return {
      url,
      headers: readPairs(v.OTEL_EXPORTER_OTLP_HEADERS ?? '') ?? {},
      timeoutMs: v.OTEL_EXPORTER_OTLP_TIMEOUT,
      gzip: v.OTEL_EXPORTER_OTLP_COMPRESSION === 'gzip',
    };
  };
  const traces =
    v.OTEL_TRACES_EXPORTER === 'none' ? null : endpoint(v.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, '/v1/traces');
  const metrics =
    v.OTEL_METRICS_EXPORTER === 'none' ? null : endpoint(v.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, '/v1/metrics');
  if (traces === null && metrics === null) return null;
  return {
    traces: traces && {
      ...traces,
      sampling: samplingOf(v),
      acceptsContext: v.OTEL_PROPAGATORS === 'tracecontext',
      intervalMs: v.OTEL_BSP_SCHEDULE_DELAY,
    },
    metrics: metrics && { ...metrics, intervalMs: v.OTEL_METRIC_EXPORT_INTERVAL },
    resource: {
      'host.name': hostname(),
      ...readPairs(v.OTEL_RESOURCE_ATTRIBUTES ?? ''),
      'service.name': v.OTEL_SERVICE_NAME,
    },
  };
}
