/** A promise of an answer that also hands out the HTTP response behind it. */

/**
 * What a call returns: a promise of the answer, with the response beside it on demand.
 *
 * @example
 * ```ts
 * const { data, response, requestId } = await steyg.models.list().withResponse();
 * console.log(requestId, response.headers.get('x-request-id'), data.data.length);
 * ```
 */
export interface Pending<T> extends Promise<T> {
  /** The answer, the `Response` it came in (its body already read) and the request's id. */
  withResponse(): Promise<WithResponse<T>>;
}

/** An answer and where it came from. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  requestId: string | null;
}

export function createPending<T>(work: Promise<WithResponse<T>>): Pending<T> {
  const answer = work.then(({ data }) => data);
  return Object.assign(answer, {
    withResponse: () => {
      // The caller gets the error from this promise; the unused one must not cause an unhandled rejection.
      answer.catch(() => undefined);
      return work;
    },
  });
}
