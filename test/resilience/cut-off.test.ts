import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { pause, type ServerProcess } from '../start/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Cable, layCable } from './cable.ts';
import { type Service, startService, stream } from './processes.ts';

/** Processes that are cut off from the database, wait for it too long, or have another clock. */

vi.setConfig({ testTimeout: 300_000 });

let database: TestDatabase;
let service: Service;
let cable: Cable;
beforeAll(async () => {
  database = await createDatabase();
  service = await startService(database.url, { record: 1_000 });
  cable = await layCable(database.url);
});
afterAll(async () => {
  await service.close();
  await cable.remove();
  await database.drop();
});

const ask = (server: ServerProcess, secret: string, content: string): Promise<Response> =>
  fetch(`${server.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'on-chat-completions', max_tokens: 100, messages: [{ role: 'user', content }] }),
  });

it('one process is cut off: it keeps its streams and admits none; the other uses only released money', async () => {
  // Longer than the stream, and than what is asked of both meanwhile.
  const lease = { HOLD_LEASE_MS: '5000' };
  const [cutOff, other] = await Promise.all([
    service.start('cut-off', { DATABASE_URL: cable.url, ...lease }),
    service.start('other', lease),
  ]);
  await Promise.all([cutOff.ready(), other.ready()]);
  // Enough for two streams, of which each reserves most.
  const customer = await service.customer('0.011');
  const running = stream(cutOff.baseUrl, customer, '[[len 350]][[speed 100]]');
  await reached(() => running.text.includes('w1"'));
  cable.cut();
  await reached(async () => (await cutOff.status('/readyz')) === 503);
  expect((await ask(cutOff, customer.secret, 'ping')).status).toBe(503);
  // While the lease lasts what is reserved stays reserved.
  expect((await ask(other, customer.secret, '[[len 2000]]')).status).toBeOneOf([200, 429, 402]);
  const { rows: held } = await service.pool.query('SELECT sum(held) > 0 AS held FROM "grant" WHERE account_id = $1', [
    customer.accountId,
  ]);
  expect(held).toEqual([{ held: true }]);

  await running.ended;
  expect(running).toMatchObject({ finished: true, text: expect.stringContaining('w349"') });
  // The other process gives the hold back, because its process has not been heard of.
  await reached(async () => {
    const { rows } = await service.pool.query('SELECT count(*)::int AS n FROM hold WHERE account_id = $1', [
      customer.accountId,
    ]);
    return rows[0].n === 0;
  });
  cable.mend();
  await cutOff.ready();
  await reached(async () => (await service.rows([customer.accountId])).get(running.requestId ?? '') === 1);
  await service.released();
  const { rows } = await service.pool.query(
    'SELECT sum(amount)::bigint AS granted, sum(spent)::bigint AS spent FROM "grant" WHERE account_id = $1',
    [customer.accountId],
  );
  expect(rows[0].spent).toBeLessThanOrEqual(rows[0].granted);
  expect(await service.broken()).toEqual([]);

  // Another session keeps the account locked for longer than a client may wait.
  const locked = await service.customer();
  expect((await ask(other, locked.secret, 'ping')).status).toBe(200);
  const client = await service.pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM "grant" WHERE account_id = $1 FOR UPDATE', [locked.accountId]);
  const refused = await ask(other, locked.secret, 'while it is locked');
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(service.simulator.requests().filter(({ body }) => body.includes('while it is locked'))).toEqual([]);
  await client.query('ROLLBACK');
  client.release();
  await reached(async () => (await ask(other, locked.secret, 'ping')).status === 200);
  await service.released();
  expect(await service.broken()).toEqual([]);
});

it('clocks that are an hour off change nothing: leases, expiry and latency do not use them', async () => {
  const clock = (hours: number): string =>
    `--import=data:text/javascript,${encodeURIComponent(
      `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000};`,
    )}`;
  const [fast, slow] = await Promise.all([
    service.start(`fast-${randomUUID()}`, { NODE_OPTIONS: clock(1) }),
    service.start(`slow-${randomUUID()}`, { NODE_OPTIONS: clock(-1) }),
  ]);
  await Promise.all([fast.ready(), slow.ready()]);
  const customers = await Promise.all(Array.from({ length: 6 }, () => service.customer()));
  // Longer than a lease, so that a sweep with a wrong clock would have taken the hold.
  const streams = customers.map((customer, index) =>
    stream((index % 2 === 0 ? fast : slow).baseUrl, customer, '[[len 250]][[speed 100]]'),
  );
  await Promise.all(streams.map(({ ended }) => ended));
  await service.released();
  expect(streams.filter(({ finished }) => !finished)).toEqual([]);
  const { rows } = await service.pool.query(
    `SELECT latency_ms, time_to_first_byte_ms, charged = cost AS paid, created_at > now() - interval '10 minutes' AS fresh
     FROM ledger_entry WHERE account_id = ANY ($1)`,
    [customers.map(({ accountId }) => accountId)],
  );
  expect(rows).toHaveLength(6);
  for (const row of rows) {
    expect(row).toMatchObject({ paid: true, fresh: true });
    expect(row.latency_ms).toBeGreaterThan(1_000);
    expect(row.latency_ms).toBeLessThan(600_000);
  }
  expect(await service.broken()).toEqual([]);
});

async function reached(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}
