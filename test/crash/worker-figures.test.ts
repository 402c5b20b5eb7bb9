/** Figures of several workers behind one port: each scrape has those of all. */

import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServerProcess, startServer } from '../start/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

const dataDir = createDirectory('steyg-figures-');
let database: TestDatabase;
let server: ServerProcess;

beforeAll(async () => {
  database = await createDatabase();
  server = await startServer({ dataDir, env: { DATABASE_URL: database.url, WORKERS: '3', PROBES: '0' } });
});
afterAll(async () => {
  server.signal('SIGTERM');
  await server.exited;
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** A scrape on a connection of its own, which reaches any of the workers. */
async function scrape(): Promise<string> {
  const response = await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } });
  return response.text();
}

/** The samples of one metric: the value for each worker. */
function samples(text: string, metric: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(metric));
  return Object.fromEntries(
    lines.map((line) => [/worker="(\d+)"/.exec(line)?.[1] ?? 'none', Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

it('have the sum of all requests in every scrape, whichever worker answers it', async () => {
  await server.ready();
  await expect.poll(async () => samples(await scrape(), 'gateway_ready{')).toEqual({ 1: 1, 2: 1, 3: 1 });
  const url = `${server.baseUrl}/v1/messages`;
  for (let request = 0; request < 12; request += 1) {
    const response = await fetch(url, { method: 'POST', headers: { connection: 'close' }, body: '{}' });
    expect(response.status).toBe(401);
    await response.text();
  }
  const sums: number[] = [];
  for (let turn = 0; turn < 9; turn += 1) {
    const perWorker = samples(await scrape(), 'gateway_requests_total{protocol="messages",model="none",status="401"');
    sums.push(Object.values(perWorker).reduce((sum, each) => sum + each, 0));
    // No worker did all of it: one worker's figures alone would not do.
    expect(Math.max(...Object.values(perWorker))).toBeLessThan(12);
  }
  expect(sums).toEqual(sums.map(() => 12));
});

it('have each metric once, as a scraper demands', async () => {
  const text = await scrape();
  const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(new Set(names).size).toBe(names.length);
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(new Set(series.map((line) => line.slice(0, line.lastIndexOf(' ')))).size).toBe(series.length);
});

it('are those of the living when a worker was killed', async () => {
  const [pid] = server.log.filter(({ pid: each }) => each !== server.pid).map(({ pid: each }) => Number(each));
  process.kill(pid ?? 0, 'SIGKILL');
  await expect
    .poll(async () => Object.values(samples(await scrape(), 'gateway_ready{')), { timeout: 60_000 })
    .toEqual([1, 1, 1]);
  expect(Object.keys(samples(await scrape(), 'gateway_ready{'))).toContain('4');
});
