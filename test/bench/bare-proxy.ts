/** A reverse proxy without any gateway function, as the floor of benchmarks. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';

export interface BareProxySettings {
  /** Origin that everything is forwarded to. */
  upstream: string;
  /** 0, the default, takes any free port. */
  port?: number;
  host?: string;
  /** Taken off the front of the path, so that `/api/v1/messages` reaches an upstream at `/v1/messages`. */
  prefix?: string;
}

export interface BareProxy {
  url: string;
  port: number;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * The floor under every gateway of this kind on this stack: `node:http` in front, undici behind, the body read as a
 * whole, the answer piped, and nothing else: no keys, no money, no counting. What the gateway costs is what it needs
 * beyond this.
 */
export async function startBareProxy(settings: BareProxySettings): Promise<BareProxy> {
  const { upstream, port = 0, host = '127.0.0.1', prefix = '/api' } = settings;
  const pool = new Pool(upstream, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const path = request.url ?? '/';
    const answer = await pool.request({
      path: path.startsWith(prefix) ? path.slice(prefix.length) : path,
      method: 'POST',
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      body: await bodyOf(request),
      signal: gone.signal,
    });
    const { 'content-type': type, 'content-length': length } = answer.headers;
    response.writeHead(answer.statusCode, {
      'content-type': String(type),
      ...(length === undefined ? {} : { 'content-length': String(length) }),
    });
    await pipeline(answer.body, response);
  };

  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, 4_096, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host}:${bound}`,
    port: bound,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
      await pool.destroy();
    },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      upstream: { type: 'string' },
      port: { type: 'string', default: '0' },
      prefix: { type: 'string', default: '/api' },
    },
  });
  if (values.upstream === undefined) throw new Error('--upstream http://host:port is required');
  const proxy = await startBareProxy({ upstream: values.upstream, port: Number(values.port), prefix: values.prefix });
  console.log(JSON.stringify({ url: proxy.url, port: proxy.port }));
}
