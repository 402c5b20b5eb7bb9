import { createRoster } from '../../shared/roster.ts';

/**
 * One timer for all running streams: silence, stalls and deadlines are checked against timestamps a few times a second,
 * so that no chunk needs its own timer.
 */
export interface Pulse {
  /** Calls `beat` with the monotonic time until the returned function is called. */
  join(beat: (nowMs: number) => void): () => void;
  close(): void;
}

export function createPulse(intervalMs: number): Pulse {
  const beats = createRoster<(nowMs: number) => void>();
  const timer = setInterval(() => {
    const now = performance.now();
    beats.visit((beat) => beat(now));
  }, intervalMs);
  timer.unref();
  return {
    join: beats.join,
    close() {
      clearInterval(timer);
      beats.clear();
    },
  };
}
