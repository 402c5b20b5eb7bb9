import type { Ledger } from '../../billing/lane/ledger.ts';
import { formatUsd } from '../../core/money.ts';
import type { Keyring, Principal } from '../../keys/keyring.ts';
import type { Slots } from '../limits/slots.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';

/**
 * Checks whether an account may spend at all, before a large request is read and before a refusal names a fault of the
 * request. The admission decides again, in its transaction.
 */
export interface Standing {
  /**
   * The refusal of an account that cannot call now; null: proceed. Queries the database only for bodies that are more
   * expensive to read than the query, and only when no money was seen for some seconds.
   */
  look(principal: Principal, bodyBytes: number): Promise<Refusal | null> | null;
  /** The same for a body of any size: before it is translated. */
  ask(principal: Principal): Promise<Refusal | null>;
  /** A refusal for malformed syntax, unless the key was deleted. Always queries the database. */
  unlessDeleted(principal: Principal, refusal: Refusal): Promise<Refusal>;
  /**
   * A refusal for the requested model or parameters, unless the key was deleted, the account suspended or its budget
   * exhausted.
   */
  unlessExhausted(principal: Principal, refusal: Refusal): Promise<Refusal>;
  /** An admission held budget for the account, or refused it. */
  note(accountId: string, admitted: boolean): void;
}

/** Reading a smaller body costs about as much as a query. */
const largeBytes = 65_536;

export interface StandingParts {
  keyring: Pick<Keyring, 'findById'>;
  ledger: Pick<Ledger, 'balance'>;
  refusals: Refusals;
  slots: Pick<Slots, 'running'>;
  /** Requests a trial account may run at once. */
  trialSlots: number;
  /** How long an account counts as solvent after its money was seen. */
  maxAgeMs?: number;
  maxEntries?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

export function createStanding(parts: StandingParts): Standing {
  const { keyring, ledger, refusals, slots, trialSlots } = parts;
  const { maxAgeMs = 5_000, maxEntries = 10_000, now = () => performance.now() } = parts;
  /** When money was last seen, by account. */
  const seen = new Map<string, number>();

  const note = (accountId: string, admitted: boolean): void => {
    if (!admitted) {
      seen.delete(accountId);
      return;
    }
    if (seen.size >= maxEntries && !seen.has(accountId)) seen.clear();
    seen.set(accountId, now());
  };

  const exhausted = async (principal: Principal | null): Promise<Refusal | null> => {
    if (principal === null) return refusals.invalidApiKey();
    if (principal.suspended) return refusals.accountSuspended();
    const { accountId } = principal;
    const { free, held } = await ledger.balance(accountId);
    const hasMoney = free + held > 0n;
    note(accountId, hasMoney);
    if (hasMoney) return null;
    return refusals.budgetExhausted({ balanceUsd: formatUsd(free), heldUsd: formatUsd(held), affordableMaxTokens: 0 });
  };
  const isFull = ({ trial, accountId }: Principal): boolean => trial && slots.running(accountId) > trialSlots;

  const ask = async (principal: Principal): Promise<Refusal | null> => {
    const seenAt = seen.get(principal.accountId) ?? Number.NEGATIVE_INFINITY;
    if (now() - seenAt < maxAgeMs && !isFull(principal)) return null;
    // `trial` may have changed since the key was cached: a purchase counts at once.
    const current = await keyring.findById(principal.keyId);
    const refusal = await exhausted(current);
    return refusal ?? (current !== null && isFull(current) ? refusals.tooManyRequests('trial account') : null);
  };

  return {
    look: (principal, bodyBytes) => (bodyBytes < largeBytes ? null : ask(principal)),
    ask,
    unlessDeleted: async (principal, refusal) =>
      (await keyring.findById(principal.keyId)) === null ? refusals.invalidApiKey() : refusal,
    unlessExhausted: async (principal, refusal) =>
      (await exhausted(await keyring.findById(principal.keyId))) ?? refusal,
    note,
  };
}
