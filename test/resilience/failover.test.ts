import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settled, until } from '../gateway/support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import {
  catalogFile,
  counter,
  errorIn,
  type ModelLine,
  post,
  protocols,
  type UpstreamLine,
  vendorModel,
} from './support.ts';

/** Several routes for one model: which failures lead to another route, and which must not. */

type Behaviour = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An upstream that the test plays itself; what works is the simulator. */
interface Stub {
  url: string;
  calls: number;
  behave: Behaviour;
  server: Server;
}

async function startStub(): Promise<Stub> {
  const stub: Stub = { url: '', calls: 0, behave: (_request, response) => response.end(), server: createServer() };
  stub.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      stub.calls += 1;
      stub.behave(request, response, body);
    });
  });
  await new Promise<void>((resolve) => {
    stub.server.listen(0, '127.0.0.1', resolve);
  });
  stub.url = `http://127.0.0.1:${(stub.server.address() as AddressInfo).port}`;
  return stub;
}

let app: TestApp;
/** Sends the status and heartbeats at once, where `app` holds both back for as long as a vendor may be silent. */
let hasty: TestApp;
let stub: Stub;
let model: string;
let number = 0;
const models = 80;
beforeAll(async () => {
  stub = await startStub();
  app = await start({ UPSTREAM_HEADERS_TIMEOUT_MS: '1500', UPSTREAM_IDLE_TIMEOUT_MS: '1500' });
  hasty = await start({ UPSTREAM_HEADERS_TIMEOUT_MS: '4000', FIRST_EVENT_HOLD_MS: '40', KEEPALIVE_MS: '40' });
});
afterAll(async () => {
  await app.close();
  await hasty.close();
  stub.server.closeAllConnections();
  stub.server.close();
});
beforeEach(() => {
  stub.calls = 0;
  app.simulator.clearRequests();
});

function start(env: Record<string, string>): Promise<TestApp> {
  return startApp({
    simulator: { record: 1_000 },
    env,
    // Every test has its own model and failing upstream: none starts with the failures of another.
    catalog: (url) => {
      const upstreams: UpstreamLine[] = [
        { id: 'good-messages', protocol: 'messages', url },
        { id: 'good-chat', protocol: 'chat-completions', url },
      ];
      const list: ModelLine[] = [];
      for (let i = 1; i <= models; i += 1) {
        upstreams.push({ id: `bad-${i}`, protocol: 'messages', url: stub.url, apiKey: 'key-of-the-bad-place' });
        list.push({
          id: `model-${i}`,
          routes: [
            { upstream: `bad-${i}`, model: 'bad-name', priority: 0 },
            { upstream: i % 2 === 0 ? 'good-chat' : 'good-messages', model: vendorModel, priority: 1 },
          ],
        });
      }
      return catalogFile({ upstreams, models: list });
    },
  });
}

/** The second route is native for odd numbers, translated for even ones. */
function nextModel(parity: 0 | 1): void {
  do number += 1;
  while (number % 2 !== parity);
  model = `model-${number}`;
}

const answer =
  (
    status: number,
    headers: Record<string, string> = {},
    body = '{"type":"error","error":{"type":"x","message":"x"}}',
  ): Behaviour =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

const moving: [name: string, behave: Behaviour][] = [
  ['500', answer(500)],
  ['503', answer(503)],
  ['529', answer(529)],
  ['429', answer(429, { 'retry-after': '3600' })],
  ['401', answer(401)],
  ['402', answer(402)],
  ['404', answer(404)],
  ['a redirect', answer(307, { location: '/elsewhere' })],
  [
    'an error status whose body breaks off',
    (request, response) => {
      response.writeHead(500, { 'content-type': 'application/json', 'content-length': '100' }).write('{"type":');
      setTimeout(() => request.socket.destroy(), 20);
    },
  ],
  ['a proxy that finds the body too large', answer(413, { 'content-type': 'text/html' }, '<h1>413</h1>')],
  ['a connection that drops', (request) => request.socket.destroy()],
];

describe.each(moving)('%s', (_name, behave) => {
  it.each([
    { client: protocols.messages, stream: true, parity: 1 as const },
    { client: protocols.chat, stream: false, parity: 0 as const },
  ])('moves a request of $client.protocol on, streamed: $stream', async ({ client, stream, parity }) => {
    nextModel(parity);
    stub.behave = behave;
    const customer = await app.customer();
    const before = await counter(app, 'gateway_failovers_total', { model });
    const response = await post(app, customer.secret, { client, model, stream }, '[[say from the good place]]');
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.stringContaining('place')]);
    expect(errorIn(text)).toBeNull();
    expect(stub.calls).toBe(1);
    // Always the same model, by its name at the route that runs it.
    const sent = app.simulator.requests().map(({ body }) => (JSON.parse(body.toString()) as { model: string }).model);
    expect(sent).toEqual([vendorModel]);
    expect(await counter(app, 'gateway_failovers_total', { model })).toBe(before + 1);
    expect(await settled(app, customer)).toMatchObject([
      { model, upstream: parity === 1 ? 'good-messages' : 'good-chat', outcome: 'completed', usage_source: 'reported' },
    ]);
  });
});

describe('what does not move a request on', () => {
  it.each<[string, Behaviour]>([
    ['HTML', answer(200, { 'content-type': 'text/html' }, '<html></html>')],
    ['nonsense', answer(200, {}, '"nonsense"')],
    ['an encoding that was not requested', answer(200, { 'content-encoding': 'gzip' }, 'x')],
    ['nothing', answer(204, {}, '')],
    [
      'an answer that breaks off in its body',
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"type":');
        setTimeout(() => request.socket.destroy(), 20);
      },
    ],
    [
      'a stream that breaks off before its first event',
      (request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': soon\n\n');
        setTimeout(() => request.socket.destroy(), 20);
      },
    ],
  ])('a 2xx status followed by %s: the vendor may have served and charged it', async (_name, behave) => {
    nextModel(1);
    for (const stream of [true, false]) {
      stub.calls = 0;
      stub.behave = behave;
      const customer = await app.customer();
      const response = await post(app, customer.secret, { client: protocols.messages, model, stream }, 'ping');
      expect([response.status, errorIn(await response.text())?.type]).toEqual([502, 'api_error']);
      expect(stub.calls).toBe(1);
      expect(app.simulator.requests()).toEqual([]);
      expect(await settled(app, customer)).toMatchObject([
        { upstream: `bad-${number}`, outcome: 'upstream_error', cost: 0n },
      ]);
    }
  });

  it('a fault in the request: the vendor’s words, and no other route is tried', async () => {
    nextModel(1);
    stub.behave = answer(400, {}, '{"type":"error","error":{"type":"invalid_request_error","message":"too odd"}}');
    const customer = await app.customer();
    const response = await post(app, customer.secret, { client: protocols.messages, model, stream: false }, 'ping');
    expect([response.status, errorIn(await response.text())?.message]).toEqual([400, 'too odd']);
    expect(app.simulator.requests()).toEqual([]);
  });

  it('a time-out: the customer has waited long enough, and the first upstream may still be working', async () => {
    nextModel(1);
    stub.behave = () => undefined;
    const customer = await app.customer();
    const response = await post(app, customer.secret, { client: protocols.messages, model, stream: false }, 'ping');
    expect(response.status).toBe(504);
    expect(app.simulator.requests()).toEqual([]);
    expect(await settled(app, customer)).toMatchObject([{ upstream: `bad-${number}`, outcome: 'timeout', cost: 0n }]);
  });

  /** Sends a body of blanks without an end; returns whether the gateway has ended it. */
  function trickling(status: number): () => boolean {
    let closed = false;
    stub.behave = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      const trickle = setInterval(() => response.write(' '), 20);
      response.on('close', () => {
        clearInterval(trickle);
        closed = true;
      });
    };
    return () => closed;
  }

  it.each([
    { stream: true, beats: true, status: 200 },
    { stream: true, beats: false, status: 504 },
    { stream: false, beats: true, status: 504 },
  ])('a whole answer whose body never ends is a time-out: %o', async ({ stream, beats, status }) => {
    nextModel(1);
    const closed = trickling(200);
    const own = beats ? hasty : app;
    const customer = await own.customer();
    const response = await post(own, customer.secret, { client: protocols.messages, model, stream }, 'ping');
    // A stream whose heartbeats have begun is told in an event.
    expect(response.status).toBe(status);
    expect(errorIn(await response.text())?.message).toContain('in time');
    await until(closed);
    expect(await settled(own, customer)).toMatchObject([{ upstream: `bad-${number}`, outcome: 'timeout', cost: 0n }]);
  });

  it('an error whose body never ends is an error without a body', async () => {
    nextModel(1);
    const closed = trickling(500);
    const customer = await app.customer();
    const response = await post(app, customer.secret, { client: protocols.messages, model, stream: false }, 'ping');
    expect(response.status).toBe(200);
    await until(closed);
    expect(app.simulator.requests()).toHaveLength(1);
  });

  it.each([1, 0] as const)('content that was relayed (second route %s)', async (parity) => {
    nextModel(parity);
    stub.behave = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin + delta('some words'));
      setTimeout(() => request.socket.destroy(), 50);
    };
    const customer = await app.customer();
    const response = await post(app, customer.secret, { client: protocols.chat, model, stream: true }, 'ping');
    const text = await response.text();
    expect(text).toContain('some words');
    expect(text).not.toContain('[DONE]');
    expect(errorIn(text)).not.toBeNull();
    expect(app.simulator.requests()).toEqual([]);
    expect(await settled(app, customer)).toMatchObject([{ upstream: `bad-${number}`, outcome: 'upstream_cut' }]);
  });
});

describe('while heartbeats run', () => {
  /** Answers with 500 when the test says so: the client has had its status, and so many heartbeats. */
  const failing = (): (() => Promise<void>) => {
    const asked = Promise.withResolvers<ServerResponse>();
    stub.behave = (_request, response) => asked.resolve(response);
    return async () => void (await asked.promise).writeHead(500).end();
  };

  /** The whole text of a response; `behind` is called once it has `parts` of them. */
  async function textOf(response: Response, beat: string, parts: number, behind: () => Promise<void>): Promise<string> {
    let text = '';
    let isCalled = false;
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (isCalled || text.split(beat).length <= parts) continue;
      isCalled = true;
      await behind();
    }
    return text;
  }

  it.each([
    { client: protocols.messages, beat: 'event: ping' },
    { client: protocols.chat, beat: '\n: ' },
  ])('$client.protocol: the status was sent, and the next route still answers', async ({ client, beat }) => {
    nextModel(1);
    const fail = failing();
    const customer = await hasty.customer();
    const response = await post(hasty, customer.secret, { client, model, stream: true }, '[[say after all]]');
    expect(response.status).toBe(200);
    const text = await textOf(response, beat, 3, fail);
    expect(text).toContain('after');
    expect(text).toContain(client.terminator);
    expect(errorIn(text)).toBeNull();
    expect(await settled(hasty, customer)).toMatchObject([{ upstream: 'good-messages', outcome: 'completed' }]);
  });

  it('a failure of the last route too is told in the stream', async () => {
    nextModel(1);
    const fail = failing();
    const customer = await hasty.customer();
    const response = await post(
      hasty,
      customer.secret,
      { client: protocols.messages, model, stream: true },
      '[[status 400 the prompt is odd]]',
    );
    const text = await textOf(response, 'event: ping', 1, fail);
    expect([response.status, errorIn(text)?.message]).toEqual([200, 'the prompt is odd']);
    expect(text).not.toContain('message_stop');
    expect(await settled(hasty, customer)).toMatchObject([{ outcome: 'upstream_error', cost: 0n }]);
  });
});

describe('a route that keeps failing', () => {
  it('is not asked any more, until it is the only one', async () => {
    nextModel(1);
    stub.behave = answer(500);
    const customer = await app.customer();
    const one = async (): Promise<number> => {
      const response = await post(app, customer.secret, { client: protocols.messages, model, stream: false }, 'ping');
      await response.text();
      return response.status;
    };
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1) statuses.push(await one());
    // The budget of retries covers what it takes to eject the upstream, which is after the fifth failure.
    expect(statuses).toEqual(Array(12).fill(200));
    expect(stub.calls).toBe(5);
    await app.pool.query(`UPDATE route SET enabled = false WHERE model_id = $1 AND priority = 1`, [model]);
    await until(async () => (await one()) === 502);
    expect(stub.calls).toBe(6);
  });
});

describe('an upstream that has said all it had to say', () => {
  it('and leaves the connection open keeps neither the client nor the process', async () => {
    nextModel(1);
    let closed = false;
    stub.behave = (request, response) => {
      request.socket.on('close', () => {
        closed = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin + delta('done') + end);
      // Not silent either, so that no limit on silence ends it.
      const chatter = setInterval(() => response.write(': still here\n\n'), 100);
      request.socket.on('close', () => clearInterval(chatter));
    };
    const customer = await app.customer();
    const response = await post(app, customer.secret, { client: protocols.messages, model, stream: true }, 'ping');
    expect(await response.text()).toContain('message_stop');
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', upstream: `bad-${number}` }]);
    await until(() => closed);
  });
});

const event = (data: Record<string, unknown>): string =>
  `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
const begin =
  event({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'bad-name',
      content: [],
      usage: { input_tokens: 9, output_tokens: 1 },
    },
  }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
const delta = (text: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const end =
  event({ type: 'content_block_stop', index: 0 }) +
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 3 },
  }) +
  event({ type: 'message_stop' });
