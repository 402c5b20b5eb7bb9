/**
 * The retry budget of a model: a vendor that fails is not called twice as often by all requests at once. It is for tries that the
 * vendor may have worked on; where no connection was had, there was no try.
 */
export interface RetryBudget {
  countRequest(model: string): void;
  /** Takes one retry; false when the budget of the minute is used up. */
  mayRetry(model: string): boolean;
}

/** At most a fifth of the model's requests in the last minute, but always so many that three bad upstreams are found out. */
export const retryShare = 0.2;
const retryFloor = 15;
const windowMs = 60_000;

/** `now`: monotonic milliseconds. */
export function createRetryBudget(now: () => number): RetryBudget {
  const models = new Map<string, { since: number; requests: number; retries: number }>();
  return {
    countRequest(model) {
      const counted = models.get(model);
      if (counted === undefined || now() - counted.since > windowMs)
        models.set(model, { since: now(), requests: 1, retries: 0 });
      else counted.requests += 1;
    },
    mayRetry(model) {
      const counted = models.get(model);
      if (counted === undefined) return true;
      if (counted.retries >= Math.max(retryFloor, counted.requests * retryShare)) return false;
      counted.retries += 1;
      return true;
    },
  };
}
