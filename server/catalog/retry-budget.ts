/**
 * The retry budget of a model: a vendor that fails is not called twice as often by all requests at once. It is for tries that the
 * vendor may have worked on; where no connection was had, there was no try.
 */
export interface RetryBudget {
  /** Counts a request of a model that has so many routes. */
  countRequest(model: string, routes: number): void;
  /** Takes one retry; false when the budget of the minute is used up. */
  mayRetry(model: string): boolean;
}

/** At most a fifth of the model's requests in the last minute, and so many that bad upstreams are found out. */
export const retryShare = 0.2;
/** For each route beside one: an upstream that fails half of its tries is ejected at the 20th, after 10 failures. */
const retriesToFindOut = 10;
const windowMs = 60_000;

/** `now`: monotonic milliseconds. */
export function createRetryBudget(now: () => number): RetryBudget {
  const models = new Map<string, { since: number; requests: number; retries: number; free: number }>();
  return {
    countRequest(model, routes) {
      const counted = models.get(model);
      if (counted === undefined || now() - counted.since > windowMs)
        models.set(model, { since: now(), requests: 1, retries: 0, free: retriesToFindOut * (routes - 1) });
      else counted.requests += 1;
    },
    mayRetry(model) {
      const counted = models.get(model);
      if (counted === undefined) return true;
      if (counted.retries >= counted.free + counted.requests * retryShare) return false;
      counted.retries += 1;
      return true;
    },
  };
}
