/** Runs one piece of work after the other: large answers are read one at a time, so that their pauses do not add up. */
export type AnswerQueue = <T>(work: () => Promise<T>) => Promise<T>;

export function createAnswerQueue(): AnswerQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Bytes of a body in pieces. */
export function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
