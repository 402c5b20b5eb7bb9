import { type AccountEntry, accountEntryOf } from '../billing/reads/usage.ts';
import type { Queryable } from '../database/pool.ts';

/** Queries for the operator: charges below their cost, doubtful token counts, open holds. */

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

/** Requests whose cost could not be charged in full, because no budget was left. */
export const listShortfalls = (db: Queryable, window: Window): Promise<AccountEntry[]> =>
  listEntries(db, 'charged < cost', window);

/** Requests whose token counts were cut to what is possible, or estimated. */
export const listDoubtful = (db: Queryable, window: Window): Promise<AccountEntry[]> =>
  listEntries(db, "usage_source IN ('clamped', 'estimated')", window);

async function listEntries(db: Queryable, condition: string, { from, after, limit }: Window): Promise<AccountEntry[]> {
  const { rows } = await db.query(
    `SELECT * FROM ledger_entry WHERE ${condition} AND request_id >= uuid_at($1) AND request_id < $2
      ORDER BY request_id DESC LIMIT $3`,
    [from, after ?? lastUuid, limit],
  );
  return rows.map(accountEntryOf);
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
