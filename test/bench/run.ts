import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { useEmbeddedPostgres } from '../../server/database/embedded.ts';
import { createSecret } from '../../server/keys/secret.ts';
import { uuidv7 } from '../../server/runtime/http.ts';
import { holdStreams, type LoadResult, runLoad } from './load.ts';

/**
 * `npm run bench`: what the gateway costs with everything on (authentication, a hold and a settlement committed durably
 * in the embedded PostgreSQL), beside a proxy that does nothing and a published gateway that neither checks keys nor
 * bills. Every process stands on the same machine, so the figures to quote are the ratios of one run.
 */

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '2000000' },
    only: { type: 'string' },
    'no-portkey': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const durationMs = Number(options.seconds) * 1_000;
// The compiler is done with a gateway after some 50,000 requests, far later than with a proxy that does nothing.
const warmupMs = durationMs;
const directory = mkdtempSync(join(tmpdir(), 'steyg-bench-'));
const children: ChildProcess[] = [];

interface Subject {
  name: string;
  url: string;
  path: string;
  headers: Record<string, string>;
  /** Processes whose work counts as the subject's. */
  pids(): number[];
  /** Those of its database, whose work is told apart. */
  databasePids?(): number[];
}

function spawned(args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** The one JSON line with which the helpers say where they listen. */
async function whereabouts(child: ChildProcess): Promise<{ url: string; port: number }> {
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return JSON.parse(line.toString('utf8').split('\n', 1)[0] ?? '') as { url: string; port: number };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string, timeoutMs: number): Promise<boolean> {
  const until = Date.now() + timeoutMs;
  while (Date.now() < until) {
    try {
      const response = await fetch(url);
      if (response.status < 500) return true;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

/** CPU seconds that a process and its children have used; resident bytes now and at most. */
function usageOf(pids: number[]): { cpuSeconds: number; residentMb: number } {
  let ticks = 0;
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // Its own, and that of its children that have ended: a database has a process for each connection.
      for (const field of fields.slice(11, 15)) ticks += Number(field);
      kilobytes += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      // A process that ended counts no more.
    }
  }
  return { cpuSeconds: ticks / 100, residentMb: kilobytes / 1_024 };
}

/** Starts the peak of each process anew. */
function resetPeak(pids: number[]): void {
  for (const pid of pids) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // Without the right to, it is the peak since its start.
    }
  }
}

/**
 * Megabytes that the system says of processes: `VmHWM` in `status` is the most that was resident, `Pss` in
 * `smaps_rollup` what is resident now, memory that processes share counted once.
 */
function megabytesOf(pids: number[], file: 'status' | 'smaps_rollup', name: 'VmHWM' | 'Pss'): number {
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      const line = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'));
      kilobytes += Number(line?.[1] ?? 0);
    } catch {
      // A process that ended counts no more.
    }
  }
  return kilobytes / 1_024;
}

interface Row {
  case: string;
  subject: string;
  perSecond: number;
  p50: number;
  p95: number;
  p99: number;
  cpuMicroseconds: number;
  /** The part of it that the subject's database used. */
  databaseMicroseconds: number;
  /** The most that the subject had resident, without its database. */
  peakMb: number;
  databaseMb: number;
  errors: number;
  ratio: number;
}

const rows: Row[] = [];

async function measure(
  name: string,
  subject: Subject,
  load: { body: string | Buffer; connections: number; unit?: 'events'; keys?: readonly string[] },
): Promise<LoadResult> {
  const databasePids = (): number[] => subject.databasePids?.() ?? [];
  const before = usageOf([...subject.pids(), ...databasePids()]);
  const databaseBefore = usageOf(databasePids());
  resetPeak(subject.pids());
  const result = await runLoad({
    url: subject.url,
    path: subject.path,
    headers: subject.headers,
    durationMs,
    warmupMs,
    ...load,
  });
  const after = usageOf([...subject.pids(), ...databasePids()]);
  const databaseAfter = usageOf(databasePids());
  const perSecond = load.unit === 'events' ? result.eventsPerSecond : result.requestsPerSecond;
  const first = rows.find((row) => row.case === name);
  // The warm-up is in the CPU figure too, at the same rate.
  const requests = Math.max(1, result.requests * ((durationMs + warmupMs) / durationMs));
  const row: Row = {
    case: name,
    subject: subject.name,
    perSecond,
    p50: result.latencyMs.p50,
    p95: result.latencyMs.p95,
    p99: result.latencyMs.p99,
    cpuMicroseconds: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / requests,
    databaseMicroseconds: ((databaseAfter.cpuSeconds - databaseBefore.cpuSeconds) * 1e6) / requests,
    peakMb: megabytesOf(subject.pids(), 'status', 'VmHWM'),
    databaseMb: megabytesOf(databasePids(), 'smaps_rollup', 'Pss'),
    errors: result.errors,
    ratio: first === undefined ? 1 : perSecond / first.perSecond,
  };
  rows.push(row);
  process.stderr.write(
    `${name.padEnd(34)} ${subject.name.padEnd(14)} ${perSecond.toFixed(0).padStart(8)}/s  p50 ${row.p50.toFixed(2)} ms  p99 ${row.p99.toFixed(2)} ms  CPU ${row.cpuMicroseconds.toFixed(0)} µs (database ${row.databaseMicroseconds.toFixed(0)})  ratio ${row.ratio.toFixed(2)}  errors ${row.errors} ${JSON.stringify(result.statuses)}\n`,
  );
  return result;
}

/** `--only` takes parts of names, separated by `|`. */
const wanted = (name: string): boolean =>
  options.only === undefined || options.only.split('|').some((part) => name.includes(part));
const chatBody = (stream: boolean, words = 'ping'): string =>
  JSON.stringify({ model: 'bench', max_tokens: 1_000, stream, messages: [{ role: 'user', content: words }] });

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

async function startGateway(upstreamUrl: string): Promise<{ url: string; child: ChildProcess; dataDir: string }> {
  const port = await freePort();
  const dataDir = join(directory, `data-${port}`);
  const catalog = join(directory, 'catalog.yaml');
  const model = (id: string, routes: string[]): string =>
    `  - { id: ${id}, displayName: ${id}, family: bench, contextWindow: 2000000, maxOutputTokens: 4096, prices: { input: "1", cacheHit: "0.1", output: "5" }, routes: [${routes.map((upstream) => `{ upstream: ${upstream}, model: ${id} }`).join(', ')}] }`;
  writeFileSync(
    catalog,
    `upstreams:\n  - { id: bench-chat, protocol: chat-completions, baseUrl: "${upstreamUrl}/v1", apiKey: bench-key }\n  - { id: bench-messages, protocol: messages, baseUrl: "${upstreamUrl}", apiKey: bench-key }\nmodels:\n${model('bench', ['bench-chat'])}\n${model('bench-m', ['bench-messages'])}\n`,
  );
  const child = spawned(['server/main.ts'], {
    PORT: String(port),
    DATA_DIR: dataDir,
    CATALOG_FILE: catalog,
    ALLOW_PRIVATE_UPSTREAMS: '1',
    LOG_LEVEL: 'warn',
    MAX_CONCURRENT_PER_KEY: '100000',
    MAX_CONCURRENT_PER_ACCOUNT: '100000',
    MAX_CONCURRENT_TRIAL: '100000',
  });
  child.stdout?.resume();
  const url = `http://127.0.0.1:${port}`;
  if (!(await answers(`${url}/readyz`, 60_000))) throw new Error('the gateway did not become ready');
  return { url, child, dataDir };
}

function postgresPids(dataDir: string): number[] {
  const file = join(dataDir, 'postgres/postmaster.pid');
  if (!existsSync(file)) return [];
  const postmaster = Number(readFileSync(file, 'utf8').split('\n', 1)[0]);
  try {
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
      .trim()
      .split(/\s+/)
      .map(Number);
    return [postmaster, ...children];
  } catch {
    return [postmaster];
  }
}

/** Customers made straight in the database: an account, a grant and a key each. */
interface Customers {
  secrets: string[];
  accounts: string[];
  keys: string[];
}

async function addCustomers(dataDir: string, count: number): Promise<Customers> {
  return withDatabase(dataDir, (client) => insertCustomers(client, count));
}

async function insertCustomers(client: Client, count: number): Promise<Customers> {
  const secrets = Array.from({ length: count }, () => createSecret('key'));
  const accounts = secrets.map(() => uuidv7());
  const keys = secrets.map(() => uuidv7());
  await client.query(
    `INSERT INTO account (id, name, email) SELECT id, 'bench', id::text || '@example.com' FROM unnest($1::uuid[]) AS id`,
    [accounts],
  );
  await client.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, source_ref) SELECT id, gen_random_uuid(), 'adjustment', 1000000000000000000, 'bench' FROM unnest($1::uuid[]) AS id`,
    [accounts],
  );
  await client.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4) SELECT k, a, 'bench', h, 'sk-steyg-', 'beef' FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS t(k, a, h)`,
    [keys, accounts, secrets.map((secret) => secret.hash)],
  );
  return { secrets: secrets.map(({ secret }) => secret), accounts, keys };
}

/** Past entries of one account, spread over the known months. */
async function addHistory(dataDir: string, accountId: string, keyId: string, count: number): Promise<void> {
  return withDatabase(dataDir, (client) => insertHistory(client, accountId, keyId, count));
}

async function insertHistory(client: Client, accountId: string, keyId: string, count: number): Promise<void> {
  await client.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, latency_ms, outcome, usage_source, stream, created_at)
     SELECT $1, (left(uuid_at(at)::text, 14) || '7' || substr(md5(i::text), 1, 3) || '-8' || substr(md5(i::text), 4, 3) || '-' || substr(md5(i::text || 'x'), 1, 12))::uuid,
       $2, 'bench', 'history', 'chat-completions', 100, 0, 0, 0, 10, 1000000, 100000, 1000000, 1000000, 5000000, 150000000, 150000000, 1, 100, 'completed', 'reported', false, at
     FROM (SELECT i, now() - (i % 2592000) * interval '1 second' AS at FROM generate_series(1, $3::int) AS i) AS rows`,
    [accountId, keyId, count],
  );
  // As settlements would have left them, so that the checks of the ledger find nothing.
  await client.query(
    `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, held_at, created_at)
     SELECT e.account_id, g.id, 'charge', e.charged, e.request_id, e.created_at, e.created_at
     FROM ledger_entry e JOIN "grant" g USING (account_id) WHERE e.account_id = $1 AND e.upstream = 'history'`,
    [accountId],
  );
  await client.query(
    `UPDATE "grant" SET spent = spent + (SELECT sum(charged) FROM ledger_entry WHERE account_id = $1 AND upstream = 'history') WHERE account_id = $1`,
    [accountId],
  );
  await client.query(rollUp, [accountId]);
  await client.query('VACUUM (ANALYZE) ledger_entry, posting, usage_hour');
  await client.query('CHECKPOINT');
}

async function main(): Promise<void> {
  process.stderr.write(`${cpus().length} cores, ${cpus()[0]?.model ?? ''}, node ${process.version}\n`);
  const upstream = spawned(['test/bench/fast-upstream.ts', '--pieces', '50']);
  const { url: upstreamUrl } = await whereabouts(upstream);
  const proxyChild = spawned(['test/bench/bare-proxy.ts', '--upstream', upstreamUrl]);
  const proxyPlace = await whereabouts(proxyChild);
  const gatewayPlace = await startGateway(upstreamUrl);
  const customers = await addCustomers(gatewayPlace.dataDir, 1_001);
  const [hot = '', ...many] = customers.secrets;

  const bare: Subject = {
    name: 'bare proxy',
    url: proxyPlace.url,
    path: '/api/v1/chat/completions',
    headers: { authorization: 'Bearer x' },
    pids: () => [proxyChild.pid ?? 0],
  };
  const gateway: Subject = {
    name: 'steyg',
    url: gatewayPlace.url,
    path: '/api/v1/chat/completions',
    headers: { authorization: `Bearer ${hot}` },
    pids: () => [gatewayPlace.child.pid ?? 0],
    databasePids: () => postgresPids(gatewayPlace.dataDir),
  };
  const portkey = options['no-portkey'] ? null : await startPortkey(upstreamUrl);
  const subjects = [bare, ...(portkey === null ? [] : [portkey]), gateway];

  for (const [name, connections] of [
    ['small body, 1 connection', 1],
    ['small body, 64 connections', 64],
  ] as const) {
    if (wanted(name))
      for (const subject of subjects) await measure(name, subject, { body: chatBody(false), connections });
  }
  if (wanted('1 MB body, 16 connections')) {
    for (const subject of [bare, gateway])
      await measure('1 MB body, 16 connections', subject, { body: largeBody(), connections: 16 });
  }
  // Vendors send a chunk at a time; the third case shows what is left when a whole stream comes in one piece.
  for (const [pieces, how] of [
    [50, 'chunk by chunk'],
    [500, 'chunk by chunk'],
    [500, 'in one piece'],
  ] as const) {
    const name = `stream of ${pieces} chunks ${how}, 64 connections`;
    if (!wanted(name)) continue;
    const pace = how === 'chunk by chunk' ? ['--every-turn'] : [];
    const { url } = await whereabouts(spawned(['test/bench/fast-upstream.ts', '--pieces', String(pieces), ...pace]));
    const proxy = spawned(['test/bench/bare-proxy.ts', '--upstream', url]);
    const place = await whereabouts(proxy);
    await measure(
      name,
      { ...bare, url: place.url, pids: () => [proxy.pid ?? 0] },
      { body: chatBody(true), connections: 64, unit: 'events' },
    );
    const other = await startGateway(url);
    const { secrets } = await addCustomers(other.dataDir, 1);
    const own = {
      url: other.url,
      pids: () => [other.child.pid ?? 0],
      databasePids: () => postgresPids(other.dataDir),
    };
    const headers = { authorization: `Bearer ${secrets[0]}`, 'anthropic-version': '2023-06-01' };
    await measure(name, { ...gateway, ...own, headers }, { body: chatBody(true), connections: 64, unit: 'events' });
    const messagesBody = JSON.stringify({
      model: 'bench',
      max_tokens: 1_000,
      stream: true,
      messages: [{ role: 'user', content: 'ping' }],
    });
    await measure(
      name,
      { ...gateway, ...own, name: 'messages>chat', path: '/api/v1/messages', headers },
      { body: messagesBody, connections: 64, unit: 'events' },
    );
    await measure(
      name,
      { ...gateway, ...own, name: 'chat>messages', headers },
      { body: chatBody(true).replace('"bench"', '"bench-m"'), connections: 64, unit: 'events' },
    );
    await stop(other.child);
  }
  if (wanted('idle streams')) await measureIdle();
  if (wanted('1,000 accounts')) {
    await measure(
      'accounts, 64 connections',
      { ...gateway, name: 'one hot account' },
      { body: chatBody(false), connections: 64 },
    );
    await measure(
      'accounts, 64 connections',
      { ...gateway, name: '1,000 accounts' },
      { body: chatBody(false), connections: 64, keys: many },
    );
  }
  const few = 'ledger rows, 64 connections';
  if (wanted(few)) await measure(few, { ...gateway, name: 'few' }, { body: chatBody(false), connections: 64 });
  if (wanted(few) || wanted('graphql')) {
    const count = Number(options.rows);
    process.stderr.write(`writing ${count} ledger rows…\n`);
    await addHistory(gatewayPlace.dataDir, customers.accounts[0] ?? '', customers.keys[0] ?? '', count);
    if (wanted(few))
      await measure(few, { ...gateway, name: `${count} more` }, { body: chatBody(false), connections: 64 });
  }
  if (wanted('graphql')) await measureGraphql(gatewayPlace, customers);
  report();
}

/** What a dashboard asks for, at the ledger that the cases before have left behind. */
const questions: Record<string, string> = {
  'graphql: me, budget and keys':
    '{ me { accounts { id name budget { free held charged grants { amount free expiresAt } } keys(first: 20) { edges { node { id name } } } } } }',
  'graphql: 50 ledger entries':
    '{ account { ledger(first: 50) { edges { node { requestId createdAt model cost charged } } pageInfo { hasNextPage endCursor } } } }',
  'graphql: 30 days by model': `{ account { usage(period: DAY, by: [MODEL], from: "${new Date(Date.now() - 30 * 86_400_000).toISOString()}") { rows { start model requests cost } } } }`,
};

async function measureGraphql(
  place: { url: string; child: ChildProcess; dataDir: string },
  customers: Customers,
): Promise<void> {
  const token = createSecret('token');
  const account = customers.accounts[0] ?? '';
  await withDatabase(place.dataDir, (client) =>
    client.query(
      `INSERT INTO access_token (id, account_id, name, hash, prefix, last4, scopes) VALUES ($1, $2, 'bench', $3, 'st', 'beef', '{read}')`,
      [uuidv7(), account, token.hash],
    ),
  );
  const subject: Subject = {
    name: 'steyg',
    url: place.url,
    path: '/graphql',
    headers: { authorization: `Bearer ${token.secret}` },
    pids: () => [place.child.pid ?? 0],
    databasePids: () => postgresPids(place.dataDir),
  };
  for (const [name, query] of Object.entries(questions)) {
    const body = JSON.stringify({ query });
    const ask = async (): Promise<string> => {
      const headers = { ...subject.headers, 'content-type': 'application/json' };
      return (await fetch(`${place.url}/graphql`, { method: 'POST', headers, body })).text();
    };
    const { errors } = JSON.parse(await ask()) as { errors?: unknown };
    if (errors !== undefined) throw new Error(`${name}: ${JSON.stringify(errors)}`);
    const statements = await statementsOf(place.dataDir, ask);
    await measure(`${name} (${statements} statements)`, subject, { body, connections: 16 });
  }
}

/** How many statements of SQL one run of `ask` sends, by the server's own log; those of jobs are in no run of several. */
async function statementsOf(dataDir: string, ask: () => Promise<string>): Promise<number> {
  const setting = (value: string) =>
    withDatabase(dataDir, async (client) => {
      await client.query(`ALTER SYSTEM ${value}`);
      await client.query('SELECT pg_reload_conf()');
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
  const logged = (): number =>
    readFileSync(join(dataDir, 'postgres.log'), 'utf8').match(/ (execute|statement)\b/g)?.length ?? 0;
  await setting("SET log_statement = 'all'");
  const counts: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const before = logged();
    await ask();
    counts.push(logged() - before);
  }
  await setting('RESET log_statement');
  return Math.min(...counts);
}

/** The sums by hour that settlements would have kept. */
const rollUp = `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, input, output, cost, charged)
  SELECT account_id, date_trunc('hour', created_at), model, key_id, outcome, count(*), sum(input), sum(output), sum(cost), sum(charged)
  FROM ledger_entry WHERE account_id = $1 GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (account_id, hour, model, key_id, outcome) DO UPDATE SET requests = excluded.requests, input = excluded.input, output = excluded.output, cost = excluded.cost, charged = excluded.charged`;

/** What an idle stream takes: of the bare proxy's too, because two sockets and their parsers are most of it. */
async function measureIdle(): Promise<void> {
  const { url } = await whereabouts(spawned(['test/bench/fast-upstream.ts', '--idle']));
  const proxy = spawned(['test/bench/bare-proxy.ts', '--upstream', url]);
  await holdIdle('bare proxy', proxy, (await whereabouts(proxy)).url, 'x');
  await stop(proxy);
  const place = await startGateway(url);
  const { secrets } = await addCustomers(place.dataDir, 1);
  await holdIdle('steyg', place.child, place.url, secrets[0] ?? '');
  await stop(place.child);
}

async function holdIdle(subject: string, child: ChildProcess, url: string, key: string): Promise<void> {
  const pid = child.pid ?? 0;
  const load = {
    url,
    path: '/api/v1/chat/completions',
    headers: { authorization: `Bearer ${key}` },
    body: chatBody(true),
  };
  // A process that has worked has its pools filled, its code compiled and its young generation grown: none of that is
  // what a stream needs.
  await runLoad({ ...load, body: chatBody(false), connections: 64, durationMs: 2_000 });
  const warm = await holdStreams({ ...load, streams: 200 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = usageOf([pid]).residentMb;
  const held = await holdStreams({ ...load, streams: 2_000 });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const after = usageOf([pid]).residentMb;
  const kilobytes = ((after - before) * 1_024) / held.open;
  process.stderr.write(
    `idle streams: ${subject} ${held.open} open, ${held.lost} lost, ${kilobytes.toFixed(1)} KB each\n`,
  );
  rows.push({
    case: '2,000 idle streams',
    subject: `${subject}, KB each`,
    perSecond: 0,
    p50: 0,
    p95: 0,
    p99: 0,
    cpuMicroseconds: 0,
    databaseMicroseconds: 0,
    peakMb: after,
    databaseMb: 0,
    errors: held.lost,
    ratio: kilobytes,
  });
  held.release();
  warm.release();
}

async function startPortkey(upstreamUrl: string): Promise<Subject | null> {
  const port = await freePort();
  const child = spawn('npx', ['--yes', '@portkey-ai/gateway@1.15.2', '--headless', `--port=${port}`], {
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  if (!(await answers(url, 60_000))) {
    process.stderr.write('@portkey-ai/gateway could not be had: left out\n');
    return null;
  }
  return {
    name: 'portkey',
    url,
    path: '/v1/chat/completions',
    headers: {
      authorization: 'Bearer x',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstreamUrl}/v1`,
    },
    pids: () => descendants(child.pid ?? 0),
  };
}

function descendants(pid: number): number[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...(own === '' ? [] : own.split(/\s+/).flatMap((child) => descendants(Number(child))))];
  } catch {
    return [];
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await Promise.race([once(child, 'exit'), new Promise((resolve) => setTimeout(resolve, 15_000))]);
}

/** Joins those who use the embedded PostgreSQL of a data directory, for one look. */
async function withDatabase<T>(dataDir: string, work: (client: Client) => Promise<T>): Promise<T> {
  const database = await useEmbeddedPostgres({ dataDir, log: { info: () => undefined, warn: () => undefined } });
  const client = new Client({ connectionString: database.url });
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Before the server may stop: a connection that is cut off would hide why.
    await client.end().catch(() => undefined);
    await database.release();
  }
}

function report(): void {
  if (options.json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`;
  process.stdout.write(
    line([
      'case',
      'subject',
      'per second',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'CPU µs/request',
      'of it database',
      'peak MB',
      'database MB',
      'ratio',
      'errors',
    ]),
  );
  process.stdout.write(line(Array.from({ length: 12 }, () => '---')));
  for (const row of rows) {
    process.stdout.write(
      line([
        row.case,
        row.subject,
        row.perSecond.toFixed(0),
        row.p50.toFixed(2),
        row.p95.toFixed(2),
        row.p99.toFixed(2),
        row.cpuMicroseconds.toFixed(0),
        row.databaseMicroseconds.toFixed(0),
        row.peakMb.toFixed(0),
        row.databaseMb.toFixed(0),
        row.ratio.toFixed(2),
        String(row.errors),
      ]),
    );
  }
}

try {
  await main();
} finally {
  await Promise.all(
    children.map(async (child) => {
      if (child.pid !== undefined && child.spawnfile === 'npx') {
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch {
          // Already gone.
        }
      } else await stop(child);
    }),
  );
  rmSync(directory, { recursive: true, force: true });
}
