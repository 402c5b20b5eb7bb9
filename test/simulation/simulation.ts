import * as fc from 'fast-check';
import { Client } from 'pg';
import { createSessionCache, ownTime, type SessionCache } from './database.ts';
import { type RunResult, runScenario, type Scenario, scenario } from './scenario.ts';
import { loadModules, startMs } from './world.ts';

/** Runs from seeds, and the shortest history of one that breaks a promise. */
export interface Simulation {
  /** One run; null: nothing is broken. */
  seed(seed: number): Promise<{ result: RunResult; scenario: Scenario }>;
  /** The shortest steps that break something as well. */
  shorten(seed: number, tries: number): Promise<{ scenario: Scenario; broken: string[] } | null>;
  close(): Promise<void>;
}

/** Prepares a migrated database of the simulation's own, whose address this is. */
export async function createSimulation(url: string, changeSql: string | null = null): Promise<Simulation> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await ownTime(client);
  await client.query(`SET sim.time = '${startMs / 1_000}|${startMs / 1_000}'`);
  await client.query('SELECT ensure_ledger_partitions(10)');
  // Those of the day on which the test runs.
  const { rows: others } = await client.query(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
     WHERE inhparent = 'ledger_entry'::regclass AND relname < 'ledger_2031' AND relname <> 'ledger_elsewhere'`,
  );
  for (const { name } of others) await client.query(`DROP TABLE ledger_partition.${name}`);
  await createReset(client);
  await stopAutovacuum(client);
  if (changeSql !== null) await client.query(changeSql);
  await client.end();
  await loadModules();
  const sessions: SessionCache = await createSessionCache(url);
  let runs = 0;
  const run = async (given: Scenario): Promise<RunResult> => {
    runs += 1;
    if (runs % runsPerVacuum === 0) await sessions.own.query('VACUUM');
    return runScenario(given, url, sessions);
  };

  return {
    async seed(seed) {
      const given = scenarioOf(seed);
      return { scenario: given, result: await run(given) };
    },
    async shorten(seed, tries) {
      const details = await fc.check(
        fc.asyncProperty(scenario, async (given) => (await run(given)).broken.length === 0),
        { seed, numRuns: 1, interruptAfterTimeLimit: tries, markInterruptAsFailure: true },
      );
      const [shortest] = details.counterexample ?? [];
      return shortest === undefined ? null : { scenario: shortest, broken: (await run(shortest)).broken };
    },
    close: () => sessions.end(),
  };
}

/** The scenario of a seed: the first that fast-check makes of it. */
export function scenarioOf(seed: number): Scenario {
  const [first] = fc.sample(scenario, { seed, numRuns: 1 });
  return first as Scenario;
}

/** Each run leaves some thousand rows behind that nobody sees any more. */
const runsPerVacuum = 50;

/** Nobody but the run locks anything: PostgreSQL vacuums by its own clock, and a month that is attached or detached would wait for it. */
async function stopAutovacuum(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'`,
  );
  for (const { name } of rows as { name: string }[]) await client.query(`ALTER TABLE ${name} SET (${notVacuumed})`);
}
const notVacuumed = 'autovacuum_enabled = off, toast.autovacuum_enabled = off';

/** Empties what runs fill, in one call, although some of it must not be deleted. */
async function createReset(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'`,
  );
  const filled: string[] = [];
  for (const { name } of rows as { name: string }[]) {
    const { rows: some } = await client.query(`SELECT 1 FROM ${name} LIMIT 1`);
    if (some.length === 0) filled.push(name);
  }
  await client.query(
    `CREATE FUNCTION simulation_reset() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
       SET LOCAL session_replication_role = replica;
       ${filled.map((name) => `DELETE FROM ${name};`).join('\n')}
       -- Runs take months out, and later ones into being.
       PERFORM simulation_partitions((SELECT array_agg(name) FROM standby.first_partition), (SELECT array_agg(bound) FROM standby.first_partition));
     END $$`,
  );
  // Filled from the beginning, and moved by what runs do.
  await createStandby(client, [...filled, 'admission_change']);
}

/** A standby that follows no further than to a moment: a copy of all that runs fill, which can take the primary's place. */
async function createStandby(client: Client, tables: readonly string[]): Promise<void> {
  await client.query('CREATE SCHEMA standby');
  const partitions = `SELECT relname::text AS name, pg_get_expr(relpartbound, oid) AS bound FROM pg_inherits JOIN pg_class ON oid = inhrelid
    WHERE inhparent = 'ledger_entry'::regclass AND relname ~ '^ledger_[0-9]{4}_[0-9]{2}$'`;
  await client.query(`CREATE TABLE standby.first_partition AS ${partitions}`);
  await client.query(`CREATE TABLE standby.partition AS ${partitions}`);
  await client.query(
    `CREATE FUNCTION simulation_partitions(names text[], bounds text[]) RETURNS void LANGUAGE plpgsql AS $$
     DECLARE
       part record;
     BEGIN
       FOR part IN SELECT name FROM (${partitions}) AS own WHERE name <> ALL (names) LOOP
         EXECUTE format('DROP TABLE ledger_partition.%I', part.name);
       END LOOP;
       FOR part IN SELECT * FROM unnest(names, bounds) AS given (name, bound) WHERE to_regclass('ledger_partition.' || name) IS NULL LOOP
         EXECUTE format('CREATE TABLE ledger_partition.%I (LIKE ledger_entry INCLUDING ALL) WITH (${notVacuumed})', part.name);
         EXECUTE format('ALTER TABLE ledger_entry ATTACH PARTITION ledger_partition.%I %s', part.name, part.bound);
       END LOOP;
     END $$`,
  );
  const follow: string[] = [];
  const promote: string[] = [];
  for (const [index, table] of tables.entries()) {
    const copy = `standby.t${index}`;
    const { rows } = await client.query(
      `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
       WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    );
    const { columns } = rows[0] as { columns: string };
    await client.query(`CREATE UNLOGGED TABLE ${copy} AS SELECT ${columns} FROM ${table} WITH NO DATA`);
    follow.push(`DELETE FROM ${copy}; INSERT INTO ${copy} SELECT ${columns} FROM ${table};`);
    promote.push(`DELETE FROM ${table};
                  INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${copy};`);
  }
  await client.query(
    `CREATE FUNCTION standby_follow() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
       DELETE FROM standby.partition; INSERT INTO standby.partition ${partitions};
       ${follow.join('\n')} END $$`,
  );
  await client.query(
    `CREATE FUNCTION standby_promote() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
       SET LOCAL session_replication_role = replica;
       DELETE FROM ledger_entry;
       PERFORM simulation_partitions((SELECT array_agg(name) FROM standby.partition), (SELECT array_agg(bound) FROM standby.partition));
       ${promote.join('\n')}
     END $$`,
  );
}
