import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createProjects } from '../../server/accounts/projects.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { get, model, nativeCatalog, parseEvents, protocols, send, settled } from './support.ts';

/**
 * What OpenRouter's published client library asks for besides answers, in the shapes that its schemas require (1.3.19). The
 * library itself is met by `npm run test:clients`, because its installation calls its vendor.
 */

const library = 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk';

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer();
});
afterAll(() => app.close());

const read = async (path: string, secret = customer.secret) => {
  const response = await fetch(app.baseUrl + path, {
    headers: { authorization: `Bearer ${secret}`, 'user-agent': library },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('the generation of a request', () => {
  const text = z.string().nullable();
  const count = z.int().nullable();
  const generation = z.object({
    ...Object.fromEntries(
      'external_user finish_reason http_referer native_finish_reason preset_id provider_name router service_tier upstream_id user_agent web_search_engine workspace_id'
        .split(' ')
        .map((name) => [name, text]),
    ),
    ...Object.fromEntries(
      'app_id native_tokens_cached native_tokens_completion native_tokens_completion_images native_tokens_prompt native_tokens_reasoning num_fetches num_input_audio_prompt num_media_completion num_media_prompt num_search_results tokens_completion tokens_prompt'
        .split(' ')
        .map((name) => [name, count]),
    ),
    ...Object.fromEntries(
      ['cache_discount', 'generation_time', 'latency', 'moderation_latency', 'upstream_inference_cost'].map((name) => [
        name,
        z.number().nullable(),
      ]),
    ),
    api_type: text,
    cancelled: z.boolean().nullable(),
    created_at: z.string(),
    data_region: z.string(),
    id: z.string(),
    is_byok: z.boolean(),
    model: z.string(),
    origin: z.string(),
    provider_responses: z.array(z.unknown()).nullable(),
    streamed: z.boolean().nullable(),
    total_cost: z.number(),
    usage: z.number(),
  });
  const usage = { input_tokens: 100, cache_read_input_tokens: 1_000, output_tokens: 10 };

  it('is its ledger entry, by the id of the request or of an answer that was translated', async () => {
    const payer = await app.customer();
    const answer = await send(app, protocols.chat, {
      secret: payer.secret,
      text: `[[usage ${JSON.stringify(usage)}]]`,
      more: { model: 'only-messages', stream: false },
    });
    const { id } = (await answer.json()) as { id: string };
    await settled(app, payer);
    const found = await read(`/v1/generation?id=${String(answer.headers.get('x-request-id'))}`, payer.secret);
    expect(generation.safeParse(found.body['data']).error).toBeUndefined();
    expect(found.body['data']).toMatchObject({
      model: 'only-messages',
      provider_name: 'by-messages',
      tokens_prompt: 1_100,
      native_tokens_cached: 1_000,
      tokens_completion: 10,
      total_cost: 0.00025,
      usage: 0.00025,
      streamed: false,
      cancelled: false,
    });
    expect((await read(`/v1/generation?id=${id}`, payer.secret)).body).toEqual(found.body);
    // Another account's request is none.
    const foreign = await read(`/v1/generation?id=${id}`);
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: 404, message: expect.any(String) } } });
  });

  it('of another project is none for a key that lies in one, as in `/v1/usage`', async () => {
    const payer = await app.customer();
    const { accountId } = payer;
    const projects = createProjects({ pool: app.pool });
    const secretIn = async (name: string) => {
      const made = await projects.create({ accountId, name, actor: 'test' });
      if (made.kind !== 'created') throw new Error(made.kind);
      const placed = await app.keys.create({ accountId, actor: 'test', projectId: made.project.id });
      if (placed.kind !== 'created') throw new Error(placed.kind);
      return placed.secret;
    };
    const [mine, other] = [await secretIn('Mine'), await secretIn('Other')];
    const answer = await send(app, protocols.chat, { secret: mine, more: { stream: false } });
    await answer.text();
    const id = String(answer.headers.get('x-request-id'));
    await settled(app, payer);
    const statuses = async (path: string) => {
      const answers = [mine, payer.secret, other].map(async (secret) => (await read(path + id, secret)).status);
      return Promise.all(answers);
    };
    expect(await statuses('/v1/generation?id=')).toEqual([200, 200, 404]);
    expect(await statuses('/v1/usage?request_id=')).toEqual([200, 200, 404]);
  });

  it.each(['', '?id=gen-1', '?id=1&id=2'])('of no request is a 404 that says what to send: %s', async (query) => {
    const none = await read(`/v1/generation${query}`);
    expect(none).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('x-request-id') } },
    });
  });

  it('has no content, which is never stored', async () => {
    const none = await read('/v1/generation/content?id=1');
    expect(none).toMatchObject({ status: 404, body: { error: { message: expect.stringContaining('not stored') } } });
  });
});

describe('the catalog', () => {
  it('is counted and listed as the key may see it', async () => {
    const listed = (await (await get(app, '/v1/models', customer.secret)).json()) as { data: unknown[] };
    expect((await read('/v1/models/count')).body).toEqual({ data: { count: listed.data.length } });
    expect((await read('/v1/models/user')).body).toEqual({ data: listed.data });
  });

  it.each(['tests', 'steyg'])('has a model by its family or the prefix of the service, %s', async (author) => {
    const one = await (await get(app, `/v1/models/${model}`, customer.secret)).json();
    expect((await read(`/v1/model/${author}/${model}`)).body).toEqual({ data: one });
    const endpoint = z.object({
      context_length: z.int(),
      latency_last_30m: z.null(),
      max_completion_tokens: z.int().nullable(),
      max_prompt_tokens: z.int().nullable(),
      model_id: z.literal(model),
      model_name: z.string(),
      name: z.string(),
      pricing: z.object({ prompt: z.string(), completion: z.string() }),
      provider_name: z.string(),
      quantization: z.null(),
      supported_parameters: z.array(z.string()),
      supports_implicit_caching: z.boolean(),
      supports_tool_choice: z.record(z.enum(['auto', 'function', 'none', 'required']), z.boolean()),
      tag: z.string(),
      throughput_last_30m: z.null(),
      uptime_last_1d: z.null(),
      uptime_last_30m: z.null(),
      uptime_last_5m: z.null(),
    });
    const list = z.object({
      data: z.object({
        id: z.literal(model),
        name: z.string(),
        created: z.int(),
        description: z.string(),
        architecture: z.object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) }),
        endpoints: z.array(endpoint).length(1),
      }),
    });
    const { body } = await read(`/v1/models/${author}/${model}/endpoints`);
    expect(list.safeParse(body).error).toBeUndefined();
  });

  it('has no other family of it', async () => {
    expect(await read(`/v1/model/others/${model}`)).toMatchObject({ status: 404, body: { error: { code: 404 } } });
  });
});

describe('an error has a number as its code for that library, and a word for all others', () => {
  const ask = (secret: string, headers: Record<string, string>, more: Record<string, unknown> = {}, text = 'ping') =>
    send(app, protocols.chat, { secret, headers, text, more });
  const own = { 'user-agent': library };

  it.each([
    ['a wrong key', 401, 'invalid_api_key', () => 'sk-steyg-wrong', 'ping', {}],
    ['an unknown model', 400, 'model_not_found', () => customer.secret, 'ping', { model: 'nope' }],
    ["a vendor's own refusal", 400, null, () => customer.secret, '[[status 400]]', { model: 'only-chat' }],
    ['no money', 402, 'insufficient_quota', async () => (await app.customer({ usd: '0' })).secret, 'ping', {}],
  ])('%s: %d', async (_what, status, code, secretOf, text, more) => {
    const secret = await secretOf();
    const numeric = await ask(secret, own, more, text);
    expect(numeric.status).toBe(status);
    expect(await numeric.json()).toMatchObject({
      error: { code: status, message: expect.any(String), metadata: { error_code: code } },
    });
    const worded = (await (await ask(secret, {}, more, text)).json()) as { error: Record<string, unknown> };
    expect(worded.error['code']).not.toBe(status);
    expect(worded.error).not.toHaveProperty('metadata');
  });

  it.each(['only-chat', 'only-messages'])('in a stream it is a whole chunk, %s', async (name) => {
    const response = await ask(customer.secret, own, { model: name, stream: true }, '[[len 30]] [[cut 8]]');
    const last = parseEvents(await response.text()).at(-1)?.data;
    expect(last).toMatchObject({
      object: 'chat.completion.chunk',
      id: expect.any(String),
      created: expect.any(Number),
      model: expect.any(String),
      choices: [{ index: 0, finish_reason: 'error' }],
      error: { code: 502, message: expect.any(String) },
    });
  });
});

it.each(['/v1/rerank', '/v1/audio/speech', '/v1/images/models'])(
  'a call that the service does not offer is a 404 that says what it has: %s',
  async (path) => {
    const none = await read(path);
    expect(none.status).toBe(404);
    expect(none.body).toMatchObject({ error: { code: 404, message: expect.stringContaining('does not offer') } });
  },
);
