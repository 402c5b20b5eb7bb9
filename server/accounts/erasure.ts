import { setTimeout as delay } from 'node:timers/promises';
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
  | { kind: 'erased'; people: number; accountId: string }
  | { kind: 'unknown_account' }
  /** Only an owner may. */
  | { kind: 'not_owner' }
  /** An operator has suspended it: its owners cannot erase it, and begin anew with the same address. */
  | { kind: 'suspended' }
  /** The typed address is not the account's. */
  | { kind: 'not_confirmed' };

/** What an erasure forgets, as its proof counts it. */
export type ErasedKind =
  | 'people'
  | 'keys'
  | 'projects'
  | 'tokens'
  | 'invitations'
  | 'company'
  | 'settings'
  | 'channels'
  | 'webhooks'
  | 'deliveries'
  | 'notices'
  | 'attributions'
  | 'idempotency'
  | 'links'
  | 'facts';

/** What an erasure did, in counts and ids. */
export interface ErasureProof {
  accountId: string;
  erasedAt: Date;
  byOperator: boolean;
  counts: Partial<Record<ErasedKind, number>>;
  /** Ids of the people who were forgotten, and of the keys that ended. */
  people: string[];
  keys: string[];
}

/** Somebody who gets the mail about an erasure. */
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

export interface ErasureDeps {
  /** Must read BIGINT as `bigint`. */
  pool: Pool;
  /** Called once the account is erased, for its own address and for those of its owners. */
  tell: (person: ToldOfErasure, accountId: string) => void;
  /** Its orders, in the transaction of the erasure: locked before the account, then ended and their receivers forgotten. */
  orders: {
    lock: (client: ClientBase, accountId: string) => Promise<void>;
    forget: (
      client: ClientBase,
      of: { accountId: string; email: string; addresses: readonly string[] },
    ) => Promise<void>;
  };
  /** Deletes the mails that this machine keeps and that the erasure concerns. */
  forgetMails: (isOver: (mail: { to: string; text: string }) => boolean) => Promise<void>;
}

interface Forgotten {
  /** What the account was called, and whom it had asked to join. */
  name: string;
  invited: ReadonlySet<string>;
  addresses: string[];
}

/** Forgotten again: what a writer that knew nothing of the erasure left behind in this time. */
const watchedDays = 2;

export function createErasure(deps: ErasureDeps) {
  const { pool, tell } = deps;

  /** Forgets what was written beside the erasure, or after it. */
  const forgetLate = (accountId: string) =>
    repeatedTransaction(pool, async (client) => {
      for (const [, text] of forgetRows) await client.query(text, [accountId]);
      await forgetFacts(client, { accountId, people: [] });
    });

  return {
    async erase(ask: Erasing): Promise<EraseOutcome> {
      const outcome = await repeatedTransaction(pool, (client) => erase(client, { ...ask, ...deps }));
      if (outcome.kind !== 'erased') return outcome;
      const { addresses, invited, name } = outcome;
      await deps.forgetMails(
        ({ to, text }) =>
          addresses.some((address) => to === address || text.toLowerCase().includes(address)) ||
          (invited.has(to) && text.includes(name)),
      );
      for (const person of outcome.told) tell(person, ask.accountId);
      await endOfEarlier(pool);
      await forgetLate(ask.accountId);
      return { kind: 'erased', people: outcome.people, accountId: ask.accountId };
    },

    /** What the erasure of an account did; null: it was not erased, or by a version that kept no proof. */
    async proof(accountId: string): Promise<ErasureProof | null> {
      const { rows } = await pool.query<ErasureProof>(
        `SELECT account_id AS "accountId", erased_at AS "erasedAt", by_operator AS "byOperator", counts, people, keys
         FROM erasure WHERE account_id = $1`,
        [accountId],
      );
      return rows[0] ?? null;
    },

    /** Looks after the accounts that were erased in the last days. Returns how many there are. */
    async sweep(): Promise<number> {
      const { rows } = await pool.query<{ id: string }>(
        'SELECT id FROM account WHERE erased_at > now() - make_interval(days => $1) ORDER BY id',
        [watchedDays],
      );
      for (const { id } of rows) await forgetLate(id);
      return rows.length;
    },
  };
}

export type Erasure = ReturnType<typeof createErasure>;

/** Rows that are deleted with an account, each with its id. They may be written by what runs beside the erasure. */
const forgetRows: readonly (readonly [ErasedKind, string])[] = [
  ['attributions', 'DELETE FROM attribution WHERE account_id = $1'],
  ['attributions', 'DELETE FROM attribution_hour WHERE account_id = $1'],
  ['notices', 'DELETE FROM notice WHERE account_id = $1'],
  ['deliveries', 'DELETE FROM webhook_delivery WHERE account_id = $1'],
  ['idempotency', 'DELETE FROM idempotency WHERE account_id = $1'],
];

/** Other statements that forget an account, each with its id. The database refuses new rows of these tables. */
const forgetAccount: readonly (readonly [ErasedKind | null, string])[] = [
  [
    'keys',
    `UPDATE api_key SET name = 'erased', addresses = '{}', deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  ],
  ['projects', `UPDATE project SET name = 'erased', archived_at = coalesce(archived_at, now()) WHERE account_id = $1`],
  ['tokens', `UPDATE access_token SET name = 'erased', deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`],
  ['company', 'DELETE FROM account_company WHERE account_id = $1'],
  ['settings', 'DELETE FROM notice_settings WHERE account_id = $1'],
  [
    'channels',
    `UPDATE notice_channel SET name = 'erased', target = '', sealed = '', enabled = false, problem = NULL,
            deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  ],
  [
    'webhooks',
    `UPDATE webhook_endpoint SET url = 'https://erased.invalid', description = '', sealed = '', enabled = false,
            deleted_at = coalesce(deleted_at, now()) WHERE account_id = $1`,
  ],
  [
    null,
    `UPDATE account SET name = 'erased', email = 'erased-' || id || '@erased.invalid', status = 'suspended',
            erased_at = now() WHERE id = $1`,
  ],
];

async function erase(
  client: ClientBase,
  { accountId, by, confirmation, orders }: Erasing & Pick<ErasureDeps, 'orders'>,
): Promise<
  Exclude<EraseOutcome, { kind: 'erased' }> | (Forgotten & { kind: 'erased'; people: number; told: ToldOfErasure[] })
> {
  await orders.lock(client, accountId);
  const { rows } = await client.query<{ name: string; email: string; status: string; role: string | null }>(
    `SELECT a.name, a.email, a.status, (SELECT role FROM member WHERE account_id = a.id AND user_id = $2) AS role
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
  const { name, email } = account;
  if (normalAddress(confirmation.trim()) !== email) return { kind: 'not_confirmed' };
  const told = await addressesToTell(client, accountId, email);
  const invited = await client.query<{ email: string }>(
    'DELETE FROM invitation WHERE account_id = $1 RETURNING email',
    [accountId],
  );
  const counts = new Map<ErasedKind, number>();
  const count = (kind: ErasedKind, more: number | null) => counts.set(kind, (counts.get(kind) ?? 0) + (more ?? 0));
  count('invitations', invited.rowCount);
  for (const [kind, text] of [...forgetRows, ...forgetAccount]) {
    const { rowCount } = await client.query(text, [accountId]);
    if (kind !== null) count(kind, rowCount);
  }
  const people = await forgetPeople(client, accountId);
  count('people', people.length);
  const addresses = await forgottenAddresses(client, email, people);
  // Other accounts' invitations of the same people.
  const elsewhere = await client.query('DELETE FROM invitation WHERE email = ANY ($1::text[])', [addresses]);
  count('invitations', elsewhere.rowCount);
  // Links and codes of mails that were not used yet.
  const links = await client.query(
    `DELETE FROM user_verification v USING unnest($1::text[]) AS address
     WHERE position(address IN v.identifier) > 0 OR position(address IN v.value) > 0`,
    [addresses],
  );
  count('links', links.rowCount);
  await orders.forget(client, { accountId, email, addresses });
  count('facts', await forgetFacts(client, { accountId, people: people.map(({ id }) => `user:${id}`) }));
  count('facts', await forgetMentions(client, addresses));
  // An owner who asked for it is among the forgotten: the entry names the account alone.
  const actor = by.kind === 'operator' ? by.actor : 'system';
  await appendAudit(client, { actor, action: 'account.erase', subject: `account:${accountId}` });
  await endGrants(client, accountId);
  // Limits of accounts are locked behind the grants.
  await client.query(`UPDATE account_limit SET addresses = '{}' WHERE account_id = $1`, [accountId]);
  await client.query(
    `INSERT INTO erasure (account_id, by_operator, counts, people, keys)
     VALUES ($1, $2, $3::jsonb, $4::uuid[], ARRAY(SELECT id FROM api_key WHERE account_id = $1 ORDER BY id))`,
    [accountId, by.kind === 'operator', JSON.stringify(Object.fromEntries(counts)), people.map(({ id }) => id)],
  );
  return {
    kind: 'erased',
    people: people.length,
    told,
    name,
    invited: new Set(invited.rows.map((row) => row.email)),
    addresses,
  };
}

/**
 * Ends what is left of the budget, and takes out why an operator gave it and which key a client named it by. Running requests
 * keep what they hold, and are settled. All of the account's grants are locked, in their order.
 */
async function endGrants(client: ClientBase, accountId: string): Promise<void> {
  await client.query(`SELECT set_config('idle_in_transaction_session_timeout', '4s', true)`);
  const { rows } = await client.query<{ id: string; open: boolean }>(
    `SELECT id, spent + expired < amount AND coalesce(expires_at > now(), true) AS open
     FROM "grant" WHERE account_id = $1 ORDER BY id FOR NO KEY UPDATE`,
    [accountId],
  );
  for (const { id: grantId, open } of rows) if (open) await endGrant(client, { accountId, grantId });
  await client.query(
    `UPDATE "grant" SET reason = NULL,
            source_ref = CASE WHEN source_ref LIKE 'adjustment:%' THEN 'adjustment:' || id ELSE source_ref END
     WHERE account_id = $1 AND (reason IS NOT NULL OR source_ref LIKE 'adjustment:%')`,
    [accountId],
  );
}

const endOfEarlierMs = 2_000;

/**
 * Waits until the transactions that run at this moment have ended, because some of them may not have seen that the account is
 * erased; for a bounded time: what a longer one leaves behind is swept.
 */
async function endOfEarlier(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ next: string }>('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next');
  for (const until = Date.now() + endOfEarlierMs; Date.now() < until; await delay(20)) {
    const { rows: now } = await pool.query<{ over: boolean }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS over',
      [rows[0]?.next],
    );
    if (now[0]?.over !== false) return;
  }
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
    `DELETE FROM app_user u WHERE id = ANY ($1::uuid[]) AND NOT operator AND operator_role IS NULL
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
 * by which id, stays, and so do the amounts of grants. What these people did elsewhere, an operator's changes of prices
 * among it, keeps its facts.
 */
async function forgetFacts(
  client: ClientBase,
  { accountId, people }: { accountId: string; people: readonly string[] },
): Promise<number> {
  await client.query(`SELECT set_config('steyg.audit', 'erasure', true)`);
  const whole = await client.query(
    `UPDATE audit_entry SET before = NULL, after = NULL
     WHERE subject = ANY (ARRAY(SELECT 'account:' || $1::text
                    UNION ALL SELECT unnest($2::text[])
                    UNION ALL SELECT 'key:' || id FROM api_key WHERE account_id = $1::uuid
                    UNION ALL SELECT 'project:' || id FROM project WHERE account_id = $1::uuid
                    UNION ALL SELECT 'access-token:' || id FROM access_token WHERE account_id = $1::uuid
                    UNION ALL SELECT 'notice_channel:' || id FROM notice_channel WHERE account_id = $1::uuid
                    UNION ALL SELECT 'webhook:' || id FROM webhook_endpoint WHERE account_id = $1::uuid))
       AND action NOT LIKE 'grant.%' AND (before IS NOT NULL OR after IS NOT NULL)`,
    [accountId, people],
  );
  const grants = await client.query(
    `UPDATE audit_entry SET before = before - $2::text[], after = after - $2::text[]
     WHERE subject = 'account:' || $1::text AND action LIKE 'grant.%' AND (before ?| $2::text[] OR after ?| $2::text[])`,
    [accountId, ['reason', 'sourceRef']],
  );
  await client.query(`SELECT set_config('steyg.audit', '', true)`);
  return (whole.rowCount ?? 0) + (grants.rowCount ?? 0);
}

/** Takes the facts out of entries that name one of the forgotten addresses: another account's invitation of the same person. */
async function forgetMentions(client: ClientBase, addresses: readonly string[]): Promise<number> {
  let changed = 0;
  await client.query(`SELECT set_config('steyg.audit', 'erasure', true)`);
  // A statement for each index: one condition with OR would read the whole log, under the locks of this transaction.
  for (const facts of ['before', 'after']) {
    const { rowCount } = await client.query(
      `UPDATE audit_entry SET before = NULL, after = NULL
       WHERE ${facts} ->> 'email' = ANY ($1::text[]) AND action NOT LIKE 'grant.%'`,
      [addresses],
    );
    changed += rowCount ?? 0;
  }
  await client.query(`SELECT set_config('steyg.audit', '', true)`);
  return changed;
}
