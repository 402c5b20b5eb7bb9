import type { Refused } from '../types.ts';
import { notRefilled, type Operation, type Result } from './batch.ts';
import { Closed, Unreachable } from './failure.ts';

/** The operations that wait for a batch, by kind, and the selection of the next batch. */

/** An operation and its promise. */
export interface Waiting {
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

export const maxBatch = 256;
/** Minimum room of a batch for admissions, despite a backlog of settlements. */
const roomForAdmissions = 64;
const roomForExtensions = 32;

/** The refusal while the ledger is out of reach. */
export const unavailable: Refused = { kind: 'refused', reason: 'unavailable', balance: { free: 0n, held: 0n } };

export type BatchQueues = ReturnType<typeof createBatchQueues>;

export function createBatchQueues() {
  const queues: Record<Operation['kind'], Waiting[]> = {
    trim: [],
    settle: [],
    release: [],
    expire: [],
    extend: [],
    uncover: [],
    shrink: [],
    set_aside: [],
    admit: [],
    refill: [],
  };
  const lists = Object.values(queues);

  return {
    add: (operation: Operation): Promise<Result> =>
      new Promise((resolve, reject) => {
        const since = performance.now();
        queues[operation.kind].push({ operation, resolve, reject, since, answered: false, tried: false });
      }),

    get isEmpty(): boolean {
      return lists.every((queue) => queue.length === 0);
    },

    get hasOnlySettlements(): boolean {
      return lists.every((queue) => queue === queues.settle || queue.length === 0);
    },

    /** The kinds that arrive with requests. */
    get requests(): number {
      return queues.admit.length + queues.settle.length;
    },

    get settlements(): number {
      return queues.settle.length;
    },

    get admissions(): readonly Waiting[] {
      return queues.admit;
    },

    /** Takes the next batch. Settlements come first: money that they free can be held by an admission of the batch. */
    next(): Waiting[] {
      const extensions = Math.min(queues.extend.length, roomForExtensions);
      const lastOnes = Math.min(queues.uncover.length, roomForExtensions);
      const admissions = Math.min(queues.admit.length, roomForAdmissions);
      let room = maxBatch - extensions - lastOnes - admissions;
      const batch: Waiting[] = [];
      // Trims come first: the parts that escrows keep are computed at the beginning of the batch, before its charges.
      for (const kind of ['trim', 'settle', 'release', 'shrink', 'expire'] as const) {
        const taken = queues[kind].splice(0, room);
        room -= taken.length;
        batch.push(...taken);
      }
      batch.push(...queues.extend.splice(0, extensions), ...queues.uncover.splice(0, lastOnes));
      const batches = queues.set_aside.splice(0, Math.max(room, 1));
      room = Math.max(0, room - batches.length);
      batch.push(...batches, ...queues.admit.splice(0, admissions + room));
      // Refills come last: advances use only money that the operations before them leave.
      batch.push(...queues.refill.splice(0, roomForExtensions));
      return batch.filter((waiting) => !waiting.answered);
    },

    /** Returns operations of a failed batch to the front. */
    putBack(batch: readonly Waiting[]): void {
      for (const waiting of [...batch].reverse()) queues[waiting.operation.kind].unshift(waiting);
    },

    /** Answers all operations that clients wait for. */
    turnAwayClients(): void {
      for (const kind of ['admit', 'extend', 'uncover', 'refill'] as const) {
        for (const waiting of queues[kind].splice(0)) turnAway(waiting);
      }
    },

    /** Rejects all operations. */
    close(): void {
      for (const queue of lists) {
        for (const waiting of queue.splice(0)) {
          if (!waiting.answered)
            waiting.reject(new Closed('the ledger was closed while its database was out of reach'));
        }
      }
    },
  };
}

/** Answers once. */
export function answer(waiting: Waiting, result: Result): void {
  if (waiting.answered) return;
  waiting.answered = true;
  waiting.resolve(result);
}

/**
 * Answers an operation that a client waits for: it is unknown whether it was or will be committed. False for operations
 * that must not be lost.
 */
export function turnAway(waiting: Waiting): boolean {
  const { kind } = waiting.operation;
  if (kind === 'admit') answer(waiting, unavailable);
  else if (kind === 'refill') answer(waiting, notRefilled);
  else if (kind !== 'extend' && kind !== 'uncover') return false;
  else if (!waiting.answered) {
    waiting.answered = true;
    waiting.reject(new Unreachable('the ledger cannot say whether there is more'));
  }
  return true;
}
