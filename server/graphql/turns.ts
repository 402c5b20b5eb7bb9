/**
 * Turns of the event loop for work in slices. At most one slice runs in an iteration of the loop. Principals alternate,
 * so that a large operation of one does not delay the small ones of others.
 */
export interface Turns {
  /** Resolves when a slice of this principal may run. */
  next(principal: string): Promise<void>;
}

export function createTurns(): Turns {
  const waiting = new Map<string, (() => void)[]>();
  let running = false;

  const runNext = () => {
    for (const [principal, slices] of waiting) {
      waiting.delete(principal);
      const slice = slices.shift();
      // Reinserted at the end of the line: the map keeps the order of insertion.
      if (slices.length > 0) waiting.set(principal, slices);
      slice?.();
      break;
    }
    running = waiting.size > 0;
    if (running) setImmediate(runNext);
  };

  return {
    next: (principal) =>
      new Promise((resolve) => {
        const slices = waiting.get(principal);
        if (slices === undefined) waiting.set(principal, [resolve]);
        else slices.push(resolve);
        if (running) return;
        running = true;
        setImmediate(runNext);
      }),
  };
}
