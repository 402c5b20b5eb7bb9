/** Builds the SDK once for the tests. */

import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sdk = join(root, 'sdk');

/** Once a run: the tests import the built package, so what is built must be what is written. */
export default function setup(): void {
  const changed = (pattern: string) => globSync(pattern, { cwd: sdk }).map((path) => statSync(join(sdk, path)).mtimeMs);
  const newest = Math.max(...changed('{src/**/*.ts,tsconfig.json,package.json}'));
  const built = Math.min(...changed('dist/index.js'));
  if (built > newest) return;
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', sdk], { stdio: 'inherit' });
}
