import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createRoster } from '../shared/roster.ts';

/** Graceful shutdown: what was accepted is answered within a limit, then connections are closed. */

/** Time in which connections may deliver what is already answered. */
const maxLastBytesMs = 1_000;

/** The open connections of a server. */
export interface Connections {
  open(): number;
  /** Those on which a request began or ended after this moment of `performance.now()`. */
  usedSince(moment: number): number;
  /** From now on each connection ends with the answer whose head is written next, so that clients connect elsewhere. */
  endWithAnswers(): void;
}

/** Follows the connections of a server from its beginning. */
export function watchConnections(server: Server): Connections {
  const connections = createRoster<Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  const unanswered = createRoster<ServerResponse>();
  let isEnding = false;
  const end = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };
  const use = (connection: Connection | undefined): void => {
    if (connection !== undefined) connection.usedAt = performance.now();
  };
  server.on('connection', (socket: Socket) => {
    const connection: Connection = { usedAt: performance.now() };
    bySocket.set(socket, connection);
    socket.once('close', connections.join(connection));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = bySocket.get(socket);
    use(connection);
    const leave = unanswered.join(response);
    if (isEnding) end(response);
    response.once('close', () => {
      leave();
      use(connection);
    });
  });
  return {
    open: () => connections.size,
    usedSince(moment) {
      let used = 0;
      connections.visit(({ usedAt }) => {
        if (usedAt > moment) used += 1;
      });
      return used;
    },
    endWithAnswers() {
      isEnding = true;
      unanswered.visit(end);
    },
  };
}

interface Connection {
  /** When a request last began or ended on it, by `performance.now()`. */
  usedAt: number;
}

export interface DrainParts {
  /** Model requests that run. */
  slots: { total(): number };
  connections: Connections;
  /** Timeout of all of it. */
  limitMs: number;
  /** How long a connection is kept for its next request, and for the end of one that calls no model. */
  idleMs: number;
  /** Nothing is waited for any more. */
  isForced?: () => boolean;
}

/** Waits until no model request runs, and clients have had time to use the connections that they keep. */
export async function drain({
  slots,
  connections,
  limitMs,
  idleMs,
  isForced = () => false,
}: DrainParts): Promise<void> {
  const beganAt = performance.now();
  const isDone = (): boolean => {
    const now = performance.now();
    if (slots.total() > 0) return false;
    return connections.open() === 0 || (now - beganAt >= idleMs && connections.usedSince(now - idleMs) === 0);
  };
  while (!isDone() && !isForced() && performance.now() - beganAt < limitMs) await delay(20);
}

/** Lets answers in flight arrive; connections still open after a second are cut. */
export async function closeServer(fastify: FastifyInstance, connections: Connections): Promise<void> {
  const closed = fastify.close();
  const until = performance.now() + maxLastBytesMs;
  while (connections.open() > 0 && performance.now() < until) await delay(10);
  fastify.server.closeAllConnections();
  await closed;
}
