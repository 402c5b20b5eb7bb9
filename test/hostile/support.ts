import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { type Accounts, createAccounts } from '../../server/accounts/accounts.ts';
import { createKeys, type Keys } from '../../server/keys/keys.ts';
import { createSimulator, type Simulator, type SimulatorSettings } from '../../server/simulator/simulator.ts';
import { nativeCatalog } from '../gateway/support.ts';
import { type ServerProcess, startServer } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { createDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { recordFigures } from './figures.ts';
import type { HealthReport } from './health-watch.ts';

/** A real server process to attack, and the measurement of what an attack does to everybody else. */

export { recordFigures } from './figures.ts';

/** The longest that `/healthz` may wait on an otherwise idle machine, whatever is sent. */
export const maxDelayMs = 200;

/** A server with a database of its own; the simulator, its only upstream, runs in the test's process. */
export interface Target {
  server: ServerProcess;
  /** `http://127.0.0.1:PORT`, and what clients are configured with. */
  url: string;
  baseUrl: string;
  pool: Pool;
  databaseUrl: string;
  simulator: Simulator;
  accounts: Accounts;
  keys: Keys;
  /** A customer with a budget in USD and a key; `'0'` has an account without money. */
  customer(options?: { usd?: string; trial?: boolean }): Promise<Customer>;
  close(): Promise<void>;
}

export interface TargetOptions {
  env?: Record<string, string>;
  simulator?: SimulatorSettings;
  /** The catalog file for a simulator at this address; `nativeCatalog()` of the gateway's tests without it. */
  catalog?: (simulatorUrl: string) => string;
  /** Another process of the same service: it shares the database and the simulator, and is to be closed first. */
  beside?: Target;
}

const secretKeys = new WeakMap<Target, string>();

/** Starts a server as production does: every limit at its default, load shed after 200 ms of lag. */
export async function startTarget(options: TargetOptions = {}): Promise<Target> {
  const { env = {}, simulator: settings = {}, catalog = nativeCatalog(), beside } = options;
  const dataDir = createDirectory('steyg-hostile-');
  const database = beside === undefined ? await createDatabase() : null;
  const pool = database?.pool ?? beside?.pool;
  const databaseUrl = database?.url ?? beside?.databaseUrl;
  const secretKey = beside === undefined ? randomBytes(32).toString('base64') : secretKeys.get(beside);
  if (pool === undefined || databaseUrl === undefined || secretKey === undefined) throw new Error('no service beside');
  const simulator =
    beside?.simulator ??
    (await createSimulator({ tokensPerSecond: Number.POSITIVE_INFINITY, firstTokenMs: 0, ...settings }));
  const catalogFile = join(dataDir, 'catalog.yaml');
  writeFileSync(catalogFile, catalog(simulator.url));
  const server = await startServer({
    dataDir,
    env: {
      DATABASE_URL: databaseUrl,
      SECRET_KEY: secretKey,
      CATALOG_FILE: catalogFile,
      ALLOW_PRIVATE_UPSTREAMS: '1',
      OVERLOAD_LAG_MS: '200',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });
  await server.ready();
  const accounts = createAccounts({ pool });
  const keys = createKeys({ pool });
  const target: Target = {
    server,
    url: server.url,
    baseUrl: server.baseUrl,
    pool,
    databaseUrl,
    simulator,
    accounts,
    keys,
    async customer({ usd = '100', trial = false } = {}) {
      const amount = BigInt(Math.round(Number(usd) * 1e9)) * 1_000n;
      const made = await accounts.create({
        email: `${randomBytes(8).toString('hex')}@example.com`,
        grant: trial
          ? { kind: 'trial' }
          : amount === 0n
            ? { kind: 'none' }
            : { kind: 'adjustment', amount, days: null },
        actor: 'test',
      });
      if (made.kind !== 'created') throw new Error(made.kind);
      const key = await keys.create({ accountId: made.account.id, actor: 'test' });
      if (key.kind !== 'created') throw new Error(key.kind);
      return { accountId: made.account.id, keyId: key.key.id, secret: key.secret };
    },
    async close() {
      await server.kill();
      if (beside === undefined) await simulator.close();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  secretKeys.set(target, secretKey);
  return target;
}

/** Watches `/healthz` from another process until `stop` is called. */
export async function watchHealth({
  url,
  pid,
}: {
  url: string;
  pid: number;
}): Promise<{ stop(): Promise<HealthReport> }> {
  const child = fork(join(import.meta.dirname, 'health-watch.ts'), [url, String(pid)], {
    execArgv: [],
    stdio: 'inherit',
  });
  await once(child, 'message');
  return {
    async stop() {
      child.send('stop');
      const [report] = (await once(child, 'message')) as [HealthReport];
      return report;
    },
  };
}

/** Resident memory of a process in MB: now, and the most since `resetPeakMemory`. Null where there is no `/proc`. */
export function memoryOf(pid: number): { rssMb: number; peakRssMb: number } | null {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  const mb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_024;
  return { rssMb: mb('VmRSS'), peakRssMb: mb('VmHWM') };
}

/** Lets the peak of a process's memory begin again with what it uses now. */
export function resetPeakMemory(pid: number): void {
  if (existsSync(`/proc/${pid}/clear_refs`)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** What one attack did. */
export interface AttackReport<Result> extends HealthReport {
  peakRssMb: number;
  durationMs: number;
  /** What the attack itself returned. */
  result: Result;
}

export interface AttackOptions<Result> {
  /** Further figures for the row, made from what the attack returned: `{ 'bystander failed': 0 }`. */
  figures?: (result: Result) => Record<string, string | number>;
  /** Times to try again while the delay is above `maxDelayMs`: noise of the machine can only add to it. */
  retries?: number;
}

/**
 * Runs an attack while `/healthz` is watched, and records its row of figures. Of several tries the one with the shortest
 * delay is reported.
 */
export async function attack<Result>(
  target: Target,
  name: string,
  run: () => Promise<Result>,
  { figures = () => ({}), retries = 2 }: AttackOptions<Result> = {},
): Promise<AttackReport<Result>> {
  let best = await measure(target, run);
  for (let tries = 0; tries < retries && best.worstDelayMs > maxDelayMs; tries += 1) {
    const next = await measure(target, run);
    if (next.worstDelayMs < best.worstDelayMs) best = next;
  }
  recordFigures({
    attack: name,
    'delay ms': Math.round(best.worstDelayMs),
    'by the clock ms': Math.round(best.worstClockMs),
    'noise ms': Math.round(best.noiseMs),
    'health failed': best.failed,
    'peak RSS MB': Math.round(best.peakRssMb),
    s: Number((best.durationMs / 1_000).toFixed(2)),
    ...figures(best.result),
  });
  return best;
}

async function measure<Result>({ server }: Target, run: () => Promise<Result>): Promise<AttackReport<Result>> {
  resetPeakMemory(server.pid);
  const watch = await watchHealth(server);
  const start = performance.now();
  let report: HealthReport;
  let result: Result;
  try {
    result = await run();
  } finally {
    report = await watch.stop();
  }
  const durationMs = performance.now() - start;
  return { ...report, peakRssMb: memoryOf(server.pid)?.peakRssMb ?? 0, durationMs, result };
}
