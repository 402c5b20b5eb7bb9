/** Processes that are replaced one by one under load, and when a process can be connected to. */

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Service, startService } from '../resilience/processes.ts';
import { type ServerProcess, startServer } from '../start/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { startLoad } from '../support/load.ts';

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

it('a server of one process and one of two workers are replaced under load: no request fails that connected', async () => {
  const kinds = { left: {}, right: { WORKERS: '2' } };
  const start = (name: keyof typeof kinds, port?: number): Promise<ServerProcess> =>
    service.start(name, { ...kinds[name], DRAIN_MS: '20000', DRAIN_IDLE_MS: '5000' }, port);
  const servers = { left: await start('left'), right: await start('right') };
  await Promise.all([servers.left.ready(), servers.right.ready()]);
  const customers = await Promise.all([service.customer('1000'), service.customer('1000')]);
  const load = startLoad({
    targets: () => Object.values(servers).map((each) => each.baseUrl),
    customers,
    perSecond: 25,
  });
  await pause(500);
  for (const name of ['left', 'right'] as const) {
    const old = servers[name];
    old.signal('SIGTERM');
    expect(await old.exited).toBe(0);
    servers[name] = await start(name, Number(new URL(old.url).port));
    expect(await firstReadiness(servers[name])).toBe(200);
    await pause(500);
  }
  const results = await load.stop();
  expect(results.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(load.repeated).toBeGreaterThan(0);
  for (const server of Object.values(servers)) server.signal('SIGTERM');
  for (const server of Object.values(servers)) expect(await server.exited).toBe(0);
  await service.released();
  const rows = await service.rows(customers.map(({ accountId }) => accountId));
  expect(new Set(rows.keys())).toEqual(new Set(results.map(({ requestId }) => requestId)));
  expect(new Set(rows.values())).toEqual(new Set([1]));
  expect(await service.broken()).toEqual([]);
});

/** What `/readyz` says to the first client that connects. */
async function firstReadiness(server: ServerProcess): Promise<number | null> {
  for (;;) {
    const status = await server.status('/readyz');
    if (status !== null) return status;
    await pause(5);
  }
}

it('a process whose database is away can be connected to, and says that it is not ready', async () => {
  const absent = await freePort();
  const server = await startServer({
    dataDir: service.dataDir('early'),
    env: {
      DATABASE_URL: `postgresql://nobody@127.0.0.1:${absent}/none`,
      SECRET_KEY: Buffer.alloc(32).toString('base64'),
    },
  });
  try {
    while ((await server.status('/healthz')) === null) await pause(20);
    expect(await server.status('/healthz')).toBe(200);
    expect(await server.status('/readyz')).toBe(503);
    expect(await server.status('/api/v1/models')).toBe(503);
  } finally {
    server.signal('SIGTERM');
    expect(await server.exited).toBe(0);
  }
});
