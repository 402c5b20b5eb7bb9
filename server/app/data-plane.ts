import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Ledger } from '../billing/ledger.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ModelMismatches } from '../catalog/model-mismatches.ts';
import type { Router } from '../catalog/router.ts';
import type { Log } from '../core/log.ts';
import type { Authenticator } from '../gateway/authenticate.ts';
import { createConcurrency } from '../gateway/concurrency.ts';
import { createEstimator, createKeyEstimates } from '../gateway/estimates.ts';
import { registerGateway } from '../gateway/gateway.ts';
import { defaultMaxRssBytes, watchMemory } from '../gateway/memory.ts';
import { registerOpenApi } from '../gateway/openapi/routes.ts';
import { createPace } from '../gateway/pace.ts';
import { createPulse } from '../gateway/pulse.ts';
import { createReads } from '../gateway/reads.ts';
import { createRefusals } from '../gateway/refusals.ts';
import { createRelay } from '../gateway/relay.ts';
import { createRequestRates } from '../gateway/request-rate.ts';
import { createSlots, type Slots } from '../gateway/slots.ts';
import { createStanding } from '../gateway/standing.ts';
import { createTokenRates } from '../gateway/token-rate.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Keys } from '../keys/keys.ts';
import { registerCompression } from '../runtime/compression.ts';
import type { Config } from '../runtime/config.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Tracer } from '../runtime/tracing.ts';
import { createDigest } from '../shared/digest.ts';
import type { RequestEnds } from '../uptime/passive.ts';

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
  metrics: Metrics;
  tracer: Tracer | null;
  log: Log;
}

export interface DataPlane {
  slots: Slots;
  /** Estimates for the control plane. */
  estimate: ReturnType<typeof createKeyEstimates>;
  close(): Promise<void>;
}

export function createDataPlane(fastify: FastifyInstance, parts: DataPlaneParts): DataPlane {
  const { config, pool, ledger, keys, authenticator, catalog, router, mismatches, state, metrics, log } = parts;
  const { publicUrl, timeouts } = config;
  const refusals = createRefusals({ topUpUrl: `${publicUrl}/topup`, statusUrl: `${publicUrl}/status` });
  const { keepAliveMs, firstEventMs, clientStallMs } = timeouts;
  const pulse = createPulse(Math.max(10, Math.min(250, keepAliveMs / 4, firstEventMs / 4, clientStallMs / 4)));
  const slots = createSlots(config.limits);
  const rates = createRequestRates({ pool, limits: config.requestRates, log });
  const trialSlots = config.limits.trial;
  const standing = createStanding({ keyring: parts.keyring, ledger, refusals, slots, trialSlots });
  const tokenRates = createTokenRates({ pool, log });
  const concurrency = createConcurrency({ pool, processId: parts.processId });
  const digest = createDigest(parts.secretKey);
  const relay = createRelay({
    ledger,
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
  });
  const memory = watchMemory({ maxRssBytes: config.maxRssBytes ?? defaultMaxRssBytes(config.workers) });
  metrics.gauge('gateway_memory_scarce', '1 while load is shed because memory runs short.', () =>
    Number(memory.scarce),
  );
  const intake = {
    get stopping() {
      return state.now;
    },
    get prepared() {
      return state.prepared;
    },
    get overloaded() {
      return metrics.loopLagMs() > config.overloadLagMs || memory.scarce;
    },
  };
  const baseUrl = `${publicUrl}/api`;
  const estimates = { ledger, standing, catalog, router, refusals, metrics, digest };
  const estimate = createEstimator({ ...estimates, slots, trialSlots });
  registerGateway(fastify, {
    relay,
    estimate,
    keys,
    authenticator,
    standing,
    refusals,
    intake,
    rates,
    reads: createReads({ refusals }),
    metrics,
    tracer: parts.tracer,
    catalog,
    router,
    slots,
    pool,
    digest,
    timeouts,
    baseUrl,
  });
  void fastify.register(async (pages) => {
    registerCompression(pages);
    registerOpenApi(pages, baseUrl);
  });
  return {
    slots,
    estimate: createKeyEstimates({ ...estimates, keyring: parts.keyring, rates }),
    async close() {
      pulse.close();
      memory.close();
      await Promise.all([rates.close(), tokenRates.close()]);
    },
  };
}
