import { createHash, randomBytes } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction, transaction } from '../database/lane.ts';
import type { Mailer } from '../runtime/mail.ts';
import { type AuditAction, appendAudit } from '../shared/audit.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { address, parseInput } from './input.ts';
import { invitationMail, leftKeysMail, localeOf } from './mails.ts';
import { type BadInput, type BadToken, type Throttled, throttled } from './outcomes.ts';
import { type Role, roles, rolesWith, scopesOf, type TokenScope, type UserPrincipal } from './principal.ts';
import type { Throttle } from './sign-in/throttle.ts';

/**
 * The members of an account. Owners manage all members; admins manage all but owners. An account always keeps an owner.
 * The caller has checked that the person may manage members at all.
 */

export interface MemberRecord {
  accountId: string;
  userId: string;
  name: string;
  email: string;
  role: Role;
  createdAt: Date;
}

export interface InvitationRecord {
  id: string;
  accountId: string;
  email: string;
  role: InvitedRole;
  expiresAt: Date;
  createdAt: Date;
}

export type InvitedRole = Exclude<Role, 'owner'>;

export type MemberOutcome =
  | { kind: 'done' }
  | { kind: 'unknown' }
  /** Only owners manage owners. */
  | { kind: 'not_allowed' }
  | { kind: 'last_owner' };

/** A working key of an account whose secret a member has seen: they made or rotated it, in the browser or with a token. */
export interface SeenKey {
  id: string;
  name: string;
  last4: string;
  createdAt: Date;
}

/** What becomes of the keys that somebody has seen who leaves an account. */
export type KeysOfLeaving = 'keep' | 'revoke';

export type RemoveOutcome =
  | MemberOutcome
  /** These keys would go on working, and nobody said whether they are to: nothing was changed. */
  | { kind: 'keys_undecided'; keys: SeenKey[] };

export type InviteOutcome =
  | { kind: 'invited'; invitation: InvitationRecord }
  | { kind: 'already_member' }
  | { kind: 'too_many'; limit: number }
  /** The person may not (any more) manage the account's members. */
  | { kind: 'not_allowed' }
  | BadInput
  | Throttled;

export interface Members {
  list(accountId: string): Promise<MemberRecord[]>;
  invitations(accountId: string): Promise<InvitationRecord[]>;
  /** Sends a new link when the address has an open invitation. */
  invite(me: UserPrincipal, ask: { accountId: string; email: string; role: InvitedRole }): Promise<InviteOutcome>;
  revokeInvitation(me: UserPrincipal, ask: { accountId: string; id: string }): Promise<boolean>;
  /** The account of an open invitation, for members who may revoke it; null: unknown. */
  findInvitation(id: string): Promise<InvitationRecord | null>;
  /** Only for a person who signs in with the invited address: a forwarded mail opens nothing. */
  accept(me: UserPrincipal, token: string): Promise<{ kind: 'joined'; accountId: string } | BadToken>;
  setRole(me: UserPrincipal, ask: { accountId: string; userId: string; role: Role }): Promise<MemberOutcome>;
  /**
   * Also for leaving: every member may remove themselves. Their tokens and personal keys end. `keys` is needed where
   * there are keys of the account that they have seen, of who manages members; such keys are kept when somebody else
   * leaves on their own. A mail tells the owners which keys these are, and what became of them.
   */
  remove(
    me: UserPrincipal,
    ask: { accountId: string; userId: string; keys: KeysOfLeaving | null },
  ): Promise<RemoveOutcome>;
}

const invitingRoles = rolesWith('members');
const invitationDays = 7;
const maxMembers = 200;
const invitesPerAccount = { attempts: 30, windowS: 86_400 };
const invitesPerAddress = { attempts: 5, windowS: 86_400 };

const invitationColumns = `id, account_id AS "accountId", email, role, expires_at AS "expiresAt", created_at AS "createdAt"`;
const openInvitation = 'accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()';

export function createMembers(parts: { pool: Pool; mailer: Mailer; throttle: Throttle; publicUrl: string }): Members {
  const { pool, mailer, throttle, publicUrl } = parts;
  return {
    async list(accountId) {
      const { rows } = await pool.query<MemberRecord>(
        `SELECT m.account_id AS "accountId", m.user_id AS "userId", u.name, u.email, m.role, m.created_at AS "createdAt"
           FROM member m JOIN app_user u ON u.id = m.user_id
          WHERE m.account_id = $1 ORDER BY m.created_at, m.user_id LIMIT $2`,
        [accountId, maxMembers],
      );
      return rows;
    },

    async invitations(accountId) {
      const { rows } = await pool.query<InvitationRecord>(
        `SELECT ${invitationColumns} FROM invitation WHERE account_id = $1 AND ${openInvitation}
          ORDER BY created_at DESC, id DESC LIMIT $2`,
        [accountId, maxMembers],
      );
      return rows;
    },

    async findInvitation(id) {
      const { rows } = await pool.query<InvitationRecord>(
        `SELECT ${invitationColumns} FROM invitation WHERE id = $1 AND ${openInvitation}`,
        [id],
      );
      return rows[0] ?? null;
    },

    async invite(me, { accountId, email: text, role }) {
      const parsed = parseInput(z.object({ email: address }), { email: text });
      if (parsed.kind === 'bad_input') return parsed;
      const { email } = parsed.value;
      const wait =
        (await throttle.take(`invite:${accountId}`, invitesPerAccount)) ??
        (await throttle.take(`invite-to:${email}`, invitesPerAddress));
      if (wait !== null) return throttled(wait);
      const token = randomBytes(32).toString('base64url');
      const outcome = await transaction(pool, (client) =>
        insertInvitation(client, { accountId, email, role, token, me }),
      );
      if (outcome.kind !== 'invited') return outcome;
      const { rows } = await pool.query<{ name: string }>('SELECT name FROM account WHERE id = $1', [accountId]);
      const link = `${publicUrl}/invitation?token=${token}`;
      mailer.post(invitationMail(email, localeOf(me.locale), rows[0]?.name ?? '', me.name, link));
      return outcome;
    },

    revokeInvitation: (me, { accountId, id }) =>
      transaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `UPDATE invitation SET revoked_at = now() WHERE id = $1 AND account_id = $2 AND ${openInvitation}`,
          [id, accountId],
        );
        if (rowCount !== 1) return false;
        await audit(client, me, 'invitation.revoke', accountId, null, { invitation: id });
        return true;
      }),

    accept: (me, token) => transaction(pool, (client) => acceptInvitation(client, me, token)),
    async setRole(me, ask) {
      const outcome = await transaction(pool, (client) => changeMember(client, me, { ...ask, keys: null }));
      if (outcome.kind === 'keys_undecided' || outcome.kind === 'removed') throw new Error('a change removed a member');
      return outcome;
    },

    async remove(me, ask) {
      // A key that is changed at the same moment locks itself before its maker.
      const outcome = await repeatedTransaction(pool, (client) => changeMember(client, me, { ...ask, role: null }));
      if (outcome.kind !== 'removed') return outcome;
      for (const { email, locale } of outcome.owners)
        mailer.post(leftKeysMail(email, localeOf(locale), { ...outcome.left, link: `${publicUrl}/keys` }));
      return { kind: 'done' };
    },
  };
}

/** Somebody is no member any more. */
interface Removed {
  kind: 'removed';
  left: { name: string; account: string; keys: readonly SeenKey[]; fate: KeysOfLeaving };
  /** Who gets the mail; nobody where no keys are left. */
  owners: readonly { email: string; locale: string }[];
}

/** The keys that go on without a member; personal ones of theirs do not. */
async function readSeenKeys(client: ClientBase, accountId: string, userId: string): Promise<SeenKey[]> {
  const { rows } = await client.query<SeenKey>(
    `SELECT k.id, k.name, k.last4, k.created_at AS "createdAt" FROM api_key k
     WHERE k.account_id = $1 AND k.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
       AND NOT (k.personal AND k.created_by = $2)
       AND (k.created_by = $2 OR EXISTS (
         SELECT FROM audit_entry e WHERE e.subject = 'key:' || k.id AND e.action = 'key.create'
           AND (e.actor = 'user:' || $2::text OR e.actor IN (
             SELECT 'token:' || t.id FROM access_token t WHERE t.account_id = $1 AND t.created_by = $2))))
     ORDER BY k.id DESC`,
    [accountId, userId],
  );
  return rows;
}

/** Ends the keys that somebody has seen, or lets them be, and finds whom to tell. */
async function settleSeenKeys(
  client: ClientBase,
  me: UserPrincipal,
  {
    accountId,
    userId,
    keys,
    fate,
  }: { accountId: string; userId: string; keys: readonly SeenKey[]; fate: KeysOfLeaving },
): Promise<Removed> {
  if (fate === 'revoke')
    await client.query('UPDATE api_key SET deleted_at = now() WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL', [
      keys.map(({ id }) => id),
    ]);
  for (const { id, name } of fate === 'revoke' ? keys : [])
    await appendAudit(client, {
      actor: `user:${me.userId}`,
      action: 'key.delete',
      subject: `key:${id}`,
      before: { name, userId },
    });
  const { rows } = await client.query<{ name: string; account: string }>(
    'SELECT u.name, a.name AS account FROM app_user u, account a WHERE u.id = $2 AND a.id = $1',
    [accountId, userId],
  );
  const { name, account } = rows[0] ?? { name: '', account: '' };
  const owners = await client.query<{ email: string; locale: string }>(
    `SELECT u.email, u.locale FROM member m JOIN app_user u ON u.id = m.user_id
     WHERE m.account_id = $1 AND m.role = 'owner' AND $2 ORDER BY u.email`,
    [accountId, keys.length > 0],
  );
  return { kind: 'removed', left: { name, account, keys, fate }, owners: owners.rows };
}

async function insertInvitation(
  client: ClientBase,
  ask: { accountId: string; email: string; role: InvitedRole; token: string; me: UserPrincipal },
): Promise<Exclude<InviteOutcome, BadInput | Throttled>> {
  const { accountId, email, role, token, me } = ask;
  // Invitations of one account are made one after the other, so that they can be counted.
  await client.query('SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
  // A concurrent removal or demotion waits for this invitation and then revokes it, or is seen here.
  const inviter = await client.query(
    `SELECT FROM member WHERE account_id = $1 AND user_id = $2 AND role = ANY ($3) FOR SHARE`,
    [accountId, me.userId, invitingRoles],
  );
  if (inviter.rowCount !== 1) return { kind: 'not_allowed' };
  const { rows } = await client.query<{ member: boolean; many: boolean }>(
    `SELECT EXISTS (SELECT FROM member m JOIN app_user u ON u.id = m.user_id
                     WHERE m.account_id = $1 AND u.email = $2) AS member,
            (SELECT count(*) FROM member WHERE account_id = $1)
            + (SELECT count(*) FROM invitation WHERE account_id = $1 AND ${openInvitation} AND email <> $2) >= $3 AS many`,
    [accountId, email, maxMembers],
  );
  if (rows[0]?.member === true) return { kind: 'already_member' };
  if (rows[0]?.many === true) return { kind: 'too_many', limit: maxMembers };
  await client.query(
    `UPDATE invitation SET revoked_at = now() WHERE account_id = $1 AND email = $2 AND ${openInvitation}`,
    [accountId, email],
  );
  const made = await client.query<InvitationRecord>(
    `INSERT INTO invitation (id, account_id, email, role, hash, invited_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7)) RETURNING ${invitationColumns}`,
    [uuidv7(), accountId, email, role, digest(token), me.userId, invitationDays],
  );
  const [invitation] = made.rows;
  if (invitation === undefined) throw new Error('an invitation that was just written is missing');
  await audit(client, me, 'invitation.create', accountId, null, { email, role });
  return { kind: 'invited', invitation };
}

async function acceptInvitation(
  client: ClientBase,
  me: UserPrincipal,
  token: string,
): Promise<{ kind: 'joined'; accountId: string } | BadToken> {
  const { rows } = await client.query<InvitationRecord>(
    `SELECT ${invitationColumns} FROM invitation WHERE hash = $1 AND ${openInvitation}
        AND (invited_by IS NULL OR EXISTS (SELECT FROM member m WHERE m.account_id = invitation.account_id
               AND m.user_id = invitation.invited_by AND m.role = ANY ($2))) FOR UPDATE`,
    [digest(token), invitingRoles],
  );
  const [invitation] = rows;
  if (invitation === undefined || invitation.email !== me.email || !me.emailVerified) return { kind: 'bad_token' };
  const { accountId, role } = invitation;
  await client.query('UPDATE invitation SET accepted_at = now() WHERE id = $1', [invitation.id]);
  await client.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, [
    accountId,
    me.userId,
    role,
  ]);
  await audit(client, me, 'member.join', accountId, null, { userId: me.userId, role });
  return { kind: 'joined', accountId };
}

/** `role` null: the member leaves. */
async function changeMember(
  client: ClientBase,
  me: UserPrincipal,
  {
    accountId,
    userId,
    role,
    keys: fate,
  }: { accountId: string; userId: string; role: Role | null; keys: KeysOfLeaving | null },
): Promise<RemoveOutcome | Removed> {
  // All members of the account under lock: two owners who demote each other at once must not leave it without one.
  const { rows } = await client.query<{ userId: string; role: Role }>(
    `SELECT user_id AS "userId", role FROM member WHERE account_id = $1 ORDER BY user_id FOR UPDATE`,
    [accountId],
  );
  const member = rows.find((row) => row.userId === userId);
  const mine = rows.find((row) => row.userId === me.userId);
  if (member === undefined || mine === undefined) return { kind: 'unknown' };
  const touchesOwner = member.role === 'owner' || role === 'owner';
  const leaving = role === null && userId === me.userId;
  if (touchesOwner && mine.role !== 'owner' && !leaving) return { kind: 'not_allowed' };
  const owners = rows.filter((row) => row.role === 'owner');
  if (member.role === 'owner' && role !== 'owner' && owners.length === 1) return { kind: 'last_owner' };
  if (role === member.role) return { kind: 'done' };
  const keys = role === null ? await readSeenKeys(client, accountId, userId) : [];
  const leads = invitingRoles.includes(mine.role);
  if (keys.length > 0 && leads && fate === null) return { kind: 'keys_undecided', keys };
  if (role === null || roles.indexOf(role) > roles.indexOf(member.role))
    await revokeInvitationsOf(client, me, accountId, userId);
  if (role === null) {
    await client.query('DELETE FROM member WHERE account_id = $1 AND user_id = $2', [accountId, userId]);
    await endTokens(client, accountId, userId, []);
    await endPersonalKeys(client, me, accountId, userId);
  } else {
    await client.query('UPDATE member SET role = $3 WHERE account_id = $1 AND user_id = $2', [accountId, userId, role]);
    // An operator token's own abilities do not come from the role.
    await endTokens(client, accountId, userId, [...scopesOf(role), 'operator']);
  }
  const kept = leads ? (fate ?? 'keep') : 'keep';
  const left = { userId, keys: kept, seenKeys: String(keys.length) };
  const after = role === null ? (keys.length === 0 ? null : left) : { userId, role };
  await audit(
    client,
    me,
    role === null ? 'member.remove' : 'member.change',
    accountId,
    { userId, role: member.role },
    after,
  );
  if (role !== null) return { kind: 'done' };
  return settleSeenKeys(client, me, { accountId, userId, keys, fate: kept });
}

/** Revokes the invitations of a person who was removed or demoted: a confederate must not use them. */
async function revokeInvitationsOf(
  client: ClientBase,
  me: UserPrincipal,
  accountId: string,
  userId: string,
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE invitation SET revoked_at = now()
      WHERE account_id = $1 AND invited_by = $2 AND ${openInvitation} RETURNING id`,
    [accountId, userId],
  );
  for (const { id } of rows) await audit(client, me, 'invitation.revoke', accountId, null, { invitation: id });
}

/** Ends tokens whose maker no longer has their abilities. */
async function endTokens(
  client: ClientBase,
  accountId: string,
  userId: string,
  /** Tokens with no other scopes than these are kept. */
  kept: readonly TokenScope[],
): Promise<void> {
  await client.query(
    `UPDATE access_token SET deleted_at = now()
      WHERE account_id = $1 AND created_by = $2 AND deleted_at IS NULL AND NOT scopes <@ $3::text[]`,
    [accountId, userId, kept],
  );
}

/** Ends the keys that belong to the person. Those that belong to the account go on. */
async function endPersonalKeys(
  client: ClientBase,
  me: UserPrincipal,
  accountId: string,
  userId: string,
): Promise<void> {
  const { rows } = await client.query<{ id: string; name: string }>(
    `UPDATE api_key SET deleted_at = now()
      WHERE account_id = $1 AND created_by = $2 AND personal AND deleted_at IS NULL RETURNING id, name`,
    [accountId, userId],
  );
  for (const { id, name } of rows) {
    const subject = `key:${id}`;
    await appendAudit(client, { actor: `user:${me.userId}`, action: 'key.delete', subject, before: { name, userId } });
  }
}

function audit(
  client: ClientBase,
  me: UserPrincipal,
  action: AuditAction,
  accountId: string,
  before: Record<string, string> | null,
  after: Record<string, string> | null,
): Promise<void> {
  return appendAudit(client, { actor: `user:${me.userId}`, action, subject: `account:${accountId}`, before, after });
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
