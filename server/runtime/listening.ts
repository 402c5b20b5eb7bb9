import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, isIPv6, Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Begins and ends listening so that no client that has connected is reset (DECISIONS.md, "The last place in the queue"). */

/** Time in which the queue of a listening socket is brought to its end. */
const maxStoppingMs = 2_000;

/** The address at which a process on this machine reaches a server that listens at `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/**
 * Throws what `listen` would throw when another server has the port. It does not listen itself: a client would take that
 * for a server that is ready. Another process can still take the port before this one listens.
 */
export async function checkPort({ host, port }: { host: string; port: number }): Promise<void> {
  const socket = connect({ host: reachable(host), port });
  try {
    await once(socket, 'connect');
  } catch {
    return;
  } finally {
    socket.destroy();
  }
  const message = `listen EADDRINUSE: address already in use ${isIPv6(host) ? `[${host}]` : host}:${port}`;
  throw Object.assign(new Error(message), { code: 'EADDRINUSE', syscall: 'listen' });
}

/**
 * Ends listening; connections stay open. Linux resets the connections that wait in the queue of a socket that is
 * closed, though their clients have connected. So the queue is shortened to one place, emptied, and its place taken by a
 * connection of our own in the same turn in which the socket is closed: until then the kernel answers no new client, and
 * the clients repeat their connect, which is then refused. Elsewhere, and when clients come too fast for two
 * seconds, the socket is closed as it is.
 */
export async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return;
  const address = server.address();
  const tables = await listeningTables();
  if (address !== null && typeof address === 'object' && tables !== null && shortenQueue(server)) {
    const until = performance.now() + maxStoppingMs;
    while (performance.now() < until) {
      // Accepts what waits: the event loop takes one connection in a turn.
      await nextTurn();
      const plug = connect({ host: reachable(address.address), port: address.port });
      plug.on('error', () => undefined);
      // `connect` begins in the next tick; the second one is still in the same turn of the event loop.
      const isEmpty = await new Promise<boolean>((resolve) => {
        process.nextTick(() =>
          process.nextTick(() => {
            // The tables of a busy machine are long, so they are read only when the connection has a place.
            const isAlone = isConnected(plug) && isOnlyInQueue(plug, address.port, tables);
            if (isAlone) closeSocket(server);
            resolve(isAlone);
          }),
        );
      });
      plug.destroy();
      if (isEmpty) return;
    }
  }
  closeSocket(server);
}

/** Node's HTTP server would also close the connections that are idle. */
function closeSocket(server: Server): void {
  Server.prototype.close.call(server);
}

/** The kernel's tables of this machine's TCP sockets; null where there are none. */
async function listeningTables(): Promise<string[] | null> {
  const paths = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
  try {
    await readFile(paths[0] ?? '');
    return paths;
  } catch {
    return null;
  }
}

/** Node has no public way to listen a second time, with which Linux changes the length of the queue. */
function shortenQueue(server: Server): boolean {
  const { _handle: handle } = server as Server & { _handle?: { listen?: (backlog: number) => number } };
  return typeof handle?.listen === 'function' && handle.listen(0) === 0;
}

/** Whether the kernel has connected it: the socket emits `connect` only in a later turn. */
function isConnected(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & { _handle?: { getpeername?: (name: object) => number } };
  return handle?.getpeername?.({}) === 0;
}

// States of `include/net/tcp_states.h`.
const established = '01';
const synReceived = '03';
const listening = '0A';

/**
 * Whether the connection is the only one in the queue of the port, and no handshake is under way: a client whose
 * handshake is answered takes itself for connected. The columns are those of proc_net_tcp.txt of the kernel.
 */
function isOnlyInQueue(plug: Socket, port: number, tables: readonly string[]): boolean {
  const hexadecimal = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');
  const at = `:${hexadecimal(port)}`;
  const from = `:${hexadecimal(plug.localPort ?? 0)}`;
  let queued = 0;
  let isFound = false;
  for (const table of tables) {
    for (const line of textOf(table).split('\n')) {
      const [, local = '', remote = '', state, queues = ''] = line.trim().split(/\s+/);
      if (local.endsWith(at) && state === listening) queued += Number.parseInt(queues.split(':')[1] ?? '', 16);
      if (local.endsWith(at) && state === synReceived) return false;
      if (local.endsWith(from) && remote.endsWith(at) && state === established) isFound = true;
    }
  }
  return isFound && queued === 1;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
