import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { isArchivePrepared, isSpread, tellNodes } from '../../database/distribution.ts';
import { transaction } from '../../database/lane.ts';
import { appendAudit } from '../../shared/audit.ts';
import { syncDirectory } from '../../shared/sync-directory.ts';
import {
  type CheckedArchive,
  chargeAmounts,
  chargeKeys,
  checkArchive,
  keyOf,
  type SumRow,
  sumAmounts,
  sumKeys,
} from './archive-check.ts';
import {
  type ArchivedTable,
  type ArchiveManifest,
  type Cells,
  type DatabaseIdentity,
  readManifest,
  readTable,
  writeArchive,
} from './archive-files.ts';

/**
 * Takes whole months out of the ledger. A month is exported, read back and proven; then one transaction carries its sums
 * forward, deletes its charges and detaches its partition. A crash leaves the month attached, or archived as a whole.
 */

/** Why a month is not archived or restored. The message is for the operator. */
export class ArchiveRefused extends Error {
  override name = 'ArchiveRefused';
  readonly code: 'not_archived' | 'other_archive' | 'other_database' | 'busy' | 'changed' | 'unclosed' | 'distributed';

  constructor(code: ArchiveRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface MonthMoved {
  /** `2026-01`. */
  month: string;
  folder: string;
  entries: number;
  postings: number;
}

const partitionOf = (month: string): string => `ledger_partition.ledger_${month.replace('-', '_')}`;
const folderOf = (directory: string, month: string): string => join(resolve(directory), `ledger-${month}`);

/** Entries that were written later than this before now keep their month: sums of days and weeks still count them. */
const minAge = '32 days';

/**
 * Months before `before` (`2026-01`) that have a partition, are over for a month, and had no late entry since; oldest
 * first.
 */
export async function listArchivable(pool: Pool, before: string): Promise<string[]> {
  const { rows } = await pool.query<{ month: string; partition: string }>(
    `SELECT month, partition FROM (
       SELECT replace(substr(relname, 8), '_', '-') AS month, relname AS partition FROM pg_inherits JOIN pg_class ON oid = inhrelid
       WHERE inhparent = 'ledger_entry'::regclass AND relname ~ '^ledger_[0-9]{4}_[0-9]{2}$') AS part
     WHERE month < $1 AND month < to_char((now() AT TIME ZONE 'UTC') - interval '1 month', 'YYYY-MM') ORDER BY month`,
    [before],
  );
  const months: string[] = [];
  for (const { month, partition } of rows) {
    const { rows: late } = await pool.query(
      `SELECT 1 FROM ledger_partition.${partition} WHERE created_at > now() - interval '${minAge}' LIMIT 1`,
    );
    if (late.length === 0) months.push(month);
  }
  return months;
}

/** The first month that is kept, so many whole months before the present one. */
export function firstKept(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 7);
}

export interface ArchiveMonth {
  month: string;
  /** Folder of the archives; the month gets one of its own in it. */
  directory: string;
  actor: string;
  /** Whether a month may leave before the books have closed it. It can never be closed then. */
  unclosed?: boolean;
}

/** Archives one month of `listArchivable`. A whole archive of an earlier, interrupted call is used if it is still true. */
export async function archiveMonth(
  pool: Pool,
  { month, directory, actor, unclosed = false }: ArchiveMonth,
): Promise<MonthMoved> {
  await refuseUnprepared(pool);
  if (!unclosed) await refuseUnclosed(pool, month);
  const folder = folderOf(directory, month);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const database = await identityOf(pool);
  let isFresh = false;
  if (!existsSync(folder)) {
    await exportMonth(pool, { folder, month, database });
    isFresh = true;
  }
  // Its name, which the earlier call may not have come to, and that of a folder of archives that is new.
  for (const path of [directory, join(resolve(directory), '..')]) await syncDirectory(path);
  refuseForeign(folder, (await readManifest(folder)).manifest, database);
  try {
    return await takeOut(pool, { folder, month, actor });
  } catch (error) {
    if (isFresh || !(error instanceof ArchiveRefused) || error.code !== 'changed') throw error;
    // A late settlement was written after the earlier export, or the folder is another database's: the month is still
    // attached, so the archive is made again. The other one is kept, because it may be the only copy of its month.
    await rename(folder, `${folder}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
    await exportMonth(pool, { folder, month, database });
    return takeOut(pool, { folder, month, actor });
  }
}

/**
 * A close needs the charges before the end of its month one by one: what is left to close must end after the last entry of
 * what leaves.
 */
async function refuseUnclosed(pool: Pool, month: string): Promise<void> {
  const { rows } = await pool.query<{ next: string | null; isFree: boolean | null }>(
    `SELECT to_char(c.month + interval '1 month', 'YYYY-MM') AS next,
            coalesce((SELECT max(created_at) FROM ${partitionOf(month)}), '-infinity')
              < (c.month + interval '2 months') AT TIME ZONE c.time_zone AS "isFree"
     FROM (SELECT month::timestamp AS month, time_zone FROM closed_month ORDER BY closed_month.month DESC LIMIT 1) AS c`,
  );
  if (rows[0]?.isFree === true) return;
  throw new ArchiveRefused(
    'unclosed',
    `${month} is not closed in the books, and cannot be closed once it is archived: close it first (admin books close ${rows[0]?.next ?? month}), or archive it without its figures (--unclosed)`,
  );
}

/** An earlier version has distributed the ledger: its shards know of no archive. */
async function refuseUnprepared(pool: Pool): Promise<void> {
  if ((await isArchivePrepared(pool)) || !(await isSpread(pool))) return;
  throw new ArchiveRefused(
    'distributed',
    'The nodes of Citus do not know yet which months are archived: run `npm run --silent admin -- distribute` once more, with the service stopped',
  );
}

async function identityOf(pool: Pool): Promise<DatabaseIdentity> {
  const { rows } = await pool.query<{ id: string; name: string }>(
    'SELECT oid::text AS id, datname AS name FROM pg_database WHERE datname = current_database()',
  );
  // Some providers do not permit it.
  const cluster = await pool
    .query<{ cluster: string }>('SELECT system_identifier::text AS cluster FROM pg_control_system()')
    .then(({ rows: [row] }) => row?.cluster ?? '')
    .catch(() => '');
  return { cluster, id: rows[0]?.id ?? '', name: rows[0]?.name ?? '' };
}

/** Another database's archive is neither used nor put aside: it may be the only copy of that database's month. */
function refuseForeign(
  folder: string,
  { month, database: origin }: Pick<ArchiveManifest, 'month' | 'database'>,
  database: DatabaseIdentity,
): void {
  if (origin === undefined || (origin.cluster === database.cluster && origin.id === database.id)) return;
  throw new ArchiveRefused(
    'other_database',
    `${folder} is the archive of ${month} of another database (${origin.name}, cluster ${origin.cluster})`,
  );
}

const pageRows = 5_000;

/** Both tables as one moment shows them. Locks nothing. */
async function exportMonth(
  pool: Pool,
  { folder, month, database }: { folder: string; month: string; database: DatabaseIdentity },
): Promise<void> {
  await transaction(pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await settle(client, [
      'statement_timeout = 0',
      "timezone = 'UTC'",
      "datestyle = 'ISO'",
      'cursor_tuple_fraction = 1',
    ]);
    await writeArchive(folder, { month, database }, async (writer) => {
      for (const [table, source, order] of [
        ['ledger_entry', `${partitionOf(month)} AS source`, 'account_id, request_id'],
        ['posting', `posting AS source WHERE ${chargesOf('$1')}`, 'account_id, request_id, id'],
      ] as const) {
        const columns = await columnsOf(client, table);
        await writer.table(table, columns, pagesOf(client, { columns, source, order, month }));
      }
    });
  });
}

/** Charges for requests of a month; `month`: a parameter with its first day. */
const chargesOf = (month: string): string =>
  `kind = 'charge' AND request_id >= uuid_at(${month}::date::timestamp AT TIME ZONE 'UTC')
   AND request_id < uuid_at((${month}::date::timestamp + interval '1 month') AT TIME ZONE 'UTC')`;

const firstDay = (month: string): string => `${month}-01`;

/** In the order of the table, with the columns that later versions have added. */
async function columnsOf(client: ClientBase, table: ArchivedTable): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

async function* pagesOf(
  client: ClientBase,
  { columns, source, order, month }: { columns: readonly string[]; source: string; order: string; month: string },
): AsyncGenerator<Cells[]> {
  const cells = columns.map((name) => `source.${name}::text`).join(', ');
  const query = `SELECT ${cells} FROM ${source.replaceAll('$1', `'${firstDay(month)}'`)} ORDER BY ${order}`;
  await client.query(`DECLARE page NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({ text: `FETCH ${pageRows} FROM page`, rowMode: 'array' });
    if (rows.length === 0) break;
    yield rows;
  }
  await client.query('CLOSE page');
}

async function settle(client: ClientBase, settings: readonly string[]): Promise<void> {
  for (const setting of settings) await client.query(`SET LOCAL ${setting}`);
}

/** Archives, restores and new partitions wait for each other. */
async function takeTurn(client: ClientBase): Promise<void> {
  await settle(client, ['statement_timeout = 0', "timezone = 'UTC'", "datestyle = 'ISO'"]);
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.ledger_partitions', 0))`);
  // Rows and tables of the same months change in one transaction, by one connection to each node.
  if (await isSpread(client)) await settle(client, ['citus.multi_shard_modify_mode = sequential']);
}

/**
 * The transaction that replaces a month by its sums. The locks that requests and late settlements wait for come last, and are
 * given back between two attempts, so that the lane of a process never waits for longer than one attempt.
 */
async function takeOut(
  pool: Pool,
  { folder, month, actor }: { folder: string; month: string; actor: string },
): Promise<MonthMoved> {
  const checked = await checkArchive(folder);
  const { manifest } = checked;
  if (manifest.month !== month) throw new ArchiveRefused('other_archive', `${folder} is of ${manifest.month}`);
  const { ledger_entry: entries, posting: postings } = manifest.tables;
  await transaction(pool, async (client) => {
    await takeTurn(client);
    for (const table of ['ledger_entry', 'posting'] as const)
      if ((await columnsOf(client, table)).join() !== manifest.tables[table].columns.join())
        throw new ArchiveRefused('changed', `${folder} has other columns than ${table}: another version wrote it`);
    const { rows: counted } = await client.query<{ last: Date | null }>(
      `SELECT max(created_at) AS last FROM ${partitionOf(month)}`,
    );
    await client.query(
      `INSERT INTO archived_month (month, low, high, entries, postings, last_at, manifest, archive, archived_by)
       SELECT $1::date, uuid_at($1::date::timestamp AT TIME ZONE 'UTC'), uuid_at(($1::date::timestamp + interval '1 month') AT TIME ZONE 'UTC'),
              $2, $3, coalesce($4::timestamptz, $1::date::timestamp AT TIME ZONE 'UTC'), $5, $6, $7`,
      [firstDay(month), entries.rows, postings.rows, counted[0]?.last ?? null, checked.sha256, folder, actor],
    );
    await tellNodes(client, 'archived', firstDay(month));
    await carryForward(client, month);
    await compareSums(client, month, checked);
    const { rowCount: deleted } = await client.query(`DELETE FROM posting WHERE ${chargesOf('$1')}`, [firstDay(month)]);
    if (deleted !== postings.rows)
      throw new ArchiveRefused('changed', `${month} has other postings than its archive: it was written to meanwhile`);
    await appendAudit(client, {
      actor,
      action: 'ledger.archive',
      subject: `month:${month}`,
      after: { entries: entries.rows, postings: postings.rows, folder, manifest: checked.sha256.toString('hex') },
    });
    // Not CONCURRENTLY, which PostgreSQL refuses beside a default partition. The lock is held until the commit, which follows.
    await lockSoon(client, async () => {
      // Entries are append-only: as many as in the archive are the same ones. A late settlement waits from here on, and what
      // came before is counted.
      await client.query(`LOCK TABLE ${partitionOf(month)} IN SHARE ROW EXCLUSIVE MODE`);
      const { rows } = await client.query<{ n: string }>(`SELECT count(*)::text AS n FROM ${partitionOf(month)}`);
      if (rows[0]?.n !== String(entries.rows))
        throw new ArchiveRefused('changed', `${month} has other entries than its archive: it was written to meanwhile`);
      await client.query(`ALTER TABLE ledger_entry DETACH PARTITION ${partitionOf(month)}`);
    });
    await client.query(`DROP TABLE ${partitionOf(month)}`);
  });
  return { month, folder, entries: entries.rows, postings: postings.rows };
}

async function carryForward(client: ClientBase, month: string): Promise<void> {
  await client.query(
    `INSERT INTO archived_sum (month, ${[...sumKeys, ...sumAmounts].join(', ')})
     SELECT $1::date, ${sumKeys.map((name) => (name === 'hour' ? writtenIn : name)).join(', ')},
            count(*), sum(input), sum(cache_hit), sum(cache_write_5m), sum(cache_write_1h), sum(output),
            sum(CASE WHEN units IS NULL THEN 0 ELSE units_cost(units) END + CASE WHEN lines IS NULL THEN 0 ELSE lines_cost(lines) END), sum(cost), sum(charged), coalesce(sum(upstream_cost), 0)
     FROM ${partitionOf(month)} GROUP BY ${sumKeys.map((_name, index) => index + 2).join(', ')}`,
    [firstDay(month)],
  );
  await client.query(
    `INSERT INTO archived_charge (account_id, month, grant_id, postings, amount, last_held_at)
     SELECT account_id, $1::date, grant_id, count(*), sum(amount), max(coalesce(held_at, created_at)) FROM posting
     WHERE ${chargesOf('$1')} GROUP BY account_id, grant_id`,
    [firstDay(month)],
  );
}

/** `archived_sum.hour` of an entry. */
const writtenIn = `CASE WHEN date_trunc('month', created_at, 'UTC') = $1::date::timestamp AT TIME ZONE 'UTC'
  THEN $1::date::timestamp AT TIME ZONE 'UTC' ELSE date_trunc('hour', created_at, 'UTC') END`;

/** The sums of the tables must be those of the files: so the files have everything that the tables lose. */
async function compareSums(client: ClientBase, month: string, { sums, charges }: CheckedArchive): Promise<void> {
  for (const [table, keys, amounts, expected] of [
    ['archived_sum', sumKeys, sumAmounts, sums],
    ['archived_charge', chargeKeys, chargeAmounts, charges],
  ] as const) {
    const columns = [...keys, ...amounts];
    const { rows } = await client.query<SumRow>(
      `SELECT ${columns.map((name) => `${name}::text`).join(', ')} FROM ${table} WHERE month = $1::date`,
      [firstDay(month)],
    );
    const differs = rows.find((row) => {
      const other = expected.get(keyOf(row, keys));
      return other === undefined || amounts.some((name) => row[name] !== other[name]);
    });
    if (differs !== undefined || rows.length !== expected.size)
      throw new ArchiveRefused('changed', `The sums of ${month} are not those of its archive`);
  }
}

const lockWaitMs = 300;
const lockTries = 100;
const pauseMs = 600;
/** For locks that no request holds for long. */
const otherWaitMs = 30_000;

/**
 * Runs what needs locks. Requests queue behind the wait for them, so each wait is short, and there are many; between two of
 * them no lock of the work is held.
 */
async function lockSoon(client: ClientBase, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await client.query('SAVEPOINT locking');
    await settle(client, [`lock_timeout = '${lockWaitMs}ms'`]);
    try {
      await work();
      await client.query('RELEASE SAVEPOINT locking');
      await settle(client, [`lock_timeout = '${otherWaitMs}ms'`]);
      return;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== '55P03' && code !== '40P01') throw error;
      await client.query('ROLLBACK TO SAVEPOINT locking');
      if (tries === lockTries)
        throw new ArchiveRefused(
          'busy',
          'Something reads the whole ledger, such as the nightly check. Try again later.',
        );
    }
    await delay(pauseMs * (0.5 + Math.random()));
  }
}

/** An archive beside what the database remembers of its month. */
export async function verifyArchive(
  pool: Pool,
  folder: string,
): Promise<MonthMoved & { manifest: string; archivedAt: Date | null }> {
  const checked = await checkArchive(folder);
  const { month, tables } = checked.manifest;
  const known = await findMonth(pool, month);
  if (known !== null) {
    if (!known.manifest.equals(checked.sha256))
      throw new ArchiveRefused('other_archive', `This is not the archive that ${month} was taken out with`);
    await transaction(pool, async (client) => {
      await takeTurn(client);
      await compareSums(client, month, checked);
    });
  } else {
    refuseForeign(folder, checked.manifest, await identityOf(pool));
  }
  return {
    month,
    folder: resolve(folder),
    entries: tables.ledger_entry.rows,
    postings: tables.posting.rows,
    manifest: checked.sha256.toString('hex'),
    archivedAt: known?.archivedAt ?? null,
  };
}

async function findMonth(pool: Pool, month: string): Promise<{ manifest: Buffer; archivedAt: Date } | null> {
  const { rows } = await pool.query<{ manifest: Buffer; archivedAt: Date }>(
    'SELECT manifest, archived_at AS "archivedAt" FROM archived_month WHERE month = $1::date',
    [firstDay(month)],
  );
  return rows[0] ?? null;
}

/** Puts an archived month back, in one transaction, in which its sums go again. The archive stays where it is. */
export async function restoreMonth(
  pool: Pool,
  { folder, actor }: { folder: string; actor: string },
): Promise<MonthMoved> {
  await refuseUnprepared(pool);
  const checked = await checkArchive(folder);
  const { month, tables } = checked.manifest;
  const known = await findMonth(pool, month);
  // A database that was restored from a dump lies in another cluster, and remembers its archives.
  if (known === null) refuseForeign(folder, checked.manifest, await identityOf(pool));
  if (known === null) throw new ArchiveRefused('not_archived', `${month} is not archived in this database`);
  if (!known.manifest.equals(checked.sha256))
    throw new ArchiveRefused('other_archive', `This is not the archive that ${month} was taken out with`);
  const partition = partitionOf(month);
  await transaction(pool, async (client) => {
    await takeTurn(client);
    await compareSums(client, month, checked);
    await client.query(`CREATE TABLE ${partition} (LIKE ledger_entry INCLUDING ALL)`);
    await client.query(
      `CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ${partition} FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()`,
    );
    for (const [name, into] of [
      ['ledger_entry', partition],
      ['posting', 'posting'],
    ] as const)
      await insertRows(client, into, tables[name].columns, readTable(folder, tables[name]));
    const [low, high] = [await idAt(client, month, 0), await idAt(client, month, 1)];
    await lockSoon(client, () =>
      client.query(`ALTER TABLE ledger_entry ATTACH PARTITION ${partition} FOR VALUES FROM ('${low}') TO ('${high}')`),
    );
    await tellNodes(client, 'restored', firstDay(month));
    for (const table of ['archived_sum', 'archived_charge', 'archived_month'])
      await client.query(`DELETE FROM ${table} WHERE month = $1::date`, [firstDay(month)]);
    await appendAudit(client, {
      actor,
      action: 'ledger.restore',
      subject: `month:${month}`,
      after: { entries: tables.ledger_entry.rows, postings: tables.posting.rows },
    });
  });
  return { month, folder: resolve(folder), entries: tables.ledger_entry.rows, postings: tables.posting.rows };
}

async function idAt(client: ClientBase, month: string, later: number): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT uuid_at(($1::date::timestamp + make_interval(months => $2)) AT TIME ZONE 'UTC') AS id`,
    [firstDay(month), later],
  );
  return rows[0]?.id ?? '';
}

/** Columns that came after the archive get their default. */
async function insertRows(
  client: ClientBase,
  into: string,
  columns: readonly string[],
  rows: AsyncIterable<Record<string, string | null>>,
): Promise<void> {
  const { rows: types } = await client.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [into],
  );
  const typeOf = new Map(types.map(({ name, type }) => [name, type]));
  const missing = columns.find((name) => !typeOf.has(name));
  if (missing !== undefined) throw new ArchiveRefused('other_archive', `${into} has no column ${missing}`);
  const names = columns.join(', ');
  const text = `INSERT INTO ${into} (${names}) SELECT ${columns.map((name) => `${name}::${typeOf.get(name)}`).join(', ')}
    FROM unnest(${columns.map((_name, index) => `$${index + 1}::text[]`).join(', ')}) AS given (${names})`;
  let page: Record<string, string | null>[] = [];
  const write = async (): Promise<void> => {
    const lists = columns.map((name) => page.map((row) => row[name] ?? null));
    page = [];
    await client.query(text, lists);
  };
  for await (const row of rows) {
    page.push(row);
    if (page.length === pageRows) await write();
  }
  if (page.length > 0) await write();
}
