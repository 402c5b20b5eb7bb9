/** Installs released versions of the service in temporary folders. */

import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Customer } from '../support/app.ts';
import { createDirectory } from '../support/directory.ts';

const root = join(import.meta.dirname, '../..');

/** Installs a commit in a temporary folder, as an operator would, without the dashboard's pages. Returns the folder. */
export function install(commit: string): string {
  const directory = createDirectory('steyg-version-');
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  const lock = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  // The same packages need no second download.
  if (lock(directory) === lock(root)) symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: directory,
      stdio: 'ignore',
    });
  execFileSync(process.execPath, ['prisma/generate.ts'], { cwd: directory, stdio: 'ignore' });
  return directory;
}

/** An account with money and a key, made by the command line of an installed version. */
export function createCustomer(folder: string, databaseUrl: string, email: string): Customer {
  const admin = (...args: string[]): Record<string, Record<string, string>> =>
    JSON.parse(
      execFileSync(process.execPath, ['server/admin.ts', ...args, '--json'], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, DATA_DIR: createDirectory('steyg-admin-') },
      }),
    );
  const { account } = admin('account', 'create', '--email', email, '--grant-usd', '1000');
  const { key } = admin('key', 'create', '--account', email);
  return { accountId: account?.['id'] ?? '', keyId: key?.['id'] ?? '', secret: key?.['secret'] ?? '' };
}
