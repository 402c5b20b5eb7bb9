import type { Outcome } from '../core/outcome.ts';
import type { Queryable } from '../database/pool.ts';

/** Queries for the operator: charges below their cost, doubtful token counts, open holds. */

/** A request whose cost could not be charged in full, because no budget was left. */
export interface Shortfall {
  accountId: string;
  requestId: string;
  createdAt: Date;
  model: string;
  cost: bigint;
  charged: bigint;
}

/** A request whose token counts are doubtful. */
export interface DoubtfulEntry {
  accountId: string;
  requestId: string;
  createdAt: Date;
  model: string;
  upstream: string;
  usageSource: 'clamped' | 'estimated';
  outcome: Outcome;
  cost: bigint;
}

/** Budget that a running request holds. */
export interface OpenHold {
  accountId: string;
  requestId: string;
  keyId: string;
  amount: bigint;
  heldAt: Date;
}

/** A request id contains its time, so a range of time is a range of ids. */
interface Window {
  from: Date;
  /** Cursor of a list that is sorted newest first: the last request of the previous page. */
  after: string | null;
  limit: number;
}

const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export async function listShortfalls(db: Queryable, { from, after, limit }: Window): Promise<Shortfall[]> {
  const { rows } = await db.query<Shortfall>(
    `SELECT account_id AS "accountId", request_id AS "requestId", created_at AS "createdAt", model, cost, charged
       FROM ledger_entry
      WHERE charged < cost AND request_id >= uuid_at($1) AND request_id < $2
      ORDER BY request_id DESC LIMIT $3`,
    [from, after ?? lastUuid, limit],
  );
  return rows;
}

export async function listDoubtful(db: Queryable, { from, after, limit }: Window): Promise<DoubtfulEntry[]> {
  const { rows } = await db.query<DoubtfulEntry>(
    `SELECT account_id AS "accountId", request_id AS "requestId", created_at AS "createdAt", model, upstream,
            usage_source AS "usageSource", outcome, cost
       FROM ledger_entry
      WHERE usage_source IN ('clamped', 'estimated') AND request_id >= uuid_at($1) AND request_id < $2
      ORDER BY request_id DESC LIMIT $3`,
    [from, after ?? lastUuid, limit],
  );
  return rows;
}

/** Oldest first, so that stuck holds come first. */
export async function listHolds(db: Queryable, limit: number): Promise<OpenHold[]> {
  const { rows } = await db.query<OpenHold>(
    `SELECT account_id AS "accountId", request_id AS "requestId", key_id AS "keyId", amount, held_at AS "heldAt"
       FROM hold WHERE NOT escrow ORDER BY held_at, request_id LIMIT $1`,
    [limit],
  );
  return rows;
}
