import { defineConfig } from 'vitest/config';

// Whole servers that are killed, stopped and replaced under load: `npm run test:crash`. Two files at a time, which mostly wait.
export default defineConfig({
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/crash/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts', 'test/sdk/build.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
