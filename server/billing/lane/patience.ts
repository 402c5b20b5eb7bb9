import { setTimeout as delay } from 'node:timers/promises';

/**
 * The wait of a settlement for what other requests of its account hold. The one request that may cost more than its hold is
 * paid by what they give back, mostly seconds later: otherwise the operator would lose what the account has. Until
 * then it keeps its place, so that no other one runs on credit.
 */
export interface Patience {
  /** Asks again until the answer is one, or for the last time (`final`) when the wait is over. */
  until<T>(ask: (final: boolean) => Promise<T>, isAnswer: (answer: T) => boolean): Promise<T>;
  /** The process ends: every wait is over. Resolves when all have asked for the last time, or after a limit. */
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

  async function wait<T>(ask: (final: boolean) => Promise<T>, isAnswer: (answer: T) => boolean): Promise<T> {
    const until = performance.now() + waitLimitMs;
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      await delay(pauseMs, undefined, { ref: false, signal }).catch(() => {});
      if (signal.aborted || performance.now() > until) break;
      const answer = await ask(false);
      if (isAnswer(answer)) return answer;
    }
    return ask(true);
  }

  return {
    async until(ask, isAnswer) {
      const asked = wait(ask, isAnswer);
      waiting.add(asked);
      try {
        return await asked;
      } finally {
        waiting.delete(asked);
      }
    },
    async end(limitMs) {
      ending.abort();
      await Promise.race([Promise.allSettled(waiting), delay(limitMs, undefined, { ref: false })]);
    },
  };
}
