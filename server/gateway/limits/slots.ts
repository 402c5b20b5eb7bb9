/**
 * Limits the concurrent requests of a key and an account in this process, so that a runaway loop in one tool cannot
 * take every connection. The ledger guards the money.
 */
export interface Slots {
  /** Null: the slot is taken; else the scope whose slots are full. */
  take(accountId: string, keyId: string): 'key' | 'account' | null;
  give(accountId: string, keyId: string): void;
  running(accountId: string): number;
  /** Requests of all accounts that run in this process. */
  total(): number;
}

export function createSlots({ perKey, perAccount }: { perKey: number; perAccount: number }): Slots {
  const keys = new Map<string, number>();
  const accounts = new Map<string, number>();
  let total = 0;
  return {
    take(accountId, keyId) {
      if ((keys.get(keyId) ?? 0) >= perKey) return 'key';
      if ((accounts.get(accountId) ?? 0) >= perAccount) return 'account';
      add(keys, keyId, 1);
      add(accounts, accountId, 1);
      total += 1;
      return null;
    },
    give(accountId, keyId) {
      add(keys, keyId, -1);
      add(accounts, accountId, -1);
      total -= 1;
    },
    running: (accountId) => accounts.get(accountId) ?? 0,
    total: () => total,
  };
}

function add(counts: Map<string, number>, id: string, change: 1 | -1): void {
  const next = (counts.get(id) ?? 0) + change;
  if (next > 0) counts.set(id, next);
  else counts.delete(id);
}
