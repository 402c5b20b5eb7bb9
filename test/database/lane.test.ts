import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLane, transaction } from '../../server/database/lane.ts';
import { openPool } from '../../server/database/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const log = { info: () => {}, warn: vi.fn<(fields: object, message: string) => void>() };

let database: TestDatabase;
let lane: Pool;

beforeAll(async () => {
  database = await createDatabase();
  await database.pool.query('CREATE TABLE item (n bigint PRIMARY KEY)');
});
afterAll(() => database.drop());

beforeEach(() => {
  lane = openLane({ url: database.url, max: 2, log });
});
afterEach(() => lane.end());

it('reads every BIGINT exactly, and leaves other users of pg what they are used to', async () => {
  const most = 9_223_372_036_854_775_807n;
  const text = 'SELECT $1::bigint AS one, ARRAY[$1, NULL]::bigint[] AS list, 7 AS small';
  expect((await lane.query(text, [most])).rows).toEqual([{ one: most, list: [most, null], small: 7 }]);
  const plain = new Pool({ connectionString: database.url, max: 1 });
  expect((await plain.query('SELECT 1::bigint AS one')).rows).toEqual([{ one: '1' }]);
  await plain.end();
});

it('sets the limits of every connection, and UTC, whatever the database says', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`ALTER DATABASE ${name} SET timezone = 'Asia/Ho_Chi_Minh'`);
  await database.pool.query(`ALTER DATABASE ${name} SET synchronous_commit = 'off'`);
  const fresh = openLane({ url: database.url, max: 1, log });
  const { rows } = await fresh.query(
    `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
       current_setting('synchronous_commit') AS commit, current_setting('timezone') AS zone,
       current_setting('idle_in_transaction_session_timeout') AS idle`,
  );
  expect(rows).toEqual([{ statement: '2s', lock: '1s', commit: 'on', zone: 'UTC', idle: '4s' }]);
  await fresh.end();
  await database.pool.query(`ALTER DATABASE ${name} RESET ALL`);
});

it('hands out no connection whose settings failed', async () => {
  const pool = openPool({ url: database.url, name: 'test', max: 1, log, settings: { no_such_setting: '1' } });
  await expect(pool.query('SELECT 1')).rejects.toThrow('no_such_setting');
  await pool.end();
});

it('survives the loss of an idle connection and tells', async () => {
  await lane.query('SELECT 1');
  log.warn.mockClear();
  await database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'steyg money'`,
  );
  await vi.waitFor(() => expect(log.warn).toHaveBeenCalledWith({ pool: 'money', code: '57P01' }, expect.any(String)));
  expect((await lane.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

describe('a transaction', () => {
  it('happens when its work returns', async () => {
    expect(
      await transaction(lane, async (client) => (await client.query('INSERT INTO item VALUES (1) RETURNING n')).rows),
    ).toEqual([{ n: 1n }]);
    expect((await lane.query('SELECT n FROM item')).rows).toEqual([{ n: 1n }]);
  });

  it('does not happen when its work throws, and the connection is as good as before', async () => {
    const single = openLane({ url: database.url, max: 1, log });
    const backend = async () => (await single.query('SELECT pg_backend_pid() AS pid')).rows;
    const pid = await backend();
    await expect(
      transaction(single, async (client) => {
        await client.query('INSERT INTO item VALUES (2)');
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await expect(
      transaction(single, async (client) => {
        await client.query('INSERT INTO item VALUES (2)');
        await client.query('INSERT INTO item VALUES (2)');
      }),
    ).rejects.toMatchObject({ code: '23505' });
    expect((await single.query('SELECT n FROM item WHERE n = 2')).rows).toEqual([]);
    expect(await backend()).toEqual(pid);
    await single.end();
  });

  it('gives up a connection that breaks under it', async () => {
    const single = openLane({ url: database.url, max: 1, log });
    await expect(
      transaction(single, async (client) => {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        await client.query('SELECT 1');
      }),
    ).rejects.toThrow(/terminat|not queryable|EPIPE|ECONNRESET/);
    expect((await single.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await single.end();
  });

  it('does not wait for a lock for ever', async () => {
    await lane.query('INSERT INTO item VALUES (3)');
    await transaction(lane, async (holder) => {
      await holder.query('SELECT FROM item WHERE n = 3 FOR UPDATE');
      await expect(lane.query('SELECT FROM item WHERE n = 3 FOR UPDATE')).rejects.toMatchObject({ code: '55P03' });
    });
  });
});
