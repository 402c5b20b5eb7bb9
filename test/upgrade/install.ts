import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
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
