import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSecret } from '../../server/keys/secret.ts';
import { counter } from '../resilience/support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, nativeCatalog, send, settled } from './support.ts';

/** Refusals: their order, and their content for people and programs. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog(), env: { PUBLIC_URL: 'https://steyg.example' } });
});
afterAll(() => app.close());
let before = 0;
beforeEach(() => {
  before = app.simulator.stats().requests;
});

const pico = (usd: number) => BigInt(Math.round(usd * 1e6)) * 1_000_000n;
const noUpstreamCall = () => expect(app.simulator.stats().requests).toBe(before);

/** Something for a check of the order: every fault that a request can have, the one that counts first at the top. */
const garbage = 'sk-steyg-garbage';

describe.each(everyProtocol)('$protocol', (protocol) => {
  const { protocol: name } = protocol;

  it.each([
    ['no key', null],
    ['a blank one', ''],
    ['garbage', garbage],
    ['a key with a wrong checksum', `${createSecret('key').secret.slice(0, -1)}!`],
    ['a key that was never made', createSecret('key').secret],
    ['a token of the control plane', createSecret('token').secret],
  ])('%s: 401, and no client tries again', async (_name, secret) => {
    const response = await send(app, protocol, { secret });
    expect(response.status).toBe(401);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      message: 'Invalid API key',
      type: name === 'messages' ? 'authentication_error' : 'invalid_request_error',
      ...(name === 'messages' ? {} : { code: 'invalid_api_key' }),
    });
    noUpstreamCall();
  });

  it('a deleted key, from the very next request', async () => {
    const customer = await app.customer();
    expect((await send(app, protocol, { secret: customer.secret })).status).toBe(200);
    await app.keys.delete({ accountId: customer.accountId, id: customer.keyId, actor: 'test' });
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(401);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect((await errorOf(response, name)).message).toBe('Invalid API key');
  });

  it('an exhausted budget is a 402 with its figures, and a top-up makes the same key work', async () => {
    const customer = await app.customer({ usd: '0' });
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.get('retry-after')).toBeNull();
    const error = await errorOf(response, name);
    expect(error).toMatchObject({
      type: name === 'messages' ? 'billing_error' : 'insufficient_quota',
      ...(name === 'messages' ? {} : { code: 'insufficient_quota' }),
      balance_usd: '0',
      held_usd: '0',
      required_usd: expect.stringMatching(/^0\.0\d+$/),
      affordable_max_tokens: 0,
    });
    expect(error.message).toContain('https://steyg.example/topup');
    noUpstreamCall();

    await app.accounts.giveGrant({
      accountId: customer.accountId,
      amount: pico(1),
      expiresAt: null,
      actor: 'test',
    });
    expect((await send(app, protocol, { secret: customer.secret })).status).toBe(200);
    expect(await settled(app, customer)).toHaveLength(1);
  });

  it('a trial that is over is a 402 too', async () => {
    const customer = await app.customer({ trial: true });
    await app.pool.query(`UPDATE "grant" SET expires_at = now() - interval '1 second' WHERE account_id = $1`, [
      customer.accountId,
    ]);
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(402);
    expect(await errorOf(response, name)).toMatchObject({ balance_usd: '0' });
    noUpstreamCall();
  });

  it('a budget that does not cover the request is a 402 that says what is needed', async () => {
    const customer = await app.customer({ usd: '0.000001' });
    const counted = () => counter(app, 'gateway_budget_refusals_total', { reason: 'short' });
    const before = await counted();
    const response = await send(app, protocol, { secret: customer.secret, text: 'x'.repeat(3_000) });
    expect(await counted()).toBe(before + 1);
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    const error = await errorOf(response, name);
    expect(error).toMatchObject({
      balance_usd: '0.000001',
      held_usd: '0',
      required_usd: expect.stringMatching(/^0\.000\d+$/),
      affordable_max_tokens: 0,
    });
    expect(Number(error['required_usd'])).toBeGreaterThan(0.0001);
    expect(error.message).toContain('0.000001 USD');
    noUpstreamCall();
    expect(await settled(app, customer)).toEqual([]);
  });

  it('a budget that running requests hold is a 429 with a short wait, for it is not exhausted', async () => {
    const customer = await app.customer({ usd: '0.001' });
    const leave = new AbortController();
    const running = await send(app, protocol, {
      secret: customer.secret,
      text: '[[hang 1]]',
      more: { stream: true },
      signal: leave.signal,
    });
    expect(running.status).toBe(200);
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('x-should-retry')).toBeNull();
    expect(await errorOf(response, name)).toMatchObject({
      type: 'rate_limit_error',
      ...(name === 'messages' ? {} : { code: 'budget_reserved' }),
      balance_usd: '0',
      held_usd: '0.001',
    });
    leave.abort();
    await app.quiet(customer.accountId);
  });

  it('a key at its own limit is a 402 with the code of its own', async () => {
    const customer = await app.customer({
      terms: { limits: { day: pico(0.000001), week: null, month: null, lifetime: null } },
    });
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      ...(name === 'messages' ? { type: 'billing_error' } : { code: 'key_limit_reached' }),
      limit_period: 'day',
      limit_usd: '0.000001',
      spent_usd: '0',
    });
    noUpstreamCall();
  });

  it('an account at the limit that it set itself is a 402 that says when its week begins anew', async () => {
    const customer = await app.customer();
    const set = await app.accounts.setLimits({
      accountId: customer.accountId,
      actor: 'test',
      limits: { day: null, week: pico(0.0005), month: null, lifetime: null },
    });
    expect(set).toEqual({ kind: 'changed' });
    expect((await send(app, protocol, { secret: customer.secret, text: '[[len 200]]' })).status).toBe(200);
    await app.quiet(customer.accountId);
    before = app.simulator.stats().requests;
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      ...(name === 'messages' ? { type: 'billing_error' } : { code: 'account_limit_reached' }),
      message: expect.stringMatching(/^This account has reached its own spending limit \(0.0005 USD per week\)/),
      limit_period: 'week',
      limit_usd: '0.0005',
    });
    noUpstreamCall();
  });

  it.each([
    ['member', 'The member who made this API key'],
    ['project', 'The project of this API key'],
  ])('a %s’s budget that is used up is a 402 that says whose it is and when it returns', async (of, subject) => {
    const customer = await app.customer();
    const { accountId } = customer;
    const limit = { month: pico(0.0005), lifetime: null };
    if (of === 'member') {
      const userId = randomUUID();
      await app.pool.query('UPDATE api_key SET created_by = $2 WHERE id = $1', [customer.keyId, userId]);
      await app.accounts.setMemberLimit({ accountId, userId, month: limit.month, actor: 'test' });
    } else {
      const made = await app.accounts.projects.create({ accountId, name: 'p', limits: limit, actor: 'test' });
      if (made.kind !== 'created') throw new Error(made.kind);
      await app.keys.change({ accountId, id: customer.keyId, projectId: made.project.id, actor: 'test' });
    }
    expect(
      (await send(app, protocol, { secret: customer.secret, text: '[[len 100]]', more: { [protocol.cap]: 110 } }))
        .status,
    ).toBe(200);
    await app.quiet(accountId);
    before = app.simulator.stats().requests;
    const response = await send(app, protocol, { secret: customer.secret, more: { [protocol.cap]: 60 } });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      ...(name === 'messages' ? { type: 'billing_error' } : { code: `${of}_limit_reached` }),
      message: expect.stringContaining(`${subject} has reached its own spending limit (0.0005 USD per month)`),
      limit_period: 'month',
      limit_usd: '0.0005',
      returns_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    noUpstreamCall();
  });

  it('a key that spends too fast is a 402 that says how to lift its burn limit', async () => {
    const customer = await app.customer({ terms: { burnLimit: { amount: pico(0.0005), minutes: 30 } } });
    expect((await send(app, protocol, { secret: customer.secret, text: '[[len 200]]' })).status).toBe(200);
    await app.quiet(customer.accountId);
    before = app.simulator.stats().requests;
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      ...(name === 'messages' ? { type: 'billing_error' } : { code: 'burn_limit' }),
      message: expect.stringMatching(
        /within 30 minutes.*To lift it, its owner raises or removes the burn limit in the console, or try again after 20/,
      ),
      limit_period: 'burn',
      limit_usd: '0.0005',
      left_usd: '0',
      window_minutes: 30,
      returns_at: expect.stringMatching(/^20\d\d-/),
    });
    noUpstreamCall();
  });

  it('a model that the key may not call is a 403', async () => {
    const customer = await app.customer({ terms: { models: ['another-model'] } });
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(403);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      type: 'permission_error',
      ...(name === 'messages' ? {} : { code: 'model_not_allowed', param: 'model' }),
    });
    noUpstreamCall();
  });

  it('a suspended account is a 403, whatever else is wrong, and works again once it is resumed', async () => {
    const customer = await app.customer();
    expect((await send(app, protocol, { secret: customer.secret })).status).toBe(200);
    await app.accounts.suspend({ accountId: customer.accountId, actor: 'test' });
    for (const more of [{}, { model: 'unheard-of' }]) {
      const response = await send(app, protocol, { secret: customer.secret, more });
      expect(response.status).toBe(403);
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(await errorOf(response, name)).toMatchObject({
        type: 'permission_error',
        ...(name === 'messages' ? {} : { code: 'account_suspended' }),
      });
    }
    await app.accounts.resume({ accountId: customer.accountId, actor: 'test' });
    expect((await send(app, protocol, { secret: customer.secret })).status).toBe(200);
  });

  it('an expired key is a 401', async () => {
    const customer = await app.customer();
    await app.pool.query(`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1`, [customer.keyId]);
    const response = await send(app, protocol, { secret: customer.secret });
    expect(response.status).toBe(401);
  });

  it('the order: 401, syntax, exhausted budget, unknown model, what does not fit', async () => {
    const rich = await app.customer();
    const poor = await app.customer({ usd: '0' });
    const gzip = { 'content-encoding': 'gzip' };
    const unknown = { model: 'unheard-of' };
    const status = async (sending: Parameters<typeof send>[2]) => (await send(app, protocol, sending)).status;
    expect(await status({ secret: garbage, headers: gzip, raw: '{' })).toBe(401);
    expect(await status({ secret: poor.secret, headers: gzip, raw: '{' })).toBe(415);
    expect(await status({ secret: poor.secret, raw: '{' })).toBe(400);
    expect(await status({ secret: poor.secret, more: unknown })).toBe(402);
    expect(await status({ secret: poor.secret, more: { ...unknown, container: 'c', previous_response_id: 'r' } })).toBe(
      402,
    );
    expect(await status({ secret: rich.secret, more: unknown })).toBe(400);
    expect(await status({ secret: poor.secret })).toBe(402);
    expect(await status({ secret: rich.secret })).toBe(200);
    const figures = await errorOf(await send(app, protocol, { secret: poor.secret, more: unknown }), name);
    expect(figures).toMatchObject({ balance_usd: '0', held_usd: '0', affordable_max_tokens: 0 });
    const narrow = await app.customer({ usd: '0', terms: { models: ['another-model'] } });
    expect(await status({ secret: narrow.secret })).toBe(402);
  });

  it('a large body is not read for an account without money, or without a free slot', async () => {
    const raw = `{${' '.repeat(100_000)}`;
    const poor = await app.customer({ usd: '0' });
    expect((await send(app, protocol, { secret: poor.secret, raw })).status).toBe(402);
    const rich = await app.customer();
    expect((await send(app, protocol, { secret: rich.secret, raw })).status).toBe(400);
    const narrow = await startApp({ beside: app, env: { MAX_CONCURRENT_PER_KEY: '1' } });
    const running = await send(narrow, protocol, {
      secret: rich.secret,
      text: '[[len 5]] [[hang 2]]',
      more: { stream: true },
    });
    expect(running.status).toBe(200);
    const response = await send(narrow, protocol, { secret: rich.secret, raw });
    expect(response.status).toBe(429);
    expect((await errorOf(response, name)).message).toContain('API key');
    await running.body?.cancel();
    await narrow.close();
  });

  it('what is refused is not billed and not recorded', async () => {
    const customer = await app.customer();
    await send(app, protocol, { secret: customer.secret, raw: '{' });
    await send(app, protocol, { secret: customer.secret, more: { model: 'unheard-of' } });
    expect(await settled(app, customer)).toEqual([]);
    const { free, held } = await app.app.ledger.balance(customer.accountId);
    expect({ free, held }).toEqual({ free: pico(100), held: 0n });
  });
});
