/** A filled database is distributed over two workers, and the service works there. */

import { randomUUID } from 'node:crypto';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { readShardMap } from '../../server/billing/lane/shard-map.ts';
import type { DistributionPlan } from '../../server/database/distribution.ts';
import { migrate, migrationsDirectory } from '../../server/database/migrate.ts';
import { seedAccounts, seedEntries } from '../bench/seed.ts';
import { type Service, startService } from '../resilience/processes.ts';
import { postPatiently } from '../resilience/support.ts';
import type { ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { type LoadResult, startLoad } from '../support/load.ts';
import { type Node, type Nodes, startNodes } from './nodes.ts';
import {
  crashSeconds,
  directions,
  expectNothingLost,
  killEverySeconds,
  neverOverspend,
  print,
  refuseDeleted,
} from './promises.ts';

const spread = ['ledger_entry', 'posting'];
/** Many in the long run. */
const revocations = crashSeconds < 600 ? 50 : 1_000;

let nodes: Nodes;
let service: Service;
let servers: [ServerProcess, ServerProcess];
/** Customers by the worker that has their entries. */
let customersAt: [Customer[], Customer[]];
let triggersBefore: unknown[];

beforeAll(async () => {
  nodes = await startNodes([
    'citus.shard_count = 8',
    // What a worker had prepared when it died is settled sooner than after a minute.
    'citus.recover_2pc_interval = 10s',
  ]);
  service = await startService(await nodes.database('steyg'));
});
afterAll(async () => {
  await service.close();
  await nodes.remove();
});

async function command(...words: string[]): Promise<Record<string, unknown>> {
  let out = '';
  await runCommandLine([...words, '--json'], {
    env: { DATABASE_URL: nodes.coordinator.url('steyg'), DATA_DIR: service.dataDir('commands') },
    out: (text) => {
      out += text;
    },
    err: () => undefined,
  });
  return JSON.parse(out) as Record<string, unknown>;
}

/** Which tables of the plan lie where they belong. */
const placesOf = ({ tables }: DistributionPlan): [string, boolean][] =>
  tables.filter(({ place }) => place === 'shards').map(({ table, isThere }): [string, boolean] => [table, isThere]);

async function dryRun(): Promise<DistributionPlan> {
  return (await command('distribute', '--dry-run')) as unknown as DistributionPlan;
}

/** Rows of a table by the worker on which they lie. */
async function rowsOnWorkers(table: string): Promise<number[]> {
  const { rows } = await service.pool.query<{ rows: number }>(
    `SELECT sum(r.result::int)::int AS rows FROM run_command_on_shards($1, 'SELECT count(*) FROM %s') AS r
     JOIN pg_dist_placement USING (shardid) GROUP BY groupid ORDER BY groupid`,
    [table],
  );
  return rows.map(({ rows: count }) => count);
}

async function askInEveryWay(server: ServerProcess, customer: Customer): Promise<number> {
  let requests = 0;
  for (const each of directions) {
    for (const stream of [false, true]) {
      const response = await postPatiently(server, customer.secret, { ...each, stream }, '[[say morning]]');
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('morning')]);
      requests += 1;
    }
  }
  return requests;
}

it('is refused while the service runs, goes on where it was killed, and takes what is there along', async () => {
  const first = await service.start('first');
  await first.ready();
  const customers = await Promise.all(Array.from({ length: 4 }, () => service.customer('10')));
  for (const customer of customers) await askInEveryWay(first, customer);
  await service.released();
  const before = await service.rows(customers.map(({ accountId }) => accountId));
  expect(before.size).toBe(24);
  // Months that are over, to be archived later.
  await seedAccounts(service.pool, 10);
  await seedEntries(service.pool, { accounts: 10, from: 0, to: 2_000, total: 2_000, days: 150 });

  expect((await dryRun()).inTheWay).toEqual([expect.stringContaining('The service is running')]);
  expect(await command('distribute')).toMatchObject({ error: { code: 'not_distributable' } });
  first.signal('SIGTERM');
  await first.exited;

  triggersBefore = await triggersIn();
  const plan = await dryRun();
  expect(plan.inTheWay).toEqual([]);
  expect(placesOf(plan).sort(([a], [b]) => a.localeCompare(b))).toEqual(spread.map((table) => [table, false]));
  // What Citus itself says of the others.
  const why = new Map(plan.tables.map(({ table, why: reason }) => [table, reason]));
  expect(why.get('grant')).toContain('referenced table "account" must be');
  expect(why.get('notice')).toContain('cannot create constraint on "notice"');

  // Its connection breaks when the first table is whole and the second waits.
  const holder = await service.pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE posting IN ROW SHARE MODE');
  const running = command('distribute');
  await expect
    .poll(
      async () => {
        const waiting = await nodes.coordinator.query(
          'steyg',
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'steyg distribute' AND wait_event_type = 'Lock'`,
        );
        return waiting.length;
      },
      { interval: 20 },
    )
    .toBe(1);
  await holder.query('ROLLBACK');
  holder.release();
  expect(await running).toHaveProperty('error');
  expect(placesOf(await dryRun())).toContainEqual(['posting', false]);
  const refused = await service.start('refused');
  expect(await refused.exited).toBe(1);
  expect(refused.errors).toContain('The distribution of this database was begun and is not finished');

  expect(await command('distribute')).toEqual({ distributed: ['posting'] });
  expect(await command('distribute')).toEqual({ distributed: [] });
  expect(await service.rows(customers.map(({ accountId }) => accountId))).toEqual(before);
  const onWorkers = await rowsOnWorkers('ledger_entry');
  const { rows } = await service.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM ledger_entry');
  print('distributed', { entries: rows[0]?.n, onWorkers });
  // Probes have entries, too.
  expect(onWorkers.reduce((sum, each) => sum + each, 0)).toBe(rows[0]?.n);
  expect(await service.broken()).toEqual([]);
});

it('then answers three protocols, streamed and whole; what grows with requests is written on the workers', async () => {
  const started = await Promise.all(['first', 'second'].map((name) => service.start(name)));
  await Promise.all(started.map((server) => server.ready()));
  servers = started as [ServerProcess, ServerProcess];
  customersAt = await customersByWorker(3);
  const customers = await Promise.all(Array.from({ length: 4 }, () => service.customer('10')));
  const before = await rowsOnWorkers('ledger_entry');
  let requests = 0;
  for (const [index, customer] of customers.entries()) {
    requests += await askInEveryWay(index % 2 === 0 ? servers[0] : servers[1], customer);
  }
  await service.released();
  const after = await rowsOnWorkers('ledger_entry');
  print('entries by worker', { requests, before, after });
  expect(
    after.reduce((sum, each) => sum + each, 0) - before.reduce((sum, each) => sum + each, 0),
  ).toBeGreaterThanOrEqual(requests);
  const entries = await service.rows(customers.map(({ accountId }) => accountId));
  expect([...entries.values()]).toEqual(Array.from({ length: requests }, () => 1));
  expect(await service.broken()).toEqual([]);
});

it('two processes never spend more of one account than it was given', () => neverOverspend(service, servers));

it(`a deleted key that both processes hold money for is refused at the next request on each, ${revocations} times`, () =>
  refuseDeleted(service, servers, revocations));

it('knows the node of an account as Citus does', async () => {
  const accounts = Array.from({ length: 200 }, () => randomUUID());
  const { rows } = await service.pool.query<{ id: string; node: number }>(
    `SELECT id, (SELECT groupid FROM pg_dist_placement WHERE shardid = get_shard_id_for_distribution_column('ledger_entry', id)) AS node
     FROM unnest($1::uuid[]) AS asked (id)`,
    [accounts],
  );
  const map = await readShardMap(service.pool);
  expect(new Set(rows.map(({ node }) => node)).size).toBe(2);
  expect(accounts.map((id) => map.nodeOf(id))).toEqual(rows.map(({ node }) => node));
});

/** The port of the worker that has the entries of an account. */
async function workerOf(accountId: string): Promise<number> {
  const { rows } = await service.pool.query<{ port: number }>(
    `SELECT nodeport AS port FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
     WHERE shardid = get_shard_id_for_distribution_column('ledger_entry', $1::uuid)`,
    [accountId],
  );
  return rows[0]?.port ?? 0;
}

async function customersByWorker(each: number): Promise<[Customer[], Customer[]]> {
  const [one] = nodes.workers;
  const found: [Customer[], Customer[]] = [[], []];
  while (found.some(({ length }) => length < each)) {
    const customer = await service.customer('1000');
    const those = (await workerOf(customer.accountId)) === one.port ? found[0] : found[1];
    if (those.length < each) those.push(customer);
  }
  return found;
}

/** Requests of customers of both workers while something happens to the first. */
async function loadWhile(
  happens: (passed: () => number) => Promise<void>,
): Promise<{ ofThis: LoadResult[]; ofOther: LoadResult[]; all: LoadResult[] }> {
  const [these, others] = customersAt;
  const load = startLoad({
    targets: () => servers.map(({ baseUrl }) => baseUrl),
    customers: [...these, ...others],
    perSecond: 20,
  });
  const began = performance.now();
  await happens(() => performance.now() - began);
  const all = await load.stop();
  await service.released();
  const of = (customers: readonly Customer[]): LoadResult[] =>
    all.filter(({ accountId }) => customers.some((customer) => customer.accountId === accountId));
  return { ofThis: of(these), ofOther: of(others), all };
}

const faultsOf = (results: readonly LoadResult[]): string[] =>
  results.map(({ fault }) => fault).filter((fault) => fault !== null);

/** Its accounts are served again. */
async function servedAgain(customers: readonly Customer[]): Promise<void> {
  for (const server of servers) {
    for (const customer of customers) {
      const response = await postPatiently(
        server,
        customer.secret,
        directions[1] as (typeof directions)[number],
        '[[len 1]]',
      );
      expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    }
  }
}

it.each([
  ['is killed', (worker: Node) => worker.kill(), (worker: Node) => worker.start()],
  ['hangs', (worker: Node) => worker.signal('SIGSTOP'), (worker: Node) => worker.signal('SIGCONT')],
] as const)(
  'a worker that %s keeps back the settlements of its accounts, and refuses their requests, and no others',
  async (how, leave, comeBack) => {
    const [these] = customersAt;
    await servedAgain(customersAt.flat());
    const away = { from: 0, to: 0 };
    const { ofThis, ofOther, all } = await loadWhile(async (passed) => {
      await pause(3_000);
      away.from = passed();
      await leave(nodes.workers[0]);
      await pause(25_000);
      away.to = passed();
      await comeBack(nodes.workers[0]);
      await servedAgain(these);
    });
    const meanwhile = ({ beganAt }: LoadResult): boolean => beganAt > away.from && beganAt < away.to;
    const refused = ofThis.filter(({ status }) => status === 503);
    print(`a worker that ${how}`, {
      ofOther: { asked: ofOther.length, meanwhile: ofOther.filter(meanwhile).length, faults: faultsOf(ofOther).length },
      ofThis: {
        asked: ofThis.length,
        meanwhile: ofThis.filter(meanwhile).length,
        servedMeanwhile: ofThis.filter((result) => meanwhile(result) && result.fault === null).length,
        refused: refused.length,
      },
    });
    expect(faultsOf(ofOther)).toEqual([]);
    expect(refused.length).toBeGreaterThan(0);
    // Nothing breaks: an answer that began ends, and a request is served or refused.
    expect(faultsOf(ofThis).filter((fault) => !fault.includes('docs/errors/unavailable'))).toEqual([]);
    await expectNothingLost(service, all);
  },
);

it(`loses, doubles and overspends nothing while workers and processes are killed and come back, for ${crashSeconds} s`, async () => {
  let running: ServerProcess[] = [...servers];
  const load = startLoad({
    targets: () => running.map(({ baseUrl }) => baseUrl),
    customers: customersAt.flat(),
    perSecond: 20,
  });
  const kills = { workers: 0, processes: 0 };
  for (const began = performance.now(); performance.now() - began < crashSeconds * 1_000; kills.workers += 1) {
    const worker = nodes.workers[kills.workers % 2] as Node;
    await worker.kill();
    await pause((killEverySeconds * 1_000) / 4);
    // Beside a worker that is away, and beside one that has just come back.
    const index = Math.floor(kills.workers / 2) % 2;
    if (kills.workers % 2 === 1) await worker.start();
    const old = servers[index] as ServerProcess;
    running = running.filter((server) => server !== old);
    await old.kill();
    kills.processes += 1;
    const next = await service.start(index === 0 ? 'first' : 'second');
    servers[index] = next;
    await pause((killEverySeconds * 1_000) / 4);
    if (kills.workers % 2 === 0) await worker.start();
    await next.ready();
    running = [...running, next];
    // A start takes a part of the time.
    await pause(began + (kills.workers + 1) * killEverySeconds * 1_000 - performance.now());
  }
  const results = await load.stop();
  await service.released();
  const served = results.filter(({ fault }) => fault === null).length;
  const refused = results.filter(({ status }) => status === 503).length;
  print('crashes', { requests: results.length, served, refused, broken: results.length - served - refused, kills });
  expect(served).toBeGreaterThan(crashSeconds);
  await expectNothingLost(service, results);
});

it('a month leaves and comes back while requests run, and no request notices', async () => {
  const dry = await command('ledger', 'archive', '--before', '9999-12', '--dry-run');
  const [month, next] = dry['months'] as string[];
  const archives = service.dataDir('archives');
  const entries = async (): Promise<number> => {
    const { rows } = await service.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM ledger_entry WHERE key_id IN (SELECT id FROM api_key WHERE name = 'scale')`,
    );
    return rows[0]?.n ?? 0;
  };
  const whole = await entries();
  const seen = { times: 0, archivedEntries: 0, slowestMs: 0, asked: 0 };
  await servedAgain(customersAt.flat());
  const { all } = await loadWhile(async () => {
    for (; seen.times < 3; seen.times += 1) {
      await pause(2_000);
      const archived = await command('ledger', 'archive', '--before', next ?? '', '--to', archives, '--unclosed');
      expect(archived).toMatchObject({ archived: [{ month }] });
      seen.archivedEntries = whole - (await entries());
      expect(await command('ledger', 'restore', join(archives, `ledger-${month}`))).toMatchObject({ month });
      expect(await entries()).toBe(whole);
    }
  });
  seen.asked = all.length;
  seen.slowestMs = Math.round(Math.max(...all.map(({ beganAt, endedAt }) => endedAt - beganAt)));
  print('a month', seen);
  expect(seen.archivedEntries).toBeGreaterThan(0);
  expect(faultsOf(all)).toEqual([]);
  await expectNothingLost(service, all);
});

it('a column comes to the ledger on the shards and goes again while processes from before and after it serve', async () => {
  const folder = service.dataDir('migrations');
  await cp(migrationsDirectory, folder, { recursive: true });
  const apply = async (name: string, script: string): Promise<void> => {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'migration.sql'), script);
    expect(await migrate({ url: nodes.coordinator.url('steyg'), directory: folder })).toEqual([name]);
  };
  await servedAgain(customersAt.flat());
  const expanded = await loadWhile(async () => {
    await pause(2_000);
    await apply(
      '29990101000000_expand',
      `ALTER TABLE ledger_entry ADD COLUMN trial bigint NOT NULL DEFAULT 0 CONSTRAINT trial_not_negative CHECK (trial >= 0);
       ALTER TABLE posting ADD COLUMN trial text;
       CREATE INDEX IF NOT EXISTS posting_trial ON posting (account_id, request_id, kind);`,
    );
    await pause(3_000);
  });
  // A process of the version that knows the column.
  servers[1].signal('SIGTERM');
  await servers[1].exited;
  servers[1] = await service.start('second');
  await servers[1].ready();
  await servedAgain(customersAt.flat());
  const contracted = await loadWhile(async () => {
    await pause(2_000);
    await apply(
      '29990102000000_contract',
      `DROP INDEX posting_trial;
       ALTER TABLE posting DROP COLUMN trial;
       ALTER TABLE ledger_entry DROP COLUMN trial;
       ALTER TABLE ledger_entry ADD COLUMN another bigint;`,
    );
    await pause(3_000);
  });
  const all = [...expanded.all, ...contracted.all];
  print('a migration', {
    asked: all.length,
    faults: [faultsOf(expanded.all).length, faultsOf(contracted.all).length],
    slowestMs: Math.round(Math.max(...all.map(({ beganAt, endedAt }) => endedAt - beganAt))),
  });
  expect(faultsOf(all)).toEqual([]);
  // In the place of the one that went, what it had is not taken for its value.
  expect(await service.pool.query('SELECT FROM ledger_entry WHERE another IS NOT NULL')).toHaveProperty('rowCount', 0);
  await expectNothingLost(service, all);
});

it('a standby that takes a worker’s place has everything that was settled, and its accounts are served again', async () => {
  const [worker] = nodes.workers;
  const standby = await worker.standby();
  const { ofOther, ofThis, all } = await loadWhile(async () => {
    await pause(5_000);
    await worker.kill();
    await pause(3_000);
    await standby.query('postgres', 'SELECT pg_promote()');
    await nodes.coordinator.query(
      'steyg',
      `SELECT citus_update_node(nodeid, '127.0.0.1', ${standby.port}) FROM pg_dist_node WHERE nodeport = ${worker.port}`,
    );
    await servedAgain(customersAt.flat());
  });
  print('a standby', {
    ofOther: { asked: ofOther.length, faults: faultsOf(ofOther).length },
    ofThis: { asked: ofThis.length, refused: ofThis.filter(({ status }) => status === 503).length },
  });
  expect(faultsOf(ofThis).filter((fault) => !fault.includes('docs/errors/unavailable'))).toEqual([]);
  await expectNothingLost(service, all);
});

/** The triggers of the tables that were on shards, as the migrations leave them. */
const triggersIn = async (): Promise<unknown[]> =>
  nodes.coordinator.query(
    'steyg',
    `SELECT tgrelid::regclass::text AS table, pg_get_triggerdef(oid) AS definition, tgenabled
     FROM pg_trigger WHERE NOT tgisinternal AND (tgrelid IN ('posting'::regclass, 'ledger_entry'::regclass) OR tgrelid::regclass::text LIKE 'ledger_partition.%') ORDER BY 1, 2`,
  );

it('comes back to the coordinator with every row and rule, while the service is stopped', async () => {
  expect(await command('distribute', '--back')).toMatchObject({ error: { code: 'not_distributable' } });
  for (const server of servers) {
    server.signal('SIGTERM');
    await server.exited;
  }
  const { rows: before } = await service.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM ledger_entry');
  expect(await command('distribute', '--back')).toEqual({ gathered: ['posting', 'ledger_entry'] });
  expect(await command('distribute', '--back')).toEqual({ gathered: [] });
  const { rows: after } = await service.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM ledger_entry');
  expect(after).toEqual(before);
  expect(await triggersIn()).toEqual(triggersBefore);
  expect(await service.broken()).toEqual([]);
  const server = await service.start('first');
  await server.ready();
  const customer = await service.customer('10');
  await askInEveryWay(server, customer);
  await service.released();
  expect(await service.broken()).toEqual([]);
  await expect(service.pool.query('DELETE FROM posting WHERE account_id = $1', [customer.accountId])).rejects.toThrow(
    'append-only',
  );
});
