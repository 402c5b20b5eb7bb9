import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createCatalogChanges } from '../../server/catalog/changes.ts';
import { formatUsd } from '../../server/core/money.ts';
import { transaction } from '../../server/database/lane.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { createNotices } from '../../server/notices/notices.ts';
import { createWebhooks } from '../../server/notices/webhooks.ts';
import { createOpenAccount } from '../../server/people/sign-in/trials.ts';
import { createSepay } from '../../server/plans/bank/sepay.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { listPlans, savePlan } from '../../server/plans/plans.ts';
import { createSeal } from '../../server/shared/seal.ts';
import type { ProbeResult } from '../../server/uptime/probes/probe.ts';
import { createUptime } from '../../server/uptime/uptime.ts';
import { bank, createPlans, sepayFields, sepayMessage, transfer } from '../plans/support.ts';
import { pause, type ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { createPostgres, type TestPostgres } from '../support/postgres.ts';
import { type Service, startService } from './processes.ts';
import { directions, post } from './support.ts';

/**
 * Everything that moves or guards money, at once, in two servers and this process: requests of all kinds, budgets that
 * are given, end and run out, keys, suspensions, prices, plans, orders that are paid, paid twice and cancelled,
 * notices, webhooks, probes, and the sweeps of servers with short leases. What happens differs from run to run; that
 * all sums hold afterwards, and that no deadlock occurred, does not.
 *
 * `AT_ONCE_REQUESTS` makes it go on for longer.
 */

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });
const requests = Number(process.env['AT_ONCE_REQUESTS'] ?? 120);
const secret = 'a secret between the bank and us';

let postgres: TestPostgres;
let service: Service;
let pool: Pool;
let servers: ServerProcess[];

beforeAll(async () => {
  postgres = await createPostgres({ deadlock_timeout: '50ms' });
  const url = postgres.url('postgres');
  service = await startService(url);
  pool = new Pool({ connectionString: url, types: bigintTypes, max: 20 });
  pool.on('error', () => undefined);
  const env = { SEPAY_WEBHOOK_SECRET: secret, BANK_ACCOUNT: bank.account, ALLOW_PRIVATE_WEBHOOKS: '1' };
  servers = await Promise.all(['first', 'second'].map((name) => service.start(name, env)));
  await Promise.all(servers.map((server) => server.ready()));
  // The catalog file has no plans, and so nothing would be on sale.
  await createPlans(pool);
});
afterAll(async () => {
  await end();
  await postgres.remove();
});

let ending: Promise<unknown> | null = null;
/** Ends the servers, however they stand, and every session of this process. */
function end(): Promise<unknown> {
  ending ??= Promise.all([service.close(), pool.end()]);
  return ending;
}

it('breaks no sum, loses no money, and causes no deadlock', async () => {
  const actor = 'user:test';
  const seal = createSeal({ secretKeys: [randomBytes(32)] });
  const [accounts, keys, orders, uptime] = [
    createAccounts({ pool }),
    createKeys({ pool }),
    createOrders({ pool, bank }),
    createUptime({ pool }),
  ];
  const receiver = createServer((request, response) => response.writeHead(request.url === '/gone' ? 410 : 204).end());
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const webhooks = createWebhooks({ pool, seal, checkAddress: () => null });
  const transfers = createTransfers({
    pool,
    accountNumbers: [bank.account],
    onOrderMoved: async (client, { accountId, orderId, status }) =>
      void (await webhooks.recordEvent(client, { accountId, name: `order.${status}`, data: { order_id: orderId } })),
  });
  const notices = createNotices({
    pool,
    deliverMail: async () => undefined,
    recordEvent: webhooks.recordEvent,
    seal,
    messengers: { checkAddress: () => null },
    formatUsd,
    upstreamHealth: () => [],
    publicUrl: 'http://localhost',
    log: { warn: () => undefined },
  });
  const changes = createCatalogChanges({ pool, seal, allowPrivate: true });

  const customers = await Promise.all(['0.02', '0.02', '0.05', '1', '5'].map((usd) => service.customer(usd)));
  const live: Customer[] = [...customers];
  const statuses = new Map<number, number>();
  let sent = 0;

  const request = async (): Promise<void> => {
    const leave = new AbortController();
    const timer = Math.random() < 0.3 ? setTimeout(() => leave.abort(), Math.random() * 150) : undefined;
    try {
      const response = await post(pick(servers), pick(live).secret, pick(directions), pick(texts), {}, leave.signal);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      await response.text();
    } catch {
      // It left, or was cut off.
    } finally {
      clearTimeout(timer);
    }
  };

  const budgets = async (): Promise<void> => {
    const { accountId } = pick(customers);
    const endsSoon = Math.random() < 0.5;
    const { rows } = await pool.query(`SELECT now() + interval '700 milliseconds' AS soon`);
    const idempotencyKey = randomUUID();
    const give = () =>
      accounts.giveGrant({
        accountId,
        amount: BigInt(Math.ceil(Math.random() * 1e10)),
        expiresAt: endsSoon ? rows[0].soon : null,
        actor,
      });
    const once = () => accounts.giveGrant({ accountId, amount: 10n ** 9n, expiresAt: null, idempotencyKey, actor });
    const [given] = await Promise.all([give(), once(), once(), once()]);
    if (given.kind !== 'given' || Math.random() < 0.4) return;
    const end = () => accounts.endGrant({ accountId, grantId: given.grantId, reason: 'taken back', actor });
    await Promise.all([end(), end()]);
  };

  const keysComeAndGo = async (): Promise<void> => {
    const { accountId } = pick(customers);
    const made = await keys.create({
      accountId,
      actor,
      limits: { day: 10n ** 10n, week: null, month: null, lifetime: 10n ** 9n },
    });
    if (made.kind !== 'created') return;
    const spare: Customer = { accountId, keyId: made.key.id, secret: made.secret };
    live.push(spare);
    await pause(50);
    const id = spare.keyId;
    await Promise.all([
      keys.change({ accountId, id, actor, limits: { day: null, week: null, month: null, lifetime: 10n ** 11n } }),
      keys.rotate({ accountId, id, actor, graceMs: 60_000 }),
      keys.create({ accountId, actor, expiresAt: new Date(Date.now() + 60_000) }),
    ]);
    await keys.delete({ accountId, id, actor });
    live.splice(live.indexOf(spare), 1);
  };

  const suspensions = async (): Promise<void> => {
    const { accountId } = pick(customers);
    await accounts.suspend({ accountId, actor });
    await pause(20);
    await accounts.resume({ accountId, actor });
  };

  const catalog = async (): Promise<void> => {
    const modelId = pick(directions).model;
    const input = BigInt(Math.ceil(Math.random() * 5)) * 1_000_000n;
    const prices = { input, cacheHit: input / 10n, cacheWrite5m: null, cacheWrite1h: null, output: input * 5n };
    await changes.setPrices({ modelId, prices, validFrom: null }, actor);
    const [plan] = await listPlans(pool);
    if (plan === undefined) throw new Error('no plan');
    const priceVnd = 100_000n + BigInt(Math.floor(Math.random() * 9));
    await transaction(pool, (client) => savePlan(client, { plan: { ...plan, priceVnd }, actor }));
  };

  /** An order, and at the same time everything that can be told of its money. */
  const purchases = async (): Promise<void> => {
    const { accountId } = pick(customers);
    const [plan] = await listPlans(pool);
    const idempotencyKey = randomUUID();
    const [made, again] = await Promise.all(
      [1, 2].map(() => orders.create({ accountId, planId: plan?.id ?? '', idempotencyKey })),
    );
    if (made === undefined || again === undefined || !('order' in made && 'order' in again)) return;
    const { order } = made;
    expect(again.order.id).toBe(order.id);
    const [part, whole] = [order.priceVnd / 3n, order.priceVnd];
    const tell = async (amountVnd: bigint): Promise<void> => {
      const fields = sepayFields(order, { transferAmount: Number(amountVnd) });
      const { headers, body } = sepayMessage({ secret, fields });
      const listed = createSepay({ secret }).parse(body, new Date()) ?? [];
      const answers = await Promise.all([
        ...servers.map(async ({ url }) => {
          const response = await fetch(`${url}/webhooks/sepay`, {
            method: 'POST',
            headers,
            body: new Uint8Array(body),
          });
          return response.status;
        }),
        ...listed.map(async (told) => (await transfers.receive(told)).kind.replace(/.*/, '200')),
      ]);
      // A provider tells again what was not taken.
      if (answers.some((status) => String(status) !== '200')) await tellAgain(fields);
    };
    const tellAgain = async (fields: object): Promise<void> => {
      const { body } = sepayMessage({ secret, fields });
      for (const told of createSepay({ secret }).parse(body, new Date()) ?? []) await transfers.receive(told);
    };
    const byHand = async (amountVnd: bigint): Promise<void> => {
      const { transferId } = await transfers.receive(transfer({ amountVnd, memo: 'no code' }));
      const lay = (by: string) => transfers.matchByHand({ transferId, orderId: order.id, by });
      await Promise.all([lay('one'), lay('two')]);
    };
    const ways = [
      () => [tell(whole)],
      () => [tell(part), tell(whole - part)],
      () => [tell(part), tell(part), tell(whole), byHand(part)],
      () => [byHand(whole), tell(whole)],
      () => [orders.cancel({ accountId, orderId: order.id }), tell(whole), byHand(whole)],
      () => [orders.cancel({ accountId, orderId: order.id })],
    ];
    await Promise.all<unknown>(pick(ways)());
    if (Math.random() < 0.3) {
      await pool.query(
        `UPDATE purchase_order SET expires_at = now() - interval '1 second' WHERE id = $1 AND status IN ('pending', 'partial')`,
        [order.id],
      );
      await Promise.all<unknown>([orders.expire(), orders.expire(), tell(part)]);
    }
  };

  const notified = async (): Promise<void> => {
    const { accountId } = pick(customers);
    const made = await webhooks.create({ accountId, actor, url: `${receiverUrl}/${pick(['fine', 'gone'])}` });
    const lowBalance = BigInt(Math.ceil(Math.random() * 1e12));
    await Promise.all([
      notices.saveSettings(accountId, { lowBalance, mail: true }),
      notices.check(),
      notices.check(),
      webhooks.deliverDue(),
    ]);
    await Promise.all([notices.deliverDue(), notices.check(), webhooks.deliverDue()]);
    if (made.kind === 'created')
      await Promise.all([webhooks.deliverDue(), webhooks.remove({ accountId, id: made.endpoint.id, actor })]);
  };

  const probed = async (): Promise<void> => {
    const round = (): ProbeResult[] =>
      directions.map(({ model, client, stream }) => ({
        model,
        protocol: client.protocol,
        mode: stream ? 'stream' : 'plain',
        startedAt: new Date(),
        outcome: pick(['up', 'down', 'no_data']),
        reason: null,
        status: 200,
        latencyMs: 5,
        timeToFirstByteMs: 1,
      }));
    await Promise.all([uptime.record(round()), uptime.record(round().reverse()), uptime.endAbandoned()]);
  };

  const arrivals = async (): Promise<void> => {
    const email = `${randomUUID()}@example.com`;
    const { rows } = await pool.query('INSERT INTO app_user (name, email) VALUES ($1, $2) RETURNING id', ['T', email]);
    const open = createOpenAccount({ pool });
    await Promise.all(
      [1, 2, 3, 4].map(() => open({ userId: rows[0].id, email, name: 'T', network: pick(['10.0.0.1', '10.0.0.2']) })),
    );
  };

  const asking = Array.from({ length: 16 }, async () => {
    while (sent < requests) {
      sent += 1;
      await request();
    }
  });
  const isOver = Promise.all(asking).then(() => true);
  const others = [budgets, keysComeAndGo, suspensions, catalog, purchases, purchases, notified, probed, arrivals];
  const errors: unknown[] = [];
  await Promise.all(
    others.map(async (act) => {
      do await act().catch((error: unknown) => errors.push(error));
      while (!(await Promise.race([isOver, pause(10).then(() => false)])));
    }),
  );
  expect(errors).toEqual([]);
  expect([...statuses.keys()].filter((status) => ![200, 401, 402, 403, 429, 502, 503].includes(status))).toEqual([]);
  expect(statuses.get(200)).toBeGreaterThan(0);

  await service.released();
  // Servers that are told to stop settle what they have left.
  for (const server of servers) server.signal('SIGTERM');
  expect(await Promise.all(servers.map(({ exited }) => exited))).toEqual([0, 0]);
  await webhooks.close();
  receiver.closeAllConnections();
  receiver.close();

  expect(await checkInvariants(pool)).toEqual([]);
  expect(await strayRows()).toEqual({ holds: 0, reserved: '0', lost: 0, beyond: 0, wrongCost: 0, twiceOpened: 0 });
  expect(servers.flatMap(({ log }) => log.filter(isFault))).toEqual([]);
  await end();
  expect(await circlesOf(postgres.url('postgres'))).toBe('0');
  expect(unexpected(await postgres.log())).toEqual([]);
});

const texts = [
  '[[say fine]]',
  '[[len 20]]',
  '[[len 300]][[speed 2000]]',
  '[[len 3000]]',
  '[[len 30]][[cut 9]]',
  '[[status 500]]',
  '[[len 30]][[midfail 9]]',
];

/** On a slow machine a lock wait may exceed its timeout; a batch is then retried, as is a webhook. */
function isFault({ level, msg, code }: Record<string, unknown>): boolean {
  return (level === 'error' || level === 'fatal') && msg !== 'the ledger cannot commit' && code !== '57014';
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

/** What no invariant looks for. */
async function strayRows(): Promise<object> {
  const { rows: entries } = await pool.query('SELECT * FROM ledger_entry');
  const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'];
  const wrongCost = entries.filter(
    (entry) =>
      pools.reduce((sum, name) => sum + BigInt(entry[name]) * BigInt(entry[`price_${name}`]), 0n) !== entry.cost,
  ).length;
  const { rows } = await pool.query(
    `SELECT (SELECT count(*)::int FROM hold) AS holds, (SELECT sum(held)::text FROM "grant") AS reserved,
            -- Money that came in pays an order, or waits or waited for a person.
            (SELECT count(*)::int FROM bank_transfer t WHERE direction = 'in' AND amount_vnd > 0
              AND NOT EXISTS (SELECT FROM transfer_match WHERE transfer_id = t.id)
              AND NOT EXISTS (SELECT FROM transfer_review WHERE transfer_id = t.id)) AS lost,
            (SELECT count(*)::int FROM (SELECT account_id, sum(charged) AS charged FROM ledger_entry GROUP BY 1) AS e
              WHERE charged > (SELECT sum(amount - expired) FROM "grant" g WHERE g.account_id = e.account_id)) AS beyond,
            (SELECT count(*)::int FROM (SELECT account_id FROM "grant" WHERE kind = 'trial' GROUP BY 1 HAVING count(*) > 1) AS t) AS "twiceOpened"`,
  );
  return { ...rows[0], wrongCost };
}

/** Number of deadlocks: complete once all sessions have ended. */
async function circlesOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query(
        `SELECT deadlocks, (SELECT count(*)::int FROM pg_stat_activity
                            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS others
         FROM pg_stat_database WHERE datname = current_database()`,
      );
      if (rows[0].others === 0) return rows[0].deadlocks;
      await pause();
    }
  } finally {
    await client.end();
  }
}

/**
 * Errors of a slow machine, and conflicts between concurrent writers: both are retried. Every other error is a fault.
 */
const expected = [
  /the database system is starting up/,
  /canceling statement due to (lock|statement) timeout/,
  /terminating connection due to idle-in-transaction timeout/,
  /duplicate key value violates unique constraint "ledger_\w+_pkey"/,
  /division by zero/,
];

function unexpected(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => / (ERROR|FATAL|PANIC): /.test(line) && !expected.some((pattern) => pattern.test(line)));
}
