import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Settlement } from '../../server/billing/lane/ledger.ts';
import { storedLabels } from '../../server/core/attribution.ts';
import { createDigest } from '../../server/shared/digest.ts';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Usage by session, user and tag, what is noted of a request, and the account's choice of what is stored.

let plane: ControlPlane;
let browser: Browser;
let accountId: string;
let keyId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  await addModel(pool, { id: 'big' });
  await addModel(pool, { id: 'small' });
  browser = await createPerson(plane, 'ann@example.com', '203.0.113.1');
  const { rows } = await pool.query(`SELECT id FROM account WHERE email = 'ann@example.com'`);
  accountId = rows[0].id;
  await browser.send('mutation { createKey(input: { name: "one" }) { __typename } }');
  keyId = (await pool.query('SELECT id FROM api_key WHERE account_id = $1', [accountId])).rows[0].id;
  const ledger = await openLedger(plane.database.url);
  const [, session = ''] = storedLabels(createDigest(plane.secretKey), accountId, 'session', 'known');
  const all: [string, Settlement['attribution']][] = [
    ['big', { session, user: 'u', tags: ['team=a', 'env=x'] }],
    ['small', { session, user: null, tags: ['team=a'] }],
    ['big', { session: '~other', user: null, tags: [] }],
    ['big', undefined],
  ];
  for (const [model, attribution] of all) {
    const asked = ask({ accountId, keyId }, { model });
    const more = attribution === undefined ? {} : { attribution };
    await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked), { model, ...more }));
  }
  await ledger.close();
});
afterAll(() => plane.close());

interface Rows {
  rows: { label: string; model: string | null; requests: string; charged: string; cost: string }[];
  next: string | null;
}

interface Listed {
  nodes: Rows['rows'];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

async function attributed(args: string, who = browser): Promise<Rows> {
  const { data, errors } = await who.send(
    `{ account { attributedUsage(${args}) { nodes { label model requests charged cost firstAt lastAt tokens { input output } } pageInfo { hasNextPage endCursor } } } }`,
  );
  expect(errors).toEqual([]);
  const { nodes, pageInfo } = (data as { account: { attributedUsage: Listed } }).account.attributedUsage;
  return { rows: nodes, next: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}

describe('usage', () => {
  it('is added up by session, user and tag, the most expensive first, page by page', async () => {
    const { rows, next } = await attributed('by: TAG');
    expect(rows.map(({ label, requests }) => [label, requests])).toEqual([
      ['team=a', '2'],
      ['env=x', '1'],
    ]);
    expect(next).toBeNull();
    const first = await attributed('by: TAG, first: 1');
    expect(await attributed(`by: TAG, first: 1, after: "${first.next}"`)).toEqual({ rows: rows.slice(1), next: null });
    expect((await attributed('by: USER')).rows).toMatchObject([{ label: 'u', requests: '1', model: null }]);
    expect((await attributed('by: SESSION, order: TIME')).rows.map(({ label }) => label)[0]).toBe('~other');
    expect((await attributed('by: SESSION, from: "2030-01-01T00:00:00Z"')).rows).toEqual([]);
  });

  it('of a session is found by what the client knows, and by what the list shows', async () => {
    const { rows } = await attributed('by: SESSION, only: "known", byModel: true');
    expect(new Map(rows.map(({ model, requests }) => [model, requests]))).toEqual(
      new Map([
        ['big', '1'],
        ['small', '1'],
      ]),
    );
    expect((await attributed(`by: SESSION, only: "${rows[0]?.label}"`)).rows).toMatchObject([{ requests: '2' }]);
    expect((await attributed('by: SESSION, only: "unknown"')).rows).toEqual([]);
    const { data } = await browser.send(
      '{ account { ledger(filter: { session: "known" }) { edges { node { model attribution { session user tags } } } } } }',
    );
    const { edges } = (data as { account: { ledger: { edges: { node: Record<string, unknown> }[] } } }).account.ledger;
    expect(edges.map(({ node }) => node)).toEqual([
      { model: 'small', attribution: { session: rows[0]?.label, user: null, tags: ['team=a'] } },
      { model: 'big', attribution: { session: rows[0]?.label, user: 'u', tags: ['team=a', 'env=x'] } },
    ]);
  });

  it('refuses what it cannot answer', async () => {
    for (const args of [
      'by: TAG, after: "x"',
      'by: TAG, first: 101',
      'by: TAG, only: ""',
      'by: TAG, only: "a\\u0000"',
    ]) {
      const { errors } = await browser.send(`{ account { attributedUsage(${args}) { pageInfo { endCursor } } } }`);
      expect(errors[0]?.extensions['code']).toMatch(/^BAD_(USER_)?INPUT$/);
    }
  });

  it('is refused for a range with too many sums, however few of them a filter lets through', async () => {
    const big = await createPerson(plane, 'big@example.com', '203.0.113.9');
    await plane.database.pool.query(
      `INSERT INTO attribution_hour (account_id, kind, hour, label, model, key_id, first_at, last_at)
       SELECT (SELECT id FROM account WHERE email = 'big@example.com'), 'tag', '2026-01-01T00:00:00Z', 't=' || n, 'big',
              '00000000-0000-0000-0000-000000000001', now(), now() FROM generate_series(1, 200001) n`,
    );
    for (const filter of ['', ', model: "nope"']) {
      const { errors } = await big.send(
        `{ account { attributedUsage(by: TAG, from: "2026-01-01T00:00:00Z"${filter}) { pageInfo { endCursor } } } }`,
      );
      expect(errors[0]?.message).toMatch(/shorter range/);
    }
    expect(await attributed('by: TAG, from: "2026-01-01T01:00:00Z", model: "nope"', big)).toEqual({
      rows: [],
      next: null,
    });
    expect((await attributed('by: TAG, only: "t=7", model: "big"', big)).rows).toHaveLength(1);
  });

  it('has a bound: labels beyond a thousand sums of an hour are added up as others, and nothing is lost', async () => {
    const { pool } = plane.database;
    const hours = `generate_series(date_trunc('hour', now(), 'UTC'), now() + interval '2 hours', interval '1 hour')`;
    await pool.query(
      `INSERT INTO attribution_hour (account_id, kind, hour, label, model, key_id, first_at, last_at)
       SELECT $1, 'user', hour, 'full' || n, 'big', $2, now(), now() FROM generate_series(1, 1000) n, ${hours} AS hour`,
      [accountId, keyId],
    );
    const ledger = await openLedger(plane.database.url);
    for (const user of ['full1', 'new1', 'new2', 'new3', 'new1', 'full1'])
      for (const session of [null, 's1']) {
        const asked = ask({ accountId, keyId }, { model: 'big' });
        const attribution = { session, user, tags: [] };
        await ledger.ledger.settle(
          settlement(asked, await admitted(ledger.ledger, asked), { model: 'big', attribution }),
        );
      }
    await ledger.close();
    const { rows } = await pool.query(
      `SELECT label, sum(requests)::int AS n FROM attribution_hour WHERE account_id = $1 AND kind = 'user' AND label <> 'u'
       GROUP BY label HAVING sum(requests) > 0 ORDER BY label COLLATE "C"`,
      [accountId],
    );
    expect(rows).toEqual([
      { label: 'full1', n: 4 },
      { label: '~other', n: 8 },
    ]);
    // Other kinds of the account are not full.
    const s1 = await attributed('by: SESSION, only: "s1"');
    expect(s1.rows).toMatchObject([{ label: 's1', requests: '6' }]);
    expect((await attributed('by: USER, only: "~other"')).rows).toMatchObject([{ label: '~other', requests: '8' }]);
    await pool.query(`DELETE FROM attribution_hour WHERE kind = 'user' AND label LIKE 'full%'`);
  });

  it('is added up for one account twice at once, whatever is asked for at once, and refused beyond a line', async () => {
    const { pool } = plane.database;
    // Operations of one person wait for each other before that: those of a person and of a program come together.
    const made = await browser.send(
      'mutation { createAccessToken(input: { name: "t", scopes: [READ] }) { ... on CreatedAccessToken { secret } } }',
    );
    const token = made.data?.['createAccessToken'] as { secret: string } | undefined;
    const headers = { authorization: `Bearer ${token?.secret}`, cookie: '' };
    const lock = await pool.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('LOCK TABLE attribution_hour IN ACCESS EXCLUSIVE MODE');
      const query = '{ account { attributedUsage(by: TAG) { pageInfo { endCursor } } } }';
      const asked = Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0 ? browser.send(query) : browser.send(query, { headers }),
      );
      let answered = 0;
      for (const answer of asked) void answer.then(() => (answered += 1));
      await expect.poll(() => answered, { timeout: 60_000 }).toBe(2);
      const { rows } = await pool.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(rows[0].n).toBeLessThanOrEqual(2);
      await lock.query('ROLLBACK');
      const answers = await Promise.all(asked);
      const refusals = answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions['code']));
      // Two run, eight wait.
      expect(refusals).toEqual(['BUSY', 'BUSY']);
    } finally {
      lock.release(true);
    }
  });

  it('of another account is not shown', async () => {
    const stranger = await createPerson(plane, 'stranger@example.com', '203.0.113.2');
    expect(await attributed('by: TAG', stranger)).toEqual({ rows: [], next: null });
    const { data } = await stranger.send(
      'query ($id: ID) { account(id: $id) { attributedUsage(by: TAG) { pageInfo { endCursor } } } }',
      {
        variables: { id: Buffer.from(`Account:${accountId}`).toString('base64') },
      },
    );
    expect(data?.['account'] ?? null).toBeNull();
  });
});

describe('what is stored', () => {
  const set = (who: Browser, mode: string) =>
    who.send(
      'mutation ($mode: AttributionMode!, $id: ID) { setAttributionMode(input: { mode: $mode, accountId: $id }) { __typename ... on Account { attributionMode } ... on Error { code } } }',
      { variables: { mode, id: Buffer.from(`Account:${accountId}`).toString('base64') } },
    );

  it('is readable tags at first, and what its managers choose from then on', async () => {
    expect((await browser.send('{ account { attributionMode } }')).data).toEqual({
      account: { attributionMode: 'TAGS' },
    });
    expect((await set(browser, 'PLAIN')).data?.['setAttributionMode']).toMatchObject({ attributionMode: 'PLAIN' });
    const { rows } = await plane.database.pool.query(
      `SELECT before, after FROM audit_entry WHERE action = 'account.attribution'`,
    );
    expect(rows).toEqual([{ before: { mode: 'tags' }, after: { mode: 'plain' } }]);
    await set(browser, 'DIGESTS');
  });

  it('is not chosen by strangers', async () => {
    const stranger = await createPerson(plane, 'another@example.com', '203.0.113.3');
    expect((await set(stranger, 'PLAIN')).data?.['setAttributionMode']).toEqual({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
    });
    expect((await browser.send('{ account { attributionMode } }')).data).toMatchObject({
      account: { attributionMode: 'DIGESTS' },
    });
  });
});
