import { createHash, createHmac, hkdfSync, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createLedger, type Ledger } from '../billing/ledger.ts';
import { createSpool } from '../billing/spool.ts';
import { startSweep } from '../billing/sweep.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { createModelMismatches } from '../catalog/model-mismatches.ts';
import { createRouter } from '../catalog/router.ts';
import { createOpenRoutes } from '../catalog/routes.ts';
import { laneConnections, openLane } from '../database/lane.ts';
import { listen } from '../database/listen.ts';
import { MigrationRefused } from '../database/migrate.ts';
import { openPool } from '../database/pool.ts';
import { createAuthenticator } from '../gateway/authenticate.ts';
import { registerGateway } from '../gateway/gateway.ts';
import { defaultMaxRssBytes, watchMemory } from '../gateway/memory.ts';
import { registerOpenApi } from '../gateway/openapi/routes.ts';
import { createPulse } from '../gateway/pulse.ts';
import { createRefusals } from '../gateway/refusals.ts';
import { createRelay } from '../gateway/relay.ts';
import { createSlots } from '../gateway/slots.ts';
import { createStanding } from '../gateway/standing.ts';
import { createKeyring } from '../keys/keyring.ts';
import { createKeys } from '../keys/keys.ts';
import type { Config } from '../runtime/config.ts';
import { describeError } from '../runtime/http.ts';
import { createHttpServer, type ServerLimits } from '../runtime/http-server.ts';
import { createMetrics, type Metrics } from '../runtime/metrics.ts';
import { registerDashboard } from '../runtime/static-files.ts';
import { createControlPlane } from './control-plane.ts';

/**
 * The composition root: builds every part from its dependencies and registers every route. The process (`main.ts`) and
 * the tests both come through here.
 */
export interface AppParts {
  config: Config;
  databaseUrl: string;
  /** 32 bytes: seals upstream keys, signs what is signed. */
  secretKey: Buffer;
  /** Where the built-in simulator listens. */
  simulatorUrl: string;
  log: Logger;
  /**
   * What has to be done to the database before work begins (migrations, first start, catalog file). Called until it
   * succeeds: a database that is late must not end the process.
   */
  prepare(): Promise<void>;
  /** Whether this process takes part in what happens by the clock: probes, mails, webhooks. */
  scheduled: boolean;
  /** Which of several processes behind one port this is; absent: the only one. */
  worker?: number;
  /** How patient the HTTP server is; tests shorten it. */
  serverLimits?: ServerLimits;
  /** How patient those are who ask for budget; tests lengthen it, because machines that run many are late. */
  admissionLimitMs?: number;
}

export interface App {
  fastify: FastifyInstance;
  metrics: Metrics;
  ledger: Ledger;
  /** Resolves to true when the database is prepared and requests are taken, to false when it was closed before. */
  ready(): Promise<boolean>;
  /** Takes no new requests, lets running ones finish for `drainMs`, ends the rest, settles everything. */
  close(): Promise<void>;
}

/** How long connections may stay open when everything else has ended. */
const lastWordsMs = 1_000;

export async function createApp(parts: AppParts): Promise<App> {
  const { config, log, databaseUrl, secretKey } = parts;
  const fastify = createHttpServer(log, parts.serverLimits, config.trustedProxies);
  const metrics = createMetrics({ worker: parts.worker ?? null });
  const { publicUrl } = config;
  const refusals = createRefusals({ topUpUrl: `${publicUrl}/topup`, statusUrl: `${publicUrl}/status` });

  const pool = openPool({
    url: databaseUrl,
    name: 'app',
    max: 10,
    queryTimeoutMs: 15_000,
    // A process that stops between two statements keeps orders, keys and accounts locked only so long: it must outlast a
    // mail that is sent while its row is locked, whose time is limited.
    settings: { statement_timeout: '10s', idle_in_transaction_session_timeout: '5min' },
    log,
  });
  const lane = openLane({ url: databaseUrl, max: laneConnections, log });
  const processId = randomUUID();
  const spool = createSpool({ directory: join(config.dataDir, 'spool'), processId, log, metrics });
  const ledger = createLedger({
    pool: lane,
    processId,
    spool,
    holdLeaseMs: config.holdLeaseMs,
    log,
    metrics,
    ...(parts.admissionLimitMs === undefined ? {} : { admissionLimitMs: parts.admissionLimitMs }),
  });
  metrics.gauge('gateway_holds', 'Requests of this process that budget is held for.', () => ledger.holds);
  metrics.gauge('gateway_spool_depth', 'Settlements that the database does not have yet.', () => spool.depth);

  const keyring = createKeyring({ pool });
  const openRoutes = createOpenRoutes({ secretKey, simulatorUrl: parts.simulatorUrl, log });
  const catalog = createCatalog({ pool, openRoutes });
  const router = createRouter({ allowPrivate: config.allowPrivateUpstreams });
  const keys = createKeys({ pool });
  const authenticator = createAuthenticator({ keyring });
  const mismatches = createModelMismatches({ pool, log });

  const state = { prepared: false, draining: false, now: false };
  const closing = new AbortController();
  const memory = watchMemory({ maxRssBytes: config.maxRssBytes ?? defaultMaxRssBytes(config.workers) });
  metrics.gauge('gateway_memory_scarce', '1 while load is shed because memory runs short.', () =>
    Number(memory.scarce),
  );
  const intake = {
    get draining() {
      return state.draining;
    },
    get prepared() {
      return state.prepared;
    },
    get overloaded() {
      return metrics.loopLagMs() > config.overloadLagMs || memory.scarce;
    },
  };

  const { keepAliveMs, firstEventMs, clientStallMs } = config.timeouts;
  const pulse = createPulse(Math.max(10, Math.min(250, keepAliveMs / 4, firstEventMs / 4, clientStallMs / 4)));
  const digestKey = Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg digest', 32));
  const slots = createSlots(config.limits);
  const standing = createStanding({ keyring, ledger, refusals, slots, trialSlots: config.limits.trial });
  const relay = createRelay({
    ledger,
    standing,
    catalog,
    router,
    refusals,
    slots,
    pulse,
    mismatches,
    metrics,
    log,
    timeouts: config.timeouts,
    trialSlots: config.limits.trial,
    shutdown: state,
    digest: (scope, text) =>
      createHmac('sha256', digestKey).update(scope).update('\0').update(text).digest('base64url'),
  });

  // Clients keep connections for their next request, which another process has to take.
  fastify.addHook('onSend', async (_request, response) => {
    if (state.draining) void response.header('connection', 'close');
  });
  const isReady = (): boolean => state.prepared && !state.draining && ledger.healthy;
  metrics.gauge('gateway_ready', '1 while this process takes requests, as /readyz says.', () => Number(isReady()));
  registerHealth(fastify, {
    ready: isReady,
    metrics,
    metricsToken: config.metricsToken,
  });
  registerGateway(fastify, {
    relay,
    keys,
    authenticator,
    refusals,
    intake,
    metrics,
    catalog,
    router,
    slots,
    pool,
    timeouts: config.timeouts,
    baseUrl: `${publicUrl}/api`,
  });

  registerOpenApi(fastify, `${publicUrl}/api`);

  const control = await createControlPlane(fastify, {
    config,
    databaseUrl,
    publicUrl,
    secretKey,
    simulatorUrl: parts.simulatorUrl,
    catalog,
    router,
    mismatches,
    // Both bounds are reached before the one at which model requests are refused.
    isLate: () => metrics.latestLoopLagMs() > config.overloadLagMs || metrics.loopLagMs() > config.overloadLagMs / 2,
    metrics,
    log,
  });

  await registerDashboard(fastify, { root: join(import.meta.dirname, '../../dashboard/dist/site') });

  let stopListening = nothing;
  let stopSweep = nothing;

  /** Requests do not wait for it: nothing that happens by the clock is urgent. */
  const startSchedule = async (): Promise<void> => {
    for (let wait = 1_000; !closing.signal.aborted; wait = Math.min(60_000, wait * 2)) {
      try {
        return await control.startSchedule();
      } catch (error) {
        log.warn({ ...describeError(error), waitMs: wait }, 'the schedule does not run yet; trying again');
        await delay(wait, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      }
    }
  };
  let scheduling: Promise<void> = Promise.resolve();

  const bringUp = async (): Promise<boolean> => {
    for (let wait = 100; !closing.signal.aborted; wait = Math.min(2_000, wait * 2)) {
      try {
        await parts.prepare();
        await catalog.refresh();
        await ledger.start();
        const listening = await listen({
          url: databaseUrl,
          log,
          onChange(channel) {
            if (channel === 'keys') {
              keyring.drop();
              authenticator.drop();
            } else {
              void catalog
                .refresh()
                .catch((error: unknown) => log.warn(describeError(error), 'the catalog could not be read again'));
            }
          },
        });
        stopListening = () => listening.close();
        const sweep = startSweep({ pool: lane, ledger, spool, leaseMs: config.holdLeaseMs, log, metrics });
        stopSweep = () => sweep.close();
        state.prepared = true;
        if (parts.scheduled) scheduling = startSchedule();
        return true;
      } catch (error) {
        // What a person has to mend does not get better by waiting.
        if (error instanceof MigrationRefused || (error instanceof Error && error.name === 'CatalogFileError'))
          throw error;
        if (closing.signal.aborted) break;
        log.warn({ ...describeError(error), waitMs: wait }, 'the database cannot be worked with yet; trying again');
        await delay(wait, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    return false;
  };
  const up = bringUp();
  // Whoever waits for `ready` hears of it; nobody else has to.
  up.catch(() => undefined);

  return {
    fastify,
    metrics,
    ledger,
    ready: () => up,
    async close() {
      state.draining = true;
      closing.abort();
      await drain(slots, config.drainMs);
      state.now = true;
      await drain(slots, 5_000);
      await closeServer(fastify);
      await up.catch(() => undefined);
      await scheduling;
      await Promise.all([stopListening(), stopSweep()]);
      await ledger.close();
      await control.close();
      await mismatches.close();
      pulse.close();
      memory.close();
      await Promise.all([router.close(), lane.end(), pool.end()]);
    },
  };
}

/** Lets answers that are still on their way out arrive; who has not taken or sent the rest by then is cut off. */
async function closeServer(fastify: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => fastify.server.closeAllConnections(), lastWordsMs);
  await fastify.close();
  clearTimeout(cut);
}

async function nothing(): Promise<void> {}

/** Waits until no request runs, at most for so long. */
async function drain(slots: { total(): number }, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (slots.total() > 0 && performance.now() < until) await delay(20);
}

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

function isForwarded(headers: IncomingHttpHeaders): boolean {
  return headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
}

/** Compares without telling by its duration how much of the two is the same. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function registerHealth(
  app: FastifyInstance,
  { ready, metrics, metricsToken }: { ready: () => boolean; metrics: Metrics; metricsToken: string | null },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, response) =>
    ready() ? { status: 'ready' } : response.code(503).send({ status: 'not ready' }),
  );
  app.get('/metrics', async (request, response) => {
    // Without a token only this machine may look: figures of a business are not for everybody. What a proxy on this
    // machine hands on comes from somewhere else.
    const allowed =
      metricsToken === null
        ? loopback.has(request.socket.remoteAddress ?? '') && !isForwarded(request.headers)
        : isSame(request.headers.authorization ?? '', `Bearer ${metricsToken}`);
    if (!allowed) return response.code(401).send({ error: { message: 'A metrics token is required.' } });
    return response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}
