/**
 * Turns of the event loop for work in slices. At most one slice runs in an iteration of the loop. Those who wait
 * alternate, so that long work of one does not delay the short work of others.
 */
export interface LoopTurns {
  /** Resolves when a slice of this account, person or token may run. */
  next(id: string): Promise<void>;
}

export function createLoopTurns(): LoopTurns {
  const waiting = new Map<string, (() => void)[]>();
  let running = false;

  const runNext = () => {
    for (const [id, slices] of waiting) {
      waiting.delete(id);
      const slice = slices.shift();
      // Reinserted at the end of the line: the map keeps the order of insertion.
      if (slices.length > 0) waiting.set(id, slices);
      slice?.();
      break;
    }
    running = waiting.size > 0;
    if (running) setImmediate(runNext);
  };

  return {
    next: (id) =>
      new Promise((resolve) => {
        const slices = waiting.get(id);
        if (slices === undefined) waiting.set(id, [resolve]);
        else slices.push(resolve);
        if (running) return;
        running = true;
        setImmediate(runNext);
      }),
  };
}
