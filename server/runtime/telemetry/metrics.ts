import type { Registry } from 'prom-client';
import { type ModelKind, operationNames } from '../../core/kind.ts';
import { createLag, lagTickMs } from '../event-loop-lag.ts';
import { createInstruments, type Instruments } from './instruments.ts';

/**
 * Prometheus metrics of one process. Labels are names of our own (protocols, models, upstreams, outcomes), never an
 * account, a key or a client's text: bounded in number, and private.
 */

export interface SettledFacts {
  protocol: string;
  model: string;
  kind: ModelKind;
  outcome: string;
  usageSource: string;
  usage: { input: number; cacheHit: number; cacheWrite5m: number; cacheWrite1h: number; output: number };
  /** Pico-USD. */
  cost: bigint;
}

/** Where a fault of our own can happen; server/README.md says what to do about each. */
const faultPlaces = [
  'edge',
  'relay',
  'settlement',
  'ledger_quarantine',
  'spool_quarantine',
  'spool_unwritable',
  'invariant_broken',
  'batch_results',
] as const;

export interface Metrics {
  registry: Registry;
  /** One finished HTTP exchange on a model endpoint. */
  requestDone(facts: {
    protocol: string;
    model: string;
    /** What was asked for. */
    kind: ModelKind;
    status: number;
    seconds: number;
    firstByteSeconds: number | null;
  }): void;
  /** The time from the last byte of a request to its dispatch upstream. */
  dispatched(seconds: number): void;
  upstreamAnswered(facts: {
    upstream: string;
    model: string;
    kind: ModelKind;
    end: string;
    milliseconds: number;
  }): void;
  settled(facts: SettledFacts): void;
  /** What a settled request took from its account's budget, in pico-USD. */
  charged(model: string, amount: bigint): void;
  budgetRefusal(reason: string): void;
  failover(model: string): void;
  anomaly(kind: string, upstream: string): void;
  /** A request had a top-level member that the gateway does not know. */
  unknownMember(protocol: string, name: string): void;
  /** A message of a bank's webhook, by its outcome. */
  bankMessage(provider: string, outcome: string): void;
  /** A fault of our own that the process survived. */
  fault(where: (typeof faultPlaces)[number]): void;
  inFlight: { add(protocol: string): void; remove(protocol: string): void };
  /** Sustained lateness of the event loop, in milliseconds. */
  loopLagMs(): number;
  /** Last measured lateness of the event loop, in milliseconds. */
  latestLoopLagMs(): number;
  /** The number of ledger operations in one transaction. */
  batch(operations: number): void;
  /** Registers a gauge whose value is read when metrics are collected. */
  gauge(name: string, help: string, read: () => number): void;
}

const overheadSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** All metrics of a process. `worker`: the index of this process behind a shared port; null: the only one. */
export function createMetrics({ worker = null }: { worker?: number | null } = {}): Metrics {
  const instruments = createInstruments(worker);
  const lag = createLag(performance.now());
  setInterval(() => lag.tick(performance.now()), lagTickMs).unref();
  instruments.gauge('gateway_event_loop_lag_seconds', 'How late the event loop runs.', () => lag.latestMs() / 1000);
  return {
    registry: instruments.registry,
    gauge: instruments.gauge,
    loopLagMs: lag.lastingMs,
    latestLoopLagMs: lag.latestMs,
    ...requestMetrics(instruments),
    ...upstreamMetrics(instruments),
    ...moneyMetrics(instruments),
    ...faultMetrics(instruments),
  };
}

function requestMetrics({ count, measure, level }: Instruments) {
  const requests = count('gateway_requests_total', 'Requests on model endpoints.', 'protocol', 'model', 'status');
  const duration = measure(
    'gen_ai_server_request_duration_seconds',
    'Time from the request to the end of its answer.',
    seconds,
    'protocol',
    'model',
    'operation',
  );
  const firstByte = measure(
    'gen_ai_server_time_to_first_token_seconds',
    'Time from the request to the first byte of content.',
    seconds,
    'protocol',
    'model',
    'operation',
  );
  const overhead = measure(
    'gateway_overhead_seconds',
    'Time from the last byte of a request to its dispatch: reading it, choosing a route, the hold.',
    overheadSeconds,
  );
  const unknownMembers = count(
    'gateway_unknown_members_total',
    'Top-level members of requests that the gateway does not know, by name.',
    'protocol',
    'member',
  );
  const memberLabel = createMemberLabel();
  const running = level('gateway_inflight', 'Requests being relayed.', 'protocol');
  return {
    requestDone({ protocol, model, kind, status, seconds: took, firstByteSeconds }) {
      requests([protocol, model, String(status)]);
      duration([protocol, model, operationNames[kind]], took);
      if (firstByteSeconds !== null) firstByte([protocol, model, operationNames[kind]], firstByteSeconds);
    },
    dispatched: (tookS) => overhead([], tookS),
    unknownMember: (protocol, name) => unknownMembers([protocol, memberLabel(name)]),
    inFlight: { add: (protocol) => running(protocol, 1), remove: (protocol) => running(protocol, -1) },
  } satisfies Partial<Metrics>;
}

/** Distinct label values; further names of a process are counted together. */
const maxMemberLabels = 40;

/** Clients choose the names: only plausible field names, in words without digits, become labels. */
function createMemberLabel(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size === maxMemberLabels || !/^[a-z]{1,20}(_[a-z]{1,20}){0,4}$/.test(name)) return 'other';
    known.add(name);
    return name;
  };
}

function upstreamMetrics({ count, measure }: Instruments) {
  const duration = measure(
    'gateway_upstream_duration_seconds',
    'Time of one exchange with an upstream.',
    seconds,
    'upstream',
    'operation',
  );
  const ends = count(
    'gateway_upstream_answers_total',
    'Exchanges with upstreams by how they ended.',
    'upstream',
    'model',
    'end',
  );
  const failovers = count(
    'gateway_failovers_total',
    'Further tries of requests, on another route or with another key of the same model where there is one.',
    'model',
  );
  const anomalies = count('gateway_anomalies_total', 'Things an upstream should not do.', 'kind', 'upstream');
  return {
    upstreamAnswered({ upstream, model, kind, end, milliseconds }) {
      duration([upstream, operationNames[kind]], milliseconds / 1000);
      ends([upstream, model, end]);
    },
    failover: (model) => failovers([model]),
    anomaly: (kind, upstream) => anomalies([kind, upstream]),
  } satisfies Partial<Metrics>;
}

function moneyMetrics({ count, measure }: Instruments) {
  const tokens = count('gateway_tokens_total', 'Tokens settled.', 'model', 'token_type', 'operation');
  const spend = count('gateway_spend_usd_total', 'Cost of settled requests in USD.', 'model');
  const charges = count('gateway_charged_usd_total', 'What settled requests took from budgets, in USD.', 'model');
  const outcomes = count(
    'gateway_settlements_total',
    'Settled requests by outcome and source of their usage.',
    'protocol',
    'outcome',
    'usage_source',
  );
  const refusals = count('gateway_budget_refusals_total', 'Requests refused before the call.', 'reason');
  const bankMessages = count(
    'gateway_bank_messages_total',
    'Messages of bank webhooks by what became of them.',
    'provider',
    'outcome',
  );
  const batches = measure(
    'gateway_ledger_batch_operations',
    'Operations of the ledger that were committed in one transaction.',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  return {
    settled({ protocol, model, kind, outcome, usageSource, usage, cost }) {
      const operation = operationNames[kind];
      outcomes([protocol, outcome, usageSource]);
      if (usage.input > 0) tokens([model, 'input', operation], usage.input);
      if (usage.cacheHit > 0) tokens([model, 'cache_hit', operation], usage.cacheHit);
      const written = usage.cacheWrite5m + usage.cacheWrite1h;
      if (written > 0) tokens([model, 'cache_write', operation], written);
      if (usage.output > 0) tokens([model, 'output', operation], usage.output);
      // For display; the exact figure is in the ledger.
      if (cost > 0n) spend([model], Number(cost) / 1e12);
    },
    charged(model, amount) {
      if (amount > 0n) charges([model], Number(amount) / 1e12);
    },
    budgetRefusal: (reason) => refusals([reason]),
    bankMessage: (provider, outcome) => bankMessages([provider, outcome]),
    batch: (operations) => batches([], operations),
  } satisfies Partial<Metrics>;
}

function faultMetrics({ count }: Instruments) {
  const faults = count('gateway_faults_total', 'Faults of this server that it survived.', 'where');
  // Initialised with zero: alerts see no rise of a counter that appears with its first fault.
  for (const where of faultPlaces) faults([where], 0);
  return { fault: (where) => faults([where]) } satisfies Partial<Metrics>;
}
