import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Prometheus metrics of one process. Labels are names of our own (protocols, models, upstreams, outcomes), never an
 * account, a key or anything a client wrote: bounded in number, and private.
 */

export interface SettledFacts {
  protocol: string;
  model: string;
  outcome: string;
  usageSource: string;
  usage: { input: number; cacheHit: number; cacheWrite5m: number; cacheWrite1h: number; output: number };
  /** Pico-USD. */
  cost: bigint;
}

/** Where a fault of our own can happen; README.md beside this file says what to do about each. */
const faultPlaces = [
  'edge',
  'relay',
  'settlement',
  'ledger_quarantine',
  'spool_quarantine',
  'spool_unwritable',
  'invariant_broken',
] as const;

export interface Metrics {
  registry: Registry;
  /** One finished HTTP exchange on a model endpoint. */
  requestDone(facts: {
    protocol: string;
    model: string;
    status: number;
    seconds: number;
    firstByteSeconds: number | null;
  }): void;
  /** A request went upstream so long after its last byte had arrived. */
  dispatched(seconds: number): void;
  upstreamAnswered(upstream: string, model: string, end: string, milliseconds: number): void;
  settled(facts: SettledFacts): void;
  budgetRefusal(reason: string): void;
  failover(model: string): void;
  anomaly(kind: string, upstream: string): void;
  /** A message of a bank's webhook and what became of it. */
  bankMessage(provider: string, outcome: string): void;
  /** A fault of our own that was survived. */
  fault(where: (typeof faultPlaces)[number]): void;
  inFlight: { add(protocol: string): void; remove(protocol: string): void };
  /** Milliseconds by which the event loop keeps being late. */
  loopLagMs(): number;
  /** So many operations of the ledger were committed in one transaction. */
  batch(operations: number): void;
  /** Registers a gauge whose value is read when metrics are collected. */
  gauge(name: string, help: string, read: () => number): void;
}

const overheadSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export const lagTickMs = 500;

/** How late a timer of `lagTickMs` comes. */
export function createLag(startedAt: number) {
  let previousMs = 0;
  let latestMs = 0;
  let expected = startedAt + lagTickMs;
  return {
    tick(now: number): void {
      previousMs = latestMs;
      latestMs = Math.max(0, now - expected);
      expected = now + lagTickMs;
    },
    latestMs: () => latestMs,
    /** The lesser of the last two: one long pause is over when it is noticed, and no reason to refuse anybody. */
    lastingMs: () => Math.min(previousMs, latestMs),
  };
}

type Labels = Record<string, string>;

interface Branch<T> {
  leaf: T | undefined;
  next: Map<string, Branch<T>>;
}

/** What belongs to each combination of labels. Joined to one text, the labels of each request would have to be hashed anew. */
function byLabels<T>(names: readonly string[], make: (labels: Labels) => T): (values: readonly string[]) => T {
  const root: Branch<T> = { leaf: undefined, next: new Map() };
  return (values) => {
    let branch = root;
    for (const value of values) {
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { leaf: undefined, next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    branch.leaf ??= make(Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])));
    return branch.leaf;
  };
}

/** A plain number for each combination of labels, told to the registry when somebody looks: requests are many, looks are few. */
function figures(labelNames: readonly string[]) {
  const each: { labels: Labels; value: number }[] = [];
  const of = byLabels(labelNames, (labels) => {
    const figure = { labels, value: 0 };
    each.push(figure);
    return figure;
  });
  return { each, of };
}

/**
 * `worker`: which of several processes behind one port this is; null: the only one. A scrape meets one of them, and
 * figures of different processes under one name would look like counters that run backwards.
 */
export function createMetrics({ worker = null }: { worker?: number | null } = {}): Metrics {
  const registry = new Registry();
  if (worker !== null) registry.setDefaultLabels({ worker: String(worker) });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const count = (name: string, help: string, ...labelNames: string[]) => {
    const { each, of } = figures(labelNames);
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, value } of each) this.inc(labels, value);
      },
    });
    return (labels: readonly string[], more = 1): void => {
      of(labels).value += more;
    };
  };
  const measure = (name: string, help: string, buckets: number[], ...labelNames: string[]) => {
    const histogram = new Histogram({ name, help, buckets, labelNames, registers });
    const of = byLabels(labelNames, (labels) => histogram.labels(labels));
    return (labels: readonly string[], value: number): void => of(labels).observe(value);
  };

  const requests = count('gateway_requests_total', 'Requests on model endpoints.', 'protocol', 'model', 'status');
  const duration = measure(
    'gen_ai_server_request_duration_seconds',
    'Time from the request to the end of its answer.',
    seconds,
    'protocol',
    'model',
  );
  const firstByte = measure(
    'gen_ai_server_time_to_first_token_seconds',
    'Time from the request to the first byte of content.',
    seconds,
    'protocol',
    'model',
  );
  const overhead = measure(
    'gateway_overhead_seconds',
    'Time from the last byte of a request to its dispatch: reading it, choosing a place, the hold.',
    overheadSeconds,
  );
  const upstreamDuration = measure(
    'gateway_upstream_duration_seconds',
    'Time of one exchange with an upstream.',
    seconds,
    'upstream',
  );
  const upstreamEnds = count(
    'gateway_upstream_answers_total',
    'Exchanges with upstreams by how they ended.',
    'upstream',
    'model',
    'end',
  );
  const tokens = count('gateway_tokens_total', 'Tokens settled.', 'model', 'token_type');
  const spend = count('gateway_spend_usd_total', 'Cost of settled requests in USD.', 'model');
  const outcomes = count(
    'gateway_settlements_total',
    'Settled requests by outcome and source of their usage.',
    'protocol',
    'outcome',
    'usage_source',
  );
  const refusals = count('gateway_budget_refusals_total', 'Requests refused before the call.', 'reason');
  const failovers = count(
    'gateway_failovers_total',
    'Further tries of requests, at another place or with another key of the same model where there is one.',
    'model',
  );
  const anomalies = count('gateway_anomalies_total', 'Things an upstream should not do.', 'kind', 'upstream');
  const bankMessages = count(
    'gateway_bank_messages_total',
    'Messages of bank webhooks by what became of them.',
    'provider',
    'outcome',
  );
  const faults = count('gateway_faults_total', 'Faults of this server that it survived.', 'where');
  // There from the beginning: of a counter that appears with its first fault, no rise is ever seen.
  for (const where of faultPlaces) faults([where], 0);
  const running = figures(['protocol']);
  new Gauge({
    name: 'gateway_inflight',
    help: 'Requests being relayed.',
    labelNames: ['protocol'],
    registers,
    collect() {
      for (const { labels, value } of running.each) this.set(labels, value);
    },
  });
  const batches = measure(
    'gateway_ledger_batch_operations',
    'Operations of the ledger that were committed in one transaction.',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );

  const lag = createLag(performance.now());
  setInterval(() => lag.tick(performance.now()), lagTickMs).unref();
  new Gauge({
    name: 'gateway_event_loop_lag_seconds',
    help: 'How late the event loop runs.',
    registers,
    collect() {
      this.set(lag.latestMs() / 1000);
    },
  });

  return {
    registry,
    requestDone({ protocol, model, status, seconds: took, firstByteSeconds }) {
      requests([protocol, model, String(status)]);
      duration([protocol, model], took);
      if (firstByteSeconds !== null) firstByte([protocol, model], firstByteSeconds);
    },
    dispatched: (tookS) => overhead([], tookS),
    upstreamAnswered(upstream, model, end, milliseconds) {
      upstreamDuration([upstream], milliseconds / 1000);
      upstreamEnds([upstream, model, end]);
    },
    settled({ protocol, model, outcome, usageSource, usage, cost }) {
      outcomes([protocol, outcome, usageSource]);
      if (usage.input > 0) tokens([model, 'input'], usage.input);
      if (usage.cacheHit > 0) tokens([model, 'cache_hit'], usage.cacheHit);
      const written = usage.cacheWrite5m + usage.cacheWrite1h;
      if (written > 0) tokens([model, 'cache_write'], written);
      if (usage.output > 0) tokens([model, 'output'], usage.output);
      // A gauge for people; the exact figure is in the ledger.
      if (cost > 0n) spend([model], Number(cost) / 1e12);
    },
    budgetRefusal: (reason) => refusals([reason]),
    failover: (model) => failovers([model]),
    anomaly: (kind, upstream) => anomalies([kind, upstream]),
    bankMessage: (provider, outcome) => bankMessages([provider, outcome]),
    fault: (where) => faults([where]),
    inFlight: {
      add(protocol) {
        running.of([protocol]).value += 1;
      },
      remove(protocol) {
        running.of([protocol]).value -= 1;
      },
    },
    loopLagMs: () => lag.lastingMs(),
    batch: (operations) => batches([], operations),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
}
