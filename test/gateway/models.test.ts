import Anthropic, { NotFoundError as AnthropicNotFound } from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import OpenAI, { NotFoundError as OpenAiNotFound } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { saveModel, savePrices } from '../../server/catalog/models.ts';
import { saveRoutes } from '../../server/catalog/upstreams.ts';
import type { ReasoningEffort } from '../../server/core/effort.ts';
import { transaction } from '../../server/database/lane.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, get, type ProtocolCase, protocols, type Sending, send, settled } from './support.ts';

/**
 * The catalog of the moment, on every process. Two of them run here, on one database; changes count from the very next
 * request on both.
 */

let app: TestApp;
let second: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp();
  second = await startApp({ beside: app });
  customer = await app.customer();
});
afterAll(async () => {
  await second.close();
  await app.close();
});

const seeded = ['sim-large', 'sim-medium', 'sim-small'];
const usd = (perMillion: number) => BigInt(perMillion * 1_000_000);

const addModel = async (
  id: string,
  { price = 1, enabled = true, efforts = [] }: { price?: number; enabled?: boolean; efforts?: ReasoningEffort[] } = {},
): Promise<void> => {
  await transaction(app.pool, async (client) => {
    const model = {
      id,
      displayName: id,
      family: 'tests',
      kind: 'text' as const,
      contextWindow: 100_000,
      maxOutputTokens: 1_000,
      allow: [],
      capabilities: [],
      efforts,
      reasoningTokensPerSecond: null,
      unknownMembers: 'pass' as const,
      enabled,
    };
    await saveModel(client, model, 'test');
    const prices = {
      input: usd(price),
      cacheHit: usd(0),
      cacheWrite5m: null,
      cacheWrite1h: null,
      output: usd(price),
      tiers: [],
      maxPromptTokens: null,
    };
    await savePrices(client, { modelId: id, prices, actor: 'test' });
    const route = { upstreamModel: 'sim-small', priority: 0, weight: 1, enabled: true, costs: null };
    const routes = ['simulator-messages', 'simulator-chat'].map((upstreamId) => ({ upstreamId, ...route }));
    await saveRoutes(client, { modelId: id, routes, actor: 'test' });
  });
};

describe('the published clients read one list', () => {
  it('the same ids in openai and both anthropic SDKs', async () => {
    const openai = new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1` });
    const anthropic = new Anthropic({ apiKey: customer.secret, baseURL: app.baseUrl });
    const before = new AnthropicBefore({ apiKey: customer.secret, baseURL: app.baseUrl });
    const lists = await Promise.all(
      [openai.models.list(), anthropic.models.list(), before.models.list()].map(async (pages) => {
        const ids: string[] = [];
        for await (const model of await pages) ids.push(model.id);
        return ids;
      }),
    );
    expect(lists).toEqual([seeded, seeded, seeded]);
  });

  it('has what each of them names', async () => {
    const response = await get(app, '/v1/models?limit=1000&beta=true', customer.secret);
    const body = (await response.json()) as { data: Record<string, unknown>[] };
    expect(body).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: 'sim-large',
      last_id: 'sim-small',
      total_count: 3,
      links: { next: null },
    });
    expect(body.data[0]).toMatchObject({
      id: 'sim-large',
      object: 'model',
      type: 'model',
      created: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      owned_by: 'simulated',
      display_name: 'Simulated Large',
      context_length: 200_000,
      pricing: { prompt: '0.000003', completion: '0.000015', input_cache_read: '0.0000003' },
      price_usd_per_million: { input: '3', cache_hit: '0.3', output: '15' },
    });
  });

  it("has every member that OpenRouter's published SDK requires of a model", async () => {
    // The required part of schema `Model` of @openrouter/sdk 1.3.19, whose installation itself calls the vendor.
    const required = z.object({
      architecture: z.object({
        input_modalities: z.array(z.enum(['text', 'image', 'file', 'audio', 'video'])),
        output_modalities: z.array(z.enum(['text', 'image', 'audio'])),
        modality: z.string().nullable(),
      }),
      canonical_slug: z.string(),
      context_length: z.int().nullable(),
      created: z.int(),
      default_parameters: z.object({}).nullable(),
      id: z.string(),
      links: z.object({ details: z.string() }),
      name: z.string(),
      per_request_limits: z.object({ completion_tokens: z.number(), prompt_tokens: z.number() }).nullable(),
      pricing: z.object({ prompt: z.string(), completion: z.string(), input_cache_write_1h: z.string().optional() }),
      supported_parameters: z.array(z.string()),
      supported_voices: z.array(z.string()).nullable(),
      top_provider: z.object({ is_moderated: z.boolean() }),
    });
    const list = z.object({
      data: z.array(required),
      links: z.object({ next: z.string().nullable() }),
      total_count: z.int(),
    });
    const answer = await (await get(app, '/v1/models', customer.secret)).json();
    expect(list.safeParse(answer).error).toBeUndefined();
    const one = (await (await get(app, '/v1/models/sim-large', customer.secret)).json()) as Record<string, unknown>;
    expect(one).toMatchObject({
      canonical_slug: 'sim-large',
      architecture: { input_modalities: ['text', 'image'], modality: 'text+image->text' },
      supported_parameters: expect.arrayContaining(['max_tokens', 'tools', 'reasoning_effort']),
      top_provider: { context_length: 200_000, max_completion_tokens: expect.any(Number) },
    });
  });

  it('names the efforts that a model knows, the strongest first, in the shape of OpenRouter', async () => {
    const cases: [ReasoningEffort[], unknown][] = [
      [[], undefined],
      [['none'], undefined],
      [['none', 'low', 'high'], { mandatory: false, supported_efforts: ['high', 'low', 'none'] }],
      [['low', 'medium'], { mandatory: true, supported_efforts: ['medium', 'low'] }],
    ];
    for (const [efforts, reasoning] of cases) {
      await addModel('thinker', { efforts });
      const one = (await (await get(app, '/v1/models/thinker', customer.secret)).json()) as Record<string, unknown>;
      expect(one['reasoning']).toEqual(reasoning);
    }
    await addModel('thinker', { enabled: false });
  });

  it('no effort is translated into one that the model does not know; natively it travels as it was sent', async () => {
    await addModel('thinker', { efforts: ['low', 'medium'] });
    const asked = async (protocol: ProtocolCase, more: Record<string, unknown>): Promise<unknown> => {
      const response = await send(app, protocol, { secret: customer.secret, more: { model: 'thinker', ...more } });
      await response.text();
      const body = JSON.parse(app.simulator.requests().at(-1)?.body.toString('utf8') ?? '{}') as {
        reasoning_effort?: string;
        output_config?: { effort?: string };
      };
      return body.reasoning_effort ?? body.output_config?.effort;
    };
    expect(await asked(protocols.responses, { reasoning: { effort: 'xhigh' } })).toBe('medium');
    expect(await asked(protocols.chat, { reasoning_effort: 'xhigh' })).toBe('xhigh');
    await addModel('thinker', { enabled: false });
  });

  it('one model, and none', async () => {
    const openai = new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
    const anthropic = new Anthropic({ apiKey: customer.secret, baseURL: app.baseUrl, maxRetries: 0 });
    expect((await openai.models.retrieve('sim-small')).id).toBe('sim-small');
    expect((await anthropic.models.retrieve('sim-small')).display_name).toBe('Simulated Small');
    await expect(openai.models.retrieve('nope')).rejects.toBeInstanceOf(OpenAiNotFound);
    await expect(anthropic.models.retrieve('nope')).rejects.toBeInstanceOf(AnthropicNotFound);
  });

  it('an unknown model is a 404 that the clients of both protocols can read', async () => {
    const response = await get(app, '/v1/models/nope', customer.secret);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('nope'), code: 'model_not_found', param: null },
      request_id: response.headers.get('request-id'),
    });
  });

  it('one is found under every name that requests may be made under', async () => {
    for (const id of [
      'sim-small',
      'steyg/sim-small',
      'steyg%2Fsim-small',
      'SIM-Small',
      'steyg/SIM-SMALL',
      'sim-small/',
    ]) {
      const response = await get(app, `/v1/models/${id}`, customer.secret);
      expect(await response.json()).toMatchObject({ id: 'sim-small' });
    }
    for (const id of ['STEYG/sim-small', 'steyg/steyg/sim-small', '%00']) {
      expect((await get(app, `/v1/models/${id}`, customer.secret)).status).toBe(404);
    }
  });

  it('ids may contain a slash, written out or not', async () => {
    await addModel('vendor/model-1');
    for (const path of ['/v1/models/vendor/model-1', '/v1/models/vendor%2Fmodel-1']) {
      expect(await (await get(app, path, customer.secret)).json()).toMatchObject({ id: 'vendor/model-1' });
    }
    for (const protocol of everyProtocol) {
      const response = await send(app, protocol, { secret: customer.secret, more: { model: 'vendor/model-1' } });
      expect(response.status).toBe(200);
    }
    await addModel('vendor/model-1', { enabled: false });
  });

  it('without a key it is a 401', async () => {
    for (const path of ['/v1/models', '/v1/models/sim-small', '/v1/usage', '/v1/key', '/v1/credits']) {
      const response = await get(app, path, null);
      expect([path, response.status]).toEqual([path, 401]);
      expect((await errorOf(response, 'chat-completions')).message).toBe('Invalid API key');
    }
  });

  it('a key with an allow-list sees and calls what is on it', async () => {
    const narrow = await app.customer({ terms: { models: ['sim-small'] } });
    expect(await (await get(app, '/v1/models', narrow.secret)).json()).toMatchObject({
      data: [{ id: 'sim-small' }],
      total_count: 1,
    });
    expect((await get(app, '/v1/models/sim-large', narrow.secret)).status).toBe(404);
    for (const protocol of everyProtocol) {
      const allowed = await send(app, protocol, { secret: narrow.secret, more: { model: 'steyg/SIM-small' } });
      const refused = await send(app, protocol, { secret: narrow.secret, more: { model: 'sim-large' } });
      expect([allowed.status, refused.status]).toEqual([200, 403]);
    }
  });
});

describe('the account looks at its own figures', () => {
  it('balance, spending and one entry, also when nothing is left', async () => {
    const own = await app.customer({ usd: '1' });
    const answered = await send(app, everyProtocol[0] as never, { secret: own.secret, text: '[[say hello]]' });
    const cost = answered.headers.get('x-steyg-cost-usd');
    await settled(app, own);
    const usage = (await (await get(app, '/v1/usage', own.secret)).json()) as Record<string, never>;
    expect(usage).toMatchObject({
      object: 'usage',
      balance: { granted_usd: '1', charged_usd: cost, held_usd: '0', expired_usd: '0' },
      data: [{ model: 'sim-medium', requests: 1, cost_usd: cost }],
    });
    const id = answered.headers.get('request-id');
    expect((await get(app, `/v1/usage?request_id=${id}`, own.secret)).status).toBe(200);
    expect((await get(app, `/v1/usage?request_id=${id}`, customer.secret)).status).toBe(404);

    const { data: about } = (await (await get(app, '/v1/key', own.secret)).json()) as { data: Record<string, unknown> };
    expect(about['usage_weekly']).toBe(about['usage_daily']);
    // Members without which OpenRouter's client library takes the answer for malformed.
    expect(Object.keys(about)).toEqual(
      expect.arrayContaining([
        'allowed_data_regions',
        'byok_usage',
        'free_model_daily_requests',
        'rate_limit',
        'workspace_id',
      ]),
    );

    const poor = await app.customer({ usd: '0' });
    for (const path of ['/v1/usage', '/v1/key', '/v1/credits', '/v1/models']) {
      expect((await get(app, path, poor.secret)).status).toBe(200);
    }
  });
});

describe.each([
  ['this process', () => app],
  ['another process', () => second],
])('the catalog of the moment in %s', (_name, target) => {
  it.each(everyProtocol)('$protocol: a new model, a new price and a disabled model count at once', async (protocol) => {
    const id = `fresh-${Math.random().toString(36).slice(2, 10)}`;
    const own = await app.customer();
    const ask = () => send(target(), protocol, { secret: own.secret, more: { model: id } });
    expect((await ask()).status).toBe(400);

    await addModel(id, { price: 1 });
    expect((await ask()).status).toBe(200);
    await addModel(id, { price: 7 });
    expect((await ask()).status).toBe(200);
    await addModel(id, { price: 7, enabled: false });
    expect((await ask()).status).toBe(400);
    await addModel(id, { price: 7 });
    expect((await ask()).status).toBe(200);

    const rows = await settled(target(), own);
    expect(rows.map((row) => row['price_input'] ?? row['input_price'])).toEqual([usd(7), usd(7), usd(1)]);
    await addModel(id, { enabled: false });
  });
});

it.each([
  ['this process', () => app],
  ['another process', () => second],
])('a deleted key, a suspended account and a new key count at once in %s', async (_name, target) => {
  for (const protocol of everyProtocol) {
    const own = await app.customer();
    const ask = (more = {}) => send(target(), protocol, { secret: own.secret, more });
    expect((await ask()).status).toBe(200);
    await app.accounts.suspend({ accountId: own.accountId, actor: 'test' });
    expect((await ask()).status).toBe(403);
    await app.accounts.resume({ accountId: own.accountId, actor: 'test' });
    expect((await ask()).status).toBe(200);
    await app.keys.change({ accountId: own.accountId, id: own.keyId, models: ['sim-small'], actor: 'test' });
    expect((await ask()).status).toBe(403);
    await app.keys.delete({ accountId: own.accountId, id: own.keyId, actor: 'test' });
    // Whatever else is wrong with the request, and on every kind of address.
    const answers = await Promise.all([
      ask(),
      ask({ model: 'unheard-of' }),
      ask({ stream: 7 }),
      send(target(), protocol, { secret: own.secret, headers: { 'content-type': 'text/plain' } }),
      get(target(), '/v1/models', own.secret),
      get(target(), '/v1/usage', own.secret),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  }
});

it.each(everyProtocol)(
  '$protocol: a deletion that this process has not heard of yet counts all the same',
  async (protocol) => {
    const own = await app.customer();
    const ask = (sending: Partial<Sending> = {}) => send(app, protocol, { secret: own.secret, ...sending });
    expect((await ask()).status).toBe(200);
    await transaction(app.pool, async (client) => {
      // As if the notice of the change were still on its way.
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query('UPDATE api_key SET deleted_at = now() WHERE id = $1', [own.keyId]);
    });
    const answers = [
      await ask({ headers: { 'content-type': 'text/plain' } }),
      await ask({ raw: '{' }),
      await ask({ more: { model: 'unheard-of' } }),
      await ask(),
      await get(app, '/v1/models', own.secret),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  },
);
