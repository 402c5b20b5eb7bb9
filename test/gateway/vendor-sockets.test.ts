import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { idOf, openSocket, said } from './socket-client.ts';
import { nativeCatalog } from './support.ts';

// Responses over a WebSocket in front of an upstream that takes them over one, too.

let app: TestApp;
/** Impatient with its vendor. */
let quick: TestApp;
beforeAll(async () => {
  const catalog = nativeCatalog({ features: 'webSocket: true' });
  [app, quick] = await Promise.all([
    startApp({ catalog }),
    startApp({ catalog, env: { UPSTREAM_HEADERS_TIMEOUT_MS: '700', UPSTREAM_IDLE_TIMEOUT_MS: '700' } }),
  ]);
});
afterAll(() => Promise.all([app.close(), quick.close()]));

interface Sent {
  method: string;
  body: Record<string, unknown> & { input: { type?: string; content?: unknown }[] };
  headers: [string, string][];
}

const sentTo = (simulator: Simulator): Sent[] =>
  simulator.requests().map(({ method, body, headers }) => ({ method, headers, body: JSON.parse(body.toString()) }));
const sent = (): Sent[] => sentTo(app.simulator);
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];

describe('a turn over a WebSocket in front of an upstream that takes one', () => {
  it('goes up over one connection, and sends only what is new of a conversation', async () => {
    const { secret, accountId } = await app.customer();
    app.simulator.clearRequests();
    const client = await openSocket(app, secret, { 'openai-beta': 'responses_websockets=2026-02-06' });
    const first = await client.create({ tools, input: [{ role: 'user', content: '[[tool look {"at":"é"}]]' }] });
    const call = first.at(-1)?.response?.output.find(({ type }) => type === 'function_call');
    const output = { type: 'function_call_output', call_id: call?.call_id, output: 'seen' };
    const second = await client.create({ tools, previous_response_id: idOf(first), input: [output] });
    expect(said(second)).toBe('tool done');
    const third = await client.create({ previous_response_id: idOf(second), input: '[[say three]]' });
    expect(said(third)).toBe('three');
    expect(app.simulator.sockets.open).toBe(1);
    client.socket.close();

    const frames = sent();
    expect(frames.map(({ method }) => method)).toEqual(['WEBSOCKET', 'WEBSOCKET', 'WEBSOCKET']);
    expect(frames.map(({ body }) => body.input.length)).toEqual([1, 1, 1]);
    expect(frames.map(({ body }) => body['previous_response_id'])).toEqual([undefined, idOf(first), idOf(second)]);
    for (const { body } of frames) {
      expect(body).toMatchObject({ type: 'response.create', store: false });
      expect(Object.keys(body)).not.toContain('stream');
    }
    expect(frames[0]?.headers.map(([name]) => name.toLowerCase())).not.toContain('cookie');
    const entries = await app.ledger(accountId);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);
    // The vendor reads the whole conversation with each turn, and so it is charged.
    const prompts = entries.map((entry) => Number(entry['input']) + Number(entry['cache_hit'])).reverse();
    expect(prompts[1]).toBeGreaterThan(prompts[0] ?? 0);
    expect(prompts[2]).toBeGreaterThan(prompts[1] ?? 0);
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
  });

  it('gets the events of the vendor byte for byte, but for the name of the model', async () => {
    const { secret } = await app.customer();
    const client = await openSocket(app, secret);
    const odd = '{"type":"response.output_text.delta","x":1.0,"y":12345678901234567890,"delta":"\\u00e9é"}';
    const stream = `data: {"type":"response.created","response":{"id":"resp_1","model":"sim-medium"}}\n\ndata: ${odd}\n\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":2}}}\n\n`;
    const raw: string[] = [];
    client.socket.on('message', (data: Buffer) => raw.push(data.toString()));
    await client.create({ input: `[[raw ${Buffer.from(stream).toString('base64')}]]` });
    expect(raw).toContain(odd);
    client.socket.close();
  });

  it('is not bounded by what the handshake was allowed: a deleted key, its limit and the end of the budget stop the next one', async () => {
    const deleted = await app.customer();
    const first = await openSocket(app, deleted.secret);
    const one = await first.create({ input: 'one' });
    await app.keys.delete({ accountId: deleted.accountId, id: deleted.keyId, actor: 'test' });
    app.simulator.clearRequests();
    const refused = await first.create({ previous_response_id: idOf(one), input: 'two' });
    expect(refused.at(-1)).toMatchObject({ type: 'error', status: 401, error: { code: 'invalid_api_key' } });
    expect(await first.closed()).toBe(1008);

    const limited = await app.customer({ terms: { requestsPerMinute: 1 } });
    const second = await openSocket(app, limited.secret);
    const before = await second.create({ input: 'one' });
    app.simulator.clearRequests();
    const stopped = await second.create({ previous_response_id: idOf(before), input: 'two' });
    expect(stopped.at(-1)).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded' } });
    expect(sent()).toEqual([]);

    const poor = await app.customer({ usd: '0.001' });
    const third = await openSocket(app, poor.secret);
    const turns = [await third.create({ input: '[[len 20]]', max_output_tokens: 16 })];
    while (turns.at(-1)?.at(-1)?.type !== 'error' && turns.length < 50)
      turns.push(
        await third.create({
          input: '[[len 20]]',
          max_output_tokens: 16,
          previous_response_id: idOf(turns.at(-1) ?? []),
        }),
      );
    expect(turns.length).toBeGreaterThan(2);
    expect(turns.at(-1)?.at(-1)).toMatchObject({ status: 402, error: { code: 'insufficient_quota' } });
    const charged = (await app.ledger(poor.accountId)).map((entry) => BigInt(entry['charged'] as string));
    expect(charged).toHaveLength(turns.length - 1);
    expect(charged.reduce((sum, each) => sum + each, 0n)).toBeLessThanOrEqual(1_000_000_000n);
  });

  it('holds what the whole conversation may cost, although a few bytes of it are sent', async () => {
    const { secret, accountId } = await app.customer();
    const client = await openSocket(app, secret);
    const long = 'word '.repeat(7_000);
    const first = await client.create({ input: [{ role: 'user', content: long }], max_output_tokens: 16 });
    client.send({
      type: 'response.create',
      model: 'only-responses',
      previous_response_id: idOf(first),
      input: '[[delay 700]] [[say on]]',
      max_output_tokens: 16,
    });
    const held = async (): Promise<number> => {
      const { rows } = await app.pool.query('SELECT amount FROM hold WHERE account_id = $1', [accountId]);
      return Number(rows[0]?.amount ?? 0);
    };
    // A token a byte, at a USD per million.
    await expect.poll(held).toBeGreaterThan(long.length * 1e6);
    expect(said(await client.turn())).toBe('on');
    expect(sent().at(-1)?.body.input).toHaveLength(1);
    client.socket.close();
  });

  it('is sent whole where the vendor keeps something else: another lane, another model, other bytes, nothing', async () => {
    const { secret } = await app.customer();
    const client = await openSocket(app, secret);
    const one = await client.create({ stream_id: 'a', input: [{ role: 'user', content: '[[say a]]' }] });
    await client.create({ stream_id: 'b', input: [{ role: 'user', content: '[[say b]]' }] });
    const three = await client.create({ stream_id: 'a', previous_response_id: idOf(one), input: '[[say c]]' });
    expect(said(three)).toBe('c');
    expect(sent().at(-1)?.body.input).toHaveLength(3);
    expect(sent().at(-1)?.body).not.toHaveProperty('previous_response_id');
    // It says so itself: a failed turn takes what it went on from with it.
    const failed = await client.create({ previous_response_id: idOf(three), input: '[[midfail 3]]' });
    expect(failed.at(-1)?.type).toMatch(/^(?:response\.failed|error)$/);
    expect(said(await client.create({ input: [{ role: 'user', content: '[[say on]]' }] }))).toBe('on');
    client.socket.close();
  });

  it('is sent whole, once more and at once, when the vendor has forgotten what it went on from, or its connection is too old', async () => {
    const { secret, accountId } = await app.customer();
    const client = await openSocket(app, secret);
    const one = await client.create({ input: [{ role: 'user', content: '[[say one]]' }] });
    app.simulator.sockets.forget();
    const two = await client.create({
      previous_response_id: idOf(one),
      input: [{ role: 'user', content: '[[say two]]' }],
    });
    expect(said(two)).toBe('two');
    expect(
      sent()
        .slice(-2)
        .map(({ body }) => body.input.length),
    ).toEqual([1, 3]);
    app.simulator.sockets.age();
    const three = await client.create({
      previous_response_id: idOf(two),
      input: [{ role: 'user', content: '[[say three]]' }],
    });
    expect(said(three)).toBe('three');
    expect(
      sent()
        .slice(-2)
        .map(({ body }) => body.input.length),
    ).toEqual([1, 5]);
    app.simulator.sockets.cut();
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
    const four = await client.create({
      previous_response_id: idOf(three),
      input: [{ role: 'user', content: '[[say four]]' }],
    });
    expect(said(four)).toBe('four');
    expect(sent().at(-1)?.body.input).toHaveLength(7);
    expect((await app.ledger(accountId)).map(({ outcome }) => outcome)).toEqual(Array(4).fill('completed'));
    client.socket.close();
  });

  it('that the vendor refuses is refused in its words, and costs nothing', async () => {
    const { secret, accountId } = await app.customer();
    const client = await openSocket(app, secret);
    const [bad, limit, key] = [
      await client.create({ input: '[[status 400 odd]]' }),
      await client.create({ input: '[[status 429]]' }),
      await client.create({ input: '[[status 401]]' }),
    ];
    expect(bad.at(-1)).toMatchObject({ type: 'error', status: 400, error: { message: 'odd' } });
    expect(limit.at(-1)).toMatchObject({ type: 'error', status: 503 });
    expect(key.at(-1)).toMatchObject({ type: 'error', status: 502 });
    expect(said(await client.create({ input: '[[say well]]' }))).toBe('well');
    const entries = await app.ledger(accountId);
    expect(entries.filter(({ charged }) => charged !== 0n && charged !== '0')).toHaveLength(1);
    client.socket.close();
  });

  it('whose vendor goes away in its middle ends like a stream that is cut, and the next one has a connection again', async () => {
    const { secret, accountId } = await app.customer();
    const client = await openSocket(app, secret);
    const turn = await client.create({ input: '[[len 50]] [[cut 20]]' });
    expect(turn.at(-1)?.type).toMatch(/^(?:response\.failed|error)$/);
    expect(said(await client.create({ input: '[[say on]]' }))).toBe('on');
    const [, cut] = await app.ledger(accountId);
    expect(cut).toMatchObject({ outcome: 'upstream_cut' });
    expect(Number(cut?.['output'])).toBeGreaterThan(0);
    client.socket.close();
  });

  it('whose vendor falls silent ends, and so does its connection', async () => {
    const { secret } = await quick.customer();
    const client = await openSocket(quick, secret);
    for (const text of ['[[hang 0]]', '[[len 50]] [[hang 9]]']) {
      expect((await client.create({ input: text })).at(-1)?.type).toMatch(/^(?:response\.failed|error)$/);
      await expect.poll(() => quick.simulator.sockets.open).toBe(0);
    }
    expect(said(await client.create({ input: '[[say on]]' }))).toBe('on');
    client.socket.close();
  });

  it('whose client reads slowly slows the vendor down, and loses nothing', async () => {
    const { secret, accountId } = await app.customer();
    const client = await openSocket(app, secret);
    client.send({
      type: 'response.create',
      model: 'only-responses',
      input: '[[len 30000]]',
      max_output_tokens: 32_000,
    });
    await new Promise((resolve) => client.socket.once('message', resolve));
    client.socket.pause();
    const before = app.simulator.stats().streamEvents;
    let events = -1;
    // Until the vendor writes no more.
    await expect
      .poll(
        () => {
          const isStill = events === app.simulator.stats().streamEvents;
          events = app.simulator.stats().streamEvents;
          return isStill;
        },
        { interval: 300, timeout: 30_000 },
      )
      .toBe(true);
    expect(events - before).toBeLessThan(30_000);
    client.socket.resume();
    const turn = await client.turn();
    expect(said(turn).endsWith('w29999')).toBe(true);
    expect(said(await client.create({ previous_response_id: idOf(turn), input: '[[say on]]' }))).toBe('on');
    expect((await app.ledger(accountId)).map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    client.socket.close();
  });

  it('is settled once when its client leaves in the middle, and its connection ends', async () => {
    const { secret, accountId } = await app.customer();
    const client = await openSocket(app, secret);
    client.send({ type: 'response.create', model: 'only-responses', input: '[[len 400]] [[hang 300]]' });
    await new Promise((resolve) => client.socket.once('message', resolve));
    client.socket.terminate();
    expect(await app.ledger(accountId)).toEqual([expect.objectContaining({ outcome: 'client_closed' })]);
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
  });
});

describe('a warm-up', () => {
  it('sends nothing and costs nothing: it connects, and the first turn goes up over that connection', async () => {
    const { secret, accountId } = await app.customer();
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
    app.simulator.clearRequests();
    const client = await openSocket(app, secret);
    const warm = await client.create({ generate: false, input: [{ role: 'user', content: 'earlier' }] });
    const turn = client.create({ previous_response_id: idOf(warm), input: [{ role: 'user', content: '[[say now]]' }] });
    expect(said(await turn)).toBe('now');
    expect(app.simulator.sockets.open).toBe(1);
    expect(sent().map(({ method, body }) => [method, body.input.length])).toEqual([['WEBSOCKET', 2]]);
    expect(await app.ledger(accountId)).toHaveLength(1);
    const again = await openSocket(app, secret);
    await again.create({ generate: false, input: 'x' });
    await expect.poll(() => app.simulator.sockets.open).toBe(2);
    again.socket.close();
    client.socket.close();
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
    expect(sent()).toHaveLength(1);
  });
});

describe('an upstream that refuses the upgrade', () => {
  it.each([426, 404, 500])('with %i is called over HTTP, at once and for a while', async (status) => {
    const refusing = await startApp({
      catalog: nativeCatalog({ features: 'webSocket: true' }),
      simulator: { refuseUpgrades: status },
    });
    try {
      const { secret, accountId } = await refusing.customer();
      const client = await openSocket(refusing, secret);
      const one = await client.create({ input: '[[say one]]' });
      expect(said(one)).toBe('one');
      expect(said(await client.create({ previous_response_id: idOf(one), input: '[[say two]]' }))).toBe('two');
      expect(sentTo(refusing.simulator).map(({ method, body }) => [method, body.input.length])).toEqual([
        ['POST', '[[say one]]'.length],
        ['POST', 3],
      ]);
      expect(await refusing.ledger(accountId)).toHaveLength(2);
      client.socket.close();
    } finally {
      await refusing.close();
    }
  });
});

describe('connections to a vendor', () => {
  it("belong to one client's connection each: two customers, and two connections of one, share none", async () => {
    const [one, two] = [await app.customer(), await app.customer()];
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
    const clients = await Promise.all([one, one, two].map(({ secret }) => openSocket(app, secret)));
    const firsts = await Promise.all(clients.map((client) => client.create({ input: '[[say mine]]' })));
    expect(app.simulator.sockets.open).toBe(3);
    // The id of another connection is nothing here.
    const stolen = await clients[2]?.create({ previous_response_id: idOf(firsts[0] ?? []), input: 'what was said?' });
    expect(stolen?.at(-1)).toMatchObject({ status: 400, error: { code: 'previous_response_not_found' } });
    for (const client of clients) client.socket.close();
    await expect.poll(() => app.simulator.sockets.open).toBe(0);
  });

  it('end with a process that stops, whose turns end first', async () => {
    const stopping = await startApp({
      catalog: nativeCatalog({ features: 'webSocket: true' }),
      env: { DRAIN_MS: '10000' },
    });
    const { secret, accountId } = await stopping.customer();
    const busy = await openSocket(stopping, secret);
    busy.send({ type: 'response.create', model: 'only-responses', input: '[[delay 500]] [[say whole]]' });
    await expect.poll(() => stopping.simulator.sockets.open).toBe(1);
    const ending = stopping.app.close();
    expect(said(await busy.turn())).toBe('whole');
    expect(await busy.closed()).toBe(1012);
    await ending;
    expect(stopping.simulator.sockets.open).toBe(0);
    const { rows } = await stopping.pool.query('SELECT outcome FROM ledger_entry WHERE account_id = $1', [accountId]);
    expect(rows).toEqual([{ outcome: 'completed' }]);
    await stopping.close().catch(() => undefined);
  });
});
