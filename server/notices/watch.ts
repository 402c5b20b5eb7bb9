/** Looks for causes and sends what is due, every few seconds, in every process. */

import type { Pool } from 'pg';
import type { Log } from '../core/log.ts';
import { transaction } from '../database/lane.ts';
import { describeError } from '../runtime/http.ts';

export interface WatchDeps {
  pool: Pool;
  /** What one process of all is to do. */
  look: () => Promise<unknown>;
  /** What each process is to do. */
  lookHere: () => Promise<unknown>;
  deliverDue: (signal: AbortSignal) => Promise<unknown>;
  log: Pick<Log, 'warn'>;
  everyMs?: number;
}

export interface Watch {
  start(): void;
  /** Sends at once what a committing transaction made due. */
  wake(): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** A notice is to arrive within ten seconds of its cause. */
const defaultEveryMs = 2_000;
/** The trigger arrives while the transaction of the notice is still open. */
const settleMs = 100;

export function createWatch({ pool, look, lookHere, deliverDue, log, everyMs = defaultEveryMs }: WatchDeps): Watch {
  const closing = new AbortController();
  const loops: Promise<void>[] = [];
  let rouse = (): void => undefined;

  /** Repeats until the end. A failure is logged, and the next turn tries again. */
  const repeat = async (what: string, turn: () => Promise<unknown>, isRoused: boolean): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        await turn();
      } catch (error) {
        if (!closing.signal.aborted) log.warn({ job: what, ...describeError(error) }, 'a job failed');
      }
      await pause(isRoused);
    }
  };

  const pause = (isRoused: boolean): Promise<void> =>
    new Promise((resolve) => {
      if (closing.signal.aborted) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        closing.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, everyMs);
      closing.signal.addEventListener('abort', end);
      if (isRoused) rouse = () => void setTimeout(end, settleMs);
    });

  /** One process looks at a time; the lock ends with the process, so that another takes over at once. */
  const lookAlone = (): Promise<unknown> =>
    transaction(pool, async (client) => {
      const { rows } = await client.query<{ free: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtextextended('steyg.notices', 0)) AS free`,
      );
      if (rows[0]?.free === true) await look();
    });

  return {
    start() {
      if (loops.length > 0) return;
      loops.push(
        repeat(
          'notices',
          async () => {
            await lookHere();
            await lookAlone();
          },
          false,
        ),
        repeat('notice-deliveries', () => deliverDue(closing.signal), true),
      );
    },
    wake: () => rouse(),
    async close() {
      closing.abort();
      await Promise.all(loops);
    },
  };
}
