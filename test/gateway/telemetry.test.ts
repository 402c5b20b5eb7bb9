/** Traces and metrics for a collector: what they say, what they never say, and that they are nothing until they are asked for. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts';
import { model, protocols, send } from './support.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${callerSpan}-01`;

/** Two upstreams of one vendor: one that is handed traces, and one that is not. */
function catalog(simulatorUrl: string): string {
  const entry = (id: string, routes: string[]): string[] => [
    `  - id: ${id}`,
    `    displayName: ${id}`,
    '    family: tests',
    '    contextWindow: 200000',
    '    maxOutputTokens: 32000',
    '    prices: { input: "1", cacheHit: "0.1", output: "5" }',
    '    routes:',
    ...routes.map((upstream, index) => `      - { upstream: ${upstream}, model: ${model}, priority: ${index} }`),
  ];
  return [
    'upstreams:',
    `  - { id: ours, protocol: messages, baseUrl: "${simulatorUrl}", features: { traceContext: true } }`,
    `  - { id: vendor, protocol: messages, baseUrl: "${simulatorUrl}", profile: anthropic }`,
    `  - { id: chat, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }`,
    'models:',
    ...entry('by-ours', ['ours']),
    ...entry('by-vendor', ['vendor']),
    ...entry('by-both', ['ours', 'vendor']),
    ...entry('by-chat', ['chat']),
    ...entry('vectors', ['chat']).map((line) => line.replace('family: tests', 'family: tests\n    kind: embedding')),
  ].join('\n');
}

let collector: Collector;
const apps: TestApp[] = [];

async function start(env: Record<string, string> = {}): Promise<TestApp> {
  const app = await startApp({ catalog, simulator: { record: 50 }, env });
  apps.push(app);
  return app;
}

/** Stops the app alone: what it sent and what reached the upstreams stays to be looked at. */
async function stop({ app }: TestApp): Promise<void> {
  await app.close();
  app.close = async () => undefined;
}

/** Starts an app that sends to the collector, works with it, and closes it, so that everything was sent. */
async function telemetryOf(
  env: Record<string, string>,
  work: (app: TestApp, secret: string) => Promise<void>,
): Promise<TestApp> {
  const app = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
  const { secret } = await app.customer();
  await work(app, secret);
  await stop(app);
  return app;
}

async function ask(
  app: TestApp,
  secret: string,
  to: string,
  {
    text = 'ping',
    headers = { traceparent },
    more = {},
  }: { text?: string; headers?: Record<string, string>; more?: Record<string, unknown> } = {},
): Promise<Response> {
  const answer = await send(app, protocols.messages, {
    secret,
    text,
    headers,
    more: { model: to, ...more },
  });
  await answer.clone().text();
  return answer;
}

const named = (name: string): ReceivedSpan => {
  const found = collector.spans.filter((span) => span.name === name);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} spans are called ${name}`);
  return found[0];
};

const seenUpstream = (app: TestApp, header: string): (string | undefined)[] =>
  app.simulator.requests().map(({ headers }) => headers.find(([name]) => name.toLowerCase() === header)?.[1]);

beforeAll(async () => {
  collector = await startCollector();
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  if (collector.problems.length > 0)
    throw new Error(`no messages of OTLP: ${collector.problems.slice(0, 5).join('; ')}`);
  collector.spans.length = 0;
  collector.bodies.length = 0;
  collector.headers.length = 0;
  collector.resources.length = 0;
  collector.points.clear();
  collector.statuses = [200];
});
afterAll(() => collector.close());

describe('a traced request', () => {
  it('is a span of the caller’s trace, with the admission, each try and the settlement below it', async () => {
    const app = await telemetryOf({}, async (running, secret) => {
      await ask(running, secret, 'by-ours', {
        more: { stream: true },
        headers: { traceparent, tracestate: 'a=1,b=2' },
      });
    });
    const root = named('POST /api/v1/messages');
    expect(root).toMatchObject({ traceId, parentSpanId: callerSpan, kind: 2, traceState: 'a=1,b=2', status: {} });
    expect(root.flags & 0x200).toBe(0x200);
    const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(below.map(({ name, kind }) => [name, kind])).toEqual([
      ['admit', 1],
      [`chat ${model}`, 3],
      ['settle', 1],
    ]);
    for (const span of below) {
      expect(span.traceId).toBe(traceId);
      expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
      expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
    }
    // What it says of tokens is what was charged.
    const { rows } = await app.pool.query('SELECT * FROM ledger_entry');
    expect(rows).toHaveLength(1);
    expect(root.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'steyg',
      'gen_ai.request.model': 'by-ours',
      'gen_ai.request.stream': true,
      'gen_ai.request.max_tokens': 1_000,
      'gen_ai.usage.input_tokens': Number(rows[0].input) + Number(rows[0].cache_hit),
      'gen_ai.usage.output_tokens': Number(rows[0].output),
      'http.response.status_code': 200,
      'steyg.request_id': rows[0].request_id,
      'steyg.outcome': 'completed',
      'steyg.usage_source': 'reported',
    });
    expect(root.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThan(0);
    expect(named(`chat ${model}`).attributes).toMatchObject({
      'gen_ai.provider.name': 'ours',
      'gen_ai.request.model': model,
      'server.address': '127.0.0.1',
      'steyg.upstream': 'ours',
      // As the vendor counted it.
      'gen_ai.usage.input_tokens': Number(rows[0].input) + Number(rows[0].cache_hit),
      'gen_ai.usage.output_tokens': Number(rows[0].output),
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': ['end_turn'],
    });
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'steyg' });
  });

  it('that embeds is no chat, and its spans say what its vendor counted', async () => {
    await telemetryOf({}, async (running, secret) => {
      const to = { ...protocols.chat, path: '/v1/embeddings', body: () => ({ model: 'vectors', input: 'An owl.' }) };
      expect((await send(running, to, { secret, headers: { traceparent } })).status).toBe(200);
    });
    const [root, own] = [named('POST /api/v1/embeddings'), named(`embeddings ${model}`)];
    expect(root.attributes).toMatchObject({ 'gen_ai.operation.name': 'embeddings' });
    const tokens = root.attributes['gen_ai.usage.input_tokens'];
    expect(tokens).toBeGreaterThan(0);
    expect(own.attributes).toMatchObject({
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.usage.input_tokens': tokens,
      'gen_ai.response.model': model,
    });
    for (const name of [
      'gen_ai.server.request.duration',
      'gen_ai.client.operation.duration',
      'gen_ai.client.inference.usage.input_tokens',
    ])
      expect({ name, attributes: collector.points.get(name)?.points[0]?.attributes }).toMatchObject({
        name,
        attributes: { 'gen_ai.operation.name': 'embeddings' },
      });
  });

  it.each([
    ['the vendor’s own word', 'by-ours', 'max_tokens'],
    ['that of the translation', 'by-chat', 'length'],
  ])('says why its answer ended, whole as well: %s', async (_name, to, word) => {
    await telemetryOf({}, async (running, secret) => {
      await ask(running, secret, to, { more: { max_tokens: 2 }, text: 'one two three four five six' });
    });
    expect(named(`chat ${model}`).attributes).toMatchObject({ 'gen_ai.response.finish_reasons': [word] });
  });

  it('tells its trace to upstreams whose operator allows it, with the span of that very try, and to no other', async () => {
    const app = await telemetryOf({}, async (running, secret) => {
      await ask(running, secret, 'by-ours', { headers: { traceparent, tracestate: 'a=1' } });
      await ask(running, secret, 'by-vendor', { headers: { traceparent, tracestate: 'a=1' } });
    });
    const tries = collector.spans.filter(({ kind }) => kind === 3);
    const own = tries.find(({ attributes }) => attributes['steyg.upstream'] === 'ours');
    expect(seenUpstream(app, 'traceparent')).toEqual([`00-${traceId}-${own?.spanId}-01`, undefined]);
    expect(seenUpstream(app, 'tracestate')).toEqual(['a=1', undefined]);
    expect(tries.map(({ attributes }) => attributes['gen_ai.provider.name'])).toEqual(['ours', 'anthropic']);
  });

  it('says which tries failed, and how, and what was refused', async () => {
    await telemetryOf({}, async (running, secret) => {
      expect((await ask(running, secret, 'by-ours', { text: '[[status 500]]' })).status).toBeGreaterThanOrEqual(500);
      expect((await ask(running, secret, 'no-such-model-of-ours')).status).toBe(400);
      const poor = await running.customer({ usd: '0' });
      expect((await ask(running, poor.secret, 'by-ours')).status).toBe(402);
    });
    const tries = collector.spans.filter(({ kind }) => kind === 3);
    expect(tries.map(({ attributes, status }) => [attributes['error.type'], status])).toEqual([
      ['status_500', { code: 2 }],
    ]);
    const roots = collector.spans.filter(({ kind }) => kind === 2);
    expect(roots.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([
      expect.any(Number),
      400,
      402,
    ]);
    expect(roots.map(({ status }) => status)).toEqual([{ code: 2 }, {}, {}]);
    const refused = collector.spans.filter(({ name, status }) => name === 'admit' && status.code === 2);
    expect(refused.map(({ attributes }) => attributes['error.type'])).toEqual(['budget_exhausted']);
    expect(JSON.stringify(collector.spans)).not.toContain('no-such-model');
  });

  it('never carries content, credentials, accounts or keys', async () => {
    let customer = '';
    const app = await telemetryOf({}, async (running) => {
      const { secret, accountId, keyId } = await running.customer();
      customer = `${secret} ${accountId} ${keyId}`;
      const headers = { traceparent, 'user-agent': 'canary-agent', 'x-canary': 'canary-header' };
      await ask(running, secret, 'by-ours', { text: 'canary-question [[say canary-answer]]', headers });
      await ask(running, secret, 'by-ours', { text: 'canary [[status 400 canary-wording]]', headers });
      await ask(running, secret, 'canary-model', { headers });
    });
    const sent = collector.bodies.join('\n');
    expect(sent).toContain(traceId);
    expect(sent).not.toMatch(/canary|sk-/);
    for (const word of customer.split(' ')) expect(sent).not.toContain(word);
    expect(app.logged.join('\n')).not.toContain(traceId);
  });
});

describe('which requests are traced', () => {
  it('the caller decides for its own trace, a share decides for the others', async () => {
    const unsampled = traceparent.replace(/01$/, '00');
    await telemetryOf({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, async (running, secret) => {
      await ask(running, secret, 'by-ours');
      await ask(running, secret, 'by-ours', { headers: { traceparent: unsampled } });
      await ask(running, secret, 'by-ours', { headers: {} });
    });
    expect(collector.spans.filter(({ kind }) => kind === 2).map((span) => span.traceId)).toEqual([traceId]);
  });

  it('neither what a caller says nor the id that it chose decides, unless the operator lets it', async () => {
    await telemetryOf({}, async (running, secret) => {
      await ask(running, secret, 'by-ours', { headers: { traceparent: traceparent.replace(/01$/, '00') } });
    });
    const roots = () => collector.spans.filter(({ kind }) => kind === 2).map((span) => span.traceId);
    expect(roots()).toEqual([traceId]);
    const chosen = `${traceId.slice(0, 24)}00000000`;
    const share = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.000000001' };
    await telemetryOf(share, async (running, secret) => {
      await ask(running, secret, 'by-ours', { headers: { traceparent: traceparent.replace(traceId, chosen) } });
    });
    expect(roots()).not.toContain(chosen);
  });

  it('a context that is malformed begins no span of it, and one that is not accepted is not used', async () => {
    const zero = traceparent.replace(traceId, '0'.repeat(32));
    await telemetryOf({}, async (running, secret) => {
      for (const given of [zero, traceparent.toUpperCase(), `${traceparent}-more`, `ff${traceparent.slice(2)}`, 'x'])
        await ask(running, secret, 'by-ours', { headers: { traceparent: given } });
    });
    await telemetryOf({ OTEL_PROPAGATORS: 'none' }, async (running, secret) => {
      await ask(running, secret, 'by-ours');
    });
    const roots = collector.spans.filter(({ kind }) => kind === 2);
    expect(roots).toHaveLength(6);
    expect(roots.filter((span) => span.traceId === traceId || span.parentSpanId !== undefined)).toEqual([]);
    expect(new Set(roots.map((span) => span.traceId)).size).toBe(6);
  });

  it('none, until an endpoint is set: nothing is sent, and a trace only passes through where that is allowed', async () => {
    const app = await start();
    const { secret } = await app.customer();
    await ask(app, secret, 'by-ours');
    await ask(app, secret, 'by-vendor');
    await stop(app);
    expect(collector.bodies.length).toBe(0);
    expect(seenUpstream(app, 'traceparent')).toEqual([traceparent, undefined]);
  });
});

describe('metrics', () => {
  it('have the conventions’ names, and the figures of the scrape', async () => {
    const app = await telemetryOf({}, async (running, secret) => {
      await ask(running, secret, 'by-ours', { text: '[[len 20]]' });
      await ask(running, secret, 'by-ours', { text: '[[len 30]]', more: { stream: true } });
    });
    const duration = collector.points.get('gen_ai.server.request.duration');
    expect(duration?.unit).toBe('s');
    const [point] = duration?.points ?? [];
    expect(point?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'steyg',
      'gen_ai.request.model': 'by-ours',
      'steyg.protocol': 'messages',
    });
    expect(point?.count).toBe('2');
    expect(point?.bucketCounts?.reduce((sum, count) => sum + Number(count), 0)).toBe(2);
    expect(point?.bucketCounts).toHaveLength((point?.explicitBounds?.length ?? 0) + 1);
    const { rows } = await app.pool.query(
      'SELECT sum(input + cache_hit)::int AS input, sum(output)::int AS output FROM ledger_entry',
    );
    const tokens = (name: string): number | undefined =>
      collector.points.get(`gen_ai.client.inference.usage.${name}`)?.points[0]?.asDouble;
    expect([tokens('input_tokens'), tokens('output_tokens')]).toEqual([rows[0].input, rows[0].output]);
    expect(collector.points.get('gen_ai.client.operation.duration')?.points[0]?.attributes).toMatchObject({
      'gen_ai.provider.name': 'ours',
    });
    expect(collector.points.get('gateway_requests')?.points[0]?.asDouble).toBe(2);
    expect([...collector.points.keys()].filter((name) => /_seconds$|_bytes$/.test(name))).toEqual([]);
  });

  it('go alone, and traces too, where one of the two is switched off', async () => {
    await telemetryOf(
      { OTEL_TRACES_EXPORTER: 'none' },
      async (running, secret) => void (await ask(running, secret, 'by-ours')),
    );
    expect([collector.spans.length, collector.points.size > 0]).toEqual([0, true]);
    collector.points.clear();
    await telemetryOf(
      { OTEL_METRICS_EXPORTER: 'none' },
      async (running, secret) => void (await ask(running, secret, 'by-ours')),
    );
    expect([collector.spans.length > 0, collector.points.size]).toEqual([true, 0]);
  });
});

describe('a collector', () => {
  it('gets the headers it wants, compressed where it is asked for, under the names of the operator', async () => {
    await telemetryOf(
      {
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token,x-tenant=one',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_SERVICE_NAME: 'gateway',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      },
      async (running, secret) => void (await ask(running, secret, 'by-ours')),
    );
    expect(collector.headers[0]).toMatchObject({
      authorization: 'Bearer token',
      'x-tenant': 'one',
      'content-encoding': 'gzip',
    });
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'gateway', 'deployment.environment.name': 'test' });
  });

  it('that is busy gets the same spans later; one that refuses, or is away, costs no request and no stop', async () => {
    collector.statuses = [503, 200];
    await telemetryOf({ OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_SCHEDULE_DELAY: '50' }, async (running, secret) => {
      await ask(running, secret, 'by-ours');
      while (collector.statuses.length > 1) await new Promise((resolve) => setTimeout(resolve, 20));
    });
    expect(collector.spans.filter(({ kind }) => kind === 2).length).toBe(1);
    const app = await telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }, async (running, secret) => {
      expect((await ask(running, secret, 'by-ours')).status).toBe(200);
    });
    const told = app.logged.filter((line) => line.includes('collector of telemetry'));
    expect(told.map((line) => (JSON.parse(line) as { signal: string }).signal).sort()).toEqual(['metrics', 'traces']);
  });
});
