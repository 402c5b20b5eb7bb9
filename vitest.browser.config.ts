import { defineConfig } from 'vitest/config';

// What needs a browser, which `npm test` must not: `npm run test:browser`.
export default defineConfig({
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/browser/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    globalSetup: ['test/support/postgres.ts', 'test/sdk/build.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // There to end what hangs: a browser on a busy machine is slow.
    testTimeout: 300_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
