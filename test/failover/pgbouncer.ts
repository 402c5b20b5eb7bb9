import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';

/** Debian's PgBouncer in front of a test's database. */

export interface Bouncer {
  url: string;
  close(): Promise<void>;
}

export async function startBouncer(
  databaseUrl: string,
  mode: 'session' | 'transaction' | 'statement',
): Promise<Bouncer> {
  const database = new URL(databaseUrl);
  const directory = createDirectory('steyg-bouncer-');
  const port = await freePort();
  const name = database.pathname.slice(1);
  const host = database.searchParams.get('host') ?? decodeURIComponent(database.hostname);
  const configuration = [
    '[databases]',
    `${name} = host=${host} port=${database.searchParams.get('port') ?? (database.port || '5432')} dbname=${name} user=${database.username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    'default_pool_size = 40',
    'max_client_conn = 400',
  ];
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(file, configuration.join('\n'));
  // It refuses to run as root, like PostgreSQL.
  const child: ChildProcess =
    process.getuid?.() === 0
      ? spawn('unshare', ['--user', '--map-user=1000', '--map-group=1000', '/usr/sbin/pgbouncer', file], {
          stdio: 'pipe',
        })
      : spawn('/usr/sbin/pgbouncer', [file], { stdio: 'pipe' });
  let said = '';
  child.stderr?.on('data', (text) => {
    said += String(text);
  });
  child.stdout?.resume();
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
    await pause(50);
  }
  return {
    url: `postgresql://${database.username}@127.0.0.1:${port}/${name}`,
    async close() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
