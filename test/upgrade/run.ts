/** `npm run test:upgrade [-- COMMIT …]`: from each version of the changelog, or from the given commits. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The commits of the changelog's headings, `## 0.1.0 (430f3c0)`. */
function releases(): string[] {
  const text = readFileSync(join(root, 'server/CHANGELOG.md'), 'utf8');
  return [...text.matchAll(/^## [\d.]+ \(([0-9a-f]{7,40})\)$/gm)].map(([, commit = '']) => commit);
}

const given = process.argv.slice(2);
const { status } = spawnSync('vitest', ['run', '--config', 'test/upgrade/vitest.config.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, UPGRADE_FROM: (given.length > 0 ? given : releases()).join(',') },
});
process.exitCode = status ?? 1;
