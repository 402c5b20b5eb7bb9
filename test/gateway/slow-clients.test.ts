import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, parseAnswers, protocols, rawConnection, rawExchange } from './support.ts';

/** Clients that send slowly or not at all keep nothing but a socket, and that not for long. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog(),
    serverLimits: {
      // Long enough for the clients that are not slow, on a machine that is.
      requestMs: 2_500,
      headersMs: 1_500,
      checkMs: 50,
      keepAliveMs: 72_000,
      discardMs: 1_500,
      discardBytes: 64 * 1_048_576,
    },
  });
  customer = await app.customer();
});
afterAll(() => app.close());

const body = JSON.stringify(protocols.chat.body('ping'));
const head = (lines: readonly string[]): string =>
  ['POST /api/v1/chat/completions HTTP/1.1', 'host: x', 'content-type: application/json', ...lines, '', ''].join(
    '\r\n',
  );
const authorization = () => `authorization: Bearer ${customer.secret}`;

describe.concurrent('clients that send slowly or not at all', () => {
  it('a head that does not come to its end: 408', async () => {
    const received = await rawExchange(app, 'POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ');
    const [answer] = parseAnswers(received);
    expect(answer?.status).toBe(408);
    expect(answer?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: { message: expect.any(String) } });
  });

  it('a head that comes byte by byte: 408', async () => {
    const connection = await rawConnection(app);
    const drip = setInterval(() => connection.write('x'), 40);
    connection.write('GET /');
    await connection.closed;
    clearInterval(drip);
    expect(parseAnswers(connection.received)[0]?.status).toBe(408);
  });

  it('a connection on which nothing comes: closed', async () => {
    const connection = await rawConnection(app);
    await connection.closed;
    expect(connection.received).toMatch(/^HTTP\/1\.1 408 |^$/);
  });

  it('a body that comes byte by byte: 408, and nothing is sent', async () => {
    const connection = await rawConnection(app);
    connection.write(head([authorization(), 'content-length: 1000']));
    const drip = setInterval(() => connection.write(' '), 40);
    await connection.closed;
    clearInterval(drip);
    expect(parseAnswers(connection.received)[0]?.status).toBe(408);
    expect(app.simulator.requests()).toEqual([]);
  });

  it('the body of a refused request that does not come to its end: closed', async () => {
    const received = await rawExchange(app, `${head(['content-length: 1000'])}{`);
    expect(parseAnswers(received).map(({ status }) => status)).toEqual([401]);
  });
});

describe('clients', () => {
  it('a refused request whose body is short leaves its connection to the next', async () => {
    const connection = await rawConnection(app);
    const length = `content-length: ${body.length}`;
    connection.write(head([length]));
    await connection.until(/401/);
    connection.write(`${body}${head([authorization(), length, 'connection: close'])}${body}`);
    await connection.closed;
    expect(parseAnswers(connection.received).map(({ status }) => status)).toEqual([401, 200]);
  });

  it('that are slow leave the others alone, however many they are', async () => {
    const slow = await Promise.all(Array.from({ length: 200 }, () => rawConnection(app)));
    for (const connection of slow) connection.write('POST / HTTP/1.1\r\nhost: x\r\nx-slow: ');
    const received = await rawExchange(
      app,
      `${head([authorization(), `content-length: ${body.length}`, 'connection: close'])}${body}`,
    );
    expect(parseAnswers(received)[0]?.status).toBe(200);
    await Promise.all(slow.map(({ closed }) => closed));
  });
});
