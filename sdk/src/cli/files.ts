import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { SettingsFile } from '../connect/connection.ts';
import { ConfigurationError } from '../errors.ts';

/** Settings files on disk: read, compared, and written safely. */

/** A file with its present and its new content. */
export interface PlannedFile {
  path: string;
  /** The real path: `path`, or the target of its link. */
  target: string;
  before: string;
  after: string;
  holdsKey: boolean;
}

export interface Places {
  home: string;
  cwd: string;
  env: Record<string, string | undefined>;
}

export async function plan(file: SettingsFile, places: Places): Promise<PlannedFile> {
  const paths = [file.path, ...(file.others ?? [])].map((each) => locate(each, places));
  const path = paths.find((each) => existsSync(each)) ?? paths[0] ?? file.path;
  const before = await readText(path);
  try {
    const target = await realPlace(path);
    const after = file.merge(before);
    // A read-only file must not be replaced, though the directory would allow it.
    if (after !== before && (await isReadOnly(target)))
      throw new ConfigurationError('The settings file is read-only; it was left as it is.');
    return { path, target, before, after, holdsKey: file.holdsKey };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new ConfigurationError(`${path}: ${error.message}`);
    throw error;
  }
}

/** The content of a file, empty if there is none. Bytes that are not UTF-8 could not be written back unchanged. */
export async function readText(path: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string };
    if (code === 'ENOENT') return '';
    throw new ConfigurationError(`${path} cannot be read (${code}).`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigurationError(`${path}: The settings file is not UTF-8; it was left as it is.`);
  }
}

const isReadOnly = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mode }) => (mode & 0o222) === 0,
    () => false,
  );

/** Variables that move a tool's settings out of the home directory. */
const movedBy: readonly (readonly [folder: string, variable: string])[] = [
  ['~/.claude/', 'CLAUDE_CONFIG_DIR'],
  ['~/.codex/', 'CODEX_HOME'],
  ['~/.config/', 'XDG_CONFIG_HOME'],
];

/** The path of a tool's file on this machine. */
export function locate(path: string, { home, cwd, env }: Places): string {
  for (const [folder, variable] of movedBy) {
    const moved = env[variable];
    if (moved && path.startsWith(folder)) return resolve(cwd, moved, path.slice(folder.length));
  }
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(cwd, path);
}

/** The path behind all links, also of files that do not exist yet. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPlace(above), basename(path));
  }
}

/** Writes a file atomically, with its present permissions. A file with the key in it is readable for its owner only. */
export async function write({
  target,
  after,
  holdsKey,
}: Pick<PlannedFile, 'target' | 'after' | 'holdsKey'>): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const present = await stat(target).then(
    ({ mode }) => mode & 0o777,
    () => 0o644,
  );
  const mode = holdsKey ? present & 0o600 : present;
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  try {
    await writeFile(draft, after, { mode: 0o600, flag: 'wx' });
    await chmod(draft, mode);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** A file with the key in it must not be committed to git, also when it is reached by a link. */
export function refuseCommittedKey({ path, target, holdsKey }: PlannedFile): void {
  if (!holdsKey) return;
  const repository = findRepository(dirname(target));
  if (repository === null) return;
  const { status, error } = spawnSync('git', [...harmless, '-C', repository, 'check-ignore', '-q', '--', target], {
    env: gitEnvironment(process.env),
    stdio: 'ignore',
    timeout: gitTimeoutMs,
  });
  if (error === undefined && status === 0) return;
  const where = path === target ? path : `${path} (which is ${target})`;
  throw new ConfigurationError(
    `${where} would hold the API key and is not git-ignored: add it to ${join(repository, '.gitignore')} first.`,
  );
}

/**
 * The settings of a foreign repository may name commands that git runs: the monitor of its files is one, hooks are others. `git`
 * is asked one question, and runs none of them. https://git-scm.com/docs/git-config#Documentation/git-config.txt-corefsmonitor
 */
const harmless = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.untrackedCache=false',
  'core.sshCommand=false',
  'core.gitProxy=false',
  'credential.helper=',
  'diff.external=',
  'protocol.allow=never',
].flatMap((setting) => ['-c', setting]);
const gitTimeoutMs = 10_000;

/** What git needs, and nothing else: no key, and no variable that leads git to another repository or command. */
export function gitEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const needed = ['PATH', 'Path', 'HOME', 'USERPROFILE', 'SystemRoot', 'XDG_CONFIG_HOME'];
  const kept = needed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}

function findRepository(directory: string): string | null {
  if (existsSync(join(directory, '.git'))) return directory;
  const above = dirname(directory);
  return above === directory ? null : findRepository(above);
}
