/** Prisma: UTC times, exact amounts, and logs without values. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPrisma } from '../../server/database/prisma.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const log = { info: () => {}, warn: () => {} };
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('writes and reads moments and amounts exactly, in any zone of the database', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`ALTER DATABASE ${name} SET timezone = 'Asia/Ho_Chi_Minh'`);
  const prisma = createPrisma({ url: database.url, max: 2, log });
  const id = randomUUID();
  const createdAt = new Date('2026-11-21T23:30:00.123Z');
  await prisma.account.create({ data: { id, name: 'Ada', email: 'ada@example.com', createdAt } });
  const amount = 9_007_199_254_740_993n;
  const expiresAt = new Date('2027-01-01T00:00:00.000Z');
  await prisma.grant.create({ data: { accountId: id, id, kind: 'trial', amount, sourceRef: 'x', expiresAt } });
  expect(await prisma.account.findUnique({ where: { id }, include: { grants: true } })).toMatchObject({
    createdAt,
    grants: [{ amount, expiresAt }],
  });
  const { rows } = await database.pool.query('SELECT created_at AS "createdAt" FROM account WHERE id = $1', [id]);
  expect(rows).toEqual([{ createdAt }]);
  await prisma.$disconnect();
});

it('closes its connections', async () => {
  const prisma = createPrisma({ url: database.url, max: 2, log });
  const open = async () => {
    const { rows } = await database.pool.query<{ n: bigint }>(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'steyg prisma'`,
    );
    return rows[0]?.n;
  };
  await prisma.plan.count();
  expect(await open()).toBe(1n);
  await prisma.$disconnect();
  await expect.poll(open).toBe(0n);
});

it('does not quote what it was asked in its errors', async () => {
  const prisma = createPrisma({ url: database.url, max: 1, log });
  const data = { id: 'no-uuid', name: 'Secret Name', email: 'secret@example.com' };
  const error: unknown = await prisma.account.create({ data }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).not.toMatch(/secret/i);
  await prisma.$disconnect();
});
