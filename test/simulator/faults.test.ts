/** The simulator's scripted failures and breaks. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import OpenAI from 'openai';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { eventsOf, fastSimulator, PROTOCOLS, readAll, send } from './clients.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await fastSimulator();
});
afterAll(() => simulator.close());

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

async function drained<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

describe.each(PROTOCOLS)('breaks in a stream of $protocol', (protocol) => {
  const play = async (text: string): Promise<{ status: number; text: string; ended: string }> => {
    const response = await send(simulator, protocol, text, { stream: true });
    return { status: response.status, ...(await readAll(response)) };
  };

  it.each([0, 1, 5])('[[cut %i]] drops the connection after exactly so many events', async (after) => {
    const before = simulator.stats();
    const { status, text, ended } = await play(`[[len 50]] [[cut ${after}]]`);
    expect({ status, ended, events: eventsOf(text).length }).toEqual({ status: 200, ended: 'broken', events: after });
    await simulator.idle();
    expect(simulator.stats()).toMatchObject({
      severedRequests: before.severedRequests + 1,
      abortedRequests: before.abortedRequests,
      finishedRequests: before.finishedRequests,
    });
  });

  it('[[cut N reset]] breaks it as well', async () => {
    expect((await play('[[len 50]] [[cut 4 reset]]')).ended).toBe('broken');
  });

  it('[[cut N end]] ends the body as if all had been said, without the terminator', async () => {
    const { text, ended } = await play('[[len 50]] [[cut 4 end]]');
    expect({ ended, events: eventsOf(text).length }).toEqual({ ended: 'whole', events: 4 });
    expect(text).not.toContain(protocol.terminator);
  });

  it.each([0, 3])('[[midfail %i]] sends an error event and ends without the terminator', async (after) => {
    const { text, ended, status } = await play(`[[len 50]] [[midfail ${after}]]`);
    const events = eventsOf(text);
    expect({ status, ended, events: events.length }).toEqual({ status: 200, ended: 'whole', events: after + 1 });
    expect(events.at(-1)).toMatch(/"error":\{/);
    expect(text).not.toContain(protocol.terminator);
  });

  it('[[hang N]] goes silent and stays so until the client leaves', async () => {
    const leave = new AbortController();
    const response = await send(simulator, protocol, '[[len 50]] [[hang 4]]', { stream: true, signal: leave.signal });
    const reader = response.body?.getReader();
    let text = '';
    while (eventsOf(text).length < 4) text += new TextDecoder().decode((await reader?.read())?.value);
    expect(simulator.stats()).toMatchObject({ openRequests: 1, openStreams: 1 });
    const before = simulator.stats().abortedRequests;
    leave.abort();
    await simulator.idle();
    expect(eventsOf(text)).toHaveLength(4);
    expect(simulator.stats()).toMatchObject({ openRequests: 0, openStreams: 0, abortedRequests: before + 1 });
  });

  it('a break beyond the end changes nothing', async () => {
    const { text, ended } = await play('[[len 2]] [[cut 1000]]');
    expect(ended).toBe('whole');
    expect(text).toContain(protocol.terminator);
  });
});

describe.each(PROTOCOLS)('breaks in a whole answer of $protocol', (protocol) => {
  it('[[cut N]] acts after the headers', async () => {
    const response = await send(simulator, protocol, '[[len 50]] [[cut 1]]');
    const length = Number(response.headers.get('content-length'));
    const { text, ended } = await readAll(response);
    expect({ status: response.status, ended }).toEqual({ status: 200, ended: 'broken' });
    expect(text.length).toBeLessThan(length);
  });

  it('[[cut N end]] sends half of it as if it were all', async () => {
    const { text, ended } = await readAll(await send(simulator, protocol, '[[len 50]] [[cut 1 end]]'));
    expect(ended).toBe('whole');
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it('[[midfail N]] answers 200 with an error for a body', async () => {
    const response = await send(simulator, protocol, '[[midfail 1]]');
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty('error.message');
  });

  it('[[hang N]] sends headers and then nothing', async () => {
    const leave = new AbortController();
    const response = await send(simulator, protocol, '[[hang 0]]', { signal: leave.signal });
    expect(response.status).toBe(200);
    const before = simulator.stats().abortedRequests;
    leave.abort();
    await simulator.idle();
    expect(simulator.stats().abortedRequests).toBe(before + 1);
  });
});

describe.each(PROTOCOLS)('before the first byte of $protocol', (protocol) => {
  it('[[delay MS]] holds the headers back, and a client that leaves meanwhile is noticed', async () => {
    const leave = new AbortController();
    const before = simulator.stats();
    const waiting = send(simulator, protocol, '[[delay 600000]]', { stream: true, signal: leave.signal });
    while (simulator.stats().requests === before.requests) await new Promise((resolve) => setImmediate(resolve));
    leave.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await simulator.idle();
    expect(simulator.stats()).toMatchObject({ openStreams: 0, abortedRequests: before.abortedRequests + 1 });
  });

  it('[[delay MS]] then goes on as if nothing had been', async () => {
    const response = await send(simulator, protocol, '[[delay 1]] [[say late]]');
    expect(await response.text()).toContain('late');
  });

  it('[[drop]] closes the connection without an answer', async () => {
    await expect(send(simulator, protocol, '[[drop]]')).rejects.toThrow('fetch failed');
  });

  it('[[socket BASE64]] sends bytes past HTTP', async () => {
    const bytes = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"short":true}';
    const response = await send(simulator, protocol, `[[socket ${base64(bytes)}]]`);
    expect(await readAll(response)).toEqual({ text: '{"short":true}', ended: 'broken' });
  });

  it('[[early CODE]] answers while the request is still being sent', async () => {
    const { port } = simulator;
    const socket = connect(port, '127.0.0.1');
    const head = `POST ${protocol.path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n`;
    socket.write(`${head}{"messages":[{"role":"user","content":"[[early 413]]`);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    while (!answer.includes('\r\n\r\n{')) await once(socket, 'data');
    // The connection outlives the answer for a while: a client that is still sending must get to read it.
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(socket.readyState).toBe('open');
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toHaveProperty('error.message');
    await simulator.idle();
  });
});

describe.each(PROTOCOLS)('scripted bytes and headers on $protocol', (protocol) => {
  it.each([false, true])('[[raw BASE64]] is the body, byte for byte (streamed: %s)', async (stream) => {
    const bytes = Buffer.from([0, 255, 10, 13, 100, 97, 116, 97]);
    const response = await send(simulator, protocol, `[[raw ${base64(bytes)}]]`, { stream });
    expect(response.headers.get('content-type')).toMatch(stream ? /^text\/event-stream/ : /^application\/json/);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });

  it('[[raw]] can be broken off like any other stream', async () => {
    const script = `[[raw ${base64('data: {"half":')}]] [[cut 1]]`;
    const response = await send(simulator, protocol, script, { stream: true });
    expect(await readAll(response)).toEqual({ text: 'data: {"half":', ended: 'broken' });
  });

  it('[[status CODE]] with [[raw]] and [[headers]] plays a proxy that answers in HTML', async () => {
    const script = `[[status 502]] [[raw ${base64('<html>Bad gateway</html>')}]] [[headers {"content-type":"text/html"}]]`;
    const response = await send(simulator, protocol, script, { stream: true });
    expect(response.status).toBe(502);
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(await response.text()).toBe('<html>Bad gateway</html>');
  });

  it('[[headers JSON]] adds to and overrides what is sent', async () => {
    const response = await send(
      simulator,
      protocol,
      '[[headers {"x-extra":"a","X-Simulator":"b","set-cookie":["c=1","d=2"]}]]',
    );
    expect(response.headers.get('x-extra')).toBe('a');
    expect(response.headers.get('x-simulator')).toBe('b');
    expect(response.headers.getSetCookie()).toEqual(['c=1', 'd=2']);
  });

  it('says so when a header is none', async () => {
    const response = await send(simulator, protocol, '[[headers {"bad name":"x"}]]');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('[[headers]]');
  });

  it('can announce too long and too short a body', async () => {
    const long = await send(simulator, protocol, `[[raw ${base64('12345')}]] [[headers {"content-length":"9"}]]`);
    expect(await readAll(long)).toEqual({ text: '12345', ended: 'broken' });
    const short = await send(simulator, protocol, `[[raw ${base64('12345')}]] [[headers {"content-length":"3"}]]`);
    expect((await readAll(short)).text).toBe('123');
  });

  it('can announce a length for a stream and not keep to it', async () => {
    const script = `[[raw ${base64('12345')}]] [[headers {"content-length":"9"}]]`;
    expect(await readAll(await send(simulator, protocol, script, { stream: true }))).toEqual({
      text: '12345',
      ended: 'broken',
    });
  });

  it('can send a compressed body without being asked', async () => {
    const script = `[[raw ${gzipSync('{"a":1}').toString('base64')}]] [[headers {"content-encoding":"gzip"}]]`;
    const { body, headers } = await request(simulator.url + protocol.path, {
      method: 'POST',
      headers: { 'accept-encoding': 'identity', ...protocol.headers },
      body: JSON.stringify(protocol.body(script, false)),
    });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(Buffer.from(await body.arrayBuffer())).toString()).toBe('{"a":1}');
  });

  it('redirects to an address that clients must not follow', async () => {
    const response = await send(simulator, protocol, '[[status 307]]');
    expect(response.status).toBe(307);
    expect(response.headers.get('location')).toBe('/v1/elsewhere');
  });

  it('answers normally with another 2xx', async () => {
    const response = await send(simulator, protocol, '[[status 201]] [[say x]]');
    expect(response.status).toBe(201);
    expect(await response.text()).toContain('"x"');
  });

  it('refuses a script that it does not understand', async () => {
    const response = await send(simulator, protocol, '[[len many]]');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('simulator: [[len]]');
  });
});

const MESSAGES_STATUSES = [
  [400, 'invalid_request_error', /Input should be a valid string/],
  [401, 'authentication_error', /^invalid x-api-key$/],
  [402, 'billing_error', /billing or payment/],
  [403, 'permission_error', /does not have permission/],
  [404, 'not_found_error', /^model: sim-large$/],
  [413, 'request_too_large', /exceeds the maximum size/],
  [422, 'invalid_request_error', /could not be processed/],
  [429, 'rate_limit_error', /would exceed your organization's rate limit/],
  [500, 'api_error', /^Internal server error$/],
  [503, 'api_error', /unavailable/],
  [504, 'timeout_error', /timed out/],
  [529, 'overloaded_error', /^Overloaded$/],
] as const;

const CHAT_STATUSES = [
  [400, 'invalid_request_error', null, /Invalid value/],
  [401, 'invalid_request_error', 'invalid_api_key', /^Incorrect API key provided: sk-test\*\*\*tial\.$/],
  [402, 'insufficient_quota', 'insufficient_quota', /^Insufficient Balance$/],
  [403, 'invalid_request_error', 'unsupported_country_region_territory', /not supported/],
  [404, 'invalid_request_error', 'model_not_found', /The model `sim-large` does not exist/],
  [413, 'invalid_request_error', null, /too large/],
  [422, 'invalid_request_error', null, /Unprocessable/],
  [429, 'requests', 'rate_limit_exceeded', /Rate limit reached for sim-large in organization org-/],
  [500, 'server_error', null, /The server had an error/],
  [503, 'service_unavailable_error', 'server_is_overloaded', /overloaded/],
  [529, 'server_error', null, /The server had an error/],
] as const;

describe('[[status CODE]] in the words of the vendor', () => {
  const credentials = { apiKey: 'sk-test-credential', maxRetries: 0 };

  describe.each(MESSAGES_STATUSES)('%i on messages', (status, type, sentence) => {
    it.each([false, true])('is an HTTP error with that envelope, also for a stream (%s)', async (stream) => {
      const body = {
        model: 'sim-large',
        max_tokens: 9,
        stream,
        messages: [{ role: 'user' as const, content: `[[status ${status}]]` }],
      };
      for (const sdk of [
        new Anthropic({ ...credentials, baseURL: simulator.url }),
        new AnthropicBefore({ ...credentials, baseURL: simulator.url }),
      ]) {
        const error: unknown = await (sdk as Anthropic).messages.create(body).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({
          status,
          error: {
            type: 'error',
            error: { type, message: expect.stringMatching(sentence) },
            request_id: expect.any(String),
          },
        });
      }
    });
  });

  describe.each(CHAT_STATUSES)('%i on chat completions and responses', (status, type, code, sentence) => {
    it.each([false, true])('is an HTTP error with that envelope, also for a stream (%s)', async (stream) => {
      const sdk = new OpenAI({ ...credentials, baseURL: `${simulator.url}/v1` });
      const text = `[[status ${status}]]`;
      const expected = { status, type, code, error: { message: expect.stringMatching(sentence), param: null } };
      await expect(
        sdk.chat.completions.create({ model: 'sim-large', stream, messages: [{ role: 'user', content: text }] }),
      ).rejects.toMatchObject(expected);
      await expect(sdk.responses.create({ model: 'sim-large', stream, input: text })).rejects.toMatchObject(expected);
    });
  });

  it.each(PROTOCOLS)(
    'takes a sentence of the script, with the credential where it says {key} ($protocol)',
    async (protocol) => {
      const response = await send(simulator, protocol, '[[status 400 prompt is too long: 9 > 8 ({key})]]');
      expect(await response.json()).toMatchObject({
        error: { message: 'prompt is too long: 9 > 8 (sk-test-credential)' },
      });
    },
  );

  it.each(PROTOCOLS)('asks for a pause where the vendor does ($protocol)', async (protocol) => {
    for (const [status, pause] of [
      [429, '2'],
      [503, '2'],
      [529, '2'],
      [500, null],
      [400, null],
    ] as const) {
      const response = await send(simulator, protocol, `[[status ${status}]]`);
      expect(response.headers.get('retry-after')).toBe(pause);
    }
  });
});

describe('[[midfail]] as the SDKs see it', () => {
  it('is the overload error of messages', async () => {
    const body = {
      model: 'm',
      max_tokens: 99,
      messages: [{ role: 'user' as const, content: '[[len 9]] [[midfail 4]]' }],
    };
    const settings = { apiKey: 'sk-test', baseURL: simulator.url, maxRetries: 0 };
    for (const sdk of [new Anthropic(settings), new AnthropicBefore(settings)]) {
      await expect((sdk as Anthropic).messages.stream(body).finalMessage()).rejects.toThrow(/overloaded_error/);
    }
  });

  it('is the status that is asked for', async () => {
    const response = await send(simulator, PROTOCOLS[0], '[[midfail 1 429]]', { stream: true });
    expect((await readAll(response)).text).toContain('"type":"rate_limit_error"');
  });

  it('is an error chunk on chat completions and a failed response on responses', async () => {
    const sdk = new OpenAI({ apiKey: 'sk-test', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
    const stream = await sdk.chat.completions.create({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: '[[len 9]] [[midfail 4]]' }],
    });
    await expect(drained(stream)).rejects.toThrow(/The server had an error/);
    const events = await drained(await sdk.responses.create({ model: 'm', stream: true, input: '[[midfail 4]]' }));
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: 4,
      response: { status: 'failed', error: { message: expect.stringContaining('The server had an error') } },
    });
  });
});
