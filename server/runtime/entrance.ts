import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { stopListening } from './listening.ts';

/**
 * The entrance of several workers: one port, and one queue of accepted connections. Each worker has at most one
 * connection that it has not taken yet. So a late worker delays one client only, and a dead one loses none.
 */

/** What the supervisor sends with a connection; without one when it asks a late worker for a sign of life. */
export interface ConnectionMessage {
  connection: number;
  /** In milliseconds of `monotonicMs`; a worker closes a connection that it gets later. */
  until: number;
}

/** Bounds of the connections that no worker has taken yet. */
export interface WaitingLimits {
  /** Connections; the next one is closed. */
  max: number;
  /** From the accept; then the connection is closed. A replacement of the last worker starts in less. */
  timeoutMs: number;
}

/** The limits of a supervisor that may have so many files open. */
export function waitingLimitsOf(openFiles: number): WaitingLimits {
  return { max: Math.min(4_096, Math.floor(openFiles / 2)), timeoutMs: 15_000 };
}

/** An address to listen at, and what gives up the reservation of the port, if anything does. */
interface EntranceAddress {
  host: string;
  port: number;
  releasePort: (() => Promise<void>) | undefined;
}

/** The port, and the workers that its connections are handed to. */
interface Entrance {
  /** Listens, unless it does. */
  listen(address: EntranceAddress): Promise<void>;
  add(worker: Worker): void;
  /** The worker has the connection: from now on it closes it, and the kernel does when the worker dies. */
  taken(worker: Worker, id: number): void;
  /** Tells the worker `left` behind the last connection that it gets. */
  leave(worker: Worker): void;
  /** For a worker that has ended and whose messages have all been read. */
  remove(worker: Worker): void;
  stopListening(): Promise<void>;
  /** Closes the connections that no worker has taken. */
  close(): void;
}

/** An accepted connection that no worker has taken. Nothing is read here. */
interface Waiting {
  id: number;
  socket: Socket;
  until: number;
  timer: NodeJS.Timeout;
}

interface Taker {
  worker: Worker;
  given: Waiting | null;
  /** `leaving`: takes connections only while no other worker does. `left`: gets none. */
  state: 'open' | 'leaving' | 'left';
}

/** Milliseconds of the machine's monotonic clock: the same in all processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** A worker that has died takes no message; its end is handled elsewhere. */
export function send(worker: Worker, message: object | string, socket?: Socket): void {
  // Kept open: the supervisor has it until the worker says that it took it, so a dead worker's can be handed on.
  worker.send(message, socket, { keepOpen: true }, () => undefined);
}

export function createEntrance(limits: WaitingLimits): Entrance {
  /** In the order in which they get connections when all are equally fast. */
  let takers: Taker[] = [];
  let queue: Waiting[] = [];
  let listening: Promise<void> | null = null;
  let lastId = 0;

  const find = (worker: Worker): Taker | undefined => takers.find((taker) => taker.worker === worker);
  const isIdle = ({ worker, given }: Taker): boolean => given === null && worker.isConnected() && !worker.isDead();
  const pick = (): Taker | undefined => {
    const isOpen = takers.some(({ state }) => state === 'open');
    return takers.find((taker) => taker.state === (isOpen ? 'open' : 'leaving') && isIdle(taker));
  };

  const handOut = (): void => {
    for (let taker = pick(); taker !== undefined && queue.length > 0; taker = pick()) {
      const next = queue.shift();
      if (next === undefined) break;
      const chosen = taker;
      takers = [...takers.filter((each) => each !== chosen), chosen];
      chosen.given = next;
      send(chosen.worker, { connection: next.id, until: next.until } satisfies ConnectionMessage, next.socket);
    }
    const isOpen = takers.some(({ state }) => state === 'open');
    for (const taker of takers) {
      if (taker.state !== 'leaving' || (queue.length > 0 && !isOpen)) continue;
      taker.state = 'left';
      send(taker.worker, 'left');
    }
  };

  const expire = (waiting: Waiting): void => {
    queue = queue.filter((each) => each !== waiting);
    // The end of the stream is sent although a late worker's process may have the connection as well.
    waiting.socket.end(() => waiting.socket.destroy());
    const late = takers.find(({ given }) => given === waiting);
    // Answered when it is no longer late, even if the connection got lost because it had no descriptor left.
    if (late !== undefined) send(late.worker, { connection: waiting.id, until: waiting.until });
  };

  const accept = (socket: Socket): void => {
    socket.on('error', () => undefined);
    if (queue.length >= limits.max) {
      socket.destroy();
      return;
    }
    lastId += 1;
    const waiting: Waiting = {
      id: lastId,
      socket,
      until: monotonicMs() + limits.timeoutMs,
      // A little later than workers refuse it, so that none serves what is closed here.
      timer: setTimeout(() => expire(waiting), limits.timeoutMs + 100),
    };
    queue.push(waiting);
    handOut();
  };
  // As Node's HTTP server accepts them.
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, accept);

  const drop = ({ socket, timer }: Waiting): void => {
    clearTimeout(timer);
    socket.destroy();
  };

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
      takers.unshift({ worker, given: null, state: 'open' });
      handOut();
    },
    taken(worker, id) {
      const taker = find(worker);
      if (taker?.given?.id !== id) return;
      drop(taker.given);
      taker.given = null;
      handOut();
    },
    leave(worker) {
      const taker = find(worker);
      if (taker?.state === 'open') taker.state = 'leaving';
      handOut();
    },
    remove(worker) {
      const given = find(worker)?.given;
      takers = takers.filter((taker) => taker.worker !== worker);
      // Untouched, for a worker says that it takes a connection before it reads from it.
      if (given) {
        if (given.until > monotonicMs()) queue.unshift(given);
        else drop(given);
      }
      handOut();
    },
    async stopListening() {
      await listening?.catch(() => undefined);
      await stopListening(server);
    },
    close() {
      for (const { given } of takers) if (given !== null) drop(given);
      for (const waiting of queue) drop(waiting);
      queue = [];
    },
  };
}
