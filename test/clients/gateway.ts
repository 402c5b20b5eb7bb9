/** The server that the coding agents run against. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { run } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a model's only place speaks decides whether a tool's requests travel as they are or are translated. */
export const models = {
  messages: 'on-messages',
  'chat-completions': 'on-chat',
  responses: 'on-responses',
} as const;

export type Protocol = keyof typeof models;

/** Beside them, the smaller models that README.md names: some agents use them for titles and the like. */
const others = ['sim-medium', 'sim-small'];

// One price for all, so that one amount of budget means the same to every tool.
/** Models of vendors that are known to search at a public price: some agents offer the vendor's search with every request. */
export const searchingModels = { messages: 'on-messages-searching', responses: 'on-responses-searching' } as const;

const catalog = `
upstreams:
  - { id: messages, protocol: messages, baseUrl: simulator, features: { effort: true } }
  - { id: chat-completions, protocol: chat-completions, baseUrl: simulator, features: { effort: true, files: true } }
  - { id: responses, protocol: responses, baseUrl: simulator }
  - { id: anthropic, protocol: messages, baseUrl: simulator, profile: anthropic }
  - { id: openai, protocol: responses, baseUrl: simulator, profile: openai-gpt5 }
models:
${[
  ...Object.entries(models).map(([protocol, id]) => describe(id, [protocol])),
  ...others.map((id) => describe(id, ['messages', 'chat-completions'])),
  describe(searchingModels.messages, ['anthropic']),
  describe(searchingModels.responses, ['openai']),
].join('\n')}
`;

function describe(id: string, upstreams: string[]): string {
  const routes = upstreams.map((upstream) => `{ upstream: ${upstream}, model: sim-large }`);
  return `  - { id: ${id}, displayName: ${id}, family: simulated, contextWindow: 200000, maxOutputTokens: 64000,
      capabilities: [tools, vision, thinking, caching], prices: { input: "1", cacheHit: "0.1", output: "5" },
      routes: [${routes.join(', ')}] }`;
}

export interface Entry {
  requestId: string;
  model: string;
  protocol: string;
  outcome: string;
  charged: string;
}

/** The server as a process of its own, administered through its command line. */
export interface Gateway {
  url: string;
  /** Opens an account with so much budget (decimal USD) and makes a key. */
  customer(usd: string): Promise<Customer>;
  topUp(email: string, usd: string): Promise<void>;
  /** Newest first. Waits until nothing of the account is held, since entries are written behind the answers. */
  ledger(email: string): Promise<Entry[]>;
  /** Decimal USD that can still be spent. */
  free(email: string): Promise<string>;
  /** The latest requests and frames that reached the vendor, newest last. */
  atVendor(): Promise<{ method: string; body: string }[]>;
  /** Null when all rules of money hold; else what is broken. */
  invariants(): Promise<string | null>;
  close(): Promise<void>;
}

export interface Customer {
  email: string;
  key: string;
}

/** Machines that run other things beside this command are slow; what hangs ends all the same. */
const startMs = 600_000;
const adminMs = 180_000;

/** Starts the server on a free port, with an empty data directory. Throws with what it printed if it does not come up. */
export async function startGateway(directory: string): Promise<Gateway> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const simulatorPort = await freePort();
  const catalogFile = join(directory, 'catalog.yaml');
  await writeFile(catalogFile, catalog);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
    DATA_DIR: join(directory, 'data'),
    CATALOG_FILE: catalogFile,
    PORT: String(port),
    LOG_LEVEL: 'warn',
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_RECORD: '1',
    MAX_CONCURRENT_TRIAL: '100',
    // Unpaced: how fast a model speaks is nothing that is looked at here.
    SIMULATOR_TOKENS_PER_SECOND: '0',
    SIMULATOR_FIRST_TOKEN_MS: '0',
  };
  const server = spawn(process.execPath, ['server/main.ts'], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const stop = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    const forced = setTimeout(() => server.pid !== undefined && process.kill(-server.pid, 'SIGKILL'), 40_000);
    server.kill('SIGTERM');
    await ended;
    clearTimeout(forced);
  };
  const until = Date.now() + startMs;
  while (!(await isReady(url))) {
    if (server.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`the server did not come up:\n${printed}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  const admin = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run({
      command: process.execPath,
      args: ['server/admin.ts', ...args, '--json'],
      cwd: root,
      env,
      timeoutMs: adminMs,
    });
    if (code !== 0) throw new Error(`admin ${args.slice(0, 2).join(' ')}: ${stderr.trim() || stdout.trim()}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const budgetOf = async (email: string) =>
    (await admin('budget', 'show', '--account', email)) as { held: string; free: string };
  let customers = 0;

  return {
    url,
    async customer(usd) {
      customers += 1;
      const email = `customer-${customers}@example.com`;
      await admin('account', 'create', '--email', email, '--grant-usd', usd);
      const { key } = (await admin('key', 'create', '--account', email)) as { key: { secret: string } };
      return { email, key: key.secret };
    },
    async topUp(email, usd) {
      await admin('grant', 'add', '--account', email, '--usd', usd);
    },
    async ledger(email) {
      while ((await budgetOf(email)).held !== '0') await new Promise((resolve) => setTimeout(resolve, 100));
      const { entries } = (await admin('ledger', 'list', '--account', email, '--limit', '500')) as { entries: Entry[] };
      return entries;
    },
    async free(email) {
      return (await budgetOf(email)).free;
    },
    async atVendor() {
      const answer = await fetch(`http://127.0.0.1:${simulatorPort}/__requests`);
      const { requests } = (await answer.json()) as { requests: { method: string; bodyBase64: string }[] };
      return requests.map(({ method, bodyBase64 }) => ({ method, body: Buffer.from(bodyBase64, 'base64').toString() }));
    },
    async invariants() {
      try {
        await admin('invariants');
        return null;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    close: stop,
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
