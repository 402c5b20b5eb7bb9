import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const keyBytes = 32;

/**
 * The secret key of a server that was given none: made once, kept in `DATA_DIR` for its owner alone. Several programs may
 * ask for it at once; all get the same. Throws when the file is there and is not a key: making another one would lock
 * everything away that was sealed with the first.
 */
export async function readSecretKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'secret-key');
  return (await readKey(path)) ?? (await makeKey(dataDir, path));
}

async function makeKey(dataDir: string, path: string): Promise<Buffer> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    // A link appears whole or not at all, and only if nobody was faster.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  const key = await readKey(path);
  if (key === null) throw new Error(`${path} vanished while it was made`);
  return key;
}

async function readKey(path: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== keyBytes) throw new Error(`${path} is not a key: ${keyBytes} bytes in base64 are expected`);
  return key;
}
