/** Jobs: once per cluster, triggered, ended, and taken over. */

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createJobs, type Jobs, type ScheduledJob } from '../../server/runtime/jobs.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let open: Jobs[] = [];
const warnings: object[] = [];

beforeAll(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await Promise.all(open.map((jobs) => jobs.close()));
  open = [];
});
afterAll(() => database.drop());

/** A process with these jobs. Nothing falls due by the clock while a test runs. */
async function process(...jobs: Pick<ScheduledJob, 'name' | 'run'>[]): Promise<Jobs> {
  const started = createJobs({
    databaseUrl: database.url,
    max: 3,
    jobs: jobs.map((job) => ({ cron: '0 0 1 1 *', ...job })),
    log: { warn: (fields) => warnings.push(fields) },
    pollSeconds: 0.5,
  });
  await started.start();
  open.push(started);
  return started;
}

function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

it('a job runs on one process at a time, however many are up and however often it is asked for', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const [first, go, last] = [gate(), gate(), gate()];
  const run = async () => {
    running += 1;
    runs += 1;
    most = Math.max(most, running);
    first.open();
    await go.opened;
    running -= 1;
    if (runs === 2) last.open();
  };
  const processes = await Promise.all([process({ name: 'alone', run }), process({ name: 'alone', run })]);
  await processes[0]?.trigger('alone');
  await first.opened;
  // One more may wait while it runs; the rest add nothing.
  for (let i = 0; i < 10; i++) await processes[i % 2]?.trigger('alone');
  go.open();
  await last.opened;
  await Promise.all(open.map((jobs) => jobs.close()));
  expect([most, runs]).toEqual([1, 2]);
});

it('a job that fails is told to the log by its kind, and runs again when asked', async () => {
  const again = gate();
  let runs = 0;
  const jobs = await process({
    name: 'fails',
    run: async () => {
      runs += 1;
      if (runs === 1) throw new TypeError('the secret of a customer');
      again.open();
    },
  });
  await jobs.trigger('fails');
  while (warnings.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  await jobs.trigger('fails');
  await again.opened;
  expect(warnings).toMatchObject([{ job: 'fails', kind: 'TypeError' }]);
  expect(JSON.stringify(warnings)).not.toContain('secret');
});

it('a process that closes ends what it runs, and no other job waits for it', async () => {
  const [started, ended, other] = [gate(), gate(), gate()];
  const jobs = await process(
    {
      name: 'long',
      run: async (signal) => {
        started.open();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        ended.open();
      },
    },
    { name: 'short', run: async () => other.open() },
  );
  await jobs.trigger('long');
  await started.opened;
  await jobs.trigger('short');
  await other.opened;
  await Promise.all([jobs.close(), ended.opened]);
});

it('the clock of the cluster knows every job once', async () => {
  await Promise.all([process({ name: 'a', run: async () => {} }), process({ name: 'a', run: async () => {} })]);
  const { rows } = await database.pool.query<{ key: string }>(`SELECT key FROM pgboss.schedule WHERE key = 'a'`);
  expect(rows).toHaveLength(1);
});
