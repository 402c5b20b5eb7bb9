/**
 * How many requests of one key and one account run at once in this process. A loop that has gone wild in one tool must
 * not take every connection of its neighbours; money is guarded elsewhere.
 */
export interface Slots {
  /** Null when there is room (the slot is taken), else what is full. */
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
