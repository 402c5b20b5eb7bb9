import { defineConfig } from 'vitest/config';

// One worker for each of the two cores the suite is sized for; one PostgreSQL a run, a database of its own for each file.
export default defineConfig({
  // As Node itself resolves packages: with a `development` condition, tests would load a second copy of `graphql` beside
  // the one that its plugins load.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/clients/**', 'test/bench/**', 'test/hostile/**'],
    globalSetup: ['test/support/postgres.ts', 'test/sdk/build.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // There to end what hangs, not to judge: a machine may be five times slower for a while.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
