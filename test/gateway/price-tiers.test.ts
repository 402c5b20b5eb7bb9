import { type Receipt, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, type ProtocolCase, protocols, send, settled } from './support.ts';

/** Prices by prompt length: above a number of prompt tokens the whole request is charged at another set of prices. */

const tier =
  '{ abovePromptTokens: 272000, input: "5", cacheHit: "0.5", cacheWrite5m: "6.25", cacheWrite1h: "10", output: "22.5" }';
const base = 'input: "2.5", cacheHit: "0.25", cacheWrite5m: "3.125", cacheWrite1h: "5", output: "15"';

/** A catalog file of one model for each kind of price, on upstreams of every protocol. */
const catalog = (simulatorUrl: string): string => {
  const routes = (costs = '') =>
    ['by-messages', 'by-chat', 'by-responses'].map((id) => `      - { upstream: ${id}, model: sim-small${costs} }`);
  const entry = (id: string, prices: string, costs = ''): string[] => [
    `  - id: ${id}`,
    `    displayName: ${id}`,
    '    family: tests',
    '    contextWindow: 1000000',
    '    maxOutputTokens: 32000',
    `    prices: { ${prices} }`,
    '    routes:',
    ...routes(costs),
  ];
  return [
    'upstreams:',
    `  - { id: by-messages, protocol: messages, baseUrl: "${simulatorUrl}" }`,
    `  - { id: by-chat, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }`,
    `  - { id: by-responses, protocol: responses, baseUrl: "${simulatorUrl}/v1" }`,
    'models:',
    ...entry(
      'long',
      `${base}, tiers: [${tier}]`,
      ', costs: { input: "2", cacheHit: "0.2", output: "12", tiers: [{ abovePromptTokens: 272000, input: "4", cacheHit: "0.4", output: "18" }] }',
    ),
    ...entry('flat', base),
    ...entry('short', `${base}, maxPromptTokens: 2000`),
  ].join('\n');
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog });
});
afterAll(() => app.close());

/** Usage objects of each protocol with so many prompt tokens: 2,000 from the cache and the rest new; 1,000 written. */
const usageOf: Record<ProtocolCase['protocol'], (prompt: number) => object> = {
  messages: (prompt) => ({ input_tokens: prompt - 2_000, cache_read_input_tokens: 2_000, output_tokens: 1_000 }),
  'chat-completions': (prompt) => ({
    prompt_tokens: prompt,
    completion_tokens: 1_000,
    total_tokens: prompt + 1_000,
    prompt_tokens_details: { cached_tokens: 2_000 },
  }),
  responses: (prompt) => ({
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: 2_000 },
    output_tokens: 1_000,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + 1_000,
  }),
};

const everyCase = Object.values(protocols).flatMap((to) => [
  { to, stream: false, name: `${to.protocol}, whole` },
  { to, stream: true, name: `${to.protocol}, streamed` },
]);

/** Sends a request that the upstream reports as so long, and reads its entry over REST. */
async function charged(to: ProtocolCase, model: string, prompt: number, stream: boolean) {
  const customer = await app.customer();
  // Of that many bytes: no text has more tokens.
  const text = `[[usage ${JSON.stringify(usageOf[to.protocol](prompt))}]]${'x'.repeat(prompt)}`;
  const options = to.protocol === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {};
  const response = await send(app, to, { secret: customer.secret, text, more: { model, stream, ...options } });
  await response.text();
  expect(response.status).toBe(200);
  const [row] = await settled(app, customer);
  const id = String(row?.['request_id']);
  const entry = (await (await get(app, `/v1/usage?request_id=${id}`, customer.secret)).json()) as Receipt;
  return { row, entry, response };
}

describe.each(everyCase)('a request over $name', ({ to, stream }) => {
  it('of 272,000 prompt tokens is charged wholly at the first prices, of 272,001 at those of the tier', async () => {
    // 270,000 x 2.5 + 2,000 x 0.25 + 1,000 x 15 = 690,500 micro-USD
    const shorter = await charged(to, 'long', 272_000, stream);
    expect(shorter.entry).toMatchObject({
      cost_usd: '0.6905',
      charged_usd: '0.6905',
      prices: { input: '2.5', cache_hit: '0.25', cache_write_5m: '3.125', cache_write_1h: '5', output: '15' },
      tier: { above_prompt_tokens: null, up_to_prompt_tokens: 272_000 },
    });
    // 270,001 x 5 + 2,000 x 0.5 + 1,000 x 22.5 = 1,373,505 micro-USD
    const longer = await charged(to, 'long', 272_001, stream);
    expect(longer.entry).toMatchObject({
      cost_usd: '1.373505',
      charged_usd: '1.373505',
      prices: { input: '5', cache_hit: '0.5', cache_write_5m: '6.25', cache_write_1h: '10', output: '22.5' },
      tier: { above_prompt_tokens: 272_000, up_to_prompt_tokens: null },
    });
    for (const { entry } of [shorter, longer]) expect(verifyReceipt(entry)).toMatchObject({ problems: [] });
    // What the operator pays: 270,000 x 2 + 2,000 x 0.2 + 1,000 x 12, and 270,001 x 4 + 2,000 x 0.4 + 1,000 x 18.
    expect([shorter.row?.['upstream_cost'], longer.row?.['upstream_cost']]).toEqual([
      552_400_000_000n,
      1_098_804_000_000n,
    ]);
    expect(longer.response.headers.get('x-steyg-cost-usd')).toBe(stream ? null : '1.373505');
  });

  it('for a model without tiers has one set of prices, and its entry no tier', async () => {
    const { entry, row } = await charged(to, 'flat', 272_001, stream);
    expect(entry).toMatchObject({ cost_usd: '0.6905025', tier: null });
    expect(row).toMatchObject({ tier_above: null, tier_up_to: null });
  });
});

describe('a receipt', () => {
  it('with the prices of another prompt length does not match, although its sum is right', async () => {
    const { entry } = await charged(protocols.messages, 'long', 272_001, false);
    const other = { ...entry, tier: { above_prompt_tokens: null, up_to_prompt_tokens: 272_000 } };
    expect(verifyReceipt(other).problems).toEqual([
      'The prices are for prompts of at most 272000 tokens, and this one has 272001.',
    ]);
  });
});

describe('a prompt that no price reaches', () => {
  it.each(Object.values(protocols))('is refused before it is sent, by its bytes ($protocol)', async (to) => {
    const customer = await app.customer();
    const before = app.simulator.stats().requests;
    // Digits can have a token each: by the average of three bytes a token, these would be 700.
    const response = await send(app, to, {
      secret: customer.secret,
      text: '7'.repeat(2_100),
      more: { model: 'short' },
    });
    expect(response.status).toBe(400);
    const error = await errorOf(response, to.protocol);
    expect(error.message).toContain('prompt is too long');
    expect(error.message).toContain('2000 tokens');
    const shorter = await send(app, to, { secret: customer.secret, text: '7'.repeat(800), more: { model: 'short' } });
    expect(shorter.status).toBe(200);
    await shorter.text();
    expect(app.simulator.stats().requests).toBe(before + 1);
    expect(await settled(app, customer)).toHaveLength(1);
  });
});

describe('GET /v1/models', () => {
  it('tells the prices of every prompt length, and the longest prompt that has one', async () => {
    const customer = await app.customer();
    const { data } = (await (await get(app, '/v1/models', customer.secret)).json()) as {
      data: { id: string; price_usd_per_million: Record<string, unknown> }[];
    };
    const priced = (id: string) => data.find((model) => model.id === id)?.price_usd_per_million;
    expect(priced('long')).toMatchObject({
      input: '2.5',
      tiers: [
        {
          above_prompt_tokens: 272_000,
          input: '5',
          cache_hit: '0.5',
          cache_write_5m: '6.25',
          cache_write_1h: '10',
          output: '22.5',
        },
      ],
      max_prompt_tokens: null,
    });
    expect(priced('short')).toMatchObject({ tiers: [], max_prompt_tokens: 2_000 });
  });
});
