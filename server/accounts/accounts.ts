import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { addGrant, endGrant, type GrantKind } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { amount, checkInput, type InvalidInput, invalidInput, maxPico, shownText } from '../shared/input.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { type AccountLimits, readAccountLimits, type SetLimitsOutcome, setAccountLimits } from './account-limits.ts';
import { normalAddress } from './address.ts';
import { setAttributionMode } from './attribution-mode.ts';
import { createProjects, type Projects } from './projects.ts';
import { type SetMemberLimitOutcome, setMemberLimit } from './shared-limits.ts';

/** Accounts: who pays. One budget each, shared by all its keys; one account, and with it one trial, for each address. */

export interface Account {
  id: string;
  name: string;
  /** Normalised: NFKC, lower case. */
  email: string;
  status: 'active' | 'suspended';
  /** `probe`: the account that uptime is measured with. */
  kind: 'customer' | 'probe';
  createdAt: Date;
}

/** The budget that a new account starts with. */
export type FirstGrant =
  /** 5 USD for 7 days, or for as many days as given. */
  | { kind: 'trial'; days?: number }
  /** Given by an operator, in pico-USD. `days` null: it does not expire. */
  | { kind: 'adjustment'; amount: bigint; days: number | null }
  | { kind: 'none' };

export interface NewAccount {
  email: string;
  /** Default: the part of the address before the `@`. */
  name?: string;
  kind?: Account['kind'];
  grant?: FirstGrant;
  /** The person who becomes its owner. The caller has verified that the address is theirs. */
  ownerId?: string;
  actor: string;
}

export type CreateAccountOutcome =
  | { kind: 'created'; account: Account }
  /**
   * The account of this address exists already, with its original budget. An account without members gets the owner as
   * its first.
   */
  | { kind: 'exists'; account: Account }
  | InvalidInput<'email' | 'name'>;

export type StatusOutcome = { kind: 'changed' | 'unchanged'; account: Account } | { kind: 'unknown_account' };

export interface NewGrant {
  accountId: string;
  /** Pico-USD, more than zero. */
  amount: bigint;
  expiresAt: Date | null;
  /** The reason; the account's members see it. */
  reason?: string;
  /** Makes the grant idempotent. */
  idempotencyKey?: string;
  actor: string;
}

export type GiveGrantOutcome =
  | { kind: 'given'; grantId: string }
  /** The idempotency key was used before. */
  | { kind: 'given_before'; grantId: string }
  | { kind: 'unknown_account' }
  | InvalidInput<'amount' | 'expiresAt' | 'reason'>;

export interface GrantToEnd {
  accountId: string;
  grantId: string;
  /** The reason; operators find it in the audit log. */
  reason: string;
  actor: string;
}

export type EndGrantOutcome =
  /** The free part (pico-USD) is lost; the held part stays with its running requests. */
  | { kind: 'ended'; free: bigint; held: bigint }
  /** It had ended before, or was empty. */
  | { kind: 'over' }
  | { kind: 'unknown_grant' }
  | InvalidInput<'reason'>;

export type NoteOutcome = { kind: 'noted'; text: string } | { kind: 'unknown_account' } | InvalidInput<'text'>;

export interface Accounts {
  create(ask: NewAccount): Promise<CreateAccountOutcome>;
  /** By id or e-mail address, in any spelling. */
  find(idOrEmail: string): Promise<Account | null>;
  /** The reason goes to the audit log; the account's members do not see it. */
  suspend(ask: { accountId: string; actor: string; reason?: string }): Promise<StatusOutcome>;
  resume(ask: { accountId: string; actor: string }): Promise<StatusOutcome>;
  /** A note that only operators see. It is an entry of the audit log: never changed or removed. */
  note(ask: { accountId: string; text: string; actor: string }): Promise<NoteOutcome>;
  /** The limits that it sets itself; null: there is no such account. */
  limits(accountId: string): Promise<AccountLimits | null>;
  /** Changes the given limits only; counts from the very next request on. */
  setLimits(ask: { accountId: string; actor: string } & Partial<AccountLimits>): Promise<SetLimitsOutcome>;
  /** What is stored of whom its requests are for, from the next request on. */
  setAttributionMode(ask: Parameters<typeof setAttributionMode>[1]): ReturnType<typeof setAttributionMode>;
  /** A grant made by an operator. */
  giveGrant(ask: NewGrant): Promise<GiveGrantOutcome>;
  /** Ends a grant now: its unspent part is taken back. Running requests keep their holds. */
  endGrant(ask: GrantToEnd): Promise<EndGrantOutcome>;
  projects: Projects;
  /** What the keys that a person made may spend in a month together; null: no limit. Counts from the very next request on. */
  setMemberLimit(ask: {
    accountId: string;
    userId: string;
    month: bigint | null;
    actor: string;
  }): Promise<SetMemberLimitOutcome>;
}

const trialAmount = 5_000_000_000_000n;
const trialDays = 7;
/** Where the days of a new account begin, until it says otherwise. */
const firstTimeZone = 'Asia/Ho_Chi_Minh';

const columns = `id, name, email, status, kind, created_at AS "createdAt"`;

export function createAccounts({ pool }: { pool: Pool }): Accounts {
  return {
    create: (ask) => repeatedTransaction(pool, (client) => createAccount(client, ask)),
    find: (idOrEmail) => findAccount(pool, idOrEmail),
    suspend: (ask) => repeatedTransaction(pool, (client) => setStatus(client, { ...ask, status: 'suspended' })),
    note: (ask) => repeatedTransaction(pool, (client) => addNote(client, ask)),
    resume: (ask) => repeatedTransaction(pool, (client) => setStatus(client, { ...ask, status: 'active' })),
    limits: (accountId) => readAccountLimits(pool, accountId),
    setLimits: (ask) => setAccountLimits(pool, ask),
    setAttributionMode: (ask) => setAttributionMode(pool, ask),
    projects: createProjects({ pool }),
    setMemberLimit: (ask) => setMemberLimit(pool, ask),
    giveGrant: (ask) => repeatedTransaction(pool, (client) => giveGrant(client, ask)),
    async endGrant(ask) {
      const outcome = await repeatedTransaction(pool, (client) => takeBack(client, ask));
      // The grant ends at the next millisecond, so that every later read finds it ended.
      if (outcome.kind === 'ended') await delay(2);
      return outcome;
    },
  };
}

/** Makes an account and its first grant within the caller's transaction. */
export async function createAccount(client: ClientBase, ask: NewAccount): Promise<CreateAccountOutcome> {
  const email = normalAddress(ask.email);
  if (email === null) return invalidInput('email', 'must be an e-mail address');
  const name = ask.name ?? email.slice(0, email.lastIndexOf('@'));
  const problem = checkInput(nameShape, { name });
  if (problem !== null) return problem;

  // A concurrent call for the same address waits here for the first, and then finds the account.
  const { rows } = await client.query<Account>(
    `INSERT INTO account (id, name, email, kind, time_zone) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (email) DO NOTHING
     RETURNING ${columns}`,
    [uuidv7(), name, email, ask.kind ?? 'customer', firstTimeZone],
  );
  const [account] = rows;
  if (account === undefined) {
    const existing = await findAccount(client, email);
    if (existing === null) throw new Error('an account that exists cannot be found');
    await addFirstOwner(client, existing.id, ask);
    return { kind: 'exists', account: existing };
  }
  const subject = `account:${account.id}`;
  await appendAudit(client, { actor: ask.actor, action: 'account.create', subject, after: facts(account) });
  await addFirstOwner(client, account.id, ask);
  await giveFirstGrant(client, account, ask.grant ?? { kind: 'trial' }, ask.actor);
  return { kind: 'created', account };
}

async function giveFirstGrant(client: ClientBase, { id }: Account, grant: FirstGrant, actor: string): Promise<void> {
  if (grant.kind === 'none') return;
  const trial = grant.kind === 'trial';
  await recordGrant(client, {
    accountId: id,
    kind: grant.kind,
    amount: trial ? trialAmount : grant.amount,
    expiresAt: await inDays(client, trial ? (grant.days ?? trialDays) : grant.days),
    sourceRef: trial ? `trial:${id}` : `adjustment:${randomUUID()}`,
    reason: null,
    actor,
  });
}

/** A moment in the future by the database's clock, which is the one that ends grants. */
async function inDays(client: ClientBase, days: number | null): Promise<Date | null> {
  if (days === null) return null;
  const { rows } = await client.query<{ at: Date }>(`SELECT now() + $1 * interval '24 hours' AS at`, [days]);
  return rows[0]?.at ?? null;
}

interface GrantRecord {
  accountId: string;
  kind: GrantKind;
  amount: bigint;
  expiresAt: Date | null;
  sourceRef: string;
  reason: string | null;
  actor: string;
}

async function recordGrant(
  client: ClientBase,
  { actor, ...grant }: GrantRecord,
): Promise<{ id: string; added: boolean }> {
  const outcome = await addGrant(client, grant);
  if (outcome.added) {
    const { accountId, ...after } = grant;
    await appendAudit(client, {
      actor,
      action: 'grant.add',
      subject: `account:${accountId}`,
      after: { id: outcome.id, ...after },
    });
  }
  return outcome;
}

/** Only the first owner gets membership: a later sign-up with the same address must not take an account over. */
async function addFirstOwner(client: ClientBase, accountId: string, { ownerId, actor }: NewAccount): Promise<void> {
  if (ownerId === undefined) return;
  const { rowCount: open } = await client.query(
    'SELECT FROM account WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE',
    [accountId],
  );
  if (open === 0) return;
  const { rowCount } = await client.query(
    `INSERT INTO member (account_id, user_id, role) SELECT $1, $2, 'owner'
     WHERE NOT EXISTS (SELECT FROM member WHERE account_id = $1)`,
    [accountId, ownerId],
  );
  if (rowCount === 0) return;
  await appendAudit(client, {
    actor,
    action: 'account.add_owner',
    subject: `account:${accountId}`,
    after: { ownerId },
  });
}

async function findAccount(database: Pool | ClientBase, idOrEmail: string): Promise<Account | null> {
  const email = isUuid(idOrEmail) ? null : normalAddress(idOrEmail);
  if (email === null && !isUuid(idOrEmail)) return null;
  const { rows } = await database.query<Account>(
    `SELECT ${columns} FROM account WHERE ${email === null ? 'id' : 'email'} = $1`,
    [email ?? idOrEmail],
  );
  return rows[0] ?? null;
}

const noteShape = z.object({ text: shownText(2_000) });

async function addNote(
  client: ClientBase,
  { accountId, text, actor }: { accountId: string; text: string; actor: string },
): Promise<NoteOutcome> {
  const problem = checkInput(noteShape, { text: text.trim() });
  if (problem !== null) return problem;
  if (!isUuid(accountId)) return { kind: 'unknown_account' };
  // A running erasure is waited for: a note about whom it forgets would outlive it.
  const { rowCount } = await client.query('SELECT FROM account WHERE id = $1 AND erased_at IS NULL FOR KEY SHARE', [
    accountId,
  ]);
  if (rowCount === 0) return { kind: 'unknown_account' };
  const after = { text: text.trim() };
  await appendAudit(client, { actor, action: 'account.note', subject: `account:${accountId}`, after });
  return { kind: 'noted', ...after };
}

async function setStatus(
  client: ClientBase,
  ask: { accountId: string; actor: string; status: Account['status']; reason?: string },
): Promise<StatusOutcome> {
  if (!isUuid(ask.accountId)) return { kind: 'unknown_account' };
  const { rows } = await client.query<Account>(
    `SELECT ${columns} FROM account WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE`,
    [ask.accountId],
  );
  const [before] = rows;
  if (before === undefined) return { kind: 'unknown_account' };
  if (before.status === ask.status) return { kind: 'unchanged', account: before };
  await client.query('UPDATE account SET status = $2 WHERE id = $1', [ask.accountId, ask.status]);
  await appendAudit(client, {
    actor: ask.actor,
    action: ask.status === 'suspended' ? 'account.suspend' : 'account.resume',
    subject: `account:${ask.accountId}`,
    before: { status: before.status },
    after: { status: ask.status, ...(ask.reason === undefined ? {} : { reason: ask.reason }) },
  });
  return { kind: 'changed', account: { ...before, status: ask.status } };
}

const reasonText = shownText(500);
const nameShape = z.object({ name: shownText(100) });

const givenShape: z.ZodType<{ amount: bigint; reason: string | undefined }> = z.object({
  amount: amount(maxPico),
  reason: z.union([reasonText, z.undefined()]),
});
const endedShape = z.object({ reason: reasonText });

async function giveGrant(client: ClientBase, ask: NewGrant): Promise<GiveGrantOutcome> {
  const { accountId, amount: given, expiresAt, reason, idempotencyKey, actor } = ask;
  const problem = checkInput(givenShape, { amount: given, reason });
  if (problem !== null) return problem;
  if (!isUuid(accountId)) return { kind: 'unknown_account' };
  const sourceRef = `adjustment:${idempotencyKey ?? randomUUID()}`;
  // A repetition returns the earlier result, even if the grant has expired since.
  const { rows } = await client.query<{ over: boolean | null }>(
    `SELECT $2::timestamptz <= now()
            AND NOT EXISTS (SELECT FROM "grant" WHERE account_id = account.id AND source_ref = $3) AS over
     FROM account WHERE id = $1 AND erased_at IS NULL FOR KEY SHARE`,
    [accountId, expiresAt, sourceRef],
  );
  const [account] = rows;
  if (account === undefined) return { kind: 'unknown_account' };
  if (account.over === true) return invalidInput('expiresAt', 'must be in the future');
  const { id, added } = await recordGrant(client, {
    accountId,
    kind: 'adjustment',
    amount: given,
    expiresAt,
    sourceRef,
    reason: reason ?? null,
    actor,
  });
  return { kind: added ? 'given' : 'given_before', grantId: id };
}

async function takeBack(client: ClientBase, ask: GrantToEnd): Promise<EndGrantOutcome> {
  const { accountId, grantId, reason, actor } = ask;
  const problem = checkInput(endedShape, { reason });
  if (problem !== null) return problem;
  if (!isUuid(accountId) || !isUuid(grantId)) return { kind: 'unknown_grant' };
  const outcome = await endGrant(client, { accountId, grantId });
  if (outcome.kind !== 'ended') return outcome;
  const { free, held, endedAt, expiresAt } = outcome;
  await appendAudit(client, {
    actor,
    action: 'grant.end',
    subject: `account:${accountId}`,
    before: { id: grantId, expiresAt, free, held },
    after: { id: grantId, expiresAt: endedAt, reason },
  });
  return { kind: 'ended', free, held };
}

function facts({ name, email, status, kind }: Account): AuditFacts {
  return { name, email, status, kind };
}
