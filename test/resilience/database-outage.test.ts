import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { pause, type ServerProcess } from '../start/server-process.ts';
import { createPostgres, type TestPostgres } from '../support/postgres.ts';
import { type Service, startService, stream } from './processes.ts';

/** The database is away at the start, before a request, after one, and in the middle of many. */

vi.setConfig({ testTimeout: 300_000 });

let postgres: TestPostgres;
let service: Service;
let server: ServerProcess;
beforeAll(async () => {
  postgres = await createPostgres();
  await ensureDatabase(postgres.url('postgres'), 'steyg');
  service = await startService(postgres.url('steyg'), { record: 1_000 });
});
afterAll(async () => {
  await service.close();
  await postgres.remove();
});
beforeEach(() => service.simulator.clearRequests());

const ask = (secret: string, content = '[[say fine]]', path = '/v1/chat/completions'): Promise<Response> =>
  fetch(server.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${secret}`,
    },
    body: JSON.stringify({ model: 'on-messages', max_tokens: 100, messages: [{ role: 'user', content }] }),
  });

const someKey = `sk-steyg-${'0'.repeat(43)}1RBEGN`;

it('away at the start: alive, not ready, refusing; and ready by itself when it comes', async () => {
  await postgres.stop();
  server = await service.start('one');
  await reached(async () => (await server.status('/healthz')) === 200);
  expect(await server.status('/readyz')).toBe(503);
  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
    const response = await ask(someKey, 'ping', path);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(response.headers.get('request-id')).not.toBeNull();
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('/status') } });
  }
  await postgres.start();
  await server.ready();
  const customer = await service.customer();
  expect((await ask(customer.secret)).status).toBe(200);
});

it('away at the admission: 503, and nothing goes upstream', async () => {
  const [known, unknown] = [await service.customer(), await service.customer()];
  // One key is remembered, the other has never been seen.
  expect((await ask(known.secret)).status).toBe(200);
  await postgres.stop('immediate');
  for (const { secret } of [known, unknown, known]) {
    const response = await ask(secret, 'while it is away');
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('/status') } });
  }
  // The server's own probes of the models may have come through just before.
  expect(service.simulator.requests().filter(({ body }) => body.includes('while it is away'))).toEqual([]);
  expect(await server.status('/readyz')).toBe(503);
  expect(await server.status('/healthz')).toBe(200);
  // The alert for faults of our own stays silent: an outage is counted as one.
  const figures = await (await fetch(`${server.url}/metrics`)).text();
  for (const where of ['edge', 'relay']) expect(figures).toContain(`gateway_faults_total{where="${where}"} 0`);
  // The server's own probes are refused beside the three.
  const refused = figures.match(/gateway_budget_refusals_total\{reason="unavailable"\} (\d+)/);
  expect(Number(refused?.[1])).toBeGreaterThanOrEqual(3);
  await postgres.start();
  await server.ready();
  expect((await ask(known.secret)).status).toBe(200);
  expect((await ask(unknown.secret)).status).toBe(200);
});

it('away at the settlement: the client notices nothing, the line waits on disk and is settled afterwards', async () => {
  const customers = await Promise.all(Array.from({ length: 20 }, () => service.customer()));
  const streams = customers.map((customer) => stream(server.baseUrl, customer, '[[len 400]][[speed 100]]'));
  await reached(() => streams.every(({ text }) => text.includes('w3"')));
  await postgres.stop('immediate');
  await Promise.all(streams.map(({ ended }) => ended));
  expect(streams.filter(({ finished, text }) => !finished || !text.includes('w399"'))).toEqual([]);
  expect(spooledIds('one')).toEqual(expect.arrayContaining(streams.map(({ requestId }) => requestId)));
  await postgres.start();
  await server.ready();
  await service.released();
  const rows = await service.rows(customers.map(({ accountId }) => accountId));
  expect(new Set(rows.keys())).toEqual(new Set(streams.map(({ requestId }) => requestId)));
  expect(await service.broken()).toEqual([]);
});

it('away in mid-answer: a stream goes on as far as the last known free money bears, and no client is told that the budget is used up', async () => {
  const [rich, poor] = [await service.customer('10'), await service.customer('0.04')];
  // 4,096 tokens are held at first, of 9,000; the poor one can pay for about 8,000. The vendor reports at the end, so that each byte may
  // be a token until then: these are some 1,400 words, and the ledger is not there to lend it the rest.
  const streams = [rich, poor].map((customer) =>
    stream(server.baseUrl, customer, '[[len 9000]][[speed 1500]]', { maxTokens: 20_000 }),
  ) as [ReturnType<typeof stream>, ReturnType<typeof stream>];
  const [whole, broken] = streams;
  await reached(() => streams.every(({ text }) => text.includes('w3"')));
  await postgres.stop('immediate');
  await Promise.all(streams.map(({ ended }) => ended));
  expect(whole.finished && whole.text.includes('w8999"')).toBe(true);
  expect(whole.text).not.toContain('"finish_reason":"length"');
  expect(broken.finished).toBe(false);
  expect(broken.text).toContain('w1200"');
  expect(broken.text).not.toContain('w2000"');
  expect(broken.text).not.toContain('"finish_reason":"length"');
  expect(broken.text).toContain('whether there is more budget is not known');
  await postgres.start();
  await server.ready();
  await service.released();
  const { rows } = await service.pool.query(
    'SELECT account_id, outcome, cost - charged < 1000000000 AS paid, cost < 41000000000 AS within FROM ledger_entry WHERE account_id = ANY ($1)',
    [[rich.accountId, poor.accountId]],
  );
  expect(new Map(rows.map(({ account_id, ...row }) => [account_id, row]))).toEqual(
    new Map([
      [rich.accountId, { outcome: 'completed', paid: true, within: false }],
      [poor.accountId, { outcome: 'shutdown', paid: true, within: true }],
    ]),
  );
  expect(await service.broken()).toEqual([]);
});

it('killed while the database is away: the next process settles the lines on disk, even after the hold was released', async () => {
  const customers = await Promise.all(Array.from({ length: 20 }, () => service.customer()));
  const streams = customers.map((customer) => stream(server.baseUrl, customer, '[[len 200]][[speed 100]]'));
  await reached(() => streams.every(({ text }) => text.includes('w3"')));
  await postgres.stop('immediate');
  await Promise.all(streams.map(({ ended }) => ended));
  expect(streams.every(({ finished }) => finished)).toBe(true);
  await server.kill();
  await postgres.start();
  // Another machine is back first: it knows nothing of that disk, and gives the holds back.
  const other = await service.start('two');
  await other.ready();
  await service.released();
  // What had not come to its end before the database went away is on the disk of the first machine alone.
  expect((await service.rows(customers.map(({ accountId }) => accountId))).size).toBeLessThan(20);
  server = await service.start('one');
  await server.ready();
  await reached(async () => (await service.rows(customers.map(({ accountId }) => accountId))).size === 20);
  await service.released();
  expect(await service.broken()).toEqual([]);
  await other.kill();
});

it('crashes and recovers under load: whatever a client got to its end has one row, and nothing stays reserved', async () => {
  const customers = await Promise.all(Array.from({ length: 30 }, () => service.customer()));
  const streams: ReturnType<typeof stream>[] = [];
  const enough = new AbortController();
  const load = customers.map(async (customer) => {
    while (!enough.signal.aborted) {
      const one = stream(server.baseUrl, customer, '[[len 12]][[speed 50]]', { once: true });
      streams.push(one);
      await one.ended;
      if (one.status !== 200) await pause(50);
    }
  });
  await reached(() => streams.filter(({ finished }) => finished).length >= 60);
  await postgres.stop('immediate');
  await reached(() => streams.filter(({ status }) => status === 503).length >= 20);
  await postgres.start();
  const before = streams.length;
  await server.ready();
  await reached(() => streams.slice(before).filter(({ finished }) => finished).length >= 60);
  enough.abort();
  await Promise.all(load);
  await service.released();

  const rows = await service.rows(customers.map(({ accountId }) => accountId));
  const finished = streams.filter(({ finished }) => finished);
  expect(finished.filter(({ requestId }) => rows.get(requestId ?? '') !== 1)).toEqual([]);
  expect([...rows.values()].every((count) => count === 1)).toBe(true);
  // Everybody was answered: to the end, or with a refusal.
  expect(streams.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  expect(rows.size).toBe(streams.filter(({ status }) => status === 200).length);
  expect(await service.broken()).toEqual([]);
  server.signal('SIGTERM');
  expect(await server.exited).toBe(0);
});

function spooledIds(name: string): string[] {
  const directory = join(service.dataDir(name), 'spool');
  return readdirSync(directory)
    .filter((file) => file.endsWith('.ndjson'))
    .flatMap((file) => readFileSync(join(directory, file), 'utf8').trimEnd().split('\n').slice(1))
    .map((line) => (JSON.parse(line) as { requestId: string }).requestId);
}

async function reached(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}
