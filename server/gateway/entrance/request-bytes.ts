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
  private onTaken: (() => void) | null;

  constructor(holder: { body: Uint8Array }, onTaken: () => void) {
    this.holder = holder;
    this.onTaken = onTaken;
  }

  get bytes(): Uint8Array {
    return this.holder.body;
  }

  taken(): void {
    const { onTaken } = this;
    this.onTaken = null;
    onTaken?.();
  }
}

/**
 * Takes ownership of `raw`: no other code may use it afterwards. `onFreed` is called when the memory is freed, or at
 * the disposal of the garbage collector.
 */
export function createRequestBytes(raw: Buffer, onFreed: () => void = () => undefined): RequestBytes {
  const holders: { body: Uint8Array }[] = [];
  let lent = 0;
  let released = false;
  const onTaken = (): void => {
    lent -= 1;
    if (released && lent === 0) onFreed();
  };
  const owner: { -readonly [K in keyof RequestBytes]: RequestBytes[K] } = {
    raw,
    lend(holder) {
      holders.push(holder);
      lent += 1;
      return new Loan(holder, onTaken);
    },
    release() {
      // On the native path bodies may share memory with `raw`: one that is still read keeps them all.
      if (lent === 0) for (const { body } of [...holders, { body: owner.raw }]) freeBytes(body);
      for (const holder of holders) holder.body = empty;
      holders.length = 0;
      owner.raw = empty;
      released = true;
      if (lent === 0) onFreed();
    },
  };
  return owner;
}
