/**
 * Bytes of unstreamed answers in memory: those that come from an upstream, and whole ones that wait for a client to take
 * them. An account over its bound is slowed down at its upstreams; an account below its share never waits for others.
 */
export interface AnswerRoom {
  /** The account's answers in memory have reached its bound: a further request would only wait behind them. */
  isFull(accountId: string): boolean;
  /** The share of one request. To be closed when its answer has left the memory. */
  open(accountId: string): AnswerShare;
  /** Bytes of all accounts in memory. */
  readonly bytes: number;
}

export interface AnswerShare {
  /** Called when reading may go on after `collect` said false. */
  onRoom(listener: () => void): void;
  /** Counts bytes that have come from the upstream. False: read no further until `onRoom`. */
  collect(bytes: number): boolean;
  /** The try failed: what was collected is no longer in memory. */
  discard(): void;
  /** The answer is complete: so many bytes wait for the client now, in place of what was collected. */
  handOver(bytes: number): void;
  close(): void;
}

export interface AnswerRoomBounds {
  perAccountBytes: number;
  totalBytes: number;
  /** The largest answer. One answer at a time may exceed the bounds by so much, or all could wait for one another. */
  maxAnswerBytes: number;
}

interface Account {
  bytes: number;
  /** The part of `bytes` that waits for clients. */
  waiting: number;
}

interface Share {
  account: Account;
  collected: number;
  /** The upstream is held back. */
  isPaused: boolean;
  resume: () => void;
}

/**
 * The total may be exceeded by accounts below their equal share of it, so all together hold less than twice the total,
 * and by one answer that is let through (`maxAnswerBytes`).
 */
export function createAnswerRoom({ perAccountBytes, totalBytes, maxAnswerBytes }: AnswerRoomBounds): AnswerRoom {
  const accounts = new Map<string, Account>();
  /** Answers that are being collected, oldest first. */
  const collecting = new Set<Share>();
  let total = 0;
  let totalWaiting = 0;

  const hasRoom = ({ account }: Share): boolean =>
    account.bytes < perAccountBytes && (total < totalBytes || account.bytes < totalBytes / accounts.size);

  /**
   * The oldest answer whose account leaves room for a whole one besides those that wait for clients, which leave in
   * bounded time: without it, answers that are all half collected would wait for one another for ever.
   */
  const privileged = (): Share | null => {
    if (totalWaiting >= totalBytes) return null;
    for (const share of collecting) {
      if (share.account.waiting + maxAnswerBytes <= perAccountBytes) return share;
    }
    return null;
  };

  const mayRead = (share: Share): boolean => hasRoom(share) || share === privileged();

  const wake = (): void => {
    // Resuming may bring bytes at once, so each share is asked at its turn.
    for (const share of collecting) {
      if (!share.isPaused || !mayRead(share)) continue;
      share.isPaused = false;
      share.resume();
    }
  };

  return {
    get bytes() {
      return total;
    },
    isFull: (accountId) => (accounts.get(accountId)?.bytes ?? 0) >= perAccountBytes,
    open(accountId) {
      const share: Share = {
        account: { bytes: 0, waiting: 0 },
        collected: 0,
        isPaused: false,
        resume: () => undefined,
      };
      let waiting = 0;
      const add = (collected: number, handedOver: number): void => {
        if (share.collected + waiting === 0) {
          // Accounts without bytes are not kept: most requests are streams and never count any.
          share.account = accounts.get(accountId) ?? share.account;
          accounts.set(accountId, share.account);
        }
        const { account } = share;
        share.collected += collected;
        waiting += handedOver;
        account.bytes += collected + handedOver;
        account.waiting += handedOver;
        total += collected + handedOver;
        totalWaiting += handedOver;
        if (account.bytes === 0) accounts.delete(accountId);
      };
      const release = (): void => {
        collecting.delete(share);
        share.isPaused = false;
        if (share.collected + waiting === 0) return;
        add(-share.collected, -waiting);
        wake();
      };
      return {
        onRoom(listener) {
          share.resume = listener;
        },
        collect(bytes) {
          add(bytes, 0);
          collecting.add(share);
          share.isPaused = !mayRead(share);
          return !share.isPaused;
        },
        discard: release,
        handOver(bytes) {
          collecting.delete(share);
          add(-share.collected, bytes);
          wake();
        },
        close: release,
      };
    },
  };
}
