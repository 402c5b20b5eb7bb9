/** Configuration of the server's process: right and wrong values, and its answers. */

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { admin, lives, type ServerProcess, startServer } from './server-process.ts';

vi.setConfig({ testTimeout: 300_000 });

/** What an operator sets, rightly and wrongly, and what the process does about it. */

const directory = createDirectory('steyg-start-');
let database: TestDatabase;
let server: ServerProcess | null = null;
let number = 0;
let dataDir: string;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});
afterEach(async () => {
  // A kill would leave the embedded database behind, as it has to.
  server?.signal('SIGTERM');
  await server?.exited;
  server = null;
});

/** A start in a data directory of its own, which does not exist yet. */
async function start(env: Record<string, string>, port?: number): Promise<ServerProcess> {
  number += 1;
  dataDir = join(directory, String(number));
  return startAgain(env, port);
}

async function startAgain(env: Record<string, string>, port?: number): Promise<ServerProcess> {
  server = await startServer({ dataDir, env, ...(port === undefined ? {} : { port }) });
  return server;
}

async function catalog(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(directory, { recursive: true });
  await writeFile(path, text);
  return path;
}

function bigModel(price: string): string {
  return JSON.stringify({
    upstreams: [{ id: 'vendor', protocol: 'messages', baseUrl: 'https://api.example.com', apiKeyEnv: 'VENDOR_KEY' }],
    models: [
      {
        id: 'big-1',
        displayName: 'Big 1',
        family: 'big',
        contextWindow: 1000,
        maxOutputTokens: 100,
        prices: { input: price, cacheHit: '0.1', output: '2' },
        routes: [{ upstream: 'vendor', model: 'vendor-big' }],
      },
    ],
  });
}

const secretKey = Buffer.alloc(32, 7).toString('base64');

describe('an environment that is wrong', () => {
  it('ends the start with every problem at once, and before anything is touched', async () => {
    const { exited, errors, output } = await start({
      WORKERS: 'many',
      LOG_LEVEL: 'loud',
      HOLD_LEASE_MS: '-1',
      DATABASE_URL: 'mysql://somewhere',
      SECRET_KEY: 'c2hvcnQ=',
      ADMIN_EMAIL: 'nobody',
    }).then(async (process) => ({ exited: await process.exited, errors: process.errors, output: process.output }));
    expect(exited).toBe(1);
    for (const name of ['WORKERS', 'LOG_LEVEL', 'HOLD_LEASE_MS', 'DATABASE_URL', 'SECRET_KEY', 'ADMIN_EMAIL']) {
      expect(errors).toContain(name);
    }
    expect(errors).toContain('6 problems');
    expect(errors).not.toContain('    at ');
    expect(output).toBe('');
    expect(existsSync(dataDir)).toBe(false);
  });

  it('says so when DATA_DIR is no directory', async () => {
    await mkdir(directory, { recursive: true });
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    const failed = await start({ DATA_DIR: file });
    expect(await failed.exited).toBe(1);
    expect(failed.errors).toContain('DATA_DIR:');
    expect(failed.errors).not.toContain(' at ');
  });

  it.each([
    ['is cut short', 'c2hvcnQ=', 'is not a key'],
    // Decodes to 32 bytes all the same, but not to those that were written.
    ['has a flaw in it', `${Buffer.alloc(32, 7).toString('base64').slice(0, 20)}!${'B'.repeat(24)}`, 'is not a key'],
  ])('says in a sentence that the secret key it kept %s', async (_how, text, sentence) => {
    dataDir = join(directory, 'damaged');
    await mkdir(dataDir, { recursive: true });
    await writeFile(join(dataDir, 'secret-key'), text);
    const failed = await startAgain({});
    expect(await failed.exited).toBe(1);
    expect(failed.errors).toContain(`${join(dataDir, 'secret-key')} ${sentence}`);
    expect(failed.errors).not.toContain('    at ');
    expect(readFileSync(join(dataDir, 'secret-key'), 'utf8')).toBe(text);
  });

  it('refuses production without SECRET_KEY', async () => {
    const process = await start({ NODE_ENV: 'production', DATABASE_URL: database.url });
    expect(await process.exited).toBe(1);
    expect(process.errors).toContain('SECRET_KEY');
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('a catalog file', () => {
  it('that is wrong ends the start with every fault and its line, and changes nothing', async () => {
    const file = await catalog(
      'wrong.yaml',
      [
        'upstreams:',
        '  - { id: one, protocol: telepathy, baseUrl: "https://api.example.com" }',
        'models:',
        '  - id: Bad Id',
        '    displayName: Bad',
        '    family: bad',
        '    contextWindow: 1000',
        '    maxOutputTokens: 100',
        '    prices: { input: "1e3", cacheHit: "0.1", output: "2" }',
        '    routes: [{ upstream: nowhere, model: x }]',
        'plans:',
        '  - { id: starter, name: Starter, priceVnd: -1, budgetUsd: "10" }',
      ].join('\n'),
    );
    const process = await start({ CATALOG_FILE: file });
    expect(await process.exited).toBe(1);
    for (const line of [2, 4, 9, 12]) expect(process.errors).toContain(`wrong.yaml:${line} `);
    expect(process.errors).not.toContain('    at ');
    expect(existsSync(dataDir)).toBe(false);
  });

  it('that is not there ends the start', async () => {
    const process = await start({ CATALOG_FILE: join(directory, 'missing.yaml') });
    expect(await process.exited).toBe(1);
    expect(process.errors).toContain('missing.yaml');
  });

  it('that only the database shows to be wrong ends the start too, with one process and with two', async () => {
    const file = await catalog(
      'unknown-upstream.yaml',
      JSON.stringify({
        models: [
          {
            id: 'm',
            displayName: 'M',
            family: 'm',
            contextWindow: 1000,
            maxOutputTokens: 100,
            prices: { input: '1', cacheHit: '0.1', output: '2' },
            routes: [{ upstream: 'nowhere', model: 'x' }],
          },
        ],
      }),
    );
    for (const workers of ['1', '2']) {
      const process = await start({ CATALOG_FILE: file, DATABASE_URL: database.url, WORKERS: workers });
      expect(await process.exited).toBe(1);
      expect(process.errors).toContain('nowhere');
      expect(process.errors).not.toContain('    at ');
    }
  });

  it('is applied at every start: models, prices and keys from the environment', async () => {
    const own = await createDatabase();
    try {
      const settings = { DATABASE_URL: own.url, VENDOR_KEY: 'vendor-key-of-the-operator', SECRET_KEY: secretKey };
      for (const price of ['1', '3']) {
        const process = await start({ ...settings, CATALOG_FILE: await catalog('good.yaml', bigModel(price)) });
        await process.ready();
        process.signal('SIGTERM');
        expect(await process.exited).toBe(0);
        expect(process.output).not.toContain('vendor-key-of-the-operator');
      }
      const { rows } = await own.pool.query('SELECT input FROM price WHERE model_id = $1 ORDER BY valid_from', [
        'big-1',
      ]);
      expect(rows).toEqual([{ input: 1_000_000n }, { input: 3_000_000n }]);
      // The models of the simulator are not seeded beside a file.
      expect((await own.pool.query('SELECT id FROM model')).rows).toEqual([{ id: 'big-1' }]);
    } finally {
      await own.drop();
    }
  });
});

describe('where it listens', () => {
  let taken: Server;
  afterEach(() => new Promise<unknown>((resolve) => taken.close(resolve)));

  it('a port that is taken is said plainly, the embedded database goes away again, and nothing was made: the next start shows the password and the key', async () => {
    taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve);
    });
    const { port } = taken.address() as { port: number };
    const failed = await start({}, port);
    expect(await failed.exited).toBe(1);
    const started = failed.log.find(({ msg }) => String(msg).includes('embedded PostgreSQL'));
    const postmaster = Number(started?.['postgresPid']);
    expect(postmaster).toBeGreaterThan(0);
    expect(failed.errors).toContain('EADDRINUSE');
    expect(failed.errors).not.toContain('    at ');
    expect(failed.output).not.toContain('shown this once');
    expect(lives(postmaster)).toBe(false);
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);

    const next = await startAgain({});
    await next.ready();
    await next.until(() => next.output.includes('Try it'));
    expect(next.output).toMatch(/Operator \(shown this once\)/);
    expect(next.output).toMatch(/^ +sk-steyg-\w+$/m);
  });

  it('any free port (0) is chosen before anything names it', async () => {
    const chosen = await start({ DATABASE_URL: database.url }, 0);
    await chosen.until(() => chosen.output.includes('ready at'));
    const url = /ready at (\S+)/.exec(chosen.output)?.[1];
    const response = await fetch(`${url}/api/messages`, { method: 'POST' });
    expect(await response.text()).toContain(`${url}/api/v1`);
  });
});

it('a first start that is stopped before it is ready shows what it has made, or made nothing', async () => {
  const stopped = await start({});
  await stopped.until(() => stopped.log.some(({ msg }) => String(msg).includes('applied migrations')));
  stopped.signal('SIGTERM');
  await stopped.exited;
  const next = await startAgain({});
  await next.ready();
  await next.until(() => next.output.includes('ready at'));
  next.signal('SIGTERM');
  await next.exited;
  const shown = [stopped.output, next.output].filter((output) => output.includes('Operator (shown this once)'));
  expect(shown).toHaveLength(1);
});

describe('DATABASE_URL', () => {
  it('is used instead of an embedded database, and a signal while it starts ends it in order', async () => {
    const process = await start({ DATABASE_URL: database.url });
    await process.ready();
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    const { json } = await admin(dataDir, ['account', 'create', '--email', 'url@example.com'], {
      DATABASE_URL: database.url,
      SECRET_KEY: readFileSync(join(dataDir, 'secret-key'), 'utf8').trim(),
    });
    const { rows } = await database.pool.query('SELECT email FROM account WHERE id = $1', [json['account']?.['id']]);
    expect(rows).toEqual([{ email: 'url@example.com' }]);
    process.signal('SIGTERM');
    expect(await process.exited).toBe(0);
  });

  it('a signal during the start ends it in order, and the embedded database with it', async () => {
    const process = await start({});
    const file = join(dataDir, 'postgres/postmaster.pid');
    const pid = (): number => (existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : 0);
    // It is there before anything is in it.
    await process.until(() => pid() > 0);
    const postmaster = pid();
    process.signal('SIGINT');
    expect(await process.exited).toBe(0);
    expect(lives(postmaster)).toBe(false);
    expect(process.output).not.toContain('is ready at');
  });
});
