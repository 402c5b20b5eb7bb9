/** Any vendor from an address and a key: what it is, is found; what is stored, has answered; a wrong key is nowhere. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readVendors } from '../../server/catalog/vendors.ts';
import { createSimulator, type Simulator } from '../../server/simulator/simulator.ts';
import { type Person, signInOperator, siteSettings } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { playedBy } from '../support/vendors.ts';

const secret = 'sk-only-this-key';

/** A vendor of lists alone: by path, in the shapes that vendors have. */
const lists: Record<string, unknown> = {
  '/groq/openai/v1/models': {
    object: 'list',
    data: [
      { id: 'llama-9-70b', object: 'model', owned_by: 'Meta', context_window: 131_072, max_completion_tokens: 32_768 },
      { id: 'Whisper Large', object: 'model', owned_by: 'OpenAI' },
      { id: 'nomic-embed-text', object: 'model', owned_by: 'library' },
    ],
  },
  '/router/v1/models': {
    data: [
      {
        id: 'somebody/newest-1',
        name: 'Somebody: Newest 1',
        context_length: 262_144,
        top_provider: { max_completion_tokens: null },
        pricing: { prompt: '0.0000008', completion: '0.000004', input_cache_read: '0.00000008' },
      },
      { id: 'anthropic/claude-haiku-4.5', context_length: 200_000, pricing: { prompt: '-1', completion: '-1' } },
    ],
  },
  // As OpenRouter's list had them on 2026-08-01, and the fee of a request on 2026-01-29.
  '/long/v1/models': {
    data: [
      {
        id: 'somebody/longer-1',
        pricing: {
          prompt: '0.000002',
          completion: '0.000012',
          internal_reasoning: '0.000012',
          input_cache_read: '0.0000002',
          input_cache_write: '0.000000375',
          overrides: [
            { min_prompt_tokens: 200_000, prompt: '0.000004', completion: '0.000018', input_cache_read: '0.0000004' },
          ],
        },
      },
      {
        id: 'perplexity/sonar-pro-search',
        pricing: { prompt: '0.000003', completion: '0.000015', request: '0.018', internal_reasoning: '0' },
      },
      { id: 'some/hours', pricing: { prompt: '0.000003', completion: '0.000015', overrides: [{ hours: '9-17' }] } },
    ],
  },
  '/vllm/v1/models': { data: [{ id: 'own/model', object: 'model', owned_by: 'vllm', max_model_len: 8_096 }] },
  '/odd/v1/models': { models: ['this is no list'] },
};

let listing: Server;
let origin: string;
let vendor: Simulator;
let app: TestApp;
let operator: Pick<Person, 'steyg' | 'signIn'>;
const heard: string[] = [];

beforeAll(async () => {
  listing = createServer((request, response) => {
    heard.push(
      `${request.method} ${request.url} ${request.headers.authorization ?? String(request.headers['x-api-key'])}`,
    );
    const path = request.url?.split('?')[0] ?? '';
    if (path.startsWith('/elsewhere/')) return response.writeHead(302, { location: '/vllm/v1/models' }).end();
    const isOpen = path.startsWith('/vllm') || path.startsWith('/odd') || lists[path] === undefined;
    if (!isOpen && request.headers.authorization !== `Bearer ${secret}`) {
      return response.writeHead(401).end('{}');
    }
    const list = lists[path];
    return response.writeHead(list === undefined ? 404 : 200).end(JSON.stringify(list ?? {}));
  });
  await new Promise<void>((done) => {
    listing.listen(0, '127.0.0.1', done);
  });
  origin = `http://127.0.0.1:${(listing.address() as AddressInfo).port}`;
  vendor = await createSimulator({ apiKey: secret, record: true, tokensPerSecond: Number.POSITIVE_INFINITY });
  const port = await freePort();
  app = await startApp({
    env: { ...siteSettings(port), ALLOW_PRIVATE_UPSTREAMS: '1' },
    vendors: async () => playedBy(vendor.url, await readVendors()),
  });
  operator = await signInOperator(app);
});
afterAll(async () => {
  await app?.close();
  await vendor?.close();
  listing?.close();
});

const control = () => operator.steyg.console.operator;
const discover = (baseUrl: string, key: string | null = secret) =>
  control().discoverVendor({ input: { baseUrl, ...(key === null ? {} : { secret: key }) } });

describe('an address and a key', () => {
  test.each([
    ['a base address', '/groq/openai/v1'],
    ['a base address with a slash', '/groq/openai/v1/'],
    ['the address of an endpoint', '/groq/openai/v1/chat/completions'],
    ['an address without its version', '/groq/openai'],
  ])('show the protocol, the models and their limits: %s', async (_name, path) => {
    const found = orThrow(await discover(`${origin}${path}`));
    expect(found).toMatchObject({
      protocol: 'CHAT_COMPLETIONS',
      baseUrl: `${origin}/groq/openai/v1`,
      models: [
        {
          upstreamModel: 'llama-9-70b',
          modelId: 'llama-9-70b',
          contextWindow: 131_072,
          maxOutputTokens: 32_768,
          limitsKnown: true,
          kind: 'TEXT',
          costs: null,
        },
        { modelId: 'nomic-embed-text', kind: 'EMBEDDING', limitsKnown: false, maxOutputTokens: 8_192 },
      ],
    });
  });

  test('prices of longer prompts are shown with them, and prices that cannot be said are none', async () => {
    const { models } = orThrow(await discover(`${origin}/long`));
    expect(models).toMatchObject([
      {
        costs: {
          input: '2',
          cacheWrite5m: '2.375',
          output: '12',
          tiers: [{ abovePromptTokens: 199_999, input: '4', cacheHit: '0.4', cacheWrite5m: '4.375', output: '18' }],
        },
      },
      { upstreamModel: 'perplexity/sonar-pro-search', costs: null },
      { upstreamModel: 'some/hours', costs: null },
    ]);
  });

  test('show what the vendor charges, by its own list and else by the list that is known', async () => {
    const { models } = orThrow(await discover(`${origin}/router`));
    expect(models).toMatchObject([
      {
        displayName: 'Somebody: Newest 1',
        contextWindow: 262_144,
        costs: { input: '0.8', cacheHit: '0.08', output: '4' },
      },
      // Of its own it has no price; the list of the vendor that serves it here has.
      { upstreamModel: 'anthropic/claude-haiku-4.5', modelId: 'claude-haiku-4-5', costs: { input: '1', output: '5' } },
    ]);
  });

  test('show a server of one’s own, which takes no key and names its program', async () => {
    const found = orThrow(await discover(`${origin}/vllm`, null));
    expect(found).toMatchObject({
      profile: 'vllm',
      upstreamId: 'vllm',
      models: [{ contextWindow: 8_096, maxOutputTokens: 8_096 }],
    });
  });

  test('show a vendor of the messages protocol, whose key goes in its own header', async () => {
    const found = orThrow(await discover(`${vendor.url}/as/anthropic`));
    expect(found).toMatchObject({ protocol: 'MESSAGES', baseUrl: `${vendor.url}/as/anthropic` });
    expect(found.models.length).toBeGreaterThan(0);
  });

  test.each([
    ['a wrong key', '/groq/openai/v1', 'sk-wrong', 'secret', 'does not work'],
    ['no key', '/groq/openai/v1', null, 'secret', 'is missing'],
    ['a page that lists nothing', '/odd/v1', secret, 'baseUrl', 'No list of models is there'],
    ['a page that is not there', '/nothing/v1', secret, 'baseUrl', 'No list of models is there'],
    ['a page that sends elsewhere', '/elsewhere/v1', secret, 'baseUrl', 'sends elsewhere'],
  ])('are refused with the place of the mistake: %s', async (_name, path, key, member, words) => {
    expect(await discover(`${origin}${path}`, key)).toMatchObject({
      code: 'BAD_INPUT',
      problems: [{ path: ['input', member], message: expect.stringContaining(words) }],
    });
  });

  test('are stored nowhere, and the key is said nowhere', async () => {
    await discover(`${origin}/groq/openai/v1`);
    expect((await app.pool.query('SELECT FROM upstream_key')).rows).toEqual([]);
    expect(app.logged.join('\n')).not.toContain(secret);
    expect(heard.every((line) => line.startsWith('GET '))).toBe(true);
  });
});

describe('models of any vendor', () => {
  const input = () => ({
    upstreamId: 'own-cloud',
    protocol: 'CHAT_COMPLETIONS' as const,
    baseUrl: `${vendor.url}/as/groq/v1`,
    profile: 'groq',
    secret,
    markup: '20%',
    models: [
      {
        upstreamModel: 'llama-9-70b',
        modelId: 'llama-9-70b',
        displayName: 'Llama 9 70B',
        family: 'llama',
        contextWindow: 131_072,
        maxOutputTokens: 32_768,
        costs: { input: '0.5', cacheHit: '0.5', output: '1' },
      },
    ],
  });
  const stored = async () => (await app.pool.query(`SELECT id FROM upstream WHERE id = 'own-cloud'`)).rows;

  test.each([
    ['a key that the vendor refuses', () => ({ secret: 'sk-wrong' }), ['secret'], 'does not work'],
    ['a vendor that does not answer', () => ({ baseUrl: 'http://127.0.0.1:1/v1' }), ['models'], 'did not answer'],
    ['a markup without a percent sign', () => ({ markup: '20' }), ['markup'], 'percentage'],
    ['no models', () => ({ models: [] }), ['models'], 'must not be empty'],
    ['the simulator', () => ({ baseUrl: 'simulator' }), ['baseUrl'], 'must be the address of a vendor'],
    ['a name that is none', () => ({ upstreamId: 'Own Cloud' }), ['upstreamId'], 'lower-case'],
    [
      'a model without an output',
      () => ({ models: input().models.map((model) => ({ ...model, maxOutputTokens: 0 })) }),
      ['models', '0', 'maxOutputTokens'],
      'at least 1',
    ],
  ])('are not sold, and nothing is stored: %s', async (_name, wrong, path, words) => {
    expect(await control().addUpstreamModels({ input: { ...input(), ...wrong() } })).toMatchObject({
      code: 'BAD_INPUT',
      problems: [{ path: ['input', ...path], message: expect.stringContaining(words) }],
    });
    expect(await stored()).toEqual([]);
    expect((await app.pool.query('SELECT FROM upstream_key')).rows).toEqual([]);
  });

  test('are sold at the vendor’s price plus the markup, after one request that the operator pays', async () => {
    vendor.clearRequests();
    const added = orThrow(await control().addUpstreamModels({ input: input() }));
    expect(vendor.requests().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /as/groq/v1/chat/completions',
    ]);
    expect(added).toMatchObject({ profile: 'groq', keys: [{ last4: secret.slice(-4) }] });
    const customer = await app.customer();
    const response = await fetch(`${app.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'llama-9-70b', messages: [{ role: 'user', content: '[[say it works]]' }] }),
    });
    expect(await response.text()).toContain('it works');
    await app.quiet(customer.accountId);
    const [entry] = await app.ledger(customer.accountId);
    expect(entry).toMatchObject({ price_input: 600_000n, price_output: 1_200_000n });
    expect(entry?.['cost']).toBe((BigInt(String(entry?.['upstream_cost'])) * 12n) / 10n);
    const audit = await app.pool.query('SELECT t::text AS row FROM audit_entry t');
    for (const said of [...app.logged, ...audit.rows.map(({ row }) => row), JSON.stringify(added)]) {
      expect(said).not.toContain(secret);
    }
  });

  test('never send a key to another address under the same name', async () => {
    expect(
      await control().addUpstreamModels({
        input: { ...input(), baseUrl: `${vendor.url}/as/mistral/v1`, profile: null },
      }),
    ).toMatchObject({ code: 'BAD_INPUT', problems: [{ path: ['input', 'upstreamId'] }] });
  });
});

test('private addresses are neither asked nor stored where they are not allowed', async () => {
  const port = await freePort();
  const strict = await startApp({ env: { ...siteSettings(port), ALLOW_PRIVATE_UPSTREAMS: '0' } });
  try {
    const own = (await signInOperator(strict)).steyg.console.operator;
    heard.length = 0;
    for (const baseUrl of [
      origin,
      'https://127.0.0.1',
      'https://169.254.169.254',
      'https://localhost',
      'https://a.internal',
    ]) {
      expect([baseUrl, await own.discoverVendor({ input: { baseUrl, secret } })]).toMatchObject([
        baseUrl,
        { code: 'BAD_INPUT', problems: [{ path: ['input', 'baseUrl'] }] },
      ]);
    }
    expect(heard).toEqual([]);
  } finally {
    await strict.close();
  }
});
