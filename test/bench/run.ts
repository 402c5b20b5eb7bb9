import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAllocations } from './allocations.ts';
import { addCustomers, addHistory, type Customers } from './database.ts';
import { measureGraphql, questionsPerSecond } from './graphql.ts';
import { measureIdle } from './idle.ts';
import { holdStreams, runLoad } from './load.ts';
import { driveAtRate } from './open-loop.ts';
import { measurePaced } from './paced-streams.ts';
import { type Row, report } from './report.ts';
import {
  directory,
  type Gateway,
  type Subject,
  startGateway,
  startNodeUpstream,
  startPortkey,
  startProxy,
  startUpstream,
  stop,
  stopAll,
  subjectOf,
  usageOf,
} from './subjects.ts';
import { type Driven, drive, hasTool, type Load } from './wrk.ts';

/**
 * `npm run bench`: what the gateway costs with everything on (authentication, exact billing, a settlement committed durably
 * in the embedded PostgreSQL), beside a proxy that does nothing and a published gateway that neither checks keys nor
 * bills. Every process stands on one machine and whatever else runs there disturbs the figures, so the ones to quote are the
 * ratios of one run.
 */
const { values: options } = parseArgs({
  options: {
    /** Measured seconds a case; as long again to warm up. */
    seconds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '2000000' },
    /** Requests of the memory case, which compares with the first tenth of them. */
    soak: { type: 'string', default: '1000000' },
    /** Parts of the names of cases, separated by `|`. */
    only: { type: 'string' },
    'no-portkey': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds);
const rows: Row[] = [];
const usesWrk = hasTool('wrk', 'wrk');

type Drive = (load: Omit<Load, 'url' | 'path' | 'headers' | 'seconds'>) => (subject: Subject) => Promise<Driven>;

/** A closed loop of so many connections. */
const closedLoop: Drive = (load) => async (subject) => {
  const { url, path, headers } = subject;
  if (usesWrk) return drive({ url, path, headers, seconds, ...load }, directory);
  const result = await runLoad({ url, path, headers, durationMs: seconds * 1_000, ...load });
  const { p50, p95, p99 } = result.latencyMs;
  const { requests, requestsPerSecond: perSecond, errors } = result;
  return { requests, perSecond, p50, p95, p99, errors };
};

const atRate =
  (perSecond: number, body: string) =>
  ({ url, path, headers }: Subject): Promise<Driven> =>
    driveAtRate({ url, path, headers, body, seconds, perSecond });

/** Drives each subject in turn, twice: the first time warms connections, caches and the compiler. */
async function compare(
  name: string,
  subjects: readonly Subject[],
  load: (subject: Subject) => Promise<Driven>,
): Promise<void> {
  if (!wanted(name)) return;
  for (const subject of subjects) {
    await load(subject);
    const before = usageOf(subject.pids());
    const databaseBefore = usageOf(subject.databasePids());
    const driven = await load(subject);
    const after = usageOf(subject.pids());
    const databaseAfter = usageOf(subject.databasePids());
    const microseconds = (used: number): number => (used * 1e6) / Math.max(1, driven.requests);
    const row: Row = {
      case: name,
      subject: subject.name,
      ...driven,
      gatewayMicroseconds: microseconds(after.cpuSeconds - before.cpuSeconds),
      databaseMicroseconds: microseconds(databaseAfter.cpuSeconds - databaseBefore.cpuSeconds),
      residentMb: after.residentMb,
    };
    rows.push(row);
    process.stderr.write(
      `${name.padEnd(34)} ${row.subject.padEnd(16)} ${row.perSecond.toFixed(0).padStart(7)}/s  p50 ${row.p50.toFixed(2)}  p99 ${row.p99.toFixed(2)} ms  CPU ${row.gatewayMicroseconds.toFixed(0)} + ${row.databaseMicroseconds.toFixed(0)} µs  errors ${row.errors}\n`,
    );
  }
}

const cases = [
  'small body, 1 connection',
  'small body, 64 connections',
  'small body, 256 connections',
  'WORKERS=2, 64 connections',
  'open loop, 1,000 a second',
  '1 MB body, 16 connections',
  '1,000 accounts, 64 connections',
  'stream of 50, 64 connections',
  'stream of 500, 64 connections',
  'paced streams',
  'idle streams',
  'allocations',
  'memory after a million',
  'ledger rows, 64 connections',
  'graphql',
] as const;

const wanted = (name: string): boolean =>
  options.only === undefined
    ? name !== 'memory after a million'
    : options.only.split('|').some((part) => name.includes(part));
const anyWanted = (...names: (typeof cases)[number][]): boolean => names.some(wanted);

const chatBody = (stream: boolean): string =>
  JSON.stringify({ model: 'bench', max_tokens: 1_000, stream, messages: [{ role: 'user', content: 'ping' }] });

/** An agent's context: prose and code in many messages, about a megabyte. */
function largeBody(): string {
  const paragraph =
    'The function reads "config.json", checks every field and returns {\n  "ok": true\n} when nothing is missing. ';
  const messages = Array.from({ length: 100 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: paragraph.repeat(95),
  }));
  return JSON.stringify({
    model: 'bench',
    max_tokens: 1_000,
    messages: [...messages, { role: 'user', content: 'go on' }],
  });
}

/** Whole answers: everything that runs against one gateway. */
async function measureWhole(): Promise<void> {
  const upstream = await startUpstream();
  process.stderr.write(`upstream of whole answers: ${upstream.kind}\n`);
  const proxy = await startProxy(upstream.url);
  const portkey =
    options['no-portkey'] ||
    !anyWanted('small body, 1 connection', 'small body, 64 connections', 'small body, 256 connections')
      ? null
      : await startPortkey(upstream.url);
  const gateway = await startGateway(upstream.url);
  const customers = await addCustomers(gateway.dataDir, 1_001);
  const [hot = '', ...many] = customers.secrets;
  const steyg = subjectOf(gateway, hot);
  const peers = [proxy, ...(portkey === null ? [] : [portkey]), steyg];
  const body = chatBody(false);

  for (const connections of [1, 64, 256]) {
    const name = `small body, ${connections} connection${connections === 1 ? '' : 's'}`;
    await compare(name, peers, closedLoop({ body, connections }));
  }
  await compare('open loop, 1,000 a second', [proxy, steyg], atRate(1_000, body));
  await compare('1 MB body, 16 connections', [proxy, steyg], closedLoop({ body: largeBody(), connections: 16 }));
  const accounts = '1,000 accounts, 64 connections';
  await compare(accounts, [{ ...steyg, name: 'one hot account' }], closedLoop({ body, connections: 64 }));
  await compare(accounts, [{ ...steyg, name: '1,000 accounts' }], closedLoop({ body, connections: 64, keys: many }));
  if (wanted('WORKERS=2, 64 connections')) await measureWorkers(upstream.url, steyg);
  if (wanted('memory after a million')) await measureMemory(steyg);
  await measureRows(gateway, customers, steyg);
  for (const child of [proxy.child, gateway.child]) await stop(child);
}

/** The same gateway as two processes behind one port. */
async function measureWorkers(upstreamUrl: string, one: Subject): Promise<void> {
  const two = await startGateway(upstreamUrl, { WORKERS: '2' });
  const { secrets } = await addCustomers(two.dataDir, 1_001);
  const subject = subjectOf(two, secrets[0] ?? '', 'WORKERS=2');
  const load = { body: chatBody(false), connections: 64 };
  const name = 'WORKERS=2, 64 connections';
  await compare(name, [{ ...one, name: 'WORKERS=1' }, subject], closedLoop(load));
  const many = { ...subject, name: 'WORKERS=2, 1,000 accounts' };
  await compare(name, [many], closedLoop({ ...load, keys: secrets.slice(1) }));
  await stop(two.child);
}

/** Resident memory after a tenth of the requests and after all. Takes minutes, so only when it is asked for by name. */
async function measureMemory(subject: Subject): Promise<void> {
  let sent = 0;
  const all = Number(options.soak);
  for (const until of [all / 10, all]) {
    const load = closedLoop({ body: chatBody(false), connections: 64 });
    let last: Driven | null = null;
    for (; sent < until; sent += last.requests) last = await load(subject);
    if (last === null) continue;
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const { residentMb } = usageOf(subject.pids());
    const name = `memory after ${all} requests`;
    rows.push({
      case: name,
      subject: `${until} requests`,
      ...last,
      gatewayMicroseconds: 0,
      databaseMicroseconds: 0,
      residentMb,
    });
    process.stderr.write(`${name}: ${residentMb.toFixed(0)} MB after ${sent} requests\n`);
  }
}

/** The ledger as it is, and with a past; and what a dashboard asks of it. */
async function measureRows(gateway: Gateway, customers: Customers, steyg: Subject): Promise<void> {
  const name = 'ledger rows, 64 connections';
  if (!anyWanted(name, 'graphql')) return;
  const load = closedLoop({ body: chatBody(false), connections: 64 });
  await compare(name, [{ ...steyg, name: 'few rows' }], load);
  const count = Number(options.rows);
  if (count > 0) {
    process.stderr.write(`writing ${count} ledger rows…\n`);
    await addHistory(gateway.dataDir, customers.accounts[0] ?? '', customers.keys[0] ?? '', count);
    await compare(name, [{ ...steyg, name: `${count} rows more` }], load);
  }
  if (wanted('graphql')) {
    await measureGraphql(gateway, customers, async (question, subject, body) => {
      await compare(question, [subject], atRate(questionsPerSecond, body));
    });
  }
}

/** Vendors send a chunk at a time: one piece of every stream in each turn of the upstream's event loop. */
async function measureStreams(pieces: number): Promise<void> {
  const name = `stream of ${pieces}, 64 connections`;
  if (!wanted(name)) return;
  const upstream = await startNodeUpstream(['--pieces', String(pieces), '--every-turn']);
  const proxy = await startProxy(upstream.url);
  const gateway = await startGateway(upstream.url);
  const { secrets } = await addCustomers(gateway.dataDir, 1);
  const steyg = subjectOf(gateway, secrets[0] ?? '');
  const body = chatBody(true);
  const load = closedLoop({ body, connections: 64 });
  await compare(name, [proxy, steyg, { ...steyg, name: 'messages>chat', path: '/api/v1/messages' }], load);
  const messages = closedLoop({ body: body.replace('"bench"', '"bench-m"'), connections: 64 });
  await compare(name, [{ ...steyg, name: 'chat>messages' }], messages);
  for (const child of [proxy.child, gateway.child]) await stop(child);
}

/** What is not the benchmark's own: neighbours on the machine spoil every figure but the ratios. */
function describeMachine(): string {
  const busy = execFileSync('cat', ['/proc/loadavg'], { encoding: 'utf8' }).split(' ')[0] ?? '?';
  return `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0]?.model ?? ''}), load before ${busy}, node ${process.version}, driver: ${usesWrk ? 'wrk' : 'node (wrk is missing: every subject looks slow and alike)'}`;
}

async function main(): Promise<void> {
  const machine = describeMachine();
  process.stderr.write(`${machine}\n`);
  const whole = cases.filter((name) => !name.includes('stream') && name !== 'allocations');
  if (anyWanted(...whole)) await measureWhole();
  for (const pieces of [50, 500]) await measureStreams(pieces);
  const notes = wanted('paced streams') ? await measurePaced(chatBody(true), seconds) : [];
  if (wanted('idle streams')) notes.push(...(await measureIdle(holdStreams)));
  if (wanted('allocations')) notes.push(...(await measureAllocations(chatBody(false), seconds)));
  report(machine, rows, notes, options.json);
}

try {
  await main();
} finally {
  await stopAll();
}
