import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { tryLock } from '../../database/file-lock.ts';
import { syncDirectory } from '../../shared/sync-directory.ts';
import { maxRoundAgeMs } from './round-format.ts';

/**
 * What an agent keeps on disk: rounds that the service does not have yet, and what it was last told to measure. One file
 * of JSON lines that is only appended to, and rewritten when most of it is over. A line that a crash tore is no line. A
 * round is on disk before it is delivered, and is struck out after: killed in between, it is delivered twice, and the
 * service records it once.
 */

/** A round as it travels: JSON values alone. */
export interface StoredRound {
  id: string;
  startedAt: string;
  endedAt: string;
  results: readonly object[];
}

export interface RoundFile {
  /** Rounds that were not delivered, the oldest first. */
  readonly pending: readonly StoredRound[];
  /** The models that the service last named; empty: none yet. */
  readonly models: readonly string[];
  /** Resolves when the round is on disk. Returns the number of old rounds that had to give way. */
  add(round: StoredRound): Promise<number>;
  /** Strikes out a round that was delivered, or will never be. */
  remove(id: string): Promise<void>;
  rememberModels(models: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface RoundFileLimits {
  /** Bytes of rounds that wait; the oldest give way. */
  maxBytes: number;
  /** Older rounds give way: the service would refuse them. */
  maxAgeMs: number;
}

export const defaultRoundFileLimits: RoundFileLimits = { maxBytes: 64 * 1_048_576, maxAgeMs: maxRoundAgeMs };

/** Another agent keeps its rounds there. */
export class RoundFileInUse extends Error {
  override name = 'RoundFileInUse';
  constructor(path: string) {
    super(`Another agent uses ${path}.`);
  }
}

type Line = { round: StoredRound } | { over: string } | { models: string[] };

export async function openRoundFile(
  path: string,
  { maxBytes, maxAgeMs }: RoundFileLimits = defaultRoundFileLimits,
): Promise<RoundFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const lock = tryLock(`${path}.lock`, 'exclusive');
  if (lock === null) throw new RoundFileInUse(path);
  const pending = new Map<string, { round: StoredRound; bytes: number }>();
  let models: readonly string[] = [];
  let pendingBytes = 0;

  const strike = (id: string): void => {
    pendingBytes -= pending.get(id)?.bytes ?? 0;
    pending.delete(id);
  };
  const take = (line: Line, bytes: number): void => {
    if ('models' in line) models = line.models;
    else if ('over' in line) strike(line.over);
    else if (!pending.has(line.round.id)) {
      pending.set(line.round.id, { round: line.round, bytes });
      pendingBytes += bytes;
    }
  };

  for (const text of (await readFile(path, 'utf8').catch(whenMissing)).split('\n')) {
    const line = parse(text);
    if (line !== null) take(line, Buffer.byteLength(text));
  }
  let file = await rewrite();
  let size = (await file.stat()).size;
  /** The last write failed, perhaps in the middle of a line. */
  let isTorn = false;

  /** Writes what still counts into a new file, which then takes the place of the old one. */
  async function rewrite(): Promise<FileHandle> {
    const lines: Line[] = [{ models: [...models] }, ...[...pending.values()].map(({ round }) => ({ round }))];
    const fresh = await open(`${path}.new`, 'w', 0o600);
    await fresh.writeFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await fresh.sync();
    await rename(`${path}.new`, path);
    await syncDirectory(dirname(path));
    return fresh;
  }

  async function append(line: Line, durable: boolean): Promise<void> {
    const text = `${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`;
    // In memory it counts even when the disk is full.
    take(line, Buffer.byteLength(text));
    isTorn = true;
    await file.appendFile(text);
    isTorn = false;
    size += Buffer.byteLength(text);
    if (durable) await file.datasync();
    if (size < 65_536 || size < 3 * pendingBytes) return;
    const old = file;
    file = await rewrite();
    size = (await file.stat()).size;
    await old.close();
  }

  async function makeRoom(now: number): Promise<number> {
    let dropped = 0;
    for (const { round } of pending.values()) {
      if (pendingBytes <= maxBytes && Date.parse(round.startedAt) >= now - maxAgeMs) break;
      await append({ over: round.id }, false);
      dropped += 1;
    }
    return dropped;
  }

  return {
    get pending() {
      return [...pending.values()].map(({ round }) => round);
    },
    get models() {
      return models;
    },
    async add(round) {
      await append({ round }, true);
      return makeRoom(Date.now());
    },
    remove: (id) => append({ over: id }, false),
    async rememberModels(named) {
      if (JSON.stringify(named) !== JSON.stringify(models)) await append({ models: [...named] }, true);
    },
    async close() {
      await file.close();
      lock.release();
    },
  };
}

function whenMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

function parse(text: string): Line | null {
  try {
    const line = JSON.parse(text) as Partial<Record<'round' | 'over' | 'models', unknown>> | null;
    if (line === null || typeof line !== 'object') return null;
    if (typeof line.over === 'string') return { over: line.over };
    if (Array.isArray(line.models)) return { models: line.models.filter((model) => typeof model === 'string') };
    const round = line.round as Partial<StoredRound> | undefined;
    const isWhole =
      typeof round?.id === 'string' && typeof round.startedAt === 'string' && Array.isArray(round.results);
    return isWhole ? { round: round as StoredRound } : null;
  } catch {
    return null;
  }
}
