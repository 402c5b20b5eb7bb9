import { expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';

it('gives each test its own migrated database', async () => {
  const database = await createDatabase();
  const { rows } = await database.pool.query('SELECT count(*) AS n FROM ledger_entry');
  expect(rows).toEqual([{ n: 0n }]);
  await database.drop();
});
