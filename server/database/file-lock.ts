import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Locks between processes. Node has no `flock`, and a lock file with a process id goes stale when its holder is killed
 * and the id is reused. SQLite uses kernel locks, which are released when their holder dies in any way: an empty SQLite
 * file is a lock that cannot go stale.
 *
 * Works between processes of one machine, including containers that share a directory.
 */
export interface FileLock {
  release(): void;
}

/** `shared`: any number of holders at once. `exclusive`: one holder and no shared ones. */
export type LockMode = 'shared' | 'exclusive';

const busy = 5;

// Without a reference the connection would be garbage-collected, and its lock with it.
const held = new Set<DatabaseSync>();

/** Takes the lock if it is free, else returns null. Creates the file. */
export function tryLock(path: string, mode: LockMode): FileLock | null {
  // Never on an existing file: closing any handle of a file makes the kernel drop all locks of this process on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    if (mode === 'exclusive') database.exec('BEGIN EXCLUSIVE');
    // A read takes the shared lock, and the open transaction keeps it.
    else database.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    database.close();
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === busy) return null;
    throw error;
  }
  held.add(database);
  return {
    release() {
      if (held.delete(database)) database.close();
    },
  };
}

/** Waits for the lock. Throws when the timeout is over. */
export async function lock(path: string, mode: LockMode, options: { timeoutMs: number }): Promise<FileLock> {
  const giveUpAt = performance.now() + options.timeoutMs;
  for (;;) {
    const taken = tryLock(path, mode);
    if (taken) return taken;
    if (performance.now() > giveUpAt) throw new Error(`${path} was locked for more than ${options.timeoutMs} ms`);
    await delay(20);
  }
}
