/** Installs the coding agents from npm, in exact versions. */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './process.ts';

/** Below `node_modules`, so that neither git nor the linters see it and a fresh checkout starts without it. */
const cache = fileURLToPath(new URL('../../node_modules/.cache/steyg-clients', import.meta.url));

/** `commands` is a directory for PATH, `modules` what programs import from. */
export type Installed =
  | { kind: 'installed'; commands: string; modules: string }
  | { kind: 'unavailable'; reason: string };

export interface Package {
  package: string;
  version: string;
}

/** Installations of this run, by directory: two agents may use one package. */
const running = new Map<string, Promise<string | null>>();

/** Installs one exact version of a package by itself, unless an earlier run has. `command`: null for a library. */
export async function install({ package: name, version }: Package, command: string | null): Promise<Installed> {
  const directory = join(cache, `${name.replace('/', '+')}@${version}`);
  const commands = join(directory, 'node_modules', '.bin');
  if (running.has(directory) || !existsSync(directory)) {
    const installing = running.get(directory) ?? installInto(directory, `${name}@${version}`, command === null);
    running.set(directory, installing);
    const problem = await installing;
    if (problem !== null) return { kind: 'unavailable', reason: problem };
  }
  const manifest = JSON.parse(await readFile(join(directory, 'node_modules', name, 'package.json'), 'utf8')) as {
    version: string;
  };
  if (manifest.version !== version) return { kind: 'unavailable', reason: `${manifest.version} was installed instead` };
  if (command !== null && !existsSync(join(commands, command)))
    return { kind: 'unavailable', reason: `it brings no command ${command}` };
  return { kind: 'installed', commands, modules: join(directory, 'node_modules') };
}

/** The newest published version of a package, as npm says; the sentence why it is not known otherwise. */
export async function newestVersion(name: string): Promise<{ version: string } | { reason: string }> {
  const { code, stdout, stderr } = await run({
    command: 'npm',
    args: ['view', name, 'version', '--loglevel=error'],
    cwd: dirname(fileURLToPath(import.meta.url)),
    env: installerEnvironment(process.env),
    timeoutMs: 60_000,
  });
  const version = stdout.trim();
  if (code === 0 && /^\d+\.\d+\.\d+/.test(version)) return { version };
  return { reason: stderr.trim().split('\n')[0] || 'npm does not say which version is the newest' };
}

/** Libraries need no scripts of their own, and one of them calls its vendor from its script. */
async function installInto(directory: string, spec: string, isLibrary: boolean): Promise<string | null> {
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'installing-'));
  // Without a manifest npm would walk up and install into this repository.
  await writeFile(join(fresh, 'package.json'), '{"private":true}\n');
  const { code, timedOut, stderr } = await run({
    command: 'npm',
    args: [
      'install',
      ...(isLibrary ? ['--ignore-scripts'] : []),
      '--no-audit',
      '--no-fund',
      '--no-save',
      '--loglevel=error',
      spec,
    ],
    cwd: fresh,
    env: installerEnvironment(process.env),
    timeoutMs: 900_000,
  });
  if (code === 0) {
    await rename(fresh, directory);
    return null;
  }
  await rm(fresh, { recursive: true, force: true });
  if (timedOut) return 'npm install took too long';
  return stderr.trim().split('\n').slice(0, 2).join(' ') || 'npm install failed';
}

/** npm's settings (registry, cache), in capitals too, the way through a proxy, and the authorities that it is trusted by. */
const inherited = /^(HOME|PATH|npm_config_.*|(https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/**
 * The environment of npm and of the packages' install scripts, which are others' programs: nothing of the caller's but
 * what an installation needs, so no vendor's key and no token. This Node is the first on the path.
 */
export function installerEnvironment(caller: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed = Object.entries(caller).flatMap(([name, value]) =>
    value !== undefined && inherited.test(name) ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(passed), PATH: `${dirname(process.execPath)}:${caller['PATH'] ?? ''}` };
}
