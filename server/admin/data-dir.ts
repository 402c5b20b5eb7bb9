import { access, constants, mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Makes `DATA_DIR` if it is missing. Returns its problem, before another part fails on it; null: none. */
export async function findDataDirProblem(dataDir: string): Promise<string | null> {
  try {
    await mkdir(resolve(dataDir), { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return `DATA_DIR: ${dataDir} is not a writable directory (${code})`;
  }
}
