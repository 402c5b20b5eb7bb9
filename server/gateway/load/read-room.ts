import type { Principal } from '../../keys/keyring.ts';
import { createRates, type Rate } from '../../shared/rates.ts';
import { createSlots } from '../limits/slots.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';

/**
 * Bounds the reads of API keys, which take no slot and no rate of model traffic and work without budget, but share its
 * connections: their rates by key and by account, and how many reports of usage this process adds up at once.
 */
export interface Reads {
  /** Counts a read. Throws the refusal (429) of one beyond the rate of its key or account. */
  take(principal: Principal): void;
  /** Runs what reads many rows, if a slot for it is free; else throws the refusal (429) at once. */
  report<Answer>(accountId: string, run: () => Promise<Answer>): Promise<Answer>;
}

export interface ReadLimits {
  key: Rate;
  account: Rate;
  /** Reports at once. */
  perAccount: number;
  perProcess: number;
}

/**
 * A status line asks every two seconds: a key has the rate of 20 of them, an account of 200. Reports take at most 4 of the
 * 10 connections that model traffic authenticates with.
 */
export const defaultReadLimits: ReadLimits = {
  key: { burst: 300, perSecond: 10 },
  account: { burst: 1_000, perSecond: 100 },
  perAccount: 2,
  perProcess: 4,
};

export function createReads({
  refusals,
  limits = defaultReadLimits,
}: {
  refusals: Refusals;
  limits?: ReadLimits;
}): Reads {
  const { perAccount, perProcess } = limits;
  const keys = createRates(limits.key);
  const accounts = createRates(limits.account);
  const slots = createSlots({ perKey: perAccount, perAccount });
  return {
    take({ keyId, accountId }) {
      const ofKey = keys.take(keyId);
      if (ofKey !== null) throw new RefusalError(refusals.readsLimited('key', ofKey));
      const ofAccount = accounts.take(accountId);
      if (ofAccount !== null) throw new RefusalError(refusals.readsLimited('account', ofAccount));
    },
    async report(accountId, run) {
      if (slots.total() >= perProcess || slots.take(accountId, accountId) !== null)
        throw new RefusalError(refusals.tooManyReports());
      try {
        return await run();
      } finally {
        slots.give(accountId, accountId);
      }
    },
  };
}
