import type { PicoUsd } from '../core/money.ts';

/**
 * What streams may use of an account's last known free money while the ledger is out of reach. All streams of an account
 * in one process share it, so that together they go no further than one of them could. Other processes of the service do
 * not know of it: during an outage each of them may use as much.
 */
export interface AccountCredit {
  /**
   * Up to `wanted` of what is left; 0 when it is used up. `knownFree`: what was free of the account when the ledger last
   * answered the stream that asks.
   */
  take(wanted: PicoUsd, knownFree: PicoUsd): PicoUsd;
  giveBack(amount: PicoUsd): void;
}

export function createCredit(): { of(accountId: string): AccountCredit } {
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
