/** A collector of OpenTelemetry that takes OTLP/HTTP with JSON bodies, and refuses what the published messages do not have. */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

type Check = (value: unknown, at: string) => string[];

const text: Check = (value, at) => (typeof value === 'string' ? [] : [`${at}: no text`]);
const flag: Check = (value, at) => (typeof value === 'boolean' ? [] : [`${at}: no flag`]);
const double: Check = (value, at) =>
  typeof value === 'number' && Number.isFinite(value) ? [] : [`${at}: no finite number`];
const uint32: Check = (value, at) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32 ? [] : [`${at}: no uint32`];
/** 64-bit integers are decimal texts in the JSON of Protocol Buffers. */
const int64: Check = (value, at) =>
  typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? [] : [`${at}: no int64`];
const hex =
  (digits: number): Check =>
  (value, at) =>
    typeof value === 'string' && new RegExp(`^[0-9a-f]{${digits}}$`).test(value) && !/^0+$/.test(value)
      ? []
      : [`${at}: not ${digits} hexadecimal digits`];
const oneOf =
  (...values: number[]): Check =>
  (value, at) =>
    values.includes(value as number) ? [] : [`${at}: not one of ${values.join(', ')}`];
const list =
  (each: Check): Check =>
  (value, at) =>
    Array.isArray(value) ? value.flatMap((item, index) => each(item, `${at}[${index}]`)) : [`${at}: no list`];
/** A message; `required` are those of its fields that mean nothing when they are left out. */
const message =
  (fields: Record<string, Check>, required: readonly string[] = [], oneof: readonly string[] = []): Check =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: no message`];
    const given = Object.entries(value);
    const names = given.map(([name]) => name);
    return [
      ...given.flatMap(([name, field]) => fields[name]?.(field, `${at}.${name}`) ?? [`${at}.${name}: no such field`]),
      ...required.filter((name) => !names.includes(name)).map((name) => `${at}.${name}: missing`),
      ...(oneof.length > 0 && oneof.filter((name) => names.includes(name)).length !== 1
        ? [`${at}: not exactly one of ${oneof.join(', ')}`]
        : []),
    ];
  };

// github.com/open-telemetry/opentelemetry-proto: common, resource, trace, metrics and collector, all v1.
const values = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'];
// Lists of this service are of strings.
const arrayValue = message({ values: list(message({ stringValue: text }, ['stringValue'])) }, ['values']);
const anyValue = message(
  { stringValue: text, boolValue: flag, intValue: int64, doubleValue: double, arrayValue },
  [],
  values,
);
const attributes = list(message({ key: text, value: anyValue }, ['key', 'value']));
const resource = message({ attributes, droppedAttributesCount: uint32 });
const scope = message({ name: text, version: text, attributes, droppedAttributesCount: uint32 });
const span = message(
  {
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16),
    traceState: text,
    flags: uint32,
    name: text,
    kind: oneOf(1, 2, 3, 4, 5),
    startTimeUnixNano: int64,
    endTimeUnixNano: int64,
    attributes,
    droppedAttributesCount: uint32,
    status: message({ message: text, code: oneOf(0, 1, 2) }),
  },
  ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
);
const traces = message({
  resourceSpans: list(
    message({ resource, schemaUrl: text, scopeSpans: list(message({ scope, schemaUrl: text, spans: list(span) })) }),
  ),
});
const period = { attributes, startTimeUnixNano: int64, timeUnixNano: int64, flags: uint32 };
const numbers = list(message({ ...period, asDouble: double, asInt: int64 }, ['timeUnixNano'], ['asDouble', 'asInt']));
const histograms = list(
  message(
    {
      ...period,
      count: int64,
      sum: double,
      min: double,
      max: double,
      bucketCounts: list(int64),
      explicitBounds: list(double),
    },
    ['timeUnixNano', 'count', 'bucketCounts', 'explicitBounds'],
  ),
);
const aggregationTemporality = oneOf(1, 2);
const metric = message(
  {
    name: text,
    description: text,
    unit: text,
    gauge: message({ dataPoints: numbers }, ['dataPoints']),
    sum: message({ dataPoints: numbers, aggregationTemporality, isMonotonic: flag }, ['aggregationTemporality']),
    histogram: message({ dataPoints: histograms, aggregationTemporality }, ['aggregationTemporality']),
  },
  ['name'],
  ['gauge', 'sum', 'histogram'],
);
const metrics = message({
  resourceMetrics: list(
    message({
      resource,
      schemaUrl: text,
      scopeMetrics: list(message({ scope, schemaUrl: text, metrics: list(metric) })),
    }),
  ),
});

type Attributes = Record<string, string | number | boolean | string[]>;

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  flags: number;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number };
  attributes: Attributes;
}

interface ReceivedPoint {
  attributes: Attributes;
  asDouble?: number;
  count?: string;
  sum?: number;
  bucketCounts?: string[];
  explicitBounds?: number[];
  startTimeUnixNano: string;
  timeUnixNano: string;
}

export interface Collector {
  url: string;
  /** What was wrong with messages; empty: nothing. */
  problems: string[];
  /** Bodies as texts, to look for what must not be in them. */
  bodies: string[];
  headers: IncomingHttpHeaders[];
  spans: ReceivedSpan[];
  resources: Attributes[];
  /** The points of the last message, by the metric's name. */
  points: Map<string, { unit: string; points: ReceivedPoint[] }>;
  /** What the next messages are answered with; the last one stays. */
  statuses: number[];
  close(): Promise<void>;
}

interface Given {
  key: string;
  value: {
    stringValue?: string;
    intValue?: string;
    doubleValue?: number;
    boolValue?: boolean;
    arrayValue?: { values: { stringValue: string }[] };
  };
}

function plain(given: readonly Given[] = []): Attributes {
  return Object.fromEntries(
    given.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.boolValue ??
        value.doubleValue ??
        value.arrayValue?.values.map(({ stringValue }) => stringValue) ??
        Number(value.intValue),
    ]),
  );
}

interface ReceivedMetric
  extends Partial<Record<'sum' | 'gauge' | 'histogram', { dataPoints: (ReceivedPoint & { attributes: unknown })[] }>> {
  name: string;
  unit: string;
}

interface Message {
  resourceSpans?: {
    resource: { attributes: Given[] };
    scopeSpans: { spans: (ReceivedSpan & { attributes: unknown })[] }[];
  }[];
  resourceMetrics?: {
    resource: { attributes: Given[] };
    scopeMetrics: { metrics: ReceivedMetric[] }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const status = collector.statuses.length > 1 ? collector.statuses.shift() : collector.statuses[0];
      if (status !== 200) return response.writeHead(status ?? 500).end();
      collector.headers.push(request.headers);
      const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
      collector.bodies.push(body);
      const found = take(request.url ?? '', request.headers['content-type'], JSON.parse(body));
      collector.problems.push(...found);
      return response.writeHead(found.length > 0 ? 400 : 200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  function take(path: string, type: string | undefined, given: Message): string[] {
    if (type !== 'application/json') return [`content-type ${type}`];
    const found = path.endsWith('/v1/traces') ? traces(given, 'traces') : metrics(given, 'metrics');
    if (!/\/v1\/(traces|metrics)$/.test(path)) found.push(`no such path: ${path}`);
    for (const each of given.resourceSpans ?? []) {
      collector.resources.push(plain(each.resource.attributes));
      for (const received of each.scopeSpans.flatMap(({ spans }) => spans))
        collector.spans.push({ ...received, attributes: plain(received.attributes as unknown as Given[]) });
    }
    for (const each of given.resourceMetrics ?? []) {
      collector.resources.push(plain(each.resource.attributes));
      for (const received of each.scopeMetrics.flatMap((one) => one.metrics)) {
        const data = received.sum ?? received.gauge ?? received.histogram;
        const points = data?.dataPoints.map((point) => ({
          ...point,
          attributes: plain(point.attributes as unknown as Given[]),
        }));
        collector.points.set(received.name, { unit: received.unit, points: points ?? [] });
      }
    }
    return found;
  }

  const collector: Collector = {
    url: '',
    problems: [],
    bodies: [],
    headers: [],
    spans: [],
    resources: [],
    points: new Map(),
    statuses: [200],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return collector;
}
