import type { IncomingMessage } from 'node:http';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type TestApp } from '../support/app.ts';
import { idOf, openSocket as open, said } from './socket-client.ts';
import { nativeCatalog } from './support.ts';

// Responses over a WebSocket: each turn is a request like any other.

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
});
afterAll(() => app.close());

/** The requests that reached the upstream so far. */
const sent = () => app.simulator.requests().map(({ body }) => JSON.parse(body.toString()));

describe('a turn over a WebSocket', () => {
  it('is answered with the events of a stream, admitted and charged like a request', async () => {
    const { secret, accountId } = await app.customer();
    const client = await open(app, secret);
    const turn = await client.create({ input: '[[say hello]]' });
    client.socket.close();
    expect(turn[0]?.type).toBe('response.created');
    expect(said(turn)).toBe('hello');
    const [entry, ...others] = await app.ledger(accountId);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ outcome: 'completed', protocol: 'responses' });
    expect(BigInt(entry?.['charged'] as string)).toBeGreaterThan(0n);
  });

  it.each([
    ['only-responses', (body: Body) => body.input],
    ['only-chat', (body: Body) => body.messages],
    ['only-messages', (body: Body) => body.messages],
  ])('goes on from the one before it in front of %s, which gets the whole conversation', async (model, listOf) => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
    const first = await client.create({ model, tools, input: [{ role: 'user', content: '[[tool look {"at":"é"}]]' }] });
    const call = first.at(-1)?.response?.output.find(({ type }) => type === 'function_call');
    const second = await client.create({
      model,
      tools,
      previous_response_id: idOf(first),
      input: [{ type: 'function_call_output', call_id: call?.call_id, output: 'seen' }],
    });
    expect(said(second)).toBe('tool done');
    const third = await client.create({ model, tools, previous_response_id: idOf(second), input: '[[say three]]' });
    expect(said(third)).toBe('three');
    client.socket.close();
    const [one, two, three] = sent()
      .slice(-3)
      .map((body) => listOf(body as Body));
    expect(one).toHaveLength(1);
    expect(two).toHaveLength(3);
    expect(three).toHaveLength(5);
    expect(JSON.stringify(three)).toContain('é');
    expect(JSON.stringify(sent().at(-1))).not.toMatch(/previous_response_id|response\.create|stream_id|generate/);
  });

  it('is not bounded by what the handshake was allowed: a deleted key, its limit and the end of the budget stop the next one', async () => {
    const deleted = await app.customer();
    const first = await open(app, deleted.secret);
    expect((await first.create({ input: 'one' })).at(-1)?.type).toBe('response.completed');
    await app.keys.delete({ accountId: deleted.accountId, id: deleted.keyId, actor: 'test' });
    const refused = await first.create({ input: 'two' });
    expect(refused.at(-1)).toMatchObject({ type: 'error', status: 401, error: { code: 'invalid_api_key' } });
    expect(await first.closed()).toBe(1008);

    const limited = await app.customer({ terms: { requestsPerMinute: 1 } });
    const second = await open(app, limited.secret);
    expect((await second.create({ input: 'one' })).at(-1)?.type).toBe('response.completed');
    expect((await second.create({ input: 'two' })).at(-1)).toMatchObject({
      status: 429,
      error: { code: 'rate_limit_exceeded' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });

    const poor = await app.customer({ usd: '0.0001' });
    const third = await open(app, poor.secret);
    const turns = [];
    do turns.push(await third.create({ input: '[[len 20]]', max_output_tokens: 16 }));
    while (turns.at(-1)?.at(-1)?.type !== 'error' && turns.length < 50);
    expect(turns.at(-1)?.at(-1)).toMatchObject({ status: 402, error: { code: 'insufficient_quota' } });
    const charged = (await app.ledger(poor.accountId)).reduce(
      (sum, entry) => sum + BigInt(entry['charged'] as string),
      0n,
    );
    expect(charged).toBeLessThanOrEqual(100_000_000n);
    expect(charged).toBeGreaterThan(0n);
  });

  it('that warms up generates nothing, costs nothing and is gone on from', async () => {
    const { secret, accountId } = await app.customer();
    const client = await open(app, secret);
    const before = app.simulator.stats().requests;
    const warm = await client.create({ generate: false, input: [{ role: 'user', content: 'earlier' }] });
    expect(warm.map(({ type }) => type)).toEqual(['response.created', 'response.completed']);
    expect(app.simulator.stats().requests).toBe(before);
    const next = await client.create({ previous_response_id: idOf(warm), input: '[[say now]]' });
    expect(said(next)).toBe('now');
    expect(sent().at(-1).input).toHaveLength(2);
    expect(await app.ledger(accountId)).toHaveLength(1);
    const unknown = await client.create({ model: 'nobody', generate: false, input: 'x' });
    expect(unknown.at(-1)).toMatchObject({ status: 400, error: { code: 'model_not_found' } });
  });

  it('that failed is forgotten, and one that is not known is refused with the word that clients send it all again for', async () => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    const first = await client.create({ input: 'one' });
    const missing = await client.create({ previous_response_id: 'resp_of_somebody_else', input: 'x' });
    expect(missing.at(-1)).toMatchObject({
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    const failed = await client.create({ previous_response_id: idOf(first), input: '[[midfail 3]]' });
    expect(failed.at(-1)?.type).toMatch(/^(?:response\.failed|error)$/);
    const again = await client.create({ previous_response_id: idOf(first), input: 'x' });
    expect(again.at(-1)?.error?.code).toBe('previous_response_not_found');
  });

  it('ends with an error that has a status when its upstream is cut', async () => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    const turn = await client.create({ input: '[[cut 3]]' });
    expect(turn.at(-1)?.type).toMatch(/^(?:response\.failed|error)$/);
    expect((await client.create({ input: '[[say on]]' })).at(-1)?.type).toBe('response.completed');
  });

  it('names its lane in every frame, and a lane can go on from another one', async () => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    const one = await client.create({ stream_id: 'a', input: '[[say a]]' });
    const two = await client.create({ stream_id: 'b', previous_response_id: idOf(one), input: '[[say b]]' });
    expect(two.map(({ stream_id }) => stream_id)).toEqual(two.map(() => 'b'));
    const three = await client.create({ stream_id: 'a', previous_response_id: idOf(one), input: '[[say c]]' });
    expect(said(three)).toBe('c');
    expect(sent().at(-1).input).toHaveLength(3);
  });

  it('waits for the one before it, however fast the events come', async () => {
    const { secret, accountId } = await app.customer({ terms: { maxConcurrent: 1 } });
    const client = await open(app, secret);
    for (const word of ['one', 'two', 'three'])
      client.send({ type: 'response.create', model: 'only-responses', input: `[[say ${word}]]` });
    expect([said(await client.turn()), said(await client.turn()), said(await client.turn())]).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(await app.ledger(accountId)).toHaveLength(3);
  });

  it('is settled once when its client leaves in the middle', async () => {
    const { secret, accountId } = await app.customer();
    const client = await open(app, secret);
    client.send({ type: 'response.create', model: 'only-responses', input: '[[len 400]] [[hang 300]]' });
    await new Promise((resolve) => client.socket.once('message', resolve));
    client.socket.terminate();
    expect(await app.ledger(accountId)).toEqual([expect.objectContaining({ outcome: 'client_closed' })]);
  });
});

interface Body {
  input?: unknown[];
  messages?: unknown[];
}

describe('a WebSocket', () => {
  it.each([
    ['no key', {}, 401],
    ['a wrong key', { authorization: 'Bearer sk-wrong' }, 401],
  ])('is refused with %s, in the words of every other request', async (_what, headers, status) => {
    const socket = new WebSocket(`${app.baseUrl.replace('http', 'ws')}/v1/responses`, { headers });
    socket.on('error', () => undefined);
    const response = await new Promise<IncomingMessage>((resolve) => {
      socket.once('unexpected-response', (_request, answer) => resolve(answer));
    });
    expect(response.statusCode).toBe(status);
    expect(JSON.parse(await text(response)).error.message).toBe('Invalid API key');
    expect(response.headers['x-request-id']).toBeDefined();
  });

  it('is no other address than that of responses, and a request without an upgrade is told what to send', async () => {
    const { secret } = await app.customer();
    const elsewhere = new WebSocket(`${app.baseUrl.replace('http', 'ws')}/v1/messages`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    elsewhere.on('error', () => undefined);
    expect(
      await new Promise((resolve) => {
        elsewhere.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
      }),
    ).toBe(426);
    const plain = await fetch(`${app.baseUrl}/v1/responses`);
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('stays open after an event that is none', async () => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    for (const event of ['{', '[]', '"x"', '{"type":"session.update"}', '{"type":"response.create","stream_id":7}']) {
      client.send(event);
      expect((await client.turn()).at(-1)).toMatchObject({ type: 'error', status: 400 });
    }
    client.socket.send(Buffer.from('{}'), { binary: true });
    expect((await client.turn()).at(-1)).toMatchObject({ status: 400 });
    client.send({ type: 'response.processed', response_id: 'resp_1' });
    expect(said(await client.create({ input: '[[say well]]' }))).toBe('well');
  });

  it('gives input for a response that runs back to its client', async () => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    client.send({ type: 'response.steer', previous_response_id: 'resp_1', input: 'left' });
    const frame = await new Promise((resolve) =>
      client.socket.once('message', (data) => resolve(JSON.parse((data as Buffer).toString()))),
    );
    expect(frame).toMatchObject({
      type: 'response.steer.failed',
      error: { code: 'steering_not_supported' },
      steer: { previous_response_id: 'resp_1', input: 'left' },
    });
  });

  it('is closed by a frame that is larger than a request may be', async () => {
    const { secret } = await app.customer();
    const client = await open(app, secret);
    client.socket.send(Buffer.alloc(33 * 1_048_576, 0x20), { binary: false });
    expect(await client.closed()).toBe(1009);
  });

  it('keeps nothing of a conversation in memory after it was closed', async () => {
    const { secret } = await app.customer();
    const filler = 'x'.repeat(28 * 1_048_576);
    // Beyond the room of an account, if the ones before it had kept theirs.
    for (let round = 0; round < 5; round += 1) {
      const client = await open(app, secret);
      const warm = await client.create({ generate: false, input: [{ role: 'user', content: filler }] });
      expect(warm.at(-1)?.type).toBe('response.completed');
      client.socket.close();
      await client.closed();
    }
  });
});

async function text(response: NodeJS.ReadableStream): Promise<string> {
  let all = '';
  for await (const piece of response) all += String(piece);
  return all;
}

describe('many turns', () => {
  it('200 on eight connections: each is answered with its own words, in order, and has one entry', async () => {
    const { secret, accountId } = await app.customer();
    const clients = await Promise.all(Array.from({ length: 8 }, () => open(app, secret)));
    await Promise.all(
      clients.map(async (client, at) => {
        let previous: string | undefined;
        for (let turn = 0; turn < 25; turn += 1) {
          const goesOn = previous === undefined ? {} : { previous_response_id: previous };
          const frames = await client.create({ ...goesOn, input: `[[say ${at}-${turn}]]` });
          expect(said(frames)).toBe(`${at}-${turn}`);
          previous = idOf(frames);
        }
        client.socket.close();
      }),
    );
    const entries = await app.ledger(accountId);
    expect(entries).toHaveLength(200);
    expect(new Set(entries.map(({ request_id: id }) => id)).size).toBe(200);
    expect(entries.every(({ outcome }) => outcome === 'completed')).toBe(true);
  }, 120_000);

  it('a loop of 20 tool calls sends a tenth of the bytes that it sends over HTTP', async () => {
    const { secret } = await app.customer();
    const output = 'seen '.repeat(2_000);
    const call = '[[tool look {}]]';
    const items = (id: string) => [
      { type: 'function_call_output', call_id: id, output },
      { role: 'user', content: call },
    ];
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
    const bytes = { socket: 0, http: 0 };
    const client = await open(app, secret);
    const history: unknown[] = [];
    let more: Record<string, unknown> = { input: [{ role: 'user', content: call }] };
    for (let round = 0; round < 20; round += 1) {
      bytes.socket += JSON.stringify({ tools, ...more }).length;
      const own = more['input'] as unknown[];
      history.push(...own);
      bytes.http += JSON.stringify({ tools, input: history }).length;
      const frames = await client.create({ tools, ...more });
      const done = frames.at(-1)?.response?.output ?? [];
      history.push(...done);
      const id = done.find(({ type }) => type === 'function_call')?.call_id ?? '';
      expect(id).not.toBe('');
      more = { previous_response_id: idOf(frames), input: items(id) };
    }
    expect(bytes.socket).toBeLessThan(bytes.http / 9);
    expect(sent().at(-1).input).toHaveLength(history.length - 1);
    client.socket.close();
  });

  it('a client that reads slowly slows its upstream down, and loses nothing', async () => {
    const { secret, accountId } = await app.customer();
    const client = await open(app, secret);
    client.send({
      type: 'response.create',
      model: 'only-responses',
      input: '[[len 30000]]',
      max_output_tokens: 32_000,
    });
    await new Promise((resolve) => client.socket.once('message', resolve));
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(app.simulator.stats().openConnections).toBeGreaterThan(0);
    client.socket.resume();
    const turn = await client.turn();
    expect(said(turn).endsWith('w29999')).toBe(true);
    expect(await app.ledger(accountId)).toMatchObject([{ outcome: 'completed' }]);
  });
});

describe("the vendor's own client library", () => {
  it('speaks it', async () => {
    const { secret } = await app.customer();
    const client = new ResponsesWS(new OpenAI({ apiKey: secret, baseURL: `${app.baseUrl}/v1` }));
    const ends: string[] = [];
    const create = (more: object): Promise<string> =>
      new Promise((resolve, reject) => {
        client.once('response.completed', ({ response }) => {
          ends.push(response.output_text ?? '');
          resolve(response.id);
        });
        client.once('error', reject);
        client.send({ type: 'response.create', model: 'only-chat', store: false, ...more } as never);
      });
    const first = await create({ input: '[[say one]]' });
    await create({ previous_response_id: first, input: '[[say two]]' });
    expect(sent().at(-1).messages).toHaveLength(3);
    client.send({ type: 'response.create', model: 'nobody', input: 'x' } as never);
    const error = await new Promise<Error>((resolve) => client.once('error', resolve));
    expect(error.message).toBe('Requested model nobody is not available in the service');
    client.close();
  });
});

describe('the limits of a WebSocket', () => {
  it('close it with the words and codes that clients connect again for', async () => {
    const old = await startApp({
      catalog: nativeCatalog(),
      socketLimits: { totalMs: 300, idleMs: 60_000, pingMs: 50 },
    });
    const idle = await startApp({
      catalog: nativeCatalog(),
      socketLimits: { totalMs: 60_000, idleMs: 300, pingMs: 50 },
    });
    try {
      const aged = await open(old, (await old.customer()).secret);
      const pinged = new Promise((resolve) => aged.socket.once('ping', resolve));
      expect((await aged.turn()).at(-1)).toMatchObject({
        status: 400,
        error: { code: 'websocket_connection_limit_reached' },
      });
      expect(await aged.closed()).toBe(1001);
      await pinged;
      const resting = await open(idle, (await idle.customer()).secret);
      expect(await resting.closed()).toBe(1001);
    } finally {
      await Promise.all([old.close(), idle.close()]);
    }
  });

  it('a process that stops lets a turn end, and tells every client to connect again', async () => {
    const stopping = await startApp({ catalog: nativeCatalog(), env: { DRAIN_MS: '10000' } });
    const { secret, accountId } = await stopping.customer();
    const [resting, busy] = [await open(stopping, secret), await open(stopping, secret)];
    busy.send({ type: 'response.create', model: 'only-responses', input: '[[delay 500]] [[say whole]]' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const ending = stopping.app.close();
    expect(await resting.closed()).toBe(1012);
    expect(said(await busy.turn())).toBe('whole');
    expect(await busy.closed()).toBe(1012);
    await ending;
    const { rows } = await stopping.pool.query('SELECT outcome FROM ledger_entry WHERE account_id = $1', [accountId]);
    expect(rows).toEqual([{ outcome: 'completed' }]);
    await stopping.close().catch(() => undefined);
  });
});
