import { type LedgerEntry, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, type ProtocolCase, protocols, send, settled } from './support.ts';

/** Tiers, speeds and regions as prices: asked, served and charged. */

const five = 'input: "2.5", cacheHit: "0.25", output: "15"';
const variants =
  'variants: [{ name: fast, times: "2" }, { name: flex, times: "0.5" }, { name: fast+us, times: "2.2" }, { name: us, times: "1.1" }]';
const costs = ', costs: { input: "1", cacheHit: "0.1", output: "5", variants: [{ name: fast, times: "2" }] }';

const catalog = (url: string): string => {
  const entry = (id: string, upstream: string, prices: string, more = ''): string =>
    `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 200000, maxOutputTokens: 32000, prices: { ${prices} }${more}, routes: [{ upstream: ${upstream}, model: sim-small${costs} }] }`;
  return [
    'upstreams:',
    `  - { id: by-messages, protocol: messages, baseUrl: "${url}", profile: anthropic }`,
    `  - { id: by-chat, protocol: chat-completions, baseUrl: "${url}/v1", profile: openai-gpt5 }`,
    `  - { id: by-responses, protocol: responses, baseUrl: "${url}/v1", profile: openai-gpt5 }`,
    // A vendor whose word is not relied on.
    `  - { id: by-vllm, protocol: chat-completions, baseUrl: "${url}/v1", profile: vllm }`,
    'models:',
    entry('messages', 'by-messages', `${five}, ${variants}`),
    entry('chat-completions', 'by-chat', `${five}, ${variants}`),
    entry('responses', 'by-responses', `${five}, ${variants}`),
    entry('unsaid', 'by-vllm', `${five}, ${variants}`),
    entry('plain', 'by-chat', five),
    entry('open', 'by-chat', five, ', allow: [service_tier]'),
  ].join('\n');
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog });
});
afterAll(() => app.close());

const usageOf: Record<ProtocolCase['protocol'], object> = {
  messages: { input_tokens: 1_000, output_tokens: 100 },
  'chat-completions': { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
  responses: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
};
/** 1,000 tokens in and 100 out at the ordinary prices. */
const ordinary = '0.004';

interface Ask {
  to: ProtocolCase;
  more: Record<string, unknown>;
  stream: boolean;
  /** What the vendor says instead of what was asked. */
  says?: string;
  model?: string;
}

async function entryOf({ to, more, stream, says, model = to.protocol }: Ask): Promise<LedgerEntry> {
  const customer = await app.customer();
  const usage =
    to.protocol === 'messages'
      ? { ...usageOf.messages, ...(says === 'none' ? {} : servedIn(more, says)) }
      : usageOf[to.protocol];
  const text = `[[usage ${JSON.stringify(usage)}]]${says === undefined ? '' : `[[tier ${says}]]`}`;
  const response = await send(app, to, { secret: customer.secret, text, more: { model, stream, ...more } });
  await response.text();
  expect(response.status).toBe(200);
  const [row] = await settled(app, customer);
  const answer = await get(app, `/v1/usage?request_id=${String(row?.['request_id'])}`, customer.secret);
  const entry = (await answer.json()) as LedgerEntry;
  expect(verifyReceipt(entry).matches).toBe(true);
  return entry;
}

/** Anthropic says it in the usage, which these tests word themselves. */
function servedIn(more: Record<string, unknown>, says: string | undefined): object {
  const { speed, inference_geo } = more;
  return {
    service_tier: 'standard',
    ...(speed === undefined ? {} : { speed: says ?? speed }),
    ...(inference_geo === undefined ? {} : { inference_geo }),
  };
}

const { messages, chat, responses } = protocols;
const cases: [what: string, ask: Omit<Ask, 'stream'>, variant: object | null, cost: string][] = [
  ['nothing asked', { to: chat, more: {} }, null, ordinary],
  ['the ordinary tier asked', { to: chat, more: { service_tier: 'auto' } }, null, ordinary],
  ['flex', { to: chat, more: { service_tier: 'flex' } }, { asked: 'flex', served: 'flex', counted: 'flex' }, '0.002'],
  [
    'flex of responses',
    { to: responses, more: { service_tier: 'flex' } },
    { asked: 'flex', served: 'flex', counted: 'flex' },
    '0.002',
  ],
  [
    'priority by its old name',
    { to: responses, more: { service_tier: 'priority' } },
    { asked: 'fast', served: 'fast', counted: 'fast' },
    '0.008',
  ],
  ['fast', { to: chat, more: { service_tier: 'fast' } }, { asked: 'fast', served: 'fast', counted: 'fast' }, '0.008'],
  [
    'fast of messages',
    { to: messages, more: { speed: 'fast' } },
    { asked: 'fast', served: 'fast', counted: 'fast' },
    '0.008',
  ],
  ['a region', { to: messages, more: { inference_geo: 'us' } }, { asked: 'us', served: 'us', counted: 'us' }, '0.0044'],
  [
    'speed and region',
    { to: messages, more: { speed: 'fast', inference_geo: 'us' } },
    { asked: 'fast+us', served: 'fast+us', counted: 'fast+us' },
    '0.0088',
  ],
  [
    'speed and region, of which one is served',
    { to: messages, more: { speed: 'fast', inference_geo: 'us' }, says: 'standard' },
    { asked: 'fast+us', served: 'us', counted: 'us' },
    '0.0044',
  ],
  [
    'fast that was served as ordinary',
    { to: responses, more: { service_tier: 'fast' }, says: 'default' },
    { asked: 'fast', served: '', counted: null },
    ordinary,
  ],
  [
    'flex that was served dearer',
    { to: chat, more: { service_tier: 'flex' }, says: 'priority' },
    { asked: 'flex', served: 'fast', counted: null },
    ordinary,
  ],
  [
    'a tier that nobody knows',
    { to: responses, more: { service_tier: 'flex' }, says: 'turbo' },
    { asked: 'flex', served: 'turbo', counted: null },
    ordinary,
  ],
  [
    'fast, and another one is said',
    { to: chat, more: { service_tier: 'fast' }, says: 'turbo' },
    { asked: 'fast', served: 'turbo', counted: 'fast' },
    '0.008',
  ],
  [
    'nothing said',
    { to: chat, more: { service_tier: 'fast' }, says: 'none' },
    { asked: 'fast', served: null, counted: 'fast' },
    '0.008',
  ],
  [
    'nothing said of messages',
    { to: messages, more: { speed: 'fast' }, says: 'none' },
    { asked: 'fast', served: null, counted: 'fast' },
    '0.008',
  ],
  [
    'a vendor that always says default',
    { to: chat, more: { service_tier: 'fast' }, says: 'default', model: 'unsaid' },
    { asked: 'fast', served: null, counted: 'fast' },
    '0.008',
  ],
  ['an entry that lets tiers pass', { to: chat, more: { service_tier: 'fast' }, model: 'open' }, null, ordinary],
];

describe.each([
  { stream: false, name: 'whole' },
  { stream: true, name: 'streamed' },
])('an answer, $name,', ({ stream }) => {
  it.each(cases)('%s: is charged at what was served, never above what was asked', async (_what, ask, variant, cost) => {
    const entry = await entryOf({ ...ask, stream });
    expect(entry).toMatchObject({ cost_usd: cost, charged_usd: cost, variant });
  });
});

it('the operator pays for the tier that was served, or an unknown amount where the route does not say', async () => {
  const fast = await entryOf({ to: chat, more: { service_tier: 'fast' }, stream: false });
  const flex = await entryOf({ to: chat, more: { service_tier: 'flex' }, stream: false });
  const { rows } = await app.pool.query<{ request_id: string; cost: string | null }>(
    'SELECT request_id, upstream_cost::text AS cost FROM ledger_entry WHERE request_id = ANY ($1)',
    [[fast.request_id, flex.request_id]],
  );
  const costOf = (id: unknown) => rows.find((row) => row.request_id === id)?.cost;
  expect(costOf(fast.request_id)).toBe('3000000000');
  expect(costOf(flex.request_id)).toBeNull();
});

it.each([
  ['a tier without a price', chat, 'chat-completions', { service_tier: 'ultrafast' }, 'service_tier'],
  ['a tier of a model without variants', chat, 'plain', { service_tier: 'flex' }, 'service_tier'],
  [
    'a speed of messages together with a region without a price',
    messages,
    'messages',
    { speed: 'fast', inference_geo: 'eu' },
    'speed',
  ],
  ['a tier that is no word', chat, 'chat-completions', { service_tier: 'Flex ' }, 'service_tier'],
  ['a tier that is no text', chat, 'chat-completions', { service_tier: 1 }, 'service_tier'],
])('%s is refused by name and costs nothing', async (_what, to, model, more, param) => {
  const customer = await app.customer();
  const response = await send(app, to, { secret: customer.secret, text: 'hi', more: { model, ...more } });
  expect(response.status).toBe(400);
  expect(JSON.stringify(await errorOf(response, to.protocol))).toContain(param);
});

it('the estimate and the hold are the dearest of what may be served', async () => {
  const customer = await app.customer();
  const most = async (more: object): Promise<number> => {
    const response = await fetch(`${app.baseUrl}${chat.path}/estimate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}` },
      body: JSON.stringify(chat.body('hi', { model: 'chat-completions', max_completion_tokens: 100, ...more })),
    });
    expect(response.status).toBe(200);
    return Number(((await response.json()) as { most_usd: string }).most_usd);
  };
  const plain = await most({});
  const tier = ',"service_tier":"fast"'.length * 2.5e-6;
  expect(await most({ service_tier: 'fast' })).toBeCloseTo(2 * (plain + tier), 9);
  expect(await most({ service_tier: 'flex' })).toBeCloseTo(plain + tier, 9);
});
