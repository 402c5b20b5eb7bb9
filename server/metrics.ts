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

/**
 * `worker`: which of several processes behind one port this is; null: the only one. A scrape meets one of them, and
 * figures of different processes under one name would look like counters that run backwards.
 */
export function createMetrics({ worker = null }: { worker?: number | null } = {}): Metrics {
  const registry = new Registry();
  if (worker !== null) registry.setDefaultLabels({ worker: String(worker) });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Requests on model endpoints.',
    labelNames: ['protocol', 'model', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'gen_ai_server_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['protocol', 'model'],
    buckets: seconds,
    registers,
  });
  const firstByte = new Histogram({
    name: 'gen_ai_server_time_to_first_token_seconds',
    help: 'Time from the request to the first byte of content.',
    labelNames: ['protocol', 'model'],
    buckets: seconds,
    registers,
  });
  const overhead = new Histogram({
    name: 'gateway_overhead_seconds',
    help: 'Time from the last byte of a request to its dispatch: reading it, choosing a place, the hold.',
    buckets: overheadSeconds,
    registers,
  });
  const upstreamDuration = new Histogram({
    name: 'gateway_upstream_duration_seconds',
    help: 'Time of one exchange with an upstream.',
    labelNames: ['upstream'],
    buckets: seconds,
    registers,
  });
  const upstreamEnds = new Counter({
    name: 'gateway_upstream_answers_total',
    help: 'Exchanges with upstreams by how they ended.',
    labelNames: ['upstream', 'model', 'end'],
    registers,
  });
  const tokens = new Counter({
    name: 'gateway_tokens_total',
    help: 'Tokens settled.',
    labelNames: ['model', 'token_type'],
    registers,
  });
  const spend = new Counter({
    name: 'gateway_spend_usd_total',
    help: 'Cost of settled requests in USD.',
    labelNames: ['model'],
    registers,
  });
  const outcomes = new Counter({
    name: 'gateway_settlements_total',
    help: 'Settled requests by outcome and source of their usage.',
    labelNames: ['protocol', 'outcome', 'usage_source'],
    registers,
  });
  const refusals = new Counter({
    name: 'gateway_budget_refusals_total',
    help: 'Requests refused before the call.',
    labelNames: ['reason'],
    registers,
  });
  const failovers = new Counter({
    name: 'gateway_failovers_total',
    help: 'Further tries of requests, at another place or with another key of the same model where there is one.',
    labelNames: ['model'],
    registers,
  });
  const anomalies = new Counter({
    name: 'gateway_anomalies_total',
    help: 'Things an upstream should not do.',
    labelNames: ['kind', 'upstream'],
    registers,
  });
  const bankMessages = new Counter({
    name: 'gateway_bank_messages_total',
    help: 'Messages of bank webhooks by what became of them.',
    labelNames: ['provider', 'outcome'],
    registers,
  });
  const faults = new Counter({
    name: 'gateway_faults_total',
    help: 'Faults of this server that it survived.',
    labelNames: ['where'],
    registers,
  });
  // There from the beginning: of a counter that appears with its first fault, no rise is ever seen.
  for (const where of faultPlaces) faults.labels({ where }).inc(0);
  const running = new Gauge({
    name: 'gateway_inflight',
    help: 'Requests being relayed.',
    labelNames: ['protocol'],
    registers,
  });

  const batches = new Histogram({
    name: 'gateway_ledger_batch_operations',
    help: 'Operations of the ledger that were committed in one transaction.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });

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

  // Label handles are looked up once: the lookup by a labels object is most of the cost of an increment.
  const handles = <T>(make: (...names: string[]) => T) => {
    const known = new Map<string, T>();
    return (...names: string[]): T => {
      const key = names.join('\u0000');
      let handle = known.get(key);
      if (handle === undefined) {
        handle = make(...names);
        known.set(key, handle);
      }
      return handle;
    };
  };
  const requestOf = handles((protocol, model, status) =>
    requests.labels({ protocol, model, status } as Record<string, string>),
  );
  const durationOf = handles((protocol, model) => duration.labels({ protocol, model } as Record<string, string>));
  const firstByteOf = handles((protocol, model) => firstByte.labels({ protocol, model } as Record<string, string>));
  const tokensOf = handles((model, token_type) => tokens.labels({ model, token_type } as Record<string, string>));
  const spendOf = handles((model) => spend.labels({ model } as Record<string, string>));
  const outcomeOf = handles((protocol, outcome, usage_source) =>
    outcomes.labels({ protocol, outcome, usage_source } as Record<string, string>),
  );
  const upstreamOf = handles((upstream) => upstreamDuration.labels({ upstream } as Record<string, string>));
  const endOf = handles((upstream, model, end) =>
    upstreamEnds.labels({ upstream, model, end } as Record<string, string>),
  );

  return {
    registry,
    requestDone({ protocol, model, status, seconds: took, firstByteSeconds }) {
      requestOf(protocol, model, String(status)).inc();
      durationOf(protocol, model).observe(took);
      if (firstByteSeconds !== null) firstByteOf(protocol, model).observe(firstByteSeconds);
    },
    dispatched: (tookS) => overhead.observe(tookS),
    upstreamAnswered(upstream, model, end, milliseconds) {
      upstreamOf(upstream).observe(milliseconds / 1000);
      endOf(upstream, model, end).inc();
    },
    settled({ protocol, model, outcome, usageSource, usage, cost }) {
      outcomeOf(protocol, outcome, usageSource).inc();
      if (usage.input > 0) tokensOf(model, 'input').inc(usage.input);
      if (usage.cacheHit > 0) tokensOf(model, 'cache_hit').inc(usage.cacheHit);
      const written = usage.cacheWrite5m + usage.cacheWrite1h;
      if (written > 0) tokensOf(model, 'cache_write').inc(written);
      if (usage.output > 0) tokensOf(model, 'output').inc(usage.output);
      // A gauge for people; the exact figure is in the ledger.
      if (cost > 0n) spendOf(model).inc(Number(cost) / 1e12);
    },
    budgetRefusal: (reason) => refusals.labels({ reason }).inc(),
    failover: (model) => failovers.labels({ model }).inc(),
    anomaly: (kind, upstream) => anomalies.labels({ kind, upstream }).inc(),
    bankMessage: (provider, outcome) => bankMessages.labels({ provider, outcome }).inc(),
    fault: (where) => faults.labels({ where }).inc(),
    inFlight: {
      add: (protocol) => running.labels({ protocol }).inc(),
      remove: (protocol) => running.labels({ protocol }).dec(),
    },
    loopLagMs: () => lag.lastingMs(),
    batch: (operations) => batches.observe(operations),
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
