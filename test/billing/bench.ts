import { Pool } from 'pg';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createPostgres } from '../support/postgres.ts';
import { addCustomer, addModel, ask, type Customer, openLedger, settlement } from './support.ts';

/**
 * Pairs of admission and settlement a second, with the load generator in the same process.
 * `node test/billing/bench.ts [accounts=1] [concurrency=256] [seconds=5]`
 */
const option = (name: string, fallback: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`${name}=`))?.slice(name.length + 1) ?? fallback);
const accounts = option('accounts', 1);
const concurrency = option('concurrency', 256);
const seconds = option('seconds', 5);
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
const { ledger, close } = await openLedger(postgres.url('bench'), { pipeline: option('pipeline', 1) === 1 });

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
const run = async (ms: number): Promise<number> => {
  pairs = 0;
  state.stopped = false;
  latencies.length = 0;
  const began = performance.now();
  setTimeout(() => (state.stopped = true), ms);
  await Promise.all(Array.from({ length: concurrency }, (_, index) => work(index)));
  return pairs / ((performance.now() - began) / 1_000);
};
await run(1_500);
const cpu = process.cpuUsage();
const rate = await run(seconds * 1_000);
const used = process.cpuUsage(cpu);
latencies.sort((a, b) => a - b);
const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2);
process.stdout.write(
  `accounts ${accounts}, concurrency ${concurrency}: ${rate.toFixed(0)} pairs/s, refused ${refused}, admission p50 ${at(0.5)} ms p99 ${at(0.99)} ms, node cpu ${((used.user + used.system) / 1e6 / seconds).toFixed(2)}\n`,
);
await close();
await db.end();
await postgres.remove();
