/** Runs programs against the packed SDK, as an installed dependency. */

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const tsc = join(root, 'node_modules/typescript/bin/tsc');

/** How a program ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export function run(
  command: string,
  args: readonly string[],
  { cwd = root, env = {}, input = '' }: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const environment = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env };
    const child = execFile(command, [...args], { cwd, env: environment }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
    // A program that ends without reading its input breaks the pipe, which its exit code says better.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** A directory of a test's own, deleted with it. */
export async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'steyg-sdk-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The package as it would be published, unpacked as an installed dependency of a project in `directory`. */
export async function installPacked(directory: string): Promise<string> {
  // Without the package's own scripts: they build anew, under the feet of other tests.
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', directory], {
    cwd: join(root, 'sdk'),
    encoding: 'utf8',
  });
  const tarball = join(directory, packed.trim().split('\n').at(-1) ?? '');
  const target = join(directory, 'node_modules/@steyg/sdk');
  await mkdir(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components', '1', '-C', target]);
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  return tarball;
}

/** A project that sees everything this one has installed. */
export async function linkModules(directory: string): Promise<void> {
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
}

/** Every Node on this machine's path that the package promises to run on, the one that runs the tests first. */
export function nodes(): { version: string; path: string }[] {
  const paths = [
    process.execPath,
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node')),
  ];
  const found = new Map<string, string>();
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
    if (Number(/^v(\d+)/.exec(version)?.[1]) >= 20 && !found.has(version)) found.set(version, path);
  }
  return [...found].map(([version, path]) => ({ version, path }));
}
