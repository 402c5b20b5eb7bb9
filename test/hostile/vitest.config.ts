import { defineConfig } from 'vitest/config';

// Attacks that take minutes and need the machine for themselves: `npm run test:hostile`. One file at a time.
export default defineConfig({
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/hostile/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts', 'test/sdk/build.ts', 'test/hostile/figures.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
