/** A script is taken apart into its statements, for databases that take one at a time. */

import type { QueryConfig } from 'pg';
import { expect, it } from 'vitest';
import { readMigrations } from '../../server/database/migrate.ts';
import { statementsOf } from '../../server/database/script.ts';
import { createDatabase } from '../support/database.ts';

it.each([
  ['SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
  [`SELECT ';', 'it''s; one', E'a\\';', ";";SELECT 2`, [`SELECT ';', 'it''s; one', E'a\\';', ";"`, 'SELECT 2']],
  [
    'DO $$ BEGIN PERFORM 1; END $$; SELECT $a$ ; $$ ; $a$, $1;',
    ['DO $$ BEGIN PERFORM 1; END $$', 'SELECT $a$ ; $$ ; $a$, $1'],
  ],
  ['DO $tạo$ BEGIN a; b; END $tạo$; SELECT 1', ['DO $tạo$ BEGIN a; b; END $tạo$', 'SELECT 1']],
  [`SELECT a$b$c; SELECT some'e\\'; SELECT 3`, ['SELECT a$b$c', `SELECT some'e\\'`, 'SELECT 3']],
  [
    '-- one; two\nSELECT 1 -- why; so\n; /* three; */ SELECT 2',
    ['-- one; two\nSELECT 1 -- why; so', '/* three; */ SELECT 2'],
  ],
  [' ;; -- nothing;\n/* at all; */ ;', []],
])('takes apart %j', (script, statements) => {
  expect(statementsOf(script)).toEqual(statements);
});

/** What a database is, in words. */
const shape = `
  SELECT pg_get_functiondef(p.oid) AS said FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f'
  UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname IN ('public', 'ledger_partition')
  UNION ALL SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) FROM information_schema.columns
    WHERE table_schema IN ('public', 'ledger_partition') AND table_name <> '_prisma_migrations'
  ORDER BY 1`;

it('every migration, a statement at a time, makes the same database', async () => {
  const [whole, apart] = await Promise.all([createDatabase(), createDatabase({ migrated: false })]);
  const client = await apart.pool.connect();
  for (const { name, script } of await readMigrations()) {
    await client.query('BEGIN');
    for (const statement of statementsOf(script)) {
      // Prepared: PostgreSQL refuses two in one.
      await client.query({ text: statement, queryMode: 'extended' } as QueryConfig).catch((error: Error) => {
        throw new Error(`${name}: ${statement}`, { cause: error });
      });
    }
    await client.query('COMMIT');
  }
  const said = async (pool: typeof apart.pool) =>
    (await pool.query<{ said: string }>(shape)).rows.map((row) => row.said);
  await whole.pool.query('DROP TABLE _prisma_migrations');
  const expected = await said(whole.pool);
  expect(expected.length).toBeGreaterThan(500);
  expect(await said(apart.pool)).toEqual(expected);
  client.release();
  await Promise.all([whole.drop(), apart.drop()]);
});
