import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProjects } from '../../server/accounts/projects.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, nativeCatalog, type ProtocolCase, parseEvents, send, settled } from './support.ts';

/** Answers that come whole to requests for a stream are stopped where their budget ends, like any stream. */

const tokens = 100_000;
/** Four bytes for each token, so that an estimate comes to the same as the report. */
const long = 'abc '.repeat(tokens);
const huge = 'abc '.repeat(270_000);
/** What one output token costs, pico-USD: 0.01 USD are a thousand of them. */
const price = 10_000_000n;
/** The longest piece of content, and what an estimate of it may be off. */
const pieceTokens = 1_100n;

const message = (content: unknown[], output: number | null) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'vendor-name',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  ...(output === null ? {} : { usage: { input_tokens: 10, output_tokens: output } }),
});
const completion = (choices: unknown[], output: number | null) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'vendor-name',
  choices,
  ...(output === null ? {} : { usage: { prompt_tokens: 10, completion_tokens: output } }),
});
const response = (output: unknown[], reported: number | null, status = 'completed') => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  status,
  model: 'vendor-name',
  output,
  ...(reported === null ? {} : { usage: { input_tokens: 10, output_tokens: reported, total_tokens: 10 + reported } }),
});

type Form = 'text' | 'thinking' | 'call';
const forms: Form[] = ['text', 'thinking', 'call'];

/** The whole answer of each vendor's protocol, by the path of the request. */
function answer(path: string, form: Form, text: string, output: number | null): unknown {
  if (path.endsWith('/messages')) {
    const blocks = {
      text: { type: 'text', text },
      thinking: { type: 'thinking', thinking: text, signature: 's' },
      call: { type: 'tool_use', id: 't', name: 'f', input: { text } },
    };
    return message([blocks[form]], output);
  }
  const args = JSON.stringify({ text });
  if (path.endsWith('/completions')) {
    const messages = {
      text: { content: text },
      thinking: { content: 'So.', reasoning_content: text },
      call: { content: null, tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: args } }] },
    };
    return completion([{ index: 0, message: { role: 'assistant', ...messages[form] }, finish_reason: 'stop' }], output);
  }
  const items = {
    text: { type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
    thinking: { type: 'reasoning', id: 'i', summary: [{ type: 'summary_text', text }] },
    call: { type: 'function_call', id: 'i', call_id: 't', name: 'f', arguments: args },
  };
  return response([items[form]], output);
}

let body: (path: string) => unknown = () => ({});
let upstream: Server;
let app: TestApp;
beforeAll(async () => {
  upstream = createServer((request, reply) => {
    request.resume().on('end', () => {
      reply.setHeader('content-type', 'application/json');
      reply.end(JSON.stringify(body(request.url ?? '')));
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const catalog = nativeCatalog({
    prices: '{ input: "1", cacheHit: "0.1", output: "10" }',
    vendorModel: 'vendor-name',
  });
  app = await startApp({
    catalog: () => catalog(url),
    env: { MAX_CONCURRENT_PER_KEY: '300', MAX_CONCURRENT_PER_ACCOUNT: '300', MAX_CONCURRENT_TRIAL: '300' },
  });
});
afterAll(async () => {
  await app.close();
  upstream.close();
});

const models = ['only-messages', 'only-chat', 'only-responses'];
const pairs = models.flatMap((model) => everyProtocol.map((client) => ({ model, client, name: client.protocol })));

const ask = (client: ProtocolCase, secret: string, model: string) =>
  send(app, client, { secret, text: 'ping', more: { model, stream: true, [client.cap]: 128_000 } });

/** Tokens of the long text that reached the client before the answer ended. */
function delivered(client: ProtocolCase, events: string): bigint {
  // Clients of responses get the text again with every end of a part.
  const ofDeltas = parseEvents(events).filter(
    ({ event }) => client.protocol !== 'responses' || event?.endsWith('.delta') === true,
  );
  return BigInt(ofDeltas.reduce((sum, { data }) => sum + (JSON.stringify(data).match(/abc /g) ?? []).length, 0));
}

describe.each(pairs)('$name client, model $model', ({ model, client }) => {
  it.each(forms)('a whole answer of 100,000 tokens of %s ends where 0.01 USD end', async (form) => {
    body = (path) => answer(path, form, long, tokens);
    const customer = await app.customer({ usd: '0.01' });
    const answered = await ask(client, customer.secret, model);
    expect(answered.status).toBe(200);
    const events = await answered.text();
    expect(events).not.toContain('vendor-name');
    expect(delivered(client, events)).toBeLessThan(1_000n + pieceTokens);
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'budget_stopped' });
    expect((row?.['cost'] as bigint) - (row?.['charged'] as bigint)).toBeLessThan(pieceTokens * price);
    expect(row?.['charged']).toBeGreaterThan(9_000_000_000n);
  });

  it('one whose usage is not reported does, too', async () => {
    body = (path) => answer(path, 'text', long, null);
    const customer = await app.customer({ usd: '0.01' });
    const events = await (await ask(client, customer.secret, model)).text();
    expect(delivered(client, events)).toBeLessThan(1_000n + pieceTokens);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'budget_stopped' }]);
  });

  it('one with more tokens than its text shows is not delivered for less than they cost', async () => {
    body = (path) => answer(path, 'text', 'abc ', tokens);
    const customer = await app.customer({ usd: '0.01' });
    const answered = await ask(client, customer.secret, model);
    expect(delivered(client, answered.status === 200 ? await answered.text() : '')).toBe(0n);
    await settled(app, customer);
  });

  it('one of a megabyte and more is delivered whole, under our name, and charged as reported', async () => {
    body = (path) => answer(path, 'text', huge, 12_345);
    const customer = await app.customer({ usd: '10' });
    const events = await (await ask(client, customer.secret, model)).text();
    expect(events).not.toContain('vendor-name');
    expect(delivered(client, events)).toBe(270_000n);
    expect(events).toContain(client.terminator);
    expect(await settled(app, customer)).toMatchObject([
      { outcome: 'completed', usage_source: 'reported', input: 10n, output: 12_345n },
    ]);
  });
});

describe.each(pairs.filter(({ model, name }) => model === 'only-messages' || name === 'messages'))(
  '$name client, model $model',
  ({ model, client }) => {
    it('twenty at once get no more than their account has, and a piece each', async () => {
      body = (path) => answer(path, 'text', long, tokens);
      const customer = await app.customer({ usd: '0.3' });
      const got = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const answered = await ask(client, customer.secret, model);
          return delivered(client, answered.status === 200 ? await answered.text() : '');
        }),
      );
      const all = got.reduce((sum, one) => sum + one, 0n);
      expect(all).toBeGreaterThan(10_000n);
      expect(all).toBeLessThan(30_000n + 20n * pieceTokens);
      const rows = await settled(app, customer);
      const charged = rows.reduce((sum, row) => sum + (row['charged'] as bigint), 0n);
      expect(charged).toBeLessThanOrEqual(300_000_000_000n);
    });

    it("a project's limit ends it on a rich account", async () => {
      body = (path) => answer(path, 'text', long, tokens);
      const customer = await app.customer({ usd: '100' });
      const { accountId } = customer;
      const projects = createProjects({ pool: app.pool });
      const made = await projects.create({
        accountId,
        name: 'Small',
        actor: 'test',
        limits: { month: null, lifetime: 10_000_000_000n },
      });
      if (made.kind !== 'created') throw new Error(made.kind);
      const placed = await app.keys.create({ accountId, actor: 'test', projectId: made.project.id });
      if (placed.kind !== 'created') throw new Error(placed.kind);
      const answered = await ask(client, placed.secret, model);
      expect(delivered(client, await answered.text())).toBeLessThan(1_000n + pieceTokens);
      expect(await settled(app, customer)).toMatchObject([{ outcome: 'budget_stopped' }]);
    });
  },
);

it.each<[what: string, model: string, whole: unknown]>([
  ['no choices', 'only-chat', completion([], null)],
  ['no content', 'only-messages', message([], null)],
  ['usage of nothing', 'only-messages', { ...message([], null), usage: { input_tokens: 0, output_tokens: 0 } }],
  ['no output', 'only-responses', response([], null)],
  ['a queue', 'only-responses', response([], 5, 'queued')],
  ['work that goes on', 'only-responses', response([{ type: 'message', content: [] }], 5, 'in_progress')],
])('an answer with %s is none: 502, free of charge', async (_what, model, whole) => {
  body = () => whole;
  for (const client of everyProtocol) {
    const customer = await app.customer();
    const answered = await ask(client, customer.secret, model);
    expect(answered.status).toBe(502);
    await errorOf(answered, client.protocol);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'upstream_error', usage_source: 'none', cost: 0n }]);
  }
});
