import { defineConfig } from 'vitest/config';

// One worker for each of the two cores the suite is sized for; one PostgreSQL a run, a database of its own for each file.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/clients/**', 'test/bench/**'],
    globalSetup: ['test/support/postgres.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
