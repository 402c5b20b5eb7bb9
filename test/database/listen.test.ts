/** The listener: notifications, reconnections, and silent connections. */

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { type ChangedPart, type Listening, listen } from '../../server/database/listen.ts';
import { createDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { createPostgres } from '../support/postgres.ts';
import { before, insertion, type Row, rows } from './rows.ts';

const log = { info: () => {}, warn: () => {} };
const leave: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const step of leave.splice(0).reverse()) await step();
});

/** A listener and what it has heard since it was last asked. */
async function hear(url: string, times?: { heartbeatMs: number; answerTimeoutMs: number }) {
  const heard = new Set<ChangedPart>();
  const listening: Listening = await listen({
    url,
    log,
    onChange: (change) => heard.add(change),
    ...(times ? { times } : {}),
  });
  leave.push(() => listening.close());
  return { listening, heard };
}

async function database(): Promise<{ url: string; pool: Pool }> {
  const made = await createDatabase();
  leave.push(() => made.drop());
  return made;
}

const row = (table: string) => insertion(table, (rows[table] as () => Row)());

describe('hears of', () => {
  it.each([
    ['keys', 'a new key', row('api_key')],
    ['keys', 'a changed key', 'UPDATE api_key SET deleted_at = now()'],
    ['keys', 'a suspended account', `UPDATE account SET status = 'suspended'`],
    ['catalog', 'a new price', row('price')],
    ['catalog', 'a changed model', 'UPDATE model SET enabled = false'],
    ['catalog', 'a changed route', 'UPDATE route SET weight = 2'],
    ['catalog', 'a route that is gone', 'DELETE FROM route'],
    ['settings', 'a stored setting', `INSERT INTO operator_setting (id, sealed) VALUES ('MAIL_FROM', '\\x00')`],
    ['catalog', 'a changed upstream', 'UPDATE upstream SET enabled = false'],
    [
      'catalog',
      'a new upstream key',
      `INSERT INTO upstream_key (id, upstream_id, sealed, last4) VALUES (gen_random_uuid(), 'somewhere', '\\x00', 'last')`,
    ],
  ] as const)('%s: %s', async (change, _, statement) => {
    const { url, pool } = await database();
    for (const each of before('plan')) await pool.query(each);
    const { heard } = await hear(url);
    // What may have changed before it listened counts as changed.
    expect([...heard].sort()).toEqual(['catalog', 'keys', 'settings']);
    heard.clear();
    await pool.query(statement as string);
    await expect.poll(() => [...heard]).toEqual([change]);
  });
});

it('hears nothing from the money path: an announcement would put all commits in a row', async () => {
  const { pool } = await database();
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger WHERE tgname = 'announce' ORDER BY 1`,
  );
  expect(tables.map(({ name }) => name)).toEqual([
    'account',
    'account_limit',
    'api_key',
    'model',
    'operator_setting',
    'price',
    'route',
    'upstream',
    'upstream_key',
  ]);
});

it('comes back after a restart of the database and takes everything for changed', async () => {
  const postgres = await createPostgres();
  leave.push(() => postgres.remove());
  const { listening, heard } = await hear(postgres.url('postgres'));
  expect(listening.healthy).toBe(true);
  heard.clear();

  await postgres.stop('immediate');
  await expect.poll(() => listening.healthy).toBe(false);
  expect(heard.size).toBe(0);
  await postgres.start();
  await expect.poll(() => listening.healthy).toBe(true);
  expect([...heard].sort()).toEqual(['catalog', 'keys', 'settings']);
});

it('notices a connection that died without a word', async () => {
  const { url } = await database();
  const proxy = await silentProxy(url);
  const { listening } = await hear(proxy.url, { heartbeatMs: 20, answerTimeoutMs: 200 });
  proxy.silence();
  await expect.poll(() => listening.healthy).toBe(false);
  proxy.speak();
  await expect.poll(() => listening.healthy).toBe(true);
});

it('can be closed while the database is away', async () => {
  const postgres = await createPostgres();
  leave.push(() => postgres.remove());
  const { listening } = await hear(postgres.url('postgres'));
  await postgres.stop('immediate');
  await expect.poll(() => listening.healthy).toBe(false);
  await listening.close();
  expect(listening.healthy).toBe(false);
});

it('rejects when it cannot hear in the first place', async () => {
  await expect(listen({ url: 'postgresql://nobody@localhost:1/none', log, onChange: () => {} })).rejects.toThrow(
    'ECONNREFUSED',
  );
});

/** A way to a database that can swallow everything, as a network does whose other end has vanished. */
async function silentProxy(url: string): Promise<{ url: string; silence(): void; speak(): void }> {
  const target = new URL(url);
  const socket = join(target.searchParams.get('host') as string, '.s.PGSQL.5432');
  const directory = createDirectory('steyg-proxy-');
  let silent = false;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    if (silent) {
      client.destroy();
      return;
    }
    const upstream = dial(socket);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => void (silent || to.write(chunk)));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  server.listen(join(directory, '.s.PGSQL.5432'));
  await once(server, 'listening');
  leave.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  target.searchParams.set('host', directory);
  return {
    url: target.href,
    silence() {
      silent = true;
    },
    speak() {
      silent = false;
    },
  };
}
