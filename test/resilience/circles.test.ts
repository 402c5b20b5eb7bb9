import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { applyCatalog } from '../../server/admin/catalog-apply.ts';
import { parseCatalogFile } from '../../server/admin/catalog-file.ts';
import { resealSecrets } from '../../server/admin/reseal.ts';
import { endGrant } from '../../server/billing/grants.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { createCatalogChanges } from '../../server/catalog/changes.ts';
import { saveUpstreamKey, sealContextOf } from '../../server/catalog/upstreams.ts';
import { transaction } from '../../server/database/lane.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { createWebhooks } from '../../server/notices/webhooks.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { addCustomer, addModel, admitted, ask, grant, openLedger, settlement } from '../billing/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { circles, lockWaits } from '../support/locks.ts';

// No deadlocks: every transaction that locks several rows locks them in one global order. Each test brings two
// transactions into the position in which another order would deadlock.

const secretKey = randomBytes(32);
const seal = createSeal({ secretKeys: [secretKey] });
let database: TestDatabase;
let gone: Server;

beforeAll(async () => {
  database = await createDatabase();
  gone = createServer((_request, response) => response.writeHead(410).end());
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  gone.closeAllConnections();
  gone.close();
  await database.drop();
});

const openPool = (url: string) => new Pool({ connectionString: url, types: bigintTypes });

/** Begins operations in turn while rows are locked, each as soon as the one before it waits; then releases the lock. */
async function queueBehind(lock: { text: string; values: unknown[] }, begin: (() => Promise<unknown>)[]) {
  return Promise.all(
    await transaction(database.pool, async (client) => {
      await client.query(lock.text, lock.values);
      const begun: Promise<unknown>[] = [];
      for (const next of begin) {
        begun.push(next());
        await lockWaits(database.pool, begun.length);
      }
      return begun;
    }),
  );
}

async function account(): Promise<string> {
  const id = uuidv7();
  await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [id, 'T', `${id}@test`]);
  return id;
}

it('settlements of one request in two processes, of accounts that have nothing left', async () => {
  await addModel(database.pool, { id: 'big' });
  const first = await openLedger(database.url);
  const rich = await addCustomer(database.pool);
  const asked = ask(rich);
  const { price, ...admission } = await admitted(first.ledger, asked);
  await first.ledger.settle(settlement(asked, { ...admission, price }));
  await first.close();

  const customers = await Promise.all([1, 2, 3].map(() => addCustomer(database.pool, { budget: null })));
  const late = customers.map((customer) => settlement(ask(customer), { ...admission, price }));
  const [, middle] = late;
  // Both have written one row and wait for a third writer; then each wants the row of the other.
  const stranger = {
    text: `INSERT INTO ledger_entry SELECT (jsonb_populate_record(e, jsonb_build_object('account_id', $1::uuid, 'request_id', $2::uuid))).*
           FROM ledger_entry e WHERE account_id = $3`,
    values: [middle?.accountId, middle?.requestId, rich.accountId],
  };
  const found = await circles(database, async (url) => {
    const both = [await openLedger(url), await openLedger(url)] as const;
    const settled = await transaction(database.pool, async (client) => {
      await client.query(stranger.text, stranger.values);
      const one = late.map((each) => both[0].ledger.replay(each));
      await lockWaits(database.pool, 1);
      const other = late.toReversed().map((each) => both[1].ledger.replay(each));
      await lockWaits(database.pool, 2);
      await client.query('ROLLBACK');
      await client.query('BEGIN');
      return Promise.all([...one, ...other]);
    });
    expect(settled.filter(({ duplicate }) => duplicate)).toHaveLength(3);
    for (const lane of both) await lane.close();
  });
  expect(found).toBe(0);
  expect(await checkInvariants(database.pool)).toEqual([]);
});

it('a webhook whose endpoint says that it is gone, and its removal', async () => {
  const accountId = await account();
  const actor = 'user:test';
  const found = await circles(database, async (url) => {
    const pool = openPool(url);
    const webhooks = createWebhooks({ pool, seal, checkAddress: () => null });
    const address = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/hook`;
    const made = await webhooks.create({ accountId, actor, url: address });
    if (made.kind !== 'created') throw new Error(made.kind);
    const { id } = made.endpoint;
    await webhooks.sendTest({ accountId, id });
    await queueBehind({ text: 'SELECT FROM webhook_endpoint WHERE id = $1 FOR NO KEY UPDATE', values: [id] }, [
      () => webhooks.remove({ accountId, id, actor }),
      () => webhooks.deliverDue(),
    ]);
    expect(await webhooks.deliveries({ accountId, limit: 2 })).toMatchObject([{ status: 'failed' }]);
    await webhooks.close();
    await pool.end();
  });
  expect(found).toBe(0);
});

describe('the catalog', () => {
  const content = (routes: string) =>
    parseCatalogFile(
      'c.yaml',
      `
upstreams:
  - { id: vendor, protocol: messages, baseUrl: "http://127.0.0.1:9000", apiKey: sk-vendor }
models:
  - id: routed
    displayName: Routed
    family: tests
    contextWindow: 200000
    maxOutputTokens: 32000
    prices: { input: "3", cacheHit: "0.3", output: "15" }
    routes: [${routes}]
`,
      { allowPrivateUpstreams: true, vendorKey: () => undefined },
    );
  const apply = (pool: Pool, routes: string) =>
    transaction(pool, (client) =>
      applyCatalog(client, { content: content(routes), seal, actor: 'op', name: 'c.yaml' }),
    );

  it('a catalog file and an operator who gives a model another route', async () => {
    const one = '{ upstream: vendor, model: one }';
    await apply(database.pool, one);
    const found = await circles(database, async (url) => {
      const pool = openPool(url);
      const changes = createCatalogChanges({ pool, seal, allowPrivate: true });
      const route = { upstreamId: 'vendor', upstreamModel: 'two', priority: 0, weight: 1, enabled: true, costs: null };
      const [routed] = await queueBehind({ text: `SELECT FROM model WHERE id = 'routed' FOR UPDATE`, values: [] }, [
        () => changes.saveRoutes({ modelId: 'routed', routes: [route] }, 'op'),
        () => apply(pool, one),
      ]);
      expect(routed).toMatchObject({ kind: 'saved' });
      await pool.end();
    });
    expect(found).toBe(0);
  });

  it('keys of an upstream that are sealed anew, and another one that takes their place', async () => {
    await database.pool.query(
      `INSERT INTO upstream (id, protocol, base_url) VALUES ('keyed', 'messages', 'http://127.0.0.1:9000')`,
    );
    // The one with the smaller id is the younger one.
    const ids = [randomUUID(), randomUUID()].sort();
    for (const [age, id] of ids.entries()) {
      await database.pool.query(
        `INSERT INTO upstream_key (id, upstream_id, sealed, last4, created_at) VALUES ($1, 'keyed', $2, '', now() - make_interval(days => $3))`,
        [id, seal.seal(sealContextOf(id), `old-${id}`), age],
      );
    }
    const found = await circles(database, async (url) => {
      const pool = openPool(url);
      const current = randomBytes(32);
      await queueBehind({ text: `SELECT FROM upstream_key WHERE upstream_id = 'keyed' FOR UPDATE`, values: [] }, [
        () => transaction(pool, (client) => resealSecrets(client, { current, previous: [secretKey] })),
        () =>
          transaction(pool, (client) =>
            saveUpstreamKey(client, seal, { upstreamId: 'keyed', secret: 'sk-new', actor: 'op' }),
          ),
      ]);
      await pool.end();
    });
    expect(found).toBe(0);
  });
});

it('payments do not wait for secrets that are sealed anew, nor for a change of a webhook', async () => {
  const accountId = await account();
  const webhooks = createWebhooks({ pool: database.pool, seal, checkAddress: () => null });
  for (const path of ['one', 'two'])
    await webhooks.create({ accountId, actor: 'op', url: `http://127.0.0.1:1/${path}` });
  const heard = await transaction(database.pool, async (client) => {
    await resealSecrets(client, { current: secretKey, previous: [] });
    return transaction(database.pool, async (payment) => {
      await payment.query(`SET LOCAL lock_timeout = '5s'`);
      return webhooks.recordEvent(payment, { accountId, name: 'order.paid', data: {} });
    });
  });
  expect(heard).toBe(2);
  await webhooks.close();
});

it('a key that is replaced, another that is made, a budget that is given, and an account that is suspended', async () => {
  const { accountId, keyId } = await addCustomer(database.pool, { budget: null });
  const found = await circles(database, async (url) => {
    const pool = openPool(url);
    const [keys, accounts] = [createKeys({ pool }), createAccounts({ pool })];
    const actor = 'op';
    const other = await keys.create({ accountId, actor });
    if (other.kind !== 'created') throw new Error(other.kind);
    const outcomes = await queueBehind({ text: 'SELECT FROM account WHERE id = $1 FOR UPDATE', values: [accountId] }, [
      () => keys.rotate({ accountId, id: keyId, actor, graceMs: 1_000 }),
      () => keys.create({ accountId, actor }),
      () => accounts.giveGrant({ accountId, actor, amount: 1n, expiresAt: null }),
      () => keys.rotate({ accountId, id: other.key.id, actor, graceMs: 0 }),
      () => keys.delete({ accountId, id: keyId, actor }),
      () => accounts.suspend({ accountId, actor }),
    ]);
    expect(outcomes).toMatchObject(
      ['rotated', 'created', 'given', 'rotated', 'deleted', 'changed'].map((kind) => ({ kind })),
    );
    await pool.end();
  });
  expect(found).toBe(0);
});

it('a process that stops while it ends a grant does not block others for long', async () => {
  const customer = await addCustomer(database.pool, { budget: null });
  const grantId = await grant(database.pool, customer.accountId, '1');
  const limit = await transaction(database.pool, async (client) => {
    await endGrant(client, { accountId: customer.accountId, grantId });
    return (await client.query('SHOW idle_in_transaction_session_timeout')).rows;
  });
  expect(limit).toEqual([{ idle_in_transaction_session_timeout: '4s' }]);
  expect((await database.pool.query('SHOW idle_in_transaction_session_timeout')).rows).not.toEqual(limit);
});
