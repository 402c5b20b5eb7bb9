/** Databases for tests, cloned from a migrated template. */

import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
import { inject } from 'vitest';
import { bigintTypes } from '../../server/database/pool.ts';
import { templateDatabase } from './postgres.ts';

/** A migrated database of a test's own. */
export interface TestDatabase {
  url: string;
  /** Connections to it, for looking inside. BIGINT arrives as `bigint`. */
  pool: Pool;
  /** Closes the pool and deletes the database, with any open connections. */
  drop(): Promise<void>;
}

/** Clones the migrated template of this run; `migrated: false` gives an empty database instead. */
export async function createDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const server = new URL(inject('postgresUrl'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(
    server.href,
    `CREATE DATABASE ${name} TEMPLATE ${migrated ? templateDatabase : 'template0'} STRATEGY file_copy`,
  );
  const address = new URL(server);
  address.pathname = `/${name}`;
  const pool = new Pool({ connectionString: address.href, types: bigintTypes });
  // A test may stop the server or drop the database under it.
  pool.on('error', () => {});
  return {
    url: address.href,
    pool,
    async drop() {
      await pool.end();
      await execute(server.href, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
