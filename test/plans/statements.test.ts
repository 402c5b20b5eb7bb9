/** Monthly statements: reading many of them leaves connections to everything else. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStatements, statementZone } from '../../server/plans/statements.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createAccount } from './support.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
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
