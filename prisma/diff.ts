import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import { Client, type FieldDef, Pool, type QueryArrayConfig, type QueryArrayResult } from 'pg';
import { migrate, migrationsDirectory } from '../server/database/migrate.ts';
import { findBinaries } from '../server/database/postgres/binaries.ts';
import { chooseIdentity } from '../server/database/postgres/identity.ts';
import {
  initCluster,
  serverSettings,
  socketUrl,
  startPostmaster,
  stopPostmaster,
} from '../server/database/postgres/postmaster.ts';

/**
 * Compares the schema that the migrations make with `schema.prisma`.
 *
 * npm run migration -- <words>     writes prisma/migrations/<time>_<words>/migration.sql from the difference
 * npm run migration -- --check     exit code 2 and the missing SQL when there is a difference
 *
 * Not compared, because Prisma does not know them: CHECKs, triggers, functions, partial and expression indexes, storage
 * settings. These are written into the migration by hand.
 */

const schemaPath = fileURLToPath(new URL('./schema.prisma', import.meta.url));

/**
 * The SQL that takes a database made by the migrations to `schema.prisma`; empty when they agree. `url` is any database
 * of a server where databases may be created: the comparison uses one of its own.
 */
export async function diffSchema(options: { url: string; schema?: string; migrations?: string }): Promise<string> {
  const admin = new Client({ connectionString: options.url });
  await admin.connect();
  const shadow = `steyg_shadow_${randomBytes(6).toString('hex')}`;
  try {
    await admin.query(`CREATE DATABASE ${shadow} TEMPLATE template0`);
    const url = withDatabase(options.url, shadow);
    await migrate({ url, directory: options.migrations ?? migrationsDirectory });
    return await diffDatabase(url, options.schema ?? (await readFile(schemaPath, 'utf8')));
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${shadow} WITH (FORCE)`);
    await admin.end();
  }
}

function withDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

async function diffDatabase(url: string, schema: string): Promise<string> {
  const adapter = catalogAdapter(url);
  try {
    const factory = bindMigrationAwareSqlAdapterFactory(adapter.factory);
    const file = { path: 'schema.prisma', content: schema };
    const engine = await SchemaEngine.new({ datamodels: [[file.path, file.content]] }, () => {}, factory);
    try {
      const result = await engine.diff({
        from: { tag: 'schemaDatasource', files: [file], configDir: '.' },
        to: { tag: 'schemaDatamodel', files: [file] },
        script: true,
        exitCode: true,
        filters: { externalTables: [], externalEnums: [] },
      });
      return result.exitCode === 0 ? '' : (result.stdout ?? '');
    } finally {
      engine.free();
    }
  } finally {
    await adapter.end();
  }
}

const charType = 18;
const textType = 25;

/**
 * Prisma's adapter with a gap closed: it does not know PostgreSQL's one-byte type `"char"`, which the system catalogs
 * use. Such columns are cast to text and renamed back.
 */
function catalogAdapter(url: string): { factory: SqlMigrationAwareDriverAdapterFactory; end(): Promise<void> } {
  const pool = new Pool({ connectionString: url, max: 2 });
  // Dropping the shadow database may cut an idle connection.
  pool.on('error', () => {});

  const charColumns = new WeakMap<object, number[]>();
  const query = pool.query.bind(pool) as (config: QueryArrayConfig) => Promise<QueryArrayResult>;
  const textual = async (config: QueryArrayConfig) => {
    const result = await query(config);
    const columns = result.fields.flatMap((field, index) => (field.dataTypeID === charType ? [index] : []));
    for (const index of columns) Object.assign(result.fields[index] as FieldDef, { dataTypeID: textType });
    charColumns.set(result.rows, columns);
    return result;
  };
  pool.query = textual as typeof pool.query;

  const prisma = new PrismaPg(pool);
  const connect = async (): Promise<SqlDriverAdapter> => {
    const adapter = await prisma.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (sql) => {
      const result = await queryRaw(sql);
      for (const index of charColumns.get(result.rows) ?? []) result.columnTypes[index] = ColumnTypeEnum.Character;
      return result;
    };
    return adapter;
  };
  return {
    factory: { provider: prisma.provider, adapterName: prisma.adapterName, connect, connectToShadowDb: connect },
    end: () => pool.end(),
  };
}

/** Runs `work` with an empty temporary PostgreSQL. */
async function withPostgres<T>(work: (url: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'steyg-'));
  try {
    const identity = await chooseIdentity();
    const cluster = { binaries: await findBinaries(), identity, directory: join(directory, 'data') };
    if (identity.kind === 'user') await chown(directory, identity.uid, identity.gid);
    await initCluster(cluster);
    const settings = { ...serverSettings(), fsync: 'off' };
    const logFile = join(directory, 'log');
    const { pid } = await startPostmaster({
      cluster,
      socketDirectory: directory,
      logFile,
      settings,
      timeoutMs: 30_000,
    });
    try {
      return await work(socketUrl(directory, 'postgres'));
    } finally {
      await stopPostmaster(pid, { timeoutMs: 10_000 });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** `2026-11-21T08:30:00.000Z` -> `20261121083000`, as Prisma names migrations. */
function timestamp(moment: Date): string {
  return moment.toISOString().replaceAll(/\D/g, '').slice(0, 14);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
  const words = positionals.join('_').toLowerCase();
  if (values.check !== true && !/^[a-z0-9_]+$/.test(words)) {
    console.error('usage: npm run migration -- <words>  |  npm run migration -- --check');
    return 1;
  }
  const script = await withPostgres((url) => diffSchema({ url }));
  if (script === '') {
    console.log('The migrations make what schema.prisma says.');
    return 0;
  }
  if (values.check === true) {
    console.error(`The migrations lack:\n\n${script}`);
    return 2;
  }
  const directory = join(migrationsDirectory, `${timestamp(new Date())}_${words}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'migration.sql'), script);
  console.log(`Wrote ${directory}. Add what Prisma cannot say by hand, then run it once more with --check.`);
  return 0;
}

if (import.meta.main) process.exitCode = await main();
