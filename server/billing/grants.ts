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
export async function addGrant(db: Queryable, grant: NewGrant): Promise<{ id: string; added: boolean }> {
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
