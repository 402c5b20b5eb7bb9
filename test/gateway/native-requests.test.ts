import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, get, model, nativeCatalog, protocols, send, settled } from './support.ts';

/** Native routes pass requests byte for byte, and answer as promised. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog({ vendorModel, apiKey: upstreamKey }) });
  customer = await app.customer();
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

const vendorModel = 'vendor-name-of-it-2026';
const upstreamKey = 'sk-vendor-key-of-the-operator-000000';

const upstreamPaths = {
  messages: '/v1/messages',
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
};

function received() {
  const requests = app.simulator.requests();
  expect(requests).toHaveLength(1);
  const [request] = requests;
  if (request === undefined) throw new Error('nothing was received');
  return { ...request, header: (name: string) => request.headers.find(([key]) => key.toLowerCase() === name)?.[1] };
}

/**
 * What a vendor keeps, it keeps in the account that all customers share. Responses vendors keep everything unless they are
 * told not to; of chat completions vendors, only those do of which the operator says so.
 */
describe('nothing is stored at a vendor', () => {
  const kept = { protocol: protocols.chat, more: { model: 'kept-chat' } };
  const responses = { protocol: protocols.responses, more: { model: 'only-responses' } };
  const chat = { protocol: protocols.chat, more: { model: 'only-chat' } };

  it.each([
    ['responses', responses, {}, false],
    ['responses, null', responses, { store: null }, false],
    ['responses, said', responses, { store: false }, false],
    ['responses, streamed', responses, { stream: true }, false],
    ['chat completions at a vendor that stores', kept, {}, false],
    ['chat completions at a vendor that stores, null', kept, { store: null }, false],
    ['chat completions at a vendor that stores, streamed', kept, { stream: true }, false],
    ['chat completions elsewhere', chat, {}, undefined],
    ['messages, translated for a vendor that stores', { ...kept, protocol: protocols.messages }, {}, false],
    ['messages, translated for responses', { ...responses, protocol: protocols.messages }, {}, false],
  ])('%s', async (_what, { protocol, more }, asked, store) => {
    const response = await send(app, protocol, { secret: customer.secret, more: { ...more, ...asked } });
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    const sent = received().body.toString();
    expect((JSON.parse(sent) as { store?: boolean }).store).toBe(store);
    expect(sent.match(/"store"/g)?.length ?? 0).toBe(store === undefined ? 0 : 1);
  });

  it.each([responses, kept, chat])(
    'unless the operator allows it, a request for it is refused',
    async ({ protocol, more }) => {
      const response = await send(app, protocol, { secret: customer.secret, more: { ...more, store: true } });
      expect([response.status, (await errorOf(response, protocol.protocol)).param]).toEqual([400, 'store']);
      expect(app.simulator.requests()).toEqual([]);
    },
  );

  it('reasoning that a vendor would look up under its id is left out, because nothing was kept', async () => {
    const kept = [
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
      { type: 'reasoning', id: 'rs_3', summary: [], content: [{ type: 'reasoning_text', text: 'So.' }] },
      { role: 'user', content: 'ping' },
    ];
    const said = { type: 'summary_text', text: 'I thought.' };
    const dangling = [
      { type: 'reasoning', id: 'rs_0', summary: [said] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null, content: [] },
    ];
    const input = [dangling[0], kept[0], dangling[1], kept[1], kept[2], dangling[0]];
    for (const asked of [{}, { store: false }]) {
      app.simulator.clearRequests();
      const more = { ...responses.more, input, ...asked };
      await (await send(app, protocols.responses, { secret: customer.secret, more })).text();
      expect(JSON.parse(received().body.toString())).toMatchObject({ input: kept, store: false });
    }
  });
});

describe.each(everyProtocol)('$protocol', (protocol) => {
  it('a minimal request is answered, billed and has both request ids', async () => {
    const own = await app.customer();
    const response = await send(app, protocol, { secret: own.secret, text: '[[say xin chào]]' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-request-id')).toBe(response.headers.get('request-id'));
    const answer = (await response.json()) as { usage: Record<string, unknown>; model: string };
    expect(protocol.text(answer)).toBe('xin chào');
    expect(answer.model).toBe(model);
    for (const count of Object.values(answer.usage).filter((value) => typeof value === 'number')) {
      expect(Number.isInteger(count)).toBe(true);
    }
    const rows = await settled(app, own);
    expect(rows).toMatchObject([
      {
        model,
        protocol: protocol.protocol,
        outcome: 'completed',
        usage_source: 'reported',
        request_id: response.headers.get('request-id'),
      },
    ]);
    const cost = Number(rows[0]?.['cost']) / 1e12;
    expect(cost).toBeGreaterThan(0);
    expect(Number(response.headers.get('x-steyg-cost-usd'))).toBe(cost);
  });

  it('the key may come as x-api-key', async () => {
    const response = await send(app, protocol, { secret: null, headers: { 'x-api-key': customer.secret } });
    expect(response.status).toBe(200);
  });

  it('a query does not matter', async () => {
    const response = await send(
      app,
      { ...protocol, path: `${protocol.path}?beta=true&api-version=2026-01-01` },
      { secret: customer.secret },
    );
    expect(response.status).toBe(200);
    expect(received().path).toBe(upstreamPaths[protocol.protocol]);
  });

  it('the body arrives byte for byte, but for the value of model', async () => {
    const odd =
      '"unknown_extra" : {"deep":[1.0,1e2,-0,12345678901234567890,"\\ud800","\\u00e9é"],"__proto__":{"a":1},"constructor":{"prototype":{}}},  "thinking" :{"type":"disabled"}';
    const content =
      protocol.protocol === 'responses'
        ? `"input":"ping", "store" : false`
        : '"messages":[{"role":"user","content":[{"type":"text","text":"ping","cache_control":{"type":"ephemeral"}}]}]';
    const tools =
      protocol.protocol === 'messages'
        ? '"tools":[{"name":"t","input_schema":{"type":"object","properties":{"__proto__":{"type":"string"}}},"cache_control":{"type":"ephemeral"}}]'
        : protocol.protocol === 'responses'
          ? '"tools":[{"type":"function","name":"t","parameters":{"type":"object","properties":{"__proto__":{"type":"string"}}}}]'
          : '"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{"__proto__":{"type":"string"}}}}}]';
    const body = (name: string) =>
      Buffer.from(`\n{ "${protocol.cap}" : 16 ,${odd},"model" :  "${name}"\t,${tools},\r\n${content} } \n`);
    const response = await send(app, protocol, { secret: customer.secret, raw: body(model) });
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    expect(received().body.toString()).toBe(body(vendorModel).toString());
  });

  it('a body that comes in chunks is one like any other', async () => {
    const body = JSON.stringify(protocol.body(`[[say ok]] ${'x'.repeat(200_000)}`));
    const response = await fetch(app.baseUrl + protocol.path, {
      method: 'POST',
      headers: { ...protocol.headers, 'content-type': 'application/json', authorization: `Bearer ${customer.secret}` },
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(200);
    const sent = body.replace(model, vendorModel);
    // Where nothing is said of it, nothing is to be stored.
    expect(received().body.toString()).toBe(
      protocol.protocol === 'responses' ? sent.replace('{', '{"store":false,') : sent,
    );
  });

  it.each([`steyg/${model}`, model.toUpperCase(), `steyg/${model.toUpperCase()}`])(
    '%s is the same model, and answers with its catalog id',
    async (sent) => {
      const response = await send(app, protocol, { secret: customer.secret, more: { model: sent } });
      expect(((await response.json()) as { model: string }).model).toBe(model);
      expect(JSON.parse(received().body.toString())).toMatchObject({ model: vendorModel });
    },
  );

  it('no credential of the client goes up, no key and no account header of the vendor comes down', async () => {
    const response = await send(app, protocol, {
      secret: customer.secret,
      headers: {
        'x-api-key': 'sk-steyg-another-key-of-the-client',
        cookie: 'session=secret-cookie',
        'x-forwarded-for': '10.0.0.1',
        'anthropic-workspace-id': 'workspace-of-the-client',
        'openai-organization': 'organization-of-the-client',
        'x-anything': 'else',
      },
    });
    const upward = received();
    const sent = JSON.stringify(upward.headers) + upward.body.toString();
    for (const secret of [customer.secret, 'another-key', 'secret-cookie', '10.0.0.1', 'of-the-client', 'x-anything']) {
      expect(sent).not.toContain(secret);
    }
    expect(upward.header(protocol.protocol === 'messages' ? 'x-api-key' : 'authorization')).toContain(upstreamKey);
    expect(upward.header('accept-encoding')).toBe('identity');
    const down = `${JSON.stringify([...response.headers])}${await response.text()}`;
    expect(down).not.toContain(upstreamKey);
    expect(down).not.toContain(vendorModel);
    const names = [...response.headers.keys()];
    expect(names.filter((name) => /ratelimit|organization|set-cookie|openai|anthropic/.test(name))).toEqual([]);
  });

  it('of two credentials the bearer counts, and of two bearers the first', async () => {
    const wrong = 'sk-steyg-not-a-key-at-all';
    const bearer = await send(app, protocol, { secret: customer.secret, headers: { 'x-api-key': wrong } });
    expect(bearer.status).toBe(200);
    const key = await send(app, protocol, { secret: wrong, headers: { 'x-api-key': customer.secret } });
    expect(key.status).toBe(401);
  });
});

describe('headers of the messages protocol', () => {
  it('a prompt that is dearer by a beta is refused in words by which agents compact it, where the catalog has no price', async () => {
    const long = 'word '.repeat(150_000);
    const ask = (text: string, more: Record<string, unknown>, beta: string) =>
      send(app, protocols.messages, {
        secret: customer.secret,
        text,
        more: { model: 'only-messages', ...more },
        headers: { 'anthropic-beta': beta },
      });
    const response = await ask(long, {}, 'interleaved-thinking-2025-05-14, context-1m-2025-08-07');
    const error = await errorOf(response, 'messages');
    expect([response.status, error.message]).toEqual([
      400,
      expect.stringMatching(/^prompt is too long: about 25\d{4} tokens > 200000 maximum; the beta context-1m /),
    ]);
    expect(app.simulator.requests()).toEqual([]);
    const fine: [string, Record<string, unknown>, string][] = [
      ['ping', {}, 'context-1m-2025-08-07'],
      [long, {}, 'interleaved-thinking-2025-05-14'],
      [long, { model: 'long-messages' }, 'context-1m-2025-08-07'],
      [long, { model: 'opened-messages' }, 'context-1m-2025-08-07'],
      // Translated: the header stays here.
      [long, { model: 'only-chat' }, 'context-1m-2025-08-07'],
    ];
    for (const [text, more, beta] of fine) {
      const answer = await ask(`[[say ok]] ${text}`, more, beta);
      expect([more, answer.status, await answer.text()]).toEqual([more, 200, expect.anything()]);
    }
  });

  it('the long-prompt beta does not travel with a prompt that dense text could make long, where no price covers that', async () => {
    // Digits come to about a token a byte: 590 kB are below the estimate's bound and far above the vendor's.
    const dense = '0123456789'.repeat(59_000);
    const beta = 'interleaved-thinking-2025-05-14, context-1m-2025-08-07';
    const sent = async (text: string, more: Record<string, unknown> = {}) => {
      app.simulator.clearRequests();
      const response = await send(app, protocols.messages, {
        secret: customer.secret,
        headers: { 'anthropic-beta': beta },
        text: `[[say ok]] ${text}`,
        more,
      });
      expect(response.status).toBe(200);
      await response.text();
      return received().header('anthropic-beta');
    };
    expect(await sent(dense)).toBe('interleaved-thinking-2025-05-14');
    expect(await sent('1'.repeat(150_000))).toBe(beta);
    expect(await sent(dense, { model: 'long-messages' })).toBe(beta);
    expect(await sent(dense, { model: 'opened-messages' })).toBe(beta);
  });

  it('version and betas go up as they came, whatever they say', async () => {
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      headers: {
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'context-1m-2025-08-07,  unheard-of-2031-01-01 ,',
        'user-agent': 'tool/1.0 (é)',
        'x-stainless-retry-count': '0',
      },
    });
    expect(response.status).toBe(200);
    const upward = received();
    expect(upward.header('anthropic-version')).toBe('2026-10-21');
    // Outer blanks are no part of a header's value.
    expect(upward.header('anthropic-beta')).toBe('context-1m-2025-08-07,  unheard-of-2031-01-01 ,');
    expect(upward.header('user-agent')).toBe('tool/1.0 (é)');
    expect(upward.header('x-stainless-retry-count')).toBe('0');
  });

  it.each([
    { id: 'only-messages', calls: 1 },
    { id: 'only-chat', calls: 0 },
    { id: 'only-responses', calls: 0 },
  ])('$id: a version without sampling refuses it, here where the vendor cannot', async ({ id, calls }) => {
    const ask = (version: string, more: Record<string, unknown>) =>
      send(app, protocols.messages, {
        secret: customer.secret,
        headers: { 'anthropic-version': version },
        more: { model: id, ...more },
      });
    for (const field of [{ temperature: 0.5 }, { top_p: 0.5 }, { top_k: 5 }]) {
      app.simulator.clearRequests();
      const response = await ask('2026-10-21', field);
      expect([response.status, app.simulator.requests().length]).toEqual([400, calls]);
      expect((await errorOf(response, 'messages')).message).toContain(Object.keys(field)[0]);
      expect((await ask('2023-06-01', field)).status).toBe(200);
      expect((await ask('2026-10-21', {})).status).toBe(200);
    }
  });

  it('without a version it is a 400 in the envelope, and nothing is sent', async () => {
    const { 'anthropic-version': _version, ...headers } = protocols.messages.headers;
    const response = await send(app, { ...protocols.messages, headers }, { secret: customer.secret });
    expect(response.status).toBe(400);
    expect(await errorOf(response, 'messages')).toMatchObject({
      type: 'invalid_request_error',
      message: 'anthropic-version: header is required',
    });
    expect(app.simulator.requests()).toEqual([]);
  });

  it('an empty version is none', async () => {
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      headers: { 'anthropic-version': '' },
    });
    expect(response.status).toBe(400);
    expect(app.simulator.requests()).toEqual([]);
  });

  it('without max_tokens it is a 400 that names it, and nothing is sent', async () => {
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      raw: JSON.stringify({ model, messages: [{ role: 'user', content: 'ping' }] }),
    });
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'messages')).message).toContain('max_tokens');
    expect(app.simulator.requests()).toEqual([]);
  });

  it('what the connection header names stays here', async () => {
    const { request } = await import('node:http');
    const status = await new Promise((resolve, reject) => {
      const outgoing = request(
        `${app.baseUrl}/v1/messages`,
        {
          method: 'POST',
          headers: {
            ...protocols.messages.headers,
            'content-type': 'application/json',
            authorization: `Bearer ${customer.secret}`,
            'anthropic-beta': 'for-this-hop-only',
            connection: 'close, anthropic-beta',
          },
        },
        (response) => resolve(response.resume().statusCode),
      );
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify(protocols.messages.body('ping')));
    });
    expect(status).toBe(200);
    expect(received().header('anthropic-beta')).toBeUndefined();
  });
});

describe('probes without a key', () => {
  it.each(['/', '/api/hello', '/api/api/hello'])('HEAD %s is answered quickly and never with a 401', async (path) => {
    const response = await fetch(app.url + path, { method: 'HEAD' });
    expect(response.status).toBeLessThan(500);
    expect(response.status).not.toBe(401);
    expect(response.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

it('a request that is refused before its body is read leaves no ledger row and no upstream call', async () => {
  const own = await app.customer();
  const response = await get(app, '/v1/models/unheard-of', own.secret);
  expect(response.status).toBe(404);
  expect(await settled(app, own)).toEqual([]);
});
