import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { connecting } from './address.ts';
import { isSpread } from './distribution.ts';
import { refuseEngine } from './engine.ts';
import { statementsOf } from './script.ts';

/** The migrations of this version of the server. */
export const migrationsDirectory: string = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** A migration as the repository has it. */
export interface Migration {
  /** Its folder: `<time>_<words>`. Migrations are applied in the order of their names. */
  name: string;
  script: string;
  /** SHA-256 of the script, or of its first text, hexadecimal, as Prisma computes it. */
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

/** A migration that did not get through, and left nothing. It may do so later: a lock was taken, or its data is put right. */
export class MigrationFailed extends Error {
  override name = 'MigrationFailed';
  readonly migration: string;
  /** PostgreSQL's. */
  readonly code: string | undefined;

  constructor(migration: string, cause: Error & { code?: string }) {
    super(`Migration ${migration}: ${cause.message}`, { cause });
    this.migration = migration;
    this.code = cause.code;
  }
}

/**
 * Checksums of migrations whose text became better after they had been applied somewhere, to the same effect. They are recorded
 * under the first one: the version that wrote it refuses every other.
 */
const firstChecksums: ReadonlyMap<string, string> = new Map([
  // The sums of a million entries were made behind the lock that keeps the money path out: 5 to 7 seconds.
  ['20261122152800_margins', '5d27132195bc797154bb68a844854ca999b0811f930c88b28e8a7bf93b3079da'],
  // Their indexes kept writers waiting for as long as their building took.
  ['20261122225900_audit_addresses', '3e3fe74c6b40f71f4b162a55960c5cfb149278e6b0cfd22c13c263ad67bbe215'],
  ['20261122230044_expired_postings', '45af2873b3d4138669af31b9e2fb8bf53082504c26da63dff48b6d8fcc1ff589'],
  // Citus refuses `ALTER FUNCTION … SET … FROM CURRENT`.
  ['20261123021800_restorable_functions', 'c3385f1700137b891ade212ffdee93339362285a55e3857834f3fa8dfaf16ef6'],
]);

/** What a script does before this line keeps nobody waiting, however long it takes. */
const moneyWaits = /^-- From here on, the money path waits\.$/m;

/** An index that a script makes unless it is there: see `buildIndexes`. */
const indexUnlessThere = /^CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+) (ON (\w+) [^;]*);/gm;

// The lock of Prisma's own tool, so that the two exclude each other.
const lockKey = 72_707_369;

/**
 * Every later query on a table waits behind a migration that waits for its lock, readers too. So each wait is short, and there
 * are many; between two of them the migration holds nothing.
 */
const lockWaitMs = 300;
const lockTries = 60;
const lockPauseMs = 700;

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
      const checksum = firstChecksums.get(name) ?? createHash('sha256').update(bytes).digest('hex');
      return { name, script: bytes.toString('utf8'), checksum };
    }),
  );
}

/**
 * Applies missing migrations, each in one transaction together with the row that records it, and returns the names of
 * those applied here. Any number of processes may call it at once: one applies, the others wait and find nothing left.
 * The lock lives as long as a transaction, so that it also works through a pooler.
 *
 * A migration cannot contain statements that PostgreSQL refuses inside a transaction (`CREATE INDEX CONCURRENTLY`). An index on a
 * table that is large and written to is made with `CREATE INDEX IF NOT EXISTS`: it is built before the transaction, beside writers.
 *
 * Throws `MigrationRefused` when an applied migration was edited or another tool left one unfinished, and `EngineRefused` when the
 * database is none to work with; nothing has been changed then.
 */
export async function migrate(options: { url: string; directory?: string }): Promise<string[]> {
  const migrations = await readMigrations(options.directory);
  return withClient(options.url, async (client) => {
    await refuseEngine(client);
    const appliedHere: string[] = [];
    for (;;) {
      // Without the lock first: a start without missing migrations does not wait.
      const next = nextPending(migrations, await recorded(client));
      if (next === null) return appliedHere;
      await buildIndexes(client, next.script);
      if (await applyNext(client, migrations, next)) appliedHere.push(next.name);
    }
  });
}

/** Compares the database with this version's migrations; changes nothing. */
export async function migrateStatus(options: { url: string; directory?: string }): Promise<MigrationStatus> {
  const migrations = await readMigrations(options.directory);
  return withClient(options.url, async (client) => compare(migrations, await recorded(client)));
}

/**
 * Applies a migration unless another process has done so meanwhile. What comes after that one is not applied: its indexes are not
 * built yet, and making them here would wait for whoever builds them, who waits for this transaction.
 */
async function applyNext(client: Client, migrations: readonly Migration[], expected: Migration): Promise<boolean> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    await client.query(historyTable);
    const next = nextPending(migrations, await recorded(client));
    const isDue = next?.name === expected.name;
    if (isDue) {
      await runScript(client, next.script).catch((error: Error) => {
        throw new MigrationFailed(next.name, error);
      });
      await client.query(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
        [randomUUID(), next.checksum, next.name],
      );
    }
    await client.query('COMMIT');
    return isDue;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function runScript(client: Client, script: string): Promise<void> {
  const [before = '', after = before] = script.split(moneyWaits);
  await client.query(`SET LOCAL lock_timeout = ${lockWaitMs}`);
  // Citus sends what came together to each shard, which takes one statement at a time.
  const isApart = await isSpread(client);
  const run = async (part: string): Promise<void> => {
    for (const statement of isApart ? statementsOf(part) : [part]) await client.query(statement);
  };
  if (after !== before) await run(before);
  for (let tries = 1; ; tries += 1) {
    await client.query('SAVEPOINT locking');
    try {
      if (moneyTables.test(after)) await client.query(keepMoneyOut);
      return await run(after);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (tries === lockTries || (code !== '55P03' && code !== '40P01')) throw error;
      await client.query('ROLLBACK TO SAVEPOINT locking');
    }
    await delay(lockPauseMs * (0.5 + Math.random()));
  }
}

/** One process builds at a time: two that build on one table would wait for each other until PostgreSQL ends one of them. */
const buildKey = 72_707_370;
const buildPauseMs = 300;

/**
 * Builds the indexes of a script beside the writers of their tables, so that the script finds them. What cannot be built so, as on a
 * column that the script itself adds, is left to the script. Several processes may do this at once.
 */
async function buildIndexes(client: Client, script: string): Promise<void> {
  for (const [, unique = '', name = '', definition = '', table = ''] of script.matchAll(indexUnlessThere)) {
    const { rows } = await client.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [table]);
    if (rows.length > 0)
      await buildIndex(client, name, `${unique}INDEX CONCURRENTLY IF NOT EXISTS ${name} ${definition}`);
  }
}

async function buildIndex(client: Client, name: string, definition: string): Promise<void> {
  for (;;) {
    if ((await stateOf(client, name)) === 'whole') return;
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [buildKey]);
    if (rows[0]?.mine === true) {
      try {
        const state = await stateOf(client, name);
        if (state === 'whole') return;
        if (state !== 'building') {
          // Left by a process that ended while it was building.
          if (state === 'broken') await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
          await client.query(`CREATE ${definition}`);
          return;
        }
      } catch {
        await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
        return;
      } finally {
        await client.query('SELECT pg_advisory_unlock($1)', [buildKey]);
      }
    }
    await delay(buildPauseMs);
  }
}

/** An index is building where a backend works on it, maybe of a process that has ended meanwhile. */
async function stateOf(client: Client, name: string): Promise<'none' | 'building' | 'broken' | 'whole'> {
  const { rows } = await client.query<{ whole: boolean; building: boolean }>(
    `SELECT indisvalid AS whole, EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid) AS building
     FROM pg_index WHERE indexrelid = to_regclass($1)`,
    [name],
  );
  const [index] = rows;
  if (index === undefined) return 'none';
  return index.whole ? 'whole' : index.building ? 'building' : 'broken';
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
