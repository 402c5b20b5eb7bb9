/** The service behind PgBouncer in each of its modes. */

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../resilience/processes.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startLoad } from '../support/load.ts';
import { type Bouncer, startBouncer } from './pgbouncer.ts';

let database: TestDatabase;
let service: Service;
const bouncers: Bouncer[] = [];
beforeAll(async () => {
  database = await createDatabase();
  service = await startService(database.url);
});
afterAll(async () => {
  await service.close();
  await Promise.all(bouncers.map((bouncer) => bouncer.close()));
  await database.drop();
});

async function bouncer(mode: Parameters<typeof startBouncer>[1]): Promise<Bouncer> {
  const started = await startBouncer(database.url, mode);
  bouncers.push(started);
  return started;
}

it.each([
  ['session', 'one process', {}],
  ['transaction', 'one process and a direct address', { DATABASE_DIRECT_URL: true }],
  ['transaction', 'two workers and a direct address', { DATABASE_DIRECT_URL: true, WORKERS: '2' }],
] as const)('%s mode, %s: each request is answered and settled once', async (mode, _what, more) => {
  const { url } = await bouncer(mode);
  const { DATABASE_DIRECT_URL: isDirect, ...env } = { DATABASE_DIRECT_URL: false, ...more };
  const server = await service.start(`behind-${mode}-${Object.keys(env).length}`, {
    DATABASE_URL: url,
    ...(isDirect ? { DATABASE_DIRECT_URL: database.url } : {}),
    ...env,
  });
  await server.ready();
  const customers = await Promise.all([service.customer('1000'), service.customer('1000')]);
  const load = startLoad({ targets: () => [server.baseUrl], customers, perSecond: 20 });
  // The control plane's queries share PgBouncer with them.
  for (let i = 0; i < 20; i += 1) {
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ plans { id name } }' }),
    });
    expect(await answer.json()).toMatchObject({ data: { plans: expect.any(Array) } });
    expect(await server.status('/status.json')).toBe(200);
    await pause(200);
  }
  const results = await load.stop();
  expect(results.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(results.length).toBeGreaterThan(50);
  server.signal('SIGTERM');
  expect(await server.exited).toBe(0);
  await service.released();
  const rows = await service.rows(customers.map(({ accountId }) => accountId));
  expect(new Set(rows.keys())).toEqual(new Set(results.map(({ requestId }) => requestId)));
  expect(new Set(rows.values())).toEqual(new Set([1]));
  expect(await service.broken()).toEqual([]);
});

it.each([
  ['transaction', 'without a direct address', {}, 'set DATABASE_DIRECT_URL to PostgreSQL itself'],
  [
    'transaction',
    'as the direct address',
    { DATABASE_DIRECT_URL: true },
    'DATABASE_DIRECT_URL leads to a pooler in transaction mode',
  ],
  ['statement', 'without a direct address', {}, 'DATABASE_URL leads to a pooler in statement mode'],
] as const)('%s mode %s ends the start with a sentence', async (mode, _what, more, sentence) => {
  const { url } = await bouncer(mode);
  const other = await bouncer(mode);
  const server = await service.start(`refused-${mode}-${Object.keys(more).length}`, {
    DATABASE_URL: url,
    ...('DATABASE_DIRECT_URL' in more ? { DATABASE_DIRECT_URL: other.url } : {}),
  });
  expect(await server.exited).toBe(1);
  expect(server.errors).toContain(sentence);
  expect(server.errors).not.toContain('    at ');
});

it('statement mode beside a direct address ends the start with a sentence', async () => {
  const { url } = await bouncer('statement');
  const server = await service.start('refused-beside', { DATABASE_URL: url, DATABASE_DIRECT_URL: database.url });
  expect(await server.exited).toBe(1);
  expect(server.errors).toContain('DATABASE_URL leads to a pooler in statement mode');
});
