import { access, constants, mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError } from '../config.ts';

/** Makes `DATA_DIR` if there is none. Throws `ConfigError` when it cannot be used, before anything else stumbles over it. */
export async function openDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(resolve(dataDir), { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ConfigError([`DATA_DIR: ${dataDir} is no directory that can be written to (${code})`]);
  }
}
