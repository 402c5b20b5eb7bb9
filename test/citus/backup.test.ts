/** All disks of a Citus are lost, and the copies of all nodes come back as they were at one restore point. */

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { type Service, startService } from '../resilience/processes.ts';
import { postPatiently } from '../resilience/support.ts';
import { startLoad } from '../support/load.ts';
import { archiving, type Nodes, startNodes } from './nodes.ts';
import { directions, expectNothingLost, print } from './promises.ts';

let nodes: Nodes;
let service: Service;

beforeAll(async () => {
  nodes = await startNodes(['citus.shard_count = 8', 'citus.recover_2pc_interval = 5s', ...archiving]);
  service = await startService(await nodes.database('steyg'));
});
afterAll(async () => {
  await service.close();
  await nodes.remove();
});

const all = () => [nodes.coordinator, ...nodes.workers];

async function entriesOf(accountIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await service.pool.query<{ id: string }>(
    'SELECT request_id AS id FROM ledger_entry WHERE account_id = ANY ($1)',
    [accountIds],
  );
  return new Set(rows.map(({ id }) => id));
}

it('copies of the nodes, brought to one restore point, are a whole ledger, and the service works on', async () => {
  const first = await service.start('first');
  await first.ready();
  first.signal('SIGTERM');
  await first.exited;
  await runCommandLine(['distribute'], {
    env: { DATABASE_URL: nodes.coordinator.url('steyg'), DATA_DIR: service.dataDir('commands') },
    out: () => undefined,
    err: () => undefined,
  });
  const lost = await service.start('first');
  await lost.ready();
  const customers = await Promise.all(Array.from({ length: 8 }, () => service.customer('1000')));
  const accountIds = customers.map(({ accountId }) => accountId);
  const load = startLoad({ targets: () => [lost.baseUrl], customers, perSecond: 20 });
  await pause(3_000);
  for (const node of all()) {
    await node.backUp();
    await pause(500);
  }
  await pause(3_000);
  const before = await entriesOf(accountIds);
  await nodes.coordinator.query('steyg', `SELECT citus_create_restore_point('told')`);
  const after = await entriesOf(accountIds);
  await pause(2_000);
  const results = await load.stop();
  await service.released();
  const atEnd = await entriesOf(accountIds);
  for (const node of all()) {
    const [switched] = await node.query('postgres', 'SELECT pg_walfile_name(pg_switch_wal()) AS file');
    await expect
      .poll(async () => (await node.query('postgres', 'SELECT last_archived_wal AS file FROM pg_stat_archiver'))[0], {
        timeout: 30_000,
      })
      .toEqual(switched);
  }
  // The disks of the processes are lost as well.
  await lost.kill();

  await Promise.all(all().map((node) => node.restoreTo('told')));

  const restored = await entriesOf(accountIds);
  print('restored', {
    asked: results.length,
    before: before.size,
    restored: restored.size,
    after: after.size,
    atEnd: atEnd.size,
  });
  expect(before.size).toBeGreaterThan(50);
  expect(atEnd.size).toBeGreaterThan(after.size);
  expect([...before].filter((id) => !restored.has(id))).toEqual([]);
  // Nothing of later than the point.
  expect([...restored].filter((id) => !after.has(id))).toEqual([]);
  expect(await service.broken()).toEqual([]);

  const next = await service.start('next');
  await next.ready();
  const again = startLoad({ targets: () => [next.baseUrl], customers, perSecond: 20 });
  await pause(3_000);
  const served = await again.stop();
  await service.released();
  expect(served.map(({ fault }) => fault).filter((fault) => fault !== null)).toEqual([]);
  await expectNothingLost(service, served);
  const [chat] = directions;
  if (chat === undefined) throw new Error('no direction');
  const response = await postPatiently(next, customers[0]?.secret ?? '', chat, '[[say morning]]');
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('morning')]);
});
