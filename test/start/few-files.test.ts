import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** A process with few descriptors serves on, whatever strangers connect. */

let server: ServerProcess | null = null;
let database: TestDatabase | null = null;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.kill();
  await database?.drop();
});

/** A Node that may have so many files open. */
function limitedNode(openFiles: number): string {
  const path = join(createDirectory('steyg-node-'), 'node');
  writeFileSync(path, `#!/bin/sh\nulimit -n ${openFiles} && exec '${process.execPath}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

it('600 idle connections at a limit of 400 files end nothing and refuse nobody', async () => {
  database = await createDatabase();
  server = await startServer({
    dataDir: createDirectory('steyg-few-'),
    env: { DATABASE_URL: database.url, LOG_LEVEL: 'warn', PROBES: '0' },
    node: limitedNode(400),
  });
  await server.ready();
  expect(server.output).toContain('Only 400 files');
  const { port } = new URL(server.url);
  const key = /sk-\S+/.exec(server.output)?.[0] ?? '';
  const ask = async (): Promise<number> => {
    const response = await fetch(`${server?.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'sim-small', max_tokens: 16, messages: [{ role: 'user', content: 'ping' }] }),
    });
    await response.text();
    return response.status;
  };
  expect(await ask()).toBe(200);
  const statuses: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    for (let i = 0; i < 50; i += 1) {
      const socket = connect({ host: '127.0.0.1', port: Number(port) });
      socket.on('error', () => undefined);
      sockets.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    }
    statuses.push(await ask());
    statuses.push((await server.status('/healthz')) ?? 0);
  }
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(server.log.filter(({ msg }) => /uncaught/.test(String(msg)))).toEqual([]);
});
