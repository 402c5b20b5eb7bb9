import { open } from 'node:fs/promises';

/** Forces a folder's names to disk. Before that, a power loss may undo that a file was made, renamed or deleted in it (fsync(2)). */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
