import type { PicoUsd } from '../core/money.ts';
import type { Queryable } from '../database/pool.ts';
import { uuidv7 } from '../shared/uuid.ts';

/** Adds grants to accounts and ends them early. */

export type GrantKind = 'trial' | 'purchase' | 'adjustment' | 'refund' | 'bonus' | 'code';

/** The order of consumption of an account's grants: its reason is in `rules/budget.ts`. */
export const consumptionOrder = `expires_at, kind = 'purchase', created_at, id`;

/** A grant to add. */
export interface GrantToAdd {
  accountId: string;
  kind: GrantKind;
  /** Pico-USD, above zero. */
  amount: PicoUsd;
  /** Its expiry, which should come from the database's clock; null: never. */
  expiresAt: Date | null;
  /** Its source, unique per account: `trial:<account>`, `order:<id>`, `bonus:<order>`, `code:<id>`, `adjustment:<uuid>`, `undone:<id>`. */
  sourceRef: string;
  /** The operator's reason. */
  reason?: string | null;
}

/** Thrown when a grant of the same source exists with other values. */
export class GrantConflict extends Error {
  override name = 'GrantConflict';
}

/**
 * Adds a grant, once for each source: a second call returns the existing one. Runs on any connection, so that it can be
 * part of another domain's transaction (an account and its trial, an order and its budget); without one it commits by
 * itself. It inserts and locks no existing row, so it cannot block the ledger.
 */
export async function addGrant(db: Queryable, grant: GrantToAdd): Promise<{ id: string; added: boolean }> {
  const { accountId, kind, amount, expiresAt, sourceRef, reason = null } = grant;
  const inserted = await db.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, expires_at, source_ref, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (account_id, source_ref) DO NOTHING RETURNING id`,
    [accountId, uuidv7(), kind, amount.toString(), expiresAt, sourceRef, reason],
  );
  if (inserted.rows[0] !== undefined) return { id: inserted.rows[0].id, added: true };
  const { rows } = await db.query(
    `SELECT id, kind, amount::text AS amount FROM "grant" WHERE account_id = $1 AND source_ref = $2`,
    [accountId, sourceRef],
  );
  const existing = rows[0];
  if (existing === undefined || existing.kind !== kind || BigInt(existing.amount) !== amount) {
    throw new GrantConflict(`${sourceRef} has given another grant already`);
  }
  return { id: existing.id, added: false };
}

/** Outcome of ending a grant. */
export type GrantEnd =
  /** `free` has expired; `held` (both pico-USD) can still be charged by the requests that hold it. */
  | { kind: 'ended'; free: PicoUsd; held: PicoUsd; endedAt: Date; expiresAt: Date | null }
  /** It had ended before, or is used up. */
  | { kind: 'over' }
  | { kind: 'unknown_grant' };

/**
 * Ends a grant now: the only way to take budget back, because grants and charges are immutable. It moves no money
 * itself; the ledger and its sweep expire the free money, as with every ended grant. Running requests keep their holds.
 *
 * Must be the last lock of its transaction: it waits for a batch of the ledger and then blocks others, so the database
 * aborts the transaction if its process stops in between. The moment is taken under the lock and is later than every
 * charge or hold of the grant, so that I7 holds: transactions that began before and waited see a grant that has not
 * ended for them.
 */
export async function endGrant(db: Queryable, ref: { accountId: string; grantId: string }): Promise<GrantEnd> {
  await db.query(`SELECT set_config('idle_in_transaction_session_timeout', '4s', true)`);
  const { rows } = await db.query(
    `SELECT (amount - spent - held - expired)::text AS free, held::text AS held, expires_at,
            coalesce(expires_at <= clock_timestamp(), false) OR spent + expired = amount AS over
     FROM "grant" WHERE account_id = $1 AND id = $2 FOR NO KEY UPDATE`,
    [ref.accountId, ref.grantId],
  );
  const [grant] = rows;
  if (grant === undefined) return { kind: 'unknown_grant' };
  if (grant.over) return { kind: 'over' };
  const ended = await db.query(
    `UPDATE "grant" SET expires_at = least(expires_at, date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond')
     WHERE account_id = $1 AND id = $2 RETURNING expires_at`,
    [ref.accountId, ref.grantId],
  );
  return {
    kind: 'ended',
    free: BigInt(grant.free),
    held: BigInt(grant.held),
    endedAt: ended.rows[0].expires_at,
    expiresAt: grant.expires_at,
  };
}

/** Outcome of taking back a purchase. */
export type PurchaseUndone =
  | { kind: 'undone'; grantId: string; amount: PicoUsd }
  /** `spent` and `held` in pico-USD: something of it is used. */
  | { kind: 'used'; spent: PicoUsd; held: PicoUsd }
  | { kind: 'unknown_grant' };

/**
 * Ends the grant of a purchase, or of its bonus, that was a mistake, while nothing of it is spent or held. It becomes an adjustment that
 * ended when it was made, so that no batch that waits for its lock can still use it, and the same order can be granted
 * again. Must be the last lock of its transaction, as in `endGrant`.
 */
export async function undoPurchase(
  db: Queryable,
  ref: { accountId: string; sourceRef: string; reason: string },
): Promise<PurchaseUndone> {
  await db.query(`SELECT set_config('idle_in_transaction_session_timeout', '4s', true)`);
  const { rows } = await db.query(
    `SELECT id, amount::text, spent::text, held::text, expired::text FROM "grant"
     WHERE account_id = $1 AND source_ref = $2 AND kind IN ('purchase', 'bonus') FOR NO KEY UPDATE`,
    [ref.accountId, ref.sourceRef],
  );
  const [grant] = rows;
  if (grant === undefined) return { kind: 'unknown_grant' };
  const used = { spent: BigInt(grant.spent), held: BigInt(grant.held) };
  if (used.spent > 0n || used.held > 0n) return { kind: 'used', ...used };
  await db.query(
    `UPDATE "grant" SET kind = 'adjustment', source_ref = 'undone:' || id, reason = $3,
            expires_at = least(expires_at, created_at)
     WHERE account_id = $1 AND id = $2`,
    [ref.accountId, grant.id, ref.reason],
  );
  return { kind: 'undone', grantId: grant.id, amount: BigInt(grant.amount) };
}

/** What is known of a grant whose budget is to be taken back, under its lock. Pico-USD. */
export interface LockedGrant {
  id: string;
  amount: PicoUsd;
  spent: PicoUsd;
  held: PicoUsd;
  expired: PicoUsd;
}

/**
 * Locks the grants of these sources, in the order of all locks. Must be the last lock of its transaction, as in
 * `endGrant`.
 */
export async function lockGrants(
  db: Queryable,
  { accountId, sourceRefs }: { accountId: string; sourceRefs: readonly string[] },
): Promise<Map<string, LockedGrant>> {
  await db.query(`SELECT set_config('idle_in_transaction_session_timeout', '4s', true)`);
  const { rows } = await db.query(
    `SELECT id, source_ref, amount::text, spent::text, held::text, expired::text FROM "grant"
     WHERE account_id = $1 AND source_ref = ANY ($2::text[]) ORDER BY id FOR NO KEY UPDATE`,
    [accountId, sourceRefs],
  );
  return new Map(
    rows.map((row) => [
      row.source_ref,
      {
        id: row.id,
        amount: BigInt(row.amount),
        spent: BigInt(row.spent),
        held: BigInt(row.held),
        expired: BigInt(row.expired),
      },
    ]),
  );
}

/**
 * Takes free budget of a locked grant back: it expires now, by a posting whose id is returned. What is held stays with
 * the requests that hold it.
 */
export async function takeBack(
  db: Queryable,
  { accountId, grant, amount }: { accountId: string; grant: LockedGrant; amount: PicoUsd },
): Promise<string> {
  if (amount <= 0n || amount > grant.amount - grant.spent - grant.held - grant.expired)
    throw new Error('only what is free can be taken back');
  await db.query('UPDATE "grant" SET expired = expired + $3::bigint WHERE account_id = $1 AND id = $2', [
    accountId,
    grant.id,
    amount.toString(),
  ]);
  return postExpiry(db, { accountId, grantId: grant.id, amount });
}

/**
 * Gives budget that was taken back to its locked grant again, by a posting below zero whose id is returned. Where the grant has
 * ended meanwhile, the sweep lets it expire.
 */
export async function returnTaken(
  db: Queryable,
  { accountId, grant, amount }: { accountId: string; grant: LockedGrant; amount: PicoUsd },
): Promise<string> {
  if (amount <= 0n || amount > grant.expired) throw new Error('only what was taken back can be given back');
  await db.query('UPDATE "grant" SET expired = expired - $3::bigint WHERE account_id = $1 AND id = $2', [
    accountId,
    grant.id,
    amount.toString(),
  ]);
  return postExpiry(db, { accountId, grantId: grant.id, amount: -amount });
}

async function postExpiry(
  db: Queryable,
  { accountId, grantId, amount }: { accountId: string; grantId: string; amount: PicoUsd },
): Promise<string> {
  const { rows } = await db.query(
    `INSERT INTO posting (account_id, id, grant_id, kind, amount) VALUES ($1, gen_random_uuid(), $2, 'expire', $3) RETURNING id`,
    [accountId, grantId, amount.toString()],
  );
  return rows[0].id;
}
