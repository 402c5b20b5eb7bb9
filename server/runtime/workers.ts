import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { stopListening } from './listening.ts';
import type { Stopping } from './stopping.ts';
import { relayFigures } from './worker-figures.ts';

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
  log: Logger;
}

/** A worker failed to start, and has logged the reason itself. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
}

/** What a worker tells its supervisor. `open`: it takes connections, though perhaps only to refuse their requests. */
type WorkerMessage = 'open' | 'ready' | 'taken' | 'leaving';

const restartMs = { first: 500, most: 10_000 };
/** A worker that lived this long did not fail because of its start. */
const settledMs = 60_000;

/** A worker that takes connections. */
interface Taker {
  worker: Worker;
  /** Connections that it was given and has not taken yet: a worker whose event loop is late gets fewer. */
  untaken: number;
}

/**
 * Runs the workers until told to stop, and replaces each that ends. The first one prepares the database, and the others
 * start when it is ready. Throws `WorkerFailed` when it cannot: a retry would end the same way.
 */
export async function superviseWorkers(parts: WorkersParts): Promise<void> {
  const { count, boot, stopping, endLimitMs, log } = parts;
  const living = new Set<Worker>();
  const entrance = createEntrance();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let failuresInARow = 0;

  const start = (isFirst: boolean): Worker => {
    const worker = cluster.fork();
    const startedAt = performance.now();
    let isReady = false;
    living.add(worker);
    relayFigures(worker, living);
    worker.on('message', (message: WorkerMessage) => {
      if (message === 'ready') isReady = true;
      if (message === 'taken') entrance.taken(worker);
      else if (message === 'leaving') {
        entrance.remove(worker);
        // Behind all connections that it was given.
        send(worker, 'left');
      } else if (message === 'open') {
        entrance.add(worker);
        if (!stopping.isRequested) entrance.listen(parts).catch(failed.reject);
      }
    });
    // The channel breaks when the worker dies; its exit is handled below.
    worker.on('error', () => undefined);
    worker.on('exit', (code, signal) => {
      living.delete(worker);
      entrance.remove(worker);
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
    await Promise.race([untilReady(first), once(first, 'exit'), stopping.requested, failed.promise]);
    if (first.isDead() && !stopping.isRequested) throw new WorkerFailed('The first worker could not start.');
    for (let i = 1; i < count && !stopping.isRequested; i += 1) start(false);
    await Promise.race([stopping.requested, failed.promise]);
  } finally {
    // First of all: what was accepted until now still reaches a worker.
    await entrance.stopListening();
    await endAll([...living], endLimitMs);
    entrance.close();
  }
}

async function untilReady(worker: Worker): Promise<void> {
  for (;;) {
    const [message] = await once(worker, 'message');
    if (message === 'ready') return;
  }
}

/** A worker that has died takes no message; its exit is handled elsewhere. */
function send(worker: Worker, message: object | string, socket?: Socket): void {
  worker.send(message, socket, {}, () => undefined);
}

/** The port, and the workers that its connections are handed to. */
interface Entrance {
  /** Listens, unless it does. */
  listen(address: Pick<WorkersParts, 'host' | 'port' | 'releasePort'>): Promise<void>;
  add(worker: Worker): void;
  taken(worker: Worker): void;
  remove(worker: Worker): void;
  stopListening(): Promise<void>;
  /** Drops the connections that no worker could be found for. */
  close(): void;
}

function createEntrance(): Entrance {
  /** In the order in which they get connections when all are equally fast. */
  let takers: Taker[] = [];
  /** Accepted while no worker takes connections, because the only one has just died. */
  let waiting: Socket[] = [];
  let listening: Promise<void> | null = null;

  const hand = (socket: Socket): void => {
    const [first, ...others] = takers;
    if (first === undefined) {
      waiting.push(socket);
      return;
    }
    const taker = others.reduce((best, each) => (each.untaken < best.untaken ? each : best), first);
    takers = [...takers.filter((each) => each !== taker), taker];
    taker.untaken += 1;
    send(taker.worker, 'connection', socket);
  };
  // As Node's HTTP server accepts them. Nothing is read here.
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, hand);

  return {
    listen({ host, port, releasePort }) {
      listening ??= (async () => {
        await releasePort?.();
        server.listen({ host, port });
        await once(server, 'listening');
      })();
      return listening;
    },
    add(worker) {
      takers.push({ worker, untaken: 0 });
      const sockets = waiting;
      waiting = [];
      for (const socket of sockets) hand(socket);
    },
    taken(worker) {
      for (const taker of takers) if (taker.worker === worker) taker.untaken -= 1;
    },
    remove(worker) {
      takers = takers.filter((taker) => taker.worker !== worker);
    },
    async stopListening() {
      await listening?.catch(() => undefined);
      await stopListening(server);
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** They drain; those that have not ended by then are killed. */
async function endAll(workers: readonly Worker[], limitMs: number): Promise<void> {
  const ended = Promise.all(workers.filter((worker) => !worker.isDead()).map((worker) => once(worker.process, 'exit')));
  for (const worker of workers) worker.process.kill('SIGTERM');
  const limit = AbortSignal.timeout(limitMs);
  await Promise.race([ended, once(limit, 'abort')]);
  for (const worker of workers) if (!worker.isDead()) worker.process.kill('SIGKILL');
}

/** In a worker: serves the connections that the supervisor hands to it. */
export function takeConnections(server: HttpServer): { stop(): Promise<void> } {
  const left = Promise.withResolvers<void>();
  // Node starts the timeouts of heads and bodies when a server listens, which this one never does itself.
  server.emit('listening');
  process.on('message', (message: unknown, socket: Socket | undefined) => {
    if (message === 'left') left.resolve();
    if (message !== 'connection') return;
    tell('taken');
    // The client may have disconnected meanwhile.
    if (socket === undefined) return;
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
