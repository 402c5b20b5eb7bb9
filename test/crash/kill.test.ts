import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Running, type Service, startService, stream } from '../resilience/processes.ts';
import { pause } from '../start/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** kill -9 with hundreds of running streams. Nothing lost, nothing charged twice, nothing held for ever. */

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

it('300 streams on two processes: one is killed, then the other, and both come back', async () => {
  const [first, second] = await Promise.all([service.start('first'), service.start('second')]);
  await Promise.all([first.ready(), second.ready()]);
  const customers = await Promise.all(Array.from({ length: 50 }, () => service.customer()));

  // Of every three one is done at once, one is killed in the middle whenever that is, one ends about then.
  const texts = ['[[len 5]]', '[[len 2000]][[speed 5]]', '[[len 30]][[speed 15]]'];
  const streams: Running[] = customers.flatMap((customer, i) =>
    Array.from({ length: 6 }, (_none, j) =>
      stream((i % 2 === 0 ? first : second).baseUrl, customer, texts[j % 3] ?? ''),
    ),
  );
  const on = (half: number): Running[] => streams.filter((_running, index) => Math.floor(index / 6) % 2 === half);
  await allBegun(streams);
  await reached(() => on(0).filter(({ finished }) => finished).length >= 60);
  await first.kill();
  await Promise.all(on(0).map(({ ended }) => ended));

  // The one that lives gives back what the killed one held; what that one had settled on its own disk is not lost.
  await reached(async () => (await heldBy(on(0))) === 0);
  expect(await second.status('/readyz')).toBe(200);
  await reached(() => on(1).filter(({ finished }) => finished).length >= 60);
  await second.kill();
  await Promise.all(streams.map(({ ended }) => ended));

  const left = spooled();
  const again = await Promise.all([service.start('first'), service.start('second')]);
  await Promise.all(again.map((started) => started.ready()));
  await service.released();
  await reached(() => spooled().every((file) => !left.includes(file)));

  const entries = await service.rows(customers.map(({ accountId }) => accountId));
  const finished = streams.filter(({ finished }) => finished);
  expect(finished.length).toBeGreaterThanOrEqual(120);
  expect(finished.length).toBeLessThan(300);
  expect(finished.filter(({ requestId }) => entries.get(requestId ?? '') !== 1)).toEqual([]);
  expect([...entries.values()].filter((count) => count !== 1)).toEqual([]);
  expect(await service.broken()).toEqual([]);
});

/** Files of settlements on both disks. */
function spooled(): string[] {
  return ['first', 'second'].flatMap((name) =>
    readdirSync(join(service.dataDir(name), 'spool')).filter((file) => file.endsWith('.ndjson')),
  );
}

async function heldBy(streams: readonly Running[]): Promise<number> {
  const { rows } = await service.pool.query('SELECT count(*)::int AS n FROM hold WHERE account_id = ANY ($1)', [
    [...new Set(streams.map(({ accountId }) => accountId))],
  ]);
  return rows[0].n;
}

async function allBegun(streams: readonly Running[]): Promise<void> {
  await reached(() => streams.every(({ requestId, text }) => requestId !== null && text.includes('data:')));
}

async function reached(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}
