import type { PicoUsd } from '../core/money.ts';

/**
 * An account's last known free money, for its streams while the ledger is out of reach. All streams of an account in
 * one process share it, so that together they spend no more than one of them could. Processes do not share it: during
 * an outage each of them may spend as much.
 */
export interface OutageAllowance {
  /**
   * Takes up to `wanted` of the remaining allowance; 0 when it is used up. `knownFree`: the account's free money at the
   * ledger's last answer to this stream.
   */
  take(wanted: PicoUsd, knownFree: PicoUsd): PicoUsd;
  giveBack(amount: PicoUsd): void;
}

export function createOutageAllowances(): { of(accountId: string): OutageAllowance } {
  const taken = new Map<string, PicoUsd>();
  return {
    of: (accountId) => ({
      take(wanted, knownFree) {
        const used = taken.get(accountId) ?? 0n;
        const left = knownFree - used;
        const amount = left < wanted ? left : wanted;
        if (amount <= 0n) return 0n;
        taken.set(accountId, used + amount);
        return amount;
      },
      giveBack(amount) {
        const left = (taken.get(accountId) ?? 0n) - amount;
        if (left > 0n) taken.set(accountId, left);
        else taken.delete(accountId);
      },
    }),
  };
}
