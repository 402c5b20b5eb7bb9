/** The service on a coordinator of Citus with two workers: the promises that hold on PostgreSQL, through nodes that are killed. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import type { HostFinding } from '../../server/admin/doctor/finding.ts';
import { type Service, startService } from '../resilience/processes.ts';
import { post, postPatiently } from '../resilience/support.ts';
import { type ServerProcess, startServer } from '../start/server-process.ts';
import { createDirectory } from '../support/directory.ts';
import { startLoad } from '../support/load.ts';
import { type Nodes, startNodes } from './nodes.ts';
import {
  type Asked,
  crashSeconds,
  directions,
  expectNothingLost,
  killEverySeconds,
  neverOverspend,
  print,
  refuseDeleted,
} from './promises.ts';

const revocations = 1_000;

const directory = createDirectory('steyg-citus-');
const [, chat] = directions as [Asked, Asked, Asked];
let nodes: Nodes;
let service: Service;
let servers: [ServerProcess, ServerProcess];

beforeAll(async () => {
  nodes = await startNodes();
  service = await startService(await nodes.database('steyg'));
  // The first brings an empty database up to date.
  const first = await service.start('first');
  await first.ready();
  const second = await service.start('second');
  await second.ready();
  servers = [first, second];
});
afterAll(async () => {
  await service.close();
  await nodes.remove();
  await rm(directory, { recursive: true, force: true });
});

/**
 * Statements by node: those of the service's own sessions on the coordinator, and all that workers hear through it but Citus's own
 * rounds, which ask for deadlocks and for what a crash left prepared.
 */
function statements(): { coordinator: number; workers: number } {
  const count = (log: string, pattern: RegExp): number => log.match(pattern)?.length ?? 0;
  return {
    coordinator: count(nodes.coordinator.log(), /^steyg \w+ steyg LOG: {2}(execute|statement)/gm),
    workers: nodes.workers
      .map((worker) =>
        count(worker.log(), /^[^\n]* steyg LOG: {2}(execute|statement)(?![^\n]*(pg_prepared_xacts|waiting_pid))/gm),
      )
      .reduce((sum, each) => sum + each, 0),
  };
}

it('answers three protocols, streamed and whole, and no request has a statement on a worker', async () => {
  const customer = await service.customer();
  const before = statements();
  let requests = 0;
  for (const server of servers) {
    for (const each of directions) {
      for (const stream of [false, true]) {
        const response = await postPatiently(server, customer.secret, { ...each, stream }, '[[say morning]]');
        expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('morning')]);
        requests += 1;
      }
    }
  }
  await service.released();
  const rows = await service.rows([customer.accountId]);
  expect([...rows.values()]).toEqual(Array.from({ length: requests }, () => 1));
  expect(await service.broken()).toEqual([]);
  const after = statements();
  print('statements', {
    requests,
    coordinator: after.coordinator - before.coordinator,
    workers: after.workers - before.workers,
  });
  expect(after.coordinator).toBeGreaterThan(before.coordinator);
  expect(after.workers).toBe(before.workers);
});

it('two processes never spend more of one account than it was given', () => neverOverspend(service, servers));

it(`a deleted key that both processes hold money for is refused at the next request on each, ${revocations} times`, () =>
  refuseDeleted(service, servers, revocations));

it(`loses, doubles and overspends nothing while workers are killed and come back, for ${crashSeconds} s, and a process is killed beside them`, async () => {
  // Few enough that each process holds money in advance for their keys.
  const customers = await Promise.all(Array.from({ length: 3 }, () => service.customer('1000')));
  const spare = await service.start('spare');
  await spare.ready();
  const targets = [...servers, spare];
  const load = startLoad({ targets: () => targets.map(({ baseUrl }) => baseUrl), customers, perSecond: 20 });
  const kills = { workers: 0, processes: 1 };
  for (const began = performance.now(); performance.now() - began < crashSeconds * 1_000; kills.workers += 1) {
    const worker = kills.workers % 2 === 0 ? nodes.workers[0] : nodes.workers[1];
    await worker.kill();
    await pause((killEverySeconds * 1_000) / 2);
    await worker.start();
    await pause((killEverySeconds * 1_000) / 2);
  }
  const { rows: ahead } = await service.pool.query<{ n: number }>(
    'SELECT count(DISTINCT process_id)::int AS n FROM hold WHERE escrow',
  );
  const killedAt = load.results.length;
  targets.pop();
  await spare.kill();
  await pause(3_000);
  const results = await load.stop();
  await (await service.start('spare')).ready();
  await service.released();
  const faults = results.slice(0, killedAt).filter(({ fault }) => fault !== null);
  print('crashes', {
    requests: results.length,
    kills,
    holdingAhead: ahead[0]?.n,
    faults: results.filter(({ fault }) => fault !== null).length,
  });
  // The workers keep nothing that a request needs.
  expect(faults).toEqual([]);
  await expectNothingLost(service, results);
});

it('loses, doubles and overspends nothing when the coordinator is killed under load', async () => {
  const customers = await Promise.all(Array.from({ length: 3 }, () => service.customer('1000')));
  const load = startLoad({ targets: () => servers.map(({ baseUrl }) => baseUrl), customers, perSecond: 20 });
  await pause(3_000);
  await nodes.coordinator.kill();
  await nodes.coordinator.start();
  const backAt = load.results.length;
  await expect.poll(() => load.results.slice(backAt).filter(({ fault }) => fault === null).length).toBeGreaterThan(60);
  const results = await load.stop();
  await service.released();
  const faults = results.filter(({ fault }) => fault !== null);
  print('coordinator', { requests: results.length, faults: faults.length });
  await expectNothingLost(service, results);
});

/** What a start on an address prints as it ends. */
async function refusal(url: string): Promise<string> {
  const server = await startServer({ dataDir: join(directory, 'refused'), env: { DATABASE_URL: url } });
  expect(await server.exited).toBe(1);
  return server.errors;
}

async function examined(url: string): Promise<HostFinding | undefined> {
  let out = '';
  await runCommandLine(['doctor', '--json'], {
    env: { DATABASE_URL: url, DATA_DIR: directory },
    out: (text) => {
      out += text;
    },
    err: () => undefined,
  });
  const said = JSON.parse(out) as { findings?: HostFinding[]; error?: { findings: HostFinding[] } };
  return (said.findings ?? said.error?.findings ?? []).find(({ subject }) => subject === 'database');
}

it('refuses a worker, and a coordinator that was given a table of the service; the coordinator itself is good', async () => {
  const url = nodes.coordinator.url('steyg');
  expect(await examined(url)).toMatchObject({ state: 'good' });
  expect(await refusal(nodes.workers[0].url('steyg'))).toContain('DATABASE_URL leads to a worker of Citus.');
  expect(await examined(nodes.workers[1].url('steyg'))).toMatchObject({ state: 'bad' });
  const given = await nodes.database('given');
  const server = await startServer({ dataDir: join(directory, 'given'), env: { DATABASE_URL: given } });
  await server.ready();
  await server.kill();
  await nodes.coordinator.query('given', `SELECT create_distributed_table('usage_hour', 'account_id')`);
  expect(await refusal(given)).toContain('that have to stay on the coordinator (usage_hour).');
  expect(await examined(given)).toMatchObject({ state: 'bad', found: expect.stringContaining('(usage_hour)') });
  await nodes.coordinator.query('given', `SELECT undistribute_table('usage_hour')`);
  expect(await examined(given)).toMatchObject({ state: 'good' });
});

it('stops serving, and charges nobody wrongly, when a hand distributes a table while requests run', async () => {
  const customer = await service.customer('1000');
  const status = async (): Promise<number> => {
    const response = await post(servers[0], customer.secret, chat, '[[len 1]]');
    await response.text();
    return response.status;
  };
  expect(await status()).toBe(200);
  await nodes.coordinator.query('steyg', `SELECT create_distributed_table('hold', 'account_id')`);
  // What was held in advance may still pay for a few.
  await expect.poll(status).toBe(503);
  await nodes.coordinator.query('steyg', `SELECT undistribute_table('hold')`);
  await expect.poll(status).toBe(200);
  await service.released();
  expect(await service.broken()).toEqual([]);
});

it('says in its log why a migration waits for a worker that is away, and goes on by itself when it is back', async () => {
  const url = await nodes.database('late');
  await nodes.workers[1].kill();
  const server = await startServer({ dataDir: join(directory, 'late'), env: { DATABASE_URL: url } });
  await server.until(() => server.log.some(({ said }) => String(said).startsWith('connection to the remote node')));
  await expect.poll(() => server.status('/readyz')).toBe(503);
  await nodes.workers[1].start();
  await server.ready();
  await server.kill();
});
