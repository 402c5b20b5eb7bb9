import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Customer, secretKeyOf, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, parseEvents, protocols, send, settled } from './support.ts';

/**
 * Codex compacts a long session by `compaction_trigger` or at `/v1/responses/compact` and has no other way when either fails
 * (openai/codex, `codex-rs/core/src/compact_remote_v2.rs`): both are served in front of every upstream, and what they
 * give is readable on every route later.
 */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  const catalog = nativeCatalog();
  app = await startApp({
    catalog: (url) =>
      [
        catalog(url).replace(
          'models:',
          `  - { id: openai, protocol: responses, baseUrl: "${url}/as/openai-gpt5/v1", profile: openai-gpt5 }\nmodels:`,
        ),
        '  - { id: compacting, displayName: compacting, family: tests, contextWindow: 200000, maxOutputTokens: 32000,',
        '      prices: { input: "1", cacheHit: "0.1", output: "5" }, routes: [{ upstream: openai, model: sim-medium }] }',
      ].join('\n'),
  });
  customer = await app.customer();
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

const models = ['only-messages', 'only-chat', 'only-responses'] as const;
const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object' }, strict: false }];
const history = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend the roof of house 17.' }] },
  { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'done' },
];
const trigger = { type: 'compaction_trigger' };
const ask = (more: Record<string, unknown>, by: Customer = customer) =>
  send(app, protocols.responses, { secret: by.secret, more });
const sentUp = () => String(app.simulator.requests().at(-1)?.body);

interface Item {
  type: string;
  role?: string;
  encrypted_content?: string;
}

/** The item of a streamed compaction, read as Codex reads it: exactly one, and the response is completed. */
async function streamed(model: string, by: Customer = customer): Promise<Item> {
  const response = await ask({ model, tools, stream: true, input: [...history, trigger] }, by);
  expect(response.status).toBe(200);
  const events = parseEvents(await response.text()).map(({ data }) => data as { type: string; item?: Item });
  expect(events.at(-1)?.type).toBe('response.completed');
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as Item);
  expect(done.map(({ type }) => type)).toEqual(['compaction']);
  return done[0] as Item;
}

describe.each(models)('%s', (model) => {
  it('a trigger gives one sealed item, billed like any request, and no word of it in the clear', async () => {
    const payer = await app.customer();
    const item = await streamed(model, payer);
    expect(item.encrypted_content).toMatch(/^gwc1\.[\w-]{40,}$/);
    expect(JSON.stringify(item)).not.toContain('roof');
    expect(sentUp()).toContain('hand-over');
    expect(sentUp()).not.toContain('compaction_trigger');
    expect(await settled(app, payer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
  });

  it('unstreamed, too', async () => {
    const response = await ask({ model, input: [...history, trigger] });
    const { output, status } = (await response.json()) as { output: Item[]; status: string };
    expect([response.status, status, output.map(({ type }) => type)]).toEqual([200, 'completed', ['compaction']]);
  });

  it('at its own address: what the user said, and the item', async () => {
    const response = await fetch(`${app.baseUrl}/v1/responses/compact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}` },
      body: JSON.stringify({ model, input: history, instructions: 'Be brief.' }),
    });
    const body = (await response.json()) as { object: string; output: Item[]; usage: { input_tokens: number } };
    expect([response.status, body.object]).toEqual([200, 'response.compaction']);
    expect(body.output.map(({ type, role }) => role ?? type)).toEqual(['user', 'compaction']);
    expect(body.usage.input_tokens).toBeGreaterThan(0);
  });

  it.each(models)('its item is readable at %s', async (other) => {
    const item = await streamed(model);
    const input = [item, { role: 'user', content: 'Go on.' }];
    const response = await ask({ model: other, input });
    expect(response.status).toBe(200);
    await response.text();
    expect(sentUp()).toContain('What follows is the hand-over');
    expect(sentUp()).not.toContain('gwc1.');
  });
});

describe('a vendor that compacts itself', () => {
  it('is asked to, and its item goes to the client and back as it is', async () => {
    const payer = await app.customer();
    const item = await streamed('compacting', payer);
    expect(sentUp()).toContain('compaction_trigger');
    expect(sentUp()).not.toContain('hand-over');
    expect(item.encrypted_content).not.toMatch(/^gwc1\./);
    const next = await ask({ model: 'compacting', input: [item, { role: 'user', content: '[[say on]]' }] }, payer);
    expect(next.status).toBe(200);
    await next.text();
    expect(JSON.parse(sentUp()).input[0]).toEqual(item);
    const entries = await settled(app, payer);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  });

  it('is asked at the address of compactions, too', async () => {
    const response = await fetch(`${app.baseUrl}/v1/responses/compact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}` },
      body: JSON.stringify({ model: 'compacting', input: history, instructions: 'Be brief.' }),
    });
    const body = (await response.json()) as { object: string; output: Item[] };
    expect([response.status, body.object]).toEqual([200, 'response.compaction']);
    expect(body.output.at(-1)?.type).toBe('compaction');
    expect(sentUp()).toContain('compaction_trigger');
  });

  it('reads what was compacted at other routes', async () => {
    const item = await streamed('only-chat');
    const next = await ask({ model: 'compacting', input: [item, { role: 'user', content: '[[say on]]' }] });
    expect(next.status).toBe(200);
    await next.text();
    expect(sentUp()).toContain('What follows is the hand-over');
  });
});

it('the item of another account stays sealed', async () => {
  const item = await streamed('only-chat', await app.customer());
  const response = await ask({ model: 'only-chat', input: [item, { role: 'user', content: 'Go on.' }] });
  expect(response.status).toBe(400);
  expect(app.simulator.requests()).toHaveLength(1);
});

it('what an earlier secret key has sealed stays readable for as long as that key is named', async () => {
  const item = await streamed('only-chat');
  const say = { model: 'only-chat', input: [item, { role: 'user', content: '[[say read]]' }] };
  const previous = secretKeyOf(app).toString('base64');
  for (const [env, hand] of [
    [{ SECRET_KEY_PREVIOUS: previous }, true],
    [{}, false],
  ] as const) {
    const rotated = await startApp({ catalog: nativeCatalog(), beside: app, secretKey: randomBytes(32), env });
    try {
      rotated.simulator.clearRequests();
      const response = await send(rotated, protocols.responses, { secret: customer.secret, more: say });
      await response.text();
      expect(rotated.simulator.requests().some(({ body }) => body.toString().includes('hand-over'))).toBe(hand);
    } finally {
      await rotated.close();
    }
  }
});
