import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse, print, visit } from 'graphql';
import { Pool } from 'pg';
import { prepareDatabase } from '../../server/admin/prepare.ts';
import { createApp } from '../../server/app/app.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { startSweep } from '../../server/billing/upkeep/sweep.ts';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createSecret } from '../../server/keys/secret.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import { createLog } from '../../server/runtime/log.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createSimulator } from '../../server/simulator/simulator.ts';
import { addCustomer, addModel, ask, type Customer, openLedger, quiet, settlement } from '../billing/support.ts';
import { createDirectory } from '../support/directory.ts';
import { createPostgres } from '../support/postgres.ts';
import { busiestOf, seedAccounts, seedEntries } from './seed.ts';

/**
 * `npm run bench:scale -- [--rows 0,2000000,10000000] [--accounts 100000] [--times 30]` prints how long the queries of the
 * dashboard, an admission with its settlement, a sweep and the nightly check take as the ledger grows, on a PostgreSQL of
 * its own that is deleted afterwards. Times are p95 of a client that asks one at a time.
 *
 * `--database URL` measures a database that `npm run seed:scale` has filled, and only what `--only PATTERN` names: on a
 * machine that others use, in pieces as short as its pauses.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '0,2000000,10000000' },
    accounts: { type: 'string', default: '100000' },
    times: { type: 'string', default: '30' },
    days: { type: 'string', default: '365' },
    database: { type: 'string' },
    only: { type: 'string', default: '.' },
  },
});
const sizes = values.database === undefined ? values.rows.split(',').map(Number) : [0];
const only = new RegExp(values.only);
const times = Number(values.times);
const total = Math.max(...sizes);

const p95 = (took: readonly number[]): number =>
  [...took].sort((a, b) => a - b)[Math.ceil(took.length * 0.95) - 1] ?? Number.NaN;

async function timed(work: () => Promise<unknown>, count = times): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const began = performance.now();
    await work();
    if (i > 0 || count === 1) took.push(performance.now() - began);
  }
  return p95(took);
}

interface Answer {
  errors?: { message: string; extensions?: { retryAfterSeconds?: number } }[];
}

/** The SDK's queries, which are those of the dashboard, as whole documents by name. */
function readQueries(): Map<string, { text: string; required: string[]; all: string[] }> {
  const documents = globSync('sdk/operations/*.graphql').map((path) => parse(readFileSync(path, 'utf8')));
  const definitions = documents.flatMap((document) => document.definitions);
  const fragments = new Map(
    definitions
      .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((each) => [each.name.value, each]),
  );
  const needed = (node: OperationDefinitionNode | FragmentDefinitionNode, seen: Set<string>): Set<string> => {
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (fragment === undefined || seen.has(name.value)) return;
        seen.add(name.value);
        needed(fragment, seen);
      },
    });
    return seen;
  };
  const queries = definitions.filter(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION && each.operation === 'query',
  );
  return new Map(
    queries.map((query) => [
      query.name?.value ?? '',
      {
        text: [query, ...[...needed(query, new Set())].map((name) => fragments.get(name))]
          .map((node) => (node === undefined ? '' : print(node)))
          .join('\n'),
        required: (query.variableDefinitions ?? [])
          .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined)
          .map(({ variable }) => variable.name.value),
        all: (query.variableDefinitions ?? []).map(({ variable }) => variable.name.value),
      },
    ]),
  );
}

const directory = createDirectory('steyg-scale-');
// As an operator would set it on a machine of this size; the disk is written to as usual.
const postgres =
  values.database === undefined
    ? await createPostgres({
        shared_buffers: '1GB',
        work_mem: '64MB',
        maintenance_work_mem: '512MB',
        max_wal_size: '4GB',
      })
    : null;
if (postgres !== null) await ensureDatabase(postgres.url('postgres'), 'scale');
const url = values.database ?? postgres?.url('scale') ?? '';
const log = createLog('silent');
const simulator = await createSimulator({});
const config = loadConfig({
  PORT: '0',
  DATA_DIR: directory,
  DATABASE_URL: url,
  PROBES: '0',
  LOG_LEVEL: 'silent',
  OVERLOAD_LAG_MS: '86400000',
});
const secretKey = randomBytes(32);
await migrate({ url });
const pool = new Pool({ connectionString: url, max: 4 });
const app = await createApp({
  config,
  databaseUrl: url,
  secretKey,
  simulatorUrl: simulator.url,
  log,
  scheduled: false,
  prepare: async () => void (await prepareDatabase({ config, databaseUrl: url, secretKey, log })),
});
const table = new Map<string, (number | null)[]>();
const note = (name: string, column: number, milliseconds: number | null): void => {
  const row = table.get(name) ?? sizes.map(() => null);
  row[column] = milliseconds;
  table.set(name, row);
  console.error(`${(sizes[column] ?? 0).toLocaleString('en')}: ${name} ${milliseconds?.toFixed(1)} ms`);
};

/** Admissions with their settlements, what they write to disk, and rounds of the sweep beside them. */
async function measureMoney(column: number, customer: Customer): Promise<void> {
  const { ledger, spool, close, pool: lane } = await openLedger(url);
  const admissions: number[] = [];
  const pair = async (): Promise<void> => {
    const asking = ask(customer);
    const began = performance.now();
    const admission = await ledger.admit(asking);
    admissions.push(performance.now() - began);
    if (admission.kind !== 'refused') await ledger.settle(settlement(asking, admission));
  };
  if (only.test('admission and settlement')) {
    note('admission and settlement', column, await timed(pair, times * 20));
    note('admission', column, p95(admissions));
    // One at a time leaves the batches empty; this is the throughput, of which each request takes a part.
    const [began, wal] = [performance.now(), await walBytes()];
    await Promise.all(Array.from({ length: 64 }, async () => timed(pair, times * 5)));
    const pairs = 64 * times * 5;
    note('64 at once, each request', column, (performance.now() - began) / pairs);
    console.error(`${Math.round(((await walBytes()) - wal) / pairs)} bytes of WAL a request`);
  }
  if (only.test('sweep')) {
    const sweep = startSweep({
      pool: lane,
      ledger,
      spool,
      leaseMs: 60_000,
      log: quiet,
      invariantsEveryMs: 86_400_000,
      fullCheckHour: -1,
    });
    note('sweep', column, await timed(() => sweep.round()));
    await sweep.close();
  }
  await close();
}

async function walBytes(): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(rows[0]?.bytes);
}

async function checkSome(count: number): Promise<void> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM account ORDER BY id LIMIT $1', [count]);
  await checkInvariants(pool, { accounts: rows.map(({ id }) => id) });
}

try {
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  await app.ready();
  const graphqlUrl = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}/graphql`;
  if (postgres === null) {
    const { rows } = await pool.query<{ n: string }>('SELECT count(*) AS n FROM ledger_entry');
    sizes[0] = Number(rows[0]?.n);
  } else {
    await seedAccounts(pool, Number(values.accounts));
    await pool.query('VACUUM ANALYZE');
  }
  const busiest = await busiestOf(pool);
  const token = createSecret('token');
  await pool.query(
    `INSERT INTO access_token (id, account_id, name, hash, prefix, last4, scopes) VALUES ($1, $2, 'bench', $3, 'st', 'beef', '{read,operator}')`,
    [uuidv7(), busiest.accountId, token.hash],
  );
  const { rows: models } = await pool.query(`SELECT FROM model WHERE id = 'big'`);
  if (models.length === 0) await addModel(pool, { id: 'big' });
  const customer = await addCustomer(pool, { budget: '100000' });
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const known: Record<string, unknown> = {
    accountId: busiest.accountId,
    first: 50,
    from,
    period: 'DAY',
    by: ['MODEL'],
    text: 'scale-77@',
    modelId: 'sim-medium',
    days: 30,
  };
  const globalId = Buffer.from(`Account:${busiest.accountId}`).toString('base64');

  let seeded = 0;
  for (const [column, rows] of sizes.entries()) {
    if (postgres !== null && rows > seeded) {
      const began = performance.now();
      await seedEntries(
        pool,
        { accounts: Number(values.accounts), from: seeded, to: rows, total, days: Number(values.days) },
        (text) => console.error(`${((performance.now() - began) / 1_000).toFixed(0)} s  ${text}`),
      );
      seeded = rows;
    }
    for (const [name, { text, required, all }] of readQueries()) {
      if (!only.test(name)) continue;
      const given: Record<string, unknown> = {
        ...known,
        ...(name.startsWith('account') ? { id: busiest.accountId } : {}),
      };
      if (required.some((variable) => given[variable] === undefined)) continue;
      const wanted = Object.fromEntries(Object.entries(given).filter(([variable]) => all.includes(variable)));
      /** One answer and how long it took. What a caller may ask in a minute is bounded: the wait for it does not count. */
      const asked = async (variables: object): Promise<{ tookMs: number; problem?: string | undefined }> => {
        for (;;) {
          const began = performance.now();
          const answer = await fetch(graphqlUrl, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token.secret}` },
            body: JSON.stringify({ query: text, variables }),
          });
          const { errors } = (await answer.json()) as Answer;
          const tookMs = performance.now() - began;
          const again = errors?.[0]?.extensions?.retryAfterSeconds;
          if (again === undefined) return { tookMs, problem: errors?.[0]?.message };
          await new Promise((resolve) => setTimeout(resolve, again * 1_000));
        }
      };
      let variables: object = wanted;
      let { problem } = await asked(variables);
      if (problem !== undefined) {
        variables = {
          ...wanted,
          ...(all.includes('id') ? { id: globalId } : {}),
          ...(all.includes('accountId') ? { accountId: globalId } : {}),
        };
        ({ problem } = await asked(variables));
      }
      if (problem !== undefined) {
        console.error(`${name} is not measured: ${problem}`);
        continue;
      }
      const took: number[] = [];
      for (let i = 0; i < times; i += 1) took.push((await asked(variables)).tookMs);
      note(name, column, p95(took));
    }
    await measureMoney(column, customer);
    for (const [name, work, count] of [
      ['check of one busy account', () => checkInvariants(pool, { accounts: [busiest.accountId] }), 3],
      ['check of 1,000 accounts', () => checkSome(1_000), 3],
      ['nightly check of all', () => checkInvariants(pool), 1],
    ] as const)
      if (only.test(name)) note(name, column, await timed(work, count));
  }
} finally {
  await app.close();
  await pool.end();
  await simulator.close();
  await postgres?.remove();
  await rm(directory, { recursive: true, force: true });
}

const shown = (value: number | null): string =>
  value === null ? '' : value >= 1_000 ? `${(value / 1_000).toFixed(1)} s` : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
console.log(`| p95 | ${sizes.map((rows) => `${rows.toLocaleString('en')} entries`).join(' | ')} |`);
console.log(`|---|${sizes.map(() => '---|').join('')}`);
for (const [name, row] of table) console.log(`| ${name} | ${row.map(shown).join(' | ')} |`);
