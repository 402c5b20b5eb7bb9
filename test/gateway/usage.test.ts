import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertion, type Row, rows } from '../database/rows.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, protocols, send, settled } from './support.ts';

/** `GET /v1/usage`: the account's figures, by what and for when it is asked. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp();
  customer = await app.customer({ trial: true });
  for (const model of ['sim-small', 'sim-small', 'sim-large']) {
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      text: '[[usage {"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":1000}]]',
      more: { model },
    });
    await response.text();
  }
  await settled(app, customer);
});
afterAll(() => app.close());

const ask = (query: string): Promise<Response> =>
  fetch(`${app.baseUrl}/v1/usage?${query}`, { headers: { authorization: `Bearer ${customer.secret}` } });

interface Page {
  data: Record<string, unknown>[];
  has_more: boolean;
  next_cursor: string | null;
}
/** Reads of other accounts. */
const read = (path: string, { secret }: Customer): Promise<Response> =>
  fetch(`${app.baseUrl}${path}`, { headers: { authorization: `Bearer ${secret}` } });
const page = async (query: string): Promise<Page> => (await (await ask(query)).json()) as Page;

const today = new Date().toISOString().slice(0, 10);
// Prices of the seed: 0.25, 0.025 and 1.25 USD per million for the small one, twelve times that for the large one.
const small = {
  requests: 2,
  input_tokens: 200,
  cache_hit_tokens: 2000,
  cache_write_tokens: 0,
  output_tokens: 20,
  cost_usd: '0.000125',
  charged_usd: '0.000125',
};
const large = {
  requests: 1,
  input_tokens: 100,
  cache_hit_tokens: 1000,
  cache_write_tokens: 0,
  output_tokens: 10,
  cost_usd: '0.00075',
  charged_usd: '0.00075',
};
const sum = { cost_usd: '0.000875', charged_usd: '0.000875' };
const both = { ...small, requests: 3, input_tokens: 300, cache_hit_tokens: 3000, output_tokens: 30 };

it('has the balance, the grants and the spending of each day and model', async () => {
  const answer = await (await ask('')).json();
  expect(answer).toEqual({
    object: 'usage',
    balance: {
      granted_usd: '5',
      charged_usd: '0.000875',
      held_usd: '0',
      expired_usd: '0',
      free_usd: '4.999125',
    },
    grants: [
      {
        id: expect.any(String),
        kind: 'trial',
        amount_usd: '5',
        free_usd: '4.999125',
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ],
    data: expect.arrayContaining([
      { date: today, model: 'sim-small', ...small },
      { date: today, model: 'sim-large', ...large },
    ]),
    has_more: false,
    next_cursor: null,
  });
});

it.each([
  ['group_by=day', [{ date: today, ...both, ...sum }]],
  ['group_by=key', [{ key_id: expect.any(String), ...both, ...sum }]],
  [`from=${today}&to=${today}&group_by=day`, [{ date: today, ...both, ...sum }]],
  ['to=2020-01-01&from=2019-01-01', []],
  ['from=9999-12-31', []],
])('%s', async (query, data) => {
  expect((await page(query)).data).toEqual(data);
});

it('page by page is the same as at once', async () => {
  const first = await page('group_by=model&limit=1');
  expect(first).toMatchObject({ has_more: true, next_cursor: expect.any(String) });
  const second = await page(`group_by=model&limit=1&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ has_more: false, next_cursor: null });
  expect([...first.data, ...second.data]).toEqual((await page('group_by=model')).data);
});

it('lists the requests one by one, the newest first, each as its own entry', async () => {
  const all = await page('list=requests');
  expect(all).toMatchObject({ object: 'usage.requests', has_more: false, next_cursor: null });
  expect(all.data.map(({ model }) => model)).toEqual(['sim-large', 'sim-small', 'sim-small']);
  for (const entry of all.data) {
    expect(entry).toEqual(await (await ask(`request_id=${String(entry['request_id'])}`)).json());
  }
  const first = await page('list=requests&limit=2');
  expect(first).toMatchObject({ has_more: true, next_cursor: expect.any(String) });
  const second = await page(`list=requests&limit=2&cursor=${first.next_cursor}`);
  expect([...first.data, ...second.data]).toEqual(all.data);
  expect((await page('list=requests&to=2020-01-01&from=2019-01-01')).data).toEqual([]);
  const other = await app.customer();
  const foreign = await fetch(`${app.baseUrl}/v1/usage?list=requests`, {
    headers: { authorization: `Bearer ${other.secret}` },
  });
  expect(await foreign.json()).toMatchObject({ data: [] });
});

it('tells what requests came to from what was taken, in every list', async () => {
  const poor = await app.customer({ usd: '0.0001' });
  const response = await send(app, protocols.messages, {
    secret: poor.secret,
    text: '[[usage {"input_tokens":100,"output_tokens":1000}]]',
    more: { model: 'sim-small', max_tokens: 1_000 },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-steyg-cost-usd')).toBe('0.001275');
  await settled(app, poor);
  for (const query of ['', 'group_by=model', 'list=requests']) {
    const answer = await fetch(`${app.baseUrl}/v1/usage?${query}`, {
      headers: { authorization: `Bearer ${poor.secret}` },
    });
    expect(((await answer.json()) as Page).data).toMatchObject([{ cost_usd: '0.001275', charged_usd: '0.0001' }]);
  }
});

describe('a query that makes no sense is told what is wrong with it', () => {
  it.each([
    ['from=yesterday', 'from', /YYYY-MM-DD/],
    ['to=2026-02-30', 'to', /YYYY-MM-DD/],
    ['from=%00', 'from', /YYYY-MM-DD/],
    ['group_by=hour', 'group_by', /day, model or key/],
    ['group_by=', 'group_by', /day, model or key/],
    ['list=everything', 'list', /requests/],
    ['list=requests&cursor=x', 'cursor', /next_cursor/],
    ['limit=0', 'limit', /from 1 to 1000/],
    ['limit=1001', 'limit', /from 1 to 1000/],
    ['limit=1.5', 'limit', /from 1 to 1000/],
    ['limit=1&limit=2', 'limit', /from 1 to 1000/],
    ['cursor=x', 'cursor', /next_cursor/],
    ['cursor=%00', 'cursor', /next_cursor/],
    ['request_id=x', 'request_id', /request id/],
    ['sk-steyg-abc=1', 'query', /from, to, group_by/],
    ['since=2026-01-01', 'since', /from, to, group_by, limit, cursor, request_id/],
    ['cursr=x', 'cursr', 'did you mean cursor?'],
    ['grup_by=model', 'grup_by', 'did you mean group_by?'],
  ])('%s', async (query, param, sentence) => {
    const response = await ask(query);
    expect(response.status).toBe(400);
    const error = await errorOf(response, 'chat-completions');
    expect(error).toMatchObject({ param, message: expect.stringMatching(sentence) });
  });
});

it('an archived month is named where its requests are asked for, one by one or in a list', async () => {
  await app.pool.query(insertion('archived_month', (rows['archived_month'] as () => Row)()));
  const answer = await ask('request_id=016f7a00-0000-7000-8000-000000000000');
  expect(answer.status).toBe(404);
  expect(JSON.stringify(await answer.json())).toMatch(/requests of 2020-01 were archived on/);
  expect(await (await ask('list=requests&from=2020-01-01&to=2020-03-01')).json()).toMatchObject({
    data: [],
    archived: [{ month: '2020-01', archived_at: expect.any(String) }],
  });
  expect(await (await ask('list=requests&from=2020-02-01&to=2020-03-01')).json()).not.toHaveProperty('archived');
});

describe('reads share the connections of model traffic', () => {
  it('so that few reports are added up at once, the others get 429 at once, and sessions are told meanwhile', async () => {
    const accounts = [await app.customer({ trial: true }), await app.customer(), await app.customer()] as const;
    const report = '/v1/usage?group_by=day,model,key,project';
    const refused = async (response: Response) => {
      expect(response.status).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await errorOf(response, 'chat-completions')).toMatchObject({ code: 'rate_limit_exceeded' });
    };
    const lock = await app.pool.connect();
    const held: Promise<Response>[] = [];
    try {
      await lock.query('BEGIN');
      await lock.query('LOCK TABLE usage_hour');
      // Two of an account and four of all wait for the lock; one more is answered first.
      for (const account of accounts.slice(0, 2)) {
        const reports = [1, 2, 3].map(() => read(report, account));
        held.push(...reports);
        await refused(await Promise.race(reports));
      }
      await refused(await read(report, accounts[2]));
      await refused(await read('/v1/usage?list=requests', accounts[2]));
      for (const path of ['/v1/usage?session=s', '/v1/key', '/v1/models'])
        expect((await read(path, accounts[0])).status).toBe(200);
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
    }
    await Promise.all(held);
    expect((await read(report, accounts[0])).status).toBe(200);
  });

  it('so that a key reads at a rate, which takes nothing of its model requests', { timeout: 120_000 }, async () => {
    const one = await app.customer();
    let refused: Response | undefined;
    while (refused === undefined) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => read('/v1/generation/content', one)));
      expect(answers.every(({ status }) => status === 404 || status === 429)).toBe(true);
      refused = answers.find(({ status }) => status === 429);
    }
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const sent = await send(app, protocols.messages, { secret: one.secret, text: '[[say x]]' });
    expect(sent.status).toBe(200);
    await sent.text();
    expect((await read('/v1/usage?session=s', customer)).status).toBe(200);
  });
});
