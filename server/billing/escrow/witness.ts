import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { flight } from '../lane/flight.ts';
import { readWitness, takeCalls } from '../lane/statements.ts';

/**
 * Validates the cached facts of admissions. All admissions that wait at a moment share one read of the primary: one
 * round trip, no write, no lock. The read begins after all of them have arrived, so each sees every change that was
 * committed before its arrival.
 */
export interface Witness {
  /** Null: the database did not answer in time. */
  ask(): Promise<Testimony | null>;
  close(): void;
}

export interface Testimony {
  /** The change counter that admissions rely on. */
  change: string;
  /** The database's clock, milliseconds. */
  nowMs: number;
  /** Period of this process's lease; null without one. */
  lease: { sinceMs: number; untilMs: number } | null;
  /**
   * Time since the read began, by the machine's clock that has advanced more: the process may have been stopped since.
   */
  ageMs(): number;
}

export interface WitnessParts {
  connection: {
    open(): Promise<PoolClient>;
    recover(client: PoolClient, error: unknown): Promise<void>;
    close(): void;
  };
  processId: string;
  /** Timeout of an admission's wait. */
  limitMs: number;
  /** Other processes call in the idle money of this account. */
  onCalled(accountId: string): void;
}

interface Waiting {
  resolve(testimony: Testimony | null): void;
  /** Monotonic milliseconds. */
  since: number;
}

/** Milliseconds from now on, by whichever of this machine's clocks moves more: the monotonic one may stand still in a pause. */
export function stopwatch(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}

export function createWitness({ connection, processId, limitMs, onCalled }: WitnessParts): Witness {
  let waiting: Waiting[] = [];
  let asking: Waiting[] = [];
  const state = { running: false, closed: false };

  const read = async (): Promise<Testimony> => {
    const client = await connection.open();
    try {
      const ageMs = stopwatch();
      const [answer] = await flight(client, [readWitness(processId)]);
      const [change, nowMs, isStandby, sinceMs, untilMs, called] = answer?.rows[0] ?? [];
      if (typeof change !== 'string' || typeof nowMs !== 'string') throw new Error('there is no number of changes');
      // A standby's answer may be outdated.
      if (isStandby !== 'f') throw new Error('the database is no primary');
      if (called === 't') await hearCalls(client);
      return {
        change,
        nowMs: Number(nowMs),
        lease:
          typeof sinceMs === 'string' && typeof untilMs === 'string'
            ? { sinceMs: Number(sinceMs), untilMs: Number(untilMs) }
            : null,
        ageMs,
      };
    } catch (error) {
      await connection.recover(client, error);
      throw error;
    }
  };

  const hearCalls = async (client: PoolClient): Promise<void> => {
    const [taken] = await flight(client, [takeCalls(processId)]);
    for (const [accountId] of taken?.rows ?? []) if (typeof accountId === 'string') onCalled(accountId);
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0 && !state.closed) {
      // Includes the requests that arrive in the same turn of the event loop.
      await yieldToEventLoop();
      asking = waiting;
      waiting = [];
      const testimony = await read().catch(() => null);
      for (const { resolve } of asking) resolve(testimony);
      asking = [];
    }
    state.running = false;
  };

  const patience = setInterval(() => {
    const latest = performance.now() - limitMs;
    for (const { resolve, since } of [...waiting, ...asking]) if (since < latest) resolve(null);
    waiting = waiting.filter(({ since }) => since >= latest);
  }, limitMs / 10);
  patience.unref();

  return {
    ask() {
      if (state.closed) return Promise.resolve(null);
      return new Promise((resolve) => {
        waiting.push({ resolve, since: performance.now() });
        if (state.running) return;
        state.running = true;
        void run();
      });
    },

    close() {
      state.closed = true;
      clearInterval(patience);
      for (const { resolve } of [...waiting, ...asking]) resolve(null);
      waiting = [];
      connection.close();
    },
  };
}
