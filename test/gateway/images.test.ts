import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LedgerEntry, verifyReceipt } from '@steyg/sdk';
import { generateImage } from 'ai';
import OpenAI, { BadRequestError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, settled } from './support.ts';

/** `POST /v1/images/generations` and `/v1/images/edits`: OpenAI's words, exact to the pico-USD. */

/** Text 5 and 10, images 8, 2 and 30 USD per million tokens. */
const byTokens = `{ input: "5", cacheHit: "1.25", output: "10", images: { tokens: { input: "8", cacheHit: "2", output: "30" } } }`;
const byPiece = `{ input: "0", cacheHit: "0", output: "0", images: { each: [{ quality: low, size: "1024x1024", price: "0.011" }, { quality: high, size: "1024x1024", price: "0.167" }, { quality: high, price: "0.25" }, { upToPixels: 1048576, price: "0.067" }, { upToPixels: 4194304, price: "0.134" }] } }`;

const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: by-chat, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-responses, protocol: responses, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-images, protocol: responses, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-messages, protocol: messages, baseUrl: "${simulatorUrl}" }
models:
${[
  entry('painter', byTokens, ['by-chat']),
  entry('painter-responses', byTokens, ['by-responses']),
  entry('painter-plain', '{ input: "10", cacheHit: "2", output: "40" }', ['by-chat']),
  entry('pieces', byPiece, ['by-chat']),
  entry('nowhere', byTokens, ['by-messages']),
  entry('talker', '{ input: "1", cacheHit: "0", output: "1" }', ['by-chat'], 'text'),
  entry(
    'drawer',
    '{ input: "1", cacheHit: "0", output: "1", perUnit: { image: "0.201" } }',
    ['by-responses'],
    'text',
  ).replace('prices:', 'allow: [image_generation], prices:'),
  entry('draws', byTokens, ['by-images']).replace('gpt-image-draws', 'gpt-image-2'),
  entry('draws-codex', byTokens, ['by-images']).replace('gpt-image-draws-codex', 'gpt-image-2-codex'),
  entry('artist', '{ input: "1", cacheHit: "0", output: "1" }', ['by-images'], 'text').replace(
    'prices:',
    'allow: [image_generation], prices:',
  ),
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

describe('the AI SDK', () => {
  const model = () =>
    createOpenAICompatible({ name: 'steyg', baseURL: `${app.baseUrl}/v1`, apiKey: customer.secret }).imageModel(
      'painter',
    );

  it('makes images, and edits what it is given', async () => {
    const providerOptions = { steyg: { quality: 'low' } };
    const made = await generateImage({ model: model(), prompt: 'An owl.', n: 2, size: '1024x1024', providerOptions });
    expect(made.images.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png']);
    const edited = await generateImage({
      model: model(),
      prompt: { text: 'With a hat.', images: [pixel], mask: pixel },
      providerOptions,
    });
    expect(edited.images).toHaveLength(1);
    expect(lastSent()?.path).toBe('/v1/images/edits');
  });
});

it('passes pictures of megabytes in a stream, and knows what they cost', async () => {
  const buyer = await payer();
  const body = { model: 'painter', prompt: '[[len 500000]]', stream: true, partial_images: 2, quality: 'low' };
  const text = await (await ask(body, buyer.secret)).text();
  expect(text.length).toBeGreaterThan(9_000_000);
  expect(text.match(/^event: /gm)).toHaveLength(3);
  expect(await settled(app, buyer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
});

it('stands in the list of models as a model of images', async () => {
  const { data } = (await (await get(app, '/v1/models', customer.secret)).json()) as {
    data: { id: string; kind: string }[];
  };
  expect(data.find(({ id }) => id === 'painter')).toMatchObject({ kind: 'image' });
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

/** Threads of peers whose bills were wrong: the bodies as they stand there. */
describe('the cases of peers', () => {
  const tokens = (input: number, ofImages: number, output: number, details = true) => ({
    input_tokens: input,
    input_tokens_details: { image_tokens: ofImages, text_tokens: input - ofImages },
    output_tokens: output,
    ...(details ? { output_tokens_details: { image_tokens: output, text_tokens: 0 } } : {}),
    total_tokens: input + output,
  });

  it.each([
    // https://github.com/Wei-Shaw/sub2api/issues/4386
    ['pictures that were sent at their own price', tokens(371, 352, 439), '0.016081'],
    // https://github.com/BerriAI/litellm/issues/31142
    ['an output without details is of images', tokens(46, 0, 2_459, false), '0.074'],
  ])('%s', async (_what, reported, usd) => {
    const answer = await ask({ model: 'painter', prompt: usage(reported) });
    expect(answer.headers.get('x-steyg-cost-usd')).toBe(usd);
    await answer.text();
  });

  it.each([
    // https://github.com/Wei-Shaw/sub2api/issues/2008: 1280x720 is below a million pixels.
    ['1280x720', 'medium', 1, '0.067'],
    ['1024x1024', 'medium', 1, '0.067'],
    ['2048x1152', 'medium', 1, '0.134'],
    ['1024x1024', 'low', 1, '0.011'],
    // A size counts before a quality.
    ['1536x1024', 'high', 1, '0.134'],
    ['3840x2160', 'high', 1, '0.25'],
    // https://github.com/Wei-Shaw/sub2api/issues/1994: eight images were charged as one.
    ['1024x1024', 'high', 8, '1.336'],
  ])('an image of %s and %s, %i times', async (size, quality, n, usd) => {
    const buyer = await payer();
    const answer = await ask({ model: 'pieces', prompt: 'An owl.', size, quality, n }, buyer.secret);
    expect(answer.headers.get('x-steyg-cost-usd')).toBe(usd);
    await answer.text();
    expect(await settled(app, buyer)).toMatchObject([{ usage_source: 'reported', lines: null }]);
  });

  // https://github.com/Wei-Shaw/sub2api/issues/3439: the price of a piece held at one address, and tokens at another.
  it('a model of images is asked at no other address', async () => {
    const before = app.simulator.requests().length;
    const refused = await fetch(`${app.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'pieces', messages: [{ role: 'user', content: 'An owl.' }] }),
    });
    expect((await errorOf(refused, 'chat-completions')).message).toContain('/v1/images/generations');
    expect(app.simulator.requests()).toHaveLength(before);
  });

  it.each([
    // https://github.com/Wei-Shaw/sub2api/issues/1999
    ['gpt-5.5', { input_tokens: 1_820, output_tokens: 210 }, 7_024],
    // https://github.com/Wei-Shaw/sub2api/issues/4639
    ['gpt-5.4-mini', { input_tokens: 2_230, output_tokens: 59 }, 186],
  ])('an image of a tool that only `tool_usage` tells of, asked of %s', async (model, reported, made) => {
    const answer = (more: object) => ({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model,
      output: [],
      usage: { ...reported, total_tokens: reported.input_tokens + reported.output_tokens },
      tool_usage: { image_gen: { output_tokens: made, output_tokens_details: { image_tokens: made } } },
      ...more,
    });
    const expected = BigInt(reported.input_tokens + reported.output_tokens) * 1_000_000n + 201_000_000_000n;
    for (const stream of [false, true]) {
      const buyer = await payer();
      const event = { type: 'response.completed', sequence_number: 0, response: answer({}) };
      const raw = stream ? `event: response.completed\ndata: ${JSON.stringify(event)}\n\n` : JSON.stringify(answer({}));
      const sent = await fetch(`${app.baseUrl}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${buyer.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'drawer',
          input: `[[raw ${Buffer.from(raw).toString('base64')}]]`,
          tools: [{ type: 'image_generation', model: 'gpt-image-2', size: '1024x1024', quality: 'low' }],
          stream,
        }),
      });
      expect(sent.status).toBe(200);
      await sent.text();
      expect(await settled(app, buyer)).toMatchObject([{ cost: expected, charged: expected }]);
    }
  });
});

describe('images of a tool whose model is in the catalog', () => {
  const draw = async (
    imageGen: object | undefined,
    more: { stream?: boolean; tool?: object; usd?: string; usage?: object } = {},
  ) => {
    const { stream = false, tool = { model: 'gpt-image-2', size: '1024x1024', quality: 'low' }, usd = '100' } = more;
    const { usage = { input_tokens: 1_820, output_tokens: 210 } } = more;
    const buyer = await app.customer({ usd });
    const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'AAAA' };
    const answer = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-image-artist',
      output: imageGen === undefined ? [item] : [],
      usage,
      ...(imageGen === undefined ? {} : { tool_usage: { image_gen: imageGen } }),
    };
    const event = { type: 'response.completed', sequence_number: 0, response: answer };
    const raw = stream ? `event: response.completed\ndata: ${JSON.stringify(event)}\n\n` : JSON.stringify(answer);
    const sent = await fetch(`${app.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${buyer.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'artist',
        input: `[[raw ${Buffer.from(raw).toString('base64')}]]`,
        max_output_tokens: 1_000,
        tools: [{ type: 'image_generation', ...tool }],
        stream,
      }),
    });
    await sent.text();
    return { buyer, status: sent.status };
  };
  const receipt = async (buyer: Customer): Promise<LedgerEntry> => {
    const row = (await settled(app, buyer)).at(-1);
    const found = await get(app, `/v1/usage?request_id=${String(row?.['request_id'])}`, buyer.secret);
    const entry = (await found.json()) as LedgerEntry;
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, problems: [] });
    expect(await checkInvariants(app.pool, { accounts: [buyer.accountId] })).toEqual([]);
    return entry;
  };
  const asker = 2_030n * 1_000_000n;

  it.each([
    // https://github.com/Wei-Shaw/sub2api/issues/1999
    [
      'draws',
      { input_tokens: 1_820, output_tokens: 210 },
      { output_tokens: 7_024, output_tokens_details: { image_tokens: 7_024 } },
      2_030n * 1_000_000n + 7_024n * 30_000_000n,
    ],
    // https://github.com/Wei-Shaw/sub2api/issues/4639
    [
      'draws-codex',
      { input_tokens: 2_230, output_tokens: 59 },
      {
        input_tokens: 7_918,
        input_tokens_details: { image_tokens: 7_620, text_tokens: 298 },
        output_tokens: 186,
        output_tokens_details: { image_tokens: 186, text_tokens: 0 },
        total_tokens: 8_104,
      },
      2_289n * 1_000_000n + 298n * 5_000_000n + 7_620n * 8_000_000n + 186n * 30_000_000n,
    ],
  ])('cost the tokens that `tool_usage` counts, of %s', async (maker, usage, imageGen, cost) => {
    const tool = { model: maker.replace('draws', 'gpt-image-2'), size: '1024x1024', quality: 'low' };
    for (const stream of [false, true]) {
      const { buyer } = await draw(imageGen, { stream, usage, tool });
      expect(await settled(app, buyer)).toMatchObject([{ cost, charged: cost, usage_source: 'reported' }]);
      const { lines } = await receipt(buyer);
      expect(lines.at(-1)?.model).toBe(`${maker} (images)`);
      expect(JSON.parse(String(lastSent()?.body))).toMatchObject({ max_tool_calls: 5 });
    }
  });

  it('cost the most that one can come to where an image was made and nothing counts it', async () => {
    const { buyer } = await draw(undefined);
    // A window of 100,000 at the dearest input, 20,000 of image.
    const most = 100_000n * 8_000_000n + 20_000n * 30_000_000n;
    expect(await settled(app, buyer)).toMatchObject([{ cost: asker + most, usage_source: 'clamped' }]);
    await receipt(buyer);
  });

  it('are in the bound for each use', async () => {
    const mostUsd = async (uses: number): Promise<number> => {
      const estimate = await fetch(`${app.baseUrl}/v1/responses/estimate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'artist',
          input: 'An owl.',
          max_tool_calls: uses,
          tools: [{ type: 'image_generation', model: 'gpt-image-2' }],
        }),
      });
      return Number(((await estimate.json()) as { most_usd: string }).most_usd);
    };
    // An image at most, and the window of the model that asks for it.
    expect((await mostUsd(3)) - (await mostUsd(2))).toBeCloseTo(1.4 + 0.1, 9);
  });

  it('are no more than the bound, and refused where the bound is not free', async () => {
    const { buyer } = await draw({ output_tokens: 90_000_000 });
    expect(await settled(app, buyer)).toMatchObject([
      { cost: asker + 100_000n * 30_000_000n, usage_source: 'clamped' },
    ]);
    await receipt(buyer);
    const before = app.simulator.requests().length;
    expect(await draw({ output_tokens: 196 }, { usd: '0.000001' })).toMatchObject({ status: 402 });
    expect(app.simulator.requests()).toHaveLength(before);
  });

  it('are pieces as before where the catalog does not have the model that makes them', async () => {
    for (const tool of [{}, { model: 'gpt-image-9' }]) {
      const { buyer } = await draw({ output_tokens: 7_024 }, { tool });
      expect(await settled(app, buyer)).toMatchObject([{ cost: asker, lines: null }]);
    }
  });
});

describe('what a failure costs', () => {
  it('is what the refusal bills, and nothing where it bills nothing', async () => {
    const buyer = await payer();
    const billed = { input_tokens: 40, input_tokens_details: { image_tokens: 0, text_tokens: 40 }, output_tokens: 0 };
    const refused = await ask({ model: 'painter', prompt: `[[status 400]]${usage(billed)}` }, buyer.secret);
    expect(refused.status).toBe(400);
    await refused.text();
    expect(await settled(app, buyer)).toMatchObject([{ cost: 200_000_000n, outcome: 'upstream_error' }]);
    const another = await payer();
    for (const code of [400, 500])
      await (await ask({ model: 'painter', prompt: `[[status ${code}]]` }, another.secret)).text();
    expect(await settled(app, another)).toMatchObject([{ cost: 0n }, { cost: 0n }]);
  });

  it('of a stream that breaks off is its first versions, and an error event tells of it', async () => {
    const buyer = await payer();
    const body = { model: 'painter', prompt: 'x[[cut 2]]', stream: true, partial_images: 3, quality: 'low' };
    const text = await (await ask(body, buyer.secret)).text();
    expect(text.match(/partial_image"/g)).toHaveLength(2);
    expect(text).toContain('"error"');
    expect(await settled(app, buyer)).toMatchObject([
      { outcome: 'upstream_cut', usage_source: 'estimated', lines: [{ tokens: { output: 200 } }] },
    ]);
  });

  it('of an answer without usage is the dearest that was made, or the price of a piece', async () => {
    const buyer = await payer();
    await (await ask({ model: 'painter', prompt: '[[nousage]]', n: 2, quality: 'low' }, buyer.secret)).text();
    expect(await settled(app, buyer)).toMatchObject([
      { usage_source: 'estimated', lines: [{ tokens: { output: 40_000 } }] },
    ]);
    const answer = await ask({ model: 'pieces', prompt: '[[nousage]]', n: 2, quality: 'low', size: '1024x1024' });
    expect(answer.headers.get('x-steyg-cost-usd')).toBe('0.022');
    await answer.text();
  });
});

describe('the bound', () => {
  const estimate = async (body: object): Promise<{ most_usd: string; hold_usd: string }> => {
    const answer = await ask(body, customer.secret, 'generations/estimate');
    expect(answer.status).toBe(200);
    return (await answer.json()) as { most_usd: string; hold_usd: string };
  };

  it('is the dearest size and quality that can be got, as often as images are asked for', async () => {
    const most = async (more: object) => (await estimate({ model: 'pieces', prompt: 'x', ...more })).most_usd;
    expect(await most({ quality: 'low', size: '1024x1024' })).toBe('0.011');
    expect(await most({ quality: 'low', size: '1024x1024', n: 3 })).toBe('0.033');
    expect(await most({ quality: 'low', size: 'auto' })).toBe('0.134');
    expect(await most({ quality: 'high', n: 2 })).toBe('0.5');
    expect(await most({ quality: 'auto', size: 'auto' })).toBe('0.25');
    expect(await most({ quality: 'low', size: '1024x1024', resolution: '4k' })).toBe('0.25');
  });

  it('is never below what is charged, whatever is reported', async () => {
    const body = { model: 'painter', n: 2, stream: true, partial_images: 3, quality: 'low' };
    const absurd = {
      input_tokens: 9e7,
      input_tokens_details: { image_tokens: 8e7, text_tokens: 1e7 },
      output_tokens: 9e7,
    };
    const prompt = usage(absurd);
    const { most_usd: most } = await estimate({ ...body, prompt });
    const buyer = await app.customer({ usd: '100' });
    await (await ask({ ...body, prompt }, buyer.secret)).text();
    const [row] = await settled(app, buyer);
    expect(row).toMatchObject({ usage_source: 'clamped' });
    expect(Number(row?.['cost']) / 1e12).toBeLessThanOrEqual(Number(most));
  });

  it('has to be free for several images, and no request of a small budget passes it', async () => {
    const poor = await app.customer({ usd: '0.3' });
    const refused = await ask({ model: 'painter', prompt: 'x', n: 2 }, poor.secret);
    expect(refused.status).toBe(402);
    await refused.text();
    const made = await ask({ model: 'pieces', prompt: 'x', quality: 'low', size: '1024x1024', n: 4 }, poor.secret);
    expect(made.status).toBe(200);
    await made.text();
  });
});

it('costs the dearest where nobody knows the word, and the same in any spelling', async () => {
  const most = async (form: object) => {
    const answer = await fetch(`${app.baseUrl}/v1/images/generations/estimate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'pieces', prompt: 'x', ...form }),
    });
    return ((await answer.json()) as { most_usd: string }).most_usd;
  };
  expect(await most({ quality: 'HIGH', size: ' 1024X1024 ' })).toBe('0.167');
  expect(await most({ quality: 'low', size: '1024x1024' })).toBe('0.011');
  for (const [unknown, open] of [
    [
      { quality: 'splendid', size: '1024x1024' },
      { quality: 'auto', size: '1024x1024' },
    ],
    [{ quality: 'low', size: 'large' }, { quality: 'low' }],
  ] as const)
    expect(await most(unknown)).toBe(await most(open));
  expect(await most({ quality: 'splendid', size: 'large' })).toBe('0.25');
});

it('needs ten times as much to begin ten images', async () => {
  const lowest = async (n: number) => {
    const answer = await fetch(`${app.baseUrl}/v1/images/generations/estimate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'painter', prompt: 'x', n }),
    });
    const { hold_usd, most_usd } = (await answer.json()) as { hold_usd: string; most_usd: string };
    expect(hold_usd).toBe(most_usd);
    return Number(hold_usd);
  };
  expect(await lowest(10)).toBeGreaterThan(9 * (await lowest(1)));
});

describe('a form', () => {
  const send = (parts: string, type = 'multipart/form-data; boundary=B') =>
    fetch(`${app.baseUrl}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.secret}`, 'content-type': type },
      body: parts,
    });
  const field = (name: string, value: string) =>
    `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name: string) =>
    `--B\r\nContent-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nPNG\r\n`;
  const good = field('model', 'painter') + field('prompt', 'x') + field('quality', 'low') + file('image');

  it('is written anew, with a boundary of its own', async () => {
    const answer = await send(`${good}--B--\r\n`);
    expect(answer.status).toBe(200);
    await answer.text();
    const sent = lastSent();
    const text = sent?.body.toString() ?? '';
    expect(text).toContain('name="model"\r\n\r\ngpt-image-painter\r\n');
    expect(text).not.toContain('--B');
    expect(new Map(sent?.headers).get('content-type')).toMatch(
      /^multipart\/form-data; boundary=steyg[A-Za-z0-9]{20,}$/,
    );
  });

  it.each([
    ['a field twice', field('n', '1') + field('n', '9'), 'n'],
    ['a number that is none', field('n', '1.0'), 'n'],
    ['a switch in another spelling', field('stream', 'True'), 'stream'],
    ['a name in another spelling', field('Partial-Images', '3'), 'partial_images'],
    ['a picture as a field', field('mask', 'x'), 'mask'],
    ['many images under another name', field('num_images', '9'), 'num_images'],
    ['frames', field('output_format', 'gif'), 'output_format'],
    ['a file of the account by its id, in brackets', field('images[0][file_id]', 'file-abc'), null],
    ['a number in brackets', field('n[]', '10'), null],
    ['a name with a space', field('model ', 'dearer'), null],
    ['a file that is no picture', file('image').replace('image/png', 'application/pdf'), 'image'],
  ])('is refused with %s', async (_what, more, param) => {
    const before = app.simulator.requests().length;
    const refused = await send(`${good}${more}--B--\r\n`);
    expect(refused.status).toBe(400);
    expect((await errorOf(refused, 'chat-completions')).param).toBe(param);
    expect(app.simulator.requests()).toHaveLength(before);
  });

  it.each([
    ['that ends too early', good],
    ['whose part says how it is encoded', good.replace('image/png', 'image/png\r\nContent-Transfer-Encoding: base64')],
    ['whose boundary stands nowhere', 'x'],
  ])('%s is refused', async (_what, body) => {
    const refused = await send(body);
    expect(refused.status).toBe(400);
    await refused.text();
  });
});

it('leaves out how images are given back where the vendor knows one way alone', async () => {
  const answer = await ask({ model: 'painter', response_format: 'b64_json', prompt: 'x', quality: 'low' });
  expect(answer.status).toBe(200);
  await answer.text();
  expect(lastSent()?.body.toString()).not.toContain('response_format');
});

it('is refused where the model makes no images, and where no route can', async () => {
  const talker = await ask({ model: 'talker', prompt: 'x' });
  expect((await errorOf(talker, 'chat-completions')).code).toBe('model_not_supported');
  const nowhere = await ask({ model: 'nowhere', prompt: 'x' });
  expect(nowhere.status).toBe(503);
  await nowhere.text();
});
