import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Ledger } from '../billing/lane/ledger.ts';
import { createVendorBatches } from '../billing/vendor-batches.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ModelMismatches } from '../catalog/model-mismatches.ts';
import type { Router } from '../catalog/router.ts';
import type { Log } from '../core/log.ts';
import { withDeadline } from '../database/deadline.ts';
import { createBatchAcceptance } from '../gateway/batches/accept-batch.ts';
import { type BatchKeeper, createBatchKeeper } from '../gateway/batches/batch-keeper.ts';
import { type ConsoleBatches, createConsoleBatches } from '../gateway/batches/console-batches.ts';
import { createHeldBudget } from '../gateway/batches/held-budget.ts';
import { createVendorCalls } from '../gateway/batches/vendor-calls.ts';
import type { Authenticator } from '../gateway/entrance/authenticate.ts';
import { createStanding } from '../gateway/entrance/standing.ts';
import { registerGateway } from '../gateway/gateway.ts';
import { createConcurrency } from '../gateway/limits/concurrency.ts';
import { createPace } from '../gateway/limits/pace.ts';
import { createRequestRates } from '../gateway/limits/request-rate.ts';
import { createSlots, type Slots } from '../gateway/limits/slots.ts';
import { createTokenRates } from '../gateway/limits/token-rate.ts';
import { createBodyRoom } from '../gateway/load/body-room.ts';
import { defaultMaxRssBytes, watchMemory } from '../gateway/load/memory.ts';
import { createPulse } from '../gateway/load/pulse.ts';
import { createReads } from '../gateway/load/read-room.ts';
import { registerOpenApi } from '../gateway/openapi/routes.ts';
import { createReader } from '../gateway/read.ts';
import { createEstimator, createKeyEstimates } from '../gateway/reads/estimates.ts';
import { createRefusals } from '../gateway/refusals/refusals.ts';
import { createRelay } from '../gateway/relay.ts';
import { defaultSocketLimits, type SocketLimits } from '../gateway/sockets/session.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Keys } from '../keys/keys.ts';
import { registerCompression } from '../runtime/compression.ts';
import type { Config } from '../runtime/config.ts';
import type { ConnectionRoom } from '../runtime/connection-room.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import type { Tracer } from '../runtime/telemetry/tracing.ts';
import { createDigest } from '../shared/digest.ts';
import type { RequestEnds } from '../uptime/passive.ts';
import { refusalPointers } from './docs.ts';

/** The state of a process, as its parts see it. */
export interface ProcessState {
  /** The database is prepared. */
  prepared: boolean;
  /** No new connections are taken; what arrives on those that are open is answered. */
  draining: boolean;
  /** The time for draining is over: running requests end at once, and new ones are refused. */
  now: boolean;
}

/** The composition of the data plane: the endpoints that model clients call. */
export interface DataPlaneParts {
  config: Config;
  /** The public address in force, read at each use. */
  address: { readonly publicUrl: string };
  secretKey: Buffer;
  /** A UUID of this run of the process, whose lease the ledger keeps. */
  processId: string;
  pool: Pool;
  ledger: Ledger;
  keys: Keys;
  keyring: Keyring;
  authenticator: Authenticator;
  catalog: Catalog;
  router: Router;
  mismatches: ModelMismatches;
  state: ProcessState;
  requestEnds: RequestEnds;
  /** Of the process's descriptors. */
  room: ConnectionRoom;
  /** Absent: the default ones. */
  socketLimits?: SocketLimits;
  metrics: Metrics;
  tracer: Tracer | null;
  log: Log;
}

export interface DataPlane {
  slots: Slots;
  /** Settles batches; to be closed before the ledger. */
  batches: Pick<BatchKeeper, 'close'>;
  /** Batches for the control plane. */
  consoleBatches: ConsoleBatches;
  /** Estimates for the control plane. */
  estimate: ReturnType<typeof createKeyEstimates>;
  close(): Promise<void>;
}

export function createDataPlane(fastify: FastifyInstance, parts: DataPlaneParts): DataPlane {
  const { config, pool, ledger, keys, authenticator, catalog, router, mismatches, state, metrics, log } = parts;
  const { timeouts } = config;
  const api = {
    get baseUrl() {
      return `${parts.address.publicUrl}/api`;
    },
  };
  const refusals = createRefusals(refusalPointers(parts.address));
  const { keepAliveMs, firstEventMs, clientStallMs } = timeouts;
  const pulse = createPulse(Math.max(10, Math.min(250, keepAliveMs / 4, firstEventMs / 4, clientStallMs / 4)));
  const slots = createSlots(config.limits);
  // What a request waits for has its deadline.
  const asked = withDeadline(pool, config.admissionTimeoutMs);
  const rates = createRequestRates({ pool: asked, limits: config.requestRates, log });
  const trialSlots = config.limits.trial;
  const standing = createStanding({ keyring: parts.keyring, ledger, refusals, slots, trialSlots });
  const tokenRates = createTokenRates({ pool: asked, log });
  const concurrency = createConcurrency({ pool: asked, processId: parts.processId });
  const digest = createDigest(parts.secretKey);
  const earlierDigests = config.previousSecretKeys.map(createDigest);
  const store = createVendorBatches({ pool });
  const heldBudget = createHeldBudget({ store });
  const relay = createRelay({
    ledger,
    heldBudget,
    pace: createPace({ concurrency, tokenRates, refusals }),
    standing,
    rates,
    catalog,
    router,
    refusals,
    slots,
    pulse,
    mismatches,
    requestEnds: parts.requestEnds,
    metrics,
    log,
    timeouts,
    trialSlots,
    shutdown: state,
    digest,
    earlierDigests,
  });
  const memory = watchMemory({ maxRssBytes: config.maxRssBytes ?? defaultMaxRssBytes(config.workers) });
  metrics.gauge('gateway_memory_scarce', '1 while load is shed because memory runs short.', () =>
    Number(memory.scarce),
  );
  const intake = {
    get stopping() {
      return state.now;
    },
    get draining() {
      return state.draining;
    },
    get prepared() {
      return state.prepared;
    },
    get overloaded() {
      return metrics.loopLagMs() > config.overloadLagMs || memory.scarce || parts.room.isFull;
    },
  };
  const estimates = { ledger, heldBudget, standing, catalog, router, refusals, metrics, digest, earlierDigests };
  const estimate = createEstimator({ ...estimates, slots, trialSlots });
  const read = createReader({ catalog, router, refusals, standing, digest, earlierDigests, metrics });
  const calls = createVendorCalls(timeouts);
  const { batchPollMs: pollMs } = config;
  const keeper = createBatchKeeper({ store, calls, ledger, catalog, router, metrics, log, pollMs });
  const accept = createBatchAcceptance({ store, ledger, heldBudget, keeper, refusals, metrics, log, pollMs });
  registerGateway(fastify, {
    batches: {
      store,
      calls,
      keeper,
      accept,
      read,
      standing,
      slots,
      refusals,
      catalog,
      router,
      log,
      get baseUrl() {
        return api.baseUrl;
      },
    },
    relay,
    estimate,
    keys,
    authenticator,
    standing,
    refusals,
    intake,
    rates,
    bodyRoom: createBodyRoom(),
    pulse,
    socketLimits: parts.socketLimits ?? defaultSocketLimits,
    reads: createReads({ refusals }),
    metrics,
    tracer: parts.tracer,
    catalog,
    router,
    slots,
    pool,
    digest,
    timeouts,
    get baseUrl() {
      return api.baseUrl;
    },
  });
  void fastify.register(async (pages) => {
    registerCompression(pages);
    registerOpenApi(pages, api);
  });
  return {
    batches: keeper,
    consoleBatches: createConsoleBatches({ store, keeper }),
    slots,
    estimate: createKeyEstimates({ ...estimates, keyring: parts.keyring, rates }),
    async close() {
      pulse.close();
      memory.close();
      await Promise.all([rates.close(), tokenRates.close()]);
    },
  };
}
