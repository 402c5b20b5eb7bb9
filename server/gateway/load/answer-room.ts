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

const nothing = (): void => undefined;

/**
 * Accounts below their equal share may exceed the total, so that all together hold less than twice the total, plus one
 * privileged answer (`maxAnswerBytes`).
 */
export function createAnswerRoom(bounds: AnswerRoomBounds): AnswerRoom {
  return new Room(bounds);
}

class Room implements AnswerRoom {
  bytes = 0;
  private readonly bounds: AnswerRoomBounds;
  private readonly accounts = new Map<string, Account>();
  /** Answers that are being collected, oldest first. */
  private readonly collecting = new Set<Share>();
  private waiting = 0;

  constructor(bounds: AnswerRoomBounds) {
    this.bounds = bounds;
  }

  isFull(accountId: string): boolean {
    return (this.accounts.get(accountId)?.bytes ?? 0) >= this.bounds.perAccountBytes;
  }

  open(accountId: string): AnswerShare {
    return new Share(this, accountId);
  }

  /** The account of an answer. Accounts without bytes are not stored: most requests are streams, which count none. */
  accountOf(accountId: string): Account {
    const account = this.accounts.get(accountId) ?? { bytes: 0, waiting: 0 };
    this.accounts.set(accountId, account);
    return account;
  }

  add(accountId: string, account: Account, collected: number, handedOver: number): void {
    account.bytes += collected + handedOver;
    account.waiting += handedOver;
    this.bytes += collected + handedOver;
    this.waiting += handedOver;
    if (account.bytes === 0) this.accounts.delete(accountId);
  }

  /** Whether an answer may be read on, which is being collected from now on. */
  collect(share: Share): boolean {
    this.collecting.add(share);
    return this.mayRead(share);
  }

  stopCollecting(share: Share): void {
    this.collecting.delete(share);
  }

  wake(): void {
    // Resuming may deliver bytes synchronously, so each share is checked when its turn comes.
    for (const share of this.collecting) {
      if (!share.isPaused || !this.mayRead(share)) continue;
      share.isPaused = false;
      share.resume();
    }
  }

  private mayRead(share: Share): boolean {
    return this.hasRoom(share) || share === this.privileged();
  }

  private hasRoom({ account }: Share): boolean {
    const { perAccountBytes, totalBytes } = this.bounds;
    return (
      account.bytes < perAccountBytes && (this.bytes < totalBytes || account.bytes < totalBytes / this.accounts.size)
    );
  }

  /**
   * The oldest answer whose account has room for a whole one beside those that wait for clients (which leave in bounded
   * time). Without this privilege, partly received answers could wait for each other forever.
   */
  private privileged(): Share | null {
    const { perAccountBytes, totalBytes, maxAnswerBytes } = this.bounds;
    if (this.waiting >= totalBytes) return null;
    for (const share of this.collecting) {
      if (share.account.waiting + maxAnswerBytes <= perAccountBytes) return share;
    }
    return null;
  }
}

const noAccount: Account = { bytes: 0, waiting: 0 };

/** A class, because every waiting stream has one. */
class Share implements AnswerShare {
  account: Account = noAccount;
  /** The upstream is held back. */
  isPaused = false;
  resume: () => void = nothing;
  private readonly room: Room;
  private readonly accountId: string;
  private collected = 0;
  private waiting = 0;

  constructor(room: Room, accountId: string) {
    this.room = room;
    this.accountId = accountId;
  }

  onRoom(listener: () => void): void {
    this.resume = listener;
  }

  collect(bytes: number): boolean {
    this.add(bytes, 0);
    this.isPaused = !this.room.collect(this);
    return !this.isPaused;
  }

  discard(): void {
    this.release();
  }

  handOver(bytes: number): void {
    this.stopCollecting();
    this.add(-this.collected, bytes);
    this.room.wake();
  }

  close(): void {
    this.release();
  }

  private add(collected: number, handedOver: number): void {
    if (this.collected + this.waiting === 0) this.account = this.room.accountOf(this.accountId);
    this.collected += collected;
    this.waiting += handedOver;
    this.room.add(this.accountId, this.account, collected, handedOver);
  }

  private stopCollecting(): void {
    this.room.stopCollecting(this);
    // Discarded tables of a `Set` keep its members alive for long: see `shared/roster.ts`.
    this.resume = nothing;
  }

  private release(): void {
    this.stopCollecting();
    this.isPaused = false;
    if (this.collected + this.waiting === 0) return;
    this.add(-this.collected, -this.waiting);
    this.room.wake();
  }
}
