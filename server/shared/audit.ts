import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';

/**
 * The audit log: who changed what. Domains append the entry in the transaction of the change itself, so that neither
 * exists without the other. Entries are append-only, are shown as they are, and carry no secret.
 */
export interface AuditEntry {
  /** `user:<id>`, `token:<id>`, `command-line` or `system`. */
  actor: string;
  /** Domain and verb, e.g. `key.delete`. */
  action: string;
  /** Kind and id of what was changed, e.g. `model:big-1`. */
  subject: string;
  /** Null: nothing existed before. */
  before?: AuditFacts | null;
  /** Null: nothing is left. */
  after?: AuditFacts | null;
}

/** JSON values, and amounts and times, which are written as strings. */
export type AuditValue = string | number | boolean | null | bigint | Date | readonly AuditValue[] | AuditFacts;
export interface AuditFacts {
  readonly [name: string]: AuditValue;
}

export const commandLine = 'command-line';
export const system = 'system';

/** Appends an entry. To be called in the transaction of the change. */
export async function appendAudit(client: ClientBase, entry: AuditEntry): Promise<void> {
  await client.query(
    `INSERT INTO audit_entry (id, actor, action, subject, before, after) VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb)`,
    [randomUUID(), entry.actor, entry.action, entry.subject, toJson(entry.before), toJson(entry.after)],
  );
}

function toJson(facts: AuditFacts | null | undefined): string | null {
  if (facts === null || facts === undefined) return null;
  return JSON.stringify(facts, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
