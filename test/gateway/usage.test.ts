import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
};
const large = {
  requests: 1,
  input_tokens: 100,
  cache_hit_tokens: 1000,
  cache_write_tokens: 0,
  output_tokens: 10,
  cost_usd: '0.00075',
};
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
  ['group_by=day', [{ date: today, ...both, cost_usd: '0.000875' }]],
  ['group_by=key', [{ key_id: expect.any(String), ...both, cost_usd: '0.000875' }]],
  [`from=${today}&to=${today}&group_by=day`, [{ date: today, ...both, cost_usd: '0.000875' }]],
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

describe('a query that makes no sense is told what is wrong with it', () => {
  it.each([
    ['from=yesterday', 'from', /YYYY-MM-DD/],
    ['to=2026-02-30', 'to', /YYYY-MM-DD/],
    ['from=%00', 'from', /YYYY-MM-DD/],
    ['group_by=hour', 'group_by', /day, model or key/],
    ['group_by=', 'group_by', /day, model or key/],
    ['limit=0', 'limit', /from 1 to 1000/],
    ['limit=1001', 'limit', /from 1 to 1000/],
    ['limit=1.5', 'limit', /from 1 to 1000/],
    ['limit=1&limit=2', 'limit', /from 1 to 1000/],
    ['cursor=x', 'cursor', /next_cursor/],
    ['cursor=%00', 'cursor', /next_cursor/],
    ['request_id=x', 'request_id', /request id/],
    ['since=2026-01-01', null, /from, to, group_by, limit, cursor, request_id/],
  ])('%s', async (query, param, sentence) => {
    const response = await ask(query);
    expect(response.status).toBe(400);
    const error = await errorOf(response, 'chat-completions');
    expect(error).toMatchObject({ param, message: expect.stringMatching(sentence) });
  });
});
