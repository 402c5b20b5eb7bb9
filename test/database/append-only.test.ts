/** The ledger, the books and the audit log are append-only, in every partition. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { before } from './rows.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  // The last table of all that are tried: what comes before it has rows, too.
  for (const statement of before('throttle')) await database.pool.query(statement);
});
afterAll(() => database.drop());

const appendOnly = { code: '23001', message: expect.stringContaining('is append-only') };

describe.each([
  ['ledger_entry', 'created_at'],
  ['posting', 'created_at'],
  ['price', 'created_at'],
  ['bank_transfer', 'created_at'],
  ['transfer_match', 'created_at'],
  ['audit_entry', 'created_at'],
  ['archived_month', 'archived_at'],
  ['archived_sum', 'hour'],
  ['archived_charge', 'last_held_at'],
  ['closed_month', 'closed_at'],
  ['vendor_file', 'imported_at'],
  ['vendor_file_row', 'day'],
  ['closed_account', 'month'],
  ['statement_digest', 'created_at'],
  ['sale_undone', 'undone_at'],
  ['grant_undone', 'undone_at'],
  ['receipt', 'issued_at'],
  ['refund', 'created_at'],
  ['refund_undone', 'undone_at'],
  ['exchange_rate', 'created_at'],
  ['tax_rule', 'created_at'],
])('%s', (table, moment) => {
  it.each([`UPDATE %s SET ${moment} = now()`, 'DELETE FROM %s', 'TRUNCATE %s CASCADE'])(
    'refuses %s',
    async (statement) => {
      await expect(database.pool.query(statement.replace('%s', table))).rejects.toMatchObject(appendOnly);
      const { rows } = await database.pool.query(`SELECT count(*) AS n FROM ${table}`);
      expect(rows).toEqual([{ n: 1n }]);
    },
  );
});

it('refuses an insert that would become an update', async () => {
  await expect(
    database.pool.query(
      `INSERT INTO ledger_entry SELECT * FROM ledger_entry
       ON CONFLICT (account_id, request_id) DO UPDATE SET charged = 0, free_after = 0`,
    ),
  ).rejects.toMatchObject(appendOnly);
});

describe('the partitions of the ledger', () => {
  it('refuse what the ledger refuses, each by itself', async () => {
    const { rows: partitions } = await database.pool.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'ledger_entry'::regclass`,
    );
    // The months from last month to three ahead, and elsewhere.
    expect(partitions).toHaveLength(6);
    const filled: string[] = [];
    for (const { name } of partitions) {
      await expect(database.pool.query(`TRUNCATE ${name}`)).rejects.toMatchObject(appendOnly);
      const { rows } = await database.pool.query<{ n: bigint }>(`SELECT count(*) AS n FROM ${name}`);
      if (rows[0]?.n === 0n) continue;
      filled.push(name);
      await expect(database.pool.query(`DELETE FROM ${name}`)).rejects.toMatchObject(appendOnly);
      await expect(database.pool.query(`UPDATE ${name} SET charged = 0`)).rejects.toMatchObject(appendOnly);
    }
    expect(filled).toHaveLength(1);
  });
});
