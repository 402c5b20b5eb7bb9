/** Accounts elsewhere with which people sign in: who each belongs to, and how one comes to belong to a person who is here. */

import { createHash, randomBytes } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { transaction } from '../../database/lane.ts';
import type { Mailer } from '../../runtime/mail.ts';
import { createSeal } from '../../shared/seal.ts';
import { type Caller, cookieValue } from '../caller.ts';
import { identityMail, localeOf } from '../mails.ts';
import type { UserPrincipal } from '../principal.ts';
import { cookieNames } from './auth.ts';
import { hostCookie } from './session-cookies.ts';
import type { Vouched } from './vouching.ts';

/** A linked account as its person sees it. */
export interface IdentityView {
  id: string;
  userId: string;
  /** `google`, `github` or `oidc`. */
  provider: string;
  issuer: string;
  linkedAt: Date;
  lastUsedAt: Date | null;
}

/** An account elsewhere that waits, in one browser, for the proof of the person whose address it has. */
const waitingShape = z.object({
  id: z.string(),
  userId: z.uuid(),
  provider: z.string(),
  issuer: z.string(),
  subject: z.string(),
  untilMs: z.number(),
});
export type WaitingIdentity = z.infer<typeof waitingShape>;

/** Of the sign-in that proves, or the link of the mail. */
export const waitingS = 1_800;

export type SettledIdentity =
  | { kind: 'person'; userId: string }
  /** The address has a person here, who has not said that this is their account. */
  | { kind: 'waiting'; waiting: WaitingIdentity }
  /** Nobody is bound to it, and no address of it was confirmed. */
  | { kind: 'unconfirmed' };

export type Identities = ReturnType<typeof createIdentities>;

export function createIdentities({
  pool,
  mailer,
  publicUrl,
  secretKey,
}: {
  pool: Pool;
  mailer: Mailer;
  publicUrl: string;
  secretKey: Buffer;
}) {
  const { link: cookieName } = cookieNames(publicUrl);
  const seal = createSeal({ secretKeys: [secretKey] });
  const cookiePlace = { table: 'cookie', rowId: 'waiting identity', column: 'value' };
  const mailPlace = { table: 'mail', rowId: 'waiting identity', column: 'token' };
  const securityPage = `${publicUrl}/security`;

  const sealed = (place: typeof cookiePlace, waiting: WaitingIdentity): string =>
    seal.seal(place, JSON.stringify(waiting)).toString('base64url');
  const opened = (place: typeof cookiePlace, text: string | null): WaitingIdentity | null => {
    if (text === null || text.length > 4_096) return null;
    const json = seal.unseal(place, Buffer.from(text, 'base64url'));
    const waiting = json === null ? null : waitingShape.parse(JSON.parse(json));
    return waiting !== null && waiting.untilMs > Date.now() ? waiting : null;
  };

  /** The account elsewhere that waits in this browser, or null. */
  const waitingIn = (caller: Caller): WaitingIdentity | null =>
    opened(cookiePlace, cookieValue(caller.cookie, cookieName));
  const forgetWaiting = (): string => hostCookie(publicUrl, cookieName, '', 0);

  /** Binds it, unless it belongs to somebody. The person is told by mail. */
  const link = async ({ userId, provider, issuer, subject }: WaitingIdentity): Promise<boolean> => {
    const person = await transaction(pool, async (client) => {
      const { rows } = await client.query<{ email: string; locale: string }>(
        'SELECT email, locale FROM app_user WHERE id = $1 AND email_verified FOR UPDATE',
        [userId],
      );
      const isNew = rows.length > 0 && (await bind(client, { userId, provider, issuer, subject }));
      return isNew ? (rows[0] ?? null) : null;
    });
    if (person !== null)
      mailer.post(identityMail(person.email, localeOf(person.locale), 'linked', hostOf(issuer), securityPage));
    return person !== null;
  };

  return {
    waitingIn,
    forgetWaiting,
    link,

    /** The cookie that keeps it waiting in this browser. */
    keepWaiting: (waiting: WaitingIdentity): string =>
      hostCookie(publicUrl, cookieName, sealed(cookiePlace, waiting), waitingS),

    /** For the mail's link, which counts only in the browser of the cookie: another's click must not link anything. */
    mailToken: (waiting: WaitingIdentity): string => sealed(mailPlace, waiting),
    /** What a mail's link is for, if it belongs to what waits in this browser. */
    provedByMail(token: string, caller: Caller): WaitingIdentity | null {
      const [mailed, waiting] = [opened(mailPlace, token), waitingIn(caller)];
      return mailed !== null && waiting !== null && mailed.id === waiting.id ? mailed : null;
    },

    /** The person has just proved who they are in this browser: what waits there for them is theirs. Returns cookies. */
    async linkWaiting(userId: string, caller: Caller): Promise<string[]> {
      if (cookieValue(caller.cookie, cookieName) === null) return [];
      const waiting = waitingIn(caller);
      if (waiting?.userId === userId) await link(waiting);
      return [forgetWaiting()];
    },

    /** Whose it is. A new address becomes a person; one that has a person waits for their proof. */
    settle: (provider: string, vouched: Vouched): Promise<SettledIdentity> =>
      transaction(pool, (client) => settle(client, provider, vouched)),

    ...createIdentityList({ pool, mailer, securityPage }),
  };
}

/** What people see and end of theirs. */
function createIdentityList({ pool, mailer, securityPage }: { pool: Pool; mailer: Mailer; securityPage: string }) {
  return {
    async list(me: UserPrincipal): Promise<IdentityView[]> {
      const { rows } = await pool.query<IdentityView>(
        `SELECT id, user_id AS "userId", provider, issuer, linked_at AS "linkedAt", last_used_at AS "lastUsedAt"
         FROM user_identity WHERE user_id = $1 ORDER BY linked_at, id`,
        [me.userId],
      );
      return rows;
    },

    /** Removes one, and the person's other sessions, one of which it may have opened. False: there is no such one. */
    async remove(me: UserPrincipal, id: string): Promise<boolean> {
      const removed = await transaction(pool, async (client) => {
        const { rows } = await client.query<{ provider: string; issuer: string }>(
          'DELETE FROM user_identity WHERE id = $1 AND user_id = $2 RETURNING provider, issuer',
          [id, me.userId],
        );
        const [identity] = rows;
        if (identity === undefined) return null;
        // The previous version's row of the same account would let it in there.
        await client.query('DELETE FROM user_credential WHERE user_id = $1 AND provider_id = $2 AND password IS NULL', [
          me.userId,
          identity.provider,
        ]);
        await client.query('DELETE FROM user_session WHERE user_id = $1 AND id <> $2', [me.userId, me.sessionId]);
        return identity;
      });
      if (removed === null) return false;
      mailer.post(identityMail(me.email, localeOf(me.locale), 'removed', hostOf(removed.issuer), securityPage));
      return true;
    },
  };
}

async function settle(client: PoolClient, provider: string, vouched: Vouched): Promise<SettledIdentity> {
  const { issuer, subject, email } = vouched;
  // Two sign-ins with one account are one after the other; so are two with one address, by its unique index.
  const lock = createHash('sha256').update(`${issuer}\0${subject}`).digest().readBigInt64BE(0);
  await client.query('SELECT pg_advisory_xact_lock($1)', [lock.toString()]);
  const { rows: known } = await client.query<{ userId: string }>(
    `UPDATE user_identity SET last_used_at = now() WHERE issuer = $1 AND subject = $2 RETURNING user_id AS "userId"`,
    [issuer, subject],
  );
  if (known[0] !== undefined) return { kind: 'person', userId: known[0].userId };
  if (email === null) return { kind: 'unconfirmed' };
  const name = vouched.name ?? email.split('@')[0] ?? email;
  const { rows: created } = await client.query<{ id: string }>(
    `INSERT INTO app_user (email, name, email_verified) VALUES ($1, $2, true) ON CONFLICT (email) DO NOTHING RETURNING id`,
    [email, name],
  );
  const userId = created[0]?.id ?? (await takeFromStranger(client, email));
  if (userId !== null) {
    await bind(client, { userId, provider, issuer, subject, isUsed: true });
    return { kind: 'person', userId };
  }
  const { rows: owners } = await client.query<{ id: string }>('SELECT id FROM app_user WHERE email = $1', [email]);
  const [owner] = owners;
  if (owner === undefined) throw new Error('a person was renamed while they signed in');
  const untilMs = Date.now() + waitingS * 1_000;
  const id = randomBytes(18).toString('base64url');
  return { kind: 'waiting', waiting: { id, userId: owner.id, provider, issuer, subject, untilMs } };
}

/** A provider's host, which names it in mails: it is the operator's setting, not a text of the provider. */
export function hostOf(issuer: string): string {
  return new URL(issuer).host;
}

/** Ends every account elsewhere of a person, those of the previous version included; returns how many there were. */
export async function removeIdentities(client: Pick<PoolClient, 'query'>, userId: string): Promise<number> {
  const { rowCount } = await client.query('DELETE FROM user_identity WHERE user_id = $1', [userId]);
  const { rowCount: before } = await client.query(
    'DELETE FROM user_credential WHERE user_id = $1 AND password IS NULL',
    [userId],
  );
  return Math.max(rowCount ?? 0, before ?? 0);
}

/** False: it belongs to somebody already. */
async function bind(
  client: PoolClient,
  identity: { userId: string; provider: string; issuer: string; subject: string; isUsed?: boolean },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO user_identity (user_id, provider, issuer, subject, last_used_at)
     VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN now() END) ON CONFLICT (issuer, subject) DO NOTHING`,
    [identity.userId, identity.provider, identity.issuer, identity.subject, identity.isUsed === true],
  );
  return rowCount === 1;
}

/**
 * Somebody who was never confirmed may have signed up with the owner's address to share what the owner does later ("account
 * pre-hijacking", Sudhodanan and Paverd, USENIX Security 2022). The provider has confirmed the address, so the owner gets
 * the person, without password, sessions and name of the other sign-up. Null: the address was confirmed here before.
 */
async function takeFromStranger(client: PoolClient, email: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE app_user SET email_verified = true, two_factor_enabled = false, name = split_part(email, '@', 1), updated_at = now()
     WHERE email = $1 AND NOT email_verified RETURNING id`,
    [email],
  );
  const [person] = rows;
  if (person === undefined) return null;
  for (const table of ['user_credential', 'user_identity', 'user_session', 'user_two_factor', 'user_passkey'])
    await client.query(`DELETE FROM ${table} WHERE user_id = $1`, [person.id]);
  return person.id;
}
