import { defineConfig } from 'vitest/config';

// Figures of the pages in a real browser, printed as tables: `npm run tasks` and `npm run vitals`. One file at a time.
export default defineConfig({
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/figures/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts', 'test/sdk/build.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
