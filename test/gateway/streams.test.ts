import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import {
  everyProtocol,
  model,
  nativeCatalog,
  type ProtocolCase,
  parseEvents,
  protocols,
  reader,
  send,
  settled,
} from './support.ts';

/** Streams on routes of the client's own protocol and on translated ones. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog({ vendorModel: 'vendor-name' }), env: { KEEPALIVE_MS: '80' } });
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

/** Streams fail often here: a route that is the only one is not left out for it. */
const streamOf = (protocol: ProtocolCase) => ({ stream: true, model: protocol.only });
const prompt = '[[think hm]] [[say đây là câu trả lời]]';

const cases = everyProtocol.flatMap((protocol) =>
  everyProtocol.map((upstream) => ({ client: protocol.protocol, protocol, upstream })),
);

describe.each(cases)('$client at an upstream of $upstream.protocol', ({ protocol, upstream }) => {
  const streamed = streamOf(upstream);

  it('the headers of a stream, and no others', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, { secret: customer.secret, text: prompt, more: streamed });
    await response.text();
    const { date: _date, connection, 'keep-alive': _keepAlive, ...headers } = Object.fromEntries(response.headers);
    expect(connection).toBe('keep-alive');
    expect(headers).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-request-id': headers['request-id'],
      'transfer-encoding': 'chunked',
    });
  });

  it('the ledger has what the vendor reported, although the client did not ask for usage', async () => {
    const customer = await app.customer();
    const usage =
      upstream.protocol === 'messages'
        ? '{"input_tokens":11,"cache_creation_input_tokens":5,"cache_read_input_tokens":700,"output_tokens":13}'
        : upstream.protocol === 'responses'
          ? '{"input_tokens":716,"input_tokens_details":{"cached_tokens":700,"cache_write_tokens":5},"output_tokens":13,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":729}'
          : '{"prompt_tokens":716,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":5},"completion_tokens":13,"total_tokens":729}';
    for (const more of [streamed, { model: upstream.only }]) {
      const response = await send(app, protocol, { secret: customer.secret, text: `[[usage ${usage}]]`, more });
      await response.text();
    }
    const rows = await settled(app, customer);
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row).toMatchObject({
        input: 11n,
        cache_hit: 700n,
        output: 13n,
        outcome: 'completed',
        usage_source: 'reported',
        // 11 and the 5 that were written, 700 hits, 13 out at 1, 0.1 and 5 USD per million.
        cost: (11n + 5n) * 1_000_000n + 700n * 100_000n + 13n * 5_000_000n,
      });
      expect(row['charged']).toBe(row['cost']);
    }
  });

  it('an event is passed on when it comes, not when the answer is complete', async () => {
    const customer = await app.customer();
    // The upstream says nothing more after its third event, so a gateway that waits for the end would never pass it on.
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[say one two three four five six seven]] [[hang 6]]',
      more: streamed,
    });
    const events = reader(response);
    await events.until(/one/);
    await events.cancel();
    expect((await settled(app, customer)).map((row) => row['outcome'])).toEqual(['client_closed']);
  });

  it('silence is filled in the form that the clients of this protocol bear', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[say one two three four five six seven]] [[hang 6]]',
      more: streamed,
    });
    const events = reader(response);
    const sign =
      protocol.protocol === 'messages' ? /(event: ping\ndata: \{"type": ?"ping"\}\n\n){2}/ : /(:[^\n]*\n\n){2}/;
    const text = await events.until(sign);
    expect(text.includes('event: ping')).toBe(protocol.protocol === 'messages');
    await events.cancel();
    await app.quiet(customer.accountId);
  });

  it('an error event of the upstream is passed on, and nothing follows it', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[len 10]] [[midfail 5]]',
      more: streamed,
    });
    const text = await response.text();
    expect(text).not.toContain(protocol.terminator);
    const last = parseEvents(text).at(-1);
    expect(JSON.stringify(last)).toMatch(/error/);
    expect(text).not.toContain('vendor-name');
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'upstream_error' });
  });

  it.each(['cut 5', 'cut 5 reset', 'cut 5 end'])(
    'an upstream that breaks off ([[%s]]) becomes an error event, and what came is charged',
    async (cut) => {
      const customer = await app.customer();
      const response = await send(app, protocol, {
        secret: customer.secret,
        text: `[[len 50]] [[${cut}]]`,
        more: streamed,
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).not.toContain(protocol.terminator);
      const last = parseEvents(text).at(-1)?.data as Record<string, unknown>;
      expect(last['request_id']).toBe(response.headers.get('request-id'));
      // The error is the event's own; on responses, that of the response that failed.
      const { error } = (last['response'] ?? last) as { error: { message: string; code: string } };
      expect(error.message).toContain('/status');
      expect(error.code).toBe(protocol.protocol === 'responses' ? 'server_error' : 'upstream_error');
      const rows = await settled(app, customer);
      expect(rows).toMatchObject([{ outcome: 'upstream_cut' }]);
      expect(Number(rows[0]?.['output'])).toBeGreaterThan(0);
      expect(Number(rows[0]?.['output'])).toBeLessThan(50);
    },
  );

  it('an upstream that refuses a stream refuses with a status, in the envelope', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[status 429]]',
      more: streamed,
    });
    expect(response.status).toBe(protocol.protocol === 'messages' ? 529 : 503);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      error: { type: protocol.protocol === 'messages' ? 'overloaded_error' : 'server_error' },
    });
    expect(await settled(app, customer)).toMatchObject([{ cost: 0n, outcome: 'upstream_error' }]);
  });

  it('a stream whose first event is an error is an error with a status too', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[midfail 0 529]]',
      more: streamed,
    });
    // The other upstreams have no word for an overload, so it is a plain failure there.
    const overloaded = protocol.protocol === 'messages' ? 529 : 503;
    expect(response.status).toBe(upstream.protocol === 'messages' ? overloaded : 502);
    await response.json();
    expect(await settled(app, customer)).toMatchObject([{ cost: 0n, outcome: 'upstream_error' }]);
  });

  it('streams side by side do not mix', async () => {
    const customer = await app.customer();
    const texts = await Promise.all(
      Array.from({ length: 12 }, async (_none, index) => {
        const text = `[[say ${`a${index}z `.repeat(40)}]]`;
        return (await send(app, protocol, { secret: customer.secret, text, more: streamed })).text();
      }),
    );
    texts.forEach((text, index) => {
      const heard = new Set([...text.matchAll(/a(\d+)z/g)].map(([, number]) => number));
      expect([...heard]).toEqual([String(index)]);
    });
    expect(await settled(app, customer)).toHaveLength(12);
  });
});

describe('messages', () => {
  it('the events in their order, each under its name', async () => {
    const customer = await app.customer();
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      text: prompt,
      more: streamOf(protocols.messages),
    });
    const events = parseEvents(await response.text());
    for (const { event, data } of events) expect((data as { type: string }).type).toBe(event);
    const order = events.map(({ event }) => event).filter((event) => event !== 'ping');
    expect(order.filter((event, index) => event !== order[index - 1])).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0]?.data).toMatchObject({ message: { model: 'only-messages' } });
  });

  it('the SDK makes a message of them', async () => {
    const customer = await app.customer();
    const client = new Anthropic({ apiKey: customer.secret, baseURL: app.baseUrl, maxRetries: 0 });
    const message = await client.messages
      .stream({ model, max_tokens: 100, messages: [{ role: 'user', content: prompt }] })
      .finalMessage();
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'đây là câu trả lời' },
    ]);
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({
      input: BigInt(message.usage.input_tokens),
      output: BigInt(message.usage.output_tokens),
    });
  });

  it('what message_delta says replaces what message_start said', async () => {
    const customer = await app.customer();
    const raw = [
      sse('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'vendor-name',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      }),
      sse('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      sse('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } }),
      sse('content_block_stop', { index: 0 }),
      sse('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 40, output_tokens: 5 } }),
      sse('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 41, output_tokens: 7 } }),
      sse('message_stop', {}),
    ].join('');
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      text: `[[headers {"content-type":"text/event-stream"}]] [[raw ${Buffer.from(raw).toString('base64')}]]`,
      more: streamOf(protocols.messages),
    });
    expect(await response.text()).toBe(raw.replaceAll('vendor-name', protocols.messages.only));
    expect(await settled(app, customer)).toMatchObject([{ input: 41n, output: 7n, usage_source: 'reported' }]);
  });
});

function sse(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

async function ask(more: Record<string, unknown>) {
  const customer = await app.customer();
  const response = await send(app, protocols.chat, {
    secret: customer.secret,
    text: prompt,
    more: { ...streamOf(protocols.chat), ...more },
  });
  const text = await response.text();
  const chunks = parseEvents(text)
    .map(({ data }) => data)
    .filter((data) => data !== '[DONE]') as { choices: { finish_reason: string | null }[]; usage?: unknown }[];
  return { text, chunks, customer };
}

/** Usage that grows with every chunk. */
function chunk(tokens: number, finish: string | null): string {
  return `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'vendor-name',
    choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: finish }],
    usage: { prompt_tokens: 30, completion_tokens: tokens, total_tokens: 30 + tokens },
  })}\n\n`;
}

describe('chat completions', () => {
  it('ends with [DONE] and has one finish reason', async () => {
    const { text, chunks } = await ask({});
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(
      chunks
        .flatMap(({ choices }) => choices.map((choice) => choice.finish_reason))
        .filter((reason) => reason !== null),
    ).toEqual(['stop']);
  });

  it('who asks for usage gets one chunk of it before the end', async () => {
    const { chunks, customer } = await ask({ stream_options: { include_usage: true } });
    const last = chunks.at(-1);
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
    expect(chunks.filter(({ choices }) => choices.length === 0)).toHaveLength(1);
    const [row] = await settled(app, customer);
    expect(last?.usage).toMatchObject({ completion_tokens: Number(row?.['output']) });
  });

  it.each([
    {},
    { stream_options: { include_usage: false } },
    { stream_options: null },
    { stream_options: { include_obfuscation: false } },
  ])('who does not ask sees none, and it is asked for all the same: %j', async (more) => {
    const { text, chunks, customer } = await ask(more);
    expect(text).not.toContain('prompt_tokens');
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
    const [sent] = app.simulator.requests();
    expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({
      stream_options: { ...more.stream_options, include_usage: true },
    });
    expect(await settled(app, customer)).toMatchObject([{ usage_source: 'reported' }]);
  });

  it('a request that is not streamed is not touched', async () => {
    const customer = await app.customer();
    await send(app, protocols.chat, { secret: customer.secret });
    expect(app.simulator.requests()[0]?.body.toString()).not.toContain('stream_options');
  });

  it('usage that grows with every chunk is billed once, as it was last', async () => {
    const customer = await app.customer();
    const raw = `${chunk(1, null)}${chunk(2, null)}${chunk(3, 'stop')}data: [DONE]\n\n`;
    const response = await send(app, protocols.chat, {
      secret: customer.secret,
      text: `[[headers {"content-type":"text/event-stream"}]] [[raw ${Buffer.from(raw).toString('base64')}]]`,
      more: streamOf(protocols.chat),
    });
    expect(await response.text()).not.toContain('prompt_tokens');
    expect(await settled(app, customer)).toMatchObject([{ input: 30n, output: 3n }]);
  });

  it('no ping of another protocol gets into it, in the published client', async () => {
    const customer = await app.customer();
    const client = new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
    const chunks = await client.chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content: '[[delay 300]] [[say after a silence]]' }],
    });
    let text = '';
    for await (const { choices } of chunks) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('after a silence');
  });
});
