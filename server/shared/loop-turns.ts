/**
 * Turns of the event loop for work in slices. At most one slice runs in an iteration of the loop. Waiters are
 * served round-robin, so that long work of one does not delay the short work of others.
 */
export interface LoopTurns {
  /** Resolves when a slice of this account, person or token may run. */
  next(id: string): Promise<void>;
}

export function createLoopTurns(): LoopTurns {
  const waiting = new Map<string, (() => void)[]>();
  let isScheduled = false;

  const runNext = () => {
    for (const [id, slices] of waiting) {
      waiting.delete(id);
      const slice = slices.shift();
      // Reinserted at the end of the line: the map keeps the order of insertion.
      if (slices.length > 0) waiting.set(id, slices);
      slice?.();
      break;
    }
    isScheduled = waiting.size > 0;
    if (isScheduled) setImmediate(runNext);
  };

  return {
    next: (id) =>
      new Promise((resolve) => {
        const slices = waiting.get(id);
        if (slices === undefined) waiting.set(id, [resolve]);
        else slices.push(resolve);
        if (isScheduled) return;
        isScheduled = true;
        setImmediate(runNext);
      }),
  };
}
