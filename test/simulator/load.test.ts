import { describe, expect, it } from 'vitest';
import { startBareProxy } from '../bench/bare-proxy.ts';
import { startFastUpstream } from '../bench/fast-upstream.ts';
import { createMessageReader } from '../bench/http-reader.ts';
import { holdStreams, runLoad } from '../bench/load.ts';
import { CLIENTS, fastSimulator } from './clients.ts';

/** The benchmark's own parts: a benchmark that miscounts is worse than none. */
const body = (stream: boolean, text = 'ping'): string =>
  JSON.stringify({ model: 'm', max_tokens: 99, stream, messages: [{ role: 'user', content: text }] });

describe('the message reader', () => {
  it('finds every message and body however the bytes are split', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n',
    );
    for (let size = 1; size <= bytes.length; size += 1) {
      const seen: string[] = [];
      let text = '';
      const reader = createMessageReader({
        onHead: (head) => {
          text = `${head.slice(9, 12)} `;
        },
        onBody: (part) => {
          text += part.toString();
        },
        onEnd: () => {
          seen.push(text);
        },
      });
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      expect(seen).toEqual(['200 hello', '204 ', '200 abc0123456789abcdef']);
    }
  });
});

describe('the fast upstream', () => {
  it.each([0, 1])('is read by every published client (interval %i ms)', async (intervalMs) => {
    const upstream = await startFastUpstream({ pieces: 3, intervalMs });
    const simulator = { ...(await fastSimulator()), url: upstream.url };
    for (const client of CLIENTS.filter(({ name }) => !name.includes('responses'))) {
      for (const stream of [false, true]) {
        expect(await client.ask(simulator, { text: 'ping', stream })).toMatchObject({ text: 'word word word ' });
      }
    }
    expect(upstream.stats()).toEqual({ requests: 6, openStreams: 0, abortedStreams: 0 });
    await Promise.all([simulator.close(), upstream.close()]);
  });

  it('holds idle streams until they are let go', async () => {
    const upstream = await startFastUpstream({ idle: true });
    const held = await holdStreams({ url: upstream.url, path: '/v1/messages', body: body(true), streams: 20 });
    expect(held).toMatchObject({ open: 20, lost: 0 });
    expect(upstream.stats()).toMatchObject({ openStreams: 20 });
    held.release();
    while (upstream.stats().openStreams > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.stats().abortedStreams).toBe(20);
    await upstream.close();
  });
});

describe('the load generator', () => {
  it('counts through the bare proxy exactly what the upstream answered', async () => {
    const upstream = await startFastUpstream({ pieces: 5 });
    const proxy = await startBareProxy({ upstream: upstream.url });
    const run = { url: proxy.url, path: '/api/v1/chat/completions', connections: 4, warmupMs: 100, durationMs: 300 };
    const whole = await runLoad({ ...run, body: body(false) });
    expect(whole).toMatchObject({ errors: 0, events: 0, statuses: { '200': whole.requests } });
    expect(whole.requests).toBeGreaterThan(0);
    expect(whole.requests).toBeLessThanOrEqual(upstream.stats().requests);
    const streamed = await runLoad({ ...run, body: body(true) });
    // A role chunk, five pieces, the finish, the usage and the end; streams that ran when time was up count in part.
    expect(streamed.events).toBeGreaterThanOrEqual(9 * streamed.requests);
    expect(streamed.events).toBeLessThanOrEqual(9 * (streamed.requests + 8));
    expect(streamed.latencyMs.p50).toBeGreaterThan(0);
    expect(streamed.latencyMs.p99).toBeGreaterThanOrEqual(streamed.latencyMs.p50);
    await Promise.all([proxy.close(), upstream.close()]);
  });

  it('counts refusals and broken answers as errors, not as requests', async () => {
    const simulator = await fastSimulator();
    const run = { url: simulator.url, path: '/v1/chat/completions', connections: 2, warmupMs: 50, durationMs: 250 };
    const refused = await runLoad({ ...run, body: body(false, '[[status 429]]') });
    expect(refused).toMatchObject({ requests: 0, statuses: { '429': refused.errors } });
    const cut = await runLoad({ ...run, body: body(true, '[[cut 2]]') });
    expect(cut.requests).toBe(0);
    expect(cut.errors).toBeGreaterThan(0);
    await simulator.close();
  });

  it('counts lost streams as lost', async () => {
    const simulator = await fastSimulator();
    const settings = { url: simulator.url, path: '/v1/chat/completions', streams: 5 };
    const held = await holdStreams({ ...settings, body: body(true, '[[drop]]') });
    expect(held).toMatchObject({ open: 0, lost: 5 });
    await simulator.close();
  });
});
