import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { type App, createApp } from './app.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { useEmbeddedPostgres } from './database/embedded.ts';
import { MigrationRefused } from './database/migrate.ts';
import { createLog } from './log.ts';
import { CatalogFileError, readCatalogFile } from './setup/catalog-file.ts';
import type { FirstStart } from './setup/first-start.ts';
import { prepareDatabase } from './setup/prepare.ts';
import { readSecretKey } from './setup/secret-key.ts';
import { createSimulator } from './upstreams/simulator/simulator.ts';

/**
 * The process: configuration, database, app, listen, graceful end. With `WORKERS` above one this process only looks
 * after the database and the simulator, and as many processes as asked for share the port.
 */

/** What a worker cannot find out by itself. */
interface Boot {
  databaseUrl: string;
  secretKey: string;
  simulatorUrl: string;
}

const forcedExitMs = 10_000;

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  if (cluster.isWorker) {
    const [boot] = (await once(process, 'message')) as [Boot];
    await serve(config, log, boot);
    return;
  }
  // A file that is wrong ends the start before anything has been touched.
  if (config.catalogFile !== null) await readCatalogFile(config.catalogFile, config);
  await mkdir(resolve(config.dataDir), { recursive: true, mode: 0o700 });

  const secretKey = config.secretKey ?? (await readSecretKey(config.dataDir));
  const embedded = config.databaseUrl === null ? await useEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  const simulator = await createSimulator({
    port: config.simulator.port,
    record: config.simulator.record,
    ...(config.simulator.tokensPerSecond === null
      ? {}
      : { tokensPerSecond: config.simulator.tokensPerSecond || Number.POSITIVE_INFINITY }),
    ...(config.simulator.firstTokenMs === null ? {} : { firstTokenMs: config.simulator.firstTokenMs }),
  });
  const boot: Boot = {
    databaseUrl: config.databaseUrl ?? embedded?.url ?? '',
    secretKey: secretKey.toString('base64'),
    simulatorUrl: simulator.url,
  };
  const end = async (): Promise<void> => {
    await simulator.close();
    await embedded?.release();
  };
  try {
    if (config.workers > 1) await superviseWorkers(config, log, boot, end);
    else await serve(config, log, boot, end);
  } catch (error) {
    await end();
    throw error;
  }
}

/** Runs the app in this process until it is told to stop. */
async function serve(
  config: Config,
  log: Logger,
  boot: Boot,
  end: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { databaseUrl, simulatorUrl } = boot;
  const secretKey = Buffer.from(boot.secretKey, 'base64');
  let firstStart: FirstStart | null = null;
  const app = await createApp({
    config,
    databaseUrl,
    secretKey,
    simulatorUrl,
    log,
    async prepare() {
      firstStart = (await prepareDatabase({ config, databaseUrl, secretKey, log })) ?? firstStart;
    },
  });
  await app.fastify.listen({ host: config.host, port: config.port });
  endOnSignal(log, async () => {
    await app.close();
    await end();
  });
  // Told to stop while it was coming up.
  if (!(await app.ready())) return;
  announce(config, app, firstStart);
  process.send?.('ready');
}

function announce(config: Config, app: App, firstStart: FirstStart | null): void {
  const url = config.publicUrl ?? app.fastify.listeningOrigin;
  const print = (line = ''): void => void process.stdout.write(`${line}\n`);
  if (cluster.isWorker && firstStart === null) return;
  print();
  print(`  Steyg is ready at ${url}`);
  print(`    messages protocol          ${url}/api`);
  print(`    chat completions protocol  ${url}/api/v1`);
  print(`    dashboard                  ${url}/`);
  print(`    GraphQL                    ${url}/graphql`);
  print(`    status page                ${url}/status`);
  if (firstStart === null) return print();
  const { operator, key } = firstStart;
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
      `      -H 'content-type: application/json' -d '{"model":"${key.model}","max_tokens":16,"messages":[{"role":"user","content":"ping"}]}'`,
    );
    print(`    curl ${url}/api/v1/chat/completions -H 'authorization: Bearer ${key.secret}' \\`);
    print(
      `      -H 'content-type: application/json' -d '{"model":"${key.model}","messages":[{"role":"user","content":"ping"}]}'`,
    );
  }
  print();
}

/** The first signal drains, the second ends at once. */
function endOnSignal(log: Logger, close: () => Promise<void>): void {
  let ending = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (ending) process.exit(1);
    ending = true;
    log.info({ signal }, 'stopping');
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ kind: error instanceof Error ? error.name : typeof error }, 'could not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

async function superviseWorkers(config: Config, log: Logger, boot: Boot, end: () => Promise<void>): Promise<void> {
  let ending = false;
  const start = (): Worker => {
    const worker = cluster.fork();
    worker.send(boot);
    return worker;
  };
  cluster.on('exit', (worker, code) => {
    if (ending) return;
    log.error({ worker: worker.id, code: String(code) }, 'a worker ended; starting another');
    setTimeout(start, 500);
  });
  endOnSignal(log, async () => {
    ending = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ended = Promise.all(workers.map((worker) => once(worker, 'exit')));
    for (const worker of workers) worker.process.kill('SIGTERM');
    await Promise.race([ended, new Promise((done) => setTimeout(done, config.drainMs + forcedExitMs))]);
    await end();
  });
  // The first one prepares the database and prints; the others find it prepared.
  await once(start(), 'message');
  for (let i = 1; i < config.workers; i += 1) start();
}

main().catch((error: unknown) => {
  // What an operator can mend is said plainly; anything else with its kind and place.
  const plain = error instanceof ConfigError || error instanceof CatalogFileError || error instanceof MigrationRefused;
  process.stderr.write(
    `${plain ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
});
