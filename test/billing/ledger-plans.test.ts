import { Client, Connection } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { sessionSettings } from '../../server/billing/lane/statements.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement } from './support.ts';

/**
 * The cost of a batch must depend neither on the size of the tables nor on their statistics, which are often collected
 * when a table is empty; the table of holds is nearly empty at any time.
 */
let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => db.drop());

/** Every statement that the ledger sends in a life with everything in it. */
async function statements(): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const parse = vi.spyOn(Connection.prototype, 'parse');
  const lane = await openLedger(db.url);
  const customer = await addCustomer(db.pool, { budget: '1000' });
  const [asked, unused] = [ask(customer), ask(customer)];
  const attribution = { session: 's', user: 'u', tags: ['team=a', 'env=b'] };
  const done = settlement(asked, await admitted(lane.ledger, asked), { attribution });
  await admitted(lane.ledger, unused);
  await lane.ledger.extend(asked, 1n);
  await lane.ledger.settle(done);
  await lane.ledger.settle(done);
  await lane.ledger.release(unused);
  // Promised charges: the key is used often enough for an escrow.
  for (let i = 0; i < 8; i += 1) {
    const next = ask(customer);
    await lane.ledger.settle(settlement(next, await admitted(lane.ledger, next)));
  }
  await lane.close();
  for (const [{ name = '', text }] of parse.mock.calls as unknown as [{ name?: string; text: string }][]) {
    if (name.startsWith('ledger_') && !/^(BEGIN|COMMIT)/.test(text)) seen.set(name, text);
  }
  expect(seen.size).toBeGreaterThanOrEqual(22);
  expect([...seen.keys()]).toContain('ledger_insert_attributions');
  return seen;
}

/** The plan as the ledger's connection would make it, one line a node or condition. */
async function plan(text: string): Promise<string[]> {
  const client = new Client({ connectionString: db.url });
  await client.connect();
  try {
    for (const [name, value] of Object.entries(sessionSettings)) {
      await client.query('SELECT set_config($1, $2, false)', [name, value]);
    }
    const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN) ${text}`);
    return rows.map((row) => String(row['QUERY PLAN']).trim());
  } finally {
    await client.end();
  }
}

/** Scans of tables that are not by key, or only by half of one: that would find everything of an account. */
async function faults(found: ReadonlyMap<string, string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, text] of found) {
    const lines = await plan(text);
    lines.forEach((line, index) => {
      const [condition = '', filter = ''] = lines.slice(index + 1);
      const isScan = /^(-> +)?(Index|Index Only|Seq|Bitmap Heap|Tid) Scan/.test(line);
      // A row that is found by its place names its account as well, for the shard that it is on.
      const isByKey =
        /^(Index|TID) Cond:/.test(condition) &&
        (!filter.startsWith('Filter:') ||
          (condition.startsWith('TID') && filter === 'Filter: ((account_id = new.account_id) IS TRUE)'));
      // The grants of an account are few: all are locked or added up, and those that are used up are passed over.
      const isOfAccount =
        /"grant"( g)? /.test(line) && /^Index Cond: \(account_id = (new\.|account\.|ANY)/.test(condition);
      // A label has a row in an hour for each of its models and keys.
      const isOfLabel =
        /on attribution_hour /.test(line) &&
        condition.startsWith(
          'Index Cond: ((account_id = l.account_id) AND (kind = l.kind) AND (label = l.label) AND (hour = ',
        );
      if (isScan && !isByKey && !isOfAccount && !isOfLabel) wrong.push(`${name}: ${line} ${condition} ${filter}`);
    });
  }
  return wrong;
}

test('every row is found by its key, although the tables were empty when they were analysed', async () => {
  await db.pool.query('VACUUM ANALYZE');
  const found = await statements();
  expect(await faults(found)).toEqual([]);
});

test('every row is found by its key, although the tables were small when they were analysed', async () => {
  const found = await statements();
  await db.pool.query('VACUUM ANALYZE');
  expect(await faults(found)).toEqual([]);
});
