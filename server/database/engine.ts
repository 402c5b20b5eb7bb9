import { Client } from 'pg';
import { connecting } from './address.ts';
import { givenTables, spreadTables } from './distribution.ts';
import type { Queryable } from './pool.ts';

/**
 * Refuses databases that speak PostgreSQL's protocol and are known to break a promise: revocation at the next request, the hard
 * cap, what is append-only. `DISTRIBUTED.md` says of each what breaks, with the vendor's document.
 */

/** The database is one that promises would break on. A retry does not help; the sentence is for the operator. */
export class EngineRefused extends Error {
  override name = 'EngineRefused';
}

const timeoutMs = 5_000;

const needed =
  'Money and revocation need a PostgreSQL of version 15 or newer, with its triggers, LISTEN and locks (server/database/DISTRIBUTED.md).';

/** Other engines that claim to be a PostgreSQL of today, by what `version()` says. */
const others: readonly [pattern: RegExp, name: string, lack: string][] = [
  [/cockroach/i, 'CockroachDB', 'It has no triggers for statements and no locks of sessions.'],
  [/-YB-/, 'YugabyteDB', 'It has no deferred triggers.'],
];

interface Facts {
  number: number;
  role: string;
  isLimitless: boolean;
  isDsql: boolean;
  isCitus: boolean;
}

// No catalogue is read by name: these databases lack some of them.
const question = `
  SELECT current_setting('server_version_num')::int AS number, current_setting('session_replication_role') AS role,
         to_regclass('rds_aurora.limitless_tables') IS NOT NULL AS "isLimitless",
         to_regclass('sys.iam_pg_role_mappings') IS NOT NULL AS "isDsql",
         to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "isCitus"`;

/** Opens a connection for the question. Throws `EngineRefused`, or what the connection failed with. */
export async function checkEngine(url: string): Promise<void> {
  const client = new Client({
    ...connecting(url),
    application_name: 'steyg start',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refuseEngine(client);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Throws `EngineRefused` when this is no database to work with. */
export async function refuseEngine(client: Queryable): Promise<void> {
  const said = (await client.query<{ version: string }>('SELECT version()')).rows[0]?.version ?? '';
  const other = others.find(([pattern]) => pattern.test(said));
  if (other !== undefined) throw new EngineRefused(`DATABASE_URL leads to ${other[1]}. ${other[2]} ${needed}`);
  const [facts] = (await client.query<Facts>(question)).rows;
  if (facts === undefined) return;
  if (facts.isLimitless) {
    throw new EngineRefused(
      `DATABASE_URL leads to Aurora PostgreSQL Limitless Database. It has neither triggers nor MERGE nor LISTEN. ${needed}`,
    );
  }
  if (facts.isDsql) {
    throw new EngineRefused(
      `DATABASE_URL leads to Aurora DSQL. It has neither triggers nor PL/pgSQL nor foreign keys. ${needed}`,
    );
  }
  if (facts.number < 150_000) {
    throw new EngineRefused(`DATABASE_URL leads to PostgreSQL ${Math.trunc(facts.number / 10_000)}. ${needed}`);
  }
  if (facts.role !== 'origin') {
    throw new EngineRefused(
      `session_replication_role is ${facts.role} for this user or database, so that no trigger runs and a deleted key would go on working. Set it to origin.`,
    );
  }
  if (facts.isCitus) await refuseCitus(client);
}

/** A coordinator of Citus is a PostgreSQL like any other, while it has distributed all of the tables that it may, or none. */
async function refuseCitus(client: Queryable): Promise<void> {
  const { rows: groups } = await client.query<{ id: number }>('SELECT groupid AS id FROM pg_dist_local_group');
  if (groups.some(({ id }) => id !== 0)) {
    throw new EngineRefused(
      'DATABASE_URL leads to a worker of Citus. It has to be the coordinator: what is written here would be seen there by nobody.',
    );
  }
  const given = await givenTables(client);
  const strange = given.filter((name) => !spreadTables.includes(name));
  if (strange.length > 0) {
    throw new EngineRefused(
      `Citus has been given tables of this service that have to stay on the coordinator (${strange.join(', ')}). The triggers that keep revocation and the hard cap do not work on its shards: call undistribute_table for each (server/database/DISTRIBUTED.md).`,
    );
  }
  if (given.length > 0 && given.length < spreadTables.length) {
    throw new EngineRefused(
      'The distribution of this database was begun and is not finished: run `npm run --silent admin -- distribute`.',
    );
  }
}
