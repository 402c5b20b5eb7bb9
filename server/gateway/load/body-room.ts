/**
 * Bounds the bytes of request bodies in memory, per account and in total. A body is read before the request is
 * admitted, and stays in memory until no further try can need it: at the latest until the answer has ended.
 *
 * Only received bytes count, not announced ones. An account may keep as many bytes as are still free in total, so that
 * n accounts at their limit leave the next one an equal share (dynamic thresholds, as switches share one buffer among
 * their ports).
 */
export interface BodyRoom {
  /** Null: the bytes are taken; else the scope whose room is full. */
  take(accountId: string, bytes: number): 'account' | 'server' | null;
  give(accountId: string, bytes: number): void;
}

/** Four of the largest bodies, or a hundred of a long conversation. */
const defaultPerAccountBytes = 128 * 1_048_576;
const defaultTotalBytes = 512 * 1_048_576;
/** Minimum of every account, however full the room is. */
const guaranteedBytes = 1_048_576;

export function createBodyRoom({
  perAccountBytes = defaultPerAccountBytes,
  totalBytes = defaultTotalBytes,
}: {
  perAccountBytes?: number;
  totalBytes?: number;
} = {}): BodyRoom {
  const accounts = new Map<string, number>();
  let total = 0;
  return {
    take(accountId, bytes) {
      const taken = (accounts.get(accountId) ?? 0) + bytes;
      if (taken > perAccountBytes) return 'account';
      if (taken > guaranteedBytes && taken > totalBytes - total) return 'server';
      accounts.set(accountId, taken);
      total += bytes;
      return null;
    },
    give(accountId, bytes) {
      const left = (accounts.get(accountId) ?? 0) - bytes;
      if (left > 0) accounts.set(accountId, left);
      else accounts.delete(accountId);
      total -= bytes;
    },
  };
}
