/** Attempts of the SDK: time-outs, retries, back-off, and aborts. */

import { inspect } from 'node:util';
import {
  AbortedError,
  ConfigurationError,
  ConnectionError,
  ConnectionTimeoutError,
  Steyg,
  type SteygEvent,
  StreamInterruptedError,
} from '@steyg/sdk';
import { describe, expect, it, vi } from 'vitest';
import { backoffMs, delayOf, isWorthRetrying } from '../../sdk/src/internal/http.ts';
import { baseUrl, events, json, ping, scripted } from './support.ts';

const models = { object: 'list', data: [] };
const refusal = { error: { message: 'm', type: 't', param: null, code: 'c' } };
/** Answers that ask to be asked again at once. */
const failing = (status: number, headers: Record<string, string> = {}) =>
  json(refusal, status, { 'retry-after-ms': '0', ...headers });
const broken = new TypeError('fetch failed', { cause: new Error('ECONNRESET') });

describe('another attempt', () => {
  it.each([408, 409, 429, 500, 502, 503, 504, 529])('is made after %i, twice at most', async (status) => {
    const { steyg, seen } = scripted([failing(status)]);
    await expect(steyg.models.list()).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(3);
    const second = scripted([failing(status), json(models)]);
    expect(await second.steyg.models.list()).toEqual(models);
    expect(second.seen).toHaveLength(2);
  });

  it.each([400, 401, 402, 403, 404, 405, 413, 415, 422])('is not made after %i', async (status) => {
    const { steyg, seen } = scripted([failing(status)]);
    await expect(steyg.models.list()).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });

  it('is for the server to decide', async () => {
    const never = scripted([failing(503, { 'x-should-retry': 'false' })]);
    await expect(never.steyg.models.list()).rejects.toMatchObject({ status: 503 });
    expect(never.seen).toHaveLength(1);
    const always = scripted([failing(400, { 'x-should-retry': 'true' }), json(models)]);
    expect(await always.steyg.models.list()).toEqual(models);
  });

  it('is made after a connection that failed', async () => {
    const { steyg, seen } = scripted([broken, json(models)]);
    expect(await steyg.models.list()).toEqual(models);
    expect(seen).toHaveLength(2);
  });

  it('is for the caller to decide', async () => {
    const { steyg, seen } = scripted([failing(503)], { maxRetries: 4 });
    await expect(steyg.models.list({ maxRetries: 0 })).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
    await expect(steyg.models.list()).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(6);
  });

  it('of a stream is made before its beginning, never after', async () => {
    const begun = 'event: ping\ndata: {"type":"ping"}\n\n';
    const { steyg, seen } = scripted([failing(529), events([begun], 'error')]);
    await expect(steyg.messages.stream(ping).finalText()).rejects.toThrow(StreamInterruptedError);
    expect(seen).toHaveLength(2);
  });

  it('of a whole answer is not made once its headers are there: it has been paid for', async () => {
    const half = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"object":'));
        controller.error(new TypeError('terminated'));
      },
    });
    const { steyg, seen } = scripted([() => new Response(half)]);
    await expect(steyg.messages.create(ping)).rejects.toThrow(ConnectionError);
    expect(seen).toHaveLength(1);
  });
});

describe('an answer with an error status', () => {
  it('is judged by its status, even when its body breaks off', async () => {
    const half = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"error":'));
            controller.error(new TypeError('terminated'));
          },
        }),
        { status: 503, headers: { 'retry-after-ms': '0' } },
      );
    const { steyg, seen } = scripted([half, json(models)]);
    expect(await steyg.models.list()).toEqual(models);
    expect(seen).toHaveLength(2);
    await expect(scripted([half], { maxRetries: 0 }).steyg.models.list()).rejects.toMatchObject({ status: 503 });
  });
});

describe('numbers that are none', () => {
  it.each([
    { maxRetries: Number.NaN },
    { maxRetries: -1 },
    { maxRetries: 0.5 },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { idleTimeoutMs: -1 },
  ])('are refused, for the client and for a call: %j', async (numbers) => {
    expect(() => scripted([json(models)], numbers)).toThrow(ConfigurationError);
    const { steyg, seen } = scripted([json(models)]);
    await expect(steyg.models.list(numbers)).rejects.toThrow(ConfigurationError);
    expect(seen).toEqual([]);
  });
});

describe('a failure that nobody waits for twice', () => {
  it('is no unhandled rejection', async () => {
    const unhandled = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    try {
      const { steyg } = scripted([json(refusal, 400)]);
      await expect(steyg.models.list().withResponse()).rejects.toThrow('m');
      await expect(steyg.messages.create({ ...ping, stream: true }).withResponse()).rejects.toThrow('m');
      await expect(steyg.console.keys.listKeys().withResponse()).rejects.toThrow('m');
      await expect(steyg.messages.stream(ping).response()).rejects.toThrow('m');
      await expect(steyg.messages.stream(ping).cost()).rejects.toThrow('m');
      steyg.messages.stream(ping);
      scripted([silent]).steyg.messages.stream(ping).abort();
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });
});

const header = (value?: string) => new Headers(value === undefined ? {} : { 'x-should-retry': value });

describe('the time between attempts', () => {
  it('doubles from half a second to eight, less up to a quarter by chance', () => {
    expect([0, 1, 2, 3, 4, 5].map((attempt) => backoffMs(attempt, () => 0))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 8_000,
    ]);
    expect(backoffMs(0, () => 1)).toBe(375);
  });

  it('is what the server asks for, up to a minute', () => {
    expect(delayOf(0, 0)).toBe(0);
    expect(delayOf(60_000, 0)).toBe(60_000);
    for (const unreasonable of [60_001, -1, null]) {
      expect(delayOf(unreasonable, 0)).toBeGreaterThanOrEqual(375);
      expect(delayOf(unreasonable, 0)).toBeLessThanOrEqual(500);
    }
  });

  it.each([
    [{ 'retry-after-ms': '1500' }, 1_500],
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, expect.any(Number)],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('is read from %j', async (headers, expected) => {
    const { steyg } = scripted([json(refusal, 429, headers)], { maxRetries: 0 });
    await expect(steyg.models.list()).rejects.toMatchObject({ retryAfterMs: expected });
  });

  it('is decided by status and header alone', () => {
    expect(isWorthRetrying(500, header())).toBe(true);
    expect(isWorthRetrying(499, header())).toBe(false);
    expect(isWorthRetrying(499, header('true'))).toBe(true);
    expect(isWorthRetrying(500, header('false'))).toBe(false);
    expect(isWorthRetrying(500, header('maybe'))).toBe(true);
  });
});

/** A server that never answers, and hears when it is left. */
const silent = ({ signal }: { signal: AbortSignal }) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

/** One whose answer begins and never goes on. */
const stuck = ({ signal }: { signal: AbortSignal }) =>
  new Response(
    new ReadableStream({
      start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
    }),
  );

describe('a time-out', () => {
  it('ends an attempt, and the last one the call', async () => {
    const { steyg, seen } = scripted([silent], { timeoutMs: 5, maxRetries: 0 });
    await expect(steyg.models.list()).rejects.toThrow(ConnectionTimeoutError);
    expect(seen).toHaveLength(1);
    const second = scripted([silent, json(models)], { timeoutMs: 5, maxRetries: 1 });
    expect(await second.steyg.models.list({ timeoutMs: 10 })).toEqual(models);
  });

  it('covers the body of an answer', async () => {
    const { steyg, seen } = scripted([stuck], { timeoutMs: 10 });
    await expect(steyg.models.list()).rejects.toThrow(ConnectionTimeoutError);
    expect(seen).toHaveLength(1);
    await expect(steyg.messages.stream(ping).finalText()).rejects.toThrow(ConnectionTimeoutError);
  });

  it('of silence is a stream’s own', async () => {
    const { steyg } = scripted([stuck], { idleTimeoutMs: 5 });
    await expect(steyg.messages.stream(ping).finalText()).rejects.toThrow('within 5 ms');
    await expect(steyg.messages.stream(ping, { idleTimeoutMs: 6 }).finalText()).rejects.toThrow('within 6 ms');
    await expect(steyg.messages.stream(ping, { timeoutMs: 4 }).finalText()).rejects.toThrow('within 4 ms');
  });

  it('may be none, or longer than timers go', async () => {
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 40]) {
      const slow = ({ signal }: { signal: AbortSignal }) =>
        new Promise<Response>((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          setTimeout(() => resolve(json(models)), 10);
        });
      expect(await scripted([slow], { timeoutMs, maxRetries: 0 }).steyg.models.list()).toEqual(models);
    }
  });

  it('leaves nothing behind that keeps a program alive', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    try {
      await scripted([json(models)]).steyg.models.list();
      await scripted([json(refusal, 400)])
        .steyg.models.list()
        .catch(() => undefined);
      // Begun and left without being read.
      const left = scripted([stuck]).steyg.messages.stream(ping);
      await left.response();
      left.abort();
      const timers = set.mock.results.map(({ value }) => value as unknown);
      expect(timers.length).toBeGreaterThan(2);
      const gone = new Set(cleared.mock.calls.map(([timer]) => timer as unknown));
      expect(timers.filter((timer) => !gone.has(timer))).toEqual([]);
    } finally {
      set.mockRestore();
      cleared.mockRestore();
    }
  });
});

describe('a signal', () => {
  it('ends a call under way, and one that waits for its next attempt', async () => {
    const controller = new AbortController();
    const running = scripted([silent]).steyg.models.list({ signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toThrow(AbortedError);

    const waiting = new AbortController();
    const { steyg, seen } = scripted([json(refusal, 503, { 'retry-after': '50' })], {
      onEvent: ({ type }) => {
        if (type === 'retry') waiting.abort();
      },
    });
    await expect(steyg.models.list({ signal: waiting.signal })).rejects.toThrow(AbortedError);
    expect(seen).toHaveLength(1);
  });

  it('that has been given already ends it before it begins', async () => {
    const { steyg } = scripted([silent]);
    await expect(steyg.models.list({ signal: AbortSignal.abort() })).rejects.toThrow(AbortedError);
    await expect(steyg.messages.stream(ping, { signal: AbortSignal.abort() }).finalText()).rejects.toThrow(
      AbortedError,
    );
  });
});

describe('what is sent', () => {
  it('carries the credential, the version of messages, and further headers', async () => {
    const { steyg, seen } = scripted([json({ content: [] })], { headers: { 'x-app': 'a' } });
    await steyg.messages.create(ping, { headers: { 'anthropic-beta': 'b', authorization: 'Bearer other' } });
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: `${baseUrl}/v1/messages`,
      body: ping,
      headers: {
        authorization: 'Bearer sk-steyg-test',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'b',
        'x-app': 'a',
        'content-type': 'application/json',
      },
    });
  });

  it('has each header once, however its name is spelt', async () => {
    const { steyg, seen } = scripted([json({ content: [] })], { headers: { 'Anthropic-Version': '2026-10-21' } });
    await steyg.messages.create(ping, { headers: { Authorization: 'Bearer other', 'X-App': 'a' } });
    expect(seen[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer sk-steyg-test',
      'anthropic-version': '2026-10-21',
      'content-type': 'application/json',
      'x-app': 'a',
    });
  });

  it('is sent with a function that is called by itself, as a browser’s own has to be', async () => {
    const fetch = vi.fn<() => Promise<Response>>(() => Promise.resolve(json(models)));
    await new Steyg({ baseUrl, apiKey: 'k', fetch }).models.list();
    expect(fetch.mock.contexts).toEqual([undefined]);
  });

  it.each(['sk-steyg-canary\nx', 'sk-steyg-canary ', '“sk-steyg-canary”'])(
    'never has a credential that would be printed with the failure: %j',
    (secret) => {
      for (const name of ['apiKey', 'accessToken']) {
        expect(() => new Steyg({ baseUrl, [name]: secret })).toThrow(ConfigurationError);
        expect(() => new Steyg({ baseUrl, [name]: secret })).toThrow(
          expect.not.objectContaining({ message: expect.stringContaining('canary') }),
        );
      }
    },
  );

  it('never follows a redirect', async () => {
    let redirect: unknown;
    const steyg = new Steyg({
      baseUrl,
      apiKey: 'k',
      fetch: async (_, init) => {
        redirect = init.redirect;
        return json(models);
      },
    });
    await steyg.models.list();
    expect(redirect).toBe('manual');
  });
});

describe('the hook', () => {
  it('hears of everything but what is secret', async () => {
    const heard: SteygEvent[] = [];
    const { steyg } = scripted([failing(503), broken, json({ object: 'usage.entry' })], {
      apiKey: 'sk-steyg-secret',
      accessToken: 'tk-steyg-secret',
      onEvent: (event) => heard.push(event),
    });
    await steyg.usage.entry('request-1');
    await steyg
      .graphql('query whoAmI($secret: String) { me { user { email } } }', { secret: 'canary' })
      .catch(() => undefined);
    await steyg.messages.create({ ...ping, messages: [{ role: 'user', content: 'canary' }] });
    expect(heard.map(({ type, attempt }) => [type, attempt]).slice(0, 8)).toEqual([
      ['request', 0],
      ['response', 0],
      ['retry', 0],
      ['request', 1],
      ['failure', 1],
      ['retry', 1],
      ['request', 2],
      ['response', 2],
    ]);
    expect(heard[1]).toMatchObject({ method: 'GET', path: '/api/v1/usage', status: 503, requestId: 'req-1' });
    expect(heard.find(({ path }) => path === '/graphql')).toMatchObject({ operation: 'whoAmI' });
    expect(JSON.stringify(heard)).not.toMatch(/secret|canary|request-1/);
  });

  it('may fail without harm', async () => {
    const { steyg } = scripted([json(models)], {
      onEvent: () => {
        throw new Error('no disk');
      },
    });
    expect(await steyg.models.list()).toEqual(models);
  });

  it('is not the only place that keeps secrets', async () => {
    const steyg = new Steyg({ baseUrl, apiKey: 'sk-steyg-secret', accessToken: 'tk-steyg-secret' });
    expect(inspect(steyg, { depth: 10, showHidden: true })).not.toMatch(/secret/);
    expect(JSON.stringify(steyg)).not.toMatch(/secret/);
    const failure = await new Steyg({
      baseUrl: 'http://127.0.0.1:9/api',
      apiKey: 'sk-steyg-secret',
      maxRetries: 0,
    }).models
      .list()
      .catch((error: unknown) => error);
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(/secret/);
  });
});
