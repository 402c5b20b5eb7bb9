/** Sends due deliveries, several at a time and fair among accounts, and records every attempt. */

import type { Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { deliverDue } from './deliver-due.ts';
import { bareAddress, placeOfWebhookSecret, type SecretSeal } from './endpoints.ts';
import { createPoster, maxAnswerBytes, type PosterDeps } from './poster.ts';
import { signWebhook } from './signature.ts';

export interface SenderDeps extends PosterDeps {
  pool: Pool;
  seal: Pick<SecretSeal, 'unseal'>;
  now?: () => Date;
}

/** The lease of a delivery: after it another process tries. Longer than the timeout. */
const leaseSeconds = 120;
/** Delays after the first, second, … failed attempt: about a day and a half in total. */
export const retryPausesSeconds: readonly number[] = [60, 300, 1_800, 7_200, 18_000, 36_000, 64_800];

/**
 * Deliveries in flight in one process. An attempt that has run for `slowMs` releases its prompt lane and counts as
 * slow, and an endpoint that was slow last time starts as slow: hanging endpoints fill the slow lanes, never the prompt
 * ones.
 */
const limits = { prompt: 8, slow: 24, perAccount: 2, slowMs: 1_500 };

interface UnderWay {
  accountId: string;
  slow: boolean;
}

/** The sender of one process. `close` does not wait: deliveries in flight are leased again by another process. */
export function createSender(deps: SenderDeps) {
  const { pool } = deps;
  const { send, close } = createTransport(deps);
  const underWay = new Set<UnderWay>();

  /** The next delivery within the limits, with its lane. */
  async function leaseNext(): Promise<(() => Promise<void>) | null> {
    const slow = [...underWay].filter((each) => each.slow).length;
    if (underWay.size - slow >= limits.prompt) return null;
    const perAccount = Map.groupBy(underWay, ({ accountId }) => accountId);
    const busy = [...perAccount].filter(([, places]) => places.length >= limits.perAccount).map(([id]) => id);
    // Counted before the query, because concurrent calls count it meanwhile.
    const place: UnderWay = { accountId: '', slow: false };
    underWay.add(place);
    try {
      const leased = await lease(pool, { busy, promptOnly: slow >= limits.slow });
      if (leased === null) return null;
      place.accountId = leased.accountId;
      place.slow = leased.slow;
      return () => attempt(leased, place).finally(() => underWay.delete(place));
    } finally {
      if (place.accountId === '') underWay.delete(place);
    }
  }

  async function attempt(due: Leased, place: UnderWay): Promise<void> {
    const start = performance.now();
    const turningSlow = setTimeout(() => (place.slow = true), limits.slowMs);
    const { status, problem } = await send(due).finally(() => clearTimeout(turningSlow));
    const durationMs = Math.round(performance.now() - start);
    const slow = durationMs >= limits.slowMs;
    const pause = problem === null ? null : (retryPausesSeconds[due.attempts - 1] ?? null);
    const state = problem === null ? 'delivered' : pause === null || status === 410 ? 'failed' : 'pending';
    await repeatedTransaction(pool, async (client) => {
      // 410: the endpoint is gone for good. Lock order: the endpoint before its deliveries.
      if (status === 410)
        await client.query('UPDATE webhook_endpoint SET enabled = false WHERE id = $1', [due.endpointId]);
      else if (slow !== due.slow)
        await client.query('UPDATE webhook_endpoint SET slow_since = CASE WHEN $2 THEN now() END WHERE id = $1', [
          due.endpointId,
          slow,
        ]);
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

  return { deliverDue: (signal?: AbortSignal) => deliverDue(leaseNext, signal), close };
}

/** The way to endpoints: checked and signed. */
function createTransport(deps: SenderDeps) {
  const { now = () => new Date() } = deps;
  const poster = createPoster(deps, 'steyg-webhooks/1');

  /** Sends one delivery. The problem is one of our own words: no answer of a private network leaks to the customer. */
  async function send(due: Leased): Promise<{ status: number | null; problem: string | null }> {
    const secret = deps.seal.unseal(placeOfWebhookSecret(due.endpointId), due.sealed);
    if (secret === null) return { status: null, problem: 'secret_lost' };
    if (deps.checkAddress(bareAddress(due.url)) !== null) return { status: null, problem: 'address_refused' };
    try {
      const headers = signWebhook({ secret, id: due.eventId, body: due.body, now: now() });
      const { statusCode: status, body } = await poster.post(due.url, due.body, headers);
      await body.dump({ limit: maxAnswerBytes });
      return { status, problem: status >= 200 && status < 300 ? null : `status_${status}` };
    } catch (error) {
      return { status: null, problem: problemOf(error) };
    }
  }

  return { send, close: poster.close };
}

interface Leased {
  id: string;
  accountId: string;
  endpointId: string;
  /** The endpoint was slow last time. */
  slow: boolean;
  eventId: string;
  body: string;
  attempts: number;
  url: string;
  sealed: Buffer;
}

/** The delivery that has been due longest, except for `busy` accounts and, if `promptOnly`, slow endpoints. */
async function lease(pool: Pool, skip: { busy: string[]; promptOnly: boolean }): Promise<Leased | null> {
  const { rows } = await pool.query<Leased>(
    `UPDATE webhook_delivery d SET attempts = d.attempts + 1, next_attempt_at = now() + make_interval(secs => $1)
     FROM webhook_endpoint e
     WHERE e.id = d.endpoint_id AND d.id = (
       SELECT due.id FROM webhook_delivery due JOIN webhook_endpoint open ON open.id = due.endpoint_id AND open.enabled
       WHERE due.status = 'pending' AND due.next_attempt_at <= now()
         AND due.account_id <> ALL ($2::uuid[]) AND (open.slow_since IS NULL OR NOT $3)
       ORDER BY due.next_attempt_at LIMIT 1 FOR UPDATE OF due SKIP LOCKED)
     RETURNING d.id, d.account_id AS "accountId", e.slow_since IS NOT NULL AS slow, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.body, d.attempts, e.url, e.sealed`,
    [leaseSeconds, skip.busy, skip.promptOnly],
  );
  return rows[0] ?? null;
}

/** A word for a network failure. Refused addresses and unresolvable names look alike. */
function problemOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'TimeoutError' || code?.endsWith('_TIMEOUT') === true || code === 'ETIMEDOUT') return 'timeout';
  if (code === 'PRIVATE_ADDRESS' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'address_refused';
  return 'no_connection';
}
