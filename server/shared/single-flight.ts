/**
 * Wraps a load so that concurrent callers share one further run, which begins after they asked. Sharing the run in
 * progress would be wrong: it may have read before the change that they want to see.
 */
export function singleFlight(load: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const run = (): Promise<void> => {
    next = null;
    running = load().finally(() => {
      running = next;
    });
    return running;
  };
  return () => {
    if (running === null) return run();
    next ??= running.then(run, run);
    return next;
  };
}
