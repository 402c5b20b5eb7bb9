import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addUpstreamKey } from '../../server/catalog/upstreams.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { secretKeyOf, startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, type ProtocolCase, protocols, send, settled, until } from './support.ts';

/**
 * Several routes and several vendor keys for one model, from the front door: the choice of a route, and its stickiness.
 */

interface Landing {
  place: string;
  key: string;
  model: string;
}

/** A vendor with many base addresses: the first segment of the path names the upstream. */
let vendor: Server;
let landings: Landing[] = [];
/** Keys that the vendor answers with this status. */
const refusedKeys = new Map<string, number>();
/** What the vendor says it ran, where that is not what it was asked for. */
let ran: string | null = null;

let app: TestApp;

const places = ['a', 'b', 'c', 'd'];
/** What one key of an upstream is answered with; each case has an upstream and a model of its own. */
const refusals = [429, 401, 402];
const keysOf = (status: number): string[] => [1, 2, 3].map((number) => `pool-${status}-key-${number}`);

beforeAll(async () => {
  vendor = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const key = String(request.headers['x-api-key'] ?? request.headers.authorization).replace('Bearer ', '');
      const { model } = JSON.parse(body) as { model: string };
      landings.push({ place: request.url?.split('/')[1] ?? '', key, model });
      const status = refusedKeys.get(key) ?? 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(status === 200 ? answer(ran ?? model) : { type: 'error', error: { type: 'x', message: 'x' } }),
      );
    });
  });
  await new Promise<void>((resolve) => {
    vendor.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  app = await startApp({ catalog: () => catalog(url) });
  const seal = createSeal({ secretKeys: [secretKeyOf(app)] });
  const client = await app.pool.connect();
  for (const status of refusals) {
    for (const secret of keysOf(status).slice(1)) {
      await addUpstreamKey(client, seal, { upstreamId: `pool-${status}`, secret, actor: 'test' });
    }
  }
  client.release();
  // The keys are known when each of them is used.
  for (const status of refusals) {
    const seen = new Set<string>();
    await until(async () => {
      const { secret } = await app.customer();
      await (await ask(protocols.messages, secret, { model: `pool-${status}` })).text();
      for (const { key, place } of landings) if (place === `pool-${status}`) seen.add(key);
      return seen.size === 3;
    });
  }
});
afterAll(async () => {
  await app.close();
  vendor.closeAllConnections();
  vendor.close();
});
beforeEach(() => {
  landings = [];
  refusedKeys.clear();
  ran = null;
});

function answer(model: string) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'here' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 2 },
  };
}

function catalog(url: string): string {
  const upstream = (id: string, apiKey: string) => ({ id, protocol: 'messages', baseUrl: `${url}/${id}`, apiKey });
  const entry = (id: string, routes: unknown[]) => ({
    id,
    displayName: id,
    family: 'tests',
    contextWindow: 200_000,
    maxOutputTokens: 32_000,
    prices: { input: '1', cacheHit: '0.1', output: '5' },
    routes,
  });
  return JSON.stringify({
    upstreams: [
      ...places.map((id) => upstream(id, `key-of-${id}`)),
      ...refusals.map((status) => upstream(`pool-${status}`, keysOf(status)[0] ?? '')),
    ],
    models: [
      entry(
        'equal',
        places.map((id) => ({ upstream: id, model: 'vendor-equal' })),
      ),
      entry('weighted', [
        { upstream: 'a', model: 'vendor-weighted', weight: 9 },
        { upstream: 'b', model: 'vendor-weighted', weight: 1 },
      ]),
      entry('ranked', [
        { upstream: 'a', model: 'vendor-second', priority: 2, weight: 1_000 },
        { upstream: 'b', model: 'vendor-first', priority: 1 },
      ]),
      ...refusals.map((status) => entry(`pool-${status}`, [{ upstream: `pool-${status}`, model: 'vendor-pooled' }])),
    ],
  });
}

const ask = (to: ProtocolCase, secret: string, more: Record<string, unknown>): Promise<Response> =>
  send(app, to, { secret, more });

/** Where each of these requests of one customer landed. */
async function land(to: ProtocolCase, secret: string, bodies: readonly Record<string, unknown>[]): Promise<string[]> {
  const landed: string[] = [];
  for (const more of bodies) {
    landings = [];
    const response = await ask(to, secret, more);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('here')]);
    expect(landings).toHaveLength(1);
    landed.push(landings[0]?.place ?? '');
  }
  return landed;
}

describe('priority and weight', () => {
  it('the route of the better priority gets all requests while it works, under its own model name', async () => {
    const { secret } = await app.customer();
    expect(
      await land(
        protocols.messages,
        secret,
        Array.from({ length: 5 }, () => ({ model: 'ranked' })),
      ),
    ).toEqual(Array(5).fill('b'));
    expect(landings).toEqual([{ place: 'b', key: 'key-of-b', model: 'vendor-first' }]);
  });

  it('equals share by weight', async () => {
    const { secret } = await app.customer();
    const bodies = Array.from({ length: 60 }, (_, index) => ({
      model: 'weighted',
      messages: [{ role: 'user', content: `conversation ${index}` }],
    }));
    const landed = await land(protocols.messages, secret, bodies);
    // Nine in ten of sixty: 40 or fewer come less than once in a million runs.
    expect(landed.filter((place) => place === 'a').length).toBeGreaterThan(40);
  });

  it('the row says where it ran', async () => {
    const customer = await app.customer();
    await land(protocols.messages, customer.secret, [{ model: 'ranked' }]);
    expect(await settled(app, customer)).toMatchObject([{ model: 'ranked', upstream: 'b', outcome: 'completed' }]);
  });
});

describe('a conversation stays where its beginning is cached', () => {
  const long = 'You are careful. '.repeat(300);
  const turns = (first: unknown, say: (role: string, text: string) => unknown): unknown[][] =>
    [0, 1, 2, 3, 4].map((round) => [
      first,
      ...Array.from({ length: round }, (_, index) => [
        say('assistant', `answer ${index}`),
        say('user', `and then ${index}?`),
      ]).flat(),
    ]);
  const plain = (role: string, content: string) => ({ role, content });

  /** The requests of one conversation, as clients send them; `name` sets it apart from every other. */
  const conversations: [string, ProtocolCase, (name: string) => Record<string, unknown>[]][] = [
    [
      'messages, with a short first message',
      protocols.messages,
      (name) => turns(plain('user', name), plain).map((messages) => ({ system: long, messages })),
    ],
    [
      'messages, with a header that changes every time',
      protocols.messages,
      (name) =>
        turns({ role: 'user', content: [{ type: 'text', text: `${name} {"[\\` }] }, plain).map((messages, index) => ({
          system: [
            { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.${'9'.repeat(index)}; cch=${index}7a5;` },
            { type: 'text', text: long, cache_control: { type: 'ephemeral' } },
          ],
          messages,
        })),
    ],
    [
      'chat completions',
      protocols.chat,
      (name) =>
        turns(plain('user', name), plain).map((rest) => ({ messages: [plain('system', name + long), ...rest] })),
    ],
    [
      'responses',
      protocols.responses,
      (name) => turns(plain('user', name), plain).map((input) => ({ instructions: long, input })),
    ],
  ];

  it.each(conversations)('%s', async (_name, to, conversation) => {
    const { secret } = await app.customer();
    for (let index = 0; index < 6; index += 1) {
      const bodies = conversation(`Conversation ${index}.`).map((body) => ({ model: 'equal', ...body }));
      expect(new Set(await land(to, secret, bodies)).size).toBe(1);
    }
  });

  it('accounts are spread over all routes', async () => {
    const used = new Set<string>();
    await until(async () => {
      const { secret } = await app.customer();
      for (const place of await land(protocols.messages, secret, [{ model: 'equal' }])) used.add(place);
      return used.size === places.length;
    });
    expect([...used].toSorted()).toEqual(places);
  });
});

describe('the keys of one upstream', () => {
  const one = async (model: string, to: ProtocolCase, secret: string): Promise<{ status: number; keys: string[] }> => {
    landings = [];
    const response = await ask(to, secret, { model });
    await response.text();
    return { status: response.status, keys: landings.map(({ key }) => key) };
  };

  it.each([
    [429, protocols.messages],
    [401, protocols.chat],
    [402, protocols.responses],
  ])(
    'one that is answered with %s rests; the request goes on with a sibling, and so do the next ones',
    async (status, to) => {
      const customer = await app.customer();
      const model = `pool-${status}`;
      const { keys } = await one(model, to, customer.secret);
      const [own = ''] = keys;
      expect(keys).toEqual([own]);
      refusedKeys.set(own, status);
      const during = await one(model, to, customer.secret);
      const [, sibling = ''] = during.keys;
      expect(during).toEqual({ status: 200, keys: [own, sibling] });
      expect(keysOf(status).filter((key) => key !== own)).toContain(sibling);
      refusedKeys.clear();
      // It is well again, and still rests.
      for (let index = 0; index < 3; index += 1) {
        expect(await one(model, to, customer.secret)).toEqual({ status: 200, keys: [sibling] });
      }
      const rows = await settled(app, customer);
      expect(rows.map(({ outcome }) => outcome)).toEqual(Array(5).fill('completed'));
    },
  );

  it('all at rest: no customer sees the vendor’s limit as their own, and none pays', async () => {
    for (const key of keysOf(429)) refusedKeys.set(key, 429);
    for (const to of everyProtocol) {
      const customer = await app.customer();
      const { status } = await one('pool-429', to, customer.secret);
      expect(status).toBe(to.protocol === 'messages' ? 529 : 503);
      expect(await settled(app, customer)).toMatchObject([{ outcome: 'upstream_error', cost: 0n }]);
    }
  });
});

describe.each(everyProtocol)('an upstream that runs another model: $protocol', (to) => {
  const warnings = (): Record<string, unknown>[] =>
    app.logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'the upstream answered with another model');
  const count = async (): Promise<number> => {
    const metric = await app.app.metrics.registry.getSingleMetric('gateway_anomalies_total')?.get();
    const own = metric?.values.filter(
      ({ labels }) => labels['kind'] === 'model_mismatch' && labels['upstream'] === 'b',
    );
    return (own ?? []).reduce((sum, { value }) => sum + value, 0);
  };

  it('is written down with the request, and counted, so that it can ring a bell', async () => {
    const { secret } = await app.customer();
    const [before, lines] = [await count(), warnings().length];
    ran = 'cheaper-model';
    const response = await ask(to, secret, { model: 'ranked' });
    await response.text();
    expect(await count()).toBe(before + 1);
    expect(warnings().slice(lines)).toEqual([
      expect.objectContaining({
        level: 'warn',
        requestId: response.headers.get('x-request-id'),
        upstream: 'b',
        model: 'vendor-first',
      }),
    ]);
  });

  it('a dated name of the same model rings none', async () => {
    const { secret } = await app.customer();
    const before = await count();
    ran = 'vendor-first-2026-05-01';
    await (await ask(to, secret, { model: 'ranked' })).text();
    expect(await count()).toBe(before);
  });
});
