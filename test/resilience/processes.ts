import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { type BrokenInvariant, checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { createSimulator, type Simulator, type SimulatorSettings } from '../../server/simulator/simulator.ts';
import { pause, type ServerProcess, startServer } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { createDirectory } from '../support/directory.ts';
import { catalogFile, oneRouteEach } from './support.ts';

/** Several real processes of one service: one database, one upstream that outlives them, a data directory for each. */
export interface Service {
  pool: Pool;
  simulator: Simulator;
  dataDir(name: string): string;
  /** Starts a process, again if the name had one before: it finds what that one left in its directory. */
  start(name: string, env?: Record<string, string>, port?: number, folder?: string): Promise<ServerProcess>;
  customer(usd?: string): Promise<Customer>;
  rows(accountIds: readonly string[]): Promise<Map<string, number>>;
  /** Resolves when nothing is reserved any more. */
  released(): Promise<void>;
  broken(): Promise<BrokenInvariant[]>;
  close(): Promise<void>;
}

export async function startService(
  databaseUrl: string,
  settings: SimulatorSettings = {},
  upstream: Parameters<typeof oneRouteEach>[1] = {},
): Promise<Service> {
  const directory = createDirectory('steyg-service-');
  const simulator = await createSimulator({ tokensPerSecond: Number.POSITIVE_INFINITY, firstTokenMs: 0, ...settings });
  const pool = new Pool({ connectionString: databaseUrl, types: bigintTypes });
  // The database goes away under it now and then.
  pool.on('error', () => undefined);
  const processes: ServerProcess[] = [];
  const secretKey = randomBytes(32).toString('base64');
  const catalog = join(directory, 'catalog.yaml');
  writeFileSync(catalog, catalogFile(oneRouteEach(simulator.url, upstream)));
  const accounts = createAccounts({ pool });
  const keys = createKeys({ pool });

  return {
    pool,
    simulator,
    dataDir: (name) => join(directory, name),
    async start(name, env = {}, port, folder) {
      await mkdir(join(directory, name), { recursive: true });
      const started = await startServer({
        dataDir: join(directory, name),
        env: {
          DATABASE_URL: databaseUrl,
          SECRET_KEY: secretKey,
          CATALOG_FILE: catalog,
          ALLOW_PRIVATE_UPSTREAMS: '1',
          HOLD_LEASE_MS: '1500',
          DRAIN_MS: '3000',
          MAX_CONCURRENT_PER_KEY: '1000',
          MAX_CONCURRENT_PER_ACCOUNT: '1000',
          ...env,
        },
        ...(port === undefined ? {} : { port }),
        ...(folder === undefined ? {} : { folder }),
      });
      processes.push(started);
      return started;
    },
    async customer(usd = '10') {
      const made = await accounts.create({
        email: `${randomBytes(8).toString('hex')}@example.com`,
        grant: { kind: 'adjustment', amount: BigInt(Math.round(Number(usd) * 1e9)) * 1_000n, days: null },
        actor: 'test',
      });
      if (made.kind !== 'created') throw new Error(made.kind);
      const key = await keys.create({ accountId: made.account.id, actor: 'test' });
      if (key.kind !== 'created') throw new Error(key.kind);
      return { accountId: made.account.id, keyId: key.key.id, secret: key.secret };
    },
    async rows(accountIds) {
      const { rows } = await pool.query(
        'SELECT request_id, count(*)::int AS n FROM ledger_entry WHERE account_id = ANY ($1) GROUP BY request_id',
        [accountIds],
      );
      return new Map(rows.map(({ request_id, n }) => [request_id, n]));
    },
    async released() {
      for (;;) {
        const { rows } = await pool.query(
          'SELECT (SELECT count(*) FROM hold)::int AS holds, (SELECT coalesce(sum(held), 0) FROM "grant")::text AS held',
        );
        if (rows[0].holds === 0 && rows[0].held === '0') return;
        await pause(30);
      }
    },
    broken: () => checkInvariants(pool, { accounts: null }),
    async close() {
      await Promise.all(processes.map((started) => started.kill()));
      await simulator.close();
      await pool.end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** One streamed request and how far it got. */
export interface Running {
  accountId: string;
  /** Null until the answer's head has arrived. */
  requestId: string | null;
  status: number | null;
  text: string;
  /** The terminator arrived: the client believes that all is well. */
  finished: boolean;
  /** Resolves when the stream has ended, in whichever way. */
  ended: Promise<void>;
}

/**
 * Starts one. A server that is busy refuses for a moment, and then clients ask again; with `once` it is asked once.
 */
export function stream(
  baseUrl: string,
  customer: Customer,
  text: string,
  {
    model = 'on-chat-completions',
    once = false,
    maxTokens = 2_000,
  }: { model?: string; once?: boolean; maxTokens?: number } = {},
): Running {
  const running: Running = {
    accountId: customer.accountId,
    requestId: null,
    status: null,
    text: '',
    finished: false,
    ended: Promise.resolve(),
  };
  const ask = (): Promise<Response> =>
    fetch(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}` },
      body: JSON.stringify({ model, stream: true, max_tokens: maxTokens, messages: [{ role: 'user', content: text }] }),
    });
  const isBusy = ({ status }: Response): boolean => status === 503 && !once;
  const follow = async (): Promise<void> => {
    let response = await ask();
    while (isBusy(response)) {
      await response.text();
      await pause(100);
      response = await ask();
    }
    running.requestId = response.headers.get('request-id');
    running.status = response.status;
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) running.text += decoder.decode(bytes, { stream: true });
    running.finished = running.text.includes('data: [DONE]');
  };
  running.ended = follow().catch(() => undefined);
  return running;
}
