import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Service, startService, stream } from '../resilience/processes.ts';
import { lives, pause, type ServerProcess, startServer } from '../start/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

/** A second signal breaks off what runs, and still leaves everything in order; a silent database costs one deadline. */

vi.setConfig({ testTimeout: 300_000 });

let database: TestDatabase;
let service: Service;
beforeAll(async () => {
  database = await createDatabase();
  service = await startService(database.url);
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

it.each([
  ['Ctrl-C twice', 'SIGINT', 'SIGINT', '1'],
  ['a closed terminal, then a service manager that loses patience', 'SIGHUP', 'SIGTERM', '1'],
  ['SIGTERM twice, with two workers', 'SIGTERM', 'SIGTERM', '2'],
] as const)('%s: ten cut streams have ten entries', async (_name, first, second, workers) => {
  const server = await service.start(`twice-${first}-${workers}`, { DRAIN_MS: '60000', WORKERS: workers });
  await server.ready();
  const customer = await service.customer();
  const running = Array.from({ length: 10 }, () => stream(server.baseUrl, customer, '[[len 2000]][[speed 20]]'));
  await reached(() => running.every(({ text }) => text.includes('w1"')));
  const before = performance.now();
  server.signal(first);
  await pause(1_300);
  server.signal(second);
  await server.exited;
  expect(performance.now() - before).toBeLessThan(25_000);
  await Promise.all(running.map(({ ended }) => ended));
  const next = await service.start(`twice-${first}-${workers}`);
  await next.ready();
  await service.released();
  await reached(async () => (await service.rows([customer.accountId])).size === 10);
  expect([...(await service.rows([customer.accountId])).values()]).toEqual(Array(10).fill(1));
  expect(await service.broken()).toEqual([]);
  await next.kill();
});

it('Ctrl-C twice while a stream runs takes the embedded PostgreSQL along', async () => {
  const dataDir = createDirectory('steyg-twice-');
  const server: ServerProcess = await startServer({ dataDir, env: { DRAIN_MS: '60000' } });
  await server.ready();
  await reached(() => server.output.includes('Bearer '));
  const secret = /Bearer (\S+)'/.exec(server.output)?.[1] ?? '';
  const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  const customer = { accountId: '', keyId: '', secret };
  const running = stream(server.baseUrl, customer, '[[len 2000]][[speed 20]]', { model: 'sim-medium' });
  await reached(() => running.text.includes('w1"'));
  server.signal('SIGINT');
  await pause(1_300);
  server.signal('SIGINT');
  await server.exited;
  expect(lives(postmaster)).toBe(false);
  await rm(dataDir, { recursive: true, force: true });
});

/** A way to the database that can go silent: what is open stays open, and no byte passes any more. */
async function startTunnel(url: string): Promise<{ url: string; silence(): void; close(): void }> {
  const to = new URL(url);
  const socketDirectory = to.searchParams.get('host');
  const pairs = new Set<[Socket, Socket]>();
  const server: Server = createServer((near) => {
    const far =
      socketDirectory === null
        ? connect({ host: to.hostname, port: Number(to.port || 5432) })
        : connect({ path: join(socketDirectory, `.s.PGSQL.${to.port || 5432}`) });
    pairs.add([near, far]);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const through = new URL(url);
  through.searchParams.delete('host');
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    silence() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
    },
  };
}

it('connections to the database that have gone silent: 503 within the deadline, and the service goes on by itself', async () => {
  const tunnel = await startTunnel(database.url);
  const server = await service.start('silent', { DATABASE_URL: tunnel.url, ADMISSION_TIMEOUT_MS: '1000' });
  await server.ready();
  const customers = await Promise.all(Array.from({ length: 8 }, () => service.customer()));
  const ask = async (secret: string): Promise<[number, number]> => {
    const startedAt = performance.now();
    const response = await fetch(`${server.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: 'on-chat-completions', messages: [{ role: 'user', content: 'ping' }] }),
    });
    await response.text();
    return [response.status, performance.now() - startedAt];
  };
  // Known keys and new ones: each finds another part of the way silent.
  for (const { secret } of customers.slice(0, 4)) expect((await ask(secret))[0]).toBe(200);
  tunnel.silence();
  const answers = await Promise.all(customers.map(({ secret }) => ask(secret)));
  expect(answers.filter(([status]) => status !== 200 && status !== 503)).toEqual([]);
  // The deadline, and as much again for a machine that is busy with other tests.
  expect(Math.max(...answers.map(([, ms]) => ms))).toBeLessThan(5_000);
  await reached(async () => (await ask(customers[5]?.secret ?? ''))[0] === 200);
  tunnel.close();
  await server.kill();
});

async function reached(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause();
}
