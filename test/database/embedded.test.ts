/** The embedded PostgreSQL: shared, restarted, adopted and stopped, also after kills. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, useEmbeddedPostgres } from '../../server/database/embedded.ts';
import { tryLock } from '../../server/database/file-lock.ts';
import { binariesIn, findBinaries } from '../../server/database/postgres/binaries.ts';
import { prepareHome } from '../../server/database/postgres/home.ts';
import { chooseIdentity, succeeds } from '../../server/database/postgres/identity.ts';
import { initCluster, isAlive, isForsaken, readPostmasterPid } from '../../server/database/postgres/postmaster.ts';
import { createDirectory } from '../support/directory.ts';

const quiet = { info: () => {}, warn: () => {} };
const embedded = new URL('../../server/database/embedded.ts', import.meta.url).href;

// One directory for most tests: each leaves it with the server stopped, as the next start must be able to find it.
let root: string;
let dataDir: string;

beforeAll(() => {
  root = createDirectory('steyg-embedded-');
  chmodSync(root, 0o755);
  dataDir = join(root, 'data');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function start(directory = dataDir): Promise<EmbeddedPostgres> {
  return useEmbeddedPostgres({ dataDir: directory, log: quiet });
}

async function query<T>(url: string, text: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

async function serverPid(directory = dataDir): Promise<number> {
  const server = await readPostmasterPid(join(directory, 'postgres'));
  if (server === null) throw new Error('no server');
  return server.pid;
}

interface Program {
  process: ChildProcess;
  url: string;
  /** Lets it release its use and end. */
  finish(): Promise<void>;
  kill(): Promise<void>;
}

/** Another program that uses the same directory until it is told to finish. */
async function program(): Promise<Program> {
  const script = `
    import { useEmbeddedPostgres } from '${embedded}';
    const postgres = await useEmbeddedPostgres({ dataDir: '${dataDir}', log: { info() {}, warn() {} } });
    console.log(postgres.url);
    process.stdin.once('data', () => postgres.release().then(() => process.exit(0)));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  const exit = once(child, 'exit');
  return {
    process: child,
    url,
    async finish() {
      child.stdin.write('\n');
      expect(await exit).toEqual([0, null]);
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

describe('one program', () => {
  it('starts a database that only its owner can reach, stops it, and finds everything again', async () => {
    const postgres = await start();
    const [settings] = await query<{
      listen: string;
      commit: string;
      fsync: string;
      statements: string;
      values: string;
    }>(
      postgres.url,
      `SELECT current_setting('listen_addresses') AS listen, current_setting('synchronous_commit') AS commit,
         current_setting('fsync') AS fsync, current_setting('log_min_error_statement') AS statements,
         current_setting('log_parameter_max_length_on_error') AS values`,
    );
    expect(settings).toEqual({ listen: '', commit: 'on', fsync: 'on', statements: 'panic', values: '0' });
    const socketDirectory = new URL(postgres.url).searchParams.get('host') as string;
    expect(statSync(socketDirectory).mode & 0o777).toBe(0o700);
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const pid = await serverPid();

    await postgres.release();
    await postgres.release();
    expect(await isAlive(pid)).toBe(false);
    expect(existsSync(socketDirectory)).toBe(false);

    const again = await start();
    expect(await query(again.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await again.release();
  });

  it('writes neither statements nor values into its log', async () => {
    const postgres = await start();
    await query(postgres.url, 'CREATE TABLE secret (word text PRIMARY KEY)');
    await query(postgres.url, `INSERT INTO secret VALUES ('hush-hush')`);
    await expect(query(postgres.url, `INSERT INTO secret VALUES ('hush-hush')`)).rejects.toThrow('duplicate key');
    await expect(query(postgres.url, `SELECT 'hush-hush'::int`)).rejects.toThrow('invalid input');
    await postgres.release();
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).not.toContain('hush');
  });

  it.each(['', 'no number\n'])('starts again when a crash of the machine left %j in postmaster.pid', async (text) => {
    await (await start()).release();
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), text);
    const postgres = await start();
    expect(await query(postgres.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    // Not from under a server that runs: two on one cluster would destroy it.
    const claim = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'));
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), text);
    expect(await isForsaken(join(dataDir, 'postgres'))).toBe(false);
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), claim);
    await postgres.release();
    expect(await isForsaken(join(dataDir, 'postgres'))).toBe(false);
  });

  it('starts again when initdb was killed half-way', async () => {
    const directory = join(root, 'half');
    mkdirSync(join(directory, 'postgres.unfinished', 'base'), { recursive: true });
    writeFileSync(join(directory, 'postgres.unfinished', 'PG_VERSION'), '18\n');
    const postgres = await start(directory);
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await postgres.release();
  });
});

describe('several programs', () => {
  it('share one server, and the last one out stops it', async () => {
    const other = await program();
    const postgres = await start();
    expect(postgres.url).toBe(other.url);
    const pid = await serverPid();
    await other.finish();
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await postgres.release();
    expect(await isAlive(pid)).toBe(false);
  });

  it('may come and go at the same moment', async () => {
    const visits = Array.from({ length: 4 }, async (_, visitor) => {
      for (let round = 0; round < 4; round += 1) {
        const postgres = await start();
        expect(await query(postgres.url, `SELECT ${visitor} AS visitor`)).toEqual([{ visitor }]);
        await postgres.release();
      }
    });
    const programs = Array.from({ length: 2 }, async () => (await program()).finish());
    await Promise.all([...visits, ...programs]);
    expect(await readPostmasterPid(join(dataDir, 'postgres'))).toBeNull();
  });

  it('are refused when they run in another container: neither would see the other’s server', async () => {
    const directory = join(root, 'volume');
    mkdirSync(directory);
    const there = tryLock(join(directory, 'postgres.users'), 'shared');
    writeFileSync(
      join(directory, 'postgres.socket'),
      JSON.stringify({ socketDirectory: '/tmp/x', machine: 'elsewhere' }),
    );
    await expect(start(directory)).rejects.toThrow(/another container.*DATABASE_URL/);
    there?.release();
  });
});

describe('after a kill', () => {
  it('of every program, the next one adopts the server', async () => {
    const other = await program();
    const pid = await serverPid();
    await other.kill();
    expect(await isAlive(pid)).toBe(true);
    const postgres = await start();
    expect(await serverPid()).toBe(pid);
    expect(postgres.url).toBe(other.url);
    await postgres.release();
    expect(await isAlive(pid)).toBe(false);
  });

  it('of the server, its users start it again at the same address with all that was committed', async () => {
    const [postgres, other] = [await start(), await program()];
    await query(postgres.url, 'CREATE TABLE committed AS SELECT 1 AS n');
    process.kill(await serverPid(), 'SIGKILL');
    await expect.poll(() => query(postgres.url, 'SELECT n FROM committed')).toEqual([{ n: 1 }]);
    const pid = await serverPid();
    await other.finish();
    await postgres.release();
    expect(await isAlive(pid)).toBe(false);
  });

  it('of both, the next start recovers', async () => {
    const other = await program();
    await query(other.url, 'CREATE TABLE written AS SELECT 1 AS n');
    process.kill(await serverPid(), 'SIGKILL');
    await other.kill();
    const postgres = await start();
    expect(await query(postgres.url, 'SELECT n FROM written')).toEqual([{ n: 1 }]);
    await postgres.release();
  });

  it('of the machine, the server’s process id may belong to another program', async () => {
    writeFileSync(
      join(dataDir, 'postgres', 'postmaster.pid'),
      `${process.pid}\n${dataDir}/postgres\n1\n5432\n/tmp/x\n\n`,
    );
    const postgres = await start();
    expect(await serverPid()).not.toBe(process.pid);
    await postgres.release();
  });

  it('of the server, its zombie may never be reaped', async () => {
    // A parent that does not ask for its children: what has ended stays in the list of processes. A shell would ask, so
    // the child lives until the shell has become something else.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 600 3<&-'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
    const pid = Number(line.toString());
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
    (parent.stdio[3] as Writable).end();
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) Z /);
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${pid}\n${dataDir}/postgres\n1\n5432\n/tmp/x\n\n`);
    const postgres = await start();
    expect(await serverPid()).not.toBe(pid);
    await postgres.release();
    parent.kill('SIGKILL');
  });

  it.each(['directory', 'file'])(
    'of its socket by whoever sweeps temporary files (%s), the server comes back',
    async (what) => {
      const postgres = await start();
      const directory = new URL(postgres.url).searchParams.get('host') as string;
      rmSync(what === 'file' ? join(directory, '.s.PGSQL.5432') : directory, { recursive: true });
      await expect.poll(() => query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await postgres.release();
    },
  );
});

// PostgreSQL refuses to run as root. Where the tests do not run as root there is one way only, tested above.
describe.runIf(process.getuid?.() === 0)('as root', () => {
  it('runs in a user namespace, or as another user, on the same cluster', async () => {
    const directory = join(root, 'both');
    for (const kind of ['namespace', 'user', 'namespace'] as const) {
      const postgres = await useEmbeddedPostgres({ dataDir: directory, log: quiet, identities: [kind] });
      await query(postgres.url, 'CREATE TABLE IF NOT EXISTS seen (n int)');
      await postgres.release();
    }
  });

  it('moves the cluster where another user can reach it when DATA_DIR is root’s alone', async () => {
    const hidden = join(root, 'hidden');
    mkdirSync(hidden, { mode: 0o700 });
    const options = { dataDir: join(hidden, 'data'), log: quiet, publicPlace: join(root, 'public') };
    const made = await useEmbeddedPostgres({ ...options, identities: ['namespace'] });
    await query(made.url, 'CREATE TABLE moved AS SELECT 1 AS n');
    await made.release();
    for (let round = 0; round < 2; round += 1) {
      const postgres = await useEmbeddedPostgres({ ...options, identities: ['user'] });
      expect(await query(postgres.url, 'SELECT n FROM moved')).toEqual([{ n: 1 }]);
      await postgres.release();
    }
  });

  it('leaves a server alone whose socket it does not see because it has temporary files of its own', async () => {
    const postgres = await start();
    const pid = await serverPid();
    const directory = new URL(postgres.url).searchParams.get('host') as string;
    const script = `
      import { useEmbeddedPostgres } from '${embedded}';
      await useEmbeddedPostgres({ dataDir: '${dataDir}', log: { info() {}, warn() {} } }).catch((error) => console.log(error.message));`;
    const hidden = ['sh', '-c', 'mount -t tmpfs none "$1" && shift && exec "$@"', '-', directory];
    const elsewhere = spawn(
      'unshare',
      ['--user', '--map-root-user', '--mount', ...hidden, process.execPath, '--input-type=module', '-e', script],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [said] = await Promise.all([text(elsewhere.stdout), once(elsewhere, 'close')]);
    expect(said).toContain('PrivateTmp');
    expect(await serverPid()).toBe(pid);
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await postgres.release();
  });

  it('copies programs that another user cannot reach', async () => {
    const identity = await chooseIdentity(['user']);
    const own = await findBinaries();
    // Not with the others: programs cannot be run from every directory that is held in memory.
    const disk = mkdtempSync(join(tmpdir(), 'steyg-programs-'));
    chmodSync(disk, 0o755);
    const [hidden, directory] = [join(disk, 'hidden'), join(disk, 'data')];
    for (const path of [hidden, directory]) mkdirSync(path, { mode: 0o700 });
    cpSync(own.root, join(hidden, 'native'), { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() });
    const binaries = binariesIn(join(hidden, 'native'), own.version);
    expect(await succeeds(identity, binaries.postgres, ['--version'])).toBe(false);
    const cluster = await prepareHome({ dataDir: directory, binaries, identity });
    await initCluster(cluster);
    expect(existsSync(join(directory, 'postgres', 'PG_VERSION'))).toBe(true);
    rmSync(disk, { recursive: true });
  });

  it('asks for DATABASE_URL when there is no way', async () => {
    await expect(useEmbeddedPostgres({ dataDir: join(root, 'none'), log: quiet, identities: [] })).rejects.toThrow(
      'DATABASE_URL',
    );
  });
});
