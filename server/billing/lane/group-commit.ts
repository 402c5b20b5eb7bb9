import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { BillingLog } from '../log.ts';
import { notRefilled, type Operation, type Result } from './batch.ts';
import {
  answer,
  type BatchQueues,
  createBatchQueues,
  maxBatch,
  turnAway,
  unavailable,
  type Waiting,
} from './batch-queues.ts';
import { Closed, classify, describe, Quarantined, Unreachable } from './failure.ts';

/**
 * Group commit: all waiting operations share one transaction, and the next batch gathers while it is in flight. One
 * batch at a time, so that a process never waits for its own locks. Without a timer: an idle ledger answers at once, a
 * busy one in larger batches. Batches of settlements alone keep a small distance.
 *
 * Settlements, releases and expiries are retried until the database takes them. Admissions and extensions have a
 * timeout, because a client waits for them.
 */
export interface GroupCommit {
  /** Resolves with the result once it is committed. Rejects when it can never be committed, or after `close`. */
  add(operation: Operation): Promise<Result>;
  /**
   * Runs a batch even without waiting operations, for the side tasks of a batch (the lease). Rejects when it fails; it
   * is retried nevertheless.
   */
  nudge(): Promise<void>;
  /** The last batch failed in an outage of the database; admissions are refused. */
  readonly down: boolean;
  /** Time since which all batches have succeeded. Zero while they fail. */
  readonly calmForMs: number;
  /** Accepts no new operations; waits until all are committed or `limitMs` has passed. */
  close(limitMs: number): Promise<void>;
}

export interface GroupCommitParts {
  /**
   * Runs one batch in one transaction. `careful`: some of its operations were tried before, and may have been committed
   * although the answer was lost.
   */
  perform: (operations: readonly Operation[], careful: boolean) => Promise<Result[]>;
  log: BillingLog;
  /** Timeout of an admission. */
  maxWaitMs?: number;
  /** Minimum distance of batches with settlements alone. */
  settlementsEveryMs?: number;
}

/** Maximum turns of the event loop that a batch gathers. */
const maxTurns = 8;
const maxQueue = 2_000;
const defaultWaitMs = 1_000;
const attempts = 5;
const defaultSettlementsEveryMs = 10;
const backOffMs = { first: 20, max: 2_000 };

export function createGroupCommit(parts: GroupCommitParts): GroupCommit {
  const { perform, log, maxWaitMs = defaultWaitMs, settlementsEveryMs = defaultSettlementsEveryMs } = parts;
  const queues = createBatchQueues();
  let inFlight: readonly Waiting[] = [];
  const nudges: { resolve(): void; reject(error: unknown): void }[] = [];
  /** `closing` accepts no operations; `stopped` runs none. */
  const state = { running: false, closing: false, stopped: false };
  const stop = new AbortController();
  const pacing = createPacing(queues, settlementsEveryMs, () => nudges.length > 0 || state.closing);
  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal: stop.signal, ref: false }).catch(ignore);
  };

  const enqueue = (operation: Operation): Promise<Result> => {
    const result = queues.add(operation);
    if (operation.kind !== 'settle') pacing.wake();
    start();
    return result;
  };

  const start = (): void => {
    if (state.running || state.stopped) return;
    state.running = true;
    void run();
  };

  const releaseHold = (operation: Operation): void => {
    if (operation.kind !== 'admit') return;
    const { accountId, requestId } = operation.ask;
    enqueue({ kind: 'release', accountId, requestId, onlyIfOrphaned: false }).catch(ignore);
  };

  const batches = createBatchRunner({ perform, log, queues, pause, releaseHold });

  const run = async (): Promise<void> => {
    while (!state.stopped) {
      await pacing.keepDistance();
      await pacing.gather();
      if (batches.failures > 0) await pause(backOff(batches.failures));
      if (state.stopped) break;
      const batch = queues.next();
      if (batch.length === 0 && nudges.length === 0 && batches.failures === 0) break;
      const nudged = nudges.splice(0);
      inFlight = batch;
      if (batch.length > 0) pacing.began();
      await batches.carryOut(batch);
      inFlight = [];
      for (const nudge of nudged) {
        if (batches.failures === 0) nudge.resolve();
        else nudge.reject(batches.lastError);
      }
    }
    // Synchronously after the check: the next operation starts a new run.
    state.running = false;
  };

  const patience = setInterval(() => {
    const latest = performance.now() - maxWaitMs;
    for (const waiting of [...queues.admissions, ...inFlight]) {
      if (waiting.operation.kind === 'admit' && waiting.since < latest) answer(waiting, unavailable);
    }
  }, maxWaitMs / 10);
  patience.unref();

  return {
    async add(operation) {
      if (state.stopped) throw new Closed('the ledger is closed');
      const refuse = state.closing || batches.failures > 0;
      if (operation.kind === 'admit' && (refuse || queues.admissions.length >= maxQueue)) return unavailable;
      if (operation.kind === 'refill' && refuse) return notRefilled;
      if ((operation.kind === 'extend' || operation.kind === 'uncover') && refuse)
        throw new Unreachable('the ledger is out of reach');
      return enqueue(operation);
    },

    nudge() {
      return new Promise((resolve, reject) => {
        if (state.stopped) return reject(new Closed('the ledger is closed'));
        nudges.push({ resolve, reject });
        pacing.wake();
        start();
      });
    },

    get down() {
      return batches.failures > 0;
    },

    get calmForMs() {
      return batches.calmForMs;
    },

    async close(limitMs) {
      state.closing = true;
      pacing.wake();
      const until = performance.now() + limitMs;
      while ((inFlight.length > 0 || !queues.isEmpty) && performance.now() < until) await delay(5);
      state.stopped = true;
      stop.abort();
      clearInterval(patience);
      while (state.running) await delay(5);
      for (const nudge of nudges.splice(0)) nudge.reject(new Closed('the ledger is closed'));
      queues.close();
    },
  };
}

/** When a batch begins: as soon as something waits that a client waits for. */
function createPacing(queues: BatchQueues, settlementsEveryMs: number, isUrgent: () => boolean) {
  let lastBatchAt = Number.NEGATIVE_INFINITY;
  /** Ends the wait of a batch of settlements. */
  let wake = (): void => undefined;

  return {
    wake: (): void => wake(),

    /** A batch begins. */
    began(): void {
      lastBatchAt = performance.now();
    },

    /**
     * Clients that were just answered ask again in this turn of the event loop, and operations that arrive with them
     * join the batch. A busy loop adds operations with each turn, at little cost for the database; an idle one adds
     * none.
     */
    async gather(): Promise<void> {
      for (let turns = 0; turns < maxTurns; turns += 1) {
        const before = queues.requests;
        await yieldToEventLoop();
        if (queues.requests <= before) return;
      }
    },

    /**
     * No client waits for settlements: they are on disk, and their money is held. Batches of them keep a distance,
     * because a commit costs the database more than a further row. Any other operation starts a batch at once.
     */
    async keepDistance(): Promise<void> {
      const waitMs = lastBatchAt + settlementsEveryMs - performance.now();
      if (waitMs <= 0 || !queues.hasOnlySettlements || isUrgent()) return;
      if (queues.settlements === 0 || queues.settlements >= maxBatch / 2) return;
      const pauseOver = new AbortController();
      wake = () => pauseOver.abort();
      await delay(waitMs, undefined, { signal: pauseOver.signal, ref: false }).catch(ignore);
      wake = () => undefined;
    },
  };
}

interface BatchRunnerParts extends GroupCommitParts {
  queues: BatchQueues;
  pause(ms: number): Promise<void>;
  /** The admission may have held money although its client never got the outcome. */
  releaseHold(operation: Operation): void;
}

/** Carries batches out: retries, halves and gives up those that fail. */
function createBatchRunner({ perform, log, queues, pause, releaseHold }: BatchRunnerParts) {
  let failuresInARow = 0;
  let lastError: unknown = null;
  let calmSince: number | null = null;

  const carryOut = async (batch: readonly Waiting[], attempt = 1): Promise<void> => {
    try {
      const careful = attempt > 1 || batch.some((waiting) => waiting.tried);
      deliver(
        batch,
        await perform(
          batch.map((waiting) => waiting.operation),
          careful,
        ),
      );
      if (failuresInARow > 0) log.info({ failures: failuresInARow }, 'the ledger works again');
      failuresInARow = 0;
      calmSince ??= performance.now();
    } catch (error) {
      await recover(batch, attempt, error);
    }
  };

  const deliver = (batch: readonly Waiting[], results: readonly Result[]): void => {
    batch.forEach((waiting, index) => {
      const result = results[index];
      if (result === undefined) return;
      if (!waiting.answered) waiting.resolve(result);
      // The admission was answered `unavailable` meanwhile, so its hold is unused.
      else if (result.kind === 'admitted') releaseHold(waiting.operation);
    });
  };

  const recover = async (batch: readonly Waiting[], attempt: number, error: unknown): Promise<void> => {
    const failure = classify(error);
    for (const waiting of batch) waiting.tried = true;
    if ((failure === 'contention' || failure === 'stale') && attempt < attempts) {
      await pause(backOff(attempt));
      return carryOut(batch, attempt + 1);
    }
    // A persistent unique violation is not a conflict with another process: the operation itself is wrong.
    const isPoison = failure === 'poison' || describe(error).code === '23505';
    if (!isPoison) return giveUp(batch, error);
    const [only] = batch;
    if (only !== undefined && batch.length === 1) return expel(only, error);
    // One operation fails the whole transaction: bisect until it is alone.
    const middle = Math.ceil(batch.length / 2);
    await carryOut(batch.slice(0, middle));
    await carryOut(batch.slice(middle));
  };

  /** The batch failed. Clients are answered; operations that must not be lost return to the queue. */
  const giveUp = (batch: readonly Waiting[], error: unknown): void => {
    failuresInARow += 1;
    lastError = error;
    calmSince = null;
    if (failuresInARow === 1) log.error(describe(error), 'the ledger cannot commit');
    queues.putBack(batch.filter((waiting) => !turnAway(waiting)));
    // The commit may have happened although its confirmation was lost.
    for (const { operation } of batch) releaseHold(operation);
    queues.turnAwayClients();
  };

  const expel = (waiting: Waiting, error: unknown): void => {
    const { kind } = waiting.operation;
    log.error({ operation: kind, ...describe(error) }, 'an operation can never be committed');
    if (turnAway(waiting)) return;
    waiting.answered = true;
    waiting.reject(new Quarantined(`this ${kind} can never be committed`));
  };

  return {
    carryOut,

    /** Outages in a row. */
    get failures() {
      return failuresInARow;
    },

    get lastError() {
      return lastError;
    },

    get calmForMs() {
      return calmSince === null ? 0 : performance.now() - calmSince;
    },
  };
}

/** Exponential back-off with jitter, so that processes do not return all at once. */
function backOff(failures: number): number {
  const maxMs = Math.min(backOffMs.max, backOffMs.first * 2 ** Math.min(failures - 1, 10));
  return maxMs / 2 + Math.random() * (maxMs / 2);
}

function ignore(): void {}
