import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeCatalog, protocols, send, settled, until } from '../gateway/support.ts';
import { type ServerProcess, startServer } from '../start/server-process.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

/** Starts, updates and databases under pressure. */

/** Holds up the first statement of a migration, as long as it stays open. */
async function holdUp(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN; CREATE TABLE _prisma_migrations (id text)');
  return client;
}

// https://github.com/BerriAI/litellm/pull/37875 could not be found; by its description a back-fill took longer than the start was
// given. https://github.com/egeominotti/bunqueue/issues/119 and https://github.com/leg100/otf/issues/727 tell the same: a container
// that is killed for being silent while it migrates, and begins again.
describe('BerriAI/litellm#37875, egeominotti/bunqueue#119: a migration that outlives the start', () => {
  let database: TestDatabase;
  const directory = createDirectory('steyg-incident-');
  const servers: ServerProcess[] = [];
  const start = async () => {
    const server = await startServer({
      dataDir: directory,
      env: { DATABASE_URL: database.url, SIMULATOR_FIRST_TOKEN_MS: '0' },
    });
    servers.push(server);
    return server;
  };
  const waits = async () => {
    const { rows } = await database.pool.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return (rows[0] as { n: number }).n > 0;
  };
  beforeAll(async () => {
    database = await createDatabase({ migrated: false });
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it('the server is alive and not ready meanwhile, refuses with a time to come back, and a kill in the middle loses nothing', async () => {
    const holder = await holdUp(database.url);
    const first = await start();
    await until(waits);
    await until(async () => (await first.status('/healthz')) === 200);
    expect(await first.status('/readyz')).toBe(503);
    const refused = await fetch(`${first.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-x' },
      body: '{"model":"m","messages":[]}',
    });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await first.kill();
    const second = await start();
    await until(waits);
    await holder.end();
    await second.ready();
    expect(await second.status('/readyz')).toBe(200);
    const { rows } = await database.pool.query(
      'SELECT count(*)::int AS n, count(DISTINCT migration_name)::int AS d, count(*) FILTER (WHERE finished_at IS NULL)::int AS open FROM _prisma_migrations',
    );
    expect(rows[0].n).toBeGreaterThan(10);
    expect(rows[0]).toMatchObject({ d: rows[0].n, open: 0 });
  });
});

// https://github.com/maximhq/bifrost/issues/1799: after an update a migration failed at the data that was there, and the process ended,
// again and again. https://github.com/BerriAI/litellm/pull/39365: one that failed was forgotten, and the proxy served on an empty schema
// and said that it was healthy. https://github.com/BerriAI/litellm/issues/27704: jobs ran before the database could be used, and their
// spend was lost.
describe('maximhq/bifrost#1799, BerriAI/litellm#39365, #27704: a migration that fails at what is there', () => {
  let database: TestDatabase;
  const directory = createDirectory('steyg-incident-');
  let server: ServerProcess | null = null;
  beforeAll(async () => {
    database = await createDatabase({ migrated: false });
  });
  afterAll(async () => {
    await server?.kill();
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it('the server lives, is not ready, serves nothing, names the migration, and goes on by itself once the data is put right', async () => {
    const { rows: none } = await database.pool.query('CREATE TABLE margin_hour (somebody text)');
    expect(none).toEqual([]);
    const started = await startServer({
      dataDir: directory,
      env: { DATABASE_URL: database.url, SIMULATOR_FIRST_TOKEN_MS: '0' },
    });
    server = started;
    await started.until(() => started.output.includes('_margins'));
    await until(async () => (await started.status('/healthz')) === 200);
    expect(await started.status('/readyz')).toBe(503);
    const refused = await fetch(`${started.baseUrl}/v1/models`, { headers: { authorization: 'Bearer sk-x' } });
    expect(refused.status).toBe(503);
    // What came before it stays, and nothing of the failed one.
    const { rows } = await database.pool.query(
      `SELECT max(migration_name) AS last, count(*) FILTER (WHERE finished_at IS NULL)::int AS open FROM _prisma_migrations`,
    );
    expect(rows).toEqual([{ last: '20261122150600_undone_matches', open: 0 }]);
    await database.pool.query('DROP TABLE margin_hour');
    await started.ready();
  });
});

describe('on one running server', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ catalog: nativeCatalog(), env: { ADMISSION_TIMEOUT_MS: '1000' } });
  });
  afterAll(() => app.close());

  const backends = async (): Promise<number> => {
    const { rows } = await app.pool.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    return (rows[0] as { n: number }).n;
  };

  // https://github.com/BerriAI/litellm/issues/38322: probes of health opened new pools while the database was slow.
  // https://github.com/BerriAI/litellm/issues/18708 and #8498: every connection of PostgreSQL was taken.
  it('BerriAI/litellm#38322, #18708: neither probes nor requests on a slow database take more connections', async () => {
    const customer = await app.customer();
    await (await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-chat' } })).text();
    await settled(app, customer);
    const slow = await app.pool.connect();
    try {
      await slow.query('BEGIN');
      await slow.query('LOCK TABLE api_key, account, "grant", hold, process IN ACCESS EXCLUSIVE MODE');
      const probes = Array.from({ length: 200 }, () => fetch(`${app.url}/readyz`).then(({ status }) => status));
      const requests = Array.from({ length: 100 }, () =>
        send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-chat' } }).then(
          ({ status }) => status,
        ),
      );
      let most = 0;
      const watching = setInterval(
        () =>
          void backends().then(
            (n) => (most = Math.max(most, n)),
            () => undefined,
          ),
        50,
      );
      const statuses = await Promise.all([...probes, ...requests]);
      clearInterval(watching);
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
      // 27 of the server (see "Several machines" of its README), and some of this test.
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(27 + 12);
    } finally {
      await slow.query('ROLLBACK');
      slow.release();
    }
    await until(
      async () =>
        (await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-chat' } })).status === 200,
    );
  });

  // https://github.com/CodeChain-io/codechain-dashboard/issues/42: after a restart of PostgreSQL the service kept dead connections.
  it('CodeChain-io/codechain-dashboard#42: every connection dies at once, and the service goes on by itself', async () => {
    const customer = await app.customer();
    const ask = async () => {
      const response = await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-chat' } });
      await response.text();
      return response.status;
    };
    expect(await ask()).toBe(200);
    for (let i = 0; i < 3; i += 1) {
      await app.pool.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      await until(async () => (await ask()) === 200);
    }
    const rows = await settled(app, customer);
    expect(new Set(rows.map((row) => row['request_id'])).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(4);
  });
});
