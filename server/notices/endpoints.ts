/** Webhook endpoints of an account, with their addresses and signing secrets. */

import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { type AuditAction, type AuditFacts, appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, shownText, shownTextOrNothing } from '../shared/input.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { createWebhookSecret } from './signature.ts';

const webhookEvents = [
  'balance.low',
  'balance.exhausted',
  'grant.expiring',
  'trial.ending',
  'spend.burn_rate',
  'key.limit_near',
  'price.changed',
  'model.incident',
  'sign_in.new',
  'order.partial',
  'order.paid',
  'webhook.test',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

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

export type EndpointProblem = InvalidInput<keyof EndpointTerms>;
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
/** Seals the signing secrets, each bound to its row. */
export interface SecretSeal {
  seal(place: { table: string; rowId: string; column: string }, text: string): Buffer;
  unseal(place: { table: string; rowId: string; column: string }, sealed: Uint8Array): string | null;
}

export interface EndpointDeps {
  pool: Pool;
  seal: Pick<SecretSeal, 'seal'>;
  /** Checks an address before anything is sent there; null: no problem. It gets the address without its query. */
  checkAddress: (url: string) => string | null;
}

const maxEndpoints = 10;
const maxUrlLength = 2_000;

const endpointColumns = `id, account_id AS "accountId", url, description, events, enabled, created_at AS "createdAt"`;

/** The writers of endpoints. Every change is audited, and none touches an endpoint of another account. */
export function createEndpoints(deps: EndpointDeps) {
  const { pool } = deps;
  const termsShape = shapeOfTerms(deps.checkAddress);

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
      const problem = checkInput(termsShape, terms);
      if (problem !== null) return problem;
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.webhooks:' || $1, 0))`, [
        input.accountId,
      ]);
      if ((await listEndpoints(client, input.accountId)).length >= maxEndpoints)
        return { kind: 'too_many_endpoints', limit: maxEndpoints };
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
      const problem = checkInput(termsShape, terms);
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

  /** Removes an endpoint; its pending deliveries are dropped. Null: there was none. */
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

  /** An endpoint of any account: the caller checks the ownership. */
  async function findAny(id: string): Promise<WebhookEndpoint | null> {
    if (!isUuid(id)) return null;
    const { rows } = await pool.query<WebhookEndpoint>(
      `SELECT ${endpointColumns} FROM webhook_endpoint WHERE id = $1 AND deleted_at IS NULL`,
      [id],
    );
    return rows[0] ?? null;
  }

  return {
    create,
    change,
    rotateSecret,
    remove,
    findAny,
    list: (accountId: string) => listEndpoints(pool, accountId),
    find: (accountId: string, id: string) => findEndpoint(pool, accountId, id),
  };
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

/** An endpoint of the account under lock; null: there is none. */
export async function lockEndpoint(
  client: ClientBase,
  { accountId, id }: { accountId: string; id: string },
): Promise<WebhookEndpoint | null> {
  if (!isUuid(id)) return null;
  // A weak lock: transactions that move money record events for this endpoint meanwhile.
  await client.query('SELECT FROM webhook_endpoint WHERE id = $1 AND account_id = $2 FOR NO KEY UPDATE', [
    id,
    accountId,
  ]);
  return findEndpoint(client, accountId, id);
}

/** `checkAddress` decides whether the server may call an address. */
function shapeOfTerms(checkAddress: EndpointDeps['checkAddress']) {
  return z.object({
    url: shownText(maxUrlLength).refine(
      (url) => checkAddress(bareAddress(url)) === null,
      'must be a public https address without user name and password',
    ),
    description: shownTextOrNothing(200),
    events: z
      .array(z.string())
      .refine((names) => names.every((name) => known.has(name)), 'must be names of events')
      .readonly(),
    enabled: z.boolean(),
  });
}

const known: ReadonlySet<string> = new Set(webhookEvents);

/** An address without its query, which is the receiver's business and does not decide where it leads. */
export function bareAddress(text: string): string {
  return text.replace(/\?[^#]*/, '');
}

/** The row of an endpoint's secret: a sealed text opens nowhere else. */
export function placeOfWebhookSecret(endpointId: string) {
  return { table: 'webhook_endpoint', rowId: endpointId, column: 'sealed' };
}

function distinct(events: readonly string[]): string[] {
  return [...new Set(events)];
}

function audit(
  client: ClientBase,
  actor: string,
  action: AuditAction,
  before: WebhookEndpoint | null,
  after: WebhookEndpoint | null,
): Promise<void> {
  const subject = `webhook:${(after ?? before)?.id ?? ''}`;
  return appendAudit(client, { actor, action, subject, before: facts(before), after: facts(after) });
}

function facts(endpoint: WebhookEndpoint | null): AuditFacts | null {
  if (endpoint === null) return null;
  const { accountId, url, description, events, enabled } = endpoint;
  // An address may carry a token of the receiver in its query.
  return { accountId, url: url.split('?')[0] ?? '', description, events, enabled };
}

/** The row of a statement that always returns one. */
export function only<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('a row that was just written is missing');
  return row;
}
