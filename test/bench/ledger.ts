import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { addCustomer, addModel, ask, type Customer, openLedger, settlement } from '../billing/support.ts';
import { createPostgres } from '../support/postgres.ts';

/**
 * Pairs of admission and settlement, with the load generator in the same process: what the ledger alone costs, without a
 * gateway around it. With `rate`, so many pairs begin each second and no settlement is waited for, as in the gateway.
 * `node test/bench/ledger.ts [accounts=1] [concurrency=256 | rate=2000] [seconds=5]`
 */
const option = (name: string, fallback: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`${name}=`))?.slice(name.length + 1) ?? fallback);
const accounts = option('accounts', 1);
const concurrency = option('concurrency', 256);
const seconds = option('seconds', 5);
const perSecond = option('rate', 0);
const fsync = option('fsync', 1) === 1;

const postgres = await createPostgres(
  fsync ? { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB' } : { shared_buffers: '256MB' },
);
await ensureDatabase(postgres.url('postgres'), 'bench');
await migrate({ url: postgres.url('bench') });
const db = new Pool({ connectionString: postgres.url('bench'), max: 4 });
await addModel(db, { id: 'big' });
const customers: Customer[] = [];
for (let i = 0; i < accounts; i += 1) customers.push(await addCustomer(db, { budget: '100000' }));
const rows = option('rows', 0);
if (rows > 0) {
  const [first] = customers;
  // A past as it would be: the same accounts, and unknown ones, a month of requests.
  await db.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, latency_ms, outcome, usage_source, stream, created_at)
     SELECT CASE WHEN n % 2 = 0 THEN $2::uuid ELSE gen_random_uuid() END,
       overlay(uuid_at(now() - n * interval '1 second')::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid,
       $3, 'big', 'simulator', 'messages', 100, 0, 0, 0, 50, 3000000, 300000, 3000000, 3000000, 15000000, 1050000000, 0, 0, 1, 'completed', 'reported', true, now() - n * interval '1 second'
     FROM generate_series(1, $1::int) AS n`,
    [rows, first?.accountId, first?.keyId],
  );
  await db.query(
    `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, held_at)
     SELECT account_id, gen_random_uuid(), 'charge', 1, request_id, now() FROM ledger_entry`,
  );
  await db.query('VACUUM ANALYZE');
}
const { ledger, close } = await openLedger(postgres.url('bench'));

/** Processor time of PostgreSQL's processes: on a busy machine it says more than the clock. */
function databaseCpuMs(): Map<string, number> {
  const children = execFileSync('pgrep', ['-P', String(postgres.pid())], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const used = new Map<string, number>();
  for (const pid of children.filter((each) => existsSync(`/proc/${each}/stat`))) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    used.set(pid, (Number(fields[11]) + Number(fields[12])) * 10);
  }
  return used;
}

let pairs = 0;
let refused = 0;
const state = { stopped: false };
const latencies: number[] = [];
const work = async (index: number): Promise<void> => {
  for (let i = index; !state.stopped; i += concurrency) {
    const asked = ask(customers[i % customers.length]!);
    const began = performance.now();
    const admission = await ledger.admit(asked);
    latencies.push(performance.now() - began);
    if (admission.kind === 'refused') {
      refused += 1;
      continue;
    }
    await ledger.settle(settlement(asked, admission));
    pairs += 1;
  }
};
let begun = 0;
/** One request that lasts as long as a quick upstream. */
const request = async (): Promise<void> => {
  const asked = ask(customers[begun++ % customers.length]!);
  const began = performance.now();
  const admission = await ledger.admit(asked);
  latencies.push(performance.now() - began);
  if (admission.kind === 'refused') {
    refused += 1;
    return;
  }
  await delay(2);
  await ledger.settle(settlement(asked, admission), () => undefined);
  pairs += 1;
};
const atRate = async (ms: number): Promise<void> => {
  const until = performance.now() + ms;
  const running = new Set<Promise<void>>();
  for (let due = performance.now(); due < until; due += 5) {
    await delay(Math.max(0, due - performance.now()));
    for (let i = 0; i < perSecond / 200; i += 1) {
      const one = request().finally(() => running.delete(one));
      running.add(one);
    }
  }
  await Promise.all(running);
};
const run = async (ms: number): Promise<number> => {
  pairs = 0;
  state.stopped = false;
  latencies.length = 0;
  const began = performance.now();
  setTimeout(() => (state.stopped = true), ms);
  if (perSecond > 0) await atRate(ms);
  else await Promise.all(Array.from({ length: concurrency }, (_, index) => work(index)));
  return pairs / ((performance.now() - began) / 1_000);
};
const written = async (): Promise<{ wal: number; commits: number }> => {
  const { rows } = await db.query<{ wal: number; commits: number }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal,
            (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())::float8 AS commits`,
  );
  return rows[0] ?? { wal: 0, commits: 0 };
};
await run(2_500);
const writtenBefore = await written();
const databaseBefore = databaseCpuMs();
const cpu = process.cpuUsage();
const rate = await run(seconds * 1_000);
const used = process.cpuUsage(cpu);
const databaseUsed = [...databaseCpuMs()].reduce((sum, [pid, ms]) => sum + ms - (databaseBefore.get(pid) ?? ms), 0);
const writtenAfter = await written();
latencies.sort((a, b) => a - b);
const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2);
const perPair = (ms: number): string => `${((ms * 1_000) / pairs).toFixed(0)} µs`;
process.stdout.write(
  `${accounts} accounts, ${concurrency} at once: ${rate.toFixed(0)} pairs/s (${refused} refused), admission p50 ${at(0.5)} ms, ` +
    `p99 ${at(0.99)} ms; processor time a pair: node ${perPair((used.user + used.system) / 1_000)}, PostgreSQL ${perPair(databaseUsed)}; ` +
    `${((writtenAfter.wal - writtenBefore.wal) / pairs).toFixed(0)} bytes of WAL a pair, ${(pairs / (writtenAfter.commits - writtenBefore.commits)).toFixed(1)} pairs a transaction\n`,
);
await close();
await db.end();
await postgres.remove();
