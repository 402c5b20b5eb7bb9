import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import {
  everyProtocol,
  nativeCatalog,
  type ProtocolCase,
  protocols,
  rawConnection,
  reader,
  send,
  settled,
  until,
} from './support.ts';

/** A client that leaves or takes nothing. One row, and the upstream hears of it. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog(),
    env: { CLIENT_STALL_MS: '1500', KEEPALIVE_MS: '10000', FIRST_EVENT_HOLD_MS: '10000' },
  });
});
afterAll(() => app.close());

const only = (protocol: ProtocolCase, more: Record<string, unknown> = {}) => ({ model: protocol.only, ...more });
const upstreamsEnded = () => until(() => app.simulator.stats().openRequests === 0);

/** A streamed request over a socket that reads only when it is told to. */
async function rawStream(protocol: ProtocolCase, secret: string, text: string, more: Record<string, unknown> = {}) {
  const connection = await rawConnection(app);
  const body = JSON.stringify(protocol.body(text, only(protocol, { stream: true, ...more })));
  const headers = { ...protocol.headers, authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  connection.write(
    [
      `POST /api${protocol.path} HTTP/1.1`,
      'host: x',
      `content-length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  );
  return connection;
}

describe.each(everyProtocol)('$protocol', (protocol) => {
  it.each([true, false])('left before the upstream answered is waited for (stream: %s)', async (stream) => {
    const customer = await app.customer();
    const before = app.simulator.stats();
    const leave = new AbortController();
    const running = send(app, protocol, {
      secret: customer.secret,
      text: `${customer.accountId} [[delay 700]] [[len 20]] ${'context '.repeat(1_000)}`,
      more: only(protocol, { stream }),
      signal: leave.signal,
    }).catch(() => 'left');
    await until(() => app.simulator.stats().requests > before.requests);
    leave.abort();
    expect(await running).toBe('left');
    await upstreamsEnded();
    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ outcome: 'client_closed', time_to_first_byte_ms: null }]);
    // As the upstream reported it; a stream of messages tells its prompt first, and is ended with that.
    const isToldFirst = stream && protocol === protocols.messages;
    expect(rows[0]).toMatchObject(
      isToldFirst ? { usage_source: 'partial' } : { usage_source: 'reported', output: 20n },
    );
    expect(Number(rows[0]?.['input'])).toBeGreaterThan(1_000);
    expect(rows[0]).toMatchObject({ cache_hit: 0n, charged: rows[0]?.['cost'] });
  });

  it('left before the upstream answered, and too little to wait for, costs its context as new', async () => {
    const customer = await app.customer();
    const leave = new AbortController();
    const before = app.simulator.stats();
    const running = send(app, protocol, {
      secret: customer.secret,
      text: `[[delay 600000]] ${'context '.repeat(40)}`,
      more: only(protocol, { stream: true }),
      signal: leave.signal,
    }).catch(() => 'left');
    await until(() => app.simulator.stats().requests > before.requests);
    leave.abort();
    expect(await running).toBe('left');
    await upstreamsEnded();
    expect(app.simulator.stats().abortedRequests).toBe(before.abortedRequests + 1);
    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ outcome: 'client_closed', usage_source: 'estimated', cache_hit: 0n, output: 0n }]);
    // About 400 bytes, four to a token.
    expect(Number(rows[0]?.['input'])).toBeGreaterThan(80);
    expect(Number(rows[0]?.['input'])).toBeLessThan(160);
  });

  it('left in mid-stream', async () => {
    const customer = await app.customer();
    const before = app.simulator.stats();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[len 400]] [[hang 300]]',
      more: only(protocol, { stream: true }),
    });
    const events = reader(response);
    await events.until(/w200/);
    await events.cancel();
    await upstreamsEnded();
    expect(app.simulator.stats().abortedRequests).toBe(before.abortedRequests + 1);
    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ outcome: 'client_closed' }]);
    const output = Number(rows[0]?.['output']);
    expect(output).toBeGreaterThanOrEqual(200);
    expect(output).toBeLessThanOrEqual(400);
    expect(rows[0]?.['charged']).toBe(rows[0]?.['cost']);
    expect((await app.app.ledger.balance(customer.accountId)).held).toBe(0n);
  });

  it('a client that reads nothing slows the upstream down, is disconnected, and pays for the bytes sent to it', async () => {
    const customer = await app.customer();
    const before = app.simulator.stats();
    // Far more than the kernel's buffers take.
    const connection = await rawStream(protocol, customer.secret, `[[len 400000]]`, { [protocol.cap]: 400_000 });
    connection.socket.pause();
    await until(() => app.simulator.stats().openStreams > before.openStreams);
    await upstreamsEnded();
    const { streamEvents, abortedRequests } = app.simulator.stats();
    expect(abortedRequests).toBe(before.abortedRequests + 1);
    expect(streamEvents - before.streamEvents).toBeLessThan(400_000);
    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ outcome: 'client_closed' }]);
    expect(Number(rows[0]?.['output'])).toBeGreaterThan(1_000);
    expect(Number(rows[0]?.['output'])).toBeLessThan(400_000);
    connection.socket.destroy();
  });

  it('a client that reads slowly gets everything', async () => {
    const customer = await app.customer();
    const connection = await rawStream(protocol, customer.secret, '[[len 20000]]', { [protocol.cap]: 100_000 });
    const resting = setInterval(() => {
      connection.socket.pause();
      setTimeout(() => connection.socket.resume(), 10);
    }, 20);
    await until(() => connection.received.endsWith('\r\n0\r\n\r\n'));
    clearInterval(resting);
    connection.socket.destroy();
    expect(connection.received).toContain('w19999');
    expect(connection.received).toContain(protocol.terminator);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
  });

  it('an unstreamed answer that its client does not read does not stay in memory', async () => {
    const customer = await app.customer();
    const connection = await rawStream(protocol, customer.secret, `[[raw ${hugeAnswer(protocol)}]]`, { stream: false });
    connection.socket.pause();
    await until(async () => (await app.ledger(customer.accountId)).length === 1);
    // Cut off from the other side while nothing was read here.
    const connections = () =>
      new Promise<number>((resolve) => app.app.fastify.server.getConnections((_error, count) => resolve(count)));
    const atFirst = await connections();
    await until(async () => (await connections()) < atFirst);
    connection.socket.destroy();
  });

  it('nothing is sent for a client that left before it was admitted', async () => {
    const customer = await app.customer();
    const { requests } = app.simulator.stats();
    const logged = app.logged.length;
    const connection = await rawStream(protocol, customer.secret, 'ping');
    connection.socket.destroy();
    await until(() => app.logged.slice(logged).some((line) => /"status":(?:499|200)/.test(line)));
    await app.quiet(customer.accountId);
    await upstreamsEnded();
    const sent = app.simulator.stats().requests - requests;
    // It may have got through in time; then it is a row like any other.
    expect(await app.ledger(customer.accountId)).toHaveLength(sent);
  });
});

/** A valid answer of several megabytes, which is more than the kernel keeps. */
function hugeAnswer(protocol: ProtocolCase): string {
  const text = 'x'.repeat(12_000_000);
  const answers = {
    messages: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: protocol.only,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    'chat-completions': {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: protocol.only,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
    responses: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: protocol.only,
      output: [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  };
  return Buffer.from(JSON.stringify(answers[protocol.protocol])).toString('base64');
}

describe('an upstream that is drained instead', () => {
  it.each(everyProtocol)('$protocol: is read to its end, and the row says what it reported', async (protocol) => {
    const draining = await drainingApp();
    const customer = await draining.customer();
    const response = await send(draining, protocol, {
      secret: customer.secret,
      text: '[[len 300]] [[speed 1000]]',
      more: only(protocol, { stream: true }),
    });
    const events = reader(response);
    await events.until(/w20/);
    await events.cancel();
    const rows = await settled(draining, customer);
    expect(rows).toMatchObject([{ outcome: 'client_closed', output: 300n }]);
    expect(draining.simulator.stats()).toMatchObject({ abortedRequests: 0, openRequests: 0 });
  });

  let drained: TestApp | null = null;
  const drainingApp = async (): Promise<TestApp> => {
    drained ??= await startApp({ catalog: nativeCatalog({ onDisconnect: 'drain' }) });
    return drained;
  };
  afterAll(() => drained?.close());
});

it('a cache that is warmed is waited for and charged as written, although its client has left', async () => {
  const customer = await app.customer();
  const leave = new AbortController();
  const before = app.simulator.stats();
  const context = {
    type: 'text',
    text: `[[delay 5000]] ${'context '.repeat(3_000)}`,
    cache_control: { type: 'ephemeral' },
  };
  const running = send(app, protocols.messages, {
    secret: customer.secret,
    more: { model: 'only-messages', max_tokens: 0, messages: [{ role: 'user', content: [context] }] },
    signal: leave.signal,
  }).catch(() => 'left');
  await until(() => app.simulator.stats().requests > before.requests);
  leave.abort();
  expect(await running).toBe('left');
  const rows = await settled(app, customer);
  expect(rows).toMatchObject([{ outcome: 'client_closed', usage_source: 'reported', cache_hit: 0n, output: 0n }]);
  expect(Number(rows[0]?.['cache_write_5m'])).toBeGreaterThan(2_000);
  expect(app.simulator.stats().abortedRequests).toBe(before.abortedRequests);
});
