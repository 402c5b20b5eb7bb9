/** `npm run simulate -- --seconds 60`, or `--seed 123` for one run again. Ends with 1 when a promise is broken. */

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
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
    url: { type: 'string' },
    runs: { type: 'string' },
  },
});

const postgres = values.url === undefined ? await createPostgres() : null;
const url = values.url ?? postgres?.url('simulation') ?? '';
if (postgres !== null) {
  await ensureDatabase(postgres.url('postgres'), 'simulation');
  await migrate({ url });
}
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
  const { result } = await simulation.seed(seed);
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
if (failed !== null && values.runs === undefined) {
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
