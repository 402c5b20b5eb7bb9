import { PgBoss } from 'pg-boss';
import { describeError } from './http.ts';

/**
 * Work that happens by the clock, once per cluster however many processes there are: probes, mails, webhooks, orders
 * that run out of time. The database decides who does it. A job may run twice when a process dies in the middle of it,
 * so every job is written to bear that.
 */
export interface ScheduledJob {
  name: string;
  /** Minutes, hours, … as cron writes them, UTC. A run that is missed while nobody is up is not made up for. */
  cron: string;
  /** `signal` ends it: the process is closing, or the run takes longer than `longestRunSeconds`. */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface JobLog {
  warn(fields: object, message: string): void;
}

export interface Jobs {
  /** Begins to work. Throws while the database is out of reach; may then be called again. */
  start(): Promise<void>;
  /** Asks for a run now, on whichever process is free. Nothing happens when one is waiting already. */
  trigger(name: string): Promise<void>;
  /** Takes no more work, ends what runs, and waits for it. */
  close(): Promise<void>;
}

const queue = 'steyg';
/** Jobs that one process runs at a time. */
const concurrency = 3;
const longestRunSeconds = 600;
/** After this long without a sign of life the run of a dead process is given up, and the next may begin. */
const heartbeatSeconds = 30;
const closeTimeoutMs = 10_000;

export function createJobs(options: {
  databaseUrl: string;
  jobs: readonly ScheduledJob[];
  log: JobLog;
  /** How long a triggered job waits at most to be noticed. At least half a second. */
  pollSeconds?: number;
}): Jobs {
  const { databaseUrl, log, pollSeconds = 2 } = options;
  const jobs = new Map(options.jobs.map((job) => [job.name, job]));
  const closing = new AbortController();
  let boss: PgBoss | null = null;

  async function run(name: string, signal: AbortSignal): Promise<void> {
    const job = jobs.get(name);
    // Scheduled by another version of the server; that one will do it.
    if (job === undefined) return;
    try {
      await job.run(AbortSignal.any([signal, closing.signal]));
    } catch (error) {
      if (closing.signal.aborted) return;
      log.warn({ job: name, ...describeError(error) }, 'a job failed');
    }
  }

  return {
    async start() {
      const starting = new PgBoss({
        connectionString: databaseUrl,
        application_name: 'steyg jobs',
        schema: 'pgboss',
        max: 3,
        warningRetentionDays: 1,
      });
      // Unheard, an error of its timers would end the process.
      starting.on('error', (error) => log.warn(describeError(error), 'the scheduler met an error'));
      try {
        await starting.start();
        await starting.createQueue(queue, {
          // One waiting and one running for each job, wherever they are.
          policy: 'stately',
          retryLimit: 0,
          expireInSeconds: longestRunSeconds,
          heartbeatSeconds,
          retentionSeconds: 3_600,
          deleteAfterSeconds: 3_600,
        });
        for (const { name, cron } of jobs.values())
          await starting.schedule(queue, cron, { name }, { key: name, singletonKey: name });
        await starting.work<{ name: string }>(
          queue,
          { pollingIntervalSeconds: pollSeconds, localConcurrency: concurrency },
          async (batch) => {
            for (const job of batch) await run(job.data.name, job.signal);
          },
        );
      } catch (error) {
        await starting.stop({ graceful: false }).catch(() => undefined);
        throw error;
      }
      boss = starting;
    },

    async trigger(name) {
      await boss?.send(queue, { name }, { singletonKey: name });
    },

    async close() {
      closing.abort();
      await boss?.stop({ graceful: true, timeout: closeTimeoutMs });
      boss = null;
    },
  };
}
