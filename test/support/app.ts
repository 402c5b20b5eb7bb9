/** The real app on a port of its own, for tests. */

import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { type Accounts, createAccounts } from '../../server/accounts/accounts.ts';
import { prepareDatabase } from '../../server/admin/prepare.ts';
import { type App, createApp } from '../../server/app/app.ts';
import type { Vendor } from '../../server/catalog/vendors.ts';
import type { SocketLimits } from '../../server/gateway/sockets/session.ts';
import { createKeys, type Keys, type KeyTerms } from '../../server/keys/keys.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import type { ServerLimits } from '../../server/runtime/http-server.ts';
import { createLog } from '../../server/runtime/log.ts';
import { createSimulator, type Simulator, type SimulatorSettings } from '../../server/simulator/simulator.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { createDirectory } from './directory.ts';

/** The real app on a port of its own, with a database of its own and the simulator as its only upstream. */
export interface TestApp {
  app: App;
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** What clients are configured with: `{url}/api`. */
  baseUrl: string;
  databaseUrl: string;
  pool: Pool;
  simulator: Simulator;
  /** Every line that was logged, at the most talkative level. */
  logged: string[];
  dataDir: string;
  accounts: Accounts;
  keys: Keys;
  /** A customer with so much budget (pico-USD; the trial without it) and a key. */
  customer(options?: { usd?: string; trial?: boolean; terms?: Partial<KeyTerms> }): Promise<Customer>;
  /** Entries of an account, newest first, once nothing of it is in flight: an answer ends before its entry is written. */
  ledger(accountId: string): Promise<Record<string, unknown>[]>;
  /** Resolves when no request is in flight and nothing is held. */
  quiet(accountId: string): Promise<void>;
  close(): Promise<void>;
}

export interface Customer {
  accountId: string;
  keyId: string;
  secret: string;
}

export interface TestAppOptions {
  env?: Record<string, string>;
  simulator?: SimulatorSettings;
  /** The catalog file, as it is to be for a simulator at this address; without it the first start seeds models. */
  catalog?: (simulatorUrl: string) => string;
  /** The vendors that operators choose from, as a simulator at this address plays them. */
  vendors?: (simulatorUrl: string) => Promise<readonly Vendor[]>;
  /** How patient the HTTP server is. */
  serverLimits?: ServerLimits;
  /** How long WebSockets are kept. */
  socketLimits?: SocketLimits;
  /** Out of reach unless given: a machine that runs many tests at once is late all the time. */
  overloadLagMs?: number;
  /** How long a stream is read on after its client left. */
  leftMs?: number;
  /** Whether what happens by the clock does; models are not probed even then. */
  scheduled?: boolean;
  /** Another process of the same service: it shares the database and the simulator, and is to be closed first. */
  beside?: TestApp;
  /** In place of the one that processes beside each other share. */
  secretKey?: Buffer;
  /** What is done with the database before the app begins. */
  beforeStart?: (pool: Pool) => Promise<void>;
}

/** Processes of one service share the key that seals what is in the database. */
const secretKeys = new WeakMap<TestApp, Buffer>();

/** What seals the vendor keys in the database of a started app. */
export function secretKeyOf(app: TestApp): Buffer {
  const key = secretKeys.get(app);
  if (key === undefined) throw new Error('this app was not started here');
  return key;
}

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const {
    env = {},
    simulator: settings = {},
    catalog,
    serverLimits,
    socketLimits,
    beside,
    scheduled = false,
  } = options;
  const { overloadLagMs = Number.POSITIVE_INFINITY, leftMs = 1_000, vendors, beforeStart } = options;
  const dataDir = createDirectory('steyg-app-');
  const database: Pick<TestDatabase, 'url' | 'pool'> & Partial<TestDatabase> =
    beside === undefined ? await createDatabase() : { url: beside.databaseUrl, pool: beside.pool };
  await beforeStart?.(database.pool);
  const simulator =
    beside?.simulator ??
    (await createSimulator({
      tokensPerSecond: Number.POSITIVE_INFINITY,
      firstTokenMs: 0,
      record: true,
      ...settings,
    }));
  const catalogFile = join(dataDir, 'catalog.yaml');
  if (catalog !== undefined) await writeFile(catalogFile, catalog(simulator.url));
  const given = loadConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'trace',
    DRAIN_MS: '2000',
    // Machines that run many tests are late.
    ADMISSION_TIMEOUT_MS: '20000',
    MAX_CONCURRENT_PER_KEY: '1000',
    MAX_CONCURRENT_PER_ACCOUNT: '1000',
    MAX_CONCURRENT_TRIAL: '1000',
    MAX_REQUESTS_PER_MINUTE_TRIAL: '1000000',
    ALLOW_PRIVATE_UPSTREAMS: '1',
    // A test may count the requests that reach the simulator.
    PROBES: '0',
    ...(catalog === undefined ? {} : { CATALOG_FILE: catalogFile }),
    ...env,
  });
  // Most tests leave a stream to end it.
  const config = { ...given, overloadLagMs, timeouts: { ...given.timeouts, leftMs } };
  const logged: string[] = [];
  const log = createLog(config.logLevel, { write: (line: string) => void logged.push(line) });
  const secretKey = options.secretKey ?? (beside === undefined ? randomBytes(32) : secretKeys.get(beside));
  if (secretKey === undefined) throw new Error('the app to start beside was not started here');
  const app = await createApp({
    config,
    databaseUrl: database.url,
    secretKey,
    simulatorUrl: simulator.url,
    log,
    ...(serverLimits === undefined ? {} : { serverLimits }),
    ...(socketLimits === undefined ? {} : { socketLimits }),
    ...(vendors === undefined ? {} : { vendors: () => vendors(simulator.url) }),
    scheduled,
    prepare: async () => void (await prepareDatabase({ config, databaseUrl: database.url, secretKey, log })),
  });
  await app.fastify.listen({ host: '127.0.0.1', port: config.port });
  await app.ready();
  const { port } = app.fastify.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const accounts = createAccounts({ pool: database.pool });
  const keys = createKeys({ pool: database.pool });

  const quiet = async (accountId: string) => {
    for (;;) {
      const { rows } = await database.pool.query('SELECT count(*)::int AS n FROM hold WHERE account_id = $1', [
        accountId,
      ]);
      if (rows[0].n === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const started: TestApp = {
    app,
    url,
    baseUrl: `${url}/api`,
    databaseUrl: database.url,
    pool: database.pool,
    simulator,
    logged,
    dataDir,
    accounts,
    keys,
    async customer({ usd = '100', trial = false, terms = {} } = {}) {
      const amount = BigInt(Math.round(Number(usd) * 1e9)) * 1_000n;
      const outcome = await accounts.create({
        email: `${randomBytes(8).toString('hex')}@example.com`,
        grant: trial
          ? { kind: 'trial' }
          : amount === 0n
            ? { kind: 'none' }
            : { kind: 'adjustment', amount, days: null },
        actor: 'test',
      });
      if (outcome.kind !== 'created') throw new Error(outcome.kind);
      const key = await keys.create({ accountId: outcome.account.id, actor: 'test', ...terms });
      if (key.kind !== 'created') throw new Error(key.kind);
      return { accountId: outcome.account.id, keyId: key.key.id, secret: key.secret };
    },
    async ledger(accountId) {
      await quiet(accountId);
      const { rows } = await database.pool.query(
        'SELECT * FROM ledger_entry WHERE account_id = $1 ORDER BY request_id DESC',
        [accountId],
      );
      return rows;
    },
    quiet,
    async close() {
      await app.close();
      if (beside === undefined) await simulator.close();
      await database.drop?.();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  secretKeys.set(started, secretKey);
  return started;
}
