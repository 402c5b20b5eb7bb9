import { defineConfig } from 'vitest/config';

// A coordinator of Citus with two workers on this machine: `npm run test:citus`. One after the other.
export default defineConfig({
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/citus/**/*.test.ts'],
    globalSetup: ['test/citus/installed.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
