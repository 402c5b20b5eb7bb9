import { randomUUID } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { startSweep } from '../../server/billing/upkeep/sweep.ts';
import { migrate, migrationsDirectory, readMigrations } from '../../server/database/migrate.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { addCustomer, addModel, type Customer, openLedger, quiet } from './support.ts';

/** The last migration of the version before escrows. */
const lastBefore = '20261121160000_model_efforts';
const amount = 1_800_000_000n;

/** A database as the version before escrows leaves it. */
async function before(): Promise<TestDatabase> {
  const db = await createDatabase({ migrated: false });
  const directory = createDirectory('steyg-migrations-');
  for (const { name } of await readMigrations()) {
    if (name <= lastBefore) cpSync(join(migrationsDirectory, name), join(directory, name), { recursive: true });
  }
  await migrate({ url: db.url, directory });
  return db;
}

/** A hold as that version writes it, on a process that runs no more. */
async function hold(db: TestDatabase, { accountId, keyId }: Customer, processId: string): Promise<string> {
  const requestId = uuidv7();
  await db.pool.query(
    `INSERT INTO hold (account_id, request_id, key_id, process_id, price_id, amount, grant_ids, grant_amounts)
     SELECT $1, $2, $3, $4, (SELECT id FROM price LIMIT 1), $5, ARRAY[id], ARRAY[$5::bigint] FROM "grant" WHERE account_id = $1`,
    [accountId, requestId, keyId, processId, amount],
  );
  await db.pool.query('UPDATE "grant" SET held = held + $2 WHERE account_id = $1', [accountId, amount]);
  await db.pool.query(
    `INSERT INTO key_spend AS k (account_id, key_id, held, day, month)
     VALUES ($1, $2, $3, (now() AT TIME ZONE 'UTC')::date, date_trunc('month', now() AT TIME ZONE 'UTC')::date)
     ON CONFLICT (account_id, key_id) DO UPDATE SET held = k.held + excluded.held`,
    [accountId, keyId, amount],
  );
  return requestId;
}

test('an upgrade with holds in flight: what was finished is charged once to its hold, the others go back, once', async () => {
  const db = await before();
  try {
    await addModel(db.pool, { id: 'big' });
    const customer = await addCustomer(db.pool, { budget: '1' });
    const processId = randomUUID();
    await db.pool.query(`INSERT INTO process (id, lease_until) VALUES ($1, now() + interval '1 hour')`, [processId]);
    const requests = await Promise.all(Array.from({ length: 6 }, () => hold(db, customer, processId)));
    const finished = requests.slice(0, 3);

    // Lines of its spool as that version writes them.
    const directory = createDirectory('steyg-spool-');
    const price = {
      id: randomUUID(),
      input: '3000000',
      cacheHit: '300000',
      cacheWrite5m: '3000000',
      cacheWrite1h: '3000000',
      output: '15000000',
    };
    const usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 50 };
    const line = (requestId: string): string =>
      JSON.stringify({
        ...customer,
        requestId,
        model: 'big',
        upstream: 'simulator',
        protocol: 'messages',
        stream: true,
        usage,
        price,
        upstreamCost: null,
        latencyMs: 12,
        timeToFirstByteMs: 3,
        outcome: 'completed',
        usageSource: 'reported',
      });
    const header = JSON.stringify({ host: 'another machine', pid: 1 });
    // One of them twice, as a process that was killed in between may leave it.
    const lines = [header, ...[...finished, finished[0] ?? ''].map(line)];
    writeFileSync(join(directory, `${processId}.0.ndjson`), `${lines.join('\n')}\n`);

    expect((await migrate({ url: db.url })).length).toBeGreaterThan(0);
    expect(await checkInvariants(db.pool)).toEqual([]);
    const { ledger, pool, spool, close } = await openLedger(db.url, { directory, holdLeaseMs: 500 });
    // Its lease ends only now, so that the one look of the sweep finds file and holds together, however slow the machine.
    await db.pool.query(`UPDATE process SET lease_until = now() - interval '1 second' WHERE id = $1`, [processId]);
    const sweep = startSweep({ pool, ledger, spool, leaseMs: 500, log: quiet });
    const held = async (): Promise<bigint> => (await ledger.balance(customer.accountId)).held;
    await expect.poll(held).toBe(0n);
    const { rows } = await db.pool.query('SELECT request_id AS id, charged FROM ledger_entry ORDER BY request_id');
    const cost = 100n * 3_000_000n + 50n * 15_000_000n;
    expect(rows).toEqual([...finished].sort().map((id) => ({ id, charged: cost })));
    const posted = await db.pool.query('SELECT held_at FROM posting');
    expect(posted.rows.every(({ held_at }) => held_at !== null)).toBe(true);
    expect(await ledger.balance(customer.accountId)).toMatchObject({ charged: 3n * cost });
    await sweep.close();
    expect(await checkInvariants(db.pool)).toEqual([]);
    await close();
  } finally {
    await db.drop();
  }
});
