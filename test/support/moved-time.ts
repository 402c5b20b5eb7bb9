/** A clock that a test moves: for this process and a database, so that months pass in seconds. */

import type { Pool } from 'pg';

export interface MovedTime {
  /** From now on it is this moment, and time goes on from there. Never back: the database has rows of later. */
  to(moment: Date): Promise<void>;
  /** This process has its own clock again. */
  end(): void;
}

const real = globalThis.Date;

/**
 * Gives a migrated database, and this process with it, a clock that can be moved. In the database the clock's functions are
 * shadowed by some that add a shift; defaults of columns are made to call them. Connections that were open before keep the
 * real clock.
 */
export async function createMovedTime(pool: Pool): Promise<MovedTime> {
  const client = await pool.connect();
  await client.query(shadowClock);
  const { rows } = await client.query<{ statement: string }>(statementsForDefaults);
  for (const { statement } of rows) await client.query(statement);
  // It has the real clock.
  client.release(true);
  let shiftMs = 0;
  const moved = class MovedDate extends real {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(real.now() + shiftMs);
      else super(...(given as [number]));
    }
    static override now(): number {
      return real.now() + shiftMs;
    }
    static override [Symbol.hasInstance](value: unknown): boolean {
      return Object.prototype.toString.call(value) === '[object Date]';
    }
  };
  globalThis.Date = moved as unknown as DateConstructor;
  return {
    async to(moment) {
      if (moment.getTime() < Date.now()) throw new Error(`it is ${new Date().toISOString()} already`);
      shiftMs = moment.getTime() - real.now();
      await pool.query(`UPDATE moved.clock SET shift = $1 * interval '1 millisecond'`, [shiftMs]);
    },
    end() {
      globalThis.Date = real;
    },
  };
}

const shadowClock = `
CREATE SCHEMA moved;
CREATE TABLE moved.clock (shift interval NOT NULL);
INSERT INTO moved.clock VALUES ('0');
CREATE FUNCTION moved.now() RETURNS timestamptz LANGUAGE sql STABLE AS
  'SELECT pg_catalog.now() + shift FROM moved.clock';
CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
  'SELECT pg_catalog.clock_timestamp() + shift FROM moved.clock';
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET search_path = moved, public, pg_catalog', current_database());
END $$;`;

/** What gives the default of columns, and functions with a search path of their own, the moved clock. */
const statementsForDefaults = `
SELECT format('ALTER TABLE %I.%I ALTER COLUMN %I SET DEFAULT moved.now()', table_schema, table_name, column_name) AS statement
FROM information_schema.columns
WHERE table_schema IN ('public', 'ledger_partition') AND column_default ~* '^(CURRENT_TIMESTAMP|now\\(\\))'
UNION ALL
SELECT format('ALTER FUNCTION %s SET search_path = moved, public, pg_catalog', p.oid::regprocedure)
FROM pg_proc p WHERE array_to_string(p.proconfig, ',') LIKE '%search_path=%' AND pronamespace = 'public'::regnamespace`;
