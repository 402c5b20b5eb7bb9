/**
 * Bounds the bytes of request bodies in memory, for an account and for all. A body is read before anything else is known
 * about its request, and stays until the answer is over.
 *
 * Only bytes that have arrived count: announcing costs nothing. What is left is shared: an account may keep as much as is
 * still free for everybody, so that n accounts that take all they can leave the next one a share as large as their own
 * (dynamic thresholds, as switches share one buffer among their ports).
 */
export interface BodyRoom {
  /** Null when there is room (the bytes are taken), else whose room is full. */
  take(accountId: string, bytes: number): 'account' | 'server' | null;
  give(accountId: string, bytes: number): void;
}

/** Four of the largest bodies, or a hundred of a long conversation's. */
const defaultPerAccountBytes = 128 * 1_048_576;
const defaultTotalBytes = 512 * 1_048_576;
/** What every account may keep, however full it is. */
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
