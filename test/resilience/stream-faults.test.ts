import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { ask, catalogFile, counter, type Direction, directions, leaks, oneRouteEach } from './support.ts';

/** What goes wrong after content was relayed, and answers whose usage is not plausible. */

let app: TestApp;
/** For what falls silent; what only pauses with a slow machine is none of its business. */
let impatient: TestApp;
const start = (deadPort: number, idleTimeoutMs: string) =>
  startApp({
    simulator: { record: 5_000 },
    env: { UPSTREAM_HEADERS_TIMEOUT_MS: '30000', UPSTREAM_IDLE_TIMEOUT_MS: idleTimeoutMs },
    catalog: (url) => {
      const { upstreams, models } = oneRouteEach(url);
      return catalogFile({
        upstreams: [...upstreams, { id: 'dead', protocol: 'messages', url: `http://127.0.0.1:${deadPort}` }],
        models: [...models, { id: 'on-dead', routes: [{ upstream: 'dead' }] }],
      });
    },
  });
beforeAll(async () => {
  const deadPort = await freePort();
  [app, impatient] = await Promise.all([start(deadPort, '30000'), start(deadPort, '600')]);
});
afterAll(() => Promise.all([app.close(), impatient.close()]));

const streamed = directions.filter(({ stream }) => stream);

interface Break {
  name: string;
  directives: string;
  outcome: 'upstream_cut' | 'upstream_error' | 'timeout';
  /** What the error event must not sound like. */
  never?: RegExp;
}

const breaks: Break[] = [
  { name: 'silence', directives: '[[len 60]][[hang 12]]', outcome: 'timeout' },
  { name: 'the connection drops', directives: '[[len 60]][[cut 12]]', outcome: 'upstream_cut' },
  { name: 'a reset', directives: '[[len 60]][[cut 12 reset]]', outcome: 'upstream_cut' },
  { name: 'the body just ends', directives: '[[len 60]][[cut 12 end]]', outcome: 'upstream_cut' },
  { name: 'an error event', directives: '[[len 60]][[midfail 12]]', outcome: 'upstream_error' },
  {
    name: 'an error event about our key',
    directives: '[[len 60]][[midfail 12 401]]',
    outcome: 'upstream_error',
    never: /authentication|api key|401/i,
  },
  {
    name: 'an error event about our limits',
    directives: '[[len 60]][[midfail 12 429]]',
    outcome: 'upstream_error',
    never: /rate.?limit|organization|429/i,
  },
];

describe.each(breaks)('an upstream that fails after content: $name', ({ directives, outcome, never }) => {
  it.concurrent.each(streamed)('$name', async (direction) => {
    const { client } = direction;
    const asked = outcome === 'timeout' ? impatient : app;
    const got = await ask(asked, direction, directives);
    expect(got.status).toBe(200);
    expect(got.text).toContain('w1"');
    expect(got.text).not.toContain(client.terminator);
    expect(got.error).toMatchObject({ message: expect.stringMatching(/\w/) });
    expect(JSON.stringify(got.error)).not.toMatch(never ?? /$^/);
    expect(got.text.endsWith('\n\n')).toBe(true);
    expect(leaks(asked, got)).toEqual([]);
    expect(got).toMatchObject({ rows: 1, held: 0n, upstreamCalls: 1, row: { outcome } });
    expect(got.row['usage_source']).toBeOneOf(['partial', 'estimated']);
    // What was delivered is charged: some words of sixty, and the context at least as if it had been cached.
    expect(Number(got.row['output'])).toBeGreaterThanOrEqual(2);
    expect(Number(got.row['output'])).toBeLessThan(60);
    expect(Number(got.row['input']) + Number(got.row['cache_hit'])).toBeGreaterThan(0);
    expect(got.row['charged']).toBe(got.row['cost']);
  });
});

describe('only the terminator is missing', () => {
  // Events of the answer "w0": all but the last one.
  const events = { messages: 5, 'chat-completions': 3, responses: 0 };
  it.concurrent.each(streamed.filter(({ upstream }) => events[upstream] > 0))('$name', async (direction) => {
    const got = await ask(app, direction, `[[say w0]][[cut ${events[direction.upstream]} end]]`);
    expect(got.text).toContain(direction.client.terminator);
    expect(got.error).toBeNull();
    expect(got.row).toMatchObject({ outcome: 'completed' });
  });
});

describe('an answer without usage', () => {
  it.concurrent.each(directions)('$name', async (direction) => {
    const got = await ask(app, direction, '[[len 40]][[nousage]]');
    expect(got.status).toBe(200);
    expect(got.row).toMatchObject({ outcome: 'completed', usage_source: 'estimated' });
    expect(Number(got.row['input'])).toBeGreaterThan(5);
    expect(Number(got.row['output'])).toBeGreaterThanOrEqual(25);
    expect(got).toMatchObject({ rows: 1, held: 0n, row: { charged: got.row['cost'] } });
  });
});

const broken: Record<Direction['upstream'], Record<string, unknown>[]> = {
  messages: [
    { input_tokens: -5, output_tokens: 7 },
    { input_tokens: 10, output_tokens: -7 },
    { input_tokens: 1.5, output_tokens: 2.5 },
    { input_tokens: '12', output_tokens: 'many' },
    { input_tokens: 1e18, output_tokens: 1e18 },
    { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: -1 },
    { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 1e300 },
  ],
  'chat-completions': [
    { prompt_tokens: -5, completion_tokens: 7, total_tokens: 2 },
    { prompt_tokens: 10, completion_tokens: -7, total_tokens: 3 },
    { prompt_tokens: 1.5, completion_tokens: 2.5 },
    { prompt_tokens: '12', completion_tokens: 'many' },
    { prompt_tokens: 1e18, completion_tokens: 1e18 },
    { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 11_000 } },
  ],
  responses: [
    { input_tokens: -5, output_tokens: 7 },
    { input_tokens: 1e18, output_tokens: 1.5 },
    { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 999 } },
  ],
};

describe.each(directions)('implausible usage, $name', (direction) => {
  it.concurrent.each(broken[direction.upstream])(
    'usage %j is corrected, never a credit and never a 500',
    async (usage) => {
      const got = await ask(app, direction, `[[say fine]][[usage ${JSON.stringify(usage)}]]`);
      expect(got.status).toBe(200);
      expect(got.error).toBeNull();
      expect(got.row['usage_source']).toBeOneOf(['clamped', 'estimated']);
      for (const pool of ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output']) {
        expect(got.row[pool]).toBeGreaterThanOrEqual(0n);
        expect(got.row[pool]).toBeLessThanOrEqual(100_000_000n);
      }
      expect(got.row['charged']).toBeGreaterThanOrEqual(0n);
      expect(got.row['charged']).toBeLessThanOrEqual(got.row['cost'] as bigint);
      expect(got).toMatchObject({ rows: 1, held: 0n });
    },
  );
});

describe('answers by another model or above the cap', () => {
  it.each(directions)('$name: another model is an anomaly, and the row says what was asked for', async (direction) => {
    const labels = { kind: 'model_mismatch', upstream: `vendor-${direction.upstream}` };
    const before = await counter(app, 'gateway_anomalies_total', labels);
    const got = await ask(app, direction, '[[say hello]][[model quite-another-model]]');
    expect(got.status).toBe(200);
    expect(got.row).toMatchObject({ model: direction.model, outcome: 'completed' });
    expect(await counter(app, 'gateway_anomalies_total', labels)).toBe(before + 1);
  });

  it.each(directions)('$name: the model asked for is none', async (direction) => {
    const before = await counter(app, 'gateway_anomalies_total');
    await ask(app, direction, '[[say hello]]');
    expect(await counter(app, 'gateway_anomalies_total')).toBe(before);
  });

  it.concurrent.each(directions)('$name: more than max_tokens is not charged, and marked', async (direction) => {
    const usage =
      direction.upstream === 'chat-completions'
        ? { prompt_tokens: 10, completion_tokens: 500_000, total_tokens: 500_010 }
        : { input_tokens: 10, output_tokens: 500_000 };
    const got = await ask(app, direction, `[[say hello]][[usage ${JSON.stringify(usage)}]]`, {
      usd: '0.01',
      more: { [direction.client.cap]: 16 },
    });
    expect(got.status).toBe(200);
    expect(got.row).toMatchObject({ input: 10n, output: 16n, usage_source: 'clamped', outcome: 'completed' });
    expect(got.row['charged']).toBe(got.row['cost']);
  });
});

describe('an upstream that refuses connections', () => {
  it.each(directions.filter(({ upstream }) => upstream === 'messages'))('$name', async (direction: Direction) => {
    const before = await counter(app, 'gateway_upstream_answers_total', { end: 'connect' });
    const got = await ask(app, { ...direction, model: 'on-dead' }, 'ping');
    expect(got.status).toBe(502);
    expect(got.error?.message).toContain('/status');
    expect(got).toMatchObject({
      rows: 1,
      held: 0n,
      row: { outcome: 'upstream_error', cost: 0n, usage_source: 'none' },
    });
    // One more try at the same model, since nothing had been accepted; never a third, and none at all once the budget
    // for such tries is used up.
    expect((await counter(app, 'gateway_upstream_answers_total', { end: 'connect' })) - before).toBeOneOf([1, 2]);
  });
});

describe('an answer while the request still comes in', () => {
  it.each(directions)('$name', async (direction) => {
    const got = await ask(app, direction, `[[early 413]]${'x'.repeat(3_000_000)}`);
    expect(got.status).toBe(413);
    expect(got).toMatchObject({ rows: 1, held: 0n, upstreamCalls: 1, row: { outcome: 'upstream_error', cost: 0n } });
    // The connection is not used again: the next request finds one that works.
    expect((await ask(app, direction, '[[say next]]')).status).toBe(200);
  });
});

/** A beginning that every reader of the protocol takes for content, and the bytes of a stream that goes on without any. */
const beginnings: Record<Direction['upstream'], string> = {
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word"}}\n\n',
  'chat-completions': 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"word"}}]}\n\n',
  responses:
    'event: response.created\ndata: {"type":"response.created","response":{"status":"in_progress","output":[]}}\n\nevent: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[]}}\n\nevent: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"word"}\n\n',
};

describe.each([
  ['comments', ':\n\n'],
  ['blank lines', '\n'],
  ['empty events', 'data:\n\n'],
  ['pings', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ['events that mean nothing', 'data: {}\n\n'],
])('an upstream that goes on with %s alone', (_name, line) => {
  it.concurrent.each(streamed)('is cut off: $name', async (direction) => {
    const raw = beginnings[direction.upstream] + line.repeat(70_000);
    const got = await ask(app, direction, `[[raw ${Buffer.from(raw).toString('base64')}]]`);
    expect(got.status).toBe(200);
    expect(got.error).toMatchObject({ message: expect.stringMatching(/\w/) });
    expect(got).toMatchObject({ rows: 1, held: 0n, row: { outcome: 'upstream_error' } });
    expect(got.row['charged']).toBe(got.row['cost']);
  });
});
