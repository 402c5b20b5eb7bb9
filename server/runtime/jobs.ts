import type { Socket } from 'node:net';
import { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';
import { describeError } from './http.ts';

/**
 * Scheduled jobs, run once per cluster however many processes there are: probes, mails, webhooks, expiry of orders. The
 * database decides which process runs one. A job may run twice when a process dies in the middle of it, so every job is
 * idempotent.
 */
export interface ScheduledJob {
  name: string;
  /** A cron expression, UTC. A run that is missed while no process is up is not repeated. */
  cron: string;
  /** `signal` aborts it: the process is closing, or the run takes longer than `maxRunSeconds`. */
  run(signal: AbortSignal): Promise<unknown>;
}

export type JobLog = Pick<Log, 'warn'>;

export interface Jobs {
  /** Starts to work. Throws while the database is unreachable; may then be called again. */
  start(): Promise<void>;
  /** Requests a run now, on any free process. Nothing happens when one is queued already. */
  trigger(name: string): Promise<void>;
  /** Takes no more work, aborts running jobs, and waits for them. */
  close(): Promise<void>;
}

const queue = 'steyg';
/** Jobs that one process runs at a time. */
const concurrency = 3;
const maxRunSeconds = 600;
/** Heartbeat timeout: after it the run of a dead process is given up, and the next may start. */
const heartbeatSeconds = 30;
const closeTimeoutMs = 10_000;

export function createJobs(options: {
  databaseUrl: string;
  /** Makes the sockets of its connections; absent: plain ones. */
  stream?: () => Socket;
  /** Its connections to the database. */
  max: number;
  jobs: readonly ScheduledJob[];
  log: JobLog;
  /** Maximum delay until a triggered job is noticed. At least half a second. */
  pollSeconds?: number;
}): Jobs {
  const { databaseUrl, stream, log, pollSeconds = 2 } = options;
  const jobs = new Map(options.jobs.map((job) => [job.name, job]));
  const closing = new AbortController();
  let boss: PgBoss | null = null;

  async function run(name: string, signal: AbortSignal): Promise<void> {
    const job = jobs.get(name);
    // Scheduled by another version of the server, which will run it.
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
        ...(stream === undefined ? {} : { stream }),
        application_name: 'steyg jobs',
        schema: 'pgboss',
        max: options.max,
        warningRetentionDays: 1,
      });
      // Without a listener, an error of its timers would end the process.
      starting.on('error', (error) => log.warn(describeError(error), 'the scheduler met an error'));
      try {
        await starting.start();
        await starting.createQueue(queue, {
          // One queued and one running for each job, in the whole cluster.
          policy: 'stately',
          retryLimit: 0,
          expireInSeconds: maxRunSeconds,
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
