import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { testNetworks } from '../shared/networks.ts';

/**
 * Bounds the connections of clients by the descriptors of the process, so that those of the database, the upstreams and the spool
 * are always there: a thousand idle connections must neither end the process nor refuse anybody. When room is short the
 * connection closes that has been idle longest, first of all of an address that has more than its share.
 */
export interface ConnectionRoom {
  /** More requests run than there are descriptors for: the next ones are to be refused. */
  readonly isFull: boolean;
  /** Connections that were closed for lack of room so far. */
  readonly closed: number;
}

export interface ConnectionRoomParts {
  /** The limit of open files of this process; `Number.POSITIVE_INFINITY` where it is unknown. */
  openFiles: number;
  /** Addresses and networks of proxies, whose connections are those of many clients. */
  trustedProxies?: readonly string[];
}

/** Descriptors of everything else: the database's connections, the log, the spool, and upstreams that are kept open. */
const reserved = 256;
const reservedShare = 0.25;
/** A running request also takes a connection to its upstream, and another one where that is the built-in simulator. */
const requestFiles = 2;
/** The part of the room that one address may fill while others need it. */
const addressShare = 1 / 8;

/** A connection of a client. */
interface Connection {
  socket: Socket;
  address: string;
  /** Requests on it that are not answered yet. */
  running: number;
}

/** The limit of open files of this process: what the system says, or no limit where it does not say. */
export function readOpenFilesLimit(read: (path: string) => string = (path) => readFileSync(path, 'latin1')): number {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(read('/proc/self/limits'))?.[1]);
    return limit > 0 ? limit : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Descriptors that connections and their requests may take. */
export function roomOf(openFiles: number): number {
  return openFiles - Math.min(reserved, openFiles * reservedShare);
}

/** Follows the connections of a server from its beginning. */
export function boundConnections(
  server: Server,
  { openFiles, trustedProxies = [] }: ConnectionRoomParts,
): ConnectionRoom {
  const room = roomOf(openFiles);
  const isProxy = testNetworks(trustedProxies);
  const bySocket = new WeakMap<Socket, Connection>();
  /** Connections without a request, the one that has been idle longest first. */
  const idle = new Set<Connection>();
  const idleOf = new Map<string, number>();
  let taken = 0;
  let closed = 0;

  const rest = (connection: Connection): void => {
    idle.add(connection);
    idleOf.set(connection.address, (idleOf.get(connection.address) ?? 0) + 1);
  };
  const wake = (connection: Connection): void => {
    if (!idle.delete(connection)) return;
    const left = (idleOf.get(connection.address) ?? 1) - 1;
    if (left === 0) idleOf.delete(connection.address);
    else idleOf.set(connection.address, left);
  };
  /** Closes the connection that others can best do without, but for `newest`. False: there is none. */
  const closeOne = (newest: Connection | null): boolean => {
    let chosen: Connection | null = null;
    for (const connection of idle) {
      if (connection === newest) continue;
      chosen ??= connection;
      const isGreedy = (idleOf.get(connection.address) ?? 0) > room * addressShare;
      if (isGreedy && isProxy?.(connection.address) !== true) {
        chosen = connection;
        break;
      }
    }
    if (chosen === null) return false;
    release(chosen);
    chosen.socket.destroy();
    closed += 1;
    return true;
  };
  const release = (connection: Connection): void => {
    if (!bySocket.delete(connection.socket)) return;
    wake(connection);
    taken -= 1 + connection.running * requestFiles;
    connection.running = 0;
  };
  const makeRoom = (newest: Connection | null): void => {
    for (let isShort = taken > room; isShort; isShort = closeOne(newest) && taken > room);
  };

  server.prependListener('connection', (socket: Socket) => {
    const connection: Connection = { socket, address: socket.remoteAddress ?? '', running: 0 };
    bySocket.set(socket, connection);
    taken += 1;
    rest(connection);
    socket.on('close', () => release(connection));
    makeRoom(connection);
    if (taken <= room) return;
    // Every other connection is at work.
    release(connection);
    socket.destroy();
    closed += 1;
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = bySocket.get(socket);
    if (connection === undefined) return;
    wake(connection);
    connection.running += 1;
    taken += requestFiles;
    makeRoom(null);
    response.on('close', () => {
      if (!bySocket.has(socket) || connection.running === 0) return;
      connection.running -= 1;
      taken -= requestFiles;
      if (connection.running === 0) rest(connection);
    });
  });

  return {
    get isFull() {
      return taken > room;
    },
    get closed() {
      return closed;
    },
  };
}
