import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../core/log.ts';
import { readOpenFilesLimit } from './connection-room.ts';
import {
  type ConnectionMessage,
  createEntrance,
  monotonicMs,
  send,
  type WaitingLimits,
  waitingLimitsOf,
} from './entrance.ts';
import { type Stopping, stopNow } from './stopping.ts';
import { relayFigures } from './telemetry/worker-figures.ts';

/**
 * Workers: several processes behind one port, with a supervisor that serves no requests. The supervisor alone listens,
 * and hands each connection to a worker that is ready. So it decides when clients can connect, and which worker gets no
 * more connections before that worker stops.
 */
export interface WorkersParts {
  count: number;
  host: string;
  port: number;
  /** Gives up what reserved the port; absent: nothing does. */
  releasePort: (() => Promise<void>) | undefined;
  /** The first message to each worker. */
  boot: (isFirst: boolean) => object;
  stopping: Stopping;
  /** Timeout for workers to stop. */
  endLimitMs: number;
  waitingLimits?: WaitingLimits;
  log: Log;
}

/** A worker failed to start, and has logged the reason itself. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
}

/**
 * What a worker tells its supervisor. `open`: it takes connections, though perhaps only to refuse their requests.
 * `taken`: it has a connection, and is about to read from it.
 */
type WorkerMessage = 'open' | 'ready' | 'leaving' | { taken: number };

const restartMs = { first: 500, most: 10_000 };
/** A worker that lived this long did not fail because of its start. */
const settledMs = 60_000;

/**
 * Runs the workers until told to stop, and replaces each that ends. The first one prepares the database, and the others
 * start when it is ready. Throws `WorkerFailed` when it cannot: a retry would end the same way.
 */
export async function superviseWorkers(parts: WorkersParts): Promise<void> {
  const { count, boot, stopping, endLimitMs, waitingLimits = waitingLimitsOf(readOpenFilesLimit()), log } = parts;
  const living = new Set<Worker>();
  const entrance = createEntrance(waitingLimits);
  const failed = Promise.withResolvers<never>();
  const firstReady = Promise.withResolvers<void>();
  failed.promise.catch(() => undefined);
  let failuresInARow = 0;

  const start = (isFirst: boolean): Worker => {
    const worker = cluster.fork();
    const startedAt = performance.now();
    let isReady = false;
    living.add(worker);
    relayFigures(worker, living);
    worker.on('message', (message: WorkerMessage) => {
      if (typeof message === 'object') {
        if ('taken' in message) entrance.taken(worker, message.taken);
      } else if (message === 'ready') {
        isReady = true;
        firstReady.resolve();
      } else if (message === 'leaving') entrance.leave(worker);
      else {
        entrance.add(worker);
        if (!stopping.isRequested) entrance.listen(parts).catch(failed.reject);
      }
    });
    // The channel breaks when the worker dies; its exit is handled below.
    worker.on('error', () => undefined);
    // Later than its exit: by then all that it said has been read.
    worker.process.on('close', () => entrance.remove(worker));
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
    send(worker, boot(isFirst));
    return worker;
  };

  try {
    const first = start(true);
    const hasFailed = once(first, 'exit').then(() => true);
    const hasBegun = Promise.race([firstReady.promise, stopping.requested, failed.promise]).then(() => false);
    if ((await Promise.race([hasBegun, hasFailed])) && !stopping.isRequested)
      throw new WorkerFailed('The first worker could not start.');
    for (let i = 1; i < count && !stopping.isRequested; i += 1) start(false);
    await Promise.race([stopping.requested, failed.promise]);
  } finally {
    // First of all: what was accepted until now still reaches a worker.
    await entrance.stopListening();
    await endAll([...living], endLimitMs, stopping.forced);
    entrance.close();
  }
}

/** They drain; those that have not ended by then are killed. */
async function endAll(workers: readonly Worker[], limitMs: number, forced: Promise<void>): Promise<void> {
  const ended = Promise.all(workers.filter((worker) => !worker.isDead()).map((worker) => once(worker.process, 'exit')));
  for (const worker of workers) worker.process.kill('SIGTERM');
  void forced.then(() => workers.forEach((worker) => send(worker, stopNow)));
  const limit = AbortSignal.timeout(limitMs);
  await Promise.race([ended, once(limit, 'abort')]);
  for (const worker of workers) if (!worker.isDead()) worker.process.kill('SIGKILL');
}

/** In a worker: serves the connections that the supervisor hands to it. */
export function takeConnections(server: HttpServer): { stop(): Promise<void> } {
  const left = Promise.withResolvers<void>();
  // Node starts the timeouts of heads and bodies when a server listens, which this one never does itself.
  server.emit('listening');
  process.on('message', (message: ConnectionMessage | object | string, socket: Socket | undefined) => {
    if (message === 'left') left.resolve();
    if (typeof message !== 'object' || !('connection' in message)) return;
    // Before anything is read: what no worker has taken is handed to another one.
    tell({ taken: message.connection });
    // The client may have disconnected meanwhile.
    if (socket === undefined) return;
    if (message.until < monotonicMs()) {
      socket.destroy();
      return;
    }
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    server.emit('connection', socket);
    socket.resume();
  });
  tell('open');
  return {
    /** Resolves when this worker has all connections that it will get. */
    stop() {
      // A supervisor that has died hands out nothing more.
      if (!process.connected) return Promise.resolve();
      process.once('disconnect', left.resolve);
      tell('leaving');
      return left.promise;
    },
  };
}

/** In a worker: says so to the supervisor, if there is one. */
export function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}
