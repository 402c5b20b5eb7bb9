import { connect, type Socket } from 'node:net';
import { createMessageReader, requestBytes } from './http-reader.ts';
import type { Driven, Load } from './wrk.ts';

/**
 * Sends requests at a fixed rate, whatever the answers do (an open loop). Latency counts from the moment at which a request
 * was due: a server that stalls is charged for every request that came due meanwhile.
 */
export async function driveAtRate(load: Omit<Load, 'connections' | 'keys'> & { perSecond: number }): Promise<Driven> {
  const { url, path, headers, body, seconds, perSecond } = load;
  const bytes = requestBytes(url, path, headers, Buffer.from(body));
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const due: number[] = [];
  const latencies: number[] = [];
  let errors = 0;
  let sent = 0;

  const send = (connection: Connection, dueAt: number): void => {
    connection.dueAt = dueAt;
    connection.socket.write(bytes);
  };

  const open = (): Connection => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection: Connection = { socket, dueAt: 0, status: '' };
    const reader = createMessageReader({
      onHead: (head) => {
        connection.status = head.slice(9, 12);
      },
      onBody: () => undefined,
      onEnd: () => {
        if (connection.status.startsWith('2')) latencies.push(performance.now() - connection.dueAt);
        else errors += 1;
        const next = due.shift();
        if (next === undefined) idle.push(connection);
        else send(connection, next);
      },
    });
    socket.on('data', (data) => reader.push(data));
    socket.on('error', () => {
      errors += 1;
    });
    socket.on('close', () => all.delete(connection));
    all.add(connection);
    return connection;
  };

  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const total = Math.floor(seconds * perSecond);
  await new Promise<void>((resolve) => {
    const tick = (): void => {
      const now = performance.now();
      const until = Math.min(total, Math.floor(((now - startedAt) / 1_000) * perSecond) + 1);
      for (; sent < until; sent += 1) {
        const dueAt = startedAt + (sent / perSecond) * 1_000;
        const connection = idle.pop() ?? (all.size < maxConnections ? open() : undefined);
        if (connection === undefined) due.push(dueAt);
        else send(connection, dueAt);
      }
      if (now < endsAt) setTimeout(tick, 1);
      else setTimeout(resolve, 500);
    };
    tick();
  });
  for (const { socket } of all) socket.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    requests: latencies.length,
    perSecond: latencies.length / seconds,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    // A request that was due and never answered is an error, too.
    errors: errors + Math.max(0, sent - latencies.length - errors),
  };
}

interface Connection {
  socket: Socket;
  dueAt: number;
  status: string;
}

const maxConnections = 256;
