/** Monthly statements: reading many of them, or a long one, leaves the database to everything else. */

import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import { createStatements, statementZone } from '../../server/plans/papers/statements.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount } from './support.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => database.drop());

/** The highest number of connections in use at a time. */
async function connectionsOf(work: () => Promise<unknown>): Promise<number> {
  const { pool } = database;
  let [used, most] = [0, 0];
  const acquired = () => {
    used += 1;
    most = Math.max(most, used);
  };
  const released = () => {
    used -= 1;
  };
  pool.on('acquire', acquired).on('release', released);
  try {
    await work();
  } finally {
    pool.off('acquire', acquired).off('release', released);
  }
  return most;
}

it('a hundred reads at once use one connection of an account, and two of all accounts', async () => {
  const statements = createStatements({ pool: database.pool });
  const accounts = await Promise.all([1, 2, 3, 4].map(() => createAccount(database.pool)));
  const month = new Intl.DateTimeFormat('sv-SE', { timeZone: statementZone }).format().slice(0, 7);
  const read = (accountId = '') => statements.read(accountId, month);
  const [first] = accounts;
  expect(await connectionsOf(() => Promise.all(Array.from({ length: 25 }, () => read(first))))).toBe(1);
  const all = Array.from({ length: 100 }, (_, at) => read.bind(null, accounts[at % accounts.length]));
  let answers: unknown[] = [];
  expect(
    await connectionsOf(async () => {
      answers = await Promise.all(all.map((each) => each()));
    }),
  ).toBe(2);
  expect(answers).toHaveLength(100);
  expect(answers.every((answer) => answer !== null)).toBe(true);
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

it('expiries are found among 20,000 charges without reading them', async () => {
  const { pool } = database;
  const accountId = await createAccount(pool);
  const { id: grantId } = await addGrant(pool, {
    accountId,
    kind: 'purchase',
    amount: 10n ** 12n,
    expiresAt: null,
    sourceRef: `order:${uuidv7()}`,
  });
  await pool.query(
    `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, created_at)
     SELECT $1, $2, 'charge', 1, gen_random_uuid(), now() - i * interval '100 seconds' FROM generate_series(1, 20000) AS i`,
    [accountId, grantId],
  );
  await pool.query(
    `INSERT INTO posting (account_id, grant_id, kind, amount, created_at)
     SELECT $1, $2, 'expire', 7, now() - i * interval '1 second' FROM generate_series(1, 3) AS i`,
    [accountId, grantId],
  );
  await pool.query('UPDATE "grant" SET spent = 20000, expired = 21 WHERE id = $1', [grantId]);
  await pool.query('ANALYZE posting');
  const query = vi.spyOn(Client.prototype, 'query');
  const month = new Intl.DateTimeFormat('sv-SE', { timeZone: statementZone }).format().slice(0, 7);
  const statement = await createStatements({ pool }).read(accountId, month);
  const [text, values] = (query.mock.calls as unknown as [string, unknown[]][]).find(
    ([asked]) => typeof asked === 'string' && asked.includes('FROM posting'),
  ) ?? ['', []];
  expect(statement?.movements.filter(({ kind }) => kind === 'expiry').map(({ amount }) => amount)).toEqual([
    7n,
    7n,
    7n,
  ]);
  const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
  const scans = nodesOf(plan).filter((node) => node['Relation Name'] === 'posting');
  expect(
    scans.map((node) => [
      node['Index Name'],
      node['Actual Rows'] * node['Actual Loops'],
      node['Rows Removed by Filter'] ?? 0,
    ]),
  ).toEqual([['posting_expired', 3, 0]]);
});
