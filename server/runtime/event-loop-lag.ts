/** Measures the lateness of the event loop, by which load is shed. */

/** The interval of the timer whose lateness is measured. */
export const lagTickMs = 500;

/** The lateness of the timer, in milliseconds. */
export interface EventLoopLag {
  /** Records that the timer has fired at this moment. */
  tick(now: number): void;
  latestMs(): number;
  /** The lesser of the last two: one long pause is over when it is noticed, and no reason to refuse a request. */
  lastingMs(): number;
}

/**
 * Starts a measurement; the caller runs the timer. Pure: moments come in as arguments, in milliseconds of one clock.
 */
export function createLag(startedAt: number): EventLoopLag {
  let previousMs = 0;
  let latestMs = 0;
  let expected = startedAt + lagTickMs;
  return {
    tick(now) {
      previousMs = latestMs;
      latestMs = Math.max(0, now - expected);
      expected = now + lagTickMs;
    },
    latestMs: () => latestMs,
    lastingMs: () => Math.min(previousMs, latestMs),
  };
}
