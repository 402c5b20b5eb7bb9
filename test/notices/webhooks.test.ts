/** Webhooks: signed, retried, fair among accounts, and only to public addresses. */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../server/database/lane.ts';
import { isSignedWebhook, signWebhook } from '../../server/notices/signature.ts';
import {
  createWebhooks,
  retryPausesSeconds,
  type WebhookEndpoint,
  type Webhooks,
} from '../../server/notices/webhooks.ts';
import { checkBaseUrl, publicLookup } from '../../server/shared/private-addresses.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

let database: TestDatabase;
let webhooks: Webhooks;
let server: Server;
let address: string;
let received: Received[];
let answer: (response: ServerResponse, request: Received) => void;
let accountId: string;
const seal = createSeal({ secretKeys: [randomBytes(32)] });
const actor = 'user:test';

beforeAll(async () => {
  database = await createDatabase();
  webhooks = createWebhooks({ pool: database.pool, seal, checkAddress: () => null });
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body };
      received.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await webhooks.close();
  server.closeAllConnections();
  server.close();
  await database.drop();
});
beforeEach(async () => {
  received = [];
  answer = (response) => response.writeHead(204).end();
  await database.pool.query(
    `UPDATE webhook_delivery SET status = 'failed', next_attempt_at = NULL WHERE status = 'pending'`,
  );
  accountId = await account();
});

async function account(): Promise<string> {
  const id = uuidv7();
  await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [
    id,
    'T',
    `${id}@example.com`,
  ]);
  return id;
}

async function endpoint(path = '/hook', events: string[] = []): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const outcome = await webhooks.create({ accountId, actor, url: `${address}${path}`, events });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome;
}

const happen = (name = 'order.paid', data: object = { order_id: 'x' }) =>
  transaction(database.pool, (client) => webhooks.recordEvent(client, { accountId, name, data }));
const newest = async () => (await webhooks.deliveries({ accountId, limit: 1 }))[0];
/** Lets the pause before the next attempt be over. */
const wait = () =>
  database.pool.query(
    `UPDATE webhook_delivery SET next_attempt_at = now() - interval '1 second' WHERE account_id = $1 AND status = 'pending'`,
    [accountId],
  );

describe('signatures', () => {
  it('are those of the Standard Webhooks specification', () => {
    // The specification's own example.
    const headers = signWebhook({
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
      now: new Date(1_614_265_330_000),
    });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('do not hold for another body, secret, id or day', () => {
    const now = new Date();
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const headers = signWebhook({ secret, id: 'a', body: '{}', now });
    const check = (changes: object) => isSignedWebhook({ secret, headers, body: '{}', now, ...changes });
    expect(check({})).toBe(true);
    expect(check({ body: '{ }' })).toBe(false);
    expect(check({ secret: 'whsec_AAAA' })).toBe(false);
    expect(check({ headers: { ...headers, 'webhook-id': 'b' } })).toBe(false);
    expect(check({ now: new Date(now.getTime() + 600_000) })).toBe(false);
    expect(check({ headers: {} })).toBe(false);
  });
});

describe('a webhook', () => {
  it('is delivered signed, once, with what happened', async () => {
    const { secret } = await endpoint('/hook?token=1');
    expect(await happen('order.paid', { order_id: 'o1' })).toBe(1);
    await Promise.all([webhooks.deliverDue(), webhooks.deliverDue()]);
    expect(received).toHaveLength(1);
    const [got] = received;
    expect(got?.path).toBe('/hook?token=1');
    expect(JSON.parse(got?.body ?? '')).toMatchObject({
      type: 'order.paid',
      account_id: accountId,
      data: { order_id: 'o1' },
    });
    expect(
      isSignedWebhook({
        secret,
        headers: got?.headers as Record<string, string>,
        body: got?.body ?? '',
        now: new Date(),
      }),
    ).toBe(true);
    expect(await newest()).toMatchObject({ status: 'delivered', attempts: 1, nextAttemptAt: null });
    expect(await webhooks.attempts([(await newest())?.id ?? ''])).toMatchObject([{ status: 204, problem: null }]);
  });

  it('is not delivered when what it tells did not happen', async () => {
    await endpoint();
    const undone = transaction(database.pool, async (client) => {
      await webhooks.recordEvent(client, { accountId, name: 'order.paid', data: {} });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await webhooks.deliverDue();
    expect(received).toEqual([]);
  });

  it('goes to the endpoints that want it, and to no other account', async () => {
    await endpoint('/all');
    await endpoint('/orders', ['order.paid']);
    await endpoint('/balance', ['balance.low']);
    const { endpoint: off } = await endpoint('/off');
    await webhooks.change({ accountId, id: off.id, actor, enabled: false });
    const mine = accountId;
    accountId = await account();
    await endpoint('/other');
    accountId = mine;
    await happen('order.paid');
    await webhooks.deliverDue();
    expect(received.map(({ path }) => path).sort()).toEqual(['/all', '/orders']);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is tried again with growing pauses, and given up at last', async () => {
    await endpoint();
    answer = (response) => response.writeHead(500).end('secret of the receiver');
    await happen();
    for (const [i, pause] of retryPausesSeconds.entries()) {
      await webhooks.deliverDue();
      const delivery = await newest();
      expect(delivery).toMatchObject({ status: 'pending', attempts: i + 1 });
      const seconds = ((delivery?.nextAttemptAt?.getTime() ?? 0) - Date.now()) / 1000;
      expect(Math.abs(seconds - pause)).toBeLessThan(30);
      await webhooks.deliverDue();
      expect(received).toHaveLength(i + 1);
      await wait();
    }
    await webhooks.deliverDue();
    expect(await newest()).toMatchObject({
      status: 'failed',
      nextAttemptAt: null,
      attempts: retryPausesSeconds.length + 1,
    });
    const log = await webhooks.attempts([(await newest())?.id ?? '']);
    expect(new Set(log.map(({ problem }) => problem))).toEqual(new Set(['status_500']));
    expect(JSON.stringify(log)).not.toContain('secret of the receiver');
  });

  it('succeeds at a later attempt with the same id and body', async () => {
    await endpoint();
    answer = (response) => response.writeHead(503).end();
    await happen();
    await webhooks.deliverDue();
    answer = (response) => response.writeHead(200).end('ok');
    await wait();
    await webhooks.deliverDue();
    expect(await newest()).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(new Set(received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`)).size).toBe(1);
  });

  it('does not follow a redirect', async () => {
    await endpoint();
    answer = (response) => response.writeHead(302, { location: `${address}/elsewhere` }).end();
    await happen();
    await webhooks.deliverDue();
    expect(received.map(({ path }) => path)).toEqual(['/hook']);
    expect(await webhooks.attempts([(await newest())?.id ?? ''])).toMatchObject([{ problem: 'status_302' }]);
  });

  it('that gets no answer has a time-out', async () => {
    await endpoint();
    answer = () => {};
    await happen();
    const impatient = createWebhooks({ pool: database.pool, seal, checkAddress: () => null, timeoutMs: 200 });
    await impatient.deliverDue();
    await impatient.close();
    expect(await webhooks.attempts([(await newest())?.id ?? ''])).toMatchObject([{ status: null, problem: 'timeout' }]);
  });

  it('to an endpoint that is gone for good switches it off', async () => {
    const { endpoint: gone } = await endpoint();
    answer = (response) => response.writeHead(410).end();
    await happen();
    await webhooks.deliverDue();
    expect((await newest())?.status).toBe('failed');
    expect((await webhooks.find(accountId, gone.id))?.enabled).toBe(false);
  });

  it('leased by a process that died is taken over by another', async () => {
    await endpoint();
    await happen();
    // What a process leaves behind that died between taking it and answering.
    await database.pool.query(
      `UPDATE webhook_delivery SET attempts = 1, next_attempt_at = now() + interval '120 s' WHERE account_id = $1`,
      [accountId],
    );
    await webhooks.deliverDue();
    expect(received).toEqual([]);
    await wait();
    await webhooks.deliverDue();
    expect(received).toHaveLength(1);
  });

  it('is delivered again on request, as the same event', async () => {
    await endpoint();
    await happen();
    await webhooks.deliverDue();
    const old = await newest();
    const outcome = await webhooks.replay({ accountId, deliveryId: old?.id ?? '' });
    expect(outcome.kind).toBe('queued');
    await webhooks.deliverDue();
    const [first, second] = received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(await webhooks.deliveries({ accountId, limit: 10 })).toHaveLength(2);
  });

  it('can be tried out', async () => {
    const { endpoint: mine } = await endpoint('/hook', ['order.paid']);
    expect(await webhooks.sendTest({ accountId, id: mine.id })).toMatchObject({ event: 'webhook.test' });
    await webhooks.deliverDue();
    expect(received).toHaveLength(1);
  });
});

describe('an endpoint that hangs', () => {
  /** What has been tried for some accounts. */
  const tried = async (accounts: readonly string[]) => {
    const { rows } = await database.pool.query<{ count: bigint }>(
      `SELECT count(*) FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
       WHERE d.account_id = ANY ($1::uuid[])`,
      [accounts],
    );
    return Number(rows[0]?.count);
  };
  const arrived = (path: string) => received.some((each) => each.path === path);

  it.each([
    ['one account with 80 deliveries', 1, 80],
    ['twelve accounts', 12, 5],
  ])('keeps no delivery of another account waiting: %s', async (_, accounts, each) => {
    answer = (response, { path }) => void (path === '/hangs' ? null : response.writeHead(204).end());
    const patient = createWebhooks({ pool: database.pool, seal, checkAddress: () => null, timeoutMs: 20_000 });
    const hanging: string[] = [];
    for (let at = 0; at < accounts; at += 1) {
      accountId = await account();
      hanging.push(accountId);
      await endpoint('/hangs');
      for (let event = 0; event < each; event += 1) await happen();
    }
    const ending = new AbortController();
    const delivering = patient.deliverDue(ending.signal);
    await expect.poll(() => arrived('/hangs')).toBe(true);
    accountId = await account();
    await endpoint(`/prompt-${accounts}`);
    await happen();
    await expect.poll(() => arrived(`/prompt-${accounts}`)).toBe(true);
    // Before a single one of theirs has run into its timeout, of which eighty would take minutes.
    expect(await tried(hanging)).toBe(0);
    ending.abort();
    server.closeAllConnections();
    await delivering;
    await patient.close();
  });

  it('is remembered as slow until it answers promptly again', async () => {
    const { endpoint: mine } = await endpoint('/sleeps');
    const slowSince = async () => {
      const { rows } = await database.pool.query('SELECT slow_since FROM webhook_endpoint WHERE id = $1', [mine.id]);
      return rows;
    };
    answer = (response) => void setTimeout(() => response.writeHead(204).end(), 1_700);
    await happen();
    await webhooks.deliverDue();
    expect(await slowSince()).toEqual([{ slow_since: expect.any(Date) }]);
    answer = (response) => response.writeHead(204).end();
    await happen();
    await webhooks.deliverDue();
    expect(await slowSince()).toEqual([{ slow_since: null }]);
  });
});

describe('tests and replays', () => {
  it('are limited for an account, however many are asked for at once; events are not', async () => {
    const { endpoint: mine } = await endpoint();
    await happen();
    const old = (await newest())?.id ?? '';
    const asked = await Promise.all([
      ...Array.from({ length: 10 }, () => webhooks.sendTest({ accountId, id: mine.id })),
      ...Array.from({ length: 10 }, () => webhooks.replay({ accountId, deliveryId: old })),
    ]);
    const refused = asked.filter((outcome) => outcome !== null && 'kind' in outcome && outcome.kind === 'throttled');
    expect(refused).toHaveLength(10);
    expect(refused).toContainEqual({ kind: 'throttled', retryAfterS: expect.any(Number) });
    expect(await happen()).toBe(1);
    await database.pool.query(`UPDATE webhook_delivery SET created_at = created_at - interval '1 minute'`);
    expect(await webhooks.sendTest({ accountId, id: mine.id })).toMatchObject({ event: 'webhook.test' });
  });
});

describe('an endpoint', () => {
  it('belongs to its account: for others it does not exist', async () => {
    const { endpoint: mine } = await endpoint();
    await happen();
    const delivery = await newest();
    const other = await account();
    const ref = { accountId: other, id: mine.id, actor };
    expect(await webhooks.find(other, mine.id)).toBeNull();
    expect(await webhooks.list(other)).toEqual([]);
    expect(await webhooks.change({ ...ref, url: `${address}/stolen` })).toEqual({ kind: 'unknown_endpoint' });
    expect(await webhooks.rotateSecret(ref)).toEqual({ kind: 'unknown_endpoint' });
    expect(await webhooks.remove(ref)).toBeNull();
    expect(await webhooks.sendTest(ref)).toBeNull();
    expect(await webhooks.replay({ accountId: other, deliveryId: delivery?.id ?? '' })).toEqual({
      kind: 'unknown_delivery',
    });
    expect(await webhooks.deliveries({ accountId: other, limit: 5 })).toEqual([]);
    expect(await webhooks.findDelivery(other, delivery?.id ?? '')).toBeNull();
  });

  it('that was removed gets nothing more, not even what was due', async () => {
    const { endpoint: mine } = await endpoint();
    await happen();
    expect(await webhooks.remove({ accountId, id: mine.id, actor })).toMatchObject({ enabled: false });
    await happen();
    await wait();
    await webhooks.deliverDue();
    expect(received).toEqual([]);
    const old = await newest();
    expect(await webhooks.replay({ accountId, deliveryId: old?.id ?? '' })).toEqual({ kind: 'endpoint_closed' });
  });

  it('gets a new secret, and the old one signs nothing any more', async () => {
    const { endpoint: mine, secret: old } = await endpoint();
    const rotated = await webhooks.rotateSecret({ accountId, id: mine.id, actor });
    const secret = rotated.kind === 'rotated' ? rotated.secret : '';
    await happen();
    await webhooks.deliverDue();
    const [got] = received;
    const check = (by: string) =>
      isSignedWebhook({
        secret: by,
        headers: got?.headers as Record<string, string>,
        body: got?.body ?? '',
        now: new Date(),
      });
    expect([check(secret), check(old)]).toEqual([true, false]);
  });

  it('keeps its secret out of the database and of the audit', async () => {
    const { secret } = await endpoint('/hook?token=of-the-receiver');
    const bare = secret.slice('whsec_'.length);
    const { rows: sealed } = await database.pool.query<{ sealed: Buffer }>(
      'SELECT sealed FROM webhook_endpoint WHERE account_id = $1',
      [accountId],
    );
    expect(sealed[0]?.sealed.includes(Buffer.from(bare))).toBe(false);
    const { rows } = await database.pool.query('SELECT * FROM audit_entry');
    expect(JSON.stringify(rows)).not.toContain(bare);
    expect(JSON.stringify(rows)).not.toContain('of-the-receiver');
  });

  it('is one of at most ten, however many are asked for at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 15 }, () => webhooks.create({ accountId, actor, url: address })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(10);
  });

  it.each([
    ['url', { url: 'no address\u0000' }],
    ['url', { url: `https://example.com/${'x'.repeat(2_000)}` }],
    ['description', { description: 'a\u202e' }],
    ['events', { events: ['__proto__'] }],
  ])('is refused for its %s', async (field, changes) => {
    expect(await webhooks.create({ accountId, actor, url: address, ...changes })).toMatchObject({
      kind: 'invalid',
      field,
    });
  });
});

const strict = () =>
  createWebhooks({
    pool: database.pool,
    seal,
    checkAddress: (url) => checkBaseUrl(url, false),
    lookup: publicLookup,
  });

describe('addresses', () => {
  it.each([
    'http://example.com/hook',
    'https://127.0.0.1/hook',
    'https://[::1]/hook',
    'https://[::ffff:10.0.0.1]/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/hook',
    'https://user:password@example.com/hook',
    'https://2130706433/hook',
    'https://0x7f.1/hook',
    'ftp://example.com/',
    'javascript:alert(1)',
  ])('that must not be called are refused before they are stored: %s', async (url) => {
    const guarded = strict();
    expect(await guarded.create({ accountId, actor, url })).toMatchObject({ kind: 'invalid', field: 'url' });
    await guarded.close();
  });

  it('of receivers may carry a query', async () => {
    const guarded = strict();
    expect(await guarded.create({ accountId, actor, url: 'https://example.com/hook?token=1' })).toMatchObject({
      kind: 'created',
    });
    await guarded.close();
  });

  it('that were stored before are checked again, and nothing is sent', async () => {
    await endpoint();
    await happen();
    const guarded = strict();
    await guarded.deliverDue();
    expect(received).toEqual([]);
    expect(await guarded.attempts([(await newest())?.id ?? ''])).toMatchObject([
      { status: null, problem: 'address_refused' },
    ]);
    await guarded.close();
  });

  it('by a name that leads to a private one are refused at the connection', async () => {
    const guarded = createWebhooks({
      pool: database.pool,
      seal,
      checkAddress: () => null,
      // `localhost` represents a name that changed its address after it was checked.
      lookup: publicLookup,
    });
    const port = (server.address() as AddressInfo).port;
    await guarded.create({ accountId, actor, url: `http://localhost:${port}/hook` });
    await happen();
    await guarded.deliverDue();
    expect(received).toEqual([]);
    expect(await guarded.attempts([(await newest())?.id ?? ''])).toMatchObject([{ problem: 'address_refused' }]);
    await guarded.close();
  });
});
