/** Model calls with the SDK, over all three protocols. */

import { type Steyg, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { asked, clientOf, events, json, ping, scripted } from './support.ts';

let app: TestApp;
let customer: Customer;

beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

const client = () => clientOf(app, customer);

describe('a whole answer', () => {
  it('comes in the words of messages, with its cost beside the usage', async () => {
    const message = await client().messages.create(asked.messages('[[say Xin chào 👋]]'));
    expect(message.content).toMatchObject([{ type: 'text', text: 'Xin chào 👋' }]);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message.steyg.costUsd).toMatch(/^0\.\d+$/);
    expect(JSON.parse(JSON.stringify(message))).not.toHaveProperty('steyg');
  });

  it('comes in the words of chat completions', async () => {
    const completion = await client().chat.completions.create(asked.chat('[[say Xin chào 👋]]'));
    expect(completion.choices[0]?.message.content).toBe('Xin chào 👋');
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    expect(completion.steyg.costUsd).toMatch(/^0\.\d+$/);
  });

  it('comes in the words of responses', async () => {
    const response = await client().responses.create(asked.responses('[[say Xin chào 👋]]'));
    expect(response.output).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: 'Xin chào 👋' }] },
    ]);
    expect(response.status).toBe('completed');
    expect(response.steyg.costUsd).toMatch(/^0\.\d+$/);
  });

  it('has a ledger entry of its request id, whose cost can be recomputed', async () => {
    const steyg = client();
    const { data, requestId, response } = await steyg.messages.create(ping).withResponse();
    expect(requestId).toBe(response.headers.get('request-id'));
    await app.quiet(customer.accountId);
    const entry = await steyg.usage.entry(requestId ?? '');
    expect(entry.costUsd).toBe(data.steyg.costUsd);
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, costUsd: entry.costUsd, problems: [] });
  });

  it('calls tools', async () => {
    const message = await client().messages.create({
      ...asked.messages('[[tool get_weather {"city":"Huế"}]]'),
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
    });
    expect(message.content.find(({ type }) => type === 'tool_use')).toMatchObject({
      name: 'get_weather',
      input: { city: 'Huế' },
    });
    expect(message.stop_reason).toBe('tool_use');
  });
});

describe('a stream', () => {
  const texts = { text: '[[think Hm…]] [[say Xin chào 👋, thế giới]]', expected: 'Xin chào 👋, thế giới' };

  it('of messages becomes the answer that is not streamed', async () => {
    const steyg = client();
    const whole = await steyg.messages.create(asked.messages(texts.text));
    const stream = steyg.messages.stream(asked.messages(texts.text));
    const types = [];
    for await (const event of stream) types.push(event.type);
    const final = await stream.finalMessage();
    expect(types[0]).toBe('message_start');
    expect(types.at(-1)).toBe('message_stop');
    expect(final.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(final.content[1]).toEqual(whole.content[1]);
    expect({ ...final, id: whole.id, content: [] }).toMatchObject({ ...whole, content: [] });
    expect(await stream.finalText()).toBe(texts.expected);
  });

  it('of messages puts the input of tools together', async () => {
    const request = {
      ...asked.messages('[[tool a {"city":"Huế","n":[1,2,{"deep":"“”"}]}]] [[tool b {}]]'),
      tools: ['a', 'b'].map((name) => ({ name, input_schema: { type: 'object' } })),
    };
    const final = await client().messages.stream(request).finalMessage();
    expect(final.content.filter(({ type }) => type === 'tool_use')).toMatchObject([
      { name: 'a', input: { city: 'Huế', n: [1, 2, { deep: '“”' }] } },
      { name: 'b', input: {} },
    ]);
  });

  it('of chat completions becomes the answer that is not streamed, with its usage', async () => {
    const steyg = client();
    const whole = await steyg.chat.completions.create(asked.chat(texts.text));
    const stream = steyg.chat.completions.stream(asked.chat(texts.text));
    const final = await stream.finalMessage();
    expect(final.choices[0]?.message).toEqual(whole.choices[0]?.message);
    expect(final.choices[0]?.finish_reason).toBe('stop');
    expect(final.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
    expect(await stream.finalText()).toBe(texts.expected);
  });

  it('of chat completions puts parallel tool calls together', async () => {
    const request = {
      ...asked.chat('[[tool a {"city":"Huế"}]] [[tool b {"n":1}]]'),
      tools: ['a', 'b'].map((name) => ({ type: 'function', function: { name } })),
    };
    const final = await client().chat.completions.stream(request).finalMessage();
    expect(final.choices[0]?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'a', arguments: '{"city":"Huế"}' } },
      { type: 'function', function: { name: 'b', arguments: '{"n":1}' } },
    ]);
  });

  it('of responses ends with the response', async () => {
    const stream = client().responses.stream(asked.responses(texts.text));
    const final = await stream.finalMessage();
    expect(final.status).toBe('completed');
    expect(final.usage?.output_tokens).toBeGreaterThan(0);
    expect(await stream.finalText()).toBe(texts.expected);
  });

  it('hands out text alone', async () => {
    const pieces = [];
    for await (const piece of client().messages.stream(asked.messages('[[len 5]]')).text()) pieces.push(piece);
    expect(pieces.join('')).toBe('w0 w1 w2 w3 w4');
    expect(pieces.length).toBeGreaterThan(1);
  });

  it.each([
    ['messages', () => client().messages.create({ ...asked.messages('[[say a]]'), stream: true })],
    ['chat completions', () => client().chat.completions.create({ ...asked.chat('[[say a]]'), stream: true })],
    ['responses', () => client().responses.create({ ...asked.responses('[[say a]]'), stream: true })],
  ])('of %s begins with create and stream: true', async (_, create) => {
    const stream = await create();
    expect(await stream.finalText()).toBe('a');
  });

  it('knows what it cost once it has been settled', async () => {
    const stream = client().messages.stream(asked.messages('[[len 20]]'));
    expect(await stream.finalText()).toContain('w19');
    const { costUsd, requestId, entry } = await stream.cost();
    expect(entry).toMatchObject({ requestId, costUsd, outcome: 'completed' });
    expect(requestId).toBe(await stream.requestId());
    expect(verifyReceipt(entry).matches).toBe(true);
  });

  it('that is left, aborted, or ended by its signal ends upstream too, and what was generated has its price', async () => {
    const steyg = client();
    const text = '[[hang 5]] [[len 50]]';
    const left = steyg.messages.stream(asked.messages(text));
    for await (const event of left) if (event.type === 'content_block_delta') break;

    const aborted = steyg.chat.completions.stream(asked.chat(text));
    const controller = new AbortController();
    const signalled = steyg.responses.stream(asked.responses(text), { signal: controller.signal });
    const untilText = async (stream: AsyncIterable<unknown>, stop: () => void) => {
      for await (const event of stream) if (JSON.stringify(event).includes('w0')) stop();
    };
    await expect(untilText(aborted, () => aborted.abort())).rejects.toMatchObject({ name: 'AbortedError' });
    await expect(untilText(signalled, () => controller.abort())).rejects.toMatchObject({ name: 'AbortedError' });
    for (const stream of [left, aborted, signalled]) {
      await expect(stream.finalMessage()).rejects.toMatchObject({ name: 'AbortedError' });
      const { entry } = await stream.cost();
      expect(entry.outcome).toBe('client_closed');
      expect(entry.usage.outputTokens).toBeGreaterThan(0);
      expect(entry.usage.outputTokens).toBeLessThan(50);
      expect(Number(entry.chargedUsd)).toBeGreaterThan(0);
      expect(verifyReceipt(entry).matches).toBe(true);
    }
  });

  it.each([
    ['at random, with CRLF', { split: 'random', lineEnding: '\r\n' }],
    ['byte by byte, with CR', { split: 1, lineEnding: '\r' }],
  ] as const)('means the same when the upstream cuts it %s', async (_, chunking) => {
    const awkward = await startApp({ simulator: { chunking } });
    try {
      const steyg = clientOf(awkward, await awkward.customer());
      const streams = [
        steyg.messages.stream(asked.messages(texts.text)),
        steyg.chat.completions.stream(asked.chat(texts.text)),
        steyg.responses.stream(asked.responses(texts.text)),
      ];
      for (const stream of streams) expect(await stream.finalText()).toBe(texts.expected);
    } finally {
      await awkward.close();
    }
  });
});

describe('the cost of a stream', () => {
  const start = 'data: {"type":"message_start","message":{"content":[],"usage":{}}}\n\n';
  const stream = () => events([`${start}data: {"type":"message_stop"}\n\n`]);
  const missing = json({ error: { message: 'm' } }, 404);

  it('is waited for while it is being settled', async () => {
    const { steyg, seen } = scripted([stream(), missing, missing, json({ object: 'usage.entry', cost_usd: '0.5' })]);
    expect(await steyg.messages.stream(ping).cost()).toMatchObject({ requestId: 'req-1', costUsd: '0.5' });
    expect(seen.at(-1)?.url).toContain('/v1/usage?request_id=req-1');
  });

  it('is not asked for again when the look-up itself fails', async () => {
    const { steyg, seen } = scripted([stream(), json({ error: { message: 'm' } }, 401)]);
    await expect(steyg.messages.stream(ping).cost()).rejects.toMatchObject({ status: 401 });
    expect(seen).toHaveLength(2);
  });
});

describe('the receipt of a call', () => {
  const usage = {
    messages: {
      input_tokens: 11,
      output_tokens: 23,
      cache_read_input_tokens: 1_024,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    },
    chat: {
      prompt_tokens: 1_335,
      completion_tokens: 23,
      total_tokens: 1_358,
      prompt_tokens_details: { cached_tokens: 1_024, cache_write_tokens: 300 },
    },
    // Runs on a route of either of the others, so it is in the words of both.
    responses: {
      input_tokens: 11,
      output_tokens: 23,
      cache_read_input_tokens: 1_024,
      cache_creation_input_tokens: 300,
      prompt_tokens: 1_335,
      completion_tokens: 23,
      total_tokens: 1_358,
      prompt_tokens_details: { cached_tokens: 1_024, cache_write_tokens: 300 },
    },
  };
  const textOf = (protocol: keyof typeof usage) =>
    `[[len 3]] [[usage ${JSON.stringify(usage[protocol])}]]${'x'.repeat(1_400)}`;
  const whole = {
    messages: async (steyg: Steyg) => (await steyg.messages.create(asked.messages(textOf('messages')))).steyg,
    chat: async (steyg: Steyg) => (await steyg.chat.completions.create(asked.chat(textOf('chat')))).steyg,
    responses: async (steyg: Steyg) => (await steyg.responses.create(asked.responses(textOf('responses')))).steyg,
  };
  const streamed = {
    messages: (steyg: Steyg) => steyg.messages.stream(asked.messages(textOf('messages'))).cost(),
    chat: (steyg: Steyg) => steyg.chat.completions.stream(asked.chat(textOf('chat'))).cost(),
    responses: (steyg: Steyg) => steyg.responses.stream(asked.responses(textOf('responses'))).cost(),
  };

  it.each(['messages', 'chat', 'responses'] as const)(
    'over %s can be recomputed with its cache pools, and an altered one cannot',
    async (protocol) => {
      const steyg = client();
      const [facts, { entry, costUsd }] = await Promise.all([whole[protocol](steyg), streamed[protocol](steyg)]);
      await app.quiet(customer.accountId);
      for (const each of [entry, await steyg.usage.entry(facts.requestId ?? '')]) {
        const { cacheWrite5mTokens, cacheWrite1hTokens, ...others } = each.usage;
        expect(others).toMatchObject({ inputTokens: 11, cacheHitTokens: 1_024, outputTokens: 23 });
        expect(cacheWrite5mTokens + cacheWrite1hTokens).toBe(300);
        expect(each.costUsd).toBe(facts.costUsd);
        expect(verifyReceipt(each)).toMatchObject({ matches: true, costUsd: each.costUsd, problems: [] });
        for (const [name, tokens] of Object.entries(each.usage)) {
          const altered = { ...each, usage: { ...each.usage, [name]: (tokens as number) + 1 } };
          expect(verifyReceipt(altered).matches).toBe(false);
        }
        for (const [pool, price] of Object.entries(each.prices)) {
          const other = `${Number(price) + 1}`;
          const altered = { ...each, prices: { ...each.prices, [pool]: other } };
          expect(verifyReceipt(altered).matches).toBe(each.usage[`${pool}Tokens`] === 0);
          // Under two names of one thing: they disagree, whatever the price was for.
          const snake = pool.replaceAll(/[A-Z]|5m|1h/g, (letter) => `_${letter.toLowerCase()}`);
          const both = { ...each, prices: { ...each.prices, [snake]: other } };
          expect(verifyReceipt(both).matches).toBe(snake === pool && each.usage[`${pool}Tokens`] === 0);
        }
        expect(verifyReceipt({ ...each, costUsd: `${each.costUsd.padEnd(13, '0')}1`.slice(0, 14) }).matches).toBe(
          false,
        );
        expect(verifyReceipt({ ...each, chargedUsd: '1' }).matches).toBe(false);
        expect(verifyReceipt({ ...each, cost_usd: '0' }).problems).toEqual([
          `cost is stated as ${each.costUsd} and as 0.`,
        ]);
        expect(verifyReceipt({ ...each, charged_usd: '0' }).matches).toBe(false);
      }
      expect(costUsd).toBe(entry.costUsd);
    },
  );

  it('is the same to the control plane', async () => {
    const steyg = client();
    const { requestId } = await steyg.messages.stream(asked.messages(textOf('messages'))).cost();
    const tokens = createAccessTokens({ pool: app.pool });
    const { accountId } = customer;
    const token = await tokens.create(
      { accountId, name: 'test', scopes: ['read'], expiresAt: null, createdBy: null },
      'test',
    );
    if (token.kind !== 'created') throw new Error(token.kind);
    const reader = clientOf(app, customer, { accessToken: token.secret });
    const entry = await reader.console.ledger.entry({ requestId });
    if (entry === null) throw new Error('no entry');
    const own = await steyg.usage.entry(requestId);
    expect(verifyReceipt(entry)).toEqual(verifyReceipt(own));
    expect(verifyReceipt(entry).matches).toBe(true);
    const [first, ...others] = entry.receipt;
    if (first === undefined) throw new Error('no line');
    const more = { ...first, tokens: `${BigInt(first.tokens) + 1n}` };
    expect(verifyReceipt({ ...entry, receipt: [more, ...others] }).problems).toHaveLength(3);
    expect(verifyReceipt({ ...entry, receipt: others }).matches).toBe(false);
  });
});

describe('what a key can read', () => {
  it('the models, and one of them', async () => {
    const steyg = client();
    const { data } = await steyg.models.list();
    expect(data.map(({ id }) => id)).toEqual(['sim-large', 'sim-medium', 'sim-small']);
    expect(await steyg.models.retrieve('sim-small')).toEqual(data[2]);
    await expect(steyg.models.retrieve('a/b')).rejects.toMatchObject({
      name: 'NotFoundError',
      code: 'model_not_found',
    });
  });

  it('the size of a request', async () => {
    const { input_tokens } = await client().messages.countTokens({ model: 'sim-small', messages: ping.messages });
    expect(input_tokens).toBeGreaterThan(0);
  });

  it('balance and spending, page after page', async () => {
    const other = await app.customer({ usd: '5' });
    const steyg = clientOf(app, other);
    for (const model of ['sim-large', 'sim-medium', 'sim-small']) await steyg.messages.create({ ...ping, model });
    await app.quiet(other.accountId);
    const report = await steyg.usage.get();
    expect(report.balance.grantedUsd).toBe('5');
    expect(report.grants).toHaveLength(1);
    const rows = [];
    for await (const row of steyg.usage.rows({ groupBy: 'model', limit: 1 })) rows.push(row.model);
    expect(rows.map(String).toSorted()).toEqual(['sim-large', 'sim-medium', 'sim-small']);
  });

  it('itself, and the budget as other clients read it', async () => {
    const steyg = client();
    expect((await steyg.key.get()).data).toMatchObject({ limit: null, isFreeTier: false });
    expect((await steyg.credits.get()).data.totalCredits).toBe(100);
  });
});
