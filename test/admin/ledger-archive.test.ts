/** Months of the ledger leave the database only when their archive is whole and proven, and every invariant holds on. */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { examineDatabase } from '../../server/admin/doctor/database.ts';
import { ArchiveDamaged, readManifest, readTable, writeArchive } from '../../server/billing/archive/archive-files.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { fromStoredLines } from '../../server/core/price.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import { busiestOf, seedAccounts, seedEntries } from '../bench/seed.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

let database: TestDatabase;
let folder: string;
/** The months that can be archived, oldest first, as `2026-01`. */
let months: string[];

beforeAll(async () => {
  database = await createDatabase();
  folder = createDirectory('steyg-archive-');
  await seedAccounts(database.pool, 30);
  await seedEntries(database.pool, { accounts: 30, from: 0, to: 3_000, total: 3_000, days: 200, lines: true });
  const { json } = await admin('ledger', 'archive', '--before', '9999-12', '--dry-run');
  months = json.months;
  if (months.length < 4) throw new Error('too few months');
}, 120_000);
afterAll(() => database.drop());

const env = () => ({ DATABASE_URL: database.url, DATA_DIR: folder });

// oxlint-disable-next-line typescript/no-explicit-any
async function admin(...args: string[]): Promise<{ code: number; json: any }> {
  let out = '';
  const code = await runCommandLine([...args, '--json'], {
    env: env(),
    out: (text) => {
      out += text;
    },
    err: () => {},
  });
  return { code, json: JSON.parse(out) };
}

const month = (index: number): string => months[index] ?? '';
/** The month after, as `--before` wants it. */
const after = (name: string): string =>
  new Date(Date.UTC(Number(name.slice(0, 4)), Number(name.slice(5)), 1)).toISOString().slice(0, 7);
const folderOf = (name: string): string => join(folder, 'archives', `ledger-${name}`);
const archive = (name: string) =>
  admin('ledger', 'archive', '--before', after(name), '--to', join(folder, 'archives'), '--unclosed');

async function isAttached(name: string): Promise<boolean> {
  const { rows } = await database.pool.query(
    `SELECT FROM pg_inherits WHERE inhparent = 'ledger_entry'::regclass AND inhrelid = to_regclass($1)`,
    [`ledger_partition.ledger_${name.replace('-', '_')}`],
  );
  return rows.length === 1;
}

/** Everything that the ledger and its sums say, as one digest. */
async function digestOf(...tables: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const table of tables) {
    const { rows } = await database.pool.query(`SELECT t::text AS row FROM ${table} AS t ORDER BY 1`);
    for (const { row } of rows) hash.update(`${row}\n`);
  }
  return hash.digest('hex');
}

const count = async (text: string): Promise<number> =>
  Number((await database.pool.query(`SELECT count(*) AS n FROM ${text}`)).rows[0].n);

describe('a month that the books have not closed', () => {
  const plainly = (name: string) =>
    admin('ledger', 'archive', '--before', after(name), '--to', join(folder, 'archives'));

  const refused = (next: string) => ({
    code: 'unclosed',
    message: expect.stringContaining(`admin books close ${next}`),
  });

  it('stays, with a sentence that says what to do', async () => {
    expect((await plainly(month(0))).json.error).toMatchObject(refused(month(0)));
    expect(await isAttached(month(0))).toBe(true);
  });

  it('can still be closed when those before it have left', async () => {
    expect((await admin('books', 'close', month(0))).code).toBe(0);
    expect((await plainly(month(2))).json.error).toMatchObject(refused(month(1)));
    expect(await Promise.all([month(0), month(2)].map(isAttached))).toEqual([false, true]);
    expect((await admin('books', 'close', month(1))).code).toBe(0);
    // One whose last hours in Vietnam had no request has left as well.
    for (const name of [month(0), month(1)]) await admin('ledger', 'restore', folderOf(name));
    expect(await Promise.all([month(0), month(1)].map(isAttached))).toEqual([true, true]);
  });
});

describe('an archived month', () => {
  it('is out of the database as a whole, and every invariant of money holds over what is carried forward', async () => {
    const [entries, postings] = [await count('ledger_entry'), await count('posting')];
    const sums = await digestOf('usage_hour', 'margin_hour', '"grant"', 'key_spend');
    const { code, json } = await archive(month(1));
    expect({ code, months: json.archived.map((each: { month: string }) => each.month) }).toEqual({
      code: 0,
      months: [month(0), month(1)],
    });
    const gone = json.archived.reduce((sum: number, each: { entries: number }) => sum + each.entries, 0);
    expect(gone).toBeGreaterThan(500);
    expect([await count('ledger_entry'), await count('posting')]).toEqual([entries - gone, postings - gone]);
    expect(await isAttached(month(0))).toBe(false);
    expect(await count(`pg_class WHERE relname = 'ledger_${month(0).replace('-', '_')}'`)).toBe(0);
    expect(await digestOf('usage_hour', 'margin_hour', '"grant"', 'key_spend')).toBe(sums);
    expect((await admin('invariants')).json).toEqual({ invariants: 'ok' });
    const { accountId } = await busiestOf(database.pool);
    expect(await checkInvariants(database.pool, { accounts: [accountId] })).toEqual([]);
    expect(await checkInvariants(database.pool, { accounts: [accountId], since: new Date() })).toEqual([]);
  });

  it('is proven by its archive, which is read back', async () => {
    const { code, json } = await admin('ledger', 'verify', folderOf(month(0)));
    expect({ code, month: json.month, archived: typeof json.archivedAt }).toEqual({
      code: 0,
      month: month(0),
      archived: 'string',
    });
  });

  it('has the runs of other models that its requests had, and is proven with their cost', async () => {
    const { manifest } = await readManifest(folderOf(month(0)));
    let withLines = 0;
    for await (const { lines = null } of readTable(folderOf(month(0)), manifest.tables.ledger_entry)) {
      if (lines === null) continue;
      withLines += 1;
      expect(fromStoredLines(JSON.parse(lines))).toMatchObject([{ model: 'scale-other', usage: { cacheHit: 2_000 } }]);
    }
    expect(withLines).toBeGreaterThan(20);
  });

  it('is archived once: the next call goes on with the months after it', async () => {
    expect((await archive(month(1))).json.archived).toEqual([]);
  });

  it('takes no entry any more, so no request of it is charged twice', async () => {
    const { rows } = await database.pool.query(
      `SELECT low, uuid_at(month + interval '9 days') AS within, high FROM archived_month ORDER BY month DESC LIMIT 1`,
    );
    const copy = `INSERT INTO ledger_entry SELECT (jsonb_populate_record(e, jsonb_build_object('request_id', $1::uuid))).*
                  FROM ledger_entry AS e LIMIT 1`;
    for (const id of [rows[0].low, rows[0].within])
      await expect(database.pool.query(copy, [id])).rejects.toMatchObject({ code: '23001' });
  });

  /** Changes rows although they are append-only, and names what is broken then. */
  async function brokenBy(change: string): Promise<string[]> {
    const client = await database.pool.connect();
    try {
      await client.query('SET session_replication_role = replica');
      await client.query(change);
      const broken = await checkInvariants(database.pool);
      return broken.map(({ invariant }) => invariant).sort();
    } finally {
      await client.query('RESET session_replication_role');
      client.release(true);
    }
  }

  it.each([
    ['a charge of a grant', 'archived_charge', 'amount = amount + 1', ['I2', 'I4_archived']],
    [
      'what was charged',
      'archived_sum',
      'charged = charged - 1',
      ['I4_archived', 'I5', 'key_spend', 'margin_hour', 'usage_hour'],
    ],
    ['tokens', 'archived_sum', 'output = output + 1, cost = cost + price_output', ['margin_hour', 'usage_hour']],
  ])('%s that is changed in its sums is noticed', async (_what, table, change, broken) => {
    const before = await digestOf(table);
    const { rows } = await database.pool.query<{ row: Record<string, unknown> }>(
      `SELECT to_jsonb(t) AS row FROM ${table} t LIMIT 1`,
    );
    const where = Object.entries(rows[0]?.row ?? {})
      .filter(([name]) => /_id$|month|hour|model|outcome|^price_/.test(name))
      .map(([name, value]) => `${name} = '${String(value)}'`)
      .join(' AND ');
    expect(await brokenBy(`UPDATE ${table} SET ${change} WHERE ${where}`)).toEqual(broken);
    const back = change.replace(/ [+-] /g, (sign) => (sign === ' + ' ? ' - ' : ' + '));
    expect(await brokenBy(`UPDATE ${table} SET ${back} WHERE ${where}`)).toEqual([]);
    expect(await digestOf(table)).toBe(before);
  });

  it('is paid for by grants only as long as they ran', async () => {
    const end = (at: string) =>
      `UPDATE "grant" SET expires_at = ${at} WHERE (account_id, id) IN (SELECT account_id, grant_id FROM archived_charge)`;
    expect(await brokenBy(end("'2098-01-01'"))).toEqual([]);
    const held = (by: string) => `UPDATE archived_charge SET last_held_at = last_held_at ${by} interval '100 years'`;
    expect(await brokenBy(held('+'))).toEqual(['I7']);
    expect(await brokenBy(held('-'))).toEqual([]);
    expect(await brokenBy(end('NULL'))).toEqual([]);
  });

  it('keeps its sums as long as it is away: they cannot be changed or deleted', async () => {
    for (const table of ['archived_month', 'archived_sum', 'archived_charge'])
      for (const statement of [
        `DELETE FROM ${table}`,
        `UPDATE ${table} SET month = month`,
        `TRUNCATE ${table} CASCADE`,
      ])
        await expect(database.pool.query(statement)).rejects.toMatchObject({ code: '23001' });
    // Charges of the months that are still here stay append-only, too.
    await expect(database.pool.query('DELETE FROM posting')).rejects.toMatchObject({ code: '23001' });
  });

  it('comes back as it was, to the last column', async () => {
    const { code, json } = await admin('ledger', 'restore', folderOf(month(0)));
    expect({ code, month: json.month }).toEqual({ code: 0, month: month(0) });
    expect(await isAttached(month(0))).toBe(true);
    expect(await count('archived_month')).toBe(1);
    expect((await admin('invariants')).json).toEqual({ invariants: 'ok' });
    const before = await digestOf('ledger_entry', 'posting');
    // Archived again from what was restored, and restored again: the same rows.
    expect((await archive(month(0))).code).toBe(0);
    expect((await admin('ledger', 'restore', folderOf(month(0)))).code).toBe(0);
    expect((await admin('ledger', 'restore', folderOf(month(1)))).code).toBe(0);
    expect((await admin('ledger', 'restore', folderOf(month(1)))).json.error.code).toBe('not_archived');
    expect(await count('archived_sum')).toBe(0);
    expect((await archive(month(1))).code).toBe(0);
    expect((await admin('ledger', 'restore', folderOf(month(0)))).code).toBe(0);
    expect(await digestOf('ledger_entry', 'posting')).toBe(before);
  });
});

describe('the retention setting', () => {
  it('stands for --before and --to, and the doctor says what is due', async () => {
    const due = async (keep: string) => {
      let out = '';
      await runCommandLine(['ledger', 'archive', '--dry-run', '--json'], {
        env: { ...env(), LEDGER_KEEP_MONTHS: keep, LEDGER_ARCHIVE_DIR: join(folder, 'archives') },
        out: (text) => {
          out += text;
        },
        err: () => {},
      });
      return JSON.parse(out).months as string[];
    };
    expect(await due('36')).toEqual([]);
    // The month before the present one stays whatever the setting says.
    expect(await due('1')).toEqual(months.filter((name) => name !== month(1)));
    const findings = async (settings: Record<string, string>) =>
      (await examineDatabase(loadConfig({ ...env(), ...settings }))).find(
        ({ subject }) => subject === 'ledger archive',
      );
    expect(await findings({})).toBe(undefined);
    expect(await findings({ LEDGER_KEEP_MONTHS: '1', LEDGER_ARCHIVE_DIR: folder })).toMatchObject({
      state: 'doubtful',
      found: expect.stringContaining(month(0)),
    });
    expect(await findings({ LEDGER_KEEP_MONTHS: '36', LEDGER_ARCHIVE_DIR: folder })).toMatchObject({ state: 'good' });
    expect((await admin('ledger', 'archive')).json.error.code).toBe('usage');
  });
});

const identity = { cluster: '1', id: '2', name: 'elsewhere' };

describe('an archive that is damaged', () => {
  it('is refused by verify and by restore, whatever byte it is', async () => {
    const name = 'ledger_entry.csv.gz';
    const path = join(folderOf(month(1)), name);
    const whole = await readFile(path);
    for (const at of [0, 20, Math.floor(whole.length / 2), whole.length - 3]) {
      const broken = Buffer.from(whole);
      broken[at] = (broken[at] ?? 0) ^ 0x10;
      await writeFile(path, broken);
      for (const command of ['verify', 'restore'])
        expect((await admin('ledger', command, folderOf(month(1)))).json.error?.code).toBe('archive_damaged');
    }
    await writeFile(path, whole.subarray(0, whole.length - 10));
    expect((await admin('ledger', 'verify', folderOf(month(1)))).json.error?.code).toBe('archive_damaged');
    await writeFile(path, whole);
    const manifest = join(folderOf(month(1)), 'manifest.json');
    const text = await readFile(manifest, 'utf8');
    await writeFile(manifest, text.replace(/"createdAt": "\d{4}/, '"createdAt": "2019'));
    expect((await admin('ledger', 'restore', folderOf(month(1)))).json.error?.code).toBe('other_archive');
    await writeFile(manifest, text);
    expect((await admin('ledger', 'verify', folderOf(month(1)))).code).toBe(0);
  });

  it('gives back every cell that was written, and nothing else', async () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '"', ',', '\n', '\r\n', '","', 'a\n"b"'),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 40 }), async (rows) => {
        run += 1;
        const path = join(folder, `cells-${run}`);
        await writeArchive(path, { month: '2026-01', database: identity }, async (writer) => {
          for (const table of ['ledger_entry', 'posting'] as const)
            await writer.table(
              table,
              ['a', 'b', 'c'],
              (async function* pages() {
                for (const row of rows) yield [row];
              })(),
            );
        });
        const { manifest } = await readManifest(path);
        const read: (string | null)[][] = [];
        for await (const { a = null, b = null, c = null } of readTable(path, manifest.tables.posting))
          read.push([a, b, c]);
        expect(read).toEqual(rows);
      }),
      { numRuns: 40 },
    );
    await expect(readManifest(join(folder, 'nothing'))).rejects.toBeInstanceOf(ArchiveDamaged);
  });
});

describe('kill -9', () => {
  const program = fileURLToPath(new URL('../../server/admin.ts', import.meta.url));

  /** Starts the command while `lock` is held, kills it when `reached` says so, and lets go. */
  async function killedWhen(lock: string, reached: () => Promise<boolean>): Promise<void> {
    const holder = await database.pool.connect();
    await holder.query('BEGIN');
    await holder.query(lock);
    const ended = Promise.withResolvers<NodeJS.Signals | null>();
    const { PATH, HOME } = process.env;
    const child = execFile(
      process.execPath,
      [program, 'ledger', 'archive', '--before', after(month(2)), '--to', join(folder, 'archives'), '--unclosed'],
      { env: { PATH, HOME, ...env() } },
    );
    child.on('exit', (_code, signal) => ended.resolve(signal));
    try {
      await expect.poll(reached, { timeout: 60_000, interval: 20 }).toBe(true);
    } finally {
      child.kill('SIGKILL');
      await ended.promise;
      await holder.query('ROLLBACK');
      holder.release();
    }
    expect(await ended.promise).toBe('SIGKILL');
    // PostgreSQL notices that its client is gone, and rolls back.
    await expect
      .poll(() => count(`pg_stat_activity WHERE application_name = 'steyg admin' AND datname = current_database()`), {
        timeout: 60_000,
      })
      .toBe(0);
  }

  const partition = () => `ledger_partition.ledger_${month(2).replace('-', '_')}`;

  async function expectAttached(): Promise<void> {
    expect(await isAttached(month(2))).toBe(true);
    expect(await count(`archived_month WHERE to_char(month, 'YYYY-MM') = '${month(2)}'`)).toBe(0);
    expect((await admin('invariants')).json).toEqual({ invariants: 'ok' });
  }

  it('leaves the month attached or archived as a whole, at each step, and the next call goes on', async () => {
    expect((await archive(month(1))).code).toBe(0);
    // While the files are written: nothing of that name is there yet.
    await killedWhen('LOCK TABLE posting IN ACCESS EXCLUSIVE MODE', async () =>
      existsSync(join(`${folderOf(month(2))}.unfinished`, 'posting.csv.gz')),
    );
    expect(existsSync(folderOf(month(2)))).toBe(false);
    await expectAttached();

    // The archive is whole, and the database unchanged.
    await killedWhen(`LOCK TABLE ${partition()} IN ROW EXCLUSIVE MODE`, async () => existsSync(folderOf(month(2))));
    const { manifest } = await readManifest(folderOf(month(2)));
    expect((await admin('ledger', 'verify', folderOf(month(2)))).json.archivedAt).toBe(null);
    await expectAttached();

    // The sums are carried forward and the charges deleted, but nothing is committed.
    await killedWhen(
      'SELECT FROM ledger_entry LIMIT 1',
      async () =>
        (await count(
          `pg_locks WHERE relation = 'ledger_entry'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`,
        )) > 0,
    );
    await expectAttached();

    const { code, json } = await archive(month(2));
    expect({ code, archived: json.archived.length }).toEqual({ code: 0, archived: 1 });
    expect(await isAttached(month(2))).toBe(false);
    expect((await readManifest(folderOf(month(2)))).manifest.createdAt).toBe(manifest.createdAt);
    expect((await admin('invariants')).json).toEqual({ invariants: 'ok' });
  }, 240_000);
});

describe('an archive in the folder of a month that is still attached', () => {
  /** Writes the archive of the last archived month anew, with another manifest or without a column. */
  async function rewritten(change: { database?: object; without?: string }): Promise<void> {
    expect((await admin('ledger', 'restore', folderOf(month(2)))).code).toBe(0);
    const { manifest } = await readManifest(folderOf(month(2)));
    const source = `${folderOf(month(2))}.source`;
    await rename(folderOf(month(2)), source);
    const database = { ...(manifest.database ?? identity), ...change.database };
    await writeArchive(folderOf(month(2)), { month: month(2), database }, async (writer) => {
      for (const table of ['ledger_entry', 'posting'] as const) {
        const columns = manifest.tables[table].columns.filter((name) => name !== change.without);
        async function* pages() {
          for await (const row of readTable(source, manifest.tables[table]))
            yield [columns.map((name) => row[name] ?? null)];
        }
        await writer.table(table, columns, pages());
      }
    });
    await rm(source, { recursive: true });
  }

  it('is put aside when another version wrote it with other columns: no column leaves unseen', async () => {
    await rewritten({ without: 'units' });
    expect((await archive(month(2))).code).toBe(0);
    const { manifest } = await readManifest(folderOf(month(2)));
    expect(manifest.tables.ledger_entry.columns).toContain('units');
    expect((await readdir(join(folder, 'archives'))).filter((name) => name.includes('.replaced-'))).toHaveLength(1);
  });

  it('is neither used nor put aside when it is another database’s', async () => {
    await rewritten({ database: { cluster: '4711', name: 'another' } });
    for (const command of [
      () => archive(month(2)),
      () => admin('ledger', 'verify', folderOf(month(2))),
      () => admin('ledger', 'restore', folderOf(month(2))),
    ])
      expect((await command()).json.error).toMatchObject({
        code: 'other_database',
        message: expect.stringMatching(/another, cluster 4711/),
      });
    expect((await readManifest(folderOf(month(2)))).manifest.database?.name).toBe('another');
    expect(await isAttached(month(2))).toBe(true);
    await rm(folderOf(month(2)), { recursive: true });
    expect((await archive(month(2))).code).toBe(0);
    expect((await readManifest(folderOf(month(2)))).manifest.database?.cluster).toMatch(/^\d+$/);
  });
});

describe('a month that leaves while something reads the whole ledger', () => {
  it('lets a late settlement of it through, between two attempts', async () => {
    const [reader, settling] = [await database.pool.connect(), await database.pool.connect()];
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM ledger_entry LIMIT 1');
      const archived = archive(month(3));
      const waits = `pg_locks WHERE relation = 'ledger_entry'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`;
      await expect.poll(() => count(waits), { timeout: 60_000, interval: 20 }).toBe(1);
      await settling.query('BEGIN');
      // Less than the time for which a month tries to leave.
      await settling.query(`SET LOCAL lock_timeout = '30s'`);
      await settling.query(
        `INSERT INTO ledger_entry SELECT (jsonb_populate_record(e, jsonb_build_object('request_id', uuid_at($1::timestamptz)))).*
         FROM ledger_entry AS e LIMIT 1`,
        [`${month(3)}-10T00:00:00Z`],
      );
      await settling.query('ROLLBACK');
      await reader.query('ROLLBACK');
      expect((await archived).code).toBe(0);
      expect(await isAttached(month(3))).toBe(false);
    } finally {
      settling.release(true);
      reader.release(true);
    }
  }, 120_000);
});
