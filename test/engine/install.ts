/** Installs a real inference engine and a server around it from npm, in exact versions. */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../clients/process.ts';

/** Below `node_modules`, so that neither git nor the linters see it and a fresh checkout starts without it. */
const cache = fileURLToPath(new URL('../../node_modules/.cache/steyg-engine', import.meta.url));

/**
 * llama.cpp as its Node binding brings it, prebuilt, with somebody else's server of the chat completions protocol around it. The
 * platform's packages are named one by one: all that npm calls optional would be several hundred megabytes for graphics cards.
 */
const packages = [
  'inference-server@1.0.0-beta.32',
  'node-llama-cpp@3.22.1',
  '@node-llama-cpp/linux-x64@3.22.1',
  '@img/sharp-linux-x64@0.33.5',
  '@img/sharp-libvips-linux-x64@1.0.4',
];

/** The folder that has the packages. Throws when npm cannot install them. */
export async function installEngine(): Promise<string> {
  const directory = join(cache, packages.join('+').replaceAll('/', '_'));
  if (existsSync(directory)) return directory;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'installing-'));
  // Without a manifest npm would walk up and install into this repository.
  await writeFile(join(fresh, 'package.json'), '{"private":true}\n');
  const { code, stderr } = await run({
    command: 'npm',
    args: [
      'install',
      '--ignore-scripts',
      '--omit=optional',
      '--legacy-peer-deps',
      '--no-audit',
      '--no-fund',
      '--no-save',
      '--loglevel=error',
      ...packages,
    ],
    cwd: fresh,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    },
    timeoutMs: 500_000,
  });
  if (code !== 0) {
    await rm(fresh, { recursive: true, force: true });
    throw new Error(`npm cannot install the engine: ${stderr.trim().split('\n')[0] ?? ''}`);
  }
  await rename(fresh, directory);
  return directory;
}
