/** PostgreSQL's server process: creating a cluster, starting, watching and stopping it. */

import type { ChildProcess } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { chown, mkdir, open, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import type { Binaries } from './binaries.ts';
import { type Identity, launch, runAs } from './identity.ts';

/** PostgreSQL's superuser in an embedded cluster; the permissions of the socket's directory are its authentication. */
const superuser = 'steyg';

/** A cluster on disk with its programs and identity. */
export interface Cluster {
  binaries: Binaries;
  identity: Identity;
  /** PGDATA, absolute. */
  directory: string;
}

/** The address of a database behind a socket. */
export function socketUrl(socketDirectory: string, database: string): string {
  return `postgresql://${superuser}@localhost/${database}?host=${encodeURIComponent(socketDirectory)}`;
}

/** Makes an empty cluster atomically: a killed `initdb` must not leave half a cluster. */
export async function initCluster(cluster: Cluster): Promise<void> {
  if (existsSync(join(cluster.directory, 'PG_VERSION'))) return;
  const { identity } = cluster;
  const unfinished = `${cluster.directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (identity.kind === 'user') await chown(unfinished, identity.uid, identity.gid);
  await runAs(identity, cluster.binaries.initdb, [
    `--pgdata=${unfinished}`,
    `--username=${superuser}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  await rename(unfinished, cluster.directory);
}

/** Settings of the embedded server; tests add cheaper ones. */
export function serverSettings(): Record<string, string | number> {
  const megabytes = Math.floor(totalmem() / 2 ** 20);
  return {
    // A socket in a private directory is the only entrance.
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: 400,
    shared_buffers: `${Math.min(512, Math.max(64, Math.floor(megabytes / 16)))}MB`,
    // An upstream call relies on its hold: a reported commit is on disk.
    synchronous_commit: 'on',
    // Prompts never reach the database, but addresses and names do: the server's log carries no values and no statements.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length: 0,
    log_parameter_max_length_on_error: 0,
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    // An embedded server has no replicas.
    wal_level: 'minimal',
    max_wal_senders: 0,
    // The gateway needs the other cores, and containers give little shared memory.
    max_parallel_workers_per_gather: 0,
    jit: 'off',
  };
}

/** A running server. */
export interface Postmaster {
  pid: number;
  socketDirectory: string;
}

/** A server as its `postmaster.pid` describes it. */
export interface PostmasterClaim extends Postmaster {
  /** It takes connections: neither starting, recovering nor stopping. */
  isReady: boolean;
}

/** Thrown when PostgreSQL exits instead of becoming ready; carries the end of its log. */
export class StartFailed extends Error {
  override name = 'StartFailed';
}

/**
 * Starts PostgreSQL on a cluster and waits until it answers. It is detached: neither the end of this process nor a
 * Ctrl-C in its terminal stops it. Throws `StartFailed` when it exits first. When the timeout is over it goes on all
 * the same (it may be recovering from a crash, which would only start over): the caller checks later.
 */
export async function startPostmaster(options: {
  cluster: Cluster;
  socketDirectory: string;
  /** Appended to; readable by its owner alone. */
  logFile: string;
  settings: Record<string, string | number>;
  timeoutMs: number;
}): Promise<Postmaster> {
  const { socketDirectory, logFile } = options;
  const logged = existsSync(logFile) ? statSync(logFile).size : 0;
  const child = await launchPostmaster(options);
  const end: { reason?: string } = {};
  child.once('error', (error) => {
    end.reason = error.message;
  });
  child.once('exit', (code, signal) => {
    end.reason = signal ?? `code ${code}`;
  });
  child.unref();

  const giveUpAt = performance.now() + options.timeoutMs;
  for (;;) {
    if (end.reason !== undefined) {
      throw new StartFailed(`PostgreSQL ended with ${end.reason}: ${await tail(logFile, logged)}`);
    }
    if (await answers(socketDirectory)) return { pid: child.pid as number, socketDirectory };
    if (performance.now() > giveUpAt) {
      throw new StartFailed(`PostgreSQL was not ready after ${options.timeoutMs} ms: ${await tail(logFile, logged)}`);
    }
    await delay(20);
  }
}

async function launchPostmaster(options: {
  cluster: Cluster;
  socketDirectory: string;
  logFile: string;
  settings: Record<string, string | number>;
}): Promise<ChildProcess> {
  const { cluster } = options;
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await open(options.logFile, 'a', 0o600);
  try {
    return launch(
      cluster.identity,
      cluster.binaries.postgres,
      ['-D', cluster.directory, '-k', options.socketDirectory, ...settings],
      { cwd: '/', detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
  } finally {
    await log.close();
  }
}

async function tail(path: string, from: number): Promise<string> {
  return (await readFile(path)).subarray(from).subarray(-2_000).toString('utf8').trim();
}

const tooManyConnections = '53300';

/** Whether a server behind this socket takes connections. */
export async function answers(socketDirectory: string): Promise<boolean> {
  const client = new Client({
    connectionString: socketUrl(socketDirectory, 'postgres'),
    connectionTimeoutMillis: 2_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch (error) {
    return (error as { code?: string }).code === tooManyConnections;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Creates a database if it is missing. `url` is any database of the same server. */
export async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE template0`);
  } finally {
    await client.end();
  }
}

/** The content of `postmaster.pid`, or null when no server claims the cluster. */
export async function readPostmasterPid(directory: string): Promise<PostmasterClaim | null> {
  const text = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return { pid, socketDirectory: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
}

/**
 * Whether `postmaster.pid` exists without a living process behind it, and no process uses the cluster. A crash of the
 * machine or a full disk can leave it empty, and a killed server that no parent reaps looks alive to PostgreSQL: it
 * would refuse to start beside the file for ever. Every process of a server has its cluster as working directory; where
 * that is unreadable, the file is left to a person.
 */
export async function isForsaken(directory: string): Promise<boolean> {
  if (process.platform !== 'linux' || !existsSync(join(directory, 'postmaster.pid'))) return false;
  const server = await readPostmasterPid(directory);
  if (server !== null && (await stateOf(server.pid)) !== zombie) return false;
  const cluster = realpathSync(directory);
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(processes.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)));
  return !places.includes(cluster);
}

/**
 * Whether a process lives. A zombie does not: in a container without an init process an adopted server is never reaped,
 * and `kill(pid, 0)` would report it alive for ever.
 */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return (await stateOf(pid)) !== zombie;
}

const zombie = 'Z';

/** The kernel's letter for the state of a process; null when there is none, or it is not visible. */
async function stateOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  // It follows the name, which stands in parentheses and may contain parentheses.
  return stat?.charAt(stat.lastIndexOf(')') + 2) ?? null;
}

/**
 * Whether a process is a server of this cluster. After a crash of the machine or of a container, the process id in
 * `postmaster.pid` may belong to another program. When in doubt the answer is yes: two servers on one cluster destroy
 * it.
 */
export async function serves(pid: number, directory: string): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  if (process.platform !== 'linux') return true;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (command === null || command === '') return isAlive(pid);
  if (!command.includes('postgres')) return false;
  // A server's working directory is its cluster, even after the cluster was moved.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return cwd === null || cwd === realpathSync(directory);
}

/**
 * Stops a server. `fast`: running statements are cancelled and everything is written; after the timeout, and with
 * `immediate`, it ends as in a crash, from which the next start recovers.
 */
export async function stopPostmaster(
  pid: number,
  options: { mode?: 'fast' | 'immediate'; timeoutMs: number },
): Promise<void> {
  const signals = options.mode === 'immediate' ? (['SIGQUIT'] as const) : (['SIGINT', 'SIGQUIT'] as const);
  for (const signal of signals) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    const giveUpAt = performance.now() + options.timeoutMs;
    while (performance.now() < giveUpAt) {
      if (!(await isAlive(pid))) return;
      await delay(10);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not end`);
}
