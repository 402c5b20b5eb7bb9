import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { protocols } from '../gateway/support.ts';
import { startService } from '../resilience/processes.ts';
import { pause, type ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { createPostgres } from '../support/postgres.ts';
import { inspectHeap } from './live-heap.ts';
import { createSocketClient } from './sockets.ts';

/**
 * `npm run soak -- --hours N`: one process that stays and one that is killed each minute, a database that crashes every
 * five, and clients that finish, leave, read slowly or talk nonsense. It prints what was lost, doubled or overspent, p99
 * by quarter of the run, and the memory of the process that stays: resident, which follows the load and V8's sizing of its
 * heap, and live after a full collection at the end of each quarter, which grows only when something is retained.
 * `--kills` and `--crashes`: seconds between two of them; `--hours 0.2 --kills 19.5 --crashes 75` has 36 and 9.
 * `--objects` adds which objects grew since the first quarter. `--sockets`: the clients speak responses over WebSockets. It exits
 * with 1 when money was wrong.
 */

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    clients: { type: 'string', default: '8' },
    objects: { type: 'boolean', default: false },
    sockets: { type: 'boolean', default: false },
    /** Seconds between two kills, and between two crashes of the database. */
    kills: { type: 'string' },
    crashes: { type: 'string' },
  },
});
const lengthMs = Number(values.hours) * 3_600_000;
/** Short runs have their faults, too. */
const killEveryMs = values.kills === undefined ? Math.min(60_000, lengthMs / 8) : Number(values.kills) * 1_000;
const crashEveryMs = values.crashes === undefined ? Math.min(300_000, lengthMs / 3) : Number(values.crashes) * 1_000;
const memoryEveryMs = 1_000;

const counts = { finished: 0, refused: 0, broken: 0, left: 0, nonsense: 0, kills: 0, crashes: 0 };
/** Requests whose answer a client has to its end, and the process that gave it: each must be in the ledger once. */
const answered = new Map<string, 'stays' | 'killed'>();
const latencies: number[][] = [];
const memory: number[] = [];
const live: { heapMb: number; externalMb: number; requests: number }[] = [];
const objects: Map<string, number>[] = [];

const postgres = await createPostgres();
await ensureDatabase(postgres.url('postgres'), 'soak');
const url = postgres.url('soak');
await migrate({ url });
const service = await startService(url);
const [stayingPort, killedPort, inspectorPort] = [await freePort(), await freePort(), await freePort()];
const staying = await service.start('stays', { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` }, stayingPort);
let killed: ServerProcess = await service.start('killed', {}, killedPort);
await Promise.all([staying.ready(), killed.ready()]);
const heap = await inspectHeap(inspectorPort);
const customers = await Promise.all(Array.from({ length: 4 }, () => service.customer('100000')));
const startedAt = performance.now();
const isOver = (): boolean => performance.now() - startedAt > lengthMs;

/** One request of one kind; whatever happens to it is counted. */
async function request(turn: number, port: number, customer: Customer): Promise<void> {
  const kind = turn % 8;
  const { path, headers } = { path: protocols.chat.path, headers: { 'content-type': 'application/json' } };
  const text = kind === 1 ? '[[len 400]][[speed 2000]]' : kind === 2 ? '[[cut 9]][[len 30]]' : '[[len 20]]';
  const body = {
    model: 'on-chat-completions',
    stream: kind < 5,
    max_tokens: 500,
    messages: [{ role: 'user', content: text }],
  };
  const leaving = new AbortController();
  const from = performance.now();
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${customer.secret}` },
      body: kind === 6 ? '{"model":' : JSON.stringify(body),
      signal: AbortSignal.any([leaving.signal, AbortSignal.timeout(30_000)]),
    });
    if (kind === 1) setTimeout(() => leaving.abort(), 20);
    let answer = '';
    for await (const piece of response.body ?? []) {
      answer += Buffer.from(piece).toString();
      if (kind === 3) await pause(50);
    }
    if (response.status !== 200) counts.refused += 1;
    else if (kind >= 5 || answer.includes('data: [DONE]')) {
      counts.finished += 1;
      answered.set(response.headers.get('request-id') ?? '', port === stayingPort ? 'stays' : 'killed');
      if (port === stayingPort && kind !== 3)
        (latencies[Math.min(3, Math.floor((4 * (from - startedAt)) / lengthMs))] ??= []).push(performance.now() - from);
    } else counts.broken += 1;
  } catch {
    if (leaving.signal.aborted) counts.left += 1;
    else counts.broken += 1;
    await pause(20);
  }
}

async function client(index: number): Promise<void> {
  const sockets = values.sockets ? createSocketClient() : null;
  for (let turn = index; !isOver(); turn += 1) {
    const customer = customers[turn % customers.length];
    if (customer === undefined) continue;
    const port = turn % 2 === 0 ? stayingPort : killedPort;
    await (sockets === null ? request(turn, port, customer) : overSocket(sockets, turn, port, customer));
  }
  sockets?.close();
}

/** One turn on the client's connection to that process; whatever happens to it is counted. */
async function overSocket(
  sockets: ReturnType<typeof createSocketClient>,
  turn: number,
  port: number,
  customer: Customer,
): Promise<void> {
  const kind = turn % 8;
  const text = kind === 1 ? '[[len 400]][[speed 2000]]' : kind === 2 ? '[[cut 9]][[len 30]]' : '[[len 20]]';
  const from = performance.now();
  try {
    const { how, requestId } = await sockets.turn(port, customer.secret, { text, leaves: kind === 1 });
    counts[how === 'broken' && kind === 1 ? 'left' : how] += 1;
    if (how !== 'finished') return;
    answered.set(requestId, port === stayingPort ? 'stays' : 'killed');
    if (port === stayingPort)
      (latencies[Math.min(3, Math.floor((4 * (from - startedAt)) / lengthMs))] ??= []).push(performance.now() - from);
  } catch {
    counts.broken += 1;
    await pause(20);
  }
}

/** Connects and sends what is no HTTP, or half a head, and waits. */
async function nonsense(): Promise<void> {
  while (!isOver()) {
    const socket = connect(stayingPort, '127.0.0.1').on('error', () => undefined);
    socket.write(counts.nonsense % 2 === 0 ? '\0\0\0\r\n\r\n' : 'POST /api/v1/messages HTTP/1.1\r\nhost: x\r\n');
    counts.nonsense += 1;
    await pause(500);
    socket.destroy();
  }
}

/** Does something again and again until the end. */
async function every(ms: number, work: () => Promise<void>): Promise<void> {
  for (let next = ms; next < lengthMs; next += ms) {
    while (performance.now() - startedAt < next && !isOver()) await pause(50);
    if (!isOver()) await work();
  }
}

async function kill(): Promise<void> {
  await killed.kill();
  counts.kills += 1;
  killed = await service.start('killed', {}, killedPort);
}

async function crash(): Promise<void> {
  await postgres.stop('immediate');
  counts.crashes += 1;
  await pause(1_000);
  await postgres.start();
}

async function measure(): Promise<void> {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${staying.pid}/status`, 'utf8')) ?? [];
  memory.push(Number(kilobytes) / 1024);
}

/** At the end of a quarter: what is in use when nothing waits to be collected. */
async function weigh(): Promise<void> {
  live.push({ ...(await heap.used()), requests: counts.finished });
  if (values.objects) objects.push(await heap.byConstructor());
}

/** The objects that grew most since the first quarter. */
function grown(): string[] {
  const [first, last] = [objects[0], objects.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [...last]
    .map(([name, mb]) => ({ name, by: mb - (first.get(name) ?? 0) }))
    .sort((a, b) => b.by - a.by)
    .slice(0, 12)
    .map(({ name, by }) => `objects    ${by >= 0 ? '+' : ''}${by.toFixed(2)} MB ${name}`);
}

/** Settlements of a killed process are in its spool until another adopts that: they may be late, and have to come. */
const maxLateMs = 180_000;

/** What the ledger has, once it has all that was answered, or not after all. */
async function settled(): Promise<{ rows: Map<string, number>; missing: string[]; waitedMs: number }> {
  const began = performance.now();
  for (;;) {
    const rows = await service.rows(customers.map(({ accountId }) => accountId));
    const missing = [...answered.keys()].filter((id) => !rows.has(id));
    const waitedMs = performance.now() - began;
    if (missing.length === 0 || waitedMs > maxLateMs) return { rows, missing, waitedMs };
    await pause(500);
  }
}

function quantile(list: readonly number[], share: number): number {
  return [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? Number.NaN;
}

await Promise.all([
  ...Array.from({ length: Number(values.clients) }, (_, index) => client(index)),
  nonsense(),
  every(killEveryMs, kill),
  every(crashEveryMs, crash),
  every(memoryEveryMs, measure),
  every(lengthMs / 4, weigh),
]);
await weigh();
heap.close();
await Promise.all([staying.ready(), killed.ready()]);
await service.released();
const { rows, missing, waitedMs } = await settled();
const lost = missing.length;
const doubled = [...rows.values()].filter((count) => count > 1).length;
const broken = await service.broken();
await service.close();
await postgres.remove();

const quarter = Math.floor(memory.length / 4);
const [first, last] = [memory.slice(0, quarter), memory.slice(-quarter)].map((part) => quantile(part, 0.5));
process.stdout.write(
  [
    `hours      ${values.hours}`,
    ...Object.entries(counts).map(([name, count]) => `${name.padEnd(10)} ${count}`),
    `ledger     ${rows.size} rows, ${lost} lost, ${doubled} doubled; complete ${(waitedMs / 1_000).toFixed(1)} s after nothing was held`,
    ...missing.map(
      (id) => `lost       ${id}, answered by the process that ${answered.get(id) === 'stays' ? 'stays' : 'is killed'}`,
    ),
    `invariants ${broken.length === 0 ? 'hold: nothing is overspent' : JSON.stringify(broken)}`,
    `resident   ${first?.toFixed(0)} MB in the first quarter, ${last?.toFixed(0)} MB in the last`,
    ...live.map(
      ({ heapMb, externalMb, requests }, index) =>
        `live       ${heapMb.toFixed(1)} MB of objects and ${externalMb.toFixed(1)} MB of buffers after quarter ${index + 1} (${requests} answers)`,
    ),
    ...grown(),
    ...latencies.map((list, index) => `p99        ${quantile(list, 0.99).toFixed(0)} ms in quarter ${index + 1}`),
    '',
  ].join('\n'),
);
process.exit(lost + doubled + broken.length === 0 ? 0 : 1);
