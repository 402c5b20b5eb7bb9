import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeCatalog, type ProtocolCase, protocols, reader, send, settled, until } from '../gateway/support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { graphql, messagesStream, operatorToken, rawStream } from './support.ts';

/** What a request costs: incidents of usage and bills, to the pico-USD. */

let app: TestApp;

// Prices of the worked examples: Claude 3.7 Sonnet's, USD per million.
const prices = '{ input: "3", cacheHit: "0.3", cacheWrite5m: "3.75", cacheWrite1h: "6", output: "15" }';
const micro = 1_000_000n;

beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog({ prices, more: '    allow: [web_search]' }) });
});
afterAll(() => app.close());

/** So many bytes that the request may have the tokens that are reported for it: what is above its bound is not charged. */
const padding = (tokens: number): string => ` ${'x'.repeat(tokens)}`;

/** One request on the upstream of its own protocol, and its entry. */
async function billed(protocol: ProtocolCase, text: string, more: Record<string, unknown> = {}) {
  const customer = await app.customer({ usd: '1000' });
  const response = await send(app, protocol, {
    secret: customer.secret,
    text,
    more: { model: protocol.only, ...more },
  });
  await response.text();
  const [row, ...others] = await settled(app, customer);
  expect(others).toEqual([]);
  return row ?? {};
}

const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const content = (text: string) => [{ role: 'user', content: [{ type: 'text', text, ...cached }] }];

// https://github.com/Wei-Shaw/sub2api/issues/6125: a stream said first that a write lives for an hour, then that it lives for
// five minutes, and both were charged.
describe('Wei-Shaw/sub2api#6125: the lifetime of a cache write changes in the stream', () => {
  const written = 463_184;
  const hour = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: written };
  const minutes = { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 };
  const total = { input_tokens: 3, cache_creation_input_tokens: written, cache_read_input_tokens: 0 };

  it.each([
    ['an hour, then five minutes', hour, minutes],
    ['five minutes, then an hour', minutes, hour],
    ['an hour twice', hour, hour],
    ['an hour, then five minutes and nothing of the hour', hour, { ephemeral_5m_input_tokens: written }],
    ['an hour, then both', hour, { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: written }],
  ])('%s: the tokens are charged once', async (_what, first, then) => {
    const text = messagesStream(
      { ...total, cache_creation: first, output_tokens: 1 },
      { ...total, cache_creation: then, output_tokens: 20 },
    );
    const row = await billed(protocols.messages, '', {
      model: 'long-messages',
      stream: true,
      messages: content(text + padding(written)),
    });
    const writes = (row['cache_write_5m'] as bigint) + (row['cache_write_1h'] as bigint);
    expect(writes).toBe(BigInt(written));
    expect(row['charged']).toBeLessThanOrEqual((3n * 3n + BigInt(written) * 6n + 20n * 15n) * micro);
  });
});

// https://github.com/BerriAI/litellm/issues/42663: the split was the first turn's, the total all turns', and what the split
// lacked cost nothing. https://github.com/Wei-Shaw/claude-relay-service/pull/1081 is the same.
describe('BerriAI/litellm#42663: a total above its split', () => {
  it('the rest is charged as a write, too', async () => {
    const start = {
      input_tokens: 20,
      cache_creation_input_tokens: 31_490,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 31_490, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
    };
    const end = {
      input_tokens: 20,
      cache_creation_input_tokens: 184_457,
      cache_read_input_tokens: 26_653,
      output_tokens: 900,
    };
    const row = await billed(protocols.messages, messagesStream(start, end) + padding(212_000), {
      stream: true,
      model: 'long-messages',
    });
    expect((row['cache_write_5m'] as bigint) + (row['cache_write_1h'] as bigint)).toBe(184_457n);
    expect(row).toMatchObject({ input: 20n, cache_hit: 26_653n, output: 900n });
  });
});

// https://github.com/BerriAI/litellm/issues/9812: writes were charged as input and as writes: 0.091311 for 0.05439 USD.
describe('BerriAI/litellm#9812: cache writes count once', () => {
  it.each([true, false])('0.054399 USD, to the pico-USD (stream: %s)', async (stream) => {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      output_tokens: 550,
    };
    const row = await billed(protocols.messages, `[[usage ${JSON.stringify(usage)}]]${padding(12_400)}`, { stream });
    expect(row).toMatchObject({ cost: 54_399n * micro, charged: 54_399n * micro });
  });
});

// https://github.com/BerriAI/litellm/issues/11789: streamed reads from a cache cost as much as new input.
// https://github.com/Wei-Shaw/sub2api/issues/1303: they cost nothing.
describe('BerriAI/litellm#11789, Wei-Shaw/sub2api#1303: what was read from a cache', () => {
  it.each([true, false])('costs its own price (stream: %s)', async (stream) => {
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 2_455,
      output_tokens: 23,
    };
    const row = await billed(protocols.messages, `[[usage ${JSON.stringify(usage)}]]${padding(12_400)}`, { stream });
    expect(row['cost']).toBe(4n * 3n * micro + (2_455n * 3n * micro) / 10n + 23n * 15n * micro);
  });
});

// https://github.com/QuantumNous/new-api/issues/6459: cached tokens were charged as input and as cached.
describe('QuantumNous/new-api#6459: cached tokens are part of the prompt', () => {
  it.each([
    [protocols.chat, { prompt_tokens: 10_818, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 9_984 } }],
    [protocols.responses, { input_tokens: 10_818, output_tokens: 8, input_tokens_details: { cached_tokens: 9_984 } }],
  ])('they are taken out of it ($protocol)', async (protocol, usage) => {
    for (const stream of [true, false])
      expect(await billed(protocol, `[[usage ${JSON.stringify(usage)}]]${padding(10_818)}`, { stream })).toMatchObject({
        input: 834n,
        cache_hit: 9_984n,
        output: 8n,
        cost: 834n * 3n * micro + (9_984n * 3n * micro) / 10n + 8n * 15n * micro,
      });
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/4712: implicit writes of OpenAI's GPT-5.6 (`cache_write_tokens`) cost as much as input.
describe('Wei-Shaw/sub2api#4712: writes that OpenAI reports', () => {
  it('cost the price of a write, and are no input', async () => {
    const usage = {
      input_tokens: 10_818,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 9_984 },
      output_tokens: 8,
    };
    expect(
      await billed(protocols.responses, `[[usage ${JSON.stringify(usage)}]]${padding(10_818)}`, { stream: true }),
    ).toMatchObject({
      input: 834n,
      cache_write_5m: 9_984n,
      cost: 834n * 3n * micro + (9_984n * 375n * micro) / 100n + 8n * 15n * micro,
    });
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/6066: an answer that reported a billion tokens made a balance of minus five hundred
// billion. https://github.com/Wei-Shaw/sub2api/issues/2011: balances went below zero.
describe('Wei-Shaw/sub2api#6066, #2011: a billion tokens', () => {
  it.each([true, false])(
    'an account never falls below nothing, and what was not charged is listed (stream: %s)',
    async (stream) => {
      const customer = await app.customer({ usd: '0.05' });
      const usage = { input_tokens: 1_900_000_000, cache_read_input_tokens: 12_000_000, output_tokens: 1_000_000_000 };
      const text = `[[usage ${JSON.stringify(usage)}]]${padding(200_000)}`;
      await (
        await send(app, protocols.messages, {
          secret: customer.secret,
          text,
          more: { model: 'only-messages', stream, max_tokens: 50 },
        })
      ).text();
      const [row] = await settled(app, customer);
      expect(row).toMatchObject({ usage_source: 'clamped', charged: 50_000_000_000n });
      const { rows } = await app.pool.query(
        'SELECT min(amount - spent - held - expired)::text AS free FROM "grant" WHERE account_id = $1',
        [customer.accountId],
      );
      expect(rows).toEqual([{ free: '0' }]);
      expect((await send(app, protocols.messages, { secret: customer.secret })).status).toBe(402);
    },
  );
});

// https://github.com/pollinations/pollinations/issues/5594, https://github.com/QuantumNous/new-api/issues/7062 and #5235: whoever left
// before the account of a stream paid nothing. https://github.com/bitrouter/bitrouter/pull/537: the prompt was forgotten.
describe('QuantumNous/new-api#7062, pollinations#5594, bitrouter#537: who leaves early', () => {
  it.each(Object.values(protocols))('pays for the prompt and for what came ($protocol)', async (protocol) => {
    const customer = await app.customer();
    const text = `${'context '.repeat(500)}[[len 400]] [[hang 60]]`;
    const response = await send(app, protocol, {
      secret: customer.secret,
      text,
      more: { model: protocol.only, stream: true },
    });
    const events = reader(response);
    await events.until(/w20/);
    await events.cancel();
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'client_closed' });
    expect((row?.['input'] as bigint) + (row?.['cache_hit'] as bigint)).toBeGreaterThan(300n);
    expect(row?.['output'] as bigint).toBeGreaterThanOrEqual(15n);
    expect(row?.['charged']).toBe(row?.['cost']);
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/4408: who left before the first token paid for the whole answer, which went on behind.
describe('Wei-Shaw/sub2api#4408: who leaves before the first token', () => {
  it('pays for no answer, and the vendor is not left to write one', async () => {
    const customer = await app.customer();
    const leave = new AbortController();
    const asked = send(app, protocols.chat, {
      secret: customer.secret,
      text: '[[delay 600000]] [[len 5000]]',
      more: { model: 'only-chat', stream: true, max_completion_tokens: 6_000 },
      signal: leave.signal,
    }).catch(() => undefined);
    await until(() => app.simulator.requests().some(({ body }) => body.includes('delay 600000')));
    leave.abort();
    await asked;
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'client_closed', output: 0n });
  });
});

// https://github.com/QuantumNous/new-api/issues/5290 (and #5287, #5289): an error inside a stream was counted as words of the model.
describe('QuantumNous/new-api#5290: an error in the stream', () => {
  const sentence = 'The engine is overloaded, please retry your request at a later time. '.repeat(200);

  it('costs nothing where nothing was said', async () => {
    const events = rawStream([{ error: { message: sentence, type: 'server_error', code: null } }]);
    expect(await billed(protocols.chat, events, { stream: true })).toMatchObject({ cost: 0n, output: 0n });
  });

  it('is not counted where something was said', async () => {
    const choice = { index: 0, delta: { role: 'assistant', content: 'two words' }, finish_reason: null };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'sim-medium', choices: [choice] };
    const events = rawStream([chunk, { error: { message: sentence, type: 'server_error', code: null } }]);
    const row = await billed(protocols.chat, events, { stream: true });
    expect(row).toMatchObject({ outcome: 'upstream_error' });
    expect(row['output'] as bigint).toBeLessThan(20n);
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/5856: the more an upstream failed, the more the vendor's bill exceeded the records.
describe('Wei-Shaw/sub2api#5856: an unstable upstream', () => {
  it('every call that a vendor answered has its entry, whatever became of the answer', async () => {
    const customer = await app.customer();
    app.simulator.clearRequests();
    const endings = ['', '[[cut 8]]', '[[cut 8 reset]]', '[[midfail 6]]', '[[nousage]]', '[[cut 9 end]]'];
    await Promise.all(
      Array.from({ length: 36 }, async (_none, i) => {
        const text = `[[len 30]] ${endings[i % endings.length]}`;
        const response = await send(app, protocols.messages, {
          secret: customer.secret,
          text,
          more: { model: 'only-messages', stream: true },
        });
        await response.text().catch(() => '');
      }),
    );
    const rows = await settled(app, customer);
    const answered = app.simulator.requests().length;
    expect(rows).toHaveLength(36);
    expect(answered).toBe(36);
    expect(rows.filter((row) => row['cost'] === 0n)).toEqual([]);
  });
});

// https://github.com/Azure/azure-rest-api-specs/issues/45178: the meter of new input was fed all input, and what was read from a cache
// and written to it was rated again on meters of its own: 10,461 USD for 1,967. Only a comparison with the vendor's file can see that.
describe('Azure/azure-rest-api-specs#45178: the vendor bills cached tokens twice', () => {
  it('the comparison with the file of the vendor shows the day, the model and what it is too much', async () => {
    const token = await operatorToken(app);
    const at = new Date();
    const reported = {
      input_tokens: 2_000,
      cache_read_input_tokens: 41_000,
      cache_creation_input_tokens: 7_000,
      output_tokens: 900,
    };
    const usage = `[[usage ${JSON.stringify(reported)}]]${padding(50_000)}`;
    const customer = await app.customer({ usd: '1000' });
    for (let i = 0; i < 3; i += 1)
      await (
        await send(app, protocols.messages, { secret: customer.secret, text: usage, more: { model: 'only-messages' } })
      ).text();
    await settled(app, customer);
    const { rows } = await app.pool.query(
      `SELECT sum(input)::text AS input, sum(output)::text AS output, sum(cache_hit)::text AS hit, sum(cache_write_5m + cache_write_1h)::text AS write
       FROM ledger_entry WHERE upstream = 'by-messages' AND created_at >= date_trunc('day', $1::timestamptz, 'UTC')`,
      [at],
    );
    const day = at.toISOString().slice(0, 10);
    const told = rows[0] as Record<'input' | 'output' | 'hit' | 'write', string>;
    const csv = (input: bigint) =>
      `day,model,input,cache_hit,cache_write,output\n${day},sim-medium,${input},${told.hit},${told.write},${told.output}`;
    const compared = async (input: bigint): Promise<unknown> => {
      const taken = await graphql(
        app,
        'mutation ($csv: String!) { importVendorUsage(input: { upstream: "by-messages", csv: $csv }) { __typename } }',
        { token, variables: { csv: csv(input) } },
      );
      expect(taken.data).toEqual({ importVendorUsage: { __typename: 'VendorUsageImported' } });
      const answer = await graphql(
        app,
        `{ operator { vendorComparison(from: "${day}", to: "${day}", upstream: "by-messages") { nodes { model differs causes vendor { input } ledger { input } } } } }`,
        { token },
      );
      const seen = answer.data?.['operator'] as { vendorComparison: { nodes: unknown[] } } | undefined;
      return seen?.vendorComparison.nodes;
    };
    const ordinary = BigInt(told.input);
    const all = ordinary + BigInt(told.hit) + BigInt(told.write);
    expect(await compared(ordinary)).toMatchObject([{ model: 'sim-medium', differs: false }]);
    expect(await compared(all)).toMatchObject([
      {
        model: 'sim-medium',
        differs: true,
        causes: expect.arrayContaining(['COUNTED_TWICE']),
        vendor: { input: String(all) },
        ledger: { input: String(ordinary) },
      },
    ]);
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/2944 and https://github.com/QuantumNous/new-api/issues/4291: reads from a cache were folded
// into the input of Messages, and charged at both prices. https://github.com/Wei-Shaw/sub2api/issues/2332: the last event, which
// tells the output alone, made an entry of its own: 72 USD too much.
describe('Wei-Shaw/sub2api#2944, #2332, QuantumNous/new-api#4291: the last event tells the output alone', () => {
  it('one entry, whose input is what the first event said, and whose reads cost their own price', async () => {
    const start = {
      input_tokens: 13_646,
      cache_creation_input_tokens: 10_769,
      cache_read_input_tokens: 15_108,
      output_tokens: 1,
    };
    const row = await billed(protocols.messages, messagesStream(start, { output_tokens: 24 }) + padding(40_000), {
      stream: true,
      model: 'long-messages',
    });
    expect(row).toMatchObject({ input: 13_646n, cache_hit: 15_108n, cache_write_5m: 10_769n, output: 24n });
    expect(row['cost']).toBe(
      13_646n * 3n * micro + (15_108n * 3n * micro) / 10n + (10_769n * 375n * micro) / 100n + 24n * 15n * micro,
    );
  });
});

// https://github.com/Wei-Shaw/sub2api/pull/5154 (issue #5148): a stream that ended without its last event had no entry at all, although
// its first event had told what was read.
describe('Wei-Shaw/sub2api#5148: a stream without its last event', () => {
  it('costs what its first event told, and the words that came', async () => {
    const usage = {
      input_tokens: 700,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 9_000,
      output_tokens: 1,
    };
    const whole = messagesStream(usage, { output_tokens: 24 });
    const [headers = '', raw = ''] = whole.split(' [[raw ');
    const events = Buffer.from(raw.slice(0, -2), 'base64').toString().split('\n\n');
    // As far as the only word of the answer.
    const cut = `${events.slice(0, 3).join('\n\n')}\n\n`;
    const text = `${headers} [[raw ${Buffer.from(cut).toString('base64')}]]${padding(10_000)}`;
    const row = await billed(protocols.messages, text, { stream: true });
    expect(row).toMatchObject({ outcome: 'upstream_cut', input: 700n, cache_hit: 9_000n });
    expect(row['output'] as bigint).toBeGreaterThan(0n);
    expect(row['output'] as bigint).toBeLessThan(10n);
  });
});

// https://github.com/anomalyco/opencode/issues/17566 and https://github.com/BerriAI/litellm/pull/39850: tokens of reasoning are part of
// the output, and were charged once more.
describe('BerriAI/litellm#39850, anomalyco/opencode#17566: tokens of reasoning', () => {
  it.each([
    [
      protocols.chat,
      { prompt_tokens: 700, completion_tokens: 1_944, completion_tokens_details: { reasoning_tokens: 1_360 } },
    ],
    [
      protocols.responses,
      { input_tokens: 700, output_tokens: 1_944, output_tokens_details: { reasoning_tokens: 1_360 } },
    ],
  ])('are charged once ($protocol)', async (protocol, usage) => {
    const most = protocol === protocols.chat ? { max_completion_tokens: 2_000 } : { max_output_tokens: 2_000 };
    for (const stream of [true, false])
      expect(
        await billed(protocol, `[[usage ${JSON.stringify(usage)}]]${padding(700)}`, { stream, ...most }),
      ).toMatchObject({ input: 700n, output: 1_944n, cost: 700n * 3n * micro + 1_944n * 15n * micro });
  });
});

// https://github.com/maximhq/bifrost/pull/4070: usage was counted twice for one request.
describe('maximhq/bifrost#4070: one request, one entry', () => {
  it('a client that sends its own request id again and again pays for each request, and never twice for one', async () => {
    const customer = await app.customer();
    const id = randomUUID();
    for (let i = 0; i < 5; i += 1)
      await (
        await send(app, protocols.chat, {
          secret: customer.secret,
          headers: { 'x-request-id': id },
          more: { model: 'only-chat' },
        })
      ).text();
    const rows = await settled(app, customer);
    expect(new Set(rows.map((row) => row['request_id'])).size).toBe(5);
    const { rows: sums } = await app.pool.query(
      `SELECT (SELECT sum(charged) FROM ledger_entry WHERE account_id = $1)::text AS charged, (SELECT sum(spent) FROM "grant" WHERE account_id = $1)::text AS spent`,
      [customer.accountId],
    );
    expect(sums[0].charged).toBe(sums[0].spent);
  });
});
