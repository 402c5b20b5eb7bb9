import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The key that seals vendor keys in the database: from the environment, or kept in a file of the data directory. */

const keyBytes = 32;

/** The file of the key is unusable. The message is for the operator, and says what to do. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError';
}

/**
 * The secret key of a server without a configured one: made once, kept in `DATA_DIR`, readable for its owner alone.
 * Concurrent callers get the same key. Throws `SecretKeyError` when the file exists and holds no key: a new one would
 * make every sealed secret unreadable.
 */
export async function readSecretKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'secret-key');
  return (await findSecretKey(dataDir)) ?? (await makeKey(dataDir, path));
}

/** The key of that file; null where no server has made one. Throws as `readSecretKey` does. */
export function findSecretKey(dataDir: string): Promise<Buffer | null> {
  return readKey(join(dataDir, 'secret-key'));
}

async function makeKey(dataDir: string, path: string): Promise<Buffer> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writeFile(draft, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    // A link appears whole or not at all, and only if no other process was faster.
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw new SecretKeyError(`${path} cannot be written (${codeOf(error)}).`);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
  const key = await readKey(path);
  if (key === null) throw new SecretKeyError(`${path} vanished while it was made.`);
  return key;
}

async function readKey(path: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new SecretKeyError(`${path} cannot be read (${codeOf(error)}).`);
  }
  const key = Buffer.from(text, 'base64');
  // Node's decoder skips invalid base64: a damaged key would silently become another key.
  if (key.length === keyBytes && key.toString('base64') === text) return key;
  throw new SecretKeyError(
    `${path} is not a key: ${keyBytes} bytes in base64 are expected. Restore it from a backup: what was sealed with it (keys of upstreams, secrets of webhooks) opens with no other one.`,
  );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
