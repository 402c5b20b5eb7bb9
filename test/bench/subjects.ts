import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cannedAnswers } from './canned.ts';
import { hasTool } from './wrk.ts';

/** The processes of a benchmark: what is measured, what stands beside it, and the upstream behind both. */
export interface Subject {
  name: string;
  url: string;
  path: string;
  headers: Record<string, string>;
  /** Processes whose work counts as the subject's. */
  pids(): number[];
  /** Those of its database, whose work is told apart. */
  databasePids(): number[];
}

export interface Gateway {
  url: string;
  child: ChildProcess;
  dataDir: string;
  pids(): number[];
  databasePids(): number[];
}

/** Everything of a run: files go here and are deleted with it. */
export const directory = mkdtempSync(join(tmpdir(), 'steyg-bench-'));
const children: ChildProcess[] = [];

const chatPath = '/api/v1/chat/completions';

function spawned(args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** The one JSON line with which the helpers say where they listen. */
async function whereabouts(child: ChildProcess): Promise<string> {
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return (JSON.parse(line.toString('utf8').split('\n', 1)[0] ?? '') as { url: string }).url;
}

export async function freePort(): Promise<number> {
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

/** An upstream of whole answers: nginx, which costs a few microseconds a request; the Node one when it cannot be had. */
export async function startUpstream(): Promise<{ url: string; kind: string }> {
  if (!hasTool('nginx', 'nginx-light')) return { ...(await startNodeUpstream([])), kind: 'node' };
  const port = await freePort();
  const home = join(directory, 'nginx');
  const canned = cannedAnswers(50);
  const location = (path: string, protocol: keyof typeof canned): string => {
    const whole = canned[protocol].whole.toString('utf8');
    return `location ~ ${path}$ { default_type application/json; return 200 '${whole.slice(whole.indexOf('\r\n\r\n') + 4)}'; }`;
  };
  writeFileSync(
    `${home}.conf`,
    `worker_processes 1; daemon off; pid ${home}.pid; error_log stderr crit; events { worker_connections 8192; }
     http { access_log off; keepalive_requests 100000000; client_max_body_size 64m; client_body_temp_path ${home}-body;
       proxy_temp_path ${home}-p; fastcgi_temp_path ${home}-f; uwsgi_temp_path ${home}-u; scgi_temp_path ${home}-s;
       server { listen 127.0.0.1:${port} backlog=4096; ${location('/messages', 'messages')} ${location('/chat/completions', 'chat-completions')} } }`,
  );
  const child = spawn('nginx', ['-c', `${home}.conf`, '-p', directory, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  if (!(await answers(url, 10_000))) throw new Error('nginx did not start');
  return { url, kind: 'nginx' };
}

/** An upstream that streams, `args` as `fast-upstream.ts` takes them. */
export async function startNodeUpstream(args: string[]): Promise<{ url: string }> {
  return { url: await whereabouts(spawned(['test/bench/fast-upstream.ts', ...args])) };
}

export async function startProxy(
  upstreamUrl: string,
  env: Record<string, string> = {},
): Promise<Subject & { child: ChildProcess }> {
  const child = spawned(['test/bench/bare-proxy.ts', '--upstream', upstreamUrl], env);
  return {
    name: 'idle proxy',
    url: await whereabouts(child),
    path: chatPath,
    headers: { authorization: 'Bearer x' },
    pids: () => [child.pid ?? 0],
    databasePids: () => [],
    child,
  };
}

export function subjectOf(gateway: Gateway, secret: string, name = 'steyg'): Subject {
  const { url, pids, databasePids } = gateway;
  const headers = { authorization: `Bearer ${secret}`, 'anthropic-version': '2023-06-01' };
  return { name, url, path: chatPath, headers, pids, databasePids };
}

export async function startGateway(upstreamUrl: string, env: Record<string, string> = {}): Promise<Gateway> {
  const port = await freePort();
  const dataDir = join(directory, `data-${port}`);
  const catalog = join(directory, `catalog-${port}.yaml`);
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
    MAX_REQUESTS_PER_MINUTE_PER_KEY: '1000000000',
    MAX_REQUESTS_PER_MINUTE_PER_ACCOUNT: '1000000000',
    MAX_REQUESTS_PER_MINUTE_TRIAL: '1000000000',
    MAX_CONCURRENT_TRIAL: '100000',
    ...env,
  });
  child.stdout?.resume();
  const url = `http://127.0.0.1:${port}`;
  if (!(await answers(`${url}/readyz`, 120_000))) throw new Error('the gateway did not become ready');
  const databasePids = (): number[] => postgresPids(dataDir);
  const pids = (): number[] => {
    const database = new Set(databasePids());
    return descendants(child.pid ?? 0).filter((pid) => !database.has(pid));
  };
  return { url, child, dataDir, pids, databasePids };
}

/** Null when the package cannot be had. */
export async function startPortkey(upstreamUrl: string): Promise<Subject | null> {
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
    databasePids: () => [],
  };
}

function postgresPids(dataDir: string): number[] {
  const file = join(dataDir, 'postgres/postmaster.pid');
  return existsSync(file) ? descendants(Number(readFileSync(file, 'utf8').split('\n', 1)[0])) : [];
}

function descendants(pid: number): number[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...(own === '' ? [] : own.split(/\s+/).flatMap((child) => descendants(Number(child))))];
  } catch {
    return [];
  }
}

/** CPU seconds that processes and their ended children have used, and what is resident. */
export function usageOf(pids: readonly number[]): { cpuSeconds: number; residentMb: number } {
  let ticks = 0;
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      for (const field of fields.slice(11, 15)) ticks += Number(field);
      kilobytes += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      // A process that ended counts no more.
    }
  }
  return { cpuSeconds: ticks / 100, residentMb: kilobytes / 1_024 };
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await Promise.race([once(child, 'exit'), new Promise((resolve) => setTimeout(resolve, 15_000))]);
}

/** Ends every process of the run and deletes its files. */
export async function stopAll(): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.pid === undefined || child.spawnfile !== 'npx') return stop(child);
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Already gone.
      }
    }),
  );
  rmSync(directory, { recursive: true, force: true });
}
