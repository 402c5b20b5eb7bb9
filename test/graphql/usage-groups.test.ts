import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Usage by the person who made the key, and failed requests by how they ended, of one account and of all customers. */

let plane: ControlPlane;
let owner: Browser;
let operator: Browser;
let accountId: string;
const people = { first: randomUUID(), namesake: randomUUID(), forgotten: randomUUID() };
const keys = { first: randomUUID(), namesake: randomUUID(), forgotten: randomUUID(), unmade: randomUUID() };

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.2');
  await pool.query(`UPDATE app_user SET operator = true WHERE email = 'operator@example.com'`);
  const { rows } = await pool.query(`SELECT id FROM account WHERE email = 'owner@example.com'`);
  accountId = rows[0].id;
  for (const id of [people.first, people.namesake]) {
    await pool.query(
      `INSERT INTO app_user (id, name, email, email_verified, updated_at) VALUES ($1::uuid, 'An', $1::text || '@example.com', true, now())`,
      [id],
    );
  }
  await pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'member')`, [
    accountId,
    people.first,
  ]);
  const makers: Record<string, string | null> = { ...people, unmade: null };
  for (const [name, id] of Object.entries(keys)) {
    await pool.query(
      `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, created_by)
       VALUES ($1, $2, $3, sha256($3::text::bytea), 'sk-steyg-', 'last', $4)`,
      [id, accountId, name, makers[name]],
    );
  }
  const { rows: probes } = await pool.query(
    `INSERT INTO account (id, name, email, kind) VALUES (gen_random_uuid(), 'probes', 'probes@example.com', 'probe') RETURNING id`,
  );
  const use = (key: string, outcome: string, requests: number, hoursAgo: number, account = accountId) =>
    pool.query(
      `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, output, cost, charged)
       VALUES ($1, date_trunc('hour', now(), 'UTC') - $5 * interval '1 hour', 'sim-small', $2, $3, $4, $4, $4, $4)`,
      [account, key, outcome, requests, hoursAgo],
    );
  await use(keys.first, 'completed', 9, 0);
  await use(keys.first, 'upstream_error', 2, 0);
  await use(keys.namesake, 'completed', 5, 0);
  await use(keys.namesake, 'timeout', 3, 1);
  await use(keys.forgotten, 'client_closed', 4, 0);
  await use(keys.unmade, 'budget_stopped', 1, 0);
  await use(keys.first, 'upstream_error', 1_000, 0, probes[0].id);
});
afterAll(() => plane.close());

interface Row {
  requests: string;
  failures: string;
  isRest: boolean;
  maker: { memberId: string; name: string | null } | null;
}

async function usage(args: string): Promise<{ nodes: Row[]; pageInfo: { endCursor: string; hasNextPage: boolean } }> {
  const { data, errors } = await owner.send(
    `{ account { usage(${args}) { nodes { requests failures isRest maker { memberId name } }
       pageInfo { endCursor hasNextPage } } } }`,
  );
  expect(errors).toEqual([]);
  return (data as { account: { usage: { nodes: Row[]; pageInfo: { endCursor: string; hasNextPage: boolean } } } })
    .account.usage;
}

const idOf = ({ maker }: Row): string | null =>
  maker === null ? null : (Buffer.from(maker.memberId, 'base64').toString().split('/')[1] ?? '');

describe('usage by the person who made the key', () => {
  it('tells people of one name apart, the forgotten and keys that nobody made', async () => {
    const { nodes } = await usage('by: [MAKER], order: COST');
    expect(nodes.map((row) => [idOf(row), row.maker?.name ?? null, row.requests, row.failures])).toEqual([
      [people.first, 'An', '11', '2'],
      [people.namesake, 'An', '8', '3'],
      [people.forgotten, null, '4', '0'],
      [null, null, '1', '0'],
    ]);
  });

  it('is the same page by page, and beyond the most expensive is one rest', async () => {
    for (const args of ['by: [MAKER], order: COST', 'by: [MAKER, OUTCOME], period: DAY']) {
      const all = (await usage(args)).nodes;
      const walked: Row[] = [];
      for (let after = '', more = true; more; ) {
        const { nodes, pageInfo } = await usage(`${args}, first: 1${after === '' ? '' : `, after: "${after}"`}`);
        walked.push(...nodes);
        ({ endCursor: after, hasNextPage: more } = pageInfo);
      }
      expect(walked).toEqual(all);
    }
    const { nodes } = await usage('by: [MAKER], most: 1');
    const rows = nodes.map((row) => [idOf(row), row.isRest, row.requests]);
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(
      expect.arrayContaining([
        [people.first, false, '11'],
        [null, true, '13'],
      ]),
    );
  });
});

describe('failed requests of all customers', () => {
  const failures = (who: Browser, args: string) =>
    who.send(`{ operator { failures(${args}) { outcome failures start } } }`);

  it('are counted by how they ended and when; probes, and what the client or the budget ended, are not among them', async () => {
    const from = new Date(Date.now() - 2 * 86_400_000).toISOString();
    const { data, errors } = await failures(operator, `from: "${from}", period: HOUR`);
    expect(errors).toEqual([]);
    const rows = (data as { operator: { failures: { outcome: string; failures: string; start: string }[] } }).operator;
    expect(rows.failures.map(({ outcome, failures: count }) => [outcome, count])).toEqual([
      ['UPSTREAM_ERROR', '2'],
      ['TIMEOUT', '3'],
    ]);
    const [late, early] = rows.failures.map(({ start }) => new Date(start).getTime());
    expect((late ?? 0) - (early ?? 0)).toBe(3_600_000);
  });

  it('are for operators alone, and of 92 days of hours at most', async () => {
    const from = new Date(Date.now() - 100 * 86_400_000).toISOString();
    expect((await failures(operator, `from: "${from}", period: HOUR`)).errors).toMatchObject([
      { extensions: { code: 'BAD_INPUT' } },
    ]);
    const stranger = await failures(owner, `from: "${from}", period: DAY`);
    expect(stranger.data).toBeNull();
    expect(stranger.errors).not.toEqual([]);
  });
});
