/** The server's answers that a page is made of: dropped while nobody may see them, and asked for again before it shows. */

import { GraphqlError, ResultError } from '@steyg/sdk';
import type { Query, QueryClient } from '@tanstack/react-query';

/** The query key of all data of the signed-in person. */
export const viewerKey = ['viewer'] as const;

/** The queries that what is shown now is made of. */
export function shownQueries(queries: QueryClient): Query[] {
  return queries.getQueryCache().findAll({
    type: 'active',
    predicate: ({ queryKey, state }) => state.data !== undefined && queryKey[0] !== viewerKey[0],
  });
}

/** Drops all answers that nothing on the page reads, and those of changes, e.g. the secret of a new key. */
export function dropAnswers(queries: QueryClient): void {
  const cache = queries.getQueryCache();
  for (const query of cache.getAll()) {
    if (query.getObserversCount() > 0) continue;
    query.reset();
    cache.remove(query);
  }
  queries.getMutationCache().clear();
}

/** Asks again; all is there when this ends with null, or was refused. Otherwise why the server could not be reached. */
export async function askAgain(queries: QueryClient, needed: readonly Query[]): Promise<unknown> {
  const answers = await Promise.allSettled(
    needed.map(({ options, queryKey }) => queries.fetchQuery({ ...options, queryKey, staleTime: 0 })),
  );
  const failed = answers.find((answer) => answer.status === 'rejected' && !isRefusal(answer.reason));
  return failed?.status === 'rejected' ? failed.reason : null;
}

const isRefusal = (error: unknown): boolean => error instanceof GraphqlError || error instanceof ResultError;
