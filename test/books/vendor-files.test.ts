/** Vendors' files are versions: credits, days without a line, what a file replaces, and taking it back. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBooks } from '../../server/books/books.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const books = () => createBooks({ pool: database.pool });

beforeAll(async () => {
  database = await createDatabase();
  await database.pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'messages', 'https://vendor.example')`,
  );
});
afterAll(() => database.drop());

const head = 'day,model,input,output,cost_usd\n';
const take = (lines: string, more: { add?: boolean; confirmed?: boolean } = {}) =>
  books().importUsage({ upstream: 'vendor', text: `${head}${lines}`, actor: 'test', ...more });

async function counts(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `SELECT to_char(day, 'MM-DD') AS day, model, input FROM vendor_usage ORDER BY 1, 2`,
  );
  return rows.map(({ day, model, input }) => [day, model, input]);
}

it('a later file of a period replaces it when that is confirmed, and is taken back to what was there', async () => {
  const first = '2026-10-05,a,10,1,0.5\n2026-10-05,b,20,1,0.25\n2026-10-08,a,30,1,0.75';
  expect(await take(first)).toMatchObject({
    kind: 'imported',
    imported: { version: 1, rows: 3, emptyDays: ['2026-10-06', '2026-10-07'] },
  });
  const before = await counts();
  // It lacks a model of the 5th, and changes another.
  const later = '2026-10-05,a,11,1,0.5\n2026-10-08,a,30,1,0.75';
  expect(await take(later)).toMatchObject({ kind: 'would_remove', removed: [{ day: '2026-10-05', model: 'b' }] });
  expect(await counts()).toEqual(before);
  const taken = await take(later, { confirmed: true });
  expect(taken).toMatchObject({ kind: 'imported', imported: { version: 2 } });
  expect(await counts()).toEqual([
    ['10-05', 'a', 11n],
    ['10-08', 'a', 30n],
  ]);
  const [latest] = await books().files({ upstream: 'vendor', limit: 10 });
  await books().undoImport({ fileId: latest?.id ?? '', actor: 'test' });
  expect(await counts()).toEqual(before);
  expect((await books().files({ upstream: 'vendor', limit: 10 })).map(({ undoneAt }) => undoneAt === null)).toEqual([
    false,
    true,
  ]);
});

it('a file that adds touches its own days and models alone', async () => {
  expect(await take('2026-10-05,c,40,1,0.1', { add: true })).toMatchObject({ kind: 'imported' });
  expect((await counts()).length).toBe(4);
});

it('a credit is a total of the period, and no usage of a day', async () => {
  const before = await counts();
  expect(await take('2026-10-09,credit,0,0,-2.5', { add: true })).toMatchObject({ kind: 'imported' });
  const { totals } = await books().compare({ from: '2026-10-01', to: '2026-10-31', upstream: null });
  expect(totals).toMatchObject([{ upstream: 'vendor', credits: -2_500_000_000_000n }]);
  expect((await counts()).length - before.length).toBeLessThanOrEqual(1);
});
