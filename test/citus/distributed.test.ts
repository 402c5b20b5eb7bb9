/** A filled database is distributed over two workers, and the service works there. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import type { DistributionPlan } from '../../server/database/distribution.ts';
import { everyProtocol } from '../gateway/support.ts';
import { type Service, startService } from '../resilience/processes.ts';
import { type Direction, post, postPatiently } from '../resilience/support.ts';
import type { ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { type Nodes, startNodes } from './nodes.ts';

const spread = ['ledger_entry', 'posting'];

const directions = everyProtocol.map((client) => ({ client, model: `on-${client.protocol}`, stream: false }));
type Asked = Pick<Direction, 'client' | 'model' | 'stream'>;
const [, chat] = directions as [Asked, Asked, Asked];
let nodes: Nodes;
let service: Service;
let servers: [ServerProcess, ServerProcess];

beforeAll(async () => {
  nodes = await startNodes(['citus.shard_count = 8']);
  service = await startService(await nodes.database('steyg'));
});
afterAll(async () => {
  await service.close();
  await nodes.remove();
});

/** A line of figures for the reader of a run. */
function print(name: string, figures: object): void {
  process.stdout.write(`${name} ${JSON.stringify(figures)}\n`);
}

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

  expect((await dryRun()).inTheWay).toEqual([expect.stringContaining('The service is running')]);
  expect(await command('distribute')).toMatchObject({ error: { code: 'not_distributable' } });
  first.signal('SIGTERM');
  await first.exited;

  const plan = await dryRun();
  expect(plan.inTheWay).toEqual([]);
  expect(placesOf(plan).sort(([a], [b]) => a.localeCompare(b))).toEqual(spread.map((table) => [table, false]));
  // What Citus itself says of the others.
  const why = new Map(plan.tables.map(({ table, why: reason }) => [table, reason]));
  expect(why.get('grant')).toContain('referenced table "account" must be');
  expect(why.get('notice')).toContain('cannot create constraint on "notice"');

  // Its connection breaks as soon as the first table is whole.
  const running = command('distribute');
  await expect
    .poll(
      async () => {
        const given = await nodes.coordinator.query(
          'steyg',
          `SELECT FROM pg_dist_partition WHERE logicalrelid = 'ledger_entry'::regclass`,
        );
        if (given.length > 0)
          await nodes.coordinator.query(
            'steyg',
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'steyg distribute'`,
          );
        return given.length;
      },
      { interval: 5 },
    )
    .toBe(1);
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

it('two processes never spend more of one account than it was given', async () => {
  const customer = await service.customer('0.01');
  const answers: number[] = [];
  while (answers.filter((status) => status === 402).length < 20) {
    const wave = Array.from({ length: 10 }, async (_none, i) => {
      const response = await post(i % 2 === 0 ? servers[0] : servers[1], customer.secret, chat, '[[len 200]]', {
        max_tokens: 400,
      });
      await response.text();
      return response.status;
    });
    answers.push(...(await Promise.all(wave)));
  }
  await service.released();
  const { rows } = await service.pool.query<{ amount: bigint; spent: bigint }>(
    'SELECT amount, spent FROM "grant" WHERE account_id = $1',
    [customer.accountId],
  );
  const { rows: charged } = await service.pool.query<{ sum: string }>(
    'SELECT sum(charged)::text AS sum FROM ledger_entry WHERE account_id = $1',
    [customer.accountId],
  );
  print('hard cap', { served: answers.filter((status) => status === 200).length, asked: answers.length });
  expect(answers).toContain(200);
  expect(String(rows[0]?.spent)).toBe(charged[0]?.sum);
  expect(Number(rows[0]?.spent)).toBeLessThanOrEqual(Number(rows[0]?.amount));
  expect(await service.broken()).toEqual([]);
});
