/** The money lane: exact numbers, rollbacks, retries, and unknown commits. */

import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLane, repeatedTransaction, transaction } from '../../server/database/lane.ts';
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

it('sets the limits of every connection, and UTC, whatever the database’s defaults are', async () => {
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
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'steyg money'`,
  );
  await expect.poll(() => log.warn.mock.calls).toContainEqual([{ pool: 'money', code: '57P01' }, expect.any(String)]);
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

  it('that has failed inside is never taken for committed, however its work went on', async () => {
    await expect(
      transaction(lane, async (client) => {
        await client.query('INSERT INTO item VALUES (20)');
        await client.query('SELECT 1 / 0').catch(() => undefined);
        return 'all is well';
      }),
    ).rejects.toThrow('not committed');
    expect((await lane.query('SELECT n FROM item WHERE n = 20')).rows).toEqual([]);
  });

  it('does not wait for a lock for ever', async () => {
    await lane.query('INSERT INTO item VALUES (3)');
    await transaction(lane, async (holder) => {
      await holder.query('SELECT FROM item WHERE n = 3 FOR UPDATE');
      await expect(lane.query('SELECT FROM item WHERE n = 3 FOR UPDATE')).rejects.toMatchObject({ code: '55P03' });
    });
  });
});

describe('a repeated transaction', () => {
  /** Fails as PostgreSQL does with this code, and with nothing else. */
  const fail = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`;

  it.each(['40001', '40P01', '55P03'])('is begun again when PostgreSQL has undone it with %s', async (code) => {
    const n = { '40001': 30n, '40P01': 31n, '55P03': 32n }[code] ?? 0n;
    let begun = 0;
    await repeatedTransaction(lane, async (client) => {
      await client.query('INSERT INTO item VALUES ($1)', [n]);
      begun += 1;
      if (begun < 3) await client.query(fail(code));
    });
    expect(begun).toBe(3);
    expect((await lane.query('SELECT n FROM item WHERE n = $1', [n])).rows).toEqual([{ n }]);
  });

  it('is given up when others keep getting in its way', async () => {
    let begun = 0;
    const hopeless = repeatedTransaction(lane, async (client) => {
      begun += 1;
      await client.query(fail('40P01'));
    });
    await expect(hopeless).rejects.toMatchObject({ code: '40P01' });
    expect(begun).toBe(4);
  });

  it.each(['57014', '23505', '22012'])('is not begun again after %s', async (code) => {
    let begun = 0;
    const once = repeatedTransaction(lane, async (client) => {
      begun += 1;
      await client.query(fail(code));
    });
    await expect(once).rejects.toMatchObject({ code });
    expect(begun).toBe(1);
  });

  it('is not retried when its result is unknown', async () => {
    const single = openLane({ url: database.url, max: 1, log });
    let begun = 0;
    // The answer to COMMIT gets lost: the transaction has happened.
    const lost = repeatedTransaction(single, async (client) => {
      begun += 1;
      await client.query('INSERT INTO item VALUES (40)');
      const query = client.query.bind(client) as (text: string) => Promise<unknown>;
      client.query = (async (text: string) => {
        await query(text);
        if (text === 'COMMIT') throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      }) as typeof client.query;
    });
    await expect(lost).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(begun).toBe(1);
    expect((await lane.query('SELECT n FROM item WHERE n = 40')).rows).toEqual([{ n: 40n }]);
    await single.end();
  });
});
