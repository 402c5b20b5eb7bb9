/** The errors of the SDK, one class for each status. */

import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  BudgetError,
  ConfigurationError,
  ConnectionError,
  InvalidAnswerError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  Steyg,
  SteygError,
} from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { asked, baseUrl, clientOf, json, ping, scripted } from './support.ts';

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

describe('the service’s own refusals', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await startApp()));
  afterAll(() => app.close());

  it.each([
    ['messages', (steyg: Steyg) => steyg.messages.create(ping)],
    ['a stream of messages', (steyg: Steyg) => steyg.messages.stream(ping).finalMessage()],
    ['chat completions', (steyg: Steyg) => steyg.chat.completions.create(asked.chat('hi'))],
    ['responses', (steyg: Steyg) => steyg.responses.create(asked.responses('hi'))],
  ])('without budget, on %s: BudgetError with the figures', async (_, call) => {
    const error = await failureOf(call(clientOf(app, await app.customer({ usd: '0' }))));
    expect(error).toBeInstanceOf(BudgetError);
    expect(error).toMatchObject({
      status: 402,
      code: 'insufficient_quota',
      balanceUsd: '0',
      heldUsd: '0',
      keyLimit: null,
    });
    expect((error as BudgetError).requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect((error as BudgetError).message).toContain('/topup');
  });

  it('with too little budget: what is needed', async () => {
    const steyg = clientOf(app, await app.customer({ usd: '0.000001' }));
    const error = await failureOf(steyg.messages.create({ ...asked.messages('x'.repeat(40_000)), model: 'sim-large' }));
    expect(error).toBeInstanceOf(BudgetError);
    expect(Number((error as BudgetError).requiredUsd)).toBeGreaterThan(0.000001);
  });

  it('at the key’s own limit', async () => {
    const customer = await app.customer({ terms: { limits: { day: 1n, week: null, month: null, lifetime: null } } });
    const error = await failureOf(clientOf(app, customer).messages.create(ping));
    expect(error).toBeInstanceOf(BudgetError);
    expect(error).toMatchObject({
      code: 'key_limit_reached',
      keyLimit: {
        period: 'day',
        limitUsd: '0.000000000001',
        spentUsd: '0',
        leftUsd: '0.000000000001',
        // The limit is below what any request needs: it never fits.
        returnsAt: null,
      },
    });
  });

  it('with a wrong key', async () => {
    const error = await failureOf(clientOf(app, { secret: 'sk-steyg-wrong' }).models.list());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', message: 'Invalid API key' });
  });

  it('for a model that is not there, or not for this key', async () => {
    const customer = await app.customer({ terms: { models: ['sim-small'] } });
    const steyg = clientOf(app, customer);
    const unknown = await failureOf(steyg.chat.completions.create({ ...asked.chat('hi'), model: 'Nope' }));
    expect(unknown).toBeInstanceOf(BadRequestError);
    expect(unknown).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect((unknown as ApiError).message).toBe('Requested model Nope is not available in the service');
    const forbidden = await failureOf(steyg.messages.create({ ...ping, model: 'sim-large' }));
    expect(forbidden).toBeInstanceOf(PermissionError);
  });

  it('have the same code whichever protocol was spoken, whole or streamed', async () => {
    const steyg = clientOf(app, await app.customer({ terms: { models: ['sim-small'] } }), { maxRetries: 0 });
    const calls = (model: string) => [
      steyg.messages.create({ ...ping, model }),
      steyg.messages.stream({ ...ping, model }).finalMessage(),
      steyg.chat.completions.create({ ...asked.chat('hi'), model }),
      steyg.chat.completions.stream({ ...asked.chat('hi'), model }).finalMessage(),
      steyg.responses.create({ ...asked.responses('hi'), model }),
      steyg.responses.stream({ ...asked.responses('hi'), model }).finalMessage(),
    ];
    for (const [model, code] of [
      ['nope', 'model_not_found'],
      ['sim-large', 'model_not_allowed'],
    ] as const) {
      const failures = await Promise.all(calls(model).map(failureOf));
      expect(failures.map((error) => (error as ApiError).code)).toEqual(Array(6).fill(code));
    }
  });

  it('name the member at fault, from the sentence of the messages protocol too', async () => {
    const steyg = clientOf(app, await app.customer(), { maxRetries: 0 });
    const failures = await Promise.all(
      [
        steyg.messages.create({ ...ping, max_tokens: -1 }),
        steyg.messages.create({ ...ping, messages: [{ role: 7, content: 'hi' }] } as never),
        steyg.chat.completions.create({ ...asked.chat('hi'), messages: [{ role: 7, content: 'hi' }] } as never),
      ].map(failureOf),
    );
    expect(failures.map((error) => [(error as ApiError).param, (error as ApiError).body])).toEqual([
      ['max_tokens', expect.objectContaining({ error: expect.not.objectContaining({ param: expect.anything() }) })],
      [
        'messages.0.role',
        expect.objectContaining({ error: expect.not.objectContaining({ param: expect.anything() }) }),
      ],
      ['messages[0].role', expect.objectContaining({ error: expect.objectContaining({ param: 'messages[0].role' }) })],
    ]);
  });

  it.each([
    ['max_tokens: Field required', 400, 'max_tokens'],
    ['messages.1.content.0.cache_control: Extra inputs are not permitted', 400, 'messages.1.content.0.cache_control'],
    ['Your credit is too low: top up', 402, null],
    ['Requested model x is not available', 400, null],
    ['upstream: connection reset', 502, null],
  ])('say of the sentence "%s" with status %i that the member at fault is %j', async (message, status, param) => {
    const { steyg } = scripted([json({ type: 'error', error: { type: 't', message } }, status)], { maxRetries: 0 });
    expect(await failureOf(steyg.messages.create(ping))).toMatchObject({ status, param });
  });

  it('lead to the reference of the service that answered, and to no other', async () => {
    const steyg = clientOf(app, await app.customer(), { maxRetries: 0 });
    const failures = await Promise.all([
      failureOf(steyg.messages.create({ ...ping, model: 'nope' })),
      failureOf(steyg.chat.completions.stream({ ...asked.chat('hi'), model: 'nope' }).finalMessage()),
      failureOf(steyg.usage.entry('none')),
    ]);
    expect(failures.map((error) => (error as ApiError).docs)).toEqual(Array(3).fill(`${app.baseUrl}/docs/`));
    const page = await fetch((failures[0] as ApiError).docs ?? '');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    // Events within a stream and the control plane's answers carry no address of the data plane.
    const broken = await failureOf(steyg.messages.stream(asked.messages('[[midfail 2]]')).finalMessage());
    expect((broken as Partial<ApiError>).docs ?? null).toBeNull();
    const { steyg: unsigned } = scripted([json({ error: { message: 'm', code: 'c' } }, 401)], { maxRetries: 0 });
    const refused = await failureOf(unsigned.graphql('{ models { modelId } }'));
    expect((refused as Partial<ApiError>).docs ?? null).toBeNull();
  });

  it('for an unknown request id', async () => {
    const { secret } = await app.customer();
    const error = await failureOf(clientOf(app, { secret }).usage.entry('01a1fd79-6730-7dbe-9441-15fff6f36e22'));
    expect(error).toBeInstanceOf(NotFoundError);
  });

  it('when the upstream fails', async () => {
    const steyg = clientOf(app, await app.customer(), { maxRetries: 0 });
    const error = await failureOf(steyg.messages.create(asked.messages('[[status 529]]')));
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ name: 'OverloadedError', status: 529, type: 'overloaded_error' });
  });

  it('at an address without /api', async () => {
    const { secret } = await app.customer();
    const steyg = new Steyg({ baseUrl: app.url, apiKey: secret });
    expect(await failureOf(steyg.models.list())).toBeInstanceOf(SteygError);
  });
});

describe('a status', () => {
  it.each([
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [402, 'BudgetError'],
    [403, 'PermissionError'],
    [404, 'NotFoundError'],
    [408, 'RequestTimeoutError'],
    [409, 'ConflictError'],
    [413, 'RequestTooLargeError'],
    [415, 'UnsupportedMediaTypeError'],
    [418, 'ApiError'],
    [422, 'UnprocessableError'],
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [501, 'NotSupportedError'],
    [502, 'UpstreamError'],
    [503, 'UnavailableError'],
    [504, 'UpstreamTimeoutError'],
    [507, 'ServerError'],
    [529, 'OverloadedError'],
  ])('%i is thrown as %s', async (status, name) => {
    const { steyg } = scripted([json({ error: { message: 'm', type: 't', code: 'c', param: 'p' } }, status)], {
      maxRetries: 0,
    });
    const error = await failureOf(steyg.models.list());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ name, status, code: 'c', type: 't', param: 'p', message: 'm', requestId: 'req-1' });
    expect(error instanceof ServerError).toBe(status >= 500);
  });

  it('429 carries the figures of a reserved budget and when to come back', async () => {
    const body = {
      error: {
        message: 'm',
        type: 't',
        code: 'budget_reserved',
        balance_usd: '1',
        held_usd: '0.9',
        required_usd: '0.2',
        affordable_max_tokens: 10,
      },
    };
    const { steyg } = scripted([json(body, 429, { 'retry-after': '2' })], { maxRetries: 0 });
    const error = await failureOf(steyg.models.list());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({
      balanceUsd: '1',
      heldUsd: '0.9',
      requiredUsd: '0.2',
      affordableMaxTokens: 10,
      retryAfterMs: 2_000,
    });
  });

  it.each([
    [
      'the messages protocol',
      { type: 'error', error: { type: 'billing_error', message: 'm' }, request_id: 'r' },
      'billing_error',
    ],
    [
      'details',
      { type: 'error', error: { type: 'x', message: 'm', details: { error_code: 'thread_unsupported_request' } } },
      'thread_unsupported_request',
    ],
    ['GraphQL', { errors: [{ message: 'm', extensions: { code: 'UNAUTHENTICATED' } }] }, 'UNAUTHENTICATED'],
  ])('is read from the envelope of %s', async (_, body, code) => {
    const { steyg } = scripted([json(body, 400)]);
    expect(await failureOf(steyg.models.list())).toMatchObject({ code, message: 'm' });
  });

  it('is explained where a page answers in the service’s place', async () => {
    const page = new Response('<html>404</html>', { status: 404, headers: { 'content-type': 'text/html' } });
    expect(await failureOf(scripted([page]).steyg.models.list())).toMatchObject({
      message: expect.stringContaining('/api'),
    });
    const redirect = new Response(null, { status: 301, headers: { location: 'https://elsewhere.test' } });
    expect(await failureOf(scripted([redirect]).steyg.models.list())).toMatchObject({
      message: expect.stringContaining('redirects'),
    });
    const proxy = new Response('<html>hello</html>', { headers: { 'content-type': 'text/html' } });
    expect(await failureOf(scripted([proxy]).steyg.models.list())).toBeInstanceOf(InvalidAnswerError);
  });
});

describe('a connection', () => {
  it('that fails says why', async () => {
    const steyg = new Steyg({ baseUrl: 'http://127.0.0.1:9/api', apiKey: 'k', maxRetries: 0 });
    const error = await failureOf(steyg.models.list());
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).not.toBe('The connection failed: fetch failed');
  });
});

describe('a client set up wrongly', () => {
  it.each([
    ['no address', 'steyg.test/api'],
    ['another protocol', 'ftp://steyg.test/api'],
    ['/v1', `${baseUrl}/v1`],
    ['/v1/', `${baseUrl}/v1/`],
    ['a query', `${baseUrl}?x=1`],
    ['credentials', 'https://u:p@steyg.test/api'],
  ])('is refused: %s', (_, address) => {
    expect(() => new Steyg({ baseUrl: address, apiKey: 'k' })).toThrow(ConfigurationError);
  });

  it('may have trailing slashes', () => {
    expect(new Steyg({ baseUrl: `${baseUrl}//` }).baseUrl).toBe(baseUrl);
  });

  it('without a key calls no model', async () => {
    const { steyg, seen } = scripted([json({})], { apiKey: undefined });
    await expect(steyg.messages.create(ping)).rejects.toThrow(ConfigurationError);
    await expect(steyg.messages.stream(ping).finalText()).rejects.toThrow(ConfigurationError);
    expect(() => steyg.openai()).toThrow(ConfigurationError);
    expect(seen).toEqual([]);
  });
});
