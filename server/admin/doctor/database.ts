import type { Pool } from 'pg';
import { firstKept, listArchivable } from '../../billing/archive/archive.ts';
import { databaseSentence } from '../../core/database-sentence.ts';
import { EngineRefused, refuseEngine } from '../../database/engine.ts';
import { migrateStatus } from '../../database/migrate.ts';
import { openPool } from '../../database/pool.ts';
import type { Config } from '../../runtime/config.ts';
import { findingOf, type HostFinding } from './finding.ts';

/** Examines the PostgreSQL of `DATABASE_URL`: version, settings that money depends on, connections, clock, migrations. */

/** Connections to the database that one process holds at most. */
const connectionsOfProcess = 27;
const quiet = { info: () => {}, warn: () => {} };

interface Facts {
  version: string;
  fsync: string;
  pages: string;
  commit: string;
  encoding: string;
  checksums: string;
  readOnly: string;
  standby: boolean;
  connections: number;
  reserved: number;
  used: number;
  /** Extensions that let several nodes write the same rows. */
  writers: string | null;
  /** Seconds since 1970. */
  clock: number;
}

const question = `
  SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
         current_setting('synchronous_commit') AS "commit", current_setting('server_encoding') AS encoding,
         current_setting('data_checksums') AS checksums, current_setting('transaction_read_only') AS "readOnly",
         pg_is_in_recovery() AS standby, current_setting('max_connections')::int AS connections,
         current_setting('superuser_reserved_connections')::int AS reserved,
         (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
           AND application_name NOT LIKE 'steyg %') AS used,
         (SELECT string_agg(extname, ', ') FROM pg_extension WHERE extname IN ('bdr', 'spock')) AS writers,
         extract(epoch FROM clock_timestamp())::float8 AS clock`;

export async function examineDatabase({ databaseUrl, workers, ledgerArchive }: Config): Promise<HostFinding[]> {
  if (databaseUrl === null) return [{ subject: 'database', state: 'skipped', found: 'embedded, in DATA_DIR' }];
  const pool = openPool({ url: databaseUrl, name: 'doctor', max: 1, log: quiet });
  try {
    await refuseEngine(pool);
    const askedAt = Date.now();
    const { rows } = await pool.query<Facts>(question);
    const answeredAt = Date.now();
    const [facts] = rows;
    if (facts === undefined) throw new Error('no answer');
    return [
      ...judgeFacts(facts, workers),
      judgeClock(facts.clock * 1000, askedAt, answeredAt),
      await examineMigrations(databaseUrl),
      ...(await examineMonths(pool, ledgerArchive)),
    ];
  } catch (error) {
    if (error instanceof EngineRefused) {
      return [{ subject: 'database', state: 'bad', found: error.message }];
    }
    const { code = 'no answer' } = error as { code?: string };
    const said = databaseSentence(error);
    const advice = 'Look at host, port, user and password of DATABASE_URL, and whether PostgreSQL runs.';
    return [{ subject: 'database', state: 'bad', found: `cannot be worked with (${said ?? code})`, advice }];
  } finally {
    await pool.end();
  }
}

function judgeFacts(facts: Facts, workers: number): HostFinding[] {
  const { fsync, pages, commit, encoding, checksums, readOnly, standby, writers } = facts;
  const free = facts.connections - facts.reserved - facts.used;
  const needed = connectionsOfProcess * workers;
  const isWritable = !standby && readOnly === 'off';
  return [
    findingOf(
      'database',
      `PostgreSQL ${facts.version}, ${encoding}${isWritable ? '' : ', read-only'}`,
      [encoding === 'UTF8', 'bad', "CREATE DATABASE … ENCODING 'UTF8'."],
      [isWritable, 'bad', 'This is a standby or read-only: DATABASE_URL must name the primary.'],
      [
        writers === null,
        'doubtful',
        `${writers} can let several nodes write: a lock of one is none of another, and money needs one. Let every process write to the same node.`,
      ],
    ),
    findingOf(
      'database safety',
      `fsync ${fsync}, full_page_writes ${pages}, synchronous_commit ${commit}, data_checksums ${checksums}`,
      [fsync === 'on' && pages === 'on', 'bad', 'Switch both on: a crash of the machine would break the database.'],
      [commit !== 'off', 'bad', 'Switch synchronous_commit on: a crash would lose settlements that were acknowledged.'],
      [checksums === 'on', 'doubtful', 'pg_checksums --enable finds faults of the disk.'],
    ),
    findingOf(
      'database connections',
      `${free} of ${facts.connections} for this service, ${needed} for these processes`,
      [free >= needed, 'bad', 'Raise max_connections, or lower WORKERS.'],
      [free >= 2 * needed, 'doubtful', 'Not enough for old and new processes beside each other during an update.'],
    ),
  ];
}

/** Both machines' clocks; how long the question took is how far they can seem apart. */
function judgeClock(theirMs: number, askedAtMs: number, answeredAtMs: number): HostFinding {
  const apartMs = Math.max(0, askedAtMs - theirMs, theirMs - answeredAtMs);
  const advice = 'Set both clocks: expiry of grants, orders and sessions is compared with them.';
  return findingOf(
    'database clock',
    `${(apartMs / 1000).toFixed(1)} s from this machine’s`,
    [apartMs <= 30_000, 'bad', advice],
    [apartMs <= 1_000, 'doubtful', advice],
  );
}

/** Nothing where no retention is set, or the ledger is not there yet. */
async function examineMonths(pool: Pool, { keepMonths, directory }: Config['ledgerArchive']): Promise<HostFinding[]> {
  const { rows } = await pool.query(`SELECT FROM pg_class WHERE oid = to_regclass('archived_month')`);
  if (keepMonths === null || rows.length === 0) return [];
  const due = await listArchivable(pool, firstKept(keepMonths));
  const found = due.length === 0 ? 'no month is due' : `due: ${due.join(', ')}`;
  return [
    findingOf(
      'ledger archive',
      found,
      [directory !== null, 'doubtful', 'Set LEDGER_ARCHIVE_DIR, on another disk than the database’s.'],
      [due.length === 0, 'doubtful', 'Run `npm run --silent admin -- ledger archive`, or enable steyg-archive.timer.'],
    ),
  ];
}

async function examineMigrations(url: string): Promise<HostFinding> {
  const { applied, pending, changed, failed } = await migrateStatus({ url });
  return findingOf(
    'migrations',
    `${applied.length} applied, ${pending.length} pending`,
    [failed.length === 0, 'bad', `Never finished: ${failed.join(', ')}.`],
    [changed.length === 0, 'bad', `Edited after they were applied: ${changed.join(', ')}.`],
  );
}
