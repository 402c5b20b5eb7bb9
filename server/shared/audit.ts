import type { ClientBase } from 'pg';
import { uuidv7 } from './uuid.ts';

/**
 * The audit log: who changed what. Domains append the entry in the transaction of the change itself, so that neither
 * exists without the other. Entries are append-only, are shown as they are, and carry no secret.
 */
export interface AuditEntry {
  /** `user:<id>`, `token:<id>`, `key:<id>` (a key ends itself), `command-line` or `system`. */
  actor: string;
  action: AuditAction;
  /** Kind and id of what was changed, e.g. `model:big-1`. */
  subject: string;
  /** Null: nothing existed before. */
  before?: AuditFacts | null;
  /** Null: nothing is left. */
  after?: AuditFacts | null;
}

/** What can be done, domain and verb. Words are never renamed: stored entries keep them. */
export type AuditAction =
  | 'access-token.create'
  | 'access-token.delete'
  | 'account.add_owner'
  | 'account.attribution'
  | 'account.change_address'
  | 'account.company'
  | 'account.create'
  | 'account.erase'
  | 'account.limits'
  | 'account.note'
  | 'account.resume'
  | 'account.suspend'
  | 'account.view'
  | 'announcement.create'
  | 'announcement.end'
  | 'announcement.move_end'
  | 'batch.cancel'
  | 'bonus.save'
  | 'books.close'
  | 'books.import'
  | 'books.journal_accounts'
  | 'books.undo_import'
  | 'books.rate'
  | 'books.taxes'
  | 'code.redeem'
  | 'codes.create'
  | 'codes.revoke'
  | 'grant.add'
  | 'grant.end'
  | 'invitation.create'
  | 'invitation.revoke'
  | 'invoice.retry'
  | 'key.change'
  | 'key.create'
  | 'key.delete'
  | 'key.revoke'
  | 'key.rotate'
  | 'ledger.archive'
  | 'ledger.restore'
  | 'member.change'
  | 'member.join'
  | 'member.limit'
  | 'member.remove'
  | 'model.change'
  | 'model.create'
  | 'model_mismatch.close'
  | 'notice_channel.change'
  | 'notice_channel.create'
  | 'notice_channel.delete'
  | 'notice_settings.change'
  | 'operator.change'
  | 'operator.create'
  | 'operator.remove'
  | 'plan.change'
  | 'plan.create'
  | 'price.add'
  | 'probe-agent.create'
  | 'probe-agent.revoke'
  | 'probing.save'
  | 'project.change'
  | 'project.create'
  | 'route.change'
  | 'refund.create'
  | 'refund.pay'
  | 'refund.undo'
  | 'refund.undo_payment'
  | 'seller.save'
  | 'settings.save'
  | 'status-update.create'
  | 'top_up.save'
  | 'transfer.close'
  | 'transfer.credit'
  | 'transfer.match'
  | 'transfer.record'
  | 'transfer.undo'
  | 'upstream.add_key'
  | 'upstream.change'
  | 'upstream.create'
  | 'upstream.delete_key'
  | 'upstream.set_key'
  | 'webhook.change'
  | 'webhook.create'
  | 'webhook.delete'
  | 'webhook.rotate';

/** JSON values, and amounts and times, which are written as strings. */
export type AuditValue = string | number | boolean | null | bigint | Date | readonly AuditValue[] | AuditFacts;
export interface AuditFacts {
  readonly [name: string]: AuditValue;
}

export const commandLine = 'command-line';
export const system = 'system';

/**
 * Appends an entry. To be called in the transaction of the change. Entries that were written one after the other are listed
 * in that order by `created_at, id`: the time is that of the writing, because a transaction may have begun before another
 * for which it then waited; and the ids of a process ascend.
 */
export async function appendAudit(client: ClientBase, entry: AuditEntry): Promise<void> {
  await client.query(
    `INSERT INTO audit_entry (id, actor, action, subject, before, after, created_at)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb, date_trunc('milliseconds', clock_timestamp()))`,
    [uuidv7(), entry.actor, entry.action, entry.subject, toJson(entry.before), toJson(entry.after)],
  );
}

function toJson(facts: AuditFacts | null | undefined): string | null {
  if (facts === null || facts === undefined) return null;
  return JSON.stringify(facts, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
