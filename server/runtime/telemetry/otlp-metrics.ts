import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { keyValues, nanoseconds, type OtlpSource } from './otlp.ts';

/**
 * The figures of `/metrics` as OTLP metrics. Where OpenTelemetry's conventions for generative AI have a name, it is used
 * (github.com/open-telemetry/semantic-conventions-genai, gen-ai-metrics.md and gen-ai-token-metrics.md); the others keep
 * theirs without the suffixes that an exporter to Prometheus adds again.
 */
type Figure = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;
type Labels = Readonly<Record<string, string | number>>;

interface Naming {
  name: string;
  unit: string;
  /** Attributes instead of labels; a label that is not named keeps its name behind `steyg.`. */
  labels?: Readonly<Record<string, string>>;
  fixed?: Readonly<Record<string, string>>;
}

const operation = { operation: 'gen_ai.operation.name' };
/** Metrics of a server are those of the models it serves: it is their provider. */
const served = {
  labels: { ...operation, model: 'gen_ai.request.model' },
  fixed: { 'gen_ai.provider.name': 'steyg' },
};

const conventions: Readonly<Record<string, Naming>> = {
  gen_ai_server_request_duration_seconds: { name: 'gen_ai.server.request.duration', unit: 's', ...served },
  gen_ai_server_time_to_first_token_seconds: { name: 'gen_ai.server.time_to_first_token', unit: 's', ...served },
  gateway_upstream_duration_seconds: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    labels: { ...operation, upstream: 'gen_ai.provider.name' },
  },
};

const units: readonly (readonly [RegExp, string])[] = [
  [/_seconds$/, 's'],
  [/_bytes$/, 'By'],
  [/_usd$/, '{USD}'],
];

function namingOf(name: string, type: string): Naming {
  const known = conventions[name];
  if (known !== undefined) return known;
  // The suffix belongs to counters; some gauges of the runtime have it in their name.
  const plain = type === 'counter' ? name.replace(/_total$/, '') : name;
  const [suffix, unit] = units.find(([pattern]) => pattern.test(plain)) ?? [/$^/, '1'];
  return { name: plain.replace(suffix, ''), unit };
}

/** Tokens are one counter with a label here, and one counter for each type there; input includes what a cache had. */
const tokenCounters: Readonly<Record<string, readonly string[]>> = {
  'gen_ai.client.inference.usage.input_tokens': ['input', 'cache_hit', 'cache_write'],
  'gen_ai.client.inference.usage.cache_read.input_tokens': ['cache_hit'],
  'gen_ai.client.inference.usage.cache_write.input_tokens': ['cache_write'],
  'gen_ai.client.inference.usage.output_tokens': ['output'],
};

interface Period {
  startTimeUnixNano: string;
  timeUnixNano: string;
}

function attributesOf(labels: Labels, naming: Naming) {
  const own = Object.entries(labels)
    .filter(([label]) => label !== 'le' && label !== 'worker')
    .map(([label, value]) => [naming.labels?.[label] ?? `steyg.${label}`, String(value)] as const);
  return keyValues([...Object.entries(naming.fixed ?? {}), ...own]);
}

const cumulative = 2;

function tokenMetrics({ values }: Figure, period: Period): object[] {
  return Object.entries(tokenCounters).map(([name, types]) => {
    const sums = new Map<string, { own: Labels; tokens: number }>();
    for (const { labels, value } of values) {
      if (!types.includes(String(labels['token_type']))) continue;
      const own = { model: String(labels['model']), operation: String(labels['operation']) };
      const key = JSON.stringify(own);
      sums.set(key, { own, tokens: (sums.get(key)?.tokens ?? 0) + value });
    }
    const dataPoints = [...sums.values()].map(({ own, tokens }) => ({
      ...period,
      asDouble: tokens,
      attributes: attributesOf(own, { name, unit: '', ...served }),
    }));
    return { name, unit: '{token}', sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
  });
}

/** Buckets of one combination of labels: cumulative here, each on its own there. */
function histogramPoints({ values }: Figure, naming: Naming, period: Period): object[] {
  const series = new Map<string, { labels: Labels; buckets: [number, number][]; sum: number; count: number }>();
  for (const { labels, value, metricName } of values) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const each = series.get(key) ?? { labels: own as Labels, buckets: [], sum: 0, count: 0 };
    series.set(key, each);
    if (metricName?.endsWith('_bucket') === true) each.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
    else if (metricName?.endsWith('_sum') === true) each.sum = value;
    else each.count = value;
  }
  return [...series.values()].map(({ labels, buckets, sum, count }) => {
    const sorted = buckets.filter(([bound]) => bound !== Infinity).sort(([a], [b]) => a - b);
    const counts = sorted.map(([, upTo], index) => upTo - (sorted[index - 1]?.[1] ?? 0));
    const beyond = count - (sorted.at(-1)?.[1] ?? 0);
    return {
      ...period,
      count: String(count),
      sum,
      bucketCounts: [...counts, beyond].map(String),
      explicitBounds: sorted.map(([bound]) => bound),
      attributes: attributesOf(labels, naming),
    };
  });
}

function encodeFigure(figure: Figure, period: Period): object[] {
  if (figure.name === 'gateway_tokens_total') return tokenMetrics(figure, period);
  const naming = namingOf(figure.name, String(figure.type));
  const described = { name: naming.name, description: figure.help, unit: naming.unit };
  const points = () =>
    figure.values.map(({ labels, value }) => ({
      ...period,
      asDouble: value,
      attributes: attributesOf(labels as Labels, naming),
    }));
  // As prom-client writes them; its types say numbers.
  switch (String(figure.type)) {
    case 'counter':
      return [{ ...described, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints: points() } }];
    case 'histogram':
      return [
        {
          ...described,
          histogram: { aggregationTemporality: cumulative, dataPoints: histogramPoints(figure, naming, period) },
        },
      ];
    default:
      return [{ ...described, gauge: { dataPoints: points() } }];
  }
}

/** `startedAt`: when the counters began, `at`: now, both in milliseconds since the epoch. */
export function encodeMetrics(
  { resource, scope }: OtlpSource,
  figures: readonly Figure[],
  startedAt: number,
  at: number,
): object {
  const period = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(at) };
  return {
    resourceMetrics: [
      {
        resource: { attributes: keyValues(Object.entries(resource)) },
        scopeMetrics: [{ scope, metrics: figures.flatMap((figure) => encodeFigure(figure, period)) }],
      },
    ],
  };
}
