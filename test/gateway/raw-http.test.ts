import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMessageReader } from '../bench/http-reader.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import {
  everyProtocol,
  model,
  nativeCatalog,
  parseAnswers,
  protocols,
  rawConnection,
  rawExchange,
  settled,
  until,
} from './support.ts';

/** What no HTTP client can be made to send, byte by byte over a socket. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer();
});
afterAll(async () => {
  await app.close();
});
beforeEach(() => app.simulator.clearRequests());

const body = JSON.stringify(protocols.chat.body('ping'));

/** A request as bytes: the head's lines, an empty line, the body. */
function request(lines: readonly string[], content = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${content}`;
}

const line = 'POST /api/v1/chat/completions HTTP/1.1';
const authorization = () => `authorization: Bearer ${customer.secret}`;
const json = 'content-type: application/json';
const host = 'host: localhost';
const good = (more: readonly string[] = []) =>
  request([line, host, authorization(), json, `content-length: ${body.length}`, ...more], body);
const noUpstreamCall = () => expect(app.simulator.requests()).toEqual([]);

/** What every answer has, of Node's server and of the gateway. */
function expectEnvelope(answer: ReturnType<typeof parseAnswers>[number] | undefined): void {
  if (answer === undefined) throw new Error('no answer');
  expect(answer.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.headers.get('x-request-id')).toBe(answer.headers.get('request-id'));
  const parsed = JSON.parse(answer.body);
  expect(parsed.error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) });
}

describe('bytes that two readers could read in two ways', () => {
  it.each([
    ['both lengths', [host, `content-length: ${body.length}`, 'transfer-encoding: chunked'], `0\r\n\r\n`],
    ['two lengths that differ', [host, `content-length: ${body.length}`, 'content-length: 5'], body],
    ['two lengths that agree', [host, `content-length: ${body.length}`, `content-length: ${body.length}`], body],
    ['a list of lengths', [host, `content-length: ${body.length}, ${body.length}`], body],
    ['a negative length', [host, 'content-length: -1'], ''],
    ['a length in hexadecimal', [host, 'content-length: 0x10'], body],
    ['another transfer coding', [host, 'transfer-encoding: gzip'], ''],
    ['chunked, but not last', [host, 'transfer-encoding: chunked, gzip'], ''],
    ['chunked in disguise', [host, 'transfer-encoding: xchunked'], '0\r\n\r\n'],
    ['a folded header', [host, 'x-folded: one\r\n two'], body],
    ['a bare carriage return in a header', [host, 'x-odd: one\rtwo'], body],
    ['a NUL in a header', [host, 'x-odd: one\0two'], body],
    ['a blank before the colon', [host, 'content-length : 0'], ''],
    ['a header without a name', [host, ': empty'], ''],
    ['a chunk size that is none', [host, 'transfer-encoding: chunked'], 'zz\r\n\r\n'],
    ['a chunk that is longer than it says', [host, 'transfer-encoding: chunked'], '3\r\nabcdef\r\n0\r\n\r\n'],
    ['no host', [`content-length: ${body.length}`], body],
    ['two hosts', [host, 'host: elsewhere', `content-length: ${body.length}`], body],
  ])('%s: 400, closed, and nothing behind it is executed', async (_name, lines, content) => {
    const smuggled = request(['GET /api/v1/models HTTP/1.1', host, authorization()]);
    const received = await rawExchange(app, request([line, authorization(), json, ...lines], content) + smuggled);
    const answers = parseAnswers(received);
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(answers[0]?.headers.get('connection')).toBe('close');
    expectEnvelope(answers[0]);
    noUpstreamCall();
  });

  it.each(['GARBAGE\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'POST\t/api HTTP/1.1\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00'])(
    'bytes that are no HTTP: %j',
    async (bytes) => {
      const answers = parseAnswers(await rawExchange(app, bytes + good()));
      expect(answers.map(({ status }) => status)).toEqual([400]);
      expectEnvelope(answers[0]);
      noUpstreamCall();
    },
  );

  it('requests in a row on one connection are answered in their order', async () => {
    const received = await rawExchange(app, good() + good() + good(['connection: close']));
    expect(parseAnswers(received).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(app.simulator.requests()).toHaveLength(3);
  });

  it('garbage behind a request that still runs does not get into its answer', async () => {
    const stream = JSON.stringify(protocols.chat.body('[[say one two three four]] [[hang 3]]', { stream: true }));
    const own = await app.customer();
    const connection = await rawConnection(app);
    connection.write(
      request([line, host, `authorization: Bearer ${own.secret}`, json, `content-length: ${stream.length}`], stream),
    );
    await connection.until(/data: /);
    connection.write('GARBAGE\r\n\r\n');
    await connection.closed;
    expect(connection.received).not.toContain('400 Bad Request');
    expect(connection.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(await settled(app, own)).toMatchObject([{ outcome: 'client_closed' }]);
  });
});

// Four are there anyway, and one for the connection.
const withHeaders = (count: number) =>
  rawExchange(app, good([...Array.from({ length: count - 5 }, (_none, index) => `x-${index}:`), 'connection: close']));

describe('too much of a head', () => {
  it('a header of more than 16 KB: 431, closed', async () => {
    const received = await rawExchange(app, good([`x-long: ${'x'.repeat(17_000)}`]));
    const answers = parseAnswers(received);
    expect(answers.map(({ status }) => status)).toEqual([431]);
    expectEnvelope(answers[0]);
    noUpstreamCall();
  });

  it('an address of more than 16 KB: 431, closed', async () => {
    const received = await rawExchange(app, request([`GET /api/v1/models?${'x'.repeat(17_000)} HTTP/1.1`, host]));
    expect(parseAnswers(received).map(({ status }) => status)).toEqual([431]);
  });

  it('200 headers', async () => {
    expect(parseAnswers(await withHeaders(200))[0]?.status).toBe(200);
  });

  it.each([201, 1_000])('%i headers: 400', async (count) => {
    const [answer] = parseAnswers(await withHeaders(count));
    expect(answer?.status).toBe(400);
    expectEnvelope(answer);
    noUpstreamCall();
  });
});

/** Sends blanks in chunks of a megabyte until the server has closed; says how many went out. */
async function pour(connection: Awaited<ReturnType<typeof rawConnection>>): Promise<number> {
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1_048_576, 0x20), Buffer.from('\r\n')]);
  const { socket } = connection;
  for (let sent = 1; sent < 400; sent += 1) {
    if (socket.destroyed) return sent;
    if (!socket.write(chunk)) {
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), connection.closed]);
    }
  }
  throw new Error('it takes everything');
}

describe('too much of a body', () => {
  const limit = 32 * 1_048_576;

  it.each(everyProtocol)(
    '$protocol: an announced length above the limit is refused before the body',
    async (protocol) => {
      const connection = await rawConnection(app);
      const head = Object.entries(protocol.headers).map(([name, value]) => `${name}: ${value}`);
      connection.write(
        request([
          `POST /api${protocol.path} HTTP/1.1`,
          host,
          authorization(),
          json,
          ...head,
          `content-length: ${limit + 1}`,
        ]),
      );
      await connection.until(/\}$/);
      const [answer] = parseAnswers(connection.received);
      connection.socket.destroy();
      expect(answer?.status).toBe(413);
      expect(JSON.parse(answer?.body ?? '').error).toMatchObject({
        message: expect.stringContaining('32 MB'),
        type: protocol.protocol === 'messages' ? 'request_too_large' : 'invalid_request_error',
      });
      noUpstreamCall();
    },
  );

  it('an endless chunked body is cut off at the limit', async () => {
    const connection = await rawConnection(app);
    connection.write(request([line, host, authorization(), json, 'transfer-encoding: chunked']));
    // What the two kernels keep between them is not in our hands.
    expect(await pour(connection)).toBeLessThan(150);
    expect(parseAnswers(connection.received)[0]?.status).toBe(413);
    noUpstreamCall();
  });

  it('an endless body without a key is not read to the end either', async () => {
    const connection = await rawConnection(app);
    connection.write(request([line, host, json, 'transfer-encoding: chunked']));
    await connection.until(/401/);
    expect(await pour(connection)).toBeLessThan(150);
  });

  it.each(everyProtocol)('$protocol: a client that sends 40 MB gets to read its 413', async (protocol) => {
    const response = await fetch(app.baseUrl + protocol.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}`, ...protocol.headers },
      body: new Uint8Array(40 * 1_048_576),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('32 MB') } });
  });

  it('a client that sends 40 MB with a wrong key gets to read its 401', async () => {
    const response = await fetch(app.baseUrl + protocols.chat.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-steyg-wrong' },
      body: new Uint8Array(40 * 1_048_576),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { message: 'Invalid API key' } });
  });

  it.each([
    ['a wrong key', 'sk-steyg-wrong', 5, 401],
    ['a wrong key', 'sk-steyg-wrong', 40, 401],
    ['a body that is too large', null, 40, 413],
  ])(
    'asking for `Connection: close`, a client that reads only after it has written gets its answer: %s',
    async (_what, secret, megabytes, status) => {
      for (let round = 0; round < 5; round += 1) {
        const headers = [line, host, `authorization: Bearer ${secret ?? customer.secret}`, json, 'connection: close'];
        const received = await writeThenRead(
          request([...headers, `content-length: ${megabytes * 1_048_576}`]),
          Buffer.alloc(megabytes * 1_048_576, ' '),
        );
        expect(parseAnswers(received)[0]?.status).toBe(status);
        expect(parseAnswers(received)[0]?.body).toContain('error');
      }
    },
  );

  it('a client that sends 20 MB of another type gets to read its 415', async () => {
    const response = await fetch(app.baseUrl + protocols.chat.path, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', authorization: `Bearer ${customer.secret}` },
      body: new Uint8Array(20 * 1_048_576),
    });
    expect(response.status).toBe(415);
  });
});

describe('a body that is asked for', () => {
  it('is asked for once the head is in order', async () => {
    const connection = await rawConnection(app);
    connection.write(
      request([
        line,
        host,
        authorization(),
        json,
        `content-length: ${body.length}`,
        'expect: 100-continue',
        'connection: close',
      ]),
    );
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    connection.write(body);
    await connection.closed;
    expect(connection.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it('is not asked for when the head is refused', async () => {
    const answered = async (...head: string[]): Promise<string> => {
      const connection = await rawConnection(app);
      connection.write(request([line, host, ...head, json, 'expect: 100-continue']));
      const received = await connection.until(/\r\n\r\n\{.*\}$/s);
      connection.socket.destroy();
      return received;
    };
    expect(await answered('authorization: Bearer nonsense', 'content-length: 1000000')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await answered(authorization(), 'content-length: 100000000')).toMatch(/^HTTP\/1\.1 413 /);
  });
});

it('streams that were asked for in a row on one connection come in their order, each in chunks of its own', async () => {
  const asked = ['one two', 'three four', 'five six'].map((words) =>
    JSON.stringify(protocols.chat.body(`[[say ${words}]]`, { stream: true })),
  );
  const lines = [line, host, authorization(), json];
  const received = await rawExchange(
    app,
    asked
      .map((content, index) => {
        const more = index === 2 ? ['connection: close'] : [];
        return request([...lines, `content-length: ${content.length}`, ...more], content);
      })
      .join(''),
  );
  const bodies: string[] = [];
  let body = '';
  const reader = createMessageReader({
    onHead: () => {
      body = '';
    },
    onBody: (bytes) => {
      body += bytes.toString();
    },
    onEnd: () => {
      bodies.push(body);
    },
  });
  reader.push(Buffer.from(received));
  expect(bodies.map((text) => /(one|three|five)/.exec(text)?.[1])).toEqual(['one', 'three', 'five']);
  expect(bodies.every((text) => /^data: \{[\s\S]*data: \[DONE\]\n\n$/.test(text))).toBe(true);
});

it('a client of HTTP/1.0 gets a stream without chunks', async () => {
  const content = JSON.stringify(protocols.chat.body('[[say one two]]', { stream: true }));
  const received = await rawExchange(
    app,
    request([line.replace('1.1', '1.0'), authorization(), json, `content-length: ${content.length}`], content),
  );
  const [head = '', stream = ''] = received.split(/\r\n\r\n(.*)/s);
  expect(head).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(head.toLowerCase()).not.toContain('transfer-encoding');
  expect(stream).toMatch(/^data: \{[\s\S]*data: \[DONE\]\n\n$/);
});

it('a request with a body that breaks off reaches no upstream', async () => {
  const connection = await rawConnection(app);
  connection.write(request([line, host, authorization(), json, 'content-length: 1000'], body));
  connection.socket.end();
  await connection.closed;
  await until(() => app.logged.some((entry) => entry.includes('"request"')));
  noUpstreamCall();
  expect(model).toBe(JSON.parse(body).model);
});

/** As Python's urllib does: everything is written before anything is read. Fails on a reset or a broken pipe. */
async function writeThenRead(head: string, body: Uint8Array): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
  failed.catch(() => undefined);
  await Promise.race([once(socket, 'connect'), failed]);
  socket.write(head);
  const written = new Promise<void>((resolve) => socket.write(body, () => resolve()));
  await Promise.race([written, failed]);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  await Promise.race([once(socket, 'end'), failed]);
  socket.destroy();
  return received;
}
