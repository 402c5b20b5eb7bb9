import { setTimeout as delay } from 'node:timers/promises';

/**
 * The wait of a settlement for what other requests of its account hold. The one request that may cost more than its hold is
 * paid by what they give back, mostly seconds later: otherwise the operator would lose what the account has. Until
 * then it keeps its place, so that no other one runs on credit.
 */
export interface Patience {
  /** True from `end` on: nothing begins to wait. */
  readonly isOver: boolean;
  /** Everything that a settlement waits for, begun before `end`, which lets it come to its end. */
  keep<T>(wait: Promise<T>): Promise<T>;
  /** Asks again until the answer is one, or for the last time (`final`) when the wait is over. */
  until<T>(ask: (final: boolean) => Promise<T>, isAnswer: (answer: T) => boolean): Promise<T>;
  /** The process ends: every wait is over. Resolves when all that is kept has ended, or after a limit. */
  end(limitMs: number): Promise<void>;
}

/** Answers that others wait for mostly end within this time. */
const waitLimitMs = 30_000;
/** The first pause; each is twice as long as the one before, up to the longest. */
const firstPauseMs = 250;
const longestPauseMs = 1_000;

export function createPatience(): Patience {
  const ending = new AbortController();
  const { signal } = ending;
  const waiting = new Set<Promise<unknown>>();

  return {
    get isOver() {
      return signal.aborted;
    },
    async keep(wait) {
      waiting.add(wait);
      try {
        return await wait;
      } finally {
        waiting.delete(wait);
      }
    },
    async until(ask, isAnswer) {
      const until = performance.now() + waitLimitMs;
      for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        await delay(pauseMs, undefined, { ref: false, signal }).catch(() => {});
        if (signal.aborted || performance.now() > until) break;
        const answer = await ask(false);
        if (isAnswer(answer)) return answer;
      }
      return ask(true);
    },
    async end(limitMs) {
      ending.abort();
      await Promise.race([Promise.allSettled(waiting), delay(limitMs, undefined, { ref: false })]);
    },
  };
}
