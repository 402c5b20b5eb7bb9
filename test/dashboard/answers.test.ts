/** The answers of a hidden page: all dropped, and asked for again before it shows. */

import { ConnectionError } from '@steyg/sdk';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { askAgain, dropAnswers, shownQueries } from '../../dashboard/src/answers.ts';

it('dropped answers are in no cache, and are there again once the server has been reached', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(['elsewhere'], 'secret');
  let reached = true;
  const queryFn = async () => {
    if (!reached) throw new ConnectionError('away');
    return 'secret';
  };
  const observer = new QueryObserver(queries, { queryKey: ['keys'], queryFn });
  const stop = observer.subscribe(() => undefined);
  await expect.poll(() => observer.getCurrentResult().data).toBe('secret');
  await queries
    .getMutationCache()
    .build(queries, { mutationFn: async () => 'secret' })
    .execute(undefined);

  const needed = shownQueries(queries);
  expect(needed.map(({ queryKey }) => queryKey)).toEqual([['keys']]);
  stop();
  dropAnswers(queries);
  expect([queries.getQueryCache().getAll(), queries.getMutationCache().getAll()]).toEqual([[], []]);
  expect(needed.map(({ state }) => state.data)).toEqual([undefined]);

  reached = false;
  expect(await askAgain(queries, needed)).toMatchObject({ message: 'away' });
  reached = true;
  expect(await askAgain(queries, needed)).toBe(null);
  expect(queries.getQueryData(['keys'])).toBe('secret');
});
