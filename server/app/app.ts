import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createLedger, type Ledger } from '../billing/lane/ledger.ts';
import { createSpool } from '../billing/spool/spool.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { createModelMismatches } from '../catalog/model-mismatches.ts';
import { createRouter } from '../catalog/router.ts';
import { createOpenRoutes } from '../catalog/routes.ts';
import type { Vendor } from '../catalog/vendors.ts';
import { connections } from '../database/connections.ts';
import { withDeadline } from '../database/deadline.ts';
import { openLane } from '../database/lane.ts';
import { openPool } from '../database/pool.ts';
import { isSocketAddress, servedAddress } from '../gateway/entrance/addresses.ts';
import { createAuthenticator } from '../gateway/entrance/authenticate.ts';
import { loadTokenizer } from '../gateway/reads/tokenize.ts';
import type { SocketLimits } from '../gateway/sockets/session.ts';
import { readPersistedDocuments } from '../graphql/persisted.ts';
import { createKeyring } from '../keys/keyring.ts';
import { createKeys } from '../keys/keys.ts';
import { registerFonts } from '../pages/fonts.ts';
import type { Config } from '../runtime/config.ts';
import { boundConnections, readOpenFilesLimit } from '../runtime/connection-room.ts';
import { describeError } from '../runtime/http.ts';
import { createHttpServer, type ServerLimits } from '../runtime/http-server.ts';
import { stopListening } from '../runtime/listening.ts';
import type { ServerLog } from '../runtime/log.ts';
import { registerDashboard } from '../runtime/static-files.ts';
import { createMetrics, type Metrics } from '../runtime/telemetry/metrics.ts';
import { createTelemetry } from '../runtime/telemetry/telemetry.ts';
import { createOperatorSettings } from '../settings/settings.ts';
import { createSeal } from '../shared/seal.ts';
import { createRequestEnds } from '../uptime/passive.ts';
import { bringUp } from './bring-up.ts';
import { createControlPlane } from './control-plane.ts';
import { createDataPlane, type ProcessState } from './data-plane.ts';
import { closeServer, drain, watchConnections } from './draining.ts';
import { registerHealth } from './health.ts';
import { withAddress } from './latest.ts';
import { createServedPages } from './served-pages.ts';

/**
 * The composition root: builds every part from its dependencies and registers every route. The process (`main.ts`) and
 * the tests both come through here.
 */
export interface AppParts {
  config: Config;
  databaseUrl: string;
  /** Sessions of their own for the money lane, the listener and the schedule; absent: `databaseUrl` has them. */
  databaseDirectUrl?: string;
  /** 32 bytes: seals upstream keys, signs what is signed. */
  secretKey: Buffer;
  /** Where the built-in simulator listens. */
  simulatorUrl: string;
  log: ServerLog;
  /**
   * Database work before the start (migrations, first start, catalog file). Retried until it succeeds: a late database
   * must not end the process.
   */
  prepare(): Promise<void>;
  /** Whether this process runs scheduled jobs: probes, mails, webhooks. */
  scheduled: boolean;
  /** Which of several processes behind one port this is; absent: the only one. */
  worker?: number;
  /** Time-outs of the HTTP server; tests shorten them. */
  serverLimits?: ServerLimits;
  /** Limits of WebSockets; tests shorten them. */
  socketLimits?: SocketLimits;
  /** The vendors that operators choose from; tests let the simulator play them. */
  vendors?: () => Promise<readonly Vendor[]>;
}

export interface App {
  fastify: FastifyInstance;
  metrics: Metrics;
  ledger: Ledger;
  /**
   * Resolves to true when clients may connect: it is ready, or the database is away and requests are to be refused with that reason;
   * to false when it was closed before. Rejects like `ready`.
   */
  opens(): Promise<boolean>;
  /** Resolves to true when the database is prepared and requests are taken, to false when it was closed before. */
  ready(): Promise<boolean>;
  /**
   * Stops listening, answers what was accepted, lets running requests finish for `drainMs`, aborts the rest and
   * settles everything.
   */
  close(how?: CloseOptions): Promise<void>;
}

interface CloseOptions {
  /** Ends the flow of new connections; absent: the app itself listens. */
  stopListening?: () => Promise<void>;
  /** How long clients may still use the connections that they keep (milliseconds); absent: not at all. */
  idleMs?: number;
  /** Whether running requests are to be broken off at once; absent: after the time for draining. */
  isForced?: () => boolean;
}

export async function createApp(parts: AppParts): Promise<App> {
  const { config, log, databaseUrl, databaseDirectUrl = databaseUrl, secretKey, simulatorUrl } = parts;
  // A process of its own; tests load it when they need it.
  if (parts.scheduled) await loadTokenizer();
  const fastify = createHttpServer(log.framework, parts.serverLimits, config.trustedProxies, {
    servedAddress,
    upgrades: isSocketAddress,
  });
  const metrics = createMetrics({ worker: parts.worker ?? null });
  const telemetry = createTelemetry(config.telemetry, metrics.registry, log);
  const stores = openStores(parts, metrics);
  const { processId, pool, lane, spool, ledger, keyring, catalog } = stores;
  const router = createRouter({ allowPrivate: config.allowPrivateUpstreams });
  const keys = createKeys({ pool });
  const authenticator = createAuthenticator({ keyring });
  const mismatches = createModelMismatches({ pool, log });
  const requestEnds = createRequestEnds({
    pool,
    onFailure: (error) => log.warn(describeError(error), 'how requests ended could not be counted'),
  });
  requestEnds.start();
  const state: ProcessState = { prepared: false, draining: false, now: false };
  const shared = { config, catalog, router, mismatches, metrics, log };

  const connections = watchConnections(fastify.server);
  const room = boundConnections(fastify.server, {
    openFiles: readOpenFilesLimit(),
    trustedProxies: config.trustedProxies,
  });
  metrics.gauge(
    'gateway_connections_shed',
    'Connections that were closed because descriptors ran short.',
    () => room.closed,
  );
  registerHealth(fastify, {
    isReady: () => state.prepared && !state.draining && ledger.healthy,
    metrics,
    metricsToken: config.metricsToken,
  });
  const settings = createOperatorSettings({
    environment: config,
    pool,
    seal: createSeal({ secretKeys: [secretKey] }),
    warn: (facts, message) => log.warn(facts, message),
  });
  const data = createDataPlane(fastify, {
    ...shared,
    address: settings.address,
    processId,
    pool,
    keys,
    secretKey,
    ledger,
    keyring,
    authenticator,
    state,
    requestEnds,
    room,
    ...(parts.socketLimits === undefined ? {} : { socketLimits: parts.socketLimits }),
    tracer: telemetry.tracer,
  });
  const root = join(import.meta.dirname, '../../dashboard/dist/site');
  const control = await createControlPlane(fastify, {
    ...shared,
    persistedDocuments: await readPersistedDocuments(join(root, 'documents.json')),
    estimate: data.estimate,
    batches: data.consoleBatches,
    databaseUrl,
    databaseDirectUrl,
    secretKey,
    simulatorUrl,
    ...(parts.vendors === undefined ? {} : { vendors: parts.vendors }),
    settings,
    // Both bounds are reached before the one at which model requests are refused.
    isLate: () => metrics.latestLoopLagMs() > config.overloadLagMs || metrics.loopLagMs() > config.overloadLagMs / 2,
  });
  await registerFonts(fastify);
  await registerDashboard(fastify, {
    root,
    sdkPackage: config.sdkPackage,
    serve: createServedPages(withAddress(settings.address, { root, sdkPackage: config.sdkPackage, log })),
  });

  const up = bringUp(
    {
      databaseUrl,
      databaseDirectUrl,
      catalog,
      ledger,
      keyring,
      authenticator,
      lane,
      spool,
      metrics,
      log,
      prepare: parts.prepare,
      loadSettings: () => settings.load(),
      startSchedule: parts.scheduled ? control.startSchedule : null,
      holdLeaseMs: config.holdLeaseMs,
    },
    () => {
      state.prepared = true;
    },
  );

  return {
    fastify,
    metrics,
    ledger,
    opens: () => Promise.race([up.late, up.done]),
    ready: () => up.done,
    async close({ stopListening: stop = () => stopListening(fastify.server), idleMs = 0, isForced } = {}) {
      state.draining = true;
      connections.endWithAnswers();
      up.abort();
      await stop();
      await drain({
        slots: data.slots,
        connections,
        limitMs: config.drainMs,
        idleMs,
        ...(isForced === undefined ? {} : { isForced }),
      });
      state.now = true;
      await drain({ slots: data.slots, connections, limitMs: maxBreakOffMs, idleMs: 0 });
      await closeServer(fastify, connections);
      await up.close();
      await data.batches.close();
      await ledger.close();
      await requestEnds.close();
      await control.close();
      await mismatches.close();
      await data.close();
      await telemetry.close();
      await Promise.all([router.close(), lane.end(), pool.end()]);
    },
  };
}

/** Time for requests to end on their own after an immediate stop. */
const maxBreakOffMs = 5_000;

/** The database's connections and what reads and writes through them. */
function openStores(parts: AppParts, metrics: Metrics) {
  const { config, log, databaseUrl, databaseDirectUrl = databaseUrl, secretKey, simulatorUrl } = parts;
  const pool = openPool({
    url: databaseUrl,
    isShared: databaseUrl !== databaseDirectUrl,
    name: 'app',
    max: connections.app,
    queryTimeoutMs: 15_000,
    // A process that stalls between two statements must not keep orders, keys and accounts locked. The limit exceeds
    // the timeout of a mail, which is sent while its row is locked.
    settings: { statement_timeout: '10s', idle_in_transaction_session_timeout: '5min' },
    log,
  });
  const lane = openLane({ url: databaseDirectUrl, max: connections.lane, log });
  const processId = randomUUID();
  const spool = createSpool({ directory: join(config.dataDir, 'spool'), processId, log, metrics });
  const ledger = createLedger({
    pool: lane,
    processId,
    spool,
    holdLeaseMs: config.holdLeaseMs,
    log,
    metrics,
    admissionLimitMs: config.admissionTimeoutMs,
  });
  metrics.gauge('gateway_holds', 'Requests of this process that budget is held for.', () => ledger.holds);
  metrics.gauge('gateway_spool_depth', 'Settlements that the database does not have yet.', () => spool.depth);
  const keyring = createKeyring({ pool: withDeadline(pool, config.admissionTimeoutMs) });
  const catalog = createCatalog({
    pool,
    asked: withDeadline(pool, config.admissionTimeoutMs),
    openRoutes: createOpenRoutes({ secretKey, simulatorUrl, log }),
  });
  return { processId, pool, lane, spool, ledger, keyring, catalog };
}
