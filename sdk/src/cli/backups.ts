import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { type Places, type PlannedFile, readText, write } from './files.ts';

/**
 * What settings files held before they were written, so that it can be taken back. Kept in the home directory, for its owner only:
 * beside the files, git could commit them, and they may hold keys.
 */

interface KeptFile {
  path: string;
  target: string;
  /** Empty: there was no such file, or an empty one. */
  before: string;
  /** Of what was written: a file that was changed since is left alone. */
  digest: string;
  holdsKey: boolean;
}

/** The last writes of one tool, the oldest first. */
type Writes = KeptFile[][];

const maxWrites = 10;

/** Where the writes of a tool are kept; those for a project by its directory. */
export function backupPath(tool: string, scope: 'user' | 'project', { home, cwd }: Places): string {
  const place = scope === 'user' ? 'user' : digestOf(cwd).slice(0, 16);
  return join(home, '.steyg', 'backups', `${tool}-${place}.json`);
}

/** Keeps what the files hold now. Called before they are written. */
export async function keep(backup: string, changes: readonly PlannedFile[]): Promise<void> {
  const files = changes.map(
    ({ path, target, before, after, holdsKey }): KeptFile => ({
      path,
      target,
      before,
      digest: digestOf(after),
      holdsKey,
    }),
  );
  await save(backup, [...(await load(backup)), files].slice(-maxWrites));
}

/** Takes the last write of a tool back. Returns the paths; throws where a file was changed since, and changes nothing. */
export async function undoWrite(backup: string): Promise<string[]> {
  const writes = await load(backup);
  const last = writes.at(-1);
  if (last === undefined) throw new ConfigurationError('Nothing was written here, or it was taken back.');
  for (const { path, target, digest } of last) {
    if (digestOf(await readText(target)) !== digest)
      throw new ConfigurationError(
        `${path} was changed since; it was left as it is. What it held before is in ${backup}.`,
      );
  }
  for (const file of last) {
    if (file.before === '') await rm(file.target, { force: true });
    else await write({ ...file, after: file.before });
  }
  await save(backup, writes.slice(0, -1));
  return last.map(({ path }) => path);
}

async function load(backup: string): Promise<Writes> {
  try {
    return JSON.parse(await readFile(backup, 'utf8')) as Writes;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return [];
    throw new ConfigurationError(`${backup} cannot be read; move it away first.`);
  }
}

async function save(backup: string, writes: Writes): Promise<void> {
  if (writes.length === 0) return rm(backup, { force: true });
  await mkdir(join(backup, '..'), { recursive: true, mode: 0o700 });
  const draft = `${backup}.${process.pid}.tmp`;
  await writeFile(draft, JSON.stringify(writes), { mode: 0o600 });
  await rename(draft, backup);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
