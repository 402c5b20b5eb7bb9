import { expect, test } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { readMigrations } from '../../server/database/migrate.ts';
import { createDatabase } from '../support/database.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement } from './support.ts';

/** The migration that splits the hourly usage by outcome. */

test('the migration that splits the hours by outcome adds them up from the ledger', async () => {
  const db = await createDatabase();
  const lane = await openLedger(db.url);
  try {
    await addModel(db.pool, { id: 'big' });
    const customer = await addCustomer(db.pool);
    for (const outcome of ['completed', 'completed', 'timeout', 'client_closed'] as const) {
      const asked = ask(customer, { model: 'big' });
      await lane.ledger.settle(
        settlement(asked, await admitted(lane.ledger, asked), {
          outcome,
          upstreamCost: outcome === 'timeout' ? null : 7n,
        }),
      );
    }
    // As the table was before, with its rows lost: whatever they said does not matter.
    await db.pool.query(`ALTER TABLE usage_hour DROP COLUMN outcome, ADD COLUMN failures BIGINT NOT NULL DEFAULT 0`);
    await db.pool.query(`DELETE FROM usage_hour`);
    await db.pool.query(
      `ALTER TABLE usage_hour ADD CONSTRAINT usage_hour_pkey PRIMARY KEY (account_id, hour, model, key_id)`,
    );
    const script = (await readMigrations()).find(({ name }) => name.endsWith('_usage_outcome'))?.script;
    await db.pool.query(`BEGIN; ${script}; COMMIT`);
    const { rows } = await db.pool.query(
      'SELECT outcome, sum(requests)::int AS requests FROM usage_hour GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual([
      { outcome: 'client_closed', requests: 1 },
      { outcome: 'completed', requests: 2 },
      { outcome: 'timeout', requests: 1 },
    ]);
    expect(await checkInvariants(db.pool, { accounts: null })).toEqual([]);
  } finally {
    await lane.close();
    await db.drop();
  }
});
