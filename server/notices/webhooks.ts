import type { LookupFunction } from 'node:net';
import type { ClientBase, Pool } from 'pg';
import { Agent, request } from 'undici';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../runtime/http.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { textProblem } from '../shared/plain-text.ts';
import { isUuid } from '../shared/uuid.ts';
import { createWebhookSecret, signWebhook } from './signature.ts';

/**
 * Customers' webhooks: events are written down in the transaction in which they happen, and delivered afterwards, again
 * and again with growing pauses, until the endpoint answers with 2xx or patience ends. Deliveries may arrive more than
 * once and out of order: `webhook-id` is the same for every delivery of an event.
 */

export const webhookEvents = [
  'balance.low',
  'balance.exhausted',
  'grant.expiring',
  'trial.ending',
  'order.partial',
  'order.paid',
  'webhook.test',
] as const;
type WebhookEvent = (typeof webhookEvents)[number];

export interface WebhookEndpoint {
  id: string;
  accountId: string;
  url: string;
  description: string;
  /** Empty: all. */
  events: WebhookEvent[];
  enabled: boolean;
  createdAt: Date;
}

export interface EndpointTerms {
  url: string;
  description: string;
  events: readonly string[];
  enabled: boolean;
}

export type EndpointProblem = { kind: 'invalid'; field: keyof EndpointTerms; message: string };
export type CreateEndpointOutcome =
  /** The only time that the secret is shown. */
  | { kind: 'created'; endpoint: WebhookEndpoint; secret: string }
  | { kind: 'too_many_endpoints'; limit: number }
  | EndpointProblem;
export type ChangeEndpointOutcome =
  | { kind: 'changed'; endpoint: WebhookEndpoint }
  | { kind: 'unknown_endpoint' }
  | EndpointProblem;
export type RotateSecretOutcome =
  | { kind: 'rotated'; endpoint: WebhookEndpoint; secret: string }
  | { kind: 'unknown_endpoint' };
export type ReplayOutcome =
  | { kind: 'queued'; delivery: WebhookDelivery }
  | { kind: 'unknown_delivery' }
  /** The endpoint is gone or switched off. */
  | { kind: 'endpoint_closed' };

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
  /** Why it did not count; null when it did. */
  problem: string | null;
  durationMs: number;
  createdAt: Date;
}

/** Keeps the signing secrets; bound to the place where each is kept. */
interface SecretSeal {
  seal(place: { table: string; rowId: string; column: string }, text: string): Buffer;
  unseal(place: { table: string; rowId: string; column: string }, sealed: Uint8Array): string | null;
}

export interface WebhookDeps {
  /** Must read BIGINT as `bigint` (the types of the money lane). */
  pool: Pool;
  seal: SecretSeal;
  /**
   * What is wrong with an address before anything is sent there; null: nothing. Asked again at every delivery. It gets
   * the address without its query.
   */
  checkAddress: (url: string) => string | null;
  /** Resolves names to public addresses only; the connection goes to the very address it returned. */
  lookup?: LookupFunction;
  timeoutMs?: number;
  now?: () => Date;
  /** Something is to be delivered, once the transaction that wrote it down has committed. */
  onDue?: () => void;
}

const mostEndpoints = 10;
const longestUrl = 2_000;
const defaultTimeoutMs = 10_000;
/** How long one process may take over a delivery before another one tries. Longer than the time-out. */
const leaseSeconds = 120;
const lanes = 8;
/** Pauses after the first, second, … failed attempt: about a day and a half in all. */
export const retryPausesSeconds: readonly number[] = [60, 300, 1_800, 7_200, 18_000, 36_000, 64_800];
const keptDays = 30;

const endpointColumns = `id, account_id AS "accountId", url, description, events, enabled, created_at AS "createdAt"`;
const deliveryColumns = `id, endpoint_id AS "endpointId", event_id AS "eventId", event, body, status, attempts,
  next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", delivered_at AS "deliveredAt"`;

export function createWebhooks(deps: WebhookDeps) {
  const { pool, timeoutMs = defaultTimeoutMs, now = () => new Date() } = deps;
  const agent = new Agent({
    connect: { timeout: timeoutMs, ...(deps.lookup === undefined ? {} : { lookup: deps.lookup }) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: 65_536,
    pipelining: 0,
  });

  /** Adds an endpoint. Its secret is returned here and nowhere else. */
  function create(
    input: { accountId: string; actor: string } & Partial<EndpointTerms> & { url: string },
  ): Promise<CreateEndpointOutcome> {
    return repeatedTransaction(pool, async (client): Promise<CreateEndpointOutcome> => {
      const terms = {
        url: input.url,
        description: input.description ?? '',
        events: input.events ?? [],
        enabled: input.enabled ?? true,
      };
      const problem = termsProblem(terms, deps.checkAddress);
      if (problem !== null) return problem;
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.webhooks:' || $1, 0))`, [
        input.accountId,
      ]);
      if ((await listEndpoints(client, input.accountId)).length >= mostEndpoints)
        return { kind: 'too_many_endpoints', limit: mostEndpoints };
      const id = uuidv7();
      const secret = createWebhookSecret();
      const { rows } = await client.query<WebhookEndpoint>(
        `INSERT INTO webhook_endpoint (id, account_id, url, description, events, enabled, sealed)
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${endpointColumns}`,
        [
          id,
          input.accountId,
          terms.url,
          terms.description,
          distinct(terms.events),
          terms.enabled,
          deps.seal.seal(placeOfWebhookSecret(id), secret),
        ],
      );
      const endpoint = only(rows);
      await audit(client, input.actor, 'webhook.create', null, endpoint);
      return { kind: 'created', endpoint, secret };
    });
  }

  /** Changes what is given and leaves the rest. */
  function change(
    input: { accountId: string; id: string; actor: string } & Partial<EndpointTerms>,
  ): Promise<ChangeEndpointOutcome> {
    return repeatedTransaction(pool, async (client): Promise<ChangeEndpointOutcome> => {
      const before = await lockEndpoint(client, input);
      if (before === null) return { kind: 'unknown_endpoint' };
      const terms = {
        url: input.url ?? before.url,
        description: input.description ?? before.description,
        events: input.events ?? before.events,
        enabled: input.enabled ?? before.enabled,
      };
      const problem = termsProblem(terms, deps.checkAddress);
      if (problem !== null) return problem;
      const { rows } = await client.query<WebhookEndpoint>(
        `UPDATE webhook_endpoint SET url = $2, description = $3, events = $4, enabled = $5 WHERE id = $1
         RETURNING ${endpointColumns}`,
        [input.id, terms.url, terms.description, distinct(terms.events), terms.enabled],
      );
      const endpoint = only(rows);
      await audit(client, input.actor, 'webhook.change', before, endpoint);
      return { kind: 'changed', endpoint };
    });
  }

  /** Gives an endpoint a new secret; deliveries from then on are signed with it. */
  function rotateSecret(input: { accountId: string; id: string; actor: string }): Promise<RotateSecretOutcome> {
    return repeatedTransaction(pool, async (client): Promise<RotateSecretOutcome> => {
      const endpoint = await lockEndpoint(client, input);
      if (endpoint === null) return { kind: 'unknown_endpoint' };
      const secret = createWebhookSecret();
      await client.query('UPDATE webhook_endpoint SET sealed = $2 WHERE id = $1', [
        endpoint.id,
        deps.seal.seal(placeOfWebhookSecret(endpoint.id), secret),
      ]);
      await audit(client, input.actor, 'webhook.rotate', endpoint, endpoint);
      return { kind: 'rotated', endpoint, secret };
    });
  }

  /** Removes an endpoint; what was still to be delivered to it is not. Null: there was none. */
  function remove(input: { accountId: string; id: string; actor: string }): Promise<WebhookEndpoint | null> {
    return repeatedTransaction(pool, async (client) => {
      const before = await lockEndpoint(client, input);
      if (before === null) return null;
      await client.query('UPDATE webhook_endpoint SET deleted_at = now(), enabled = false WHERE id = $1', [input.id]);
      await client.query(
        `UPDATE webhook_delivery SET status = 'failed', next_attempt_at = NULL WHERE endpoint_id = $1 AND status = 'pending'`,
        [input.id],
      );
      await audit(client, input.actor, 'webhook.delete', before, null);
      return { ...before, enabled: false };
    });
  }

  /**
   * Writes an event down for every endpoint of the account that wants it, within the caller's transaction: it is
   * delivered if and only if that commits. Returns how many endpoints will hear of it.
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
    for (const { id } of rows) await insertDelivery(client, { ...event, endpointId: id, eventId, body });
    if (rows.length > 0) deps.onDue?.();
    return rows.length;
  }

  /** Sends a test event to one endpoint, whatever events it has chosen. Null: there is no such endpoint. */
  function sendTest(input: { accountId: string; id: string }): Promise<WebhookDelivery | null> {
    return repeatedTransaction(pool, async (client) => {
      const endpoint = await lockEndpoint(client, input);
      if (endpoint === null || !endpoint.enabled) return null;
      const eventId = uuidv7();
      const event = { accountId: input.accountId, name: 'webhook.test', data: {} };
      const body = bodyOf({ ...event, eventId, createdAt: now() });
      deps.onDue?.();
      return insertDelivery(client, { ...event, endpointId: endpoint.id, eventId, body });
    });
  }

  /** Delivers something again, as a delivery of its own with the same event id and the same body. */
  function replay(input: { accountId: string; deliveryId: string }): Promise<ReplayOutcome> {
    return repeatedTransaction(pool, async (client): Promise<ReplayOutcome> => {
      const old = await findDelivery(client, input.accountId, input.deliveryId);
      if (old === null) return { kind: 'unknown_delivery' };
      const endpoint = await lockEndpoint(client, { accountId: input.accountId, id: old.endpointId });
      if (endpoint === null || !endpoint.enabled) return { kind: 'endpoint_closed' };
      const delivery = await insertDelivery(client, { ...old, accountId: input.accountId, name: old.event });
      deps.onDue?.();
      return { kind: 'queued', delivery };
    });
  }

  /** Deliveries of an account, or of one endpoint of it, the newest first. `before` is the id of the last one seen. */
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

  /** An endpoint of any account: whoever asks checks whose it is. */
  async function findAny(id: string): Promise<WebhookEndpoint | null> {
    if (!isUuid(id)) return null;
    const { rows } = await pool.query<WebhookEndpoint>(
      `SELECT ${endpointColumns} FROM webhook_endpoint WHERE id = $1 AND deleted_at IS NULL`,
      [id],
    );
    return rows[0] ?? null;
  }

  /** Whose a delivery is; null: there is none. */
  async function accountOfDelivery(id: string): Promise<string | null> {
    if (!isUuid(id)) return null;
    const { rows } = await pool.query<{ accountId: string }>(
      'SELECT account_id AS "accountId" FROM webhook_delivery WHERE id = $1',
      [id],
    );
    return rows[0]?.accountId ?? null;
  }

  /** What was tried for some deliveries, the oldest first. */
  async function attempts(deliveryIds: readonly string[]): Promise<WebhookAttempt[]> {
    const { rows } = await pool.query<WebhookAttempt>(
      `SELECT id, delivery_id AS "deliveryId", status, problem, duration_ms AS "durationMs", created_at AS "createdAt"
       FROM webhook_attempt WHERE delivery_id = ANY ($1::uuid[]) ORDER BY created_at, id`,
      [deliveryIds],
    );
    return rows;
  }

  /**
   * Delivers what is due, several at a time, and returns how many attempts were made. Any number of processes may call
   * it at once: each delivery is leased to one, and comes back when that one dies.
   */
  async function deliverDue(signal?: AbortSignal): Promise<number> {
    let made = 0;
    const next = () => (signal?.aborted === true ? null : lease(pool));
    const lane = async () => {
      for (let due = await next(); due !== null; due = await next()) {
        await attempt(due);
        made += 1;
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return made;
  }

  async function attempt(due: Leased): Promise<void> {
    const start = performance.now();
    const { status, problem } = await send(due);
    const durationMs = Math.round(performance.now() - start);
    const pause = problem === null ? null : (retryPausesSeconds[due.attempts - 1] ?? null);
    const state = problem === null ? 'delivered' : pause === null || status === 410 ? 'failed' : 'pending';
    await repeatedTransaction(pool, async (client) => {
      // Gone for good, as the endpoint itself says. The endpoint before its deliveries, as everybody who writes both.
      if (status === 410)
        await client.query('UPDATE webhook_endpoint SET enabled = false WHERE id = $1', [due.endpointId]);
      await client.query(
        'INSERT INTO webhook_attempt (id, delivery_id, status, problem, duration_ms) VALUES ($1, $2, $3, $4, $5)',
        [uuidv7(), due.id, status, problem, durationMs],
      );
      await client.query(
        `UPDATE webhook_delivery SET status = $2, delivered_at = CASE WHEN $2 = 'delivered' THEN now() END,
                next_attempt_at = CASE WHEN $2 = 'pending' THEN now() + make_interval(secs => $3) END
         WHERE id = $1 AND status = 'pending'`,
        [due.id, state, pause ?? 0],
      );
    });
  }

  /** Sends one delivery. The problem is a word of ours: nothing that a private network answered leaks to the customer. */
  async function send(due: Leased): Promise<{ status: number | null; problem: string | null }> {
    const secret = deps.seal.unseal(placeOfWebhookSecret(due.endpointId), due.sealed);
    if (secret === null) return { status: null, problem: 'secret_lost' };
    if (deps.checkAddress(bareAddress(due.url)) !== null) return { status: null, problem: 'address_refused' };
    try {
      const response = await request(due.url, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'steyg-webhooks/1',
          'accept-encoding': 'identity',
          ...signWebhook({ secret, id: due.eventId, body: due.body, now: now() }),
        },
        body: due.body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body.dump({ limit: 65_536 });
      const { statusCode: status } = response;
      // Redirects are not followed: the new address was never checked.
      return { status, problem: status >= 200 && status < 300 ? null : `status_${status}` };
    } catch (error) {
      return { status: null, problem: problemOf(error) };
    }
  }

  /** Forgets deliveries that nobody asks about any more, those to endpoints that were switched off included. */
  async function prune(): Promise<void> {
    // What somebody is at stays for the next time: nobody waits for so many rows.
    await pool.query(
      `DELETE FROM webhook_delivery WHERE id IN (
         SELECT id FROM webhook_delivery WHERE created_at < now() - make_interval(days => $1) FOR UPDATE SKIP LOCKED)`,
      [keptDays],
    );
  }

  return {
    create,
    change,
    rotateSecret,
    remove,
    recordEvent,
    sendTest,
    replay,
    deliveries,
    attempts,
    deliverDue,
    prune,
    list: (accountId: string) => listEndpoints(pool, accountId),
    find: (accountId: string, id: string) => findEndpoint(pool, accountId, id),
    findDelivery: (accountId: string, id: string) => findDelivery(pool, accountId, id),
    findAny,
    accountOfDelivery,
    close: () => agent.close(),
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;

interface Leased {
  id: string;
  endpointId: string;
  eventId: string;
  body: string;
  attempts: number;
  url: string;
  sealed: Buffer;
}

async function lease(pool: Pool): Promise<Leased | null> {
  const { rows } = await pool.query<Leased>(
    `UPDATE webhook_delivery d SET attempts = d.attempts + 1, next_attempt_at = now() + make_interval(secs => $1)
     FROM webhook_endpoint e
     WHERE e.id = d.endpoint_id AND d.id = (
       SELECT due.id FROM webhook_delivery due JOIN webhook_endpoint open ON open.id = due.endpoint_id AND open.enabled
       WHERE due.status = 'pending' AND due.next_attempt_at <= now()
       ORDER BY due.next_attempt_at LIMIT 1 FOR UPDATE OF due SKIP LOCKED)
     RETURNING d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.body, d.attempts, e.url, e.sealed`,
    [leaseSeconds],
  );
  return rows[0] ?? null;
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
  delivery: { accountId: string; endpointId: string; eventId: string; name: string; body: string },
): Promise<WebhookDelivery> {
  const { rows } = await client.query<WebhookDelivery>(
    `INSERT INTO webhook_delivery (id, account_id, endpoint_id, event_id, event, body, next_attempt_at)
     VALUES ($1, $2, $3, $4, $5, $6, now()) RETURNING ${deliveryColumns}`,
    [uuidv7(), delivery.accountId, delivery.endpointId, delivery.eventId, delivery.name, delivery.body],
  );
  return only(rows);
}

async function listEndpoints(database: Pool | ClientBase, accountId: string): Promise<WebhookEndpoint[]> {
  const { rows } = await database.query<WebhookEndpoint>(
    `SELECT ${endpointColumns} FROM webhook_endpoint WHERE account_id = $1 AND deleted_at IS NULL ORDER BY id`,
    [accountId],
  );
  return rows;
}

async function findEndpoint(
  database: Pool | ClientBase,
  accountId: string,
  id: string,
): Promise<WebhookEndpoint | null> {
  if (!isUuid(id)) return null;
  const { rows } = await database.query<WebhookEndpoint>(
    `SELECT ${endpointColumns} FROM webhook_endpoint WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

async function lockEndpoint(
  client: ClientBase,
  { accountId, id }: { accountId: string; id: string },
): Promise<WebhookEndpoint | null> {
  if (!isUuid(id)) return null;
  // Not so strong that events could not be written down for it meanwhile: they happen in transactions that move money.
  await client.query('SELECT FROM webhook_endpoint WHERE id = $1 AND account_id = $2 FOR NO KEY UPDATE', [
    id,
    accountId,
  ]);
  return findEndpoint(client, accountId, id);
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

function termsProblem(terms: EndpointTerms, checkAddress: WebhookDeps['checkAddress']): EndpointProblem | null {
  const invalid = (field: keyof EndpointTerms, message: string): EndpointProblem => ({
    kind: 'invalid',
    field,
    message,
  });
  const urlProblem = textProblem(terms.url, longestUrl);
  if (urlProblem !== null) return invalid('url', urlProblem);
  if (checkAddress(bareAddress(terms.url)) !== null)
    return invalid('url', 'must be a public https address without user name and password');
  const described = terms.description === '' ? null : textProblem(terms.description, 200);
  if (described !== null) return invalid('description', described);
  const unknown = terms.events.find((name) => !(webhookEvents as readonly string[]).includes(name));
  return unknown === undefined ? null : invalid('events', 'must be names of events');
}

/** An address without its query, which is the receiver's business and decides nothing about where it leads. */
function bareAddress(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.search = '';
  return url.href;
}

/** A word for what went wrong on the way. Addresses that were refused and names without address look alike. */
function problemOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'TimeoutError' || code?.endsWith('_TIMEOUT') === true || code === 'ETIMEDOUT') return 'timeout';
  if (code === 'PRIVATE_ADDRESS' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'address_refused';
  return 'no_connection';
}

/** Where the secret of an endpoint is kept: a sealed text opens nowhere else. */
export function placeOfWebhookSecret(endpointId: string) {
  return { table: 'webhook_endpoint', rowId: endpointId, column: 'sealed' };
}

function distinct(events: readonly string[]): string[] {
  return [...new Set(events)];
}

function audit(
  client: ClientBase,
  actor: string,
  action: string,
  before: WebhookEndpoint | null,
  after: WebhookEndpoint | null,
): Promise<void> {
  const subject = `webhook:${(after ?? before)?.id ?? ''}`;
  return appendAudit(client, { actor, action, subject, before: facts(before), after: facts(after) });
}

function facts(endpoint: WebhookEndpoint | null): AuditFacts | null {
  if (endpoint === null) return null;
  const { accountId, url, description, events, enabled } = endpoint;
  // Addresses may carry a token of the receiver's in their query.
  return { accountId, url: url.split('?')[0] ?? '', description, events, enabled };
}

function only<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('a row that was just written is missing');
  return row;
}
