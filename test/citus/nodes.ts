import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../support/free-port.ts';
import { programs } from './installed.ts';

/** A coordinator of Citus and two workers on this machine. Each waits for its disk no more than a crash of its processes asks for. */

export interface Nodes {
  coordinator: Node;
  workers: [Node, Node];
  /** An empty database that all three know, with the extension. */
  database(name: string): Promise<string>;
  remove(): Promise<void>;
}

export interface Node {
  port: number;
  url(database: string): string;
  start(): Promise<void>;
  /** All its processes die at once, as with the machine. */
  kill(): Promise<void>;
  /** Its processes stand still and keep their connections, as behind a network that drops everything; and go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** A standby of it that is up to date and that every commit waits for. */
  standby(): Promise<Node>;
  /** Copies it while it runs. What it writes from then on is kept beside the copy; with the setting `archiving`. */
  backUp(): Promise<void>;
  /** Its processes die, its disk is lost; the copy takes its place, as it was at a named restore point. */
  restoreTo(point: string): Promise<void>;
  query(database: string, text: string): Promise<Record<string, unknown>[]>;
  /** What it has written into its log so far. */
  log(): string;
}

const bin = programs() ?? '';

/** Settings with which a node keeps what it has written, in a folder of its own. Commands of PostgreSQL run in the folder of its data. */
export const archiving: readonly string[] = [
  'archive_mode = on',
  `archive_command = 'mkdir -p "$PWD-written" && cp %p "$PWD-written/%f"'`,
];

/** PostgreSQL does not run as root. */
function identity(): { uid: number; gid: number } {
  if (process.getuid?.() !== 0) return { uid: userInfo().uid, gid: userInfo().gid };
  const id = (kind: string): number => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** `settings`: lines of `postgresql.conf`; every statement is logged without any. */
export async function startNodes(settings: readonly string[] = ["log_statement = 'all'"]): Promise<Nodes> {
  const user = identity();
  const root = `/tmp/steyg-citus-${process.pid}-${Date.now()}`;
  mkdirSync(root, { mode: 0o700 });
  chownSync(root, user.uid, user.gid);
  const made: Node[] = [];
  for (const name of ['coordinator', 'one', 'other']) {
    const directory = join(root, name);
    const port = await freePort();
    execFileSync(
      join(bin, 'initdb'),
      ['-D', directory, '-U', 'steyg', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions'],
      { ...user, stdio: 'ignore', cwd: root },
    );
    appendFileSync(
      join(directory, 'postgresql.conf'),
      [
        '',
        "shared_preload_libraries = 'citus'",
        "citus.node_conninfo = 'sslmode=disable'",
        "listen_addresses = '127.0.0.1'",
        `port = ${port}`,
        "unix_socket_directories = ''",
        'wal_level = logical',
        'max_connections = 200',
        'max_prepared_transactions = 200',
        'shared_buffers = 64MB',
        // The processes are killed and the machine is not: what was written is there again.
        'fsync = off',
        ...settings,
        "log_line_prefix = '%a %d '",
        '',
      ].join('\n'),
    );
    const node = nodeIn({ directory, port, user }, made);
    made.push(node);
    await node.start();
  }
  const [coordinator, one, other] = made as [Node, Node, Node];
  return {
    coordinator,
    workers: [one, other],
    async database(name) {
      for (const node of made) {
        await node.query('postgres', `CREATE DATABASE ${name}`);
        await node.query(name, 'CREATE EXTENSION citus');
      }
      await coordinator.query(name, `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
      for (const { port } of [one, other]) {
        await coordinator.query(name, `SELECT citus_add_node('127.0.0.1', ${port})`);
      }
      return coordinator.url(name);
    },
    async remove() {
      for (const node of made) await node.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** `made`: the nodes so far, which a standby is added to. */
function nodeIn(
  { directory, port, user }: { directory: string; port: number; user: { uid: number; gid: number } },
  made: Node[],
): Node {
  let child: ChildProcess | null = null;
  let data = directory;
  const url = (database: string): string => `postgresql://steyg@127.0.0.1:${port}/${database}`;
  const copyTo = (copy: string, ...more: readonly string[]): void => {
    const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'steyg'];
    execFileSync(join(bin, 'pg_basebackup'), ['-D', copy, ...from, ...more, '-X', 'stream', '-c', 'fast'], {
      ...user,
      cwd: directory,
      env: { ...process.env, HOME: directory },
    });
  };
  const node: Node = {
    port,
    url,
    async start() {
      const log = createWriteStream(`${directory}.log`, { flags: 'a' });
      await once(log, 'open');
      // A process group of its own, so that its children go with it.
      const started = spawn(join(bin, 'postgres'), ['-D', data], {
        ...user,
        cwd: data,
        // Nodes are each other's clients, and a client looks for certificates at home.
        env: { ...process.env, HOME: data },
        stdio: ['ignore', log, log],
        detached: true,
      });
      log.close();
      child = started;
      for (;;) {
        try {
          await node.query('postgres', 'SELECT 1');
          return;
        } catch {
          if (started.exitCode !== null)
            throw new Error(`PostgreSQL in ${directory} ended:\n${node.log().slice(-2_000)}`);
          await pause(50);
        }
      }
    },
    async kill() {
      const running = child;
      child = null;
      if (running?.pid === undefined) return;
      const exited = once(running, 'exit');
      process.kill(-running.pid, 'SIGKILL');
      await exited;
      rmSync(join(data, 'postmaster.pid'), { force: true });
    },
    signal(name) {
      const running = child?.pid;
      if (running === undefined) return;
      for (const pid of [running, ...childrenOf(running)]) process.kill(pid, name);
    },
    async standby() {
      const copy = `${directory}-standby`;
      const copyPort = await freePort();
      copyTo(copy, '-R');
      appendFileSync(join(copy, 'postgresql.conf'), `port = ${copyPort}\n`);
      const standby = nodeIn({ directory: copy, port: copyPort, user }, made);
      made.push(standby);
      await standby.start();
      await node.query('postgres', `ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await node.query('postgres', 'SELECT pg_reload_conf()');
      while ((await node.query('postgres', `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 0) {
        await pause(50);
      }
      return standby;
    },
    async backUp() {
      copyTo(`${directory}-copy`);
    },
    async restoreTo(point) {
      await node.kill();
      rmSync(data, { recursive: true });
      data = `${directory}-copy`;
      appendFileSync(
        join(data, 'postgresql.conf'),
        [
          `restore_command = 'cp "${directory}-written/%f" %p'`,
          `recovery_target_name = '${point}'`,
          "recovery_target_action = 'promote'",
          '',
        ].join('\n'),
      );
      const signal = join(data, 'recovery.signal');
      appendFileSync(signal, '');
      chownSync(signal, user.uid, user.gid);
      await node.start();
      while ((await node.query('postgres', 'SELECT pg_is_in_recovery() AS is'))[0]?.['is'] !== false) await pause(50);
    },
    async query(database, text) {
      const client = new Client({
        connectionString: url(database),
        connectionTimeoutMillis: 2_000,
        application_name: 'test',
      });
      client.on('error', () => undefined);
      await client.connect();
      try {
        return (await client.query(text)).rows as Record<string, unknown>[];
      } finally {
        await client.end();
      }
    },
    log: () => readFileSync(`${directory}.log`, 'utf8'),
  };
  return node;
}

/** Sessions and the like: each is in a group of its own. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] === String(parent);
      } catch {
        return false;
      }
    });
}
