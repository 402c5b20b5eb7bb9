import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { request } from 'undici';
import type { Log } from '../../core/log.ts';
import { describeError } from '../http.ts';
import type { AttributeValue, EndedSpan } from './tracing.ts';

/**
 * OTLP/HTTP with JSON bodies: what OpenTelemetry's protocol (github.com/open-telemetry/opentelemetry-proto,
 * docs/specification.md) asks of a sender of traces and metrics. Ids are hexadecimal, 64-bit integers are texts.
 */
export interface OtlpEndpoint {
  /** The address of one signal, e.g. `http://collector:4318/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  gzip: boolean;
}

interface KeyValue {
  key: string;
  value: AnyValue;
}

type AnyValue =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { arrayValue: { values: { stringValue: string }[] } };

function valueOf(value: AttributeValue): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'object') return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

export function keyValues(attributes: Iterable<readonly [string, AttributeValue]>): KeyValue[] {
  return [...attributes].map(([key, value]) => ({ key, value: valueOf(value) }));
}

/** Nanoseconds as text, of milliseconds since the epoch with fractions. */
export function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1e6)));
}

/** Names of the process and of its host, on everything that it sends. */
export interface OtlpSource {
  resource: Readonly<Record<string, string>>;
  scope: { name: string };
}

const hasRemoteKnown = 0x100;
const isRemote = 0x200;

export function encodeSpans({ resource, scope }: OtlpSource, spans: readonly EndedSpan[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(Object.entries(resource)) },
        scopeSpans: [
          {
            scope,
            spans: spans.map((span) => ({
              traceId: span.context.traceId,
              spanId: span.context.spanId,
              ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
              ...(span.context.state === null ? {} : { traceState: span.context.state }),
              flags: 1 | hasRemoteKnown | (span.isRemoteChild ? isRemote : 0),
              name: span.name,
              kind: span.kind,
              startTimeUnixNano: nanoseconds(span.startedAt),
              endTimeUnixNano: nanoseconds(span.endedAt),
              attributes: keyValues(span.attributes),
              // Left out: unset. An error has no text, which could quote people.
              status: span.error === null ? {} : { code: 2 },
            })),
          },
        ],
      },
    ],
  };
}

const compress = promisify(gzip);
/** The answers after which the same data may be sent again. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const maxAnswerBytes = 65_536;
const maxRetryAfterS = 300;

export type Sent = 'taken' | 'again' | 'refused';

export interface OtlpSender {
  /** Sends one message. Never throws; `again`: the collector was away or busy. */
  send(message: object): Promise<Sent>;
}

/** `signal`: its name in the log. A collector that fails is reported when it begins to fail, and when it is back. */
export function createOtlpSender(
  { url, headers, timeoutMs, gzip: isCompressed }: OtlpEndpoint,
  signal: 'traces' | 'metrics',
  log: Pick<Log, 'info' | 'warn'>,
): OtlpSender {
  let isFailing = false;
  /** A busy collector says how long it wants to be left alone (monotonic milliseconds). */
  let notBefore = 0;
  const fail = (fields: { status: number } | ReturnType<typeof describeError>): void => {
    if (!isFailing) log.warn({ ...fields, signal }, 'the collector of telemetry does not take what is sent');
    isFailing = true;
  };

  return {
    async send(message) {
      if (performance.now() < notBefore) return 'again';
      try {
        const text = Buffer.from(JSON.stringify(message));
        const body = isCompressed ? await compress(text) : text;
        const answer = await request(url, {
          method: 'POST',
          headers: {
            ...headers,
            'content-type': 'application/json',
            ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
          },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        });
        await answer.body.dump({ limit: maxAnswerBytes });
        if (answer.statusCode >= 200 && answer.statusCode < 300) {
          if (isFailing) log.info({ signal }, 'the collector of telemetry is back');
          isFailing = false;
          return 'taken';
        }
        fail({ status: answer.statusCode });
        const retryAfterS = Number(answer.headers['retry-after']);
        if (retryAfterS > 0) notBefore = performance.now() + Math.min(retryAfterS, maxRetryAfterS) * 1_000;
        return retryable.has(answer.statusCode) ? 'again' : 'refused';
      } catch (error) {
        fail(describeError(error));
        return 'again';
      }
    },
  };
}
