/** The key of this machine, which `steyg login` got: two files that only their owner reads, and no copy elsewhere. */

import { readFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Credentials {
  baseUrl: string;
  apiKey: string;
}

interface Home {
  home: string;
}

const folderOf = ({ home }: Home): string => join(home, '.steyg');

/** The key alone, for helpers of tools that read it by a command. */
export const keyPath = (place: Home): string => join(folderOf(place), 'key');
/** Address and key, for shells. */
export const environmentPath = (place: Home): string => join(folderOf(place), 'env');

/** What is kept; null: nobody is signed in here. A file that is cut or changed counts as none. */
export function readCredentials(place: Home): Credentials | null {
  let text: string;
  try {
    text = readFileSync(environmentPath(place), 'utf8');
  } catch {
    return null;
  }
  const valueOf = (name: string) => new RegExp(`^export ${name}=([\\w.:/%[\\]~-]+)$`, 'm').exec(text)?.[1];
  const [baseUrl, apiKey] = [valueOf('STEYG_BASE_URL'), valueOf('STEYG_API_KEY')];
  return baseUrl === undefined || apiKey === undefined ? null : { baseUrl, apiKey };
}

export async function keepCredentials({ baseUrl, apiKey }: Credentials, place: Home): Promise<void> {
  const folder = folderOf(place);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A folder from before may be open to others.
  await chmod(folder, 0o700);
  await replace(keyPath(place), `${apiKey}\n`);
  await replace(environmentPath(place), `export STEYG_BASE_URL=${baseUrl}\nexport STEYG_API_KEY=${apiKey}\n`);
}

export async function forgetCredentials(place: Home): Promise<void> {
  await Promise.all([keyPath(place), environmentPath(place)].map((path) => rm(path, { force: true })));
}

async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
