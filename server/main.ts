import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { CatalogFileError, readCatalogFile } from './admin/catalog-file.ts';
import { findDataDirProblem } from './admin/data-dir.ts';
import type { FirstStart } from './admin/first-start.ts';
import { prepareDatabase } from './admin/prepare.ts';
import { readSecretKey, SecretKeyError } from './admin/secret-key.ts';
import { type App, createApp } from './app/app.ts';
import { useEmbeddedPostgres } from './database/embedded.ts';
import { EngineRefused } from './database/engine.ts';
import { MigrationRefused } from './database/migrate.ts';
import { PoolerRefused } from './database/pooler.ts';
import { type Config, ConfigError, loadConfig } from './runtime/config.ts';
import { readOpenFilesLimit } from './runtime/connection-room.ts';
import { checkPort, stopListening } from './runtime/listening.ts';
import { createLog, type ServerLog } from './runtime/log.ts';
import { listenForTheEnd, type Stopping } from './runtime/stopping.ts';
import { superviseWorkers, takeConnections, tell, WorkerFailed } from './runtime/workers.ts';
import { createSimulator } from './simulator/simulator.ts';

/**
 * The process: configuration, database, app, listen, graceful end. With `WORKERS` above one this process only looks
 * after the database and the simulator, and as many processes as asked for share the port.
 */

/** What the main process tells a worker. */
interface Boot {
  port: number;
  databaseUrl: string;
  databaseDirectUrl: string;
  secretKey: string;
  simulatorUrl: string;
  /** Prints the addresses and first-start secrets once the server is ready; only one worker does it. */
  announces: boolean;
}

/** Time that stopping needs beyond the drain time of running requests. */
const endingMs = 20_000;
/** A worker must stop before the timeout of its supervisor. */
const workerEndingMs = 15_000;

async function main(): Promise<void> {
  const { isWorker } = cluster;
  // Whoever read the output may have gone.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  const limitMs = config.drainMs + (isWorker ? workerEndingMs : endingMs);
  const stopping = listenForTheEnd({ log, limitMs, isWorker });
  if (isWorker) {
    const [boot] = (await once(process, 'message')) as [Boot];
    await serve(atPort(boot.port), log, boot, stopping);
  } else if (config.port === 0) {
    const { port, release } = await reservePort(config.host);
    await run(atPort(port), log, stopping, release);
  } else await run(config, log, stopping);
  process.exit(stopping.exitCode);
}

/**
 * The configuration with a resolved port. `PORT=0` leaves the choice to the machine, and the port must be known before
 * anything is built: answers and mails carry the address.
 */
function atPort(port: number): Config {
  return loadConfig({ ...process.env, PORT: String(port), PORT_FILE: undefined });
}

/** Reserves a port of the machine's choice until somebody listens there. */
async function reservePort(host: string): Promise<{ port: number; release: () => Promise<void> }> {
  const holder = createServer((socket) => socket.destroy()).listen(0, host);
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  return {
    port,
    async release() {
      holder.close();
      await once(holder, 'close');
    },
  };
}

/** Everything that one machine has once: the database, the simulator, and the process or processes that serve. */
async function run(
  config: Config,
  log: ServerLog,
  stopping: Stopping,
  releasePort?: () => Promise<void>,
): Promise<void> {
  // A broken file ends the start before anything is changed.
  if (config.catalogFile !== null) await readCatalogFile(config.catalogFile, config);
  const problem = await findDataDirProblem(config.dataDir);
  if (problem !== null) throw new ConfigError([problem]);

  const secretKey = config.secretKey ?? (await readSecretKey(config.dataDir));
  const embedded = config.databaseUrl === null ? await useEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  try {
    const simulator = await createSimulator({
      port: config.simulator.port,
      record: config.simulator.record,
      raw: config.simulator.raw,
      ...(config.simulator.tokensPerSecond === null
        ? {}
        : { tokensPerSecond: config.simulator.tokensPerSecond || Number.POSITIVE_INFINITY }),
      ...(config.simulator.firstTokenMs === null ? {} : { firstTokenMs: config.simulator.firstTokenMs }),
    });
    try {
      const boot = (announces: boolean): Boot => ({
        port: config.port,
        databaseUrl: config.databaseUrl ?? embedded?.url ?? '',
        databaseDirectUrl: config.databaseDirectUrl ?? config.databaseUrl ?? embedded?.url ?? '',
        secretKey: secretKey.toString('base64'),
        simulatorUrl: simulator.url,
        announces,
      });
      // First-start secrets are shown once, so a process whose port is taken must not create them.
      if (releasePort === undefined) await checkPort(config);
      const { host, port, workers: count } = config;
      const endLimitMs = config.drainMs + workerEndingMs;
      if (count === 1) await serve(config, log, boot(true), stopping, releasePort);
      else await superviseWorkers({ count, host, port, releasePort, boot, stopping, endLimitMs, log });
    } finally {
      await simulator.close();
    }
  } finally {
    await embedded?.release();
  }
}

/** Runs the app in this process until it is told to stop. Clients can connect when it is ready, or when that takes long. */
async function serve(
  config: Config,
  log: ServerLog,
  boot: Boot,
  stopping: Stopping,
  releasePort?: () => Promise<void>,
): Promise<void> {
  if (stopping.isRequested) return;
  const { databaseUrl, databaseDirectUrl, simulatorUrl } = boot;
  const secretKey = Buffer.from(boot.secretKey, 'base64');
  let firstStart: FirstStart | null = null;
  let isShown = false;
  const app = await createApp({
    config,
    databaseUrl,
    databaseDirectUrl,
    secretKey,
    simulatorUrl,
    log,
    scheduled: true,
    ...(cluster.worker === undefined ? {} : { worker: cluster.worker.id }),
    async prepare() {
      firstStart = (await prepareDatabase({ config, databaseUrl: databaseDirectUrl, secretKey, log })) ?? firstStart;
    },
  });
  let stopConnecting: (() => Promise<void>) | null = null;
  try {
    const opens = await Promise.race([app.opens(), stopping.requested]);
    if (opens === true) {
      await releasePort?.();
      stopConnecting = await letConnect(app, config);
    }
    const isReady = await Promise.race([app.ready(), stopping.requested]);
    if (isReady === true) {
      if (boot.announces || firstStart !== null) announce(config, firstStart);
      isShown = true;
      tell('ready');
    }
    await stopping.requested;
  } finally {
    await app.close({
      stopListening: stopConnecting ?? (async () => undefined),
      idleMs: stopping.isUrgent ? 0 : config.drainIdleMs,
      isForced: () => stopping.isForced,
    });
    // Stopped between creation and readiness: no later start could show the secrets.
    if (firstStart !== null && !isShown) showFirstStart(firstStart, config.publicUrl);
  }
}

/** Lets clients connect, from now until what it returns is called. */
async function letConnect({ fastify }: App, { host, port }: Config): Promise<() => Promise<void>> {
  if (cluster.isWorker) {
    await fastify.ready();
    return takeConnections(fastify.server).stop;
  }
  await fastify.listen({ host, port });
  return () => stopListening(fastify.server);
}

/** Below it idle connections are closed early. `doctor:server` wants more still. */
const fewOpenFiles = 4_096;

function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

function announce({ publicUrl: url, probes }: Config, firstStart: FirstStart | null): void {
  print();
  print(`  Steyg is ready at ${url}`);
  print(`    messages protocol          ${url}/api`);
  print(`    chat completions protocol  ${url}/api/v1`);
  print(`    dashboard                  ${url}/`);
  print(`    GraphQL                    ${url}/graphql`);
  print(`    status page                ${url}/status`);
  if (!probes) print('  Models are not probed from here (PROBES=0): the status page has what agents elsewhere report.');
  const openFiles = readOpenFilesLimit();
  if (openFiles < fewOpenFiles)
    print(
      `  Only ${openFiles} files may be open at once, each connection among them: raise the limit (LimitNOFILE, ulimit -n).`,
    );
  if (firstStart !== null) showFirstStart(firstStart, url);
  print();
}

function showFirstStart({ operator, key }: FirstStart, url: string): void {
  if (operator !== null) {
    print();
    print(`  Operator (shown this once):  ${operator.email}  ${operator.password ?? 'the password of ADMIN_PASSWORD'}`);
  }
  if (key !== null) {
    print();
    print(`  API key of a trial account with 5 USD for 7 days (shown this once):`);
    print(`    ${key.secret}`);
    print();
    print('  Try it:');
    print(
      `    curl ${url}/api/v1/messages -H 'authorization: Bearer ${key.secret}' -H 'anthropic-version: 2023-06-01' \\`,
    );
    print(
      `      -H 'content-type: application/json' -d '{"model":"${key.model}","max_tokens":512,"messages":[{"role":"user","content":"ping"}]}'`,
    );
    print(`    curl ${url}/api/v1/chat/completions -H 'authorization: Bearer ${key.secret}' \\`);
    print(
      `      -H 'content-type: application/json' -d '{"model":"${key.model}","messages":[{"role":"user","content":"ping"}]}'`,
    );
    print();
    print('  Set a tool up, with a key of its own that you approve in the browser:');
    print(`    npx --yes ${url}/sdk.tgz login claude-code --base-url ${url}/api`);
  }
}

/** Prints a mistake that an operator can mend as a sentence; any other error with its kind and place. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const plain =
    error instanceof ConfigError ||
    error instanceof CatalogFileError ||
    error instanceof MigrationRefused ||
    error instanceof EngineRefused ||
    error instanceof PoolerRefused ||
    error instanceof SecretKeyError ||
    error instanceof WorkerFailed ||
    ['listen', 'getaddrinfo'].includes((error as NodeJS.ErrnoException).syscall ?? '');
  return plain ? error.message : (error.stack ?? error.message);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
