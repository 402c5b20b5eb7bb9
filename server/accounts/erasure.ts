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
  /** An operator has suspended it: its owners cannot erase it, and begin anew with the same address. */
  | { kind: 'suspended' }
  /** The typed address is not the account's. */
  | { kind: 'not_confirmed' };

/** Somebody who is told of an erasure. */
export interface ToldOfErasure {
  email: string;
  locale: string;
}

interface Erasing {
  accountId: string;
  /** An operator may erase any account of a customer, a suspended one as well. */
  by: { kind: 'member'; userId: string } | { kind: 'operator'; actor: string };
  /** The account's e-mail address, as it was typed. */
  confirmation: string;
}

/**
 * `pool` must read BIGINT as `bigint`. `tell` is called once the account is erased, for its own address and for those of
 * its owners.
 */
export function createErasure({ pool, tell }: { pool: Pool; tell: (person: ToldOfErasure) => void }) {
  return {
    async erase(ask: Erasing): Promise<EraseOutcome> {
      const outcome = await repeatedTransaction(pool, (client) => erase(client, ask));
      if (outcome.kind !== 'erased') return outcome;
      for (const person of outcome.told) tell(person);
      return { kind: 'erased', people: outcome.people };
    },
  };
}

export type Erasure = ReturnType<typeof createErasure>;

/** Statements that forget an account, each with the account's id. */
const forgetAccount: readonly string[] = [
  `UPDATE api_key SET name = 'erased', addresses = '{}', deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  `UPDATE project SET name = 'erased', archived_at = coalesce(archived_at, now()) WHERE account_id = $1`,
  `UPDATE access_token SET name = 'erased', deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  'DELETE FROM attribution WHERE account_id = $1',
  'DELETE FROM attribution_hour WHERE account_id = $1',
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
  { accountId, by, confirmation }: Erasing,
): Promise<Exclude<EraseOutcome, { kind: 'erased' }> | { kind: 'erased'; people: number; told: ToldOfErasure[] }> {
  const { rows } = await client.query<{ email: string; status: string; role: string | null }>(
    `SELECT a.email, a.status, (SELECT role FROM member WHERE account_id = a.id AND user_id = $2) AS role
     FROM account a WHERE a.id = $1 AND a.erased_at IS NULL AND a.kind = 'customer' FOR UPDATE`,
    [accountId, by.kind === 'member' ? by.userId : null],
  );
  const [account] = rows;
  if (account === undefined) return { kind: 'unknown_account' };
  if (by.kind === 'member') {
    if (account.role === null) return { kind: 'unknown_account' };
    if (account.role !== 'owner') return { kind: 'not_owner' };
    if (account.status === 'suspended') return { kind: 'suspended' };
  }
  if (normalAddress(confirmation.trim()) !== account.email) return { kind: 'not_confirmed' };
  const told = await addressesToTell(client, accountId, account.email);
  for (const text of forgetAccount) await client.query(text, [accountId]);
  const people = await forgetPeople(client, accountId);
  const addresses = await forgottenAddresses(client, account.email, people);
  // Other accounts' invitations of the same people.
  await client.query('DELETE FROM invitation WHERE email = ANY ($1::text[])', [addresses]);
  await forgetAudit(client, { accountId, people: people.map(({ id }) => `user:${id}`), addresses });
  // An owner who asked for it is among the forgotten: the entry names the account alone.
  const actor = by.kind === 'operator' ? by.actor : 'system';
  await appendAudit(client, { actor, action: 'account.erase', subject: `account:${accountId}` });
  const { rows: open } = await client.query<{ id: string }>(
    `SELECT id FROM "grant" WHERE account_id = $1 AND spent + expired < amount
       AND coalesce(expires_at > now(), true) ORDER BY id`,
    [accountId],
  );
  // Running requests keep what they hold, and are settled.
  for (const { id: grantId } of open) await endGrant(client, { accountId, grantId });
  // Limits of accounts are locked behind the grants.
  await client.query(`UPDATE account_limit SET addresses = '{}' WHERE account_id = $1`, [accountId]);
  return { kind: 'erased', people: people.length, told };
}

/** The owners, each in their own language, and the account's own address, each address once. */
async function addressesToTell(client: ClientBase, accountId: string, email: string): Promise<ToldOfErasure[]> {
  const { rows: owners } = await client.query<ToldOfErasure>(
    `SELECT u.email, u.locale FROM member m JOIN app_user u ON u.id = m.user_id
     WHERE m.account_id = $1 AND m.role = 'owner' ORDER BY m.created_at`,
    [accountId],
  );
  if (owners.some((owner) => owner.email === email)) return owners;
  return [...owners, { email, locale: owners[0]?.locale ?? 'en' }];
}

/** Removes the members; those of no other account, who are no operators, are forgotten. Returns who they were. */
async function forgetPeople(client: ClientBase, accountId: string): Promise<{ id: string; email: string }[]> {
  const { rows: members } = await client.query<{ id: string }>(
    'DELETE FROM member WHERE account_id = $1 RETURNING user_id AS id',
    [accountId],
  );
  const { rows } = await client.query<{ id: string; email: string }>(
    `DELETE FROM app_user u WHERE id = ANY ($1::uuid[]) AND NOT operator
       AND NOT EXISTS (SELECT FROM member m WHERE m.user_id = u.id) RETURNING id, email`,
    [members.map(({ id }) => id)],
  );
  // Notices of sign-ins hold addresses, devices and networks.
  await client.query('DELETE FROM notice WHERE user_id = ANY ($1::uuid[])', [rows.map(({ id }) => id)]);
  return rows;
}

/**
 * The addresses that nothing may remember: those of the forgotten people, and the account's own unless it is still
 * somebody's. What other accounts wrote down of a person who stays is theirs to keep.
 */
async function forgottenAddresses(
  client: ClientBase,
  email: string,
  people: readonly { email: string }[],
): Promise<string[]> {
  const { rowCount } = await client.query('SELECT FROM app_user WHERE email = $1', [email]);
  return [...new Set([...(rowCount === 0 ? [email] : []), ...people.map((person) => person.email)])];
}

/**
 * Takes the facts out of entries about the account, what belongs to it and these people: that something was done, when and
 * by which id, stays. What these people did elsewhere, an operator's changes of prices among it, keeps its facts, unless
 * they name one of the forgotten addresses: another account's invitation of the same person.
 */
async function forgetAudit(
  client: ClientBase,
  { accountId, people, addresses }: { accountId: string; people: readonly string[]; addresses: readonly string[] },
): Promise<void> {
  await client.query(`SELECT set_config('steyg.audit', 'erasure', true)`);
  const forget = (which: string, values: readonly unknown[]) =>
    client.query(
      `UPDATE audit_entry SET before = NULL, after = NULL
       WHERE ${which} AND action NOT LIKE 'grant.%' AND (before IS NOT NULL OR after IS NOT NULL)`,
      [...values],
    );
  // A statement for each index: one condition with OR would read the whole log, under the locks of this transaction.
  await forget(
    `subject = ANY (ARRAY(SELECT 'account:' || $1::text
                    UNION ALL SELECT unnest($2::text[])
                    UNION ALL SELECT 'key:' || id FROM api_key WHERE account_id = $1::uuid
                    UNION ALL SELECT 'project:' || id FROM project WHERE account_id = $1::uuid
                    UNION ALL SELECT 'access-token:' || id FROM access_token WHERE account_id = $1::uuid
                    UNION ALL SELECT 'notice_channel:' || id FROM notice_channel WHERE account_id = $1::uuid
                    UNION ALL SELECT 'webhook:' || id FROM webhook_endpoint WHERE account_id = $1::uuid))`,
    [accountId, people],
  );
  await forget(`before ->> 'email' = ANY ($1::text[])`, [addresses]);
  await forget(`after ->> 'email' = ANY ($1::text[])`, [addresses]);
  await client.query(`SELECT set_config('steyg.audit', '', true)`);
}
