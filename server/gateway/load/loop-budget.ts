import { freeBytes } from './free-bytes.ts';

/**
 * Bounds how many bytes of request bodies are copied and freed in one turn of the event loop. A socket hands over up to 2 MB
 * in one turn, so that a few dozen of them would keep everything else waiting for as long as all their copies take.
 */
export interface LoopBudget {
  /** Counts bytes that were handled in this turn. False: the rest should wait for `next`. */
  spend(bytes: number): boolean;
  /** A later turn that has budget left, first come, first served. */
  next(): Promise<void>;
  /** Frees memory within the budget; its owner must not use it any more. */
  freeLater(memory: readonly Uint8Array[]): void;
}

/** Copying so many bytes into fresh memory takes about a millisecond. */
const defaultBytesPerTurn = 1_048_576;
/** What one that waited is expected to handle next: the piece that a socket hands over at a time. */
const pieceBytes = 65_536;
/** Freeing is several times faster than copying. */
const freeShare = 8;

export function createLoopBudget(bytesPerTurn: number = defaultBytesPerTurn): LoopBudget {
  let left = bytesPerTurn;
  let isTurning = false;
  const waiting: (() => void)[] = [];
  const toFree: Uint8Array[] = [];

  const turn = (): void => {
    isTurning = false;
    left = bytesPerTurn;
    for (let freed = 0; freed < bytesPerTurn * freeShare; ) {
      const memory = toFree.pop();
      if (memory === undefined) break;
      freed += memory.byteLength;
      freeBytes(memory);
    }
    for (const resume of waiting.splice(0, Math.max(1, Math.floor(bytesPerTurn / pieceBytes)))) resume();
    if (waiting.length > 0 || toFree.length > 0) turnLater();
  };
  const turnLater = (): void => {
    if (isTurning) return;
    isTurning = true;
    setImmediate(turn);
  };

  return {
    spend(bytes) {
      left -= bytes;
      turnLater();
      return left > 0;
    },
    next() {
      turnLater();
      return new Promise((resolve) => waiting.push(resolve));
    },
    freeLater(memory) {
      toFree.push(...memory);
      if (toFree.length > 0) turnLater();
    },
  };
}
