import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';
import { personAddress } from '../people/address.ts';
import { removeIdentities } from '../people/sign-in/identities.ts';
import { createPasswords, passwordProblem } from '../people/sign-in/passwords.ts';
import { appendAudit } from '../shared/audit.ts';

/** A password and its digest, computed outside of the transaction because it takes long. */
export interface PreparedPassword {
  password: string;
  digest: string;
}

export type OperatorOutcome =
  | { kind: 'created' | 'promoted'; userId: string; email: string }
  | { kind: 'invalid'; field: 'email'; message: string };

/** Digests a password, a random one if none is given. The problem is a sentence. */
export async function preparePassword(given: string | null): Promise<PreparedPassword | { problem: string }> {
  const password = given ?? randomBytes(15).toString('base64url');
  const problem = passwordProblem(password);
  return problem === null ? { password, digest: await createPasswords().hash(password) } : { problem };
}

/**
 * Makes an operator within the caller's transaction: a new person, or an existing one. Either way the given password is
 * set, the person's sessions end, and their passkeys and linked
 * accounts elsewhere are removed: one may have been added by a thief of the sign-in.
 */
export async function createOperator(
  client: ClientBase,
  ask: { email: string; digest: string; actor: string },
): Promise<OperatorOutcome> {
  const email = personAddress(ask.email);
  if (email === null) return { kind: 'invalid', field: 'email', message: 'must be an e-mail address' };
  const { rows } = await client.query<{ id: string; created: boolean }>(
    // A new row has never been updated.
    `INSERT INTO app_user (name, email, email_verified, operator) VALUES ($1, $2, true, true)
     ON CONFLICT (email) DO UPDATE SET operator = true, email_verified = true, updated_at = now()
     RETURNING id, xmax = 0 AS created`,
    ['Operator', email],
  );
  const [user] = rows;
  if (user === undefined) throw new Error('an operator that was just written is missing');
  await client.query(
    `INSERT INTO user_credential (provider_id, provider_account_id, user_id, password) VALUES ('credential', $1, $2, $3)
     ON CONFLICT (provider_id, provider_account_id) DO UPDATE SET password = excluded.password, updated_at = now()`,
    [user.id, user.id, ask.digest],
  );
  await client.query('DELETE FROM user_session WHERE user_id = $1', [user.id]);
  const { rowCount: passkeys } = await client.query('DELETE FROM user_passkey WHERE user_id = $1', [user.id]);
  const identities = await removeIdentities(client, user.id);
  await appendAudit(client, {
    actor: ask.actor,
    action: 'operator.create',
    subject: `user:${user.id}`,
    after: { email, newPerson: user.created, removedPasskeys: passkeys ?? 0, removedIdentities: identities },
  });
  return { kind: user.created ? 'created' : 'promoted', userId: user.id, email };
}
