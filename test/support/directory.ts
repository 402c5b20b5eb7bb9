/** Temporary directories for tests, in memory where possible. */

import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const roomBytes = 2 ** 31;

/**
 * A new directory of a test's own, in memory where the machine has room: a database is a thousand files, and creating
 * files is slow on some disks. The caller deletes it.
 */
export function createDirectory(prefix: string): string {
  return mkdtempSync(join(inMemory() ? memory : tmpdir(), prefix));
}

function inMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > roomBytes;
  } catch {
    return false;
  }
}
