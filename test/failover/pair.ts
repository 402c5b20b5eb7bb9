import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../support/free-port.ts';
import { programs } from './packages.ts';

/** A primary and its streaming standby, of Debian's PostgreSQL, on this machine. */

export interface Pair {
  /** The address that names both, and asks for the one that takes writes. */
  url: string;
  primary: Node;
  standby: Node;
  /** Ends all that still runs, and deletes it. */
  remove(): Promise<void>;
}

export interface Node {
  url: string;
  start(): Promise<void>;
  /** All its processes die at once, as with the machine. */
  kill(): Promise<void>;
  /** It ends in order: a standby receives nothing more. */
  stop(): Promise<void>;
  promote(): Promise<void>;
  query(text: string): Promise<Record<string, unknown>[]>;
}

const bin = programs() ?? '';
const database = 'steyg';

/** PostgreSQL does not run as root. */
function identity(): { uid: number; gid: number } {
  if (process.getuid?.() !== 0) return { uid: userInfo().uid, gid: userInfo().gid };
  const id = (kind: string): number => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** `synchronous`: a commit is confirmed when the standby has it on disk, too. */
export async function startPair({ synchronous }: { synchronous: boolean }): Promise<Pair> {
  const user = identity();
  const root = `/tmp/steyg-pair-${process.pid}-${Date.now()}`;
  mkdirSync(root, { mode: 0o700 });
  chownSync(root, user.uid, user.gid);
  const run = (program: string, args: string[]): void => {
    execFileSync(join(bin, program), args, { ...user, stdio: 'ignore', cwd: root });
  };
  const settings = async (directory: string, port: number): Promise<void> => {
    appendFileSync(
      join(directory, 'postgresql.conf'),
      [
        '',
        "listen_addresses = '127.0.0.1'",
        `port = ${port}`,
        `unix_socket_directories = '${root}'`,
        'max_connections = 200',
        'wal_level = replica',
        'hot_standby = on',
        "synchronous_standby_names = ''",
        'shared_buffers = 64MB',
        '',
      ].join('\n'),
    );
  };

  const primary = node({ directory: join(root, 'primary'), port: await freePort(), user, root });
  const standby = node({ directory: join(root, 'standby'), port: await freePort(), user, root });
  run('initdb', ['-D', primary.directory, '-U', 'steyg', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
  await settings(primary.directory, primary.port);
  await primary.start();
  await primary.query(`CREATE DATABASE ${database}`, 'postgres');
  const source = `host=127.0.0.1 port=${primary.port} user=steyg application_name=standby`;
  run('pg_basebackup', ['-D', standby.directory, '-R', '-X', 'stream', '-c', 'fast', '-d', source]);
  chmodSync(standby.directory, 0o700);
  await settings(standby.directory, standby.port);
  await standby.start();
  while ((await primary.query('SELECT 1 FROM pg_stat_replication')).length === 0) await pause(50);
  if (synchronous) {
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await primary.query('SELECT pg_reload_conf()');
    while ((await primary.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0)
      await pause(50);
  }
  return {
    url: `postgresql://steyg@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${database}?target_session_attrs=read-write`,
    primary,
    standby,
    async remove() {
      await primary.kill();
      await standby.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

interface NodeParts {
  directory: string;
  port: number;
  user: { uid: number; gid: number };
  root: string;
}

function node({ directory, port, user, root }: NodeParts): Node & {
  directory: string;
  port: number;
  query(text: string, name?: string): Promise<Record<string, unknown>[]>;
} {
  let child: ChildProcess | null = null;
  const url = (name: string): string => `postgresql://steyg@127.0.0.1:${port}/${name}`;
  const query = async (text: string, name = database): Promise<Record<string, unknown>[]> => {
    const client = new Client({ connectionString: url(name), connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = null;
    if (running === null) return;
    const exited = once(running, 'exit');
    // Its own process group, so that its children go with it.
    if (signal === 'SIGKILL' && running.pid !== undefined) process.kill(-running.pid, signal);
    else running.kill(signal);
    await exited;
  };
  return {
    url: url(database),
    directory,
    port,
    query,
    async start() {
      child = spawn(join(bin, 'postgres'), ['-D', directory], { ...user, cwd: root, stdio: 'ignore', detached: true });
      for (;;) {
        try {
          await query('SELECT 1', 'postgres');
          return;
        } catch {
          if (child.exitCode !== null) throw new Error(`PostgreSQL in ${directory} ended`);
          await pause(50);
        }
      }
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    async promote() {
      await query('SELECT pg_promote(true, 60)', 'postgres');
    },
  };
}
