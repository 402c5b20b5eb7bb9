import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Log } from '../../core/log.ts';
import { createOtlpSender, encodeSpans, type OtlpEndpoint, type OtlpSource } from './otlp.ts';
import { encodeMetrics } from './otlp-metrics.ts';
import { createTracer, type EndedSpan, type Sampling, type Tracer } from './tracing.ts';

/** What is sent to a collector of telemetry, and where; as the standard variables `OTEL_*` say it. */
export interface TelemetrySettings {
  traces: (OtlpEndpoint & { sampling: Sampling; acceptsContext: boolean; intervalMs: number }) | null;
  metrics: (OtlpEndpoint & { intervalMs: number }) | null;
  resource: Readonly<Record<string, string>>;
}

export interface Telemetry {
  /** Null: requests are not traced. */
  tracer: Tracer | null;
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

const maxBatch = 512;
/** Spans that wait for a collector; further ones are dropped and counted. */
const maxQueue = 2_048;
/** A stopping process waits no longer for a collector. */
const maxClosingMs = 3_000;

/** Queues spans and sends them in batches, one message at a time. */
function createSpanQueue(
  { intervalMs, ...endpoint }: OtlpEndpoint & { intervalMs: number },
  source: OtlpSource,
  log: Pick<Log, 'info' | 'warn'>,
) {
  const sender = createOtlpSender(endpoint, 'traces', log);
  let waiting: EndedSpan[] = [];
  let lost = 0;
  let sending: Promise<boolean> = Promise.resolve(true);

  /** False: the collector does not take any at the moment. */
  const sendOne = async (): Promise<boolean> => {
    const batch = waiting.splice(0, maxBatch);
    if (batch.length === 0) return true;
    const sent = await sender.send(encodeSpans(source, batch));
    if (sent === 'again') waiting = [...batch, ...waiting].slice(0, maxQueue);
    if (sent === 'refused') lost += batch.length;
    if (sent !== 'taken') return false;
    if (lost > 0) log.warn({ lost }, 'spans were dropped, because the collector of telemetry did not take them');
    lost = 0;
    return true;
  };
  const flush = (): Promise<boolean> => {
    sending = sending.then(sendOne);
    return sending;
  };
  const timer = setInterval(() => void flush(), intervalMs);
  timer.unref();
  return {
    take(span: EndedSpan): void {
      if (waiting.length >= maxQueue) lost += 1;
      else if (waiting.push(span) === maxBatch) void flush();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      for (let left = true; left && waiting.length > 0; ) left = await flush();
    },
  };
}

/** Sends the figures of a registry at intervals, and once more at the end. */
function createMetricsPush(
  { intervalMs, ...endpoint }: NonNullable<TelemetrySettings['metrics']>,
  source: OtlpSource,
  registry: Registry,
  log: Pick<Log, 'info' | 'warn'>,
) {
  const sender = createOtlpSender(endpoint, 'metrics', log);
  const startedAt = Date.now();
  let sending: Promise<unknown> = Promise.resolve();
  const push = (): Promise<unknown> => {
    // Not sent again: the next message has the same counters, further on.
    sending = sending.then(async () =>
      sender.send(encodeMetrics(source, await registry.getMetricsAsJSON(), startedAt, Date.now())),
    );
    return sending;
  };
  const timer = setInterval(() => void push(), intervalMs);
  timer.unref();
  return {
    async close(): Promise<void> {
      clearInterval(timer);
      await push();
    },
  };
}

/** `settings` null: nothing is made, and nothing is done for a request. */
export function createTelemetry(
  settings: TelemetrySettings | null,
  registry: Registry,
  log: Pick<Log, 'info' | 'warn'>,
): Telemetry {
  if (settings === null) return { tracer: null, close: async () => undefined };
  const { traces, metrics } = settings;
  const source: OtlpSource = {
    // Each worker is an instance: counters of two must not be taken for one that runs backwards.
    resource: { ...settings.resource, 'service.instance.id': randomUUID() },
    scope: { name: 'steyg' },
  };
  const queue = traces === null ? null : createSpanQueue(traces, source, log);
  const push = metrics === null ? null : createMetricsPush(metrics, source, registry, log);
  return {
    tracer: traces === null || queue === null ? null : createTracer({ ...traces, take: queue.take }),
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxClosingMs);
      await Promise.race([Promise.all([queue?.close(), push?.close()]), promise]);
      clearTimeout(timer);
    },
  };
}
