import type { ClientBase, Pool } from 'pg';
import { endGrant } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { normalAddress } from './address.ts';

/**
 * Erasure: an owner has the service forget an account and its people. The books stay, as accounting law requires (ledger,
 * postings, grants, orders with the parties of their receipts, bank transfers, e-invoices); names, addresses, secrets,
 * settings, notices and sign-ins go. What is left of the budget ends. There is no way back.
 */

export type EraseOutcome =
  /** `people`: persons who belonged to no other account and were forgotten, too. */
  | { kind: 'erased'; people: number }
  | { kind: 'unknown_account' }
  /** Only an owner may. */
  | { kind: 'not_owner' }
  /** The typed address is not the account's. */
  | { kind: 'not_confirmed' };

/** `pool` must read BIGINT as `bigint`. */
export function createErasure({ pool }: { pool: Pool }) {
  return {
    /** `confirmation`: the account's e-mail address, as the owner typed it. */
    erase(ask: { accountId: string; userId: string; confirmation: string }): Promise<EraseOutcome> {
      return repeatedTransaction(pool, (client) => erase(client, ask));
    },
  };
}

export type Erasure = ReturnType<typeof createErasure>;

/** Statements that forget an account, each with the account's id. */
const forgetAccount: readonly string[] = [
  `UPDATE api_key SET name = 'erased', deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  `UPDATE access_token SET name = 'erased', deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  'DELETE FROM invitation WHERE account_id = $1',
  'DELETE FROM account_company WHERE account_id = $1',
  'DELETE FROM notice_settings WHERE account_id = $1',
  'DELETE FROM notice WHERE account_id = $1',
  `UPDATE notice_channel SET name = 'erased', target = '', sealed = '', enabled = false,
          deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  'DELETE FROM webhook_delivery WHERE account_id = $1',
  `UPDATE webhook_endpoint SET url = 'https://erased.invalid', description = '', sealed = '', enabled = false,
          deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  `UPDATE purchase_order SET status = 'cancelled' WHERE account_id = $1 AND status = 'pending'`,
  `DELETE FROM order_mail WHERE order_id IN (SELECT id FROM purchase_order WHERE account_id = $1)`,
  // Receivers of gifts that were delivered are known by their account.
  `UPDATE purchase_order SET gift_to = receiver_id::text WHERE account_id = $1 AND receiver_id IS NOT NULL`,
  `UPDATE purchase_order SET gift_to = $1::text
   WHERE gift_to = (SELECT email FROM account WHERE id = $1) OR receiver_id = $1`,
  `UPDATE account SET name = 'erased', email = 'erased-' || id || '@erased.invalid', status = 'suspended',
          erased_at = now() WHERE id = $1`,
];

async function erase(
  client: ClientBase,
  { accountId, userId, confirmation }: { accountId: string; userId: string; confirmation: string },
): Promise<EraseOutcome> {
  const { rows } = await client.query<{ email: string; role: string | null }>(
    `SELECT a.email, (SELECT role FROM member WHERE account_id = a.id AND user_id = $2) AS role
     FROM account a WHERE a.id = $1 AND a.erased_at IS NULL AND a.kind = 'customer' FOR UPDATE`,
    [accountId, userId],
  );
  const [account] = rows;
  if (account === undefined || account.role === null) return { kind: 'unknown_account' };
  if (account.role !== 'owner') return { kind: 'not_owner' };
  if (normalAddress(confirmation.trim()) !== account.email) return { kind: 'not_confirmed' };
  for (const text of forgetAccount) await client.query(text, [accountId]);
  const people = await forgetPeople(client, accountId);
  await forgetAudit(
    client,
    accountId,
    people.map((id) => `user:${id}`),
  );
  // Whoever asked for it is among the forgotten: the entry names the account alone.
  await appendAudit(client, { actor: 'system', action: 'account.erase', subject: `account:${accountId}` });
  const { rows: open } = await client.query<{ id: string }>(
    `SELECT id FROM "grant" WHERE account_id = $1 AND spent + expired < amount
       AND coalesce(expires_at > now(), true) ORDER BY id`,
    [accountId],
  );
  // The last locks of the transaction. Running requests keep what they hold, and are settled.
  for (const { id: grantId } of open) await endGrant(client, { accountId, grantId });
  return { kind: 'erased', people: people.length };
}

/** Removes the members; those of no other account, who are no operators, are forgotten. Returns their ids. */
async function forgetPeople(client: ClientBase, accountId: string): Promise<string[]> {
  const { rows: members } = await client.query<{ id: string }>(
    'DELETE FROM member WHERE account_id = $1 RETURNING user_id AS id',
    [accountId],
  );
  const { rows } = await client.query<{ id: string }>(
    `DELETE FROM app_user u WHERE id = ANY ($1::uuid[]) AND NOT operator
       AND NOT EXISTS (SELECT FROM member m WHERE m.user_id = u.id) RETURNING id`,
    [members.map(({ id }) => id)],
  );
  return rows.map(({ id }) => id);
}

/**
 * Takes the facts out of entries about the account, its keys and tokens and these people, and of what these people did:
 * that something was done, when and by which id, stays.
 */
async function forgetAudit(client: ClientBase, accountId: string, people: readonly string[]): Promise<void> {
  await client.query(`SELECT set_config('steyg.audit', 'erasure', true)`);
  await client.query(
    `UPDATE audit_entry SET before = NULL, after = NULL
     WHERE (subject = 'account:' || $1::text OR subject = ANY ($2::text[]) OR actor = ANY ($2::text[])
            OR subject IN (SELECT 'key:' || id FROM api_key WHERE account_id = $1::uuid
                           UNION ALL SELECT 'access-token:' || id FROM access_token WHERE account_id = $1::uuid))
       AND action NOT LIKE 'grant.%' AND (before IS NOT NULL OR after IS NOT NULL)`,
    [accountId, people],
  );
  await client.query(`SELECT set_config('steyg.audit', '', true)`);
}
