import { defineConfig } from 'vitest/config';

// Fail over and poolers, with Debian's PostgreSQL and PgBouncer: `npm run test:failover`. One file at a time.
export default defineConfig({
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/failover/**/*.test.ts'],
    globalSetup: ['test/failover/packages.ts', 'test/support/postgres.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 1_200_000,
  },
});
