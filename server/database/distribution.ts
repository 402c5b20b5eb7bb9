import type { Client } from 'pg';
import type { Queryable } from './pool.ts';

/**
 * Spreads the tables that grow with each request over the nodes of a Citus, by account. What requests lock stays on the coordinator,
 * so that admissions, revocation and the hard cap are those of one PostgreSQL. `DISTRIBUTED.md` says why these tables and no others.
 */

/** Distributed by account, and co-located: an entry and its postings lie on one shard. */
export const spreadTables: readonly string[] = ['ledger_entry', 'posting'];

/**
 * Triggers of these tables that a shard cannot have: one reads the rows of a statement, which Citus does not carry over, and one a
 * table of the coordinator. The sessions that write entries run them (`billing/lane/shards.ts`).
 */
const sessionTriggers: readonly { of: string; table: string; trigger: string; definition: string }[] = [
  {
    of: 'ledger_entry',
    table: 'ledger_entry',
    trigger: 'add_margin',
    definition:
      'AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION add_margin()',
  },
  {
    of: 'ledger_entry',
    table: 'ledger_partition.ledger_elsewhere',
    trigger: 'refuse_archived',
    definition:
      'BEFORE INSERT ON ledger_partition.ledger_elsewhere FOR EACH ROW EXECUTE FUNCTION refuse_archived_entry()',
  },
];

/**
 * What keeps an archive whole asks which months are archived: charges leave with theirs, and no entry of one comes later. A shard does not
 * find that table. There the same rules ask for the bounds of these months, of which every node has a copy; `archive.ts` changes both in
 * one transaction (`tellNodes`).
 */
const archiveOnNodes = 'ledger_shards';

const isArchivedOnNodes = (row: string): string =>
  `(SELECT count(*) FROM ${archiveOnNodes}.archived WHERE low <= ${row}.request_id AND high > ${row}.request_id) > 0`;

// One by one: Citus sends a trigger to the shards in the words in which it was given, and with what stands beside it.
const prepareArchive = [
  `CREATE SCHEMA ${archiveOnNodes}`,
  `CREATE TABLE ${archiveOnNodes}.archived (low uuid PRIMARY KEY, high uuid NOT NULL)`,
  `INSERT INTO ${archiveOnNodes}.archived SELECT low, high FROM archived_month`,
  `SELECT create_reference_table('${archiveOnNodes}.archived')`,
  `CREATE FUNCTION ${archiveOnNodes}.refuse_posting_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' AND OLD.kind = 'charge' AND ${isArchivedOnNodes('OLD')} THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END $$`,
  'DROP TRIGGER append_only ON posting',
  `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON posting FOR EACH ROW EXECUTE FUNCTION ${archiveOnNodes}.refuse_posting_rewrite()`,
  `CREATE FUNCTION ${archiveOnNodes}.refuse_archived_entry() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF ${isArchivedOnNodes('NEW')} THEN
      RAISE EXCEPTION 'the ledger of this month is archived' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER refuse_archived BEFORE INSERT ON ledger_partition.ledger_elsewhere FOR EACH ROW EXECUTE FUNCTION ${archiveOnNodes}.refuse_archived_entry()`,
];

const endArchive = [
  'DROP TRIGGER IF EXISTS refuse_archived ON ledger_partition.ledger_elsewhere',
  'DROP TRIGGER append_only ON posting',
  'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON posting FOR EACH ROW EXECUTE FUNCTION refuse_posting_rewrite()',
  `DROP SCHEMA IF EXISTS ${archiveOnNodes} CASCADE`,
];

const ownSchema = `(SELECT relnamespace FROM pg_class WHERE oid = to_regclass('_prisma_migrations'))`;

/** The tables of this service that Citus has been given, by name. Of a database with the extension only. */
export async function givenTables(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
     WHERE c.relnamespace = ${ownSchema} ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Whether Citus has spread the entries over its nodes: then no snapshot is one of all of them. */
export async function isSpread(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ isCitus: boolean }>(
    `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "isCitus"`,
  );
  return rows[0]?.isCitus === true && (await givenTables(db)).includes('ledger_entry');
}

/** The database cannot be distributed as it is. Each sentence names one thing that stands in the way. */
export class DistributionRefused extends Error {
  override name = 'DistributionRefused';
  readonly inTheWay: readonly string[];

  constructor(inTheWay: readonly string[]) {
    super(inTheWay.join('\n'));
    this.inTheWay = inTheWay;
  }
}

export interface TablePlan {
  table: string;
  place: 'shards' | 'coordinator';
  /** Whether it lies there now. */
  isThere: boolean;
  /** As PostgreSQL estimates them; its months included. */
  rows: number;
  bytes: number;
  why: string;
}

export interface DistributionPlan {
  tables: TablePlan[];
  /** Empty: `distribute` would go on from here. */
  inTheWay: string[];
}

/** What `distribute` would do with this database, and what stands in the way. Changes nothing; tries copies of the tables and takes them back. */
export async function planDistribution(client: Client): Promise<DistributionPlan> {
  const refusal = await refusalOf(client);
  if (refusal !== null) throw new DistributionRefused([refusal]);
  const given = new Set(await givenTables(client));
  const nodes = await nodesInTheWay(client);
  const all = await tablesOf(client);
  const said =
    nodes.length > 0
      ? null
      : await tryCopies(
          client,
          all.filter(({ hasAccount }) => hasAccount),
        );
  const tables = all.map(({ table, hasAccount, rows, bytes }): TablePlan => {
    const place = spreadTables.includes(table) ? 'shards' : 'coordinator';
    return {
      table,
      place,
      isThere: (place === 'shards') === given.has(table),
      rows,
      bytes,
      why: place === 'shards' ? 'grows with each request' : whyStays(hasAccount, said?.get(table)),
    };
  });
  return { tables, inTheWay: [...nodes, ...(await othersInTheWay(client, given)), ...refusedOf(given, said)] };
}

function refusedOf(given: ReadonlySet<string>, said: ReadonlyMap<string, string> | null): string[] {
  return spreadTables.flatMap((table) => {
    const sentence = given.has(table) ? undefined : said?.get(table);
    return sentence === undefined || sentence === taken ? [] : [`Citus does not take ${table}: ${sentence}`];
  });
}

/**
 * Distributes what is not distributed yet, a table in a transaction of its own, and returns the tables that it distributed. Killed, it
 * goes on from the last whole table when it is called again; until then no process of the service starts. The service must not run.
 */
export async function distribute(client: Client): Promise<string[]> {
  const refusal = await refusalOf(client);
  if (refusal !== null) throw new DistributionRefused([refusal]);
  const given = new Set(await givenTables(client));
  const left = spreadTables.filter((table) => !given.has(table));
  const nodes = await nodesInTheWay(client);
  const said =
    nodes.length > 0
      ? null
      : await tryCopies(
          client,
          left.map((table) => ({ table })),
        );
  const inTheWay = [...nodes, ...(await othersInTheWay(client, given)), ...refusedOf(given, said)];
  if (inTheWay.length > 0) throw new DistributionRefused(inTheWay);
  const { rows } = await client.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
  // For the months to come: their triggers are those of the months that are there.
  await client.query(`ALTER DATABASE ${rows[0]?.name} SET citus.enable_unsafe_triggers = on`);
  const done: string[] = [];
  for (const table of left) {
    await inTransaction(client, async () => {
      for (const one of sessionTriggers) {
        if (one.of === table) await client.query(`DROP TRIGGER IF EXISTS ${one.trigger} ON ${one.table}`);
      }
      await spread(client, table, table === spreadTables[0] ? null : (spreadTables[0] ?? null));
    });
    done.push(table);
  }
  if (!(await isArchivePrepared(client))) {
    await inTransaction(client, async () => {
      for (const statement of prepareArchive) await client.query(statement);
    });
  }
  return done;
}

/** Whether months can leave, and come back: not where an earlier version has distributed. */
export async function isArchivePrepared(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ isThere: boolean }>(
    `SELECT to_regclass('${archiveOnNodes}.archived') IS NOT NULL AS "isThere"`,
  );
  return rows[0]?.isThere === true;
}

/**
 * Tells every node that the month with this first day is archived, or that it is back. Nothing where no node knows of archives. In the
 * transaction of the archive, in which `archived_month` has the month.
 */
export async function tellNodes(client: Queryable, what: 'archived' | 'restored', firstDay: string): Promise<void> {
  if (!(await isArchivePrepared(client))) return;
  const table = `${archiveOnNodes}.archived`;
  await client.query(
    what === 'archived'
      ? `INSERT INTO ${table} SELECT low, high FROM archived_month WHERE month = $1::date`
      : `DELETE FROM ${table} WHERE low = uuid_at($1::date::timestamp AT TIME ZONE 'UTC')`,
    [firstDay],
  );
}

/**
 * Brings everything back to the coordinator, as `distribute` took it away: resumable, with the service stopped. Returns the tables
 * that it brought. The coordinator needs room for them.
 */
export async function gather(client: Client): Promise<string[]> {
  const refusal = await refusalOf(client);
  if (refusal !== null) throw new DistributionRefused([refusal]);
  const given = new Set(await givenTables(client));
  const inTheWay = [...(await nodesInTheWay(client)), ...(await othersInTheWay(client, given))];
  if (inTheWay.length > 0) throw new DistributionRefused(inTheWay);
  const done: string[] = [];
  for (const table of spreadTables.toReversed().filter((one) => given.has(one))) {
    await inTransaction(client, async () => {
      await client.query('SELECT undistribute_table($1::text::regclass)', [table]);
      for (const one of sessionTriggers) {
        if (one.of === table) await client.query(`CREATE TRIGGER ${one.trigger} ${one.definition}`);
      }
      for (const statement of table === 'posting' ? endArchive : []) await client.query(statement);
    });
    done.push(table);
  }
  return done;
}

async function spread(client: Client, table: string, beside: string | null): Promise<void> {
  await client.query(`SELECT create_distributed_table($1::text::regclass, 'account_id', colocate_with => $2)`, [
    table,
    beside ?? 'none',
  ]);
}

async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(
      'SET LOCAL citus.enable_unsafe_triggers = on; SET LOCAL citus.multi_shard_modify_mode = sequential',
    );
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Why this is no database to distribute at all; null: it is a coordinator of Citus with the tables of this service. */
async function refusalOf(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ isCitus: boolean; isMigrated: boolean }>(
    `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "isCitus", to_regclass('posting') IS NOT NULL AS "isMigrated"`,
  );
  if (rows[0]?.isCitus !== true) {
    return 'DATABASE_URL leads to a PostgreSQL without the extension citus: there are no nodes to distribute over. One PostgreSQL needs none (server/database/DISTRIBUTED.md).';
  }
  const { rows: groups } = await client.query<{ id: number }>('SELECT groupid AS id FROM pg_dist_local_group');
  if (groups.some(({ id }) => id !== 0)) {
    return 'DATABASE_URL leads to a worker of Citus. It has to be the coordinator.';
  }
  return rows[0].isMigrated
    ? null
    : 'The database has no tables of this service yet: run `migrate`, or start the server.';
}

/** What stands in the way on the nodes themselves: without them nothing can be tried. */
async function nodesInTheWay(client: Client): Promise<string[]> {
  const { rows: workers } = await client.query('SELECT FROM citus_get_active_worker_nodes()');
  if (workers.length === 0) return ['No worker is active: add one with citus_add_node.'];
  const setting = `SELECT current_setting('max_prepared_transactions')::int`;
  const { rows } = await client.query<{ node: string; success: boolean; result: string }>(
    `SELECT n.nodename || ':' || n.nodeport AS node, r.success, r.result
     FROM run_command_on_all_nodes($1) AS r JOIN pg_dist_node n USING (nodeid) ORDER BY 1`,
    [setting],
  );
  return rows.flatMap(({ node, success, result }) => {
    if (!success) return [`The node ${node} does not answer: ${result}`];
    return result === '0'
      ? [`The node ${node} has max_prepared_transactions = 0: nothing could be committed on two nodes at once.`]
      : [];
  });
}

async function othersInTheWay(client: Client, given: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await client.query<{ alive: number }>(
    `SELECT count(*)::int AS alive FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND application_name LIKE 'steyg %' AND application_name NOT IN ('steyg admin', 'steyg distribute')`,
  );
  const { alive = 0 } = rows[0] ?? {};
  const strange = [...given].filter((table) => !spreadTables.includes(table));
  return [
    ...(alive > 0
      ? [
          `The service is running (${alive} sessions): stop every process of it. It starts again when everything is distributed.`,
        ]
      : []),
    ...(strange.length > 0
      ? [
          `Citus has been given tables that have to stay on the coordinator (${strange.join(', ')}): call undistribute_table for each.`,
        ]
      : []),
  ];
}

interface OwnTable {
  table: string;
  hasAccount: boolean;
  rows: number;
  bytes: number;
}

async function tablesOf(client: Client): Promise<OwnTable[]> {
  const { rows } = await client.query<OwnTable>(
    `SELECT c.relname AS table, EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'account_id') AS "hasAccount",
            (SELECT coalesce(sum(greatest(p.reltuples, 0)), 0)::float8 FROM pg_partition_tree(c.oid) t JOIN pg_class p ON p.oid = t.relid) AS rows,
            (SELECT coalesce(sum(pg_total_relation_size(t.relid)), 0)::float8 FROM pg_partition_tree(c.oid) t) AS bytes
     FROM pg_class c WHERE c.relnamespace = ${ownSchema} AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY bytes DESC, 1`,
  );
  return rows;
}

/** Citus would take the table. */
const taken = 'taken';

function whyStays(hasAccount: boolean, said: string | undefined): string {
  if (!hasAccount) return 'is not of one account';
  if (said === undefined) return 'does not grow with each request';
  return said === taken ? 'could be distributed, but is read or written with what stays' : `cannot be: ${said}`;
}

const copies = 'steyg_copies';

/** What Citus says of an empty copy of each table: `taken`, or its sentence. Everything is taken back. */
async function tryCopies(client: Client, tables: readonly Pick<OwnTable, 'table'>[]): Promise<Map<string, string>> {
  const said = new Map<string, string>();
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL citus.enable_unsafe_triggers = on; SET LOCAL citus.shard_count = 1; SET LOCAL client_min_messages = error;
      CREATE SCHEMA ${copies}`);
    for (const { table } of tables) {
      await client.query('SAVEPOINT copy');
      try {
        await copy(client, table);
        await spread(client, `${copies}.${table}`, null);
        said.set(table, taken);
      } catch (error) {
        said.set(table, (error as Error).message.split('\n')[0] ?? '');
      }
      await client.query('ROLLBACK TO SAVEPOINT copy');
    }
  } finally {
    await client.query('ROLLBACK');
  }
  return said;
}

/** An empty copy with the table's keys, rules and triggers, but those that the sessions of the ledger run. */
async function copy(client: Client, table: string): Promise<void> {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT format('ALTER TABLE %I.%I ADD %s', $2::text, $1::text, pg_get_constraintdef(oid)) AS definition
     FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype = 'f'
     UNION ALL
     SELECT regexp_replace(pg_get_triggerdef(oid), ' ON \\S+ ', format(' ON %I.%I ', $2::text, $1::text))
     FROM pg_trigger WHERE tgrelid = $1::text::regclass AND NOT tgisinternal AND tgname <> ALL ($3)`,
    [table, copies, sessionTriggers.filter((one) => one.of === table).map(({ trigger }) => trigger)],
  );
  await client.query(`CREATE TABLE ${copies}."${table}" (LIKE "${table}" INCLUDING ALL)`);
  for (const { definition } of rows) await client.query(definition);
}
