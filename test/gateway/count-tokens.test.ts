import Anthropic from '@anthropic-ai/sdk';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCpuShares } from '../../server/gateway/load/cpu-shares.ts';
import { contextTexts } from '../../server/gateway/reads/count-texts.ts';
import { tokenize } from '../../server/gateway/reads/tokenize.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, model, nativeCatalog, protocols, send, settled } from './support.ts';

/** Counting tokens is free, leaves no row, opens no gate that answering keeps shut, and is bounded in CPU time. */

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

describe('counting', () => {
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

describe('the texts that become context', () => {
  /** What a vendor counts, by a parsed copy: names and texts of system, messages and tools, but no media. */
  function reference(body: Record<string, unknown>): string {
    const texts: string[] = [];
    const walk = (value: unknown, role: string): void => {
      if (typeof value === 'string') texts.push(value);
      if (Array.isArray(value)) for (const item of value) walk(item, role);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
      const { type } = value as { type?: unknown };
      for (const [name, member] of Object.entries(value)) {
        texts.push(name);
        const isHidden = role === 'block' || role === 'source';
        if (isHidden && name === 'data' && (type === 'base64' || type === 'redacted_thinking')) continue;
        if (role === 'message' && name === 'content') walk(member, 'block');
        else if (role === 'block' && name === 'content' && Array.isArray(member)) walk(member, 'block');
        else if (role === 'block' && name === 'source') walk(member, 'source');
        else walk(member, 'other');
      }
    };
    walk(body['system'], 'block');
    walk(body['messages'], 'message');
    walk(body['tools'], 'other');
    return sorted(texts.join(''));
  }
  /** Held-back data come later than they stand: the letters are compared, not their order. */
  const sorted = (text: string): string => text.split('').sort().join('');
  const found = (raw: string | Buffer): string => sorted([...contextTexts(Buffer.from(raw))].join(''));

  const text = fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.toWellFormed());
  const anything = fc.jsonValue({ maxDepth: 4 });
  const source = fc.record({ data: text, type: fc.constantFrom('base64', 'text', 'url') });
  const block = fc.oneof(
    fc.record({ type: fc.constantFrom('image', 'document'), source }),
    fc.record({ data: text, type: fc.constantFrom('redacted_thinking', 'text') }),
    fc.record({ type: fc.constant('tool_use'), input: fc.record({ data: text, source, content: fc.array(source) }) }),
    fc.record({
      type: fc.constant('tool_result'),
      content: fc.array(fc.record({ type: text, source }), { maxLength: 3 }),
    }),
    fc.record({ type: fc.constant('text'), text }),
  );
  const request = fc.record({
    model: text,
    system: fc.oneof(text, fc.array(block, { maxLength: 3 })),
    messages: fc.array(fc.record({ role: text, content: fc.oneof(text, fc.array(block, { maxLength: 4 })) })),
    metadata: anything,
    tools: fc.array(anything, { maxLength: 3 }),
  });

  it('are found whatever the bytes look like', () => {
    fc.assert(
      fc.property(request, fc.constantFrom(undefined, 1, '\t'), (body, indent) => {
        const plain = JSON.stringify(body, null, indent);
        const escaped = plain.replace(
          /[\u0080-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(found(plain)).toBe(reference(JSON.parse(plain)));
        expect(found(escaped)).toBe(reference(JSON.parse(plain)));
      }),
    );
  });

  it('are found in long strings, wherever a part ends', () => {
    for (const unit of ['a', '\\\\', '\\n', '\\u00e9', 'é', '漢', '\\"', 'x\\\\\\u0041']) {
      for (let before = 0; before < 8; before += 1) {
        const raw = `{"messages":[{"content":"${'y'.repeat(before)}${unit.repeat(3_000)}"}]}`;
        expect(found(raw)).toBe(reference(JSON.parse(raw)));
      }
    }
  });

  it('count: text documents and tool inputs do, whatever their members are called, and media do not', async () => {
    const words = 'some words of a text '.repeat(500);
    const count = async (content: unknown): Promise<number> => {
      const raw = JSON.stringify({ model: 'only-chat', messages: [{ role: 'user', content }] });
      const response = await send(app, counting, { secret: customer.secret, raw });
      return ((await response.json()) as { input_tokens: number }).input_tokens;
    };
    const source = { media_type: 'text/plain', data: words };
    expect(await count([{ type: 'document', source: { ...source, type: 'text' } }])).toBeGreaterThan(2_500);
    expect(await count([{ type: 'tool_use', id: 't', name: 'n', input: { data: words } }])).toBeGreaterThan(2_500);
    const image = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(40_000) };
    expect(await count([{ type: 'image', source: image }])).toBeLessThan(2_000);
  });
});

describe('the CPU time of counting', () => {
  it('is shared account by account, a slice at a time, and ends for an account with its budget', async () => {
    let nowMs = 0;
    const shares = createCpuShares({
      sliceMs: 5,
      account: { msPerSecond: 0, burstMs: 50 },
      total: { msPerSecond: 0, burstMs: 1_000 },
      now: () => nowMs,
    });
    const slices: string[] = [];
    const compute = async (name: string): Promise<number> => {
      const turns = shares.open(name);
      let counted = 0;
      let mayCount = await turns.next();
      for (let piece = 0; piece < 30; piece += 1) {
        if (mayCount) counted += 1;
        nowMs += 5;
        if (!turns.isOver()) throw new Error('a slice is longer than it may be');
        slices.push(name);
        mayCount = await turns.next();
      }
      turns.end();
      return counted;
    };
    const counted = await Promise.all([...Array.from({ length: 9 }, () => compute('greedy')), compute('other')]);
    // Nine computations of one account have what one of another has: every second slice while both are there.
    expect(slices.slice(0, 40).filter((name) => name === 'other')).toHaveLength(20);
    // 50 ms are ten slices; nine computations may each have begun one when they end.
    expect(counted.slice(0, 9).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(19);
    expect(counted[9]).toBe(10);
  });

  it('that is used up makes counts estimates by bytes, never refusals, and not too low', async () => {
    const nothing = createCpuShares({ account: { msPerSecond: 0, burstMs: 0 } });
    for (const text of [
      '漢字仮名交じり文'.repeat(500),
      'Ngữ pháp tiếng Việt không khó lắm đâu. '.repeat(100),
      'words of a text '.repeat(500),
    ]) {
      const exact = await tokenize([text], createCpuShares().open('account'));
      const estimated = await tokenize([text], nothing.open('account'));
      expect(estimated).toBeGreaterThanOrEqual(exact);
      expect(estimated).toBeLessThan(exact * 3);
    }
  });

  it('grows with the length of a body, not with its depth', async () => {
    const parts = (depth: number): number => {
      const nested = '['.repeat(depth) + '"x",'.repeat(2_000).slice(0, -1) + ']'.repeat(depth);
      return [...contextTexts(Buffer.from(`{"messages":${nested}}`))].length;
    };
    // One part for each string and none for its depth: the walk keeps no chain of readers.
    expect(parts(120) - parts(2)).toBe(0);
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
