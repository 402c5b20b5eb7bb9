import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Generates the Prisma client and the Pothos types from `schema.prisma`; part of every install.
 *
 * Prisma would download an engine that generating does not need. Any existing program in its place prevents that; it is
 * never run.
 */
const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status, error } = spawnSync(process.execPath, [prisma, 'generate', '--no-hints'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
  stdio: ['ignore', 'inherit', 'inherit'],
});
if (error) throw error;
process.exitCode = status ?? 1;
