import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyProtocol, nativeCatalog, parseEvents, protocols, reader, send, settled } from '../gateway/support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { rawStream } from './support.ts';

/** Streams that hang, end too early or say that all is well when it is not. */

let app: TestApp;
/** A vendor of this test's own, for what happens between the bytes. */
let vendor: Server;
let answer: (response: ServerResponse) => void;
let own: TestApp;

beforeAll(async () => {
  vendor = createServer((request, response) => {
    request.resume();
    request.once('end', () => answer(response));
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const env = {
    KEEPALIVE_MS: '60',
    FIRST_EVENT_HOLD_MS: '60',
    UPSTREAM_HEADERS_TIMEOUT_MS: '700',
    UPSTREAM_IDLE_TIMEOUT_MS: '700',
  };
  [app, own] = await Promise.all([
    startApp({ catalog: nativeCatalog(), env }),
    startApp({ catalog: () => nativeCatalog()(url), env }),
  ]);
});
afterAll(async () => {
  await Promise.all([app.close(), own.close()]);
  vendor.closeAllConnections();
  vendor.close();
});

const ping = { messages: /event: ping/, 'chat-completions': /^:/m, responses: /^:/m };

// https://github.com/Wei-Shaw/sub2api/issues/5290: no limit of the time to the first token; requests hung for 13 minutes.
describe('Wei-Shaw/sub2api#5290: an upstream that never begins', () => {
  it.each(everyProtocol)('$protocol: the client is told within the limit, and pays nothing', async (protocol) => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[delay 600000]]',
      more: { model: protocol.only, stream: true },
    });
    const text = await response.text();
    expect(text).toMatch(/error/);
    expect(text).not.toContain(protocol.terminator);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'timeout', cost: 0n }]);
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/2121 and #6305, https://github.com/BerriAI/litellm/pull/37322: no byte went to the client
// until the vendor's headers came, and proxies between gave up.
describe('Wei-Shaw/sub2api#2121, BerriAI/litellm#37322: silence before the headers of the upstream', () => {
  it.each(everyProtocol)('$protocol: the client gets signs of life, then the answer', async (protocol) => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[delay 500]] [[say there]]',
      more: { model: protocol.only, stream: true },
    });
    const text = await response.text();
    expect(text.search(ping[protocol.protocol])).toBeGreaterThanOrEqual(0);
    expect(text.search(ping[protocol.protocol])).toBeLessThan(text.indexOf('there'));
    expect(text).toContain(protocol.terminator);
  });
});

// https://github.com/Wei-Shaw/sub2api/pull/1707: the gateway's own pings hid for ever that the vendor's connection was dead.
describe('Wei-Shaw/sub2api#1707: pings for a dead upstream', () => {
  it('end with an error when the vendor has been silent for too long in the middle', async () => {
    const customer = await app.customer();
    const response = await send(app, protocols.messages, {
      secret: customer.secret,
      text: '[[len 40]] [[hang 12]]',
      more: { model: 'only-messages', stream: true },
    });
    const text = await response.text();
    expect(text).toMatch(ping.messages);
    expect(parseEvents(text).at(-1)).toMatchObject({ event: 'error' });
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'timeout' }]);
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/2245 and #3043, https://github.com/router-for-me/CLIProxyAPI/issues/4904: a stream that
// ended without its last event was passed on as a success.
describe('Wei-Shaw/sub2api#2245, CLIProxyAPI#4904: an end without the last event', () => {
  it.each(everyProtocol)(
    '$protocol: the client gets an error event, the ledger an outcome of its own',
    async (protocol) => {
      const customer = await app.customer();
      const response = await send(app, protocol, {
        secret: customer.secret,
        text: '[[len 40]] [[cut 12 end]]',
        more: { model: protocol.only, stream: true },
      });
      const text = await response.text();
      expect(text).not.toContain(protocol.terminator);
      expect(JSON.stringify(parseEvents(text).at(-1))).toMatch(/error|failed/);
      expect(await settled(app, customer)).toMatchObject([{ outcome: 'upstream_cut' }]);
    },
  );

  it('an upstream of Responses that only ever created one is no answer', async () => {
    const customer = await app.customer();
    const created = {
      type: 'response.created',
      response: { id: 'r', object: 'response', status: 'in_progress', output: [] },
    };
    const response = await send(app, protocols.responses, {
      secret: customer.secret,
      text: rawStream([created]),
      more: { model: 'only-responses', stream: true },
    });
    expect(await response.text()).not.toContain(protocols.responses.terminator);
    expect(await settled(app, customer)).not.toMatchObject([{ outcome: 'completed' }]);
  });
});

const finalOf = (status: string, more: object) => ({
  type: `response.${status}`,
  response: { id: 'r', object: 'response', status, model: 'sim-medium', output: [], ...more },
});
const createdResponse = {
  type: 'response.created',
  response: { id: 'r', object: 'response', status: 'in_progress', model: 'sim-medium', output: [] },
};

// https://github.com/Wei-Shaw/sub2api/issues/1322: `response.incomplete` was not taken for the end of an answer.
// https://github.com/QuantumNous/new-api/issues/7241: its usage was not read, and the answer was free.
describe('Wei-Shaw/sub2api#1322, QuantumNous/new-api#7241: other last events of Responses', () => {
  it('an incomplete answer is an answer, and is charged as it was reported', async () => {
    const customer = await app.customer();
    const usage = { input_tokens: 70, output_tokens: 30, total_tokens: 100 };
    const delta = {
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta: 'half an answer',
    };
    const last = finalOf('incomplete', { incomplete_details: { reason: 'max_output_tokens' }, usage });
    const response = await send(app, protocols.responses, {
      secret: customer.secret,
      text: rawStream([createdResponse, delta, last]),
      more: { model: 'only-responses', stream: true },
    });
    expect(await response.text()).toContain('response.incomplete');
    expect(await settled(app, customer)).toMatchObject([{ input: 70n, output: 30n, usage_source: 'reported' }]);
  });
});

// https://github.com/Wei-Shaw/sub2api/issues/5009: an answer that said nothing at all and counted nothing was a success for 0 USD.
describe('Wei-Shaw/sub2api#5009: an empty answer without usage', () => {
  it('is not free by accident: its prompt is estimated, and the entry says so', async () => {
    const customer = await app.customer();
    const response = await send(app, protocols.responses, {
      secret: customer.secret,
      text: `${'context '.repeat(200)} ${rawStream([createdResponse, finalOf('completed', {})])}`,
      more: { model: 'only-responses', stream: true },
    });
    await response.text();
    const [row] = await settled(app, customer);
    expect(row?.['usage_source']).toBeOneOf(['estimated', 'partial']);
    expect(row?.['charged'] as bigint).toBeGreaterThan(0n);
  });
});

// https://github.com/QuantumNous/new-api/issues/7486: a stream of Responses that was opened and ended before a word was charged, and the
// same turn, asked again, was charged a second time. https://github.com/QuantumNous/new-api/issues/4168 is the same of Chat Completions.
describe('QuantumNous/new-api#7486, #4168: opened, ended, and asked again', () => {
  it.each(everyProtocol)(
    '$protocol: the turn that said nothing is free, the one that answered is charged',
    async (protocol) => {
      const customer = await app.customer();
      const ask = async (text: string) =>
        (
          await send(app, protocol, {
            secret: customer.secret,
            text: `${'context '.repeat(200)} ${text}`,
            more: { model: protocol.only, stream: true },
          })
        ).text();
      expect(await ask('[[len 40]] [[cut 1 end]]')).not.toContain(protocol.terminator);
      expect(await ask('[[len 4]]')).toContain(protocol.terminator);
      const rows = await settled(app, customer);
      expect(new Map(rows.map((row) => [row['outcome'], (row['charged'] as bigint) > 0n]))).toEqual(
        new Map([
          ['completed', true],
          ['upstream_cut', false],
        ]),
      );
      expect(rows).toHaveLength(2);
    },
  );
});

// https://github.com/Wei-Shaw/sub2api/pull/6473: the answer was whole, and the gateway waited for the vendor to close the connection.
describe('Wei-Shaw/sub2api#6473: a vendor that does not close after the last event', () => {
  it('the client has the end at once, and so has the ledger', async () => {
    const customer = await own.customer();
    const chunk = (delta: object, finish: string | null, more: object = {}) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'sim-medium', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: 'whole' }, null));
      response.write(chunk({}, 'stop', { usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } }));
      response.write('data: [DONE]\n\n');
    };
    const response = await send(own, protocols.chat, {
      secret: customer.secret,
      more: { model: 'only-chat', stream: true },
    });
    const { text, ended } = await reader(response).rest();
    expect(ended).toBe('whole');
    expect(text).toContain('data: [DONE]');
    expect(text).not.toMatch(/"error"/);
    expect(await settled(own, customer)).toMatchObject([{ outcome: 'completed', input: 9n, output: 1n }]);
  });
});

// https://github.com/SamSaffron/term-llm/pull/455: who read too slowly was dropped, and told `[DONE]`.
describe('SamSaffron/term-llm#455: a slow reader', () => {
  it('gets every word, however late', async () => {
    const customer = await app.customer();
    const response = await send(app, protocols.chat, {
      secret: customer.secret,
      text: '[[len 30000]]',
      more: { model: 'only-chat', stream: true, max_completion_tokens: 32_000 },
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { text } = await reader(response).rest();
    expect(text).toContain('w29999');
    expect(text.match(/"content":"/g)?.length ?? 0).toBeGreaterThan(0);
    expect(text).toContain('data: [DONE]');
  });
});
