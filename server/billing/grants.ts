import { randomUUID } from 'node:crypto';
import type { PicoUsd } from '../core/money.ts';
import type { Queryable } from './usage.ts';

export type GrantKind = 'trial' | 'purchase' | 'adjustment' | 'refund';

/** A grant to be given. */
export interface GrantToAdd {
  accountId: string;
  kind: GrantKind;
  /** Pico-USD, more than nothing. */
  amount: PicoUsd;
  /** The moment it ends, which should come from the database's clock; null: never. */
  expiresAt: Date | null;
  /** What it is given for, once per account: `trial:<account>`, `order:<id>`, `adjustment:<uuid>`. */
  sourceRef: string;
  /** Why an operator gave it. */
  reason?: string | null;
}

/** Thrown when the same source was to give something else before. */
export class GrantConflict extends Error {
  override name = 'GrantConflict';
}

/**
 * Gives a grant, once for each source: the second call finds the first one's. Runs on any connection, so that it can be
 * part of another domain's transaction (an account and its trial, an order and its budget); without one it commits by
 * itself. It inserts and never locks what exists, so it cannot get in the ledger's way.
 */
export async function addGrant(db: Queryable, grant: GrantToAdd): Promise<{ id: string; added: boolean }> {
  const { accountId, kind, amount, expiresAt, sourceRef, reason = null } = grant;
  const inserted = await db.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, expires_at, source_ref, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (account_id, source_ref) DO NOTHING RETURNING id`,
    [accountId, randomUUID(), kind, amount.toString(), expiresAt, sourceRef, reason],
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

/** What ending a grant came to. */
export type GrantEnd =
  /** What was free of it is lost; what was held of it (both pico-USD) goes on to its requests, and no further. */
  | { kind: 'ended'; free: PicoUsd; held: PicoUsd; endedAt: Date; expiresAt: Date | null }
  /** It has ended before, or nothing of it is left. */
  | { kind: 'over' }
  | { kind: 'unknown_grant' };

/**
 * Lets a grant end now instead of at its time: the only way to take budget back, because what was given and what was
 * spent stay written as they are. It moves no money itself; the ledger and its sweep expire what is free, as they do with
 * every grant that has ended. Running requests keep what they hold.
 *
 * Must be the last thing that its transaction locks: it waits for a batch of the ledger and then makes others wait, so the
 * transaction is ended by the database if its process stops in the middle of it. The moment is taken behind the lock and lies after every moment at which anything was taken from the grant, so that I7
 * holds: transactions that began before and waited see a grant that has not ended for them.
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
