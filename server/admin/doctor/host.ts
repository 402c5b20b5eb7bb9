import { execFile } from 'node:child_process';
import { open, readFile, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../runtime/config.ts';
import { findDataDirProblem } from '../data-dir.ts';
import { findingOf, type HostFinding } from './finding.ts';

/** Examines the machine: Node, open files, clock, the disk of `DATA_DIR`, the secret key. */

const run = promisify(execFile);
const gigabyte = 2 ** 30;
/** Each request of a client is two sockets, and a process admits some thousands at once. */
const enoughFiles = 16_384;
const syncs = 20;
/** Milliseconds that one write to the spool may take until it is on disk. */
const slowSyncMs = 20;

export async function examineHost(config: Config): Promise<HostFinding[]> {
  return [
    examineNode(process.versions.node),
    await examineOpenFiles(),
    await examineClock(),
    ...(await examineDataDir(config.dataDir)),
    examineSecret(config),
  ];
}

export function examineNode(version: string): HostFinding {
  const isNew = Number.parseInt(version, 10) >= 24;
  return findingOf('node', version, [isNew, 'bad', 'Use Node 24 or newer: node_modules/.bin/node is one.']);
}

async function examineOpenFiles(): Promise<HostFinding> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, text] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
  if (text === undefined) return { subject: 'open files', state: 'skipped', found: 'only Linux tells' };
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
  const advice = `Raise it to 65536 (LimitNOFILE of systemd, ulimits of a container, ulimit -n).`;
  return findingOf(
    'open files',
    `${text} at once`,
    [limit >= 1024, 'bad', advice],
    [limit >= enoughFiles, 'doubtful', advice],
  );
}

async function examineClock(): Promise<HostFinding> {
  const answer = await run('timedatectl', ['show', '--property=NTPSynchronized', '--value']).catch(() => null);
  const said = answer?.stdout.trim() ?? '';
  if (said === '') return { subject: 'clock', state: 'skipped', found: 'no systemd to ask; see `database clock`' };
  const advice = 'Run a time service (systemd-timesyncd, chrony): signatures of banks and one-time codes depend on it.';
  return findingOf('clock', said === 'yes' ? 'synchronised' : 'not synchronised', [said === 'yes', 'doubtful', advice]);
}

async function examineDataDir(dataDir: string): Promise<HostFinding[]> {
  const problem = await findDataDirProblem(dataDir);
  if (problem !== null) {
    return [{ subject: 'data directory', state: 'bad', found: problem, advice: 'Give it to the user of the server.' }];
  }
  const { mode } = await stat(dataDir);
  const rights = (mode & 0o777).toString(8);
  const { bavail, bsize } = await statfs(dataDir);
  const freeBytes = bavail * bsize;
  const ms = await measureSync(dataDir);
  const room = 'Make room: the spool of settlements is here, and no request is admitted without it.';
  return [
    findingOf('data directory', `mode ${rights}`, [
      (mode & 0o077) === 0,
      'doubtful',
      'Others can read it: chmod 700 (secrets of the first start and the embedded database are here).',
    ]),
    findingOf(
      'disk space',
      `${(freeBytes / gigabyte).toFixed(1)} GB free`,
      [freeBytes >= gigabyte / 2, 'bad', room],
      [freeBytes >= 5 * gigabyte, 'doubtful', room],
    ),
    findingOf('disk speed', `${ms.toFixed(1)} ms until a write is on disk`, [
      ms <= slowSyncMs,
      'doubtful',
      'Settlements that wait for a database are forced to it, and the embedded one commits here: use a local disk, not one of the network.',
    ]),
  ];
}

/** The median time of a small write until it is on disk, in milliseconds. */
async function measureSync(directory: string): Promise<number> {
  const path = join(directory, `doctor-${process.pid}`);
  const file = await open(path, 'w', 0o600);
  try {
    const times: number[] = [];
    for (let turn = 0; turn < syncs; turn += 1) {
      const startedAt = performance.now();
      await file.write(Buffer.alloc(512));
      await file.datasync();
      times.push(performance.now() - startedAt);
    }
    return times.sort((a, b) => a - b)[syncs / 2] ?? 0;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

function examineSecret({ secretKey, previousSecretKeys, production }: Config): HostFinding {
  const found = secretKey === null ? 'generated in DATA_DIR' : `set, with ${previousSecretKeys.length} previous`;
  return findingOf('secret key', found, [
    secretKey !== null || !production,
    'doubtful',
    'Set SECRET_KEY, and keep it elsewhere too: vendors’ keys do not open without it.',
  ]);
}
