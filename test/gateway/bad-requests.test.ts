import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, model, nativeCatalog, protocols, send, settled } from './support.ts';

/** Bad input gets a clear error in its envelope, costs nothing and reaches no upstream. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer();
});
afterAll(() => app.close());

const secret = () => customer.secret;
const marker = 'canary-of-the-body';

interface BadRequest {
  name: string;
  status: number;
  /** What the sentence must contain. */
  says?: string | RegExp;
  param?: string;
  headers?: Record<string, string>;
  raw?: string | Uint8Array<ArrayBuffer>;
  more?: Record<string, unknown>;
}

const text = (value: string) => new Uint8Array(Buffer.from(value));
const utf16 = (value: string) => new Uint8Array(Buffer.from(value, 'utf16le'));

const everywhere: BadRequest[] = [
  { name: 'malformed JSON', status: 400, raw: `{"model":"${model}","${marker}":` },
  { name: 'two values', status: 400, raw: '{} {}' },
  { name: 'an empty body', status: 400, raw: '' },
  { name: 'an array', status: 400, raw: `["${marker}"]` },
  { name: 'null', status: 400, raw: 'null' },
  { name: 'a string', status: 400, raw: `"${marker}"` },
  { name: 'no model', status: 400, raw: `{"max_tokens":1,"x":"${marker}"}`, param: 'model' },
  { name: 'a model of another type', status: 400, more: { model: 7 }, param: 'model' },
  { name: 'model null', status: 400, more: { model: null }, param: 'model' },
  { name: 'an empty model', status: 400, more: { model: '' }, param: 'model' },
  { name: 'a model of 257 characters', status: 400, more: { model: 'm'.repeat(257) }, param: 'model' },
  { name: 'NUL in the model', status: 400, more: { model: 'sim-\u0000medium' }, param: 'model' },
  {
    name: 'model twice',
    status: 400,
    raw: `{"model":"${model}","model":"${model}","max_tokens":1}`,
    param: 'model',
  },
  {
    name: 'model twice, once escaped',
    status: 400,
    raw: `{"model":"${model}","m\\u006fdel":"x","max_tokens":1}`,
  },
  {
    name: 'stream twice',
    status: 400,
    raw: `{"model":"${model}","stream":false,"stream":true,"max_tokens":1}`,
  },
  {
    name: 'bytes that are no UTF-8',
    status: 400,
    raw: new Uint8Array([...text('{"model":"'), 0xff, 0xfe, ...text('"}')]),
  },
  {
    name: 'an overlong encoding',
    status: 400,
    raw: new Uint8Array([...text('{"model":"'), 0xc0, 0xaf, ...text('"}')]),
  },
  { name: 'UTF-16', status: 400, raw: utf16('{"model":"x"}') },
  { name: 'a UTF-16 charset', status: 415, headers: { 'content-type': 'application/json; charset=utf-16' } },
  { name: 'a byte order mark', status: 400, raw: `\ufeff{"model":"${model}"}` },
  { name: 'a million levels', status: 400, raw: '['.repeat(1_000_000) },
  { name: 'ten million values', status: 400, raw: `{"model":"${model}","x":[${'0,'.repeat(9_999_999)}0]}` },
  { name: 'gzip', status: 415, says: 'Content-Encoding', headers: { 'content-encoding': 'gzip' } },
  { name: 'br', status: 415, says: 'Content-Encoding', headers: { 'content-encoding': 'br' } },
  { name: 'gzip behind identity', status: 415, headers: { 'content-encoding': 'identity, gzip' } },
  { name: 'text', status: 415, says: 'Content-Type', headers: { 'content-type': 'text/plain' } },
  { name: 'a form', status: 415, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  { name: 'multipart', status: 415, headers: { 'content-type': 'multipart/form-data; boundary=x' } },
  { name: 'a tab in it', status: 415, headers: { 'content-type': 'application/\tjson' } },
  { name: 'another JSON', status: 415, headers: { 'content-type': 'application/jsonp' } },
  { name: 'JSON among others', status: 415, headers: { 'content-type': 'text/plain, application/json' } },
  { name: 'a stream that is no boolean', status: 400, more: { stream: 'true' }, param: 'stream' },
];

describe.each(everyProtocol)('$protocol', (protocol) => {
  it.each(everywhere)('$name: $status', async ({ status, says, param, headers, raw, more }) => {
    const before = app.simulator.stats().requests;
    const response = await send(app, protocol, {
      secret: secret(),
      ...(headers === undefined ? {} : { headers }),
      ...(raw === undefined ? {} : { raw }),
      ...(more === undefined ? {} : { more }),
    });
    expect(response.status).toBe(status);
    const error = await errorOf(response, protocol.protocol);
    expect(error.type).toBe('invalid_request_error');
    expect(error.message).not.toContain(marker);
    expect(error.message).toMatch(says ?? /./);
    // The messages protocol has no member for it, so the sentence says it.
    const named = protocol.protocol === 'messages' ? error.message : (error.param ?? '');
    expect(named).toContain(param ?? '');
    expect(app.simulator.stats().requests).toBe(before);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('the model %s is just unknown', async (name) => {
    const response = await send(app, protocol, {
      secret: secret(),
      raw: JSON.stringify({ ...protocol.body('x'), model: name }),
    });
    expect(response.status).toBe(400);
    expect((await errorOf(response, protocol.protocol)).message).toBe(
      `Requested model ${name} is not available in the service`,
    );
  });

  it.each([
    'no-such-model',
    'steyg/no-such-model',
    'SIM-MEDIUM ',
    'steyg/steyg/sim-medium',
    'sim%2Dmedium',
    'mô hình "x"',
    'sim-medium\n',
  ])('an unknown model is named exactly as it was sent: %j', async (name) => {
    const response = await send(app, protocol, { secret: secret(), more: { model: name } });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, protocol.protocol)).toMatchObject({
      message: `Requested model ${name} is not available in the service`,
      ...(protocol.protocol === 'messages' ? {} : { code: 'model_not_found', param: 'model' }),
    });
  });

  // Nothing is added on the way up to a request that says itself that nothing is to be stored.
  const unstored = protocol.protocol === 'responses' ? { store: false } : {};
  const withCap = (cap: string): string =>
    JSON.stringify(protocol.body('[[say ok]]', { ...unstored, [protocol.cap]: '@' })).replace('"@"', cap);

  it.each(['-1', '1.5', '"16"', 'true', '[]', '1e999', protocol.protocol === 'messages' ? 'null' : '0'])(
    'a cap of %s is refused',
    async (cap) => {
      const own = await app.customer();
      const response = await send(app, protocol, { secret: own.secret, raw: withCap(cap) });
      expect(response.status).toBe(400);
      expect((await errorOf(response, protocol.protocol)).message).toContain(protocol.cap);
      expect(await settled(app, own)).toEqual([]);
    },
  );

  it.each([protocol.protocol === 'messages' ? '0' : 'null', '1e12', '1e2', '16.0', '9007199254740993'])(
    'a cap of %s is passed on as it is',
    async (cap) => {
      const own = await app.customer();
      const response = await send(app, protocol, { secret: own.secret, raw: withCap(cap) });
      // The vendor decides what it makes of it; the hold was placed and came back.
      expect([200, 400]).toContain(response.status);
      await response.text();
      expect(await settled(app, own)).toMatchObject([{ account_id: own.accountId }]);
      expect(app.simulator.requests().at(-1)?.body.toString()).toBe(withCap(cap));
    },
  );
});

const withAnswers = (n: string): string =>
  JSON.stringify(protocols.chat.body('[[say ok]]', { n: '@' })).replace('"@"', n);

describe('fields of one protocol', () => {
  it.each(['0', '-1', '129', '1.5', '"2"'])('n %s is refused', async (n) => {
    const own = await app.customer();
    const response = await send(app, protocols.chat, { secret: own.secret, raw: withAnswers(n) });
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'chat-completions')).param).toBe('n');
    expect(await settled(app, own)).toEqual([]);
  });

  it.each([
    ['1', 1],
    ['null', 1],
    ['3', 3],
  ])('n %s gives %i answers', async (n, count) => {
    const own = await app.customer();
    const response = await send(app, protocols.chat, { secret: own.secret, raw: withAnswers(n) });
    expect(((await response.json()) as { choices: unknown[] }).choices).toHaveLength(count);
    expect(await settled(app, own)).toHaveLength(1);
  });

  it('the hold covers every answer asked for', async () => {
    const own = await app.customer();
    const held = async (n: number): Promise<bigint> => {
      const leave = new AbortController();
      const running = send(app, protocols.chat, {
        secret: own.secret,
        text: '[[hang 1]]',
        more: { n, max_tokens: 1_000, stream: true },
        signal: leave.signal,
      });
      await running;
      const { rows } = await app.pool.query('SELECT sum(held)::bigint AS held FROM "grant" WHERE account_id = $1', [
        own.accountId,
      ]);
      leave.abort();
      await app.quiet(own.accountId);
      return rows[0].held;
    };
    const one = await held(1);
    // A thousand tokens of output at 5 USD per million for each further answer.
    expect(await held(128)).toBe(one + 127n * 1_000n * 5_000_000n + bodyGrowth(1, 128));
  });

  it('a body of the responses protocol is sent where it belongs', async () => {
    const response = await send(app, protocols.chat, {
      secret: secret(),
      raw: JSON.stringify({ model, input: 'ping' }),
    });
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'chat-completions')).message).toContain('/v1/responses');
  });

  it('`thread` is refused in the words that make its SDK send the whole history', async () => {
    const more = { thread: { previous_message_id: 'msg_1' } };
    const response = await send(app, protocols.messages, { secret: secret(), more });
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'messages'))['details']).toEqual({
      error_code: 'thread_unsupported_request',
      unsupported: ['thread'],
    });
  });

  it.each([
    ['messages', { container: 'container_1' }, 'container'],
    ['messages', { fallbacks: [{ model: 'x' }] }, 'fallbacks'],
    ['messages', { speed: 'fast' }, 'speed'],
    ['messages', { mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }] }, 'mcp_servers'],
    [
      'messages',
      { model: 'only-messages', tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'm' }] },
      'tools.0.type',
    ],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_of_somebody' } }] },
        ],
      },
      'file',
    ],
    ['chat', { web_search_options: {} }, 'web_search_options'],
    ['chat', { service_tier: 'priority' }, 'service_tier'],
    ['responses', { previous_response_id: 'resp_of_somebody' }, 'previous_response_id'],
    ['responses', { conversation: 'conv_of_somebody' }, 'conversation'],
  ] as const)("%s: %j could reach what is not the customer's, or has no price", async (name, more, says) => {
    const protocol = protocols[name];
    const before = app.simulator.stats().requests;
    const response = await send(app, protocol, { secret: secret(), more });
    expect(response.status).toBe(400);
    expect((await errorOf(response, protocol.protocol)).message).toContain(says);
    expect(app.simulator.stats().requests).toBe(before);
  });
});

const hanging = (n: number) => protocols.chat.body('[[hang 1]]', { n, max_tokens: 1_000, stream: true });
const bytesOf = (n: number): number => JSON.stringify(hanging(n)).length;

/** What the longer text of `n` adds to the hold, at three bytes a token of new input. */
function bodyGrowth(short: number, long: number): bigint {
  // The prompt of a stream is held by its bytes until the vendor has counted it.
  return BigInt(bytesOf(long) - bytesOf(short)) * 1_000_000n;
}

it('whatever was refused above left no trace', async () => {
  expect(await settled(app, customer)).toEqual([]);
});
