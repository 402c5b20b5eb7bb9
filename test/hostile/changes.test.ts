import { afterAll, beforeAll, test } from 'vitest';
import { escrowSupport } from '../billing/escrow-support.ts';
import { addModel } from '../billing/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** A thousand changes of keys, accounts and the catalog count from the very next request on every process. */

let db: TestDatabase;
const { changesCount } = escrowSupport(() => db);

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
});

afterAll(() => db.drop());

test('1,000 changes in a row count from the very next request on every process, under load and without a notice', async () => {
  await changesCount(1_000);
});
