import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Binaries, binariesIn, databaseUrlAdvice, linkLibraries } from './binaries.ts';
import { type Identity, runAs, succeeds } from './identity.ts';
import type { Cluster } from './postmaster.ts';

/**
 * The home of root's embedded PostgreSQL when its identity cannot reach `DATA_DIR` (for another user, anything below
 * `/root`; in a namespace, where root has no special rights, other people's homes). `DATA_DIR/postgres` then links to
 * it.
 */
const publicPlace = '/var/lib/steyg-postgres';

/**
 * Prepares `initdb` and `postgres` to run as `identity` on the cluster of `dataDir`: reachable programs, a suitable
 * owner. No server may be running on the cluster. Throws when there is no way.
 */
export async function prepareHome(options: {
  dataDir: string;
  binaries: Binaries;
  identity: Identity;
  /** Replaces `/var/lib/steyg-postgres` in tests. */
  publicPlace?: string;
}): Promise<Cluster> {
  const { dataDir, binaries, identity } = options;
  const link = join(dataDir, 'postgres');
  const stays = identity.kind === 'self' || (await reaches(identity, dataDir));
  const home = stays ? dataDir : await movedHome(link, options.publicPlace ?? publicPlace);
  const directory = join(home, 'postgres');
  // It may have run under another identity before. In a namespace, root owns only root's files.
  if (identity.kind === 'user') await own(directory, identity.uid, identity.gid);
  if (identity.kind === 'namespace') await own(directory, 0, 0);
  const runnable = await succeeds(identity, binaries.postgres, ['--version']);
  return { binaries: runnable ? binaries : await copyOf(binaries, home), identity, directory };
}

/** Whether `identity` can enter a directory. The directory itself is opened for passing through, not for listing. */
async function reaches(identity: Identity, directory: string): Promise<boolean> {
  await chmod(directory, (await stat(directory)).mode | 0o011);
  return succeeds(identity, 'test', ['-x', directory]);
}

async function movedHome(link: string, place: string): Promise<string> {
  const target = await readlink(link).catch(() => null);
  const home = target === null ? join(place, randomBytes(6).toString('hex')) : dirname(target);
  await mkdir(home, { recursive: true, mode: 0o711 }).catch((error: Error) => {
    throw new Error(`The embedded PostgreSQL cannot be made: ${error.message}. ${databaseUrlAdvice}`);
  });
  if (target === null) {
    // Made while root still ran it under another identity.
    if (existsSync(link)) await runAs({ kind: 'self' }, 'mv', [link, join(home, 'postgres')]);
    await symlink(join(home, 'postgres'), link);
  }
  return home;
}

async function own(path: string, uid: number, gid: number): Promise<void> {
  const owner = await stat(path).catch(() => null);
  if (owner === null || owner.uid === uid) return;
  await runAs({ kind: 'self' }, 'chown', ['-R', `${uid}:${gid}`, `${path}/`]);
}

/**
 * Copies the programs (60 MB) to a directory that all users can reach and that we can write to: in a read-only
 * installation, libraries may lack their links.
 */
async function copyOf(binaries: Binaries, home: string): Promise<Binaries> {
  const copy = join(home, `postgres-programs-${binaries.version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await cp(binaries.root, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    await runAs({ kind: 'self' }, 'chmod', ['-R', 'a+rX', unfinished]);
    await rename(unfinished, copy);
  }
  await linkLibraries(copy);
  return binariesIn(join(copy, 'native'), binaries.version);
}
