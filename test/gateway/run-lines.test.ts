import { type LedgerEntry, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, protocols, send, settled, until } from './support.ts';

/** Answers in which several models took part: each run is charged at its own model's price, and the receipt says which. */

/** https://platform.claude.com/docs/en/about-claude/pricing */
const fable = '{ input: "10", cacheHit: "1", cacheWrite5m: "12.5", cacheWrite1h: "20", output: "50" }';
const opus = '{ input: "5", cacheHit: "0.5", cacheWrite5m: "6.25", cacheWrite1h: "10", output: "25" }';

let app: TestApp;
beforeAll(async () => {
  const entry = (id: string, prices: string, more = '') =>
    `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 1000000, maxOutputTokens: 32000, prices: ${prices}, ${more}
      routes: [{ upstream: vendor, model: claude-${id} }] }`;
  app = await startApp({
    catalog: (url) =>
      [
        'upstreams:',
        `  - { id: vendor, protocol: messages, baseUrl: "${url}" }`,
        'models:',
        entry('fable-5', fable, 'allow: [fallbacks, advisor],'),
        entry('opus-4-8', opus),
        entry('cheap', '{ input: "1", cacheHit: "0.1", output: "5" }', 'allow: [fallbacks, advisor],'),
        entry('closed', fable),
      ].join('\n'),
  });
});
afterAll(() => app.close());

const fallbacks = { fallbacks: [{ model: 'claude-opus-4-8' }] };

/** What is charged for an answer with this usage; the ledger and the receipt agree. */
async function charged(
  customer: Customer,
  { usage, stream = false, more }: { usage: object; stream?: boolean; more: object },
): Promise<LedgerEntry> {
  const text = `[[usage ${JSON.stringify(usage)}]]`;
  const answer = await send(app, protocols.messages, { secret: customer.secret, text, more: { stream, ...more } });
  expect(await answer.text()).not.toContain('"error"');
  return entryOf(customer);
}

async function entryOf(customer: Customer): Promise<LedgerEntry> {
  const row = (await settled(app, customer)).at(-1);
  const found = await get(app, `/v1/usage?request_id=${String(row?.['request_id'])}`, customer.secret);
  const entry = (await found.json()) as LedgerEntry;
  expect(verifyReceipt(entry)).toMatchObject({ matches: true, problems: [] });
  expect(await checkInvariants(app.pool, { accounts: [customer.accountId] })).toEqual([]);
  return entry;
}

/** Both attempts of a record that its reporter published: https://github.com/ccusage/ccusage/issues/1552 */
const declinedInTheMiddle = {
  input_tokens: 2,
  output_tokens: 13_658,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 79_214,
  iterations: [
    {
      type: 'message',
      model: 'claude-fable-5',
      input_tokens: 2,
      output_tokens: 578,
      cache_creation_input_tokens: 10_421,
      cache_read_input_tokens: 72_769,
    },
    {
      type: 'fallback_message',
      model: 'claude-opus-4-8',
      input_tokens: 2,
      output_tokens: 13_658,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 79_214,
    },
  ],
};

/** The vendor's example: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback */
const declinedAtOnce = {
  input_tokens: 412,
  output_tokens: 264,
  iterations: [
    { type: 'message', model: 'claude-fable-5', input_tokens: 412, output_tokens: 0 },
    { type: 'fallback_message', model: 'claude-opus-4-8', input_tokens: 412, output_tokens: 264 },
  ],
};

describe.each([
  { stream: false, name: 'whole' },
  { stream: true, name: 'streamed' },
])('an answer, $name,', ({ stream }) => {
  const more = { model: 'fable-5', max_tokens: 16_000, ...fallbacks };
  /** As long as the prompt has to be for what the usage says. */
  const system = 'word '.repeat(20_000);

  it('that a model declined in the middle costs what it wrote, beside the answer of the other', async () => {
    const customer = await app.customer({ usd: '100' });
    const entry = await charged(customer, { usage: declinedInTheMiddle, stream, more: { ...more, system } });
    expect(entry).toMatchObject({
      model: 'fable-5',
      usage: { input_tokens: 2, cache_hit_tokens: 72_769, cache_write_5m_tokens: 10_421, output_tokens: 578 },
      lines: [
        {
          model: 'opus-4-8',
          usage: { input_tokens: 2, cache_hit_tokens: 79_214, cache_write_5m_tokens: 0, output_tokens: 13_658 },
          prices: { input: '5', cache_hit: '0.5', cache_write_5m: '6.25', cache_write_1h: '10', output: '25' },
          amount_usd: '0.381067',
        },
      ],
      // 0.2319515 at the one price, 0.381067 at the other.
      cost_usd: '0.6130185',
      charged_usd: '0.6130185',
      usage_source: 'reported',
    });
  });

  it('that a model declined before it said anything costs the answer of the other alone', async () => {
    const customer = await app.customer({ usd: '100' });
    const entry = await charged(customer, { usage: declinedAtOnce, stream, more });
    expect(entry).toMatchObject({
      usage: { input_tokens: 0, output_tokens: 0 },
      lines: [{ model: 'opus-4-8', amount_usd: '0.00866' }],
      charged_usd: '0.00866',
    });
  });

  // https://github.com/BerriAI/litellm/pull/39294: 0.5580 USD were noted, and the vendor's report had 0.8586: the declined attempt was
  // charged at the other model's price. The pull request names that attempt's figures, and the sum; the answer's follow from both.
  // https://github.com/QuantumNous/new-api/pull/7162 charged the whole at one price, and attempts without output as well.
  it('that a model declined behind a long context costs that context at its own price', async () => {
    const customer = await app.customer({ usd: '100' });
    const read = { cache_creation_input_tokens: 0, cache_read_input_tokens: 560_186 };
    const answer = { input_tokens: 2, output_tokens: 135, ...read };
    const usage = {
      ...answer,
      iterations: [
        { type: 'message', model: 'claude-fable-5', input_tokens: 0, output_tokens: 299, ...read },
        { type: 'fallback_message', model: 'claude-opus-4-8', ...answer },
      ],
    };
    const entry = await charged(customer, { usage, stream, more: { ...more, system: 'word '.repeat(120_000) } });
    expect(entry).toMatchObject({
      usage: { input_tokens: 0, cache_hit_tokens: 560_186, output_tokens: 299 },
      // 560,186 x 0.5 + 2 x 5 + 135 x 25 USD a million.
      lines: [{ model: 'opus-4-8', amount_usd: '0.283478' }],
      // 560,186 x 1 + 299 x 50 beside it.
      cost_usd: '0.858614',
      charged_usd: '0.858614',
    });
  });

  it('with an advisor costs the advice at the price of the model that gave it', async () => {
    const customer = await app.customer({ usd: '1000' });
    const advice = { input_tokens: 823, output_tokens: 1_612, cache_read_input_tokens: 0 };
    const usage = {
      input_tokens: 412,
      output_tokens: 531,
      iterations: [
        { type: 'message', input_tokens: 412, output_tokens: 89 },
        { type: 'advisor_message', model: 'claude-opus-4-8', ...advice },
        { type: 'message', input_tokens: 1_348, output_tokens: 442 },
        { type: 'advisor_message', model: 'claude-opus-4-8-20260601', ...advice },
      ],
    };
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-8' }];
    const entry = await charged(customer, { usage, stream, more: { model: 'cheap', tools, system } });
    expect(entry).toMatchObject({
      usage: { input_tokens: 1_760, output_tokens: 531 },
      lines: [{ model: 'opus-4-8', usage: { input_tokens: 1_646, output_tokens: 3_224 }, amount_usd: '0.08883' }],
      // 1,760 x 1 and 531 x 5 micro-USD of the model that was asked.
      charged_usd: '0.093245',
    });
  });

  it('with a run of a model without a price costs the dearest of the model that was asked for, and operators are told', async () => {
    const customer = await app.customer({ usd: '100' });
    const name = `claude-new-${stream ? 7 : 6}`;
    const usage = {
      ...declinedAtOnce,
      iterations: [
        { type: 'message', model: 'claude-fable-5', input_tokens: 412, output_tokens: 0 },
        { type: 'fallback_message', model: name, input_tokens: 412, output_tokens: 264 },
      ],
    };
    const entry = await charged(customer, { usage, stream, more });
    expect(entry).toMatchObject({ lines: [{ model: name, amount_usd: '0.01732' }], charged_usd: '0.01732' });
    const isReported = async () =>
      (await app.pool.query('SELECT FROM model_mismatch WHERE reported = $1', [name])).rowCount === 1;
    await until(isReported);
  });

  it('that says more runs than the request can take is charged to its bound', async () => {
    const customer = await app.customer({ usd: '100' });
    const usage = {
      ...declinedAtOnce,
      iterations: [
        { type: 'message', model: 'claude-fable-5', input_tokens: 412, output_tokens: 10 },
        { type: 'fallback_message', model: 'claude-opus-4-8', input_tokens: 412, output_tokens: 90_000_000 },
      ],
    };
    const entry = await charged(customer, { usage, stream, more: { ...more, max_tokens: 1_000 } });
    // Four attempts may write a thousand tokens each.
    expect(entry).toMatchObject({
      usage_source: 'clamped',
      usage: { output_tokens: 10 },
      lines: [{ usage: { output_tokens: 3_990 } }],
    });
  });
});

it("a whole answer of another model that the request allowed is charged at that model's price", async () => {
  const customer = await app.customer({ usd: '100' });
  const body = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-8',
    content: [{ type: 'text', text: 'Yes.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 100, output_tokens: 10 },
  };
  const text = `[[raw ${Buffer.from(JSON.stringify(body)).toString('base64')}]]`;
  const more = { model: 'fable-5', ...fallbacks };
  await (await send(app, protocols.messages, { secret: customer.secret, text, more })).text();
  expect(await entryOf(customer)).toMatchObject({
    usage: { input_tokens: 0 },
    lines: [{ model: 'opus-4-8', amount_usd: '0.00075' }],
    charged_usd: '0.00075',
  });
});

it('a request counts the dearest model that may run for it, and each attempt', async () => {
  const customer = await app.customer({ usd: '100' });
  const most = async (more: object): Promise<number> => {
    const beside = { ...protocols.messages, path: `${protocols.messages.path}/estimate` };
    const answer = await send(app, beside, {
      secret: customer.secret,
      more: { model: 'cheap', max_tokens: 1_000, ...more },
    });
    return Number(((await answer.json()) as { most_usd: string }).most_usd);
  };
  // A thousand tokens at 5 USD, and four times a thousand at 50 USD.
  expect(await most({})).toBeCloseTo(0.0063, 3);
  const allowing = await most(fallbacks);
  expect(allowing).toBeGreaterThan(0.2);
  expect(allowing).toBeLessThan(0.4);
});

it('fallbacks stay refused where the entry does not open them', async () => {
  const customer = await app.customer();
  const refused = await send(app, protocols.messages, {
    secret: customer.secret,
    more: { model: 'closed', ...fallbacks },
  });
  expect(refused.status).toBe(400);
  expect((await errorOf(refused, 'messages')).message).toContain('fallbacks');
});
