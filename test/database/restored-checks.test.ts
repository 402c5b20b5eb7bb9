/** What a restored backup needs of the CHECKs. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const functions = `
  SELECT DISTINCT p.proname AS name, coalesce(array_to_string(p.proconfig, ','), '') LIKE '%search_path=%' AS finds
  FROM pg_proc p JOIN pg_depend d ON d.refobjid = p.oid AND d.refclassid = 'pg_proc'::regclass AND d.classid = 'pg_constraint'::regclass
  WHERE p.pronamespace = 'public'::regnamespace
    AND EXISTS (SELECT FROM pg_proc o WHERE o.pronamespace = p.pronamespace AND o.oid <> p.oid AND p.prosrc ~ ('\\m' || o.proname || '\\M'))
  ORDER BY 1`;

it('a function of a CHECK that calls another one finds it while rows are restored, with an empty search path', async () => {
  const { rows } = await database.pool.query<{ name: string; finds: boolean }>(functions);
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.filter(({ finds }) => !finds)).toEqual([]);
});

it('an entry with a tier and a price with hours are taken with an empty search path', async () => {
  const client = await database.pool.connect();
  try {
    await client.query(`SELECT set_config('search_path', '', false)`);
    const { rows } = await client.query(
      `SELECT public.further_entry_holds(10, 5, 20, NULL, NULL, NULL) AS entry,
              public.valid_price_clock($1::jsonb, false) IS NOT NULL AS price`,
      [JSON.stringify({ time_zone: 'UTC', windows: [] })],
    );
    expect(rows).toEqual([{ entry: true, price: true }]);
  } finally {
    client.release(true);
  }
});
