import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Stopping } from './stopping.ts';

/** Workers: several processes behind one port, with a supervisor that serves no requests. */
export interface WorkersParts {
  count: number;
  /** The first message to each worker. */
  boot: (isFirst: boolean) => object;
  stopping: Stopping;
  /** Timeout for workers to stop. */
  endLimitMs: number;
  log: Logger;
}

/** A worker failed to start, and has logged the reason itself. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
}

const restartMs = { first: 500, most: 10_000 };
/** A worker that lived this long did not fail because of its start. */
const settledMs = 60_000;

/**
 * Runs the workers until told to stop, and replaces each that ends. The first one prepares the database, and the others
 * start when it is ready. Throws `WorkerFailed` when it cannot: a retry would end the same way.
 */
export async function superviseWorkers({ count, boot, stopping, endLimitMs, log }: WorkersParts): Promise<void> {
  const living = new Set<Worker>();
  let failuresInARow = 0;

  const start = (isFirst: boolean): Worker => {
    const worker = cluster.fork();
    const startedAt = performance.now();
    let isReady = false;
    living.add(worker);
    worker.once('message', () => {
      isReady = true;
    });
    // The channel breaks when the worker dies; its exit is handled below.
    worker.on('error', () => undefined);
    worker.on('exit', (code, signal) => {
      living.delete(worker);
      if (stopping.isRequested || (isFirst && !isReady)) return;
      failuresInARow = performance.now() - startedAt > settledMs ? 1 : failuresInARow + 1;
      const waitMs = Math.min(restartMs.most, restartMs.first * 2 ** (failuresInARow - 1));
      log.error({ worker: worker.id, code: String(code ?? signal), waitMs }, 'a worker ended; starting another');
      setTimeout(() => {
        if (!stopping.isRequested) start(false);
      }, waitMs);
    });
    worker.send(boot(isFirst));
    return worker;
  };

  const first = start(true);
  await Promise.race([once(first, 'message'), once(first, 'exit'), stopping.requested]);
  if (first.isDead() && !stopping.isRequested) throw new WorkerFailed('The first worker could not start.');
  for (let i = 1; i < count && !stopping.isRequested; i += 1) start(false);
  await stopping.requested;
  await endAll([...living], endLimitMs);
}

/** They drain; those that have not ended by then are killed. */
async function endAll(workers: readonly Worker[], limitMs: number): Promise<void> {
  const ended = Promise.all(workers.map((worker) => once(worker.process, 'exit')));
  for (const worker of workers) worker.process.kill('SIGTERM');
  const limit = AbortSignal.timeout(limitMs);
  await Promise.race([ended, once(limit, 'abort')]);
  for (const worker of workers) if (!worker.isDead()) worker.process.kill('SIGKILL');
}
