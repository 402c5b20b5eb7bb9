/** Migrations: applied once by any number of processes, and refused when they were edited. */

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  MigrationRefused,
  migrate,
  migrateStatus,
  migrationsDirectory,
  readMigrations,
} from '../../server/database/migrate.ts';
import { until } from '../gateway/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  database = await createDatabase({ migrated: false });
  directory = createDirectory('steyg-migrations-');
});
afterEach(async () => {
  rmSync(directory, { recursive: true });
  await database.drop();
});

function write(name: string, script: string): void {
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, name, 'migration.sql'), script);
}

function run(): Promise<string[]> {
  return migrate({ url: database.url, directory });
}

async function tables(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

it('brings an empty database up to date, once, whichever of three processes is first', async () => {
  const names = (await readMigrations()).map(({ name }) => name);
  const starts = await Promise.all(Array.from({ length: 3 }, () => migrate({ url: database.url })));
  expect(starts.flat().sort()).toEqual(names);
  expect(await migrate({ url: database.url })).toEqual([]);
  expect(await migrateStatus({ url: database.url })).toEqual({
    applied: names,
    pending: [],
    changed: [],
    unknown: [],
    failed: [],
  });
});

it('applies in the order of names, function bodies and all', async () => {
  write('2_rows', `INSERT INTO one VALUES (twice(21));`);
  write(
    '1_tables',
    `CREATE TABLE one (n int); CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 2 * n; END $$;`,
  );
  expect(await run()).toEqual(['1_tables', '2_rows']);
  expect((await database.pool.query('SELECT n FROM one')).rows).toEqual([{ n: 42 }]);
});

describe('an index that a migration makes unless it is there', () => {
  const index = (): Promise<{ rows: { whole: boolean }[] }> =>
    database.pool.query(`SELECT indisvalid AS whole FROM pg_index WHERE indexrelid = to_regclass('one_n')`);

  beforeEach(async () => {
    write('1_table', 'CREATE TABLE one (n int);');
    await run();
    write('2_index', 'CREATE INDEX IF NOT EXISTS one_n ON one (n) WHERE n > 0;');
  });

  it('keeps nobody waiting while it is built, however long that takes', async () => {
    const writer = await database.pool.connect();
    await writer.query('BEGIN');
    await writer.query('INSERT INTO one VALUES (1)');
    const migrating = run();
    try {
      // It is there, and waits for that writer.
      await until(async () => (await index()).rows.length > 0);
      await database.pool.query('INSERT INTO one VALUES (2)');
      expect((await index()).rows).toEqual([{ whole: false }]);
    } finally {
      await writer.query('COMMIT');
      writer.release();
    }
    expect(await migrating).toEqual(['2_index']);
    expect((await index()).rows).toEqual([{ whole: true }]);
  });

  it('is built anew where a process has ended while it was building it', async () => {
    await database.pool.query('CREATE INDEX one_n ON one (n)');
    await database.pool.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'one_n'::regclass`);
    expect(await run()).toEqual(['2_index']);
    expect((await index()).rows).toEqual([{ whole: true }]);
  });

  it('is there once, whichever of four processes builds it', async () => {
    await database.pool.query('INSERT INTO one SELECT generate_series(1, 100000)');
    const starts = await Promise.all(Array.from({ length: 4 }, run));
    expect(starts.flat()).toEqual(['2_index']);
    expect((await index()).rows).toEqual([{ whole: true }]);
  });

  it('is made with what it is made on, where that comes in the same migration', async () => {
    write(
      '3_column',
      'ALTER TABLE one ADD m int; CREATE TABLE two (n int);\nCREATE INDEX IF NOT EXISTS one_m ON one (m);\nCREATE INDEX IF NOT EXISTS two_n ON two (n);',
    );
    expect(await run()).toEqual(['2_index', '3_column']);
    const { rows } = await database.pool.query(
      `SELECT indexname AS name FROM pg_indexes WHERE indexname ~ '^(one|two)_' ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(['one_m', 'one_n', 'two_n']);
  });
});

it('processes that apply migrations with indexes at once never wait for each other in vain', async () => {
  write('1_table', 'CREATE TABLE many (a int); INSERT INTO many SELECT generate_series(1, 20000);');
  for (let n = 2; n < 10; n += 1) write(`${n}_index`, `CREATE INDEX IF NOT EXISTS index_${n} ON many (a);`);
  const starts = await Promise.all(Array.from({ length: 6 }, run));
  expect(starts.flat().toSorted()).toEqual((await readMigrations(directory)).map(({ name }) => name));
  const { rows } = await database.pool.query(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  expect(rows).toEqual([{ deadlocks: 0 }]);
});

it('leaves nothing of a migration that fails, and goes on once it is mended', async () => {
  write('1_good', 'CREATE TABLE good ();');
  write('2_bad', 'CREATE TABLE half (); SELECT 1 / 0;');
  write('3_later', 'CREATE TABLE later ();');
  await expect(run()).rejects.toThrow('division by zero');
  expect(await tables()).toEqual(['good']);
  expect(await migrateStatus({ url: database.url, directory })).toMatchObject({
    applied: ['1_good'],
    pending: ['2_bad', '3_later'],
  });
  write('2_bad', 'CREATE TABLE half ();');
  expect(await run()).toEqual(['2_bad', '3_later']);
});

it('refuses when an applied migration was edited, and changes nothing', async () => {
  write('1_first', 'CREATE TABLE one ();');
  await run();
  write('1_first', 'CREATE TABLE one (); -- better');
  write('2_second', 'CREATE TABLE two ();');
  await expect(run()).rejects.toThrow(MigrationRefused);
  await expect(run()).rejects.toThrow('1_first');
  expect(await tables()).toEqual(['one']);
  expect(await migrateStatus({ url: database.url, directory })).toMatchObject({ changed: ['1_first'] });
});

it('refuses while another tool’s migration is unfinished', async () => {
  write('1_first', 'CREATE TABLE one ();');
  await run();
  await database.pool.query('UPDATE _prisma_migrations SET finished_at = NULL');
  write('2_second', 'CREATE TABLE two ();');
  await expect(run()).rejects.toThrow(MigrationRefused);
  expect(await migrateStatus({ url: database.url, directory })).toMatchObject({ failed: ['1_first'] });
});

it('lets an older server run on a newer database', async () => {
  write('1_first', 'CREATE TABLE one ();');
  write('2_newer', 'CREATE TABLE two ();');
  await run();
  rmSync(join(directory, '2_newer'), { recursive: true });
  expect(await run()).toEqual([]);
  expect(await migrateStatus({ url: database.url, directory })).toMatchObject({ unknown: ['2_newer'], pending: [] });
});

it('says what is missing without touching the database', async () => {
  write('1_first', 'CREATE TABLE one ();');
  expect(await migrateStatus({ url: database.url, directory })).toMatchObject({ applied: [], pending: ['1_first'] });
  expect((await database.pool.query(`SELECT to_regclass('_prisma_migrations') AS history`)).rows).toEqual([
    { history: null },
  ]);
});

it('waits for a transaction that has locked grants before it locks any other table of money', async () => {
  await migrate({ url: database.url });
  write('9_both', 'ALTER TABLE hold ADD COLUMN one int; ALTER TABLE "grant" ADD COLUMN two int;');
  const batch = await database.pool.connect();
  try {
    await batch.query('BEGIN');
    await batch.query('SELECT FROM "grant" FOR NO KEY UPDATE');
    const migrated = run();
    const waits = `SELECT count(*)::int AS waiting FROM pg_locks WHERE relation = '"grant"'::regclass AND NOT granted`;
    await expect.poll(async () => (await database.pool.query(waits)).rows[0].waiting).toBe(1);
    // As a settlement does. Were the table locked already, both would wait for each other.
    await batch.query('LOCK TABLE hold IN ROW EXCLUSIVE MODE NOWAIT');
    await batch.query('COMMIT');
    expect(await migrated).toEqual(['9_both']);
  } finally {
    batch.release(true);
  }
});

it('keeps no reader and no writer behind its wait for a table: each wait is short, and it holds nothing in between', async () => {
  await database.pool.query('CREATE TABLE busy (n int)');
  write('1_change', 'CREATE TABLE made (); ALTER TABLE busy ADD COLUMN two int;');
  const [reader, other] = [await database.pool.connect(), await database.pool.connect()];
  try {
    await reader.query('BEGIN');
    await reader.query('SELECT FROM busy');
    const migrated = run();
    const waits = `SELECT count(*)::int AS waiting FROM pg_locks WHERE relation = 'busy'::regclass AND NOT granted`;
    const isWaiting = async () => (await database.pool.query(waits)).rows[0].waiting as number;
    await expect.poll(isWaiting).toBe(1);
    // They come while the migration waits, and get through while the first reader still reads.
    await other.query('SELECT FROM busy');
    await other.query('INSERT INTO busy VALUES (1)');
    expect((await database.pool.query(`SELECT to_regclass('made') AS made`)).rows).toEqual([{ made: null }]);
    await expect.poll(isWaiting, { timeout: 20_000 }).toBe(1);
    await other.query('INSERT INTO busy VALUES (2)');
    await reader.query('COMMIT');
    expect(await migrated).toEqual(['1_change']);
    expect((await database.pool.query('SELECT count(*)::int AS n FROM busy WHERE two IS NULL')).rows).toEqual([
      { n: 2 },
    ]);
  } finally {
    reader.release(true);
    other.release(true);
  }
});

const moneyWaits = '-- From here on, the money path waits.';

it('fills tables from the ledger before anybody waits: until then it holds no lock that a reader or a writer could meet', async () => {
  const divided = (await readMigrations()).filter(({ script }) => script.includes(moneyWaits));
  expect(divided.map(({ name }) => name)).toContain('20261122152800_margins');
  for (const { name, script } of divided) {
    const own = await createDatabase({ migrated: false });
    const client = await own.pool.connect();
    try {
      await migrateUntil(own.url, name);
      await client.query('BEGIN');
      await client.query(`CREATE TEMP TABLE known ON COMMIT DROP AS SELECT oid FROM pg_class`);
      await client.query(script.split(moneyWaits)[0] ?? '');
      const { rows } = await client.query(
        `SELECT relation::regclass::text AS name, mode FROM pg_locks JOIN known ON known.oid = relation
         WHERE pid = pg_backend_pid() AND mode <> 'AccessShareLock' AND relation::regclass::text !~ '^pg_'`,
      );
      expect(rows).toEqual([]);
    } finally {
      client.release(true);
      await own.drop();
    }
  }
});

it('margins count each entry once, whether its hour was over or not when they were first summed up', async () => {
  await migrateUntil(database.url, '20261122152800_margins');
  const { pool } = database;
  await pool.query(`
    WITH a AS (INSERT INTO account (id, name, email) VALUES (gen_random_uuid(), 'a', 'a@example.com') RETURNING id)
    INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m,
      cache_write_1h, output, price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost,
      charged, free_after, upstream_cost, latency_ms, outcome, usage_source, stream, created_at)
    SELECT a.id, gen_random_uuid(), gen_random_uuid(), 'm', 'u', 'messages', 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 1,
      CASE WHEN n % 3 > 0 THEN 1 END, 1, 'completed', 'reported', false, now() - n * interval '7 minutes'
    FROM a, generate_series(0, 60) AS n`);
  await migrate({ url: database.url });
  const { rows } = await pool.query(`
    SELECT count(*)::int AS hours, sum(requests)::int AS requests, sum(charged)::int AS charged, sum(unknown_requests)::int AS unknown,
      (SELECT count(*)::int FROM (SELECT DISTINCT date_trunc('hour', created_at, 'UTC') FROM ledger_entry) AS h) AS expected
    FROM margin_hour`);
  expect(rows).toEqual([
    { hours: rows[0].expected, expected: rows[0].expected, requests: 61, charged: 122, unknown: 21 },
  ]);
});

it('a migration whose text became better is recorded under its first checksum, which earlier versions compare', async () => {
  const margins = (await readMigrations()).find(({ name }) => name === '20261122152800_margins');
  expect(margins?.checksum).toBe('5d27132195bc797154bb68a844854ca999b0811f930c88b28e8a7bf93b3079da');
});

/** The migrations before this one. */
async function migrateUntil(url: string, name: string): Promise<void> {
  const earlier = createDirectory('steyg-migrations-');
  for (const each of await readMigrations())
    if (each.name < name) cpSync(join(migrationsDirectory, each.name), join(earlier, each.name), { recursive: true });
  await migrate({ url, directory: earlier });
  rmSync(earlier, { recursive: true });
}
