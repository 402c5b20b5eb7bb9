import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, model, nativeCatalog, protocols, send, settled } from './support.ts';

/** Conformance check 17: counting is free, leaves no row, and opens no gate that answering keeps shut. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog({ vendorModel: 'vendor-name', apiKey: 'sk-vendor-000000000000' }) });
  customer = await app.customer({ usd: '0' });
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

const counting = { ...protocols.messages, path: '/v1/messages/count_tokens' };
const ask = (more: Record<string, unknown> = {}, text = 'hello there') =>
  send(app, counting, {
    secret: customer.secret,
    raw: JSON.stringify({ model: 'only-messages', messages: [{ role: 'user', content: text }], ...more }),
  });

describe('check 17', () => {
  it('is asked of an upstream that counts, with the bytes as they are, at no balance, without a row', async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) });
    expect(response.headers.get('x-token-count')).toBeNull();
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    const [sent] = app.simulator.requests();
    expect(sent?.path).toBe('/v1/messages/count_tokens');
    expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({ model: 'vendor-name' });
    expect(await settled(app, customer)).toEqual([]);
  });

  it.each(['only-chat', 'only-responses'])('is estimated where the upstream does not count: %s', async (id) => {
    const response = await ask({ model: id }, 'word '.repeat(1_000));
    expect(response.status).toBe(200);
    expect(response.headers.get('x-token-count')).toBe('estimated');
    const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
    expect(tokens).toBeGreaterThanOrEqual(1_000);
    expect(tokens).toBeLessThan(2_000);
    expect(app.simulator.requests()).toEqual([]);
  });

  it('the SDK reads it', async () => {
    const client = new Anthropic({ apiKey: customer.secret, baseURL: app.baseUrl, maxRetries: 0 });
    const counted = await client.messages.countTokens({ model, messages: [{ role: 'user', content: 'hello' }] });
    expect(counted.input_tokens).toBeGreaterThan(0);
  });

  it('agrees with what an answer reports', async () => {
    const own = await app.customer();
    const { input_tokens: counted } = (await (await ask()).json()) as { input_tokens: number };
    await send(app, protocols.messages, {
      secret: own.secret,
      text: 'hello there',
      more: { model: 'only-messages' },
    });
    expect(await settled(app, own)).toMatchObject([{ input: BigInt(counted) }]);
  });

  it('is estimated when the upstream that counts is in trouble', async () => {
    const response = await ask({}, '[[status 500]]');
    expect(response.status).toBe(200);
  });
});

describe('refusals', () => {
  it.each([
    ['container', { container: 'container_of_somebody' }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }] }],
    [
      'file',
      {
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_of_somebody' } }] },
        ],
      },
    ],
  ])('%s: what could reach another customer is not counted either', async (name, more) => {
    const response = await ask(more);
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'messages')).message).toContain(name);
    expect(app.simulator.requests()).toEqual([]);
  });

  it('`thread` is refused in the words that its SDK understands', async () => {
    const response = await ask({ thread: { previous_message_id: 'msg_1' } });
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'messages'))['details']).toMatchObject({
      error_code: 'thread_unsupported_request',
    });
  });

  it('an unknown model, a model that the key may not call, a suspended account, no key', async () => {
    const unknown = await ask({ model: 'Nope' });
    expect([unknown.status, (await errorOf(unknown, 'messages')).message]).toEqual([
      400,
      'Requested model Nope is not available in the service',
    ]);
    const narrow = await app.customer({ terms: { models: ['only-chat'] } });
    const raw = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] });
    expect((await send(app, counting, { secret: narrow.secret, raw })).status).toBe(403);
    const suspended = await app.customer();
    await app.accounts.suspend({ accountId: suspended.accountId, actor: 'test' });
    expect((await send(app, counting, { secret: suspended.secret, raw })).status).toBe(403);
    expect((await send(app, counting, { secret: null, raw })).status).toBe(401);
    expect(app.simulator.requests()).toEqual([]);
  });

  it("the vendor's own 400 comes through without what names the operator's account", async () => {
    const response = await ask(
      {},
      '[[status 400 organization org-0123456789abcdef key sk-vendor-000000000000: prompt is too long]]',
    );
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain('prompt is too long');
    expect(text).not.toContain('org-0123456789abcdef');
    expect(text).not.toContain('sk-vendor-000000000000');
    expect(JSON.parse(text).request_id).toBe(response.headers.get('request-id'));
  });

  it('a client that leaves ends the call to the upstream', async () => {
    const leave = new AbortController();
    const { requests, abortedRequests } = app.simulator.stats();
    const running = send(app, counting, {
      secret: customer.secret,
      raw: JSON.stringify({ model: 'only-messages', messages: [{ role: 'user', content: '[[delay 600000]]' }] }),
      signal: leave.signal,
    }).catch(() => 'left');
    while (app.simulator.stats().requests === requests) await new Promise((resolve) => setTimeout(resolve, 5));
    leave.abort();
    expect(await running).toBe('left');
    while (app.simulator.stats().abortedRequests === abortedRequests)
      await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
