/** The past that is written for measurements is one that requests could have left behind. */

import { expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { seedAccounts, seedEntries } from '../bench/seed.ts';
import { createDatabase } from '../support/database.ts';

it('a seeded ledger keeps every invariant and CHECK, in one go and in two, and goes back as far as it should', async () => {
  const { pool, drop } = await createDatabase();
  try {
    await seedAccounts(pool, 200);
    const scale = { accounts: 200, total: 6_000, days: 300 };
    await seedEntries(pool, { ...scale, from: 0, to: 2_000 });
    expect(await checkInvariants(pool, { accounts: null })).toEqual([]);
    await seedEntries(pool, { ...scale, from: 2_000, to: 6_000 });
    expect(await checkInvariants(pool, { accounts: null })).toEqual([]);
    const { rows } = await pool.query(
      `SELECT count(*)::int AS entries, count(DISTINCT account_id)::int AS accounts,
              (max(created_at) - min(created_at)) > interval '298 days' AS long,
              count(*) FILTER (WHERE tableoid = 'ledger_partition.ledger_elsewhere'::regclass)::int AS elsewhere,
              (SELECT sum(requests)::int FROM margin_hour) AS margins
       FROM ledger_entry`,
    );
    expect(rows[0]).toMatchObject({ entries: 6_000, long: true, elsewhere: 0, margins: 6_000 });
    expect(rows[0].accounts).toBeGreaterThan(50);
  } finally {
    await drop();
  }
});
