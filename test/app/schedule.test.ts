/** The schedule: which jobs run, and what triggers them early. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { createSchedule } from '../../server/app/schedule.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { createProbing } from '../../server/uptime/probes/probing.ts';
import { createProbeAccount } from '../../server/uptime/probes/round.ts';
import { createUptime } from '../../server/uptime/uptime.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('a start probes at once, an event is delivered without waiting for the clock, and every job is known to it', async () => {
  const { pool } = database;
  const delivered = Promise.withResolvers<void>();
  const probed = Promise.withResolvers<void>();
  const uptime = createUptime({ pool });
  const schedule = createSchedule({
    databaseUrl: database.url,
    probes: true,
    probing: createProbing({ pool }),
    probeAccount: createProbeAccount({ accounts: createAccounts({ pool }), keys: createKeys({ pool }) }),
    publicUrl: 'http://127.0.0.1:9',
    ownData: { erasures: async () => 0, mails: async () => {} },
    retention: { apply: async () => ({ sessions: 0, auditEntries: 0, attributions: 0, batchLines: 0 }) },
    sales: { orders: async () => {}, orderMails: async () => 0, invoices: async () => 0 },
    transfers: createTransfers({ pool, accountNumbers: null }),
    transferSource: null,
    uptime: { ...uptime, endAbandoned: async () => probed.resolve() },
    people: { sweep: async () => undefined },
    notices: { check: async () => 0, deliverDue: async () => 0, prune: async () => {}, tellBills: async () => {} },
    books: { examineBills: async () => [] },
    mismatchMails: { sendMails: async () => 0 },
    webhooks: {
      deliverDue: async () => {
        delivered.resolve();
        return 0;
      },
      prune: async () => {},
    },
    log: { warn() {} },
  });
  await schedule.start();
  await probed.promise;
  for (let i = 0; i < 5; i++) schedule.webhooksDue();
  await delivered.promise;
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM pgboss.schedule ORDER BY key');
  expect(rows.map(({ key }) => key)).toEqual([
    'alarms',
    'bills',
    'erasures',
    'invoices',
    'notices',
    'order-mails',
    'orders',
    'people',
    'probes',
    'prune',
    'reconciliation',
    'webhooks',
  ]);
  await schedule.close();
});
