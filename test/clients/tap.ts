/** Recording proxies between a client, the server and the outside. */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** One request as a client sent it, and what came back. Kept in memory only, for as long as one run takes. */
export interface Call {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** 0 until the server has answered. */
  status: number;
  answer: string;
  /** Milliseconds since the tap was opened. */
  atMs: number;
}

export interface Tap {
  /** `http://127.0.0.1:PORT`, in the place of the server's. */
  url: string;
  calls: Call[];
  /** Milliseconds since it was opened. */
  now(): number;
  close(): Promise<void>;
}

/**
 * Stands between one client and the server and hands everything on as it is, so that what the client really asks for
 * can be counted. The server itself keeps no refused requests that could be counted there.
 */
export async function openTap(target: string): Promise<Tap> {
  const calls: Call[] = [];
  const openedAt = performance.now();
  const now = (): number => Math.round(performance.now() - openedAt);
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const call: Call = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: '',
      status: 0,
      answer: '',
      atMs: now(),
    };
    calls.push(call);
    const onward = request(
      { hostname, port, method: call.method, path: call.url, headers: incoming.headers },
      (answer) => {
        call.status = answer.statusCode ?? 0;
        outgoing.writeHead(call.status, answer.headers);
        // Headers must not wait for the first event: the server decides when they go out.
        outgoing.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          call.answer += chunk.toString('latin1');
        });
        answer.on('error', () => outgoing.destroy());
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.on('data', (chunk: Buffer) => {
      call.body += chunk.toString('latin1');
    });
    incoming.pipe(onward);
  });
  // A WebSocket is one call, whatever it carries.
  server.on('upgrade', ({ method = '', url = '', headers, rawHeaders }, socket, head: Buffer) => {
    const call: Call = { method, url, headers, body: '', status: 0, answer: '', atMs: now() };
    calls.push(call);
    const onward = connect({ host: hostname, port: Number(port) });
    const lines = Array.from(
      { length: rawHeaders.length / 2 },
      (_, at) => `${rawHeaders[at * 2]}: ${rawHeaders[at * 2 + 1]}`,
    );
    onward.write(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    onward.write(head);
    onward.on('data', (chunk: Buffer) => {
      call.answer += chunk.toString('latin1');
      call.status ||= Number(/^HTTP\/1\.1 (\d{3})/.exec(call.answer)?.[1] ?? 0);
    });
    for (const [from, to] of [
      [onward, socket],
      [socket, onward],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    now,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Everything outside this machine, for the clients: a proxy that notes what is asked for and refuses it. */
export interface Outside {
  url: string;
  /** Hosts that were asked for, in order. */
  asked: string[];
  close(): Promise<void>;
}

export async function openOutside(): Promise<Outside> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '');
    outgoing.writeHead(403).end();
  });
  server.on('connect', (incoming, socket) => {
    asked.push(incoming.url ?? '');
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
