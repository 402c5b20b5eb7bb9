/** `npm run simulate -- --seconds 60`, or `--seed 123` for one run again. Ends with 1 when a promise is broken. */

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createPostgres } from '../support/postgres.ts';
import { mutants } from './mutants.ts';
import { changeSource } from './sandbox.ts';
import { createSimulation } from './simulation.ts';

const say = (...words: unknown[]): void => void process.stdout.write(`${words.map(shown).join(' ')}\n`);
const shown = (word: unknown): string => (typeof word === 'string' ? word : JSON.stringify(word));

const { values } = parseArgs({
  options: {
    /** Breaks a line of the server first: its number in `mutants.ts`. */
    mutant: { type: 'string' },
    twice: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    /** A migrated database of its own for each process that runs at a time. */
    url: { type: 'string', multiple: true },
    runs: { type: 'string' },
  },
});

const postgres = values.url === undefined ? await createPostgres() : null;
const isOne = values.seed !== undefined || values.runs !== undefined || values.mutant !== undefined;
const urls = values.url ?? (await createDatabases(isOne ? 1 : availableParallelism()));
if (urls.length > 1) {
  const failures = await inProcesses();
  await postgres?.remove();
  process.exit(failures === 0 ? 0 : 1);
}
const [url = ''] = urls;
const mutant = values.mutant === undefined ? null : (mutants[Number(values.mutant)] ?? null);
if (mutant !== null && 'file' in mutant) changeSource(mutant);
const simulation = await createSimulation(url, mutant !== null && 'sql' in mutant ? mutant.sql : null);
const first = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const most = values.seed === undefined || values.runs !== undefined ? Number(values.runs ?? Infinity) : 1;
say(`first seed ${first}`);
const began = performance.now();
const until = began + Number(values.seconds) * 1_000;
let requests = 0;
let runs = 0;
let failed: number | null = null;
for (
  let seed = first;
  runs < most && (runs === 0 || performance.now() < until) && failed === null;
  seed = (seed + 1) % 2 ** 31
) {
  const { result } = await simulation.seed(seed).catch((error: unknown) => {
    say(`seed ${seed} ends with an error of the simulation's own`);
    throw error;
  });
  runs += 1;
  requests += result.requests;
  if (process.env['SIMULATION_TALKS'] !== undefined) {
    const answers = Map.groupBy(result.history.requests, ({ answer }) =>
      answer === null ? 'none' : answer.kind === 'admitted' ? 'admitted' : answer.reason,
    );
    say(
      seed,
      result.events,
      result.messages,
      Math.round(result.simulatedMs),
      Math.round(performance.now() - began),
      Object.fromEntries([...answers].map(([name, list]) => [name, list.length])),
      result.errors.slice(0, 3),
    );
  }
  if (values.twice) {
    const { result: second } = await simulation.seed(seed);
    const told = (history: unknown): string =>
      JSON.stringify(history, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
    const [a, b] = [told(result.history), told(second.history)];
    if (a !== b) {
      const at = a.split('').findIndex((letter, index) => letter !== b[index]);
      say(`seed ${seed} is not repeated: ${a.slice(at - 300, at + 100)}\n${b.slice(at - 300, at + 100)}`);
    }
  }
  if (result.broken.length > 0) {
    failed = seed;
    say(`seed ${seed} breaks:\n  ${result.broken.slice(0, 8).join('\n  ')}`);
    if (result.errors.length > 0) say(`logged: ${[...new Set(result.errors)].slice(0, 5).join('\n  ')}`);
  }
}
const seconds = (performance.now() - began) / 1_000;
const { user, system } = process.cpuUsage();
say(
  `${runs} runs, ${requests} requests in ${seconds.toFixed(1)} s: ${Math.round((requests / seconds) * 3_600)} an hour; ${((user + system) / 1e6).toFixed(1)} s of processor time without PostgreSQL's`,
);
if (failed !== null && values.mutant === undefined) {
  const shortest = await simulation.shorten(failed, 120_000);
  if (shortest !== null) {
    say(`the shortest history, of ${shortest.scenario.steps.length} steps (schedule ${shortest.scenario.schedule}):`);
    for (const step of shortest.scenario.steps) say(`  ${JSON.stringify(step)}`);
    say(shortest.broken.join('\n'));
  }
}
await simulation.close();
await postgres?.remove();
process.exit(failed === null ? 0 : 1);

/** Migrated databases of this run's own server. */
async function createDatabases(count: number): Promise<string[]> {
  if (postgres === null) return [];
  await ensureDatabase(postgres.url('postgres'), 'simulation_0');
  await migrate({ url: postgres.url('simulation_0') });
  const client = new Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  for (let index = 1; index < count; index += 1)
    await client.query(`CREATE DATABASE simulation_${index} TEMPLATE simulation_0`);
  await client.end();
  return Array.from({ length: count }, (_none, index) => postgres.url(`simulation_${index}`));
}

/**
 * A process for each database: a run waits for PostgreSQL most of its time, one message after the other, so that one process uses
 * less than one core. Returns how many of them have found something broken.
 */
async function inProcesses(): Promise<number> {
  const total = { runs: 0, requests: 0, longest: 0, failures: 0 };
  const firstSeed = randomInt(2 ** 30);
  await Promise.all(
    urls.map(async (own, index) => {
      const child = spawn(
        process.execPath,
        [
          ...process.execArgv,
          import.meta.filename,
          `--url=${own}`,
          `--seconds=${values.seconds}`,
          `--seed=${firstSeed + index * 1_000_000}`,
          '--runs=1000000',
          ...(values.twice ? ['--twice'] : []),
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const ended = once(child, 'close');
      for await (const line of createInterface({ input: child.stdout })) {
        const [, runs, requests, seconds] = /^(\d+) runs, (\d+) requests in ([\d.]+) s/.exec(line) ?? [];
        if (runs === undefined) say(line);
        total.runs += Number(runs ?? 0);
        total.requests += Number(requests ?? 0);
        total.longest = Math.max(total.longest, Number(seconds ?? 0));
      }
      const [code] = await ended;
      if (code !== 0) total.failures += 1;
    }),
  );
  say(
    `${total.runs} runs, ${total.requests} requests in ${total.longest.toFixed(1)} s: ${Math.round((total.requests / total.longest) * 3_600)} an hour in ${urls.length} processes`,
  );
  return total.failures;
}
