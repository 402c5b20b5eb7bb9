import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Agent, agents } from './agents.ts';
import { casesOf } from './cases.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { install, newestVersion } from './install.ts';
import { openLane } from './lane.ts';

/**
 * `npm run test:clients`: published coding agents and client libraries, installed from npm in exact versions, against a server
 * of their own on loopback. Each is connected by the very blocks of README.md, or by its vendor's own recipe, has an empty home
 * directory and no way out of this machine. Prints a table; exit code 1 if anything does not hold. Not part of CI: it installs
 * 2.5 GB once.
 *
 *   --only codex,cline   some agents, by id
 *   --latest             the newest published version of each, in place of the one that the rules were observed with
 *   --verbose            what an agent printed where something did not hold
 */

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    latest: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

/** Three minutes on a machine with nothing else to do; a busy one takes many times as long. */
const deadlineMs = 3_600_000;
/** More of them at once would wait for each other's processors. */
const lanes = 3;

/** Where an agent is installed. */
interface Place {
  commands: string[];
  modules: string;
}

interface Row {
  agent: Agent;
  case: string;
  result: 'ok' | 'FAILED' | 'skipped';
  detail: string;
  requests: number;
  seconds: number;
  printed: string;
}

const rows: Row[] = [];
const triedOutside = new Map<Agent, ReadonlySet<string>>();
let faults: string[] = [];

// Before the clock starts: it takes minutes the first time and nothing afterwards.
const chosen = agents.filter(({ id }) => options.only?.split(',').includes(id) ?? true);
const places = new Map<Agent, Place>();
const versions = new Map<Agent, string>();
await inLanes(chosen, async (agent) => {
  const installed = await installAgent(agent);
  if (!('reason' in installed)) places.set(agent, installed);
  else add(agent, { case: 'installs', result: 'skipped', detail: installed.reason });
});

const directory = await mkdtemp(join(await realpath(tmpdir()), 'steyg-clients-'));
const deadline = new AbortController();
const timer = setTimeout(() => deadline.abort(), deadlineMs);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => deadline.abort());

try {
  const gateway = await startGateway(directory);
  try {
    // The slow ones first.
    await inLanes([...places].reverse(), ([agent, place]) => tryOut(agent, place, gateway));
    faults = await lookAtServer(gateway);
  } finally {
    await gateway.close();
  }
} finally {
  clearTimeout(timer);
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}
report();

/** Installs the agent, and what it starts itself, in the versions that this run is about. */
async function installAgent(agent: Agent): Promise<Place | { reason: string }> {
  const newest = options.latest ? await newestVersion(agent.package) : { version: agent.version };
  if ('reason' in newest) return newest;
  versions.set(agent, newest.version);
  const own = await install({ package: agent.package, version: newest.version }, agent.program ? null : agent.command);
  if (own.kind === 'unavailable') return own;
  const commands = [own.commands];
  for (const { command, ...other } of agent.starts ?? []) {
    const installed = await install(other, command);
    if (installed.kind === 'unavailable') return installed;
    commands.push(installed.commands);
  }
  return { commands, modules: own.modules };
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, worker));
}

function add(agent: Agent, row: Partial<Row> & Pick<Row, 'case' | 'result'>): void {
  rows.push({ agent, detail: '', requests: 0, seconds: 0, printed: '', ...row });
  process.stderr.write(`${agent.name}: ${row.case}: ${row.result}${row.detail ? ` (${row.detail})` : ''}\n`);
}

async function tryOut(agent: Agent, place: Place, gateway: Gateway): Promise<void> {
  const lane = await openLane({
    agent,
    gateway,
    ...place,
    directory: await mkdtemp(join(directory, `${agent.id}-`)),
    signal: deadline.signal,
  });
  for (const cases of casesOf(lane)) {
    if (deadline.signal.aborted) {
      add(agent, { case: 'the rest', result: 'FAILED', detail: 'no time was left' });
      break;
    }
    try {
      for await (const finding of cases(lane)) {
        add(agent, {
          ...finding,
          result: finding.problems.length === 0 ? 'ok' : 'FAILED',
          detail: finding.problems.join('; '),
        });
      }
    } catch (error) {
      add(agent, {
        case: cases.name,
        result: 'FAILED',
        detail: error instanceof Error ? error.message : String(error),
      });
    }
  }
  triedOutside.set(agent, lane.outside());
  await lane.close();
}

/** What no agent does in a run like this one, and what must hold after all of them. */
async function lookAtServer(gateway: Gateway): Promise<string[]> {
  const found: string[] = [];
  const broken = await gateway.invariants();
  if (broken !== null) found.push(`invariants: ${broken}`);
  // Claude Code opens its connection with this when no proxy is set: without a key, and any quick answer will do.
  for (const path of ['/', '/api/api/hello']) {
    const { status } = await fetch(`${gateway.url}${path}`, { method: 'HEAD' });
    if (status >= 500 || status === 401) found.push(`HEAD ${path}: ${status}`);
  }
  return found;
}

function report(): void {
  const table = rows
    .sort((a, b) => agents.indexOf(a.agent) - agents.indexOf(b.agent))
    .map((row) => [
      row.agent.name,
      versions.get(row.agent) ?? row.agent.version,
      row.case,
      row.result,
      String(row.requests),
      row.seconds.toFixed(1),
      row.detail,
    ]);
  const head = ['agent', 'version', 'case', 'result', 'requests', 'seconds', ''];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...table.map((row) => (column === 6 ? 0 : (row[column]?.length ?? 0)))),
  );
  for (const row of [head, ...table]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
  process.stdout.write('\n');
  for (const [agent, hosts] of triedOutside) {
    if (hosts.size > 0) process.stdout.write(`${agent.name} also asked for ${[...hosts].join(', ')}; refused.\n`);
  }
  const failed = rows.filter(({ result }) => result === 'FAILED');
  if (options.verbose) {
    for (const row of failed) process.stdout.write(`\n--- ${row.agent.name}: ${row.case}\n${row.printed.trim()}\n`);
  }
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(
    `${rows.filter(({ result }) => result === 'ok').length} hold, ${failed.length} fail, ` +
      `${rows.filter(({ result }) => result === 'skipped').length} skipped; ` +
      `the rules of money ${faults.some((fault) => fault.startsWith('invariants')) ? 'do NOT hold' : 'hold'}.\n`,
  );
  const nothing = !rows.some(({ result }) => result === 'ok');
  process.exitCode = failed.length > 0 || faults.length > 0 || nothing ? 1 : 0;
}
