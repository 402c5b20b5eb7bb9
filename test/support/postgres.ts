/** The PostgreSQL server of a test run, and servers that a single test owns. */

import { spawn } from 'node:child_process';
import { chown, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../server/database/migrate.ts';
import { findBinaries } from '../../server/database/postgres/binaries.ts';
import { chooseIdentity } from '../../server/database/postgres/identity.ts';
import {
  ensureDatabase,
  initCluster,
  serverSettings,
  socketUrl,
  startPostmaster,
  stopPostmaster,
} from '../../server/database/postgres/postmaster.ts';
import { createDirectory } from './directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of database `postgres` on the server that the whole run shares. */
    postgresUrl: string;
  }
}

/** The migrated template of every test's database. It has no other connections. */
export const templateDatabase = 'steyg_template';

// It does not wait for the disk: a crash of the server loses nothing by that, only one of the machine would.
const cheap = { shared_buffers: '64MB', fsync: 'off', full_page_writes: 'off', max_wal_size: '256MB' };

/** A PostgreSQL of a test's own, which the test may stop, kill and start again. Its address stays the same. */
export interface TestPostgres {
  /** The address of one of its databases. */
  url(database: string): string;
  /** The server's process id, or null while it is stopped. */
  pid(): number | null;
  start(): Promise<void>;
  /** `fast` writes everything and ends; `immediate` is a crash: connections break and the next start recovers. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** What it has written into its log so far. */
  log(): Promise<string>;
  /** Stops it and deletes it. */
  remove(): Promise<void>;
}

/**
 * Starts a PostgreSQL, which goes away even if this process is killed.
 */
export async function createPostgres(settings: Record<string, string | number> = {}): Promise<TestPostgres> {
  const root = createDirectory('steyg-');
  const identity = await chooseIdentity();
  const cluster = { binaries: await findBinaries(), identity, directory: join(root, 'data') };
  if (identity.kind === 'user') await chown(root, identity.uid, identity.gid);
  await initCluster(cluster);

  let running: number | null = null;
  let dismissGuard: (() => void) | null = null;
  const postgres: TestPostgres = {
    url: (database) => socketUrl(root, database),
    pid: () => running,
    async start() {
      const { pid } = await startPostmaster({
        cluster,
        socketDirectory: root,
        logFile: join(root, 'log'),
        settings: { ...serverSettings(), ...cheap, ...settings },
        timeoutMs: 30_000,
      });
      running = pid;
      dismissGuard = guard(pid, root);
    },
    async stop(mode = 'fast') {
      if (running === null) return;
      dismissGuard?.();
      await stopPostmaster(running, { mode, timeoutMs: 10_000 });
      running = null;
    },
    log: () => readFile(join(root, 'log'), 'utf8'),
    async remove() {
      await postgres.stop('immediate');
      await rm(root, { recursive: true, force: true });
    },
  };
  try {
    await postgres.start();
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw error;
  }
  return postgres;
}

/** Stops the server and deletes its files when this process ends without doing so: its end closes the guard's input. */
function guard(pid: number, root: string): () => void {
  const script = 'read -r line; if [ "$line" = "" ]; then kill -QUIT "$0"; sleep 1; rm -rf "$1"; fi';
  const child = spawn('sh', ['-c', script, String(pid), root], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  child.stdin.on('error', () => {});
  return () => void child.stdin.end('dismissed\n');
}

/** Once a run: one server, one migrated template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await createPostgres();
  await ensureDatabase(postgres.url('postgres'), templateDatabase);
  await migrate({ url: postgres.url(templateDatabase) });
  project.provide('postgresUrl', postgres.url('postgres'));
  return () => postgres.remove();
}
