import { freeBytes } from './free-bytes.ts';

/**
 * The one owner of a request's bytes: the body as it came, and the body of every try that was made from it. Contexts are
 * large and streams are long, so the memory is given back as soon as no further try can need it.
 */
export interface RequestBytes {
  /** The body as the client sent it; empty after `release`. */
  readonly raw: Buffer;
  /** Takes over the body of one try, which may be `raw` itself, and lends it to a dispatcher. */
  lend(holder: { body: Uint8Array }): LentBody;
  /**
   * No try follows and no code reads the bytes any more. Memory that a dispatcher may still read is left to the garbage
   * collector.
   */
  release(): void;
}

/** A body on its way into a socket. */
export interface LentBody {
  readonly bytes: Uint8Array;
  /** The system has taken all of it: the dispatcher reads the memory no more. */
  taken(): void;
}

const empty = Buffer.alloc(0);

/** `raw` must not be used by anybody else from here on. */
export function createRequestBytes(raw: Buffer): RequestBytes {
  const holders: { body: Uint8Array }[] = [];
  let lent = 0;
  const owner: { -readonly [K in keyof RequestBytes]: RequestBytes[K] } = {
    raw,
    lend(holder) {
      holders.push(holder);
      lent += 1;
      let isRead = true;
      return {
        get bytes() {
          return holder.body;
        },
        taken() {
          if (isRead) lent -= 1;
          isRead = false;
        },
      };
    },
    release() {
      // Natively the bodies may share their memory with `raw`: one that is still read keeps them all.
      if (lent === 0) for (const { body } of [...holders, { body: owner.raw }]) freeBytes(body);
      for (const holder of holders) holder.body = empty;
      holders.length = 0;
      owner.raw = empty;
    },
  };
  return owner;
}
