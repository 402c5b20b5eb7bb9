/** The monthly partitions of the ledger: made ahead, and found by request id. */

import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { insertion, type Row, rows } from './rows.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

/** A UUIDv7 made at a moment, milliseconds since 1970. */
function uuidv7(moment: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(moment, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function entry(moment: number): { text: string; values: unknown[] } {
  return insertion('ledger_entry', { ...(rows['ledger_entry'] as () => Row)(), request_id: uuidv7(moment) });
}

/** Writes an entry and says in which partition it lies. */
async function placed(moment: number): Promise<string> {
  const { text, values } = entry(moment);
  const result = await database.pool.query<{ place: string }>(
    `${text} RETURNING (SELECT relname FROM pg_class WHERE oid = ledger_entry.tableoid) AS place`,
    values,
  );
  return result.rows[0]?.place ?? '';
}

/** The first moment of a month in UTC; `offset` months from now. */
function month(offset: number): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1));
}

function nameOf(offset: number): string {
  return `ledger_${month(offset).toISOString().slice(0, 7).replace('-', '_')}`;
}

/** It waits a second for the others, and is asked again, as the sweep does. */
async function ensure(months: number): Promise<number> {
  for (;;) {
    try {
      const { rows } = await database.pool.query<{ made: number }>('SELECT ensure_ledger_partitions($1) AS made', [
        months,
      ]);
      return rows[0]?.made ?? 0;
    } catch (error) {
      if ((error as { code?: unknown }).code !== '55P03') throw error;
    }
  }
}

it('routes each entry by the time in its request id', async () => {
  expect(await placed(Date.now())).toBe(nameOf(0));
  expect(await placed(month(0).getTime())).toBe(nameOf(0));
  expect(await placed(month(0).getTime() - 1)).toBe(nameOf(-1));
  expect(await placed(month(3).getTime())).toBe(nameOf(3));
});

it('keeps what a wrong clock made', async () => {
  expect(await placed(Date.UTC(2001, 0, 1))).toBe('ledger_elsewhere');
  expect(await placed(Date.UTC(2090, 0, 1))).toBe('ledger_elsewhere');
  const { text, values } = insertion('ledger_entry', {
    ...(rows['ledger_entry'] as () => Row)(),
    request_id: randomUUID(),
  });
  expect((await database.pool.query(text, values)).rowCount).toBe(1);
});

it('keeps one entry a request, across partitions', async () => {
  const { text, values } = entry(Date.now());
  const once = `${text} ON CONFLICT (account_id, request_id) DO NOTHING`;
  expect((await database.pool.query(once, values)).rowCount).toBe(1);
  expect((await database.pool.query(once, values)).rowCount).toBe(0);
});

it('makes months that begin in UTC, in any zone of the session', async () => {
  const zoned = await database.pool.connect();
  await zoned.query(`SET timezone = 'America/New_York'`);
  const { rows: made } = await zoned.query('SELECT ensure_ledger_partitions(14) AS n');
  zoned.release(true);
  expect(made).toEqual([{ n: 11 }]);
  for (let offset = -1; offset <= 14; offset += 1) {
    expect(await placed(month(offset).getTime())).toBe(nameOf(offset));
    expect(await placed(month(offset + 1).getTime() - 1)).toBe(nameOf(offset));
  }
});

it('makes only what is missing, also when several ask at once', async () => {
  expect(await ensure(3)).toBe(0);
  const made = await Promise.all([ensure(8), ensure(8), ensure(8)]);
  expect(made.sort()).toEqual([0, 0, 5]);
});

it('goes round a month whose rows already lie elsewhere', async () => {
  expect(await placed(month(5).getTime())).toBe('ledger_elsewhere');
  expect(await ensure(7)).toBe(3);
  expect(await placed(month(4).getTime())).toBe(nameOf(4));
  expect(await placed(month(5).getTime())).toBe('ledger_elsewhere');
  expect(await placed(month(6).getTime())).toBe(nameOf(6));
});

it('makes partitions while entries are being written', async () => {
  const writer = await database.pool.connect();
  await writer.query('BEGIN');
  await writer.query(entry(Date.now()));
  expect(await ensure(6)).toBe(3);
  await writer.query(entry(Date.now()));
  await writer.query('COMMIT');
  writer.release();
});

describe('uuid_at', () => {
  it.each([
    ['2026-11-01T00:00:00Z', Date.UTC(2026, 10, 1)],
    ['2026-11-21T10:20:30.4569Z', Date.UTC(2026, 10, 21, 10, 20, 30, 456)],
  ])('lies between the ids made before %s and those made then', async (moment, milliseconds) => {
    const { rows } = await database.pool.query(
      'SELECT uuid_at($1) <= $2::uuid AS "from", uuid_at($1) > $3::uuid AS before',
      [moment, uuidv7(milliseconds), uuidv7(milliseconds - 1)],
    );
    expect(rows).toEqual([{ from: true, before: true }]);
  });

  it('bounds what 48 bits cannot say', async () => {
    const { rows } = await database.pool.query(
      `SELECT uuid_at('-infinity') AS first, uuid_at('1960-01-01') AS early, uuid_at('infinity') AS last, uuid_at(NULL) AS none`,
    );
    const [zero, most] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-0000-0000-000000000000'];
    expect(rows).toEqual([{ first: zero, early: zero, last: most, none: null }]);
  });
});
