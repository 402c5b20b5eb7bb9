import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { chown, lstat, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FileLock, lock, tryLock } from './file-lock.ts';
import type { DatabaseLog } from './pool.ts';
import { databaseUrlAdvice, findBinaries } from './postgres/binaries.ts';
import { prepareHome } from './postgres/home.ts';
import { chooseIdentity, type Identity } from './postgres/identity.ts';
import {
  answers,
  ensureDatabase,
  initCluster,
  isAlive,
  isForsaken,
  readPostmasterPid,
  StartFailed,
  serverSettings,
  serves,
  socketUrl,
  startPostmaster,
  stopPostmaster,
} from './postgres/postmaster.ts';

/**
 * The embedded PostgreSQL, used when no `DATABASE_URL` is set: its cluster is `DATA_DIR/postgres`, and every program
 * that works on the same `DATA_DIR` (server processes, the operator's command line) shares it. The first user starts
 * it, the last one stops it.
 *
 * Two locks in `DATA_DIR` keep order, and the kernel releases both when their holder dies:
 * - `postgres.users`: shared by every user for as long as it uses the server. The user that can take it exclusively is
 * the last.
 * - `postgres.lock`: held while starting and stopping, so that no user joins while the last one leaves.
 *
 * If all users are killed the server stays, and the next user adopts it. If the server is killed, the first user that
 * notices restarts it, at the same address.
 *
 * Not guaranteed: two machines or containers on one `DATA_DIR`. It is refused when it can be recognised.
 */
export interface EmbeddedPostgres {
  /** The address of the database, the same for all users and across restarts. */
  url: string;
  /** Ends this use; stops the server if it was the last. Safe to call more than once. */
  release(): Promise<void>;
}

const databaseName = 'steyg';
const stopTimeoutMs = 30_000;
/** Timeout of one start, which may have to recover from a crash; other users wait for it. */
const startTimeoutMs = 120_000;
const watchIntervalMs = 1_000;
/** The server logs almost nothing; a longer log is truncated. */
const logBytesMax = 5_000_000;
/** The lowest limit of a socket path on the supported systems, less the socket's own name. */
const socketDirectoryBytesMax = 103 - '/.s.PGSQL.5432'.length;

/**
 * Starts the embedded PostgreSQL of `dataDir`, or joins its present users, and creates the (empty) database if it is
 * missing. Throws, asking for `DATABASE_URL`, where PostgreSQL cannot run. `identities` and `publicPlace` narrow the
 * ways to run it as root, for tests.
 */
export async function useEmbeddedPostgres(options: {
  dataDir: string;
  log: DatabaseLog;
  identities?: readonly Identity['kind'][];
  publicPlace?: string;
}): Promise<EmbeddedPostgres> {
  const place = placeOf(resolve(options.dataDir));
  await mkdir(dirname(place.dataDir), { recursive: true });
  if (!existsSync(place.dataDir)) await mkdir(place.dataDir, { mode: 0o700 }).catch(acceptExisting);
  const start = (isUsed: boolean) => ensureRunning({ ...options, place, isUsed });

  const { use, socketDirectory } = await whenSeen(() =>
    inTurn(place, async () => {
      const isUsed = await isUsedByOthers(place);
      const use = await lock(place.users, 'shared', { timeoutMs: stopTimeoutMs });
      try {
        const socketDirectory = await start(isUsed);
        await ensureDatabase(socketUrl(socketDirectory, 'postgres'), databaseName);
        return { use, socketDirectory };
      } catch (error) {
        use.release();
        throw error;
      }
    }),
  );

  const restart = () => inTurn(place, () => start(false));
  const watch = watchServer({ place, socketDirectory, log: options.log, restart });
  let released: Promise<void> | null = null;
  return {
    url: socketUrl(socketDirectory, databaseName),
    release() {
      released ??= watch.stop().then(() => leave(place, use));
      return released;
    },
  };
}

function acceptExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

interface Place {
  dataDir: string;
  cluster: string;
  lock: string;
  users: string;
  socket: string;
  log: string;
}

function placeOf(dataDir: string): Place {
  return {
    dataDir,
    cluster: join(dataDir, 'postgres'),
    lock: join(dataDir, 'postgres.lock'),
    users: join(dataDir, 'postgres.users'),
    socket: join(dataDir, 'postgres.socket'),
    log: join(dataDir, 'postgres.log'),
  };
}

async function inTurn<T>(place: Place, work: () => Promise<T>): Promise<T> {
  const turn = await lock(place.lock, 'exclusive', { timeoutMs: startTimeoutMs + stopTimeoutMs });
  try {
    return await work();
  } finally {
    turn.release();
  }
}

async function leave(place: Place, use: FileLock): Promise<void> {
  try {
    await inTurn(place, async () => {
      use.release();
      const alone = tryLock(place.users, 'exclusive');
      if (alone === null) return;
      try {
        await shutDown(place);
      } finally {
        alone.release();
      }
    });
  } finally {
    use.release();
  }
}

async function shutDown(place: Place): Promise<void> {
  const server = await readPostmasterPid(place.cluster);
  if (server && (await serves(server.pid, place.cluster)))
    await stopPostmaster(server.pid, { timeoutMs: stopTimeoutMs });
  const record = await readRecord(place);
  if (record) await rm(record.socketDirectory, { recursive: true, force: true });
  await rm(place.socket, { force: true });
}

// ------------------------------------------------------------------------------------------------ starting

interface Start {
  place: Place;
  log: DatabaseLog;
  /** Other users have it running, and restart it when it dies. */
  isUsed: boolean;
  identities?: readonly Identity['kind'][];
  publicPlace?: string;
}

/** Returns the socket's directory of a server that answers: the running one, or a new one. */
async function ensureRunning(options: Start): Promise<string> {
  const { place, log } = options;
  const giveUpAt = performance.now() + startTimeoutMs;
  for (;;) {
    const server = await readPostmasterPid(place.cluster);
    if (server && (await serves(server.pid, place.cluster))) {
      const isGone = server.isReady && !existsSync(join(server.socketDirectory, socketName));
      if (isGone && options.isUsed) throw new HiddenSocket(server.socketDirectory);
      if (isGone || !(await isPrivate(place, server.socketDirectory))) {
        log.warn({ postgresPid: server.pid }, 'the socket of the embedded PostgreSQL is gone: starting it again');
        await stopPostmaster(server.pid, { timeoutMs: stopTimeoutMs });
      } else if (await answers(server.socketDirectory)) {
        return server.socketDirectory;
      } else if (performance.now() > giveUpAt) {
        throw new Error(`The embedded PostgreSQL (process ${server.pid}) does not answer; see ${place.log}`);
      } else {
        // It is starting, recovering or stopping.
        await delay(50);
      }
      continue;
    }
    // The process id in the file belongs to another program by now, or to a zombie, or is missing, and PostgreSQL
    // itself cannot tell. If no process uses the cluster, the file stays: PostgreSQL finds by it whether other
    // processes of the killed server still run.
    if ((server && (await isAlive(server.pid))) || (await isForsaken(place.cluster))) await removeClaims(place);
    const started = await tryStart(options);
    if (started !== null) return started;
    if (performance.now() > giveUpAt) throw new Error(`The embedded PostgreSQL does not start; see ${place.log}`);
    await delay(100);
  }
}

/** The files with a server's process id: beside the data, and beside its socket. */
async function removeClaims(place: Place): Promise<void> {
  const record = await readRecord(place);
  if (record !== null && (await isPrivate(place, record.socketDirectory)))
    await rm(join(record.socketDirectory, `${socketName}.lock`), { force: true });
  await rm(join(place.cluster, 'postmaster.pid'), { force: true });
}

/** Starts a server. Null: processes of a killed one still run; the caller retries soon. */
async function tryStart(options: Start): Promise<string | null> {
  const { place, log } = options;
  const identity = await chooseIdentity(options.identities);
  const cluster = await prepareHome({
    dataDir: place.dataDir,
    binaries: await findBinaries(),
    identity,
    ...(options.publicPlace === undefined ? {} : { publicPlace: options.publicPlace }),
  });
  await initCluster(cluster);
  await shortenLog(place);
  const socketDirectory = await socketDirectoryFor(place, identity);
  try {
    const server = await startPostmaster({
      cluster,
      socketDirectory,
      logFile: place.log,
      settings: serverSettings(),
      timeoutMs: startTimeoutMs,
    });
    log.info({ postgresPid: server.pid }, 'started the embedded PostgreSQL');
    return socketDirectory;
  } catch (error) {
    if (error instanceof StartFailed && /postmaster\.pid|shared memory block/.test(error.message)) return null;
    throw error;
  }
}

async function shortenLog(place: Place): Promise<void> {
  const size = await stat(place.log).then(
    (entry) => entry.size,
    () => 0,
  );
  if (size > logBytesMax) await truncate(place.log);
}

// ------------------------------------------------------------------------------------------------ the socket

/** The socket's name in PostgreSQL, with its default port. */
const socketName = '.s.PGSQL.5432';

interface SocketRecord {
  socketDirectory: string;
  /** Identifies the processes that can see each other: the boot of the machine and the process namespace. */
  machine: string;
}

/**
 * The directory of the server's socket. A socket's path must be short, so it lies in the temporary directory, and
 * `DATA_DIR` remembers it. A server that is restarted while others use it returns at the same address.
 */
async function socketDirectoryFor(place: Place, identity: Identity): Promise<string> {
  const record = await readRecord(place);
  const kept =
    record?.machine === machine() && (await keep(place, record.socketDirectory)) ? record.socketDirectory : null;
  const socketDirectory = kept ?? (await mkdtemp(join(temporaryDirectory(identity), 'steyg-')));
  if (process.getuid?.() === 0) {
    const [uid, gid] = identity.kind === 'user' ? [identity.uid, identity.gid] : [0, 0];
    await chown(socketDirectory, uid, gid);
  }
  await writeFile(place.socket, JSON.stringify({ socketDirectory, machine: machine() }), { mode: 0o600 });
  return socketDirectory;
}

/** Creates a remembered directory if it is missing; false when another user owns one of that name. */
async function keep(place: Place, directory: string): Promise<boolean> {
  await mkdir(directory, { mode: 0o700 }).catch(() => {});
  return isPrivate(place, directory);
}

/**
 * Whether a directory is ours alone. Temporary files are cleaned up, and another user could put a socket in the same
 * place.
 */
async function isPrivate(place: Place, directory: string): Promise<boolean> {
  const entry = await lstat(directory).catch(() => null);
  if (!entry?.isDirectory() || (entry.mode & 0o077) !== 0) return false;
  const owners = [process.getuid?.(), (await stat(place.cluster)).uid];
  return owners.includes(entry.uid);
}

function temporaryDirectory(identity: Identity): string {
  const directory = tmpdir();
  const long = Buffer.byteLength(join(directory, 'steyg-XXXXXX')) > socketDirectoryBytesMax;
  // Other users may be unable to enter root's own temporary directory; all can enter /tmp.
  return long || identity.kind === 'user' ? '/tmp' : directory;
}

async function readRecord(place: Place): Promise<SocketRecord | null> {
  const text = await readFile(place.socket, 'utf8').catch(() => null);
  try {
    return text === null ? null : (JSON.parse(text) as SocketRecord);
  } catch {
    // A crash of the machine may leave an empty file.
    return null;
  }
}

function machine(): string {
  if (process.platform !== 'linux') return process.platform;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
}

/** The server runs and others use it, but this program cannot see its socket. */
class HiddenSocket extends Error {
  override name = 'HiddenSocket';

  constructor(socketDirectory: string) {
    super(
      `The embedded PostgreSQL is in use, and its socket in ${socketDirectory} is not to be seen from here. ` +
        'Programs that share DATA_DIR need the same temporary files (with systemd: no PrivateTmp).',
    );
  }
}

/**
 * A vanished socket returns as soon as one of its users notices and gets the lock. A socket that does not return is
 * visible to those users only: starting another server would break theirs.
 */
async function whenSeen<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 5 * watchIntervalMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HiddenSocket) || performance.now() > giveUpAt) throw error;
      await delay(watchIntervalMs / 2);
    }
  }
}

/**
 * Whether another user exists. Containers that share a directory do not see each other's processes, and each would
 * start a server on one cluster: that is refused.
 */
async function isUsedByOthers(place: Place): Promise<boolean> {
  const alone = tryLock(place.users, 'exclusive');
  alone?.release();
  const record = await readRecord(place);
  if (alone === null && record !== null && record.machine !== machine()) {
    throw new Error(`${place.dataDir} is in use in another container. ${databaseUrlAdvice}`);
  }
  return alone === null;
}

// ------------------------------------------------------------------------------------------------ watching

/** Restarts the server when it dies, or when its socket vanishes, while it is in use. */
function watchServer(options: {
  place: Place;
  socketDirectory: string;
  log: DatabaseLog;
  restart(): Promise<string>;
}): { stop(): Promise<void> } {
  const { place, socketDirectory, log } = options;
  const socket = join(socketDirectory, socketName);
  const check = async () => {
    const server = await readPostmasterPid(place.cluster);
    if (server && existsSync(socket) && (await isAlive(server.pid))) return;
    log.warn({}, 'the embedded PostgreSQL is gone: starting it again');
    const now = await options.restart();
    if (now !== socketDirectory)
      log.warn({}, 'the address of the embedded PostgreSQL has changed: restart this program');
  };
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= check()
      .catch((error: unknown) =>
        log.warn(
          { error: error instanceof Error ? error.name : typeof error },
          'the embedded PostgreSQL does not come back; postgres.log in DATA_DIR says why',
        ),
      )
      .finally(() => {
        running = null;
      });
  }, watchIntervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
