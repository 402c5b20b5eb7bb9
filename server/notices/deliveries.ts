/** Deliveries of webhooks: events as they happen, tests, replays, and the record of every attempt. */

import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { lockEndpoint, only, type WebhookEvent } from './endpoints.ts';

export interface WebhookDelivery {
  id: string;
  endpointId: string;
  eventId: string;
  event: WebhookEvent;
  /** Exactly what is signed and sent. */
  body: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  nextAttemptAt: Date | null;
  createdAt: Date;
  deliveredAt: Date | null;
}

export interface WebhookAttempt {
  id: string;
  deliveryId: string;
  /** Null: no answer came. */
  status: number | null;
  /** Why the attempt failed; null when it succeeded. */
  problem: string | null;
  durationMs: number;
  createdAt: Date;
}

/** More tests and replays than an account may ask for in a minute. */
export interface WebhookThrottled {
  kind: 'throttled';
  retryAfterS: number;
}

export type ReplayOutcome =
  | { kind: 'queued'; delivery: WebhookDelivery }
  | { kind: 'unknown_delivery' }
  /** The endpoint was deleted or switched off. */
  | { kind: 'endpoint_closed' }
  | WebhookThrottled;

export interface DeliveryDeps {
  pool: Pool;
  now?: () => Date;
  /** Triggers the sender, once the transaction of the event has committed. */
  onDue?: () => void;
}

/** Tests and replays together: enough to set an endpoint up, too few to keep lanes busy. */
const byHandPerAccount = { deliveries: 10, windowS: 60 };
const keptDays = 30;

const deliveryColumns = `id, endpoint_id AS "endpointId", event_id AS "eventId", event, body, status, attempts,
  next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", delivered_at AS "deliveredAt"`;

/** The writers and readers of deliveries. */
export function createDeliveries(deps: DeliveryDeps) {
  const { pool, now = () => new Date() } = deps;

  /**
   * Records an event for every subscribed endpoint of the account, within the caller's transaction: it is delivered if
   * and only if that commits. Returns the number of endpoints.
   */
  async function recordEvent(
    client: ClientBase,
    event: { accountId: string; name: string; data: object },
  ): Promise<number> {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM webhook_endpoint
       WHERE account_id = $1 AND enabled AND deleted_at IS NULL AND (events = '{}' OR $2 = ANY (events)) ORDER BY id`,
      [event.accountId, event.name],
    );
    const eventId = uuidv7();
    const body = bodyOf({ ...event, eventId, createdAt: now() });
    for (const { id } of rows) await insertDelivery(client, { ...event, endpointId: id, eventId, body, byHand: false });
    if (rows.length > 0) deps.onDue?.();
    return rows.length;
  }

  /** Sends a test event to one endpoint, regardless of its chosen events. Null: there is no such endpoint. */
  function sendTest(input: { accountId: string; id: string }): Promise<WebhookDelivery | WebhookThrottled | null> {
    return repeatedTransaction(pool, async (client) => {
      const endpoint = await lockEndpoint(client, input);
      if (endpoint === null || !endpoint.enabled) return null;
      const throttled = await throttleByHand(client, input.accountId);
      if (throttled !== null) return throttled;
      const eventId = uuidv7();
      const event = { accountId: input.accountId, name: 'webhook.test', data: {} };
      const body = bodyOf({ ...event, eventId, createdAt: now() });
      deps.onDue?.();
      return insertDelivery(client, { ...event, endpointId: endpoint.id, eventId, body, byHand: true });
    });
  }

  /** Replays a delivery: a new delivery with the same event id and the same body. */
  function replay(input: { accountId: string; deliveryId: string }): Promise<ReplayOutcome> {
    return repeatedTransaction(pool, async (client): Promise<ReplayOutcome> => {
      const old = await findDelivery(client, input.accountId, input.deliveryId);
      if (old === null) return { kind: 'unknown_delivery' };
      const endpoint = await lockEndpoint(client, { accountId: input.accountId, id: old.endpointId });
      if (endpoint === null || !endpoint.enabled) return { kind: 'endpoint_closed' };
      const throttled = await throttleByHand(client, input.accountId);
      if (throttled !== null) return throttled;
      const delivery = await insertDelivery(client, {
        ...old,
        accountId: input.accountId,
        name: old.event,
        byHand: true,
      });
      deps.onDue?.();
      return { kind: 'queued', delivery };
    });
  }

  /** Deliveries of an account, or of one of its endpoints, newest first. `before` is the id of the last one seen. */
  async function deliveries(input: {
    accountId: string;
    endpointId?: string;
    limit: number;
    before?: string;
  }): Promise<WebhookDelivery[]> {
    const { rows } = await pool.query<WebhookDelivery>(
      `SELECT ${deliveryColumns} FROM webhook_delivery
       WHERE account_id = $1 AND ($2::uuid IS NULL OR endpoint_id = $2) AND ($3::uuid IS NULL OR id < $3)
       ORDER BY id DESC LIMIT $4`,
      [input.accountId, input.endpointId ?? null, input.before ?? null, input.limit],
    );
    return rows;
  }

  /** The account of a delivery; null: there is none. */
  async function accountOfDelivery(id: string): Promise<string | null> {
    if (!isUuid(id)) return null;
    const { rows } = await pool.query<{ accountId: string }>(
      'SELECT account_id AS "accountId" FROM webhook_delivery WHERE id = $1',
      [id],
    );
    return rows[0]?.accountId ?? null;
  }

  /** The attempts of some deliveries, oldest first. */
  async function attempts(deliveryIds: readonly string[]): Promise<WebhookAttempt[]> {
    const { rows } = await pool.query<WebhookAttempt>(
      `SELECT id, delivery_id AS "deliveryId", status, problem, duration_ms AS "durationMs", created_at AS "createdAt"
       FROM webhook_attempt WHERE delivery_id = ANY ($1::uuid[]) ORDER BY created_at, id`,
      [deliveryIds],
    );
    return rows;
  }

  /** Deletes deliveries after their retention, including those to endpoints that were switched off. */
  async function prune(): Promise<void> {
    // Locked rows wait for the next run.
    await pool.query(
      `DELETE FROM webhook_delivery WHERE id IN (
         SELECT id FROM webhook_delivery WHERE created_at < now() - make_interval(days => $1) FOR UPDATE SKIP LOCKED)`,
      [keptDays],
    );
  }

  return {
    recordEvent,
    sendTest,
    replay,
    deliveries,
    attempts,
    prune,
    accountOfDelivery,
    findDelivery: (accountId: string, id: string) => findDelivery(pool, accountId, id),
  };
}

/** Null: one more is allowed. Counted under a lock of the account, so that concurrent calls are all counted. */
async function throttleByHand(client: ClientBase, accountId: string): Promise<WebhookThrottled | null> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.webhooks-by-hand:' || $1, 0))`, [accountId]);
  const { rows } = await client.query<{ waitS: number }>(
    `SELECT extract(epoch FROM created_at + make_interval(secs => $3) - now())::float8 AS "waitS"
     FROM webhook_delivery
     WHERE account_id = $1 AND by_hand AND created_at > now() - make_interval(secs => $3)
     ORDER BY created_at DESC OFFSET $2 LIMIT 1`,
    [accountId, byHandPerAccount.deliveries - 1, byHandPerAccount.windowS],
  );
  const [oldest] = rows;
  return oldest === undefined ? null : { kind: 'throttled', retryAfterS: Math.max(1, Math.ceil(oldest.waitS)) };
}

function bodyOf(event: { eventId: string; accountId: string; name: string; data: object; createdAt: Date }): string {
  return JSON.stringify({
    id: event.eventId,
    type: event.name,
    created_at: event.createdAt.toISOString(),
    account_id: event.accountId,
    data: event.data,
  });
}

async function insertDelivery(
  client: ClientBase,
  delivery: { accountId: string; endpointId: string; eventId: string; name: string; body: string; byHand: boolean },
): Promise<WebhookDelivery> {
  const { rows } = await client.query<WebhookDelivery>(
    `INSERT INTO webhook_delivery (id, account_id, endpoint_id, event_id, event, body, by_hand, next_attempt_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now()) RETURNING ${deliveryColumns}`,
    [
      uuidv7(),
      delivery.accountId,
      delivery.endpointId,
      delivery.eventId,
      delivery.name,
      delivery.body,
      delivery.byHand,
    ],
  );
  return only(rows);
}

async function findDelivery(
  database: Pool | ClientBase,
  accountId: string,
  id: string,
): Promise<WebhookDelivery | null> {
  if (!isUuid(id)) return null;
  const { rows } = await database.query<WebhookDelivery>(
    `SELECT ${deliveryColumns} FROM webhook_delivery WHERE id = $1 AND account_id = $2`,
    [id, accountId],
  );
  return rows[0] ?? null;
}
