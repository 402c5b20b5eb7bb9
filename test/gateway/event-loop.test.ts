import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCpuShares } from '../../server/gateway/load/cpu-shares.ts';
import { watchMemory } from '../../server/gateway/load/memory.ts';
import { tokenize } from '../../server/gateway/reads/tokenize.ts';
import { createLag, lagTickMs } from '../../server/runtime/event-loop-lag.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, get, model, nativeCatalog, protocols, send } from './support.ts';

/** Hostile and large bodies never block other requests. Tests compare the order of events, not times. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer({ usd: '1000' });
});
afterAll(() => app.close());

/** Of an account that has its whole budget. */
const turns = () => createCpuShares().open('account');

const size = 30 * 1_048_576;
const filled = (unit: string, before: string, after: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size);
  bytes.fill(0x20);
  const pattern = Buffer.from(unit);
  for (let at = before.length; at + pattern.length <= size - after.length; at += pattern.length) bytes.set(pattern, at);
  bytes.set(Buffer.from(before));
  bytes.set(Buffer.from(after), size - after.length);
  return bytes;
};
const around: [string, string] = [`{"model":"${model}","max_tokens":16,"messages":[`, `0]}`];

const hostile = {
  'nothing but opening brackets': new Uint8Array(size).fill(0x5b),
  'nothing but commas and brackets': filled('[],', ...around),
  'nothing but numbers': filled('0,', ...around),
  'two million members': filled('"aaaaaaa":0,', `{"model":"${model}","max_tokens":16,"x":{`, `"z":0}}`),
  'nothing but quotes': new Uint8Array(size).fill(0x22),
  'nothing but backslashes': filled('\\\\', `{"model":"${model}","x":"`, `"}`),
  'nothing but blanks': new Uint8Array(size).fill(0x20),
  'one endless number': filled('1', `{"model":"${model}","max_tokens":`, '}'),
  'one long text': filled(
    'a',
    `{"model":"no-such-model","max_tokens":16,"messages":[{"role":"user","content":"`,
    '"}]}',
  ),
};

describe('hostile bodies of 30 MB', () => {
  // One protocol each: what scans the bytes is the same for all.
  const cases = Object.entries(hostile).map(([name, raw], index) => [name, raw, (index % 3) as 0 | 1 | 2] as const);

  it.each(cases)('%s: refused, and the next request is served', async (_name, raw, index) => {
    const protocol = everyProtocol[index] ?? protocols.messages;
    const response = await send(app, protocol, { secret: customer.secret, raw });
    expect(response.status).toBe(400);
    await response.arrayBuffer();
    expect((await send(app, protocols.chat, { secret: customer.secret })).status).toBe(200);
  });
});

describe('large bodies', () => {
  it('others are answered while tokens are counted that take long', async () => {
    // The dearest text for a tokenizer: no blanks, no letters that go together.
    const text = Array.from({ length: 400_000 }, (_none, index) =>
      String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000)),
    );
    let isCounted = false;
    const counting = send(
      app,
      { ...protocols.messages, path: '/v1/messages/count_tokens' },
      { secret: customer.secret, text: text.join(''), more: { model: 'only-chat' } },
    ).then(async (response) => {
      isCounted = true;
      return { status: response.status, ...((await response.json()) as { input_tokens: number }) };
    });
    // One after the other, so that each had to find its turn.
    for (let count = 0; count < 5; count += 1) {
      expect((await get(app, '/hello', null)).status).toBe(200);
      expect((await send(app, protocols.chat, { secret: customer.secret })).status).toBe(200);
    }
    expect(isCounted).toBe(false);
    const { status, input_tokens: tokens } = await counting;
    expect(status).toBe(200);
    expect(tokens).toBeGreaterThan(400_000);
  });

  it('a text beyond what is counted is not taken for less', async () => {
    const words = 'some words of a text '.repeat(60_000);
    const counted = await tokenize([words.slice(0, 1_000_000)], turns());
    const whole = await tokenize([words], turns());
    expect(whole).toBeGreaterThan(counted * (words.length / 1_000_000));
  });

  it('counting in pieces comes to what counting at once does, or more', async () => {
    for (const text of [
      'Ngữ pháp tiếng Việt không khó lắm đâu. '.repeat(50),
      'function f(x) { return x + 1; }\n'.repeat(99),
    ]) {
      const exact = countTokens(text);
      const inPieces = await tokenize([text], turns());
      expect(inPieces).toBeGreaterThanOrEqual(exact);
      expect(inPieces).toBeLessThan(exact * 1.05);
    }
    expect(await tokenize(['<|endoftext|> is plain text'], turns())).toBeGreaterThan(4);
    expect(await tokenize([], turns())).toBe(0);
  });
});

describe('a process that cannot keep up', () => {
  it('takes no new requests, says when to come again, and stays alive', async () => {
    const busy = await startApp({ overloadLagMs: -1 });
    const own = await busy.customer();
    for (const protocol of everyProtocol) {
      const response = await send(busy, protocol, { secret: own.secret });
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('2');
      expect((await errorOf(response, protocol.protocol)).message).toContain('/status');
    }
    expect(busy.simulator.stats().requests).toBe(0);
    expect((await fetch(`${busy.url}/healthz`)).status).toBe(200);
    await busy.close();
  });

  it('is also one whose memory runs short: 503 before the system ends it', async () => {
    const full = await startApp({ env: { MAX_RSS_MB: '1' } });
    const own = await full.customer();
    for (const protocol of everyProtocol) {
      const response = await send(full, protocol, { secret: own.secret });
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('2');
    }
    expect(full.simulator.stats().requests).toBe(0);
    expect((await fetch(`${full.url}/healthz`)).status).toBe(200);
    await full.close();
  });

  it('takes requests again when memory is free, and counts the heap as well', async () => {
    let reading = { rssBytes: 1, heapShare: 0.5 };
    const memory = watchMemory({ maxRssBytes: 100, intervalMs: 1, read: () => reading });
    expect(memory.scarce).toBe(false);
    for (const [next, scarce] of [
      [{ rssBytes: 101, heapShare: 0.5 }, true],
      [{ rssBytes: 100, heapShare: 0.5 }, false],
      [{ rssBytes: 1, heapShare: 0.91 }, true],
    ] as const) {
      reading = next;
      await expect.poll(() => memory.scarce).toBe(scarce);
    }
    memory.close();
  });

  it('is one that keeps being late, not one that was late once', () => {
    const lag = createLag(0);
    lag.tick(lagTickMs);
    expect(lag.lastingMs()).toBe(0);
    lag.tick(2 * lagTickMs + 900);
    expect([lag.latestMs(), lag.lastingMs()]).toEqual([900, 0]);
    lag.tick(3 * lagTickMs + 900 + 400);
    expect([lag.latestMs(), lag.lastingMs()]).toEqual([400, 400]);
    lag.tick(4 * lagTickMs + 900 + 400);
    expect(lag.lastingMs()).toBe(0);
  });
});
