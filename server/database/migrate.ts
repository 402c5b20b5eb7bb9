import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { connecting } from './address.ts';

/** The migrations of this version of the server. */
export const migrationsDirectory: string = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** A migration as the repository has it. */
export interface Migration {
  /** Its folder: `<time>_<words>`. Migrations are applied in the order of their names. */
  name: string;
  script: string;
  /** SHA-256 of the script, hexadecimal, as Prisma computes it. */
  checksum: string;
}

/** The state of the database compared with the migrations of this version. Lists are in order of application. */
export interface MigrationStatus {
  applied: string[];
  pending: string[];
  /** Applied with a different text: the migration was edited afterwards. */
  changed: string[];
  /** Applied by a newer version of the server. Not an error: versions overlap during an update. */
  unknown: string[];
  /** Started by another tool and never finished. */
  failed: string[];
}

/** The database needs a person before it can be migrated. A retry does not help. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused';
}

// The lock of Prisma's own tool, so that the two exclude each other.
const lockKey = 72_707_369;

// A migration that waits for a lock blocks every later query; better to fail and retry.
const lockTimeoutMs = 10_000;

/** Tables that transactions of the money path lock behind the grants of their account. */
const moneyTables =
  /\b(account|api_key|attribution_hour|grant|hold|key_spend|ledger_entry|margin_hour|model|posting|price|shared_limit|usage_hour)\b/;

/**
 * Waits for the transactions of the money path and keeps later ones out until the migration is committed. They lock grants
 * first: a migration that locked their other tables before would wait in a circle with one of them, until PostgreSQL finds the
 * deadlock after a second, and meanwhile every admission would wait.
 */
const keepMoneyOut = `DO $$ BEGIN
  IF to_regclass('"grant"') IS NOT NULL THEN
    LOCK TABLE "grant" IN EXCLUSIVE MODE;
  END IF;
END $$`;

/** The migrations of a folder, in order. */
export async function readMigrations(directory: string = migrationsDirectory): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const bytes = await readFile(join(directory, name, 'migration.sql'));
      return { name, script: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') };
    }),
  );
}

/**
 * Applies missing migrations, each in one transaction together with the row that records it, and returns the names of
 * those applied here. Any number of processes may call it at once: one applies, the others wait and find nothing left.
 * The lock lives as long as a transaction, so that it also works through a pooler.
 *
 * A migration cannot contain statements that PostgreSQL refuses inside a transaction (`CREATE INDEX CONCURRENTLY`).
 *
 * Throws `MigrationRefused` when an applied migration was edited or another tool left one unfinished; nothing has been
 * changed then.
 */
export async function migrate(options: { url: string; directory?: string }): Promise<string[]> {
  const migrations = await readMigrations(options.directory);
  return withClient(options.url, async (client) => {
    const appliedHere: string[] = [];
    for (;;) {
      // Without the lock first: a start without missing migrations does not wait.
      if (nextPending(migrations, await recorded(client)) === null) return appliedHere;
      const name = await applyNext(client, migrations);
      if (name === null) return appliedHere;
      appliedHere.push(name);
    }
  });
}

/** Compares the database with this version's migrations; changes nothing. */
export async function migrateStatus(options: { url: string; directory?: string }): Promise<MigrationStatus> {
  const migrations = await readMigrations(options.directory);
  return withClient(options.url, async (client) => compare(migrations, await recorded(client)));
}

async function applyNext(client: Client, migrations: readonly Migration[]): Promise<string | null> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    await client.query(historyTable);
    const next = nextPending(migrations, await recorded(client));
    if (next) {
      await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      if (moneyTables.test(next.script)) await client.query(keepMoneyOut);
      await client.query(next.script);
      await client.query(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
        [randomUUID(), next.checksum, next.name],
      );
    }
    await client.query('COMMIT');
    return next?.name ?? null;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

const historyTable = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

interface Recorded {
  name: string;
  checksum: string;
  finished: boolean;
}

async function recorded(client: Client): Promise<Recorded[]> {
  const table = await client.query<{ present: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present`,
  );
  if (table.rows[0]?.present !== true) return [];
  const { rows } = await client.query<Recorded>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

function compare(migrations: readonly Migration[], records: readonly Recorded[]): MigrationStatus {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const finished = new Set(records.filter((record) => record.finished).map((record) => record.name));
  return {
    applied: [...finished],
    pending: names(migrations.filter((migration) => !finished.has(migration.name))),
    changed: names(
      records.filter((record) => record.checksum !== (known.get(record.name)?.checksum ?? record.checksum)),
    ),
    unknown: names(records.filter((record) => !known.has(record.name))),
    failed: names(records.filter((record) => !record.finished)),
  };
}

function names(list: readonly { name: string }[]): string[] {
  return list.map((item) => item.name);
}

function nextPending(migrations: readonly Migration[], records: readonly Recorded[]): Migration | null {
  const status = compare(migrations, records);
  if (status.failed.length > 0) {
    throw new MigrationRefused(`Migrations were begun and never finished: ${status.failed.join(', ')}`);
  }
  if (status.changed.length > 0) {
    throw new MigrationRefused(`Migrations were edited after they had been applied: ${status.changed.join(', ')}`);
  }
  return migrations.find((migration) => migration.name === status.pending[0]) ?? null;
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...connecting(url), application_name: 'steyg migrate' });
  // A broken connection also fails its running query; without a listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
