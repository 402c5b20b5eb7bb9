/** The examination of a host: what it says of a good one, and of each fault that it looks for. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import type { HostFinding } from '../../server/admin/doctor/finding.ts';
import { examineNode } from '../../server/admin/doctor/host.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import { createOperatorSettings } from '../../server/settings/settings.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { startApp } from '../support/app.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';

const dataDir = createDirectory('steyg-doctor-');
let database: TestDatabase;
let proxies: Server[] = [];

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true });
});
afterEach(() => {
  for (const proxy of proxies) {
    proxy.closeAllConnections();
    proxy.close();
  }
  proxies = [];
});

/** One call of the command: its findings by subject, and its exit code. */
async function examine(env: Record<string, string>) {
  let out = '';
  const code = await runCommandLine(['doctor', '--json'], {
    env: { DATABASE_URL: database.url, DATA_DIR: dataDir, ...env },
    out: (text) => {
      out += text;
    },
    err: () => {},
  });
  const json = JSON.parse(out) as { findings?: HostFinding[]; error?: { findings: HostFinding[] } };
  const findings = json.findings ?? json.error?.findings ?? [];
  const states = Object.fromEntries(findings.map(({ subject, state }) => [subject, state]));
  return { code, states, said: Object.fromEntries(findings.map(({ subject, found }) => [subject, found])) };
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  proxies.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy in front of a port. `collects`: it reads an answer to its end before it passes it on. */
function proxy(port: number, { collects }: { collects: boolean }): Promise<string> {
  return listen((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = request({ port, method, path: url, headers }, (answer) => {
      if (!collects) {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(parts));
      });
    });
    incoming.pipe(forwarded);
  });
}

it('finds nothing bad with a host whose proxy passes pieces on, before the server is started', async () => {
  await chmod(dataDir, 0o700);
  const port = await freePort();
  const PUBLIC_URL = await proxy(port, { collects: false });
  const { code, states } = await examine({ PORT: String(port), PUBLIC_URL, SEPAY_WEBHOOK_SECRET: 'x'.repeat(32) });
  expect(states).toMatchObject({
    node: 'good',
    'data directory': 'good',
    'secret key': 'good',
    database: 'good',
    'database clock': 'good',
    migrations: 'good',
    port: 'good',
    'public address': 'good',
    streams: 'good',
    'webhook sepay': 'good',
  });
  // The tests' own PostgreSQL does not wait for the disk, and is said to.
  expect({ code, safety: states['database safety'] }).toEqual({ code: 1, safety: 'bad' });
});

it('finds a proxy that collects answers', async () => {
  const port = await freePort();
  const PUBLIC_URL = await proxy(port, { collects: true });
  const { code, states } = await examine({ PORT: String(port), PUBLIC_URL });
  expect({ code, address: states['public address'], streams: states['streams'] }).toEqual({
    code: 1,
    address: 'good',
    streams: 'bad',
  });
});

it('examines through a server that runs, too', async () => {
  const app = await startApp({ env: { SEPAY_WEBHOOK_SECRET: 'x'.repeat(32) } });
  try {
    const port = new URL(app.url).port;
    const PUBLIC_URL = await proxy(Number(port), { collects: false });
    const { states, said } = await examine({ PORT: port, PUBLIC_URL, SEPAY_WEBHOOK_SECRET: 'x'.repeat(32) });
    expect(said['port']).toContain('the running server');
    expect([states['public address'], states['streams'], states['webhook sepay']]).toEqual(['good', 'good', 'good']);
  } finally {
    await app.close();
  }
});

it('examines with what operators stored in the database, and says what it cannot open', async () => {
  const port = await freePort();
  const PUBLIC_URL = await proxy(port, { collects: false });
  const environment = { PORT: String(port), SECRET_KEY: randomBytes(32).toString('base64') };
  const settings = createOperatorSettings({
    environment: loadConfig({ ...environment, DATA_DIR: dataDir }),
    pool: database.pool,
    seal: createSeal({ secretKeys: [Buffer.from(environment.SECRET_KEY, 'base64')] }),
    warn: () => undefined,
  });
  await settings.save({ group: 'address', values: [{ name: 'PUBLIC_URL', value: PUBLIC_URL }] }, 'system');
  const secret = 'a secret that the bank shares';
  await settings.save({ group: 'sepay', values: [{ name: 'SEPAY_WEBHOOK_SECRET', value: secret }] }, 'system');
  try {
    const examined = await examine(environment);
    expect(examined.states).toMatchObject({
      'stored settings': 'good',
      'public address': 'good',
      'webhook sepay': 'good',
    });
    expect(examined.said['stored settings']).toBe('PUBLIC_URL, SEPAY_WEBHOOK_SECRET');
    expect(JSON.stringify(examined)).not.toContain(secret);
    const other = await examine({ ...environment, SECRET_KEY: randomBytes(32).toString('base64') });
    expect([other.states['stored settings'], other.states['bank webhooks']]).toEqual(['bad', 'skipped']);
  } finally {
    await database.pool.query('DELETE FROM operator_setting');
  }
});

it('finds a public address that leads elsewhere, or nowhere', async () => {
  const port = String(await freePort());
  const elsewhere = await listen((_request, response) => response.end('another page'));
  expect((await examine({ PORT: port, PUBLIC_URL: elsewhere })).states['public address']).toBe('bad');
  const { said, states } = await examine({ PORT: port, PUBLIC_URL: `http://127.0.0.1:${await freePort()}` });
  expect([states['public address'], said['public address']]).toEqual(['bad', expect.stringContaining('ECONNREFUSED')]);
});

it('finds a port that another program has, and webhooks that a proxy answers itself', async () => {
  const taken = await listen((_request, response) => response.end('another program'));
  expect((await examine({ PORT: new URL(taken).port })).states['port']).toBe('bad');
  const port = await freePort();
  const passing = new URL(await proxy(port, { collects: false }));
  const refusing = await listen((incoming, outgoing) => {
    if (incoming.method === 'POST') outgoing.writeHead(403).end('forbidden');
    else {
      incoming.pipe(
        request({ port: passing.port, path: incoming.url }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        }),
      );
    }
  });
  const { states } = await examine({ PORT: String(port), PUBLIC_URL: refusing, SEPAY_WEBHOOK_SECRET: 'x'.repeat(32) });
  expect([states['public address'], states['webhook sepay']]).toEqual(['good', 'bad']);
});

it('finds a database that is away, or that only reads, and never shows its password', async () => {
  const port = String(await freePort());
  const away = await examine({ PORT: port, DATABASE_URL: `postgresql://u:hidden@127.0.0.1:${await freePort()}/none` });
  expect(away.states['database']).toBe('bad');
  expect(JSON.stringify(away)).not.toContain('hidden');
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  try {
    const { states, said } = await examine({ PORT: port });
    expect([states['database'], said['database']]).toEqual(['bad', expect.stringContaining('read-only')]);
  } finally {
    await database.pool.query('SET default_transaction_read_only = off');
    await database.pool.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  }
});

it('finds a data directory that others can read, an old Node, and a key that is only in DATA_DIR', async () => {
  await chmod(dataDir, 0o755);
  const { states } = await examine({ PORT: String(await freePort()) });
  expect(states['data directory']).toBe('doubtful');
  expect(examineNode('22.11.0').state).toBe('bad');
});
