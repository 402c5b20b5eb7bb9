/** Migrations: applied once by any number of processes, and refused when they were edited. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MigrationRefused, migrate, migrateStatus, readMigrations } from '../../server/database/migrate.ts';
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
