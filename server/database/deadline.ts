import type { Pool, QueryConfig } from 'pg';

/**
 * The pool for queries that a request waits for: each has the request's own deadline, the wait for a connection included. A
 * connection that has gone silent (half-open: the machine behind it is gone, or a firewall has forgotten it) is closed with it, so
 * that the next request gets another one.
 */
export type BoundedPool = Pick<Pool, 'query'>;

export function withDeadline(pool: Pool, timeoutMs: number): BoundedPool {
  const query = (given: QueryConfig): Promise<unknown> => {
    const answer = pool.query({ ...given, query_timeout: timeoutMs } as QueryConfig);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('timeout: the database did not answer in time')), timeoutMs);
    });
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  };
  return { query: query as Pool['query'] };
}
