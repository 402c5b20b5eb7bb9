import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { array, assert, asyncProperty, constantFrom, integer, oneof, string } from 'fast-check';
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRouteTester } from '../../server/catalog/test-route.ts';
import { parseUsd } from '../../server/core/money.ts';
import { probe, probeModes, probeProtocols } from '../../server/uptime/probes/probe.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, get, protocols, send, settled } from './support.ts';

/** `POST /v1/embeddings`: the same keys, holds, ledger, limits and refusals as for answers, in OpenAI's words. */

const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: by-chat, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-responses, protocol: responses, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-messages, protocol: messages, baseUrl: "${simulatorUrl}" }
  - { id: by-wordy, protocol: chat-completions, baseUrl: "http://127.0.0.1:${(wordy.address() as AddressInfo).port}/v1" }
models:
${[
  entry('embed-1', 'kind: embedding', ['by-chat']),
  entry('embed-responses', 'kind: embedding', ['by-responses']),
  entry('embed-nowhere', 'kind: embedding', ['by-messages']),
  entry('embed-wordy', 'kind: embedding', ['by-wordy']),
  entry('embed-strict', 'kind: embedding, unknownMembers: refuse', ['by-chat']),
  entry('talker', 'kind: text', ['by-chat']),
  entry('wordy', 'kind: text', ['by-wordy', 'by-chat']),
].join('\n')}`;

/** A thousand tokens of input are 0.001 USD. */
function entry(id: string, more: string, upstreams: string[]): string {
  const routes = upstreams
    .map((upstream, index) => `{ upstream: ${upstream}, model: vendor-${id}, priority: ${index} }`)
    .join(', ');
  return `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 8192, maxOutputTokens: 1000, ${more}, prices: { input: "1", cacheHit: "0", output: "0" }, routes: [${routes}] }`;
}

/** A vendor whose vectors and texts are larger than an answer may be. */
const wordy = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('error', () => undefined);
  const isText = request.url?.endsWith('/chat/completions') === true;
  if (isText) response.write('{"choices":[{"index":0,"message":{"role":"assistant","content":"');
  const piece = Buffer.alloc(1_048_576, isText ? 'word ' : ' ');
  let pieces = 0;
  const more = (): void => {
    while (!response.destroyed && pieces < 66) {
      pieces += 1;
      if (!response.write(piece)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
});

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  await new Promise<void>((resolve) => wordy.listen(0, '127.0.0.1', resolve));
  app = await startApp({ catalog });
  customer = await app.customer();
});
afterAll(async () => {
  await app.close();
  wordy.closeAllConnections();
  await new Promise((resolve) => wordy.close(resolve));
});

const ask = (body: unknown, secret = customer.secret, signal?: AbortSignal, path = '') =>
  fetch(`${app.baseUrl}/v1/embeddings${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
/** Repeats what is refused with 503, as clients do: an admission that waits for a second, on a slow machine, is not taken. */
async function askUntilTaken(body: unknown, secret: string, path = ''): Promise<Response> {
  for (;;) {
    const answer = await ask(body, secret, undefined, path);
    if (answer.status !== 503) return answer;
    expect((await errorOf(answer, 'chat-completions')).code).toBe('server_error');
  }
}
function picoUsd(usd: string | null): bigint {
  const amount = parseUsd(usd ?? '');
  if (amount === null) throw new Error(`no amount: ${usd}`);
  return amount;
}
const client = () => new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
const lastSent = () => app.simulator.requests().at(-1);

describe('the published library', () => {
  const inputs: [string, string | string[] | number[] | number[][], number][] = [
    ['a text', 'An owl.', 1],
    ['texts', ['An owl.', 'Two owls.', '🦉'], 3],
    ['tokens', [2127, 54734, 13], 1],
    ['lists of tokens', [[2127, 54734], [13], [1, 2, 3]], 3],
  ];
  it.each(inputs)(
    'embeds %s, as base64 by itself and as numbers where they are asked for',
    async (_what, input, count) => {
      for (const model of ['embed-1', 'embed-responses']) {
        const unasked = await client().embeddings.create({ model, input });
        const floats = await client().embeddings.create({ model, input, encoding_format: 'float', dimensions: 5 });
        expect(unasked.data.map(({ index, embedding }) => [index, embedding.length])).toEqual(
          Array.from({ length: count }, (_, index) => [index, 8]),
        );
        expect(floats.data.map(({ embedding }) => embedding.length)).toEqual(Array.from({ length: count }, () => 5));
        expect(floats.data[0]?.embedding.every((value) => Math.abs(value) <= 1)).toBe(true);
        expect(unasked.model).toBe(model);
        expect(unasked.usage.prompt_tokens).toBeGreaterThan(0);
      }
    },
  );

  it('raises its own classes for refusals', async () => {
    await expect(client().embeddings.create({ model: 'embed-1', input: [] })).rejects.toBeInstanceOf(BadRequestError);
    const broke = new OpenAI({
      apiKey: (await app.customer({ usd: '0' })).secret,
      baseURL: `${app.baseUrl}/v1`,
      maxRetries: 0,
    });
    await expect(broke.embeddings.create({ model: 'embed-1', input: 'x' })).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_quota',
    });
  });
});

it('travels byte for byte but for the model, and no key of the customer with it', async () => {
  const body = '{ "input" : ["a\\u00e9", "b"],\n"model":"steyg/EMBED-1" , "user":"u", "encoding_format":"float"}';
  const answer = await ask(body);
  expect(answer.status).toBe(200);
  const sent = lastSent();
  expect(sent?.path).toBe('/v1/embeddings');
  expect(sent?.body.toString()).toBe(body.replace('steyg/EMBED-1', 'vendor-embed-1'));
  expect(JSON.stringify(sent?.headers)).not.toContain(customer.secret);
  expect(await answer.json()).toMatchObject({ object: 'list', model: 'embed-1' });
});

describe('what an embedding costs', () => {
  it('is its input, in the ledger, the header and the receipt of the request', async () => {
    const payer = await app.customer();
    const usage = { prompt_tokens: 1_234, total_tokens: 1_234 };
    const answer = await ask(
      { model: 'embed-1', input: `[[usage ${JSON.stringify(usage)}]]${'x'.repeat(1_234)}` },
      payer.secret,
    );
    expect(answer.headers.get('x-steyg-cost-usd')).toBe('0.001234');
    await answer.text();
    await settled(app, payer);
    const id = String(answer.headers.get('x-request-id'));
    const row = await (await get(app, `/v1/usage?request_id=${id}`, payer.secret)).json();
    expect(row).toMatchObject({
      model: 'embed-1',
      upstream: 'by-chat',
      usage: { input_tokens: 1_234, cache_hit_tokens: 0, output_tokens: 0 },
      cost_usd: '0.001234',
      charged_usd: '0.001234',
      usage_source: 'reported',
      outcome: 'completed',
    });
    const generation = await (await get(app, `/v1/generation?id=${id}`, payer.secret)).json();
    expect(generation).toMatchObject({ data: { api_type: 'embeddings', tokens_prompt: 1_234, total_cost: 0.001234 } });
  });

  it.each([
    ['the total alone', `[[usage {"total_tokens":500}]]${'x'.repeat(500)}`, 500n, 'reported'],
    [
      'the total beside a prompt of zero',
      `[[usage {"prompt_tokens":0,"total_tokens":500}]]${'x'.repeat(500)}`,
      500n,
      'reported',
    ],
    [
      'zero: an estimate by its bytes',
      `[[usage {"prompt_tokens":0,"total_tokens":0}]]${'x'.repeat(348)}`,
      100n,
      'estimated',
    ],
    ['nothing: an estimate by its bytes', `[[nousage]]${'x'.repeat(387)}`, 100n, 'estimated'],
    [
      'more than fits into its inputs',
      `[[usage {"prompt_tokens":9000000,"total_tokens":9000000}]]${'x'.repeat(17_000)}`,
      8_192n,
      'clamped',
    ],
  ])('where the vendor reports %s', async (_what, input, tokens, source) => {
    const payer = await app.customer();
    await (await ask({ model: 'embed-1', input }, payer.secret)).text();
    expect(await settled(app, payer)).toMatchObject([{ input: tokens, usage_source: source }]);
  });

  it('of vectors that are too large to be delivered is the estimated input, which the refusal says', async () => {
    const payer = await app.customer();
    // More often than an upstream may fail before it is left alone.
    for (let times = 0; times < 7; times += 1) {
      const refused = await ask({ model: 'embed-wordy', input: 'x'.repeat(398) }, payer.secret);
      expect(refused.status).toBe(502);
      expect(refused.headers.get('x-should-retry')).toBe('false');
      expect((await errorOf(refused, 'chat-completions')).message).toContain('64 MB');
    }
    const rows = await settled(app, payer);
    expect(rows).toHaveLength(7);
    for (const row of rows)
      expect(row).toMatchObject({
        input: 100n,
        charged: 100_000_000n,
        usage_source: 'estimated',
        outcome: 'upstream_error',
      });
  });

  it('of an answer that is too large is what was counted of it, within its cap, and no other route is asked', async () => {
    const payer = await app.customer();
    const before = app.simulator.requests().length;
    const refused = await send(app, protocols.chat, {
      secret: payer.secret,
      text: 'Say much.',
      more: { model: 'wordy', max_tokens: 700 },
    });
    expect(refused.status).toBe(502);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect((await errorOf(refused, 'chat-completions')).message).toContain('Ask for a stream');
    expect(await settled(app, payer)).toMatchObject([
      { output: 700n, input: 0n, usage_source: 'estimated', outcome: 'upstream_error' },
    ]);
    expect(app.simulator.requests()).toHaveLength(before);
  });

  it('of a failure is nothing, and of an answer that its client did not wait for what the vendor reported', async () => {
    const payer = await app.customer();
    const failed = await ask({ model: 'embed-1', input: '[[status 500]]' }, payer.secret);
    expect(failed.status).toBe(502);
    await failed.text();
    const leaving = new AbortController();
    const left = ask({ model: 'embed-1', input: '[[delay 2000]]' }, payer.secret, leaving.signal);
    await vi.waitFor(() => expect(app.simulator.stats().openRequests).toBe(1));
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    const rows = await settled(app, payer);
    expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['client_closed', 'upstream_error']));
    expect(rows.find(({ outcome }) => outcome === 'upstream_error')).toMatchObject({ cost: 0n });
    expect(rows.find(({ outcome }) => outcome === 'client_closed')).toMatchObject({ cache_hit: 0n });
    expect(Number(rows.find(({ outcome }) => outcome === 'client_closed')?.['cost'])).toBeGreaterThan(0);
  });
});

describe('a budget', () => {
  it('that is short of the input is refused before anything is sent, with what is needed', async () => {
    const poor = await app.customer({ usd: '0.001' });
    const before = app.simulator.requests().length;
    const refused = await ask({ model: 'embed-1', input: 'x'.repeat(8_000) }, poor.secret);
    expect(refused.status).toBe(402);
    const error = await errorOf(refused, 'chat-completions');
    expect(error).toMatchObject({ code: 'insufficient_quota', required_usd: '0.002001' });
    expect(error).not.toHaveProperty('affordable_max_tokens');
    expect(app.simulator.requests().length).toBe(before);
  });

  it('is never charged above what is held, for any shape of input, one after the other or at once', async () => {
    const payer = await app.customer({ usd: '0.3' });
    const texts = array(oneof(string({ minLength: 1 }), string({ unit: 'grapheme', minLength: 1 })), {
      minLength: 1,
      maxLength: 6,
    });
    const tokens = array(integer({ min: 0, max: 199_999 }), { minLength: 1, maxLength: 40 });
    const input = oneof(
      string({ unit: 'binary', minLength: 1 }),
      texts,
      tokens,
      array(tokens, { minLength: 1, maxLength: 6 }),
    );
    await assert(
      asyncProperty(
        array(input, { minLength: 1, maxLength: 4 }),
        constantFrom('float', 'base64'),
        async (asked, format) => {
          const taken = await Promise.all(
            asked.map(async (one) => {
              const body = { model: 'embed-1', input: one, encoding_format: format };
              const estimate = await askUntilTaken(body, payer.secret, '/estimate');
              const { hold_usd: hold } = (await estimate.json()) as { hold_usd: string };
              const answer = await askUntilTaken(body, payer.secret);
              await answer.text();
              return { hold, status: answer.status, cost: answer.headers.get('x-steyg-cost-usd') };
            }),
          );
          // A text may look like a directive to the simulator, which then refuses it.
          expect(taken.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
          const answered = taken.filter(({ status }) => status === 200);
          expect(answered.filter(({ hold, cost }) => picoUsd(cost) > picoUsd(hold))).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
    const rows = await settled(app, payer);
    expect(rows.length).toBeGreaterThan(20);
    for (const { cost, charged, shortfall } of rows as { cost: bigint; charged: bigint; shortfall?: bigint }[]) {
      expect(charged).toBe(cost);
      expect(shortfall ?? 0n).toBe(0n);
    }
    expect(await app.app.ledger.balance(payer.accountId)).toMatchObject({ held: 0n });
  });
});

describe('tokens a minute', () => {
  it('are drawn for every input, by bytes', async () => {
    const limited = await app.customer({ terms: { tokensPerMinute: 20_000 } });
    const input = (count: number) => Array.from({ length: count }, () => 'x'.repeat(8_000));
    const refused = await ask({ model: 'embed-1', input: input(3) }, limited.secret);
    expect(refused.status).toBe(429);
    expect(await errorOf(refused, 'chat-completions')).toMatchObject({ limit_unit: 'tokens_per_minute' });
    const taken = await ask({ model: 'embed-1', input: input(2) }, limited.secret);
    expect(taken.status).toBe(200);
    await taken.text();
  });
});

describe('a model of the other kind', () => {
  it.each(Object.values(protocols))('is refused on $protocol with the address that it has', async (protocol) => {
    const refused = await send(app, protocol, { secret: customer.secret, more: { model: 'embed-1' } });
    expect(refused.status).toBe(400);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect((await errorOf(refused, protocol.protocol)).message).toContain('/v1/embeddings');
  });

  it('is refused at the address of embeddings, and so is one that has no route for them', async () => {
    const refused = await ask({ model: 'talker', input: 'x' });
    expect(refused.status).toBe(400);
    expect(await errorOf(refused, 'chat-completions')).toMatchObject({ param: 'model', code: 'model_not_supported' });
    const nowhere = await ask({ model: 'embed-nowhere', input: 'x' });
    expect(nowhere.status).toBe(503);
    await nowhere.text();
  });

  it('is listed as what it is', async () => {
    const listed = (await (await get(app, '/v1/models', customer.secret)).json()) as {
      data: Record<string, unknown>[];
    };
    expect(listed.data.find(({ id }) => id === 'talker')).toMatchObject({ kind: 'text' });
    const embedding = listed.data.find(({ id }) => id === 'embed-1');
    expect(embedding).toMatchObject({ kind: 'embedding', architecture: { output_modalities: ['embeddings'] } });
    const own = (await (await get(app, '/v1/embeddings/models', customer.secret)).json()) as { data: unknown[] };
    expect(own.data).toHaveLength(5);
    expect(own.data).toContainEqual(embedding);
  });
});

describe('whether a model of embeddings is up', () => {
  it.each(probeProtocols.flatMap((protocol) => probeModes.map((mode) => ({ protocol, mode }))))(
    'a probe of $protocol, $mode, asks it for an embedding',
    async (asked) => {
      const payer = await app.customer();
      const target = { model: 'embed-1', ...asked };
      const found = await probe({ baseUrl: app.baseUrl, apiKey: payer.secret, target, timeoutMs: 10_000 });
      expect(found).toMatchObject({ outcome: 'up', status: 200 });
      expect(await settled(app, payer)).toHaveLength(1);
    },
  );

  it("the operator's test of its route asks for an embedding", async () => {
    const seal = { unseal: () => null } as unknown as Parameters<typeof createRouteTester>[0]['seal'];
    const tester = createRouteTester({ pool: app.pool, seal, simulatorUrl: null, allowPrivate: true });
    const { rows } = await app.pool.query<{ id: string }>(`SELECT id FROM route WHERE model_id = 'embed-responses'`);
    expect(await tester.test(rows[0]?.id ?? '')).toMatchObject({ ok: true, status: 200 });
    expect(lastSent()?.path).toBe('/v1/embeddings');
    await tester.close();
  });
});

describe('a request that cannot be measured or priced', () => {
  it.each([
    [{}, 'input'],
    [{ input: null }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: [[]] }, 'input[0]'],
    [{ input: 7 }, 'input'],
    [{ input: { text: 'x' } }, 'input'],
    [{ input: ['x', 7] }, 'input'],
    [{ input: [7, [7]] }, 'input'],
    [{ input: [-1] }, 'input'],
    [{ input: [1.5] }, 'input'],
    [{ input: [{ type: 'image_url', image_url: { url: 'https://owls.test/a.png' } }] }, 'input[0]'],
    [{ input: 'x', stream: true }, 'stream'],
    [{ input: 'x', Model: 'y' }, 'model'],
    [{ input: 'x', provider: { order: ['a'] } }, 'provider'],
  ])('%j is refused by the name of %s, and nothing is sent', async (more, param) => {
    const before = app.simulator.requests().length;
    const refused = await ask({ model: 'embed-1', ...more });
    expect(refused.status).toBe(400);
    expect((await errorOf(refused, 'chat-completions')).param).toBe(param);
    expect(app.simulator.requests().length).toBe(before);
  });

  it('an unknown member passes, or is refused where the entry says so', async () => {
    const passed = await ask({ model: 'embed-1', input: 'x', input_type: 'query' });
    // The simulator is as strict as its vendor; its own words arrive.
    expect((await errorOf(passed, 'chat-completions')).message).toContain('input_type');
    expect(lastSent()?.body.toString()).toContain('input_type');
    const refused = await ask({ model: 'embed-strict', input: 'x', input_type: 'query' });
    expect((await errorOf(refused, 'chat-completions')).param).toBe('input_type');
  });

  it('tokens are taken in the numbers that a vendor takes', async () => {
    const answer = await ask({ model: 'embed-1', input: Array.from({ length: 37 }, () => Array(8_000).fill(1)) });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { usage: unknown }).usage).toMatchObject({ prompt_tokens: 296_000 });
  });
});
