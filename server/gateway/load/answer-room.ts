/**
 * Bounds the bytes of unstreamed answers in memory: partly received ones, and whole ones that wait for their client. An
 * account above its bound is slowed down at its upstreams; an account below its share never waits for others.
 */
export interface AnswerRoom {
  /** The account's answers have reached its bound: a further request would only wait for them. */
  isFull(accountId: string): boolean;
  /** The share of one request. To be closed when its answer is no longer in memory. */
  open(accountId: string): AnswerShare;
  /** Bytes of all accounts in memory. */
  readonly bytes: number;
}

export interface AnswerShare {
  /** Called when reading may continue after `collect` returned false. */
  onRoom(listener: () => void): void;
  /** Counts bytes received from the upstream. False: read no further until `onRoom`. */
  collect(bytes: number): boolean;
  /** The try failed: its bytes are no longer in memory. */
  discard(): void;
  /** The answer is complete: `bytes` wait for the client now, instead of the collected ones. */
  handOver(bytes: number): void;
  close(): void;
}

export interface AnswerRoomBounds {
  perAccountBytes: number;
  totalBytes: number;
  /**
   * Size of the largest answer. One answer at a time may exceed the bounds by this much, or all could wait for each
   * other.
   */
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

const nothing = (): void => undefined;

/**
 * Accounts below their equal share may exceed the total, so that all together hold less than twice the total, plus one
 * privileged answer (`maxAnswerBytes`).
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
   * The oldest answer whose account has room for a whole one beside those that wait for clients (which leave in bounded
   * time). Without this privilege, partly received answers could wait for each other forever.
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
    // Resuming may deliver bytes synchronously, so each share is checked when its turn comes.
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
        resume: nothing,
      };
      let waiting = 0;
      const add = (collected: number, handedOver: number): void => {
        if (share.collected + waiting === 0) {
          // Accounts without bytes are not stored: most requests are streams, which count none.
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
      const stopCollecting = (): void => {
        collecting.delete(share);
        // Discarded tables of a `Set` keep its members alive for long: see `shared/roster.ts`.
        share.resume = nothing;
      };
      const release = (): void => {
        stopCollecting();
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
          stopCollecting();
          add(-share.collected, bytes);
          wake();
        },
        close: release,
      };
    },
  };
}
