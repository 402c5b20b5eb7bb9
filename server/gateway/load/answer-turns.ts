/**
 * Bounds the work on upstream bytes in one turn of the event loop, over all streams of the process: an upstream that sends
 * as fast as it can must not keep everything else waiting. It counts work instead of asking a clock, and starts no timer
 * before the bound is reached, so that an ordinary stream pays one subtraction for each piece.
 */
export interface AnswerTurns {
  /** Whether there is work left for this turn. */
  readonly isOpen: boolean;
  /** Counts work that was done: bytes, and what `workOf` adds for pieces that are dear for their size. */
  spend(work: number): void;
  /** Calls `goOn` in a later turn that has work left, first come, first served. */
  next(goOn: () => void): void;
}

/** The work of a turn. Translating so many bytes takes some 10 ms; passing them on takes a tenth of it. */
const defaultWorkPerTurn = 131_072;
/** A larger piece is taken in parts, each of which the bound is asked about. */
export const maxPartBytes = 16_384;
/** What a piece costs besides its bytes: an HTTP chunk may have one byte. */
const pieceWork = 64;
/** What an event without content costs besides its bytes: it may have one byte, and a scan that ends in a fault. */
const noiseWork = 96;

/** The work for a piece of a stream. `noise`: by how much the stream's count of what is no content has grown. */
export function workOf(bytes: number, noise: number): number {
  return bytes + pieceWork + (noise > 0 ? noise * noiseWork : 0);
}

export function createAnswerTurns(workPerTurn: number = defaultWorkPerTurn): AnswerTurns {
  let waiting: (() => void)[] = [];
  let left = workPerTurn;
  let isTurning = false;

  const turn = (): void => {
    isTurning = false;
    left = workPerTurn;
    turns.isOpen = true;
    const queue = waiting;
    waiting = [];
    let next = 0;
    for (let goOn = queue[next]; goOn !== undefined && turns.isOpen; goOn = queue[next]) {
      next += 1;
      goOn();
    }
    if (next < queue.length) waiting = [...queue.slice(next), ...waiting];
    if (waiting.length > 0) turnLater();
  };
  const turnLater = (): void => {
    if (isTurning) return;
    isTurning = true;
    setImmediate(turn);
  };

  const turns = {
    isOpen: true,
    spend(work: number): void {
      left -= work;
      if (left > 0) return;
      turns.isOpen = false;
      turnLater();
    },
    next(goOn: () => void): void {
      waiting.push(goOn);
      turnLater();
    },
  };
  return turns;
}
