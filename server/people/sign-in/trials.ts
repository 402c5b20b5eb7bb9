import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { createAccount } from '../../accounts/accounts.ts';
import { transaction } from '../../database/lane.ts';
import { appendAudit } from '../../shared/audit.ts';
import { mailboxOf } from '../address.ts';
import type { OpenAccount } from '../identity.ts';

/** Trials that one network (an IPv4 address, an IPv6 /64) gets in a day. Further accounts are opened without one. */
const maxTrialsPerNetwork = 10;

/**
 * Opens the account of a person whose address has just been confirmed, with the trial if the mailbox has not had one
 * and its network is within its limit. Idempotent, also for concurrent calls.
 */
export function createOpenAccount({ pool }: { pool: Pool }): OpenAccount {
  return (person) =>
    transaction(pool, async (client) => {
      const mailbox = digest(mailboxOf(person.email));
      // Clients without a known network count as one: the limit has no way around it.
      const network = isLoopback(person.network) ? null : digest(person.network);
      // Lock order: mailbox, then network.
      for (const lock of [mailbox, network]) {
        if (lock === null) continue;
        await client.query('SELECT pg_advisory_xact_lock($1)', [lock.readBigInt64BE(0).toString()]);
      }
      const { rows } = await client.query<{ claimed: boolean; many: boolean }>(
        `SELECT EXISTS (SELECT FROM trial_claim WHERE mailbox = $1) AS claimed,
                (SELECT count(*) >= $3 FROM trial_claim
                  WHERE network = $2 AND created_at > now() - interval '24 hours') AS many`,
        [mailbox, network, maxTrialsPerNetwork],
      );
      const [past] = rows;
      const deserved = past !== undefined && !past.claimed && !past.many;
      const outcome = await createAccount(client, {
        email: person.email,
        name: person.name,
        ownerId: person.userId,
        grant: { kind: deserved ? 'trial' : 'none' },
        actor: `user:${person.userId}`,
      });
      if (outcome.kind === 'invalid') throw new Error(`an account cannot be opened: its ${outcome.field} is invalid`);
      if (!deserved) return;
      await client.query(
        'INSERT INTO trial_claim (mailbox, account_id, network) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [mailbox, outcome.account.id, network],
      );
    });
}

/**
 * Follows a change of address: the account of the old one gets its notices at the new one, unless another account has
 * that. The old address can open an account again; its mailbox has had its trial.
 */
export function takeAccountAlong(options: { pool: Pool; userId: string; from: string; to: string }): Promise<void> {
  const { pool, userId, from, to } = options;
  return transaction(pool, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `UPDATE account SET email = $3
        WHERE email = $2 AND NOT EXISTS (SELECT FROM account WHERE email = $3)
          AND id IN (SELECT account_id FROM member WHERE user_id = $1 AND role = 'owner') RETURNING id`,
      [userId, from, to],
    );
    const [account] = rows;
    if (account === undefined) return;
    await appendAudit(client, {
      actor: `user:${userId}`,
      action: 'account.change_address',
      subject: `account:${account.id}`,
      before: { email: from },
      after: { email: to },
    });
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Loopback, or a local proxy that does not forward the client's address: not one household. */
function isLoopback(network: string): boolean {
  return network.startsWith('127.') || network === '0:0:0:0';
}
