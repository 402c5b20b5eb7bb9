import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { notRefilled, type Operation, type Result } from './batch.ts';
import { classify, describe } from './failure.ts';
import type { BillingLog } from './log.ts';
import type { Refused } from './types.ts';

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
}

/** Rejects an operation that can never be committed. */
export class Quarantined extends Error {
  override name = 'Quarantined';
}

/** Rejects an extension while the database is out of reach: whether money is left is unknown. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** Rejects waiting operations when the ledger is closed before the database is back. */
export class Closed extends Error {
  override name = 'Closed';
}

const maxBatch = 256;
/** Minimum room of a batch for admissions, despite a backlog of settlements. */
const roomForAdmissions = 64;
const roomForExtensions = 32;
/** Maximum turns of the event loop that a batch gathers. */
const maxTurns = 8;
const maxQueue = 2_000;
const defaultWaitMs = 1_000;
const attempts = 5;
/** Minimum distance of batches with settlements alone. */
const settlementsEveryMs = 10;
const backOffMs = { first: 20, max: 2_000 };

/** The refusal while the ledger is out of reach. */
export const unavailable: Refused = { kind: 'refused', reason: 'unavailable', balance: { free: 0n, held: 0n } };

interface Waiting {
  operation: Operation;
  resolve(result: Result): void;
  reject(error: Error): void;
  /** Monotonic milliseconds. */
  since: number;
  /** Timed out: the answer was given already. */
  answered: boolean;
  /** A batch with it has failed. */
  tried: boolean;
}

export function createGroupCommit({ perform, log, maxWaitMs = defaultWaitMs }: GroupCommitParts): GroupCommit {
  const queues: Record<Operation['kind'], Waiting[]> = {
    trim: [],
    settle: [],
    release: [],
    expire: [],
    extend: [],
    admit: [],
    refill: [],
  };
  let inFlight: readonly Waiting[] = [];
  let lastError: unknown = null;
  const nudges: { resolve(): void; reject(error: unknown): void }[] = [];
  /** `closing` accepts no operations; `stopped` runs none. */
  const state = { running: false, closing: false, stopped: false };
  let failuresInARow = 0;
  let lastBatchAt = Number.NEGATIVE_INFINITY;
  let calmSince: number | null = null;
  const stop = new AbortController();

  const enqueue = (operation: Operation): Promise<Result> =>
    new Promise((resolve, reject) => {
      const since = performance.now();
      queues[operation.kind].push({ operation, resolve, reject, since, answered: false, tried: false });
      if (operation.kind !== 'settle') wake();
      start();
    });

  const start = (): void => {
    if (state.running || state.stopped) return;
    state.running = true;
    void run();
  };

  /**
   * Clients that were just answered ask again in this turn of the event loop, and operations that arrive with them join
   * the batch. A busy loop adds operations with each turn, at little cost for the database; an idle one adds none.
   */
  const gather = async (): Promise<void> => {
    for (let turns = 0; turns < maxTurns; turns += 1) {
      const before = waitingCount();
      await yieldToEventLoop();
      if (waitingCount() <= before) return;
    }
  };

  const waitingCount = (): number => queues.admit.length + queues.settle.length;

  /** Ends the wait of a batch of settlements. */
  let wake = (): void => undefined;

  /**
   * No client waits for settlements: they are on disk, and their money is held. Batches of them keep a distance,
   * because a commit costs the database more than a further row. Any other operation starts a batch at once.
   */
  const keepDistance = async (): Promise<void> => {
    const waitMs = lastBatchAt + settlementsEveryMs - performance.now();
    const onlySettlements = Object.entries(queues).every(([kind, queue]) => kind === 'settle' || queue.length === 0);
    if (waitMs <= 0 || !onlySettlements || nudges.length > 0 || state.closing) return;
    if (queues.settle.length === 0 || queues.settle.length >= maxBatch / 2) return;
    const pauseOver = new AbortController();
    wake = () => pauseOver.abort();
    await delay(waitMs, undefined, { signal: pauseOver.signal, ref: false }).catch(ignore);
    wake = () => undefined;
  };

  const run = async (): Promise<void> => {
    while (!state.stopped) {
      await keepDistance();
      await gather();
      if (failuresInARow > 0) await pause(backOff(failuresInARow));
      if (state.stopped) break;
      const batch = next();
      if (batch.length === 0 && nudges.length === 0 && failuresInARow === 0) break;
      const nudged = nudges.splice(0);
      inFlight = batch;
      if (batch.length > 0) lastBatchAt = performance.now();
      await carryOut(batch);
      inFlight = [];
      for (const nudge of nudged) {
        if (failuresInARow === 0) nudge.resolve();
        else nudge.reject(lastError);
      }
    }
    // Synchronously after the check: the next operation starts a new run.
    state.running = false;
  };

  /** Settlements come first: money that they free can be held by an admission of the same batch. */
  const next = (): Waiting[] => {
    const extensions = Math.min(queues.extend.length, roomForExtensions);
    const admissions = Math.min(queues.admit.length, roomForAdmissions);
    let room = maxBatch - extensions - admissions;
    const batch: Waiting[] = [];
    // Trims come first: the parts that escrows keep are computed at the beginning of the batch, before its charges.
    for (const kind of ['trim', 'settle', 'release', 'expire'] as const) {
      const taken = queues[kind].splice(0, room);
      room -= taken.length;
      batch.push(...taken);
    }
    batch.push(...queues.extend.splice(0, extensions), ...queues.admit.splice(0, admissions + room));
    // Refills come last: advances use only money that the operations before them leave.
    batch.push(...queues.refill.splice(0, roomForExtensions));
    return batch.filter((waiting) => !waiting.answered);
  };

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

  const recover = async (batch: readonly Waiting[], attempt: number, error: unknown): Promise<void> => {
    const failure = classify(error);
    for (const waiting of batch) waiting.tried = true;
    if (failure === 'contention' && attempt < attempts) {
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

  const deliver = (batch: readonly Waiting[], results: readonly Result[]): void => {
    batch.forEach((waiting, index) => {
      const result = results[index];
      if (result === undefined) return;
      if (!waiting.answered) waiting.resolve(result);
      // The admission was answered `unavailable` meanwhile, so its hold is unused.
      else if (result.kind === 'admitted') releaseHold(waiting.operation);
    });
  };

  /** The batch failed. Admissions and extensions are answered; operations that must not be lost return to the queue. */
  const giveUp = (batch: readonly Waiting[], error: unknown): void => {
    failuresInARow += 1;
    lastError = error;
    calmSince = null;
    if (failuresInARow === 1) log.error(describe(error), 'the ledger cannot commit');
    for (const waiting of [...batch].reverse()) {
      const { operation } = waiting;
      if (operation.kind === 'admit') {
        answer(waiting, unavailable);
        // The commit may have happened although its confirmation was lost.
        releaseHold(operation);
      } else if (operation.kind === 'extend') unreachable(waiting);
      else if (operation.kind === 'refill') answer(waiting, notRefilled);
      else queues[operation.kind].unshift(waiting);
    }
    for (const waiting of queues.admit.splice(0)) answer(waiting, unavailable);
    for (const waiting of queues.extend.splice(0)) unreachable(waiting);
    for (const waiting of queues.refill.splice(0)) answer(waiting, notRefilled);
  };

  const expel = (waiting: Waiting, error: unknown): void => {
    const { operation } = waiting;
    log.error({ operation: operation.kind, ...describe(error) }, 'an operation can never be committed');
    if (operation.kind === 'admit') return answer(waiting, unavailable);
    if (operation.kind === 'extend') return unreachable(waiting);
    if (operation.kind === 'refill') return answer(waiting, notRefilled);
    waiting.answered = true;
    waiting.reject(new Quarantined(`this ${operation.kind} can never be committed`));
  };

  const releaseHold = (operation: Operation): void => {
    if (operation.kind !== 'admit') return;
    const { accountId, requestId } = operation.ask;
    enqueue({ kind: 'release', accountId, requestId, onlyIfOrphaned: false }).catch(ignore);
  };

  const answer = (waiting: Waiting, result: Result): void => {
    if (waiting.answered) return;
    waiting.answered = true;
    waiting.resolve(result);
  };

  const unreachable = (waiting: Waiting): void => {
    if (waiting.answered) return;
    waiting.answered = true;
    waiting.reject(new Unreachable('the ledger cannot say whether there is more'));
  };

  const patience = setInterval(() => {
    const latest = performance.now() - maxWaitMs;
    for (const waiting of [...queues.admit, ...inFlight]) {
      if (waiting.operation.kind === 'admit' && waiting.since < latest) answer(waiting, unavailable);
    }
  }, maxWaitMs / 10);
  patience.unref();

  const isBusy = (): boolean => inFlight.length > 0 || Object.values(queues).some((queue) => queue.length > 0);

  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal: stop.signal, ref: false }).catch(ignore);
  };

  return {
    async add(operation) {
      if (state.stopped) throw new Closed('the ledger is closed');
      const refuse = state.closing || failuresInARow > 0;
      if (operation.kind === 'admit' && (refuse || queues.admit.length >= maxQueue)) return unavailable;
      if (operation.kind === 'refill' && refuse) return notRefilled;
      if (operation.kind === 'extend' && refuse) throw new Unreachable('the ledger is out of reach');
      return enqueue(operation);
    },

    nudge() {
      return new Promise((resolve, reject) => {
        if (state.stopped) return reject(new Closed('the ledger is closed'));
        nudges.push({ resolve, reject });
        wake();
        start();
      });
    },

    get down() {
      return failuresInARow > 0;
    },

    get calmForMs() {
      return calmSince === null ? 0 : performance.now() - calmSince;
    },

    async close(limitMs) {
      state.closing = true;
      wake();
      const until = performance.now() + limitMs;
      while (isBusy() && performance.now() < until) await delay(5);
      state.stopped = true;
      stop.abort();
      clearInterval(patience);
      while (state.running) await delay(5);
      for (const nudge of nudges.splice(0)) nudge.reject(new Closed('the ledger is closed'));
      for (const queue of Object.values(queues)) {
        for (const waiting of queue.splice(0)) {
          if (!waiting.answered)
            waiting.reject(new Closed('the ledger was closed while its database was out of reach'));
        }
      }
    },
  };
}

/** Exponential back-off with jitter, so that processes do not return all at once. */
function backOff(failures: number): number {
  const maxMs = Math.min(backOffMs.max, backOffMs.first * 2 ** Math.min(failures - 1, 10));
  return maxMs / 2 + Math.random() * (maxMs / 2);
}

function ignore(): void {}
