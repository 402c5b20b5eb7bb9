import { randomUUID } from 'node:crypto';
import type { PicoUsd } from './money.ts';
import type { Queryable } from './usage.ts';

export type GrantKind = 'trial' | 'purchase' | 'adjustment' | 'refund';

/** A grant to be given. */
export interface NewGrant {
  accountId: string;
  kind: GrantKind;
  /** Pico-USD, more than nothing. */
  amount: PicoUsd;
  /** The moment it ends; null or absent: never. */
  expiresAt?: Date | null;
  /** Or how many days of 24 hours it is valid, by the database's clock, which no server's wrong clock changes. */
  validDays?: number | null;
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
export async function addGrant(db: Queryable, grant: NewGrant): Promise<{ id: string; created: boolean }> {
  const { accountId, kind, amount, expiresAt = null, validDays = null, sourceRef, reason = null } = grant;
  if (expiresAt !== null && validDays !== null) throw new TypeError('a grant ends at a moment or after days, not both');
  const inserted = await db.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, expires_at, source_ref, reason)
     VALUES ($1, $2, $3, $4, coalesce($5::timestamptz, date_trunc('milliseconds', now()) + $6 * interval '24 hours'), $7, $8)
     ON CONFLICT (account_id, source_ref) DO NOTHING RETURNING id`,
    [accountId, randomUUID(), kind, amount.toString(), expiresAt, validDays, sourceRef, reason],
  );
  if (inserted.rows[0] !== undefined) return { id: inserted.rows[0].id, created: true };
  const { rows } = await db.query(
    `SELECT id, kind, amount::text AS amount FROM "grant" WHERE account_id = $1 AND source_ref = $2`,
    [accountId, sourceRef],
  );
  const existing = rows[0];
  if (existing === undefined || existing.kind !== kind || BigInt(existing.amount) !== amount) {
    throw new GrantConflict(`${sourceRef} has given another grant already`);
  }
  return { id: existing.id, created: false };
}
