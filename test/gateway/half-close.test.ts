import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import {
  everyProtocol,
  nativeCatalog,
  type ProtocolCase,
  parseAnswers,
  protocols,
  rawConnection,
  settled,
  until,
} from './support.ts';

/**
 * Clients that end their side of the connection after the request, as HTTP allows (`printf … | nc -N`), beside those whose end is
 * a farewell: over the wire both begin alike.
 */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog(),
    env: { KEEPALIVE_MS: '600000', FIRST_EVENT_HOLD_MS: '10000' },
  });
});
afterAll(() => app.close());

interface RawRequest {
  secret: string;
  text: string;
  stream: boolean;
  version?: string;
}

function bytesOf(protocol: ProtocolCase, { secret, text, stream, version = '1.1' }: RawRequest): string {
  const body = JSON.stringify(protocol.body(text, { model: protocol.only, stream }));
  const headers = { ...protocol.headers, authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return [
    `POST /api${protocol.path} HTTP/${version}`,
    'host: x',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}

/** Everything that a client receives which ends its side at once and reads on. */
async function halfClosing(bytes: string): Promise<string> {
  const connection = await rawConnection(app);
  connection.socket.end(bytes);
  await connection.closed;
  return connection.received;
}

const isFinal = ({ status }: { status: number }): boolean => status >= 200;

describe.each(everyProtocol)('$protocol', (protocol) => {
  it('a client that ends its side after the request gets its whole answer, and its connection is closed', async () => {
    const customer = await app.customer();
    const received = await halfClosing(bytesOf(protocol, { secret: customer.secret, text: 'ping', stream: false }));
    const [answer] = parseAnswers(received).filter(isFinal);
    expect(answer?.status).toBe(200);
    expect(answer?.body).toContain('pong');
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
  });

  it('a client like that gets its stream to the end, pauses included', async () => {
    const customer = await app.customer();
    const text = '[[delay 1500]] [[len 300]]';
    const received = await halfClosing(bytesOf(protocol, { secret: customer.secret, text, stream: true }));
    expect(received).toContain('w299');
    expect(received).toMatch(/HTTP\/1\.1 200 OK\r\n/);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
  });

  it.each([false, true])('one that left so is noticed before its answer begins (stream: %s)', async (stream) => {
    const customer = await app.customer();
    const before = app.simulator.stats();
    const connection = await rawConnection(app);
    connection.write(bytesOf(protocol, { secret: customer.secret, text: '[[delay 2000]] [[len 20]]', stream }));
    await until(() => app.simulator.stats().requests > before.requests);
    connection.socket.destroy();
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'client_closed' }]);
  });
});

describe('an answer that lets a client wait that has ended its side', () => {
  const chat = protocols.chat;

  it('is preceded by at most three interim answers, fewer than the five that Go takes', async () => {
    const customer = await app.customer();
    const text = '[[delay 2500]] [[say late]]';
    const received = await halfClosing(bytesOf(chat, { secret: customer.secret, text, stream: false }));
    const answers = parseAnswers(received);
    expect(answers.map(({ status }) => status)).toEqual([100, 100, 100, 200]);
    expect(answers[3]?.body).toContain('late');
  });

  it('is preceded by nothing for a client of HTTP/1.0', async () => {
    const customer = await app.customer();
    const text = '[[delay 1000]] [[say late]]';
    const version = '1.0';
    const received = await halfClosing(bytesOf(chat, { secret: customer.secret, text, stream: false, version }));
    expect(parseAnswers(received).map(({ status }) => status)).toEqual([200]);
    expect(received).toContain('late');
  });

  it('is one of several on a connection: each gets its own, in order', async () => {
    const customer = await app.customer();
    const bytes = ['[[delay 700]] [[say first]]', '[[say second]]', '[[say third]]']
      .map((text) => bytesOf(chat, { secret: customer.secret, text, stream: false }))
      .join('');
    const answers = parseAnswers(await halfClosing(bytes)).filter(isFinal);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => /first|second|third/.exec(body)?.[0])).toEqual(['first', 'second', 'third']);
    expect(await settled(app, customer)).toHaveLength(3);
  });

  it('is refused in its own envelope', async () => {
    const received = await halfClosing(bytesOf(chat, { secret: 'sk-none', text: 'ping', stream: false }));
    expect(parseAnswers(received).map(({ status }) => status)).toEqual([401]);
  });
});

it('a client that left a silent stream is noticed by its signs of life', async () => {
  const customer = await app.customer();
  const before = app.simulator.stats();
  const connection = await rawConnection(app);
  connection.write(
    bytesOf(protocols.messages, { secret: customer.secret, text: '[[len 50]] [[hang 30]]', stream: true }),
  );
  await connection.until(/w20/);
  connection.socket.destroy();
  await until(() => app.simulator.stats().abortedRequests > before.abortedRequests);
  expect(await settled(app, customer)).toMatchObject([{ outcome: 'client_closed' }]);
});
