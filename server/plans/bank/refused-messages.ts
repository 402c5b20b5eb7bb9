import type { Pool } from 'pg';

/**
 * Refused messages of bank providers: for each provider and reason the moment of the last one, so that an operator sees why
 * a test does not arrive. Nothing of the message is stored, because anybody can send one.
 */

export type RefusalReason = 'unsigned' | 'forged' | 'stale' | 'not_configured' | 'unreadable' | 'failed';

export interface RefusedMessages {
  /** Notes that a message was refused. Never throws and is not waited for: the answer does not depend on it. */
  note(provider: string, reason: RefusalReason): void;
  /** Forgets them: a message of the provider was accepted, be it a repeated one. Never throws either. */
  forget(provider: string): void;
}

/** Strangers can send any number of messages: one write in this time for each provider and reason. */
const everyMs = 5_000;

export function createRefusedMessages({
  pool,
  onFailure,
  now = Date.now,
}: {
  pool: Pool;
  onFailure: (error: unknown) => void;
  now?: () => number;
}): RefusedMessages {
  const notedAt = new Map<string, number>();
  return {
    note(provider, reason) {
      const id = `${provider} ${reason}`;
      if (now() - (notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
      notedAt.set(id, now());
      pool
        .query(
          `INSERT INTO bank_refusal (provider, reason) VALUES ($1, $2)
           ON CONFLICT (provider, reason) DO UPDATE SET at = now()`,
          [provider, reason],
        )
        .catch(onFailure);
    },
    forget(provider) {
      for (const id of notedAt.keys()) if (id.startsWith(`${provider} `)) notedAt.delete(id);
      pool.query('DELETE FROM bank_refusal WHERE provider = $1', [provider]).catch(onFailure);
    },
  };
}
