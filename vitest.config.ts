import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const left = [
  'test/browser/**',
  'test/citus/**',
  'test/clients/**',
  'test/crash/**',
  'test/bench/**',
  'test/hostile/**',
  'test/engine/**',
  'test/failover/**',
  'test/upgrade/**',
  'test/figures/**',
];
/** Tests of functions without a process, a database or a global state: one worker runs them all in the same modules. */
const pure = ['test/{core,metering,wire}/**/*.test.ts'];
/** Tests that count how often code runs: V8 counts each block only in modules that no other test has had compiled. */
const counted = ['test/wire/{growth,stream-growth,answer-growth}.test.ts'];

const shared: TestProjectInlineConfiguration = {
  // As Node itself resolves packages: with a `development` condition, tests would load a second copy of `graphql` beside
  // the one that its plugins load.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
};
const test: TestProjectInlineConfiguration['test'] = {
  pool: 'forks',
  setupFiles: ['test/support/setup.ts'],
  // There to end what hangs, not to judge: a machine may be five times slower for a while.
  testTimeout: 120_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Tests with servers of their own take longest and are short to read: by their size they would come last, one by one. */
const long = /\/test\/(start|resilience)\//;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...byProject.values()].flatMap((list) => [
      ...list.filter(({ moduleId }) => long.test(moduleId)),
      ...list.filter(({ moduleId }) => !long.test(moduleId)),
    ]);
  }
}

// One worker more than the two cores the suite is sized for, because tests of servers mostly wait; one PostgreSQL a run, a
// database of its own for each file.
export default defineConfig({
  test: {
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    projects: [
      { ...shared, test: { ...test, name: 'pure', include: pure, exclude: counted, isolate: false } },
      { ...shared, test: { ...test, name: 'counted', include: counted } },
      {
        ...shared,
        test: {
          ...test,
          name: 'service',
          // A worker loads the server's modules once for all of its files: two fifths of the suite's CPU went into imports.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...left, ...pure],
          globalSetup: ['test/support/postgres.ts', 'test/sdk/build.ts'],
        },
      },
    ],
  },
});
