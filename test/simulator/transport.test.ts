/** The simulator's HTTP: sizes, back-pressure, disconnections. */

import { once } from 'node:events';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { createCutter, tokenDueMs } from '../../server/simulator/delivery.ts';
import { createRandom } from '../../server/simulator/random.ts';
import type { Simulator, SimulatorSettings } from '../../server/simulator/simulator.ts';
import { CLIENTS, eventsOf, fastSimulator, PROTOCOLS, type ProtocolCase, readAll, send } from './clients.ts';

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(settings: SimulatorSettings = {}): Promise<Simulator> {
  const simulator = await fastSimulator(settings);
  running.push(simulator);
  return simulator;
}

/** The pieces in which a stream arrives, as a client sees them that does not join chunks. */
async function pieces(simulator: Simulator, protocol: ProtocolCase, text: string): Promise<Buffer[]> {
  const { body } = await request(simulator.url + protocol.path, {
    method: 'POST',
    headers: { ...protocol.headers },
    body: JSON.stringify(protocol.body(text, true)),
  });
  const all: Buffer[] = [];
  for await (const piece of body) all.push(piece as Buffer);
  return all;
}

const SPEECH = '[[think nghĩ đã]] [[say Xin chào 👋🏽 thế giới, 日本語]] [[tool Báo_cáo {"tên":"Việt"}]]';

describe('chunking', () => {
  const settings: SimulatorSettings['chunking'][] = [
    { split: 'random' },
    { split: 1 },
    { split: 7, lineEnding: '\r\n' },
    { split: 'random', lineEnding: '\r\n' },
    { lineEnding: '\r\n' },
  ];

  it.each(settings)('%j leaves the answer the same for every client', async (chunking) => {
    const plain = await start({ seed: 3 });
    const cut = await start({ seed: 3, ...(chunking === undefined ? {} : { chunking }) });
    for (const client of CLIENTS) {
      const question = { text: SPEECH, stream: true };
      expect(await client.ask(cut, question)).toEqual(await client.ask(plain, question));
    }
  });

  it.each(PROTOCOLS)('splits inside UTF-8 characters and inside lines ($protocol)', async (protocol) => {
    const simulator = await start({ chunking: { split: 'random' } });
    const arrived = await pieces(simulator, protocol, SPEECH);
    expect(arrived.some((piece) => ((piece[0] ?? 0) & 0b1100_0000) === 0b1000_0000)).toBe(true);
    expect(arrived.filter((piece) => !piece.toString('latin1').endsWith('\n')).length).toBeGreaterThan(5);
    expect(Buffer.concat(arrived).toString()).not.toContain('\uFFFD');
  });

  it.each(PROTOCOLS)('writes one event at a time unless told otherwise ($protocol)', async (protocol) => {
    const simulator = await start();
    const arrived = await pieces(simulator, protocol, '[[len 20]]');
    expect(arrived.every((piece) => piece.toString().endsWith('\n\n'))).toBe(true);
  });

  it('uses the line ending that is asked for, and no other', async () => {
    for (const lineEnding of ['\r\n', '\r'] as const) {
      const simulator = await start({ chunking: { lineEnding } });
      const text = await (await send(simulator, PROTOCOLS[0], 'ping', { stream: true })).text();
      expect(text.replaceAll(lineEnding, '')).not.toMatch(/[\r\n]/);
      expect(eventsOf(text)).toHaveLength(6);
    }
  });

  it('hands out everything it has before a break', async () => {
    const simulator = await start({ chunking: { split: 1_000 } });
    for (const script of ['[[len 50]] [[cut 5]]', '[[len 50]] [[midfail 4]]']) {
      const { text } = await readAll(await send(simulator, PROTOCOLS[1], script, { stream: true }));
      expect(eventsOf(text)).toHaveLength(5);
    }
  });

  it('cuts every stream of bytes without losing any', () => {
    const bytes = Buffer.from(Array.from({ length: 1_000 }, (_none, index) => index % 256));
    for (const split of ['random', 1, 3, 999, 5_000] as const) {
      const cutter = createCutter({ split, random: createRandom(11) });
      const out = [bytes.subarray(0, 400), bytes.subarray(400, 401), bytes.subarray(401)].flatMap((part) =>
        cutter.push(part),
      );
      expect(Buffer.concat([...out, ...cutter.flush()]).equals(bytes)).toBe(true);
    }
  });
});

describe('pace', () => {
  it('spreads tokens evenly and knows no waiting at unlimited speed', () => {
    expect(tokenDueMs(0, 200)).toBe(0);
    expect(tokenDueMs(200, 200)).toBe(1_000);
    expect(tokenDueMs(200, Number.POSITIVE_INFINITY)).toBe(0);
  });

  it('shows the beginning of an answer long before its end', async () => {
    const simulator = await start({ tokensPerSecond: 1 });
    const leave = new AbortController();
    const response = await send(simulator, PROTOCOLS[1], '[[len 1000]]', { stream: true, signal: leave.signal });
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('w0')) text += new TextDecoder().decode((await reader?.read())?.value);
    expect(simulator.stats().openStreams).toBe(1);
    leave.abort();
    await simulator.idle();
  });

  it('[[speed 0]] lifts it for one answer', async () => {
    const simulator = await start({ tokensPerSecond: 0.001 });
    const response = await send(simulator, PROTOCOLS[1], '[[speed 0]] [[len 50]]', { stream: true });
    expect((await readAll(response)).text).toContain('w49');
  });
});

describe('a client that stops reading', () => {
  it('stops the stream instead of filling memory, and is noticed when it goes', async () => {
    const simulator = await start();
    const body = JSON.stringify(PROTOCOLS[1].body('[[len 200000]]', true));
    const socket = connect(simulator.port, '127.0.0.1');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await once(socket, 'data');
    socket.pause();
    const turns = async (): Promise<number> => {
      for (let turn = 0; turn < 1_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return simulator.stats().streamEvents;
    };
    // What the network's own buffers take comes first; then nothing more may be made.
    let before = await turns();
    for (let after = await turns(); after !== before; after = await turns()) before = after;
    expect(before).toBeLessThan(200_000);
    expect(simulator.stats()).toMatchObject({ openStreams: 1, finishedRequests: 0 });
    socket.destroy();
    await simulator.idle();
    expect(simulator.stats()).toMatchObject({ openStreams: 0, abortedRequests: 1 });
  });
});

describe('the recorder', () => {
  it('keeps the exact bytes and headers of the last requests', async () => {
    const simulator = await start({ record: 2 });
    const odd = '{ "model":"m" ,"messages":[{"role":"user","content":"[[say \\ud800 x]]"}], "n":1.0 }';
    await fetch(`${simulator.url}/v1/models`);
    await fetch(`${simulator.url}/v1/messages?beta=true`, { method: 'POST', body: '{broken' });
    await fetch(`${simulator.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'X-Odd': 'Ünï'.slice(0, 1) },
      body: odd,
    });
    const kept = simulator.requests();
    expect(kept.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/messages?beta=true',
      'POST /v1/chat/completions',
    ]);
    expect(kept[1]?.body.toString()).toBe(odd);
    const page = (await (await fetch(`${simulator.url}/__requests`)).json()) as { requests: Record<string, unknown>[] };
    expect(page.requests).toHaveLength(2);
    expect(Object.keys(page.requests[1] ?? {}).sort()).toEqual(['bodyBase64', 'headers', 'method', 'path']);
    expect(page.requests[1]).toMatchObject({ bodyBase64: Buffer.from(odd).toString('base64') });
    expect(page.requests[1]?.['headers']).toContainEqual(['content-length', String(Buffer.byteLength(odd))]);
    simulator.clearRequests();
    expect(simulator.requests()).toEqual([]);
  });

  it('keeps nothing and shows nothing unless asked', async () => {
    const simulator = await start();
    await send(simulator, PROTOCOLS[0], 'ping');
    expect(simulator.requests()).toEqual([]);
    expect((await fetch(`${simulator.url}/__requests`)).status).toBe(404);
  });

  it('says when a body did not come whole', async () => {
    const simulator = await start({ record: true });
    const socket = connect(simulator.port, '127.0.0.1');
    socket.write('POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"half":');
    while (simulator.stats().openRequests === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await simulator.idle();
    while (simulator.requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(simulator.requests()).toMatchObject([{ complete: false, path: '/v1/messages' }]);
    expect(simulator.stats().abortedRequests).toBe(1);
  });
});

const attempt = async (
  simulator: Simulator,
  protocol: ProtocolCase,
  headers: Record<string, string>,
): Promise<Response> =>
  fetch(simulator.url + protocol.path, {
    method: 'POST',
    headers: { ...protocol.headers, ...headers },
    body: JSON.stringify(protocol.body('ping', false)),
  });

describe('the credential', () => {
  it.each(PROTOCOLS)('must be the one that is set, as a bearer or in x-api-key ($protocol)', async (protocol) => {
    const simulator = await start({ apiKey: 'sk-right' });
    for (const headers of [{ authorization: 'Bearer sk-right' }, { 'x-api-key': 'sk-right' }]) {
      expect((await attempt(simulator, protocol, headers)).status).toBe(200);
    }
    for (const headers of [{ authorization: 'Bearer sk-wrong' }, { 'x-api-key': '' }, {}]) {
      const refused = await attempt(simulator, protocol, headers);
      expect(refused.status).toBe(401);
      expect(await refused.text()).toMatch(/invalid x-api-key|Incorrect API key provided/);
    }
  });

  it('guards the list of models too', async () => {
    const simulator = await start({ apiKey: 'sk-right' });
    expect((await fetch(`${simulator.url}/v1/models`)).status).toBe(401);
  });
});

describe('headers that name or meter the account', () => {
  it('come with every answer, good or bad, so that stripping them can be tested', async () => {
    const simulator = await start();
    const [messages, chat, responses] = PROTOCOLS;
    for (const text of ['ping', '[[status 429]]']) {
      const { headers } = await send(simulator, messages, text);
      for (const name of [
        'request-id',
        'anthropic-organization-id',
        'anthropic-ratelimit-requests-remaining',
        'set-cookie',
      ]) {
        expect(headers.get(name)).toBeTruthy();
      }
      for (const protocol of [chat, responses]) {
        const { headers } = await send(simulator, protocol, text);
        for (const name of ['x-request-id', 'openai-organization', 'x-ratelimit-remaining-tokens', 'set-cookie']) {
          expect(headers.get(name)).toBeTruthy();
        }
      }
    }
  });

  it('come on streams as well', async () => {
    const simulator = await start();
    const { headers, body } = await send(simulator, PROTOCOLS[1], 'ping', { stream: true });
    await body?.cancel();
    expect(headers.get('openai-organization')).toBeTruthy();
  });
});

describe('models', () => {
  it('are listed for every SDK', async () => {
    const simulator = await start();
    const ids = ['sim-large', 'sim-medium', 'sim-small'];
    const openai = new OpenAI({ apiKey: 'x', baseURL: `${simulator.url}/v1` });
    const anthropic = new Anthropic({ apiKey: 'x', baseURL: simulator.url });
    expect((await openai.models.list()).data.map((model) => model.id)).toEqual(ids);
    expect((await anthropic.models.list()).data.map((model) => model.id)).toEqual(ids);
    expect(await openai.models.retrieve('sim-small')).toMatchObject({ id: 'sim-small', object: 'model' });
    expect(await anthropic.models.retrieve('sim-small')).toMatchObject({ display_name: 'Simulated small' });
    await expect(openai.models.retrieve('sim-none')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('requests that no vendor takes', () => {
  it.each([
    ['GET', '/v1/messages', 405],
    ['POST', '/v1/models', 405],
    ['POST', '/v1/nowhere', 404],
    ['GET', '//', 404],
    ['GET', '/v1/models/%E0%A4%A', 404],
  ])('%s %s answers %i', async (method, path, status) => {
    const simulator = await start();
    const { statusCode, body } = await request(simulator.url + path, { method: method as 'GET' });
    expect(statusCode).toBe(status);
    expect(await body.json()).toHaveProperty('error.message');
  });

  it.each(PROTOCOLS)('answers 400 to a body that is no JSON object ($protocol)', async (protocol) => {
    const simulator = await start();
    for (const body of ['', '{', '[]', 'null', '"x"']) {
      const response = await fetch(simulator.url + protocol.path, { method: 'POST', headers: protocol.headers, body });
      expect(response.status).toBe(400);
    }
  });

  it.each([
    [{ max_tokens: 9, messages: [] }, /^model: Field required/],
    [{ model: 'm', max_tokens: 9 }, /^messages: Field required/],
    [{ model: 'm', max_tokens: 9, messages: [] }, /at least one message is required/],
    [{ model: 'm', messages: [{ role: 'user', content: 'x' }] }, /^max_tokens: Field required/],
    [
      { model: 'm', max_tokens: -1, messages: [{ role: 'user', content: 'x' }] },
      /^max_tokens: Input should be greater/,
    ],
    [{ model: 'm', max_tokens: 1.5, messages: [{ role: 'user', content: 'x' }] }, /valid integer/],
    [{ model: 'm', max_tokens: 9, messages: [{ role: 'tool', content: 'x' }] }, /^messages\.0\.role/],
    [
      {
        model: 'm',
        max_tokens: 9,
        thinking: { type: 'enabled', budget_tokens: 9 },
        messages: [{ role: 'user', content: 'x' }],
      },
      /budget_tokens/,
    ],
    [
      {
        model: 'm',
        max_tokens: 2000,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        messages: [{ role: 'user', content: 'x' }],
      },
      /must be greater than `thinking\.budget_tokens`/,
    ],
  ])('refuses on messages %j', async (body, sentence) => {
    const simulator = await start();
    const headers = { 'anthropic-version': '2023-06-01' };
    const response = await fetch(`${simulator.url}/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const { error } = (await response.json()) as { error: { message: string } };
    expect(response.status).toBe(400);
    expect(error.message).toMatch(sentence);
  });

  it('wants the version header on messages', async () => {
    const simulator = await start();
    const body = JSON.stringify(PROTOCOLS[0].body('ping', false));
    const response = await fetch(`${simulator.url}/v1/messages`, { method: 'POST', body });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('anthropic-version: header is required');
  });

  it.each([
    [{ messages: [] }, 'you must provide a model'],
    [{ model: 'm' }, "Missing required parameter: 'messages'"],
    [{ model: 'm', messages: [] }, 'empty array'],
    [{ model: 'm', messages: [{ role: 'nobody' }] }, 'messages[0].role'],
    [{ model: 'm', messages: [{ role: 'user' }], max_tokens: 0 }, "Invalid 'max_tokens'"],
    [{ model: 'm', messages: [{ role: 'user' }], max_tokens: 1, max_completion_tokens: 1 }, 'at the same time'],
    [{ model: 'm', messages: [{ role: 'user' }], n: 129 }, "Invalid 'n'"],
    [{ model: 'm', messages: [{ role: 'user' }], stop: ['a', 'b', 'c', 'd', 'e'] }, "Invalid 'stop'"],
    [{ model: 'm', messages: [{ role: 'user' }], stream_options: {} }, 'only allowed when'],
  ])('refuses on chat completions %j', async (body, sentence) => {
    const simulator = await start();
    const response = await fetch(`${simulator.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const { error } = (await response.json()) as { error: { message: string } };
    expect(response.status).toBe(400);
    expect(error.message).toContain(sentence);
  });

  it.each([
    [{ input: 'x' }, 'model'],
    [{ model: 'm' }, 'input'],
    [{ model: 'm', input: 'x', previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ model: 'm', input: 'x', max_output_tokens: 0 }, 'max_output_tokens'],
  ])('refuses on responses %j and names the parameter', async (body, param) => {
    const simulator = await start();
    const response = await fetch(`${simulator.url}/v1/responses`, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it('refuses a body that is too large before it has come, and says so in time', async () => {
    const simulator = await start({ maxBodyBytes: 1_000 });
    const socket = connect(simulator.port, '127.0.0.1');
    socket.write('POST /v1/messages HTTP/1.1\r\nhost: x\r\nanthropic-version: 1\r\ncontent-length: 1001\r\n\r\n');
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    await simulator.idle();
  });
});

const ask = async (simulator: Simulator): Promise<unknown> => {
  const answers: { id: string; content: unknown }[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const response = await send(simulator, PROTOCOLS[0], 'Tell me something.');
    answers.push((await response.json()) as { id: string; content: unknown });
  }
  return answers.map(({ id, content }) => ({ id, content }));
};

describe('a simulator', () => {
  it('gives the same answers for the same seed, and others for another', async () => {
    const [one, same, other] = await Promise.all([start({ seed: 5 }), start({ seed: 5 }), start({ seed: 6 })]);
    const [first, second, third] = await Promise.all([ask(one), ask(same), ask(other)]);
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
  });

  it('keeps many streams at once apart', async () => {
    const simulator = await start({ chunking: { split: 'random' } });
    const texts = Array.from({ length: 40 }, (_none, index) => `answer ${index} `.repeat(20));
    const client = CLIENTS[2];
    const answers = await Promise.all(
      texts.map(async (text) => (await client?.ask(simulator, { text: `[[say ${text}]]`, stream: true }))?.text),
    );
    expect(answers).toEqual(texts);
    await simulator.idle();
    expect(simulator.stats()).toMatchObject({
      requests: 40,
      finishedRequests: 40,
      abortedRequests: 0,
      openRequests: 0,
    });
  });

  it('is idle only when the last request is done', async () => {
    const simulator = await start();
    const leave = new AbortController();
    const hanging = await send(simulator, PROTOCOLS[0], '[[hang 1]]', { stream: true, signal: leave.signal });
    let idle = false;
    const waiting = (async () => {
      await simulator.idle();
      idle = true;
    })();
    await (await send(simulator, PROTOCOLS[0], 'ping')).text();
    while (simulator.stats().finishedRequests === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(idle).toBe(false);
    leave.abort();
    await waiting;
    expect(hanging.status).toBe(200);
  });

  it('closes at once, with any requests in flight', async () => {
    const simulator = await start();
    const hanging = await send(simulator, PROTOCOLS[0], '[[hang 1]]', { stream: true });
    await simulator.close();
    expect((await readAll(hanging)).ended).toBe('broken');
    await expect(fetch(simulator.url)).rejects.toThrow('fetch failed');
    running.length = 0;
  });

  it('says on which port it cannot listen', async () => {
    const simulator = await start();
    await expect(start({ port: simulator.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
