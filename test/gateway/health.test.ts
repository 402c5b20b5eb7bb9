import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, send, settled } from './support.ts';

/** Health, metrics and log lines of the data plane. */

let app: TestApp;
let guarded: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  guarded = await startApp({ beside: app, env: { METRICS_TOKEN: 'a-token-of-sixteen' } });
});
afterAll(async () => {
  await guarded.close();
  await app.close();
});

const metrics = (from: TestApp, headers: Record<string, string> = {}) => fetch(`${from.url}/metrics`, { headers });

it('says that it is alive and ready', async () => {
  expect(await (await fetch(`${app.url}/healthz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${app.url}/readyz`)).json()).toEqual({ status: 'ready' });
});

it('shows its figures to this machine only, or with the token', async () => {
  expect((await metrics(app)).status).toBe(200);
  // A proxy on this machine forwards requests of other machines.
  expect((await metrics(app, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(401);
  expect((await metrics(app, { forwarded: 'for=203.0.113.7' })).status).toBe(401);
  expect((await metrics(guarded)).status).toBe(401);
  expect((await metrics(guarded, { authorization: 'Bearer a-token-of-sixteeN' })).status).toBe(401);
  expect((await metrics(guarded, { authorization: 'Bearer a-token-of-sixteen' })).status).toBe(200);
});

it('counts what is refused before it is read', async () => {
  const customer = await app.customer();
  const url = app.baseUrl + protocols.messages.path;
  const authorization = `Bearer ${customer.secret}`;
  const json = { 'content-type': 'application/json' };
  const post = async (headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
  expect(await post({ ...json, authorization: 'Bearer wrong' })).toBe(401);
  expect(await post({ 'content-type': 'text/plain', authorization })).toBe(415);
  expect(await post({ ...json, authorization, 'content-encoding': 'gzip' })).toBe(415);
  expect(await post({ ...json, authorization })).toBe(400);
  const text = await (await metrics(app)).text();
  for (const [status, times] of Object.entries({ 401: 1, 415: 2, 400: 1 }))
    expect(text).toContain(`gateway_requests_total{protocol="messages",model="none",status="${status}"} ${times}\n`);
});

it('counts requests, tokens and cost under names of our own', async () => {
  const customer = await app.customer();
  await (
    await send(app, protocols.chat, { secret: customer.secret, text: '[[len 7]]', more: { model: 'only-chat' } })
  ).text();
  await (await send(app, protocols.chat, { secret: customer.secret, more: { model: 'no-such' } })).text();
  await settled(app, customer);
  const text = await (await metrics(app)).text();
  expect(text).toContain('gateway_requests_total{protocol="chat-completions",model="only-chat",status="200"} 1');
  expect(text).toContain('gateway_requests_total{protocol="chat-completions",model="none",status="400"} 1');
  expect(text).toContain('gateway_tokens_total{model="only-chat",token_type="output",operation="chat"} 7');
  expect(text).toContain(
    'gateway_settlements_total{protocol="chat-completions",outcome="completed",usage_source="reported"} 1',
  );
  expect(text).toMatch(/gateway_inflight\{protocol="chat-completions"\} 0/);
  expect(text).not.toContain('no-such');
  expect(text).not.toContain(customer.accountId);
});

it('names its figures as Prometheus has it: base units, totals, and labels that are names of our own', async () => {
  const customer = await app.customer();
  await (await send(app, protocols.messages, { secret: customer.secret })).text();
  await settled(app, customer);
  const text = await (await metrics(app)).text();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
  const own = types.filter(({ name }) => /^(gateway|gen_ai)_/.test(name));
  for (const { name, type } of own) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter');
    expect(name).not.toMatch(/milli|micro|minute|_ms\b/);
  }
  const labels = new Set([...text.matchAll(/[{,]([a-z_]+)="/g)].map(([, label]) => label));
  for (const label of ['account', 'account_id', 'key', 'key_id', 'request_id', 'path', 'user'])
    expect(labels).not.toContain(label);
  // What an operator is promised to see.
  expect(own.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'gateway_requests_total',
      'gateway_overhead_seconds',
      'gateway_upstream_duration_seconds',
      'gen_ai_server_time_to_first_token_seconds',
      'gateway_tokens_total',
      'gateway_spend_usd_total',
      'gateway_charged_usd_total',
      'gateway_event_loop_lag_seconds',
      'gateway_holds',
      'gateway_spool_depth',
      'gateway_ledger_batch_operations',
      'gateway_ready',
    ]),
  );
  expect(text).toMatch(/^gateway_ready 1$/m);
  // A rule that waits for a rise sees none when the first fault brings the counter.
  const places = [...text.matchAll(/^gateway_faults_total\{where="(\w+)"\} 0$/gm)].map(([, where]) => where);
  expect(new Set(places)).toEqual(
    new Set([
      'batch_results',
      'edge',
      'invariant_broken',
      'ledger_quarantine',
      'relay',
      'settlement',
      'spool_quarantine',
      'spool_unwritable',
    ]),
  );
  expect(text).toMatch(/^gateway_overhead_seconds_count [1-9]/m);
});

it('has every figure that the alerts for operators ask for', async () => {
  const rules = readFileSync(new URL('../../server/deploy/alerts.yaml', import.meta.url), 'utf8');
  const asked = new Set(rules.match(/\bgateway_\w+/g));
  expect(asked.size).toBeGreaterThan(4);
  const text = await (await metrics(app)).text();
  expect([...asked].filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  const places = /gateway_faults_total\{where=~"([a-z_|]+)"/g;
  for (const [, list = ''] of rules.matchAll(places))
    for (const where of list.split('|')) expect(text).toContain(`gateway_faults_total{where="${where}"} `);
});

it('shows what is held and what the ledger commits together', async () => {
  const customer = await app.customer();
  const figure = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await metrics(app)).text())?.[1]);
  const before = await figure('gateway_ledger_batch_operations_sum');
  const running = await send(app, protocols.chat, {
    secret: customer.secret,
    text: '[[hang 3]] [[len 9]]',
    more: { stream: true, model: 'only-chat' },
    signal: AbortSignal.timeout(60_000),
  });
  const reader = running.body?.getReader();
  await reader?.read();
  expect(await figure('gateway_holds')).toBe(1);
  await reader?.cancel();
  await settled(app, customer);
  // The line is done with when its commit has been heard of, and the hold is gone with the same commit.
  await expect.poll(() => figure('gateway_spool_depth')).toBe(0);
  expect(await figure('gateway_holds')).toBe(0);
  expect((await figure('gateway_ledger_batch_operations_sum')) - before).toBe(2);
});

it('every request has one line in the log, by its route and without its address', async () => {
  const customer = await app.customer();
  const from = app.logged.length;
  const answers = [
    await send(app, { ...protocols.chat, path: '/v1/chat/completions?secret=1' }, { secret: customer.secret }),
    await send(app, protocols.chat, { secret: 'sk-steyg-wrong' }),
    await fetch(`${app.baseUrl}/v1/models/some-id`),
  ];
  await Promise.all(answers.map((answer) => answer.text()));
  const ids = answers.map((answer) => answer.headers.get('request-id'));
  const lines = app.logged.slice(from).map((line) => JSON.parse(line));
  expect(ids.map((id) => lines.filter((line) => line.requestId === id && line.msg === 'request'))).toMatchObject([
    [{ method: 'POST', route: '/api/v1/chat/completions', status: 200 }],
    [{ method: 'POST', route: '/api/v1/chat/completions', status: 401 }],
    [{ method: 'GET', route: '/api/v1/models/*', status: 401 }],
  ]);
});

it('a try at an upstream that failed has a line that says where and how; a mistake of the client has none', async () => {
  const customer = await app.customer();
  const from = app.logged.length;
  const more = { model: 'only-chat' };
  const failed = await send(app, protocols.chat, { secret: customer.secret, text: '[[status 500]]', more });
  const mistaken = await send(app, protocols.chat, { secret: customer.secret, text: '[[status 400]]', more });
  expect([failed.status, mistaken.status]).toEqual([502, 400]);
  await Promise.all([failed.text(), mistaken.text()]);
  const tries = app.logged
    .slice(from)
    .map((line) => JSON.parse(line))
    .filter(({ upstream }) => upstream !== undefined);
  expect(tries.length).toBeGreaterThan(0);
  for (const line of tries) {
    expect(line).toMatchObject({
      level: 'warn',
      requestId: failed.headers.get('request-id'),
      upstream: 'by-chat',
      kind: 'status_500',
      msg: 'a try at an upstream failed',
    });
  }
});
