import type { ClientBase } from 'pg';
import { isSpread, spreadTables } from '../../database/distribution.ts';
import { rewriteStatements } from './flight.ts';

/**
 * Sessions of the ledger where Citus has spread entries and postings over its nodes (`database/DISTRIBUTED.md`). Everything that is
 * locked stays on the coordinator, and so do the statements: they write entries and postings into temporary tables of the same
 * form, whose triggers hand each statement's rows to the shards, in the same transaction.
 *
 * The temporary tables have the CHECKs as well: what a shard refuses arrives without its code, and would look like a node that is away.
 *
 * A trigger of a shard sees neither the rows of a statement nor the tables of the coordinator: the sums of margins are kept here, and
 * requests of archived months are refused here, by the functions that do so everywhere. False where nothing is spread.
 */
export async function prepareForShards(client: ClientBase): Promise<boolean> {
  if (!(await isSpread(client))) return false;
  const { rows } = await client.query<SpreadTable>(columnsOfTables, [spreadTables]);
  await client.query(arrival(rows));
  rewriteStatements(client, (text) =>
    text
      .replaceAll(/INSERT INTO (ledger_entry|posting)\b/g, 'INSERT INTO pg_temp.arriving_$1')
      .replaceAll(entryLookup, 'JOIN pg_temp.entries_of($1, $2) AS e USING (account_id, request_id)'),
  );
  return true;
}

/** The lookup of entries of a list of accounts and one of requests. Citus plans for the values that it is given and no others. */
const entryLookup = /JOIN LATERAL \(SELECT [^()]* FROM ledger_entry WHERE [^()]* OFFSET 0\) AS e ON true/g;

interface SpreadTable {
  table: string;
  /** Their names, separated by commas. */
  columns: string;
}

const columnsOfTables = `
  SELECT attrelid::regclass::text AS table, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
  WHERE attrelid = ANY ($1::text[]::regclass[]) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' GROUP BY attrelid`;

// By name: after a migration that drops one column and adds another, the places of the two tables differ.
const arrivalOf = ({ table, columns }: SpreadTable): string => `
  CREATE TEMPORARY TABLE arriving_${table} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) ON COMMIT DELETE ROWS;
  CREATE FUNCTION pg_temp.hand_over_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO ${table} (${columns}) SELECT ${columns} FROM pg_temp.arriving_${table};
    DELETE FROM pg_temp.arriving_${table};
    RETURN NULL;
  END $$;
  CREATE TRIGGER hand_over AFTER INSERT ON arriving_${table}
    FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.hand_over_${table}();`;

const arrival = (tables: readonly SpreadTable[]): string => `
  SET citus.enable_ddl_propagation = off;
  ${tables.map(arrivalOf).join('')}
  CREATE TRIGGER add_margin AFTER INSERT ON arriving_ledger_entry REFERENCING NEW TABLE AS entered
    FOR EACH STATEMENT EXECUTE FUNCTION add_margin();
  CREATE TRIGGER refuse_archived BEFORE INSERT ON arriving_ledger_entry FOR EACH ROW EXECUTE FUNCTION refuse_archived_entry();
  CREATE FUNCTION pg_temp.entries_of(accounts uuid[], requests uuid[])
    RETURNS TABLE (account_id uuid, request_id uuid, cost bigint, charged bigint, free_after bigint)
    LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
  BEGIN
    RETURN QUERY SELECT e.account_id, e.request_id, e.cost, e.charged, e.free_after FROM ledger_entry e
      WHERE e.account_id = ANY (accounts) AND e.request_id = ANY (requests);
  END $$;
  SET citus.enable_ddl_propagation = on;
  SET citus.multi_shard_modify_mode = sequential;
  SET citus.max_adaptive_executor_pool_size = 1;`;
