/** Databases that speak PostgreSQL's protocol and would break a promise end the start, and fail the examination of a host, in a sentence. */

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, expect, inject, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { type ServerProcess, startServer } from '../start/server-process.ts';
import { createDirectory } from '../support/directory.ts';

const directory = createDirectory('steyg-engine-');
let name: string;
let url: string;
let server: ServerProcess | null = null;

async function run(text: string, connectionString = url): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

beforeEach(async () => {
  name = `engine_${randomBytes(6).toString('hex')}`;
  await run(`CREATE DATABASE ${name}`, inject('postgresUrl'));
  const address = new URL(inject('postgresUrl'));
  address.pathname = `/${name}`;
  url = address.href;
});
afterEach(async () => {
  await server?.kill();
  server = null;
  await run(`DROP DATABASE ${name} WITH (FORCE)`, inject('postgresUrl'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Lets the database say of itself what another engine says. */
async function pretend(version: string): Promise<void> {
  await run(`CREATE SCHEMA pretended;
    CREATE FUNCTION pretended.version() RETURNS text LANGUAGE sql AS $$ SELECT '${version}'::text $$;
    ALTER DATABASE ${name} SET search_path = pretended, pg_catalog, public`);
}

/** What the start prints as it ends, what `doctor:server` says of the database, and how both end. */
async function outcome(): Promise<{ errors: string; codes: unknown[]; found: string; tables: number }> {
  const env = { DATABASE_URL: url };
  server = await startServer({ dataDir: join(directory, name), env });
  const code = await server.exited;
  let out = '';
  const examined = await runCommandLine(['doctor', '--json'], {
    env: { ...env, DATA_DIR: join(directory, name) },
    out: (text) => {
      out += text;
    },
    err: () => undefined,
  });
  const { error } = JSON.parse(out) as { error: { findings: { subject: string; state: string; found: string }[] } };
  const database = error.findings.find(({ subject }) => subject === 'database');
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`);
  await client.end();
  return {
    errors: server.errors.trim(),
    codes: [code, examined, database?.state],
    found: database?.found ?? '',
    tables: rowCount ?? 0,
  };
}

it.each([
  ['CockroachDB', 'CockroachDB CCL v25.4.0 (x86_64-pc-linux-gnu, built 2025/11/03, go1.23.12)'],
  ['YugabyteDB', 'PostgreSQL 15.12-YB-2025.2.3.0-b1 on x86_64-pc-linux-gnu, compiled by clang, 64-bit'],
])('refuses %s in a sentence before anything is written', async (engine, version) => {
  await pretend(version);
  const { errors, codes, found, tables } = await outcome();
  expect(codes).toEqual([1, 1, 'bad']);
  expect(errors).toMatch(new RegExp(`^DATABASE_URL leads to ${engine}\\. It has no .*DISTRIBUTED\\.md\\)\\.$`));
  expect(found).toBe(errors);
  expect(tables).toBe(0);
});

it.each([
  [
    'Aurora PostgreSQL Limitless Database',
    'CREATE SCHEMA rds_aurora; CREATE VIEW rds_aurora.limitless_tables AS SELECT 1',
  ],
  ['Aurora DSQL', 'CREATE SCHEMA sys; CREATE VIEW sys.iam_pg_role_mappings AS SELECT 1'],
])('refuses %s, known by its views', async (engine, script) => {
  await run(script);
  const { errors, codes, found } = await outcome();
  expect(codes).toEqual([1, 1, 'bad']);
  expect(errors).toContain(`DATABASE_URL leads to ${engine}. It has neither triggers nor `);
  expect(found).toBe(errors);
});

it('is refused by the migrations of the command line, too', async () => {
  await run(`ALTER DATABASE ${name} SET session_replication_role = replica`);
  let out = '';
  const code = await runCommandLine(['migrate', '--json'], {
    env: { DATABASE_URL: url, DATA_DIR: join(directory, name) },
    out: (text) => {
      out += text;
    },
    err: () => undefined,
  });
  expect([code, JSON.parse(out)]).toMatchObject([1, { error: { code: 'database_refused' } }]);
});

it('refuses a database whose sessions run no triggers: a deleted key would go on working', async () => {
  await run(`ALTER DATABASE ${name} SET session_replication_role = replica`);
  const { errors, codes, found } = await outcome();
  expect(codes).toEqual([1, 1, 'bad']);
  expect(errors).toContain('session_replication_role is replica');
  expect(found).toBe(errors);
});
