import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Binaries, binariesIn, databaseUrlAdvice, linkLibraries } from './binaries.ts';
import { type Identity, run, succeeds } from './identity.ts';
import type { Cluster } from './postmaster.ts';

/**
 * Where root's embedded PostgreSQL lives when another user has to run it and that user cannot reach `DATA_DIR`
 * (anything below `/root`, for one). `DATA_DIR/postgres` is then a link to it.
 */
const publicPlace = '/var/lib/steyg-postgres';

/**
 * Makes everything ready for `initdb` and `postgres` to run as `identity` on the cluster of `dataDir`: programs within
 * reach, an owner that fits. No server may be running on the cluster. Throws when there is no way.
 */
export async function prepareHome(options: {
  dataDir: string;
  binaries: Binaries;
  identity: Identity;
  /** Stands in for `/var/lib/steyg-postgres` in tests. */
  publicPlace?: string;
}): Promise<Cluster> {
  const { dataDir, binaries, identity } = options;
  const directory = join(dataDir, 'postgres');
  if (identity.kind === 'self') return { binaries, identity, directory };
  if (identity.kind === 'namespace') {
    // Another user may have run it before, and the namespace knows no user but root.
    await own(directory, 0, 0);
    return { binaries, identity, directory };
  }
  const home = (await reaches(identity, dataDir))
    ? dataDir
    : await movedHome(directory, options.publicPlace ?? publicPlace);
  await own(join(home, 'postgres'), identity.uid, identity.gid);
  const reachable = (await succeeds(identity, binaries.postgres, ['--version']))
    ? binaries
    : await copyOf(binaries, home);
  return { binaries: reachable, identity, directory: join(home, 'postgres') };
}

/** Whether `identity` can get into a directory. The directory itself is opened for passing through, not for listing. */
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
    // Made while root still had another way to run it.
    if (existsSync(link)) await run({ kind: 'self' }, 'mv', [link, join(home, 'postgres')]);
    await symlink(join(home, 'postgres'), link);
  }
  return home;
}

async function own(path: string, uid: number, gid: number): Promise<void> {
  const owner = await stat(path).catch(() => null);
  if (owner === null || owner.uid === uid) return;
  await run({ kind: 'self' }, 'chown', ['-R', `${uid}:${gid}`, `${path}/`]);
}

/** Copies the programs (60 MB) to a place that everybody can reach. */
async function copyOf(binaries: Binaries, home: string): Promise<Binaries> {
  const copy = join(home, `postgres-programs-${binaries.version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await cp(binaries.root, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    await run({ kind: 'self' }, 'chmod', ['-R', 'a+rX', unfinished]);
    await rename(unfinished, copy);
  }
  await linkLibraries(copy);
  return binariesIn(join(copy, 'native'), binaries.version);
}
