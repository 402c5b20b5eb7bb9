import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Receipt, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { get, nativeCatalog, protocols, reader, send, settled, until } from './support.ts';

/** Images that the vendor makes and minutes that it hears, counted beside the tokens where the operator opens them. */

let app: TestApp;
/** A vendor of responses that the test plays by hand: its running answer. */
let played: ServerResponse | null = null;
const vendor = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.on('close', () => (played = null));
  played = response;
});
beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const { port } = vendor.address() as AddressInfo;
  const catalog = nativeCatalog({
    prices: '{ input: "1", cacheHit: "0.1", output: "5", perUnit: { image: "0.2", minute: "0.004" } }',
    more: '    allow: [image_generation, input_audio]',
  });
  app = await startApp({
    catalog: (simulatorUrl) =>
      [
        catalog(simulatorUrl).replace(
          'models:',
          `  - { id: played, protocol: responses, baseUrl: "http://127.0.0.1:${port}/v1" }\nmodels:`,
        ),
        '  - { id: by-hand, displayName: by-hand, family: tests, contextWindow: 200000, maxOutputTokens: 32000,',
        '      prices: { input: "1", cacheHit: "0.1", output: "5", perUnit: { image: "0.2" } }, allow: [image_generation],',
        '      routes: [{ upstream: played, model: by-hand }] }',
      ].join('\n'),
  });
});
afterAll(async () => {
  await app.close();
  vendor.closeAllConnections();
  await new Promise((resolve) => vendor.close(resolve));
});

/** Clients' connections to the gateway. */
async function entryOf(customer: { secret: string; accountId: string }): Promise<Receipt> {
  const [row] = await settled(app, customer as never);
  const answer = await get(app, `/v1/usage?request_id=${String(row?.['request_id'])}`, customer.secret);
  return (await answer.json()) as Receipt;
}

const image = (status: string) => ({ type: 'image_generation_call', id: 'ig_1', status, result: 'aGk=' });
const response = (output: object[]) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'sim-small',
  output,
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
});
const drawing = { tools: [{ type: 'image_generation' }] };
const raw = (body: string) => `[[raw ${Buffer.from(body).toString('base64')}]]`;
const events = (items: object[]) =>
  [
    { type: 'response.created', response: response([]) },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: response(items) },
  ]
    .map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number, ...event })}\n\n`)
    .join('');

describe('images of a response', () => {
  it.each([
    ['whole', false],
    ['streamed', true],
  ])('are its items, without those that failed (%s)', async (_name, stream) => {
    const customer = await app.customer({ usd: '10' });
    const items = [image('completed'), image('failed'), image('generating')];
    const text = raw(stream ? events(items) : JSON.stringify(response(items)));
    const more = { model: 'only-responses', stream, ...drawing };
    const answer = await send(app, protocols.responses, { secret: customer.secret, text, more });
    expect(answer.status).toBe(200);
    await answer.text();
    const entry = await entryOf(customer);
    // Beside 100 x 1 + 10 x 5 micro-USD.
    expect(entry).toMatchObject({
      cost_usd: '0.40015',
      charged_usd: '0.40015',
      units: [{ unit: 'image', count: 2, price_usd: '0.2', amount_usd: '0.4' }],
    });
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, parts: { units: 400_000_000_000n } });
  });

  it('that nobody asked for are not charged', async () => {
    const customer = await app.customer({ usd: '10' });
    const text = raw(JSON.stringify(response([image('completed')])));
    const answer = await send(app, protocols.responses, {
      secret: customer.secret,
      text,
      more: { model: 'only-responses' },
    });
    await answer.text();
    expect(await entryOf(customer)).toMatchObject({ cost_usd: '0.00015', units: [], usage_source: 'clamped' });
  });

  const partial = (output_index: number, partial_image_index: number) => ({
    type: 'response.image_generation_call.partial_image',
    item_id: `ig_${output_index}`,
    output_index,
    partial_image_index,
    partial_image_b64: 'aGk=',
  });
  const done = (output_index: number, status: string) => ({
    type: 'response.output_item.done',
    output_index,
    item: image(status),
  });
  const created = { type: 'response.created', response: response([]) };
  const completed = { type: 'response.completed', response: response([image('completed')]) };
  const sse = (list: { type: string }[]) =>
    list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

  it('count once, with the first partial image, and with none where they failed before it', async () => {
    const customer = await app.customer({ usd: '10' });
    const events = [created, partial(0, 0), partial(0, 1), done(0, 'completed'), done(1, 'failed'), partial(2, 0)];
    const text = raw(sse([...events, done(2, 'failed'), done(3, 'completed'), completed]));
    const more = { model: 'only-responses', stream: true, ...drawing };
    await (await send(app, protocols.responses, { secret: customer.secret, text, more })).text();
    expect(await entryOf(customer)).toMatchObject({ units: [{ unit: 'image', count: 3 }] });
  });

  it.each([
    ['the vendor finishes', [done(0, 'completed'), completed], 'reported', '0.20015'],
    ['the vendor ends without a last report', [], 'partial', '0.20015'],
  ])('that a client saw in part are charged after it has left: %s', async (_name, rest, usage_source, cost) => {
    const customer = await app.customer({ usd: '10' });
    const more = { model: 'by-hand', stream: true, ...drawing };
    const asked = send(app, protocols.responses, { secret: customer.secret, text: 'An owl.', more });
    await until(() => played !== null);
    played?.write(sse([created, partial(0, 0)]));
    const events = reader(await asked);
    await events.until(/partial_image_b64/);
    await events.cancel();
    // The gateway asks for signs of life for a second, has seen that the client is gone, and reads on.
    await delay(1_500);
    played?.end(sse(rest));
    const entry = await entryOf(customer);
    expect(entry).toMatchObject({ outcome: 'client_closed', usage_source, units: [{ unit: 'image', count: 1 }] });
    expect(entry.cost_usd).toMatch(cost);
  });

  it('that a client saw in part are charged when the upstream cuts the stream before any text', async () => {
    const customer = await app.customer({ usd: '10' });
    const more = { model: 'by-hand', stream: true, ...drawing };
    const asked = send(app, protocols.responses, { secret: customer.secret, text: 'An owl.', more });
    await until(() => played !== null);
    played?.write(sse([created, partial(0, 0)]));
    const events = reader(await asked);
    await events.until(/partial_image_b64/);
    played?.destroy();
    const entry = await entryOf(customer);
    expect(entry).toMatchObject({ outcome: 'upstream_cut', units: [{ unit: 'image', count: 1 }] });
    expect(Number(entry.cost_usd)).toBeGreaterThanOrEqual(0.2);
    await events.cancel();
  });

  it('are in the hold of a request that asks for them: sixteen where it cannot be stopped', async () => {
    // 16 x 0.2 USD are more than the budget of two such requests at once.
    const customer = await app.customer({ usd: '3.3' });
    const asked = () =>
      send(app, protocols.responses, {
        secret: customer.secret,
        text: 'ping',
        more: { model: 'only-responses', max_output_tokens: 1_000, ...drawing },
      });
    const two = await Promise.all([asked(), asked()]);
    expect(new Set(two.map(({ status }) => status))).toEqual(new Set([200, 429]));
    await Promise.all(two.map((answer) => answer.text()));
    await settled(app, customer);
  });
});

describe('minutes of audio', () => {
  const usage = (seconds: unknown) =>
    `[[usage ${JSON.stringify({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_audio_seconds: seconds })}]]`;
  const ask = async (seconds: unknown, stream: boolean) => {
    const customer = await app.customer({ usd: '10' });
    const content = [
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
      { type: 'text', text: usage(seconds) },
    ];
    const options = stream ? { stream_options: { include_usage: true } } : {};
    const more = { model: 'only-chat', stream, messages: [{ role: 'user', content }], ...options };
    const answer = await send(app, protocols.chat, { secret: customer.secret, text: '', more });
    expect(answer.status).toBe(200);
    await answer.text();
    return entryOf(customer);
  };

  it.each([
    [61, false, 2],
    [60, true, 1],
    [1, false, 1],
  ])(
    'that Mistral reports in the usage of a chat are charged, begun ones whole (%d s)',
    async (seconds, stream, count) => {
      const entry = await ask(seconds, stream);
      expect(entry.units).toMatchObject([{ unit: 'minute', count, price_usd: '0.004' }]);
      expect(verifyReceipt(entry)).toMatchObject({ matches: true, problems: [] });
    },
  );

  it.each([0, null, {}])('are none where it reports %o', async (seconds) => {
    expect(await ask(seconds, false)).toMatchObject({ units: [], usage_source: 'reported' });
  });

  const heard = (text: string) => [
    {
      role: 'user',
      content: [
        { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
        { type: 'text', text },
      ],
    },
  ];

  it('are all held for a stream too, because only its last usage says how many there are', async () => {
    const customer = await app.customer({ usd: '10' });
    const more = { model: 'only-chat', stream: true, messages: heard('[[hang 1]]') };
    const events = reader(await send(app, protocols.chat, { secret: customer.secret, text: '', more }));
    await events.until(/data:/);
    const { held } = await app.app.ledger.balance(customer.accountId);
    expect(held).toBeGreaterThan(180n * 4_000_000_000n);
    await events.cancel();
  });

  it('need a budget for one of them', async () => {
    const customer = await app.customer({ usd: '0.003' });
    const more = { model: 'only-chat', stream: true, messages: heard('ping') };
    const refused = await send(app, protocols.chat, { secret: customer.secret, text: '', more });
    expect(refused.status).toBe(402);
    await refused.text();
  });

  it.each([
    ['as reported', usage(61), 2],
    ['as one where nothing is reported', '[[nousage]]', 1],
  ])('are charged of an answer that its client left: %s', async (_name, report, count) => {
    const customer = await app.customer({ usd: '10' });
    const text = `${report}[[len 300]][[speed 500]]`;
    const more = { model: 'only-chat', stream: true, messages: heard(text), stream_options: { include_usage: true } };
    const events = reader(await send(app, protocols.chat, { secret: customer.secret, text: '', more }));
    await events.until(/w20/);
    await events.cancel();
    expect(await entryOf(customer)).toMatchObject({ outcome: 'client_closed', units: [{ unit: 'minute', count }] });
  });

  it('are charged up to three hours', async () => {
    expect(await ask(1_000_000, false)).toMatchObject({
      units: [{ unit: 'minute', count: 180 }],
      usage_source: 'clamped',
    });
  });
});
