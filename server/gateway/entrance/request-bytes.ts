import { freeBytes } from '../load/free-bytes.ts';

/**
 * The single owner of a request's bytes: the client's body, and the body of every try. Contexts are large and streams
 * are long, so the memory is freed as soon as no further try can need it.
 */
export interface RequestBytes {
  /** The client's body; empty after `release`. */
  readonly raw: Buffer;
  /** Takes ownership of one try's body, which may be `raw` itself, and lends it to a dispatcher. */
  lend(holder: { body: Uint8Array }): LentBody;
  /**
   * Frees the bytes: no try follows and no code reads them any more. Memory that a dispatcher may still read is left to
   * the garbage collector.
   */
  release(): void;
}

/** A body that is being written to a socket. */
export interface LentBody {
  readonly bytes: Uint8Array;
  /** The system has taken all of it: the dispatcher no longer reads the memory. */
  taken(): void;
}

const empty = Buffer.alloc(0);

/**
 * A class, because V8 makes a hidden class for each object literal with an accessor, in the old generation: it would keep
 * the request in memory until the next full collection.
 */
class Loan implements LentBody {
  private readonly holder: { body: Uint8Array };
  private owner: OwnedBytes | null;

  constructor(holder: { body: Uint8Array }, owner: OwnedBytes) {
    this.holder = holder;
    this.owner = owner;
  }

  get bytes(): Uint8Array {
    return this.holder.body;
  }

  taken(): void {
    const { owner } = this;
    this.owner = null;
    owner?.returned();
  }
}

/**
 * Takes ownership of `raw`: no other code may use it afterwards. `onFreed` is called when the memory is freed, or at
 * the disposal of the garbage collector.
 */
export function createRequestBytes(raw: Buffer, onFreed: () => void = () => undefined): RequestBytes {
  return new OwnedBytes(raw, onFreed);
}

class OwnedBytes implements RequestBytes {
  raw: Buffer;
  private readonly onFreed: () => void;
  private holders: { body: Uint8Array }[] = [];
  private lent = 0;
  private released = false;

  constructor(raw: Buffer, onFreed: () => void) {
    this.raw = raw;
    this.onFreed = onFreed;
  }

  lend(holder: { body: Uint8Array }): LentBody {
    this.holders.push(holder);
    this.lent += 1;
    return new Loan(holder, this);
  }

  returned(): void {
    this.lent -= 1;
    if (this.released && this.lent === 0) this.onFreed();
  }

  release(): void {
    const { holders } = this;
    // On the native path bodies may share memory with `raw`: one that is still read keeps them all.
    if (this.lent === 0) {
      for (const { body } of holders) freeBytes(body);
      freeBytes(this.raw);
    }
    for (const holder of holders) holder.body = empty;
    this.holders = [];
    this.raw = empty;
    this.released = true;
    if (this.lent === 0) this.onFreed();
  }
}
