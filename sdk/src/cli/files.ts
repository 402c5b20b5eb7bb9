import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { SettingsFile } from '../connect/connection.ts';
import { ConfigurationError } from '../errors.ts';

/** Settings files on disk. */

/** A file with what it is and what it is to become. */
export interface PlannedFile {
  path: string;
  before: string;
  after: string;
  holdsKey: boolean;
}

export async function plan(file: SettingsFile, places: { home: string; cwd: string }): Promise<PlannedFile> {
  const path = file.path.startsWith('~/') ? join(places.home, file.path.slice(2)) : resolve(places.cwd, file.path);
  const before = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as { code?: string }).code === 'ENOENT') return '';
    throw error;
  });
  return { path, before, after: file.merge(before), holdsKey: file.holdsKey };
}

/**
 * Writes a file whole or not at all. A file with the key in it is readable for its owner alone; a link keeps pointing to
 * where the file really is.
 */
export async function write({ path, after, holdsKey }: PlannedFile): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await mkdir(dirname(target), { recursive: true });
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  await writeFile(draft, after, { mode: holdsKey ? 0o600 : 0o644 });
  await rename(draft, target);
}

/** A file with the key in it must not be one that git would commit. */
export function refuseCommittedKey({ path, holdsKey }: PlannedFile): void {
  if (!holdsKey) return;
  const repository = findRepository(dirname(path));
  if (repository === null) return;
  const { status, error } = spawnSync('git', ['-C', repository, 'check-ignore', '-q', path]);
  if (error === undefined && status === 0) return;
  throw new ConfigurationError(
    `${path} would hold the API key and is not git-ignored: add it to ${join(repository, '.gitignore')} first.`,
  );
}

function findRepository(directory: string): string | null {
  if (existsSync(join(directory, '.git'))) return directory;
  const above = dirname(directory);
  return above === directory ? null : findRepository(above);
}
