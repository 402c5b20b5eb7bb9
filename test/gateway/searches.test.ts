import { type LedgerEntry, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, nativeCatalog, type ProtocolCase, protocols, send, settled } from './support.ts';

/** Searches at the vendor: a pool of their own with count and unit price, in the hold, the ledger and the receipt. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog({
      prices: '{ input: "1", cacheHit: "0.1", output: "5", perUnit: { search: "0.01" } }',
      more: '    allow: [web_search, "openrouter:web_search", plugins]',
    }),
  });
});
afterAll(() => app.close());

const offers: Record<ProtocolCase['protocol'], object> = {
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] },
  'chat-completions': { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }] },
};

/** Answers with three searches, as vendors report them. 100 tokens in, 10 out: 150 micro-USD beside them. */
const reports: [name: string, to: ProtocolCase, text: string][] = [
  [
    'in the usage of messages',
    protocols.messages,
    '[[usage {"input_tokens":100,"output_tokens":10,"server_tool_use":{"web_search_requests":3}}]]',
  ],
  [
    'in the usage of OpenRouter',
    protocols.chat,
    '[[usage {"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"server_tool_use":{"web_search_requests":3}}]]',
  ],
  [
    'in the usage of Perplexity',
    protocols.chat,
    '[[usage {"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"num_search_queries":3}]]',
  ],
];

async function entryOf(secret: string, row: Record<string, unknown> | undefined): Promise<LedgerEntry> {
  const answer = await get(app, `/v1/usage?request_id=${String(row?.['request_id'])}`, secret);
  return (await answer.json()) as LedgerEntry;
}

const three = [{ unit: 'search', count: 3, price_usd: '0.01', amount_usd: '0.03' }];

describe.each([
  { stream: false, name: 'whole' },
  { stream: true, name: 'streamed' },
])('searches of an answer, $name,', ({ stream }) => {
  it.each(reports)('%s are charged at their own price', async (_name, to, text) => {
    const customer = await app.customer();
    const options = to.protocol === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {};
    const more = { model: to.only, stream, ...offers[to.protocol], ...options };
    const response = await send(app, to, { secret: customer.secret, text, more });
    await response.text();
    expect(response.status).toBe(200);
    const [row] = await settled(app, customer);
    const entry = await entryOf(customer.secret, row);
    expect(entry).toMatchObject({ cost_usd: '0.03015', charged_usd: '0.03015', units: three });
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, parts: { units: 30_000_000_000n } });
  });
});

describe('searches of a response', () => {
  const call = (type: string) => ({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type } });
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'sim-small',
    output: [call('search'), call('open_page'), call('search'), call('find_in_page'), call('search')],
    usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
  };

  it('are its items, without pages that were only opened', async () => {
    const customer = await app.customer();
    const text = `[[raw ${Buffer.from(JSON.stringify(response)).toString('base64')}]]`;
    const more = { model: 'only-responses', ...offers.responses };
    const answer = await send(app, protocols.responses, { secret: customer.secret, text, more });
    expect(answer.status).toBe(200);
    await answer.text();
    const [row] = await settled(app, customer);
    expect(await entryOf(customer.secret, row)).toMatchObject({ cost_usd: '0.03015', units: three });
  });
});

describe('an implausible number of searches', () => {
  const anomalies = async (): Promise<number> => {
    const metric = await app.app.metrics.registry.getSingleMetric('gateway_anomalies_total')?.get();
    const found = metric?.values.find(({ labels }) => labels['kind'] === 'implausible_usage');
    return found?.value ?? 0;
  };
  const asked = { model: 'only-messages', ...offers.messages };
  const unasked = { model: 'only-messages' };
  const unopened = { model: 'opened-messages' };

  it.each([
    { what: 'a request that asks for them', more: asked, reported: 20_250_305, count: 5, source: 'clamped' },
    { what: 'a request that asks for them', more: asked, reported: 5, count: 5, source: 'reported' },
    { what: 'a request that asks for none', more: unasked, reported: 20_250_305, count: 1, source: 'clamped' },
    { what: 'a request that asks for none', more: unasked, reported: 1, count: 1, source: 'reported' },
    { what: 'a model that opens none', more: unopened, reported: 20_250_305, count: 64, source: 'clamped' },
    { what: 'a model that opens none', more: unopened, reported: 3, count: 3, source: 'reported' },
  ])('of $what is charged within its bound ($reported: $count, $source)', async (given) => {
    const customer = await app.customer({ usd: '1000' });
    const before = await anomalies();
    const usage = { input_tokens: 100, output_tokens: 10, server_tool_use: { web_search_requests: given.reported } };
    const text = `[[usage ${JSON.stringify(usage)}]]`;
    const response = await send(app, protocols.messages, { secret: customer.secret, text, more: given.more });
    await response.text();
    expect(response.status).toBe(200);
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ usage_source: given.source });
    expect(await entryOf(customer.secret, row)).toMatchObject({ units: [{ unit: 'search', count: given.count }] });
    expect(await anomalies()).toBe(before + (given.source === 'clamped' ? 1 : 0));
  });
});

describe('a hold', () => {
  it.each([
    { what: 'a search tool of OpenRouter', model: 'only-chat', more: { tools: [{ type: 'openrouter:web_search' }] } },
    { what: 'a plugin', model: 'only-chat', more: { plugins: [{ id: 'web' }] } },
    { what: 'a model of chat completions, which may search unasked', model: 'only-chat', more: {} },
    { what: 'a model with a price for searches that nobody has to ask for', model: 'opened-messages', more: {} },
  ])('covers the searches of $what', async ({ model, more }) => {
    const customer = await app.customer({ usd: '0.2' });
    const to = model === 'only-chat' ? protocols.chat : protocols.messages;
    const cap = { [to.cap]: 1_000 };
    const asked = () => send(app, to, { secret: customer.secret, text: 'ping', more: { ...cap, model, ...more } });
    // Of two unstreamed requests one is covered: 16 searches at 0.01 USD and the tokens are more than the other one leaves.
    const two = await Promise.all([asked(), asked()]);
    expect(new Set(two.map(({ status }) => status))).toEqual(new Set([200, 429]));
    await Promise.all(two.map((answer) => answer.text()));
    await settled(app, customer);
  });

  it('covers the searches that a request may make', async () => {
    const customer = await app.customer({ usd: '0.05' });
    const asked = (more: object) =>
      send(app, protocols.messages, {
        secret: customer.secret,
        text: 'ping',
        more: { model: 'only-messages', ...more },
      });
    // Not streamed, so covered: 16 searches at 0.01 USD are more than the budget.
    const two = await Promise.all([asked(offers.messages), asked(offers.messages)]);
    expect(new Set(two.map(({ status }) => status))).toEqual(new Set([200, 429]));
    await Promise.all(two.map((answer) => answer.text()));
    await settled(app, customer);
    const free = await Promise.all([asked({}), asked({})]);
    expect(free.map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(free.map((answer) => answer.text()));
  });
});

describe('a model whose entry opens no searches', () => {
  it('refuses a request that demands one', async () => {
    const customer = await app.customer();
    const tool_choice = { type: 'tool', name: 'web_search' };
    const more = { model: 'opened-messages', ...offers.messages, tool_choice };
    const closed = await send(app, protocols.messages, { secret: customer.secret, more });
    expect(closed.status).toBe(400);
    expect((await errorOf(closed, 'messages')).message).toContain('web_search');
  });
});
