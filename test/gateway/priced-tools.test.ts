import { type LedgerEntry, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { get, protocols, send, settled } from './support.ts';

/**
 * Tools that run at a vendor whose public price is known: they pass as they are, bounded in number, and each use is billed. The
 * operator says another price, or switches them off.
 */

const entry = (id: string, upstreams: readonly string[], perUnit = ''): string[] => [
  `  - id: ${id}`,
  `    displayName: ${id}`,
  '    family: tests',
  '    contextWindow: 200000',
  '    maxOutputTokens: 32000',
  `    prices: { input: "1", cacheHit: "0.1", output: "5"${perUnit} }`,
  '    routes:',
  ...upstreams.map(
    (upstream) =>
      `      - { upstream: ${upstream}, model: sim-medium, costs: { input: "1", cacheHit: "0.1", output: "5" } }`,
  ),
];

const catalog = (url: string): string =>
  [
    'upstreams:',
    `  - { id: anthropic, protocol: messages, profile: anthropic, baseUrl: "${url}/as/anthropic" }`,
    `  - { id: anthropic-bare, protocol: messages, profile: anthropic, baseUrl: "${url}/as/anthropic", features: { hostedTools: false } }`,
    `  - { id: openai, protocol: responses, profile: openai-gpt5, baseUrl: "${url}/as/openai-gpt5/v1" }`,
    `  - { id: openai-chat, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${url}/as/openai-gpt5/v1" }`,
    'models:',
    ...entry('claude', ['anthropic']),
    ...entry('gpt', ['openai']),
    ...entry('gpt-chat', ['openai-chat']),
    ...entry('gpt-both', ['openai', 'openai-chat']),
    ...entry('dearer', ['anthropic'], ', perUnit: { search: "0.02" }'),
    ...entry('unsold', ['anthropic'], ', perUnit: { search: null }'),
    ...entry('bare', ['anthropic-bare']),
    ...entry('two-places', ['anthropic-bare', 'anthropic']),
  ].join('\n');

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog });
  customer = await app.customer({ usd: '1000' });
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

const { messages, chat, responses } = protocols;
const sent = () => JSON.parse(String(app.simulator.requests().at(-1)?.body)) as Record<string, unknown>;
const webSearch = { type: 'web_search_20250305', name: 'web_search' };
const webFetch = { type: 'web_fetch_20250910', name: 'web_fetch' };

/** The answer's status and what it says was left out. */
async function asked(to: typeof messages, more: object, text = 'ping'): Promise<[number, string | null]> {
  const response = await send(app, to, { secret: customer.secret, text, more: { ...more } });
  await response.text();
  return [response.status, response.headers.get('x-steyg-dropped-tools')];
}

describe('a search whose price the profile knows', () => {
  it.each([
    ['is said to be used five times where the client says nothing', webSearch, { ...webSearch, max_uses: 5 }],
    ['keeps the smaller number of the client', { ...webSearch, max_uses: 2 }, { ...webSearch, max_uses: 2 }],
    ['keeps a number up to sixteen', { ...webSearch, max_uses: 8 }, { ...webSearch, max_uses: 8 }],
    ['is used sixteen times at most', { ...webSearch, max_uses: 1_000 }, { ...webSearch, max_uses: 16 }],
    ['is bounded where its number says nothing', { ...webSearch, max_uses: null }, { ...webSearch, max_uses: 5 }],
    ['is bounded where its number is a text', { ...webSearch, max_uses: '900' }, { ...webSearch, max_uses: 5 }],
    ['passes as a page that is fetched does', webFetch, { ...webFetch, max_uses: 5 }],
  ])('%s', async (_what, tool, passed) => {
    const own = { name: 'read', input_schema: { type: 'object' } };
    expect(await asked(messages, { model: 'claude', tools: [own, tool] })).toEqual([200, null]);
    expect(sent()['tools']).toEqual([own, passed]);
  });

  it.each([
    ['nothing', {}, 5],
    ['less', { max_tool_calls: 3 }, 3],
    ['more', { max_tool_calls: 500 }, 16],
    ['null', { max_tool_calls: null }, 5],
  ])('of responses is bounded for the whole answer: the client says %s', async (_what, said, bound) => {
    const tools = [{ type: 'web_search', external_web_access: true }];
    expect(await asked(responses, { model: 'gpt', tools, ...said })).toEqual([200, null]);
    expect(sent()).toMatchObject({ tools, max_tool_calls: bound, store: false });
  });

  it('with a number that the vendor refuses is refused by the vendor, in its words', async () => {
    const none = { model: 'claude', tools: [{ ...webSearch, max_uses: 0 }] };
    const refused = await send(app, messages, { secret: customer.secret, more: none });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('tools.0.web_search_20250305.max_uses: Input should be greater than 0');
    const noCalls = { model: 'gpt', tools: [{ type: 'web_search' }], max_tool_calls: 0 };
    const again = await send(app, responses, { secret: customer.secret, more: noCalls });
    expect(again.status).toBe(400);
    expect(await again.text()).toContain('integer_below_min_value');
  });

  it('may be demanded', async () => {
    const tool_choice = { type: 'tool', name: 'web_search' };
    expect(await asked(messages, { model: 'claude', tools: [webSearch], tool_choice })).toEqual([200, null]);
    expect(sent()).toMatchObject({ tool_choice });
  });

  it('passes where the tool beside it has no price, which is left out and named', async () => {
    const programs = { type: 'code_execution_20250825', name: 'code_execution' };
    const left = await asked(messages, { model: 'claude', tools: [programs, webSearch] });
    expect(left).toEqual([200, programs.type]);
    expect(sent()['tools']).toEqual([{ ...webSearch, max_uses: 5 }]);
  });

  it('is counted with the tokens of the conversation', async () => {
    const body = { model: 'claude', messages: [{ role: 'user', content: 'ping' }], tools: [webSearch] };
    const answer = await fetch(`${app.baseUrl}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}`, ...messages.headers },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  });
});

describe('a search is left out and named', () => {
  it.each([
    ['where the operator switched its price off', 'unsold', webSearch],
    ['where the operator switched the tools of the upstream off', 'bare', webFetch],
  ])('%s', async (_what, model, tool) => {
    expect(await asked(messages, { model, tools: [tool] })).toEqual([200, tool.type]);
    expect(sent()).not.toHaveProperty('tools');
    expect((await asked(messages, { model, tools: [tool], tool_choice: { type: 'any' } }))[0]).toBe(400);
  });

  it('where the request is translated', async () => {
    expect(await asked(messages, { model: 'gpt', tools: [webSearch] })).toEqual([200, webSearch.type]);
    expect(await asked(chat, { model: 'claude', tools: [{ type: 'web_search' }] })).toEqual([200, 'web_search']);
  });

  it('where nobody knows the price of that tool', async () => {
    const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
    expect(await asked(responses, { model: 'gpt', tools })).toEqual([200, 'code_interpreter']);
    const files = [{ type: 'file_search', vector_store_ids: ['vs_1'] }];
    expect((await asked(responses, { model: 'gpt', tools: files }))[0]).toBe(400);
  });
});

describe('what searches cost', () => {
  const entryOf = async (payer: Customer): Promise<LedgerEntry & Record<string, unknown>> => {
    const [row] = await settled(app, payer);
    const answer = await get(app, `/v1/usage?request_id=${String(row?.['request_id'])}`, payer.secret);
    return (await answer.json()) as LedgerEntry & Record<string, unknown>;
  };
  const line = (count: number, price: string, amount: string) => [
    { unit: 'search', count, price_usd: price, amount_usd: amount },
  ];
  const usage = (searches: number) =>
    `[[usage {"input_tokens":100,"output_tokens":10,"server_tool_use":{"web_search_requests":${searches}}}]]`;

  it.each([
    ['the public price', 'claude', webSearch, 3, line(3, '0.01', '0.03'), '0.03015'],
    ['the price of the catalog', 'dearer', webSearch, 3, line(3, '0.02', '0.06'), '0.06015'],
    ['no more than may be made', 'claude', { ...webSearch, max_uses: 2 }, 9, line(2, '0.01', '0.02'), '0.02015'],
  ])('is %s', async (_what, model, tool, made, units, cost) => {
    const payer = await app.customer({ usd: '100' });
    const more = { model, tools: [tool] };
    const response = await send(app, messages, { secret: payer.secret, text: usage(made), more });
    expect(response.status).toBe(200);
    await response.text();
    const found = await entryOf(payer);
    expect(found).toMatchObject({ cost_usd: cost, charged_usd: cost, units });
    expect(verifyReceipt(found).matches).toBe(true);
  });

  it.each([true, false])('is what the vendor of responses counts itself, streamed: %s', async (stream) => {
    const payer = await app.customer({ usd: '100' });
    const call = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', queries: [] } };
    const answer = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'sim-medium',
      output: [call, call],
      tool_usage: { web_search: { num_requests: 5 } },
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
    };
    const whole = JSON.stringify(answer);
    const events = [
      { type: 'response.created', response: { ...answer, status: 'in_progress', output: [], usage: null } },
      ...[0, 1].map((output_index) => ({ type: 'response.output_item.done', output_index, item: call })),
      { type: 'response.completed', response: answer },
    ];
    const said = stream
      ? events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
      : whole;
    const text = `[[raw ${Buffer.from(said).toString('base64')}]]`;
    const more = { model: 'gpt', stream, tools: [{ type: 'web_search' }] };
    const response = await send(app, responses, { secret: payer.secret, text, more });
    expect(response.status).toBe(200);
    await response.text();
    expect(await entryOf(payer)).toMatchObject({ cost_usd: '0.05015', units: line(5, '0.01', '0.05') });
  });

  it('is known of the operator’s costs, too', async () => {
    const { rows } = await app.pool.query<{ cost: unknown; price: unknown }>(
      `SELECT r.cost_per_unit AS cost, p.per_unit AS price FROM route r JOIN price p USING (model_id)
       WHERE r.model_id = 'claude'`,
    );
    expect(rows).toEqual([{ cost: { search: 10_000_000_000 }, price: { search: 10_000_000_000 } }]);
  });
});

describe('an estimate', () => {
  const most = async (to: typeof messages, model: string, more: object): Promise<number> => {
    const response = await fetch(`${app.baseUrl}${to.path}/estimate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}`, ...to.headers },
      body: JSON.stringify(to.body('ping', { model, ...more })),
    });
    expect(response.status).toBe(200);
    return Number(((await response.json()) as { most_usd: string }).most_usd);
  };
  const cap = { max_tokens: 1_000 };

  it('has the window for each use and one more, and each search', async () => {
    // Six windows at 1 USD a million, five searches, 1,000 tokens at 5 USD a million.
    expect(await most(messages, 'claude', { ...cap, tools: [webSearch] })).toBeCloseTo(1.255, 10);
    expect(await most(messages, 'claude', { ...cap, tools: [{ ...webSearch, max_uses: 1 }] })).toBeCloseTo(0.415, 10);
    expect(await most(messages, 'claude', { ...cap, tools: [webFetch] })).toBeCloseTo(1.205, 10);
    expect(await most(messages, 'claude', { ...cap, tools: [webSearch, webFetch] })).toBeCloseTo(2.255, 10);
  });

  it('has the runs of programs that filter what comes back', async () => {
    const filtered = { type: 'web_search_20260209', name: 'web_search' };
    expect(await most(messages, 'claude', { ...cap, tools: [filtered] })).toBeCloseTo(3.255, 10);
    const direct = { ...filtered, allowed_callers: ['direct'] };
    expect(await most(messages, 'claude', { ...cap, tools: [direct] })).toBeCloseTo(1.255, 10);
  });

  it('has the queries of each call of responses', async () => {
    const tools = [{ type: 'web_search' }];
    expect(await most(responses, 'gpt', { max_output_tokens: 1_000, tools })).toBeCloseTo(1.205 + 0.4, 10);
  });

  it('has no searches where none is asked for, and none of a tool that is left out', async () => {
    const own = await most(messages, 'claude', cap);
    expect(own).toBeLessThan(0.01);
    const both = await most(chat, 'gpt-both', { max_completion_tokens: 1_000 });
    expect(both).toBe(await most(chat, 'gpt-chat', { max_completion_tokens: 1_000 }));
    expect(await most(messages, 'unsold', { ...cap, tools: [webSearch] })).toBeLessThan(0.01);
  });
});
