/**
 * How many bytes of request bodies are in memory. A body is read before anything else is known about its request, and
 * stays until the answer is over; without a bound, one key (of an account without a cent, too) could fill the machine
 * with bodies that it never completes.
 */
export interface BodyRoom {
  /** Null when there is room (the bytes are taken), else whose room is full. */
  take(accountId: string, bytes: number): 'account' | 'server' | null;
  give(accountId: string, bytes: number): void;
}

/** Four of the largest bodies, or a hundred of a long conversation's. */
const usualPerAccountBytes = 128 * 1_048_576;
const usualTotalBytes = 512 * 1_048_576;
/** A body up to this size is only counted with its account: others' large bodies must not keep it out. */
const smallBytes = 1_048_576;

export function createBodyRoom({
  perAccountBytes = usualPerAccountBytes,
  totalBytes = usualTotalBytes,
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
      if (bytes > smallBytes && total + bytes > totalBytes) return 'server';
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
