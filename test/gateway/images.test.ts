import OpenAI, { BadRequestError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, settled } from './support.ts';

/** `POST /v1/images/generations` and `/v1/images/edits`: OpenAI's words, exact to the pico-USD. */

/** Text 5 and 10, images 8, 2 and 30 USD per million tokens. */
const byTokens = `{ input: "5", cacheHit: "1.25", output: "10", images: { tokens: { input: "8", cacheHit: "2", output: "30" } } }`;
const byPiece = `{ input: "0", cacheHit: "0", output: "0", images: { each: [{ quality: low, size: "1024x1024", price: "0.011" }, { quality: high, size: "1024x1024", price: "0.167" }, { quality: high, price: "0.25" }, { upToPixels: 1048576, price: "0.067" }, { upToPixels: 4194304, price: "0.134" }] } }`;

const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: by-chat, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-responses, protocol: responses, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-messages, protocol: messages, baseUrl: "${simulatorUrl}" }
models:
${[
  entry('painter', byTokens, ['by-chat']),
  entry('painter-responses', byTokens, ['by-responses']),
  entry('painter-plain', '{ input: "10", cacheHit: "2", output: "40" }', ['by-chat']),
  entry('pieces', byPiece, ['by-chat']),
  entry('nowhere', byTokens, ['by-messages']),
  entry('talker', '{ input: "1", cacheHit: "0", output: "1" }', ['by-chat'], 'text'),
].join('\n')}`;

function entry(id: string, prices: string, upstreams: string[], kind = 'image'): string {
  const routes = upstreams.map((upstream) => `{ upstream: ${upstream}, model: gpt-image-${id} }`).join(', ');
  return `  - { id: ${id}, displayName: ${id}, family: tests, kind: ${kind}, contextWindow: 100000, maxOutputTokens: 20000, prices: ${prices}, routes: [${routes}] }`;
}

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog });
  customer = await app.customer({ usd: '100' });
});
afterAll(() => app.close());

const client = (secret = customer.secret) =>
  new OpenAI({ apiKey: secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
const ask = (body: unknown, secret = customer.secret, path = 'generations') =>
  fetch(`${app.baseUrl}/v1/images/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const lastSent = () => app.simulator.requests().at(-1);
const usage = (value: unknown): string => `[[usage ${JSON.stringify(value)}]]`;
const payer = () => app.customer({ usd: '10' });
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const png = (name: string) => toFile(pixel, name, { type: 'image/png' });

describe('the published library', () => {
  it.each(['painter', 'painter-responses'])('makes images of %s', async (model) => {
    const made = await client().images.generate({
      model,
      prompt: 'An owl.',
      n: 2,
      size: '1024x1024',
      quality: 'low',
      background: 'opaque',
      output_format: 'webp',
    });
    expect(
      made.data?.map(({ b64_json }) =>
        Buffer.from(b64_json ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ),
    ).toEqual(['PNG', 'PNG']);
    expect(made).toMatchObject({ size: '1024x1024', quality: 'low', usage: { output_tokens: 544 } });
  });

  it('edits several images with a mask', async () => {
    const buyer = await payer();
    const made = await client(buyer.secret).images.edit({
      model: 'painter',
      prompt: 'With a hat.',
      image: [await png('a.png'), await png('b.png')],
      mask: await png('mask.png'),
      n: 2,
      quality: 'low',
    });
    expect(made.data).toHaveLength(2);
    expect(made.usage?.input_tokens_details.image_tokens).toBe(3 * 352);
    const [row] = await settled(app, buyer);
    const text = BigInt(made.usage?.input_tokens_details.text_tokens ?? 0);
    expect(row).toMatchObject({
      input: text,
      output: 0n,
      cost: text * 5_000_000n + 1_056n * 8_000_000n + 544n * 30_000_000n,
      usage_source: 'reported',
    });
  });

  it.each(['generate', 'edit'] as const)('streams first versions of what it is to %s', async (call) => {
    const buyer = await payer();
    const more = { model: 'painter', prompt: 'An owl.', quality: 'low', stream: true, partial_images: 2 } as const;
    const images = client(buyer.secret).images;
    const stream =
      call === 'generate' ? await images.generate(more) : await images.edit({ ...more, image: await png('a.png') });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const kind = call === 'generate' ? 'image_generation' : 'image_edit';
    expect(types).toEqual([`${kind}.partial_image`, `${kind}.partial_image`, `${kind}.completed`]);
    const [row] = await settled(app, buyer);
    expect(row).toMatchObject({ usage_source: 'reported', outcome: 'completed' });
    const text = row?.['input'] as bigint;
    const sent = call === 'edit' ? 352n * 8_000_000n : 0n;
    expect(row?.['cost']).toBe(text * 5_000_000n + sent + 472n * 30_000_000n);
  });

  it('raises its own classes for refusals', async () => {
    await expect(client().images.generate({ model: 'painter', prompt: '', quality: 'low' })).rejects.toBeInstanceOf(
      BadRequestError,
    );
    const broke = client((await app.customer({ usd: '0' })).secret);
    await expect(broke.images.generate({ model: 'painter', prompt: 'x' })).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_quota',
    });
  });
});

it('travels byte for byte but for the model, and no key of the customer with it', async () => {
  const body = '{ "prompt" : "a\\u00e9",\n"model":"steyg/PAINTER" , "user":"u", "quality":"low"}';
  const answer = await ask(body);
  expect(answer.status).toBe(200);
  const sent = lastSent();
  expect(sent?.path).toBe('/v1/images/generations');
  expect(sent?.body.toString()).toBe(body.replace('steyg/PAINTER', 'gpt-image-painter'));
  expect(JSON.stringify(sent?.headers)).not.toContain(customer.secret);
  await answer.text();
});

describe('what an image costs', () => {
  it('is its text, the images that were sent and those that were made, each at its price', async () => {
    const buyer = await payer();
    // https://github.com/Wei-Shaw/sub2api/issues/3222: 0.413 USD.
    const reported = {
      input_tokens: 1_678,
      input_tokens_details: { image_tokens: 1_450, text_tokens: 228 },
      output_tokens: 13_342,
      output_tokens_details: { image_tokens: 13_342, text_tokens: 0 },
      total_tokens: 15_020,
    };
    const form = new FormData();
    form.set('model', 'painter');
    form.set('prompt', usage(reported));
    form.set('size', '3840x2160');
    form.append('image[]', new Blob([pixel], { type: 'image/png' }), 'a.png');
    const answer = await fetch(`${app.baseUrl}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${buyer.secret}` },
      body: form,
    });
    expect(answer.headers.get('x-steyg-cost-usd')).toBe('0.413');
    await answer.text();
    const [row] = await settled(app, buyer);
    expect(row).toMatchObject({ input: 228n, output: 0n, cost: 413_000_000_000n, charged: 413_000_000_000n });
    const id = String(answer.headers.get('x-request-id'));
    const receipt = await (await get(app, `/v1/usage?request_id=${id}`, buyer.secret)).json();
    expect(receipt).toMatchObject({
      model: 'painter',
      cost_usd: '0.413',
      lines: [{ model: 'painter (images)', usage: { input_tokens: 1_450, output_tokens: 13_342 } }],
    });
  });
});

it('is refused where the model makes no images, and where no route can', async () => {
  const talker = await ask({ model: 'talker', prompt: 'x' });
  expect((await errorOf(talker, 'chat-completions')).code).toBe('model_not_supported');
  const nowhere = await ask({ model: 'nowhere', prompt: 'x' });
  expect(nowhere.status).toBe(503);
  await nowhere.text();
});
