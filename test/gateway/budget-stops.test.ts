import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import {
  errorOf,
  everyProtocol,
  nativeCatalog,
  type ProtocolCase,
  parseEvents,
  protocols,
  send,
  settled,
  until,
} from './support.ts';

/** The spend brake, concurrency, and a budget that many requests want at once. */

let app: TestApp;
beforeAll(async () => {
  // One token of output costs a cent of a cent: a few thousand of them use up what these customers have.
  app = await startApp({
    catalog: nativeCatalog({ prices: '{ input: "1", cacheHit: "0.1", output: "100" }' }),
    env: { MAX_CONCURRENT_TRIAL: '2', MAX_CONCURRENT_PER_KEY: '5' },
    simulator: { tokensPerSecond: 20_000 },
  });
});
afterAll(() => app.close());

const pico = (usd: string) => BigInt(Math.round(Number(usd) * 1e6)) * 1_000_000n;
const only = (protocol: ProtocolCase, more: Record<string, unknown> = {}) => ({ model: protocol.only, ...more });

/** How the streams of each protocol end when nothing went wrong. */
const endings = {
  messages: /event: message_stop\ndata: [^\n]*$/,
  'chat-completions': /data: \[DONE\]$/,
  responses: /event: response\.incomplete\ndata: [^\n]*$/,
};

/** How each protocol says that an answer stopped at its limit. */
function limitReached(protocol: ProtocolCase, text: string): boolean {
  const events = parseEvents(text).map(({ data }) => data as Record<string, never>);
  if (protocol.protocol === 'messages') return events.some((data) => data['delta']?.['stop_reason'] === 'max_tokens');
  if (protocol.protocol === 'responses')
    return events.some((data) => data['response']?.['incomplete_details']?.['reason'] === 'max_output_tokens');
  return events.some(
    (data) => (data['choices'] as { finish_reason: string }[] | undefined)?.[0]?.finish_reason === 'length',
  );
}

describe('several answers that are not streamed', () => {
  const several = (secret: string, more: Record<string, unknown>) =>
    send(app, protocols.chat, { secret, text: '[[len 5]]', more: { model: 'only-chat', n: 4, ...more } });

  it('are reserved to their last token, because nothing can stop them on the way', async () => {
    const customer = await app.customer({ usd: '0.1' });
    const { requests } = app.simulator.stats();
    const response = await several(customer.secret, { max_tokens: 1_000 });
    expect(response.status).toBe(402);
    const error = await errorOf(response, 'chat-completions');
    expect(error).toMatchObject({ code: 'insufficient_quota', balance_usd: '0.1', held_usd: '0' });
    // Four answers of a thousand tokens at 100 USD for a million, and a few tokens of context.
    expect(error['required_usd']).toMatch(/^0\.40\d+$/);
    expect(app.simulator.stats().requests).toBe(requests);
    await app.quiet(customer.accountId);
    expect((await app.app.ledger.balance(customer.accountId)).free).toBe(pico('0.1'));

    const fitting = Number(error['affordable_max_tokens']);
    expect(fitting).toBeGreaterThan(200);
    expect((await several(customer.secret, { max_tokens: fitting })).status).toBe(200);
    expect(await settled(app, customer)).toHaveLength(1);
  });

  it('beyond what a hold reserves at first are reserved as well, where there is enough', async () => {
    const customer = await app.customer({ usd: '12.1' });
    expect((await several(customer.secret, { max_tokens: 30_000 })).status).toBe(200);
    const poor = await app.customer({ usd: '11.9' });
    expect((await several(poor.secret, { max_tokens: 30_000 })).status).toBe(402);
  });

  it('need not be reserved so when they are streamed: the brake stops them', async () => {
    const customer = await app.customer({ usd: '0.1' });
    const response = await several(customer.secret, { max_tokens: 1_000, stream: true });
    expect(response.status).toBe(200);
    await response.text();
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed' }]);
  });
});

describe.each(everyProtocol)('the spend brake: $protocol', (protocol) => {
  it('ends a stream that the budget does not reach any further for, as if it had hit its limit', async () => {
    const budget = '0.3';
    const customer = await app.customer({ usd: budget });
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[len 30000]]',
      more: only(protocol, { stream: true, [protocol.cap]: 30_000 }),
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(limitReached(protocol, text)).toBe(true);
    expect(text).not.toContain('w29999');
    expect(text.trimEnd()).toMatch(endings[protocol.protocol]);
    await until(() => app.simulator.stats().openRequests === 0);

    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ outcome: 'budget_stopped' }]);
    const charged = rows[0]?.['charged'] as bigint;
    expect(charged).toBeLessThanOrEqual(pico(budget));
    // Most of the budget has been delivered, and what was delivered has been paid for.
    expect(charged).toBeGreaterThan(pico(budget) / 2n);
    // Some protocols repeat at the end what they have said.
    const words = new Set(text.match(/w\d+/g)).size;
    expect(Number(rows[0]?.['output'])).toBeGreaterThanOrEqual(words);

    const next = await send(app, protocol, { secret: customer.secret, text: 'x'.repeat(4_000), more: only(protocol) });
    expect(next.status).toBe(402);
    const { free, held } = await app.app.ledger.balance(customer.accountId);
    expect(held).toBe(0n);
    expect(free).toBe(pico(budget) - charged);
  });

  it('lets a stream go on that asks for more and gets it', async () => {
    const customer = await app.customer({ usd: '10' });
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[len 9000]]',
      more: only(protocol, { stream: true, [protocol.cap]: 30_000 }),
    });
    const text = await response.text();
    expect(text).toContain('w8999');
    expect(limitReached(protocol, text)).toBe(false);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', output: 9_000n }]);
  });

  it('an answer that is not streamed and costs more than there is: all of it is charged, nothing beyond', async () => {
    const customer = await app.customer({ usd: '0.01' });
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[len 500]]',
      more: only(protocol, { [protocol.cap]: 1_000 }),
    });
    expect(response.status).toBe(200);
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ charged: pico('0.01'), free_after: 0n });
    expect(row?.['cost'] as bigint).toBeGreaterThan(pico('0.01'));
    expect((await send(app, protocol, { secret: customer.secret, more: only(protocol) })).status).toBe(402);
  });

  it('of many requests on little money, what is charged is never more than there was', async () => {
    const customer = await app.customer({ usd: '0.01' });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        send(app, protocol, {
          secret: customer.secret,
          text: '[[len 20]]',
          more: only(protocol, { [protocol.cap]: 20 }),
        }),
      ),
    );
    for (const { status, headers } of answers) {
      expect([200, 402, 429]).toContain(status);
      expect(headers.get('retry-after')).toBe(status === 429 ? '1' : null);
    }
    const rows = await settled(app, customer);
    expect(rows).toHaveLength(answers.filter(({ status }) => status === 200).length);
    const charged = rows.reduce((sum, row) => sum + (row['charged'] as bigint), 0n);
    expect(charged).toBeLessThanOrEqual(pico('0.01'));
  });
});

describe('the published clients take the brake for a limit', () => {
  it('anthropic', async () => {
    const customer = await app.customer({ usd: '0.05' });
    const client = new Anthropic({ apiKey: customer.secret, baseURL: app.baseUrl, maxRetries: 0 });
    const message = await client.messages
      .stream({ model: 'only-messages', max_tokens: 30_000, messages: [{ role: 'user', content: '[[len 20000]]' }] })
      .finalMessage();
    expect(message.stop_reason).toBe('max_tokens');
    const [row] = await settled(app, customer);
    expect(message.usage.output_tokens).toBe(Number(row?.['output']));
  });

  it('openai', async () => {
    const customer = await app.customer({ usd: '0.05' });
    const client = new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
    const completion = await client.chat.completions
      .stream({
        model: 'only-chat',
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: '[[len 20000]]' }],
      })
      .finalChatCompletion();
    expect(completion.choices[0]?.finish_reason).toBe('length');
    const [row] = await settled(app, customer);
    expect(completion.usage?.completion_tokens).toBe(Number(row?.['output']));
  });
});

describe.each(everyProtocol)('concurrency: $protocol', (protocol) => {
  /** Requests that run until they are told to end. */
  const hold = async (secret: string, count: number) => {
    const leave = new AbortController();
    const running = await Promise.all(
      Array.from({ length: count }, () =>
        send(app, protocol, {
          secret,
          text: '[[say one two three four five]] [[hang 5]]',
          more: only(protocol, { stream: true, [protocol.cap]: 20 }),
          signal: leave.signal,
        }),
      ),
    );
    expect(running.map(({ status }) => status)).toEqual(running.map(() => 200));
    return () => leave.abort();
  };

  it.each([
    ['a trial account', { trial: true }, 2],
    ['a key', { usd: '50' }, 5],
  ] as const)('%s runs so many requests at once, and more when they end', async (_name, options, most) => {
    const customer = await app.customer(options);
    const release = await hold(customer.secret, most);
    const refused = await send(app, protocol, {
      secret: customer.secret,
      more: only(protocol, { [protocol.cap]: 20 }),
    });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
    release();
    await app.quiet(customer.accountId);
    const allowed = await send(app, protocol, {
      secret: customer.secret,
      more: only(protocol, { [protocol.cap]: 20 }),
    });
    expect(allowed.status).toBe(200);
    // The one that was refused has held nothing back and left no row.
    expect(await settled(app, customer)).toHaveLength(most + 1);
  });
});
